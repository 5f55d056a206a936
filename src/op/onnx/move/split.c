/* SPDX-License-Identifier: MIT */
/* split.c — Split: splits a tensor into parts along one axis. */
#include "op/alias.h"
#include "op/share/shape_values.h"

/* Returns the size of part `i` of `n` if no sizes are given: all are equal, and the last one is
 * smaller. Where the last would be negative (5 in 4 parts of 2), the parts end when the dim is
 * used up. */
static int64_t equal_part(prt_dims *dims, int64_t whole, uint32_t i, uint32_t n)
{
    const int64_t part = prt_dim_ceildiv(dims, whole, n);
    if (i == 0)
        return part;
    const int64_t rest = prt_dim_sub(dims, whole, prt_dim_mul(dims, part, i));
    if (n == 2) /* never negative, never larger than the first */
        return rest;
    return prt_dim_min(dims, part, prt_dim_max(dims, rest, 0));
}

/* Reads the sizes of parts from input 1; `sizes` has one element for every output. */
static poprt_status given_parts(const prt_infer *c, int64_t whole, int64_t *sizes)
{
    uint32_t count = 0;
    int64_t sum = 0;
    if (!prt_infer_ints(c, 1, sizes, c->n_out, &count)) {
        for (uint32_t i = 0; i < c->n_out; i++)
            sizes[i] = PRT_DIM_UNKNOWN;
        return POPRT_OK;
    }
    if (count != c->n_out)
        return prt_infer_fail(c, POPRT_E_SHAPE, "split has %u sizes, but there are %u outputs",
            count, c->n_out);
    for (uint32_t i = 0; i < count; i++)
        sum = prt_dim_add(c->dims, sum, sizes[i]);
    if (prt_dim_is_number(sum) && prt_dim_is_number(whole) && sum != whole)
        return prt_infer_fail(c, POPRT_E_SHAPE, "the sizes add up to %lld, but the dim is %lld",
            (long long)sum, (long long)whole);
    return POPRT_OK;
}

static poprt_status part_content(prt_infer *c, const int64_t *sizes)
{
    int64_t values[PRT_CONTENT_MAX], at = 0;
    uint32_t count;
    if (!prt_shape_values(c, 0, values, &count))
        return POPRT_OK;
    for (uint32_t i = 0; i < c->n_out; i++) {
        if (!prt_dim_is_number(sizes[i]) || sizes[i] > (int64_t)count - at)
            return POPRT_OK;
        PRT_TRY(prt_shape_values_set(c, i, (uint32_t)sizes[i], values + at));
        at += sizes[i];
    }
    return POPRT_OK;
}

static poprt_status infer(prt_infer *c)
{
    const prt_split_attrs *a = c->attrs;
    const prt_shape *x = &c->in[0];
    uint32_t axis;
    if (a->num_outputs != 0 && a->num_outputs != (int64_t)c->n_out)
        return prt_infer_fail(c, POPRT_E_SHAPE, "num_outputs is %lld, but there are %u outputs",
            (long long)a->num_outputs, c->n_out);
    if (x->rank < 0) {
        for (uint32_t i = 0; i < c->n_out; i++)
            PRT_TRY(prt_infer_unranked(c, i, x->dtype, PRT_RANK_UNKNOWN));
        return POPRT_OK;
    }
    PRT_TRY(prt_infer_axis(c, a->axis, x->rank, false, &axis));
    int64_t *sizes = PRT_NEW_N(c->scratch, int64_t, c->n_out);
    if (sizes == NULL)
        return POPRT_E_NOMEM;
    if (prt_infer_has(c, 1))
        PRT_TRY(given_parts(c, x->dims[axis], sizes));
    for (uint32_t i = 0; i < c->n_out; i++) {
        int64_t dims[PRT_MAX_RANK];
        if (!prt_infer_has(c, 1))
            sizes[i] = equal_part(c->dims, x->dims[axis], i, c->n_out);
        memcpy(dims, x->dims, sizeof(dims));
        dims[axis] = sizes[i];
        if (prt_dim_is_number(sizes[i]) && sizes[i] < 0)
            return prt_infer_fail(c, POPRT_E_SHAPE,
                "part %u would have size %lld; at least 0 is required", i, (long long)sizes[i]);
        PRT_TRY(prt_infer_set(c, i, x->dtype, x->rank, dims));
    }
    return x->rank == 1 ? part_content(c, sizes) : POPRT_OK;
}

static poprt_status eval(prt_eval *c)
{
    const prt_split_attrs *a = c->attrs;
    const prt_tensor *x = c->in[0];
    uint32_t axis;
    PRT_TRY(prt_shape_axis(c, a->axis, x->rank, &axis));
    const bool given = prt_eval_has(c, 1);
    if (given && prt_tensor_count(c->in[1]) != c->n_out)
        return prt_eval_fail(c, POPRT_E_SHAPE, "split has %zu sizes, but there are %u outputs",
            prt_tensor_count(c->in[1]), c->n_out);
    const size_t outer = prt_dims_product(x->dims, 0, axis);
    const size_t inner = prt_dims_product(x->dims, axis + 1, x->rank);
    const int64_t whole = x->dims[axis];
    int64_t at = 0;
    for (uint32_t i = 0; i < c->n_out; i++) {
        int64_t dims[PRT_MAX_RANK];
        const int64_t part = given ? prt_load_i64(c->in[1]->dtype, c->in[1]->data, i)
                                   : equal_part(NULL, whole, i, c->n_out);
        if (part < 0 || part > whole - at)
            return prt_eval_fail(c, POPRT_E_SHAPE, "part %u of size %lld exceeds the dim of %lld",
                i, (long long)part, (long long)whole);
        memcpy(dims, x->dims, sizeof(dims));
        dims[axis] = part;
        PRT_TRY(prt_shape_output(c, i, x->dtype, x->rank, dims));
        const size_t size = (size_t)part * inner;
        for (size_t o = 0; prt_eval_wants(c, i) && o < outer; o++)
            prt_element_copy(x->dtype, c->out[i]->data, o * size, x->data,
                (o * (size_t)whole + (size_t)at) * inner, size);
        at += part;
    }
    if (at != whole)
        return prt_eval_fail(c, POPRT_E_SHAPE, "the sizes add up to %lld, but the dim is %lld",
            (long long)at, (long long)whole);
    return POPRT_OK;
}

/* The hook `view`: the part is contiguous, and the sizes of the parts before it are known. */
static bool is_view(const prt_view_query *q, size_t *element)
{
    const prt_split_attrs *a = q->attrs;
    const prt_tensor *x = q->in[0];
    const int64_t axis = a->axis < 0 ? a->axis + x->rank : a->axis;
    int64_t first[PRT_MAX_RANK] = { 0 };
    if (axis < 0 || axis >= (int64_t)x->rank || prt_view_is_unknown(q, 1))
        return false;
    const int64_t whole = x->dims[axis], part = whole / q->n_out + (whole % q->n_out != 0);
    if (prt_view_has(q, 1) && prt_tensor_count(q->in[1]) != q->n_out)
        return false;
    for (uint32_t k = 0; k < q->i; k++) {
        const int64_t size = prt_view_integer(q, 1, k, part);
        if (size < 0)
            return false;
        first[axis] = size < whole - first[axis] ? first[axis] + size : whole;
    }
    return prt_view_box(q, first, element);
}

const prt_op_hooks prt_op_split = { .infer = infer, .eval = eval, .view = is_view };
