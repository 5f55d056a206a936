/* SPDX-License-Identifier: MIT */
/* conv.h — a float32 NCHW convolution, as the algorithms of fast/conv take it. */
#ifndef PRT_FAST_CONV_CONV_H
#define PRT_FAST_CONV_CONV_H

#include "fast/fast.h"
#include "op/share/sliding.h"

typedef struct prt_conv_fast {
    const prt_kern *kern;
    const prt_window *window;
    size_t batch, groups, channels, filters; /* channels and filters of one group */
    const float *x, *w, *bias;               /* bias may be NULL */
    float *y;
    const float *residual; /* same shape as y; NULL: no residual */
    prt_act act;
} prt_conv_fast;

/* Runs a convolution with one channel in each group. */
poprt_status prt_fast_depthwise(prt_eval *c, const prt_conv_fast *v, bool *done);

#endif
