/* SPDX-License-Identifier: MIT */
/*
 * im2col.h — im2col: the matrix that a convolution multiplies its filters by, panel by panel. Its
 * rows run over channels and taps (kernel positions), taps fastest; its columns are output
 * positions.
 */
#ifndef PRT_FAST_CONV_IM2COL_H
#define PRT_FAST_CONV_IM2COL_H

#include "fast/conv/conv.h"
#include "fast/conv/planes.h"

typedef struct prt_im2col {
    const prt_conv_fast *v;
    size_t in_h, in_w, out_w, kernel_w, taps, in_plane, out_plane;
    int64_t stride_h, stride_w, dilation_h, dilation_w, top, left;
    bool pointwise;      /* output i reads only input i */
    bool arranged;       /* gathered from padded planes */
    prt_planes planes;   /* of a block of outputs, except `rows`, `top` and `left` */
    size_t pack_scratch; /* floats of scratch needed behind a panel */
} prt_im2col;

/* Chooses how to gather, and sets the sizes. */
void prt_im2col_init(prt_im2col *g, const prt_conv_fast *v);

/* Packs rows [k, k + depth) of columns [first, first + columns) of one image and group in the
 * layout of gemm.h. Uses `pack_scratch` floats behind the packed rows as well. */
void prt_im2col_pack(const prt_im2col *g, size_t image, size_t first, size_t columns, size_t k,
    size_t depth, float *to);

#endif
