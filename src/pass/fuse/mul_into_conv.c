/* SPDX-License-Identifier: MIT */
/*
 * mul_into_conv.c — fuse_mul_into_conv: folds a Mul by a constant, which is one number or one for
 * each channel, into the constant weights and bias of the Conv before it; float32. With
 * fuse_add_bias_into_conv this is a normalisation that a model writes as Mul and Add. The products
 * of constants are left to constant_folding.
 */
#include "ir/build_ops.h"
#include "pass/fuse/epilogue.h"

static bool is_constant(const prt_value *v)
{
    return v == NULL || (prt_value_is_constant(v) && prt_match_is_f32(v));
}

static bool apply(prt_pass *p, prt_build *b, prt_op *root)
{
    (void)p;
    for (uint32_t slot = 0; slot < 2; slot++) {
        const prt_op *conv = prt_match_interior(root, slot, PRT_OP_conv);
        prt_value *factor = prt_op_input(root, 1 - slot);
        const prt_type *type = root->out[0].type;
        if (conv == NULL || !prt_match_is_f32(&conv->out[0]) || conv->out[0].type != type ||
            type->rank < 3 || factor == NULL || !is_constant(factor))
            continue;
        prt_value *in[3] = { prt_op_input(conv, 0), prt_op_input(conv, 1), prt_op_input(conv, 2) };
        const int64_t channels = prt_match_dim(&conv->out[0], 1);
        if (in[1] == NULL || !is_constant(in[1]) || !is_constant(in[2]) ||
            !prt_epilogue_factor(factor, type, (uint32_t)type->rank - 2, channels))
            continue;
        uint64_t count = 0;
        int64_t dims[PRT_MAX_RANK] = { -1, 1, 1, 1, 1, 1, 1, 1 };
        if (!prt_type_count(factor->type, &count) || in[1]->type->rank != type->rank)
            continue;
        in[1] = prt_build_binary(b, PRT_OP_mul, in[1],
            prt_build_reshape(b, factor, count == 1 ? 0 : (uint32_t)type->rank, dims));
        if (in[2] != NULL)
            in[2] = prt_build_binary(b, PRT_OP_mul, in[2],
                prt_build_reshape(b, factor, count == 1 ? 0 : 1, dims));
        return prt_epilogue_replace(b, root, conv, PRT_OP_conv, conv->attrs, in[2] != NULL ? 3 : 2,
            in);
    }
    return false;
}

PRT_PASS_OF_REWRITE(fuse_mul_into_conv, PRT_OP_mul, apply);
