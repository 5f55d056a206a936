/* SPDX-License-Identifier: MIT */
/* argmax.c — ArgMax and ArgMin: where along an axis the greatest or least element is. NaN wins. */
#include "op/move.h"
#include "op/order.h"

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
        return prt_infer_fail(c, POPRT_E_SHAPE, "axis %u has no elements", axis);
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
    PRT_TRY(prt_move_axis(c, a->axis, x->rank, &axis));
    const size_t outer = prt_dims_product(x->dims, 0, axis);
    const size_t inner = prt_dims_product(x->dims, axis + 1, x->rank);
    const size_t n = (size_t)x->dims[axis];
    const bool floats = prt_dtype_is_float(x->dtype);
    if (n == 0)
        return prt_eval_fail(c, POPRT_E_SHAPE, "axis %u has no elements", axis);
    for (size_t o = 0; o < outer; o++)
        for (size_t i = 0; i < inner; i++) {
            uint64_t best = 0;
            size_t found = 0;
            for (size_t k = 0; k < n; k++) {
                uint64_t key = prt_order_key(x->dtype, x->data, (o * n + k) * inner + i);
                const bool nan = floats && key == UINT64_MAX;
                key = least && !nan ? ~key : key;
                if (k == 0 || key > best || (key == best && a->select_last_index != 0)) {
                    best = key;
                    found = k;
                }
            }
            prt_store_i64(PRT_DTYPE_i64, c->out[0]->data, o * inner + i, (int64_t)found);
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
