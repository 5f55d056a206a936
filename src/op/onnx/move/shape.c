/* SPDX-License-Identifier: MIT */
/* shape.c — Shape (the dims of a tensor) and Size (the number of its elements). */
#include "op/share/shape_values.h"

enum { ATTR_END = 0 }; /* index in the operator's row */

/* Computes the range of axes [start, end) that Shape outputs. */
static void range_of(const prt_shape_attrs *a, int64_t rank, int64_t *start, int64_t *end)
{
    *start = a->start < 0 ? a->start + rank : a->start;
    *end = !prt_attr_given(a, ATTR_END) ? rank : a->end < 0 ? a->end + rank : a->end;
    *start = *start < 0 ? 0 : *start > rank ? rank : *start;
    *end = *end < *start ? *start : *end > rank ? rank : *end;
}

static poprt_status infer_shape(prt_infer *c)
{
    int64_t start, end, count = PRT_DIM_UNKNOWN;
    if (!prt_infer_ranked(c, 0))
        return prt_infer_set(c, 0, PRT_DTYPE_i64, 1, &count);
    range_of(c->attrs, c->in[0].rank, &start, &end);
    count = end - start;
    PRT_TRY(prt_infer_set(c, 0, PRT_DTYPE_i64, 1, &count));
    if (c->dims == NULL)
        return POPRT_OK;
    return prt_shape_values_set(c, 0, (uint32_t)count, &c->in[0].dims[start]);
}

static poprt_status eval_shape(prt_eval *c)
{
    const prt_tensor *x = c->in[0];
    int64_t start, end;
    range_of(c->attrs, x->rank, &start, &end);
    const int64_t count = end - start;
    PRT_TRY(prt_shape_output(c, 0, PRT_DTYPE_i64, 1, &count));
    if (count != 0)
        memcpy(c->out[0]->data, &x->dims[start], (size_t)count * sizeof(int64_t));
    return POPRT_OK;
}

static poprt_status infer_size(prt_infer *c)
{
    PRT_TRY(prt_infer_set(c, 0, PRT_DTYPE_i64, 0, NULL));
    if (!prt_infer_ranked(c, 0) || c->dims == NULL)
        return POPRT_OK;
    const int64_t count = prt_infer_product(c, c->in[0].dims, 0, (uint32_t)c->in[0].rank);
    return prt_shape_values_set(c, 0, 1, &count);
}

static poprt_status eval_size(prt_eval *c)
{
    prt_store_u64(PRT_DTYPE_i64, c->out[0]->data, 0, prt_tensor_count(c->in[0]));
    return POPRT_OK;
}

const prt_op_hooks prt_op_shape = { .infer = infer_shape, .eval = eval_shape };
const prt_op_hooks prt_op_size = { .infer = infer_size, .eval = eval_size };
