/* SPDX-License-Identifier: MIT */
/*
 * channels_last.c — channels_last: converts convolutions of images to channels last (NHWC), between
 * Transposes of the data (to_nhwc.h). The Transposes then move behind operators that do not depend
 * on the order of axes, until they meet and cancel each other or reach the border of the
 * convolutional part.
 *
 * With channels last, a pixel is a vector: products read pixels in place and packed weights in
 * order, and depthwise kernels, pools and Winograd transforms process whole vectors of channels.
 */
#include "pass/layout/qconv.h"
#include "pass/layout/to_nhwc.h"

/* Returns whether the operator has a single scale, rather than one for each channel or block. */
static bool has_one_scale(const prt_op *op)
{
    const prt_type *t = prt_op_input(op, 1)->type;
    return prt_type_is_tensor(t) && (t->rank == 0 || (t->rank == 1 && t->dims[0] == 1));
}

static bool apply_other(prt_pass *p, prt_build *b, prt_op *root)
{
    (void)p;
    switch (root->def->id) {
    case PRT_OP_concat:
        return prt_to_nhwc_concat(b, root);
    case PRT_OP_split:
        return prt_to_nhwc_split(b, root);
    case PRT_OP_pad:
        return prt_to_nhwc_pad(b, root);
    case PRT_OP_slice:
        return prt_to_nhwc_slice(b, root);
    case PRT_OP_resize:
        return prt_to_nhwc_resize(b, root);
    case PRT_OP_max_pool:
    case PRT_OP_average_pool:
        return prt_to_nhwc_pool(b, root);
    case PRT_OP_reduce_mean:
    case PRT_OP_reduce_sum:
    case PRT_OP_reduce_max:
        return prt_to_nhwc_reduce(b, root);
    case PRT_OP_global_average_pool:
    case PRT_OP_global_max_pool:
        return prt_to_nhwc_global(b, root);
    case PRT_OP_group_normalization:
    case PRT_OP_instance_normalization:
        return prt_to_nhwc_norm(b, root);
    case PRT_OP_depth_to_space:
        return prt_to_nhwc_depth_to_space(b, root);
    case PRT_OP_space_to_depth:
        return prt_to_nhwc_space_to_depth(b, root);
    case PRT_OP_reshape:
        return prt_to_nhwc_shuffle(b, root) || prt_to_nhwc_join_shuffle(b, root);
    case PRT_OP_nhwc_shuffle:
        return prt_to_nhwc_halves(b, root);
    case PRT_OP_transpose:
        return prt_to_nhwc_unflatten(b, root) || prt_to_nhwc_flatten(b, root);
    case PRT_OP_quantize_linear:
    case PRT_OP_dequantize_linear:
        return has_one_scale(root) && prt_to_nhwc_elementwise(b, root);
    default:
        return prt_to_nhwc_elementwise(b, root);
    }
}

static const prt_rewrite rewrites[] = {
    { PRT_OP_conv, prt_to_nhwc_conv3d },
    { PRT_OP_fused_conv, prt_to_nhwc_conv3d },
    { PRT_OP_conv, prt_to_nhwc_conv },
    { PRT_OP_fused_conv, prt_to_nhwc_conv },
    { PRT_OP_conv_transpose, prt_to_nhwc_depth_to_space_conv },
    { PRT_OP_conv_transpose, prt_to_nhwc_conv_transpose },
    { PRT_OP_qlinear_conv, prt_to_nhwc_qconv },
    { PRT_OP_concat, apply_other },
    { PRT_OP_split, apply_other },
    { PRT_OP_pad, apply_other },
    { PRT_OP_slice, apply_other },
    { PRT_OP_resize, apply_other },
    { PRT_OP_max_pool, apply_other },
    { PRT_OP_average_pool, apply_other },
    { PRT_OP_reduce_mean, apply_other },
    { PRT_OP_reduce_sum, apply_other },
    { PRT_OP_reduce_max, apply_other },
    { PRT_OP_global_average_pool, apply_other },
    { PRT_OP_global_max_pool, apply_other },
    { PRT_OP_group_normalization, apply_other },
    { PRT_OP_instance_normalization, apply_other },
    { PRT_OP_depth_to_space, apply_other },
    { PRT_OP_space_to_depth, apply_other },
    { PRT_OP_reshape, apply_other },
    { PRT_OP_nhwc_shuffle, apply_other },
    { PRT_OP_transpose, apply_other },
    /* element-wise operators */
    { PRT_OP_add, apply_other },
    { PRT_OP_sub, apply_other },
    { PRT_OP_mul, apply_other },
    { PRT_OP_div, apply_other },
    { PRT_OP_max, apply_other },
    { PRT_OP_min, apply_other },
    { PRT_OP_pow, apply_other },
    { PRT_OP_sqrt, apply_other },
    { PRT_OP_exp, apply_other },
    { PRT_OP_neg, apply_other },
    { PRT_OP_abs, apply_other },
    { PRT_OP_relu, apply_other },
    { PRT_OP_prelu, apply_other },
    { PRT_OP_leaky_relu, apply_other },
    { PRT_OP_clip, apply_other },
    { PRT_OP_sigmoid, apply_other },
    { PRT_OP_tanh, apply_other },
    { PRT_OP_swish, apply_other },
    { PRT_OP_hard_sigmoid, apply_other },
    { PRT_OP_hard_swish, apply_other },
    { PRT_OP_elu, apply_other },
    { PRT_OP_softplus, apply_other },
    { PRT_OP_gelu, apply_other },
    { PRT_OP_erf, apply_other },
    { PRT_OP_quantized_add, apply_other },
    { PRT_OP_quantized_mul, apply_other },
    { PRT_OP_byte_table, apply_other },
    { PRT_OP_quantize_linear, apply_other },
    { PRT_OP_dequantize_linear, apply_other },
};

const prt_pass_hooks prt_pass_channels_last = {
    .rewrites = rewrites,
    .n_rewrites = PRT_COUNT_OF(rewrites),
};
