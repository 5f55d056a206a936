/* SPDX-License-Identifier: MIT */
/*
 * winograd.h — Winograd transforms of channels-last tiles (Lavin and Gray, 2016). A convolution
 * becomes one GEMM for each plane of the transform:
 *
 *     F(4x4, 3x3)             6x6 inputs, 36 planes; points 0, 1, -1, 2, -2, infinity
 *     F(2x2, 3x3)             4x4 inputs, 16 planes; points 0, 1, -1, infinity
 *     F(2x2, 5x5)             6x6 inputs, 36 planes
 *     F(6x6, 3x3)             8x8 inputs, 64 planes; twice the rounding errors of F(4x4, 3x3); with
 *                             AVX2 only, where it was measured
 *     F(4x4, 3x3), stride 2   9x9 inputs, 81 planes
 *     F(6, 3), F(5, 4), F(4, 5)   8 inputs of a row or column, 8 planes: one-dimensional kernels
 */
#ifndef PRT_KERN_CONV_WINOGRAD_H
#define PRT_KERN_CONV_WINOGRAD_H

#include <stddef.h>
#include <stdint.h>

enum { PRT_WINOGRAD_MOST = 81 }; /* planes, and inputs of a tile, at most */

/* F(m, r) computes m outputs of a kernel of r taps. */
typedef enum prt_winograd_algorithm {
    PRT_WINOGRAD_4x4_3x3,
    PRT_WINOGRAD_2x2_3x3,
    PRT_WINOGRAD_2x2_5x5,
    PRT_WINOGRAD_6x6_3x3,
    PRT_WINOGRAD_LINE, /* F(6, 3), F(5, 4) and F(4, 5), in one dimension */
    PRT_WINOGRAD_4x4_3x3_STRIDE2,
    PRT_WINOGRAD_ALGORITHMS
} prt_winograd_algorithm;

/* The output transform of one tile, channels [0, n). */
typedef struct prt_winograd_out {
    size_t n;
    const float *from; /* products: channel i of plane p is at from[p * matrix + i] */
    size_t matrix;
    size_t after;          /* floats to the next tile's products, which are prefetched */
    const float *bias;     /* by channel; NULL: no bias */
    size_t out;            /* outputs of a tile in each dimension */
    size_t high, wide;     /* rows and columns of the tile inside the output; one dimension: `wide`
                            * alone */
    const float *residual; /* at output (0, 0); may be y itself; NULL: no residual */
    size_t residual_row, residual_column;
    float least, most; /* bounds of the results; NaN is preserved */
    float *y;          /* at output (0, 0) */
    size_t y_row, y_column;
} prt_winograd_out;

/* The weight transform: tap t of kernel i is at from[t * tap + i]. */
typedef struct prt_winograd_taps {
    size_t n; /* kernels, a multiple of 16 */
    size_t part;
    size_t taps, out; /* one-dimensional kernels: taps, at most 9 - out; the others are 0 */
    const float *from;
    size_t tap;
    float *to;
    size_t matrix;
} prt_winograd_taps;

/* Planes of transformed inputs are multiplied by matrices of transformed weights. Each plane has
 * its own matrix; with stride 2, 81 planes share 36 matrices. The weight transform makes `columns`
 * columns of the planes at a time. */
typedef struct prt_kern_winograd {
    uint8_t out, in; /* outputs (one dimension: see prt_winograd_out) and inputs of a tile in each
                      * dimension */
    uint8_t columns; /* a divisor of `in`; one dimension: `in`; stride 2: 0 */
    /* from[y * in + x][i], or from[x][i] in one dimension, is channel i of element (y, x) of a
     * tile. Its value in plane p goes to to[p * matrix + i]. */
    void (*input)(size_t n, const float *const *from, float *to, size_t matrix);
    /* The value of kernel i in matrix m of a part goes to to[m * matrix + i]. If planes are (y, x),
     * this is the value of plane (y, columns * part + x) for m = y * columns + x. With stride 2
     * there are four parts: matrices of planes (y, x) of the first kind for x = 0 and 1; for x = 2
     * and 3; for x = 4 and of the second kind; and of the other kinds (winograd_strided.inl). NULL
     * for 5x5 kernels, which are transformed at compile time. */
    void (*weights)(const prt_winograd_taps *w);
    /* The bias is added at point 1, whose value counts once in every output. NULL: the level does
     * not have this algorithm. */
    void (*output)(const prt_winograd_out *o);
} prt_kern_winograd;

#endif
