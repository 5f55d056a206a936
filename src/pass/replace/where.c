/* SPDX-License-Identifier: MIT */
/*
 * where.c — Where expressed by arithmetic.
 *
 *     replace_where_mask          Where(m, scores, -big), or with swapped values, that only Softmax
 *                                 over the last axis reads: scores + Where(m, 0, -big), in which
 *                                 the mask keeps its own, smaller shape. -big is a single number
 *                                 of -10000 or below, or -infinity. Equal within exp(-big) if
 *                                 scores are small beside big and no row is masked completely
 *                                 (such a row was uniform, and becomes the softmax of scores as
 *                                 far as big leaves bits of them).
 *     replace_where_with_mul_add  Where(c, X, Y) of floats: c * X + (1 - c) * Y. Equal, except for
 *                                 the sign of 0, if X and Y are finite; an infinity or NaN that
 *                                 was not selected becomes NaN. Therefore not applied if X or Y
 *                                 depends on a constant that is not finite, or if c tests for
 *                                 IsNaN or IsInf or compares with an infinity.
 */
#include <math.h>

#include "pass/engine/match.h"

/* ---- masks */

static bool is_softmax_of_last(const prt_op *op)
{
    if (!prt_op_is(op, PRT_OP_softmax) && !prt_op_is(op, PRT_OP_gc_softmax_v2))
        return false;
    const prt_type *x = prt_match_ranked(prt_op_input(op, 0));
    const int64_t axis = prt_op_is(op, PRT_OP_softmax)
        ? ((const prt_softmax_attrs *)op->attrs)->axis
        : ((const prt_gc_softmax_v2_attrs *)op->attrs)->axis;
    return axis == -1 || (x != NULL && axis == x->rank - 1);
}

static bool feeds_softmax(const prt_value *v)
{
    prt_for_each_use (use, v)
        if (!is_softmax_of_last(use->user))
            return false;
    return prt_value_used(v);
}

static bool apply_mask(prt_pass *p, prt_build *b, prt_op *root)
{
    double big;
    (void)p;
    for (uint32_t slot = 1; slot < 3; slot++) {
        prt_value *scores = prt_op_input(root, 3 - slot);
        if (!prt_match_number(root, slot, &big) || !(big <= -1e4) ||
            !prt_dtype_is_float(prt_match_dtype(scores)) || prt_match_ranked(scores) == NULL ||
            scores->type != root->out[0].type || !feeds_softmax(&root->out[0]))
            continue;
        const int32_t dtype = scores->type->dtype;
        prt_value *in[3] = { prt_op_input(root, 0) };
        in[slot] = prt_build_scalar(b, dtype, big);
        in[3 - slot] = prt_build_scalar(b, dtype, 0);
        prt_value *sum[2] = { scores, prt_build_op(b, PRT_OP_where, NULL, 3, in) };
        return prt_match_replace_op(b, root, PRT_OP_add, NULL, 2, sum);
    }
    return false;
}

/* ---- any choice */

enum { MOST_STEPS = 8 };

static bool has_infinite(const prt_tensor *t)
{
    for (size_t i = 0; i < prt_tensor_count(t); i++)
        if (!isfinite(prt_load_f64(t->dtype, t->data, i)))
            return true;
    return false;
}

/* Returns whether the op passes the elements of input 0 on, or negates them. */
static bool passes_on(const prt_op *op)
{
    static const uint32_t ids[] = { PRT_OP_cast, PRT_OP_cast_like, PRT_OP_identity, PRT_OP_expand,
        PRT_OP_reshape, PRT_OP_unsqueeze, PRT_OP_squeeze, PRT_OP_neg };
    for (size_t i = 0; i < PRT_COUNT_OF(ids); i++)
        if (prt_op_is(op, ids[i]))
            return true;
    return false;
}

/* Returns whether a value depends on a constant that is infinite or NaN. */
static bool may_be_infinite(const prt_value *v, uint32_t depth)
{
    prt_tensor t;
    if (v == NULL || depth == MOST_STEPS)
        return false;
    if (prt_value_is_fixed(v) && prt_value_tensor(v, &t))
        return prt_dtype_is_float(t.dtype) && has_infinite(&t);
    const prt_op *op = v->def;
    if (prt_op_is(op, PRT_OP_where))
        return may_be_infinite(prt_op_input(op, 1), depth + 1) ||
            may_be_infinite(prt_op_input(op, 2), depth + 1);
    if (prt_op_is(op, PRT_OP_constant_of_shape)) {
        const prt_tensor *value = ((const prt_constant_of_shape_attrs *)op->attrs)->value;
        return value != NULL && prt_dtype_is_float(value->dtype) && has_infinite(value);
    }
    return passes_on(op) && may_be_infinite(prt_op_input(op, 0), depth + 1);
}

/* Returns whether the condition tests for infinities or NaN, so that the value not selected is
 * one. */
static bool asks_for_special(const prt_value *v)
{
    for (uint32_t i = 0; i < MOST_STEPS && v != NULL && v->def != NULL; i++) {
        if (prt_op_is(v->def, PRT_OP_isnan) || prt_op_is(v->def, PRT_OP_isinf) ||
            prt_op_is(v->def, PRT_OP_gc_is_inf_v2))
            return true;
        if (prt_op_is(v->def, PRT_OP_equal) || prt_op_is(v->def, PRT_OP_less) ||
            prt_op_is(v->def, PRT_OP_greater))
            return may_be_infinite(prt_op_input(v->def, 0), 0) ||
                may_be_infinite(prt_op_input(v->def, 1), 0);
        if (!prt_op_is(v->def, PRT_OP_not) && !prt_op_is(v->def, PRT_OP_cast))
            return false;
        v = prt_op_input(v->def, 0);
    }
    return false;
}

static bool apply_choice(prt_pass *p, prt_build *b, prt_op *root)
{
    prt_value *x = prt_op_input(root, 1), *y = prt_op_input(root, 2);
    const int32_t dtype = prt_match_dtype(x);
    (void)p;
    if (!prt_match_allows(PRT_OP_mul, dtype) || !prt_dtype_is_float(dtype) ||
        may_be_infinite(x, 0) || may_be_infinite(y, 0) || asks_for_special(prt_op_input(root, 0)))
        return false;
    prt_value *c = prt_match_add_cast(b, prt_op_input(root, 0), dtype);
    prt_value *rest = prt_build_binary(b, PRT_OP_sub, prt_build_scalar(b, dtype, 1), c);
    prt_value *sum[2] = { prt_build_binary(b, PRT_OP_mul, c, x),
        prt_build_binary(b, PRT_OP_mul, rest, y) };
    return prt_match_replace_op(b, root, PRT_OP_add, NULL, 2, sum);
}

PRT_PASS_OF_REWRITE(replace_where_mask, PRT_OP_where, apply_mask);
PRT_PASS_OF_REWRITE(replace_where_with_mul_add, PRT_OP_where, apply_choice);
