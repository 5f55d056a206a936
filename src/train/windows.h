/* SPDX-License-Identifier: MIT */
/* windows.h — sliding windows in the rules of convolutions and pools. */
#ifndef PRT_TRAIN_WINDOWS_H
#define PRT_TRAIN_WINDOWS_H

#include "op/share/sliding.h"
#include "train/rule.h"

/* Windows over the spatial dims. The end pads are as large as the outputs need; `unused` is the
 * number of input elements at the end that no window covers. */
typedef struct prt_grad_windows {
    uint32_t n;
    int64_t in[PRT_MAX_SPATIAL], out[PRT_MAX_SPATIAL];
    int64_t kernel[PRT_MAX_SPATIAL], stride[PRT_MAX_SPATIAL], dilation[PRT_MAX_SPATIAL];
    int64_t pads[2 * PRT_MAX_SPATIAL];
    int64_t unused[PRT_MAX_SPATIAL];
} prt_grad_windows;

/* Computes the windows over x that give y from the attributes in `spec`. Refuses spatial dims that
 * are not numbers. */
poprt_status prt_grad_find_windows(const prt_grad *g, const prt_value *x, const prt_value *y,
    const prt_window_spec *spec, prt_grad_windows *w);

/* Sums over windows in each channel of x; the result has the shape of `like`. */
prt_value *prt_grad_window_sums(prt_grad *g, const prt_grad_windows *w, prt_value *x,
    prt_value *like);

#endif
