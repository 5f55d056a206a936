/* SPDX-License-Identifier: MIT */
/* conv.c — the geometry of convolutions and pools. */
#include "tensorflow/conv.h"

#include "ir/build_ops.h"

/* ---- attributes */

bool prt_tf_window_list(prt_tf_call *n, const prt_tf_window *w, const char *name, prt_i64s list,
    int64_t *to)
{
    const uint32_t first = w->channels_last ? 1 : 2;
    for (uint32_t i = 0; i < w->axes; i++)
        to[i] = 1;
    if (list.count == 0)
        return true;
    if (list.count != w->axes + 2) {
        (void)prt_tf_refuse(n, "%s has %u numbers in place of %u", name, list.count, w->axes + 2);
        return false;
    }
    for (uint32_t i = 0; i < list.count; i++) {
        const int64_t v = list.data[i];
        const bool spatial = i >= first && i < first + w->axes;
        if (v < 1 || v > INT32_MAX || (!spatial && v != 1)) {
            (void)prt_tf_refuse(n, "%s holds %lld on axis %u", name, (long long)v, i);
            return false;
        }
        if (spatial)
            to[i - first] = v;
    }
    return true;
}

static bool read_explicit(prt_tf_call *n, prt_tf_window *w)
{
    const prt_i64s list = prt_tf_attr_ints(n, "explicit_paddings");
    const uint32_t first = w->channels_last ? 1 : 2;
    bool good = list.count == 2 * (w->axes + 2);
    for (uint32_t i = 0; good && i < list.count; i++) {
        const int64_t v = list.data[i];
        const bool spatial = i / 2 >= first && i / 2 < first + w->axes;
        good = v >= 0 && v <= INT32_MAX && (spatial || v == 0);
        if (good && spatial)
            (i % 2 == 0 ? w->before : w->after)[i / 2 - first] = v;
    }
    if (!good)
        (void)prt_tf_refuse(n,
            "explicit_paddings must be %u numbers from 0, and 0 for images and "
            "channels",
            2 * (w->axes + 2));
    return good;
}

bool prt_tf_read_window(prt_tf_call *n, uint32_t axes, prt_tf_window *out)
{
    static const char *const last[] = { "", "NWC", "NHWC", "NDHWC" };
    static const char *const first[] = { "", "NCW", "NCHW", "NCDHW" };
    const prt_str format = prt_tf_attr_str(n, "data_format", last[axes]);
    const prt_str padding = prt_tf_attr_str(n, "padding", "VALID");
    *out = (prt_tf_window){ .axes = axes, .channels_last = prt_str_is(format, last[axes]) };
    if (!out->channels_last && !prt_str_is(format, first[axes])) {
        (void)prt_tf_refuse(n, "data_format %.*s is neither %s nor %s", PRT_STR_ARG(format),
            last[axes], first[axes]);
        return false;
    }
    if (!prt_tf_window_list(n, out, "strides", prt_tf_attr_ints(n, "strides"), out->stride) ||
        !prt_tf_window_list(n, out, "dilations", prt_tf_attr_ints(n, "dilations"), out->dilation))
        return false;
    for (uint32_t i = 0; i < axes; i++)
        out->kernel[i] = 1;
    if (prt_str_is(padding, "EXPLICIT")) {
        out->padding = PRT_TF_PAD_explicit;
        return read_explicit(n, out);
    }
    out->padding = prt_str_is(padding, "SAME") ? PRT_TF_PAD_same : PRT_TF_PAD_valid;
    if (out->padding == PRT_TF_PAD_valid && !prt_str_is(padding, "VALID")) {
        (void)prt_tf_refuse(n, "padding %.*s is not SAME, VALID or EXPLICIT", PRT_STR_ARG(padding));
        return false;
    }
    return true;
}

/* ---- layouts */

prt_value *prt_tf_to_channels_first(prt_build *b, prt_value *x, const prt_tf_window *w)
{
    static const int64_t perms[][5] = { { 0 }, { 0, 2, 1 }, { 0, 3, 1, 2 }, { 0, 4, 1, 2, 3 } };
    return w->channels_last ? prt_build_transpose(b, x, w->axes + 2, perms[w->axes]) : x;
}

prt_value *prt_tf_from_channels_first(prt_build *b, prt_value *x, const prt_tf_window *w)
{
    static const int64_t perms[][5] = { { 0 }, { 0, 2, 1 }, { 0, 2, 3, 1 }, { 0, 2, 3, 4, 1 } };
    return w->channels_last ? prt_build_transpose(b, x, w->axes + 2, perms[w->axes]) : x;
}

/* Transposes weights to their channels in the order of the two letters, and then their spatial
 * axes. */
static prt_value *order_weights(prt_build *b, prt_value *weights, const char *layout,
    const char *order)
{
    int64_t perm[2 + PRT_TF_MAX_AXES];
    uint32_t rank = 0, next = 2;
    for (; layout[rank] != 0; rank++)
        perm[layout[rank] == order[0] ? 0 : layout[rank] == order[1] ? 1 : next++] = rank;
    return prt_build_transpose(b, weights, rank, perm);
}

/* Returns the channels of an image, and the size of its spatial axis i. */
static int64_t channels_of(const prt_tf_window *w, const prt_value *x)
{
    return prt_tf_dim(x, w->channels_last ? w->axes + 1 : 1);
}

static int64_t size_of(const prt_tf_window *w, const prt_value *x, uint32_t i)
{
    return prt_tf_dim(x, w->channels_last ? i + 1 : i + 2);
}

static bool has_rank(prt_tf_call *n, const prt_tf_window *w, const prt_value *x, const char *what)
{
    const int32_t rank = prt_tf_rank(x);
    if (rank < 0 || rank == (int32_t)w->axes + 2)
        return x != NULL;
    (void)prt_tf_refuse(n, "the %s has rank %d in place of %u", what, rank, w->axes + 2);
    return false;
}

/* Sets the kernel of the window to the sizes of weights of ONNX's order, 0 where they are not
 * known. */
static prt_tf_window with_kernel_of(const prt_tf_window *w, const prt_value *weights)
{
    prt_tf_window out = *w;
    for (uint32_t i = 0; i < w->axes; i++) {
        const int64_t size = prt_tf_dim(weights, i + 2);
        out.kernel[i] = prt_dim_is_number(size) && size <= INT32_MAX ? size : 0;
    }
    return out;
}

static bool knows_kernel(const prt_tf_window *w)
{
    for (uint32_t i = 0; i < w->axes; i++)
        if (w->kernel[i] < 1)
            return false;
    return true;
}

static bool is_dilated(const prt_tf_window *w)
{
    for (uint32_t i = 0; i < w->axes; i++)
        if (w->dilation[i] != 1)
            return true;
    return false;
}

/* Returns the cells that the kernel covers on axis i. */
static int64_t span_of(const prt_tf_window *w, uint32_t i)
{
    return (w->kernel[i] - 1) * w->dilation[i] + 1;
}

bool prt_tf_window_pads(const prt_tf_window *w, const prt_value *x, int64_t *pads)
{
    for (uint32_t i = 0; i < w->axes; i++) {
        const int64_t in = size_of(w, x, i), s = w->stride[i], span = span_of(w, i);
        int64_t total = 0;
        pads[i] = w->padding == PRT_TF_PAD_explicit ? w->before[i] : 0;
        pads[i + w->axes] = w->padding == PRT_TF_PAD_explicit ? w->after[i] : 0;
        if (w->padding != PRT_TF_PAD_same)
            continue;
        if (w->kernel[i] < 1)
            return false;
        if (s == 1 || span == 1)
            total = span - 1;
        else if (prt_dim_is_number(in) && in < INT64_MAX / 4)
            total = ((in + s - 1) / s - 1) * s + span - in;
        else
            return false;
        pads[i] = total > 0 ? total / 2 : 0;
        pads[i + w->axes] = total > 0 ? total - pads[i] : 0;
    }
    return true;
}

/* ---- convolutions */

/* Sets the attributes of the geometry that Conv, MaxPool, AveragePool and LpPool share. Their
 * fields have the same names and types. */
#define SET_GEOMETRY(attrs, id, w, x, pads)                                                        \
    do {                                                                                           \
        if (prt_tf_window_pads(w, x, pads))                                                        \
            PRT_ATTR_SET(attrs, id, pads, ((prt_i64s){ pads, 2 * (w)->axes }));                    \
        else                                                                                       \
            PRT_ATTR_SET(attrs, id, auto_pad, PRT_STR("SAME_UPPER"));                              \
        PRT_ATTR_SET(attrs, id, strides, ((prt_i64s){ (w)->stride, (w)->axes }));                  \
        if (is_dilated(w))                                                                         \
            PRT_ATTR_SET(attrs, id, dilations, ((prt_i64s){ (w)->dilation, (w)->axes }));          \
        if (knows_kernel(w))                                                                       \
            PRT_ATTR_SET(attrs, id, kernel_shape, ((prt_i64s){ (w)->kernel, (w)->axes }));         \
    } while (0)

prt_value *prt_tf_conv(prt_tf_call *n, const prt_tf_window *w, prt_value *x, prt_value *weights,
    const char *layout, int64_t group, prt_value *bias)
{
    int64_t pads[2 * PRT_TF_MAX_AXES];
    if (!has_rank(n, w, x, "image") || !has_rank(n, w, weights, "filter"))
        return NULL;
    weights = order_weights(&n->b, weights, layout, "OI");
    const prt_tf_window full = with_kernel_of(w, weights);
    const int64_t channels = channels_of(w, x), each = prt_tf_dim(weights, 1);
    if (group == 0)
        group = prt_dim_is_number(channels) && prt_dim_is_number(each) && each > 0 ? channels / each
                                                                                   : 1;
    if (group < 1 ||
        (prt_dim_is_number(channels) && prt_dim_is_number(each) && each > 0 &&
            (channels % each != 0 || channels / each != group))) {
        (void)prt_tf_refuse(n, "the filters read %lld channels, and the image has %lld",
            (long long)each, (long long)channels);
        return NULL;
    }
    prt_conv_attrs attrs = PRT_ATTRS_OF(conv);
    SET_GEOMETRY(attrs, conv, &full, x, pads);
    if (group != 1)
        PRT_ATTR_SET(attrs, conv, group, group);
    prt_value *in[] = { prt_tf_to_channels_first(&n->b, x, w), weights, bias };
    prt_value *y = prt_build_op(&n->b, PRT_OP_conv, &attrs, bias != NULL ? 3 : 2, in);
    return prt_tf_from_channels_first(&n->b, y, w);
}

/* ---- transposed convolutions */

/* The difference between the size of a result and the strides times the size of the image: known
 * by axis, or not. */
static bool known_excess(prt_tf_call *n, const prt_tf_window *w, const prt_value *x,
    const int64_t *sizes, int64_t *excess)
{
    prt_dims *dims = n->c->module->dims;
    for (uint32_t i = 0; i < w->axes; i++) {
        const int64_t in = prt_dim_mul(dims, size_of(w, x, i), w->stride[i]);
        excess[i] = prt_dim_sub(dims, sizes[i], in);
        if (w->padding == PRT_TF_PAD_same && w->stride[i] == 1)
            excess[i] = 0; /* the sizes are equal */
        if (!prt_dim_is_number(excess[i]))
            return false;
    }
    return true;
}

/* Sets the pads and output_padding of a result whose size is known in relation to the image's.
 * Returns false, and records it, if the size is not one that a convolution would reduce to the
 * image's. */
static bool fit_result(prt_tf_call *n, const prt_tf_window *w, const int64_t *excess, int64_t *pads,
    int64_t *more)
{
    enum { FAR = 1 << 30 }; /* bound on sizes of filters, so that sums do not overflow */
    for (uint32_t i = 0; i < w->axes; i++) {
        if (excess[i] < -FAR || excess[i] > FAR || span_of(w, i) > FAR) {
            (void)prt_tf_refuse(n, "the size of the result is far from the image's on axis %u", i);
            return false;
        }
        const int64_t surplus = span_of(w, i) - w->stride[i] - excess[i];
        const int64_t total = w->padding == PRT_TF_PAD_same && surplus > 0 ? surplus : 0;
        const bool given = w->padding == PRT_TF_PAD_explicit;
        pads[i] = given ? w->before[i] : total / 2;
        pads[i + w->axes] = given ? w->after[i] : total - total / 2;
        more[i] = pads[i] + pads[i + w->axes] - surplus;
        const bool fits = w->padding == PRT_TF_PAD_same
            ? excess[i] <= 0 && excess[i] > -w->stride[i]
            : more[i] >= 0 && more[i] < w->stride[i];
        if (!fits) {
            (void)prt_tf_refuse(n, "the size of the result does not fit the image's on axis %u", i);
            return false;
        }
    }
    return true;
}

/* Takes the cells of a result without padding whose size is known at run time. `more` cells were
 * added at its end. */
static prt_value *cut_result(prt_tf_call *n, const prt_tf_window *w, prt_value *y, prt_value *size,
    const int64_t *more)
{
    static const int64_t spatial[] = { 2, 3, 4 };
    prt_build *b = &n->b;
    prt_value *axes = prt_build_i64s(b, w->axes, spatial);
    prt_value *before = prt_build_i64s(b, w->axes, w->before);
    if (w->padding == PRT_TF_PAD_same) {
        prt_value *whole = prt_build_gather(b, prt_build_shape(b, y), axes, 0);
        prt_value *used = prt_build_binary(b, PRT_OP_sub, whole, prt_build_i64s(b, w->axes, more));
        prt_value *extra = prt_build_binary(b, PRT_OP_sub, used, size);
        prt_value *total = prt_build_binary(b, PRT_OP_max, extra, prt_build_i64(b, 0));
        before = prt_build_binary(b, PRT_OP_div, total, prt_build_i64(b, 2));
    }
    return prt_build_slice_by(b, y, before, prt_build_binary(b, PRT_OP_add, before, size), axes,
        NULL);
}

/* Sets `to` to the spatial sizes that input i holds and `channels` to its channels, if it has
 * them. Returns the spatial sizes as a value; NULL on failure. */
static prt_value *read_sizes(prt_tf_call *n, const prt_tf_window *w, uint32_t i, int64_t *to,
    int64_t *channels)
{
    int64_t sizes[2 + PRT_TF_MAX_AXES];
    uint32_t count = 0;
    prt_value *v = prt_tf_in(n, i);
    const bool known = prt_tf_ints(n, i, w->axes + 2, sizes, &count);
    const int64_t length = known ? count : prt_tf_dim(v, 0);
    const uint32_t first = length == (int64_t)w->axes ? 0 : w->channels_last ? 1 : 2;
    if (v != NULL && length != (int64_t)w->axes && length != (int64_t)w->axes + 2) {
        (void)prt_tf_refuse(n, "input %u (sizes of the result) must have %u or %u numbers", i,
            w->axes, w->axes + 2);
        return NULL;
    }
    for (uint32_t k = 0; k < w->axes; k++)
        to[k] = known ? sizes[first + k] : PRT_DIM_UNKNOWN;
    *channels = known && first != 0 ? sizes[w->channels_last ? w->axes + 1 : 1] : PRT_DIM_UNKNOWN;
    return prt_build_slice(&n->b, prt_build_cast(&n->b, v, PRT_DTYPE_i64), 0, first,
        first + w->axes, 1);
}

prt_value *prt_tf_conv_transpose(prt_tf_call *n, const prt_tf_window *w, prt_value *x,
    prt_value *weights, const char *layout, int64_t group, prt_value *bias, uint32_t sizes)
{
    int64_t size[PRT_TF_MAX_AXES], excess[PRT_TF_MAX_AXES], more[PRT_TF_MAX_AXES];
    int64_t pads[2 * PRT_TF_MAX_AXES] = { 0 }, channels;
    if (!has_rank(n, w, x, "image") || !has_rank(n, w, weights, "filter"))
        return NULL;
    weights = order_weights(&n->b, weights, layout, "IO");
    const prt_tf_window full = with_kernel_of(w, weights);
    prt_value *at_run_time = read_sizes(n, w, sizes, size, &channels);
    if (weights == NULL || at_run_time == NULL)
        return NULL;
    if (!knows_kernel(&full)) {
        (void)prt_tf_refuse(n, "the size of the filters is not known");
        return NULL;
    }
    const int64_t each = prt_tf_dim(weights, 1);
    if (group == 0 && prt_dim_is_number(channels) && prt_dim_is_number(each) && each > 0)
        group = channels / each;
    const bool known = known_excess(n, &full, x, size, excess);
    if (known && !fit_result(n, &full, excess, pads, more))
        return NULL;
    for (uint32_t i = 0; i < w->axes && !known; i++) {
        const int64_t gap = full.stride[i] - span_of(&full, i);
        more[i] = w->padding != PRT_TF_PAD_same ? full.stride[i] - 1 : gap > 0 ? gap : 0;
    }
    prt_conv_transpose_attrs attrs = PRT_ATTRS_OF(conv_transpose);
    PRT_ATTR_SET(attrs, conv_transpose, pads, ((prt_i64s){ pads, 2 * w->axes }));
    PRT_ATTR_SET(attrs, conv_transpose, strides, ((prt_i64s){ full.stride, w->axes }));
    PRT_ATTR_SET(attrs, conv_transpose, dilations, ((prt_i64s){ full.dilation, w->axes }));
    PRT_ATTR_SET(attrs, conv_transpose, kernel_shape, ((prt_i64s){ full.kernel, w->axes }));
    PRT_ATTR_SET(attrs, conv_transpose, output_padding, ((prt_i64s){ more, w->axes }));
    if (group > 1)
        PRT_ATTR_SET(attrs, conv_transpose, group, group);
    prt_value *in[] = { prt_tf_to_channels_first(&n->b, x, w), weights, bias };
    prt_value *y = prt_build_op(&n->b, PRT_OP_conv_transpose, &attrs, bias != NULL ? 3 : 2, in);
    if (!known)
        y = cut_result(n, &full, y, at_run_time, more);
    return prt_tf_from_channels_first(&n->b, y, w);
}

/* ---- pools */

prt_value *prt_tf_pool(prt_tf_call *n, const prt_tf_window *w, uint32_t id, prt_value *x)
{
    int64_t pads[2 * PRT_TF_MAX_AXES];
    prt_value *y = NULL;
    if (!has_rank(n, w, x, "image"))
        return NULL;
    prt_value *first = prt_tf_to_channels_first(&n->b, x, w);
    if (id == PRT_OP_max_pool) {
        prt_max_pool_attrs attrs = PRT_ATTRS_OF(max_pool);
        SET_GEOMETRY(attrs, max_pool, w, x, pads);
        y = prt_build_op(&n->b, id, &attrs, 1, &first);
    } else if (id == PRT_OP_average_pool) {
        prt_average_pool_attrs attrs = PRT_ATTRS_OF(average_pool);
        SET_GEOMETRY(attrs, average_pool, w, x, pads);
        y = prt_build_op(&n->b, id, &attrs, 1, &first);
    } else {
        prt_lp_pool_attrs attrs = PRT_ATTRS_OF(lp_pool);
        SET_GEOMETRY(attrs, lp_pool, w, x, pads);
        y = prt_build_op(&n->b, id, &attrs, 1, &first);
    }
    return prt_tf_from_channels_first(&n->b, y, w);
}

prt_op *prt_tf_max_pool_indices(prt_tf_call *n, const prt_tf_window *w, prt_value *x)
{
    int64_t pads[2 * PRT_TF_MAX_AXES];
    if (!has_rank(n, w, x, "image"))
        return NULL;
    prt_max_pool_attrs attrs = PRT_ATTRS_OF(max_pool);
    SET_GEOMETRY(attrs, max_pool, w, x, pads);
    prt_value *first = prt_tf_to_channels_first(&n->b, x, w);
    return prt_build_op_n(&n->b, PRT_OP_max_pool, &attrs, 1, &first, 2);
}
