/* SPDX-License-Identifier: MIT */
/*
 * winograd.h — the three transforms of F(4x4, 3x3), by which a convolution with 3 by 3 kernels
 * becomes 36 products of matrices: tiles of 6 by 6 inputs, 4 apart, give 4 by 4 outputs each.
 * Interpolation points are 0, 1, -1, 2, -2 and infinity.
 */
#ifndef PRT_KERN_WINOGRAD_H
#define PRT_KERN_WINOGRAD_H

#include "kern/act.h"

enum { PRT_WINOGRAD_OUT = 4, PRT_WINOGRAD_IN = 6, PRT_WINOGRAD_MATRICES = 36 };

typedef struct prt_kern_winograd {
    /* n kernels of 9 taps, one after another; element i of matrix m goes to to[m * matrix + i]. */
    void (*weights)(size_t n, const float *w, float *to, size_t matrix);
    /* n tiles; from[y * 6 + x][i] is element (y, x) of tile i. */
    void (*input)(size_t n, const float *const *from, float *to, size_t matrix);
    /* n tiles of products, as `input` leaves them; element (y, x) of tile i, plus the bias and
     * through the activation, goes to to[(y * 4 + x) * row + i]. */
    void (*output)(size_t n, const float *from, size_t matrix, float bias, const prt_act *act,
        float *to, size_t row);
} prt_kern_winograd;

#endif
