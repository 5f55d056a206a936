/* SPDX-License-Identifier: MIT */
/* argmax.c — ArgMax and ArgMin: index of the greatest or least element along an axis. NaN wins. */
#include "op/share/shape_values.h"
#include "op/share/order.h"

/* The rows of both operators have the same attributes in the same order. */
typedef prt_argmax_attrs attrs;

static poprt_status infer(prt_infer *c)
{
    const attrs *a = c->attrs;
    const prt_shape *x = &c->in[0];
    int64_t dims[PRT_MAX_RANK];
    uint32_t axis;
    if (x->rank < 0)
        return prt_infer_unranked(c, 0, PRT_DTYPE_i64, PRT_RANK_UNKNOWN);
    PRT_TRY(prt_infer_axis(c, a->axis, x->rank, false, &axis));
    if (x->dims[axis] == 0)
        return prt_infer_fail(c, POPRT_E_SHAPE, "axis %u has no elements; at least one is required",
            axis);
    int32_t rank = 0;
    for (int32_t i = 0; i < x->rank; i++) {
        if ((uint32_t)i != axis)
            dims[rank++] = x->dims[i];
        else if (a->keepdims != 0)
            dims[rank++] = 1;
    }
    return prt_infer_set(c, 0, PRT_DTYPE_i64, rank, dims);
}

static poprt_status eval(prt_eval *c, bool least)
{
    const attrs *a = c->attrs;
    const prt_tensor *x = c->in[0];
    uint32_t axis;
    PRT_TRY(prt_shape_axis(c, a->axis, x->rank, &axis));
    const size_t outer = prt_dims_product(x->dims, 0, axis);
    const size_t inner = prt_dims_product(x->dims, axis + 1, x->rank);
    const size_t n = (size_t)x->dims[axis];
    const bool floats = prt_dtype_is_float(x->dtype);
    if (n == 0)
        return prt_eval_fail(c, POPRT_E_SHAPE, "axis %u has no elements; at least one is required",
            axis);
    uint64_t *keys = prt_eval_scratch(c, n, sizeof(uint64_t));
    if (keys == NULL)
        return POPRT_E_NOMEM;
    for (size_t i = 0; i < outer * inner; i++) {
        size_t found = 0;
        prt_order_keys(x->dtype, x->data, i / inner * n * inner + i % inner, inner, n, keys);
        for (size_t k = 0; least && k < n; k++) /* NaN stays above all numbers */
            keys[k] = floats && keys[k] == UINT64_MAX ? keys[k] : ~keys[k];
        for (size_t k = 1; k < n; k++)
            if (keys[k] > keys[found] || (a->select_last_index != 0 && keys[k] == keys[found]))
                found = k;
        prt_store_i64(PRT_DTYPE_i64, c->out[0]->data, i, (int64_t)found);
    }
    return POPRT_OK;
}

static poprt_status eval_max(prt_eval *c)
{
    return eval(c, false);
}

static poprt_status eval_min(prt_eval *c)
{
    return eval(c, true);
}

const prt_op_hooks prt_op_argmax = { .infer = infer, .eval = eval_max };
const prt_op_hooks prt_op_argmin = { .infer = infer, .eval = eval_min };
