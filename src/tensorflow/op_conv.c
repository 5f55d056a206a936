/* SPDX-License-Identifier: MIT */
/* op_conv.c — convolutions, also fused and dilated ones, biases and batch normalisation. */
#include "tensorflow/conv.h"
#include "tensorflow/rows.h"

static const char *const hwio[] = { "", "WIO", "HWIO", "DHWIO" };
static const char *const hwoi[] = { "", "WOI", "HWOI", "DHWOI" };

/* ---- convolutions */

/* Reshapes depthwise filters [kh, kw, C, m] to [kh, kw, 1, C·m], and sets `channels` to C. */
static prt_value *depthwise_filters(prt_tf_call *n, uint32_t i, int64_t *channels)
{
    int64_t dims[4];
    prt_value *w = prt_tf_in(n, i);
    bool known = prt_tf_rank(w) == 4;
    for (uint32_t k = 0; k < 4; k++)
        known = known && prt_dim_is_number(dims[k] = prt_tf_dim(w, k));
    if (!known || dims[2] < 1 || dims[3] < 1) {
        if (w != NULL)
            (void)prt_tf_refuse(n, "the shape of the filters is not known or empty");
        return NULL;
    }
    *channels = dims[2];
    dims[2] = 1;
    dims[3] = -1;
    return prt_build_reshape(&n->b, w, 4, dims);
}

static prt_value *convolve(prt_tf_call *n, const prt_tf_window *w, prt_value *x, bool depthwise)
{
    int64_t group = 0;
    prt_value *weights = depthwise ? depthwise_filters(n, 1, &group) : prt_tf_in(n, 1);
    return prt_tf_conv(n, w, x, weights, hwio[w->axes], group, NULL);
}

static poprt_status conv(prt_tf_call *n, uint32_t axes, bool depthwise)
{
    prt_tf_window w;
    if (prt_tf_read_window(n, axes, &w))
        prt_tf_set(n, 0, convolve(n, &w, prt_tf_in(n, 0), depthwise));
    return prt_tf_end(n);
}

poprt_status prt_tf_row_conv2d(prt_tf_call *n)
{
    return conv(n, 2, false);
}

poprt_status prt_tf_row_conv3d(prt_tf_call *n)
{
    return conv(n, 3, false);
}

poprt_status prt_tf_row_depthwise_conv(prt_tf_call *n)
{
    return conv(n, 2, true);
}

static poprt_status conv_transpose(prt_tf_call *n, uint32_t axes, bool depthwise)
{
    prt_tf_window w;
    int64_t group = 0;
    if (!prt_tf_read_window(n, axes, &w))
        return prt_tf_end(n);
    prt_value *weights = depthwise ? depthwise_filters(n, 1, &group) : prt_tf_in(n, 1);
    prt_tf_set(n, 0,
        prt_tf_conv_transpose(n, &w, prt_tf_in(n, 2), weights, hwoi[axes], group, NULL, 0));
    return prt_tf_end(n);
}

poprt_status prt_tf_row_conv2d_transpose(prt_tf_call *n)
{
    return conv_transpose(n, 2, false);
}

poprt_status prt_tf_row_conv3d_transpose(prt_tf_call *n)
{
    return conv_transpose(n, 3, false);
}

poprt_status prt_tf_row_depthwise_conv_transpose(prt_tf_call *n)
{
    return conv_transpose(n, 2, true);
}

/* ---- channels */

/* Returns a vector of one number per channel in the form that broadcasts over images. */
static prt_value *per_channel(prt_build *b, prt_value *v, uint32_t axes, bool channels_last)
{
    static const int64_t after[PRT_MAX_RANK] = { 1, 2, 3, 4, 5, 6 };
    return channels_last ? v : prt_build_unsqueeze(b, v, axes, after);
}

poprt_status prt_tf_row_bias_add(prt_tf_call *n)
{
    const prt_str format = prt_tf_attr_str(n, "data_format", "NHWC");
    const bool last = format.size < 2 || format.data[1] != 'C';
    const int32_t rank = last ? 2 : prt_tf_need_rank(n, 0);
    if (rank < 2)
        return rank < 0 ? prt_tf_end(n) : prt_tf_refuse(n, "the rank of input 0 is less than 2");
    prt_value *bias = per_channel(&n->b, prt_tf_in(n, 1), (uint32_t)rank - 2, last);
    prt_tf_set(n, 0, prt_build_binary(&n->b, PRT_OP_add, prt_tf_in(n, 0), bias));
    return prt_tf_end(n);
}

/* ---- fused operators */

typedef struct fused_activation {
    const char *name;
    uint32_t id;
} fused_activation;

/* Applies an activation by the name that the optimizer of TensorFlow gives it. Returns NULL for a
 * name that is not known. */
static prt_value *activate(prt_tf_call *n, prt_str name, prt_value *x)
{
    static const fused_activation table[] = { { "Relu", PRT_OP_relu }, { "Elu", PRT_OP_elu },
        { "Tanh", PRT_OP_tanh }, { "Sigmoid", PRT_OP_sigmoid }, { "GeluExact", PRT_OP_gelu },
        { "_FusedHardSwish", PRT_OP_hard_swish }, { "_MklSwish", PRT_OP_swish } };
    for (size_t i = 0; i < PRT_COUNT_OF(table); i++)
        if (prt_str_is(name, table[i].name))
            return prt_build_unary(&n->b, table[i].id, x);
    if (prt_str_is(name, "Relu6"))
        return prt_build_clip(&n->b, x, 0, 6);
    if (prt_str_is(name, "LeakyRelu")) {
        prt_leaky_relu_attrs attrs = PRT_ATTRS_OF(leaky_relu);
        PRT_ATTR_SET(attrs, leaky_relu, alpha, prt_tf_attr_f32(n, "leakyrelu_alpha", 0.2f));
        return prt_build_op(&n->b, PRT_OP_leaky_relu, &attrs, 1, &x);
    }
    if (prt_str_is(name, "GeluApproximate")) {
        prt_gelu_attrs attrs = PRT_ATTRS_OF(gelu);
        PRT_ATTR_SET(attrs, gelu, approximate, PRT_STR("tanh"));
        return prt_build_op(&n->b, PRT_OP_gelu, &attrs, 1, &x);
    }
    return NULL;
}

/* Normalises by statistics, whose sums are constants as a rule: x·s + (offset - mean·s) with
 * s = scale/√(variance + epsilon). `in` are scale, offset, mean and variance. */
static prt_value *normalise(prt_build *b, prt_value *x, prt_value *const *in, float epsilon)
{
    prt_value *v =
        prt_build_binary(b, PRT_OP_add, in[3], prt_build_number(b, in[3], (double)epsilon));
    prt_value *s = prt_build_binary(b, PRT_OP_div, in[0], prt_build_unary(b, PRT_OP_sqrt, v));
    prt_value *shift = prt_build_binary(b, PRT_OP_mul, in[2], s);
    return prt_build_binary(b, PRT_OP_add, prt_build_binary(b, PRT_OP_mul, x, s),
        prt_build_binary(b, PRT_OP_sub, in[1], shift));
}

/* Applies the operators of attribute fused_ops, whose inputs follow the first two. */
static prt_value *fused_tail(prt_tf_call *n, prt_value *y, uint32_t axes, bool channels_last)
{
    const prt_strs ops = prt_tf_attr_texts(n, "fused_ops");
    const float epsilon = prt_tf_attr_f32(n, "epsilon", 1e-4f);
    uint32_t next = 2;
    for (uint32_t i = 0; i < ops.count && y != NULL; i++) {
        const prt_str op = ops.data[i];
        if (prt_str_is(op, "BiasAdd")) {
            prt_value *bias = per_channel(&n->b, prt_tf_in(n, next++), axes, channels_last);
            y = prt_build_binary(&n->b, PRT_OP_add, y, bias);
        } else if (prt_str_is(op, "Add")) {
            y = prt_build_binary(&n->b, PRT_OP_add, y, prt_tf_in(n, next++));
        } else if (prt_str_is(op, "FusedBatchNorm")) {
            prt_value *in[4];
            for (uint32_t k = 0; k < 4; k++)
                in[k] = per_channel(&n->b, prt_tf_in(n, next++), axes, channels_last);
            y = in[3] != NULL ? normalise(&n->b, y, in, epsilon) : NULL;
        } else if ((y = activate(n, op, y)) == NULL && prt_build_status(&n->b) == POPRT_OK) {
            (void)prt_tf_refuse(n, "%.*s in fused_ops is not supported", PRT_STR_ARG(op));
        }
    }
    return y;
}

static poprt_status fused_conv(prt_tf_call *n, bool depthwise)
{
    prt_tf_window w;
    if (!prt_tf_attr_is(n, "filter_format", "HWIO", "HWIO"))
        return prt_tf_refuse(n, "filter_format is not HWIO");
    if (prt_tf_read_window(n, 2, &w))
        prt_tf_set(n, 0,
            fused_tail(n, convolve(n, &w, prt_tf_in(n, 0), depthwise), w.axes, w.channels_last));
    return prt_tf_end(n);
}

poprt_status prt_tf_row_fused_conv(prt_tf_call *n)
{
    return fused_conv(n, false);
}

poprt_status prt_tf_row_fused_depthwise_conv(prt_tf_call *n)
{
    return fused_conv(n, true);
}

poprt_status prt_tf_row_fused_matmul(prt_tf_call *n)
{
    static const int64_t swap[] = { 1, 0 };
    prt_value *in[2];
    for (uint32_t i = 0; i < 2; i++) {
        in[i] = prt_tf_in(n, i);
        if (prt_tf_attr_bool(n, i == 0 ? "transpose_a" : "transpose_b", false))
            in[i] = prt_build_transpose(&n->b, in[i], 2, swap);
    }
    prt_tf_set(n, 0, fused_tail(n, prt_build_binary(&n->b, PRT_OP_matmul, in[0], in[1]), 0, true));
    return prt_tf_end(n);
}

/* ---- batch normalisation */

static prt_value *given_statistics(prt_tf_call *n, const prt_tf_window *w, prt_value *x,
    float epsilon)
{
    prt_value *in[5] = { prt_tf_to_channels_first(&n->b, x, w) };
    prt_batch_normalization_attrs attrs = PRT_ATTRS_OF(batch_normalization);
    PRT_ATTR_SET(attrs, batch_normalization, epsilon, epsilon);
    for (uint32_t i = 1; i < 5; i++)
        if ((in[i] = prt_tf_in(n, i)) == NULL)
            return NULL;
    prt_tf_set(n, 1, in[3]);
    prt_tf_set(n, 2, in[4]);
    prt_tf_set(n, 3, in[3]);
    prt_tf_set(n, 4, in[4]);
    prt_value *y = prt_build_op(&n->b, PRT_OP_batch_normalization, &attrs, 5, in);
    return prt_tf_from_channels_first(&n->b, y, w);
}

/* Sets output k to the mean of old and new statistics by exponential_avg_factor. */
static void set_average(prt_tf_call *n, uint32_t k, prt_value *now)
{
    prt_build *b = &n->b;
    const float factor = prt_tf_attr_f32(n, "exponential_avg_factor", 1);
    if (factor != 1 && now != NULL) {
        prt_value *old = prt_build_binary(b, PRT_OP_mul, prt_tf_in(n, k + 2),
            prt_build_scalar(b, PRT_DTYPE_f32, 1 - (double)factor));
        now = prt_build_binary(b, PRT_OP_mul, now,
            prt_build_scalar(b, PRT_DTYPE_f32, (double)factor));
        now = prt_build_binary(b, PRT_OP_add, now, old);
    }
    prt_tf_set(n, k, now);
}

/* Normalises by the mean and variance of the batch. The variance of output 2 is the unbiased
 * one. */
static prt_value *batch_statistics(prt_tf_call *n, const prt_tf_window *w, prt_value *x,
    float epsilon)
{
    prt_build *b = &n->b;
    int64_t list[1 + PRT_TF_MAX_AXES] = { 0 };
    const int64_t channel = w->channels_last ? w->axes + 1 : 1, flat = -1;
    for (uint32_t i = 0; i < w->axes; i++)
        list[i + 1] = w->channels_last ? i + 1 : i + 2;
    prt_value *axes = prt_build_i64s(b, w->axes + 1, list);
    prt_value *mean = prt_build_reduce(b, PRT_OP_reduce_mean, x, axes, true);
    prt_value *d = prt_build_binary(b, PRT_OP_sub, x, mean);
    prt_value *square = prt_build_binary(b, PRT_OP_mul, d, d);
    prt_value *variance = prt_build_reduce(b, PRT_OP_reduce_mean, square, axes, true);
    prt_value *sum =
        prt_build_binary(b, PRT_OP_add, variance, prt_build_number(b, x, (double)epsilon));
    prt_value *y = prt_build_binary(b, PRT_OP_div, d, prt_build_unary(b, PRT_OP_sqrt, sum));
    for (uint32_t i = 1; i < 3; i++)
        y = prt_build_binary(b, i == 1 ? PRT_OP_mul : PRT_OP_add, y,
            per_channel(b, prt_tf_in(n, i), w->axes, w->channels_last));
    mean = prt_build_reshape(b, mean, 1, &flat);
    variance = prt_build_reshape(b, variance, 1, &flat);
    prt_value *all = prt_build_unary(b, PRT_OP_size, x);
    prt_value *count = prt_build_binary(b, PRT_OP_div, all, prt_build_size_of(b, x, channel));
    prt_value *rest = prt_build_binary(b, PRT_OP_max, prt_build_i64(b, 1),
        prt_build_binary(b, PRT_OP_sub, count, prt_build_i64(b, 1)));
    prt_value *factor = prt_build_binary(b, PRT_OP_div, prt_build_cast_as(b, count, x),
        prt_build_cast_as(b, rest, x));
    set_average(n, 1, mean);
    set_average(n, 2, prt_build_binary(b, PRT_OP_mul, variance, factor));
    prt_tf_set(n, 3, mean);
    prt_tf_set(n, 4, variance);
    return y;
}

/* The input may be float16 and all else float32: TensorFlow computes in float32 then. */
poprt_status prt_tf_row_batch_norm(prt_tf_call *n)
{
    prt_tf_window w;
    const prt_str format = prt_tf_attr_str(n, "data_format", "NHWC");
    const float epsilon = prt_tf_attr_f32(n, "epsilon", 1e-4f);
    const prt_str activation = prt_tf_attr_str(n, "activation_mode", "Identity");
    if (format.size < 4 || format.size > 5 || !prt_tf_read_window(n, format.size - 2, &w))
        return n->status != POPRT_OK ? n->status : prt_tf_refuse(n, "data_format is not known");
    prt_value *x = prt_tf_in(n, 0);
    prt_value *wide = prt_build_cast(&n->b, x, PRT_DTYPE_f32);
    prt_value *y = prt_tf_attr_bool(n, "is_training", true)
        ? batch_statistics(n, &w, wide, epsilon)
        : given_statistics(n, &w, wide, epsilon);
    if (y != NULL)
        y = prt_build_cast_as(&n->b, y, x);
    if (prt_tf_attr_i64(n, "num_side_inputs", 0) == 1 && y != NULL)
        y = prt_build_binary(&n->b, PRT_OP_add, y, prt_tf_in(n, 5));
    if (!prt_str_is(activation, "Identity") && y != NULL)
        y = activate(n, activation, y);
    if (y == NULL && n->status == POPRT_OK && prt_build_status(&n->b) == POPRT_OK)
        return prt_tf_refuse(n, "its activation_mode is not supported");
    prt_tf_set(n, 0, y);
    return prt_tf_end(n);
}

/* ---- dilated convolutions of SpaceToBatchND and BatchToSpaceND */

/* Returns the node of an input, NULL unless its operator is `op`. */
static const prt_tf_node *made_by(const prt_tf_call *n, const prt_tf_node *node, uint32_t i,
    const char *op)
{
    if (node == NULL || n->scope == NULL || n->scope->body == NULL || node->in == NULL ||
        i >= node->n_in)
        return NULL;
    const prt_tf_node *from = &n->scope->body->nodes[node->in[i].node];
    return prt_str_is(from->op, op) ? from : NULL;
}

/* Makes the call of a node of the same scope, whose inputs are converted. Returns false without
 * memory, or if an input is not a value. */
static bool call_of(const prt_tf_call *n, const prt_tf_node *node, prt_tf_call *out)
{
    prt_tf_value *in = PRT_NEW_N(n->c->arena, prt_tf_value, node->n_in);
    for (uint32_t i = 0; i < node->n_in && in != NULL; i++) {
        const prt_tf_value *done = n->scope->done[node->in[i].node];
        if (done == NULL || node->in[i].output >= n->scope->body->nodes[node->in[i].node].n_out)
            return false;
        in[i] = done[node->in[i].output];
        if (in[i].kind != PRT_TF_tensor)
            return false;
    }
    *out = *n;
    out->node = node;
    out->in = in;
    out->n_in = node->n_in;
    out->n_out = 0;
    return in != NULL;
}

typedef struct group {
    const prt_tf_node *space, *conv, *expand, *squeeze; /* the last two: of a convolution by W */
    bool depthwise;
} group;

static bool match_group(const prt_tf_call *n, group *g)
{
    *g = (group){ .squeeze = made_by(n, n->node, 0, "Squeeze") };
    const prt_tf_node *last = g->squeeze != NULL ? g->squeeze : n->node;
    g->conv = made_by(n, last, 0, "DepthwiseConv2dNative");
    g->depthwise = g->conv != NULL;
    if (g->conv == NULL)
        g->conv = made_by(n, last, 0, "Conv2D");
    if (g->conv == NULL)
        g->conv = made_by(n, last, 0, "Conv3D");
    g->expand = made_by(n, g->conv, 0, "ExpandDims");
    g->space = made_by(n, g->expand != NULL ? g->expand : g->conv, 0, "SpaceToBatchND");
    return g->space != NULL && (g->expand != NULL) == (g->squeeze != NULL);
}

/* Returns whether ExpandDims and Squeeze add and drop the axis before the last two of four. */
static bool expands_axis_1(const prt_tf_call *n, const group *g)
{
    prt_tf_call expand, squeeze;
    int64_t axis = 0;
    uint32_t count = 0;
    if (g->expand == NULL)
        return true;
    if (!call_of(n, g->expand, &expand) || !call_of(n, g->squeeze, &squeeze) ||
        !prt_tf_ints(&expand, 1, 1, &axis, &count) || (axis != 1 && axis != -3))
        return false;
    const prt_i64s dropped = prt_tf_attr_ints(&squeeze, "squeeze_dims");
    return prt_tf_rank(expand.in[0].value) == 3 && dropped.count == 1 &&
        (dropped.data[0] == 1 || dropped.data[0] == -3);
}

/* Adds the blocks as dilations, and the paddings minus the crops as pads, to the window of the
 * convolution. Returns false if they are not known or negative. */
static bool dilate(prt_tf_call *n, prt_tf_call *space, uint32_t first, prt_tf_window *w)
{
    int64_t block[PRT_TF_MAX_AXES], same[PRT_TF_MAX_AXES];
    int64_t pads[2 * PRT_TF_MAX_AXES], crops[2 * PRT_TF_MAX_AXES];
    uint32_t count = 0, others = 0, n_pads = 0, n_crops = 0;
    if (!prt_tf_ints(space, 1, w->axes - first, block, &count) ||
        !prt_tf_ints(n, 1, w->axes - first, same, &others) || count != others ||
        !prt_tf_ints(space, 2, 2 * PRT_TF_MAX_AXES, pads, &n_pads) ||
        !prt_tf_ints(n, 2, 2 * PRT_TF_MAX_AXES, crops, &n_crops) || n_pads != 2 * count ||
        n_crops != 2 * count)
        return false;
    w->padding = PRT_TF_PAD_explicit;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t k = first + i;
        w->dilation[k] = block[i];
        w->before[k] = prt_dim_sub(n->c->module->dims, pads[2 * i], crops[2 * i]);
        w->after[k] = prt_dim_sub(n->c->module->dims, pads[2 * i + 1], crops[2 * i + 1]);
        if (block[i] != same[i] || block[i] < 1 || block[i] > INT32_MAX || w->before[k] < 0 ||
            w->before[k] > INT32_MAX || w->after[k] < 0 || w->after[k] > INT32_MAX)
            return false;
    }
    return true;
}

poprt_status prt_tf_dilated_conv(prt_tf_call *n, bool *done)
{
    static const int64_t one = 1;
    group g;
    prt_tf_call space, conv;
    prt_tf_window w;
    *done = false;
    if (!match_group(n, &g) || !call_of(n, g.space, &space) || !call_of(n, g.conv, &conv) ||
        !expands_axis_1(n, &g) || conv.n_in != 2 ||
        !prt_tf_read_window(&conv, prt_str_is(g.conv->op, "Conv3D") ? 3 : 2, &w) ||
        w.padding != PRT_TF_PAD_valid || !w.channels_last)
        return POPRT_OK;
    for (uint32_t i = 0; i < w.axes; i++)
        if (w.stride[i] != 1 || w.dilation[i] != 1)
            return POPRT_OK;
    if (!dilate(n, &space, g.expand != NULL ? 1 : 0, &w))
        return POPRT_OK;
    prt_value *x = space.in[0].value;
    x = g.expand != NULL ? prt_build_unsqueeze(&conv.b, x, 1, &one) : x;
    prt_value *y = convolve(&conv, &w, x, g.depthwise);
    y = g.expand != NULL ? prt_build_squeeze(&conv.b, y, 1, &one) : y;
    n->b = conv.b;
    n->status = conv.status;
    prt_tf_set(n, 0, y);
    *done = y != NULL;
    return prt_tf_end(n);
}
