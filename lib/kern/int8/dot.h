/* SPDX-License-Identifier: MIT */
/*
 * dot.h — products whose elements are multiplied in groups along K: pairs of bfloat16 with sums in
 * float32, fours of 8 bits with sums in int32. A's rows are groups in words of 32 bits, zeros
 * behind an odd end; B is panels as gemm.h has them, of words:
 *
 *     element (k, j) of a panel is in word k / GROUP * width + j, at place k % GROUP
 */
#ifndef PRT_KERN_INT8_DOT_H
#define PRT_KERN_INT8_DOT_H

#include <stdint.h>

#include "kern/int8/bytes.h"
#include "kern/gemm/gemm.h"
#include "kern/gemm/low_precision.h"

enum {
    PRT_DOT_PAIR = 2,
    PRT_DOT_FOUR = 4,
    PRT_DOT_DEPTH = 1 << 16 /* of fours: fits int32 */,
    PRT_DOT_ROWS = 64
};

/* Some rows times one panel; all of K. */
typedef struct prt_dot_block {
    size_t rows, columns, words; /* words: of K */
    const uint32_t *a;
    size_t lda; /* words */
    /* Instead of `a`, where it is not NULL: rows of A in `taps` pieces of `words` each, all of K
     * together. Piece t of row i is at from[t * step + i]. */
    const uint32_t *const *from;
    size_t taps, step;
    const uint32_t *b;
    const char *next; /* read after this, fetched on the way; NULL: unknown */
    size_t next_lines;
    void *c; /* float for pairs; int32_t for fours, with room up to the next PRT_GEMM_SLICE */
    size_t ldc;
    const prt_gemm_end *end; /* of pairs; may be NULL */
} prt_dot_block;

/* Words of all K. */
static inline size_t prt_dot_depth(const prt_dot_block *g)
{
    return g->words * (g->from != NULL ? g->taps : 1);
}

/* What comes next: bytes that are left to be fetched, and by how many a step goes on. */
typedef struct prt_dot_ahead {
    const char *at;
    size_t left, step;
} prt_dot_ahead;

/* g's, spread over so many steps of a line at most; none where those would not do. */
static inline prt_dot_ahead prt_dot_spread(const prt_dot_block *g, size_t steps)
{
    const size_t left = g->next != NULL && g->next_lines <= steps ? g->next_lines * 64 : 0;
    return (prt_dot_ahead){ left != 0 ? g->next : (const char *)g->b, left,
        left != 0 ? (left + steps - 1) / steps : 0 };
}

/* So many steps later. */
static inline void prt_dot_pass(prt_dot_ahead *f, size_t steps)
{
    const size_t done = f->step * steps;
    f->at += done;
    f->left -= f->left < done ? f->left : done;
    f->step = f->left != 0 ? f->step : 0;
}

/* Some rows of bytes with a sign, as prt_kern_bytes' `blocks` makes them, times one panel of 4-bit
 * integers (narrow.h) with scales by the same blocks; all of K. */
typedef struct prt_dot_i4 {
    size_t rows, columns, k;
    const uint32_t *a;
    size_t lda;                /* words */
    const prt_dot_part *parts; /* of all blocks, row by row */
    const uint32_t *b;
    prt_low_precision_scales by; /* with a block */
    float *c;
    size_t ldc;
} prt_dot_i4;

/* Windows over each channel by itself, of unsigned bytes: channels [first, last) of all. Parts
 * begin at a multiple of PRT_DEPTHWISE_CHANNELS and have as many or more, where there are several.
 */
typedef struct prt_depthwise_i8_block {
    size_t pixels, channels, taps, first, last;
    /* Bytes: tap t of pixel i is at from[t * pixels + i]. For `depthwise3x3`, row t of the window
     * and column c of those that output row r reads: from[(t * rows + r) * columns + c]. */
    const uint32_t *const *from;
    size_t wide, stride;     /* for `depthwise3x3`: pixels of a row; columns from one to the next */
    const uint32_t *w;       /* signed; taps 4 k to 4 k + 3 of channel c: k * channels + c */
    const prt_requantize *q; /* by channel; tame */
    uint8_t *y;
    size_t ldy;
} prt_depthwise_i8_block;

enum { PRT_DEPTHWISE_TAPS = 64 /* at most */, PRT_DEPTHWISE_CHANNELS = 64 };

/* Of `lines` to be fetched during `all` rows from `at` on: those that belong to g's, which are
 * from row `done` on. */
static inline void prt_dot_fetch(prt_dot_block *g, const char *at, size_t lines, size_t done,
    size_t all)
{
    const size_t from = lines * done / all, to = lines * (done + g->rows) / all;
    g->next = at != NULL ? at + from * 64 : NULL;
    g->next_lines = to - from;
}

typedef struct prt_kern_dot {
    size_t rows; /* that `i8` is best called with, up to PRT_DOT_ROWS */
    /* Sums of pairs; NULL where the processor has no instruction for it. What is below the normal
     * numbers counts as 0. */
    void (*bf16)(const prt_dot_block *g);
    /* Sums of fours, A unsigned and B signed, exact but for what int32 cannot hold: that wraps. */
    void (*i8)(const prt_dot_block *g);
    /* The same as bytes, in rows `ldy` apart, by prt_kern_bytes' `requantize_sums`: of so many of
     * the first rows, which it returns. NULL: of none. */
    size_t (*requantize)(const prt_dot_block *g, const prt_requantize *q, uint8_t *y, size_t ldy);
    void (*i4)(const prt_dot_i4 *g);
    void (*depthwise)(const prt_depthwise_i8_block *g);
    /* The same of windows of 3 by 3 over whole rows, stride 1 or 2 along them; NULL: none. */
    void (*depthwise3x3)(const prt_depthwise_i8_block *g);
} prt_kern_dot;

#endif
