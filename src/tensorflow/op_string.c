/* SPDX-License-Identifier: MIT */
/*
 * op_string.c — operators on strings. They become operators of ai.onnx where the opset of the file
 * has one with TensorFlow's results, else operators of ai.onnx.contrib or poprt.text.
 */
#include "ir/evaluate.h"
#include "tensorflow/formulas.h"
#include "tensorflow/strings.h"

enum {
    EQUAL_SINCE = 19, /* opset of Equal on strings */
    TEXT_SINCE = 20   /* opset of StringConcat, StringSplit and RegexFullMatch */
};

static bool has_opset(const prt_tf_call *n, int64_t opset)
{
    return prt_module_opset(n->c->module, PRT_STR("")) >= opset;
}

/* The StringConcat of ai.onnx.contrib needs equal shapes in onnxruntime-extensions. */
prt_value *prt_tf_concat_strings(prt_tf_call *n, prt_value *x, prt_value *y)
{
    if (has_opset(n, TEXT_SINCE))
        return BINARY(string_concat, x, y);
    if (prt_tf_rank(x) == 0 && prt_tf_rank(y) != 0)
        x = prt_build_expand(&n->b, x, prt_build_shape(&n->b, y));
    else if (prt_tf_rank(y) == 0 && prt_tf_rank(x) != 0)
        y = prt_build_expand(&n->b, y, prt_build_shape(&n->b, x));
    return BINARY(contrib_string_concat, x, y);
}

/* Replaces two tensors of strings by the numbers of their elements among all that differ. */
static void number_strings(prt_tf_call *n, prt_value **x, prt_value **y)
{
    static const int64_t flat[] = { -1 };
    prt_value *parts[] = { prt_build_reshape(&n->b, *x, 1, flat),
        prt_build_reshape(&n->b, *y, 1, flat) };
    prt_value *all = prt_build_concat(&n->b, 0, 2, parts), *axis = prt_build_i64s(&n->b, 1, flat);
    prt_value *count = prt_build_size_of(&n->b, parts[0], 0);
    prt_op *op = all != NULL ? prt_build_op_n(&n->b, PRT_OP_unique, NULL, 1, &all, 3) : NULL;
    prt_value *numbers = op != NULL ? &op->out[2] : NULL;
    prt_value *end = prt_build_i64s(&n->b, 1, (int64_t[]){ INT64_MAX });
    prt_value *zero = prt_build_i64s(&n->b, 1, (int64_t[]){ 0 });
    prt_value *first = prt_build_slice_by(&n->b, numbers, zero, count, axis, NULL);
    prt_value *second = prt_build_slice_by(&n->b, numbers, count, end, axis, NULL);
    *x = prt_build_reshape_to(&n->b, first, prt_build_shape(&n->b, *x));
    *y = prt_build_reshape_to(&n->b, second, prt_build_shape(&n->b, *y));
}

prt_value *prt_tf_equal(prt_tf_call *n, prt_value *x, prt_value *y)
{
    if (prt_tf_dtype(x) == PRT_DTYPE_string && !has_opset(n, EQUAL_SINCE))
        number_strings(n, &x, &y);
    return prt_build_binary(&n->b, PRT_OP_equal, x, y);
}

/* Returns a constant of one string, of rank 0 or 1. */
static prt_value *text_of(prt_tf_call *n, prt_str text, uint32_t rank)
{
    const int64_t one = 1;
    poprt_string string = { text.data, text.size };
    prt_tensor t;
    (void)prt_tensor_init(&t, PRT_DTYPE_string, rank, &one, &string);
    prt_value *constant = prt_graph_add_tensor(n->scope->graph, &t);
    if (constant == NULL)
        n->status = POPRT_E_NOMEM;
    return constant;
}

/* Reads input i, if it is one constant text. */
static bool constant_text(prt_tf_call *n, uint32_t i, prt_str *out)
{
    prt_tensor t;
    if (!prt_tf_constant(n, i, &t) || t.dtype != PRT_DTYPE_string || prt_tensor_count(&t) != 1)
        return false;
    const poprt_string *text = t.data;
    *out = (prt_str){ text->data, (uint32_t)text->size };
    return text->size <= UINT32_MAX;
}

/* ---- characters */

/* TensorFlow changes ASCII letters, and other letters only with encoding utf-8. StringNormalizer
 * changes all letters of a vector. Since it adds an element to an empty vector, a last element is
 * added before it and dropped after it. */
poprt_status prt_tf_row_string_case(prt_tf_call *n)
{
    prt_value *x = prt_tf_in(n, 0);
    const bool upper = n->node->row->id == PRT_OP_contrib_string_upper;
    if (prt_tf_attr_is(n, "encoding", "", ""))
        return prt_tf_end_with(n, prt_build_unary(&n->b, n->node->row->id, x));
    if (!prt_tf_attr_is(n, "encoding", "", "utf-8"))
        return prt_tf_refuse(n, "its encoding is neither empty nor utf-8");
    prt_tf_warn(n,
        "letters from U+0800 on keep their case, and so do letters whose other case has another "
        "length");
    prt_string_normalizer_attrs attrs = PRT_ATTRS_OF(string_normalizer);
    PRT_ATTR_SET(attrs, string_normalizer, case_change_action,
        upper ? PRT_STR("UPPER") : PRT_STR("LOWER"));
    PRT_ATTR_SET(attrs, string_normalizer, is_case_sensitive, 1);
    prt_value *parts[] = { prt_build_reshape(&n->b, x, 1, (int64_t[]){ -1 }),
        text_of(n, PRT_STR(""), 1) };
    prt_value *all = prt_build_concat(&n->b, 0, 2, parts);
    all = prt_build_op(&n->b, PRT_OP_string_normalizer, &attrs, 1, &all);
    all = prt_build_slice(&n->b, all, 0, 0, -1, 1);
    return prt_tf_end_with(n, prt_build_reshape_to(&n->b, all, prt_build_shape(&n->b, x)));
}

poprt_status prt_tf_row_string_length(prt_tf_call *n)
{
    const uint32_t id = prt_tf_attr_is(n, "unit", "BYTE", "BYTE") ? PRT_OP_text_string_byte_length
                                                                  : PRT_OP_contrib_string_length;
    prt_value *length = prt_build_unary(&n->b, id, prt_tf_in(n, 0));
    return prt_tf_end_with(n, prt_build_cast(&n->b, length, PRT_DTYPE_i32));
}

poprt_status prt_tf_row_substr(prt_tf_call *n)
{
    prt_value *in[] = { prt_tf_in(n, 0), prt_tf_in(n, 1), prt_tf_in(n, 2) };
    prt_text_substr_attrs attrs = PRT_ATTRS_OF(text_substr);
    PRT_ATTR_SET(attrs, text_substr, unit, prt_tf_attr_str(n, "unit", "BYTE"));
    return prt_tf_end_with(n, prt_build_op(&n->b, PRT_OP_text_substr, &attrs, 3, in));
}

/* ---- joining */

poprt_status prt_tf_row_string_join(prt_tf_call *n)
{
    const prt_str text = prt_tf_attr_str(n, "separator", "");
    prt_value *y = prt_tf_in(n, 0), *separator = text.size != 0 ? text_of(n, text, 0) : NULL;
    for (uint32_t i = 1; i < n->n_in; i++) {
        if (separator != NULL)
            y = prt_tf_concat_strings(n, y, separator);
        y = prt_tf_concat_strings(n, y, prt_tf_in(n, i));
    }
    return prt_tf_end_with(n, y);
}

/* The StringJoin of ai.onnx.contrib joins along one axis. A result of rank 0 becomes a vector
 * there. */
static prt_value *join_axis(prt_tf_call *n, prt_value *x, prt_str separator, int64_t axis)
{
    const bool keep = prt_tf_attr_bool(n, "keep_dims", false);
    prt_value *in[] = { x, text_of(n, separator, 1), prt_build_i64s(&n->b, 1, &axis) };
    prt_value *y = prt_build_op(&n->b, PRT_OP_contrib_string_join, NULL, 3, in);
    if (prt_tf_rank(x) == 1)
        return keep ? y : prt_build_squeeze(&n->b, y, 1, (int64_t[]){ 0 });
    return keep ? prt_build_unsqueeze(&n->b, y, 1, &axis) : y;
}

poprt_status prt_tf_row_reduce_join(prt_tf_call *n)
{
    prt_value *in[] = { prt_tf_in(n, 0), prt_tf_in(n, 1) };
    const prt_str separator = prt_tf_attr_str(n, "separator", "");
    int64_t axis;
    uint32_t count = 0;
    if (prt_tf_rank(in[0]) > 0 && prt_tf_ints(n, 1, 1, &axis, &count) && count == 1 &&
        prt_dim_is_number(axis))
        return prt_tf_end_with(n, join_axis(n, in[0], separator, axis));
    prt_text_reduce_join_attrs attrs = PRT_ATTRS_OF(text_reduce_join);
    PRT_ATTR_SET(attrs, text_reduce_join, keep_dims, prt_tf_attr_bool(n, "keep_dims", false));
    PRT_ATTR_SET(attrs, text_reduce_join, separator, separator);
    return prt_tf_end_with(n, prt_build_op(&n->b, PRT_OP_text_reduce_join, &attrs, 2, in));
}

poprt_status prt_tf_row_unsorted_segment_join(prt_tf_call *n)
{
    prt_value *in[] = { prt_tf_in(n, 0), prt_tf_in(n, 1), prt_tf_in(n, 2) };
    prt_text_unsorted_segment_join_attrs attrs = PRT_ATTRS_OF(text_unsorted_segment_join);
    PRT_ATTR_SET(attrs, text_unsorted_segment_join, separator, prt_tf_attr_str(n, "separator", ""));
    return prt_tf_end_with(n,
        prt_build_op(&n->b, PRT_OP_text_unsorted_segment_join, &attrs, 3, in));
}

/* ---- splitting: indices, values and shape of a sparse matrix */

/* The StringSplit of ai.onnx.contrib: each byte of the separator separates, and an empty string
 * has no pieces. */
static prt_op *split_bytes(prt_tf_call *n, prt_value *x, prt_value *separator, bool skip_empty)
{
    prt_value *skip = prt_build_tensor(&n->b, PRT_DTYPE_bool, 1, (int64_t[]){ 1 }, &skip_empty);
    prt_value *in[] = { x, separator, skip };
    return prt_build_op_n(&n->b, PRT_OP_contrib_string_split, NULL, 3, in, 3);
}

static poprt_status end_with_triple(prt_tf_call *n, const prt_op *op)
{
    for (uint32_t i = 0; op != NULL && i < 3; i++)
        prt_tf_set(n, i, &op->out[i]);
    return prt_tf_end(n);
}

poprt_status prt_tf_row_string_split(prt_tf_call *n)
{
    const bool skip_empty = prt_tf_attr_bool(n, "skip_empty", true);
    return end_with_triple(n, split_bytes(n, prt_tf_in(n, 0), prt_tf_in(n, 1), skip_empty));
}

static prt_value *compress(prt_tf_call *n, prt_value *x, prt_value *test)
{
    prt_compress_attrs attrs = PRT_ATTRS_OF(compress);
    PRT_ATTR_SET(attrs, compress, axis, 0);
    return prt_build_op(&n->b, PRT_OP_compress, &attrs, 2, (prt_value *[]){ x, test });
}

/* Splits at one byte. With the separator at the end of each string, no string is empty, and each
 * has one piece more: an empty one, which is dropped. */
static poprt_status split_at_byte(prt_tf_call *n, prt_str text)
{
    prt_value *x = prt_tf_concat_strings(n, prt_tf_in(n, 0), text_of(n, text, 0));
    const prt_op *op = split_bytes(n, x, text_of(n, text, 1), false);
    if (op == NULL)
        return prt_tf_end(n);
    prt_value *at = prt_build_slice(&n->b, &op->out[0], 0, 0, -1, 1);
    prt_value *next = prt_build_slice(&n->b, &op->out[0], 0, 1, INT64_MAX, 1);
    prt_value *zero = I64(0), *more = prt_build_i64s(&n->b, 2, (int64_t[]){ 0, 1 });
    prt_value *inner =
        BINARY(equal, prt_build_gather(&n->b, at, zero, 1), prt_build_gather(&n->b, next, zero, 1));
    prt_value *values = prt_build_slice(&n->b, &op->out[1], 0, 0, -1, 1);
    prt_tf_set(n, 0, compress(n, at, inner));
    prt_tf_set(n, 1, compress(n, values, inner));
    prt_tf_set(n, 2, BINARY(max, BINARY(sub, &op->out[2], more), zero));
    return prt_tf_end(n);
}

/* Takes the pieces from the dense matrix of StringSplit. */
static poprt_status split_at_text(prt_tf_call *n, prt_str text, int64_t most)
{
    prt_value *x = prt_tf_in(n, 0);
    prt_string_split_attrs attrs = PRT_ATTRS_OF(string_split);
    PRT_ATTR_SET(attrs, string_split, delimiter, text);
    if (most >= 0)
        PRT_ATTR_SET(attrs, string_split, maxsplit, most);
    const prt_op *op = prt_build_op_n(&n->b, PRT_OP_string_split, &attrs, 1, &x, 2);
    if (op == NULL)
        return prt_tf_end(n);
    prt_value *pieces = &op->out[0], *shape = prt_build_shape(&n->b, pieces);
    prt_value *columns = prt_build_gather(&n->b, shape, I64(1), 0);
    prt_value *range = prt_build_range(&n->b, I64(0), columns, I64(1));
    prt_value *used =
        BINARY(less, range, prt_build_unsqueeze(&n->b, &op->out[1], 1, (int64_t[]){ 1 }));
    prt_value *places = prt_build_unary(&n->b, PRT_OP_nonzero, used);
    prt_tf_set(n, 0, prt_build_transpose(&n->b, places, 2, (int64_t[]){ 1, 0 }));
    prt_tf_set(n, 1,
        compress(n, prt_build_reshape(&n->b, pieces, 1, (int64_t[]){ -1 }),
            prt_build_reshape(&n->b, used, 1, (int64_t[]){ -1 })));
    prt_tf_set(n, 2, shape);
    return prt_tf_end(n);
}

/* An empty separator stands for runs of white space. */
poprt_status prt_tf_row_string_split_v2(prt_tf_call *n)
{
    const int64_t most = prt_tf_attr_i64(n, "maxsplit", -1);
    prt_str text;
    if (!constant_text(n, 1, &text))
        return prt_tf_refuse(n, "the separator (input 1) must be a constant");
    if (text.size == 0 && most >= 0)
        return prt_tf_refuse(n, "the number of splits at white space is limited (maxsplit)");
    if (text.size == 0)
        return end_with_triple(n,
            split_bytes(n, prt_tf_in(n, 0), text_of(n, PRT_STR(" \t\n\v\f\r"), 1), true));
    if (has_opset(n, TEXT_SINCE))
        return split_at_text(n, text, most);
    if (text.size > 1 || most >= 0)
        return prt_tf_refuse(n, "a separator of several bytes or a limit (maxsplit) needs opset %d",
            TEXT_SINCE);
    return split_at_byte(n, text);
}

/* ---- regular expressions: inputs, or attributes of the operators Static… */

static prt_value *replace(prt_tf_call *n, prt_value *pattern, prt_value *rewrite, bool global)
{
    prt_value *in[] = { prt_tf_in(n, 0), pattern, rewrite };
    prt_contrib_string_regex_replace_attrs attrs = PRT_ATTRS_OF(contrib_string_regex_replace);
    PRT_ATTR_SET(attrs, contrib_string_regex_replace, global_replace, global);
    return prt_build_op(&n->b, PRT_OP_contrib_string_regex_replace, &attrs, 3, in);
}

/* Returns input i, or a text attribute of an operator with one input. */
static prt_value *input_or_attr(prt_tf_call *n, uint32_t i, const char *name)
{
    return n->n_in == 1 ? text_of(n, prt_tf_attr_str(n, name, ""), 1) : prt_tf_in(n, i);
}

poprt_status prt_tf_row_regex_replace(prt_tf_call *n)
{
    return prt_tf_end_with(n,
        replace(n, input_or_attr(n, 1, "pattern"), input_or_attr(n, 2, "rewrite"),
            prt_tf_attr_bool(n, "replace_global", true)));
}

/* Without RegexFullMatch, a string matches if replacing the whole match by a longer text changes
 * it. */
poprt_status prt_tf_row_regex_full_match(prt_tf_call *n)
{
    prt_value *x = prt_tf_in(n, 0), *pattern = input_or_attr(n, 1, "pattern");
    prt_str text = prt_tf_attr_str(n, "pattern", "");
    if (has_opset(n, TEXT_SINCE) && (n->n_in == 1 || constant_text(n, 1, &text))) {
        prt_regex_full_match_attrs attrs = PRT_ATTRS_OF(regex_full_match);
        PRT_ATTR_SET(attrs, regex_full_match, pattern, text);
        return prt_tf_end_with(n, prt_build_op(&n->b, PRT_OP_regex_full_match, &attrs, 1, &x));
    }
    pattern = prt_tf_concat_strings(n, text_of(n, PRT_STR("^(?:"), 1), pattern);
    pattern = prt_tf_concat_strings(n, pattern, text_of(n, PRT_STR(")$"), 1));
    prt_value *longer = replace(n, pattern, text_of(n, PRT_STR("\\0+"), 1), false);
    return prt_tf_end_with(n, prt_build_unary(&n->b, PRT_OP_not, prt_tf_equal(n, x, longer)));
}

/* ---- hashes and numbers */

poprt_status prt_tf_row_string_to_hash_bucket(prt_tf_call *n)
{
    const int64_t buckets = prt_tf_attr_i64(n, "num_buckets", 0);
    return prt_tf_end_with(n,
        prt_build_binary(&n->b, n->node->row->id, prt_tf_in(n, 0),
            prt_build_i64s(&n->b, 1, &buckets)));
}

poprt_status prt_tf_row_string_to_hash_bucket_strong(prt_tf_call *n)
{
    prt_value *x = prt_tf_in(n, 0);
    prt_text_string_to_hash_bucket_strong_attrs attrs =
        PRT_ATTRS_OF(text_string_to_hash_bucket_strong);
    PRT_ATTR_SET(attrs, text_string_to_hash_bucket_strong, num_buckets,
        prt_tf_attr_i64(n, "num_buckets", 0));
    PRT_ATTR_SET(attrs, text_string_to_hash_bucket_strong, key, prt_tf_attr_ints(n, "key"));
    return prt_tf_end_with(n,
        prt_build_op(&n->b, PRT_OP_text_string_to_hash_bucket_strong, &attrs, 1, &x));
}

poprt_status prt_tf_row_string_to_number(prt_tf_call *n)
{
    const int32_t type = prt_tf_attr_dtype(n, "out_type", PRT_DTYPE_f32);
    return prt_tf_end_with(n, prt_build_cast(&n->b, prt_tf_in(n, 0), type));
}

/* Cast prints integers in the same format. Booleans choose between two texts. */
poprt_status prt_tf_row_as_string(prt_tf_call *n)
{
    prt_value *x = prt_tf_in(n, 0);
    const int32_t type = prt_tf_dtype(x);
    const prt_str fill = prt_tf_attr_str(n, "fill", "");
    const int64_t width = prt_tf_attr_i64(n, "width", -1);
    const bool padded = width > 0 || fill.size != 0;
    if (type == PRT_DTYPE_bool)
        return prt_tf_end_with(n,
            prt_build_where(&n->b, x, text_of(n, PRT_STR("true"), 0),
                text_of(n, PRT_STR("false"), 0)));
    if (!padded && (prt_dtype_is_integer(type) || type == PRT_DTYPE_string))
        return prt_tf_end_with(n, prt_build_cast(&n->b, x, PRT_DTYPE_string));
    if (type == PRT_DTYPE_string)
        return prt_tf_refuse(n, "it pads strings (width or fill)");
    prt_text_as_string_attrs attrs = PRT_ATTRS_OF(text_as_string);
    PRT_ATTR_SET(attrs, text_as_string, precision, prt_tf_attr_i64(n, "precision", -1));
    PRT_ATTR_SET(attrs, text_as_string, scientific, prt_tf_attr_bool(n, "scientific", false));
    PRT_ATTR_SET(attrs, text_as_string, shortest, prt_tf_attr_bool(n, "shortest", false));
    PRT_ATTR_SET(attrs, text_as_string, width, width);
    PRT_ATTR_SET(attrs, text_as_string, fill, fill);
    return prt_tf_end_with(n, prt_build_op(&n->b, PRT_OP_text_as_string, &attrs, 1, &x));
}
