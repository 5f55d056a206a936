/* SPDX-License-Identifier: MIT */
/*
 * nop_dropout.c — eliminate_nop_dropout: readers of a Dropout that drops nothing read its input
 * instead. The mask must be unused.
 */
#include "pass/engine/rewrite.h"

static bool is_zero(const prt_op *op, uint32_t slot)
{
    prt_tensor t;
    return prt_match_constant(op, slot, &t) && prt_tensor_count(&t) == 1 &&
        prt_load_f64(t.dtype, t.data, 0) == 0.0;
}

/* Returns whether the op copies its input: it is not in training mode, or its ratio is 0. */
static bool only_copies(const prt_op *op)
{
    return prt_op_input(op, 2) == NULL || is_zero(op, 2) || is_zero(op, 1);
}

static bool apply(prt_pass *p, prt_build *b, prt_op *root)
{
    (void)p;
    if ((root->n_out > 1 && prt_value_used(&root->out[1])) || !only_copies(root) ||
        !prt_pass_replace(b, &root->out[0], prt_op_input(root, 0)))
        return false;
    if (!root->dead) /* it counts as random, so prt_pass_replace does not erase it */
        prt_op_erase(root);
    return true;
}

static const prt_rewrite rewrites[] = { { PRT_OP_dropout, apply } };

const prt_pass_hooks prt_pass_eliminate_nop_dropout = {
    .rewrites = rewrites,
    .n_rewrites = PRT_COUNT_OF(rewrites),
};
