/* SPDX-License-Identifier: MIT */
/*
 * poprt/builder_ops_onnx.h — operators of ai.onnx, ai.onnx.preview, ai.onnx.preview.training.
 * See poprt/builder_ops.h. Made by tests/builder/ops.py.
 */
#ifndef POPRT_BUILDER_OPS_ONNX_H
#define POPRT_BUILDER_OPS_ONNX_H

#include "poprt/builder_ops.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct poprt_abs_attrs {
    const char *name;
} poprt_abs_attrs;

/* Abs, ai.onnx 1, 6, 13. */
static inline poprt_id poprt_op_abs(poprt_builder *builder, poprt_id x,
    const poprt_abs_attrs *attrs)
{
    const poprt_id in[] = { x };
    const poprt_builder_op_info op = poprt_put_op("", "Abs", attrs != NULL ? attrs->name : NULL,
        in, 1, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_acos_attrs {
    const char *name;
} poprt_acos_attrs;

/* Acos, ai.onnx 7, 22. */
static inline poprt_id poprt_op_acos(poprt_builder *builder, poprt_id input,
    const poprt_acos_attrs *attrs)
{
    const poprt_id in[] = { input };
    const poprt_builder_op_info op = poprt_put_op("", "Acos", attrs != NULL ? attrs->name : NULL,
        in, 1, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_acosh_attrs {
    const char *name;
} poprt_acosh_attrs;

/* Acosh, ai.onnx 9, 22. */
static inline poprt_id poprt_op_acosh(poprt_builder *builder, poprt_id input,
    const poprt_acosh_attrs *attrs)
{
    const poprt_id in[] = { input };
    const poprt_builder_op_info op = poprt_put_op("", "Acosh", attrs != NULL ? attrs->name : NULL,
        in, 1, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_add_attrs {
    const char *name;
    poprt_optional_int axis; /* until opset 6 */
    poprt_optional_int broadcast; /* until opset 6 */
} poprt_add_attrs;

/* Add, ai.onnx 1, 6, 7, 13, 14. */
static inline poprt_id poprt_op_add(poprt_builder *builder, poprt_id a, poprt_id b,
    const poprt_add_attrs *attrs)
{
    poprt_attr list[2];
    uint32_t n = 0;
    const poprt_id in[] = { a, b };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "axis", attrs->axis);
        n = poprt_put_int(list, n, "broadcast", attrs->broadcast);
    }
    const poprt_builder_op_info op = poprt_put_op("", "Add", attrs != NULL ? attrs->name : NULL,
        in, 2, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_affine_grid_attrs {
    const char *name;
    poprt_optional_int align_corners; /* default 0 */
} poprt_affine_grid_attrs;

/* AffineGrid, ai.onnx 20. */
static inline poprt_id poprt_op_affine_grid(poprt_builder *builder, poprt_id theta, poprt_id size,
    const poprt_affine_grid_attrs *attrs)
{
    poprt_attr list[1];
    uint32_t n = 0;
    const poprt_id in[] = { theta, size };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "align_corners", attrs->align_corners);
    }
    const poprt_builder_op_info op = poprt_put_op("", "AffineGrid",
        attrs != NULL ? attrs->name : NULL, in, 2, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_and_attrs {
    const char *name;
    poprt_optional_int axis; /* until opset 6 */
    poprt_optional_int broadcast; /* until opset 6 */
} poprt_and_attrs;

/* And, ai.onnx 1, 7. */
static inline poprt_id poprt_op_and(poprt_builder *builder, poprt_id a, poprt_id b,
    const poprt_and_attrs *attrs)
{
    poprt_attr list[2];
    uint32_t n = 0;
    const poprt_id in[] = { a, b };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "axis", attrs->axis);
        n = poprt_put_int(list, n, "broadcast", attrs->broadcast);
    }
    const poprt_builder_op_info op = poprt_put_op("", "And", attrs != NULL ? attrs->name : NULL,
        in, 2, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_argmax_attrs {
    const char *name;
    poprt_optional_int select_last_index; /* default 0 */
    poprt_optional_int keepdims; /* default 1 */
    poprt_optional_int axis; /* default 0 */
} poprt_argmax_attrs;

/* ArgMax, ai.onnx 1, 11, 12, 13. */
static inline poprt_id poprt_op_argmax(poprt_builder *builder, poprt_id data,
    const poprt_argmax_attrs *attrs)
{
    poprt_attr list[3];
    uint32_t n = 0;
    const poprt_id in[] = { data };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "select_last_index", attrs->select_last_index);
        n = poprt_put_int(list, n, "keepdims", attrs->keepdims);
        n = poprt_put_int(list, n, "axis", attrs->axis);
    }
    const poprt_builder_op_info op = poprt_put_op("", "ArgMax", attrs != NULL ? attrs->name : NULL,
        in, 1, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_argmin_attrs {
    const char *name;
    poprt_optional_int select_last_index; /* default 0 */
    poprt_optional_int keepdims; /* default 1 */
    poprt_optional_int axis; /* default 0 */
} poprt_argmin_attrs;

/* ArgMin, ai.onnx 1, 11, 12, 13. */
static inline poprt_id poprt_op_argmin(poprt_builder *builder, poprt_id data,
    const poprt_argmin_attrs *attrs)
{
    poprt_attr list[3];
    uint32_t n = 0;
    const poprt_id in[] = { data };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "select_last_index", attrs->select_last_index);
        n = poprt_put_int(list, n, "keepdims", attrs->keepdims);
        n = poprt_put_int(list, n, "axis", attrs->axis);
    }
    const poprt_builder_op_info op = poprt_put_op("", "ArgMin", attrs != NULL ? attrs->name : NULL,
        in, 1, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_asin_attrs {
    const char *name;
} poprt_asin_attrs;

/* Asin, ai.onnx 7, 22. */
static inline poprt_id poprt_op_asin(poprt_builder *builder, poprt_id input,
    const poprt_asin_attrs *attrs)
{
    const poprt_id in[] = { input };
    const poprt_builder_op_info op = poprt_put_op("", "Asin", attrs != NULL ? attrs->name : NULL,
        in, 1, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_asinh_attrs {
    const char *name;
} poprt_asinh_attrs;

/* Asinh, ai.onnx 9, 22. */
static inline poprt_id poprt_op_asinh(poprt_builder *builder, poprt_id input,
    const poprt_asinh_attrs *attrs)
{
    const poprt_id in[] = { input };
    const poprt_builder_op_info op = poprt_put_op("", "Asinh", attrs != NULL ? attrs->name : NULL,
        in, 1, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_atan_attrs {
    const char *name;
} poprt_atan_attrs;

/* Atan, ai.onnx 7, 22. */
static inline poprt_id poprt_op_atan(poprt_builder *builder, poprt_id input,
    const poprt_atan_attrs *attrs)
{
    const poprt_id in[] = { input };
    const poprt_builder_op_info op = poprt_put_op("", "Atan", attrs != NULL ? attrs->name : NULL,
        in, 1, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_atanh_attrs {
    const char *name;
} poprt_atanh_attrs;

/* Atanh, ai.onnx 9, 22. */
static inline poprt_id poprt_op_atanh(poprt_builder *builder, poprt_id input,
    const poprt_atanh_attrs *attrs)
{
    const poprt_id in[] = { input };
    const poprt_builder_op_info op = poprt_put_op("", "Atanh", attrs != NULL ? attrs->name : NULL,
        in, 1, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_attention_attrs {
    const char *name;
    poprt_optional_int is_causal; /* default 0 */
    poprt_optional_float scale; /* default 0 */
    poprt_optional_int q_num_heads; /* default 0 */
    poprt_optional_int kv_num_heads; /* default 0 */
    poprt_optional_int softmax_precision; /* default 0 */
    poprt_optional_float softcap; /* default 0 */
    poprt_optional_int qk_matmul_output_mode; /* default 0 */
    poprt_optional_int left_window_size; /* default -1 */
    poprt_optional_int right_window_size; /* default -1 */
} poprt_attention_attrs;

/* Attention, ai.onnx 23, 24, 25. Outputs: Y, present_key, present_value, qk_matmul_output. */
static inline poprt_id poprt_op_attention(poprt_builder *builder, poprt_id q, poprt_id k,
    poprt_id v, poprt_id attn_mask, poprt_id past_key, poprt_id past_value,
    poprt_id nonpad_kv_seqlen, const poprt_attention_attrs *attrs, uint32_t n_out, poprt_id *out)
{
    poprt_attr list[9];
    uint32_t n = 0;
    const poprt_id in[] = { q, k, v, attn_mask, past_key, past_value, nonpad_kv_seqlen };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "is_causal", attrs->is_causal);
        n = poprt_put_float(list, n, "scale", attrs->scale);
        n = poprt_put_int(list, n, "q_num_heads", attrs->q_num_heads);
        n = poprt_put_int(list, n, "kv_num_heads", attrs->kv_num_heads);
        n = poprt_put_int(list, n, "softmax_precision", attrs->softmax_precision);
        n = poprt_put_float(list, n, "softcap", attrs->softcap);
        n = poprt_put_int(list, n, "qk_matmul_output_mode", attrs->qk_matmul_output_mode);
        n = poprt_put_int(list, n, "left_window_size", attrs->left_window_size);
        n = poprt_put_int(list, n, "right_window_size", attrs->right_window_size);
    }
    poprt_builder_op_info op = poprt_put_op("", "Attention", attrs != NULL ? attrs->name : NULL,
        in, 7, list, n);
    op.n_outputs = n_out;
    return poprt_builder_op(builder, &op, out);
}

typedef struct poprt_average_pool_attrs {
    const char *name;
    poprt_optional_int count_include_pad; /* default 0 */
    poprt_int_list dilations;
    poprt_optional_int ceil_mode; /* default 0 */
    poprt_int_list pads;
    const char *auto_pad; /* default NOTSET */
    poprt_int_list strides;
    poprt_int_list kernel_shape;
} poprt_average_pool_attrs;

/* AveragePool, ai.onnx 1, 7, 10, 11, 19, 22. */
static inline poprt_id poprt_op_average_pool(poprt_builder *builder, poprt_id x,
    const poprt_average_pool_attrs *attrs)
{
    poprt_attr list[7];
    uint32_t n = 0;
    const poprt_id in[] = { x };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "count_include_pad", attrs->count_include_pad);
        n = poprt_put_ints(list, n, "dilations", attrs->dilations);
        n = poprt_put_int(list, n, "ceil_mode", attrs->ceil_mode);
        n = poprt_put_ints(list, n, "pads", attrs->pads);
        n = poprt_put_string(list, n, "auto_pad", attrs->auto_pad);
        n = poprt_put_ints(list, n, "strides", attrs->strides);
        n = poprt_put_ints(list, n, "kernel_shape", attrs->kernel_shape);
    }
    const poprt_builder_op_info op = poprt_put_op("", "AveragePool",
        attrs != NULL ? attrs->name : NULL, in, 1, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_batch_normalization_attrs {
    const char *name;
    poprt_optional_int training_mode; /* default 0 */
    poprt_optional_float momentum; /* default 0.899999976 */
    poprt_optional_float epsilon; /* default 9.99999975e-06 */
    poprt_optional_int is_test; /* until opset 6 */
    poprt_optional_int spatial; /* until opset 8 */
} poprt_batch_normalization_attrs;

/* BatchNormalization, ai.onnx 1, 6, 7, 9, 14, 15. Outputs: Y, running_mean, running_var. */
static inline poprt_id poprt_op_batch_normalization(poprt_builder *builder, poprt_id x,
    poprt_id scale, poprt_id b, poprt_id input_mean, poprt_id input_var,
    const poprt_batch_normalization_attrs *attrs, uint32_t n_out, poprt_id *out)
{
    poprt_attr list[5];
    uint32_t n = 0;
    const poprt_id in[] = { x, scale, b, input_mean, input_var };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "training_mode", attrs->training_mode);
        n = poprt_put_float(list, n, "momentum", attrs->momentum);
        n = poprt_put_float(list, n, "epsilon", attrs->epsilon);
        n = poprt_put_int(list, n, "is_test", attrs->is_test);
        n = poprt_put_int(list, n, "spatial", attrs->spatial);
    }
    poprt_builder_op_info op = poprt_put_op("", "BatchNormalization",
        attrs != NULL ? attrs->name : NULL, in, 5, list, n);
    op.n_outputs = n_out;
    return poprt_builder_op(builder, &op, out);
}

typedef struct poprt_bernoulli_attrs {
    const char *name;
    poprt_optional_int dtype; /* default 0 */
    poprt_optional_float seed; /* default 0 */
} poprt_bernoulli_attrs;

/* Bernoulli, ai.onnx 15, 22. */
static inline poprt_id poprt_op_bernoulli(poprt_builder *builder, poprt_id input,
    const poprt_bernoulli_attrs *attrs)
{
    poprt_attr list[2];
    uint32_t n = 0;
    const poprt_id in[] = { input };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "dtype", attrs->dtype);
        n = poprt_put_float(list, n, "seed", attrs->seed);
    }
    const poprt_builder_op_info op = poprt_put_op("", "Bernoulli",
        attrs != NULL ? attrs->name : NULL, in, 1, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_bit_cast_attrs {
    const char *name;
    poprt_optional_int to; /* default 0 */
} poprt_bit_cast_attrs;

/* BitCast, ai.onnx 26. */
static inline poprt_id poprt_op_bit_cast(poprt_builder *builder, poprt_id input,
    const poprt_bit_cast_attrs *attrs)
{
    poprt_attr list[1];
    uint32_t n = 0;
    const poprt_id in[] = { input };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "to", attrs->to);
    }
    const poprt_builder_op_info op = poprt_put_op("", "BitCast",
        attrs != NULL ? attrs->name : NULL, in, 1, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_bit_shift_attrs {
    const char *name;
    const char *direction;
} poprt_bit_shift_attrs;

/* BitShift, ai.onnx 11, 28. */
static inline poprt_id poprt_op_bit_shift(poprt_builder *builder, poprt_id x, poprt_id y,
    const poprt_bit_shift_attrs *attrs)
{
    poprt_attr list[1];
    uint32_t n = 0;
    const poprt_id in[] = { x, y };
    if (attrs != NULL) {
        n = poprt_put_string(list, n, "direction", attrs->direction);
    }
    const poprt_builder_op_info op = poprt_put_op("", "BitShift",
        attrs != NULL ? attrs->name : NULL, in, 2, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_bitwise_and_attrs {
    const char *name;
} poprt_bitwise_and_attrs;

/* BitwiseAnd, ai.onnx 18. */
static inline poprt_id poprt_op_bitwise_and(poprt_builder *builder, poprt_id a, poprt_id b,
    const poprt_bitwise_and_attrs *attrs)
{
    const poprt_id in[] = { a, b };
    const poprt_builder_op_info op = poprt_put_op("", "BitwiseAnd",
        attrs != NULL ? attrs->name : NULL, in, 2, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_bitwise_not_attrs {
    const char *name;
} poprt_bitwise_not_attrs;

/* BitwiseNot, ai.onnx 18. */
static inline poprt_id poprt_op_bitwise_not(poprt_builder *builder, poprt_id x,
    const poprt_bitwise_not_attrs *attrs)
{
    const poprt_id in[] = { x };
    const poprt_builder_op_info op = poprt_put_op("", "BitwiseNot",
        attrs != NULL ? attrs->name : NULL, in, 1, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_bitwise_or_attrs {
    const char *name;
} poprt_bitwise_or_attrs;

/* BitwiseOr, ai.onnx 18. */
static inline poprt_id poprt_op_bitwise_or(poprt_builder *builder, poprt_id a, poprt_id b,
    const poprt_bitwise_or_attrs *attrs)
{
    const poprt_id in[] = { a, b };
    const poprt_builder_op_info op = poprt_put_op("", "BitwiseOr",
        attrs != NULL ? attrs->name : NULL, in, 2, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_bitwise_xor_attrs {
    const char *name;
} poprt_bitwise_xor_attrs;

/* BitwiseXor, ai.onnx 18. */
static inline poprt_id poprt_op_bitwise_xor(poprt_builder *builder, poprt_id a, poprt_id b,
    const poprt_bitwise_xor_attrs *attrs)
{
    const poprt_id in[] = { a, b };
    const poprt_builder_op_info op = poprt_put_op("", "BitwiseXor",
        attrs != NULL ? attrs->name : NULL, in, 2, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_blackman_window_attrs {
    const char *name;
    poprt_optional_int periodic; /* default 1 */
    poprt_optional_int output_datatype; /* default 1 */
} poprt_blackman_window_attrs;

/* BlackmanWindow, ai.onnx 17. */
static inline poprt_id poprt_op_blackman_window(poprt_builder *builder, poprt_id size,
    const poprt_blackman_window_attrs *attrs)
{
    poprt_attr list[2];
    uint32_t n = 0;
    const poprt_id in[] = { size };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "periodic", attrs->periodic);
        n = poprt_put_int(list, n, "output_datatype", attrs->output_datatype);
    }
    const poprt_builder_op_info op = poprt_put_op("", "BlackmanWindow",
        attrs != NULL ? attrs->name : NULL, in, 1, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_cast_attrs {
    const char *name;
    const char *round_mode; /* default up */
    poprt_optional_int saturate; /* default 1 */
    poprt_optional_int to; /* default 0 */
} poprt_cast_attrs;

/* Cast, ai.onnx 1, 6, 9, 13, 19, 21, 23, 24, 25, 28. */
static inline poprt_id poprt_op_cast(poprt_builder *builder, poprt_id input,
    const poprt_cast_attrs *attrs)
{
    poprt_attr list[3];
    uint32_t n = 0;
    const poprt_id in[] = { input };
    if (attrs != NULL) {
        n = poprt_put_string(list, n, "round_mode", attrs->round_mode);
        n = poprt_put_int(list, n, "saturate", attrs->saturate);
        n = poprt_put_int(list, n, "to", attrs->to);
    }
    const poprt_builder_op_info op = poprt_put_op("", "Cast", attrs != NULL ? attrs->name : NULL,
        in, 1, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_cast_like_attrs {
    const char *name;
    const char *round_mode; /* default up */
    poprt_optional_int saturate; /* default 1 */
} poprt_cast_like_attrs;

/* CastLike, ai.onnx 15, 19, 21, 23, 24, 25. */
static inline poprt_id poprt_op_cast_like(poprt_builder *builder, poprt_id input,
    poprt_id target_type, const poprt_cast_like_attrs *attrs)
{
    poprt_attr list[2];
    uint32_t n = 0;
    const poprt_id in[] = { input, target_type };
    if (attrs != NULL) {
        n = poprt_put_string(list, n, "round_mode", attrs->round_mode);
        n = poprt_put_int(list, n, "saturate", attrs->saturate);
    }
    const poprt_builder_op_info op = poprt_put_op("", "CastLike",
        attrs != NULL ? attrs->name : NULL, in, 2, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_causal_conv_with_state_attrs {
    const char *name;
    const char *activation; /* default none */
} poprt_causal_conv_with_state_attrs;

/* CausalConvWithState, ai.onnx 27. Outputs: output, present_state. */
static inline poprt_id poprt_op_causal_conv_with_state(poprt_builder *builder, poprt_id input,
    poprt_id weight, poprt_id bias, poprt_id past_state,
    const poprt_causal_conv_with_state_attrs *attrs, uint32_t n_out, poprt_id *out)
{
    poprt_attr list[1];
    uint32_t n = 0;
    const poprt_id in[] = { input, weight, bias, past_state };
    if (attrs != NULL) {
        n = poprt_put_string(list, n, "activation", attrs->activation);
    }
    poprt_builder_op_info op = poprt_put_op("", "CausalConvWithState",
        attrs != NULL ? attrs->name : NULL, in, 4, list, n);
    op.n_outputs = n_out;
    return poprt_builder_op(builder, &op, out);
}

typedef struct poprt_ceil_attrs {
    const char *name;
} poprt_ceil_attrs;

/* Ceil, ai.onnx 1, 6, 13. */
static inline poprt_id poprt_op_ceil(poprt_builder *builder, poprt_id x,
    const poprt_ceil_attrs *attrs)
{
    const poprt_id in[] = { x };
    const poprt_builder_op_info op = poprt_put_op("", "Ceil", attrs != NULL ? attrs->name : NULL,
        in, 1, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_celu_attrs {
    const char *name;
    poprt_optional_float alpha; /* default 1 */
} poprt_celu_attrs;

/* Celu, ai.onnx 12, 28. */
static inline poprt_id poprt_op_celu(poprt_builder *builder, poprt_id x,
    const poprt_celu_attrs *attrs)
{
    poprt_attr list[1];
    uint32_t n = 0;
    const poprt_id in[] = { x };
    if (attrs != NULL) {
        n = poprt_put_float(list, n, "alpha", attrs->alpha);
    }
    const poprt_builder_op_info op = poprt_put_op("", "Celu", attrs != NULL ? attrs->name : NULL,
        in, 1, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_center_crop_pad_attrs {
    const char *name;
    poprt_int_list axes;
} poprt_center_crop_pad_attrs;

/* CenterCropPad, ai.onnx 18. */
static inline poprt_id poprt_op_center_crop_pad(poprt_builder *builder, poprt_id input_data,
    poprt_id shape, const poprt_center_crop_pad_attrs *attrs)
{
    poprt_attr list[1];
    uint32_t n = 0;
    const poprt_id in[] = { input_data, shape };
    if (attrs != NULL) {
        n = poprt_put_ints(list, n, "axes", attrs->axes);
    }
    const poprt_builder_op_info op = poprt_put_op("", "CenterCropPad",
        attrs != NULL ? attrs->name : NULL, in, 2, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_clip_attrs {
    const char *name;
    poprt_optional_float max; /* until opset 10 */
    poprt_optional_float min; /* until opset 10 */
} poprt_clip_attrs;

/* Clip, ai.onnx 1, 6, 11, 12, 13. */
static inline poprt_id poprt_op_clip(poprt_builder *builder, poprt_id input, poprt_id min,
    poprt_id max, const poprt_clip_attrs *attrs)
{
    poprt_attr list[2];
    uint32_t n = 0;
    const poprt_id in[] = { input, min, max };
    if (attrs != NULL) {
        n = poprt_put_float(list, n, "max", attrs->max);
        n = poprt_put_float(list, n, "min", attrs->min);
    }
    const poprt_builder_op_info op = poprt_put_op("", "Clip", attrs != NULL ? attrs->name : NULL,
        in, 3, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_col2im_attrs {
    const char *name;
    poprt_int_list strides;
    poprt_int_list pads;
    poprt_int_list dilations;
} poprt_col2im_attrs;

/* Col2Im, ai.onnx 18. */
static inline poprt_id poprt_op_col2im(poprt_builder *builder, poprt_id input,
    poprt_id image_shape, poprt_id block_shape, const poprt_col2im_attrs *attrs)
{
    poprt_attr list[3];
    uint32_t n = 0;
    const poprt_id in[] = { input, image_shape, block_shape };
    if (attrs != NULL) {
        n = poprt_put_ints(list, n, "strides", attrs->strides);
        n = poprt_put_ints(list, n, "pads", attrs->pads);
        n = poprt_put_ints(list, n, "dilations", attrs->dilations);
    }
    const poprt_builder_op_info op = poprt_put_op("", "Col2Im", attrs != NULL ? attrs->name : NULL,
        in, 3, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_compress_attrs {
    const char *name;
    poprt_optional_int axis; /* default 0 */
} poprt_compress_attrs;

/* Compress, ai.onnx 9, 11, 28. */
static inline poprt_id poprt_op_compress(poprt_builder *builder, poprt_id input,
    poprt_id condition, const poprt_compress_attrs *attrs)
{
    poprt_attr list[1];
    uint32_t n = 0;
    const poprt_id in[] = { input, condition };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "axis", attrs->axis);
    }
    const poprt_builder_op_info op = poprt_put_op("", "Compress",
        attrs != NULL ? attrs->name : NULL, in, 2, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_concat_attrs {
    const char *name;
    poprt_optional_int axis; /* default 0 */
} poprt_concat_attrs;

/* Concat, ai.onnx 1, 4, 11, 13. */
static inline poprt_id poprt_op_concat(poprt_builder *builder, uint32_t n_inputs,
    const poprt_id *inputs, const poprt_concat_attrs *attrs)
{
    poprt_attr list[1];
    uint32_t n = 0;
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "axis", attrs->axis);
    }
    poprt_builder_op_info op = poprt_put_op("", "Concat", attrs != NULL ? attrs->name : NULL, NULL,
        0, list, n);
    op.more_inputs = inputs;
    op.n_more_inputs = n_inputs;
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_concat_from_sequence_attrs {
    const char *name;
    poprt_optional_int axis; /* default 0 */
    poprt_optional_int new_axis; /* default 0 */
} poprt_concat_from_sequence_attrs;

/* ConcatFromSequence, ai.onnx 11. */
static inline poprt_id poprt_op_concat_from_sequence(poprt_builder *builder,
    poprt_id input_sequence, const poprt_concat_from_sequence_attrs *attrs)
{
    poprt_attr list[2];
    uint32_t n = 0;
    const poprt_id in[] = { input_sequence };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "axis", attrs->axis);
        n = poprt_put_int(list, n, "new_axis", attrs->new_axis);
    }
    const poprt_builder_op_info op = poprt_put_op("", "ConcatFromSequence",
        attrs != NULL ? attrs->name : NULL, in, 1, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_constant_attrs {
    const char *name;
    const poprt_tensor *value;
    poprt_optional_float value_float;
    poprt_float_list value_floats;
    poprt_optional_int value_int;
    poprt_int_list value_ints;
    const char *value_string;
    poprt_string_list value_strings;
} poprt_constant_attrs;

/* Constant, ai.onnx 1, 9, 11, 12, 13, 19, 21, 23, 24, 25. */
static inline poprt_id poprt_op_constant(poprt_builder *builder, const poprt_constant_attrs *attrs)
{
    poprt_attr list[7];
    uint32_t n = 0;
    if (attrs != NULL) {
        n = poprt_put_object(list, n, "value", POPRT_ATTR_TENSOR, attrs->value);
        n = poprt_put_float(list, n, "value_float", attrs->value_float);
        n = poprt_put_floats(list, n, "value_floats", attrs->value_floats);
        n = poprt_put_int(list, n, "value_int", attrs->value_int);
        n = poprt_put_ints(list, n, "value_ints", attrs->value_ints);
        n = poprt_put_string(list, n, "value_string", attrs->value_string);
        n = poprt_put_strings(list, n, "value_strings", attrs->value_strings);
    }
    const poprt_builder_op_info op = poprt_put_op("", "Constant",
        attrs != NULL ? attrs->name : NULL, NULL, 0, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_constant_of_shape_attrs {
    const char *name;
    const poprt_tensor *value;
} poprt_constant_of_shape_attrs;

/* ConstantOfShape, ai.onnx 9, 20, 21, 23, 24, 25. */
static inline poprt_id poprt_op_constant_of_shape(poprt_builder *builder, poprt_id input,
    const poprt_constant_of_shape_attrs *attrs)
{
    poprt_attr list[1];
    uint32_t n = 0;
    const poprt_id in[] = { input };
    if (attrs != NULL) {
        n = poprt_put_object(list, n, "value", POPRT_ATTR_TENSOR, attrs->value);
    }
    const poprt_builder_op_info op = poprt_put_op("", "ConstantOfShape",
        attrs != NULL ? attrs->name : NULL, in, 1, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_conv_attrs {
    const char *name;
    poprt_optional_int group; /* default 1 */
    poprt_int_list pads;
    const char *auto_pad; /* default NOTSET */
    poprt_int_list strides;
    poprt_int_list dilations;
    poprt_int_list kernel_shape;
} poprt_conv_attrs;

/* Conv, ai.onnx 1, 11, 22. */
static inline poprt_id poprt_op_conv(poprt_builder *builder, poprt_id x, poprt_id w, poprt_id b,
    const poprt_conv_attrs *attrs)
{
    poprt_attr list[6];
    uint32_t n = 0;
    const poprt_id in[] = { x, w, b };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "group", attrs->group);
        n = poprt_put_ints(list, n, "pads", attrs->pads);
        n = poprt_put_string(list, n, "auto_pad", attrs->auto_pad);
        n = poprt_put_ints(list, n, "strides", attrs->strides);
        n = poprt_put_ints(list, n, "dilations", attrs->dilations);
        n = poprt_put_ints(list, n, "kernel_shape", attrs->kernel_shape);
    }
    const poprt_builder_op_info op = poprt_put_op("", "Conv", attrs != NULL ? attrs->name : NULL,
        in, 3, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_conv_integer_attrs {
    const char *name;
    poprt_optional_int group; /* default 1 */
    poprt_int_list pads;
    poprt_int_list strides;
    poprt_int_list dilations;
    poprt_int_list kernel_shape;
    const char *auto_pad; /* default NOTSET */
} poprt_conv_integer_attrs;

/* ConvInteger, ai.onnx 10. */
static inline poprt_id poprt_op_conv_integer(poprt_builder *builder, poprt_id x, poprt_id w,
    poprt_id x_zero_point, poprt_id w_zero_point, const poprt_conv_integer_attrs *attrs)
{
    poprt_attr list[6];
    uint32_t n = 0;
    const poprt_id in[] = { x, w, x_zero_point, w_zero_point };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "group", attrs->group);
        n = poprt_put_ints(list, n, "pads", attrs->pads);
        n = poprt_put_ints(list, n, "strides", attrs->strides);
        n = poprt_put_ints(list, n, "dilations", attrs->dilations);
        n = poprt_put_ints(list, n, "kernel_shape", attrs->kernel_shape);
        n = poprt_put_string(list, n, "auto_pad", attrs->auto_pad);
    }
    const poprt_builder_op_info op = poprt_put_op("", "ConvInteger",
        attrs != NULL ? attrs->name : NULL, in, 4, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_conv_transpose_attrs {
    const char *name;
    poprt_optional_int group; /* default 1 */
    const char *auto_pad; /* default NOTSET */
    poprt_int_list strides;
    poprt_int_list pads;
    poprt_int_list output_padding;
    poprt_int_list dilations;
    poprt_int_list output_shape;
    poprt_int_list kernel_shape;
} poprt_conv_transpose_attrs;

/* ConvTranspose, ai.onnx 1, 11, 22. */
static inline poprt_id poprt_op_conv_transpose(poprt_builder *builder, poprt_id x, poprt_id w,
    poprt_id b, const poprt_conv_transpose_attrs *attrs)
{
    poprt_attr list[8];
    uint32_t n = 0;
    const poprt_id in[] = { x, w, b };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "group", attrs->group);
        n = poprt_put_string(list, n, "auto_pad", attrs->auto_pad);
        n = poprt_put_ints(list, n, "strides", attrs->strides);
        n = poprt_put_ints(list, n, "pads", attrs->pads);
        n = poprt_put_ints(list, n, "output_padding", attrs->output_padding);
        n = poprt_put_ints(list, n, "dilations", attrs->dilations);
        n = poprt_put_ints(list, n, "output_shape", attrs->output_shape);
        n = poprt_put_ints(list, n, "kernel_shape", attrs->kernel_shape);
    }
    const poprt_builder_op_info op = poprt_put_op("", "ConvTranspose",
        attrs != NULL ? attrs->name : NULL, in, 3, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_cos_attrs {
    const char *name;
} poprt_cos_attrs;

/* Cos, ai.onnx 7, 22. */
static inline poprt_id poprt_op_cos(poprt_builder *builder, poprt_id input,
    const poprt_cos_attrs *attrs)
{
    const poprt_id in[] = { input };
    const poprt_builder_op_info op = poprt_put_op("", "Cos", attrs != NULL ? attrs->name : NULL,
        in, 1, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_cosh_attrs {
    const char *name;
} poprt_cosh_attrs;

/* Cosh, ai.onnx 9, 22. */
static inline poprt_id poprt_op_cosh(poprt_builder *builder, poprt_id input,
    const poprt_cosh_attrs *attrs)
{
    const poprt_id in[] = { input };
    const poprt_builder_op_info op = poprt_put_op("", "Cosh", attrs != NULL ? attrs->name : NULL,
        in, 1, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_cum_prod_attrs {
    const char *name;
    poprt_optional_int reverse; /* default 0 */
    poprt_optional_int exclusive; /* default 0 */
} poprt_cum_prod_attrs;

/* CumProd, ai.onnx 26. */
static inline poprt_id poprt_op_cum_prod(poprt_builder *builder, poprt_id x, poprt_id axis,
    const poprt_cum_prod_attrs *attrs)
{
    poprt_attr list[2];
    uint32_t n = 0;
    const poprt_id in[] = { x, axis };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "reverse", attrs->reverse);
        n = poprt_put_int(list, n, "exclusive", attrs->exclusive);
    }
    const poprt_builder_op_info op = poprt_put_op("", "CumProd",
        attrs != NULL ? attrs->name : NULL, in, 2, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_cumsum_attrs {
    const char *name;
    poprt_optional_int reverse; /* default 0 */
    poprt_optional_int exclusive; /* default 0 */
} poprt_cumsum_attrs;

/* CumSum, ai.onnx 11, 14. */
static inline poprt_id poprt_op_cumsum(poprt_builder *builder, poprt_id x, poprt_id axis,
    const poprt_cumsum_attrs *attrs)
{
    poprt_attr list[2];
    uint32_t n = 0;
    const poprt_id in[] = { x, axis };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "reverse", attrs->reverse);
        n = poprt_put_int(list, n, "exclusive", attrs->exclusive);
    }
    const poprt_builder_op_info op = poprt_put_op("", "CumSum", attrs != NULL ? attrs->name : NULL,
        in, 2, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_deform_conv_attrs {
    const char *name;
    poprt_int_list strides;
    poprt_int_list pads;
    poprt_optional_int offset_group; /* default 1 */
    poprt_int_list kernel_shape;
    poprt_optional_int group; /* default 1 */
    poprt_int_list dilations;
} poprt_deform_conv_attrs;

/* DeformConv, ai.onnx 19, 22. */
static inline poprt_id poprt_op_deform_conv(poprt_builder *builder, poprt_id x, poprt_id w,
    poprt_id offset, poprt_id b, poprt_id mask, const poprt_deform_conv_attrs *attrs)
{
    poprt_attr list[6];
    uint32_t n = 0;
    const poprt_id in[] = { x, w, offset, b, mask };
    if (attrs != NULL) {
        n = poprt_put_ints(list, n, "strides", attrs->strides);
        n = poprt_put_ints(list, n, "pads", attrs->pads);
        n = poprt_put_int(list, n, "offset_group", attrs->offset_group);
        n = poprt_put_ints(list, n, "kernel_shape", attrs->kernel_shape);
        n = poprt_put_int(list, n, "group", attrs->group);
        n = poprt_put_ints(list, n, "dilations", attrs->dilations);
    }
    const poprt_builder_op_info op = poprt_put_op("", "DeformConv",
        attrs != NULL ? attrs->name : NULL, in, 5, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_depth_to_space_attrs {
    const char *name;
    const char *mode; /* default DCR */
    poprt_optional_int blocksize; /* default 0 */
} poprt_depth_to_space_attrs;

/* DepthToSpace, ai.onnx 1, 11, 13, 28. */
static inline poprt_id poprt_op_depth_to_space(poprt_builder *builder, poprt_id input,
    const poprt_depth_to_space_attrs *attrs)
{
    poprt_attr list[2];
    uint32_t n = 0;
    const poprt_id in[] = { input };
    if (attrs != NULL) {
        n = poprt_put_string(list, n, "mode", attrs->mode);
        n = poprt_put_int(list, n, "blocksize", attrs->blocksize);
    }
    const poprt_builder_op_info op = poprt_put_op("", "DepthToSpace",
        attrs != NULL ? attrs->name : NULL, in, 1, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_dequantize_linear_attrs {
    const char *name;
    poprt_optional_int axis; /* default 1 */
    poprt_optional_int block_size; /* default 0 */
    poprt_optional_int output_dtype; /* default 0 */
} poprt_dequantize_linear_attrs;

/* DequantizeLinear, ai.onnx 10, 13, 19, 21, 23, 24, 25, 28. */
static inline poprt_id poprt_op_dequantize_linear(poprt_builder *builder, poprt_id x,
    poprt_id x_scale, poprt_id x_zero_point, const poprt_dequantize_linear_attrs *attrs)
{
    poprt_attr list[3];
    uint32_t n = 0;
    const poprt_id in[] = { x, x_scale, x_zero_point };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "axis", attrs->axis);
        n = poprt_put_int(list, n, "block_size", attrs->block_size);
        n = poprt_put_int(list, n, "output_dtype", attrs->output_dtype);
    }
    const poprt_builder_op_info op = poprt_put_op("", "DequantizeLinear",
        attrs != NULL ? attrs->name : NULL, in, 3, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_det_attrs {
    const char *name;
} poprt_det_attrs;

/* Det, ai.onnx 11, 22. */
static inline poprt_id poprt_op_det(poprt_builder *builder, poprt_id x,
    const poprt_det_attrs *attrs)
{
    const poprt_id in[] = { x };
    const poprt_builder_op_info op = poprt_put_op("", "Det", attrs != NULL ? attrs->name : NULL,
        in, 1, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_dft_attrs {
    const char *name;
    poprt_optional_int inverse; /* default 0 */
    poprt_optional_int onesided; /* default 0 */
    poprt_optional_int axis; /* until opset 19 */
} poprt_dft_attrs;

/* DFT, ai.onnx 17, 20. */
static inline poprt_id poprt_op_dft(poprt_builder *builder, poprt_id input, poprt_id dft_length,
    poprt_id axis, const poprt_dft_attrs *attrs)
{
    poprt_attr list[3];
    uint32_t n = 0;
    const poprt_id in[] = { input, dft_length, axis };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "inverse", attrs->inverse);
        n = poprt_put_int(list, n, "onesided", attrs->onesided);
        n = poprt_put_int(list, n, "axis", attrs->axis);
    }
    const poprt_builder_op_info op = poprt_put_op("", "DFT", attrs != NULL ? attrs->name : NULL,
        in, 3, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_div_attrs {
    const char *name;
    poprt_optional_int axis; /* until opset 6 */
    poprt_optional_int broadcast; /* until opset 6 */
} poprt_div_attrs;

/* Div, ai.onnx 1, 6, 7, 13, 14. */
static inline poprt_id poprt_op_div(poprt_builder *builder, poprt_id a, poprt_id b,
    const poprt_div_attrs *attrs)
{
    poprt_attr list[2];
    uint32_t n = 0;
    const poprt_id in[] = { a, b };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "axis", attrs->axis);
        n = poprt_put_int(list, n, "broadcast", attrs->broadcast);
    }
    const poprt_builder_op_info op = poprt_put_op("", "Div", attrs != NULL ? attrs->name : NULL,
        in, 2, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_dropout_attrs {
    const char *name;
    poprt_optional_int seed; /* default 0 */
    poprt_optional_int is_test; /* until opset 6 */
    poprt_optional_float ratio; /* until opset 11 */
} poprt_dropout_attrs;

/* Dropout, ai.onnx 1, 6, 7, 10, 12, 13, 22. Outputs: output, mask. */
static inline poprt_id poprt_op_dropout(poprt_builder *builder, poprt_id data, poprt_id ratio,
    poprt_id training_mode, const poprt_dropout_attrs *attrs, uint32_t n_out, poprt_id *out)
{
    poprt_attr list[3];
    uint32_t n = 0;
    const poprt_id in[] = { data, ratio, training_mode };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "seed", attrs->seed);
        n = poprt_put_int(list, n, "is_test", attrs->is_test);
        n = poprt_put_float(list, n, "ratio", attrs->ratio);
    }
    poprt_builder_op_info op = poprt_put_op("", "Dropout", attrs != NULL ? attrs->name : NULL, in,
        3, list, n);
    op.n_outputs = n_out;
    return poprt_builder_op(builder, &op, out);
}

typedef struct poprt_dynamic_quantize_linear_attrs {
    const char *name;
} poprt_dynamic_quantize_linear_attrs;

/* DynamicQuantizeLinear, ai.onnx 11. Outputs: y, y_scale, y_zero_point. */
static inline poprt_id poprt_op_dynamic_quantize_linear(poprt_builder *builder, poprt_id x,
    const poprt_dynamic_quantize_linear_attrs *attrs, uint32_t n_out, poprt_id *out)
{
    const poprt_id in[] = { x };
    poprt_builder_op_info op = poprt_put_op("", "DynamicQuantizeLinear",
        attrs != NULL ? attrs->name : NULL, in, 1, NULL, 0);
    op.n_outputs = n_out;
    return poprt_builder_op(builder, &op, out);
}

typedef struct poprt_einsum_attrs {
    const char *name;
    const char *equation;
} poprt_einsum_attrs;

/* Einsum, ai.onnx 12, 28. */
static inline poprt_id poprt_op_einsum(poprt_builder *builder, uint32_t n_inputs,
    const poprt_id *inputs, const poprt_einsum_attrs *attrs)
{
    poprt_attr list[1];
    uint32_t n = 0;
    if (attrs != NULL) {
        n = poprt_put_string(list, n, "equation", attrs->equation);
    }
    poprt_builder_op_info op = poprt_put_op("", "Einsum", attrs != NULL ? attrs->name : NULL, NULL,
        0, list, n);
    op.more_inputs = inputs;
    op.n_more_inputs = n_inputs;
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_elu_attrs {
    const char *name;
    poprt_optional_float alpha; /* default 1 */
} poprt_elu_attrs;

/* Elu, ai.onnx 1, 6, 22. */
static inline poprt_id poprt_op_elu(poprt_builder *builder, poprt_id x,
    const poprt_elu_attrs *attrs)
{
    poprt_attr list[1];
    uint32_t n = 0;
    const poprt_id in[] = { x };
    if (attrs != NULL) {
        n = poprt_put_float(list, n, "alpha", attrs->alpha);
    }
    const poprt_builder_op_info op = poprt_put_op("", "Elu", attrs != NULL ? attrs->name : NULL,
        in, 1, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_equal_attrs {
    const char *name;
    poprt_optional_int axis; /* until opset 6 */
    poprt_optional_int broadcast; /* until opset 6 */
} poprt_equal_attrs;

/* Equal, ai.onnx 1, 7, 11, 13, 19. */
static inline poprt_id poprt_op_equal(poprt_builder *builder, poprt_id a, poprt_id b,
    const poprt_equal_attrs *attrs)
{
    poprt_attr list[2];
    uint32_t n = 0;
    const poprt_id in[] = { a, b };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "axis", attrs->axis);
        n = poprt_put_int(list, n, "broadcast", attrs->broadcast);
    }
    const poprt_builder_op_info op = poprt_put_op("", "Equal", attrs != NULL ? attrs->name : NULL,
        in, 2, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_erf_attrs {
    const char *name;
} poprt_erf_attrs;

/* Erf, ai.onnx 9, 13. */
static inline poprt_id poprt_op_erf(poprt_builder *builder, poprt_id input,
    const poprt_erf_attrs *attrs)
{
    const poprt_id in[] = { input };
    const poprt_builder_op_info op = poprt_put_op("", "Erf", attrs != NULL ? attrs->name : NULL,
        in, 1, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_exp_attrs {
    const char *name;
} poprt_exp_attrs;

/* Exp, ai.onnx 1, 6, 13. */
static inline poprt_id poprt_op_exp(poprt_builder *builder, poprt_id input,
    const poprt_exp_attrs *attrs)
{
    const poprt_id in[] = { input };
    const poprt_builder_op_info op = poprt_put_op("", "Exp", attrs != NULL ? attrs->name : NULL,
        in, 1, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_expand_attrs {
    const char *name;
} poprt_expand_attrs;

/* Expand, ai.onnx 8, 13. */
static inline poprt_id poprt_op_expand(poprt_builder *builder, poprt_id input, poprt_id shape,
    const poprt_expand_attrs *attrs)
{
    const poprt_id in[] = { input, shape };
    const poprt_builder_op_info op = poprt_put_op("", "Expand", attrs != NULL ? attrs->name : NULL,
        in, 2, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_eye_like_attrs {
    const char *name;
    poprt_optional_int dtype; /* default 0 */
    poprt_optional_int k; /* default 0 */
} poprt_eye_like_attrs;

/* EyeLike, ai.onnx 9, 22. */
static inline poprt_id poprt_op_eye_like(poprt_builder *builder, poprt_id input,
    const poprt_eye_like_attrs *attrs)
{
    poprt_attr list[2];
    uint32_t n = 0;
    const poprt_id in[] = { input };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "dtype", attrs->dtype);
        n = poprt_put_int(list, n, "k", attrs->k);
    }
    const poprt_builder_op_info op = poprt_put_op("", "EyeLike",
        attrs != NULL ? attrs->name : NULL, in, 1, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_flatten_attrs {
    const char *name;
    poprt_optional_int axis; /* default 1 */
} poprt_flatten_attrs;

/* Flatten, ai.onnx 1, 9, 11, 13, 21, 23, 24, 25. */
static inline poprt_id poprt_op_flatten(poprt_builder *builder, poprt_id input,
    const poprt_flatten_attrs *attrs)
{
    poprt_attr list[1];
    uint32_t n = 0;
    const poprt_id in[] = { input };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "axis", attrs->axis);
    }
    const poprt_builder_op_info op = poprt_put_op("", "Flatten",
        attrs != NULL ? attrs->name : NULL, in, 1, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_floor_attrs {
    const char *name;
} poprt_floor_attrs;

/* Floor, ai.onnx 1, 6, 13. */
static inline poprt_id poprt_op_floor(poprt_builder *builder, poprt_id x,
    const poprt_floor_attrs *attrs)
{
    const poprt_id in[] = { x };
    const poprt_builder_op_info op = poprt_put_op("", "Floor", attrs != NULL ? attrs->name : NULL,
        in, 1, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_gather_attrs {
    const char *name;
    poprt_optional_int axis; /* default 0 */
} poprt_gather_attrs;

/* Gather, ai.onnx 1, 11, 13. */
static inline poprt_id poprt_op_gather(poprt_builder *builder, poprt_id data, poprt_id indices,
    const poprt_gather_attrs *attrs)
{
    poprt_attr list[1];
    uint32_t n = 0;
    const poprt_id in[] = { data, indices };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "axis", attrs->axis);
    }
    const poprt_builder_op_info op = poprt_put_op("", "Gather", attrs != NULL ? attrs->name : NULL,
        in, 2, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_gather_elements_attrs {
    const char *name;
    poprt_optional_int axis; /* default 0 */
} poprt_gather_elements_attrs;

/* GatherElements, ai.onnx 11, 13. */
static inline poprt_id poprt_op_gather_elements(poprt_builder *builder, poprt_id data,
    poprt_id indices, const poprt_gather_elements_attrs *attrs)
{
    poprt_attr list[1];
    uint32_t n = 0;
    const poprt_id in[] = { data, indices };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "axis", attrs->axis);
    }
    const poprt_builder_op_info op = poprt_put_op("", "GatherElements",
        attrs != NULL ? attrs->name : NULL, in, 2, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_gather_nd_attrs {
    const char *name;
    poprt_optional_int batch_dims; /* default 0 */
} poprt_gather_nd_attrs;

/* GatherND, ai.onnx 11, 12, 13. */
static inline poprt_id poprt_op_gather_nd(poprt_builder *builder, poprt_id data, poprt_id indices,
    const poprt_gather_nd_attrs *attrs)
{
    poprt_attr list[1];
    uint32_t n = 0;
    const poprt_id in[] = { data, indices };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "batch_dims", attrs->batch_dims);
    }
    const poprt_builder_op_info op = poprt_put_op("", "GatherND",
        attrs != NULL ? attrs->name : NULL, in, 2, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_gelu_attrs {
    const char *name;
    const char *approximate; /* default none */
} poprt_gelu_attrs;

/* Gelu, ai.onnx 20. */
static inline poprt_id poprt_op_gelu(poprt_builder *builder, poprt_id x,
    const poprt_gelu_attrs *attrs)
{
    poprt_attr list[1];
    uint32_t n = 0;
    const poprt_id in[] = { x };
    if (attrs != NULL) {
        n = poprt_put_string(list, n, "approximate", attrs->approximate);
    }
    const poprt_builder_op_info op = poprt_put_op("", "Gelu", attrs != NULL ? attrs->name : NULL,
        in, 1, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_gemm_attrs {
    const char *name;
    poprt_optional_float beta; /* default 1 */
    poprt_optional_int transB; /* default 0 */
    poprt_optional_float alpha; /* default 1 */
    poprt_optional_int transA; /* default 0 */
    poprt_optional_int broadcast; /* until opset 6 */
} poprt_gemm_attrs;

/* Gemm, ai.onnx 1, 6, 7, 9, 11, 13. */
static inline poprt_id poprt_op_gemm(poprt_builder *builder, poprt_id a, poprt_id b, poprt_id c,
    const poprt_gemm_attrs *attrs)
{
    poprt_attr list[5];
    uint32_t n = 0;
    const poprt_id in[] = { a, b, c };
    if (attrs != NULL) {
        n = poprt_put_float(list, n, "beta", attrs->beta);
        n = poprt_put_int(list, n, "transB", attrs->transB);
        n = poprt_put_float(list, n, "alpha", attrs->alpha);
        n = poprt_put_int(list, n, "transA", attrs->transA);
        n = poprt_put_int(list, n, "broadcast", attrs->broadcast);
    }
    const poprt_builder_op_info op = poprt_put_op("", "Gemm", attrs != NULL ? attrs->name : NULL,
        in, 3, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_global_average_pool_attrs {
    const char *name;
} poprt_global_average_pool_attrs;

/* GlobalAveragePool, ai.onnx 1, 22. */
static inline poprt_id poprt_op_global_average_pool(poprt_builder *builder, poprt_id x,
    const poprt_global_average_pool_attrs *attrs)
{
    const poprt_id in[] = { x };
    const poprt_builder_op_info op = poprt_put_op("", "GlobalAveragePool",
        attrs != NULL ? attrs->name : NULL, in, 1, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_global_lp_pool_attrs {
    const char *name;
    poprt_optional_int p; /* default 2 */
} poprt_global_lp_pool_attrs;

/* GlobalLpPool, ai.onnx 1, 2, 22. */
static inline poprt_id poprt_op_global_lp_pool(poprt_builder *builder, poprt_id x,
    const poprt_global_lp_pool_attrs *attrs)
{
    poprt_attr list[1];
    uint32_t n = 0;
    const poprt_id in[] = { x };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "p", attrs->p);
    }
    const poprt_builder_op_info op = poprt_put_op("", "GlobalLpPool",
        attrs != NULL ? attrs->name : NULL, in, 1, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_global_max_pool_attrs {
    const char *name;
} poprt_global_max_pool_attrs;

/* GlobalMaxPool, ai.onnx 1, 22. */
static inline poprt_id poprt_op_global_max_pool(poprt_builder *builder, poprt_id x,
    const poprt_global_max_pool_attrs *attrs)
{
    const poprt_id in[] = { x };
    const poprt_builder_op_info op = poprt_put_op("", "GlobalMaxPool",
        attrs != NULL ? attrs->name : NULL, in, 1, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_greater_attrs {
    const char *name;
    poprt_optional_int axis; /* until opset 6 */
    poprt_optional_int broadcast; /* until opset 6 */
} poprt_greater_attrs;

/* Greater, ai.onnx 1, 7, 9, 13. */
static inline poprt_id poprt_op_greater(poprt_builder *builder, poprt_id a, poprt_id b,
    const poprt_greater_attrs *attrs)
{
    poprt_attr list[2];
    uint32_t n = 0;
    const poprt_id in[] = { a, b };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "axis", attrs->axis);
        n = poprt_put_int(list, n, "broadcast", attrs->broadcast);
    }
    const poprt_builder_op_info op = poprt_put_op("", "Greater",
        attrs != NULL ? attrs->name : NULL, in, 2, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_greater_or_equal_attrs {
    const char *name;
} poprt_greater_or_equal_attrs;

/* GreaterOrEqual, ai.onnx 12, 16. */
static inline poprt_id poprt_op_greater_or_equal(poprt_builder *builder, poprt_id a, poprt_id b,
    const poprt_greater_or_equal_attrs *attrs)
{
    const poprt_id in[] = { a, b };
    const poprt_builder_op_info op = poprt_put_op("", "GreaterOrEqual",
        attrs != NULL ? attrs->name : NULL, in, 2, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_grid_sample_attrs {
    const char *name;
    poprt_optional_int align_corners; /* default 0 */
    const char *padding_mode; /* default zeros */
    const char *mode; /* default linear */
} poprt_grid_sample_attrs;

/* GridSample, ai.onnx 16, 20, 22. */
static inline poprt_id poprt_op_grid_sample(poprt_builder *builder, poprt_id x, poprt_id grid,
    const poprt_grid_sample_attrs *attrs)
{
    poprt_attr list[3];
    uint32_t n = 0;
    const poprt_id in[] = { x, grid };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "align_corners", attrs->align_corners);
        n = poprt_put_string(list, n, "padding_mode", attrs->padding_mode);
        n = poprt_put_string(list, n, "mode", attrs->mode);
    }
    const poprt_builder_op_info op = poprt_put_op("", "GridSample",
        attrs != NULL ? attrs->name : NULL, in, 2, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_group_normalization_attrs {
    const char *name;
    poprt_optional_int stash_type; /* default 1 */
    poprt_optional_int num_groups; /* default 0 */
    poprt_optional_float epsilon; /* default 9.99999975e-06 */
} poprt_group_normalization_attrs;

/* GroupNormalization, ai.onnx 21. */
static inline poprt_id poprt_op_group_normalization(poprt_builder *builder, poprt_id x,
    poprt_id scale, poprt_id bias, const poprt_group_normalization_attrs *attrs)
{
    poprt_attr list[3];
    uint32_t n = 0;
    const poprt_id in[] = { x, scale, bias };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "stash_type", attrs->stash_type);
        n = poprt_put_int(list, n, "num_groups", attrs->num_groups);
        n = poprt_put_float(list, n, "epsilon", attrs->epsilon);
    }
    const poprt_builder_op_info op = poprt_put_op("", "GroupNormalization",
        attrs != NULL ? attrs->name : NULL, in, 3, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_gru_attrs {
    const char *name;
    poprt_optional_float clip; /* default 0 */
    poprt_float_list activation_beta;
    poprt_float_list activation_alpha;
    poprt_optional_int hidden_size; /* default 0 */
    poprt_optional_int layout; /* default 0 */
    const char *direction; /* default forward */
    poprt_optional_int linear_before_reset; /* default 0 */
    poprt_string_list activations;
    poprt_optional_int output_sequence; /* until opset 6 */
} poprt_gru_attrs;

/* GRU, ai.onnx 1, 3, 7, 14, 22. Outputs: Y, Y_h. */
static inline poprt_id poprt_op_gru(poprt_builder *builder, poprt_id x, poprt_id w, poprt_id r,
    poprt_id b, poprt_id sequence_lens, poprt_id initial_h, const poprt_gru_attrs *attrs,
    uint32_t n_out, poprt_id *out)
{
    poprt_attr list[9];
    uint32_t n = 0;
    const poprt_id in[] = { x, w, r, b, sequence_lens, initial_h };
    if (attrs != NULL) {
        n = poprt_put_float(list, n, "clip", attrs->clip);
        n = poprt_put_floats(list, n, "activation_beta", attrs->activation_beta);
        n = poprt_put_floats(list, n, "activation_alpha", attrs->activation_alpha);
        n = poprt_put_int(list, n, "hidden_size", attrs->hidden_size);
        n = poprt_put_int(list, n, "layout", attrs->layout);
        n = poprt_put_string(list, n, "direction", attrs->direction);
        n = poprt_put_int(list, n, "linear_before_reset", attrs->linear_before_reset);
        n = poprt_put_strings(list, n, "activations", attrs->activations);
        n = poprt_put_int(list, n, "output_sequence", attrs->output_sequence);
    }
    poprt_builder_op_info op = poprt_put_op("", "GRU", attrs != NULL ? attrs->name : NULL, in, 6,
        list, n);
    op.n_outputs = n_out;
    return poprt_builder_op(builder, &op, out);
}

typedef struct poprt_hamming_window_attrs {
    const char *name;
    poprt_optional_int periodic; /* default 1 */
    poprt_optional_int output_datatype; /* default 1 */
} poprt_hamming_window_attrs;

/* HammingWindow, ai.onnx 17. */
static inline poprt_id poprt_op_hamming_window(poprt_builder *builder, poprt_id size,
    const poprt_hamming_window_attrs *attrs)
{
    poprt_attr list[2];
    uint32_t n = 0;
    const poprt_id in[] = { size };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "periodic", attrs->periodic);
        n = poprt_put_int(list, n, "output_datatype", attrs->output_datatype);
    }
    const poprt_builder_op_info op = poprt_put_op("", "HammingWindow",
        attrs != NULL ? attrs->name : NULL, in, 1, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_hann_window_attrs {
    const char *name;
    poprt_optional_int periodic; /* default 1 */
    poprt_optional_int output_datatype; /* default 1 */
} poprt_hann_window_attrs;

/* HannWindow, ai.onnx 17. */
static inline poprt_id poprt_op_hann_window(poprt_builder *builder, poprt_id size,
    const poprt_hann_window_attrs *attrs)
{
    poprt_attr list[2];
    uint32_t n = 0;
    const poprt_id in[] = { size };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "periodic", attrs->periodic);
        n = poprt_put_int(list, n, "output_datatype", attrs->output_datatype);
    }
    const poprt_builder_op_info op = poprt_put_op("", "HannWindow",
        attrs != NULL ? attrs->name : NULL, in, 1, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_hard_sigmoid_attrs {
    const char *name;
    poprt_optional_float beta; /* default 0.5 */
    poprt_optional_float alpha; /* default 0.200000003 */
} poprt_hard_sigmoid_attrs;

/* HardSigmoid, ai.onnx 1, 6, 22. */
static inline poprt_id poprt_op_hard_sigmoid(poprt_builder *builder, poprt_id x,
    const poprt_hard_sigmoid_attrs *attrs)
{
    poprt_attr list[2];
    uint32_t n = 0;
    const poprt_id in[] = { x };
    if (attrs != NULL) {
        n = poprt_put_float(list, n, "beta", attrs->beta);
        n = poprt_put_float(list, n, "alpha", attrs->alpha);
    }
    const poprt_builder_op_info op = poprt_put_op("", "HardSigmoid",
        attrs != NULL ? attrs->name : NULL, in, 1, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_hard_swish_attrs {
    const char *name;
} poprt_hard_swish_attrs;

/* HardSwish, ai.onnx 14, 22. */
static inline poprt_id poprt_op_hard_swish(poprt_builder *builder, poprt_id x,
    const poprt_hard_swish_attrs *attrs)
{
    const poprt_id in[] = { x };
    const poprt_builder_op_info op = poprt_put_op("", "HardSwish",
        attrs != NULL ? attrs->name : NULL, in, 1, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_hardmax_attrs {
    const char *name;
    poprt_optional_int axis; /* default -1 */
} poprt_hardmax_attrs;

/* Hardmax, ai.onnx 1, 11, 13. */
static inline poprt_id poprt_op_hardmax(poprt_builder *builder, poprt_id input,
    const poprt_hardmax_attrs *attrs)
{
    poprt_attr list[1];
    uint32_t n = 0;
    const poprt_id in[] = { input };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "axis", attrs->axis);
    }
    const poprt_builder_op_info op = poprt_put_op("", "Hardmax",
        attrs != NULL ? attrs->name : NULL, in, 1, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_identity_attrs {
    const char *name;
} poprt_identity_attrs;

/* Identity, ai.onnx 1, 13, 14, 16, 19, 21, 23, 24, 25. */
static inline poprt_id poprt_op_identity(poprt_builder *builder, poprt_id input,
    const poprt_identity_attrs *attrs)
{
    const poprt_id in[] = { input };
    const poprt_builder_op_info op = poprt_put_op("", "Identity",
        attrs != NULL ? attrs->name : NULL, in, 1, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_if_attrs {
    const char *name;
    const poprt_builder *then_branch;
    const poprt_builder *else_branch;
} poprt_if_attrs;

/* If, ai.onnx 1, 11, 13, 16, 19, 21, 23, 24, 25. Outputs: outputs.... */
static inline poprt_id poprt_op_if(poprt_builder *builder, poprt_id cond,
    const poprt_if_attrs *attrs, uint32_t n_out, poprt_id *out)
{
    poprt_attr list[2];
    uint32_t n = 0;
    const poprt_id in[] = { cond };
    if (attrs != NULL) {
        n = poprt_put_object(list, n, "then_branch", POPRT_ATTR_GRAPH, attrs->then_branch);
        n = poprt_put_object(list, n, "else_branch", POPRT_ATTR_GRAPH, attrs->else_branch);
    }
    poprt_builder_op_info op = poprt_put_op("", "If", attrs != NULL ? attrs->name : NULL, in, 1,
        list, n);
    op.n_outputs = n_out;
    return poprt_builder_op(builder, &op, out);
}

typedef struct poprt_image_decoder_attrs {
    const char *name;
    const char *pixel_format; /* default RGB */
} poprt_image_decoder_attrs;

/* ImageDecoder, ai.onnx 20. */
static inline poprt_id poprt_op_image_decoder(poprt_builder *builder, poprt_id encoded_stream,
    const poprt_image_decoder_attrs *attrs)
{
    poprt_attr list[1];
    uint32_t n = 0;
    const poprt_id in[] = { encoded_stream };
    if (attrs != NULL) {
        n = poprt_put_string(list, n, "pixel_format", attrs->pixel_format);
    }
    const poprt_builder_op_info op = poprt_put_op("", "ImageDecoder",
        attrs != NULL ? attrs->name : NULL, in, 1, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_instance_normalization_attrs {
    const char *name;
    poprt_optional_float epsilon; /* default 9.99999975e-06 */
} poprt_instance_normalization_attrs;

/* InstanceNormalization, ai.onnx 1, 6, 22. */
static inline poprt_id poprt_op_instance_normalization(poprt_builder *builder, poprt_id input,
    poprt_id scale, poprt_id b, const poprt_instance_normalization_attrs *attrs)
{
    poprt_attr list[1];
    uint32_t n = 0;
    const poprt_id in[] = { input, scale, b };
    if (attrs != NULL) {
        n = poprt_put_float(list, n, "epsilon", attrs->epsilon);
    }
    const poprt_builder_op_info op = poprt_put_op("", "InstanceNormalization",
        attrs != NULL ? attrs->name : NULL, in, 3, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_isinf_attrs {
    const char *name;
    poprt_optional_int detect_negative; /* default 1 */
    poprt_optional_int detect_positive; /* default 1 */
} poprt_isinf_attrs;

/* IsInf, ai.onnx 10, 20. */
static inline poprt_id poprt_op_isinf(poprt_builder *builder, poprt_id x,
    const poprt_isinf_attrs *attrs)
{
    poprt_attr list[2];
    uint32_t n = 0;
    const poprt_id in[] = { x };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "detect_negative", attrs->detect_negative);
        n = poprt_put_int(list, n, "detect_positive", attrs->detect_positive);
    }
    const poprt_builder_op_info op = poprt_put_op("", "IsInf", attrs != NULL ? attrs->name : NULL,
        in, 1, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_isnan_attrs {
    const char *name;
} poprt_isnan_attrs;

/* IsNaN, ai.onnx 9, 13, 20. */
static inline poprt_id poprt_op_isnan(poprt_builder *builder, poprt_id x,
    const poprt_isnan_attrs *attrs)
{
    const poprt_id in[] = { x };
    const poprt_builder_op_info op = poprt_put_op("", "IsNaN", attrs != NULL ? attrs->name : NULL,
        in, 1, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_layer_normalization_attrs {
    const char *name;
    poprt_optional_int stash_type; /* default 1 */
    poprt_optional_float epsilon; /* default 9.99999975e-06 */
    poprt_optional_int axis; /* default -1 */
} poprt_layer_normalization_attrs;

/* LayerNormalization, ai.onnx 17. Outputs: Y, Mean, InvStdDev. */
static inline poprt_id poprt_op_layer_normalization(poprt_builder *builder, poprt_id x,
    poprt_id scale, poprt_id b, const poprt_layer_normalization_attrs *attrs, uint32_t n_out,
    poprt_id *out)
{
    poprt_attr list[3];
    uint32_t n = 0;
    const poprt_id in[] = { x, scale, b };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "stash_type", attrs->stash_type);
        n = poprt_put_float(list, n, "epsilon", attrs->epsilon);
        n = poprt_put_int(list, n, "axis", attrs->axis);
    }
    poprt_builder_op_info op = poprt_put_op("", "LayerNormalization",
        attrs != NULL ? attrs->name : NULL, in, 3, list, n);
    op.n_outputs = n_out;
    return poprt_builder_op(builder, &op, out);
}

typedef struct poprt_leaky_relu_attrs {
    const char *name;
    poprt_optional_float alpha; /* default 0.00999999978 */
} poprt_leaky_relu_attrs;

/* LeakyRelu, ai.onnx 1, 6, 16. */
static inline poprt_id poprt_op_leaky_relu(poprt_builder *builder, poprt_id x,
    const poprt_leaky_relu_attrs *attrs)
{
    poprt_attr list[1];
    uint32_t n = 0;
    const poprt_id in[] = { x };
    if (attrs != NULL) {
        n = poprt_put_float(list, n, "alpha", attrs->alpha);
    }
    const poprt_builder_op_info op = poprt_put_op("", "LeakyRelu",
        attrs != NULL ? attrs->name : NULL, in, 1, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_less_attrs {
    const char *name;
    poprt_optional_int axis; /* until opset 6 */
    poprt_optional_int broadcast; /* until opset 6 */
} poprt_less_attrs;

/* Less, ai.onnx 1, 7, 9, 13. */
static inline poprt_id poprt_op_less(poprt_builder *builder, poprt_id a, poprt_id b,
    const poprt_less_attrs *attrs)
{
    poprt_attr list[2];
    uint32_t n = 0;
    const poprt_id in[] = { a, b };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "axis", attrs->axis);
        n = poprt_put_int(list, n, "broadcast", attrs->broadcast);
    }
    const poprt_builder_op_info op = poprt_put_op("", "Less", attrs != NULL ? attrs->name : NULL,
        in, 2, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_less_or_equal_attrs {
    const char *name;
} poprt_less_or_equal_attrs;

/* LessOrEqual, ai.onnx 12, 16. */
static inline poprt_id poprt_op_less_or_equal(poprt_builder *builder, poprt_id a, poprt_id b,
    const poprt_less_or_equal_attrs *attrs)
{
    const poprt_id in[] = { a, b };
    const poprt_builder_op_info op = poprt_put_op("", "LessOrEqual",
        attrs != NULL ? attrs->name : NULL, in, 2, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_linear_attention_attrs {
    const char *name;
    poprt_optional_int q_num_heads; /* default 0 */
    poprt_optional_int kv_num_heads; /* default 0 */
    const char *update_rule; /* default gated_delta */
    poprt_optional_float scale; /* default 0 */
    poprt_optional_int chunk_size; /* default 64 */
} poprt_linear_attention_attrs;

/* LinearAttention, ai.onnx 27. Outputs: output, present_state. */
static inline poprt_id poprt_op_linear_attention(poprt_builder *builder, poprt_id query,
    poprt_id key, poprt_id value, poprt_id past_state, poprt_id decay, poprt_id beta,
    const poprt_linear_attention_attrs *attrs, uint32_t n_out, poprt_id *out)
{
    poprt_attr list[5];
    uint32_t n = 0;
    const poprt_id in[] = { query, key, value, past_state, decay, beta };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "q_num_heads", attrs->q_num_heads);
        n = poprt_put_int(list, n, "kv_num_heads", attrs->kv_num_heads);
        n = poprt_put_string(list, n, "update_rule", attrs->update_rule);
        n = poprt_put_float(list, n, "scale", attrs->scale);
        n = poprt_put_int(list, n, "chunk_size", attrs->chunk_size);
    }
    poprt_builder_op_info op = poprt_put_op("", "LinearAttention",
        attrs != NULL ? attrs->name : NULL, in, 6, list, n);
    op.n_outputs = n_out;
    return poprt_builder_op(builder, &op, out);
}

typedef struct poprt_log_attrs {
    const char *name;
} poprt_log_attrs;

/* Log, ai.onnx 1, 6, 13. */
static inline poprt_id poprt_op_log(poprt_builder *builder, poprt_id input,
    const poprt_log_attrs *attrs)
{
    const poprt_id in[] = { input };
    const poprt_builder_op_info op = poprt_put_op("", "Log", attrs != NULL ? attrs->name : NULL,
        in, 1, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_log_softmax_attrs {
    const char *name;
    poprt_optional_int axis; /* default -1 */
} poprt_log_softmax_attrs;

/* LogSoftmax, ai.onnx 1, 11, 13. */
static inline poprt_id poprt_op_log_softmax(poprt_builder *builder, poprt_id input,
    const poprt_log_softmax_attrs *attrs)
{
    poprt_attr list[1];
    uint32_t n = 0;
    const poprt_id in[] = { input };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "axis", attrs->axis);
    }
    const poprt_builder_op_info op = poprt_put_op("", "LogSoftmax",
        attrs != NULL ? attrs->name : NULL, in, 1, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_loop_attrs {
    const char *name;
    const poprt_builder *body;
} poprt_loop_attrs;

/* Loop, ai.onnx 1, 11, 13, 16, 19, 21, 23, 24, 25. Outputs: v_final_and_scan_outputs.... */
static inline poprt_id poprt_op_loop(poprt_builder *builder, poprt_id m, poprt_id cond,
    uint32_t n_v_initial, const poprt_id *v_initial, const poprt_loop_attrs *attrs, uint32_t n_out,
    poprt_id *out)
{
    poprt_attr list[1];
    uint32_t n = 0;
    const poprt_id in[] = { m, cond };
    if (attrs != NULL) {
        n = poprt_put_object(list, n, "body", POPRT_ATTR_GRAPH, attrs->body);
    }
    poprt_builder_op_info op = poprt_put_op("", "Loop", attrs != NULL ? attrs->name : NULL, in, 2,
        list, n);
    op.more_inputs = v_initial;
    op.n_more_inputs = n_v_initial;
    op.n_outputs = n_out;
    return poprt_builder_op(builder, &op, out);
}

typedef struct poprt_lp_normalization_attrs {
    const char *name;
    poprt_optional_int p; /* default 2 */
    poprt_optional_int axis; /* default -1 */
} poprt_lp_normalization_attrs;

/* LpNormalization, ai.onnx 1, 22. */
static inline poprt_id poprt_op_lp_normalization(poprt_builder *builder, poprt_id input,
    const poprt_lp_normalization_attrs *attrs)
{
    poprt_attr list[2];
    uint32_t n = 0;
    const poprt_id in[] = { input };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "p", attrs->p);
        n = poprt_put_int(list, n, "axis", attrs->axis);
    }
    const poprt_builder_op_info op = poprt_put_op("", "LpNormalization",
        attrs != NULL ? attrs->name : NULL, in, 1, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_lp_pool_attrs {
    const char *name;
    poprt_optional_int p; /* default 2 */
    poprt_int_list pads;
    const char *auto_pad; /* default NOTSET */
    poprt_optional_int ceil_mode; /* default 0 */
    poprt_int_list dilations;
    poprt_int_list strides;
    poprt_int_list kernel_shape;
} poprt_lp_pool_attrs;

/* LpPool, ai.onnx 1, 2, 11, 18, 22. */
static inline poprt_id poprt_op_lp_pool(poprt_builder *builder, poprt_id x,
    const poprt_lp_pool_attrs *attrs)
{
    poprt_attr list[7];
    uint32_t n = 0;
    const poprt_id in[] = { x };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "p", attrs->p);
        n = poprt_put_ints(list, n, "pads", attrs->pads);
        n = poprt_put_string(list, n, "auto_pad", attrs->auto_pad);
        n = poprt_put_int(list, n, "ceil_mode", attrs->ceil_mode);
        n = poprt_put_ints(list, n, "dilations", attrs->dilations);
        n = poprt_put_ints(list, n, "strides", attrs->strides);
        n = poprt_put_ints(list, n, "kernel_shape", attrs->kernel_shape);
    }
    const poprt_builder_op_info op = poprt_put_op("", "LpPool", attrs != NULL ? attrs->name : NULL,
        in, 1, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_lrn_attrs {
    const char *name;
    poprt_optional_float bias; /* default 1 */
    poprt_optional_float beta; /* default 0.75 */
    poprt_optional_float alpha; /* default 9.99999975e-05 */
    poprt_optional_int size; /* default 0 */
} poprt_lrn_attrs;

/* LRN, ai.onnx 1, 13. */
static inline poprt_id poprt_op_lrn(poprt_builder *builder, poprt_id x,
    const poprt_lrn_attrs *attrs)
{
    poprt_attr list[4];
    uint32_t n = 0;
    const poprt_id in[] = { x };
    if (attrs != NULL) {
        n = poprt_put_float(list, n, "bias", attrs->bias);
        n = poprt_put_float(list, n, "beta", attrs->beta);
        n = poprt_put_float(list, n, "alpha", attrs->alpha);
        n = poprt_put_int(list, n, "size", attrs->size);
    }
    const poprt_builder_op_info op = poprt_put_op("", "LRN", attrs != NULL ? attrs->name : NULL,
        in, 1, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_lstm_attrs {
    const char *name;
    poprt_optional_float clip; /* default 0 */
    poprt_float_list activation_beta;
    poprt_float_list activation_alpha;
    poprt_optional_int hidden_size; /* default 0 */
    const char *direction; /* default forward */
    poprt_optional_int input_forget; /* default 0 */
    poprt_optional_int layout; /* default 0 */
    poprt_string_list activations;
    poprt_optional_int output_sequence; /* until opset 6 */
} poprt_lstm_attrs;

/* LSTM, ai.onnx 1, 7, 14, 22. Outputs: Y, Y_h, Y_c. */
static inline poprt_id poprt_op_lstm(poprt_builder *builder, poprt_id x, poprt_id w, poprt_id r,
    poprt_id b, poprt_id sequence_lens, poprt_id initial_h, poprt_id initial_c, poprt_id p,
    const poprt_lstm_attrs *attrs, uint32_t n_out, poprt_id *out)
{
    poprt_attr list[9];
    uint32_t n = 0;
    const poprt_id in[] = { x, w, r, b, sequence_lens, initial_h, initial_c, p };
    if (attrs != NULL) {
        n = poprt_put_float(list, n, "clip", attrs->clip);
        n = poprt_put_floats(list, n, "activation_beta", attrs->activation_beta);
        n = poprt_put_floats(list, n, "activation_alpha", attrs->activation_alpha);
        n = poprt_put_int(list, n, "hidden_size", attrs->hidden_size);
        n = poprt_put_string(list, n, "direction", attrs->direction);
        n = poprt_put_int(list, n, "input_forget", attrs->input_forget);
        n = poprt_put_int(list, n, "layout", attrs->layout);
        n = poprt_put_strings(list, n, "activations", attrs->activations);
        n = poprt_put_int(list, n, "output_sequence", attrs->output_sequence);
    }
    poprt_builder_op_info op = poprt_put_op("", "LSTM", attrs != NULL ? attrs->name : NULL, in, 8,
        list, n);
    op.n_outputs = n_out;
    return poprt_builder_op(builder, &op, out);
}

typedef struct poprt_matmul_attrs {
    const char *name;
} poprt_matmul_attrs;

/* MatMul, ai.onnx 1, 9, 13. */
static inline poprt_id poprt_op_matmul(poprt_builder *builder, poprt_id a, poprt_id b,
    const poprt_matmul_attrs *attrs)
{
    const poprt_id in[] = { a, b };
    const poprt_builder_op_info op = poprt_put_op("", "MatMul", attrs != NULL ? attrs->name : NULL,
        in, 2, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_matmul_integer_attrs {
    const char *name;
} poprt_matmul_integer_attrs;

/* MatMulInteger, ai.onnx 10. */
static inline poprt_id poprt_op_matmul_integer(poprt_builder *builder, poprt_id a, poprt_id b,
    poprt_id a_zero_point, poprt_id b_zero_point, const poprt_matmul_integer_attrs *attrs)
{
    const poprt_id in[] = { a, b, a_zero_point, b_zero_point };
    const poprt_builder_op_info op = poprt_put_op("", "MatMulInteger",
        attrs != NULL ? attrs->name : NULL, in, 4, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_max_attrs {
    const char *name;
} poprt_max_attrs;

/* Max, ai.onnx 1, 6, 8, 12, 13. */
static inline poprt_id poprt_op_max(poprt_builder *builder, uint32_t n_data_0,
    const poprt_id *data_0, const poprt_max_attrs *attrs)
{
    poprt_builder_op_info op = poprt_put_op("", "Max", attrs != NULL ? attrs->name : NULL, NULL, 0,
        NULL, 0);
    op.more_inputs = data_0;
    op.n_more_inputs = n_data_0;
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_max_pool_attrs {
    const char *name;
    poprt_optional_int storage_order; /* default 0 */
    poprt_int_list dilations;
    poprt_optional_int ceil_mode; /* default 0 */
    poprt_int_list pads;
    const char *auto_pad; /* default NOTSET */
    poprt_int_list strides;
    poprt_int_list kernel_shape;
} poprt_max_pool_attrs;

/* MaxPool, ai.onnx 1, 8, 10, 11, 12, 22. Outputs: Y, Indices. */
static inline poprt_id poprt_op_max_pool(poprt_builder *builder, poprt_id x,
    const poprt_max_pool_attrs *attrs, uint32_t n_out, poprt_id *out)
{
    poprt_attr list[7];
    uint32_t n = 0;
    const poprt_id in[] = { x };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "storage_order", attrs->storage_order);
        n = poprt_put_ints(list, n, "dilations", attrs->dilations);
        n = poprt_put_int(list, n, "ceil_mode", attrs->ceil_mode);
        n = poprt_put_ints(list, n, "pads", attrs->pads);
        n = poprt_put_string(list, n, "auto_pad", attrs->auto_pad);
        n = poprt_put_ints(list, n, "strides", attrs->strides);
        n = poprt_put_ints(list, n, "kernel_shape", attrs->kernel_shape);
    }
    poprt_builder_op_info op = poprt_put_op("", "MaxPool", attrs != NULL ? attrs->name : NULL, in,
        1, list, n);
    op.n_outputs = n_out;
    return poprt_builder_op(builder, &op, out);
}

typedef struct poprt_max_roi_pool_attrs {
    const char *name;
    poprt_optional_float spatial_scale; /* default 1 */
    poprt_int_list pooled_shape;
} poprt_max_roi_pool_attrs;

/* MaxRoiPool, ai.onnx 1, 22. */
static inline poprt_id poprt_op_max_roi_pool(poprt_builder *builder, poprt_id x, poprt_id rois,
    const poprt_max_roi_pool_attrs *attrs)
{
    poprt_attr list[2];
    uint32_t n = 0;
    const poprt_id in[] = { x, rois };
    if (attrs != NULL) {
        n = poprt_put_float(list, n, "spatial_scale", attrs->spatial_scale);
        n = poprt_put_ints(list, n, "pooled_shape", attrs->pooled_shape);
    }
    const poprt_builder_op_info op = poprt_put_op("", "MaxRoiPool",
        attrs != NULL ? attrs->name : NULL, in, 2, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_max_unpool_attrs {
    const char *name;
    poprt_int_list pads;
    poprt_int_list strides;
    poprt_int_list kernel_shape;
} poprt_max_unpool_attrs;

/* MaxUnpool, ai.onnx 9, 11, 22. */
static inline poprt_id poprt_op_max_unpool(poprt_builder *builder, poprt_id x, poprt_id i,
    poprt_id output_shape, const poprt_max_unpool_attrs *attrs)
{
    poprt_attr list[3];
    uint32_t n = 0;
    const poprt_id in[] = { x, i, output_shape };
    if (attrs != NULL) {
        n = poprt_put_ints(list, n, "pads", attrs->pads);
        n = poprt_put_ints(list, n, "strides", attrs->strides);
        n = poprt_put_ints(list, n, "kernel_shape", attrs->kernel_shape);
    }
    const poprt_builder_op_info op = poprt_put_op("", "MaxUnpool",
        attrs != NULL ? attrs->name : NULL, in, 3, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_mean_attrs {
    const char *name;
} poprt_mean_attrs;

/* Mean, ai.onnx 1, 6, 8, 13. */
static inline poprt_id poprt_op_mean(poprt_builder *builder, uint32_t n_data_0,
    const poprt_id *data_0, const poprt_mean_attrs *attrs)
{
    poprt_builder_op_info op = poprt_put_op("", "Mean", attrs != NULL ? attrs->name : NULL, NULL,
        0, NULL, 0);
    op.more_inputs = data_0;
    op.n_more_inputs = n_data_0;
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_mean_variance_normalization_attrs {
    const char *name;
    poprt_int_list axes;
} poprt_mean_variance_normalization_attrs;

/* MeanVarianceNormalization, ai.onnx 9, 13. */
static inline poprt_id poprt_op_mean_variance_normalization(poprt_builder *builder, poprt_id x,
    const poprt_mean_variance_normalization_attrs *attrs)
{
    poprt_attr list[1];
    uint32_t n = 0;
    const poprt_id in[] = { x };
    if (attrs != NULL) {
        n = poprt_put_ints(list, n, "axes", attrs->axes);
    }
    const poprt_builder_op_info op = poprt_put_op("", "MeanVarianceNormalization",
        attrs != NULL ? attrs->name : NULL, in, 1, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_mel_weight_matrix_attrs {
    const char *name;
    poprt_optional_int output_datatype; /* default 1 */
} poprt_mel_weight_matrix_attrs;

/* MelWeightMatrix, ai.onnx 17. */
static inline poprt_id poprt_op_mel_weight_matrix(poprt_builder *builder, poprt_id num_mel_bins,
    poprt_id dft_length, poprt_id sample_rate, poprt_id lower_edge_hertz,
    poprt_id upper_edge_hertz, const poprt_mel_weight_matrix_attrs *attrs)
{
    poprt_attr list[1];
    uint32_t n = 0;
    const poprt_id in[] = { num_mel_bins, dft_length, sample_rate, lower_edge_hertz,
        upper_edge_hertz };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "output_datatype", attrs->output_datatype);
    }
    const poprt_builder_op_info op = poprt_put_op("", "MelWeightMatrix",
        attrs != NULL ? attrs->name : NULL, in, 5, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_min_attrs {
    const char *name;
} poprt_min_attrs;

/* Min, ai.onnx 1, 6, 8, 12, 13. */
static inline poprt_id poprt_op_min(poprt_builder *builder, uint32_t n_data_0,
    const poprt_id *data_0, const poprt_min_attrs *attrs)
{
    poprt_builder_op_info op = poprt_put_op("", "Min", attrs != NULL ? attrs->name : NULL, NULL, 0,
        NULL, 0);
    op.more_inputs = data_0;
    op.n_more_inputs = n_data_0;
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_mish_attrs {
    const char *name;
} poprt_mish_attrs;

/* Mish, ai.onnx 18, 22. */
static inline poprt_id poprt_op_mish(poprt_builder *builder, poprt_id x,
    const poprt_mish_attrs *attrs)
{
    const poprt_id in[] = { x };
    const poprt_builder_op_info op = poprt_put_op("", "Mish", attrs != NULL ? attrs->name : NULL,
        in, 1, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_mod_attrs {
    const char *name;
    poprt_optional_int fmod; /* default 0 */
} poprt_mod_attrs;

/* Mod, ai.onnx 10, 13, 28. */
static inline poprt_id poprt_op_mod(poprt_builder *builder, poprt_id a, poprt_id b,
    const poprt_mod_attrs *attrs)
{
    poprt_attr list[1];
    uint32_t n = 0;
    const poprt_id in[] = { a, b };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "fmod", attrs->fmod);
    }
    const poprt_builder_op_info op = poprt_put_op("", "Mod", attrs != NULL ? attrs->name : NULL,
        in, 2, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_mul_attrs {
    const char *name;
    poprt_optional_int axis; /* until opset 6 */
    poprt_optional_int broadcast; /* until opset 6 */
} poprt_mul_attrs;

/* Mul, ai.onnx 1, 6, 7, 13, 14. */
static inline poprt_id poprt_op_mul(poprt_builder *builder, poprt_id a, poprt_id b,
    const poprt_mul_attrs *attrs)
{
    poprt_attr list[2];
    uint32_t n = 0;
    const poprt_id in[] = { a, b };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "axis", attrs->axis);
        n = poprt_put_int(list, n, "broadcast", attrs->broadcast);
    }
    const poprt_builder_op_info op = poprt_put_op("", "Mul", attrs != NULL ? attrs->name : NULL,
        in, 2, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_multinomial_attrs {
    const char *name;
    poprt_optional_int dtype; /* default 6 */
    poprt_optional_float seed; /* default 0 */
    poprt_optional_int sample_size; /* default 1 */
} poprt_multinomial_attrs;

/* Multinomial, ai.onnx 7, 22. */
static inline poprt_id poprt_op_multinomial(poprt_builder *builder, poprt_id input,
    const poprt_multinomial_attrs *attrs)
{
    poprt_attr list[3];
    uint32_t n = 0;
    const poprt_id in[] = { input };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "dtype", attrs->dtype);
        n = poprt_put_float(list, n, "seed", attrs->seed);
        n = poprt_put_int(list, n, "sample_size", attrs->sample_size);
    }
    const poprt_builder_op_info op = poprt_put_op("", "Multinomial",
        attrs != NULL ? attrs->name : NULL, in, 1, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_neg_attrs {
    const char *name;
} poprt_neg_attrs;

/* Neg, ai.onnx 1, 6, 13. */
static inline poprt_id poprt_op_neg(poprt_builder *builder, poprt_id x,
    const poprt_neg_attrs *attrs)
{
    const poprt_id in[] = { x };
    const poprt_builder_op_info op = poprt_put_op("", "Neg", attrs != NULL ? attrs->name : NULL,
        in, 1, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_negative_log_likelihood_loss_attrs {
    const char *name;
    poprt_optional_int ignore_index; /* default 0 */
    const char *reduction; /* default mean */
} poprt_negative_log_likelihood_loss_attrs;

/* NegativeLogLikelihoodLoss, ai.onnx 12, 13, 22. */
static inline poprt_id poprt_op_negative_log_likelihood_loss(poprt_builder *builder,
    poprt_id input, poprt_id target, poprt_id weight,
    const poprt_negative_log_likelihood_loss_attrs *attrs)
{
    poprt_attr list[2];
    uint32_t n = 0;
    const poprt_id in[] = { input, target, weight };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "ignore_index", attrs->ignore_index);
        n = poprt_put_string(list, n, "reduction", attrs->reduction);
    }
    const poprt_builder_op_info op = poprt_put_op("", "NegativeLogLikelihoodLoss",
        attrs != NULL ? attrs->name : NULL, in, 3, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_non_max_suppression_attrs {
    const char *name;
    poprt_optional_int center_point_box; /* default 0 */
} poprt_non_max_suppression_attrs;

/* NonMaxSuppression, ai.onnx 10, 11. */
static inline poprt_id poprt_op_non_max_suppression(poprt_builder *builder, poprt_id boxes,
    poprt_id scores, poprt_id max_output_boxes_per_class, poprt_id iou_threshold,
    poprt_id score_threshold, const poprt_non_max_suppression_attrs *attrs)
{
    poprt_attr list[1];
    uint32_t n = 0;
    const poprt_id in[] = { boxes, scores, max_output_boxes_per_class, iou_threshold,
        score_threshold };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "center_point_box", attrs->center_point_box);
    }
    const poprt_builder_op_info op = poprt_put_op("", "NonMaxSuppression",
        attrs != NULL ? attrs->name : NULL, in, 5, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_nonzero_attrs {
    const char *name;
} poprt_nonzero_attrs;

/* NonZero, ai.onnx 9, 13. */
static inline poprt_id poprt_op_nonzero(poprt_builder *builder, poprt_id x,
    const poprt_nonzero_attrs *attrs)
{
    const poprt_id in[] = { x };
    const poprt_builder_op_info op = poprt_put_op("", "NonZero",
        attrs != NULL ? attrs->name : NULL, in, 1, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_not_attrs {
    const char *name;
} poprt_not_attrs;

/* Not, ai.onnx 1. */
static inline poprt_id poprt_op_not(poprt_builder *builder, poprt_id x,
    const poprt_not_attrs *attrs)
{
    const poprt_id in[] = { x };
    const poprt_builder_op_info op = poprt_put_op("", "Not", attrs != NULL ? attrs->name : NULL,
        in, 1, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_one_hot_attrs {
    const char *name;
    poprt_optional_int axis; /* default -1 */
} poprt_one_hot_attrs;

/* OneHot, ai.onnx 9, 11, 28. */
static inline poprt_id poprt_op_one_hot(poprt_builder *builder, poprt_id indices, poprt_id depth,
    poprt_id values, const poprt_one_hot_attrs *attrs)
{
    poprt_attr list[1];
    uint32_t n = 0;
    const poprt_id in[] = { indices, depth, values };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "axis", attrs->axis);
    }
    const poprt_builder_op_info op = poprt_put_op("", "OneHot", attrs != NULL ? attrs->name : NULL,
        in, 3, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_optional_attrs {
    const char *name;
    const poprt_type *type;
} poprt_optional_attrs;

/* Optional, ai.onnx 15, 28. */
static inline poprt_id poprt_op_optional(poprt_builder *builder, poprt_id input,
    const poprt_optional_attrs *attrs)
{
    poprt_attr list[1];
    uint32_t n = 0;
    const poprt_id in[] = { input };
    if (attrs != NULL) {
        n = poprt_put_object(list, n, "type", POPRT_ATTR_TYPE, attrs->type);
    }
    const poprt_builder_op_info op = poprt_put_op("", "Optional",
        attrs != NULL ? attrs->name : NULL, in, 1, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_optional_get_element_attrs {
    const char *name;
} poprt_optional_get_element_attrs;

/* OptionalGetElement, ai.onnx 15, 18, 28. */
static inline poprt_id poprt_op_optional_get_element(poprt_builder *builder, poprt_id input,
    const poprt_optional_get_element_attrs *attrs)
{
    const poprt_id in[] = { input };
    const poprt_builder_op_info op = poprt_put_op("", "OptionalGetElement",
        attrs != NULL ? attrs->name : NULL, in, 1, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_optional_has_element_attrs {
    const char *name;
} poprt_optional_has_element_attrs;

/* OptionalHasElement, ai.onnx 15, 18, 28. */
static inline poprt_id poprt_op_optional_has_element(poprt_builder *builder, poprt_id input,
    const poprt_optional_has_element_attrs *attrs)
{
    const poprt_id in[] = { input };
    const poprt_builder_op_info op = poprt_put_op("", "OptionalHasElement",
        attrs != NULL ? attrs->name : NULL, in, 1, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_or_attrs {
    const char *name;
    poprt_optional_int axis; /* until opset 6 */
    poprt_optional_int broadcast; /* until opset 6 */
} poprt_or_attrs;

/* Or, ai.onnx 1, 7. */
static inline poprt_id poprt_op_or(poprt_builder *builder, poprt_id a, poprt_id b,
    const poprt_or_attrs *attrs)
{
    poprt_attr list[2];
    uint32_t n = 0;
    const poprt_id in[] = { a, b };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "axis", attrs->axis);
        n = poprt_put_int(list, n, "broadcast", attrs->broadcast);
    }
    const poprt_builder_op_info op = poprt_put_op("", "Or", attrs != NULL ? attrs->name : NULL, in,
        2, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_pad_attrs {
    const char *name;
    const char *mode; /* default constant */
    poprt_int_list pads; /* until opset 10 */
    poprt_optional_float value; /* until opset 10 */
} poprt_pad_attrs;

/* Pad, ai.onnx 1, 2, 11, 13, 18, 19, 21, 23, 24, 25. */
static inline poprt_id poprt_op_pad(poprt_builder *builder, poprt_id data, poprt_id pads,
    poprt_id constant_value, poprt_id axes, const poprt_pad_attrs *attrs)
{
    poprt_attr list[3];
    uint32_t n = 0;
    const poprt_id in[] = { data, pads, constant_value, axes };
    if (attrs != NULL) {
        n = poprt_put_string(list, n, "mode", attrs->mode);
        n = poprt_put_ints(list, n, "pads", attrs->pads);
        n = poprt_put_float(list, n, "value", attrs->value);
    }
    const poprt_builder_op_info op = poprt_put_op("", "Pad", attrs != NULL ? attrs->name : NULL,
        in, 4, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_pow_attrs {
    const char *name;
    poprt_optional_int axis; /* until opset 6 */
    poprt_optional_int broadcast; /* until opset 6 */
} poprt_pow_attrs;

/* Pow, ai.onnx 1, 7, 12, 13, 15. */
static inline poprt_id poprt_op_pow(poprt_builder *builder, poprt_id x, poprt_id y,
    const poprt_pow_attrs *attrs)
{
    poprt_attr list[2];
    uint32_t n = 0;
    const poprt_id in[] = { x, y };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "axis", attrs->axis);
        n = poprt_put_int(list, n, "broadcast", attrs->broadcast);
    }
    const poprt_builder_op_info op = poprt_put_op("", "Pow", attrs != NULL ? attrs->name : NULL,
        in, 2, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_prelu_attrs {
    const char *name;
} poprt_prelu_attrs;

/* PRelu, ai.onnx 1, 6, 7, 9, 16. */
static inline poprt_id poprt_op_prelu(poprt_builder *builder, poprt_id x, poprt_id slope,
    const poprt_prelu_attrs *attrs)
{
    const poprt_id in[] = { x, slope };
    const poprt_builder_op_info op = poprt_put_op("", "PRelu", attrs != NULL ? attrs->name : NULL,
        in, 2, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_qlinear_conv_attrs {
    const char *name;
    poprt_optional_int group; /* default 1 */
    poprt_int_list pads;
    poprt_int_list strides;
    poprt_int_list dilations;
    poprt_int_list kernel_shape;
    const char *auto_pad; /* default NOTSET */
} poprt_qlinear_conv_attrs;

/* QLinearConv, ai.onnx 10. */
static inline poprt_id poprt_op_qlinear_conv(poprt_builder *builder, poprt_id x, poprt_id x_scale,
    poprt_id x_zero_point, poprt_id w, poprt_id w_scale, poprt_id w_zero_point, poprt_id y_scale,
    poprt_id y_zero_point, poprt_id b, const poprt_qlinear_conv_attrs *attrs)
{
    poprt_attr list[6];
    uint32_t n = 0;
    const poprt_id in[] = { x, x_scale, x_zero_point, w, w_scale, w_zero_point, y_scale,
        y_zero_point, b };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "group", attrs->group);
        n = poprt_put_ints(list, n, "pads", attrs->pads);
        n = poprt_put_ints(list, n, "strides", attrs->strides);
        n = poprt_put_ints(list, n, "dilations", attrs->dilations);
        n = poprt_put_ints(list, n, "kernel_shape", attrs->kernel_shape);
        n = poprt_put_string(list, n, "auto_pad", attrs->auto_pad);
    }
    const poprt_builder_op_info op = poprt_put_op("", "QLinearConv",
        attrs != NULL ? attrs->name : NULL, in, 9, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_qlinear_matmul_attrs {
    const char *name;
} poprt_qlinear_matmul_attrs;

/* QLinearMatMul, ai.onnx 10, 21. */
static inline poprt_id poprt_op_qlinear_matmul(poprt_builder *builder, poprt_id a,
    poprt_id a_scale, poprt_id a_zero_point, poprt_id b, poprt_id b_scale, poprt_id b_zero_point,
    poprt_id y_scale, poprt_id y_zero_point, const poprt_qlinear_matmul_attrs *attrs)
{
    const poprt_id in[] = { a, a_scale, a_zero_point, b, b_scale, b_zero_point, y_scale,
        y_zero_point };
    const poprt_builder_op_info op = poprt_put_op("", "QLinearMatMul",
        attrs != NULL ? attrs->name : NULL, in, 8, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_quantize_linear_attrs {
    const char *name;
    poprt_optional_int axis; /* default 1 */
    poprt_optional_int block_size; /* default 0 */
    poprt_optional_int output_dtype; /* default 0 */
    poprt_optional_int precision; /* default 0 */
    poprt_optional_int saturate; /* default 1 */
} poprt_quantize_linear_attrs;

/* QuantizeLinear, ai.onnx 10, 13, 19, 21, 23, 24, 25, 28. */
static inline poprt_id poprt_op_quantize_linear(poprt_builder *builder, poprt_id x,
    poprt_id y_scale, poprt_id y_zero_point, const poprt_quantize_linear_attrs *attrs)
{
    poprt_attr list[5];
    uint32_t n = 0;
    const poprt_id in[] = { x, y_scale, y_zero_point };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "axis", attrs->axis);
        n = poprt_put_int(list, n, "block_size", attrs->block_size);
        n = poprt_put_int(list, n, "output_dtype", attrs->output_dtype);
        n = poprt_put_int(list, n, "precision", attrs->precision);
        n = poprt_put_int(list, n, "saturate", attrs->saturate);
    }
    const poprt_builder_op_info op = poprt_put_op("", "QuantizeLinear",
        attrs != NULL ? attrs->name : NULL, in, 3, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_random_normal_attrs {
    const char *name;
    poprt_int_list shape;
    poprt_optional_int dtype; /* default 1 */
    poprt_optional_float seed; /* default 0 */
    poprt_optional_float scale; /* default 1 */
    poprt_optional_float mean; /* default 0 */
} poprt_random_normal_attrs;

/* RandomNormal, ai.onnx 1, 22. */
static inline poprt_id poprt_op_random_normal(poprt_builder *builder,
    const poprt_random_normal_attrs *attrs)
{
    poprt_attr list[5];
    uint32_t n = 0;
    if (attrs != NULL) {
        n = poprt_put_ints(list, n, "shape", attrs->shape);
        n = poprt_put_int(list, n, "dtype", attrs->dtype);
        n = poprt_put_float(list, n, "seed", attrs->seed);
        n = poprt_put_float(list, n, "scale", attrs->scale);
        n = poprt_put_float(list, n, "mean", attrs->mean);
    }
    const poprt_builder_op_info op = poprt_put_op("", "RandomNormal",
        attrs != NULL ? attrs->name : NULL, NULL, 0, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_random_normal_like_attrs {
    const char *name;
    poprt_optional_int dtype; /* default 0 */
    poprt_optional_float seed; /* default 0 */
    poprt_optional_float scale; /* default 1 */
    poprt_optional_float mean; /* default 0 */
} poprt_random_normal_like_attrs;

/* RandomNormalLike, ai.onnx 1, 22. */
static inline poprt_id poprt_op_random_normal_like(poprt_builder *builder, poprt_id input,
    const poprt_random_normal_like_attrs *attrs)
{
    poprt_attr list[4];
    uint32_t n = 0;
    const poprt_id in[] = { input };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "dtype", attrs->dtype);
        n = poprt_put_float(list, n, "seed", attrs->seed);
        n = poprt_put_float(list, n, "scale", attrs->scale);
        n = poprt_put_float(list, n, "mean", attrs->mean);
    }
    const poprt_builder_op_info op = poprt_put_op("", "RandomNormalLike",
        attrs != NULL ? attrs->name : NULL, in, 1, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_random_uniform_attrs {
    const char *name;
    poprt_int_list shape;
    poprt_optional_int dtype; /* default 1 */
    poprt_optional_float seed; /* default 0 */
    poprt_optional_float high; /* default 1 */
    poprt_optional_float low; /* default 0 */
} poprt_random_uniform_attrs;

/* RandomUniform, ai.onnx 1, 22. */
static inline poprt_id poprt_op_random_uniform(poprt_builder *builder,
    const poprt_random_uniform_attrs *attrs)
{
    poprt_attr list[5];
    uint32_t n = 0;
    if (attrs != NULL) {
        n = poprt_put_ints(list, n, "shape", attrs->shape);
        n = poprt_put_int(list, n, "dtype", attrs->dtype);
        n = poprt_put_float(list, n, "seed", attrs->seed);
        n = poprt_put_float(list, n, "high", attrs->high);
        n = poprt_put_float(list, n, "low", attrs->low);
    }
    const poprt_builder_op_info op = poprt_put_op("", "RandomUniform",
        attrs != NULL ? attrs->name : NULL, NULL, 0, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_random_uniform_like_attrs {
    const char *name;
    poprt_optional_int dtype; /* default 0 */
    poprt_optional_float seed; /* default 0 */
    poprt_optional_float high; /* default 1 */
    poprt_optional_float low; /* default 0 */
} poprt_random_uniform_like_attrs;

/* RandomUniformLike, ai.onnx 1, 22. */
static inline poprt_id poprt_op_random_uniform_like(poprt_builder *builder, poprt_id input,
    const poprt_random_uniform_like_attrs *attrs)
{
    poprt_attr list[4];
    uint32_t n = 0;
    const poprt_id in[] = { input };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "dtype", attrs->dtype);
        n = poprt_put_float(list, n, "seed", attrs->seed);
        n = poprt_put_float(list, n, "high", attrs->high);
        n = poprt_put_float(list, n, "low", attrs->low);
    }
    const poprt_builder_op_info op = poprt_put_op("", "RandomUniformLike",
        attrs != NULL ? attrs->name : NULL, in, 1, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_range_attrs {
    const char *name;
    poprt_optional_int stash_type; /* default 1 */
} poprt_range_attrs;

/* Range, ai.onnx 11, 27. */
static inline poprt_id poprt_op_range(poprt_builder *builder, poprt_id start, poprt_id limit,
    poprt_id delta, const poprt_range_attrs *attrs)
{
    poprt_attr list[1];
    uint32_t n = 0;
    const poprt_id in[] = { start, limit, delta };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "stash_type", attrs->stash_type);
    }
    const poprt_builder_op_info op = poprt_put_op("", "Range", attrs != NULL ? attrs->name : NULL,
        in, 3, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_reciprocal_attrs {
    const char *name;
} poprt_reciprocal_attrs;

/* Reciprocal, ai.onnx 1, 6, 13. */
static inline poprt_id poprt_op_reciprocal(poprt_builder *builder, poprt_id x,
    const poprt_reciprocal_attrs *attrs)
{
    const poprt_id in[] = { x };
    const poprt_builder_op_info op = poprt_put_op("", "Reciprocal",
        attrs != NULL ? attrs->name : NULL, in, 1, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_reduce_l1_attrs {
    const char *name;
    poprt_optional_int noop_with_empty_axes; /* default 0 */
    poprt_optional_int keepdims; /* default 1 */
    poprt_int_list axes; /* until opset 17 */
} poprt_reduce_l1_attrs;

/* ReduceL1, ai.onnx 1, 11, 13, 18. */
static inline poprt_id poprt_op_reduce_l1(poprt_builder *builder, poprt_id data, poprt_id axes,
    const poprt_reduce_l1_attrs *attrs)
{
    poprt_attr list[3];
    uint32_t n = 0;
    const poprt_id in[] = { data, axes };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "noop_with_empty_axes", attrs->noop_with_empty_axes);
        n = poprt_put_int(list, n, "keepdims", attrs->keepdims);
        n = poprt_put_ints(list, n, "axes", attrs->axes);
    }
    const poprt_builder_op_info op = poprt_put_op("", "ReduceL1",
        attrs != NULL ? attrs->name : NULL, in, 2, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_reduce_l2_attrs {
    const char *name;
    poprt_optional_int noop_with_empty_axes; /* default 0 */
    poprt_optional_int keepdims; /* default 1 */
    poprt_int_list axes; /* until opset 17 */
} poprt_reduce_l2_attrs;

/* ReduceL2, ai.onnx 1, 11, 13, 18. */
static inline poprt_id poprt_op_reduce_l2(poprt_builder *builder, poprt_id data, poprt_id axes,
    const poprt_reduce_l2_attrs *attrs)
{
    poprt_attr list[3];
    uint32_t n = 0;
    const poprt_id in[] = { data, axes };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "noop_with_empty_axes", attrs->noop_with_empty_axes);
        n = poprt_put_int(list, n, "keepdims", attrs->keepdims);
        n = poprt_put_ints(list, n, "axes", attrs->axes);
    }
    const poprt_builder_op_info op = poprt_put_op("", "ReduceL2",
        attrs != NULL ? attrs->name : NULL, in, 2, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_reduce_log_sum_attrs {
    const char *name;
    poprt_optional_int noop_with_empty_axes; /* default 0 */
    poprt_optional_int keepdims; /* default 1 */
    poprt_int_list axes; /* until opset 17 */
} poprt_reduce_log_sum_attrs;

/* ReduceLogSum, ai.onnx 1, 11, 13, 18, 28. */
static inline poprt_id poprt_op_reduce_log_sum(poprt_builder *builder, poprt_id data,
    poprt_id axes, const poprt_reduce_log_sum_attrs *attrs)
{
    poprt_attr list[3];
    uint32_t n = 0;
    const poprt_id in[] = { data, axes };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "noop_with_empty_axes", attrs->noop_with_empty_axes);
        n = poprt_put_int(list, n, "keepdims", attrs->keepdims);
        n = poprt_put_ints(list, n, "axes", attrs->axes);
    }
    const poprt_builder_op_info op = poprt_put_op("", "ReduceLogSum",
        attrs != NULL ? attrs->name : NULL, in, 2, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_reduce_log_sum_exp_attrs {
    const char *name;
    poprt_optional_int noop_with_empty_axes; /* default 0 */
    poprt_optional_int keepdims; /* default 1 */
    poprt_int_list axes; /* until opset 17 */
} poprt_reduce_log_sum_exp_attrs;

/* ReduceLogSumExp, ai.onnx 1, 11, 13, 18, 28. */
static inline poprt_id poprt_op_reduce_log_sum_exp(poprt_builder *builder, poprt_id data,
    poprt_id axes, const poprt_reduce_log_sum_exp_attrs *attrs)
{
    poprt_attr list[3];
    uint32_t n = 0;
    const poprt_id in[] = { data, axes };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "noop_with_empty_axes", attrs->noop_with_empty_axes);
        n = poprt_put_int(list, n, "keepdims", attrs->keepdims);
        n = poprt_put_ints(list, n, "axes", attrs->axes);
    }
    const poprt_builder_op_info op = poprt_put_op("", "ReduceLogSumExp",
        attrs != NULL ? attrs->name : NULL, in, 2, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_reduce_max_attrs {
    const char *name;
    poprt_optional_int noop_with_empty_axes; /* default 0 */
    poprt_optional_int keepdims; /* default 1 */
    poprt_int_list axes; /* until opset 17 */
} poprt_reduce_max_attrs;

/* ReduceMax, ai.onnx 1, 11, 12, 13, 18, 20. */
static inline poprt_id poprt_op_reduce_max(poprt_builder *builder, poprt_id data, poprt_id axes,
    const poprt_reduce_max_attrs *attrs)
{
    poprt_attr list[3];
    uint32_t n = 0;
    const poprt_id in[] = { data, axes };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "noop_with_empty_axes", attrs->noop_with_empty_axes);
        n = poprt_put_int(list, n, "keepdims", attrs->keepdims);
        n = poprt_put_ints(list, n, "axes", attrs->axes);
    }
    const poprt_builder_op_info op = poprt_put_op("", "ReduceMax",
        attrs != NULL ? attrs->name : NULL, in, 2, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_reduce_mean_attrs {
    const char *name;
    poprt_optional_int noop_with_empty_axes; /* default 0 */
    poprt_optional_int keepdims; /* default 1 */
    poprt_int_list axes; /* until opset 17 */
} poprt_reduce_mean_attrs;

/* ReduceMean, ai.onnx 1, 11, 13, 18. */
static inline poprt_id poprt_op_reduce_mean(poprt_builder *builder, poprt_id data, poprt_id axes,
    const poprt_reduce_mean_attrs *attrs)
{
    poprt_attr list[3];
    uint32_t n = 0;
    const poprt_id in[] = { data, axes };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "noop_with_empty_axes", attrs->noop_with_empty_axes);
        n = poprt_put_int(list, n, "keepdims", attrs->keepdims);
        n = poprt_put_ints(list, n, "axes", attrs->axes);
    }
    const poprt_builder_op_info op = poprt_put_op("", "ReduceMean",
        attrs != NULL ? attrs->name : NULL, in, 2, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_reduce_min_attrs {
    const char *name;
    poprt_optional_int noop_with_empty_axes; /* default 0 */
    poprt_optional_int keepdims; /* default 1 */
    poprt_int_list axes; /* until opset 17 */
} poprt_reduce_min_attrs;

/* ReduceMin, ai.onnx 1, 11, 12, 13, 18, 20. */
static inline poprt_id poprt_op_reduce_min(poprt_builder *builder, poprt_id data, poprt_id axes,
    const poprt_reduce_min_attrs *attrs)
{
    poprt_attr list[3];
    uint32_t n = 0;
    const poprt_id in[] = { data, axes };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "noop_with_empty_axes", attrs->noop_with_empty_axes);
        n = poprt_put_int(list, n, "keepdims", attrs->keepdims);
        n = poprt_put_ints(list, n, "axes", attrs->axes);
    }
    const poprt_builder_op_info op = poprt_put_op("", "ReduceMin",
        attrs != NULL ? attrs->name : NULL, in, 2, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_reduce_prod_attrs {
    const char *name;
    poprt_optional_int noop_with_empty_axes; /* default 0 */
    poprt_optional_int keepdims; /* default 1 */
    poprt_int_list axes; /* until opset 17 */
} poprt_reduce_prod_attrs;

/* ReduceProd, ai.onnx 1, 11, 13, 18. */
static inline poprt_id poprt_op_reduce_prod(poprt_builder *builder, poprt_id data, poprt_id axes,
    const poprt_reduce_prod_attrs *attrs)
{
    poprt_attr list[3];
    uint32_t n = 0;
    const poprt_id in[] = { data, axes };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "noop_with_empty_axes", attrs->noop_with_empty_axes);
        n = poprt_put_int(list, n, "keepdims", attrs->keepdims);
        n = poprt_put_ints(list, n, "axes", attrs->axes);
    }
    const poprt_builder_op_info op = poprt_put_op("", "ReduceProd",
        attrs != NULL ? attrs->name : NULL, in, 2, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_reduce_sum_attrs {
    const char *name;
    poprt_optional_int noop_with_empty_axes; /* default 0 */
    poprt_optional_int keepdims; /* default 1 */
    poprt_int_list axes; /* until opset 12 */
} poprt_reduce_sum_attrs;

/* ReduceSum, ai.onnx 1, 11, 13. */
static inline poprt_id poprt_op_reduce_sum(poprt_builder *builder, poprt_id data, poprt_id axes,
    const poprt_reduce_sum_attrs *attrs)
{
    poprt_attr list[3];
    uint32_t n = 0;
    const poprt_id in[] = { data, axes };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "noop_with_empty_axes", attrs->noop_with_empty_axes);
        n = poprt_put_int(list, n, "keepdims", attrs->keepdims);
        n = poprt_put_ints(list, n, "axes", attrs->axes);
    }
    const poprt_builder_op_info op = poprt_put_op("", "ReduceSum",
        attrs != NULL ? attrs->name : NULL, in, 2, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_reduce_sum_square_attrs {
    const char *name;
    poprt_optional_int noop_with_empty_axes; /* default 0 */
    poprt_optional_int keepdims; /* default 1 */
    poprt_int_list axes; /* until opset 17 */
} poprt_reduce_sum_square_attrs;

/* ReduceSumSquare, ai.onnx 1, 11, 13, 18. */
static inline poprt_id poprt_op_reduce_sum_square(poprt_builder *builder, poprt_id data,
    poprt_id axes, const poprt_reduce_sum_square_attrs *attrs)
{
    poprt_attr list[3];
    uint32_t n = 0;
    const poprt_id in[] = { data, axes };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "noop_with_empty_axes", attrs->noop_with_empty_axes);
        n = poprt_put_int(list, n, "keepdims", attrs->keepdims);
        n = poprt_put_ints(list, n, "axes", attrs->axes);
    }
    const poprt_builder_op_info op = poprt_put_op("", "ReduceSumSquare",
        attrs != NULL ? attrs->name : NULL, in, 2, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_regex_full_match_attrs {
    const char *name;
    const char *pattern;
} poprt_regex_full_match_attrs;

/* RegexFullMatch, ai.onnx 20. */
static inline poprt_id poprt_op_regex_full_match(poprt_builder *builder, poprt_id x,
    const poprt_regex_full_match_attrs *attrs)
{
    poprt_attr list[1];
    uint32_t n = 0;
    const poprt_id in[] = { x };
    if (attrs != NULL) {
        n = poprt_put_string(list, n, "pattern", attrs->pattern);
    }
    const poprt_builder_op_info op = poprt_put_op("", "RegexFullMatch",
        attrs != NULL ? attrs->name : NULL, in, 1, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_relu_attrs {
    const char *name;
} poprt_relu_attrs;

/* Relu, ai.onnx 1, 6, 13, 14. */
static inline poprt_id poprt_op_relu(poprt_builder *builder, poprt_id x,
    const poprt_relu_attrs *attrs)
{
    const poprt_id in[] = { x };
    const poprt_builder_op_info op = poprt_put_op("", "Relu", attrs != NULL ? attrs->name : NULL,
        in, 1, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_reshape_attrs {
    const char *name;
    poprt_optional_int allowzero; /* default 0 */
} poprt_reshape_attrs;

/* Reshape, ai.onnx 1, 5, 13, 14, 19, 21, 23, 24, 25. */
static inline poprt_id poprt_op_reshape(poprt_builder *builder, poprt_id data, poprt_id shape,
    const poprt_reshape_attrs *attrs)
{
    poprt_attr list[1];
    uint32_t n = 0;
    const poprt_id in[] = { data, shape };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "allowzero", attrs->allowzero);
    }
    const poprt_builder_op_info op = poprt_put_op("", "Reshape",
        attrs != NULL ? attrs->name : NULL, in, 2, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_resize_attrs {
    const char *name;
    const char *keep_aspect_ratio_policy; /* default stretch */
    poprt_int_list axes;
    poprt_optional_int antialias; /* default 0 */
    poprt_optional_float extrapolation_value; /* default 0 */
    poprt_optional_int exclude_outside; /* default 0 */
    const char *nearest_mode; /* default round_prefer_floor */
    const char *coordinate_transformation_mode; /* default half_pixel */
    poprt_optional_float cubic_coeff_a; /* default -0.75 */
    const char *mode; /* default nearest */
} poprt_resize_attrs;

/* Resize, ai.onnx 10, 11, 13, 18, 19. */
static inline poprt_id poprt_op_resize(poprt_builder *builder, poprt_id x, poprt_id roi,
    poprt_id scales, poprt_id sizes, const poprt_resize_attrs *attrs)
{
    poprt_attr list[9];
    uint32_t n = 0;
    const poprt_id in[] = { x, roi, scales, sizes };
    if (attrs != NULL) {
        n = poprt_put_string(list, n, "keep_aspect_ratio_policy", attrs->keep_aspect_ratio_policy);
        n = poprt_put_ints(list, n, "axes", attrs->axes);
        n = poprt_put_int(list, n, "antialias", attrs->antialias);
        n = poprt_put_float(list, n, "extrapolation_value", attrs->extrapolation_value);
        n = poprt_put_int(list, n, "exclude_outside", attrs->exclude_outside);
        n = poprt_put_string(list, n, "nearest_mode", attrs->nearest_mode);
        n = poprt_put_string(list, n, "coordinate_transformation_mode",
            attrs->coordinate_transformation_mode);
        n = poprt_put_float(list, n, "cubic_coeff_a", attrs->cubic_coeff_a);
        n = poprt_put_string(list, n, "mode", attrs->mode);
    }
    const poprt_builder_op_info op = poprt_put_op("", "Resize", attrs != NULL ? attrs->name : NULL,
        in, 4, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_reverse_sequence_attrs {
    const char *name;
    poprt_optional_int batch_axis; /* default 1 */
    poprt_optional_int time_axis; /* default 0 */
} poprt_reverse_sequence_attrs;

/* ReverseSequence, ai.onnx 10, 28. */
static inline poprt_id poprt_op_reverse_sequence(poprt_builder *builder, poprt_id input,
    poprt_id sequence_lens, const poprt_reverse_sequence_attrs *attrs)
{
    poprt_attr list[2];
    uint32_t n = 0;
    const poprt_id in[] = { input, sequence_lens };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "batch_axis", attrs->batch_axis);
        n = poprt_put_int(list, n, "time_axis", attrs->time_axis);
    }
    const poprt_builder_op_info op = poprt_put_op("", "ReverseSequence",
        attrs != NULL ? attrs->name : NULL, in, 2, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_rms_normalization_attrs {
    const char *name;
    poprt_optional_int stash_type; /* default 1 */
    poprt_optional_float epsilon; /* default 9.99999975e-06 */
    poprt_optional_int axis; /* default -1 */
} poprt_rms_normalization_attrs;

/* RMSNormalization, ai.onnx 23. */
static inline poprt_id poprt_op_rms_normalization(poprt_builder *builder, poprt_id x,
    poprt_id scale, const poprt_rms_normalization_attrs *attrs)
{
    poprt_attr list[3];
    uint32_t n = 0;
    const poprt_id in[] = { x, scale };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "stash_type", attrs->stash_type);
        n = poprt_put_float(list, n, "epsilon", attrs->epsilon);
        n = poprt_put_int(list, n, "axis", attrs->axis);
    }
    const poprt_builder_op_info op = poprt_put_op("", "RMSNormalization",
        attrs != NULL ? attrs->name : NULL, in, 2, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_rnn_attrs {
    const char *name;
    poprt_optional_float clip; /* default 0 */
    poprt_float_list activation_beta;
    poprt_float_list activation_alpha;
    poprt_optional_int hidden_size; /* default 0 */
    poprt_optional_int layout; /* default 0 */
    const char *direction; /* default forward */
    poprt_string_list activations;
    poprt_optional_int output_sequence; /* until opset 6 */
} poprt_rnn_attrs;

/* RNN, ai.onnx 1, 7, 14, 22. Outputs: Y, Y_h. */
static inline poprt_id poprt_op_rnn(poprt_builder *builder, poprt_id x, poprt_id w, poprt_id r,
    poprt_id b, poprt_id sequence_lens, poprt_id initial_h, const poprt_rnn_attrs *attrs,
    uint32_t n_out, poprt_id *out)
{
    poprt_attr list[8];
    uint32_t n = 0;
    const poprt_id in[] = { x, w, r, b, sequence_lens, initial_h };
    if (attrs != NULL) {
        n = poprt_put_float(list, n, "clip", attrs->clip);
        n = poprt_put_floats(list, n, "activation_beta", attrs->activation_beta);
        n = poprt_put_floats(list, n, "activation_alpha", attrs->activation_alpha);
        n = poprt_put_int(list, n, "hidden_size", attrs->hidden_size);
        n = poprt_put_int(list, n, "layout", attrs->layout);
        n = poprt_put_string(list, n, "direction", attrs->direction);
        n = poprt_put_strings(list, n, "activations", attrs->activations);
        n = poprt_put_int(list, n, "output_sequence", attrs->output_sequence);
    }
    poprt_builder_op_info op = poprt_put_op("", "RNN", attrs != NULL ? attrs->name : NULL, in, 6,
        list, n);
    op.n_outputs = n_out;
    return poprt_builder_op(builder, &op, out);
}

typedef struct poprt_roi_align_attrs {
    const char *name;
    const char *coordinate_transformation_mode; /* default half_pixel */
    const char *mode; /* default avg */
    poprt_optional_int output_height; /* default 1 */
    poprt_optional_int sampling_ratio; /* default 0 */
    poprt_optional_int output_width; /* default 1 */
    poprt_optional_float spatial_scale; /* default 1 */
} poprt_roi_align_attrs;

/* RoiAlign, ai.onnx 10, 16, 22. */
static inline poprt_id poprt_op_roi_align(poprt_builder *builder, poprt_id x, poprt_id rois,
    poprt_id batch_indices, const poprt_roi_align_attrs *attrs)
{
    poprt_attr list[6];
    uint32_t n = 0;
    const poprt_id in[] = { x, rois, batch_indices };
    if (attrs != NULL) {
        n = poprt_put_string(list, n, "coordinate_transformation_mode",
            attrs->coordinate_transformation_mode);
        n = poprt_put_string(list, n, "mode", attrs->mode);
        n = poprt_put_int(list, n, "output_height", attrs->output_height);
        n = poprt_put_int(list, n, "sampling_ratio", attrs->sampling_ratio);
        n = poprt_put_int(list, n, "output_width", attrs->output_width);
        n = poprt_put_float(list, n, "spatial_scale", attrs->spatial_scale);
    }
    const poprt_builder_op_info op = poprt_put_op("", "RoiAlign",
        attrs != NULL ? attrs->name : NULL, in, 3, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_rotary_embedding_attrs {
    const char *name;
    poprt_optional_int interleaved; /* default 0 */
    poprt_optional_int num_heads; /* default 0 */
    poprt_optional_int rotary_embedding_dim; /* default 0 */
} poprt_rotary_embedding_attrs;

/* RotaryEmbedding, ai.onnx 23. */
static inline poprt_id poprt_op_rotary_embedding(poprt_builder *builder, poprt_id x,
    poprt_id cos_cache, poprt_id sin_cache, poprt_id position_ids,
    const poprt_rotary_embedding_attrs *attrs)
{
    poprt_attr list[3];
    uint32_t n = 0;
    const poprt_id in[] = { x, cos_cache, sin_cache, position_ids };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "interleaved", attrs->interleaved);
        n = poprt_put_int(list, n, "num_heads", attrs->num_heads);
        n = poprt_put_int(list, n, "rotary_embedding_dim", attrs->rotary_embedding_dim);
    }
    const poprt_builder_op_info op = poprt_put_op("", "RotaryEmbedding",
        attrs != NULL ? attrs->name : NULL, in, 4, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_round_attrs {
    const char *name;
} poprt_round_attrs;

/* Round, ai.onnx 11, 22. */
static inline poprt_id poprt_op_round(poprt_builder *builder, poprt_id x,
    const poprt_round_attrs *attrs)
{
    const poprt_id in[] = { x };
    const poprt_builder_op_info op = poprt_put_op("", "Round", attrs != NULL ? attrs->name : NULL,
        in, 1, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_scan_attrs {
    const char *name;
    poprt_optional_int num_scan_inputs; /* default 0 */
    const poprt_builder *body;
    poprt_int_list scan_input_axes;
    poprt_int_list scan_input_directions;
    poprt_int_list scan_output_axes;
    poprt_int_list scan_output_directions;
    poprt_int_list directions; /* until opset 8 */
} poprt_scan_attrs;

/* Scan, ai.onnx 8, 9, 11, 16, 19, 21, 23, 24, 25. Outputs: final_state_and_scan_outputs.... */
static inline poprt_id poprt_op_scan(poprt_builder *builder,
    uint32_t n_initial_state_and_scan_inputs, const poprt_id *initial_state_and_scan_inputs,
    const poprt_scan_attrs *attrs, uint32_t n_out, poprt_id *out)
{
    poprt_attr list[7];
    uint32_t n = 0;
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "num_scan_inputs", attrs->num_scan_inputs);
        n = poprt_put_object(list, n, "body", POPRT_ATTR_GRAPH, attrs->body);
        n = poprt_put_ints(list, n, "scan_input_axes", attrs->scan_input_axes);
        n = poprt_put_ints(list, n, "scan_input_directions", attrs->scan_input_directions);
        n = poprt_put_ints(list, n, "scan_output_axes", attrs->scan_output_axes);
        n = poprt_put_ints(list, n, "scan_output_directions", attrs->scan_output_directions);
        n = poprt_put_ints(list, n, "directions", attrs->directions);
    }
    poprt_builder_op_info op = poprt_put_op("", "Scan", attrs != NULL ? attrs->name : NULL, NULL,
        0, list, n);
    op.more_inputs = initial_state_and_scan_inputs;
    op.n_more_inputs = n_initial_state_and_scan_inputs;
    op.n_outputs = n_out;
    return poprt_builder_op(builder, &op, out);
}

typedef struct poprt_scatter_attrs {
    const char *name;
    poprt_optional_int axis;
} poprt_scatter_attrs;

/* Scatter, ai.onnx 9. */
static inline poprt_id poprt_op_scatter(poprt_builder *builder, poprt_id data, poprt_id indices,
    poprt_id updates, const poprt_scatter_attrs *attrs)
{
    poprt_attr list[1];
    uint32_t n = 0;
    const poprt_id in[] = { data, indices, updates };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "axis", attrs->axis);
    }
    const poprt_builder_op_info op = poprt_put_op("", "Scatter",
        attrs != NULL ? attrs->name : NULL, in, 3, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_scatter_elements_attrs {
    const char *name;
    const char *reduction; /* default none */
    poprt_optional_int axis; /* default 0 */
} poprt_scatter_elements_attrs;

/* ScatterElements, ai.onnx 11, 13, 16, 18. */
static inline poprt_id poprt_op_scatter_elements(poprt_builder *builder, poprt_id data,
    poprt_id indices, poprt_id updates, const poprt_scatter_elements_attrs *attrs)
{
    poprt_attr list[2];
    uint32_t n = 0;
    const poprt_id in[] = { data, indices, updates };
    if (attrs != NULL) {
        n = poprt_put_string(list, n, "reduction", attrs->reduction);
        n = poprt_put_int(list, n, "axis", attrs->axis);
    }
    const poprt_builder_op_info op = poprt_put_op("", "ScatterElements",
        attrs != NULL ? attrs->name : NULL, in, 3, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_scatter_nd_attrs {
    const char *name;
    const char *reduction; /* default none */
} poprt_scatter_nd_attrs;

/* ScatterND, ai.onnx 11, 13, 16, 18. */
static inline poprt_id poprt_op_scatter_nd(poprt_builder *builder, poprt_id data, poprt_id indices,
    poprt_id updates, const poprt_scatter_nd_attrs *attrs)
{
    poprt_attr list[1];
    uint32_t n = 0;
    const poprt_id in[] = { data, indices, updates };
    if (attrs != NULL) {
        n = poprt_put_string(list, n, "reduction", attrs->reduction);
    }
    const poprt_builder_op_info op = poprt_put_op("", "ScatterND",
        attrs != NULL ? attrs->name : NULL, in, 3, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_selu_attrs {
    const char *name;
    poprt_optional_float gamma; /* default 1.05070102 */
    poprt_optional_float alpha; /* default 1.67326319 */
} poprt_selu_attrs;

/* Selu, ai.onnx 1, 6, 22. */
static inline poprt_id poprt_op_selu(poprt_builder *builder, poprt_id x,
    const poprt_selu_attrs *attrs)
{
    poprt_attr list[2];
    uint32_t n = 0;
    const poprt_id in[] = { x };
    if (attrs != NULL) {
        n = poprt_put_float(list, n, "gamma", attrs->gamma);
        n = poprt_put_float(list, n, "alpha", attrs->alpha);
    }
    const poprt_builder_op_info op = poprt_put_op("", "Selu", attrs != NULL ? attrs->name : NULL,
        in, 1, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_sequence_at_attrs {
    const char *name;
} poprt_sequence_at_attrs;

/* SequenceAt, ai.onnx 11. */
static inline poprt_id poprt_op_sequence_at(poprt_builder *builder, poprt_id input_sequence,
    poprt_id position, const poprt_sequence_at_attrs *attrs)
{
    const poprt_id in[] = { input_sequence, position };
    const poprt_builder_op_info op = poprt_put_op("", "SequenceAt",
        attrs != NULL ? attrs->name : NULL, in, 2, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_sequence_construct_attrs {
    const char *name;
} poprt_sequence_construct_attrs;

/* SequenceConstruct, ai.onnx 11. */
static inline poprt_id poprt_op_sequence_construct(poprt_builder *builder, uint32_t n_inputs,
    const poprt_id *inputs, const poprt_sequence_construct_attrs *attrs)
{
    poprt_builder_op_info op = poprt_put_op("", "SequenceConstruct",
        attrs != NULL ? attrs->name : NULL, NULL, 0, NULL, 0);
    op.more_inputs = inputs;
    op.n_more_inputs = n_inputs;
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_sequence_empty_attrs {
    const char *name;
    poprt_optional_int dtype; /* default 0 */
} poprt_sequence_empty_attrs;

/* SequenceEmpty, ai.onnx 11. */
static inline poprt_id poprt_op_sequence_empty(poprt_builder *builder,
    const poprt_sequence_empty_attrs *attrs)
{
    poprt_attr list[1];
    uint32_t n = 0;
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "dtype", attrs->dtype);
    }
    const poprt_builder_op_info op = poprt_put_op("", "SequenceEmpty",
        attrs != NULL ? attrs->name : NULL, NULL, 0, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_sequence_erase_attrs {
    const char *name;
} poprt_sequence_erase_attrs;

/* SequenceErase, ai.onnx 11. */
static inline poprt_id poprt_op_sequence_erase(poprt_builder *builder, poprt_id input_sequence,
    poprt_id position, const poprt_sequence_erase_attrs *attrs)
{
    const poprt_id in[] = { input_sequence, position };
    const poprt_builder_op_info op = poprt_put_op("", "SequenceErase",
        attrs != NULL ? attrs->name : NULL, in, 2, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_sequence_insert_attrs {
    const char *name;
} poprt_sequence_insert_attrs;

/* SequenceInsert, ai.onnx 11. */
static inline poprt_id poprt_op_sequence_insert(poprt_builder *builder, poprt_id input_sequence,
    poprt_id tensor, poprt_id position, const poprt_sequence_insert_attrs *attrs)
{
    const poprt_id in[] = { input_sequence, tensor, position };
    const poprt_builder_op_info op = poprt_put_op("", "SequenceInsert",
        attrs != NULL ? attrs->name : NULL, in, 3, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_sequence_length_attrs {
    const char *name;
} poprt_sequence_length_attrs;

/* SequenceLength, ai.onnx 11. */
static inline poprt_id poprt_op_sequence_length(poprt_builder *builder, poprt_id input_sequence,
    const poprt_sequence_length_attrs *attrs)
{
    const poprt_id in[] = { input_sequence };
    const poprt_builder_op_info op = poprt_put_op("", "SequenceLength",
        attrs != NULL ? attrs->name : NULL, in, 1, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_sequence_map_attrs {
    const char *name;
    const poprt_builder *body;
} poprt_sequence_map_attrs;

/* SequenceMap, ai.onnx 17. Outputs: out_sequence.... */
static inline poprt_id poprt_op_sequence_map(poprt_builder *builder, poprt_id input_sequence,
    uint32_t n_additional_inputs, const poprt_id *additional_inputs,
    const poprt_sequence_map_attrs *attrs, uint32_t n_out, poprt_id *out)
{
    poprt_attr list[1];
    uint32_t n = 0;
    const poprt_id in[] = { input_sequence };
    if (attrs != NULL) {
        n = poprt_put_object(list, n, "body", POPRT_ATTR_GRAPH, attrs->body);
    }
    poprt_builder_op_info op = poprt_put_op("", "SequenceMap", attrs != NULL ? attrs->name : NULL,
        in, 1, list, n);
    op.more_inputs = additional_inputs;
    op.n_more_inputs = n_additional_inputs;
    op.n_outputs = n_out;
    return poprt_builder_op(builder, &op, out);
}

typedef struct poprt_shape_attrs {
    const char *name;
    poprt_optional_int end; /* default 0 */
    poprt_optional_int start; /* default 0 */
} poprt_shape_attrs;

/* Shape, ai.onnx 1, 13, 15, 19, 21, 23, 24, 25. */
static inline poprt_id poprt_op_shape(poprt_builder *builder, poprt_id data,
    const poprt_shape_attrs *attrs)
{
    poprt_attr list[2];
    uint32_t n = 0;
    const poprt_id in[] = { data };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "end", attrs->end);
        n = poprt_put_int(list, n, "start", attrs->start);
    }
    const poprt_builder_op_info op = poprt_put_op("", "Shape", attrs != NULL ? attrs->name : NULL,
        in, 1, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_shrink_attrs {
    const char *name;
    poprt_optional_float bias; /* default 0 */
    poprt_optional_float lambd; /* default 0.5 */
} poprt_shrink_attrs;

/* Shrink, ai.onnx 9. */
static inline poprt_id poprt_op_shrink(poprt_builder *builder, poprt_id input,
    const poprt_shrink_attrs *attrs)
{
    poprt_attr list[2];
    uint32_t n = 0;
    const poprt_id in[] = { input };
    if (attrs != NULL) {
        n = poprt_put_float(list, n, "bias", attrs->bias);
        n = poprt_put_float(list, n, "lambd", attrs->lambd);
    }
    const poprt_builder_op_info op = poprt_put_op("", "Shrink", attrs != NULL ? attrs->name : NULL,
        in, 1, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_sigmoid_attrs {
    const char *name;
} poprt_sigmoid_attrs;

/* Sigmoid, ai.onnx 1, 6, 13. */
static inline poprt_id poprt_op_sigmoid(poprt_builder *builder, poprt_id x,
    const poprt_sigmoid_attrs *attrs)
{
    const poprt_id in[] = { x };
    const poprt_builder_op_info op = poprt_put_op("", "Sigmoid",
        attrs != NULL ? attrs->name : NULL, in, 1, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_sign_attrs {
    const char *name;
} poprt_sign_attrs;

/* Sign, ai.onnx 9, 13. */
static inline poprt_id poprt_op_sign(poprt_builder *builder, poprt_id input,
    const poprt_sign_attrs *attrs)
{
    const poprt_id in[] = { input };
    const poprt_builder_op_info op = poprt_put_op("", "Sign", attrs != NULL ? attrs->name : NULL,
        in, 1, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_sin_attrs {
    const char *name;
} poprt_sin_attrs;

/* Sin, ai.onnx 7, 22. */
static inline poprt_id poprt_op_sin(poprt_builder *builder, poprt_id input,
    const poprt_sin_attrs *attrs)
{
    const poprt_id in[] = { input };
    const poprt_builder_op_info op = poprt_put_op("", "Sin", attrs != NULL ? attrs->name : NULL,
        in, 1, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_sinh_attrs {
    const char *name;
} poprt_sinh_attrs;

/* Sinh, ai.onnx 9, 22. */
static inline poprt_id poprt_op_sinh(poprt_builder *builder, poprt_id input,
    const poprt_sinh_attrs *attrs)
{
    const poprt_id in[] = { input };
    const poprt_builder_op_info op = poprt_put_op("", "Sinh", attrs != NULL ? attrs->name : NULL,
        in, 1, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_size_attrs {
    const char *name;
} poprt_size_attrs;

/* Size, ai.onnx 1, 13, 19, 21, 23, 24, 25. */
static inline poprt_id poprt_op_size(poprt_builder *builder, poprt_id data,
    const poprt_size_attrs *attrs)
{
    const poprt_id in[] = { data };
    const poprt_builder_op_info op = poprt_put_op("", "Size", attrs != NULL ? attrs->name : NULL,
        in, 1, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_slice_attrs {
    const char *name;
    poprt_int_list axes; /* until opset 9 */
    poprt_int_list ends; /* until opset 9 */
    poprt_int_list starts; /* until opset 9 */
} poprt_slice_attrs;

/* Slice, ai.onnx 1, 10, 11, 13. */
static inline poprt_id poprt_op_slice(poprt_builder *builder, poprt_id data, poprt_id starts,
    poprt_id ends, poprt_id axes, poprt_id steps, const poprt_slice_attrs *attrs)
{
    poprt_attr list[3];
    uint32_t n = 0;
    const poprt_id in[] = { data, starts, ends, axes, steps };
    if (attrs != NULL) {
        n = poprt_put_ints(list, n, "axes", attrs->axes);
        n = poprt_put_ints(list, n, "ends", attrs->ends);
        n = poprt_put_ints(list, n, "starts", attrs->starts);
    }
    const poprt_builder_op_info op = poprt_put_op("", "Slice", attrs != NULL ? attrs->name : NULL,
        in, 5, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_softmax_attrs {
    const char *name;
    poprt_optional_int axis; /* default -1 */
} poprt_softmax_attrs;

/* Softmax, ai.onnx 1, 11, 13. */
static inline poprt_id poprt_op_softmax(poprt_builder *builder, poprt_id input,
    const poprt_softmax_attrs *attrs)
{
    poprt_attr list[1];
    uint32_t n = 0;
    const poprt_id in[] = { input };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "axis", attrs->axis);
    }
    const poprt_builder_op_info op = poprt_put_op("", "Softmax",
        attrs != NULL ? attrs->name : NULL, in, 1, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_softmax_cross_entropy_loss_attrs {
    const char *name;
    poprt_optional_int ignore_index; /* default 0 */
    const char *reduction; /* default mean */
} poprt_softmax_cross_entropy_loss_attrs;

/* SoftmaxCrossEntropyLoss, ai.onnx 12, 13. Outputs: output, log_prob. */
static inline poprt_id poprt_op_softmax_cross_entropy_loss(poprt_builder *builder, poprt_id scores,
    poprt_id labels, poprt_id weights, const poprt_softmax_cross_entropy_loss_attrs *attrs,
    uint32_t n_out, poprt_id *out)
{
    poprt_attr list[2];
    uint32_t n = 0;
    const poprt_id in[] = { scores, labels, weights };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "ignore_index", attrs->ignore_index);
        n = poprt_put_string(list, n, "reduction", attrs->reduction);
    }
    poprt_builder_op_info op = poprt_put_op("", "SoftmaxCrossEntropyLoss",
        attrs != NULL ? attrs->name : NULL, in, 3, list, n);
    op.n_outputs = n_out;
    return poprt_builder_op(builder, &op, out);
}

typedef struct poprt_softplus_attrs {
    const char *name;
} poprt_softplus_attrs;

/* Softplus, ai.onnx 1, 22. */
static inline poprt_id poprt_op_softplus(poprt_builder *builder, poprt_id x,
    const poprt_softplus_attrs *attrs)
{
    const poprt_id in[] = { x };
    const poprt_builder_op_info op = poprt_put_op("", "Softplus",
        attrs != NULL ? attrs->name : NULL, in, 1, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_softsign_attrs {
    const char *name;
} poprt_softsign_attrs;

/* Softsign, ai.onnx 1, 22. */
static inline poprt_id poprt_op_softsign(poprt_builder *builder, poprt_id input,
    const poprt_softsign_attrs *attrs)
{
    const poprt_id in[] = { input };
    const poprt_builder_op_info op = poprt_put_op("", "Softsign",
        attrs != NULL ? attrs->name : NULL, in, 1, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_space_to_depth_attrs {
    const char *name;
    const char *mode; /* default DCR */
    poprt_optional_int blocksize; /* default 0 */
} poprt_space_to_depth_attrs;

/* SpaceToDepth, ai.onnx 1, 13, 28. */
static inline poprt_id poprt_op_space_to_depth(poprt_builder *builder, poprt_id input,
    const poprt_space_to_depth_attrs *attrs)
{
    poprt_attr list[2];
    uint32_t n = 0;
    const poprt_id in[] = { input };
    if (attrs != NULL) {
        n = poprt_put_string(list, n, "mode", attrs->mode);
        n = poprt_put_int(list, n, "blocksize", attrs->blocksize);
    }
    const poprt_builder_op_info op = poprt_put_op("", "SpaceToDepth",
        attrs != NULL ? attrs->name : NULL, in, 1, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_split_attrs {
    const char *name;
    poprt_optional_int num_outputs; /* default 0 */
    poprt_optional_int axis; /* default 0 */
    poprt_int_list split; /* until opset 12 */
} poprt_split_attrs;

/* Split, ai.onnx 1, 2, 11, 13, 18. Outputs: outputs.... */
static inline poprt_id poprt_op_split(poprt_builder *builder, poprt_id input, poprt_id split,
    const poprt_split_attrs *attrs, uint32_t n_out, poprt_id *out)
{
    poprt_attr list[3];
    uint32_t n = 0;
    const poprt_id in[] = { input, split };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "num_outputs", attrs->num_outputs);
        n = poprt_put_int(list, n, "axis", attrs->axis);
        n = poprt_put_ints(list, n, "split", attrs->split);
    }
    poprt_builder_op_info op = poprt_put_op("", "Split", attrs != NULL ? attrs->name : NULL, in, 2,
        list, n);
    op.n_outputs = n_out;
    return poprt_builder_op(builder, &op, out);
}

typedef struct poprt_split_to_sequence_attrs {
    const char *name;
    poprt_optional_int axis; /* default 0 */
    poprt_optional_int keepdims; /* default 1 */
} poprt_split_to_sequence_attrs;

/* SplitToSequence, ai.onnx 11, 24. */
static inline poprt_id poprt_op_split_to_sequence(poprt_builder *builder, poprt_id input,
    poprt_id split, const poprt_split_to_sequence_attrs *attrs)
{
    poprt_attr list[2];
    uint32_t n = 0;
    const poprt_id in[] = { input, split };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "axis", attrs->axis);
        n = poprt_put_int(list, n, "keepdims", attrs->keepdims);
    }
    const poprt_builder_op_info op = poprt_put_op("", "SplitToSequence",
        attrs != NULL ? attrs->name : NULL, in, 2, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_sqrt_attrs {
    const char *name;
} poprt_sqrt_attrs;

/* Sqrt, ai.onnx 1, 6, 13. */
static inline poprt_id poprt_op_sqrt(poprt_builder *builder, poprt_id x,
    const poprt_sqrt_attrs *attrs)
{
    const poprt_id in[] = { x };
    const poprt_builder_op_info op = poprt_put_op("", "Sqrt", attrs != NULL ? attrs->name : NULL,
        in, 1, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_squeeze_attrs {
    const char *name;
    poprt_int_list axes; /* until opset 12 */
} poprt_squeeze_attrs;

/* Squeeze, ai.onnx 1, 11, 13, 21, 23, 24, 25. */
static inline poprt_id poprt_op_squeeze(poprt_builder *builder, poprt_id data, poprt_id axes,
    const poprt_squeeze_attrs *attrs)
{
    poprt_attr list[1];
    uint32_t n = 0;
    const poprt_id in[] = { data, axes };
    if (attrs != NULL) {
        n = poprt_put_ints(list, n, "axes", attrs->axes);
    }
    const poprt_builder_op_info op = poprt_put_op("", "Squeeze",
        attrs != NULL ? attrs->name : NULL, in, 2, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_stft_attrs {
    const char *name;
    poprt_optional_int onesided; /* default 1 */
} poprt_stft_attrs;

/* STFT, ai.onnx 17. */
static inline poprt_id poprt_op_stft(poprt_builder *builder, poprt_id signal, poprt_id frame_step,
    poprt_id window, poprt_id frame_length, const poprt_stft_attrs *attrs)
{
    poprt_attr list[1];
    uint32_t n = 0;
    const poprt_id in[] = { signal, frame_step, window, frame_length };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "onesided", attrs->onesided);
    }
    const poprt_builder_op_info op = poprt_put_op("", "STFT", attrs != NULL ? attrs->name : NULL,
        in, 4, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_string_concat_attrs {
    const char *name;
} poprt_string_concat_attrs;

/* StringConcat, ai.onnx 20. */
static inline poprt_id poprt_op_string_concat(poprt_builder *builder, poprt_id x, poprt_id y,
    const poprt_string_concat_attrs *attrs)
{
    const poprt_id in[] = { x, y };
    const poprt_builder_op_info op = poprt_put_op("", "StringConcat",
        attrs != NULL ? attrs->name : NULL, in, 2, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_string_normalizer_attrs {
    const char *name;
    poprt_string_list stopwords;
    const char *locale;
    poprt_optional_int is_case_sensitive; /* default 0 */
    const char *case_change_action; /* default NONE */
} poprt_string_normalizer_attrs;

/* StringNormalizer, ai.onnx 10. */
static inline poprt_id poprt_op_string_normalizer(poprt_builder *builder, poprt_id x,
    const poprt_string_normalizer_attrs *attrs)
{
    poprt_attr list[4];
    uint32_t n = 0;
    const poprt_id in[] = { x };
    if (attrs != NULL) {
        n = poprt_put_strings(list, n, "stopwords", attrs->stopwords);
        n = poprt_put_string(list, n, "locale", attrs->locale);
        n = poprt_put_int(list, n, "is_case_sensitive", attrs->is_case_sensitive);
        n = poprt_put_string(list, n, "case_change_action", attrs->case_change_action);
    }
    const poprt_builder_op_info op = poprt_put_op("", "StringNormalizer",
        attrs != NULL ? attrs->name : NULL, in, 1, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_string_split_attrs {
    const char *name;
    const char *delimiter;
    poprt_optional_int maxsplit; /* default 0 */
} poprt_string_split_attrs;

/* StringSplit, ai.onnx 20. Outputs: Y, Z. */
static inline poprt_id poprt_op_string_split(poprt_builder *builder, poprt_id x,
    const poprt_string_split_attrs *attrs, uint32_t n_out, poprt_id *out)
{
    poprt_attr list[2];
    uint32_t n = 0;
    const poprt_id in[] = { x };
    if (attrs != NULL) {
        n = poprt_put_string(list, n, "delimiter", attrs->delimiter);
        n = poprt_put_int(list, n, "maxsplit", attrs->maxsplit);
    }
    poprt_builder_op_info op = poprt_put_op("", "StringSplit", attrs != NULL ? attrs->name : NULL,
        in, 1, list, n);
    op.n_outputs = n_out;
    return poprt_builder_op(builder, &op, out);
}

typedef struct poprt_sub_attrs {
    const char *name;
    poprt_optional_int axis; /* until opset 6 */
    poprt_optional_int broadcast; /* until opset 6 */
} poprt_sub_attrs;

/* Sub, ai.onnx 1, 6, 7, 13, 14. */
static inline poprt_id poprt_op_sub(poprt_builder *builder, poprt_id a, poprt_id b,
    const poprt_sub_attrs *attrs)
{
    poprt_attr list[2];
    uint32_t n = 0;
    const poprt_id in[] = { a, b };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "axis", attrs->axis);
        n = poprt_put_int(list, n, "broadcast", attrs->broadcast);
    }
    const poprt_builder_op_info op = poprt_put_op("", "Sub", attrs != NULL ? attrs->name : NULL,
        in, 2, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_sum_attrs {
    const char *name;
} poprt_sum_attrs;

/* Sum, ai.onnx 1, 6, 8, 13. */
static inline poprt_id poprt_op_sum(poprt_builder *builder, uint32_t n_data_0,
    const poprt_id *data_0, const poprt_sum_attrs *attrs)
{
    poprt_builder_op_info op = poprt_put_op("", "Sum", attrs != NULL ? attrs->name : NULL, NULL, 0,
        NULL, 0);
    op.more_inputs = data_0;
    op.n_more_inputs = n_data_0;
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_swi_glu_attrs {
    const char *name;
    poprt_optional_float alpha; /* default 1 */
} poprt_swi_glu_attrs;

/* SwiGLU, ai.onnx 28. */
static inline poprt_id poprt_op_swi_glu(poprt_builder *builder, poprt_id a, poprt_id b,
    const poprt_swi_glu_attrs *attrs)
{
    poprt_attr list[1];
    uint32_t n = 0;
    const poprt_id in[] = { a, b };
    if (attrs != NULL) {
        n = poprt_put_float(list, n, "alpha", attrs->alpha);
    }
    const poprt_builder_op_info op = poprt_put_op("", "SwiGLU", attrs != NULL ? attrs->name : NULL,
        in, 2, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_swish_attrs {
    const char *name;
    poprt_optional_float alpha; /* default 1 */
} poprt_swish_attrs;

/* Swish, ai.onnx 24. */
static inline poprt_id poprt_op_swish(poprt_builder *builder, poprt_id x,
    const poprt_swish_attrs *attrs)
{
    poprt_attr list[1];
    uint32_t n = 0;
    const poprt_id in[] = { x };
    if (attrs != NULL) {
        n = poprt_put_float(list, n, "alpha", attrs->alpha);
    }
    const poprt_builder_op_info op = poprt_put_op("", "Swish", attrs != NULL ? attrs->name : NULL,
        in, 1, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_tan_attrs {
    const char *name;
} poprt_tan_attrs;

/* Tan, ai.onnx 7, 22. */
static inline poprt_id poprt_op_tan(poprt_builder *builder, poprt_id input,
    const poprt_tan_attrs *attrs)
{
    const poprt_id in[] = { input };
    const poprt_builder_op_info op = poprt_put_op("", "Tan", attrs != NULL ? attrs->name : NULL,
        in, 1, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_tanh_attrs {
    const char *name;
} poprt_tanh_attrs;

/* Tanh, ai.onnx 1, 6, 13. */
static inline poprt_id poprt_op_tanh(poprt_builder *builder, poprt_id input,
    const poprt_tanh_attrs *attrs)
{
    const poprt_id in[] = { input };
    const poprt_builder_op_info op = poprt_put_op("", "Tanh", attrs != NULL ? attrs->name : NULL,
        in, 1, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_tensor_scatter_attrs {
    const char *name;
    const char *mode; /* default linear */
    poprt_optional_int axis; /* default -2 */
} poprt_tensor_scatter_attrs;

/* TensorScatter, ai.onnx 24. */
static inline poprt_id poprt_op_tensor_scatter(poprt_builder *builder, poprt_id past_cache,
    poprt_id update, poprt_id write_indices, const poprt_tensor_scatter_attrs *attrs)
{
    poprt_attr list[2];
    uint32_t n = 0;
    const poprt_id in[] = { past_cache, update, write_indices };
    if (attrs != NULL) {
        n = poprt_put_string(list, n, "mode", attrs->mode);
        n = poprt_put_int(list, n, "axis", attrs->axis);
    }
    const poprt_builder_op_info op = poprt_put_op("", "TensorScatter",
        attrs != NULL ? attrs->name : NULL, in, 3, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_tf_idf_vectorizer_attrs {
    const char *name;
    const char *mode;
    poprt_optional_int min_gram_length; /* default 0 */
    poprt_optional_int max_gram_length; /* default 0 */
    poprt_optional_int max_skip_count; /* default 0 */
    poprt_int_list ngram_counts;
    poprt_int_list ngram_indexes;
    poprt_int_list pool_int64s;
    poprt_string_list pool_strings;
    poprt_float_list weights;
} poprt_tf_idf_vectorizer_attrs;

/* TfIdfVectorizer, ai.onnx 9. */
static inline poprt_id poprt_op_tf_idf_vectorizer(poprt_builder *builder, poprt_id x,
    const poprt_tf_idf_vectorizer_attrs *attrs)
{
    poprt_attr list[9];
    uint32_t n = 0;
    const poprt_id in[] = { x };
    if (attrs != NULL) {
        n = poprt_put_string(list, n, "mode", attrs->mode);
        n = poprt_put_int(list, n, "min_gram_length", attrs->min_gram_length);
        n = poprt_put_int(list, n, "max_gram_length", attrs->max_gram_length);
        n = poprt_put_int(list, n, "max_skip_count", attrs->max_skip_count);
        n = poprt_put_ints(list, n, "ngram_counts", attrs->ngram_counts);
        n = poprt_put_ints(list, n, "ngram_indexes", attrs->ngram_indexes);
        n = poprt_put_ints(list, n, "pool_int64s", attrs->pool_int64s);
        n = poprt_put_strings(list, n, "pool_strings", attrs->pool_strings);
        n = poprt_put_floats(list, n, "weights", attrs->weights);
    }
    const poprt_builder_op_info op = poprt_put_op("", "TfIdfVectorizer",
        attrs != NULL ? attrs->name : NULL, in, 1, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_thresholded_relu_attrs {
    const char *name;
    poprt_optional_float alpha; /* default 1 */
} poprt_thresholded_relu_attrs;

/* ThresholdedRelu, ai.onnx 10, 22. */
static inline poprt_id poprt_op_thresholded_relu(poprt_builder *builder, poprt_id x,
    const poprt_thresholded_relu_attrs *attrs)
{
    poprt_attr list[1];
    uint32_t n = 0;
    const poprt_id in[] = { x };
    if (attrs != NULL) {
        n = poprt_put_float(list, n, "alpha", attrs->alpha);
    }
    const poprt_builder_op_info op = poprt_put_op("", "ThresholdedRelu",
        attrs != NULL ? attrs->name : NULL, in, 1, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_tile_attrs {
    const char *name;
} poprt_tile_attrs;

/* Tile, ai.onnx 1, 6, 13. */
static inline poprt_id poprt_op_tile(poprt_builder *builder, poprt_id input, poprt_id repeats,
    const poprt_tile_attrs *attrs)
{
    const poprt_id in[] = { input, repeats };
    const poprt_builder_op_info op = poprt_put_op("", "Tile", attrs != NULL ? attrs->name : NULL,
        in, 2, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_topk_attrs {
    const char *name;
    poprt_optional_int sorted; /* default 1 */
    poprt_optional_int largest; /* default 1 */
    poprt_optional_int axis; /* default -1 */
    poprt_optional_int k; /* until opset 9 */
} poprt_topk_attrs;

/* TopK, ai.onnx 1, 10, 11, 24. Outputs: Values, Indices. */
static inline poprt_id poprt_op_topk(poprt_builder *builder, poprt_id x, poprt_id k,
    const poprt_topk_attrs *attrs, uint32_t n_out, poprt_id *out)
{
    poprt_attr list[4];
    uint32_t n = 0;
    const poprt_id in[] = { x, k };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "sorted", attrs->sorted);
        n = poprt_put_int(list, n, "largest", attrs->largest);
        n = poprt_put_int(list, n, "axis", attrs->axis);
        n = poprt_put_int(list, n, "k", attrs->k);
    }
    poprt_builder_op_info op = poprt_put_op("", "TopK", attrs != NULL ? attrs->name : NULL, in, 2,
        list, n);
    op.n_outputs = n_out;
    return poprt_builder_op(builder, &op, out);
}

typedef struct poprt_transpose_attrs {
    const char *name;
    poprt_int_list perm;
} poprt_transpose_attrs;

/* Transpose, ai.onnx 1, 13, 21, 23, 24, 25. */
static inline poprt_id poprt_op_transpose(poprt_builder *builder, poprt_id data,
    const poprt_transpose_attrs *attrs)
{
    poprt_attr list[1];
    uint32_t n = 0;
    const poprt_id in[] = { data };
    if (attrs != NULL) {
        n = poprt_put_ints(list, n, "perm", attrs->perm);
    }
    const poprt_builder_op_info op = poprt_put_op("", "Transpose",
        attrs != NULL ? attrs->name : NULL, in, 1, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_trilu_attrs {
    const char *name;
    poprt_optional_int upper; /* default 1 */
} poprt_trilu_attrs;

/* Trilu, ai.onnx 14. */
static inline poprt_id poprt_op_trilu(poprt_builder *builder, poprt_id input, poprt_id k,
    const poprt_trilu_attrs *attrs)
{
    poprt_attr list[1];
    uint32_t n = 0;
    const poprt_id in[] = { input, k };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "upper", attrs->upper);
    }
    const poprt_builder_op_info op = poprt_put_op("", "Trilu", attrs != NULL ? attrs->name : NULL,
        in, 2, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_unique_attrs {
    const char *name;
    poprt_optional_int axis; /* default 0 */
    poprt_optional_int sorted; /* default 1 */
} poprt_unique_attrs;

/* Unique, ai.onnx 11, 28. Outputs: Y, indices, inverse_indices, counts. */
static inline poprt_id poprt_op_unique(poprt_builder *builder, poprt_id x,
    const poprt_unique_attrs *attrs, uint32_t n_out, poprt_id *out)
{
    poprt_attr list[2];
    uint32_t n = 0;
    const poprt_id in[] = { x };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "axis", attrs->axis);
        n = poprt_put_int(list, n, "sorted", attrs->sorted);
    }
    poprt_builder_op_info op = poprt_put_op("", "Unique", attrs != NULL ? attrs->name : NULL, in,
        1, list, n);
    op.n_outputs = n_out;
    return poprt_builder_op(builder, &op, out);
}

typedef struct poprt_unsqueeze_attrs {
    const char *name;
    poprt_int_list axes; /* until opset 12 */
} poprt_unsqueeze_attrs;

/* Unsqueeze, ai.onnx 1, 11, 13, 21, 23, 24, 25. */
static inline poprt_id poprt_op_unsqueeze(poprt_builder *builder, poprt_id data, poprt_id axes,
    const poprt_unsqueeze_attrs *attrs)
{
    poprt_attr list[1];
    uint32_t n = 0;
    const poprt_id in[] = { data, axes };
    if (attrs != NULL) {
        n = poprt_put_ints(list, n, "axes", attrs->axes);
    }
    const poprt_builder_op_info op = poprt_put_op("", "Unsqueeze",
        attrs != NULL ? attrs->name : NULL, in, 2, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_upsample_attrs {
    const char *name;
    poprt_optional_float height_scale; /* until opset 6 */
    const char *mode;
    poprt_optional_float width_scale; /* until opset 6 */
    poprt_float_list scales; /* until opset 8 */
} poprt_upsample_attrs;

/* Upsample, ai.onnx 1, 7, 9. */
static inline poprt_id poprt_op_upsample(poprt_builder *builder, poprt_id x, poprt_id scales,
    const poprt_upsample_attrs *attrs)
{
    poprt_attr list[4];
    uint32_t n = 0;
    const poprt_id in[] = { x, scales };
    if (attrs != NULL) {
        n = poprt_put_float(list, n, "height_scale", attrs->height_scale);
        n = poprt_put_string(list, n, "mode", attrs->mode);
        n = poprt_put_float(list, n, "width_scale", attrs->width_scale);
        n = poprt_put_floats(list, n, "scales", attrs->scales);
    }
    const poprt_builder_op_info op = poprt_put_op("", "Upsample",
        attrs != NULL ? attrs->name : NULL, in, 2, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_where_attrs {
    const char *name;
} poprt_where_attrs;

/* Where, ai.onnx 9, 16. */
static inline poprt_id poprt_op_where(poprt_builder *builder, poprt_id condition, poprt_id x,
    poprt_id y, const poprt_where_attrs *attrs)
{
    const poprt_id in[] = { condition, x, y };
    const poprt_builder_op_info op = poprt_put_op("", "Where", attrs != NULL ? attrs->name : NULL,
        in, 3, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_xor_attrs {
    const char *name;
    poprt_optional_int axis; /* until opset 6 */
    poprt_optional_int broadcast; /* until opset 6 */
} poprt_xor_attrs;

/* Xor, ai.onnx 1, 7. */
static inline poprt_id poprt_op_xor(poprt_builder *builder, poprt_id a, poprt_id b,
    const poprt_xor_attrs *attrs)
{
    poprt_attr list[2];
    uint32_t n = 0;
    const poprt_id in[] = { a, b };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "axis", attrs->axis);
        n = poprt_put_int(list, n, "broadcast", attrs->broadcast);
    }
    const poprt_builder_op_info op = poprt_put_op("", "Xor", attrs != NULL ? attrs->name : NULL,
        in, 2, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_flex_attention_attrs {
    const char *name;
    const poprt_builder *score_mod;
    const poprt_builder *prob_mod;
    poprt_optional_int softmax_precision; /* default 0 */
    poprt_optional_float scale; /* default 0 */
} poprt_flex_attention_attrs;

/* FlexAttention, ai.onnx.preview 1. */
static inline poprt_id poprt_op_flex_attention(poprt_builder *builder, poprt_id q, poprt_id k,
    poprt_id v, const poprt_flex_attention_attrs *attrs)
{
    poprt_attr list[4];
    uint32_t n = 0;
    const poprt_id in[] = { q, k, v };
    if (attrs != NULL) {
        n = poprt_put_object(list, n, "score_mod", POPRT_ATTR_GRAPH, attrs->score_mod);
        n = poprt_put_object(list, n, "prob_mod", POPRT_ATTR_GRAPH, attrs->prob_mod);
        n = poprt_put_int(list, n, "softmax_precision", attrs->softmax_precision);
        n = poprt_put_float(list, n, "scale", attrs->scale);
    }
    const poprt_builder_op_info op = poprt_put_op("ai.onnx.preview", "FlexAttention",
        attrs != NULL ? attrs->name : NULL, in, 3, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_adagrad_attrs {
    const char *name;
    poprt_optional_float norm_coefficient; /* default 0 */
    poprt_optional_float decay_factor; /* default 0 */
    poprt_optional_float epsilon; /* default 9.99999997e-07 */
} poprt_adagrad_attrs;

/* Adagrad, ai.onnx.preview.training 1. Outputs: outputs.... */
static inline poprt_id poprt_op_adagrad(poprt_builder *builder, poprt_id r, poprt_id t,
    uint32_t n_inputs, const poprt_id *inputs, const poprt_adagrad_attrs *attrs, uint32_t n_out,
    poprt_id *out)
{
    poprt_attr list[3];
    uint32_t n = 0;
    const poprt_id in[] = { r, t };
    if (attrs != NULL) {
        n = poprt_put_float(list, n, "norm_coefficient", attrs->norm_coefficient);
        n = poprt_put_float(list, n, "decay_factor", attrs->decay_factor);
        n = poprt_put_float(list, n, "epsilon", attrs->epsilon);
    }
    poprt_builder_op_info op = poprt_put_op("ai.onnx.preview.training", "Adagrad",
        attrs != NULL ? attrs->name : NULL, in, 2, list, n);
    op.more_inputs = inputs;
    op.n_more_inputs = n_inputs;
    op.n_outputs = n_out;
    return poprt_builder_op(builder, &op, out);
}

typedef struct poprt_adam_attrs {
    const char *name;
    poprt_optional_float epsilon; /* default 9.99999997e-07 */
    poprt_optional_float norm_coefficient_post; /* default 0 */
    poprt_optional_float norm_coefficient; /* default 0 */
    poprt_optional_float beta; /* default 0.999000013 */
    poprt_optional_float alpha; /* default 0.899999976 */
} poprt_adam_attrs;

/* Adam, ai.onnx.preview.training 1. Outputs: outputs.... */
static inline poprt_id poprt_op_adam(poprt_builder *builder, poprt_id r, poprt_id t,
    uint32_t n_inputs, const poprt_id *inputs, const poprt_adam_attrs *attrs, uint32_t n_out,
    poprt_id *out)
{
    poprt_attr list[5];
    uint32_t n = 0;
    const poprt_id in[] = { r, t };
    if (attrs != NULL) {
        n = poprt_put_float(list, n, "epsilon", attrs->epsilon);
        n = poprt_put_float(list, n, "norm_coefficient_post", attrs->norm_coefficient_post);
        n = poprt_put_float(list, n, "norm_coefficient", attrs->norm_coefficient);
        n = poprt_put_float(list, n, "beta", attrs->beta);
        n = poprt_put_float(list, n, "alpha", attrs->alpha);
    }
    poprt_builder_op_info op = poprt_put_op("ai.onnx.preview.training", "Adam",
        attrs != NULL ? attrs->name : NULL, in, 2, list, n);
    op.more_inputs = inputs;
    op.n_more_inputs = n_inputs;
    op.n_outputs = n_out;
    return poprt_builder_op(builder, &op, out);
}

typedef struct poprt_momentum_attrs {
    const char *name;
    poprt_optional_float norm_coefficient; /* default 0 */
    poprt_optional_float beta; /* default 0 */
    const char *mode;
    poprt_optional_float alpha; /* default 0 */
} poprt_momentum_attrs;

/* Momentum, ai.onnx.preview.training 1. Outputs: outputs.... */
static inline poprt_id poprt_op_momentum(poprt_builder *builder, poprt_id r, poprt_id t,
    uint32_t n_inputs, const poprt_id *inputs, const poprt_momentum_attrs *attrs, uint32_t n_out,
    poprt_id *out)
{
    poprt_attr list[4];
    uint32_t n = 0;
    const poprt_id in[] = { r, t };
    if (attrs != NULL) {
        n = poprt_put_float(list, n, "norm_coefficient", attrs->norm_coefficient);
        n = poprt_put_float(list, n, "beta", attrs->beta);
        n = poprt_put_string(list, n, "mode", attrs->mode);
        n = poprt_put_float(list, n, "alpha", attrs->alpha);
    }
    poprt_builder_op_info op = poprt_put_op("ai.onnx.preview.training", "Momentum",
        attrs != NULL ? attrs->name : NULL, in, 2, list, n);
    op.more_inputs = inputs;
    op.n_more_inputs = n_inputs;
    op.n_outputs = n_out;
    return poprt_builder_op(builder, &op, out);
}

#ifdef __cplusplus
}
#endif
#endif
