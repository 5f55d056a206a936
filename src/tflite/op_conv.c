/* SPDX-License-Identifier: MIT */
/* op_conv.c — convolutions, pools and products. */
#include "tensorflow/conv.h"
#include "tflite/rows.h"

/* Returns the weights in another order of axes: stored integers are transposed before they are
 * dequantised. */
static prt_value *weights(prt_tflite_call *n, uint32_t i, uint32_t rank, const int64_t *perm)
{
    prt_build *b = &n->tf.b;
    prt_value *w = prt_tf_in(&n->tf, i);
    const prt_tflite_tensor *t = prt_tflite_input(n, i);
    if (w == NULL || prt_tf_rank(w) != (int32_t)rank) {
        if (w != NULL)
            (void)prt_tf_refuse(&n->tf, "its weights must have %u dimensions", rank);
        return NULL;
    }
    if (!prt_tflite_is_quantised(t))
        return prt_build_transpose(b, w, rank, perm);
    return prt_tflite_dequantise(b, t, prt_build_transpose(b, n->stored[i].value, rank, perm),
        perm);
}

/* Returns an input as real numbers; NULL if it is absent. */
static prt_value *real(prt_tflite_call *n, uint32_t i)
{
    return prt_tf_has(&n->tf, i)
        ? prt_tflite_dequantise(&n->tf.b, prt_tflite_input(n, i), prt_tf_in(&n->tf, i), NULL)
        : NULL;
}

/* Returns an image as real numbers with channels first: the stored integers are transposed, so that
 * the convolution reads DequantizeLinear. */
static prt_value *image(prt_tflite_call *n, uint32_t i, const prt_tf_window *w)
{
    const prt_tf_window last = { .axes = w->axes, .channels_last = true };
    prt_value *x = prt_tf_in(&n->tf, i);
    if (x != NULL && prt_tf_rank(x) != (int32_t)w->axes + 2) {
        (void)prt_tf_refuse(&n->tf, "input %u must have %u dimensions", i, w->axes + 2);
        return NULL;
    }
    return prt_tflite_dequantise(&n->tf.b, prt_tflite_input(n, i),
        prt_tf_to_channels_first(&n->tf.b, x, &last), NULL);
}

/* Ends an operator of images: applies the activation, and quantises before it transposes. */
static poprt_status end_image(prt_tflite_call *n, prt_value *y, const prt_tf_window *w)
{
    const prt_tf_window last = { .axes = w->axes, .channels_last = true };
    const prt_tflite_tensor *t = prt_tflite_output(n, 0);
    if (y == NULL)
        return prt_tf_end(&n->tf);
    y = prt_tflite_activate(n, y, prt_tflite_option(n, "activation", 0));
    if (prt_tflite_is_quantised(t))
        y = prt_tflite_quantise(&n->tf.b, t, y);
    return prt_tflite_done(n, prt_tf_from_channels_first(&n->tf.b, y, &last));
}

/* Reads strides, dilations and padding; entry 0 is the first spatial axis. The windows are those of
 * images with channels first. */
static bool read_window(prt_tflite_call *n, uint32_t axes, prt_tf_window *w)
{
    static const char *const strides[] = { "stride_d", "stride_h", "stride_w" };
    static const char *const dilations[] = { "dilation_d", "dilation_h", "dilation_w" };
    *w = (prt_tf_window){ .axes = axes,
        .padding = prt_tflite_option(n, "padding", 0) == PRT_TFLITE_SAME ? PRT_TF_PAD_same
                                                                         : PRT_TF_PAD_valid };
    for (uint32_t i = 0; i < axes; i++) {
        w->stride[i] = prt_tflite_option(n, strides[PRT_TF_MAX_AXES - axes + i], 1);
        w->dilation[i] = prt_tflite_option(n, dilations[PRT_TF_MAX_AXES - axes + i], 1);
        if (w->stride[i] < 1 || w->dilation[i] < 1) {
            (void)prt_tf_refuse(&n->tf, "its strides and dilations must be positive");
            return false;
        }
    }
    return true;
}

/* CONV_2D has weights [M,h,w,C/g], CONV_3D [d,h,w,C/g,M]. */
poprt_status prt_tflite_row_conv(prt_tflite_call *n)
{
    static const int64_t planes[] = { 0, 3, 1, 2 }, volumes[] = { 4, 3, 0, 1, 2 };
    const bool deep = n->op->code == PRT_TFLITE_OP_CONV_3D;
    prt_tf_window w;
    if (!read_window(n, deep ? 3 : 2, &w))
        return prt_tf_end(&n->tf);
    prt_value *filters = weights(n, 1, deep ? 5 : 4, deep ? volumes : planes);
    return end_image(n,
        prt_tf_conv(&n->tf, &w, image(n, 0, &w), filters, deep ? "OIDHW" : "OIHW", 0, real(n, 2)),
        &w);
}

/* The weights are [1,h,w,C*m]. */
poprt_status prt_tflite_row_depthwise_conv(prt_tflite_call *n)
{
    static const int64_t perm[] = { 3, 0, 1, 2 };
    const int64_t channels = prt_tf_dim(prt_tf_in(&n->tf, 0), 3);
    prt_tf_window w;
    if (!read_window(n, 2, &w))
        return prt_tf_end(&n->tf);
    if (!prt_dim_is_number(channels) || channels < 1)
        return prt_tf_refuse(&n->tf, "the number of channels of its input must be known");
    prt_value *filters = weights(n, 1, 4, perm);
    return end_image(n,
        prt_tf_conv(&n->tf, &w, image(n, 0, &w), filters, "OIHW", channels, real(n, 2)), &w);
}

/* Inputs: the shape of the output, weights, data, perhaps a bias. TRANSPOSE_CONV has weights
 * [M,h,w,C], CONV_3D_TRANSPOSE [d,h,w,M,C]. */
poprt_status prt_tflite_row_transpose_conv(prt_tflite_call *n)
{
    static const int64_t planes[] = { 3, 0, 1, 2 }, volumes[] = { 4, 3, 0, 1, 2 };
    const bool deep = n->op->code == PRT_TFLITE_OP_CONV_3D_TRANSPOSE;
    prt_value *x = real(n, 2);
    prt_value *w = weights(n, 1, deep ? 5 : 4, deep ? volumes : planes);
    prt_tf_window window;
    if (x == NULL || w == NULL || !read_window(n, deep ? 3 : 2, &window))
        return prt_tf_end(&n->tf);
    window.channels_last = true; /* as the shape of the output is */
    prt_value *y =
        prt_tf_conv_transpose(&n->tf, &window, x, w, deep ? "IODHW" : "IOHW", 1, real(n, 3), 0);
    if (y != NULL)
        y = prt_tflite_activate(n, y, prt_tflite_option(n, "activation", 0));
    if (y != NULL && prt_tflite_is_quantised(prt_tflite_output(n, 0)))
        y = prt_tflite_quantise(&n->tf.b, prt_tflite_output(n, 0), y);
    return prt_tflite_done(n, y);
}

/* L2_POOL_2D is the root of the mean of squares. Padding never counts. */
poprt_status prt_tflite_row_pool(prt_tflite_call *n)
{
    const int32_t code = n->op->code;
    prt_build *b = &n->tf.b;
    prt_tf_window w;
    if (!read_window(n, 2, &w))
        return prt_tf_end(&n->tf);
    w.kernel[0] = prt_tflite_option(n, "filter_height", 0);
    w.kernel[1] = prt_tflite_option(n, "filter_width", 0);
    if (w.kernel[0] < 1 || w.kernel[1] < 1)
        return prt_tf_refuse(&n->tf, "its filter must have a positive size");
    prt_value *x = image(n, 0, &w);
    if (code == PRT_TFLITE_OP_L2_POOL_2D)
        x = prt_build_binary(b, PRT_OP_mul, x, x);
    x = prt_tf_pool(&n->tf, &w,
        code == PRT_TFLITE_OP_MAX_POOL_2D ? PRT_OP_max_pool : PRT_OP_average_pool, x);
    if (code == PRT_TFLITE_OP_L2_POOL_2D)
        x = prt_build_unary(b, PRT_OP_sqrt, x);
    return end_image(n, x, &w);
}

/* ---- products */

/* Weights are [out,in]. Unless the number of dimensions is kept, the input becomes [-1,in]. */
poprt_status prt_tflite_row_fully_connected(prt_tflite_call *n)
{
    static const int64_t swapped[] = { 1, 0 };
    prt_build *b = &n->tf.b;
    prt_value *x = prt_tf_in(&n->tf, 0), *w = prt_tf_in(&n->tf, 1);
    prt_value *bias = prt_tf_has(&n->tf, 2) ? prt_tf_in(&n->tf, 2) : NULL;
    const bool keep = prt_tflite_option(n, "keep_num_dims", 0) != 0;
    const int64_t wanted[] = { -1, prt_tf_dim(w, 1) };
    if (prt_tflite_option(n, "weights_format", 0) != 0)
        return prt_tf_refuse(&n->tf, "its weights are shuffled");
    if (x == NULL || w == NULL)
        return prt_tf_end(&n->tf);
    if (prt_tf_rank(w) != 2 || !prt_dim_is_number(wanted[1]))
        return prt_tf_refuse(&n->tf, "its weights must be a matrix whose shape is known");
    if (!keep && (prt_tf_rank(x) != 2 || prt_tf_dim(x, 1) != wanted[1]))
        x = prt_build_reshape(b, x, 2, wanted);
    if (prt_tf_rank(x) == 2) {
        prt_gemm_attrs attrs = PRT_ATTRS_OF(gemm);
        PRT_ATTR_SET(attrs, gemm, transB, 1);
        prt_value *in[3] = { x, w, bias };
        return prt_tflite_done(n, prt_build_op(b, PRT_OP_gemm, &attrs, bias != NULL ? 3 : 2, in));
    }
    prt_value *y = prt_build_binary(b, PRT_OP_matmul, x, weights(n, 1, 2, swapped));
    return prt_tflite_done(n, bias != NULL ? prt_build_binary(b, PRT_OP_add, y, bias) : y);
}
