/* SPDX-License-Identifier: MIT */
/*
 * requantize_tiles.h — products of bytes whose sums become bytes: A unsigned, B signed, 16 rows of
 * A and 64 bytes of K at a time. Rows of A may overlap: those of a convolution are read where its
 * image is.
 *
 * A panel of B (dot.h) is packed for that: for each 32 columns, each piece and each step of K two
 * tiles, zeros where a piece or the columns end. So what A has behind a piece does not matter, but
 * it is read, up to a whole step. A panel can also be taken as it is, where pieces are whole steps,
 * or where there is one, whose last step is a copy with zeros.
 */
#ifndef PRT_KERN_INT8_REQUANTIZE_TILES_H
#define PRT_KERN_INT8_REQUANTIZE_TILES_H

#include "kern/int8/bytes.h"
#include "kern/gemm/gemm.h"

enum { PRT_TILES_ROWS = 16, PRT_TILES_WORDS = 16 /* of a step */ };

#define PRT_TILES_NONE UINT32_MAX

/* Steps of a piece of K. */
static inline size_t prt_requantize_tiles_steps(size_t words)
{
    return (words + PRT_TILES_WORDS - 1) / PRT_TILES_WORDS;
}

/* Words of a packed panel. */
static inline size_t prt_requantize_tiles_size(size_t taps, size_t words)
{
    return taps * prt_requantize_tiles_steps(words) * PRT_TILES_WORDS * PRT_GEMM_PANEL;
}

/* Some rows times one panel; all of K. */
typedef struct prt_requantize_tiles_block {
    size_t tiles; /* of rows */
    size_t columns, taps, steps;
    const uint8_t *const *tile; /* the first row of each; the others are `lda` bytes apart */
    const size_t *tap_at;       /* bytes from there to a piece of K */
    size_t lda;
    const uint32_t *b;
    bool packed;             /* then it is at the start of a cache line */
    const uint32_t *last;    /* where it is not: the last step, or NULL */
    const prt_requantize *q; /* tame, with biases; both may be read up to whole 16 columns */
    const uint32_t *to;      /* which row of y a row of A becomes, or PRT_TILES_NONE */
    uint8_t *y;
    size_t ldy;
    const char *next; /* read after this, fetched on the way; NULL: unknown */
    size_t next_lines;
} prt_requantize_tiles_block;

/* NULL where the processor has no tiles. */
typedef void (*prt_requantize_tiles_fn)(const prt_requantize_tiles_block *g);

#endif
