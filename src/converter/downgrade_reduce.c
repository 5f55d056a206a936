/* SPDX-License-Identifier: MIT */
/* downgrade_reduce.c — downgrades reductions: axes as an attribute, empty axes, newer element
 * types. */
#include "converter/downgrade.h"

poprt_status prt_down_reduce_axes(prt_downgrade *d);
poprt_status prt_down_reduce_type(prt_downgrade *d);

/* Returns the result of a reduction over no axes, which applies to each element. */
static prt_value *reduce_over_no_axes(prt_build *b, uint32_t id, prt_value *x)
{
    switch (id) {
    case PRT_OP_reduce_l1:
    case PRT_OP_reduce_l2:
        return prt_build_unary(b, PRT_OP_abs, x);
    case PRT_OP_reduce_log_sum:
        return prt_build_unary(b, PRT_OP_log, x);
    case PRT_OP_reduce_sum_square:
        return prt_build_binary(b, PRT_OP_mul, x, x);
    default:
        return prt_build_unary(b, PRT_OP_identity, x);
    }
}

/* Computes a newer element type in one that holds all its values. An empty reduction gives the
 * minimum or maximum of the wider type, so a bool result is obtained by comparison with 0. */
static poprt_status reduce_in_type(prt_downgrade *d, int32_t wide)
{
    prt_op *op = d->op;
    const int32_t dtype = prt_down_dtype(prt_op_input(op, 0));
    prt_build b = prt_build_before(op);
    prt_value *in[2] = { prt_down_cast(&b, prt_op_input(op, 0), wide), prt_op_input(op, 1) };
    prt_value *y = prt_build_op(&b, op->def->id, op->attrs, op->n_in < 2 ? op->n_in : 2, in);
    y = dtype == PRT_DTYPE_bool ? prt_build_binary(&b, PRT_OP_greater, y, prt_down_scalar(&b, 0, y))
                                : prt_down_cast(&b, y, dtype);
    return prt_down_replace(d, &b, y);
}

poprt_status prt_down_reduce_type(prt_downgrade *d)
{
    const int32_t dtype = prt_down_dtype(prt_op_input(d->op, 0));
    const bool small = dtype == PRT_DTYPE_u8 || dtype == PRT_DTYPE_i8;
    if (dtype == PRT_DTYPE_bool || (small && d->target < 12))
        return reduce_in_type(d, PRT_DTYPE_i32);
    return POPRT_OK;
}

poprt_status prt_down_reduce_axes(prt_downgrade *d)
{
    prt_op *op = d->op;
    const prt_reduce_mean_attrs *a = op->attrs; /* the structs of all reductions have the same
                                                 * layout */
    int64_t axes[PRT_MAX_RANK];
    uint32_t count = 0;
    prt_value *x = prt_op_input(op, 0);
    if (prt_op_input(op, 1) != NULL &&
        !prt_down_integers(prt_op_input(op, 1), PRT_MAX_RANK, axes, &count))
        return prt_down_refuse(d,
            "the axes are an attribute at that opset, so they must be constant");
    if (count == 0 && a->noop_with_empty_axes != 0) {
        prt_build b = prt_build_before(op);
        return prt_down_replace(d, &b, reduce_over_no_axes(&b, op->def->id, x));
    }
    prt_down_reset_attr(op, "noop_with_empty_axes");
    prt_down_keep_inputs(op, 1);
    for (uint32_t i = 0; d->target < 11 && i < count; i++)
        axes[i] = prt_down_front_axis(axes[i], x);
    return count > 0 ? prt_down_add_ints(d, "axes", count, axes) : POPRT_OK;
}
