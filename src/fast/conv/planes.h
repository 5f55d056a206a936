/* SPDX-License-Identifier: MIT */
/*
 * planes.h — sliding windows over one plane of an image. The padded plane is arranged in scratch so
 * that the inputs of one tap (kernel position) for a row of outputs are contiguous.
 *
 * With a column stride s, columns are stored in s groups: x is element x / s of group x % s.
 */
#ifndef PRT_FAST_CONV_PLANES_H
#define PRT_FAST_CONV_PLANES_H

#include "fast/fast.h"
#include "op/share/sliding.h"

enum { PRT_PLANE_TAPS = 128 }; /* larger kernels run elsewhere */

typedef struct prt_planes {
    size_t in_h, in_w, out_h, out_w, kernel_h, kernel_w;
    size_t stride_h, stride_w, dilation_h, dilation_w;
    int64_t top, left;
    size_t rows, columns, group;         /* of the arranged plane; columns of a group */
    size_t taps, offset[PRT_PLANE_TAPS]; /* taps; offset of each from the first row of a window */
    bool direct;                         /* the input is used in place: no padding, stride 1 */
} prt_planes;

/* Returns false if the window has neither one nor two dims, or too many taps. */
bool prt_planes_init(prt_planes *p, const prt_window *w);

/* Returns the floats of an arranged plane, and of the row that is padded before it is split. */
static inline size_t prt_planes_size(const prt_planes *p)
{
    return p->direct ? 0 : (p->rows + (p->stride_w != 1)) * p->columns;
}

/* Arranges a plane with padding of value `fill`. Returns its address: `scratch`, or `x` if
 * direct. */
const float *prt_planes_arrange(const prt_planes *p, const float *x, float fill, float *scratch);

/* Finds the addresses of all taps for the outputs of row `y`, in row-major order of the kernel. */
static inline void prt_planes_taps(const prt_planes *p, const float *plane, size_t y,
    const float **taps)
{
    const float *row = plane + y * p->stride_h * p->columns;
    for (size_t i = 0; i < p->taps; i++)
        taps[i] = row + p->offset[i];
}

#endif
