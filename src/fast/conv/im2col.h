/* SPDX-License-Identifier: MIT */
/*
 * im2col.h — panels of what a convolution multiplies its filters with: depth, which runs over
 * channels and taps (kernel positions), taps fastest, by output positions.
 */
#ifndef PRT_FAST_CONV_IM2COL_H
#define PRT_FAST_CONV_IM2COL_H

#include "fast/conv/conv.h"
#include "fast/conv/planes.h"

typedef struct prt_gather {
    const prt_conv_fast *v;
    size_t in_h, in_w, out_w, kernel_w, taps, in_plane, out_plane;
    int64_t stride_h, stride_w, dilation_h, dilation_w, top, left;
    bool pointwise;    /* outputs are inputs, one by one */
    bool arranged;     /* by way of padded planes */
    prt_planes planes; /* of a block of outputs, but for `rows`, `top` and `left` */
    size_t spare;      /* floats of scratch wanted behind a panel */
} prt_gather;

void prt_gather_init(prt_gather *g, const prt_conv_fast *v);

/* Rows [k, k + depth) of columns [first, first + columns) of one image and group, packed as gemm.h
 * has it; `spare` floats behind them are used as well. */
void prt_gather_pack(const prt_gather *g, size_t image, size_t first, size_t columns, size_t k,
    size_t depth, float *to);

#endif
