/* SPDX-License-Identifier: MIT */
/*
 * gemm.h — float32 GEMM kernels, a block of C at a time: some rows, one panel of up to 64 columns,
 * a block of K. A and C are row-major. B's panel is packed:
 *
 *     element (k, j) of a panel is at k * width + j,   width = columns rounded up to 16
 *
 * The columns beyond may hold any finite values. Panels of a whole matrix packed beforehand follow
 * each other; all but the last are 64 wide. This is the format of compiled programs, the same at
 * every level.
 */
#ifndef PRT_KERN_GEMM_GEMM_H
#define PRT_KERN_GEMM_GEMM_H

#include <stdbool.h>

#include "kern/vector/act.h"

enum {
    PRT_GEMM_PANEL = 64,          /* columns of a panel */
    PRT_GEMM_SLICE = 16,          /* columns to which a panel's width is rounded up */
    PRT_GEMM_DIFFERENCE_ROWS = 12 /* rows of a block with `less`, at least */
};

/* The epilogue of finished sums: + row_bias, + bias, + residual, then the activation. */
typedef struct prt_gemm_end {
    const float *row_bias; /* by row of the block; NULL: no row bias */
    const float *bias;     /* by column of the panel; NULL: no bias */
    const float *residual; /* shaped as the block of C, rows `ldr` apart; may be C itself; NULL: no
                            * residual */
    size_t ldr;
    prt_act act;
} prt_gemm_end;

/* Returns whether the epilogue does nothing. */
static inline bool prt_gemm_end_is_identity(const prt_gemm_end *e)
{
    return e->bias == NULL && e->row_bias == NULL && e->residual == NULL &&
        e->act.kind == PRT_ACT_none;
}

typedef struct prt_gemm_block {
    size_t rows, columns, k;
    const float *a;
    size_t lda;
    /* If not NULL, used instead of `a` (implicit GEMM): a row of A consists of `taps` pieces of k
     * elements, to be multiplied by B's taps * k rows. Piece t of row i is at from[t * rows + i] +
     * skip. */
    const float *const *from;
    size_t taps, skip;
    const float *b; /* packed, or any rows `stride` apart that can be read up to the next 16
                     * columns */
    size_t stride;
    /* Strassen: if not NULL, B is b - less. Rows of both are `stride` apart. The difference is also
     * written to `made`, which has the same layout and may be `less`. It requires `a`, at least
     * PRT_GEMM_DIFFERENCE_ROWS rows, and the columns of a panel or half a panel. */
    const float *less;
    float *made;
    float *c;
    size_t ldc;
    bool in_cache;           /* B is in a cache, so it needs no prefetch */
    bool add;                /* adds to C: all blocks of K but the first */
    const prt_gemm_end *end; /* epilogue, with the last block of K; NULL: no epilogue */
    const float *next;       /* data to prefetch for later; NULL: unknown */
    size_t next_count;       /* elements of it */
} prt_gemm_block;

/* The value of an element depends on its row of A, its column of B and the blocks of K alone:
 * results are bit-identical however rows and columns are cut. */
typedef void (*prt_gemm_fn)(const prt_gemm_block *g);

/* C = bias + A B, a GEMM that gemm_row runs piece by piece while it reads its own panels: a GEMV is
 * limited by the cache, so arithmetic is free. Rows are whole tiles (prt_kern's gemv_overlap_rows),
 * columns whole panels; there are rows * columns / PRT_GEMM_PANEL pieces. */
typedef struct prt_gemv_overlap {
    size_t rows, columns, k;
    const float *a;
    size_t lda;
    const float *b;    /* all panels */
    const float *bias; /* by column; NULL: no bias */
    float *c;
    size_t ldc;
    size_t done; /* pieces that gemm_row has run so far; the caller sets 0 */
} prt_gemv_overlap;

enum { PRT_GEMM_CACHED = 1 << 19 }; /* elements of a B that stays in L2 */

/* GEMV: y = add + x B, with one row x of k (not 0) elements and all panels of B. */
typedef struct prt_gemm_row {
    size_t k, columns;
    const float *x, *b;
    const float *add; /* may be y; NULL: nothing is added */
    float *y;
    bool from_memory; /* B comes from memory or a slow cache; requires `overlap` to be NULL */
    bool back; /* panels last to first: starts with the panels that a walk in the other direction
                * left in a cache */
    prt_gemv_overlap *overlap; /* runs a piece with each whole panel, until all are done; NULL: no
                                * overlap. For B of up to PRT_GEMM_CACHED elements. */
} prt_gemm_row;

/* Gives the same bits as prt_gemm_fn. */
typedef void (*prt_gemm_row_fn)(const prt_gemm_row *r);

static inline size_t prt_gemm_width(size_t columns)
{
    return (columns + PRT_GEMM_SLICE - 1) / PRT_GEMM_SLICE * PRT_GEMM_SLICE;
}

/* Returns the columns of the panel that begins with column `first` of a matrix; and its width. */
static inline size_t prt_gemm_panel_columns(size_t columns, size_t first)
{
    return columns - first < PRT_GEMM_PANEL ? columns - first : PRT_GEMM_PANEL;
}

static inline size_t prt_gemm_panel_width(size_t columns, size_t first)
{
    return prt_gemm_width(prt_gemm_panel_columns(columns, first));
}

/* Packs `columns` columns of B, whose element (k, j) is at b[k * row + j * column]. */
void prt_gemm_pack(size_t k, size_t columns, const float *b, size_t row, size_t column, float *to);

/* Packs all panels of B, k * prt_gemm_width(columns) elements; and unpacks them. */
void prt_gemm_pack_all(size_t k, size_t columns, const float *b, size_t row, size_t column,
    float *to);
void prt_gemm_unpack_all(size_t k, size_t columns, const float *from, float *b, size_t row,
    size_t column);

#endif
