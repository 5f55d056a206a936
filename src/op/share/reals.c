/* SPDX-License-Identifier: MIT */
/* reals.c — elements as doubles, shape checks, coordinates and the matrix product of a tile. */
#include "op/share/reals.h"

void prt_reals_load(int32_t dtype, const void *data, size_t first, size_t step, size_t count,
    double *to)
{
    if (dtype == PRT_DTYPE_f32) {
        const float *from = data;
        for (size_t i = 0; i < count; i++)
            to[i] = (double)from[first + i * step];
        return;
    }
    if (dtype == PRT_DTYPE_f64) {
        const double *from = data;
        for (size_t i = 0; i < count; i++)
            to[i] = from[first + i * step];
        return;
    }
    if (prt_dtype_is_integer(dtype)) {
        const bool wide = dtype == PRT_DTYPE_u64;
        for (size_t i = 0; i < count; i++)
            to[i] = wide ? (double)prt_load_u64(dtype, data, first + i * step)
                         : (double)prt_load_i64(dtype, data, first + i * step);
        return;
    }
    for (size_t i = 0; i < count; i++)
        to[i] = prt_load_f64(dtype, data, first + i * step);
}

void prt_reals_store(int32_t dtype, void *data, size_t first, size_t step, size_t count,
    const double *from)
{
    if (dtype == PRT_DTYPE_f32) {
        float *to = data;
        for (size_t i = 0; i < count; i++)
            to[first + i * step] = (float)from[i];
        return;
    }
    for (size_t i = 0; i < count; i++)
        prt_store_f64(dtype, data, first + i * step, from[i]);
}

double *prt_eval_reals(prt_eval *c, const prt_tensor *t)
{
    const size_t n = prt_tensor_count(t);
    double *to = prt_eval_scratch(c, n, sizeof(double));
    if (to != NULL)
        prt_reals_load(t->dtype, t->data, 0, 1, n, to);
    return to;
}

poprt_status prt_infer_exact(prt_infer *c, uint32_t i, int32_t dtype, int32_t rank,
    const int64_t *dims)
{
    if (c->dims == NULL && prt_infer_wants(c, i))
        for (int32_t k = 0; k < rank; k++)
            if (!prt_dim_is_number(dims[k]))
                return prt_infer_fail(c, POPRT_E_LIMIT, "dim %d of output %u is too large", k, i);
    return prt_infer_set(c, i, dtype, rank, dims);
}

poprt_status prt_infer_rank(const prt_infer *c, uint32_t i, int32_t rank)
{
    if (prt_infer_ranked(c, i) && c->in[i].rank != rank)
        return prt_infer_fail(c, POPRT_E_SHAPE, "input %u has rank %d where %d is needed", i,
            c->in[i].rank, rank);
    return POPRT_OK;
}

int64_t prt_infer_dim(const prt_infer *c, uint32_t i, uint32_t k)
{
    if (!prt_infer_ranked(c, i) || (uint32_t)c->in[i].rank <= k)
        return PRT_DIM_UNKNOWN;
    return c->in[i].dims[k];
}

poprt_status prt_infer_vector(const prt_infer *c, uint32_t i, int64_t dim)
{
    int64_t merged;
    if (!prt_infer_ranked(c, i))
        return POPRT_OK;
    PRT_TRY(prt_infer_rank(c, i, 1));
    return prt_infer_merge(c, dim, c->in[i].dims[0], prt_slot_name(prt_op_in_slot(c->def, i)),
        &merged);
}

void prt_unravel(size_t index, uint32_t rank, const int64_t *dims, int64_t *at)
{
    for (uint32_t i = rank; i-- > 0;) {
        const size_t n = dims[i] > 0 ? (size_t)dims[i] : 1;
        at[i] = (int64_t)(index % n);
        index /= n;
    }
}

_Static_assert(PRT_TILE_LANES == 8, "product_2 has four pairs");

/* A vector of two doubles with the alignment of one. */
typedef double two __attribute__((vector_size(2 * sizeof(double)), aligned(8), may_alias));

/* Multiplies two rows by one group of lanes; the accumulators stay in registers. */
static void product_2(size_t depth, const double *a0, const double *a1, const double *p, double *c0,
    double *c1)
{
    two s0 = { 0 }, s1 = { 0 }, s2 = { 0 }, s3 = { 0 };
    two t0 = { 0 }, t1 = { 0 }, t2 = { 0 }, t3 = { 0 };
    for (size_t k = 0; k < depth; k++, p += PRT_TILE_LANES) {
        const two *b = (const two *)p;
        const two x = { a0[k], a0[k] }, y = { a1[k], a1[k] }, b0 = b[0], b1 = b[1], b2 = b[2],
                  b3 = b[3];
        s0 += x * b0, s1 += x * b1, s2 += x * b2, s3 += x * b3;
        t0 += y * b0, t1 += y * b1, t2 += y * b2, t3 += y * b3;
    }
    two *c = (two *)c0, *d = (two *)c1;
    c[0] = s0, c[1] = s1, c[2] = s2, c[3] = s3;
    d[0] = t0, d[1] = t1, d[2] = t2, d[3] = t3;
}

void prt_tile_product(size_t rows, size_t cols, size_t depth, const double *a, const double *panel,
    double out[PRT_TILE_ROWS][PRT_TILE_COLS])
{
    double unused[PRT_TILE_LANES];
    for (size_t j = 0; j < cols; j += PRT_TILE_LANES)
        for (size_t r = 0; r < rows; r += 2) {
            const bool pair = r + 1 < rows;
            const double *a0 = a + r * depth;
            product_2(depth, a0, pair ? a0 + depth : a0, panel + j * depth, &out[r][j],
                pair ? &out[r + 1][j] : unused);
        }
}

double *prt_tile_panel(prt_eval *c, size_t depth)
{
    return prt_eval_scratch(c, depth, PRT_TILE_COLS * sizeof(double));
}
