/* SPDX-License-Identifier: MIT */
/*
 * nop_moves.c — eliminate_nop_slice, _pad, _expand, _flatten, _reshape, _transpose: what moves no
 * element and leaves the shape is its input. Of a Slice, shapes must be known; of the others, what
 * is asked for decides too: a dim that is copied, or 1 of a shape to expand to, is no change.
 */
#include "pass/match.h"

/* Every integer of constant input `slot` is within [low, high]; absent is fine. */
static bool within(const prt_op *op, uint32_t slot, int64_t low, int64_t high)
{
    prt_tensor t;
    if (prt_op_input(op, slot) == NULL)
        return true;
    if (!prt_match_constant(op, slot, &t) || (t.dtype != PRT_DTYPE_i64 && t.dtype != PRT_DTYPE_i32))
        return false;
    for (size_t i = 0; i < prt_tensor_count(&t); i++) {
        const int64_t value = prt_load_i64(t.dtype, t.data, i);
        if (value < low || value > high)
            return false;
    }
    return true;
}

static bool is_static(const prt_type *type)
{
    if (!prt_type_is_tensor(type) || type->rank < 0)
        return false;
    for (int32_t i = 0; i < type->rank; i++)
        if (!prt_dim_is_number(type->dims[i]))
            return false;
    return true;
}

/* As many elements forwards as there are: all of them, in order. */
static bool apply_slice(prt_pass *p, prt_build *b, prt_op *root)
{
    prt_value *x = prt_op_input(root, 0);
    (void)p;
    return is_static(x->type) && x->type == root->out[0].type && within(root, 4, 1, INT64_MAX) &&
        prt_pass_replace(b, &root->out[0], x);
}

static bool apply_pad(prt_pass *p, prt_build *b, prt_op *root)
{
    (void)p;
    return within(root, 1, 0, 0) && prt_pass_replace(b, &root->out[0], prt_op_input(root, 0));
}

/* A known shape that is the same before and after. */
static bool keeps_shape(const prt_op *op)
{
    return is_static(prt_op_input(op, 0)->type) && prt_op_input(op, 0)->type == op->out[0].type;
}

/* Every item of the shape is 1 or the input's dim, counted from the back. */
static bool expands_to_itself(const prt_op *op)
{
    const prt_type *x = prt_op_input(op, 0)->type;
    int64_t to[PRT_MAX_RANK];
    uint32_t n;
    if (!prt_type_is_tensor(x) || !prt_match_i64s(op, 1, PRT_MAX_RANK, to, &n) ||
        (int64_t)n > x->rank)
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (to[i] != 1 && to[i] != x->dims[(uint32_t)x->rank - n + i])
            return false;
    return true;
}

static bool apply_expand(prt_pass *p, prt_build *b, prt_op *root)
{
    (void)p;
    return (keeps_shape(root) || expands_to_itself(root)) &&
        prt_pass_replace(b, &root->out[0], prt_op_input(root, 0));
}

/* Every item is the input's dim; one may be left open, and 0 copies. */
static bool reshapes_to_itself(const prt_op *op)
{
    const prt_type *x = prt_op_input(op, 0)->type;
    const bool copies = ((const prt_reshape_attrs *)op->attrs)->allowzero == 0;
    int64_t to[PRT_MAX_RANK];
    uint32_t n, open = 0;
    if (!prt_type_is_tensor(x) || !prt_match_i64s(op, 1, PRT_MAX_RANK, to, &n) ||
        (int64_t)n != x->rank)
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (to[i] == -1)
            open++;
        else if (to[i] != x->dims[i] && !(to[i] == 0 && copies))
            return false;
    return open <= 1;
}

static bool apply_reshape(prt_pass *p, prt_build *b, prt_op *root)
{
    (void)p;
    return (keeps_shape(root) || reshapes_to_itself(root)) &&
        prt_pass_replace(b, &root->out[0], prt_op_input(root, 0));
}

static bool apply_flatten(prt_pass *p, prt_build *b, prt_op *root)
{
    const int64_t axis = ((const prt_flatten_attrs *)root->attrs)->axis;
    const prt_type *x = prt_op_input(root, 0)->type;
    (void)p;
    return prt_type_is_tensor(x) && x->rank == 2 &&
        (axis == 1 || axis == -1 || ((axis == 0 || axis == -2) && x->dims[0] == 1)) &&
        prt_pass_replace(b, &root->out[0], prt_op_input(root, 0));
}

/* Without a permutation the order is reversed, which of one axis is nothing. */
static bool apply_transpose(prt_pass *p, prt_build *b, prt_op *root)
{
    const prt_i64s perm = ((const prt_transpose_attrs *)root->attrs)->perm;
    const prt_type *x = prt_op_input(root, 0)->type;
    (void)p;
    if (perm.count == 0 && (!prt_type_is_tensor(x) || x->rank < 0 || x->rank > 1))
        return false;
    for (uint32_t i = 0; i < perm.count; i++)
        if (perm.data[i] != i)
            return false;
    return prt_pass_replace(b, &root->out[0], prt_op_input(root, 0));
}

#define NOP(name)                                                                                  \
    static const prt_rewrite name##_rewrites[] = { { PRT_OP_##name, apply_##name } };              \
    const prt_pass_hooks prt_pass_eliminate_nop_##name = { .rewrites = name##_rewrites,            \
        .n_rewrites = 1 };

NOP(expand)
NOP(flatten)
NOP(pad)
NOP(reshape)
NOP(slice)
NOP(transpose)
