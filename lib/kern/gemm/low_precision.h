/* SPDX-License-Identifier: MIT */
/*
 * low_precision.h — products whose B is stored in fewer bits than float32 and widened in registers.
 * Panels follow each other as in gemm.h. Elements of a panel:
 *
 *     f16, e4m3, e5m2, i8    element (k, j) at k * width + j
 *     bf16                   rows in pairs: at (k / 2 * width + j) * 2 + k % 2; an odd last row is
 *                            paired with zeros
 *     i4                     rows by eights: at (k / 8 * width + j) * 8 + k % 8, two to a byte, low
 *                            bits first; -8 to 7; zero rows fill the last eight
 *
 * The 8-bit floats are PopRT's F143 and F152 (bias 8 and 16), except that 0x80 is a zero: widening
 * is then only shifts and a multiplication. Packing never produces 0x80.
 */
#ifndef PRT_KERN_GEMM_LOW_PRECISION_H
#define PRT_KERN_GEMM_LOW_PRECISION_H

#include <stdint.h>

#include "kern/gemm/gemm.h"

typedef enum prt_low_precision_kind {
    PRT_LOW_PRECISION_f16,
    PRT_LOW_PRECISION_bf16,
    PRT_LOW_PRECISION_e4m3,
    PRT_LOW_PRECISION_e5m2,
    PRT_LOW_PRECISION_i8,
    PRT_LOW_PRECISION_i4,
    PRT_LOW_PRECISION_COUNT
} prt_low_precision_kind;

/* Largest magnitude of a stored element. */
#define PRT_LOW_PRECISION_MAX                                                                      \
    {                                                                                              \
        65504.0f, 3.38953139e38f, 240.0f, 57344.0f, 127.0f, 7.0f                                   \
    }

enum { PRT_LOW_PRECISION_I4_ROWS = 8 };

/* Returns the bytes of a number of elements of whole panels. */
static inline size_t prt_low_precision_bytes(int kind, size_t elements)
{
    return kind == PRT_LOW_PRECISION_i4                                   ? elements / 2
        : kind == PRT_LOW_PRECISION_f16 || kind == PRT_LOW_PRECISION_bf16 ? elements * 2
                                                                          : elements;
}

/* Returns the number of rows that are interleaved. */
static inline size_t prt_low_precision_group(int kind)
{
    return kind == PRT_LOW_PRECISION_i4  ? PRT_LOW_PRECISION_I4_ROWS
        : kind == PRT_LOW_PRECISION_bf16 ? 2
                                         : 1;
}

/* Returns the rows that a panel of `k` rows is stored in. */
static inline size_t prt_low_precision_rows(int kind, size_t k)
{
    const size_t group = prt_low_precision_group(kind);
    return (k + group - 1) / group * group;
}

/* Returns the index of element (k, j) in a panel. */
static inline size_t prt_low_precision_at(int kind, size_t width, size_t k, size_t j)
{
    const size_t group = prt_low_precision_group(kind);
    return (k / group * width + j) * group + k % group;
}

/* Scales of elements. Integers may have scales and offsets by blocks of rows: an element is q *
 * scale + offset. */
typedef struct prt_low_precision_scales {
    const float *scale;  /* by column of a panel; with blocks: a row of the panel's whole width for
                          * each block; NULL: 1 */
    const float *offset; /* same layout; NULL: 0 */
    size_t block;        /* rows of a block, a multiple of 8; 0: all of K */
} prt_low_precision_scales;

static inline size_t prt_low_precision_blocks(size_t block, size_t k)
{
    return block != 0 ? k / block + (k % block != 0) : 1;
}

/* A few rows of A times one panel; all of K. */
typedef struct prt_low_precision_block {
    int kind;
    size_t rows, columns, k;
    const float *a;
    size_t lda;
    const void *b;
    prt_low_precision_scales by;
    const float *sums; /* sums of A's rows by block, rows `ldsums` apart; required with offsets */
    size_t ldsums;
    float *c;
    size_t ldc;
    const prt_gemm_end *end;
} prt_low_precision_block;

typedef struct prt_kern_low_precision {
    /* Multiplies a few rows, widening B in registers. */
    void (*small_m)(const prt_low_precision_block *g);
    /* Widens rows [k, k + depth) of a panel of `columns` columns to the layout of gemm.h. */
    void (*widen)(int kind, size_t columns, size_t k, size_t depth, const void *b,
        const prt_low_precision_scales *by, float *to);
    /* Rounds n elements to bfloat16, to nearest even; `pairs` packs two in a word, with a zero
     * after an odd last one. */
    void (*round)(size_t n, const float *x, float *y);
    void (*pairs)(size_t n, const float *x, uint32_t *y);
} prt_kern_low_precision;

/* Packs one panel of float32 with `columns` columns, each element divided by its scale first.
 * Rounds to nearest even and saturates. There are no offsets. */
void prt_low_precision_pack(int kind, size_t k, size_t columns, const float *panel,
    const prt_low_precision_scales *by, void *to);

#endif
