/* SPDX-License-Identifier: MIT */
/*
 * padding.c — attention_padding: pads the MatMuls of attention (before and after a Softmax) with
 * zeros, so that their inner and column dims are multiples of 16; a Slice removes the surplus
 * columns. Zeros add nothing to sums: reference results are bitwise equal, kernels may sum in
 * another order.
 *
 * Differences from the reference: the multiple is 16, since 16 floats are the widest vector of the
 * kernels. Rows are not padded, since no kernel needs it.
 */
#include "pass/engine/match.h"

enum { MULTIPLE = 16, MOST_STEPS = 8, MOST_DIM = 1 << 20 };

/* Returns whether the op may stand between a MatMul and the Softmax; its output has the shape of
 * its operand. */
static bool is_between(const prt_op *op)
{
    static const uint32_t ids[] = { PRT_OP_mul, PRT_OP_div, PRT_OP_add, PRT_OP_sub, PRT_OP_where,
        PRT_OP_gc_where_v2, PRT_OP_cast, PRT_OP_identity, PRT_OP_slice, PRT_OP_tanh,
        PRT_OP_gc_remap };
    for (size_t i = 0; i < PRT_COUNT_OF(ids); i++)
        if (prt_op_is(op, ids[i]))
            return true;
    return false;
}

static bool is_softmax(const prt_op *op)
{
    return prt_op_is(op, PRT_OP_softmax) || prt_op_is(op, PRT_OP_gc_softmax_v2);
}

static bool leads_to_softmax(const prt_value *v)
{
    for (uint32_t i = 0; i < MOST_STEPS; i++) {
        if (!prt_value_used_once(v))
            return false;
        const prt_op *op = v->uses->user;
        if (is_softmax(op))
            return true;
        if (!is_between(op))
            return false;
        v = &op->out[0];
    }
    return false;
}

static bool comes_from_softmax(const prt_value *v)
{
    for (uint32_t i = 0; i < MOST_STEPS && v != NULL && v->def != NULL; i++) {
        if (is_softmax(v->def))
            return true;
        if (!is_between(v->def))
            return false;
        v = prt_op_input(v->def, 0);
    }
    return false;
}

/* Appends zeros to the last two axes. */
static prt_value *padded(prt_build *b, prt_value *x, int64_t rows, int64_t columns)
{
    int64_t pads[2 * PRT_MAX_RANK] = { 0 };
    const uint32_t rank = (uint32_t)x->type->rank;
    if (rows == 0 && columns == 0)
        return x;
    pads[2 * rank - 2] = rows;
    pads[2 * rank - 1] = columns;
    return prt_build_binary(b, PRT_OP_pad, x, prt_build_i64s(b, 2 * rank, pads));
}

static prt_value *first_columns(prt_build *b, prt_value *x, int64_t columns)
{
    static const int64_t zero = 0, last = -1;
    prt_value *in[4] = { x, prt_build_i64s(b, 1, &zero), prt_build_i64s(b, 1, &columns),
        prt_build_i64s(b, 1, &last) };
    return prt_build_op(b, PRT_OP_slice, NULL, 4, in);
}

static int64_t missing(int64_t dim)
{
    return (MULTIPLE - dim % MULTIPLE) % MULTIPLE;
}

static bool apply(prt_pass *p, prt_build *b, prt_op *root)
{
    prt_value *x = prt_op_input(root, 0), *y = prt_op_input(root, 1);
    const prt_type *left = prt_match_ranked(x), *right = prt_match_ranked(y);
    const int64_t inner = prt_match_dim(x, -1), columns = prt_match_dim(y, -1);
    (void)p;
    if (left == NULL || right == NULL || left->rank < 2 || right->rank < 2 || inner < 1 ||
        inner > MOST_DIM || columns < 1 || columns > MOST_DIM || inner != prt_match_dim(y, -2) ||
        (missing(inner) == 0 && missing(columns) == 0) ||
        (!comes_from_softmax(x) && !leads_to_softmax(&root->out[0])))
        return false;
    prt_value *in[2] = { padded(b, x, 0, missing(inner)),
        padded(b, y, missing(inner), missing(columns)) };
    prt_value *product = prt_build_op(b, PRT_OP_matmul, NULL, 2, in);
    if (missing(columns) != 0)
        product = first_columns(b, product, columns);
    return prt_match_replace(b, root, product);
}

PRT_PASS_OF_REWRITE(attention_padding, PRT_OP_matmul, apply);
