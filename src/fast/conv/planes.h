/* SPDX-License-Identifier: MIT */
/*
 * planes.h — sliding windows over one plane of an image: the plane with its padding in scratch, so
 * arranged that what one kernel position (a tap) reads for a row of outputs lies side by side.
 *
 * With a column stride s, columns are kept in s groups: x is element x / s of group x % s.
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
    size_t rows, columns, group;         /* of the arranged plane; columns in a group */
    size_t taps, offset[PRT_PLANE_TAPS]; /* from the first row of an output's window */
    bool direct;                         /* the plane itself serves: no padding, stride 1 */
} prt_planes;

/* False when the window is not of one or two dims, or has too many taps. */
bool prt_planes_init(prt_planes *p, const prt_window *w);

/* Floats of an arranged plane, and of a row on its way there. */
static inline size_t prt_planes_size(const prt_planes *p)
{
    return p->direct ? 0 : (p->rows + (p->stride_w != 1)) * p->columns;
}

/* Arranges a plane; `fill` stands for the padding. Returns where it is: `scratch` or `x`. */
const float *prt_planes_arrange(const prt_planes *p, const float *x, float fill, float *scratch);

/* Where each tap reads for the outputs of row `y`, in row-major order of the kernel. */
static inline void prt_planes_taps(const prt_planes *p, const float *plane, size_t y,
    const float **taps)
{
    const float *row = plane + y * p->stride_h * p->columns;
    for (size_t i = 0; i < p->taps; i++)
        taps[i] = row + p->offset[i];
}

#endif
