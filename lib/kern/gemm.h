/* SPDX-License-Identifier: MIT */
/*
 * gemm.h — C = activation(A B + bias + residual), float32, row-major A and C, B packed beforehand.
 *
 * Packed B (part of the program format, the same at every level): panels of 64 columns, one after
 * the other; the last one is as wide as what is left, rounded up to 16, and padded with zeros. In a
 * panel the rows of B follow each other: element (k, j) of panel p is at
 *
 *     p * 64 * K + k * width(p) + j          width(p) = 64 but for the last panel
 */
#ifndef PRT_KERN_GEMM_H
#define PRT_KERN_GEMM_H

#include "kern/act.h"

enum { PRT_GEMM_PANEL = 64, PRT_GEMM_SLICE = 16 };

typedef struct prt_gemm {
    size_t m, n, k;
    const float *a; /* [m, k], rows `lda` apart */
    size_t lda;
    const float *b; /* packed */
    float *c;       /* [m, n], rows `ldc` apart */
    size_t ldc;
    const float *bias;     /* [n], or NULL */
    const float *residual; /* [m, n], rows `ldr` apart, or NULL; may be `c` itself */
    size_t ldr;
    prt_act act;
} prt_gemm;

/* Floats of B [k, n] packed; SIZE_MAX when that overflows. */
size_t prt_gemm_packed(size_t k, size_t n);

/* Packs B, whose element (i, j) is at b[i * row + j * column]. */
void prt_gemm_pack(size_t k, size_t n, const float *b, size_t row, size_t column, float *packed);

static inline size_t prt_gemm_panels(size_t n)
{
    return (n + PRT_GEMM_PANEL - 1) / PRT_GEMM_PANEL;
}

/* Computes rows [row, row + rows) of one panel of C. What a panel's row gets does not depend on how
 * the work is cut, so results are the same for any number of threads. */
typedef void (*prt_gemm_fn)(const prt_gemm *g, size_t row, size_t rows, size_t panel);

#endif
