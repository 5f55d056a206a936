/* SPDX-License-Identifier: MIT */
/* op_basic.c — operators that TensorFlow lacks, or whose options are TensorFlow's inputs. */
#include "tflite/rows.h"

static prt_value *int32_constant(prt_tflite_call *n, int64_t number)
{
    return prt_build_scalar(&n->tf.b, PRT_DTYPE_i32, (double)number);
}

/* QUANTIZE, DEQUANTIZE and DENSIFY: the tensors say what happens. */
poprt_status prt_tflite_row_same(prt_tflite_call *n)
{
    return prt_tflite_done(n, prt_tf_in(&n->tf, 0));
}

/* The condition is one element of any shape. TensorFlow would ask whether a list is empty. */
poprt_status prt_tflite_row_if(prt_tflite_call *n)
{
    prt_tf_value *in = prt_arena_copy(n->tf.c->arena, n->tf.in, n->tf.n_in * sizeof(*in));
    if (in == NULL)
        return POPRT_E_NOMEM;
    if (prt_tf_rank(prt_tf_in(&n->tf, 0)) != 0)
        in[0] = prt_tflite_value(prt_build_reshape(&n->tf.b, in[0].value, 0, NULL));
    return prt_tflite_as(n, "If", n->tf.n_in, in, 0, NULL);
}

poprt_status prt_tflite_row_concatenation(prt_tflite_call *n)
{
    const uint32_t count = n->tf.n_in;
    prt_tf_value *in = PRT_NEW_N(n->tf.c->arena, prt_tf_value, (size_t)count + 1);
    if (in == NULL)
        return POPRT_E_NOMEM;
    memcpy(in, n->tf.in, count * sizeof(*in));
    in[count] = prt_tflite_value(int32_constant(n, prt_tflite_option(n, "axis", 0)));
    return prt_tflite_as(n, "ConcatV2", count + 1, in, 0, NULL);
}

poprt_status prt_tflite_row_gather(prt_tflite_call *n)
{
    const prt_tf_value in[3] = { n->tf.in[0], n->tf.in[1],
        prt_tflite_value(int32_constant(n, prt_tflite_option(n, "axis", 0))) };
    return prt_tflite_as(n, "GatherV2", 3, in, 0, NULL);
}

poprt_status prt_tflite_row_embedding_lookup(prt_tflite_call *n)
{
    return prt_tflite_done(n,
        prt_build_gather(&n->tf.b, prt_tf_in(&n->tf, 1), prt_tf_in(&n->tf, 0), 0));
}

/* The shape is input 1, else an option. */
poprt_status prt_tflite_row_reshape(prt_tflite_call *n)
{
    const prt_flat_vector v =
        prt_flat_items(&n->op->options, PRT_TFLITE_FIELD(ReshapeOptions, new_shape));
    int64_t dims[PRT_MAX_RANK];
    if (prt_tf_has(&n->tf, 1))
        return prt_tflite_as(n, "Reshape", 2, n->tf.in, 0, NULL);
    if (v.count > PRT_MAX_RANK)
        return prt_tf_refuse(&n->tf, "its shape has more than %d dimensions", PRT_MAX_RANK);
    for (size_t i = 0; i < v.count; i++)
        dims[i] = prt_flat_item_int(&v, i);
    PRT_TRY(n->op->options.file->status);
    return prt_tflite_done(n,
        prt_build_reshape(&n->tf.b, prt_tf_in(&n->tf, 0), (uint32_t)v.count, dims));
}

/* The shape is that of the output tensor. */
poprt_status prt_tflite_row_reshape_as_output(prt_tflite_call *n)
{
    const prt_tflite_tensor *t = prt_tflite_output(n, 0);
    for (uint32_t i = 0; t != NULL && i < t->rank; i++)
        if (t->dims[i] < 0)
            return prt_tf_refuse(&n->tf, "the shape of its output must be known");
    return prt_tflite_done(n,
        t != NULL ? prt_build_reshape(&n->tf.b, prt_tf_in(&n->tf, 0), t->rank, t->dims) : NULL);
}

/* With the option `offset`, the ends are relative to the begins. */
poprt_status prt_tflite_row_strided_slice(prt_tflite_call *n)
{
    if (prt_tflite_option(n, "offset", 0) == 0)
        return prt_tflite_as(n, "StridedSlice", n->tf.n_in, n->tf.in, 0, NULL);
    const prt_tf_value in[4] = { n->tf.in[0], n->tf.in[1],
        prt_tflite_value(
            prt_build_binary(&n->tf.b, PRT_OP_add, prt_tf_in(&n->tf, 1), prt_tf_in(&n->tf, 2))),
        n->tf.in[3] };
    return prt_tflite_as(n, "StridedSlice", 4, in, 0, NULL);
}

/* The stored integers are padded by the integer for 0 if the scales are the same. */
poprt_status prt_tflite_row_pad(prt_tflite_call *n)
{
    const prt_tflite_tensor *x = prt_tflite_input(n, 0), *y = prt_tflite_output(n, 0);
    prt_tf_value in[3] = { n->stored[0], n->stored[1] };
    prt_build *b = &n->tf.b;
    const bool quantised = prt_tflite_is_quantised(x);
    n->moves = prt_tflite_same_scale(n);
    if (quantised && !n->moves)
        in[0].value = prt_tflite_dequantise(b, x, in[0].value, NULL);
    if (n->tf.n_in > 2) {
        in[2] = n->stored[2];
        if (quantised && !n->moves)
            in[2].value = prt_tflite_dequantise(b, prt_tflite_input(n, 2), in[2].value, NULL);
    } else if (quantised && n->moves) {
        in[2] = prt_tflite_value(
            prt_build_scalar(b, x->dtype, (double)x->quantization->zero_points[0]));
    }
    const uint32_t n_in = in[2].kind == PRT_TF_none ? 2 : 3;
    PRT_TRY(prt_tflite_as(n, n_in == 2 ? "Pad" : "PadV2", n_in, in, 0, NULL));
    if (quantised && !n->moves && prt_tflite_is_quantised(y))
        prt_tf_set(&n->tf, 0, prt_tflite_quantise(b, y, n->tf.out[0].value));
    return prt_tf_end(&n->tf);
}

poprt_status prt_tflite_row_mirror_pad(prt_tflite_call *n)
{
    const prt_tf_attr_value word = { .kind = PRT_TF_ATTR_s,
        .s = prt_tflite_option(n, "mode", 0) == 0 ? PRT_STR("REFLECT") : PRT_STR("SYMMETRIC") };
    const prt_tf_attr_value *kept = prt_arena_copy(n->tf.c->arena, &word, sizeof(word));
    const prt_tf_attr attr = { .name = PRT_STR("mode"), .value = kept };
    return kept != NULL ? prt_tflite_as(n, "MirrorPad", 2, n->tf.in, 1, &attr) : POPRT_E_NOMEM;
}

/* ---- activations and normalisations */

poprt_status prt_tflite_row_clip(prt_tflite_call *n)
{
    const double low = n->op->code == PRT_TFLITE_OP_RELU_N1_TO_1 ? -1 : 0;
    return prt_tflite_done(n, prt_build_clip(&n->tf.b, prt_tf_in(&n->tf, 0), low, 1));
}

poprt_status prt_tflite_row_hard_swish(prt_tflite_call *n)
{
    return prt_tflite_done(n, prt_build_unary(&n->tf.b, PRT_OP_hard_swish, prt_tf_in(&n->tf, 0)));
}

poprt_status prt_tflite_row_gelu(prt_tflite_call *n)
{
    prt_gelu_attrs attrs = PRT_ATTRS_OF(gelu);
    prt_value *in[1] = { prt_tf_in(&n->tf, 0) };
    if (prt_tflite_option(n, "approximate", 0) != 0)
        PRT_ATTR_SET(attrs, gelu, approximate, PRT_STR("tanh"));
    if (in[0] == NULL)
        return prt_tf_end(&n->tf);
    return prt_tflite_done(n, prt_build_op(&n->tf.b, PRT_OP_gelu, &attrs, 1, in));
}

poprt_status prt_tflite_row_softmax(prt_tflite_call *n)
{
    prt_build *b = &n->tf.b;
    const float beta = prt_flat_f32(&n->op->options, PRT_TFLITE_FIELD(SoftmaxOptions, beta));
    prt_value *x = prt_tf_in(&n->tf, 0);
    if (beta != 1.0F && x != NULL)
        x = prt_build_binary(b, PRT_OP_mul, x, prt_build_number(b, x, (double)beta));
    return prt_tflite_done(n, prt_build_unary(b, PRT_OP_softmax, x));
}

/* Divides by the norm along the last axis, which is at least 1e-6. */
poprt_status prt_tflite_row_l2_normalization(prt_tflite_call *n)
{
    prt_build *b = &n->tf.b;
    prt_value *x = prt_tf_in(&n->tf, 0);
    prt_value *norm = prt_build_reduce_axis(b, PRT_OP_reduce_l2, x, -1, true);
    if (norm != NULL) {
        prt_value *in[2] = { norm, prt_build_number(b, norm, 1e-6) };
        norm = prt_build_op(b, PRT_OP_max, NULL, 2, in);
    }
    return prt_tflite_done(n, prt_build_binary(b, PRT_OP_div, x, norm));
}

poprt_status prt_tflite_row_prelu(prt_tflite_call *n)
{
    return prt_tflite_done(n,
        prt_build_binary(&n->tf.b, PRT_OP_prelu, prt_tf_in(&n->tf, 0), prt_tf_in(&n->tf, 1)));
}

/* ---- others */

/* The last outputs of TFLite's operators are those of TensorFlow's, with padding. */
poprt_status prt_tflite_row_non_max_suppression(prt_tflite_call *n)
{
    static const prt_tf_attr_value yes = { .kind = PRT_TF_ATTR_b, .i = 1 };
    const prt_tf_attr attr = { .name = PRT_STR_INIT("pad_to_max_output_size"), .value = &yes };
    const bool soft = n->op->code == PRT_TFLITE_OP_NON_MAX_SUPPRESSION_V5;
    return prt_tflite_as(n, soft ? "NonMaxSuppressionV5" : "NonMaxSuppressionV4", n->tf.n_in,
        n->tf.in, 1, &attr);
}

/* Writes a block into a tensor. The start is moved so that the block fits. */
poprt_status prt_tflite_row_dynamic_update_slice(prt_tflite_call *n)
{
    prt_build *b = &n->tf.b;
    prt_value *x = prt_tf_in(&n->tf, 0), *update = prt_tf_in(&n->tf, 1);
    prt_value *start = prt_build_cast(b, prt_tf_in(&n->tf, 2), PRT_DTYPE_i64);
    const int32_t rank = prt_tf_need_rank(&n->tf, 0);
    if (rank < 0 || start == NULL || update == NULL)
        return prt_tf_end(&n->tf);
    prt_value *sizes = prt_build_shape(b, update), *indices = NULL;
    prt_value *last = prt_build_binary(b, PRT_OP_sub, prt_build_shape(b, x), sizes);
    prt_value *low[2] = { start, last };
    start = prt_build_op(b, PRT_OP_min, NULL, 2, low);
    prt_value *high[2] = { start, prt_build_i64(b, 0) };
    start = prt_build_op(b, PRT_OP_max, NULL, 2, high);
    /* The index of each element of the block, as a last axis of `rank` numbers. */
    prt_value *parts[PRT_MAX_RANK];
    for (int32_t i = 0; i < rank; i++) {
        int64_t dims[PRT_MAX_RANK];
        const int64_t zero[] = { 0 }, last_axis[] = { rank };
        for (int32_t k = 0; k < rank; k++)
            dims[k] = k == i ? -1 : 1;
        prt_value *first = prt_build_squeeze(b, prt_build_slice(b, start, 0, i, i + 1, 1), 1, zero);
        prt_value *size = prt_build_squeeze(b, prt_build_slice(b, sizes, 0, i, i + 1, 1), 1, zero);
        prt_value *r = prt_build_range(b, prt_build_i64(b, 0), size, prt_build_i64(b, 1));
        r = prt_build_binary(b, PRT_OP_add, r, first);
        r = prt_build_expand(b, prt_build_reshape(b, r, (uint32_t)rank, dims), sizes);
        parts[i] = prt_build_unsqueeze(b, r, 1, last_axis);
    }
    indices = rank > 0 ? prt_build_concat(b, rank, (uint32_t)rank, parts) : NULL;
    return prt_tflite_done(n,
        rank > 0 ? prt_build_scatter_nd(b, x, indices, update, "none") : update);
}
