/* SPDX-License-Identifier: MIT */
/* gather.c — Gather, GatherElements, GatherND: elements or blocks selected by index tensors. */
#include "op/share/shape_values.h"

/* ---- Gather */

/* Gathers from the known integers of a shape tensor. */
static poprt_status gather_content(prt_infer *c)
{
    int64_t data[PRT_CONTENT_MAX], index[PRT_CONTENT_MAX];
    uint32_t n_data, n_index;
    if (c->in[0].rank != 1 || !prt_shape_values(c, 0, data, &n_data) ||
        !prt_shape_values(c, 1, index, &n_index))
        return POPRT_OK;
    for (uint32_t i = 0; i < n_index; i++) {
        const int64_t at = index[i] < 0 ? index[i] + (int64_t)n_data : index[i];
        const bool known = prt_dim_is_number(index[i]) && at >= 0 && at < (int64_t)n_data;
        index[i] = known ? data[at] : PRT_DIM_UNKNOWN;
    }
    return prt_shape_values_set(c, 0, n_index, index);
}

static poprt_status infer_gather(prt_infer *c)
{
    const prt_gather_attrs *a = c->attrs;
    const prt_shape *x = &c->in[0], *index = &c->in[1];
    uint32_t axis;
    if (x->rank < 0)
        return prt_infer_unranked(c, 0, x->dtype, PRT_RANK_UNKNOWN);
    PRT_TRY(prt_infer_axis(c, a->axis, x->rank, false, &axis));
    if (index->rank < 0)
        return prt_infer_unranked(c, 0, x->dtype, PRT_RANK_UNKNOWN);
    int64_t dims[2 * PRT_MAX_RANK];
    int32_t rank = 0;
    for (uint32_t i = 0; i < axis; i++)
        dims[rank++] = x->dims[i];
    for (int32_t i = 0; i < index->rank; i++)
        dims[rank++] = index->dims[i];
    for (int32_t i = (int32_t)axis + 1; i < x->rank; i++)
        dims[rank++] = x->dims[i];
    PRT_TRY(prt_infer_set(c, 0, x->dtype, rank, dims));
    return gather_content(c);
}

static poprt_status eval_gather(prt_eval *c)
{
    const prt_gather_attrs *a = c->attrs;
    const prt_tensor *x = c->in[0], *index = c->in[1];
    prt_tensor *y = c->out[0];
    uint32_t axis;
    PRT_TRY(prt_shape_axis(c, a->axis, x->rank, &axis));
    const size_t outer = prt_dims_product(x->dims, 0, axis);
    const size_t inner = prt_dims_product(x->dims, axis + 1, x->rank);
    const size_t n = prt_tensor_count(index);
    const int64_t dim = x->dims[axis];
    for (size_t i = 0; i < n; i++) {
        int64_t at;
        PRT_TRY(prt_shape_index(c, prt_load_i64(index->dtype, index->data, i), dim, &at));
        if (n == 1) {
            const int64_t row = (int64_t)inner;
            prt_view_eval(c,
                &(prt_view){ .rank = 2,
                    .dims = { (int64_t)outer, row },
                    .stride = { dim * row, 1 },
                    .first = at * row });
            break;
        }
        for (size_t o = 0; o < outer; o++)
            prt_element_copy(x->dtype, y->data, (o * n + i) * inner, x->data,
                (o * (size_t)dim + (size_t)at) * inner, inner);
    }
    return POPRT_OK;
}

/* ---- GatherElements */

static poprt_status infer_elements(prt_infer *c)
{
    const prt_gather_elements_attrs *a = c->attrs;
    const prt_shape *x = &c->in[0], *index = &c->in[1];
    uint32_t axis;
    if (x->rank >= 0) {
        PRT_TRY(prt_infer_axis(c, a->axis, x->rank, false, &axis));
        if (index->rank >= 0 && index->rank != x->rank)
            return prt_infer_fail(c, POPRT_E_SHAPE,
                "the indices have rank %d, but the data has rank %d", index->rank, x->rank);
        for (int32_t i = 0; i < index->rank; i++)
            if ((uint32_t)i != axis && prt_dim_is_number(index->dims[i]) &&
                prt_dim_is_number(x->dims[i]) && index->dims[i] > x->dims[i])
                return prt_infer_fail(c, POPRT_E_SHAPE,
                    "dim %d of the indices is %lld; the dim of the data, %lld, is the limit", i,
                    (long long)index->dims[i], (long long)x->dims[i]);
    }
    if (index->rank < 0)
        return prt_infer_unranked(c, 0, x->dtype, x->rank);
    return prt_infer_like(c, 0, 1, x->dtype);
}

/* Gathers one row along the last dim of the indices, from index element `to` on: element i is
 * read from row + i * step + index * stride. */
static poprt_status gather_row(prt_eval *c, size_t to, size_t row, size_t step, size_t stride,
    int64_t dim)
{
    const prt_tensor *x = c->in[0], *index = c->in[1];
    const size_t n = (size_t)index->dims[index->rank - 1];
    const int64_t *wide = index->dtype == PRT_DTYPE_i64 ? (const int64_t *)index->data + to : NULL;
    const bool words = prt_dtype_bits(x->dtype) == 32;
    const uint32_t *from_words = x->data;
    uint32_t *to_words = c->out[0]->data;
    for (size_t i = 0; i < n; i++) {
        const int64_t given =
            wide != NULL ? wide[i] : prt_load_i64(index->dtype, index->data, to + i);
        int64_t picked;
        PRT_TRY(prt_shape_index(c, given, dim, &picked));
        const size_t from = row + i * step + (size_t)picked * stride;
        if (words)
            to_words[to + i] = from_words[from];
        else
            prt_element_copy(x->dtype, c->out[0]->data, to + i, x->data, from, 1);
    }
    return POPRT_OK;
}

static poprt_status eval_elements(prt_eval *c)
{
    const prt_gather_elements_attrs *a = c->attrs;
    const prt_tensor *x = c->in[0], *index = c->in[1];
    uint32_t axis;
    PRT_TRY(prt_shape_axis(c, a->axis, x->rank, &axis));
    size_t stride[PRT_MAX_RANK];
    for (uint32_t i = 0; i < x->rank; i++) {
        stride[i] = prt_dims_product(x->dims, i + 1, x->rank);
        if (i != axis && index->dims[i] > x->dims[i])
            return prt_eval_fail(c, POPRT_E_SHAPE,
                "dim %u of the indices is larger than that of the data", i);
    }
    const size_t n = prt_tensor_count(index);
    const uint32_t last = x->rank - 1;
    int64_t at[PRT_MAX_RANK] = { 0 };
    for (size_t to = 0; to < n; to += (size_t)index->dims[last]) {
        size_t row = 0;
        for (uint32_t i = 0; i < last; i++)
            row += i == axis ? 0 : stride[i] * (size_t)at[i];
        PRT_TRY(gather_row(c, to, row, axis == last ? 0 : 1, stride[axis], x->dims[axis]));
        (void)prt_at_next(last, index->dims, at);
    }
    return POPRT_OK;
}

/* ---- GatherND */

/* Output dims: the dims of the indices without the last, then the dims of the data that an index
 * tuple does not cover. */
static poprt_status infer_nd(prt_infer *c)
{
    const prt_gather_nd_attrs *a = c->attrs;
    const prt_shape *x = &c->in[0], *index = &c->in[1];
    if (index->rank == 0 || x->rank == 0)
        return prt_infer_fail(c, POPRT_E_SHAPE, "data and indices must have at least one dim");
    if (x->rank < 0 || index->rank < 0)
        return prt_infer_unranked(c, 0, x->dtype, PRT_RANK_UNKNOWN);
    const int64_t most = x->rank < index->rank ? x->rank : index->rank;
    if (a->batch_dims < 0 || a->batch_dims >= most)
        return prt_infer_fail(c, POPRT_E_SHAPE, "batch_dims %lld is outside [0, %lld]",
            (long long)a->batch_dims, (long long)most - 1);
    const int32_t batch = (int32_t)a->batch_dims;
    const int64_t depth = index->dims[index->rank - 1];
    int64_t dims[2 * PRT_MAX_RANK];
    int32_t rank = 0;
    for (int32_t i = 0; i < index->rank - 1; i++)
        dims[rank++] = index->dims[i];
    for (int32_t i = 0; i < batch; i++)
        PRT_TRY(prt_infer_merge(c, x->dims[i], index->dims[i], "a batch dim", &dims[i]));
    if (!prt_dim_is_number(depth))
        return prt_infer_unranked(c, 0, x->dtype, PRT_RANK_UNKNOWN);
    if (depth < 0 || depth > x->rank - batch)
        return prt_infer_fail(c, POPRT_E_SHAPE,
            "index tuples have %lld members; at most %d are accepted", (long long)depth,
            x->rank - batch);
    for (int32_t i = batch + (int32_t)depth; i < x->rank; i++)
        dims[rank++] = x->dims[i];
    return prt_infer_set(c, 0, x->dtype, rank, dims);
}

static poprt_status eval_nd(prt_eval *c)
{
    const prt_gather_nd_attrs *a = c->attrs;
    const prt_tensor *x = c->in[0], *index = c->in[1];
    prt_tensor *y = c->out[0];
    const uint32_t batch = (uint32_t)a->batch_dims, last = index->rank - 1;
    const uint32_t depth = (uint32_t)index->dims[last];
    const size_t batches = prt_dims_product(x->dims, 0, batch);
    if (prt_dims_product(index->dims, 0, batch) != batches)
        return prt_eval_fail(c, POPRT_E_SHAPE, "batch dims of data and indices differ");
    const size_t tuples = prt_dims_product(index->dims, batch, last);
    const size_t block = prt_dims_product(x->dims, batch + depth, x->rank);
    const size_t per_batch = prt_dims_product(x->dims, batch, x->rank);
    for (size_t b = 0; b < batches; b++) {
        for (size_t t = 0; t < tuples; t++) {
            size_t from = 0;
            for (uint32_t k = 0; k < depth; k++) {
                int64_t at;
                PRT_TRY(prt_shape_index(c,
                    prt_load_i64(index->dtype, index->data, (b * tuples + t) * depth + k),
                    x->dims[batch + k], &at));
                from = from * (size_t)x->dims[batch + k] + (size_t)at;
            }
            prt_element_copy(x->dtype, y->data, (b * tuples + t) * block, x->data,
                b * per_batch + from * block, block);
        }
    }
    return POPRT_OK;
}

const prt_op_hooks prt_op_gather = { .infer = infer_gather, .eval = eval_gather };
const prt_op_hooks prt_op_gather_elements = { .infer = infer_elements, .eval = eval_elements };
const prt_op_hooks prt_op_gather_nd = { .infer = infer_nd, .eval = eval_nd };
