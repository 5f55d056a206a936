/* SPDX-License-Identifier: MIT */
/*
 * bf16x3.h — products of float32 as three products of bfloat16 with sums in float32 (known as
 * bf16x3): x = high + low + rest, high being x rounded to bfloat16 and low the difference,
 * rounded; then
 *
 *     x y = high high' + high low' + low high'
 *
 * Errors of such a product: 2^-15 |x y| at most, about 2^-18 of it as a rule, which Winograd's
 * F(4x4, 3x3) has too. Sums are of float32. What lies below the normal numbers, low parts too,
 * counts as 0: below 2^-110 or so an x has the 8 bits of bfloat16 alone.
 *
 * Products are of up to PRT_BF16X3_DEPTH of K at a time. Rows of A are split as a whole beforehand:
 * of each PRT_BF16X3_UNIT elements the high parts, then the low ones, zeros behind the end; as long
 * as floats would be. B is split panel by panel.
 */
#ifndef PRT_KERN_BF16X3_BF16X3_H
#define PRT_KERN_BF16X3_BF16X3_H

#include "kern/gemm/gemm.h"

enum {
    PRT_BF16X3_UNIT = 32,
    PRT_BF16X3_DEPTH = 256,
    PRT_BF16X3_ROWS = 16,
    PRT_BF16X3_BEHIND = PRT_BF16X3_ROWS,
    PRT_BF16X3_SMALL_M = 64,
    PRT_BF16X3_SMALL_M_SCRATCH = 3072
};

/* Floats that k of them take. */
static inline size_t prt_bf16x3_size(size_t k)
{
    return (k + PRT_BF16X3_UNIT - 1) / PRT_BF16X3_UNIT * PRT_BF16X3_UNIT;
}

/* Floats from one split row of k to the next: rows of a tile do not meet in a set of the cache. */
static inline size_t prt_bf16x3_pitch(size_t k)
{
    return prt_bf16x3_size(k) + PRT_BF16X3_UNIT / 2;
}

/* taps * k rows of a panel, `stride` floats apart, as gemm.h has them; `to`: taps *
 * prt_bf16x3_size(k) * PRT_GEMM_PANEL floats that begin at a cache line. */
typedef struct prt_bf16x3_panel {
    size_t taps, k, columns;
    const float *b;
    size_t stride;
    float *to;
    bool finite; /* set: all of it is, and rounds to what is */
} prt_bf16x3_panel;

/* Some rows times one panel; pointers to what is split are to floats, too. */
typedef struct prt_bf16x3_block {
    size_t rows, columns;
    size_t k;       /* of a piece; of all together PRT_BF16X3_DEPTH at most, in whole units each */
    const float *a; /* PRT_BF16X3_BEHIND rows more are read behind `rows`, whatever they hold */
    size_t lda;
    /* Where it is not NULL, rows are in `taps` pieces, and PRT_BF16X3_ROWS of them `lda` apart:
     * piece t of those is at a + tile_at[i] + tap_at[t]. Then rows are whole numbers of that, and
     * C has room up to the next 16 columns. Else `taps` is 1. */
    const size_t *tile_at, *tap_at;
    size_t taps;
    const float *b;    /* `panel`'s, of all pieces */
    const float *bias; /* by column: what sums begin with; NULL: 0, or C with `add` */
    bool add;
    float *c;
    size_t ldc;
    const prt_gemm_end *end; /* as prt_gemm_block's, but for its bias; NULL: nothing */
    prt_bf16x3_panel *ahead; /* split meanwhile; NULL: nothing */
} prt_bf16x3_block;

/* Few rows times columns [first, last) of a matrix of `n`, all of K at once. */
typedef struct prt_bf16x3_small_m {
    size_t rows; /* 8 to PRT_BF16X3_SMALL_M */
    size_t k;
    const float *a; /* split as a whole, not in parts of K */
    size_t lda;
    size_t n, first, last; /* `first` is a multiple of 16 */
    const float *b;        /* of all columns, as prt_gemm_pack_all has it */
    const float *bias;     /* from here on pointers are to column 0; `end` has no bias */
    float *c;
    size_t ldc;
    const prt_gemm_end *end; /* NULL: nothing */
    float *room;             /* PRT_BF16X3_SMALL_M_SCRATCH floats that begin at a cache line */
} prt_bf16x3_small_m;

/* Rows of A that are pixels of an image with its channels last: what a kernel of several rows
 * reads, of each of its rows one piece. */
typedef struct prt_bf16x3_pixels {
    size_t count, step; /* rows; floats from the first element of one to the next one's */
    size_t each, far;   /* floats of a piece, and from one to the next */
    size_t skip, k;     /* elements of the rows: PRT_BF16X3_DEPTH at most */
    const float *x;
    float *to;
    size_t ldto;
} prt_bf16x3_pixels;

typedef struct prt_kern_bf16x3 {
    /* Splits rows, `lda` and `ldto` floats apart, times `scale`, one for each column, if that is
     * not NULL; false: not all of it is finite, or rounds to what is. */
    bool (*rows)(size_t rows, size_t k, const float *a, size_t lda, const float *scale, float *to,
        size_t ldto);
    /* With the bits that rows would give which lie there. */
    bool (*pixels)(const prt_bf16x3_pixels *g);
    void (*panel)(prt_bf16x3_panel *p);
    /* This thread's products between `begin` and `end` are of so many rows, in pieces or not. What
     * an element gets depends on its row of A, its column of B and the blocks of K alone. */
    void (*begin)(size_t rows, bool pieces);
    void (*multiply)(const prt_bf16x3_block *g);
    void (*end)(void);
    /* With the bits that panels would give; not between `begin` and `end`. False: not all of B is
     * finite. */
    bool (*small_m)(const prt_bf16x3_small_m *g);
} prt_kern_bf16x3; /* all NULL where the processor has no tiles */

#endif
