/* SPDX-License-Identifier: MIT */
/*
 * low_precision_conv.c — narrow_weights with compute=i8: converts NhwcConv to NhwcQuantizedConv.
 * Excludes depthwise convolutions, convolutions of a model's own images, and convolutions with a
 * channel scale.
 */
#include <math.h>

#include "kern/int8/dot.h"
#include "op/internal/nhwc.h"
#include "pass/engine/match.h"
#include "pass/pack/pack.h"

enum { MIN_DEPTH = 32 /* channels * taps */, MIN_FILTERS = 8 /* of a group */ };

/* Buffers of the constants of the new operator. */
typedef struct target {
    prt_nhwc_weights layout;
    int8_t *bytes;
    int32_t *sums;
    float *scales;
} target;

/* Quantises one filter; returns false if a weight is not finite. */
static bool quantize_filter(const target *t, size_t filter, const float *w)
{
    const size_t taps = t->layout.taps, depth = t->layout.channels * taps;
    float most = 0.0f;
    for (size_t i = 0; i < depth; i++) {
        if (!isfinite(w[i]))
            return false;
        most = fabsf(w[i]) > most ? fabsf(w[i]) : most;
    }
    const float scale = most / 127.0f >= 0x1p-100f ? most / 127.0f : 1.0f;
    for (size_t i = 0; i < depth; i++) {
        const int8_t v = (int8_t)lrintf(w[i] / scale);
        t->bytes[prt_nhwc_qconv_at(&t->layout, filter / t->layout.filters,
            filter % t->layout.filters, i / taps, i % taps)] = v;
        t->sums[filter] += v;
    }
    t->scales[filter] = scale;
    return true;
}

/* Quantises the weights at `packed`, using `plain` as scratch for their unpacked order. */
static bool quantize_all(const target *t, const prt_nhwc_weights *from, const float *packed,
    float *plain)
{
    const size_t depth = t->layout.channels * t->layout.taps;
    prt_nhwc_weights_unpack(from, packed, plain);
    for (size_t f = 0; f < t->layout.group * t->layout.filters; f++)
        if (!quantize_filter(t, f, plain + f * depth))
            return false;
    return true;
}

/* Makes inputs 1 to 3 of the new operator. Returns false if a weight is not finite or without
 * memory. */
static bool quantize(prt_pass *p, prt_op *op, const prt_nhwc_weights *from, prt_value **in)
{
    const prt_allocator *a = p->module->allocator;
    const size_t filters = from->group * from->filters;
    target t = { .layout = *from };
    prt_tensor w;
    prt_blob *blobs[5] = { NULL }; /* bytes, sums, scales; scratch; an aligned copy */
    size_t size[4] = { 0, filters * sizeof(int32_t), filters * sizeof(float), 0 };
    t.layout.algorithm = PRT_NHWC_panels;
    t.layout.transformed = false;
    bool ok = prt_match_constant(op, 1, &w) && w.dtype == PRT_DTYPE_f32 &&
        prt_nhwc_qconv_size(&t.layout, &size[0]) &&
        prt_size_mul(filters * sizeof(float), from->channels * from->taps, &size[3]);
    for (size_t i = 0; i < 4 && ok; i++)
        ok = prt_blob_create(a, size[i], &blobs[i]) == POPRT_OK;
    if (ok && (uintptr_t)w.data % _Alignof(float) != 0) {
        ok = prt_blob_create(a, w.size, &blobs[4]) == POPRT_OK;
        if (ok)
            w.data = memcpy(prt_blob_bytes(blobs[4]), w.data, w.size);
    }
    if (ok) {
        t.bytes = memset(prt_blob_bytes(blobs[0]), 0, size[0]);
        t.sums = memset(prt_blob_bytes(blobs[1]), 0, size[1]);
        t.scales = (void *)prt_blob_bytes(blobs[2]);
        ok = quantize_all(&t, from, w.data, (void *)prt_blob_bytes(blobs[3]));
    }
    prt_blob_release(blobs[3]);
    prt_blob_release(blobs[4]);
    static const int32_t types[3] = { PRT_DTYPE_i8, PRT_DTYPE_i32, PRT_DTYPE_f32 };
    for (size_t i = 0; i < 3; i++) {
        const int64_t dim = (int64_t)(i == 0 ? size[0] : filters);
        if (ok)
            in[i] = prt_pass_derive(op->graph, prt_op_input(op, 1),
                prt_type_tensor(p->module->types, types[i], 1, &dim), blobs[i]);
        else
            prt_blob_release(blobs[i]);
    }
    return ok && in[0] != NULL && in[1] != NULL && in[2] != NULL;
}

static prt_nhwc_quantized_conv_attrs attrs_of(const prt_nhwc_conv_attrs *a)
{
    prt_nhwc_quantized_conv_attrs to = PRT_ATTRS_OF(nhwc_quantized_conv);
    PRT_ATTR_SET(to, nhwc_quantized_conv, group, a->group);
    PRT_ATTR_SET(to, nhwc_quantized_conv, channels, a->channels);
    PRT_ATTR_SET(to, nhwc_quantized_conv, filters, a->filters);
    PRT_ATTR_SET(to, nhwc_quantized_conv, kernel_shape, a->kernel_shape);
    PRT_ATTR_SET(to, nhwc_quantized_conv, pads, a->pads);
    PRT_ATTR_SET(to, nhwc_quantized_conv, strides, a->strides);
    PRT_ATTR_SET(to, nhwc_quantized_conv, dilations, a->dilations);
    if (a->activation != PRT_ACT_none) {
        PRT_ATTR_SET(to, nhwc_quantized_conv, activation, a->activation);
        PRT_ATTR_SET(to, nhwc_quantized_conv, alpha, a->alpha);
        PRT_ATTR_SET(to, nhwc_quantized_conv, beta, a->beta);
    }
    return to;
}

bool prt_low_precision_conv(prt_pass *p, prt_build *b, prt_op *root)
{
    const prt_nhwc_conv_attrs *a = root->attrs;
    prt_value *in[6] = { prt_op_input(root, 0), NULL, NULL, NULL, prt_op_input(root, 2),
        prt_op_input(root, 3) };
    prt_nhwc_weights w;
    if (!prt_nhwc_weights_of(a, &w) || w.algorithm == PRT_NHWC_taps || a->images != 0 ||
        prt_op_input(root, 4) != NULL || !prt_match_is_f32(in[0]) ||
        w.channels * w.taps < MIN_DEPTH || w.channels * w.taps > PRT_DOT_DEPTH ||
        w.filters < MIN_FILTERS)
        return false;
    const prt_nhwc_quantized_conv_attrs attrs = attrs_of(a);
    if (!quantize(p, root, &w, in + 1))
        return b->status != POPRT_OK;
    return prt_match_replace_named(b, root, PRT_OP_nhwc_quantized_conv, &attrs,
        in[5] != NULL       ? 6
            : in[4] != NULL ? 5
                            : 4,
        in);
}
