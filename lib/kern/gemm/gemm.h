/* SPDX-License-Identifier: MIT */
/*
 * gemm.h — products of float32 matrices, a block of C at a time: some rows, one panel of up to 64
 * columns, some of K. A and C are row-major; B's panel is packed:
 *
 *     element (k, j) of a panel is at k * width + j,   width = columns rounded up to 16
 *
 * with anything finite in the columns beyond. Panels of a whole matrix packed beforehand follow
 * each other, all but the last 64 wide (the program format; the same at every level).
 */
#ifndef PRT_KERN_GEMM_GEMM_H
#define PRT_KERN_GEMM_GEMM_H

#include <stdbool.h>

#include "kern/vector/act.h"

enum { PRT_GEMM_PANEL = 64, PRT_GEMM_SLICE = 16, PRT_GEMM_DIFFERENCE_ROWS = 12 };

/* What happens to finished elements: x, then + row_bias, + bias, + residual, then activation. */
typedef struct prt_gemm_end {
    const float *row_bias; /* by row of the block; NULL: none */
    const float *bias;     /* by column of the panel; NULL: none */
    const float *residual; /* like the block of C, rows `ldr` apart; NULL: none; may be C itself */
    size_t ldr;
    prt_act act;
} prt_gemm_end;

/* Sums are left as they are. */
static inline bool prt_gemm_end_is_plain(const prt_gemm_end *e)
{
    return e->bias == NULL && e->row_bias == NULL && e->residual == NULL &&
        e->act.kind == PRT_ACT_none;
}

typedef struct prt_gemm_block {
    size_t rows, columns, k;
    const float *a;
    size_t lda;
    /* Instead of `a`, where it is not NULL: rows of A in `taps` pieces of k elements each, with B's
     * taps * k rows. Piece t of row i is at from[t * rows + i] + skip. */
    const float *const *from;
    size_t taps, skip;
    const float *b; /* packed, or any rows `stride` apart that may be read up to the next 16 */
    size_t stride;
    /* With `less`, B is b - less, rows of both `stride` apart, and is left in `made`, which is laid
     * out alike and may be `less`. Then there are `a`, PRT_GEMM_DIFFERENCE_ROWS rows at least, and
     * a panel's columns or half of them. NULL: B is b. */
    const float *less;
    float *made;
    float *c;
    size_t ldc;
    bool near;               /* B is in some cache, where it need not be fetched ahead */
    bool add;                /* to what is in C: all blocks of K but the first */
    const prt_gemm_end *end; /* with the last block of K; NULL: nothing to do */
    const float *next;       /* what will be read after this, fetched on the way; NULL: unknown */
    size_t next_count;       /* elements of it */
} prt_gemm_block;

/* What an element gets depends on its row of A, its column of B and the blocks of K alone: results
 * are the same bits however rows and columns are cut. */
typedef void (*prt_gemm_fn)(const prt_gemm_block *g);

/* C = bias + A B, which gemm_row computes a piece at a time beside its own panels: those it gets
 * from a cache slower than it could multiply them. Rows in whole tiles (prt_kern's
 * gemv_overlap_rows), columns in whole panels; rows * columns / PRT_GEMM_PANEL pieces in all. */
typedef struct prt_gemv_overlap {
    size_t rows, columns, k;
    const float *a;
    size_t lda;
    const float *b;    /* all panels */
    const float *bias; /* by column; NULL: none */
    float *c;
    size_t ldc;
    size_t done; /* pieces; from 0 on, counted by gemm_row */
} prt_gemv_overlap;

enum { PRT_GEMM_NEAR = 1 << 19 }; /* elements of a B that does not leave the second cache level */

/* y = add + x B, with one row x of k (not 0) elements and all panels of B. */
typedef struct prt_gemm_row {
    size_t k, columns;
    const float *x, *b;
    const float *add; /* may be y; NULL: nothing */
    float *y;
    bool far;  /* B comes from memory or a cache that is slow, and `beside` is not there */
    bool back; /* panels last to first: what a walk the other way has left in a cache comes first */
    prt_gemv_overlap *beside; /* a piece with each whole panel, until all are done; NULL: nothing;
                               * for B up to PRT_GEMM_NEAR */
} prt_gemm_row;

/* The same bits as prt_gemm_fn's. */
typedef void (*prt_gemm_row_fn)(const prt_gemm_row *r);

static inline size_t prt_gemm_width(size_t columns)
{
    return (columns + PRT_GEMM_SLICE - 1) / PRT_GEMM_SLICE * PRT_GEMM_SLICE;
}

/* Columns of the panel that begins with column `first` of so many, and what they are rounded to. */
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

/* All panels of B, k * prt_gemm_width(columns) elements; and B from them. */
void prt_gemm_pack_all(size_t k, size_t columns, const float *b, size_t row, size_t column,
    float *to);
void prt_gemm_unpack_all(size_t k, size_t columns, const float *from, float *b, size_t row,
    size_t column);

#endif
