/* SPDX-License-Identifier: MIT */
/* affine_grid.c — AffineGrid: the sampling grid of an affine map, in 2 or 3 dimensions. */
#include "op/share/reals.h"

static poprt_status infer(prt_infer *c)
{
    const int32_t dtype = c->in[0].dtype;
    int64_t size[5], dims[5], merged;
    uint32_t count;
    PRT_TRY(prt_infer_rank(c, 0, 3));
    PRT_TRY(prt_infer_rank(c, 1, 1));
    if (!prt_infer_ints(c, 1, size, PRT_COUNT_OF(size), &count)) {
        const int64_t known = prt_infer_dim(c, 1, 0);
        if (c->dims == NULL || (prt_dim_is_number(known) && known != 4 && known != 5))
            return prt_infer_fail(c, POPRT_E_SHAPE, "size has %lld values; accepted: 4, 5",
                (long long)known);
        return prt_infer_unranked(c, 0, dtype,
            prt_dim_is_number(known) ? (int32_t)known : PRT_RANK_UNKNOWN);
    }
    if (count != 4 && count != 5)
        return prt_infer_fail(c, POPRT_E_SHAPE, "size has %u values; accepted: 4, 5", count);
    const int64_t spatial = (int64_t)count - 2;
    PRT_TRY(prt_infer_merge(c, prt_infer_dim(c, 0, 0), size[0], "batch", &dims[0]));
    PRT_TRY(prt_infer_merge(c, prt_infer_dim(c, 0, 1), spatial, "rows of theta", &merged));
    PRT_TRY(prt_infer_merge(c, prt_infer_dim(c, 0, 2), spatial + 1, "columns of theta", &merged));
    for (int64_t i = 0; i < spatial; i++)
        dims[1 + i] = size[2 + i];
    dims[1 + spatial] = spatial;
    return prt_infer_exact(c, 0, dtype, (int32_t)count, dims);
}

/* Returns the coordinate of point `i` of `n` in [-1, 1]: cell centres, or the ends included
 * (`corners`). */
static double coordinate(int64_t i, int64_t n, bool corners)
{
    if (corners)
        return n > 1 ? -1.0 + 2.0 * (double)i / (double)(n - 1) : 0.0;
    return -1.0 + (2.0 * (double)i + 1.0) / (double)n;
}

static poprt_status eval(prt_eval *c)
{
    const prt_affine_grid_attrs *a = c->attrs;
    prt_tensor *y = c->out[0];
    const uint32_t spatial = y->rank - 2;
    const double *theta = prt_eval_reals(c, c->in[0]);
    int64_t at[PRT_MAX_RANK] = { 0 };
    const size_t points = prt_dims_product(y->dims, 0, y->rank - 1);
    if (theta == NULL)
        return POPRT_E_NOMEM;
    for (size_t p = 0; p < points; p++) {
        const double *m = theta + (size_t)at[0] * spatial * (spatial + 1);
        double value[3];
        for (uint32_t row = 0; row < spatial; row++, m += spatial + 1) {
            value[row] = m[spatial];
            /* The grid stores x, which is the last axis, first. */
            for (uint32_t k = 0; k < spatial; k++) {
                const uint32_t axis = spatial - k;
                value[row] += m[k] * coordinate(at[axis], y->dims[axis], a->align_corners != 0);
            }
        }
        prt_reals_store(y->dtype, y->data, p * spatial, 1, spatial, value);
        (void)prt_at_next(y->rank - 1, y->dims, at);
    }
    return POPRT_OK;
}

const prt_op_hooks prt_op_affine_grid = { .infer = infer, .eval = eval };
