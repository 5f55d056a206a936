/* SPDX-License-Identifier: MIT */
/*
 * poprt/builder_ops_graphcore.h — operators of ai.graphcore.
 * See poprt/builder_ops.h. Made by tests/builder/ops.py.
 */
#ifndef POPRT_BUILDER_OPS_GRAPHCORE_H
#define POPRT_BUILDER_OPS_GRAPHCORE_H

#include "poprt/builder_ops.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct poprt_gc_abort_attrs {
    const char *name;
} poprt_gc_abort_attrs;

/* Abort, ai.graphcore 1. No output. */
static inline poprt_id poprt_op_gc_abort(poprt_builder *builder, poprt_id cond,
    const poprt_gc_abort_attrs *attrs)
{
    const poprt_id in[] = { cond };
    poprt_builder_op_info op = poprt_put_op("ai.graphcore", "Abort",
        attrs != NULL ? attrs->name : NULL, in, 1, NULL, 0);
    op.n_outputs = 0;
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_gc_add_bias_attrs {
    const char *name;
} poprt_gc_add_bias_attrs;

/* AddBias, ai.graphcore 1. */
static inline poprt_id poprt_op_gc_add_bias(poprt_builder *builder, poprt_id x, poprt_id b,
    const poprt_gc_add_bias_attrs *attrs)
{
    const poprt_id in[] = { x, b };
    const poprt_builder_op_info op = poprt_put_op("ai.graphcore", "AddBias",
        attrs != NULL ? attrs->name : NULL, in, 2, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_gc_all_reduce_attrs {
    const char *name;
    poprt_int_list ipus;
} poprt_gc_all_reduce_attrs;

/* AllReduce, ai.graphcore 1. Outputs: outputs.... */
static inline poprt_id poprt_op_gc_all_reduce(poprt_builder *builder, uint32_t n_inputs,
    const poprt_id *inputs, const poprt_gc_all_reduce_attrs *attrs, uint32_t n_out, poprt_id *out)
{
    poprt_attr list[1];
    uint32_t n = 0;
    if (attrs != NULL) {
        n = poprt_put_ints(list, n, "ipus", attrs->ipus);
    }
    poprt_builder_op_info op = poprt_put_op("ai.graphcore", "AllReduce",
        attrs != NULL ? attrs->name : NULL, NULL, 0, list, n);
    op.more_inputs = inputs;
    op.n_more_inputs = n_inputs;
    op.n_outputs = n_out;
    return poprt_builder_op(builder, &op, out);
}

typedef struct poprt_gc_atan2_attrs {
    const char *name;
} poprt_gc_atan2_attrs;

/* Atan2, ai.graphcore 1. */
static inline poprt_id poprt_op_gc_atan2(poprt_builder *builder, poprt_id y, poprt_id x,
    const poprt_gc_atan2_attrs *attrs)
{
    const poprt_id in[] = { y, x };
    const poprt_builder_op_info op = poprt_put_op("ai.graphcore", "Atan2",
        attrs != NULL ? attrs->name : NULL, in, 2, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_gc_attention_mask_attrs {
    const char *name;
    const char *dataType; /* default FLOAT */
} poprt_gc_attention_mask_attrs;

/* AttentionMask, ai.graphcore 1. */
static inline poprt_id poprt_op_gc_attention_mask(poprt_builder *builder, poprt_id mask,
    poprt_id scores, const poprt_gc_attention_mask_attrs *attrs)
{
    poprt_attr list[1];
    uint32_t n = 0;
    const poprt_id in[] = { mask, scores };
    if (attrs != NULL) {
        n = poprt_put_string(list, n, "dataType", attrs->dataType);
    }
    const poprt_builder_op_info op = poprt_put_op("ai.graphcore", "AttentionMask",
        attrs != NULL ? attrs->name : NULL, in, 2, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_gc_auto_loss_scale_proxy_attrs {
    const char *name;
} poprt_gc_auto_loss_scale_proxy_attrs;

/* AutoLossScaleProxy, ai.graphcore 1. */
static inline poprt_id poprt_op_gc_auto_loss_scale_proxy(poprt_builder *builder, poprt_id x,
    const poprt_gc_auto_loss_scale_proxy_attrs *attrs)
{
    const poprt_id in[] = { x };
    const poprt_builder_op_info op = poprt_put_op("ai.graphcore", "AutoLossScaleProxy",
        attrs != NULL ? attrs->name : NULL, in, 1, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_gc_batch_normalization_attrs {
    const char *name;
    poprt_optional_float epsilon; /* default 9.99999975e-06 */
    poprt_optional_float momentum; /* default 0.899999976 */
} poprt_gc_batch_normalization_attrs;

/* BatchNormalization, ai.graphcore 1. Outputs: Y, mean_out, var_out, saved_mean, saved_var. */
static inline poprt_id poprt_op_gc_batch_normalization(poprt_builder *builder, poprt_id x,
    poprt_id scale, poprt_id b, poprt_id mean, poprt_id var,
    const poprt_gc_batch_normalization_attrs *attrs, uint32_t n_out, poprt_id *out)
{
    poprt_attr list[2];
    uint32_t n = 0;
    const poprt_id in[] = { x, scale, b, mean, var };
    if (attrs != NULL) {
        n = poprt_put_float(list, n, "epsilon", attrs->epsilon);
        n = poprt_put_float(list, n, "momentum", attrs->momentum);
    }
    poprt_builder_op_info op = poprt_put_op("ai.graphcore", "BatchNormalization",
        attrs != NULL ? attrs->name : NULL, in, 5, list, n);
    op.n_outputs = n_out;
    return poprt_builder_op(builder, &op, out);
}

typedef struct poprt_gc_binary_const_scalar_attrs {
    const char *name;
    poprt_optional_float value; /* default 0 */
    const char *op;
    poprt_optional_int scalar_in_index; /* default 1 */
} poprt_gc_binary_const_scalar_attrs;

/* BinaryConstScalar, ai.graphcore 1. */
static inline poprt_id poprt_op_gc_binary_const_scalar(poprt_builder *builder, poprt_id x,
    const poprt_gc_binary_const_scalar_attrs *attrs)
{
    poprt_attr list[3];
    uint32_t n = 0;
    const poprt_id in[] = { x };
    if (attrs != NULL) {
        n = poprt_put_float(list, n, "value", attrs->value);
        n = poprt_put_string(list, n, "op", attrs->op);
        n = poprt_put_int(list, n, "scalar_in_index", attrs->scalar_in_index);
    }
    const poprt_builder_op_info op = poprt_put_op("ai.graphcore", "BinaryConstScalar",
        attrs != NULL ? attrs->name : NULL, in, 1, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_gc_bitwise_and_attrs {
    const char *name;
} poprt_gc_bitwise_and_attrs;

/* BitwiseAnd, ai.graphcore 1. */
static inline poprt_id poprt_op_gc_bitwise_and(poprt_builder *builder, poprt_id a, poprt_id b,
    const poprt_gc_bitwise_and_attrs *attrs)
{
    const poprt_id in[] = { a, b };
    const poprt_builder_op_info op = poprt_put_op("ai.graphcore", "BitwiseAnd",
        attrs != NULL ? attrs->name : NULL, in, 2, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_gc_bitwise_not_attrs {
    const char *name;
} poprt_gc_bitwise_not_attrs;

/* BitwiseNot, ai.graphcore 1. */
static inline poprt_id poprt_op_gc_bitwise_not(poprt_builder *builder, poprt_id x,
    const poprt_gc_bitwise_not_attrs *attrs)
{
    const poprt_id in[] = { x };
    const poprt_builder_op_info op = poprt_put_op("ai.graphcore", "BitwiseNot",
        attrs != NULL ? attrs->name : NULL, in, 1, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_gc_bitwise_or_attrs {
    const char *name;
} poprt_gc_bitwise_or_attrs;

/* BitwiseOr, ai.graphcore 1. */
static inline poprt_id poprt_op_gc_bitwise_or(poprt_builder *builder, poprt_id a, poprt_id b,
    const poprt_gc_bitwise_or_attrs *attrs)
{
    const poprt_id in[] = { a, b };
    const poprt_builder_op_info op = poprt_put_op("ai.graphcore", "BitwiseOr",
        attrs != NULL ? attrs->name : NULL, in, 2, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_gc_bitwise_xnor_attrs {
    const char *name;
} poprt_gc_bitwise_xnor_attrs;

/* BitwiseXnor, ai.graphcore 1. */
static inline poprt_id poprt_op_gc_bitwise_xnor(poprt_builder *builder, poprt_id a, poprt_id b,
    const poprt_gc_bitwise_xnor_attrs *attrs)
{
    const poprt_id in[] = { a, b };
    const poprt_builder_op_info op = poprt_put_op("ai.graphcore", "BitwiseXnor",
        attrs != NULL ? attrs->name : NULL, in, 2, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_gc_bitwise_xor_attrs {
    const char *name;
} poprt_gc_bitwise_xor_attrs;

/* BitwiseXor, ai.graphcore 1. */
static inline poprt_id poprt_op_gc_bitwise_xor(poprt_builder *builder, poprt_id a, poprt_id b,
    const poprt_gc_bitwise_xor_attrs *attrs)
{
    const poprt_id in[] = { a, b };
    const poprt_builder_op_info op = poprt_put_op("ai.graphcore", "BitwiseXor",
        attrs != NULL ? attrs->name : NULL, in, 2, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_gc_bucketize_attrs {
    const char *name;
    poprt_optional_int right; /* default 0 */
} poprt_gc_bucketize_attrs;

/* Bucketize, ai.graphcore 1. */
static inline poprt_id poprt_op_gc_bucketize(poprt_builder *builder, poprt_id input,
    poprt_id boundaries, const poprt_gc_bucketize_attrs *attrs)
{
    poprt_attr list[1];
    uint32_t n = 0;
    const poprt_id in[] = { input, boundaries };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "right", attrs->right);
    }
    const poprt_builder_op_info op = poprt_put_op("ai.graphcore", "Bucketize",
        attrs != NULL ? attrs->name : NULL, in, 2, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_gc_call_attrs {
    const char *name;
    const poprt_builder *callee;
    poprt_int_list modifiedInputs;
} poprt_gc_call_attrs;

/* Call, ai.graphcore 1. Outputs: outputs.... */
static inline poprt_id poprt_op_gc_call(poprt_builder *builder, uint32_t n_inputs,
    const poprt_id *inputs, const poprt_gc_call_attrs *attrs, uint32_t n_out, poprt_id *out)
{
    poprt_attr list[2];
    uint32_t n = 0;
    if (attrs != NULL) {
        n = poprt_put_object(list, n, "callee", POPRT_ATTR_GRAPH, attrs->callee);
        n = poprt_put_ints(list, n, "modifiedInputs", attrs->modifiedInputs);
    }
    poprt_builder_op_info op = poprt_put_op("ai.graphcore", "Call",
        attrs != NULL ? attrs->name : NULL, NULL, 0, list, n);
    op.more_inputs = inputs;
    op.n_more_inputs = n_inputs;
    op.n_outputs = n_out;
    return poprt_builder_op(builder, &op, out);
}

typedef struct poprt_gc_cast_then_pow2_scale_attrs {
    const char *name;
} poprt_gc_cast_then_pow2_scale_attrs;

/* CastThenPow2Scale, ai.graphcore 1. */
static inline poprt_id poprt_op_gc_cast_then_pow2_scale(poprt_builder *builder, poprt_id x,
    poprt_id log2_scale, const poprt_gc_cast_then_pow2_scale_attrs *attrs)
{
    const poprt_id in[] = { x, log2_scale };
    const poprt_builder_op_info op = poprt_put_op("ai.graphcore", "CastThenPow2Scale",
        attrs != NULL ? attrs->name : NULL, in, 2, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_gc_cast_to_uint8_attrs {
    const char *name;
    const char *fp8Format; /* default F143 */
} poprt_gc_cast_to_uint8_attrs;

/* CastToUint8, ai.graphcore 1. */
static inline poprt_id poprt_op_gc_cast_to_uint8(poprt_builder *builder, poprt_id x,
    poprt_id scale, const poprt_gc_cast_to_uint8_attrs *attrs)
{
    poprt_attr list[1];
    uint32_t n = 0;
    const poprt_id in[] = { x, scale };
    if (attrs != NULL) {
        n = poprt_put_string(list, n, "fp8Format", attrs->fp8Format);
    }
    const poprt_builder_op_info op = poprt_put_op("ai.graphcore", "CastToUint8",
        attrs != NULL ? attrs->name : NULL, in, 2, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_gc_conv_flip_weights_attrs {
    const char *name;
    poprt_optional_int group; /* default 1 */
} poprt_gc_conv_flip_weights_attrs;

/* ConvFlipWeights, ai.graphcore 1. */
static inline poprt_id poprt_op_gc_conv_flip_weights(poprt_builder *builder, poprt_id x,
    const poprt_gc_conv_flip_weights_attrs *attrs)
{
    poprt_attr list[1];
    uint32_t n = 0;
    const poprt_id in[] = { x };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "group", attrs->group);
    }
    const poprt_builder_op_info op = poprt_put_op("ai.graphcore", "ConvFlipWeights",
        attrs != NULL ? attrs->name : NULL, in, 1, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_gc_copy_var_update_attrs {
    const char *name;
} poprt_gc_copy_var_update_attrs;

/* CopyVarUpdate, ai.graphcore 1. */
static inline poprt_id poprt_op_gc_copy_var_update(poprt_builder *builder, poprt_id variable,
    poprt_id updater, const poprt_gc_copy_var_update_attrs *attrs)
{
    const poprt_id in[] = { variable, updater };
    const poprt_builder_op_info op = poprt_put_op("ai.graphcore", "CopyVarUpdate",
        attrs != NULL ? attrs->name : NULL, in, 2, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_gc_ctc_attrs {
    const char *name;
    const char *reduction; /* default Mean */
    poprt_optional_int blank; /* default 0 */
    poprt_optional_int outDataType; /* default 0 */
    poprt_optional_int zeroInfinity; /* default 0 */
} poprt_gc_ctc_attrs;

/* Ctc, ai.graphcore 1. Outputs: loss, gradient. */
static inline poprt_id poprt_op_gc_ctc(poprt_builder *builder, poprt_id log_probs,
    poprt_id targets, poprt_id input_lengths, poprt_id target_lengths,
    const poprt_gc_ctc_attrs *attrs, uint32_t n_out, poprt_id *out)
{
    poprt_attr list[4];
    uint32_t n = 0;
    const poprt_id in[] = { log_probs, targets, input_lengths, target_lengths };
    if (attrs != NULL) {
        n = poprt_put_string(list, n, "reduction", attrs->reduction);
        n = poprt_put_int(list, n, "blank", attrs->blank);
        n = poprt_put_int(list, n, "outDataType", attrs->outDataType);
        n = poprt_put_int(list, n, "zeroInfinity", attrs->zeroInfinity);
    }
    poprt_builder_op_info op = poprt_put_op("ai.graphcore", "Ctc",
        attrs != NULL ? attrs->name : NULL, in, 4, list, n);
    op.n_outputs = n_out;
    return poprt_builder_op(builder, &op, out);
}

typedef struct poprt_gc_ctc_beam_search_decoder_attrs {
    const char *name;
    poprt_optional_int blank; /* default 0 */
    poprt_optional_int beam_width; /* default 100 */
    poprt_optional_int top_paths; /* default 1 */
} poprt_gc_ctc_beam_search_decoder_attrs;

/* CtcBeamSearchDecoder, ai.graphcore 1. Outputs: label_probs, label_lengths, decoded_labels. */
static inline poprt_id poprt_op_gc_ctc_beam_search_decoder(poprt_builder *builder,
    poprt_id log_probs, poprt_id data_lengths, const poprt_gc_ctc_beam_search_decoder_attrs *attrs,
    uint32_t n_out, poprt_id *out)
{
    poprt_attr list[3];
    uint32_t n = 0;
    const poprt_id in[] = { log_probs, data_lengths };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "blank", attrs->blank);
        n = poprt_put_int(list, n, "beam_width", attrs->beam_width);
        n = poprt_put_int(list, n, "top_paths", attrs->top_paths);
    }
    poprt_builder_op_info op = poprt_put_op("ai.graphcore", "CtcBeamSearchDecoder",
        attrs != NULL ? attrs->name : NULL, in, 2, list, n);
    op.n_outputs = n_out;
    return poprt_builder_op(builder, &op, out);
}

typedef struct poprt_gc_depth_to_space_attrs {
    const char *name;
    poprt_optional_int blocksize; /* default 0 */
    const char *mode; /* default DCR */
} poprt_gc_depth_to_space_attrs;

/* DepthToSpace, ai.graphcore 1. */
static inline poprt_id poprt_op_gc_depth_to_space(poprt_builder *builder, poprt_id x,
    const poprt_gc_depth_to_space_attrs *attrs)
{
    poprt_attr list[2];
    uint32_t n = 0;
    const poprt_id in[] = { x };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "blocksize", attrs->blocksize);
        n = poprt_put_string(list, n, "mode", attrs->mode);
    }
    const poprt_builder_op_info op = poprt_put_op("ai.graphcore", "DepthToSpace",
        attrs != NULL ? attrs->name : NULL, in, 1, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_gc_detach_attrs {
    const char *name;
} poprt_gc_detach_attrs;

/* Detach, ai.graphcore 1. */
static inline poprt_id poprt_op_gc_detach(poprt_builder *builder, poprt_id x,
    const poprt_gc_detach_attrs *attrs)
{
    const poprt_id in[] = { x };
    const poprt_builder_op_info op = poprt_put_op("ai.graphcore", "Detach",
        attrs != NULL ? attrs->name : NULL, in, 1, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_gc_dynamic_add_attrs {
    const char *name;
    poprt_int_list axes;
    poprt_int_list sizes;
} poprt_gc_dynamic_add_attrs;

/* DynamicAdd, ai.graphcore 1. */
static inline poprt_id poprt_op_gc_dynamic_add(poprt_builder *builder, poprt_id y, poprt_id offset,
    poprt_id x, const poprt_gc_dynamic_add_attrs *attrs)
{
    poprt_attr list[2];
    uint32_t n = 0;
    const poprt_id in[] = { y, offset, x };
    if (attrs != NULL) {
        n = poprt_put_ints(list, n, "axes", attrs->axes);
        n = poprt_put_ints(list, n, "sizes", attrs->sizes);
    }
    const poprt_builder_op_info op = poprt_put_op("ai.graphcore", "DynamicAdd",
        attrs != NULL ? attrs->name : NULL, in, 3, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_gc_dynamic_slice_attrs {
    const char *name;
    poprt_int_list axes;
    poprt_int_list sizes;
    poprt_optional_int noOverlap; /* default 0 */
} poprt_gc_dynamic_slice_attrs;

/* DynamicSlice, ai.graphcore 1. */
static inline poprt_id poprt_op_gc_dynamic_slice(poprt_builder *builder, poprt_id x,
    poprt_id offset, poprt_id slicein, const poprt_gc_dynamic_slice_attrs *attrs)
{
    poprt_attr list[3];
    uint32_t n = 0;
    const poprt_id in[] = { x, offset, slicein };
    if (attrs != NULL) {
        n = poprt_put_ints(list, n, "axes", attrs->axes);
        n = poprt_put_ints(list, n, "sizes", attrs->sizes);
        n = poprt_put_int(list, n, "noOverlap", attrs->noOverlap);
    }
    const poprt_builder_op_info op = poprt_put_op("ai.graphcore", "DynamicSlice",
        attrs != NULL ? attrs->name : NULL, in, 3, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_gc_dynamic_update_attrs {
    const char *name;
    poprt_int_list axes;
    poprt_int_list sizes;
    poprt_optional_int noOverlap; /* default 0 */
} poprt_gc_dynamic_update_attrs;

/* DynamicUpdate, ai.graphcore 1. */
static inline poprt_id poprt_op_gc_dynamic_update(poprt_builder *builder, poprt_id y,
    poprt_id offset, poprt_id x, const poprt_gc_dynamic_update_attrs *attrs)
{
    poprt_attr list[3];
    uint32_t n = 0;
    const poprt_id in[] = { y, offset, x };
    if (attrs != NULL) {
        n = poprt_put_ints(list, n, "axes", attrs->axes);
        n = poprt_put_ints(list, n, "sizes", attrs->sizes);
        n = poprt_put_int(list, n, "noOverlap", attrs->noOverlap);
    }
    const poprt_builder_op_info op = poprt_put_op("ai.graphcore", "DynamicUpdate",
        attrs != NULL ? attrs->name : NULL, in, 3, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_gc_dynamic_zero_attrs {
    const char *name;
    poprt_int_list axes;
    poprt_int_list sizes;
} poprt_gc_dynamic_zero_attrs;

/* DynamicZero, ai.graphcore 1. */
static inline poprt_id poprt_op_gc_dynamic_zero(poprt_builder *builder, poprt_id y,
    poprt_id offset, const poprt_gc_dynamic_zero_attrs *attrs)
{
    poprt_attr list[2];
    uint32_t n = 0;
    const poprt_id in[] = { y, offset };
    if (attrs != NULL) {
        n = poprt_put_ints(list, n, "axes", attrs->axes);
        n = poprt_put_ints(list, n, "sizes", attrs->sizes);
    }
    const poprt_builder_op_info op = poprt_put_op("ai.graphcore", "DynamicZero",
        attrs != NULL ? attrs->name : NULL, in, 2, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_gc_erf_v2_attrs {
    const char *name;
} poprt_gc_erf_v2_attrs;

/* ErfV2, ai.graphcore 1. */
static inline poprt_id poprt_op_gc_erf_v2(poprt_builder *builder, poprt_id x,
    const poprt_gc_erf_v2_attrs *attrs)
{
    const poprt_id in[] = { x };
    const poprt_builder_op_info op = poprt_put_op("ai.graphcore", "ErfV2",
        attrs != NULL ? attrs->name : NULL, in, 1, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_gc_expm1_attrs {
    const char *name;
} poprt_gc_expm1_attrs;

/* Expm1, ai.graphcore 1. */
static inline poprt_id poprt_op_gc_expm1(poprt_builder *builder, poprt_id x,
    const poprt_gc_expm1_attrs *attrs)
{
    const poprt_id in[] = { x };
    const poprt_builder_op_info op = poprt_put_op("ai.graphcore", "Expm1",
        attrs != NULL ? attrs->name : NULL, in, 1, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_gc_fast_norm_attrs {
    const char *name;
    poprt_optional_float epsilon; /* default 9.99999975e-06 */
    poprt_optional_int num_groups; /* default 0 */
    poprt_optional_int stable_algo; /* default 0 */
    poprt_optional_int fwd_after_matmul; /* default 0 */
    poprt_optional_int bwd_after_matmul; /* default 0 */
    poprt_optional_int fwd_grain_size; /* default -1 */
    poprt_optional_int bwd_grain_size; /* default -1 */
    const char *debug_str;
} poprt_gc_fast_norm_attrs;

/* FastNorm, ai.graphcore 1. */
static inline poprt_id poprt_op_gc_fast_norm(poprt_builder *builder, poprt_id x, poprt_id scale,
    poprt_id bias, const poprt_gc_fast_norm_attrs *attrs)
{
    poprt_attr list[8];
    uint32_t n = 0;
    const poprt_id in[] = { x, scale, bias };
    if (attrs != NULL) {
        n = poprt_put_float(list, n, "epsilon", attrs->epsilon);
        n = poprt_put_int(list, n, "num_groups", attrs->num_groups);
        n = poprt_put_int(list, n, "stable_algo", attrs->stable_algo);
        n = poprt_put_int(list, n, "fwd_after_matmul", attrs->fwd_after_matmul);
        n = poprt_put_int(list, n, "bwd_after_matmul", attrs->bwd_after_matmul);
        n = poprt_put_int(list, n, "fwd_grain_size", attrs->fwd_grain_size);
        n = poprt_put_int(list, n, "bwd_grain_size", attrs->bwd_grain_size);
        n = poprt_put_string(list, n, "debug_str", attrs->debug_str);
    }
    const poprt_builder_op_info op = poprt_put_op("ai.graphcore", "FastNorm",
        attrs != NULL ? attrs->name : NULL, in, 3, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_gc_fmod_attrs {
    const char *name;
} poprt_gc_fmod_attrs;

/* Fmod, ai.graphcore 1. */
static inline poprt_id poprt_op_gc_fmod(poprt_builder *builder, poprt_id a, poprt_id b,
    const poprt_gc_fmod_attrs *attrs)
{
    const poprt_id in[] = { a, b };
    const poprt_builder_op_info op = poprt_put_op("ai.graphcore", "Fmod",
        attrs != NULL ? attrs->name : NULL, in, 2, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_gc_fp8_conv_attrs {
    const char *name;
    const char *fp8FormatLHS; /* default F143 */
    const char *fp8FormatRHS; /* default F143 */
    poprt_optional_int group; /* default 1 */
    poprt_int_list pads;
    const char *auto_pad; /* default NOTSET */
    poprt_int_list strides;
    poprt_int_list dilations;
    poprt_int_list kernel_shape;
} poprt_gc_fp8_conv_attrs;

/* FP8Conv, ai.graphcore 1. */
static inline poprt_id poprt_op_gc_fp8_conv(poprt_builder *builder, poprt_id x, poprt_id w,
    poprt_id scalex, poprt_id scalew, const poprt_gc_fp8_conv_attrs *attrs)
{
    poprt_attr list[8];
    uint32_t n = 0;
    const poprt_id in[] = { x, w, scalex, scalew };
    if (attrs != NULL) {
        n = poprt_put_string(list, n, "fp8FormatLHS", attrs->fp8FormatLHS);
        n = poprt_put_string(list, n, "fp8FormatRHS", attrs->fp8FormatRHS);
        n = poprt_put_int(list, n, "group", attrs->group);
        n = poprt_put_ints(list, n, "pads", attrs->pads);
        n = poprt_put_string(list, n, "auto_pad", attrs->auto_pad);
        n = poprt_put_ints(list, n, "strides", attrs->strides);
        n = poprt_put_ints(list, n, "dilations", attrs->dilations);
        n = poprt_put_ints(list, n, "kernel_shape", attrs->kernel_shape);
    }
    const poprt_builder_op_info op = poprt_put_op("ai.graphcore", "FP8Conv",
        attrs != NULL ? attrs->name : NULL, in, 4, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_gc_fp8_matmul_attrs {
    const char *name;
    const char *fp8FormatLHS; /* default F143 */
    const char *fp8FormatRHS; /* default F143 */
} poprt_gc_fp8_matmul_attrs;

/* FP8MatMul, ai.graphcore 1. */
static inline poprt_id poprt_op_gc_fp8_matmul(poprt_builder *builder, poprt_id a, poprt_id b,
    poprt_id scalea, poprt_id scaleb, const poprt_gc_fp8_matmul_attrs *attrs)
{
    poprt_attr list[2];
    uint32_t n = 0;
    const poprt_id in[] = { a, b, scalea, scaleb };
    if (attrs != NULL) {
        n = poprt_put_string(list, n, "fp8FormatLHS", attrs->fp8FormatLHS);
        n = poprt_put_string(list, n, "fp8FormatRHS", attrs->fp8FormatRHS);
    }
    const poprt_builder_op_info op = poprt_put_op("ai.graphcore", "FP8MatMul",
        attrs != NULL ? attrs->name : NULL, in, 4, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_gc_gelu_attrs {
    const char *name;
} poprt_gc_gelu_attrs;

/* Gelu, ai.graphcore 1. */
static inline poprt_id poprt_op_gc_gelu(poprt_builder *builder, poprt_id x,
    const poprt_gc_gelu_attrs *attrs)
{
    const poprt_id in[] = { x };
    const poprt_builder_op_info op = poprt_put_op("ai.graphcore", "Gelu",
        attrs != NULL ? attrs->name : NULL, in, 1, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_gc_gelu_erf_attrs {
    const char *name;
} poprt_gc_gelu_erf_attrs;

/* GeluErf, ai.graphcore 1. */
static inline poprt_id poprt_op_gc_gelu_erf(poprt_builder *builder, poprt_id x,
    const poprt_gc_gelu_erf_attrs *attrs)
{
    const poprt_id in[] = { x };
    const poprt_builder_op_info op = poprt_put_op("ai.graphcore", "GeluErf",
        attrs != NULL ? attrs->name : NULL, in, 1, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_gc_group_normalization_attrs {
    const char *name;
    poprt_optional_int num_groups; /* default 0 */
    poprt_optional_float epsilon; /* default 9.99999975e-06 */
} poprt_gc_group_normalization_attrs;

/* GroupNormalization, ai.graphcore 1. Outputs: Y, mean, invStdDev. */
static inline poprt_id poprt_op_gc_group_normalization(poprt_builder *builder, poprt_id x,
    poprt_id scale, poprt_id bias, const poprt_gc_group_normalization_attrs *attrs, uint32_t n_out,
    poprt_id *out)
{
    poprt_attr list[2];
    uint32_t n = 0;
    const poprt_id in[] = { x, scale, bias };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "num_groups", attrs->num_groups);
        n = poprt_put_float(list, n, "epsilon", attrs->epsilon);
    }
    poprt_builder_op_info op = poprt_put_op("ai.graphcore", "GroupNormalization",
        attrs != NULL ? attrs->name : NULL, in, 3, list, n);
    op.n_outputs = n_out;
    return poprt_builder_op(builder, &op, out);
}

typedef struct poprt_gc_grouped_gather_attrs {
    const char *name;
    poprt_optional_int axis; /* default 0 */
    poprt_optional_int group_size; /* default 1 */
} poprt_gc_grouped_gather_attrs;

/* GroupedGather, ai.graphcore 1. */
static inline poprt_id poprt_op_gc_grouped_gather(poprt_builder *builder, poprt_id data,
    poprt_id indices, const poprt_gc_grouped_gather_attrs *attrs)
{
    poprt_attr list[2];
    uint32_t n = 0;
    const poprt_id in[] = { data, indices };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "axis", attrs->axis);
        n = poprt_put_int(list, n, "group_size", attrs->group_size);
    }
    const poprt_builder_op_info op = poprt_put_op("ai.graphcore", "GroupedGather",
        attrs != NULL ? attrs->name : NULL, in, 2, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_gc_histogram_attrs {
    const char *name;
    poprt_float_list levels;
    poprt_optional_int absoluteOfInput; /* default 0 */
} poprt_gc_histogram_attrs;

/* Histogram, ai.graphcore 1. */
static inline poprt_id poprt_op_gc_histogram(poprt_builder *builder, poprt_id x,
    const poprt_gc_histogram_attrs *attrs)
{
    poprt_attr list[2];
    uint32_t n = 0;
    const poprt_id in[] = { x };
    if (attrs != NULL) {
        n = poprt_put_floats(list, n, "levels", attrs->levels);
        n = poprt_put_int(list, n, "absoluteOfInput", attrs->absoluteOfInput);
    }
    const poprt_builder_op_info op = poprt_put_op("ai.graphcore", "Histogram",
        attrs != NULL ? attrs->name : NULL, in, 1, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_gc_host_concat_split_reshape_attrs {
    const char *name;
    poprt_int_list shapes;
} poprt_gc_host_concat_split_reshape_attrs;

/* HostConcatSplitReshape, ai.graphcore 1. Outputs: outputs.... */
static inline poprt_id poprt_op_gc_host_concat_split_reshape(poprt_builder *builder, poprt_id x,
    const poprt_gc_host_concat_split_reshape_attrs *attrs, uint32_t n_out, poprt_id *out)
{
    poprt_attr list[1];
    uint32_t n = 0;
    const poprt_id in[] = { x };
    if (attrs != NULL) {
        n = poprt_put_ints(list, n, "shapes", attrs->shapes);
    }
    poprt_builder_op_info op = poprt_put_op("ai.graphcore", "HostConcatSplitReshape",
        attrs != NULL ? attrs->name : NULL, in, 1, list, n);
    op.n_outputs = n_out;
    return poprt_builder_op(builder, &op, out);
}

typedef struct poprt_gc_host_load_attrs {
    const char *name;
} poprt_gc_host_load_attrs;

/* HostLoad, ai.graphcore 1. */
static inline poprt_id poprt_op_gc_host_load(poprt_builder *builder, poprt_id x,
    const poprt_gc_host_load_attrs *attrs)
{
    const poprt_id in[] = { x };
    const poprt_builder_op_info op = poprt_put_op("ai.graphcore", "HostLoad",
        attrs != NULL ? attrs->name : NULL, in, 1, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_gc_host_store_attrs {
    const char *name;
} poprt_gc_host_store_attrs;

/* HostStore, ai.graphcore 1. No output. */
static inline poprt_id poprt_op_gc_host_store(poprt_builder *builder, poprt_id x,
    const poprt_gc_host_store_attrs *attrs)
{
    const poprt_id in[] = { x };
    poprt_builder_op_info op = poprt_put_op("ai.graphcore", "HostStore",
        attrs != NULL ? attrs->name : NULL, in, 1, NULL, 0);
    op.n_outputs = 0;
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_gc_identity_loss_attrs {
    const char *name;
    const char *reduction; /* default Mean */
} poprt_gc_identity_loss_attrs;

/* IdentityLoss, ai.graphcore 1. */
static inline poprt_id poprt_op_gc_identity_loss(poprt_builder *builder, poprt_id x,
    const poprt_gc_identity_loss_attrs *attrs)
{
    poprt_attr list[1];
    uint32_t n = 0;
    const poprt_id in[] = { x };
    if (attrs != NULL) {
        n = poprt_put_string(list, n, "reduction", attrs->reduction);
    }
    const poprt_builder_op_info op = poprt_put_op("ai.graphcore", "IdentityLoss",
        attrs != NULL ? attrs->name : NULL, in, 1, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_gc_increment_mod_attrs {
    const char *name;
    poprt_optional_float increment; /* default 0 */
    poprt_optional_float modulus; /* default 1 */
} poprt_gc_increment_mod_attrs;

/* IncrementMod, ai.graphcore 1. */
static inline poprt_id poprt_op_gc_increment_mod(poprt_builder *builder, poprt_id x,
    const poprt_gc_increment_mod_attrs *attrs)
{
    poprt_attr list[2];
    uint32_t n = 0;
    const poprt_id in[] = { x };
    if (attrs != NULL) {
        n = poprt_put_float(list, n, "increment", attrs->increment);
        n = poprt_put_float(list, n, "modulus", attrs->modulus);
    }
    const poprt_builder_op_info op = poprt_put_op("ai.graphcore", "IncrementMod",
        attrs != NULL ? attrs->name : NULL, in, 1, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_gc_init_attrs {
    const char *name;
    poprt_int_list shape;
    poprt_optional_int data_type; /* default 11 */
    poprt_optional_int tensor_type; /* default 0 */
    poprt_optional_int init_type; /* default 0 */
    poprt_optional_int batch_axis; /* default -1 */
} poprt_gc_init_attrs;

/* Init, ai.graphcore 1. */
static inline poprt_id poprt_op_gc_init(poprt_builder *builder, const poprt_gc_init_attrs *attrs)
{
    poprt_attr list[5];
    uint32_t n = 0;
    if (attrs != NULL) {
        n = poprt_put_ints(list, n, "shape", attrs->shape);
        n = poprt_put_int(list, n, "data_type", attrs->data_type);
        n = poprt_put_int(list, n, "tensor_type", attrs->tensor_type);
        n = poprt_put_int(list, n, "init_type", attrs->init_type);
        n = poprt_put_int(list, n, "batch_axis", attrs->batch_axis);
    }
    const poprt_builder_op_info op = poprt_put_op("ai.graphcore", "Init",
        attrs != NULL ? attrs->name : NULL, NULL, 0, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_gc_is_inf_v2_attrs {
    const char *name;
    poprt_optional_int detect_negative; /* default 1 */
    poprt_optional_int detect_positive; /* default 1 */
} poprt_gc_is_inf_v2_attrs;

/* IsInfV2, ai.graphcore 1. */
static inline poprt_id poprt_op_gc_is_inf_v2(poprt_builder *builder, poprt_id x,
    const poprt_gc_is_inf_v2_attrs *attrs)
{
    poprt_attr list[2];
    uint32_t n = 0;
    const poprt_id in[] = { x };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "detect_negative", attrs->detect_negative);
        n = poprt_put_int(list, n, "detect_positive", attrs->detect_positive);
    }
    const poprt_builder_op_info op = poprt_put_op("ai.graphcore", "IsInfV2",
        attrs != NULL ? attrs->name : NULL, in, 1, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_gc_l1_attrs {
    const char *name;
    poprt_optional_float lambda; /* default 1 */
    const char *reduction; /* default Mean */
} poprt_gc_l1_attrs;

/* L1, ai.graphcore 1. */
static inline poprt_id poprt_op_gc_l1(poprt_builder *builder, poprt_id x,
    const poprt_gc_l1_attrs *attrs)
{
    poprt_attr list[2];
    uint32_t n = 0;
    const poprt_id in[] = { x };
    if (attrs != NULL) {
        n = poprt_put_float(list, n, "lambda", attrs->lambda);
        n = poprt_put_string(list, n, "reduction", attrs->reduction);
    }
    const poprt_builder_op_info op = poprt_put_op("ai.graphcore", "L1",
        attrs != NULL ? attrs->name : NULL, in, 1, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_gc_leaky_relu_attrs {
    const char *name;
    poprt_optional_float alpha; /* default 0.00999999978 */
} poprt_gc_leaky_relu_attrs;

/* LeakyRelu, ai.graphcore 1. */
static inline poprt_id poprt_op_gc_leaky_relu(poprt_builder *builder, poprt_id x,
    const poprt_gc_leaky_relu_attrs *attrs)
{
    poprt_attr list[1];
    uint32_t n = 0;
    const poprt_id in[] = { x };
    if (attrs != NULL) {
        n = poprt_put_float(list, n, "alpha", attrs->alpha);
    }
    const poprt_builder_op_info op = poprt_put_op("ai.graphcore", "LeakyRelu",
        attrs != NULL ? attrs->name : NULL, in, 1, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_gc_log1p_attrs {
    const char *name;
} poprt_gc_log1p_attrs;

/* Log1p, ai.graphcore 1. */
static inline poprt_id poprt_op_gc_log1p(poprt_builder *builder, poprt_id x,
    const poprt_gc_log1p_attrs *attrs)
{
    const poprt_id in[] = { x };
    const poprt_builder_op_info op = poprt_put_op("ai.graphcore", "Log1p",
        attrs != NULL ? attrs->name : NULL, in, 1, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_gc_lstm_attrs {
    const char *name;
    poprt_optional_int output_full_sequence; /* default 1 */
} poprt_gc_lstm_attrs;

/* LSTM, ai.graphcore 1. Outputs: output, cellState. */
static inline poprt_id poprt_op_gc_lstm(poprt_builder *builder, poprt_id x, poprt_id weights,
    poprt_id bias, poprt_id initstate, poprt_id seqlens, const poprt_gc_lstm_attrs *attrs,
    uint32_t n_out, poprt_id *out)
{
    poprt_attr list[1];
    uint32_t n = 0;
    const poprt_id in[] = { x, weights, bias, initstate, seqlens };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "output_full_sequence", attrs->output_full_sequence);
    }
    poprt_builder_op_info op = poprt_put_op("ai.graphcore", "LSTM",
        attrs != NULL ? attrs->name : NULL, in, 5, list, n);
    op.n_outputs = n_out;
    return poprt_builder_op(builder, &op, out);
}

typedef struct poprt_gc_mask_compress_attrs {
    const char *name;
    poprt_optional_int axis; /* default 0 */
} poprt_gc_mask_compress_attrs;

/* MaskCompress, ai.graphcore 1. */
static inline poprt_id poprt_op_gc_mask_compress(poprt_builder *builder, poprt_id input,
    poprt_id condition, const poprt_gc_mask_compress_attrs *attrs)
{
    poprt_attr list[1];
    uint32_t n = 0;
    const poprt_id in[] = { input, condition };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "axis", attrs->axis);
    }
    const poprt_builder_op_info op = poprt_put_op("ai.graphcore", "MaskCompress",
        attrs != NULL ? attrs->name : NULL, in, 2, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_gc_multi_conv_attrs {
    const char *name;
    poprt_int_list strides;
    poprt_int_list pads;
    poprt_int_list outPads;
    poprt_int_list dilations;
    poprt_int_list inDilations;
    poprt_optional_int numConvs; /* default 0 */
    const char *planType;
    poprt_int_list perConvReservedTiles;
    poprt_optional_float cycleBackOff; /* default 0 */
} poprt_gc_multi_conv_attrs;

/* MultiConv, ai.graphcore 1. Outputs: outputs.... */
static inline poprt_id poprt_op_gc_multi_conv(poprt_builder *builder, uint32_t n_inputs,
    const poprt_id *inputs, const poprt_gc_multi_conv_attrs *attrs, uint32_t n_out, poprt_id *out)
{
    poprt_attr list[9];
    uint32_t n = 0;
    if (attrs != NULL) {
        n = poprt_put_ints(list, n, "strides", attrs->strides);
        n = poprt_put_ints(list, n, "pads", attrs->pads);
        n = poprt_put_ints(list, n, "outPads", attrs->outPads);
        n = poprt_put_ints(list, n, "dilations", attrs->dilations);
        n = poprt_put_ints(list, n, "inDilations", attrs->inDilations);
        n = poprt_put_int(list, n, "numConvs", attrs->numConvs);
        n = poprt_put_string(list, n, "planType", attrs->planType);
        n = poprt_put_ints(list, n, "perConvReservedTiles", attrs->perConvReservedTiles);
        n = poprt_put_float(list, n, "cycleBackOff", attrs->cycleBackOff);
    }
    poprt_builder_op_info op = poprt_put_op("ai.graphcore", "MultiConv",
        attrs != NULL ? attrs->name : NULL, NULL, 0, list, n);
    op.more_inputs = inputs;
    op.n_more_inputs = n_inputs;
    op.n_outputs = n_out;
    return poprt_builder_op(builder, &op, out);
}

typedef struct poprt_gc_nearby_int_attrs {
    const char *name;
} poprt_gc_nearby_int_attrs;

/* NearbyInt, ai.graphcore 1. */
static inline poprt_id poprt_op_gc_nearby_int(poprt_builder *builder, poprt_id x,
    const poprt_gc_nearby_int_attrs *attrs)
{
    const poprt_id in[] = { x };
    const poprt_builder_op_info op = poprt_put_op("ai.graphcore", "NearbyInt",
        attrs != NULL ? attrs->name : NULL, in, 1, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_gc_nll_attrs {
    const char *name;
    const char *reduction; /* default Mean */
    poprt_optional_int ignoreIndex; /* default 0 */
    poprt_optional_int inputIsLogProbability; /* default 0 */
} poprt_gc_nll_attrs;

/* Nll, ai.graphcore 1. */
static inline poprt_id poprt_op_gc_nll(poprt_builder *builder, poprt_id probs, poprt_id label,
    const poprt_gc_nll_attrs *attrs)
{
    poprt_attr list[3];
    uint32_t n = 0;
    const poprt_id in[] = { probs, label };
    if (attrs != NULL) {
        n = poprt_put_string(list, n, "reduction", attrs->reduction);
        n = poprt_put_int(list, n, "ignoreIndex", attrs->ignoreIndex);
        n = poprt_put_int(list, n, "inputIsLogProbability", attrs->inputIsLogProbability);
    }
    const poprt_builder_op_info op = poprt_put_op("ai.graphcore", "Nll",
        attrs != NULL ? attrs->name : NULL, in, 2, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_gc_nop_attrs {
    const char *name;
} poprt_gc_nop_attrs;

/* Nop, ai.graphcore 1. */
static inline poprt_id poprt_op_gc_nop(poprt_builder *builder, poprt_id x,
    const poprt_gc_nop_attrs *attrs)
{
    const poprt_id in[] = { x };
    const poprt_builder_op_info op = poprt_put_op("ai.graphcore", "Nop",
        attrs != NULL ? attrs->name : NULL, in, 1, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_gc_normalize_image_attrs {
    const char *name;
    poprt_optional_float scale; /* default 1 */
} poprt_gc_normalize_image_attrs;

/* NormalizeImage, ai.graphcore 1. */
static inline poprt_id poprt_op_gc_normalize_image(poprt_builder *builder, poprt_id image,
    poprt_id offsets, poprt_id scales, const poprt_gc_normalize_image_attrs *attrs)
{
    poprt_attr list[1];
    uint32_t n = 0;
    const poprt_id in[] = { image, offsets, scales };
    if (attrs != NULL) {
        n = poprt_put_float(list, n, "scale", attrs->scale);
    }
    const poprt_builder_op_info op = poprt_put_op("ai.graphcore", "NormalizeImage",
        attrs != NULL ? attrs->name : NULL, in, 3, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_gc_not_zero_attrs {
    const char *name;
    poprt_optional_int to; /* default 0 */
} poprt_gc_not_zero_attrs;

/* NotZero, ai.graphcore 1. */
static inline poprt_id poprt_op_gc_not_zero(poprt_builder *builder, poprt_id x,
    const poprt_gc_not_zero_attrs *attrs)
{
    poprt_attr list[1];
    uint32_t n = 0;
    const poprt_id in[] = { x };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "to", attrs->to);
    }
    const poprt_builder_op_info op = poprt_put_op("ai.graphcore", "NotZero",
        attrs != NULL ? attrs->name : NULL, in, 1, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_gc_packed_data_block_attrs {
    const char *name;
    poprt_int_list maxSequenceLengths;
    poprt_optional_int resultSize; /* default 0 */
    poprt_optional_int callbackBatchSize; /* default 0 */
    const poprt_builder *callback;
} poprt_gc_packed_data_block_attrs;

/* PackedDataBlock, ai.graphcore 1. */
static inline poprt_id poprt_op_gc_packed_data_block(poprt_builder *builder, uint32_t n_inputs,
    const poprt_id *inputs, const poprt_gc_packed_data_block_attrs *attrs)
{
    poprt_attr list[4];
    uint32_t n = 0;
    if (attrs != NULL) {
        n = poprt_put_ints(list, n, "maxSequenceLengths", attrs->maxSequenceLengths);
        n = poprt_put_int(list, n, "resultSize", attrs->resultSize);
        n = poprt_put_int(list, n, "callbackBatchSize", attrs->callbackBatchSize);
        n = poprt_put_object(list, n, "callback", POPRT_ATTR_GRAPH, attrs->callback);
    }
    poprt_builder_op_info op = poprt_put_op("ai.graphcore", "PackedDataBlock",
        attrs != NULL ? attrs->name : NULL, NULL, 0, list, n);
    op.more_inputs = inputs;
    op.n_more_inputs = n_inputs;
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_gc_pow2_scale_then_cast_attrs {
    const char *name;
    const char *to; /* default FLOAT8_143 */
} poprt_gc_pow2_scale_then_cast_attrs;

/* Pow2ScaleThenCast, ai.graphcore 1. */
static inline poprt_id poprt_op_gc_pow2_scale_then_cast(poprt_builder *builder, poprt_id x,
    poprt_id log2_scale, const poprt_gc_pow2_scale_then_cast_attrs *attrs)
{
    poprt_attr list[1];
    uint32_t n = 0;
    const poprt_id in[] = { x, log2_scale };
    if (attrs != NULL) {
        n = poprt_put_string(list, n, "to", attrs->to);
    }
    const poprt_builder_op_info op = poprt_put_op("ai.graphcore", "Pow2ScaleThenCast",
        attrs != NULL ? attrs->name : NULL, in, 2, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_gc_print_tensor_attrs {
    const char *name;
    poprt_optional_int print_gradient; /* default 1 */
    const char *title;
    poprt_optional_int summariseThreshold; /* default 1000 */
    poprt_optional_int edgeItems; /* default 3 */
    poprt_optional_int maxLineWidth; /* default 75 */
    poprt_optional_int digits; /* default 8 */
    poprt_optional_int floatFormat; /* default 0 */
    const char *separator; /* default   */
    const char *openBracket; /* default [ */
    const char *closeBracket; /* default ] */
} poprt_gc_print_tensor_attrs;

/* PrintTensor, ai.graphcore 1. */
static inline poprt_id poprt_op_gc_print_tensor(poprt_builder *builder, poprt_id x,
    const poprt_gc_print_tensor_attrs *attrs)
{
    poprt_attr list[10];
    uint32_t n = 0;
    const poprt_id in[] = { x };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "print_gradient", attrs->print_gradient);
        n = poprt_put_string(list, n, "title", attrs->title);
        n = poprt_put_int(list, n, "summariseThreshold", attrs->summariseThreshold);
        n = poprt_put_int(list, n, "edgeItems", attrs->edgeItems);
        n = poprt_put_int(list, n, "maxLineWidth", attrs->maxLineWidth);
        n = poprt_put_int(list, n, "digits", attrs->digits);
        n = poprt_put_int(list, n, "floatFormat", attrs->floatFormat);
        n = poprt_put_string(list, n, "separator", attrs->separator);
        n = poprt_put_string(list, n, "openBracket", attrs->openBracket);
        n = poprt_put_string(list, n, "closeBracket", attrs->closeBracket);
    }
    const poprt_builder_op_info op = poprt_put_op("ai.graphcore", "PrintTensor",
        attrs != NULL ? attrs->name : NULL, in, 1, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_gc_print_tile_mapping_attrs {
    const char *name;
} poprt_gc_print_tile_mapping_attrs;

/* PrintTileMapping, ai.graphcore 1. */
static inline poprt_id poprt_op_gc_print_tile_mapping(poprt_builder *builder, poprt_id x,
    const poprt_gc_print_tile_mapping_attrs *attrs)
{
    const poprt_id in[] = { x };
    const poprt_builder_op_info op = poprt_put_op("ai.graphcore", "PrintTileMapping",
        attrs != NULL ? attrs->name : NULL, in, 1, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_gc_reduce_median_attrs {
    const char *name;
    poprt_int_list axes;
    poprt_optional_int keepdims; /* default 1 */
} poprt_gc_reduce_median_attrs;

/* ReduceMedian, ai.graphcore 1. Outputs: values, indices. */
static inline poprt_id poprt_op_gc_reduce_median(poprt_builder *builder, poprt_id x,
    const poprt_gc_reduce_median_attrs *attrs, uint32_t n_out, poprt_id *out)
{
    poprt_attr list[2];
    uint32_t n = 0;
    const poprt_id in[] = { x };
    if (attrs != NULL) {
        n = poprt_put_ints(list, n, "axes", attrs->axes);
        n = poprt_put_int(list, n, "keepdims", attrs->keepdims);
    }
    poprt_builder_op_info op = poprt_put_op("ai.graphcore", "ReduceMedian",
        attrs != NULL ? attrs->name : NULL, in, 1, list, n);
    op.n_outputs = n_out;
    return poprt_builder_op(builder, &op, out);
}

typedef struct poprt_gc_remainder_attrs {
    const char *name;
} poprt_gc_remainder_attrs;

/* Remainder, ai.graphcore 1. */
static inline poprt_id poprt_op_gc_remainder(poprt_builder *builder, poprt_id a, poprt_id b,
    const poprt_gc_remainder_attrs *attrs)
{
    const poprt_id in[] = { a, b };
    const poprt_builder_op_info op = poprt_put_op("ai.graphcore", "Remainder",
        attrs != NULL ? attrs->name : NULL, in, 2, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_gc_remap_attrs {
    const char *name;
    poprt_optional_int fwd_grain_size; /* default 8 */
    poprt_optional_int bwd_grain_size; /* default 8 */
    poprt_optional_int fwd_clone_layout; /* default 0 */
    poprt_optional_int bwd_clone_layout; /* default 0 */
    poprt_optional_int fwd_after_matmul; /* default 0 */
    poprt_optional_int bwd_after_matmul; /* default 0 */
    const char *debug_str;
} poprt_gc_remap_attrs;

/* Remap, ai.graphcore 1. */
static inline poprt_id poprt_op_gc_remap(poprt_builder *builder, poprt_id x,
    const poprt_gc_remap_attrs *attrs)
{
    poprt_attr list[7];
    uint32_t n = 0;
    const poprt_id in[] = { x };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "fwd_grain_size", attrs->fwd_grain_size);
        n = poprt_put_int(list, n, "bwd_grain_size", attrs->bwd_grain_size);
        n = poprt_put_int(list, n, "fwd_clone_layout", attrs->fwd_clone_layout);
        n = poprt_put_int(list, n, "bwd_clone_layout", attrs->bwd_clone_layout);
        n = poprt_put_int(list, n, "fwd_after_matmul", attrs->fwd_after_matmul);
        n = poprt_put_int(list, n, "bwd_after_matmul", attrs->bwd_after_matmul);
        n = poprt_put_string(list, n, "debug_str", attrs->debug_str);
    }
    const poprt_builder_op_info op = poprt_put_op("ai.graphcore", "Remap",
        attrs != NULL ? attrs->name : NULL, in, 1, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_gc_remote_code_load_attrs {
    const char *name;
} poprt_gc_remote_code_load_attrs;

/* RemoteCodeLoad, ai.graphcore 1. No output. */
static inline poprt_id poprt_op_gc_remote_code_load(poprt_builder *builder, uint32_t n_inputs,
    const poprt_id *inputs, const poprt_gc_remote_code_load_attrs *attrs)
{
    poprt_builder_op_info op = poprt_put_op("ai.graphcore", "RemoteCodeLoad",
        attrs != NULL ? attrs->name : NULL, NULL, 0, NULL, 0);
    op.more_inputs = inputs;
    op.n_more_inputs = n_inputs;
    op.n_outputs = 0;
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_gc_remote_load_attrs {
    const char *name;
    poprt_optional_int bufferid; /* default 0 */
} poprt_gc_remote_load_attrs;

/* RemoteLoad, ai.graphcore 1. */
static inline poprt_id poprt_op_gc_remote_load(poprt_builder *builder, poprt_id x, poprt_id offset,
    const poprt_gc_remote_load_attrs *attrs)
{
    poprt_attr list[1];
    uint32_t n = 0;
    const poprt_id in[] = { x, offset };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "bufferid", attrs->bufferid);
    }
    const poprt_builder_op_info op = poprt_put_op("ai.graphcore", "RemoteLoad",
        attrs != NULL ? attrs->name : NULL, in, 2, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_gc_remote_store_attrs {
    const char *name;
    poprt_optional_int bufferid; /* default 0 */
} poprt_gc_remote_store_attrs;

/* RemoteStore, ai.graphcore 1. No output. */
static inline poprt_id poprt_op_gc_remote_store(poprt_builder *builder, poprt_id x,
    poprt_id offset, const poprt_gc_remote_store_attrs *attrs)
{
    poprt_attr list[1];
    uint32_t n = 0;
    const poprt_id in[] = { x, offset };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "bufferid", attrs->bufferid);
    }
    poprt_builder_op_info op = poprt_put_op("ai.graphcore", "RemoteStore",
        attrs != NULL ? attrs->name : NULL, in, 2, list, n);
    op.n_outputs = 0;
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_gc_repack_attrs {
    const char *name;
    poprt_optional_int max_valid_num; /* default 0 */
    poprt_int_list segment_max_size;
} poprt_gc_repack_attrs;

/* Repack, ai.graphcore 1. */
static inline poprt_id poprt_op_gc_repack(poprt_builder *builder, poprt_id x, poprt_id unpack_info,
    poprt_id like, const poprt_gc_repack_attrs *attrs)
{
    poprt_attr list[2];
    uint32_t n = 0;
    const poprt_id in[] = { x, unpack_info, like };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "max_valid_num", attrs->max_valid_num);
        n = poprt_put_ints(list, n, "segment_max_size", attrs->segment_max_size);
    }
    const poprt_builder_op_info op = poprt_put_op("ai.graphcore", "Repack",
        attrs != NULL ? attrs->name : NULL, in, 3, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_gc_replicated_all_gather_attrs {
    const char *name;
} poprt_gc_replicated_all_gather_attrs;

/* ReplicatedAllGather, ai.graphcore 1. */
static inline poprt_id poprt_op_gc_replicated_all_gather(poprt_builder *builder, poprt_id x,
    poprt_id link, const poprt_gc_replicated_all_gather_attrs *attrs)
{
    const poprt_id in[] = { x, link };
    const poprt_builder_op_info op = poprt_put_op("ai.graphcore", "ReplicatedAllGather",
        attrs != NULL ? attrs->name : NULL, in, 2, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_gc_replicated_all_reduce_attrs {
    const char *name;
} poprt_gc_replicated_all_reduce_attrs;

/* ReplicatedAllReduce, ai.graphcore 1. */
static inline poprt_id poprt_op_gc_replicated_all_reduce(poprt_builder *builder, poprt_id x,
    const poprt_gc_replicated_all_reduce_attrs *attrs)
{
    const poprt_id in[] = { x };
    const poprt_builder_op_info op = poprt_put_op("ai.graphcore", "ReplicatedAllReduce",
        attrs != NULL ? attrs->name : NULL, in, 1, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_gc_replicated_reduce_scatter_attrs {
    const char *name;
} poprt_gc_replicated_reduce_scatter_attrs;

/* ReplicatedReduceScatter, ai.graphcore 1. */
static inline poprt_id poprt_op_gc_replicated_reduce_scatter(poprt_builder *builder, poprt_id x,
    poprt_id link, const poprt_gc_replicated_reduce_scatter_attrs *attrs)
{
    const poprt_id in[] = { x, link };
    const poprt_builder_op_info op = poprt_put_op("ai.graphcore", "ReplicatedReduceScatter",
        attrs != NULL ? attrs->name : NULL, in, 2, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_gc_reshape_attrs {
    const char *name;
    poprt_int_list shape;
} poprt_gc_reshape_attrs;

/* Reshape, ai.graphcore 1. */
static inline poprt_id poprt_op_gc_reshape(poprt_builder *builder, poprt_id x,
    const poprt_gc_reshape_attrs *attrs)
{
    poprt_attr list[1];
    uint32_t n = 0;
    const poprt_id in[] = { x };
    if (attrs != NULL) {
        n = poprt_put_ints(list, n, "shape", attrs->shape);
    }
    const poprt_builder_op_info op = poprt_put_op("ai.graphcore", "Reshape",
        attrs != NULL ? attrs->name : NULL, in, 1, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_gc_reverse_attrs {
    const char *name;
    poprt_int_list dimensions;
} poprt_gc_reverse_attrs;

/* Reverse, ai.graphcore 1. */
static inline poprt_id poprt_op_gc_reverse(poprt_builder *builder, poprt_id x,
    const poprt_gc_reverse_attrs *attrs)
{
    poprt_attr list[1];
    uint32_t n = 0;
    const poprt_id in[] = { x };
    if (attrs != NULL) {
        n = poprt_put_ints(list, n, "dimensions", attrs->dimensions);
    }
    const poprt_builder_op_info op = poprt_put_op("ai.graphcore", "Reverse",
        attrs != NULL ? attrs->name : NULL, in, 1, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_gc_round_attrs {
    const char *name;
} poprt_gc_round_attrs;

/* Round, ai.graphcore 1. */
static inline poprt_id poprt_op_gc_round(poprt_builder *builder, poprt_id x,
    const poprt_gc_round_attrs *attrs)
{
    const poprt_id in[] = { x };
    const poprt_builder_op_info op = poprt_put_op("ai.graphcore", "Round",
        attrs != NULL ? attrs->name : NULL, in, 1, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_gc_round_v2_attrs {
    const char *name;
} poprt_gc_round_v2_attrs;

/* RoundV2, ai.graphcore 1. */
static inline poprt_id poprt_op_gc_round_v2(poprt_builder *builder, poprt_id x,
    const poprt_gc_round_v2_attrs *attrs)
{
    const poprt_id in[] = { x };
    const poprt_builder_op_info op = poprt_put_op("ai.graphcore", "RoundV2",
        attrs != NULL ? attrs->name : NULL, in, 1, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_gc_scale_attrs {
    const char *name;
    poprt_optional_float scale; /* default 1 */
} poprt_gc_scale_attrs;

/* Scale, ai.graphcore 1. */
static inline poprt_id poprt_op_gc_scale(poprt_builder *builder, poprt_id x,
    const poprt_gc_scale_attrs *attrs)
{
    poprt_attr list[1];
    uint32_t n = 0;
    const poprt_id in[] = { x };
    if (attrs != NULL) {
        n = poprt_put_float(list, n, "scale", attrs->scale);
    }
    const poprt_builder_op_info op = poprt_put_op("ai.graphcore", "Scale",
        attrs != NULL ? attrs->name : NULL, in, 1, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_gc_scaled_add_attrs {
    const char *name;
    poprt_optional_float scale0; /* default 1 */
    poprt_optional_float scale1; /* default 1 */
} poprt_gc_scaled_add_attrs;

/* ScaledAdd, ai.graphcore 1. */
static inline poprt_id poprt_op_gc_scaled_add(poprt_builder *builder, poprt_id x, poprt_id y,
    poprt_id scale0, poprt_id scale1, const poprt_gc_scaled_add_attrs *attrs)
{
    poprt_attr list[2];
    uint32_t n = 0;
    const poprt_id in[] = { x, y, scale0, scale1 };
    if (attrs != NULL) {
        n = poprt_put_float(list, n, "scale0", attrs->scale0);
        n = poprt_put_float(list, n, "scale1", attrs->scale1);
    }
    const poprt_builder_op_info op = poprt_put_op("ai.graphcore", "ScaledAdd",
        attrs != NULL ? attrs->name : NULL, in, 4, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_gc_scatter_reduce_attrs {
    const char *name;
    poprt_optional_int axis; /* default -1 */
    poprt_optional_int axis_size; /* default 0 */
    const char *reduction; /* default sum */
    poprt_optional_int group_size; /* default 1 */
    poprt_optional_int enable_index_broadcast; /* default 1 */
} poprt_gc_scatter_reduce_attrs;

/* ScatterReduce, ai.graphcore 1. */
static inline poprt_id poprt_op_gc_scatter_reduce(poprt_builder *builder, poprt_id src,
    poprt_id indices, poprt_id initial_values, const poprt_gc_scatter_reduce_attrs *attrs)
{
    poprt_attr list[5];
    uint32_t n = 0;
    const poprt_id in[] = { src, indices, initial_values };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "axis", attrs->axis);
        n = poprt_put_int(list, n, "axis_size", attrs->axis_size);
        n = poprt_put_string(list, n, "reduction", attrs->reduction);
        n = poprt_put_int(list, n, "group_size", attrs->group_size);
        n = poprt_put_int(list, n, "enable_index_broadcast", attrs->enable_index_broadcast);
    }
    const poprt_builder_op_info op = poprt_put_op("ai.graphcore", "ScatterReduce",
        attrs != NULL ? attrs->name : NULL, in, 3, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_gc_sequence_slice_attrs {
    const char *name;
    poprt_optional_int zeroUnused; /* default 0 */
} poprt_gc_sequence_slice_attrs;

/* SequenceSlice, ai.graphcore 1. */
static inline poprt_id poprt_op_gc_sequence_slice(poprt_builder *builder, poprt_id source,
    poprt_id destination, poprt_id n_, poprt_id srcoffset, poprt_id dstoffset,
    const poprt_gc_sequence_slice_attrs *attrs)
{
    poprt_attr list[1];
    uint32_t n = 0;
    const poprt_id in[] = { source, destination, n_, srcoffset, dstoffset };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "zeroUnused", attrs->zeroUnused);
    }
    const poprt_builder_op_info op = poprt_put_op("ai.graphcore", "SequenceSlice",
        attrs != NULL ? attrs->name : NULL, in, 5, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_gc_shaped_dropout_attrs {
    const char *name;
    poprt_int_list shape;
    poprt_optional_float ratio; /* default 0.5 */
} poprt_gc_shaped_dropout_attrs;

/* ShapedDropout, ai.graphcore 1. */
static inline poprt_id poprt_op_gc_shaped_dropout(poprt_builder *builder, poprt_id x,
    const poprt_gc_shaped_dropout_attrs *attrs)
{
    poprt_attr list[2];
    uint32_t n = 0;
    const poprt_id in[] = { x };
    if (attrs != NULL) {
        n = poprt_put_ints(list, n, "shape", attrs->shape);
        n = poprt_put_float(list, n, "ratio", attrs->ratio);
    }
    const poprt_builder_op_info op = poprt_put_op("ai.graphcore", "ShapedDropout",
        attrs != NULL ? attrs->name : NULL, in, 1, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_gc_slice_attrs {
    const char *name;
    poprt_int_list starts;
    poprt_int_list ends;
    poprt_int_list axes;
} poprt_gc_slice_attrs;

/* Slice, ai.graphcore 1. */
static inline poprt_id poprt_op_gc_slice(poprt_builder *builder, poprt_id x,
    const poprt_gc_slice_attrs *attrs)
{
    poprt_attr list[3];
    uint32_t n = 0;
    const poprt_id in[] = { x };
    if (attrs != NULL) {
        n = poprt_put_ints(list, n, "starts", attrs->starts);
        n = poprt_put_ints(list, n, "ends", attrs->ends);
        n = poprt_put_ints(list, n, "axes", attrs->axes);
    }
    const poprt_builder_op_info op = poprt_put_op("ai.graphcore", "Slice",
        attrs != NULL ? attrs->name : NULL, in, 1, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_gc_softmax_v2_attrs {
    const char *name;
    poprt_optional_int axis; /* default -1 */
} poprt_gc_softmax_v2_attrs;

/* SoftmaxV2, ai.graphcore 1. */
static inline poprt_id poprt_op_gc_softmax_v2(poprt_builder *builder, poprt_id x,
    const poprt_gc_softmax_v2_attrs *attrs)
{
    poprt_attr list[1];
    uint32_t n = 0;
    const poprt_id in[] = { x };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "axis", attrs->axis);
    }
    const poprt_builder_op_info op = poprt_put_op("ai.graphcore", "SoftmaxV2",
        attrs != NULL ? attrs->name : NULL, in, 1, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_gc_sort_attrs {
    const char *name;
    poprt_optional_int axis; /* default -1 */
    poprt_optional_int descending; /* default 0 */
    poprt_optional_int stable; /* default 0 */
} poprt_gc_sort_attrs;

/* Sort, ai.graphcore 1. Outputs: values, indices. */
static inline poprt_id poprt_op_gc_sort(poprt_builder *builder, poprt_id x,
    const poprt_gc_sort_attrs *attrs, uint32_t n_out, poprt_id *out)
{
    poprt_attr list[3];
    uint32_t n = 0;
    const poprt_id in[] = { x };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "axis", attrs->axis);
        n = poprt_put_int(list, n, "descending", attrs->descending);
        n = poprt_put_int(list, n, "stable", attrs->stable);
    }
    poprt_builder_op_info op = poprt_put_op("ai.graphcore", "Sort",
        attrs != NULL ? attrs->name : NULL, in, 1, list, n);
    op.n_outputs = n_out;
    return poprt_builder_op(builder, &op, out);
}

typedef struct poprt_gc_spline_basis_attrs {
    const char *name;
    poprt_optional_int degree; /* default 0 */
} poprt_gc_spline_basis_attrs;

/* SplineBasis, ai.graphcore 1. Outputs: basis, weight_index. */
static inline poprt_id poprt_op_gc_spline_basis(poprt_builder *builder, poprt_id pseudo,
    poprt_id kernel_size, poprt_id is_open_spline, const poprt_gc_spline_basis_attrs *attrs,
    uint32_t n_out, poprt_id *out)
{
    poprt_attr list[1];
    uint32_t n = 0;
    const poprt_id in[] = { pseudo, kernel_size, is_open_spline };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "degree", attrs->degree);
    }
    poprt_builder_op_info op = poprt_put_op("ai.graphcore", "SplineBasis",
        attrs != NULL ? attrs->name : NULL, in, 3, list, n);
    op.n_outputs = n_out;
    return poprt_builder_op(builder, &op, out);
}

typedef struct poprt_gc_spline_weighting_attrs {
    const char *name;
} poprt_gc_spline_weighting_attrs;

/* SplineWeighting, ai.graphcore 1. */
static inline poprt_id poprt_op_gc_spline_weighting(poprt_builder *builder, poprt_id input,
    poprt_id weight, poprt_id basis, poprt_id weight_index,
    const poprt_gc_spline_weighting_attrs *attrs)
{
    const poprt_id in[] = { input, weight, basis, weight_index };
    const poprt_builder_op_info op = poprt_put_op("ai.graphcore", "SplineWeighting",
        attrs != NULL ? attrs->name : NULL, in, 4, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_gc_square_attrs {
    const char *name;
} poprt_gc_square_attrs;

/* Square, ai.graphcore 1. */
static inline poprt_id poprt_op_gc_square(poprt_builder *builder, poprt_id x,
    const poprt_gc_square_attrs *attrs)
{
    const poprt_id in[] = { x };
    const poprt_builder_op_info op = poprt_put_op("ai.graphcore", "Square",
        attrs != NULL ? attrs->name : NULL, in, 1, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_gc_subsample_attrs {
    const char *name;
    poprt_int_list strides;
} poprt_gc_subsample_attrs;

/* Subsample, ai.graphcore 1. */
static inline poprt_id poprt_op_gc_subsample(poprt_builder *builder, poprt_id x,
    const poprt_gc_subsample_attrs *attrs)
{
    poprt_attr list[1];
    uint32_t n = 0;
    const poprt_id in[] = { x };
    if (attrs != NULL) {
        n = poprt_put_ints(list, n, "strides", attrs->strides);
    }
    const poprt_builder_op_info op = poprt_put_op("ai.graphcore", "Subsample",
        attrs != NULL ? attrs->name : NULL, in, 1, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_gc_swish_attrs {
    const char *name;
} poprt_gc_swish_attrs;

/* Swish, ai.graphcore 1. */
static inline poprt_id poprt_op_gc_swish(poprt_builder *builder, poprt_id x,
    const poprt_gc_swish_attrs *attrs)
{
    const poprt_id in[] = { x };
    const poprt_builder_op_info op = poprt_put_op("ai.graphcore", "Swish",
        attrs != NULL ? attrs->name : NULL, in, 1, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_gc_tensor_remap_attrs {
    const char *name;
    poprt_optional_int remap_type; /* default 0 */
} poprt_gc_tensor_remap_attrs;

/* TensorRemap, ai.graphcore 1. */
static inline poprt_id poprt_op_gc_tensor_remap(poprt_builder *builder, poprt_id x,
    const poprt_gc_tensor_remap_attrs *attrs)
{
    poprt_attr list[1];
    uint32_t n = 0;
    const poprt_id in[] = { x };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "remap_type", attrs->remap_type);
    }
    const poprt_builder_op_info op = poprt_put_op("ai.graphcore", "TensorRemap",
        attrs != NULL ? attrs->name : NULL, in, 1, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_gc_unpack_attrs {
    const char *name;
    poprt_optional_int max_valid_num; /* default 0 */
    poprt_int_list segment_max_size;
} poprt_gc_unpack_attrs;

/* Unpack, ai.graphcore 1. */
static inline poprt_id poprt_op_gc_unpack(poprt_builder *builder, poprt_id x, poprt_id unpack_info,
    const poprt_gc_unpack_attrs *attrs)
{
    poprt_attr list[2];
    uint32_t n = 0;
    const poprt_id in[] = { x, unpack_info };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "max_valid_num", attrs->max_valid_num);
        n = poprt_put_ints(list, n, "segment_max_size", attrs->segment_max_size);
    }
    const poprt_builder_op_info op = poprt_put_op("ai.graphcore", "Unpack",
        attrs != NULL ? attrs->name : NULL, in, 2, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_gc_where_v2_attrs {
    const char *name;
} poprt_gc_where_v2_attrs;

/* WhereV2, ai.graphcore 1. */
static inline poprt_id poprt_op_gc_where_v2(poprt_builder *builder, poprt_id condition, poprt_id x,
    poprt_id y, const poprt_gc_where_v2_attrs *attrs)
{
    const poprt_id in[] = { condition, x, y };
    const poprt_builder_op_info op = poprt_put_op("ai.graphcore", "WhereV2",
        attrs != NULL ? attrs->name : NULL, in, 3, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_gc_zeros_attrs {
    const char *name;
    poprt_int_list shape;
    poprt_optional_int dtype; /* default 1 */
} poprt_gc_zeros_attrs;

/* Zeros, ai.graphcore 1. */
static inline poprt_id poprt_op_gc_zeros(poprt_builder *builder, const poprt_gc_zeros_attrs *attrs)
{
    poprt_attr list[2];
    uint32_t n = 0;
    if (attrs != NULL) {
        n = poprt_put_ints(list, n, "shape", attrs->shape);
        n = poprt_put_int(list, n, "dtype", attrs->dtype);
    }
    const poprt_builder_op_info op = poprt_put_op("ai.graphcore", "Zeros",
        attrs != NULL ? attrs->name : NULL, NULL, 0, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_gc_zeros_like_attrs {
    const char *name;
    poprt_optional_int dtype; /* default 0 */
} poprt_gc_zeros_like_attrs;

/* ZerosLike, ai.graphcore 1. */
static inline poprt_id poprt_op_gc_zeros_like(poprt_builder *builder, poprt_id x,
    const poprt_gc_zeros_like_attrs *attrs)
{
    poprt_attr list[1];
    uint32_t n = 0;
    const poprt_id in[] = { x };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "dtype", attrs->dtype);
    }
    const poprt_builder_op_info op = poprt_put_op("ai.graphcore", "ZerosLike",
        attrs != NULL ? attrs->name : NULL, in, 1, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

#ifdef __cplusplus
}
#endif
#endif
