/* SPDX-License-Identifier: MIT */
/* nhwc.h — a float32 convolution with channels last, for the ways to compute one. */
#ifndef PRT_FAST_NHWC_H
#define PRT_FAST_NHWC_H

#include "fast/fast.h"
#include "op/nhwc.h"

typedef struct prt_nhwc {
    const prt_kern *kern;
    prt_nhwc_weights form;
    size_t batch, in_h, in_w, out_h, out_w;
    size_t in_c, out_c; /* of all groups */
    size_t kernel_h, kernel_w, stride_h, stride_w, dilation_h, dilation_w;
    int64_t top, left; /* padding */
    bool images;       /* x has its channels first */
    const float *x, *w, *bias, *residual; /* bias and residual (like y) may be NULL */
    float *y;
    prt_act act;
    const float *zeros; /* a pixel of the padding */
} prt_nhwc;

/* What an output at `out` needs of an axis: taps [*first, *last) read inside. */
static inline void prt_nhwc_inside(size_t out, size_t stride, size_t dilation, int64_t begin,
    size_t kernel, size_t in, size_t *first, size_t *last)
{
    const int64_t start = (int64_t)(out * stride) - begin, d = (int64_t)dilation;
    const int64_t low = start < 0 ? (-start + d - 1) / d : 0;
    const int64_t high = start < (int64_t)in ? ((int64_t)in - start + d - 1) / d : 0;
    *last = high < (int64_t)kernel ? (size_t)high : kernel;
    *first = low < (int64_t)*last ? (size_t)low : *last;
}

/* Spatial sizes, of rank 1 or 2. */
void prt_nhwc_take_window(prt_nhwc *v, const prt_window *w);

poprt_status prt_nhwc_depthwise(prt_eval *c, const prt_nhwc *v);
poprt_status prt_nhwc_winograd(prt_eval *c, const prt_nhwc *v);

/* Rows of finished sums, `n` floats of y from `at` on: the residual, then an activation that is
 * more than bounds. */
static inline void prt_nhwc_finish(const prt_nhwc *v, bool add, size_t at, size_t n)
{
    if (add)
        v->kern->rows.two(PRT_TWO_add, n, v->y + at, 1, v->residual + at, 1, v->y + at);
    v->kern->rows.act(&v->act, n, v->y + at, v->y + at);
}

#endif
