/* SPDX-License-Identifier: MIT */
/*
 * requantize_tiles.h — int8 products with requantised results, by tiles of 16 rows of A and 64
 * bytes of K: A unsigned, B signed. Rows of A may overlap: a convolution reads them in its image.
 *
 * A packed panel of B (dot.h) has, for each 32 columns, each piece of K and each step, two tiles;
 * zeros fill up pieces and columns. A is therefore read up to a whole step beyond a piece, and the
 * excess does not count. A panel can also be used in place if pieces are whole steps, or if there
 * is one piece, whose last step is a copy with zeros.
 */
#ifndef PRT_KERN_INT8_REQUANTIZE_TILES_H
#define PRT_KERN_INT8_REQUANTIZE_TILES_H

#include "kern/int8/bytes.h"
#include "kern/gemm/gemm.h"

enum { PRT_REQUANTIZE_TILES_ROWS = 16, PRT_TILES_WORDS = 16 /* of a step */ };

#define PRT_REQUANTIZE_TILES_NONE UINT32_MAX

/* Returns the steps of a piece of K. */
static inline size_t prt_requantize_tiles_steps(size_t words)
{
    return (words + PRT_TILES_WORDS - 1) / PRT_TILES_WORDS;
}

/* Returns the words of a packed panel. */
static inline size_t prt_requantize_tiles_size(size_t taps, size_t words)
{
    return taps * prt_requantize_tiles_steps(words) * PRT_TILES_WORDS * PRT_GEMM_PANEL;
}

/* Some rows times one panel; all of K. */
typedef struct prt_requantize_tiles_block {
    size_t tiles; /* tiles of rows */
    size_t columns, taps, steps;
    const uint8_t *const *tile; /* the first row of each; rows are `lda` bytes apart */
    const size_t *tap_at;       /* bytes from there to each piece of K */
    size_t lda;
    const uint32_t *b;
    bool packed;             /* B is packed, and begins at a cache line */
    const uint32_t *last;    /* not packed: the last step of K; NULL: in place */
    const prt_requantize *q; /* `fits_int32`, with biases; both are read up to whole 16 columns */
    const uint32_t *to;      /* row of y of each row of A, or PRT_REQUANTIZE_TILES_NONE */
    uint8_t *y;
    size_t ldy;
    const char *next; /* data to prefetch for later; NULL: unknown */
    size_t next_lines;
} prt_requantize_tiles_block;

/* NULL if the processor has no AMX. */
typedef void (*prt_requantize_tiles_fn)(const prt_requantize_tiles_block *g);

#endif
