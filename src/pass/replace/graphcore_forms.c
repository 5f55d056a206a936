/* SPDX-License-Identifier: MIT */
/*
 * graphcore_forms.c — operators of ai.graphcore that equal simpler ones: eliminate_nop_graphcore
 * removes those that return their input, replace_scale_with_neg makes an operator that has a
 * kernel, cancel_flips removes two ConvFlipWeights that cancel.
 */
#include "pass/engine/match.h"

static bool all_ones(prt_i64s list)
{
    for (uint32_t i = 0; i < list.count; i++)
        if (list.data[i] != 1)
            return false;
    return true;
}

/* Returns whether the attributes say that the result is the input. */
static bool returns_input(const prt_op *op)
{
    switch (op->def->id) {
    case PRT_OP_gc_scale:
        return ((const prt_gc_scale_attrs *)op->attrs)->scale == 1.0f;
    case PRT_OP_gc_subsample:
        return all_ones(((const prt_gc_subsample_attrs *)op->attrs)->strides);
    case PRT_OP_gc_reverse:
        return ((const prt_gc_reverse_attrs *)op->attrs)->dimensions.count == 0;
    default: /* Reshape */
        return prt_match_static(&op->out[0]) != NULL &&
            prt_op_input(op, 0)->type == op->out[0].type;
    }
}

static bool apply_nop(prt_pass *p, prt_build *b, prt_op *root)
{
    (void)p;
    return returns_input(root) && prt_pass_replace(b, &root->out[0], prt_op_input(root, 0));
}

static const prt_rewrite nops[] = { { PRT_OP_gc_scale, apply_nop },
    { PRT_OP_gc_subsample, apply_nop }, { PRT_OP_gc_reverse, apply_nop },
    { PRT_OP_gc_reshape, apply_nop } };

const prt_pass_hooks prt_pass_eliminate_nop_graphcore = {
    .rewrites = nops,
    .n_rewrites = PRT_COUNT_OF(nops),
};

static bool apply_neg(prt_pass *p, prt_build *b, prt_op *root)
{
    prt_value *x = prt_op_input(root, 0);
    (void)p;
    return ((const prt_gc_scale_attrs *)root->attrs)->scale == -1.0f &&
        prt_match_replace_op(b, root, PRT_OP_neg, NULL, 1, &x);
}

PRT_PASS_OF_REWRITE(replace_scale_with_neg, PRT_OP_gc_scale, apply_neg);

static bool apply_flip(prt_pass *p, prt_build *b, prt_op *root)
{
    const prt_op *inner = prt_match_producer(root, 0, PRT_OP_gc_conv_flip_weights);
    (void)p;
    return inner != NULL && prt_attrs_equal(root->def, root->attrs, inner->attrs) &&
        prt_pass_replace(b, &root->out[0], prt_op_input(inner, 0));
}

PRT_PASS_OF_REWRITE(cancel_flips, PRT_OP_gc_conv_flip_weights, apply_flip);
