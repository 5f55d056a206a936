/* SPDX-License-Identifier: MIT */
/*
 * reals.h — helpers of the neural-network operators: elements of any real type as doubles, exact
 * output shapes, and the tile of a matrix product used by convolutions and products.
 */
#ifndef PRT_OP_SHARE_REALS_H
#define PRT_OP_SHARE_REALS_H

#include "op/op.h"

/* Load `count` elements from element `first` on, `step` apart, as doubles; and store them. */
void prt_reals_load(int32_t dtype, const void *data, size_t first, size_t step, size_t count,
    double *to);
void prt_reals_store(int32_t dtype, void *data, size_t first, size_t step, size_t count,
    const double *from);

/* Returns one element as a double. */
static inline double prt_real_at(const prt_tensor *t, size_t at)
{
    double value;
    prt_reals_load(t->dtype, t->data, at, 1, 1, &value);
    return value;
}

/* Returns all elements of a tensor as doubles in scratch. Returns NULL and records the error if
 * memory is refused. */
double *prt_eval_reals(prt_eval *c, const prt_tensor *t);

/* Like prt_infer_set, for operators whose output shape follows from input shapes. At run time it
 * fails with POPRT_E_LIMIT if a dim overflows. */
poprt_status prt_infer_exact(prt_infer *c, uint32_t i, int32_t dtype, int32_t rank,
    const int64_t *dims);

/* Checks that input i is absent, of unknown rank, or of rank `rank`. */
poprt_status prt_infer_rank(const prt_infer *c, uint32_t i, int32_t rank);

/* Returns dim k of input i; unknown if the input or its rank is not known. */
int64_t prt_infer_dim(const prt_infer *c, uint32_t i, uint32_t k);

/* Checks that input i is absent or a vector of `dim` elements. */
poprt_status prt_infer_vector(const prt_infer *c, uint32_t i, int64_t dim);

/* Computes the coordinates of element `index` of a row-major block with these dims. */
void prt_unravel(size_t index, uint32_t rank, const int64_t *dims, int64_t *at);

/* Matrix products are tiled: PRT_TILE_COLS columns of the right-hand matrix, packed in groups of
 * PRT_TILE_LANES columns (element (k, j) of a panel of depth K is at prt_tile_at(K, k, j)),
 * times up to PRT_TILE_ROWS rows of the left-hand matrix. Sums run over k in order, whatever the
 * tiling. */
enum { PRT_TILE_COLS = 64, PRT_TILE_LANES = 8, PRT_TILE_ROWS = 16 };

static inline size_t prt_tile_at(size_t depth, size_t k, size_t j)
{
    return (j / PRT_TILE_LANES * depth + k) * PRT_TILE_LANES + j % PRT_TILE_LANES;
}

/* Computes out[r][j] = sum over k of a[r * depth + k] * panel(k, j), for `rows` rows and `cols`
 * columns rounded up to lanes. */
void prt_tile_product(size_t rows, size_t cols, size_t depth, const double *a, const double *panel,
    double out[PRT_TILE_ROWS][PRT_TILE_COLS]);

/* Returns a panel of `depth` in scratch, or NULL (error recorded). */
double *prt_tile_panel(prt_eval *c, size_t depth);

#endif
