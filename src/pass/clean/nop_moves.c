/* SPDX-License-Identifier: MIT */
/*
 * nop_moves.c — eliminate_nop_slice, _pad, _expand, _flatten, _reshape, _transpose: removes
 * operators that keep the shape and the order of the elements. For Slice the shapes must be known.
 * For the others the operands decide too: a copied dim, or a 1 in the shape of Expand, changes
 * nothing.
 *
 * eliminate_nop_slice also replaces Gather and GatherND by a Reshape if their constant indices name
 * every element in order. transformers 5 looks up masks like this.
 */
#include "pass/engine/match.h"

/* Returns whether every integer of constant input `slot` is within [low, high], or the input is
 * absent. */
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

/* If the shape is unchanged and the steps are positive, the Slice selects all elements in order. */
static bool apply_slice(prt_pass *p, prt_build *b, prt_op *root)
{
    prt_value *x = prt_op_input(root, 0);
    (void)p;
    return is_static(x->type) && x->type == root->out[0].type && within(root, 4, 1, INT64_MAX) &&
        prt_pass_replace(b, &root->out[0], x);
}

/* Replaces root by a Reshape of its input. */
static bool become_reshape(prt_build *b, prt_op *root)
{
    const prt_type *y = prt_match_static(&root->out[0]);
    if (y == NULL)
        return false;
    prt_value *in[2] = { prt_op_input(root, 0), prt_build_i64s(b, (uint32_t)y->rank, y->dims) };
    return prt_match_replace_named(b, root, PRT_OP_reshape, NULL, 2, in);
}

/* Gather along axis 0 with indices 0, 1, 2 ... */
static bool apply_gather(prt_pass *p, prt_build *b, prt_op *root)
{
    const int64_t n = prt_match_dim(prt_op_input(root, 0), 0);
    prt_tensor t;
    (void)p;
    if (((const prt_gather_attrs *)root->attrs)->axis != 0 || n < 1 ||
        !prt_match_constant(root, 1, &t) || t.rank < 1 || prt_tensor_count(&t) != (size_t)n)
        return false;
    for (size_t i = 0; i < (size_t)n; i++) {
        const int64_t at = prt_load_i64(t.dtype, t.data, i);
        if ((at < 0 ? at + n : at) != (int64_t)i)
            return false;
    }
    return become_reshape(b, root);
}

/* GatherND with the coordinates of every element, in order. */
static bool apply_gather_nd(prt_pass *p, prt_build *b, prt_op *root)
{
    const prt_type *x = prt_match_static(prt_op_input(root, 0));
    prt_tensor t;
    (void)p;
    if (((const prt_gather_nd_attrs *)root->attrs)->batch_dims != 0 || x == NULL || x->rank < 1 ||
        !prt_match_constant(root, 1, &t) || t.rank < 1 || t.dims[t.rank - 1] != x->rank)
        return false;
    const size_t r = (size_t)x->rank, n = prt_tensor_count(&t) / r;
    size_t all = 1;
    for (size_t d = 0; d < r; d++)
        if (!prt_size_mul(all, (size_t)x->dims[d], &all))
            return false;
    if (n != all || n == 0)
        return false;
    for (size_t i = 0; i < n; i++) {
        size_t at = 0;
        for (size_t d = 0; d < r; d++) {
            const int64_t c = prt_load_i64(t.dtype, t.data, i * r + d);
            const int64_t from = c < 0 ? c + x->dims[d] : c;
            if (from < 0 || from >= x->dims[d])
                return false;
            at = at * (size_t)x->dims[d] + (size_t)from;
        }
        if (at != i)
            return false;
    }
    return become_reshape(b, root);
}

static bool apply_pad(prt_pass *p, prt_build *b, prt_op *root)
{
    (void)p;
    return within(root, 1, 0, 0) && prt_pass_replace(b, &root->out[0], prt_op_input(root, 0));
}

/* Returns whether the shape is static and unchanged. */
static bool keeps_shape(const prt_op *op)
{
    return is_static(prt_op_input(op, 0)->type) && prt_op_input(op, 0)->type == op->out[0].type;
}

/* Returns whether every item of the shape is 1 or the input's dim, aligned at the last axis. */
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

/* Returns whether every item of the shape is the input's dim; one may be -1, and 0 copies. */
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

/* Without a permutation Transpose reverses the axes, which changes nothing for rank 0 and 1. */
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
NOP(transpose)

static const prt_rewrite slices[] = { { PRT_OP_slice, apply_slice },
    { PRT_OP_gather, apply_gather }, { PRT_OP_gather_nd, apply_gather_nd } };

const prt_pass_hooks prt_pass_eliminate_nop_slice = { .rewrites = slices,
    .n_rewrites = PRT_COUNT_OF(slices) };
