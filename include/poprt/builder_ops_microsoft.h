/* SPDX-License-Identifier: MIT */
/*
 * poprt/builder_ops_microsoft.h — operators of com.microsoft.
 * See poprt/builder_ops.h. Made by tests/builder/ops.py.
 */
#ifndef POPRT_BUILDER_OPS_MICROSOFT_H
#define POPRT_BUILDER_OPS_MICROSOFT_H

#include "poprt/builder_ops.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct poprt_ms_attention_attrs {
    const char *name;
    poprt_optional_int do_rotary; /* default 0 */
    poprt_optional_float mask_filter_value; /* default -10000 */
    poprt_optional_int num_heads; /* default 0 */
    poprt_optional_int past_present_share_buffer; /* default 0 */
    poprt_int_list qkv_hidden_sizes;
    poprt_optional_int rotary_embedding_dim; /* default 0 */
    poprt_optional_float scale; /* default 0 */
    poprt_optional_int unidirectional; /* default 0 */
} poprt_ms_attention_attrs;

/* Attention, com.microsoft 1. Outputs: output, present. */
static inline poprt_id poprt_op_ms_attention(poprt_builder *builder, poprt_id input,
    poprt_id weights, poprt_id bias, poprt_id mask_index, poprt_id past, poprt_id attention_bias,
    poprt_id past_sequence_length, const poprt_ms_attention_attrs *attrs, uint32_t n_out,
    poprt_id *out)
{
    poprt_attr list[8];
    uint32_t n = 0;
    const poprt_id in[] = { input, weights, bias, mask_index, past, attention_bias,
        past_sequence_length };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "do_rotary", attrs->do_rotary);
        n = poprt_put_float(list, n, "mask_filter_value", attrs->mask_filter_value);
        n = poprt_put_int(list, n, "num_heads", attrs->num_heads);
        n = poprt_put_int(list, n, "past_present_share_buffer", attrs->past_present_share_buffer);
        n = poprt_put_ints(list, n, "qkv_hidden_sizes", attrs->qkv_hidden_sizes);
        n = poprt_put_int(list, n, "rotary_embedding_dim", attrs->rotary_embedding_dim);
        n = poprt_put_float(list, n, "scale", attrs->scale);
        n = poprt_put_int(list, n, "unidirectional", attrs->unidirectional);
    }
    poprt_builder_op_info op = poprt_put_op("com.microsoft", "Attention",
        attrs != NULL ? attrs->name : NULL, in, 7, list, n);
    op.n_outputs = n_out;
    return poprt_builder_op(builder, &op, out);
}

typedef struct poprt_ms_attn_lstm_attrs {
    const char *name;
    poprt_float_list activation_alpha;
    poprt_float_list activation_beta;
    poprt_string_list activations;
    poprt_optional_float clip; /* default 0 */
    const char *direction; /* default forward */
    poprt_optional_int hidden_size; /* default 0 */
    poprt_optional_int input_forget; /* default 0 */
} poprt_ms_attn_lstm_attrs;

/* AttnLSTM, com.microsoft 1. Outputs: Y, Y_h, Y_c. */
static inline poprt_id poprt_op_ms_attn_lstm(poprt_builder *builder, poprt_id x, poprt_id w,
    poprt_id r, poprt_id b, poprt_id sequence_lens, poprt_id initial_h, poprt_id initial_c,
    poprt_id p, poprt_id qw, poprt_id mw, poprt_id v, poprt_id m, poprt_id memory_seq_lens,
    poprt_id aw, const poprt_ms_attn_lstm_attrs *attrs, uint32_t n_out, poprt_id *out)
{
    poprt_attr list[7];
    uint32_t n = 0;
    const poprt_id in[] = { x, w, r, b, sequence_lens, initial_h, initial_c, p, qw, mw, v, m,
        memory_seq_lens, aw };
    if (attrs != NULL) {
        n = poprt_put_floats(list, n, "activation_alpha", attrs->activation_alpha);
        n = poprt_put_floats(list, n, "activation_beta", attrs->activation_beta);
        n = poprt_put_strings(list, n, "activations", attrs->activations);
        n = poprt_put_float(list, n, "clip", attrs->clip);
        n = poprt_put_string(list, n, "direction", attrs->direction);
        n = poprt_put_int(list, n, "hidden_size", attrs->hidden_size);
        n = poprt_put_int(list, n, "input_forget", attrs->input_forget);
    }
    poprt_builder_op_info op = poprt_put_op("com.microsoft", "AttnLSTM",
        attrs != NULL ? attrs->name : NULL, in, 14, list, n);
    op.n_outputs = n_out;
    return poprt_builder_op(builder, &op, out);
}

typedef struct poprt_ms_beam_search_attrs {
    const char *name;
    const poprt_builder *decoder;
    const poprt_builder *encoder;
    const poprt_builder *init_decoder;
    poprt_optional_int eos_token_id; /* default 0 */
    poprt_optional_int pad_token_id; /* default 0 */
    poprt_optional_int decoder_start_token_id; /* default -1 */
    poprt_optional_int model_type; /* default 0 */
    poprt_optional_int no_repeat_ngram_size; /* default 0 */
    poprt_optional_int vocab_size; /* default -1 */
    poprt_optional_int early_stopping; /* default 0 */
} poprt_ms_beam_search_attrs;

/* BeamSearch, com.microsoft 1. Outputs: sequences, sequences_scores, scores. */
static inline poprt_id poprt_op_ms_beam_search(poprt_builder *builder, poprt_id input_ids,
    poprt_id max_length, poprt_id min_length, poprt_id num_beams, poprt_id num_return_sequences,
    poprt_id length_penalty, poprt_id repetition_penalty, poprt_id vocab_mask,
    poprt_id prefix_vocab_mask, poprt_id attention_mask, poprt_id decoder_input_ids,
    poprt_id logits_processor, const poprt_ms_beam_search_attrs *attrs, uint32_t n_out,
    poprt_id *out)
{
    poprt_attr list[10];
    uint32_t n = 0;
    const poprt_id in[] = { input_ids, max_length, min_length, num_beams, num_return_sequences,
        length_penalty, repetition_penalty, vocab_mask, prefix_vocab_mask, attention_mask,
        decoder_input_ids, logits_processor };
    if (attrs != NULL) {
        n = poprt_put_object(list, n, "decoder", POPRT_ATTR_GRAPH, attrs->decoder);
        n = poprt_put_object(list, n, "encoder", POPRT_ATTR_GRAPH, attrs->encoder);
        n = poprt_put_object(list, n, "init_decoder", POPRT_ATTR_GRAPH, attrs->init_decoder);
        n = poprt_put_int(list, n, "eos_token_id", attrs->eos_token_id);
        n = poprt_put_int(list, n, "pad_token_id", attrs->pad_token_id);
        n = poprt_put_int(list, n, "decoder_start_token_id", attrs->decoder_start_token_id);
        n = poprt_put_int(list, n, "model_type", attrs->model_type);
        n = poprt_put_int(list, n, "no_repeat_ngram_size", attrs->no_repeat_ngram_size);
        n = poprt_put_int(list, n, "vocab_size", attrs->vocab_size);
        n = poprt_put_int(list, n, "early_stopping", attrs->early_stopping);
    }
    poprt_builder_op_info op = poprt_put_op("com.microsoft", "BeamSearch",
        attrs != NULL ? attrs->name : NULL, in, 12, list, n);
    op.n_outputs = n_out;
    return poprt_builder_op(builder, &op, out);
}

typedef struct poprt_ms_bias_add_attrs {
    const char *name;
} poprt_ms_bias_add_attrs;

/* BiasAdd, com.microsoft 1. */
static inline poprt_id poprt_op_ms_bias_add(poprt_builder *builder, poprt_id x, poprt_id bias,
    poprt_id skip, const poprt_ms_bias_add_attrs *attrs)
{
    const poprt_id in[] = { x, bias, skip };
    const poprt_builder_op_info op = poprt_put_op("com.microsoft", "BiasAdd",
        attrs != NULL ? attrs->name : NULL, in, 3, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_ms_bias_dropout_attrs {
    const char *name;
    poprt_optional_int seed; /* default 0 */
} poprt_ms_bias_dropout_attrs;

/* BiasDropout, com.microsoft 1. Outputs: output, mask. */
static inline poprt_id poprt_op_ms_bias_dropout(poprt_builder *builder, poprt_id data,
    poprt_id bias, poprt_id residual, poprt_id ratio, poprt_id training_mode,
    const poprt_ms_bias_dropout_attrs *attrs, uint32_t n_out, poprt_id *out)
{
    poprt_attr list[1];
    uint32_t n = 0;
    const poprt_id in[] = { data, bias, residual, ratio, training_mode };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "seed", attrs->seed);
    }
    poprt_builder_op_info op = poprt_put_op("com.microsoft", "BiasDropout",
        attrs != NULL ? attrs->name : NULL, in, 5, list, n);
    op.n_outputs = n_out;
    return poprt_builder_op(builder, &op, out);
}

typedef struct poprt_ms_bias_gelu_attrs {
    const char *name;
} poprt_ms_bias_gelu_attrs;

/* BiasGelu, com.microsoft 1. */
static inline poprt_id poprt_op_ms_bias_gelu(poprt_builder *builder, poprt_id a, poprt_id b,
    const poprt_ms_bias_gelu_attrs *attrs)
{
    const poprt_id in[] = { a, b };
    const poprt_builder_op_info op = poprt_put_op("com.microsoft", "BiasGelu",
        attrs != NULL ? attrs->name : NULL, in, 2, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_ms_bias_softmax_attrs {
    const char *name;
    poprt_optional_int axis; /* default 1 */
    poprt_optional_int is_inner_broadcast; /* default 0 */
} poprt_ms_bias_softmax_attrs;

/* BiasSoftmax, com.microsoft 1. */
static inline poprt_id poprt_op_ms_bias_softmax(poprt_builder *builder, poprt_id data,
    poprt_id bias, const poprt_ms_bias_softmax_attrs *attrs)
{
    poprt_attr list[2];
    uint32_t n = 0;
    const poprt_id in[] = { data, bias };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "axis", attrs->axis);
        n = poprt_put_int(list, n, "is_inner_broadcast", attrs->is_inner_broadcast);
    }
    const poprt_builder_op_info op = poprt_put_op("com.microsoft", "BiasSoftmax",
        attrs != NULL ? attrs->name : NULL, in, 2, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_ms_bias_split_gelu_attrs {
    const char *name;
} poprt_ms_bias_split_gelu_attrs;

/* BiasSplitGelu, com.microsoft 1. */
static inline poprt_id poprt_op_ms_bias_split_gelu(poprt_builder *builder, poprt_id x,
    poprt_id bias, const poprt_ms_bias_split_gelu_attrs *attrs)
{
    const poprt_id in[] = { x, bias };
    const poprt_builder_op_info op = poprt_put_op("com.microsoft", "BiasSplitGelu",
        attrs != NULL ? attrs->name : NULL, in, 2, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_ms_bifurcation_detector_attrs {
    const char *name;
    poprt_optional_int max_ngram_size; /* default 3 */
    poprt_optional_int min_ngram_size; /* default 1 */
} poprt_ms_bifurcation_detector_attrs;

/* BifurcationDetector, com.microsoft 1. Outputs: tokens, suffix_match_idx. */
static inline poprt_id poprt_op_ms_bifurcation_detector(poprt_builder *builder,
    poprt_id src_tokens, poprt_id cur_tokens, poprt_id prev_suffix_match_idx, poprt_id pred_tokens,
    const poprt_ms_bifurcation_detector_attrs *attrs, uint32_t n_out, poprt_id *out)
{
    poprt_attr list[2];
    uint32_t n = 0;
    const poprt_id in[] = { src_tokens, cur_tokens, prev_suffix_match_idx, pred_tokens };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "max_ngram_size", attrs->max_ngram_size);
        n = poprt_put_int(list, n, "min_ngram_size", attrs->min_ngram_size);
    }
    poprt_builder_op_info op = poprt_put_op("com.microsoft", "BifurcationDetector",
        attrs != NULL ? attrs->name : NULL, in, 4, list, n);
    op.n_outputs = n_out;
    return poprt_builder_op(builder, &op, out);
}

typedef struct poprt_ms_bitmask_bias_dropout_attrs {
    const char *name;
    poprt_optional_int seed; /* default 0 */
} poprt_ms_bitmask_bias_dropout_attrs;

/* BitmaskBiasDropout, com.microsoft 1. Outputs: output, mask. */
static inline poprt_id poprt_op_ms_bitmask_bias_dropout(poprt_builder *builder, poprt_id data,
    poprt_id bias, poprt_id residual, poprt_id ratio, poprt_id training_mode,
    const poprt_ms_bitmask_bias_dropout_attrs *attrs, uint32_t n_out, poprt_id *out)
{
    poprt_attr list[1];
    uint32_t n = 0;
    const poprt_id in[] = { data, bias, residual, ratio, training_mode };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "seed", attrs->seed);
    }
    poprt_builder_op_info op = poprt_put_op("com.microsoft", "BitmaskBiasDropout",
        attrs != NULL ? attrs->name : NULL, in, 5, list, n);
    op.n_outputs = n_out;
    return poprt_builder_op(builder, &op, out);
}

typedef struct poprt_ms_bitmask_dropout_attrs {
    const char *name;
    poprt_optional_int seed; /* default 0 */
} poprt_ms_bitmask_dropout_attrs;

/* BitmaskDropout, com.microsoft 1. Outputs: output, mask. */
static inline poprt_id poprt_op_ms_bitmask_dropout(poprt_builder *builder, poprt_id data,
    poprt_id ratio, poprt_id training_mode, const poprt_ms_bitmask_dropout_attrs *attrs,
    uint32_t n_out, poprt_id *out)
{
    poprt_attr list[1];
    uint32_t n = 0;
    const poprt_id in[] = { data, ratio, training_mode };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "seed", attrs->seed);
    }
    poprt_builder_op_info op = poprt_put_op("com.microsoft", "BitmaskDropout",
        attrs != NULL ? attrs->name : NULL, in, 3, list, n);
    op.n_outputs = n_out;
    return poprt_builder_op(builder, &op, out);
}

typedef struct poprt_ms_branchwise_rms_norm_attrs {
    const char *name;
    poprt_optional_float epsilon; /* default 9.99999975e-06 */
    poprt_optional_int num_branches; /* default 0 */
} poprt_ms_branchwise_rms_norm_attrs;

/* BranchwiseRMSNorm, com.microsoft 1. */
static inline poprt_id poprt_op_ms_branchwise_rms_norm(poprt_builder *builder, poprt_id x,
    poprt_id scale, const poprt_ms_branchwise_rms_norm_attrs *attrs)
{
    poprt_attr list[2];
    uint32_t n = 0;
    const poprt_id in[] = { x, scale };
    if (attrs != NULL) {
        n = poprt_put_float(list, n, "epsilon", attrs->epsilon);
        n = poprt_put_int(list, n, "num_branches", attrs->num_branches);
    }
    const poprt_builder_op_info op = poprt_put_op("com.microsoft", "BranchwiseRMSNorm",
        attrs != NULL ? attrs->name : NULL, in, 2, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_ms_cdist_attrs {
    const char *name;
    const char *metric; /* default sqeuclidean */
} poprt_ms_cdist_attrs;

/* CDist, com.microsoft 1. */
static inline poprt_id poprt_op_ms_cdist(poprt_builder *builder, poprt_id a, poprt_id b,
    const poprt_ms_cdist_attrs *attrs)
{
    poprt_attr list[1];
    uint32_t n = 0;
    const poprt_id in[] = { a, b };
    if (attrs != NULL) {
        n = poprt_put_string(list, n, "metric", attrs->metric);
    }
    const poprt_builder_op_info op = poprt_put_op("com.microsoft", "CDist",
        attrs != NULL ? attrs->name : NULL, in, 2, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_ms_complex_mul_attrs {
    const char *name;
} poprt_ms_complex_mul_attrs;

/* ComplexMul, com.microsoft 1. */
static inline poprt_id poprt_op_ms_complex_mul(poprt_builder *builder, poprt_id a, poprt_id b,
    const poprt_ms_complex_mul_attrs *attrs)
{
    const poprt_id in[] = { a, b };
    const poprt_builder_op_info op = poprt_put_op("com.microsoft", "ComplexMul",
        attrs != NULL ? attrs->name : NULL, in, 2, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_ms_complex_mul_conj_attrs {
    const char *name;
} poprt_ms_complex_mul_conj_attrs;

/* ComplexMulConj, com.microsoft 1. */
static inline poprt_id poprt_op_ms_complex_mul_conj(poprt_builder *builder, poprt_id a, poprt_id b,
    const poprt_ms_complex_mul_conj_attrs *attrs)
{
    const poprt_id in[] = { a, b };
    const poprt_builder_op_info op = poprt_put_op("com.microsoft", "ComplexMulConj",
        attrs != NULL ? attrs->name : NULL, in, 2, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_ms_conv_transpose_with_dynamic_pads_attrs {
    const char *name;
    const char *auto_pad; /* default NOTSET */
    poprt_int_list dilations;
    poprt_optional_int group; /* default 1 */
    poprt_int_list kernel_shape;
    poprt_int_list output_padding;
    poprt_int_list strides;
} poprt_ms_conv_transpose_with_dynamic_pads_attrs;

/* ConvTransposeWithDynamicPads, com.microsoft 1. */
static inline poprt_id poprt_op_ms_conv_transpose_with_dynamic_pads(poprt_builder *builder,
    poprt_id x, poprt_id w, poprt_id pads, poprt_id b,
    const poprt_ms_conv_transpose_with_dynamic_pads_attrs *attrs)
{
    poprt_attr list[6];
    uint32_t n = 0;
    const poprt_id in[] = { x, w, pads, b };
    if (attrs != NULL) {
        n = poprt_put_string(list, n, "auto_pad", attrs->auto_pad);
        n = poprt_put_ints(list, n, "dilations", attrs->dilations);
        n = poprt_put_int(list, n, "group", attrs->group);
        n = poprt_put_ints(list, n, "kernel_shape", attrs->kernel_shape);
        n = poprt_put_ints(list, n, "output_padding", attrs->output_padding);
        n = poprt_put_ints(list, n, "strides", attrs->strides);
    }
    const poprt_builder_op_info op = poprt_put_op("com.microsoft", "ConvTransposeWithDynamicPads",
        attrs != NULL ? attrs->name : NULL, in, 4, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_ms_crop_and_resize_attrs {
    const char *name;
    poprt_optional_float extrapolation_value; /* default 0 */
    const char *mode; /* default bilinear */
} poprt_ms_crop_and_resize_attrs;

/* CropAndResize, com.microsoft 1. */
static inline poprt_id poprt_op_ms_crop_and_resize(poprt_builder *builder, poprt_id x,
    poprt_id rois, poprt_id batch_indices, poprt_id crop_size,
    const poprt_ms_crop_and_resize_attrs *attrs)
{
    poprt_attr list[2];
    uint32_t n = 0;
    const poprt_id in[] = { x, rois, batch_indices, crop_size };
    if (attrs != NULL) {
        n = poprt_put_float(list, n, "extrapolation_value", attrs->extrapolation_value);
        n = poprt_put_string(list, n, "mode", attrs->mode);
    }
    const poprt_builder_op_info op = poprt_put_op("com.microsoft", "CropAndResize",
        attrs != NULL ? attrs->name : NULL, in, 4, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_ms_decoder_attention_attrs {
    const char *name;
    poprt_optional_float mask_filter_value; /* default -10000 */
    poprt_optional_int num_heads; /* default 0 */
} poprt_ms_decoder_attention_attrs;

/* DecoderAttention, com.microsoft 1. Outputs: output, new_key_cache, new_value_cache. */
static inline poprt_id poprt_op_ms_decoder_attention(poprt_builder *builder, poprt_id query,
    poprt_id key, poprt_id q_weight, poprt_id kv_weight, poprt_id bias, poprt_id key_padding_mask,
    poprt_id key_cache, poprt_id value_cache, poprt_id static_kv, poprt_id use_past,
    poprt_id has_layer_state, poprt_id has_key_padding_mask,
    const poprt_ms_decoder_attention_attrs *attrs, uint32_t n_out, poprt_id *out)
{
    poprt_attr list[2];
    uint32_t n = 0;
    const poprt_id in[] = { query, key, q_weight, kv_weight, bias, key_padding_mask, key_cache,
        value_cache, static_kv, use_past, has_layer_state, has_key_padding_mask };
    if (attrs != NULL) {
        n = poprt_put_float(list, n, "mask_filter_value", attrs->mask_filter_value);
        n = poprt_put_int(list, n, "num_heads", attrs->num_heads);
    }
    poprt_builder_op_info op = poprt_put_op("com.microsoft", "DecoderAttention",
        attrs != NULL ? attrs->name : NULL, in, 12, list, n);
    op.n_outputs = n_out;
    return poprt_builder_op(builder, &op, out);
}

typedef struct poprt_ms_decoder_masked_multi_head_attention_attrs {
    const char *name;
    poprt_optional_float mask_filter_value; /* default -10000 */
    poprt_optional_int num_heads; /* default 0 */
    poprt_optional_int output_qk; /* default 0 */
    poprt_optional_int past_present_share_buffer; /* default 0 */
    poprt_optional_float scale; /* default 0 */
} poprt_ms_decoder_masked_multi_head_attention_attrs;

/* DecoderMaskedMultiHeadAttention, com.microsoft 1. Outputs: output, present_key, present_value,
 * qk. */
static inline poprt_id poprt_op_ms_decoder_masked_multi_head_attention(poprt_builder *builder,
    poprt_id query, poprt_id key, poprt_id value, poprt_id mask_index, poprt_id attention_bias,
    poprt_id past_key, poprt_id past_value, poprt_id past_sequence_length, poprt_id beam_width,
    poprt_id cache_indirection, poprt_id bias,
    const poprt_ms_decoder_masked_multi_head_attention_attrs *attrs, uint32_t n_out, poprt_id *out)
{
    poprt_attr list[5];
    uint32_t n = 0;
    const poprt_id in[] = { query, key, value, mask_index, attention_bias, past_key, past_value,
        past_sequence_length, beam_width, cache_indirection, bias };
    if (attrs != NULL) {
        n = poprt_put_float(list, n, "mask_filter_value", attrs->mask_filter_value);
        n = poprt_put_int(list, n, "num_heads", attrs->num_heads);
        n = poprt_put_int(list, n, "output_qk", attrs->output_qk);
        n = poprt_put_int(list, n, "past_present_share_buffer", attrs->past_present_share_buffer);
        n = poprt_put_float(list, n, "scale", attrs->scale);
    }
    poprt_builder_op_info op = poprt_put_op("com.microsoft", "DecoderMaskedMultiHeadAttention",
        attrs != NULL ? attrs->name : NULL, in, 11, list, n);
    op.n_outputs = n_out;
    return poprt_builder_op(builder, &op, out);
}

typedef struct poprt_ms_dequantize_with_order_attrs {
    const char *name;
    poprt_optional_int order_input; /* default 0 */
    poprt_optional_int order_output; /* default 0 */
    poprt_optional_int to; /* default 0 */
} poprt_ms_dequantize_with_order_attrs;

/* DequantizeWithOrder, com.microsoft 1. */
static inline poprt_id poprt_op_ms_dequantize_with_order(poprt_builder *builder, poprt_id input,
    poprt_id scale_input, const poprt_ms_dequantize_with_order_attrs *attrs)
{
    poprt_attr list[3];
    uint32_t n = 0;
    const poprt_id in[] = { input, scale_input };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "order_input", attrs->order_input);
        n = poprt_put_int(list, n, "order_output", attrs->order_output);
        n = poprt_put_int(list, n, "to", attrs->to);
    }
    const poprt_builder_op_info op = poprt_put_op("com.microsoft", "DequantizeWithOrder",
        attrs != NULL ? attrs->name : NULL, in, 2, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_ms_dynamic_quantize_lstm_attrs {
    const char *name;
    poprt_float_list activation_alpha;
    poprt_float_list activation_beta;
    poprt_string_list activations;
    poprt_optional_float clip; /* default 0 */
    const char *direction; /* default forward */
    poprt_optional_int hidden_size; /* default 0 */
    poprt_optional_int input_forget; /* default 0 */
} poprt_ms_dynamic_quantize_lstm_attrs;

/* DynamicQuantizeLSTM, com.microsoft 1. Outputs: Y, Y_h, Y_c. */
static inline poprt_id poprt_op_ms_dynamic_quantize_lstm(poprt_builder *builder, poprt_id x,
    poprt_id w, poprt_id r, poprt_id b, poprt_id sequence_lens, poprt_id initial_h,
    poprt_id initial_c, poprt_id p, poprt_id w_scale, poprt_id w_zero_point, poprt_id r_scale,
    poprt_id r_zero_point, const poprt_ms_dynamic_quantize_lstm_attrs *attrs, uint32_t n_out,
    poprt_id *out)
{
    poprt_attr list[7];
    uint32_t n = 0;
    const poprt_id in[] = { x, w, r, b, sequence_lens, initial_h, initial_c, p, w_scale,
        w_zero_point, r_scale, r_zero_point };
    if (attrs != NULL) {
        n = poprt_put_floats(list, n, "activation_alpha", attrs->activation_alpha);
        n = poprt_put_floats(list, n, "activation_beta", attrs->activation_beta);
        n = poprt_put_strings(list, n, "activations", attrs->activations);
        n = poprt_put_float(list, n, "clip", attrs->clip);
        n = poprt_put_string(list, n, "direction", attrs->direction);
        n = poprt_put_int(list, n, "hidden_size", attrs->hidden_size);
        n = poprt_put_int(list, n, "input_forget", attrs->input_forget);
    }
    poprt_builder_op_info op = poprt_put_op("com.microsoft", "DynamicQuantizeLSTM",
        attrs != NULL ? attrs->name : NULL, in, 12, list, n);
    op.n_outputs = n_out;
    return poprt_builder_op(builder, &op, out);
}

typedef struct poprt_ms_dynamic_quantize_matmul_attrs {
    const char *name;
} poprt_ms_dynamic_quantize_matmul_attrs;

/* DynamicQuantizeMatMul, com.microsoft 1. */
static inline poprt_id poprt_op_ms_dynamic_quantize_matmul(poprt_builder *builder, poprt_id a,
    poprt_id b, poprt_id b_scale, poprt_id b_zero_point, poprt_id bias,
    const poprt_ms_dynamic_quantize_matmul_attrs *attrs)
{
    const poprt_id in[] = { a, b, b_scale, b_zero_point, bias };
    const poprt_builder_op_info op = poprt_put_op("com.microsoft", "DynamicQuantizeMatMul",
        attrs != NULL ? attrs->name : NULL, in, 5, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_ms_dynamic_time_warping_attrs {
    const char *name;
} poprt_ms_dynamic_time_warping_attrs;

/* DynamicTimeWarping, com.microsoft 1. */
static inline poprt_id poprt_op_ms_dynamic_time_warping(poprt_builder *builder, poprt_id input,
    const poprt_ms_dynamic_time_warping_attrs *attrs)
{
    const poprt_id in[] = { input };
    const poprt_builder_op_info op = poprt_put_op("com.microsoft", "DynamicTimeWarping",
        attrs != NULL ? attrs->name : NULL, in, 1, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_ms_embed_layer_normalization_attrs {
    const char *name;
    poprt_optional_float epsilon; /* default 9.99999996e-13 */
    poprt_optional_int mask_index_type; /* default 0 */
} poprt_ms_embed_layer_normalization_attrs;

/* EmbedLayerNormalization, com.microsoft 1. Outputs: output, mask_index, embedding_sum. */
static inline poprt_id poprt_op_ms_embed_layer_normalization(poprt_builder *builder,
    poprt_id input_ids, poprt_id segment_ids, poprt_id word_embedding, poprt_id position_embedding,
    poprt_id segment_embedding, poprt_id gamma, poprt_id beta, poprt_id mask,
    poprt_id position_ids, const poprt_ms_embed_layer_normalization_attrs *attrs, uint32_t n_out,
    poprt_id *out)
{
    poprt_attr list[2];
    uint32_t n = 0;
    const poprt_id in[] = { input_ids, segment_ids, word_embedding, position_embedding,
        segment_embedding, gamma, beta, mask, position_ids };
    if (attrs != NULL) {
        n = poprt_put_float(list, n, "epsilon", attrs->epsilon);
        n = poprt_put_int(list, n, "mask_index_type", attrs->mask_index_type);
    }
    poprt_builder_op_info op = poprt_put_op("com.microsoft", "EmbedLayerNormalization",
        attrs != NULL ? attrs->name : NULL, in, 9, list, n);
    op.n_outputs = n_out;
    return poprt_builder_op(builder, &op, out);
}

typedef struct poprt_ms_fast_gelu_attrs {
    const char *name;
} poprt_ms_fast_gelu_attrs;

/* FastGelu, com.microsoft 1. */
static inline poprt_id poprt_op_ms_fast_gelu(poprt_builder *builder, poprt_id x, poprt_id bias,
    const poprt_ms_fast_gelu_attrs *attrs)
{
    const poprt_id in[] = { x, bias };
    const poprt_builder_op_info op = poprt_put_op("com.microsoft", "FastGelu",
        attrs != NULL ? attrs->name : NULL, in, 2, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_ms_fused_conv_attrs {
    const char *name;
    const char *activation;
    poprt_float_list activation_params;
    const char *auto_pad; /* default NOTSET */
    poprt_int_list dilations;
    poprt_optional_int group; /* default 1 */
    poprt_int_list kernel_shape;
    poprt_int_list pads;
    poprt_int_list strides;
} poprt_ms_fused_conv_attrs;

/* FusedConv, com.microsoft 1. */
static inline poprt_id poprt_op_ms_fused_conv(poprt_builder *builder, poprt_id x, poprt_id w,
    poprt_id b, poprt_id z, const poprt_ms_fused_conv_attrs *attrs)
{
    poprt_attr list[8];
    uint32_t n = 0;
    const poprt_id in[] = { x, w, b, z };
    if (attrs != NULL) {
        n = poprt_put_string(list, n, "activation", attrs->activation);
        n = poprt_put_floats(list, n, "activation_params", attrs->activation_params);
        n = poprt_put_string(list, n, "auto_pad", attrs->auto_pad);
        n = poprt_put_ints(list, n, "dilations", attrs->dilations);
        n = poprt_put_int(list, n, "group", attrs->group);
        n = poprt_put_ints(list, n, "kernel_shape", attrs->kernel_shape);
        n = poprt_put_ints(list, n, "pads", attrs->pads);
        n = poprt_put_ints(list, n, "strides", attrs->strides);
    }
    const poprt_builder_op_info op = poprt_put_op("com.microsoft", "FusedConv",
        attrs != NULL ? attrs->name : NULL, in, 4, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_ms_fused_gemm_attrs {
    const char *name;
    const char *activation;
    poprt_optional_float activation_alpha; /* default 0 */
    poprt_optional_float activation_beta; /* default 0 */
    poprt_optional_float activation_gamma; /* default 0 */
    poprt_optional_float alpha; /* default 1 */
    poprt_optional_float beta; /* default 1 */
    poprt_optional_int transA; /* default 0 */
    poprt_optional_int transB; /* default 0 */
} poprt_ms_fused_gemm_attrs;

/* FusedGemm, com.microsoft 1. */
static inline poprt_id poprt_op_ms_fused_gemm(poprt_builder *builder, poprt_id a, poprt_id b,
    poprt_id c, const poprt_ms_fused_gemm_attrs *attrs)
{
    poprt_attr list[8];
    uint32_t n = 0;
    const poprt_id in[] = { a, b, c };
    if (attrs != NULL) {
        n = poprt_put_string(list, n, "activation", attrs->activation);
        n = poprt_put_float(list, n, "activation_alpha", attrs->activation_alpha);
        n = poprt_put_float(list, n, "activation_beta", attrs->activation_beta);
        n = poprt_put_float(list, n, "activation_gamma", attrs->activation_gamma);
        n = poprt_put_float(list, n, "alpha", attrs->alpha);
        n = poprt_put_float(list, n, "beta", attrs->beta);
        n = poprt_put_int(list, n, "transA", attrs->transA);
        n = poprt_put_int(list, n, "transB", attrs->transB);
    }
    const poprt_builder_op_info op = poprt_put_op("com.microsoft", "FusedGemm",
        attrs != NULL ? attrs->name : NULL, in, 3, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_ms_fused_matmul_attrs {
    const char *name;
    poprt_optional_float alpha; /* default 1 */
    poprt_optional_int transA; /* default 0 */
    poprt_optional_int transB; /* default 0 */
    poprt_optional_int transBatchA; /* default 0 */
    poprt_optional_int transBatchB; /* default 0 */
} poprt_ms_fused_matmul_attrs;

/* FusedMatMul, com.microsoft 1. */
static inline poprt_id poprt_op_ms_fused_matmul(poprt_builder *builder, poprt_id a, poprt_id b,
    const poprt_ms_fused_matmul_attrs *attrs)
{
    poprt_attr list[5];
    uint32_t n = 0;
    const poprt_id in[] = { a, b };
    if (attrs != NULL) {
        n = poprt_put_float(list, n, "alpha", attrs->alpha);
        n = poprt_put_int(list, n, "transA", attrs->transA);
        n = poprt_put_int(list, n, "transB", attrs->transB);
        n = poprt_put_int(list, n, "transBatchA", attrs->transBatchA);
        n = poprt_put_int(list, n, "transBatchB", attrs->transBatchB);
    }
    const poprt_builder_op_info op = poprt_put_op("com.microsoft", "FusedMatMul",
        attrs != NULL ? attrs->name : NULL, in, 2, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_ms_fused_matmul_activation_attrs {
    const char *name;
    const char *activation;
    poprt_optional_float activation_alpha; /* default 0 */
    poprt_optional_int activation_axis; /* default 0 */
    poprt_optional_float activation_beta; /* default 0 */
    poprt_optional_float activation_gamma; /* default 0 */
    poprt_optional_float alpha; /* default 1 */
    poprt_optional_int transA; /* default 0 */
    poprt_optional_int transB; /* default 0 */
    poprt_optional_int transBatchA; /* default 0 */
    poprt_optional_int transBatchB; /* default 0 */
} poprt_ms_fused_matmul_activation_attrs;

/* FusedMatMulActivation, com.microsoft 1. */
static inline poprt_id poprt_op_ms_fused_matmul_activation(poprt_builder *builder, poprt_id a,
    poprt_id b, const poprt_ms_fused_matmul_activation_attrs *attrs)
{
    poprt_attr list[10];
    uint32_t n = 0;
    const poprt_id in[] = { a, b };
    if (attrs != NULL) {
        n = poprt_put_string(list, n, "activation", attrs->activation);
        n = poprt_put_float(list, n, "activation_alpha", attrs->activation_alpha);
        n = poprt_put_int(list, n, "activation_axis", attrs->activation_axis);
        n = poprt_put_float(list, n, "activation_beta", attrs->activation_beta);
        n = poprt_put_float(list, n, "activation_gamma", attrs->activation_gamma);
        n = poprt_put_float(list, n, "alpha", attrs->alpha);
        n = poprt_put_int(list, n, "transA", attrs->transA);
        n = poprt_put_int(list, n, "transB", attrs->transB);
        n = poprt_put_int(list, n, "transBatchA", attrs->transBatchA);
        n = poprt_put_int(list, n, "transBatchB", attrs->transBatchB);
    }
    const poprt_builder_op_info op = poprt_put_op("com.microsoft", "FusedMatMulActivation",
        attrs != NULL ? attrs->name : NULL, in, 2, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_ms_gated_add_attrs {
    const char *name;
} poprt_ms_gated_add_attrs;

/* GatedAdd, com.microsoft 1. */
static inline poprt_id poprt_op_ms_gated_add(poprt_builder *builder, poprt_id x, poprt_id y,
    poprt_id gate, const poprt_ms_gated_add_attrs *attrs)
{
    const poprt_id in[] = { x, y, gate };
    const poprt_builder_op_info op = poprt_put_op("com.microsoft", "GatedAdd",
        attrs != NULL ? attrs->name : NULL, in, 3, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_ms_gated_relative_position_bias_attrs {
    const char *name;
    poprt_optional_int num_heads; /* default 0 */
} poprt_ms_gated_relative_position_bias_attrs;

/* GatedRelativePositionBias, com.microsoft 1. */
static inline poprt_id poprt_op_ms_gated_relative_position_bias(poprt_builder *builder,
    poprt_id query_layer, poprt_id query_bias, poprt_id rel_pos, poprt_id weight, poprt_id bias,
    poprt_id eco_a, poprt_id token_offset,
    const poprt_ms_gated_relative_position_bias_attrs *attrs)
{
    poprt_attr list[1];
    uint32_t n = 0;
    const poprt_id in[] = { query_layer, query_bias, rel_pos, weight, bias, eco_a, token_offset };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "num_heads", attrs->num_heads);
    }
    const poprt_builder_op_info op = poprt_put_op("com.microsoft", "GatedRelativePositionBias",
        attrs != NULL ? attrs->name : NULL, in, 7, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_ms_gated_rms_norm_attrs {
    const char *name;
    const char *activation; /* default silu */
    poprt_optional_float epsilon; /* default 9.99999975e-06 */
} poprt_ms_gated_rms_norm_attrs;

/* GatedRMSNorm, com.microsoft 1. */
static inline poprt_id poprt_op_ms_gated_rms_norm(poprt_builder *builder, poprt_id x,
    poprt_id scale, poprt_id gate, const poprt_ms_gated_rms_norm_attrs *attrs)
{
    poprt_attr list[2];
    uint32_t n = 0;
    const poprt_id in[] = { x, scale, gate };
    if (attrs != NULL) {
        n = poprt_put_string(list, n, "activation", attrs->activation);
        n = poprt_put_float(list, n, "epsilon", attrs->epsilon);
    }
    const poprt_builder_op_info op = poprt_put_op("com.microsoft", "GatedRMSNorm",
        attrs != NULL ? attrs->name : NULL, in, 3, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_ms_gather_block_quantized_attrs {
    const char *name;
    poprt_optional_int bits; /* default 4 */
    poprt_optional_int block_size; /* default 128 */
    poprt_optional_int gather_axis; /* default 0 */
    poprt_optional_int quantize_axis; /* default 1 */
} poprt_ms_gather_block_quantized_attrs;

/* GatherBlockQuantized, com.microsoft 1. */
static inline poprt_id poprt_op_ms_gather_block_quantized(poprt_builder *builder, poprt_id data,
    poprt_id indices, poprt_id scales, poprt_id zero_points,
    const poprt_ms_gather_block_quantized_attrs *attrs)
{
    poprt_attr list[4];
    uint32_t n = 0;
    const poprt_id in[] = { data, indices, scales, zero_points };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "bits", attrs->bits);
        n = poprt_put_int(list, n, "block_size", attrs->block_size);
        n = poprt_put_int(list, n, "gather_axis", attrs->gather_axis);
        n = poprt_put_int(list, n, "quantize_axis", attrs->quantize_axis);
    }
    const poprt_builder_op_info op = poprt_put_op("com.microsoft", "GatherBlockQuantized",
        attrs != NULL ? attrs->name : NULL, in, 4, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_ms_gemm_fast_gelu_attrs {
    const char *name;
} poprt_ms_gemm_fast_gelu_attrs;

/* GemmFastGelu, com.microsoft 1. */
static inline poprt_id poprt_op_ms_gemm_fast_gelu(poprt_builder *builder, poprt_id x, poprt_id w,
    poprt_id bias, const poprt_ms_gemm_fast_gelu_attrs *attrs)
{
    const poprt_id in[] = { x, w, bias };
    const poprt_builder_op_info op = poprt_put_op("com.microsoft", "GemmFastGelu",
        attrs != NULL ? attrs->name : NULL, in, 3, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_ms_gemm_float8_attrs {
    const char *name;
    const char *activation;
    poprt_optional_float alpha; /* default 1 */
    poprt_optional_float beta; /* default 0 */
    poprt_optional_int dtype; /* default 1 */
    poprt_optional_int transA; /* default 0 */
    poprt_optional_int transB; /* default 0 */
} poprt_ms_gemm_float8_attrs;

/* GemmFloat8, com.microsoft 1. */
static inline poprt_id poprt_op_ms_gemm_float8(poprt_builder *builder, poprt_id a, poprt_id b,
    poprt_id c, poprt_id scalea, poprt_id scaleb, poprt_id scaley,
    const poprt_ms_gemm_float8_attrs *attrs)
{
    poprt_attr list[6];
    uint32_t n = 0;
    const poprt_id in[] = { a, b, c, scalea, scaleb, scaley };
    if (attrs != NULL) {
        n = poprt_put_string(list, n, "activation", attrs->activation);
        n = poprt_put_float(list, n, "alpha", attrs->alpha);
        n = poprt_put_float(list, n, "beta", attrs->beta);
        n = poprt_put_int(list, n, "dtype", attrs->dtype);
        n = poprt_put_int(list, n, "transA", attrs->transA);
        n = poprt_put_int(list, n, "transB", attrs->transB);
    }
    const poprt_builder_op_info op = poprt_put_op("com.microsoft", "GemmFloat8",
        attrs != NULL ? attrs->name : NULL, in, 6, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_ms_gemma_rotary_embedding_attrs {
    const char *name;
} poprt_ms_gemma_rotary_embedding_attrs;

/* GemmaRotaryEmbedding, com.microsoft 1. Outputs: output1, output2. */
static inline poprt_id poprt_op_ms_gemma_rotary_embedding(poprt_builder *builder, poprt_id emb,
    poprt_id q, poprt_id q_rot, poprt_id k, poprt_id k_rot,
    const poprt_ms_gemma_rotary_embedding_attrs *attrs, uint32_t n_out, poprt_id *out)
{
    const poprt_id in[] = { emb, q, q_rot, k, k_rot };
    poprt_builder_op_info op = poprt_put_op("com.microsoft", "GemmaRotaryEmbedding",
        attrs != NULL ? attrs->name : NULL, in, 5, NULL, 0);
    op.n_outputs = n_out;
    return poprt_builder_op(builder, &op, out);
}

typedef struct poprt_ms_greedy_search_attrs {
    const char *name;
    const poprt_builder *decoder;
    const poprt_builder *encoder;
    const poprt_builder *init_decoder;
    poprt_optional_int eos_token_id; /* default 0 */
    poprt_optional_int pad_token_id; /* default 0 */
    poprt_optional_int decoder_start_token_id; /* default -1 */
    poprt_optional_int model_type; /* default 0 */
    poprt_optional_int no_repeat_ngram_size; /* default 0 */
    poprt_optional_int vocab_size; /* default -1 */
} poprt_ms_greedy_search_attrs;

/* GreedySearch, com.microsoft 1. */
static inline poprt_id poprt_op_ms_greedy_search(poprt_builder *builder, poprt_id input_ids,
    poprt_id max_length, poprt_id min_length, poprt_id repetition_penalty, poprt_id vocab_mask,
    poprt_id prefix_vocab_mask, poprt_id attention_mask, const poprt_ms_greedy_search_attrs *attrs)
{
    poprt_attr list[9];
    uint32_t n = 0;
    const poprt_id in[] = { input_ids, max_length, min_length, repetition_penalty, vocab_mask,
        prefix_vocab_mask, attention_mask };
    if (attrs != NULL) {
        n = poprt_put_object(list, n, "decoder", POPRT_ATTR_GRAPH, attrs->decoder);
        n = poprt_put_object(list, n, "encoder", POPRT_ATTR_GRAPH, attrs->encoder);
        n = poprt_put_object(list, n, "init_decoder", POPRT_ATTR_GRAPH, attrs->init_decoder);
        n = poprt_put_int(list, n, "eos_token_id", attrs->eos_token_id);
        n = poprt_put_int(list, n, "pad_token_id", attrs->pad_token_id);
        n = poprt_put_int(list, n, "decoder_start_token_id", attrs->decoder_start_token_id);
        n = poprt_put_int(list, n, "model_type", attrs->model_type);
        n = poprt_put_int(list, n, "no_repeat_ngram_size", attrs->no_repeat_ngram_size);
        n = poprt_put_int(list, n, "vocab_size", attrs->vocab_size);
    }
    const poprt_builder_op_info op = poprt_put_op("com.microsoft", "GreedySearch",
        attrs != NULL ? attrs->name : NULL, in, 7, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_ms_group_norm_attrs {
    const char *name;
    poprt_optional_int activation; /* default 0 */
    poprt_optional_int channels_last; /* default 1 */
    poprt_optional_float epsilon; /* default 9.99999975e-06 */
    poprt_optional_int groups; /* default 0 */
} poprt_ms_group_norm_attrs;

/* GroupNorm, com.microsoft 1. */
static inline poprt_id poprt_op_ms_group_norm(poprt_builder *builder, poprt_id x, poprt_id gamma,
    poprt_id beta, const poprt_ms_group_norm_attrs *attrs)
{
    poprt_attr list[4];
    uint32_t n = 0;
    const poprt_id in[] = { x, gamma, beta };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "activation", attrs->activation);
        n = poprt_put_int(list, n, "channels_last", attrs->channels_last);
        n = poprt_put_float(list, n, "epsilon", attrs->epsilon);
        n = poprt_put_int(list, n, "groups", attrs->groups);
    }
    const poprt_builder_op_info op = poprt_put_op("com.microsoft", "GroupNorm",
        attrs != NULL ? attrs->name : NULL, in, 3, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_ms_group_query_attention_attrs {
    const char *name;
    poprt_optional_int causal; /* default 1 */
    poprt_optional_int do_rotary; /* default 0 */
    const char *k_quant_type; /* default NONE */
    poprt_optional_int kv_cache_bit_width; /* default 0 */
    poprt_optional_int kv_num_heads; /* default 0 */
    poprt_optional_int local_window_size; /* default -1 */
    poprt_optional_int num_heads; /* default 0 */
    poprt_optional_float qk_norm_epsilon; /* default 9.99999997e-07 */
    poprt_optional_int qk_output; /* default 0 */
    poprt_optional_int rotary_interleaved; /* default 0 */
    poprt_optional_float scale; /* default 0 */
    poprt_optional_int sliding_window_cache; /* default 0 */
    poprt_optional_int smooth_softmax; /* default -1 */
    poprt_optional_float softcap; /* default 0 */
    const char *v_quant_type; /* default NONE */
} poprt_ms_group_query_attention_attrs;

/* GroupQueryAttention, com.microsoft 1. Outputs: output, present_key, present_value, output_qk. */
static inline poprt_id poprt_op_ms_group_query_attention(poprt_builder *builder, poprt_id query,
    poprt_id key, poprt_id value, poprt_id past_key, poprt_id past_value, poprt_id seqlens_k,
    poprt_id total_sequence_length, poprt_id cos_cache, poprt_id sin_cache, poprt_id position_ids,
    poprt_id attention_bias, poprt_id head_sink, poprt_id k_scale, poprt_id v_scale,
    poprt_id q_norm_weight, poprt_id k_norm_weight,
    const poprt_ms_group_query_attention_attrs *attrs, uint32_t n_out, poprt_id *out)
{
    poprt_attr list[15];
    uint32_t n = 0;
    const poprt_id in[] = { query, key, value, past_key, past_value, seqlens_k,
        total_sequence_length, cos_cache, sin_cache, position_ids, attention_bias, head_sink,
        k_scale, v_scale, q_norm_weight, k_norm_weight };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "causal", attrs->causal);
        n = poprt_put_int(list, n, "do_rotary", attrs->do_rotary);
        n = poprt_put_string(list, n, "k_quant_type", attrs->k_quant_type);
        n = poprt_put_int(list, n, "kv_cache_bit_width", attrs->kv_cache_bit_width);
        n = poprt_put_int(list, n, "kv_num_heads", attrs->kv_num_heads);
        n = poprt_put_int(list, n, "local_window_size", attrs->local_window_size);
        n = poprt_put_int(list, n, "num_heads", attrs->num_heads);
        n = poprt_put_float(list, n, "qk_norm_epsilon", attrs->qk_norm_epsilon);
        n = poprt_put_int(list, n, "qk_output", attrs->qk_output);
        n = poprt_put_int(list, n, "rotary_interleaved", attrs->rotary_interleaved);
        n = poprt_put_float(list, n, "scale", attrs->scale);
        n = poprt_put_int(list, n, "sliding_window_cache", attrs->sliding_window_cache);
        n = poprt_put_int(list, n, "smooth_softmax", attrs->smooth_softmax);
        n = poprt_put_float(list, n, "softcap", attrs->softcap);
        n = poprt_put_string(list, n, "v_quant_type", attrs->v_quant_type);
    }
    poprt_builder_op_info op = poprt_put_op("com.microsoft", "GroupQueryAttention",
        attrs != NULL ? attrs->name : NULL, in, 16, list, n);
    op.n_outputs = n_out;
    return poprt_builder_op(builder, &op, out);
}

typedef struct poprt_ms_inverse_attrs {
    const char *name;
} poprt_ms_inverse_attrs;

/* Inverse, com.microsoft 1. */
static inline poprt_id poprt_op_ms_inverse(poprt_builder *builder, poprt_id x,
    const poprt_ms_inverse_attrs *attrs)
{
    const poprt_id in[] = { x };
    const poprt_builder_op_info op = poprt_put_op("com.microsoft", "Inverse",
        attrs != NULL ? attrs->name : NULL, in, 1, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_ms_irfft_attrs {
    const char *name;
    poprt_optional_int normalized; /* default 0 */
    poprt_optional_int onesided; /* default 1 */
    poprt_optional_int signal_ndim; /* default 0 */
} poprt_ms_irfft_attrs;

/* Irfft, com.microsoft 1. */
static inline poprt_id poprt_op_ms_irfft(poprt_builder *builder, poprt_id x,
    const poprt_ms_irfft_attrs *attrs)
{
    poprt_attr list[3];
    uint32_t n = 0;
    const poprt_id in[] = { x };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "normalized", attrs->normalized);
        n = poprt_put_int(list, n, "onesided", attrs->onesided);
        n = poprt_put_int(list, n, "signal_ndim", attrs->signal_ndim);
    }
    const poprt_builder_op_info op = poprt_put_op("com.microsoft", "Irfft",
        attrs != NULL ? attrs->name : NULL, in, 1, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_ms_is_all_finite_attrs {
    const char *name;
    poprt_optional_int isinf_only; /* default 0 */
    poprt_optional_int isnan_only; /* default 0 */
} poprt_ms_is_all_finite_attrs;

/* IsAllFinite, com.microsoft 1. */
static inline poprt_id poprt_op_ms_is_all_finite(poprt_builder *builder, uint32_t n_input,
    const poprt_id *input, const poprt_ms_is_all_finite_attrs *attrs)
{
    poprt_attr list[2];
    uint32_t n = 0;
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "isinf_only", attrs->isinf_only);
        n = poprt_put_int(list, n, "isnan_only", attrs->isnan_only);
    }
    poprt_builder_op_info op = poprt_put_op("com.microsoft", "IsAllFinite",
        attrs != NULL ? attrs->name : NULL, NULL, 0, list, n);
    op.more_inputs = input;
    op.n_more_inputs = n_input;
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_ms_longformer_attention_attrs {
    const char *name;
    poprt_optional_int num_heads; /* default 0 */
    poprt_optional_int window; /* default 0 */
} poprt_ms_longformer_attention_attrs;

/* LongformerAttention, com.microsoft 1. */
static inline poprt_id poprt_op_ms_longformer_attention(poprt_builder *builder, poprt_id input,
    poprt_id weight, poprt_id bias, poprt_id mask, poprt_id global_weight, poprt_id global_bias,
    poprt_id global, const poprt_ms_longformer_attention_attrs *attrs)
{
    poprt_attr list[2];
    uint32_t n = 0;
    const poprt_id in[] = { input, weight, bias, mask, global_weight, global_bias, global };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "num_heads", attrs->num_heads);
        n = poprt_put_int(list, n, "window", attrs->window);
    }
    const poprt_builder_op_info op = poprt_put_op("com.microsoft", "LongformerAttention",
        attrs != NULL ? attrs->name : NULL, in, 7, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_ms_m_rotary_embedding_attrs {
    const char *name;
    poprt_optional_int interleaved; /* default 0 */
    poprt_optional_int is_packed_batching; /* default 0 */
    poprt_optional_int mrope_layout; /* default 0 */
    poprt_int_list mrope_section;
    poprt_optional_int num_heads; /* default 0 */
    poprt_optional_int rotary_embedding_dim; /* default 0 */
    poprt_optional_float scale; /* default 0 */
} poprt_ms_m_rotary_embedding_attrs;

/* MRotaryEmbedding, com.microsoft 1. */
static inline poprt_id poprt_op_ms_m_rotary_embedding(poprt_builder *builder, poprt_id input,
    poprt_id position_ids, poprt_id cos_cache, poprt_id sin_cache,
    const poprt_ms_m_rotary_embedding_attrs *attrs)
{
    poprt_attr list[7];
    uint32_t n = 0;
    const poprt_id in[] = { input, position_ids, cos_cache, sin_cache };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "interleaved", attrs->interleaved);
        n = poprt_put_int(list, n, "is_packed_batching", attrs->is_packed_batching);
        n = poprt_put_int(list, n, "mrope_layout", attrs->mrope_layout);
        n = poprt_put_ints(list, n, "mrope_section", attrs->mrope_section);
        n = poprt_put_int(list, n, "num_heads", attrs->num_heads);
        n = poprt_put_int(list, n, "rotary_embedding_dim", attrs->rotary_embedding_dim);
        n = poprt_put_float(list, n, "scale", attrs->scale);
    }
    const poprt_builder_op_info op = poprt_put_op("com.microsoft", "MRotaryEmbedding",
        attrs != NULL ? attrs->name : NULL, in, 4, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_ms_matmul_bnb4_attrs {
    const char *name;
    poprt_optional_int K; /* default 0 */
    poprt_optional_int N; /* default 0 */
    poprt_optional_int block_size; /* default 0 */
    poprt_optional_int quant_type; /* default 0 */
    poprt_optional_int training_mode; /* default 0 */
    poprt_optional_int transB; /* default 1 */
} poprt_ms_matmul_bnb4_attrs;

/* MatMulBnb4, com.microsoft 1. */
static inline poprt_id poprt_op_ms_matmul_bnb4(poprt_builder *builder, poprt_id a, poprt_id b,
    poprt_id absmax, const poprt_ms_matmul_bnb4_attrs *attrs)
{
    poprt_attr list[6];
    uint32_t n = 0;
    const poprt_id in[] = { a, b, absmax };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "K", attrs->K);
        n = poprt_put_int(list, n, "N", attrs->N);
        n = poprt_put_int(list, n, "block_size", attrs->block_size);
        n = poprt_put_int(list, n, "quant_type", attrs->quant_type);
        n = poprt_put_int(list, n, "training_mode", attrs->training_mode);
        n = poprt_put_int(list, n, "transB", attrs->transB);
    }
    const poprt_builder_op_info op = poprt_put_op("com.microsoft", "MatMulBnb4",
        attrs != NULL ? attrs->name : NULL, in, 3, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_ms_matmul_fp4_weight_attrs {
    const char *name;
    poprt_optional_int block_size; /* default 16 */
} poprt_ms_matmul_fp4_weight_attrs;

/* MatMulBlockQuantizedFp4Weight, com.microsoft 1. */
static inline poprt_id poprt_op_ms_matmul_fp4_weight(poprt_builder *builder, poprt_id a,
    poprt_id b, poprt_id weight_scale, poprt_id weight_scale_2, poprt_id input_scale,
    poprt_id bias, const poprt_ms_matmul_fp4_weight_attrs *attrs)
{
    poprt_attr list[1];
    uint32_t n = 0;
    const poprt_id in[] = { a, b, weight_scale, weight_scale_2, input_scale, bias };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "block_size", attrs->block_size);
    }
    const poprt_builder_op_info op = poprt_put_op("com.microsoft", "MatMulBlockQuantizedFp4Weight",
        attrs != NULL ? attrs->name : NULL, in, 6, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_ms_matmul_fp8_weight_attrs {
    const char *name;
    poprt_optional_int block_size; /* default 128 */
} poprt_ms_matmul_fp8_weight_attrs;

/* MatMulBlockQuantizedFp8Weight, com.microsoft 1. */
static inline poprt_id poprt_op_ms_matmul_fp8_weight(poprt_builder *builder, poprt_id a,
    poprt_id b, poprt_id b_scale, poprt_id a_scale, poprt_id bias,
    const poprt_ms_matmul_fp8_weight_attrs *attrs)
{
    poprt_attr list[1];
    uint32_t n = 0;
    const poprt_id in[] = { a, b, b_scale, a_scale, bias };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "block_size", attrs->block_size);
    }
    const poprt_builder_op_info op = poprt_put_op("com.microsoft", "MatMulBlockQuantizedFp8Weight",
        attrs != NULL ? attrs->name : NULL, in, 5, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_ms_matmul_fp_q4_attrs {
    const char *name;
    poprt_optional_int blk_quant_type; /* default 1 */
} poprt_ms_matmul_fp_q4_attrs;

/* MatMulFpQ4, com.microsoft 1. */
static inline poprt_id poprt_op_ms_matmul_fp_q4(poprt_builder *builder, poprt_id a, poprt_id b,
    poprt_id b_shape, const poprt_ms_matmul_fp_q4_attrs *attrs)
{
    poprt_attr list[1];
    uint32_t n = 0;
    const poprt_id in[] = { a, b, b_shape };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "blk_quant_type", attrs->blk_quant_type);
    }
    const poprt_builder_op_info op = poprt_put_op("com.microsoft", "MatMulFpQ4",
        attrs != NULL ? attrs->name : NULL, in, 3, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_ms_matmul_integer16_attrs {
    const char *name;
} poprt_ms_matmul_integer16_attrs;

/* MatMulInteger16, com.microsoft 1. */
static inline poprt_id poprt_op_ms_matmul_integer16(poprt_builder *builder, poprt_id a, poprt_id b,
    const poprt_ms_matmul_integer16_attrs *attrs)
{
    const poprt_id in[] = { a, b };
    const poprt_builder_op_info op = poprt_put_op("com.microsoft", "MatMulInteger16",
        attrs != NULL ? attrs->name : NULL, in, 2, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_ms_matmul_integer_to_float_attrs {
    const char *name;
} poprt_ms_matmul_integer_to_float_attrs;

/* MatMulIntegerToFloat, com.microsoft 1. */
static inline poprt_id poprt_op_ms_matmul_integer_to_float(poprt_builder *builder, poprt_id a,
    poprt_id b, poprt_id a_scale, poprt_id b_scale, poprt_id a_zero_point, poprt_id b_zero_point,
    poprt_id bias, const poprt_ms_matmul_integer_to_float_attrs *attrs)
{
    const poprt_id in[] = { a, b, a_scale, b_scale, a_zero_point, b_zero_point, bias };
    const poprt_builder_op_info op = poprt_put_op("com.microsoft", "MatMulIntegerToFloat",
        attrs != NULL ? attrs->name : NULL, in, 7, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_ms_matmul_n_bits_attrs {
    const char *name;
    poprt_optional_int K; /* default 0 */
    poprt_optional_int N; /* default 0 */
    poprt_optional_int accuracy_level; /* default 0 */
    poprt_optional_int bits; /* default 4 */
    poprt_optional_int block_size; /* default 0 */
    poprt_optional_int weight_prepacked; /* default 0 */
} poprt_ms_matmul_n_bits_attrs;

/* MatMulNBits, com.microsoft 1. */
static inline poprt_id poprt_op_ms_matmul_n_bits(poprt_builder *builder, poprt_id a, poprt_id b,
    poprt_id scales, poprt_id zero_points, poprt_id g_idx, poprt_id bias,
    const poprt_ms_matmul_n_bits_attrs *attrs)
{
    poprt_attr list[6];
    uint32_t n = 0;
    const poprt_id in[] = { a, b, scales, zero_points, g_idx, bias };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "K", attrs->K);
        n = poprt_put_int(list, n, "N", attrs->N);
        n = poprt_put_int(list, n, "accuracy_level", attrs->accuracy_level);
        n = poprt_put_int(list, n, "bits", attrs->bits);
        n = poprt_put_int(list, n, "block_size", attrs->block_size);
        n = poprt_put_int(list, n, "weight_prepacked", attrs->weight_prepacked);
    }
    const poprt_builder_op_info op = poprt_put_op("com.microsoft", "MatMulNBits",
        attrs != NULL ? attrs->name : NULL, in, 6, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_ms_matmul_n_bits_mlp_attrs {
    const char *name;
    poprt_optional_int K; /* default 0 */
    poprt_optional_int N; /* default 0 */
    poprt_optional_int accuracy_level; /* default 0 */
    const char *activation;
    poprt_optional_int bits; /* default 4 */
    poprt_optional_int block_size; /* default 0 */
    poprt_optional_float epsilon; /* default 9.99999975e-06 */
} poprt_ms_matmul_n_bits_mlp_attrs;

/* MatMulNBitsMlp, com.microsoft 1. Outputs: Y, input_skip_bias_sum. */
static inline poprt_id poprt_op_ms_matmul_n_bits_mlp(poprt_builder *builder, poprt_id a,
    poprt_id skip, poprt_id norm_scale, poprt_id gate_b, poprt_id gate_scales, poprt_id gate_bias,
    poprt_id up_b, poprt_id up_scales, poprt_id up_bias,
    const poprt_ms_matmul_n_bits_mlp_attrs *attrs, uint32_t n_out, poprt_id *out)
{
    poprt_attr list[7];
    uint32_t n = 0;
    const poprt_id in[] = { a, skip, norm_scale, gate_b, gate_scales, gate_bias, up_b, up_scales,
        up_bias };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "K", attrs->K);
        n = poprt_put_int(list, n, "N", attrs->N);
        n = poprt_put_int(list, n, "accuracy_level", attrs->accuracy_level);
        n = poprt_put_string(list, n, "activation", attrs->activation);
        n = poprt_put_int(list, n, "bits", attrs->bits);
        n = poprt_put_int(list, n, "block_size", attrs->block_size);
        n = poprt_put_float(list, n, "epsilon", attrs->epsilon);
    }
    poprt_builder_op_info op = poprt_put_op("com.microsoft", "MatMulNBitsMlp",
        attrs != NULL ? attrs->name : NULL, in, 9, list, n);
    op.n_outputs = n_out;
    return poprt_builder_op(builder, &op, out);
}

typedef struct poprt_ms_matmul_n_bits_qkv_attrs {
    const char *name;
    poprt_optional_int K; /* default 0 */
    poprt_optional_int Nkv; /* default 0 */
    poprt_optional_int Nq; /* default 0 */
    poprt_optional_int accuracy_level; /* default 0 */
    poprt_optional_int bits; /* default 4 */
    poprt_optional_int block_size; /* default 0 */
    poprt_optional_float epsilon; /* default 9.99999997e-07 */
} poprt_ms_matmul_n_bits_qkv_attrs;

/* MatMulNBitsQkv, com.microsoft 1. Outputs: Q, K, V, input_skip_bias_sum. */
static inline poprt_id poprt_op_ms_matmul_n_bits_qkv(poprt_builder *builder, poprt_id a,
    poprt_id skip, poprt_id norm_scale, poprt_id q_b, poprt_id q_scales, poprt_id q_bias,
    poprt_id k_b, poprt_id k_scales, poprt_id k_bias, poprt_id v_b, poprt_id v_scales,
    poprt_id v_bias, const poprt_ms_matmul_n_bits_qkv_attrs *attrs, uint32_t n_out, poprt_id *out)
{
    poprt_attr list[7];
    uint32_t n = 0;
    const poprt_id in[] = { a, skip, norm_scale, q_b, q_scales, q_bias, k_b, k_scales, k_bias, v_b,
        v_scales, v_bias };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "K", attrs->K);
        n = poprt_put_int(list, n, "Nkv", attrs->Nkv);
        n = poprt_put_int(list, n, "Nq", attrs->Nq);
        n = poprt_put_int(list, n, "accuracy_level", attrs->accuracy_level);
        n = poprt_put_int(list, n, "bits", attrs->bits);
        n = poprt_put_int(list, n, "block_size", attrs->block_size);
        n = poprt_put_float(list, n, "epsilon", attrs->epsilon);
    }
    poprt_builder_op_info op = poprt_put_op("com.microsoft", "MatMulNBitsQkv",
        attrs != NULL ? attrs->name : NULL, in, 12, list, n);
    op.n_outputs = n_out;
    return poprt_builder_op(builder, &op, out);
}

typedef struct poprt_ms_maxpool_with_mask_attrs {
    const char *name;
    const char *auto_pad; /* default NOTSET */
    poprt_int_list kernel_shape;
    poprt_int_list pads;
    poprt_optional_int storage_order; /* default 0 */
    poprt_int_list strides;
} poprt_ms_maxpool_with_mask_attrs;

/* MaxpoolWithMask, com.microsoft 1. */
static inline poprt_id poprt_op_ms_maxpool_with_mask(poprt_builder *builder, poprt_id x,
    poprt_id m, const poprt_ms_maxpool_with_mask_attrs *attrs)
{
    poprt_attr list[5];
    uint32_t n = 0;
    const poprt_id in[] = { x, m };
    if (attrs != NULL) {
        n = poprt_put_string(list, n, "auto_pad", attrs->auto_pad);
        n = poprt_put_ints(list, n, "kernel_shape", attrs->kernel_shape);
        n = poprt_put_ints(list, n, "pads", attrs->pads);
        n = poprt_put_int(list, n, "storage_order", attrs->storage_order);
        n = poprt_put_ints(list, n, "strides", attrs->strides);
    }
    const poprt_builder_op_info op = poprt_put_op("com.microsoft", "MaxpoolWithMask",
        attrs != NULL ? attrs->name : NULL, in, 2, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_ms_moe_attrs {
    const char *name;
    poprt_optional_float activation_alpha; /* default 1 */
    poprt_optional_float activation_beta; /* default 0 */
    const char *activation_type; /* default relu */
    poprt_optional_int k; /* default 1 */
    poprt_optional_int normalize_routing_weights; /* default 0 */
    poprt_optional_int swiglu_fusion; /* default 0 */
    poprt_optional_float swiglu_limit; /* default 0 */
    poprt_optional_int use_sparse_mixer; /* default 0 */
} poprt_ms_moe_attrs;

/* MoE, com.microsoft 1. */
static inline poprt_id poprt_op_ms_moe(poprt_builder *builder, poprt_id input,
    poprt_id router_probs, poprt_id fc1_experts_weights, poprt_id fc1_experts_bias,
    poprt_id fc2_experts_weights, poprt_id fc2_experts_bias, poprt_id fc3_experts_weights,
    poprt_id fc3_experts_bias, const poprt_ms_moe_attrs *attrs)
{
    poprt_attr list[8];
    uint32_t n = 0;
    const poprt_id in[] = { input, router_probs, fc1_experts_weights, fc1_experts_bias,
        fc2_experts_weights, fc2_experts_bias, fc3_experts_weights, fc3_experts_bias };
    if (attrs != NULL) {
        n = poprt_put_float(list, n, "activation_alpha", attrs->activation_alpha);
        n = poprt_put_float(list, n, "activation_beta", attrs->activation_beta);
        n = poprt_put_string(list, n, "activation_type", attrs->activation_type);
        n = poprt_put_int(list, n, "k", attrs->k);
        n = poprt_put_int(list, n, "normalize_routing_weights", attrs->normalize_routing_weights);
        n = poprt_put_int(list, n, "swiglu_fusion", attrs->swiglu_fusion);
        n = poprt_put_float(list, n, "swiglu_limit", attrs->swiglu_limit);
        n = poprt_put_int(list, n, "use_sparse_mixer", attrs->use_sparse_mixer);
    }
    const poprt_builder_op_info op = poprt_put_op("com.microsoft", "MoE",
        attrs != NULL ? attrs->name : NULL, in, 8, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_ms_mul_integer_attrs {
    const char *name;
} poprt_ms_mul_integer_attrs;

/* MulInteger, com.microsoft 1. */
static inline poprt_id poprt_op_ms_mul_integer(poprt_builder *builder, poprt_id a,
    poprt_id a_zero_point, poprt_id b, poprt_id b_zero_point,
    const poprt_ms_mul_integer_attrs *attrs)
{
    const poprt_id in[] = { a, a_zero_point, b, b_zero_point };
    const poprt_builder_op_info op = poprt_put_op("com.microsoft", "MulInteger",
        attrs != NULL ? attrs->name : NULL, in, 4, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_ms_multi_head_attention_attrs {
    const char *name;
    poprt_optional_float mask_filter_value; /* default -10000 */
    poprt_optional_int num_heads; /* default 0 */
    poprt_optional_float scale; /* default 0 */
    poprt_optional_int unidirectional; /* default 0 */
} poprt_ms_multi_head_attention_attrs;

/* MultiHeadAttention, com.microsoft 1. Outputs: output, present_key, present_value, qk. */
static inline poprt_id poprt_op_ms_multi_head_attention(poprt_builder *builder, poprt_id query,
    poprt_id key, poprt_id value, poprt_id bias, poprt_id key_padding_mask,
    poprt_id attention_bias, poprt_id past_key, poprt_id past_value, poprt_id past_sequence_length,
    poprt_id cache_indirection, const poprt_ms_multi_head_attention_attrs *attrs, uint32_t n_out,
    poprt_id *out)
{
    poprt_attr list[4];
    uint32_t n = 0;
    const poprt_id in[] = { query, key, value, bias, key_padding_mask, attention_bias, past_key,
        past_value, past_sequence_length, cache_indirection };
    if (attrs != NULL) {
        n = poprt_put_float(list, n, "mask_filter_value", attrs->mask_filter_value);
        n = poprt_put_int(list, n, "num_heads", attrs->num_heads);
        n = poprt_put_float(list, n, "scale", attrs->scale);
        n = poprt_put_int(list, n, "unidirectional", attrs->unidirectional);
    }
    poprt_builder_op_info op = poprt_put_op("com.microsoft", "MultiHeadAttention",
        attrs != NULL ? attrs->name : NULL, in, 10, list, n);
    op.n_outputs = n_out;
    return poprt_builder_op(builder, &op, out);
}

typedef struct poprt_ms_murmur_hash3_attrs {
    const char *name;
    poprt_optional_int positive; /* default 1 */
    poprt_optional_int seed; /* default 0 */
} poprt_ms_murmur_hash3_attrs;

/* MurmurHash3, com.microsoft 1. */
static inline poprt_id poprt_op_ms_murmur_hash3(poprt_builder *builder, poprt_id x,
    const poprt_ms_murmur_hash3_attrs *attrs)
{
    poprt_attr list[2];
    uint32_t n = 0;
    const poprt_id in[] = { x };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "positive", attrs->positive);
        n = poprt_put_int(list, n, "seed", attrs->seed);
    }
    const poprt_builder_op_info op = poprt_put_op("com.microsoft", "MurmurHash3",
        attrs != NULL ? attrs->name : NULL, in, 1, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_ms_ngram_repeat_block_attrs {
    const char *name;
    poprt_optional_int ngram_size; /* default 0 */
} poprt_ms_ngram_repeat_block_attrs;

/* NGramRepeatBlock, com.microsoft 1. */
static inline poprt_id poprt_op_ms_ngram_repeat_block(poprt_builder *builder, poprt_id input_ids,
    poprt_id scores, const poprt_ms_ngram_repeat_block_attrs *attrs)
{
    poprt_attr list[1];
    uint32_t n = 0;
    const poprt_id in[] = { input_ids, scores };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "ngram_size", attrs->ngram_size);
    }
    const poprt_builder_op_info op = poprt_put_op("com.microsoft", "NGramRepeatBlock",
        attrs != NULL ? attrs->name : NULL, in, 2, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_ms_packed_attention_attrs {
    const char *name;
    poprt_optional_int num_heads; /* default 0 */
    poprt_int_list qkv_hidden_sizes;
    poprt_optional_float scale; /* default 0 */
} poprt_ms_packed_attention_attrs;

/* PackedAttention, com.microsoft 1. */
static inline poprt_id poprt_op_ms_packed_attention(poprt_builder *builder, poprt_id input,
    poprt_id weights, poprt_id bias, poprt_id token_offset, poprt_id cumulative_sequence_length,
    poprt_id attention_bias, const poprt_ms_packed_attention_attrs *attrs)
{
    poprt_attr list[3];
    uint32_t n = 0;
    const poprt_id in[] = { input, weights, bias, token_offset, cumulative_sequence_length,
        attention_bias };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "num_heads", attrs->num_heads);
        n = poprt_put_ints(list, n, "qkv_hidden_sizes", attrs->qkv_hidden_sizes);
        n = poprt_put_float(list, n, "scale", attrs->scale);
    }
    const poprt_builder_op_info op = poprt_put_op("com.microsoft", "PackedAttention",
        attrs != NULL ? attrs->name : NULL, in, 6, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_ms_packed_multi_head_attention_attrs {
    const char *name;
    poprt_optional_float mask_filter_value; /* default -10000 */
    poprt_optional_int num_heads; /* default 0 */
    poprt_optional_float scale; /* default 0 */
} poprt_ms_packed_multi_head_attention_attrs;

/* PackedMultiHeadAttention, com.microsoft 1. */
static inline poprt_id poprt_op_ms_packed_multi_head_attention(poprt_builder *builder,
    poprt_id query, poprt_id key, poprt_id value, poprt_id bias, poprt_id token_offset,
    poprt_id cumulative_sequence_length, poprt_id attention_bias,
    const poprt_ms_packed_multi_head_attention_attrs *attrs)
{
    poprt_attr list[3];
    uint32_t n = 0;
    const poprt_id in[] = { query, key, value, bias, token_offset, cumulative_sequence_length,
        attention_bias };
    if (attrs != NULL) {
        n = poprt_put_float(list, n, "mask_filter_value", attrs->mask_filter_value);
        n = poprt_put_int(list, n, "num_heads", attrs->num_heads);
        n = poprt_put_float(list, n, "scale", attrs->scale);
    }
    const poprt_builder_op_info op = poprt_put_op("com.microsoft", "PackedMultiHeadAttention",
        attrs != NULL ? attrs->name : NULL, in, 7, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_ms_qattention_attrs {
    const char *name;
    poprt_optional_int do_rotary; /* default 0 */
    poprt_optional_float mask_filter_value; /* default -10000 */
    poprt_optional_int num_heads; /* default 0 */
    poprt_optional_int past_present_share_buffer; /* default 0 */
    poprt_optional_float scale; /* default 0 */
    poprt_optional_int unidirectional; /* default 0 */
} poprt_ms_qattention_attrs;

/* QAttention, com.microsoft 1. Outputs: output, present. */
static inline poprt_id poprt_op_ms_qattention(poprt_builder *builder, poprt_id input,
    poprt_id weight, poprt_id bias, poprt_id input_scale, poprt_id weight_scale,
    poprt_id mask_index, poprt_id input_zero_point, poprt_id weight_zero_point, poprt_id past,
    const poprt_ms_qattention_attrs *attrs, uint32_t n_out, poprt_id *out)
{
    poprt_attr list[6];
    uint32_t n = 0;
    const poprt_id in[] = { input, weight, bias, input_scale, weight_scale, mask_index,
        input_zero_point, weight_zero_point, past };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "do_rotary", attrs->do_rotary);
        n = poprt_put_float(list, n, "mask_filter_value", attrs->mask_filter_value);
        n = poprt_put_int(list, n, "num_heads", attrs->num_heads);
        n = poprt_put_int(list, n, "past_present_share_buffer", attrs->past_present_share_buffer);
        n = poprt_put_float(list, n, "scale", attrs->scale);
        n = poprt_put_int(list, n, "unidirectional", attrs->unidirectional);
    }
    poprt_builder_op_info op = poprt_put_op("com.microsoft", "QAttention",
        attrs != NULL ? attrs->name : NULL, in, 9, list, n);
    op.n_outputs = n_out;
    return poprt_builder_op(builder, &op, out);
}

typedef struct poprt_ms_qembed_layer_normalization_attrs {
    const char *name;
    poprt_optional_float epsilon; /* default 9.99999996e-13 */
} poprt_ms_qembed_layer_normalization_attrs;

/* QEmbedLayerNormalization, com.microsoft 1. Outputs: layernorm_out, mask_index_out. */
static inline poprt_id poprt_op_ms_qembed_layer_normalization(poprt_builder *builder,
    poprt_id input_ids, poprt_id segment_ids, poprt_id word_embedding_quant,
    poprt_id position_embedding_quant, poprt_id segment_embedding, poprt_id gamma_quant,
    poprt_id beta_quant, poprt_id mask, poprt_id word_embedding_scale,
    poprt_id position_embedding_scale, poprt_id segment_embedding_scale, poprt_id gamma_scale,
    poprt_id beta_scale, poprt_id word_embedding_zero_point,
    poprt_id position_embedding_zero_point, poprt_id segment_embedding_zero_point,
    poprt_id gamma_zero_point, poprt_id beta_zero_point,
    const poprt_ms_qembed_layer_normalization_attrs *attrs, uint32_t n_out, poprt_id *out)
{
    poprt_attr list[1];
    uint32_t n = 0;
    const poprt_id in[] = { input_ids, segment_ids, word_embedding_quant, position_embedding_quant,
        segment_embedding, gamma_quant, beta_quant, mask, word_embedding_scale,
        position_embedding_scale, segment_embedding_scale, gamma_scale, beta_scale,
        word_embedding_zero_point, position_embedding_zero_point, segment_embedding_zero_point,
        gamma_zero_point, beta_zero_point };
    if (attrs != NULL) {
        n = poprt_put_float(list, n, "epsilon", attrs->epsilon);
    }
    poprt_builder_op_info op = poprt_put_op("com.microsoft", "QEmbedLayerNormalization",
        attrs != NULL ? attrs->name : NULL, in, 18, list, n);
    op.n_outputs = n_out;
    return poprt_builder_op(builder, &op, out);
}

typedef struct poprt_ms_qgemm_attrs {
    const char *name;
    poprt_optional_float alpha; /* default 1 */
    poprt_optional_int transA; /* default 0 */
    poprt_optional_int transB; /* default 0 */
} poprt_ms_qgemm_attrs;

/* QGemm, com.microsoft 1. */
static inline poprt_id poprt_op_ms_qgemm(poprt_builder *builder, poprt_id a, poprt_id a_scale,
    poprt_id a_zero_point, poprt_id b, poprt_id b_scale, poprt_id b_zero_point, poprt_id c,
    poprt_id y_scale, poprt_id y_zero_point, const poprt_ms_qgemm_attrs *attrs)
{
    poprt_attr list[3];
    uint32_t n = 0;
    const poprt_id in[] = { a, a_scale, a_zero_point, b, b_scale, b_zero_point, c, y_scale,
        y_zero_point };
    if (attrs != NULL) {
        n = poprt_put_float(list, n, "alpha", attrs->alpha);
        n = poprt_put_int(list, n, "transA", attrs->transA);
        n = poprt_put_int(list, n, "transB", attrs->transB);
    }
    const poprt_builder_op_info op = poprt_put_op("com.microsoft", "QGemm",
        attrs != NULL ? attrs->name : NULL, in, 9, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_ms_qlinear_add_attrs {
    const char *name;
} poprt_ms_qlinear_add_attrs;

/* QLinearAdd, com.microsoft 1. */
static inline poprt_id poprt_op_ms_qlinear_add(poprt_builder *builder, poprt_id a,
    poprt_id a_scale, poprt_id a_zero_point, poprt_id b, poprt_id b_scale, poprt_id b_zero_point,
    poprt_id c_scale, poprt_id c_zero_point, const poprt_ms_qlinear_add_attrs *attrs)
{
    const poprt_id in[] = { a, a_scale, a_zero_point, b, b_scale, b_zero_point, c_scale,
        c_zero_point };
    const poprt_builder_op_info op = poprt_put_op("com.microsoft", "QLinearAdd",
        attrs != NULL ? attrs->name : NULL, in, 8, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_ms_qlinear_average_pool_attrs {
    const char *name;
    const char *auto_pad; /* default NOTSET */
    poprt_optional_int ceil_mode; /* default 0 */
    poprt_optional_int channels_last; /* default 0 */
    poprt_optional_int count_include_pad; /* default 0 */
    poprt_int_list kernel_shape;
    poprt_int_list pads;
    poprt_int_list strides;
} poprt_ms_qlinear_average_pool_attrs;

/* QLinearAveragePool, com.microsoft 1. */
static inline poprt_id poprt_op_ms_qlinear_average_pool(poprt_builder *builder, poprt_id x,
    poprt_id x_scale, poprt_id x_zero_point, poprt_id y_scale, poprt_id y_zero_point,
    const poprt_ms_qlinear_average_pool_attrs *attrs)
{
    poprt_attr list[7];
    uint32_t n = 0;
    const poprt_id in[] = { x, x_scale, x_zero_point, y_scale, y_zero_point };
    if (attrs != NULL) {
        n = poprt_put_string(list, n, "auto_pad", attrs->auto_pad);
        n = poprt_put_int(list, n, "ceil_mode", attrs->ceil_mode);
        n = poprt_put_int(list, n, "channels_last", attrs->channels_last);
        n = poprt_put_int(list, n, "count_include_pad", attrs->count_include_pad);
        n = poprt_put_ints(list, n, "kernel_shape", attrs->kernel_shape);
        n = poprt_put_ints(list, n, "pads", attrs->pads);
        n = poprt_put_ints(list, n, "strides", attrs->strides);
    }
    const poprt_builder_op_info op = poprt_put_op("com.microsoft", "QLinearAveragePool",
        attrs != NULL ? attrs->name : NULL, in, 5, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_ms_qlinear_concat_attrs {
    const char *name;
    poprt_optional_int axis; /* default 0 */
} poprt_ms_qlinear_concat_attrs;

/* QLinearConcat, com.microsoft 1. */
static inline poprt_id poprt_op_ms_qlinear_concat(poprt_builder *builder, poprt_id y_scale,
    poprt_id y_zero_point, uint32_t n_inputs, const poprt_id *inputs,
    const poprt_ms_qlinear_concat_attrs *attrs)
{
    poprt_attr list[1];
    uint32_t n = 0;
    const poprt_id in[] = { y_scale, y_zero_point };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "axis", attrs->axis);
    }
    poprt_builder_op_info op = poprt_put_op("com.microsoft", "QLinearConcat",
        attrs != NULL ? attrs->name : NULL, in, 2, list, n);
    op.more_inputs = inputs;
    op.n_more_inputs = n_inputs;
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_ms_qlinear_conv_attrs {
    const char *name;
    const char *auto_pad; /* default NOTSET */
    poprt_optional_int channels_last; /* default 0 */
    poprt_int_list dilations;
    poprt_optional_int group; /* default 1 */
    poprt_int_list kernel_shape;
    poprt_int_list pads;
    poprt_int_list strides;
} poprt_ms_qlinear_conv_attrs;

/* QLinearConv, com.microsoft 1. */
static inline poprt_id poprt_op_ms_qlinear_conv(poprt_builder *builder, poprt_id x,
    poprt_id x_scale, poprt_id x_zero_point, poprt_id w, poprt_id w_scale, poprt_id w_zero_point,
    poprt_id y_scale, poprt_id y_zero_point, poprt_id b, const poprt_ms_qlinear_conv_attrs *attrs)
{
    poprt_attr list[7];
    uint32_t n = 0;
    const poprt_id in[] = { x, x_scale, x_zero_point, w, w_scale, w_zero_point, y_scale,
        y_zero_point, b };
    if (attrs != NULL) {
        n = poprt_put_string(list, n, "auto_pad", attrs->auto_pad);
        n = poprt_put_int(list, n, "channels_last", attrs->channels_last);
        n = poprt_put_ints(list, n, "dilations", attrs->dilations);
        n = poprt_put_int(list, n, "group", attrs->group);
        n = poprt_put_ints(list, n, "kernel_shape", attrs->kernel_shape);
        n = poprt_put_ints(list, n, "pads", attrs->pads);
        n = poprt_put_ints(list, n, "strides", attrs->strides);
    }
    const poprt_builder_op_info op = poprt_put_op("com.microsoft", "QLinearConv",
        attrs != NULL ? attrs->name : NULL, in, 9, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_ms_qlinear_global_average_pool_attrs {
    const char *name;
    poprt_optional_int channels_last; /* default 0 */
} poprt_ms_qlinear_global_average_pool_attrs;

/* QLinearGlobalAveragePool, com.microsoft 1. */
static inline poprt_id poprt_op_ms_qlinear_global_average_pool(poprt_builder *builder, poprt_id x,
    poprt_id x_scale, poprt_id x_zero_point, poprt_id y_scale, poprt_id y_zero_point,
    const poprt_ms_qlinear_global_average_pool_attrs *attrs)
{
    poprt_attr list[1];
    uint32_t n = 0;
    const poprt_id in[] = { x, x_scale, x_zero_point, y_scale, y_zero_point };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "channels_last", attrs->channels_last);
    }
    const poprt_builder_op_info op = poprt_put_op("com.microsoft", "QLinearGlobalAveragePool",
        attrs != NULL ? attrs->name : NULL, in, 5, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_ms_qlinear_leaky_relu_attrs {
    const char *name;
    poprt_optional_float alpha; /* default 0.00999999978 */
} poprt_ms_qlinear_leaky_relu_attrs;

/* QLinearLeakyRelu, com.microsoft 1. */
static inline poprt_id poprt_op_ms_qlinear_leaky_relu(poprt_builder *builder, poprt_id x,
    poprt_id x_scale, poprt_id x_zero_point, poprt_id y_scale, poprt_id y_zero_point,
    const poprt_ms_qlinear_leaky_relu_attrs *attrs)
{
    poprt_attr list[1];
    uint32_t n = 0;
    const poprt_id in[] = { x, x_scale, x_zero_point, y_scale, y_zero_point };
    if (attrs != NULL) {
        n = poprt_put_float(list, n, "alpha", attrs->alpha);
    }
    const poprt_builder_op_info op = poprt_put_op("com.microsoft", "QLinearLeakyRelu",
        attrs != NULL ? attrs->name : NULL, in, 5, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_ms_qlinear_mul_attrs {
    const char *name;
} poprt_ms_qlinear_mul_attrs;

/* QLinearMul, com.microsoft 1. */
static inline poprt_id poprt_op_ms_qlinear_mul(poprt_builder *builder, poprt_id a,
    poprt_id a_scale, poprt_id a_zero_point, poprt_id b, poprt_id b_scale, poprt_id b_zero_point,
    poprt_id c_scale, poprt_id c_zero_point, const poprt_ms_qlinear_mul_attrs *attrs)
{
    const poprt_id in[] = { a, a_scale, a_zero_point, b, b_scale, b_zero_point, c_scale,
        c_zero_point };
    const poprt_builder_op_info op = poprt_put_op("com.microsoft", "QLinearMul",
        attrs != NULL ? attrs->name : NULL, in, 8, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_ms_qlinear_reduce_mean_attrs {
    const char *name;
    poprt_int_list axes;
    poprt_optional_int keepdims; /* default 1 */
} poprt_ms_qlinear_reduce_mean_attrs;

/* QLinearReduceMean, com.microsoft 1. */
static inline poprt_id poprt_op_ms_qlinear_reduce_mean(poprt_builder *builder, poprt_id data,
    poprt_id data_scale, poprt_id data_zero_point, poprt_id reduced_scale,
    poprt_id reduced_zero_point, const poprt_ms_qlinear_reduce_mean_attrs *attrs)
{
    poprt_attr list[2];
    uint32_t n = 0;
    const poprt_id in[] = { data, data_scale, data_zero_point, reduced_scale, reduced_zero_point };
    if (attrs != NULL) {
        n = poprt_put_ints(list, n, "axes", attrs->axes);
        n = poprt_put_int(list, n, "keepdims", attrs->keepdims);
    }
    const poprt_builder_op_info op = poprt_put_op("com.microsoft", "QLinearReduceMean",
        attrs != NULL ? attrs->name : NULL, in, 5, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_ms_qlinear_sigmoid_attrs {
    const char *name;
} poprt_ms_qlinear_sigmoid_attrs;

/* QLinearSigmoid, com.microsoft 1. */
static inline poprt_id poprt_op_ms_qlinear_sigmoid(poprt_builder *builder, poprt_id x,
    poprt_id x_scale, poprt_id x_zero_point, poprt_id y_scale, poprt_id y_zero_point,
    const poprt_ms_qlinear_sigmoid_attrs *attrs)
{
    const poprt_id in[] = { x, x_scale, x_zero_point, y_scale, y_zero_point };
    const poprt_builder_op_info op = poprt_put_op("com.microsoft", "QLinearSigmoid",
        attrs != NULL ? attrs->name : NULL, in, 5, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_ms_qlinear_softmax_attrs {
    const char *name;
    poprt_optional_int axis; /* default -1 */
    poprt_optional_int opset; /* default 0 */
} poprt_ms_qlinear_softmax_attrs;

/* QLinearSoftmax, com.microsoft 1. */
static inline poprt_id poprt_op_ms_qlinear_softmax(poprt_builder *builder, poprt_id x,
    poprt_id x_scale, poprt_id x_zero_point, poprt_id y_scale, poprt_id y_zero_point,
    const poprt_ms_qlinear_softmax_attrs *attrs)
{
    poprt_attr list[2];
    uint32_t n = 0;
    const poprt_id in[] = { x, x_scale, x_zero_point, y_scale, y_zero_point };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "axis", attrs->axis);
        n = poprt_put_int(list, n, "opset", attrs->opset);
    }
    const poprt_builder_op_info op = poprt_put_op("com.microsoft", "QLinearSoftmax",
        attrs != NULL ? attrs->name : NULL, in, 5, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_ms_qlinear_where_attrs {
    const char *name;
} poprt_ms_qlinear_where_attrs;

/* QLinearWhere, com.microsoft 1. */
static inline poprt_id poprt_op_ms_qlinear_where(poprt_builder *builder, poprt_id condition,
    poprt_id x, poprt_id x_scale, poprt_id x_zero_point, poprt_id y, poprt_id y_scale,
    poprt_id y_zero_point, poprt_id z_scale, poprt_id z_zero_point,
    const poprt_ms_qlinear_where_attrs *attrs)
{
    const poprt_id in[] = { condition, x, x_scale, x_zero_point, y, y_scale, y_zero_point, z_scale,
        z_zero_point };
    const poprt_builder_op_info op = poprt_put_op("com.microsoft", "QLinearWhere",
        attrs != NULL ? attrs->name : NULL, in, 9, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_ms_qmoe_attrs {
    const char *name;
    poprt_optional_int accuracy_level; /* default 0 */
    poprt_optional_float activation_alpha; /* default 1 */
    poprt_optional_float activation_beta; /* default 0 */
    const char *activation_type; /* default relu */
    poprt_optional_int block_size; /* default 0 */
    poprt_optional_int expert_weight_bits; /* default 4 */
    poprt_optional_int fc1_expert_weight_bits; /* default 0 */
    poprt_optional_int fc2_expert_weight_bits; /* default 0 */
    poprt_optional_int fc3_expert_weight_bits; /* default 0 */
    poprt_optional_int k; /* default 1 */
    poprt_optional_int normalize_routing_weights; /* default 0 */
    const char *quant_type; /* default int */
    poprt_optional_int swiglu_fusion; /* default 0 */
    poprt_optional_float swiglu_limit; /* default 0 */
    poprt_optional_int use_sparse_mixer; /* default 0 */
    poprt_optional_int weights_prepacked; /* default -1 */
} poprt_ms_qmoe_attrs;

/* QMoE, com.microsoft 1. */
static inline poprt_id poprt_op_ms_qmoe(poprt_builder *builder, poprt_id input,
    poprt_id router_probs, poprt_id fc1_experts_weights, poprt_id fc1_scales,
    poprt_id fc1_experts_bias, poprt_id fc2_experts_weights, poprt_id fc2_scales,
    poprt_id fc2_experts_bias, poprt_id fc3_experts_weights, poprt_id fc3_scales,
    poprt_id fc3_experts_bias, poprt_id fc1_zero_points, poprt_id fc2_zero_points,
    poprt_id fc3_zero_points, poprt_id router_weights, poprt_id fc1_global_scale,
    poprt_id fc2_global_scale, poprt_id fc1_act_scale, poprt_id fc2_act_scale,
    poprt_id fc1_act_block_scale, poprt_id fc2_act_block_scale, const poprt_ms_qmoe_attrs *attrs)
{
    poprt_attr list[16];
    uint32_t n = 0;
    const poprt_id in[] = { input, router_probs, fc1_experts_weights, fc1_scales, fc1_experts_bias,
        fc2_experts_weights, fc2_scales, fc2_experts_bias, fc3_experts_weights, fc3_scales,
        fc3_experts_bias, fc1_zero_points, fc2_zero_points, fc3_zero_points, router_weights,
        fc1_global_scale, fc2_global_scale, fc1_act_scale, fc2_act_scale, fc1_act_block_scale,
        fc2_act_block_scale };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "accuracy_level", attrs->accuracy_level);
        n = poprt_put_float(list, n, "activation_alpha", attrs->activation_alpha);
        n = poprt_put_float(list, n, "activation_beta", attrs->activation_beta);
        n = poprt_put_string(list, n, "activation_type", attrs->activation_type);
        n = poprt_put_int(list, n, "block_size", attrs->block_size);
        n = poprt_put_int(list, n, "expert_weight_bits", attrs->expert_weight_bits);
        n = poprt_put_int(list, n, "fc1_expert_weight_bits", attrs->fc1_expert_weight_bits);
        n = poprt_put_int(list, n, "fc2_expert_weight_bits", attrs->fc2_expert_weight_bits);
        n = poprt_put_int(list, n, "fc3_expert_weight_bits", attrs->fc3_expert_weight_bits);
        n = poprt_put_int(list, n, "k", attrs->k);
        n = poprt_put_int(list, n, "normalize_routing_weights", attrs->normalize_routing_weights);
        n = poprt_put_string(list, n, "quant_type", attrs->quant_type);
        n = poprt_put_int(list, n, "swiglu_fusion", attrs->swiglu_fusion);
        n = poprt_put_float(list, n, "swiglu_limit", attrs->swiglu_limit);
        n = poprt_put_int(list, n, "use_sparse_mixer", attrs->use_sparse_mixer);
        n = poprt_put_int(list, n, "weights_prepacked", attrs->weights_prepacked);
    }
    const poprt_builder_op_info op = poprt_put_op("com.microsoft", "QMoE",
        attrs != NULL ? attrs->name : NULL, in, 21, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_ms_qordered_gelu_attrs {
    const char *name;
    poprt_optional_int order_X; /* default 0 */
    poprt_optional_int order_Y; /* default 0 */
} poprt_ms_qordered_gelu_attrs;

/* QOrderedGelu, com.microsoft 1. */
static inline poprt_id poprt_op_ms_qordered_gelu(poprt_builder *builder, poprt_id x,
    poprt_id scale_x, poprt_id scale_y, const poprt_ms_qordered_gelu_attrs *attrs)
{
    poprt_attr list[2];
    uint32_t n = 0;
    const poprt_id in[] = { x, scale_x, scale_y };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "order_X", attrs->order_X);
        n = poprt_put_int(list, n, "order_Y", attrs->order_Y);
    }
    const poprt_builder_op_info op = poprt_put_op("com.microsoft", "QOrderedGelu",
        attrs != NULL ? attrs->name : NULL, in, 3, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_ms_qordered_layer_normalization_attrs {
    const char *name;
    poprt_optional_int axis; /* default -1 */
    poprt_optional_float epsilon; /* default 9.99999975e-06 */
    poprt_optional_int order_X; /* default 1 */
    poprt_optional_int order_Y; /* default 1 */
} poprt_ms_qordered_layer_normalization_attrs;

/* QOrderedLayerNormalization, com.microsoft 1. */
static inline poprt_id poprt_op_ms_qordered_layer_normalization(poprt_builder *builder, poprt_id x,
    poprt_id scale_x, poprt_id scale, poprt_id b, poprt_id scale_y,
    const poprt_ms_qordered_layer_normalization_attrs *attrs)
{
    poprt_attr list[4];
    uint32_t n = 0;
    const poprt_id in[] = { x, scale_x, scale, b, scale_y };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "axis", attrs->axis);
        n = poprt_put_float(list, n, "epsilon", attrs->epsilon);
        n = poprt_put_int(list, n, "order_X", attrs->order_X);
        n = poprt_put_int(list, n, "order_Y", attrs->order_Y);
    }
    const poprt_builder_op_info op = poprt_put_op("com.microsoft", "QOrderedLayerNormalization",
        attrs != NULL ? attrs->name : NULL, in, 5, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_ms_qordered_matmul_attrs {
    const char *name;
    poprt_optional_int order_A; /* default 0 */
    poprt_optional_int order_B; /* default 0 */
    poprt_optional_int order_Y; /* default 0 */
} poprt_ms_qordered_matmul_attrs;

/* QOrderedMatMul, com.microsoft 1. */
static inline poprt_id poprt_op_ms_qordered_matmul(poprt_builder *builder, poprt_id a,
    poprt_id scale_a, poprt_id b, poprt_id scale_b, poprt_id scale_y, poprt_id bias, poprt_id c,
    poprt_id scale_c, const poprt_ms_qordered_matmul_attrs *attrs)
{
    poprt_attr list[3];
    uint32_t n = 0;
    const poprt_id in[] = { a, scale_a, b, scale_b, scale_y, bias, c, scale_c };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "order_A", attrs->order_A);
        n = poprt_put_int(list, n, "order_B", attrs->order_B);
        n = poprt_put_int(list, n, "order_Y", attrs->order_Y);
    }
    const poprt_builder_op_info op = poprt_put_op("com.microsoft", "QOrderedMatMul",
        attrs != NULL ? attrs->name : NULL, in, 8, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_ms_quantize_with_order_attrs {
    const char *name;
    poprt_optional_int order_input; /* default 0 */
    poprt_optional_int order_output; /* default 0 */
} poprt_ms_quantize_with_order_attrs;

/* QuantizeWithOrder, com.microsoft 1. */
static inline poprt_id poprt_op_ms_quantize_with_order(poprt_builder *builder, poprt_id input,
    poprt_id scale_input, const poprt_ms_quantize_with_order_attrs *attrs)
{
    poprt_attr list[2];
    uint32_t n = 0;
    const poprt_id in[] = { input, scale_input };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "order_input", attrs->order_input);
        n = poprt_put_int(list, n, "order_output", attrs->order_output);
    }
    const poprt_builder_op_info op = poprt_put_op("com.microsoft", "QuantizeWithOrder",
        attrs != NULL ? attrs->name : NULL, in, 2, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_ms_reduce_sum_integer_attrs {
    const char *name;
    poprt_int_list axes;
    poprt_optional_int keepdims; /* default 1 */
} poprt_ms_reduce_sum_integer_attrs;

/* ReduceSumInteger, com.microsoft 1. */
static inline poprt_id poprt_op_ms_reduce_sum_integer(poprt_builder *builder, poprt_id data,
    const poprt_ms_reduce_sum_integer_attrs *attrs)
{
    poprt_attr list[2];
    uint32_t n = 0;
    const poprt_id in[] = { data };
    if (attrs != NULL) {
        n = poprt_put_ints(list, n, "axes", attrs->axes);
        n = poprt_put_int(list, n, "keepdims", attrs->keepdims);
    }
    const poprt_builder_op_info op = poprt_put_op("com.microsoft", "ReduceSumInteger",
        attrs != NULL ? attrs->name : NULL, in, 1, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_ms_relative_position_bias_attrs {
    const char *name;
    poprt_optional_int is_bidirectional; /* default 0 */
    poprt_optional_int max_distance; /* default 0 */
} poprt_ms_relative_position_bias_attrs;

/* RelativePositionBias, com.microsoft 1. */
static inline poprt_id poprt_op_ms_relative_position_bias(poprt_builder *builder,
    poprt_id bias_table, poprt_id query_length, poprt_id key_length,
    const poprt_ms_relative_position_bias_attrs *attrs)
{
    poprt_attr list[2];
    uint32_t n = 0;
    const poprt_id in[] = { bias_table, query_length, key_length };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "is_bidirectional", attrs->is_bidirectional);
        n = poprt_put_int(list, n, "max_distance", attrs->max_distance);
    }
    const poprt_builder_op_info op = poprt_put_op("com.microsoft", "RelativePositionBias",
        attrs != NULL ? attrs->name : NULL, in, 3, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_ms_remove_padding_attrs {
    const char *name;
} poprt_ms_remove_padding_attrs;

/* RemovePadding, com.microsoft 1. Outputs: output, token_offset, cumulated_seq_len, max_seq_len. */
static inline poprt_id poprt_op_ms_remove_padding(poprt_builder *builder, poprt_id input,
    poprt_id sequence_token_count, const poprt_ms_remove_padding_attrs *attrs, uint32_t n_out,
    poprt_id *out)
{
    const poprt_id in[] = { input, sequence_token_count };
    poprt_builder_op_info op = poprt_put_op("com.microsoft", "RemovePadding",
        attrs != NULL ? attrs->name : NULL, in, 2, NULL, 0);
    op.n_outputs = n_out;
    return poprt_builder_op(builder, &op, out);
}

typedef struct poprt_ms_restore_padding_attrs {
    const char *name;
} poprt_ms_restore_padding_attrs;

/* RestorePadding, com.microsoft 1. */
static inline poprt_id poprt_op_ms_restore_padding(poprt_builder *builder, poprt_id input,
    poprt_id token_offset, const poprt_ms_restore_padding_attrs *attrs)
{
    const poprt_id in[] = { input, token_offset };
    const poprt_builder_op_info op = poprt_put_op("com.microsoft", "RestorePadding",
        attrs != NULL ? attrs->name : NULL, in, 2, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_ms_rotary_embedding_attrs {
    const char *name;
    poprt_optional_int interleaved; /* default 0 */
    poprt_optional_int is_packed_batching; /* default 0 */
    poprt_optional_int num_heads; /* default 0 */
    poprt_optional_int rotary_embedding_dim; /* default 0 */
    poprt_optional_float scale; /* default 0 */
} poprt_ms_rotary_embedding_attrs;

/* RotaryEmbedding, com.microsoft 1. */
static inline poprt_id poprt_op_ms_rotary_embedding(poprt_builder *builder, poprt_id input,
    poprt_id position_ids, poprt_id cos_cache, poprt_id sin_cache,
    const poprt_ms_rotary_embedding_attrs *attrs)
{
    poprt_attr list[5];
    uint32_t n = 0;
    const poprt_id in[] = { input, position_ids, cos_cache, sin_cache };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "interleaved", attrs->interleaved);
        n = poprt_put_int(list, n, "is_packed_batching", attrs->is_packed_batching);
        n = poprt_put_int(list, n, "num_heads", attrs->num_heads);
        n = poprt_put_int(list, n, "rotary_embedding_dim", attrs->rotary_embedding_dim);
        n = poprt_put_float(list, n, "scale", attrs->scale);
    }
    const poprt_builder_op_info op = poprt_put_op("com.microsoft", "RotaryEmbedding",
        attrs != NULL ? attrs->name : NULL, in, 4, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_ms_sampling_attrs {
    const char *name;
    const poprt_builder *decoder;
    const poprt_builder *encoder;
    const poprt_builder *init_decoder;
    poprt_optional_int eos_token_id; /* default 0 */
    poprt_optional_int pad_token_id; /* default 0 */
    poprt_optional_int decoder_start_token_id; /* default -1 */
    poprt_optional_int model_type; /* default 0 */
    poprt_optional_int no_repeat_ngram_size; /* default 0 */
    poprt_optional_int vocab_size; /* default -1 */
    poprt_optional_int custom; /* default 0 */
    poprt_optional_float filter_value; /* default -1.00000002e+20 */
    poprt_optional_int min_tokens_to_keep; /* default 0 */
    poprt_optional_float presence_penalty; /* default 0 */
    poprt_optional_float temperature; /* default 1 */
    poprt_optional_float top_p; /* default 0 */
} poprt_ms_sampling_attrs;

/* Sampling, com.microsoft 1. Outputs: sequences, filtered_logits. */
static inline poprt_id poprt_op_ms_sampling(poprt_builder *builder, poprt_id input_ids,
    poprt_id max_length, poprt_id min_length, poprt_id repetition_penalty, poprt_id vocab_mask,
    poprt_id prefix_vocab_mask, poprt_id attention_mask, poprt_id presence_mask, poprt_id seed,
    const poprt_ms_sampling_attrs *attrs, uint32_t n_out, poprt_id *out)
{
    poprt_attr list[15];
    uint32_t n = 0;
    const poprt_id in[] = { input_ids, max_length, min_length, repetition_penalty, vocab_mask,
        prefix_vocab_mask, attention_mask, presence_mask, seed };
    if (attrs != NULL) {
        n = poprt_put_object(list, n, "decoder", POPRT_ATTR_GRAPH, attrs->decoder);
        n = poprt_put_object(list, n, "encoder", POPRT_ATTR_GRAPH, attrs->encoder);
        n = poprt_put_object(list, n, "init_decoder", POPRT_ATTR_GRAPH, attrs->init_decoder);
        n = poprt_put_int(list, n, "eos_token_id", attrs->eos_token_id);
        n = poprt_put_int(list, n, "pad_token_id", attrs->pad_token_id);
        n = poprt_put_int(list, n, "decoder_start_token_id", attrs->decoder_start_token_id);
        n = poprt_put_int(list, n, "model_type", attrs->model_type);
        n = poprt_put_int(list, n, "no_repeat_ngram_size", attrs->no_repeat_ngram_size);
        n = poprt_put_int(list, n, "vocab_size", attrs->vocab_size);
        n = poprt_put_int(list, n, "custom", attrs->custom);
        n = poprt_put_float(list, n, "filter_value", attrs->filter_value);
        n = poprt_put_int(list, n, "min_tokens_to_keep", attrs->min_tokens_to_keep);
        n = poprt_put_float(list, n, "presence_penalty", attrs->presence_penalty);
        n = poprt_put_float(list, n, "temperature", attrs->temperature);
        n = poprt_put_float(list, n, "top_p", attrs->top_p);
    }
    poprt_builder_op_info op = poprt_put_op("com.microsoft", "Sampling",
        attrs != NULL ? attrs->name : NULL, in, 9, list, n);
    op.n_outputs = n_out;
    return poprt_builder_op(builder, &op, out);
}

typedef struct poprt_ms_scaled_silu_attrs {
    const char *name;
    poprt_optional_float alpha; /* default 1 */
} poprt_ms_scaled_silu_attrs;

/* ScaledSiLU, com.microsoft 1. */
static inline poprt_id poprt_op_ms_scaled_silu(poprt_builder *builder, poprt_id x, poprt_id scale,
    const poprt_ms_scaled_silu_attrs *attrs)
{
    poprt_attr list[1];
    uint32_t n = 0;
    const poprt_id in[] = { x, scale };
    if (attrs != NULL) {
        n = poprt_put_float(list, n, "alpha", attrs->alpha);
    }
    const poprt_builder_op_info op = poprt_put_op("com.microsoft", "ScaledSiLU",
        attrs != NULL ? attrs->name : NULL, in, 2, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_ms_skip_group_norm_attrs {
    const char *name;
    poprt_optional_int activation; /* default 0 */
    poprt_optional_int channels_last; /* default 1 */
    poprt_optional_float epsilon; /* default 9.99999975e-06 */
    poprt_optional_int groups; /* default 0 */
} poprt_ms_skip_group_norm_attrs;

/* SkipGroupNorm, com.microsoft 1. Outputs: Y, S. */
static inline poprt_id poprt_op_ms_skip_group_norm(poprt_builder *builder, poprt_id x,
    poprt_id gamma, poprt_id beta, poprt_id skip, poprt_id bias,
    const poprt_ms_skip_group_norm_attrs *attrs, uint32_t n_out, poprt_id *out)
{
    poprt_attr list[4];
    uint32_t n = 0;
    const poprt_id in[] = { x, gamma, beta, skip, bias };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "activation", attrs->activation);
        n = poprt_put_int(list, n, "channels_last", attrs->channels_last);
        n = poprt_put_float(list, n, "epsilon", attrs->epsilon);
        n = poprt_put_int(list, n, "groups", attrs->groups);
    }
    poprt_builder_op_info op = poprt_put_op("com.microsoft", "SkipGroupNorm",
        attrs != NULL ? attrs->name : NULL, in, 5, list, n);
    op.n_outputs = n_out;
    return poprt_builder_op(builder, &op, out);
}

typedef struct poprt_ms_skip_layer_normalization_attrs {
    const char *name;
    poprt_optional_float epsilon; /* default 9.99999996e-13 */
} poprt_ms_skip_layer_normalization_attrs;

/* SkipLayerNormalization, com.microsoft 1. Outputs: output, mean, inv_std_var,
 * input_skip_bias_sum. */
static inline poprt_id poprt_op_ms_skip_layer_normalization(poprt_builder *builder, poprt_id input,
    poprt_id skip, poprt_id gamma, poprt_id beta, poprt_id bias,
    const poprt_ms_skip_layer_normalization_attrs *attrs, uint32_t n_out, poprt_id *out)
{
    poprt_attr list[1];
    uint32_t n = 0;
    const poprt_id in[] = { input, skip, gamma, beta, bias };
    if (attrs != NULL) {
        n = poprt_put_float(list, n, "epsilon", attrs->epsilon);
    }
    poprt_builder_op_info op = poprt_put_op("com.microsoft", "SkipLayerNormalization",
        attrs != NULL ? attrs->name : NULL, in, 5, list, n);
    op.n_outputs = n_out;
    return poprt_builder_op(builder, &op, out);
}

typedef struct poprt_ms_skip_simplified_layer_normalization_attrs {
    const char *name;
    poprt_optional_float epsilon; /* default 9.99999996e-13 */
} poprt_ms_skip_simplified_layer_normalization_attrs;

/* SkipSimplifiedLayerNormalization, com.microsoft 1. Outputs: output, mean, inv_std_var,
 * input_skip_bias_sum. */
static inline poprt_id poprt_op_ms_skip_simplified_layer_normalization(poprt_builder *builder,
    poprt_id input, poprt_id skip, poprt_id gamma, poprt_id bias,
    const poprt_ms_skip_simplified_layer_normalization_attrs *attrs, uint32_t n_out, poprt_id *out)
{
    poprt_attr list[1];
    uint32_t n = 0;
    const poprt_id in[] = { input, skip, gamma, bias };
    if (attrs != NULL) {
        n = poprt_put_float(list, n, "epsilon", attrs->epsilon);
    }
    poprt_builder_op_info op = poprt_put_op("com.microsoft", "SkipSimplifiedLayerNormalization",
        attrs != NULL ? attrs->name : NULL, in, 4, list, n);
    op.n_outputs = n_out;
    return poprt_builder_op(builder, &op, out);
}

typedef struct poprt_ms_sparse_attention_attrs {
    const char *name;
    poprt_optional_int do_rotary; /* default 0 */
    poprt_optional_int kv_num_heads; /* default 0 */
    poprt_optional_int num_heads; /* default 0 */
    poprt_optional_int rotary_interleaved; /* default 0 */
    poprt_optional_float scale; /* default 0 */
    poprt_optional_int sparse_block_size; /* default 0 */
} poprt_ms_sparse_attention_attrs;

/* SparseAttention, com.microsoft 1. Outputs: output, present_key, present_value. */
static inline poprt_id poprt_op_ms_sparse_attention(poprt_builder *builder, poprt_id query,
    poprt_id key, poprt_id value, poprt_id past_key, poprt_id past_value,
    poprt_id block_row_indices, poprt_id block_col_indices, poprt_id total_sequence_length,
    poprt_id key_total_sequence_lengths, poprt_id cos_cache, poprt_id sin_cache,
    const poprt_ms_sparse_attention_attrs *attrs, uint32_t n_out, poprt_id *out)
{
    poprt_attr list[6];
    uint32_t n = 0;
    const poprt_id in[] = { query, key, value, past_key, past_value, block_row_indices,
        block_col_indices, total_sequence_length, key_total_sequence_lengths, cos_cache,
        sin_cache };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "do_rotary", attrs->do_rotary);
        n = poprt_put_int(list, n, "kv_num_heads", attrs->kv_num_heads);
        n = poprt_put_int(list, n, "num_heads", attrs->num_heads);
        n = poprt_put_int(list, n, "rotary_interleaved", attrs->rotary_interleaved);
        n = poprt_put_float(list, n, "scale", attrs->scale);
        n = poprt_put_int(list, n, "sparse_block_size", attrs->sparse_block_size);
    }
    poprt_builder_op_info op = poprt_put_op("com.microsoft", "SparseAttention",
        attrs != NULL ? attrs->name : NULL, in, 11, list, n);
    op.n_outputs = n_out;
    return poprt_builder_op(builder, &op, out);
}

typedef struct poprt_ms_tokenizer_attrs {
    const char *name;
    poprt_optional_int mark; /* default 0 */
    poprt_optional_int mincharnum; /* default 0 */
    const char *pad_value;
    poprt_string_list separators;
    const char *tokenexp;
} poprt_ms_tokenizer_attrs;

/* Tokenizer, com.microsoft 1. */
static inline poprt_id poprt_op_ms_tokenizer(poprt_builder *builder, poprt_id x,
    const poprt_ms_tokenizer_attrs *attrs)
{
    poprt_attr list[5];
    uint32_t n = 0;
    const poprt_id in[] = { x };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "mark", attrs->mark);
        n = poprt_put_int(list, n, "mincharnum", attrs->mincharnum);
        n = poprt_put_string(list, n, "pad_value", attrs->pad_value);
        n = poprt_put_strings(list, n, "separators", attrs->separators);
        n = poprt_put_string(list, n, "tokenexp", attrs->tokenexp);
    }
    const poprt_builder_op_info op = poprt_put_op("com.microsoft", "Tokenizer",
        attrs != NULL ? attrs->name : NULL, in, 1, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_ms_unfold_tensor_attrs {
    const char *name;
    poprt_optional_int dim; /* default -1 */
    poprt_optional_int size; /* default 0 */
    poprt_optional_int step; /* default 1 */
} poprt_ms_unfold_tensor_attrs;

/* UnfoldTensor, com.microsoft 1. */
static inline poprt_id poprt_op_ms_unfold_tensor(poprt_builder *builder, poprt_id input,
    const poprt_ms_unfold_tensor_attrs *attrs)
{
    poprt_attr list[3];
    uint32_t n = 0;
    const poprt_id in[] = { input };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "dim", attrs->dim);
        n = poprt_put_int(list, n, "size", attrs->size);
        n = poprt_put_int(list, n, "step", attrs->step);
    }
    const poprt_builder_op_info op = poprt_put_op("com.microsoft", "UnfoldTensor",
        attrs != NULL ? attrs->name : NULL, in, 1, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_ms_word_conv_embedding_attrs {
    const char *name;
    poprt_optional_int char_embedding_size; /* default 0 */
    poprt_optional_int conv_window_size; /* default 0 */
    poprt_optional_int embedding_size; /* default 0 */
} poprt_ms_word_conv_embedding_attrs;

/* WordConvEmbedding, com.microsoft 1. */
static inline poprt_id poprt_op_ms_word_conv_embedding(poprt_builder *builder, poprt_id sequence,
    poprt_id w, poprt_id b, poprt_id c, const poprt_ms_word_conv_embedding_attrs *attrs)
{
    poprt_attr list[3];
    uint32_t n = 0;
    const poprt_id in[] = { sequence, w, b, c };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "char_embedding_size", attrs->char_embedding_size);
        n = poprt_put_int(list, n, "conv_window_size", attrs->conv_window_size);
        n = poprt_put_int(list, n, "embedding_size", attrs->embedding_size);
    }
    const poprt_builder_op_info op = poprt_put_op("com.microsoft", "WordConvEmbedding",
        attrs != NULL ? attrs->name : NULL, in, 4, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

#ifdef __cplusplus
}
#endif
#endif
