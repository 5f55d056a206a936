/* SPDX-License-Identifier: MIT */
/*
 * low_precision.c — narrow_weights: stores packed matrices in fewer bits
 * (kern/gemm/low_precision.h); a session widens them as it reads them. A fused_linear keeps its
 * operator; a 1x1 nhwc_conv becomes fused_linear. With compute=i8 both become quantized_linear,
 * which quantises the rows of its left operand in each run; low_precision_conv.c converts other
 * convolutions. Runs only if the options ask for it, since results change.
 */
#include <math.h>

#include "kern/int8/dot.h"
#include "op/internal/nhwc.h"
#include "pass/engine/choices.h"
#include "pass/engine/match.h"
#include "pass/pack/pack.h"

enum { BLOCK_ROWS = 32 }; /* rows that share a scale of int4 */

typedef struct target {
    int kind;
    int32_t dtype;
    bool scaled;
    size_t block; /* rows that share a row of scales; 0: all rows */
} target;

static bool computes(const prt_pass *p, prt_compute type)
{
    return prt_pass_choice(p, "compute") == (int)type;
}

/* Returns false where the weights stay float32. */
static bool target_of(const prt_pass *p, target *to)
{
    static const target targets[] = {
        [PRT_WEIGHTS_f16] = { PRT_LOW_PRECISION_f16, PRT_DTYPE_f16, false, 0 },
        [PRT_WEIGHTS_bf16] = { PRT_LOW_PRECISION_bf16, PRT_DTYPE_bf16, false, 0 },
        [PRT_WEIGHTS_f8e4m3] = { PRT_LOW_PRECISION_e4m3, PRT_DTYPE_f8e4m3fnuz, true, 0 },
        [PRT_WEIGHTS_f8e5m2] = { PRT_LOW_PRECISION_e5m2, PRT_DTYPE_f8e5m2fnuz, true, 0 },
        [PRT_WEIGHTS_i8] = { PRT_LOW_PRECISION_i8, PRT_DTYPE_i8, true, 0 },
        [PRT_WEIGHTS_i4] = { PRT_LOW_PRECISION_i4, PRT_DTYPE_i4, true, BLOCK_ROWS },
    };
    const int weights =
        computes(p, PRT_COMPUTE_bf16) ? PRT_WEIGHTS_bf16 : prt_pass_choice(p, "weights");
    *to = targets[weights];
    return weights != PRT_WEIGHTS_f32;
}

/* Computes scales that map the largest element of each column to the largest number of the type.
 * Without scales, returns false if an element exceeds that number. Returns false for elements that
 * are not finite. */
static bool find_scales(const target *t, size_t k, size_t columns, const float *panel, float *scale)
{
    static const float most[PRT_LOW_PRECISION_COUNT] = PRT_LOW_PRECISION_MAX;
    const size_t width = prt_gemm_width(columns);
    for (size_t j = 0; j < columns; j++) {
        float largest = 0.0f;
        for (size_t i = 0; i < k; i++) {
            const float x = fabsf(panel[i * width + j]);
            if (!isfinite(x))
                return false;
            largest = x > largest ? x : largest;
        }
        const float s = largest / most[t->kind];
        if (!t->scaled && s > 1.0f)
            return false;
        scale[j] = s >= 0x1p-100f ? s : 1.0f;
    }
    return true;
}

static bool convert_all(const target *t, size_t k, size_t n, const float *w, void *to, float *scale)
{
    char *out = to;
    for (size_t first = 0; first < n; first += PRT_GEMM_PANEL) {
        const size_t columns = n - first < PRT_GEMM_PANEL ? n - first : PRT_GEMM_PANEL;
        const size_t width = prt_gemm_width(columns);
        float *to_scale =
            scale + first * (t->block != 0 ? prt_low_precision_blocks(t->block, k) : 1);
        const prt_low_precision_scales by = { .scale = t->scaled ? to_scale : NULL,
            .block = t->block };
        const size_t block = t->block != 0 ? t->block : k;
        for (size_t i = 0; i < k; i += block, to_scale += width)
            if (!find_scales(t, k - i < block ? k - i : block, columns, w + i * width, to_scale))
                return false;
        prt_low_precision_pack(t->kind, k, columns, w, &by, out);
        w += k * width;
        out += prt_low_precision_bytes(t->kind, prt_low_precision_rows(t->kind, k) * width);
    }
    return true;
}

/* Packs int8 panels of groups of four rows (dot4_i8) from float panels, with the sums of their
 * columns and the scales. */
static bool quantize_all(const target *t, size_t k, size_t n, const float *w, void *to,
    float *scale, int32_t *sums)
{
    const prt_nhwc_weights layout = { .algorithm = PRT_NHWC_panels,
        .group = 1,
        .channels = k,
        .filters = n,
        .taps = 1 };
    for (size_t first = 0, width; first < n; first += PRT_GEMM_PANEL, w += k * width) {
        const size_t columns = n - first < PRT_GEMM_PANEL ? n - first : PRT_GEMM_PANEL;
        width = prt_gemm_width(columns);
        if (!find_scales(t, k, columns, w, scale + first))
            return false;
        for (size_t i = 0; i < k; i++) {
            int8_t *row = (int8_t *)to + prt_nhwc_qconv_at(&layout, 0, first, i, 0);
            for (size_t j = 0; j < columns; j++, row += PRT_DOT_FOUR) {
                *row = (int8_t)lrintf(w[i * width + j] / scale[first + j]);
                sums[first + j] += *row;
            }
        }
    }
    return true;
}

/* Returns the floats of a constant at an aligned address; NULL: no memory. The caller releases
 * `*copy`, if a copy was necessary. */
static const float *floats_of(const prt_pass *p, const prt_tensor *w, prt_blob **copy)
{
    *copy = NULL;
    if ((uintptr_t)w->data % _Alignof(float) == 0)
        return w->data;
    if (prt_blob_create(p->module->allocator, w->size, copy) != POPRT_OK)
        return NULL;
    memcpy(prt_blob_bytes(*copy), w->data, w->size);
    return (const void *)(*copy)->data;
}

/* Returns the number of rows of input 1 of `op`, packed float32 panels of n columns; 0: it is
 * something else. */
static size_t rows_of(const prt_op *op, size_t n, prt_tensor *w)
{
    if (n == 0 || !prt_match_constant(op, 1, w) || w->dtype != PRT_DTYPE_f32 || w->rank != 1)
        return 0;
    const size_t width = prt_gemm_width(n), k = (size_t)w->dims[0] / width;
    return k * width == (size_t)w->dims[0] ? k : 0;
}

static prt_value *derive(const prt_pass *p, const prt_op *op, int32_t dtype, size_t count,
    prt_blob *blob)
{
    const int64_t dim = (int64_t)count;
    return prt_pass_derive(op->graph, prt_op_input(op, 1),
        prt_type_tensor(p->module->types, dtype, 1, &dim), blob);
}

/* Makes low-precision panels of n columns and their scales (NULL without scales). Returns false if
 * they cannot be stored or without memory. */
static bool convert_weights(prt_pass *p, prt_op *op, const target *t, size_t n, prt_value **panels,
    prt_value **scales)
{
    prt_tensor w;
    prt_blob *blob = NULL, *scale = NULL, *copy;
    size_t size;
    const size_t k = rows_of(op, n, &w), width = prt_gemm_width(n);
    const size_t rows = prt_low_precision_rows(t->kind, k);
    const size_t scaled = t->block != 0 ? prt_low_precision_blocks(t->block, k) * width : n;
    if (k == 0 || !prt_size_mul(prt_low_precision_bytes(t->kind, rows), width, &size))
        return false;
    const float *from = floats_of(p, &w, &copy);
    const bool ok = from != NULL &&
        prt_blob_create(p->module->allocator, size, &blob) == POPRT_OK &&
        prt_blob_create(p->module->allocator, scaled * sizeof(float), &scale) == POPRT_OK &&
        convert_all(t, k, n, from, prt_blob_bytes(blob), (void *)prt_blob_bytes(scale));
    prt_blob_release(copy);
    if (!ok) {
        prt_blob_release(blob);
        prt_blob_release(scale);
        return false;
    }
    *panels = derive(p, op, t->dtype, rows * width, blob);
    *scales = NULL;
    if (t->scaled)
        *scales = derive(p, op, PRT_DTYPE_f32, scaled, scale);
    else
        prt_blob_release(scale);
    return *panels != NULL && (!t->scaled || *scales != NULL);
}

/* Makes inputs 2 to 4 of quantized_linear. Returns false if they cannot be stored or without
 * memory. */
static bool quantize(prt_pass *p, prt_op *op, size_t n, prt_value **in)
{
    static const target t = { PRT_LOW_PRECISION_i8, PRT_DTYPE_i8, true, 0 };
    prt_tensor w;
    prt_blob *bytes = NULL, *sums = NULL, *scales = NULL, *copy;
    const prt_allocator *a = p->module->allocator;
    const size_t k = rows_of(op, n, &w);
    const prt_nhwc_weights layout = { .algorithm = PRT_NHWC_panels,
        .group = 1,
        .channels = k,
        .filters = n,
        .taps = 1 };
    size_t size;
    if (k == 0 || k > PRT_DOT_DEPTH || !prt_nhwc_qconv_size(&layout, &size))
        return false;
    const float *from = floats_of(p, &w, &copy);
    bool ok = from != NULL && prt_blob_create(a, size, &bytes) == POPRT_OK &&
        prt_blob_create(a, n * sizeof(int32_t), &sums) == POPRT_OK &&
        prt_blob_create(a, n * sizeof(float), &scales) == POPRT_OK;
    if (ok) {
        memset(prt_blob_bytes(bytes), 0, size);
        memset(prt_blob_bytes(sums), 0, n * sizeof(int32_t));
        ok = quantize_all(&t, k, n, from, prt_blob_bytes(bytes), (void *)prt_blob_bytes(scales),
            (void *)prt_blob_bytes(sums));
    }
    prt_blob_release(copy);
    if (!ok) {
        prt_blob_release(bytes);
        prt_blob_release(sums);
        prt_blob_release(scales);
        return false;
    }
    in[0] = derive(p, op, PRT_DTYPE_i8, size, bytes);
    in[1] = derive(p, op, PRT_DTYPE_i32, n, sums);
    in[2] = derive(p, op, PRT_DTYPE_f32, n, scales);
    return in[0] != NULL && in[1] != NULL && in[2] != NULL;
}

/* Replaces `root` by quantized_linear. */
static bool replace_by_quantized(prt_pass *p, prt_build *b, prt_op *root,
    const prt_fused_linear_attrs *from)
{
    prt_quantized_linear_attrs attrs = PRT_ATTRS_OF(quantized_linear);
    prt_value *in[7] = { prt_op_input(root, 0), NULL, NULL, NULL, NULL, prt_op_input(root, 2),
        prt_op_input(root, 3) };
    if (!quantize(p, root, (size_t)from->columns, in + 2))
        return b->status != POPRT_OK;
    PRT_ATTR_SET(attrs, quantized_linear, columns, from->columns);
    if (from->activation != PRT_ACT_none) {
        PRT_ATTR_SET(attrs, quantized_linear, activation, from->activation);
        PRT_ATTR_SET(attrs, quantized_linear, alpha, from->alpha);
        PRT_ATTR_SET(attrs, quantized_linear, beta, from->beta);
    }
    return prt_match_replace_named(b, root, PRT_OP_quantized_linear, &attrs,
        in[6] != NULL       ? 7
            : in[5] != NULL ? 6
                            : 5,
        in);
}

/* A product of 4-bit integers in blocks (pack_n_bits) keeps its weights and quantises the left
 * operand. */
static bool quantize_left(prt_build *b, prt_op *root, prt_fused_linear_attrs *attrs)
{
    prt_value *in[6];
    if (attrs->compute != PRT_LINEAR_float || attrs->block < 1 || attrs->block > PRT_DOT_DEPTH)
        return false;
    for (uint32_t i = 0; i < root->n_in; i++)
        in[i] = prt_op_input(root, i);
    PRT_ATTR_SET(*attrs, fused_linear, compute, PRT_LINEAR_i8);
    return prt_match_replace_named(b, root, PRT_OP_fused_linear, attrs, root->n_in, in);
}

static bool replace(prt_pass *p, prt_build *b, prt_op *root, prt_fused_linear_attrs *attrs)
{
    target t;
    prt_value *in[5];
    const bool is_low_precision = target_of(p, &t);
    if (computes(p, PRT_COMPUTE_i8) && (!is_low_precision || t.kind != PRT_LOW_PRECISION_i4))
        return replace_by_quantized(p, b, root, attrs);
    if (!is_low_precision || !convert_weights(p, root, &t, (size_t)attrs->columns, &in[1], &in[4]))
        return false;
    in[0] = prt_op_input(root, 0);
    in[2] = prt_op_input(root, 2);
    in[3] = prt_op_input(root, 3);
    if (t.block != 0)
        PRT_ATTR_SET(*attrs, fused_linear, block, (int64_t)t.block);
    if (computes(p, PRT_COMPUTE_i8))
        PRT_ATTR_SET(*attrs, fused_linear, compute, PRT_LINEAR_i8);
    if (computes(p, PRT_COMPUTE_bf16))
        PRT_ATTR_SET(*attrs, fused_linear, compute, PRT_LINEAR_bf16);
    uint32_t n = 5;
    while (n > 2 && in[n - 1] == NULL)
        n--;
    prt_value *y = prt_build_op(b, PRT_OP_fused_linear, attrs, n, in);
    prt_match_mark(b, y, root);
    if (y != NULL)
        (void)prt_pass_replace(b, &root->out[0], y);
    return true;
}

static bool apply_linear(prt_pass *p, prt_build *b, prt_op *root)
{
    prt_fused_linear_attrs attrs = *(const prt_fused_linear_attrs *)root->attrs;
    if (computes(p, PRT_COMPUTE_i8) && prt_op_input(root, 1)->type->dtype == PRT_DTYPE_i4)
        return quantize_left(b, root, &attrs);
    return attrs.columns > 0 && replace(p, b, root, &attrs);
}

/* A 1x1 convolution without padding and strides is a matrix product of pixels and channels. */
static bool apply_conv(prt_pass *p, prt_build *b, prt_op *root)
{
    const prt_nhwc_conv_attrs *a = root->attrs;
    const prt_value *x = prt_op_input(root, 0);
    prt_fused_linear_attrs attrs = PRT_ATTRS_OF(fused_linear);
    if (a->form != PRT_NHWC_panels || a->group != 1 || a->images != 0 ||
        prt_op_input(root, 4) != NULL || !prt_type_is_tensor(x->type) || x->type->rank < 2 ||
        !prt_i64s_are(a->kernel_shape, 1) || !prt_i64s_are(a->pads, 0) ||
        !prt_i64s_are(a->strides, 1) || a->filters < 1)
        return computes(p, PRT_COMPUTE_i8) && prt_low_precision_conv(p, b, root);
    PRT_ATTR_SET(attrs, fused_linear, columns, a->filters);
    if (a->activation != PRT_ACT_none) {
        PRT_ATTR_SET(attrs, fused_linear, activation, a->activation);
        PRT_ATTR_SET(attrs, fused_linear, alpha, a->alpha);
        PRT_ATTR_SET(attrs, fused_linear, beta, a->beta);
    }
    return replace(p, b, root, &attrs);
}

static const prt_rewrite rewrites[] = { { PRT_OP_fused_linear, apply_linear },
    { PRT_OP_nhwc_conv, apply_conv } };

const prt_pass_hooks prt_pass_narrow_weights = {
    .rewrites = rewrites,
    .n_rewrites = PRT_COUNT_OF(rewrites),
};
