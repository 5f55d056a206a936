/* SPDX-License-Identifier: MIT */
/* sequence_split.c — SplitToSequence and ConcatFromSequence. */
#include "op/share/type_wrap.h"
#include "op/op.h"

/* ---- SplitToSequence ---- */

/* A scalar `split` gives equal parts and a remainder; without `split` every part has size 1. */
static poprt_status split_infer(prt_infer *c)
{
    const prt_split_to_sequence_attrs *a = c->attrs;
    const bool drop = a->keepdims == 0 && !prt_infer_has(c, 1);
    prt_shape elem = c->in[0];
    uint32_t axis;
    int64_t part;
    if (prt_infer_ranked(c, 1) && c->in[1].rank > 1)
        return prt_infer_fail(c, POPRT_E_SHAPE, "split has rank %d; accepted: 0, 1", c->in[1].rank);
    if (prt_infer_ranked(c, 0)) {
        PRT_TRY(prt_infer_axis(c, a->axis, elem.rank, false, &axis));
        elem.dims[axis] = PRT_DIM_UNKNOWN;
        if (!prt_infer_has(c, 1))
            elem.dims[axis] = 1;
        else if (prt_infer_ranked(c, 1) && c->in[1].rank == 0 && prt_infer_number(c, 1, &part) &&
            part > 0 && prt_dim_is_number(c->in[0].dims[axis]) && c->in[0].dims[axis] % part == 0)
            elem.dims[axis] = part;
        for (int32_t k = (int32_t)axis; drop && k + 1 < elem.rank; k++)
            elem.dims[k] = elem.dims[k + 1];
        elem.rank -= drop;
    }
    return prt_type_wrap_set(c, 0, PRT_VALUE_SEQUENCE, &elem);
}

/* Reads the size of each part: `*count` parts of `*width`, of which the last may be smaller; or
 * a list in input 1. */
static poprt_status read_parts(prt_eval *c, int64_t dim, size_t *count, int64_t *width)
{
    const prt_tensor *split = prt_eval_has(c, 1) ? c->in[1] : NULL;
    *width = 1;
    if (split != NULL && split->rank != 0) {
        *count = prt_tensor_count(split);
        int64_t sum = 0;
        for (size_t k = 0; k < *count; k++) {
            const int64_t part = prt_load_i64(split->dtype, split->data, k);
            if (part < 0 || !prt_i64_add(sum, part, &sum))
                return prt_eval_fail(c, POPRT_E_ARG,
                    "part %zu has size %lld, which is negative or too large", k, (long long)part);
        }
        if (sum != dim)
            return prt_eval_fail(c, POPRT_E_SHAPE, "the parts add up to %lld, but the dim is %lld",
                (long long)sum, (long long)dim);
        return POPRT_OK;
    }
    if (split != NULL)
        *width = prt_load_i64(split->dtype, split->data, 0);
    if (*width <= 0)
        return prt_eval_fail(c, POPRT_E_ARG, "split is %lld; it must be at least 1",
            (long long)*width);
    *count = (size_t)(dim / *width) + (dim % *width != 0);
    return POPRT_OK;
}

/* Copies part [at, at+width) along `axis` to item `k`. */
static poprt_status copy_part(prt_eval *c, size_t k, uint32_t axis, int64_t at, int64_t width,
    bool drop)
{
    const prt_tensor *x = c->in[0];
    int64_t dims[PRT_MAX_RANK] = { 0 };
    uint32_t rank = 0;
    for (uint32_t d = 0; d < x->rank; d++)
        if (d != axis || !drop)
            dims[rank++] = d == axis ? width : x->dims[d];
    prt_tensor *to = &c->out[0]->items[k];
    if (!prt_tensor_init(to, x->dtype, rank, dims, NULL))
        return prt_eval_fail(c, POPRT_E_LIMIT, "item %zu is too large", k);
    to->data = c->host->alloc(c, 0, to->size);
    if (to->data == NULL)
        return POPRT_E_NOMEM;
    const size_t outer = prt_dims_product(x->dims, 0, axis);
    const size_t inner = prt_dims_product(x->dims, axis + 1, x->rank);
    const size_t run = (size_t)width * inner;
    for (size_t o = 0; o < outer && run != 0; o++)
        prt_element_copy(x->dtype, to->data, o * run, x->data,
            (o * (size_t)x->dims[axis] + (size_t)at) * inner, run);
    return POPRT_OK;
}

static poprt_status split_eval(prt_eval *c)
{
    const prt_split_to_sequence_attrs *a = c->attrs;
    const prt_tensor *x = c->in[0], *split = prt_eval_has(c, 1) ? c->in[1] : NULL;
    const uint32_t axis = (uint32_t)(a->axis < 0 ? a->axis + (int64_t)x->rank : a->axis);
    const bool drop = a->keepdims == 0 && split == NULL;
    size_t count = 0;
    int64_t width = 1, at = 0;
    PRT_TRY(read_parts(c, x->dims[axis], &count, &width));
    if (!prt_eval_wants(c, 0))
        return POPRT_OK;
    PRT_TRY(prt_eval_sequence(c, 0, x->dtype, count));
    for (size_t k = 0; k < count; k++) {
        int64_t part = width;
        if (split != NULL && split->rank != 0)
            part = prt_load_i64(split->dtype, split->data, k);
        else if (part > x->dims[axis] - at)
            part = x->dims[axis] - at;
        PRT_TRY(copy_part(c, k, axis, at, part, drop));
        at += part;
    }
    return POPRT_OK;
}

/* ---- ConcatFromSequence ---- */

static poprt_status concat_infer(prt_infer *c)
{
    const prt_concat_from_sequence_attrs *a = c->attrs;
    const prt_shape elem = prt_type_wrap_elem(&c->in[0]);
    int64_t dims[PRT_MAX_RANK];
    uint32_t axis;
    if (!prt_attr_given(a, 0) || (a->new_axis != 0 && a->new_axis != 1))
        return prt_infer_fail(c, POPRT_E_PARSE,
            "the attribute axis is missing, or new_axis is not 0 or 1");
    const int32_t rank = elem.rank + (int32_t)a->new_axis;
    if (elem.kind != PRT_VALUE_TENSOR || elem.rank < 0 || rank > PRT_MAX_RANK)
        return prt_infer_unranked(c, 0, elem.dtype, PRT_RANK_UNKNOWN);
    PRT_TRY(prt_infer_axis(c, a->axis, rank, false, &axis));
    for (int32_t k = 0, from = 0; k < rank; k++)
        dims[k] = a->new_axis != 0 && k == (int32_t)axis ? PRT_DIM_UNKNOWN : elem.dims[from++];
    dims[axis] = PRT_DIM_UNKNOWN;
    return prt_infer_set(c, 0, elem.dtype, rank, dims);
}

/* Computes the dims of the result. Fails unless the shapes of all items match. */
static poprt_status concat_dims(prt_eval *c, bool fresh, int64_t *dims, uint32_t *rank,
    uint32_t *axis)
{
    const prt_concat_from_sequence_attrs *a = c->attrs;
    const prt_tensor *s = c->in[0];
    if (s->count == 0)
        return prt_eval_fail(c, POPRT_E_ARG,
            "the sequence is empty; at least one item is required");
    const prt_tensor *first = &s->items[0];
    const int64_t n = (int64_t)first->rank + fresh;
    if (first->kind != PRT_VALUE_TENSOR || n > PRT_MAX_RANK)
        return prt_eval_fail(c, POPRT_E_SHAPE,
            "items have rank %u; tensors of lower rank are required", first->rank);
    if (a->axis < -n || a->axis >= n)
        return prt_eval_fail(c, POPRT_E_SHAPE, "axis %lld is outside [%lld, %lld]",
            (long long)a->axis, (long long)-n, (long long)(n - 1));
    *rank = (uint32_t)n;
    *axis = (uint32_t)(a->axis < 0 ? a->axis + n : a->axis);
    for (uint32_t k = 0, from = 0; k < *rank; k++)
        dims[k] = fresh && k == *axis ? 0 : first->dims[from++];
    dims[*axis] = 0;
    for (size_t i = 0; i < s->count; i++) {
        const prt_tensor *t = &s->items[i];
        bool fits = t->kind == first->kind && t->rank == first->rank && t->dtype == first->dtype;
        for (uint32_t k = 0; fits && k < t->rank; k++)
            fits = t->dims[k] == first->dims[k] || (!fresh && k == *axis);
        if (!fits || !prt_i64_add(dims[*axis], fresh ? 1 : t->dims[*axis], &dims[*axis]))
            return prt_eval_fail(c, POPRT_E_SHAPE,
                "the shape of item %zu does not match the first item", i);
    }
    return POPRT_OK;
}

static poprt_status concat_eval(prt_eval *c)
{
    const prt_concat_from_sequence_attrs *a = c->attrs;
    const prt_tensor *s = c->in[0];
    const bool fresh = a->new_axis != 0;
    int64_t dims[PRT_MAX_RANK] = { 0 };
    uint32_t rank = 0, axis = 0;
    PRT_TRY(concat_dims(c, fresh, dims, &rank, &axis));
    if (!prt_eval_wants(c, 0))
        return POPRT_OK;
    PRT_TRY(prt_eval_shape(c, 0, s->items[0].dtype, rank, dims));
    prt_tensor *y = c->out[0];
    const size_t outer = prt_dims_product(dims, 0, axis);
    const size_t inner = prt_dims_product(dims, axis + 1, rank);
    size_t at = 0;
    for (size_t i = 0; i < s->count; i++) {
        const size_t width = fresh ? 1 : (size_t)s->items[i].dims[axis];
        for (size_t o = 0; o < outer && width * inner != 0; o++)
            prt_element_copy(y->dtype, y->data, (o * (size_t)dims[axis] + at) * inner,
                s->items[i].data, o * width * inner, width * inner);
        at += width;
    }
    return POPRT_OK;
}

const prt_op_hooks prt_op_split_to_sequence = { .infer = split_infer, .eval = split_eval };
const prt_op_hooks prt_op_concat_from_sequence = { .infer = concat_infer, .eval = concat_eval };
