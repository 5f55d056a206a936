/* SPDX-License-Identifier: MIT */
/*
 * channel_scale.c — fuse_gate: fuses a Mul by one factor for each channel (squeeze and excite) into
 * the convolution after it. The convolution then scales its weights or its pixels, whichever are
 * fewer.
 */
#include "op/words.h"
#include "pass/engine/rewrite.h"

static bool is_channel_scale(const prt_value *v, const prt_value *x)
{
    const prt_type *g = v->type, *t = x->type;
    if (!prt_type_is_tensor(g) || !prt_type_is_tensor(t) || g->rank != 4 || t->rank != 4 ||
        g->dims[1] != 1 || g->dims[2] != 1 || g->dims[0] != t->dims[0] || g->dims[3] != t->dims[3])
        return false;
    return prt_dim_is_number(t->dims[1]) && prt_dim_is_number(t->dims[2]);
}

static bool apply(prt_pass *p, prt_build *b, prt_op *root)
{
    const prt_nhwc_conv_attrs *a = root->attrs;
    const prt_op *mul = prt_match_interior(root, 0, PRT_OP_mul);
    (void)p;
    if (mul == NULL || a->group != 1 || a->images != 0 || a->form != PRT_NHWC_panels ||
        a->kernel_shape.count != 2 || prt_op_input(root, 4) != NULL)
        return false;
    prt_value *x = prt_op_input(mul, 0), *scale = prt_op_input(mul, 1);
    if (!is_channel_scale(scale, x)) {
        x = prt_op_input(mul, 1);
        scale = prt_op_input(mul, 0);
    }
    if (!is_channel_scale(scale, x))
        return false;
    prt_value *in[5] = { x, prt_op_input(root, 1), prt_op_input(root, 2), prt_op_input(root, 3),
        scale };
    prt_value *y = prt_build_op(b, PRT_OP_nhwc_conv, a, 5, in);
    if (y != NULL)
        (void)prt_pass_replace(b, &root->out[0], y);
    return true;
}

static const prt_rewrite rewrites[] = { { PRT_OP_nhwc_conv, apply } };

const prt_pass_hooks prt_pass_fuse_gate = {
    .rewrites = rewrites,
    .n_rewrites = PRT_COUNT_OF(rewrites),
};
