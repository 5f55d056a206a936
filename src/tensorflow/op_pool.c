/* SPDX-License-Identifier: MIT */
/* op_pool.c — pools, local response normalisation and dilation. */
#include <math.h>

#include "tensorflow/conv.h"
#include "tensorflow/rows.h"

/* ---- pools */

/* Sets `ksize` and `strides` to the lists of attributes, or of inputs 1 and 2 (MaxPoolV2). */
static bool read_lists(prt_tf_call *n, prt_i64s *ksize, prt_i64s *strides)
{
    if (n->n_in == 1) {
        *ksize = prt_tf_attr_ints(n, "ksize");
        *strides = prt_tf_attr_ints(n, "strides");
        return n->status == POPRT_OK;
    }
    int64_t *to = PRT_NEW_N(n->c->arena, int64_t, 2 * PRT_MAX_RANK);
    if (to == NULL)
        n->status = POPRT_E_NOMEM;
    if (to == NULL || !prt_tf_need_ints(n, 1, "ksize", PRT_MAX_RANK, to, &ksize->count) ||
        !prt_tf_need_ints(n, 2, "strides", PRT_MAX_RANK, to + PRT_MAX_RANK, &strides->count))
        return false;
    ksize->data = to;
    strides->data = to + PRT_MAX_RANK;
    return true;
}

static bool read_pool(prt_tf_call *n, uint32_t axes, prt_tf_window *w)
{
    prt_i64s ksize = { NULL, 0 }, strides = { NULL, 0 };
    return prt_tf_read_window(n, axes, w) && read_lists(n, &ksize, &strides) &&
        prt_tf_window_list(n, w, "ksize", ksize, w->kernel) &&
        prt_tf_window_list(n, w, "strides", strides, w->stride);
}

/* A pool over channels, which TensorFlow has for MaxPool over whole steps: in NHWC, channels and W
 * are the last two axes, so that ONNX's operator does it without a transpose. */
static bool pool_channels(prt_tf_call *n, prt_value *x)
{
    const prt_i64s ksize = prt_tf_attr_ints(n, "ksize"), strides = prt_tf_attr_ints(n, "strides");
    if (n->n_in != 1 || ksize.count != 4 || strides.count != 4 || ksize.data[3] < 2 ||
        !prt_tf_attr_is(n, "data_format", "NHWC", "NHWC"))
        return false;
    const int64_t k = ksize.data[3];
    for (uint32_t i = 0; i < 4; i++)
        if (ksize.data[i] != (i == 3 ? k : 1) || strides.data[i] != (i == 3 ? k : 1))
            return false;
    const prt_tf_window w = { .axes = 2,
        .kernel = { 1, k },
        .stride = { 1, k },
        .dilation = { 1, 1 } };
    prt_tf_set(n, 0, prt_tf_pool(n, &w, PRT_OP_max_pool, x));
    return true;
}

/* MaxPool of ONNX takes floats and bytes: other integers of up to 32 bits are exact as doubles. */
static prt_value *as_poolable(prt_tf_call *n, prt_value *x)
{
    const int32_t t = prt_tf_dtype(x);
    const bool cast = t == PRT_DTYPE_i32 || t == PRT_DTYPE_i16 || t == PRT_DTYPE_u16;
    return cast ? prt_build_cast(&n->b, x, PRT_DTYPE_f64) : x;
}

static poprt_status pool(prt_tf_call *n, uint32_t axes)
{
    prt_tf_window w;
    const uint32_t id = n->node->row->id;
    prt_value *x = prt_tf_in(n, 0);
    prt_value *in = id == PRT_OP_max_pool ? as_poolable(n, x) : x;
    if (x == NULL || (id == PRT_OP_max_pool && in == x && axes == 2 && pool_channels(n, x)))
        return prt_tf_end(n);
    if (read_pool(n, axes, &w)) {
        prt_value *y = prt_tf_pool(n, &w, id, in);
        prt_tf_set(n, 0, y != NULL ? prt_build_cast_as(&n->b, y, x) : NULL);
    }
    return prt_tf_end(n);
}

poprt_status prt_tf_row_pool2d(prt_tf_call *n)
{
    return pool(n, 2);
}

poprt_status prt_tf_row_pool3d(prt_tf_call *n)
{
    return pool(n, 3);
}

/* ONNX's positions are ((image·C + c)·H + y)·W + x, TensorFlow's (y·W + x)·C + c, to which
 * include_batch_in_index adds image·H·W·C. */
poprt_status prt_tf_row_max_pool_argmax(prt_tf_call *n)
{
    static const int64_t hw[] = { 1, 2 };
    prt_tf_window w;
    prt_build *b = &n->b;
    prt_value *x = prt_tf_in(n, 0);
    if (x == NULL || !read_pool(n, 2, &w))
        return prt_tf_end(n);
    if (!w.channels_last)
        return prt_tf_refuse(n, "data_format is not NHWC");
    prt_op *op = prt_tf_max_pool_indices(n, &w, as_poolable(n, x));
    if (op == NULL)
        return prt_tf_end(n);
    prt_value *shape = prt_build_shape(b, x);
    prt_value *area = prt_build_reduce(b, PRT_OP_reduce_prod,
        prt_build_gather(b, shape, prt_build_i64s(b, 2, hw), 0), NULL, false);
    prt_value *c = prt_build_gather(b, shape, prt_build_i64(b, 3), 0);
    prt_value *at = prt_tf_from_channels_first(b, &op->out[1], &w);
    prt_value *place = prt_build_binary(b, PRT_OP_mod, at, area);
    place = prt_build_binary(b, PRT_OP_mul, place, c);
    place = prt_build_binary(b, PRT_OP_add, place,
        prt_build_range(b, prt_build_i64(b, 0), c, prt_build_i64(b, 1)));
    if (prt_tf_attr_bool(n, "include_batch_in_index", false)) {
        prt_value *all = prt_build_binary(b, PRT_OP_mul, area, c);
        prt_value *image = prt_build_binary(b, PRT_OP_div, at, all);
        place = prt_build_binary(b, PRT_OP_add, place, prt_build_binary(b, PRT_OP_mul, image, all));
    }
    prt_value *y = prt_tf_from_channels_first(b, &op->out[0], &w);
    prt_tf_set(n, 0, prt_build_cast_as(b, y, x));
    prt_tf_set(n, 1, prt_build_cast(b, place, prt_tf_attr_dtype(n, "Targmax", PRT_DTYPE_i64)));
    return prt_tf_end(n);
}

/* ---- local response normalisation */

/* TensorFlow multiplies the sum of squares by alpha, ONNX their mean. */
poprt_status prt_tf_row_lrn(prt_tf_call *n)
{
    const prt_tf_window w = { .axes = 2, .channels_last = true };
    const int64_t radius = prt_tf_attr_i64(n, "depth_radius", 5);
    if (radius < 0 || radius > INT32_MAX)
        return prt_tf_refuse(n, "depth_radius is out of range");
    const int64_t size = 2 * radius + 1;
    prt_lrn_attrs attrs = PRT_ATTRS_OF(lrn);
    PRT_ATTR_SET(attrs, lrn, size, size);
    PRT_ATTR_SET(attrs, lrn, alpha, prt_tf_attr_f32(n, "alpha", 1) * (float)size);
    PRT_ATTR_SET(attrs, lrn, beta, prt_tf_attr_f32(n, "beta", 0.5f));
    PRT_ATTR_SET(attrs, lrn, bias, prt_tf_attr_f32(n, "bias", 1));
    prt_value *x = prt_tf_to_channels_first(&n->b, prt_tf_in(n, 0), &w);
    prt_value *y = prt_build_op(&n->b, PRT_OP_lrn, &attrs, 1, &x);
    prt_tf_set(n, 0, prt_tf_from_channels_first(&n->b, y, &w));
    return prt_tf_end(n);
}

/* ---- dilation */

enum { MAX_TAPS = 256 };

/* Returns the cells of an image that one tap reads, on one axis. */
static prt_value *tap(prt_build *b, prt_value *x, const prt_tf_window *w, uint32_t i, int64_t at)
{
    const int64_t begin = at * w->dilation[i], left = begin - (w->kernel[i] - 1) * w->dilation[i];
    return prt_build_slice(b, x, i + 1, begin, left < 0 ? left : INT64_MAX, w->stride[i]);
}

/* Pads the spatial axes with the lowest number, which never is a maximum. */
static prt_value *pad_lowest(prt_build *b, prt_value *x, const int64_t *pads)
{
    const int64_t all[8] = { 0, pads[0], pads[1], 0, 0, pads[2], pads[3], 0 };
    const int32_t t = prt_tf_dtype(x);
    prt_value *lowest = prt_dtype_is_float(t) ? prt_build_number(b, x, -HUGE_VAL)
        : t == PRT_DTYPE_i32                  ? prt_build_number(b, x, INT32_MIN)
                                              : NULL;
    return lowest == NULL ? NULL
                          : prt_build_op(b, PRT_OP_pad, NULL, 3,
                                (prt_value *[]){ x, prt_build_i64s(b, 8, all), lowest });
}

/* The maximum over the taps of a cell plus the weight of the tap; cells outside are skipped. */
poprt_status prt_tf_row_dilation2d(prt_tf_call *n)
{
    prt_tf_window w;
    int64_t pads[4];
    prt_value *taps[MAX_TAPS];
    prt_build *b = &n->b;
    prt_value *x = prt_tf_in(n, 0), *weights = prt_tf_in(n, 1);
    if (x == NULL || weights == NULL || !prt_tf_read_window(n, 2, &w) ||
        !prt_tf_window_list(n, &w, "rates", prt_tf_attr_ints(n, "rates"), w.dilation))
        return prt_tf_end(n);
    for (uint32_t i = 0; i < 2; i++)
        w.kernel[i] = prt_tf_dim(weights, i);
    if (w.kernel[0] < 1 || w.kernel[1] < 1 || w.kernel[0] > MAX_TAPS || w.kernel[1] > MAX_TAPS ||
        w.kernel[0] * w.kernel[1] > MAX_TAPS)
        return prt_tf_refuse(n, "the filter is not known or has more than %d taps", MAX_TAPS);
    if (!prt_tf_window_pads(&w, x, pads))
        return prt_tf_refuse(n, "the size of the image must be known for padding SAME");
    x = pad_lowest(b, x, pads);
    if (x == NULL && prt_build_status(b) == POPRT_OK)
        return prt_tf_refuse(n, "its element type is not supported");
    uint32_t count = 0;
    for (int64_t i = 0; i < w.kernel[0]; i++) {
        prt_value *row = tap(b, x, &w, 0, i);
        prt_value *in_row = prt_build_gather(b, weights, prt_build_i64(b, i), 0);
        for (int64_t k = 0; k < w.kernel[1]; k++)
            taps[count++] = prt_build_binary(b, PRT_OP_add, tap(b, row, &w, 1, k),
                prt_build_gather(b, in_row, prt_build_i64(b, k), 0));
    }
    prt_tf_set(n, 0, prt_build_op(b, PRT_OP_max, NULL, count, taps));
    return prt_tf_end(n);
}
