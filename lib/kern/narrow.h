/* SPDX-License-Identifier: MIT */
/*
 * narrow.h — products whose B is stored in fewer bits than float32 and widened in registers. Panels
 * follow each other as gemm.h has them. Elements of a panel:
 *
 *     f16, e4m3, e5m2, i8    element (k, j) at k * width + j
 *     bf16                   rows in pairs: at (k / 2 * width + j) * 2 + k % 2; an odd last row has
 *                            a row of zeros beside it
 *
 * The 8-bit floats are PopRT's F143 and F152 (bias 8 and 16), but that 0x80 is a zero, which makes
 * shifts and a product all there is to widening. What is stored here never uses it.
 */
#ifndef PRT_KERN_NARROW_H
#define PRT_KERN_NARROW_H

#include <stdint.h>

#include "kern/gemm.h"

typedef enum prt_narrow_kind {
    PRT_NARROW_f16,
    PRT_NARROW_bf16,
    PRT_NARROW_e4m3,
    PRT_NARROW_e5m2,
    PRT_NARROW_i8,
    PRT_NARROW_COUNT
} prt_narrow_kind;

/* Largest size that a stored element has. */
#define PRT_NARROW_MOST { 65504.0f, 3.38953139e38f, 240.0f, 57344.0f, 127.0f }

static inline size_t prt_narrow_size(int kind)
{
    return kind == PRT_NARROW_f16 || kind == PRT_NARROW_bf16 ? 2 : 1;
}

/* Rows that a panel of `k` rows is stored in. */
static inline size_t prt_narrow_rows(int kind, size_t k)
{
    return kind == PRT_NARROW_bf16 ? k + k % 2 : k;
}

/* Place of element (k, j) in a panel. */
static inline size_t prt_narrow_at(int kind, size_t width, size_t k, size_t j)
{
    return kind == PRT_NARROW_bf16 ? (k / 2 * width + j) * 2 + k % 2 : k * width + j;
}

/* A few rows of A times one panel; all of K. */
typedef struct prt_narrow_block {
    int kind;
    size_t rows, columns, k;
    const float *a;
    size_t lda;
    const void *b;
    const float *scale; /* by column: what sums are multiplied with; NULL: 1 */
    float *c;
    size_t ldc;
    const prt_gemm_end *end;
} prt_narrow_block;

typedef struct prt_kern_narrow {
    void (*few)(const prt_narrow_block *g);
    /* Rows [k, k + depth) of a panel of `columns` columns as gemm.h has them, times `scale`. */
    void (*widen)(int kind, size_t columns, size_t k, size_t depth, const void *b,
        const float *scale, float *to);
    /* n elements as bfloat16 holds them, to nearest even; in pairs, a zero behind an odd end. */
    void (*round)(size_t n, const float *x, float *y);
    void (*pairs)(size_t n, const float *x, uint32_t *y);
} prt_kern_narrow;

/* One panel of float32 with `columns` columns to narrow elements, each divided by its column's
 * scale (NULL: 1) first; to nearest even, nothing beyond the largest. */
void prt_narrow_pack(int kind, size_t k, size_t columns, const float *panel, const float *scale,
    void *to);

#endif
