/* SPDX-License-Identifier: MIT */
/*
 * winograd.h — the transforms of F(4x4, 3x3) and F(2x2, 3x3), by which a convolution with 3 by 3
 * kernels becomes 36 or 16 products of matrices: tiles of 6 by 6 inputs, 4 apart, give 4 by 4
 * outputs each, those of 4 by 4 inputs, 2 apart, 2 by 2 (Lavin and Gray, 2016); and of F(2x2, 5x5)
 * for kernels of 5 by 5, where tiles of 6 by 6 inputs, 2 apart, give 2 by 2 outputs. Interpolation
 * points are 0, 1, -1, (2, -2,) and infinity. With steps of two, tiles of 9 by 9 inputs, 8 apart,
 * give 4 by 4 outputs of kernels of 3 by 3. F(6, 3), F(5, 4) and F(4, 5) are for kernels along one
 * axis: 8 inputs in a line give 6, 5 or 4 outputs. F(6x6, 3x3) is the first of these both ways: 64
 * products for 6 by 6 outputs, twice the rounding errors of F(4x4, 3x3); with AVX2, where it was
 * measured. Channels lie side by side.
 */
#ifndef PRT_KERN_CONV_WINOGRAD_H
#define PRT_KERN_CONV_WINOGRAD_H

#include <stddef.h>
#include <stdint.h>

enum { PRT_WINOGRAD_MOST = 81 }; /* planes, and inputs of a tile */

/* One tile of outputs, its channels [0, n). */
typedef struct prt_winograd_out {
    size_t n;
    const float *from; /* products: channel i of plane p is at from[p * matrix + i] */
    size_t matrix;
    size_t after;          /* floats to the next tile's products, which are fetched meanwhile */
    const float *bias;     /* by channel; NULL: none */
    size_t out;            /* outputs of a tile, each way */
    size_t high, wide;     /* those that there are; of a line `wide` */
    const float *residual; /* for output (0, 0); NULL: none; may be y itself */
    size_t residual_row, residual_column;
    float least, most; /* bounds of the results; NaN comes through */
    float *y;          /* output (0, 0) */
    size_t y_row, y_column;
} prt_winograd_out;

/* Taps of kernels, to be transformed: tap t of kernel i is at from[t * tap + i]. */
typedef struct prt_winograd_taps {
    size_t n; /* kernels: a multiple of 16 */
    size_t part;
    size_t taps, out; /* of lines: no more than 9 - out taps, the others are 0 */
    const float *from;
    size_t tap;
    float *to;
    size_t matrix;
} prt_winograd_taps;

/* Planes of transformed inputs are multiplied by matrices of weights. Each plane has its own, which
 * are made `columns` columns of them at a time; with steps of two 81 planes share 36 matrices. */
typedef struct prt_kern_winograd {
    uint8_t out, in; /* outputs (of a line: see prt_winograd_out) and inputs of a tile, each way */
    uint8_t columns; /* a divisor of `in`; of lines `in`; 0 with steps of two */
    /* from[y * in + x][i], or of a line from[x][i], is channel i of element (y, x) of a tile; its
     * value in plane p goes to to[p * matrix + i]. */
    void (*input)(size_t n, const float *const *from, float *to, size_t matrix);
    /* The value of kernel i in matrix m of a part goes to to[m * matrix + i]: where planes are
     * (y, x), it is that of plane (y, columns * part + x) for m = y * columns + x. With steps of
     * two there are four parts, whose matrices are those of planes (y, x) of the first kind for x
     * of 0 and 1, of 2 and 3, of 4 followed by those of the second kind, and of the other kinds
     * (winograd_strided.inl). NULL for kernels of 5 by 5, which are transformed before a run. */
    void (*weights)(const prt_winograd_taps *w);
    /* The bias is added to the value at the point 1, which counts once in every output. NULL: the
     * level has none of these. */
    void (*output)(const prt_winograd_out *o);
} prt_kern_winograd;

#endif
