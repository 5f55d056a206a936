/* SPDX-License-Identifier: MIT */
/*
 * bf16x3.h — products of float32 as three products of bfloat16 with float32 sums (bf16x3): x = high
 * + low + rest, where high is x rounded to bfloat16, and low the difference, rounded; then
 *
 *     x y = high high' + high low' + low high'
 *
 * The error of a product is at most 2^-15 |x y|, usually about 2^-18 |x y|, as for Winograd F(4x4,
 * 3x3). Subnormal numbers, including subnormal low parts, count as 0: below about 2^-110 an x has
 * only the 8 bits of bfloat16.
 *
 * A product takes up to PRT_BF16X3_DEPTH of K at a time. Rows of A are converted as a whole
 * beforehand: for each PRT_BF16X3_UNIT elements the high parts, then the low parts, filled up with
 * zeros; they take the space of the floats. B is converted panel by panel.
 */
#ifndef PRT_KERN_BF16X3_BF16X3_H
#define PRT_KERN_BF16X3_BF16X3_H

#include "kern/gemm/gemm.h"

enum {
    PRT_BF16X3_UNIT = 32,                       /* elements of K that are stored together */
    PRT_BF16X3_DEPTH = 256,                     /* elements of K in a product, at most */
    PRT_BF16X3_ROWS = 16,                       /* rows of a tile */
    PRT_BF16X3_ROWS_PAST_END = PRT_BF16X3_ROWS, /* rows that may be read behind the last row of A */
    PRT_BF16X3_SMALL_M = 64,                    /* rows of prt_bf16x3_small_m, at most */
    PRT_BF16X3_SMALL_M_SCRATCH = 3072           /* floats of scratch of prt_bf16x3_small_m */
};

/* Returns the floats that k converted elements take. */
static inline size_t prt_bf16x3_size(size_t k)
{
    return (k + PRT_BF16X3_UNIT - 1) / PRT_BF16X3_UNIT * PRT_BF16X3_UNIT;
}

/* Returns the floats from one converted row of k to the next, so that rows of a tile do not share a
 * cache set. */
static inline size_t prt_bf16x3_pitch(size_t k)
{
    return prt_bf16x3_size(k) + PRT_BF16X3_UNIT / 2;
}

/* A part of a panel to convert: taps * k rows, `stride` floats apart, in the layout of gemm.h. `to`
 * has taps * prt_bf16x3_size(k) * PRT_GEMM_PANEL floats and begins at a cache line. */
typedef struct prt_bf16x3_panel {
    size_t taps, k, columns;
    const float *b;
    size_t stride;
    float *to;
    bool finite; /* set by the conversion: all elements are finite, also when rounded */
} prt_bf16x3_panel;

/* Some rows times one panel. Pointers to converted data are float pointers, too. */
typedef struct prt_bf16x3_block {
    size_t rows, columns;
    size_t k; /* of a piece; all pieces together have at most PRT_BF16X3_DEPTH, in whole units
               * each */
    const float
        *a; /* PRT_BF16X3_ROWS_PAST_END rows behind the last one may be read; they do not count */
    size_t lda;
    /* If not NULL (implicit GEMM), a row of A consists of `taps` pieces, and the PRT_BF16X3_ROWS
     * rows of tile i are `lda` apart: piece t of the first one is at a + tile_at[i] + tap_at[t].
     * `rows` is then a multiple of PRT_BF16X3_ROWS, and C is written up to the next 16 columns.
     * Otherwise `taps` is 1. */
    const size_t *tile_at, *tap_at;
    size_t taps;
    const float *b;    /* the converted part of the panel, all pieces */
    const float *bias; /* by column: initial sums; NULL: 0, or C with `add` */
    bool add;
    float *c;
    size_t ldc;
    const prt_gemm_end *end; /* as in prt_gemm_block, but without a bias; NULL: no epilogue */
    prt_bf16x3_panel *ahead; /* the part to convert meanwhile; NULL: nothing */
} prt_bf16x3_block;

/* Few rows times columns [first, last) of a matrix of `n` columns, all of K at once. */
typedef struct prt_bf16x3_small_m {
    size_t rows; /* 8 to PRT_BF16X3_SMALL_M */
    size_t k;
    const float *a; /* converted as a whole, not in parts of K */
    size_t lda;
    size_t n, first, last; /* `first` is a multiple of 16 */
    const float *b;        /* all columns, packed by prt_gemm_pack_all */
    const float *bias;     /* from here on, pointers are to column 0; `end` has no bias */
    float *c;
    size_t ldc;
    const prt_gemm_end *end; /* NULL: no epilogue */
    float *scratch;          /* scratch: PRT_BF16X3_SMALL_M_SCRATCH floats that begin at a cache
                              * line */
} prt_bf16x3_small_m;

/* Rows of A gathered from an NHWC image (im2col): a row of A consists of one contiguous piece for
 * each kernel row. */
typedef struct prt_bf16x3_pixels {
    size_t count, step; /* rows of A; floats from the first element of one to the first of the
                         * next */
    size_t each, piece_stride; /* floats of a piece; floats from piece to piece */
    size_t skip, k;            /* elements of each row: at most PRT_BF16X3_DEPTH */
    const float *x;
    float *to;
    size_t ldto;
} prt_bf16x3_pixels;

typedef struct prt_kern_bf16x3 {
    /* Converts rows, `lda` and `ldto` floats apart, multiplied by `scale` (by column) if it is not
     * NULL. Returns false if an element is not finite, also when rounded. */
    bool (*rows)(size_t rows, size_t k, const float *a, size_t lda, const float *scale, float *to,
        size_t ldto);
    /* Gathers and converts; gives the same bits as `rows` of the gathered rows. */
    bool (*pixels)(const prt_bf16x3_pixels *g);
    /* Converts a part of a panel. */
    void (*panel)(prt_bf16x3_panel *p);
    /* Products of this thread between `begin` and `end` all have this number of rows, in pieces or
     * not. The value of an element depends on its row of A, its column of B and the blocks of K
     * alone. */
    void (*begin)(size_t rows, bool pieces);
    void (*multiply)(const prt_bf16x3_block *g);
    void (*end)(void);
    /* Gives the same bits as products by panels; not to be called between `begin` and `end`.
     * Returns false if an element of B is not finite. */
    bool (*small_m)(const prt_bf16x3_small_m *g);
} prt_kern_bf16x3; /* all NULL if the processor has no AMX */

#endif
