/* SPDX-License-Identifier: MIT */
/*
 * qconv.c — converts quantised convolutions with constant weights to NhwcQConv. The packed weights
 * have their zero points subtracted, and the zero point of the data is folded into the bias. All
 * scales become one factor for each filter.
 */
#include "pass/layout/qconv.h"

#include <math.h>
#include <stdlib.h>

#include "pass/layout/to_nhwc.h"

enum { MIN_FILTERS = 8, MAX_TAPS = 64 };

static bool is_byte(int32_t dtype)
{
    return dtype == PRT_DTYPE_u8 || dtype == PRT_DTYPE_i8;
}

static bool is_one(const prt_tensor *t)
{
    return prt_tensor_count(t) == 1;
}

bool prt_qconv_read(prt_value *const in[8], prt_qconv *q)
{
    prt_tensor *const to[8] = { &q->x_scale, &q->x_zero, &q->weights, &q->w_scale, &q->w_zero,
        &q->y_scale, &q->y_zero, &q->bias };
    q->has_bias = in[7] != NULL;
    for (uint32_t i = 0; i < (q->has_bias ? 8u : 7u); i++)
        if (in[i] == NULL || !prt_value_is_fixed(in[i]) || !prt_value_tensor(in[i], to[i]))
            return false;
    q->w = in[2];
    return is_one(&q->x_scale) && is_one(&q->x_zero) && is_one(&q->y_scale) && is_one(&q->y_zero) &&
        is_byte(q->x_zero.dtype) && is_byte(q->y_zero.dtype) && is_byte(q->weights.dtype) &&
        is_byte(q->w_zero.dtype) && q->x_scale.dtype == PRT_DTYPE_f32 &&
        q->w_scale.dtype == PRT_DTYPE_f32 && q->y_scale.dtype == PRT_DTYPE_f32 &&
        (!q->has_bias || q->bias.dtype == PRT_DTYPE_i32);
}

static double number(const prt_tensor *t, size_t i)
{
    return prt_load_f64(t->dtype, t->data, prt_tensor_count(t) != 1 ? i : 0);
}

static int weight_at(const prt_qconv *q, size_t i)
{
    const uint8_t byte = ((const uint8_t *)q->weights.data)[i];
    return q->weights.dtype == PRT_DTYPE_i8 ? (int8_t)byte : byte;
}

/* Packs the weights of one filter; returns their sum and the sum of their absolute values. False if
 * a weight minus its zero point does not fit into int8. */
static bool pack_filter(const prt_qconv *q, size_t filter, int8_t *to, double *sum, double *most)
{
    const prt_nhwc_weights *w = &q->layout;
    const int zero = (int)number(&q->w_zero, filter);
    const size_t group = filter / w->filters, own = filter % w->filters;
    *sum = *most = 0;
    for (size_t c = 0; c < w->channels; c++)
        for (size_t t = 0; t < w->taps; t++) {
            const int v = weight_at(q, filter * q->by_filter + c * q->by_channel + t) - zero;
            if (v < -128 || v > 127)
                return false;
            to[prt_nhwc_qconv_at(w, group, own, c, t)] = (int8_t)v;
            *sum += v;
            *most += abs(v);
        }
    return true;
}

static bool pack_all(const prt_qconv *q, int8_t *to, int32_t *bias, double *scale)
{
    const size_t filters = q->layout.group * q->layout.filters;
    const double x_zero = number(&q->x_zero, 0) + (q->x_zero.dtype == PRT_DTYPE_i8 ? 128 : 0);
    const double x_scale = number(&q->x_scale, 0), y_scale = number(&q->y_scale, 0);
    for (size_t f = 0; f < filters; f++) {
        double sum, most;
        if (!pack_filter(q, f, to, &sum, &most))
            return false;
        const double rest = (q->has_bias ? number(&q->bias, f) : 0) - x_zero * sum;
        if (!(fabs(rest) + 255 * most <= INT32_MAX))
            return false;
        bias[f] = (int32_t)rest;
        scale[f] = x_scale * number(&q->w_scale, f) / y_scale;
        if (!isfinite(scale[f]) ||
            (q->layout.algorithm == PRT_NHWC_taps && !(fabs(scale[f]) <= 0.5)))
            return false;
    }
    return true;
}

static bool sizes_fit(const prt_qconv *q, size_t *filters, size_t *count)
{
    const prt_tensor *by_filter[3] = { &q->w_scale, &q->w_zero, &q->bias };
    *filters = q->layout.group * q->layout.filters;
    for (size_t i = 0; i < (q->has_bias ? 3u : 2u); i++) {
        const size_t n = prt_tensor_count(by_filter[i]);
        if (n != *filters && (n != 1 || i == 2))
            return false;
    }
    return prt_nhwc_qconv_size(&q->layout, count);
}

bool prt_qconv_pack(prt_pass *p, prt_build *b, const prt_qconv *q, prt_value *in[6])
{
    size_t filters, count;
    prt_blob *blob[3] = { NULL };
    if (!sizes_fit(q, &filters, &count))
        return false;
    const int32_t dtype[3] = { PRT_DTYPE_i8, PRT_DTYPE_i32, PRT_DTYPE_f64 };
    const size_t n[3] = { count, filters, filters }, size[3] = { 1, 4, 8 };
    bool ok = true;
    for (size_t i = 0; i < 3; i++)
        ok = ok && prt_blob_create(p->module->allocator, n[i] * size[i], &blob[i]) == POPRT_OK;
    if (ok)
        memset(prt_blob_bytes(blob[0]), 0, count);
    ok = ok &&
        pack_all(q, (int8_t *)prt_blob_bytes(blob[0]), (int32_t *)(void *)prt_blob_bytes(blob[1]),
            (double *)(void *)prt_blob_bytes(blob[2]));
    for (size_t i = 0; i < 3 && !ok; i++)
        prt_blob_release(blob[i]);
    for (size_t i = 0; i < 3 && ok; i++) {
        const int64_t dim = (int64_t)n[i];
        in[i + 1] = prt_pass_derive(b->graph, q->w,
            prt_type_tensor(p->module->types, dtype[i], 1, &dim), blob[i]);
    }
    in[4] = prt_build_scalar(b, q->x_zero.dtype, number(&q->x_zero, 0));
    in[5] = prt_build_scalar(b, q->y_zero.dtype, number(&q->y_zero, 0));
    return ok && in[1] != NULL && in[2] != NULL && in[3] != NULL;
}

prt_value *prt_qconv_build(prt_build *b, const prt_qconv *q, prt_value *const in[6])
{
    prt_nhwc_qconv_attrs a = q->attrs;
    PRT_ATTR_SET(a, nhwc_qconv, form, (int32_t)q->layout.algorithm);
    PRT_ATTR_SET(a, nhwc_qconv, group, (int64_t)q->layout.group);
    PRT_ATTR_SET(a, nhwc_qconv, channels, (int64_t)q->layout.channels);
    PRT_ATTR_SET(a, nhwc_qconv, filters, (int64_t)q->layout.filters);
    return prt_build_op(b, PRT_OP_nhwc_qconv, &a, 6, in);
}

/* Chooses the algorithm: windows for depthwise convolutions, otherwise panels, unless a group has
 * too few filters. Returns false if neither suits. */
static bool choose_algorithm(prt_nhwc_weights *f)
{
    const bool depthwise = f->group > 1 && f->channels == 1 && f->filters == 1;
    f->algorithm = depthwise && f->taps <= MAX_TAPS ? PRT_NHWC_taps : PRT_NHWC_panels;
    return depthwise ? f->algorithm == PRT_NHWC_taps : f->group == 1 || f->filters >= MIN_FILTERS;
}

bool prt_to_nhwc_qconv(prt_pass *p, prt_build *b, prt_op *root)
{
    const prt_qlinear_conv_attrs *a = root->attrs;
    const prt_window_spec spec = PRT_WINDOW_SPEC(a);
    prt_value *x = prt_op_input(root, 0);
    prt_qconv q = { .attrs = PRT_ATTRS_OF(nhwc_qconv) };
    int64_t pads[2 * PRT_MAX_SPATIAL], sizes[PRT_MAX_SPATIAL];
    prt_window window;
    prt_value *in[8];
    for (uint32_t i = 0; i < 8; i++)
        in[i] = prt_op_input(root, i + 1);
    if (!prt_to_nhwc_is_image(x) || !prt_to_nhwc_is_image(&root->out[0]) || a->group < 1 ||
        !prt_qconv_read(in, &q) || (int32_t)q.weights.rank != x->type->rank ||
        prt_tensor_count(&q.weights) == 0)
        return false;
    const prt_tensor *w = &q.weights;
    prt_nhwc_weights *f = &q.layout;
    *f = (prt_nhwc_weights){ .group = (size_t)a->group,
        .channels = (size_t)w->dims[1],
        .filters = (size_t)(w->dims[0] / a->group),
        .taps = 1 };
    for (uint32_t i = 2; i < w->rank; i++)
        f->taps *= (size_t)w->dims[i];
    q.by_filter = f->channels * f->taps;
    q.by_channel = f->taps;
    if (!choose_algorithm(f) || !prt_to_nhwc_window(x, w, &spec, &window, sizes, pads))
        return false;
    const prt_i64s kernel = { .data = sizes, .count = w->rank - 2 };
    const prt_i64s edges = { .data = pads, .count = 2 * (w->rank - 2) };
    PRT_ATTR_SET(q.attrs, nhwc_qconv, kernel_shape, kernel);
    PRT_ATTR_SET(q.attrs, nhwc_qconv, pads, edges);
    PRT_ATTR_SET(q.attrs, nhwc_qconv, strides, a->strides);
    PRT_ATTR_SET(q.attrs, nhwc_qconv, dilations, a->dilations);
    const bool images = f->channels <= PRT_TO_NHWC_IMAGE_CHANNELS && f->group == 1 &&
        x->type->rank < 5 && prt_to_nhwc_source(x) == NULL;
    if (images)
        PRT_ATTR_SET(q.attrs, nhwc_qconv, images, 1);
    if (!prt_qconv_pack(p, b, &q, in))
        return false;
    in[0] = images ? x : prt_to_nhwc_last(b, x);
    prt_to_nhwc_replace(b, root, 0, prt_qconv_build(b, &q, in));
    return true;
}
