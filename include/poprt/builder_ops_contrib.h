/* SPDX-License-Identifier: MIT */
/*
 * poprt/builder_ops_contrib.h — operators of ai.onnx.contrib, poprt.text.
 * See poprt/builder_ops.h. Made by tests/builder/ops.py.
 */
#ifndef POPRT_BUILDER_OPS_CONTRIB_H
#define POPRT_BUILDER_OPS_CONTRIB_H

#include "poprt/builder_ops.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct poprt_contrib_string_concat_attrs {
    const char *name;
} poprt_contrib_string_concat_attrs;

/* StringConcat, ai.onnx.contrib 1. */
static inline poprt_id poprt_op_contrib_string_concat(poprt_builder *builder, poprt_id input_1,
    poprt_id input_2, const poprt_contrib_string_concat_attrs *attrs)
{
    const poprt_id in[] = { input_1, input_2 };
    const poprt_builder_op_info op = poprt_put_op("ai.onnx.contrib", "StringConcat",
        attrs != NULL ? attrs->name : NULL, in, 2, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_contrib_string_equal_attrs {
    const char *name;
} poprt_contrib_string_equal_attrs;

/* StringEqual, ai.onnx.contrib 1. */
static inline poprt_id poprt_op_contrib_string_equal(poprt_builder *builder, poprt_id x,
    poprt_id y, const poprt_contrib_string_equal_attrs *attrs)
{
    const poprt_id in[] = { x, y };
    const poprt_builder_op_info op = poprt_put_op("ai.onnx.contrib", "StringEqual",
        attrs != NULL ? attrs->name : NULL, in, 2, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_contrib_string_join_attrs {
    const char *name;
} poprt_contrib_string_join_attrs;

/* StringJoin, ai.onnx.contrib 1. */
static inline poprt_id poprt_op_contrib_string_join(poprt_builder *builder, poprt_id input_x,
    poprt_id input_sep, poprt_id input_axis, const poprt_contrib_string_join_attrs *attrs)
{
    const poprt_id in[] = { input_x, input_sep, input_axis };
    const poprt_builder_op_info op = poprt_put_op("ai.onnx.contrib", "StringJoin",
        attrs != NULL ? attrs->name : NULL, in, 3, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_contrib_string_length_attrs {
    const char *name;
} poprt_contrib_string_length_attrs;

/* StringLength, ai.onnx.contrib 1. */
static inline poprt_id poprt_op_contrib_string_length(poprt_builder *builder, poprt_id data,
    const poprt_contrib_string_length_attrs *attrs)
{
    const poprt_id in[] = { data };
    const poprt_builder_op_info op = poprt_put_op("ai.onnx.contrib", "StringLength",
        attrs != NULL ? attrs->name : NULL, in, 1, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_contrib_string_lower_attrs {
    const char *name;
} poprt_contrib_string_lower_attrs;

/* StringLower, ai.onnx.contrib 1. */
static inline poprt_id poprt_op_contrib_string_lower(poprt_builder *builder, poprt_id input,
    const poprt_contrib_string_lower_attrs *attrs)
{
    const poprt_id in[] = { input };
    const poprt_builder_op_info op = poprt_put_op("ai.onnx.contrib", "StringLower",
        attrs != NULL ? attrs->name : NULL, in, 1, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_contrib_string_regex_replace_attrs {
    const char *name;
    poprt_optional_int global_replace; /* default 1 */
} poprt_contrib_string_regex_replace_attrs;

/* StringRegexReplace, ai.onnx.contrib 1. */
static inline poprt_id poprt_op_contrib_string_regex_replace(poprt_builder *builder, poprt_id text,
    poprt_id pattern, poprt_id rewrite, const poprt_contrib_string_regex_replace_attrs *attrs)
{
    poprt_attr list[1];
    uint32_t n = 0;
    const poprt_id in[] = { text, pattern, rewrite };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "global_replace", attrs->global_replace);
    }
    const poprt_builder_op_info op = poprt_put_op("ai.onnx.contrib", "StringRegexReplace",
        attrs != NULL ? attrs->name : NULL, in, 3, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_contrib_string_regex_split_with_offsets_attrs {
    const char *name;
} poprt_contrib_string_regex_split_with_offsets_attrs;

/* StringRegexSplitWithOffsets, ai.onnx.contrib 1. Outputs: words, begins, ends, row_indices. */
static inline poprt_id poprt_op_contrib_string_regex_split_with_offsets(poprt_builder *builder,
    poprt_id text, poprt_id delim_regex_pattern, poprt_id keep_delim_regex_pattern,
    const poprt_contrib_string_regex_split_with_offsets_attrs *attrs, uint32_t n_out,
    poprt_id *out)
{
    const poprt_id in[] = { text, delim_regex_pattern, keep_delim_regex_pattern };
    poprt_builder_op_info op = poprt_put_op("ai.onnx.contrib", "StringRegexSplitWithOffsets",
        attrs != NULL ? attrs->name : NULL, in, 3, NULL, 0);
    op.n_outputs = n_out;
    return poprt_builder_op(builder, &op, out);
}

typedef struct poprt_contrib_string_split_attrs {
    const char *name;
} poprt_contrib_string_split_attrs;

/* StringSplit, ai.onnx.contrib 1. Outputs: indices, text, shape. */
static inline poprt_id poprt_op_contrib_string_split(poprt_builder *builder, poprt_id input,
    poprt_id sep, poprt_id skip_empty, const poprt_contrib_string_split_attrs *attrs,
    uint32_t n_out, poprt_id *out)
{
    const poprt_id in[] = { input, sep, skip_empty };
    poprt_builder_op_info op = poprt_put_op("ai.onnx.contrib", "StringSplit",
        attrs != NULL ? attrs->name : NULL, in, 3, NULL, 0);
    op.n_outputs = n_out;
    return poprt_builder_op(builder, &op, out);
}

typedef struct poprt_contrib_string_strip_attrs {
    const char *name;
} poprt_contrib_string_strip_attrs;

/* StringStrip, ai.onnx.contrib 1. */
static inline poprt_id poprt_op_contrib_string_strip(poprt_builder *builder, poprt_id input,
    const poprt_contrib_string_strip_attrs *attrs)
{
    const poprt_id in[] = { input };
    const poprt_builder_op_info op = poprt_put_op("ai.onnx.contrib", "StringStrip",
        attrs != NULL ? attrs->name : NULL, in, 1, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_contrib_string_to_hash_bucket_attrs {
    const char *name;
} poprt_contrib_string_to_hash_bucket_attrs;

/* StringToHashBucket, ai.onnx.contrib 1. */
static inline poprt_id poprt_op_contrib_string_to_hash_bucket(poprt_builder *builder,
    poprt_id input, poprt_id num_buckets, const poprt_contrib_string_to_hash_bucket_attrs *attrs)
{
    const poprt_id in[] = { input, num_buckets };
    const poprt_builder_op_info op = poprt_put_op("ai.onnx.contrib", "StringToHashBucket",
        attrs != NULL ? attrs->name : NULL, in, 2, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_contrib_string_to_hash_bucket_fast_attrs {
    const char *name;
} poprt_contrib_string_to_hash_bucket_fast_attrs;

/* StringToHashBucketFast, ai.onnx.contrib 1. */
static inline poprt_id poprt_op_contrib_string_to_hash_bucket_fast(poprt_builder *builder,
    poprt_id input, poprt_id num_buckets,
    const poprt_contrib_string_to_hash_bucket_fast_attrs *attrs)
{
    const poprt_id in[] = { input, num_buckets };
    const poprt_builder_op_info op = poprt_put_op("ai.onnx.contrib", "StringToHashBucketFast",
        attrs != NULL ? attrs->name : NULL, in, 2, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_contrib_string_upper_attrs {
    const char *name;
} poprt_contrib_string_upper_attrs;

/* StringUpper, ai.onnx.contrib 1. */
static inline poprt_id poprt_op_contrib_string_upper(poprt_builder *builder, poprt_id input,
    const poprt_contrib_string_upper_attrs *attrs)
{
    const poprt_id in[] = { input };
    const poprt_builder_op_info op = poprt_put_op("ai.onnx.contrib", "StringUpper",
        attrs != NULL ? attrs->name : NULL, in, 1, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_text_as_string_attrs {
    const char *name;
    poprt_optional_int precision; /* default -1 */
    poprt_optional_int scientific; /* default 0 */
    poprt_optional_int shortest; /* default 0 */
    poprt_optional_int width; /* default -1 */
    const char *fill;
} poprt_text_as_string_attrs;

/* AsString, poprt.text 1. */
static inline poprt_id poprt_op_text_as_string(poprt_builder *builder, poprt_id input,
    const poprt_text_as_string_attrs *attrs)
{
    poprt_attr list[5];
    uint32_t n = 0;
    const poprt_id in[] = { input };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "precision", attrs->precision);
        n = poprt_put_int(list, n, "scientific", attrs->scientific);
        n = poprt_put_int(list, n, "shortest", attrs->shortest);
        n = poprt_put_int(list, n, "width", attrs->width);
        n = poprt_put_string(list, n, "fill", attrs->fill);
    }
    const poprt_builder_op_info op = poprt_put_op("poprt.text", "AsString",
        attrs != NULL ? attrs->name : NULL, in, 1, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_text_reduce_join_attrs {
    const char *name;
    poprt_optional_int keep_dims; /* default 0 */
    const char *separator;
} poprt_text_reduce_join_attrs;

/* ReduceJoin, poprt.text 1. */
static inline poprt_id poprt_op_text_reduce_join(poprt_builder *builder, poprt_id inputs,
    poprt_id reduction_indices, const poprt_text_reduce_join_attrs *attrs)
{
    poprt_attr list[2];
    uint32_t n = 0;
    const poprt_id in[] = { inputs, reduction_indices };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "keep_dims", attrs->keep_dims);
        n = poprt_put_string(list, n, "separator", attrs->separator);
    }
    const poprt_builder_op_info op = poprt_put_op("poprt.text", "ReduceJoin",
        attrs != NULL ? attrs->name : NULL, in, 2, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_text_string_byte_length_attrs {
    const char *name;
} poprt_text_string_byte_length_attrs;

/* StringByteLength, poprt.text 1. */
static inline poprt_id poprt_op_text_string_byte_length(poprt_builder *builder, poprt_id input,
    const poprt_text_string_byte_length_attrs *attrs)
{
    const poprt_id in[] = { input };
    const poprt_builder_op_info op = poprt_put_op("poprt.text", "StringByteLength",
        attrs != NULL ? attrs->name : NULL, in, 1, NULL, 0);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_text_string_to_hash_bucket_strong_attrs {
    const char *name;
    poprt_optional_int num_buckets; /* default 0 */
    poprt_int_list key;
} poprt_text_string_to_hash_bucket_strong_attrs;

/* StringToHashBucketStrong, poprt.text 1. */
static inline poprt_id poprt_op_text_string_to_hash_bucket_strong(poprt_builder *builder,
    poprt_id input, const poprt_text_string_to_hash_bucket_strong_attrs *attrs)
{
    poprt_attr list[2];
    uint32_t n = 0;
    const poprt_id in[] = { input };
    if (attrs != NULL) {
        n = poprt_put_int(list, n, "num_buckets", attrs->num_buckets);
        n = poprt_put_ints(list, n, "key", attrs->key);
    }
    const poprt_builder_op_info op = poprt_put_op("poprt.text", "StringToHashBucketStrong",
        attrs != NULL ? attrs->name : NULL, in, 1, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_text_substr_attrs {
    const char *name;
    const char *unit; /* default BYTE */
} poprt_text_substr_attrs;

/* Substr, poprt.text 1. */
static inline poprt_id poprt_op_text_substr(poprt_builder *builder, poprt_id input, poprt_id pos,
    poprt_id len, const poprt_text_substr_attrs *attrs)
{
    poprt_attr list[1];
    uint32_t n = 0;
    const poprt_id in[] = { input, pos, len };
    if (attrs != NULL) {
        n = poprt_put_string(list, n, "unit", attrs->unit);
    }
    const poprt_builder_op_info op = poprt_put_op("poprt.text", "Substr",
        attrs != NULL ? attrs->name : NULL, in, 3, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

typedef struct poprt_text_unsorted_segment_join_attrs {
    const char *name;
    const char *separator;
} poprt_text_unsorted_segment_join_attrs;

/* UnsortedSegmentJoin, poprt.text 1. */
static inline poprt_id poprt_op_text_unsorted_segment_join(poprt_builder *builder, poprt_id inputs,
    poprt_id segment_ids, poprt_id num_segments,
    const poprt_text_unsorted_segment_join_attrs *attrs)
{
    poprt_attr list[1];
    uint32_t n = 0;
    const poprt_id in[] = { inputs, segment_ids, num_segments };
    if (attrs != NULL) {
        n = poprt_put_string(list, n, "separator", attrs->separator);
    }
    const poprt_builder_op_info op = poprt_put_op("poprt.text", "UnsortedSegmentJoin",
        attrs != NULL ? attrs->name : NULL, in, 3, list, n);
    return poprt_builder_op(builder, &op, NULL);
}

#ifdef __cplusplus
}
#endif
#endif
