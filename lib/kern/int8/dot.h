/* SPDX-License-Identifier: MIT */
/*
 * dot.h — products whose elements are multiplied in groups along K: two bfloat16 with float32 sums
 * (dot2_bf16), or four 8-bit integers with int32 sums (dot4_i8). Rows of A are groups in 32-bit
 * words, filled up with zeros. B has panels as in gemm.h, of words:
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
    PRT_DOT_DEPTH = 1 << 16 /* of dot4_i8, at most: sums fit int32 */,
    PRT_DOT_ROWS = 64
};

/* Some rows times one panel; all of K. */
typedef struct prt_dot_block {
    size_t rows, columns, words; /* words of K */
    const uint32_t *a;
    size_t lda; /* words */
    /* If not NULL, used instead of `a` (implicit GEMM): a row of A consists of `taps` pieces of
     * `words` words. Piece t of row i is at from[t * step + i]. */
    const uint32_t *const *from;
    size_t taps, step;
    const uint32_t *b;
    const char *next; /* data to prefetch for later; NULL: unknown */
    size_t next_lines;
    void *c; /* dot2_bf16: float; dot4_i8: int32_t, written up to the next PRT_GEMM_SLICE */
    size_t ldc;
    const prt_gemm_end *end; /* dot2_bf16 only; may be NULL */
} prt_dot_block;

/* Returns the words of all K. */
static inline size_t prt_dot_depth(const prt_dot_block *g)
{
    return g->words * (g->from != NULL ? g->taps : 1);
}

/* The data to prefetch: bytes left, and bytes of a step. */
typedef struct prt_dot_prefetch {
    const char *at;
    size_t left, step;
} prt_dot_prefetch;

/* Spreads g's prefetches over `steps` steps, at most a line each; nothing is prefetched if the
 * steps do not suffice. */
static inline prt_dot_prefetch prt_dot_prefetch_of(const prt_dot_block *g, size_t steps)
{
    const size_t left = g->next != NULL && g->next_lines <= steps ? g->next_lines * 64 : 0;
    return (prt_dot_prefetch){ left != 0 ? g->next : (const char *)g->b, left,
        left != 0 ? (left + steps - 1) / steps : 0 };
}

/* Skips the prefetches of `steps` steps. */
static inline void prt_dot_skip_prefetch(prt_dot_prefetch *f, size_t steps)
{
    const size_t done = f->step * steps;
    f->at += done;
    f->left -= f->left < done ? f->left : done;
    f->step = f->left != 0 ? f->step : 0;
}

/* Some rows of signed bytes, quantised by `blocks` of prt_kern_bytes, times one panel of 4-bit
 * integers (gemm/low_precision.h) with scales for the same blocks; all of K. */
typedef struct prt_dot_i4 {
    size_t rows, columns, k;
    const uint32_t *a;
    size_t lda;                /* words */
    const prt_dot_part *parts; /* by block, row by row */
    const uint32_t *b;
    prt_low_precision_scales by; /* requires a block */
    float *c;
    size_t ldc;
} prt_dot_i4;

/* Depthwise convolution of unsigned bytes: channels [first, last). If the channels are processed in
 * several parts, each begins at a multiple of PRT_DEPTHWISE_CHANNELS and has at least as many. */
typedef struct prt_depthwise_i8_block {
    size_t pixels, channels, taps, first, last;
    /* Bytes: tap t of pixel i is at from[t * pixels + i]. For `depthwise3x3`: row t of the window
     * and column c of the inputs of output row r are at from[(t * rows + r) * columns + c]. */
    const uint32_t *const *from;
    size_t wide, stride;     /* for `depthwise3x3`: pixels of a row; column stride */
    const uint32_t *w;       /* signed; taps 4 k to 4 k + 3 of channel c are word k * channels +
                              * c */
    const prt_requantize *q; /* by channel; `fits_int32` */
    uint8_t *y;
    size_t ldy;
} prt_depthwise_i8_block;

enum { PRT_DEPTHWISE_TAPS = 64 /* at most */, PRT_DEPTHWISE_CHANNELS = 64 };

/* Sets g's part of the prefetches: `lines` lines from `at` on are prefetched during `all` rows, of
 * which g has the rows from `done` on. */
static inline void prt_dot_set_prefetch(prt_dot_block *g, const char *at, size_t lines, size_t done,
    size_t all)
{
    const size_t from = lines * done / all, to = lines * (done + g->rows) / all;
    g->next = at != NULL ? at + from * 64 : NULL;
    g->next_lines = to - from;
}

typedef struct prt_kern_dot {
    size_t rows; /* preferred rows of a call of `i8`, up to PRT_DOT_ROWS */
    /* dot2_bf16; NULL if the processor has no instruction for it. Subnormal numbers count as 0. */
    void (*bf16)(const prt_dot_block *g);
    /* dot4_i8, A unsigned and B signed. Sums wrap at 32 bits. */
    void (*i8)(const prt_dot_block *g);
    /* Like `i8` followed by `requantize_sums` of prt_kern_bytes, in rows `ldy` apart. Returns the
     * number of rows that it has computed, from the first on. NULL: not available. */
    size_t (*requantize)(const prt_dot_block *g, const prt_requantize *q, uint8_t *y, size_t ldy);
    void (*i4)(const prt_dot_i4 *g);
    void (*depthwise)(const prt_depthwise_i8_block *g);
    /* The same for 3x3 windows and whole rows, column stride 1 or 2; NULL: not available. */
    void (*depthwise3x3)(const prt_depthwise_i8_block *g);
} prt_kern_dot;

#endif
