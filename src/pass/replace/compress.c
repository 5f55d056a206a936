/* SPDX-License-Identifier: MIT */
/*
 * compress.c — compress_pattern: Compress, whose output length depends on data, becomes
 * MaskCompress, whose output has the length of the input. Applies only if zeros after the selected
 * elements have no effect: all readers, possibly through functions with f(0) = 0, are sums over the
 * axis (ReduceSum, ReduceSumSquare, ReduceL1, ReduceL2). Bitwise equal.
 */
#include "pass/engine/match.h"

enum { MOST_VALUES = 64 };

static bool keeps_zero(const prt_op *op)
{
    static const uint32_t ids[] = { PRT_OP_abs, PRT_OP_neg, PRT_OP_relu, PRT_OP_sqrt, PRT_OP_tanh,
        PRT_OP_sin, PRT_OP_sign, PRT_OP_floor, PRT_OP_ceil, PRT_OP_round, PRT_OP_erf, PRT_OP_cast,
        PRT_OP_identity, PRT_OP_leaky_relu };
    for (size_t i = 0; i < PRT_COUNT_OF(ids); i++)
        if (prt_op_is(op, ids[i]))
            return prt_match_dtype(&op->out[0]) != PRT_DTYPE_string;
    return false;
}

/* Returns whether the op is a sum over at least this axis whose result shape does not depend on the
 * length. */
static bool sums_over(const prt_op *op, uint32_t axis)
{
    uint32_t set;
    if (!prt_op_is(op, PRT_OP_reduce_sum) && !prt_op_is(op, PRT_OP_reduce_sum_square) &&
        !prt_op_is(op, PRT_OP_reduce_l1) && !prt_op_is(op, PRT_OP_reduce_l2))
        return false;
    return prt_match_reduce_axes(op, &set) && (set >> axis & 1) != 0;
}

/* Returns whether every reader sums over the axis, or passes zeros on to such sums. */
static bool is_summed(const prt_value *first, uint32_t axis)
{
    const prt_value *list[MOST_VALUES] = { first };
    uint32_t n = 1;
    while (n != 0) {
        const prt_value *v = list[--n];
        if (!prt_value_used(v))
            return false;
        prt_for_each_use (use, v) {
            const prt_op *op = use->user;
            if (op->graph != v->graph || op == op->graph->ret)
                return false;
            if (sums_over(op, axis))
                continue;
            if (!keeps_zero(op) || n == MOST_VALUES)
                return false;
            list[n++] = &op->out[0];
        }
    }
    return true;
}

static bool apply(prt_pass *p, prt_build *b, prt_op *root)
{
    const prt_compress_attrs *a = root->attrs;
    prt_value *in[2] = { prt_op_input(root, 0), prt_op_input(root, 1) };
    const prt_type *x = prt_match_ranked(in[0]), *y = prt_match_ranked(&root->out[0]);
    const bool flat = !prt_attr_given(a, prt_op_attr(root->def, PRT_STR("axis")));
    prt_gc_mask_compress_attrs attrs = PRT_ATTRS_OF(gc_mask_compress);
    (void)p;
    if (x == NULL || y == NULL)
        return false;
    const uint32_t axis = flat ? 0 : (uint32_t)(a->axis < 0 ? a->axis + x->rank : a->axis);
    if (prt_dim_is_number(y->dims[axis]) || !is_summed(&root->out[0], axis))
        return false;
    if (!flat)
        PRT_ATTR_SET(attrs, gc_mask_compress, axis, a->axis);
    return prt_match_replace_op(b, root, PRT_OP_gc_mask_compress, &attrs, 2, in);
}

PRT_PASS_OF_REWRITE(compress_pattern, PRT_OP_compress, apply);
