/* SPDX-License-Identifier: MIT */
/*
 * bias_into_conv.c — fuse_add_bias_into_conv: folds an Add of a constant, which is one number or
 * one for each channel, into the bias of the Conv or ConvTranspose before it; float32. A
 * normalisation behind the Add can then be folded too.
 */
#include "pass/fuse/epilogue.h"

static bool apply(prt_pass *p, prt_build *b, prt_op *root)
{
    for (uint32_t slot = 0; slot < 2; slot++) {
        prt_op *conv = prt_match_interior(root, slot, PRT_OP_conv);
        conv = conv != NULL ? conv : prt_match_interior(root, slot, PRT_OP_conv_transpose);
        if (conv == NULL || !prt_match_is_f32(&conv->out[0]) || conv->out[0].type->rank < 3 ||
            conv->out[0].type != root->out[0].type)
            continue;
        prt_value *in[3] = { prt_op_input(conv, 0), prt_op_input(conv, 1) };
        in[2] = prt_epilogue_bias(p, b, root, 1 - slot, (uint32_t)conv->out[0].type->rank - 2,
            prt_match_dim(&conv->out[0], 1), prt_op_input(conv, 2));
        if (in[2] != NULL)
            return prt_epilogue_replace(b, root, conv, conv->def->id, conv->attrs, 3, in);
    }
    return b->status != POPRT_OK;
}

PRT_PASS_OF_REWRITE(fuse_add_bias_into_conv, PRT_OP_add, apply);
