/* SPDX-License-Identifier: MIT */
/*
 * nop_moves.c — eliminate_nop_slice and eliminate_nop_pad: a Slice that takes everything and a Pad
 * by nothing are their input. Of a Slice, shapes must be known.
 */
#include "pass/rewrite.h"

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

static const prt_rewrite slices[] = { { PRT_OP_slice, apply_slice } };
static const prt_rewrite pads[] = { { PRT_OP_pad, apply_pad } };

const prt_pass_hooks prt_pass_eliminate_nop_slice = { .rewrites = slices, .n_rewrites = 1 };
const prt_pass_hooks prt_pass_eliminate_nop_pad = { .rewrites = pads, .n_rewrites = 1 };
