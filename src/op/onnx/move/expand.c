/* SPDX-License-Identifier: MIT */
/* expand.c — Expand and Tile: repeat elements to fill a larger shape. */
#include "op/share/shape_values.h"

/* Repeats the known integers of the input if the output is a short list. */
static poprt_status repeat_content(prt_infer *c)
{
    int64_t from[PRT_CONTENT_MAX], to[PRT_CONTENT_MAX];
    uint32_t count;
    if (!prt_infer_wants(c, 0) || c->out[0].rank < 0 || c->out[0].rank > 1 ||
        !prt_shape_values(c, 0, from, &count) || count == 0)
        return POPRT_OK;
    const int64_t n = c->out[0].rank == 0 ? 1 : c->out[0].dims[0];
    if (!prt_dim_is_number(n) || n > PRT_CONTENT_MAX)
        return POPRT_OK;
    for (uint32_t i = 0; i < (uint32_t)n; i++)
        to[i] = from[i % count];
    return prt_shape_values_set(c, 0, (uint32_t)n, to);
}

/* ---- Expand */

static poprt_status infer_expand(prt_infer *c)
{
    const prt_shape *x = &c->in[0];
    prt_shape pair[2] = { *x, { .kind = PRT_VALUE_TENSOR, .dtype = x->dtype } };
    uint32_t count;
    if (!prt_infer_ints(c, 1, pair[1].dims, PRT_MAX_RANK, &count)) {
        int64_t rank;
        if (x->rank < 0 || !prt_shape_values_count(c, 1, &rank))
            return prt_infer_unranked(c, 0, x->dtype, PRT_RANK_UNKNOWN);
        if (rank > PRT_MAX_RANK)
            return prt_infer_fail(c, POPRT_E_LIMIT, "the shape has rank %lld; the limit is 8",
                (long long)rank);
        return prt_infer_unranked(c, 0, x->dtype, rank > x->rank ? (int32_t)rank : x->rank);
    }
    pair[1].rank = (int32_t)count;
    for (uint32_t i = 0; i < count; i++)
        if (prt_dim_is_number(pair[1].dims[i]) && pair[1].dims[i] < 0)
            return prt_infer_fail(c, POPRT_E_SHAPE,
                "dim %u of the shape is %lld; it must be at least 0", i,
                (long long)pair[1].dims[i]);
    prt_infer both = *c;
    prt_shape out = { .dtype = x->dtype };
    both.in = pair;
    both.n_in = 2;
    PRT_TRY(prt_infer_broadcast(&both, 0, 2, &out));
    PRT_TRY(prt_infer_set(c, 0, x->dtype, out.rank, out.dims));
    return repeat_content(c);
}

static poprt_status eval_expand(prt_eval *c)
{
    const prt_tensor *x = c->in[0];
    int64_t shape[PRT_MAX_RANK], dims[PRT_MAX_RANK];
    uint32_t count;
    PRT_TRY(prt_eval_ints(c, 1, shape, PRT_MAX_RANK, &count));
    prt_view v = { .rank = x->rank > count ? x->rank : count };
    for (uint32_t k = 1; k <= v.rank; k++) {
        const int64_t in = k <= x->rank ? x->dims[x->rank - k] : 1;
        const int64_t want = k <= count ? shape[count - k] : 1;
        if (in != want && in != 1 && want != 1)
            return prt_eval_fail(c, POPRT_E_SHAPE, "dim %lld cannot be broadcast to %lld",
                (long long)in, (long long)want);
        const uint32_t i = v.rank - k;
        dims[i] = v.dims[i] = in == 1 ? want : in;
        v.stride[i] = in == 1 ? 0 : (int64_t)prt_dims_product(x->dims, x->rank - k + 1, x->rank);
    }
    PRT_TRY(prt_shape_output(c, 0, x->dtype, v.rank, dims));
    prt_view_eval(c, &v);
    return POPRT_OK;
}

/* ---- Tile */

static poprt_status infer_tile(prt_infer *c)
{
    const prt_shape *x = &c->in[0];
    int64_t repeats[PRT_MAX_RANK], dims[PRT_MAX_RANK];
    uint32_t count;
    if (!prt_infer_ints(c, 1, repeats, PRT_MAX_RANK, &count)) {
        int64_t rank;
        if (x->rank < 0 && prt_shape_values_count(c, 1, &rank) && rank >= 0 && rank <= PRT_MAX_RANK)
            return prt_infer_unranked(c, 0, x->dtype, (int32_t)rank);
        return prt_infer_unranked(c, 0, x->dtype, x->rank);
    }
    if (x->rank >= 0 && (uint32_t)x->rank != count)
        return prt_infer_fail(c, POPRT_E_SHAPE,
            "repeats has %u elements, but the input has rank %d", count, x->rank);
    for (uint32_t i = 0; i < count; i++) {
        if (prt_dim_is_number(repeats[i]) && repeats[i] < 0)
            return prt_infer_fail(c, POPRT_E_SHAPE,
                "axis %u has %lld repeats; at least 0 are required", i, (long long)repeats[i]);
        dims[i] = x->rank < 0 ? PRT_DIM_UNKNOWN : prt_dim_mul(c->dims, x->dims[i], repeats[i]);
    }
    PRT_TRY(prt_infer_set(c, 0, x->dtype, (int32_t)count, dims));
    return repeat_content(c);
}

/* Each axis becomes two axes of a view: the repetitions, with stride 0, and the axis itself. */
static poprt_status eval_tile(prt_eval *c)
{
    const prt_tensor *x = c->in[0];
    int64_t repeats[PRT_MAX_RANK], dims[PRT_MAX_RANK];
    uint32_t count;
    PRT_TRY(prt_eval_ints(c, 1, repeats, PRT_MAX_RANK, &count));
    if (count != x->rank)
        return prt_eval_fail(c, POPRT_E_SHAPE, "repeats has %u elements, but the input has rank %u",
            count, x->rank);
    prt_view v = { .rank = 2 * count };
    for (uint32_t i = 0; i < count; i++) {
        v.dims[2 * i] = repeats[i];
        v.dims[2 * i + 1] = x->dims[i];
        v.stride[2 * i + 1] = (int64_t)prt_dims_product(x->dims, i + 1, x->rank);
        if (repeats[i] < 0 || !prt_i64_mul(x->dims[i], repeats[i], &dims[i]))
            return prt_eval_fail(c, POPRT_E_SHAPE,
                "axis %u has %lld repeats, which is negative or too large", i,
                (long long)repeats[i]);
    }
    PRT_TRY(prt_shape_output(c, 0, x->dtype, count, dims));
    prt_view_eval(c, &v);
    return POPRT_OK;
}

const prt_op_hooks prt_op_expand = { .infer = infer_expand, .eval = eval_expand };
const prt_op_hooks prt_op_tile = { .infer = infer_tile, .eval = eval_tile };
