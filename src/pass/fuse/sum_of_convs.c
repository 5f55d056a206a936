/* SPDX-License-Identifier: MIT */
/*
 * sum_of_convs.c — fuse_sum_of_convs: merges convolutions of one input whose results are added into
 * one convolution with added weights. This merges the training-time branches of RepVGG, MobileOne
 * and similar networks. The smaller kernel lies within the larger one. A BatchNormalization of the
 * input is a 1x1 kernel. So is the input itself if a BatchNormalization follows the sum, which is
 * then folded too (Ding et al., RepVGG, 2021).
 *
 * Requires constant float32 weights whose results only the sum reads, and equal groups and strides.
 */
#include <math.h>

#include "pass/fuse/bn.h"

enum { SPATIAL = 3 }; /* most spatial axes */

typedef struct branch {
    prt_value *x;
    const prt_value *y;
    const prt_conv_attrs *attrs; /* NULL: a normalisation, or the input itself */
    prt_tensor w, bias;
    prt_bn bn;
    bool biased, same; /* same: the branch is the input itself */
    uint32_t axes;
    int64_t group, kernel[SPATIAL], pad[SPATIAL], stride[SPATIAL], dilation[SPATIAL];
    size_t taps;
} branch;

static int64_t item(prt_i64s list, uint32_t i, int64_t missing)
{
    return list.count != 0 ? list.data[i] : missing;
}

static bool find_conv(const prt_op *root, uint32_t slot, branch *to)
{
    const prt_op *op = prt_match_interior(root, slot, PRT_OP_conv);
    *to = (branch){ .taps = 1 };
    if (op == NULL || !prt_match_constant(op, 1, &to->w) || to->w.dtype != PRT_DTYPE_f32 ||
        to->w.rank < 3 || to->w.rank > SPATIAL + 2)
        return false;
    to->biased = prt_op_input(op, 2) != NULL;
    if (to->biased && (!prt_match_constant(op, 2, &to->bias) || to->bias.dtype != PRT_DTYPE_f32))
        return false;
    to->x = prt_op_input(op, 0);
    to->y = &op->out[0];
    to->attrs = op->attrs;
    to->group = to->attrs->group;
    to->axes = to->w.rank - 2;
    for (uint32_t i = 0; i < to->axes; i++) {
        to->kernel[i] = to->w.dims[2 + i];
        to->pad[i] = item(to->attrs->pads, i, 0);
        to->stride[i] = item(to->attrs->strides, i, 1);
        to->dilation[i] = item(to->attrs->dilations, i, 1);
        to->taps *= (size_t)to->kernel[i];
    }
    return to->attrs->auto_pad.size == 0 || prt_str_is(to->attrs->auto_pad, "NOTSET");
}

/* Reads a normalisation, or the input itself, as a depthwise 1x1 convolution. */
static bool find_norm(const prt_op *root, uint32_t slot, branch *to)
{
    const prt_op *op = prt_match_interior(root, slot, PRT_OP_batch_normalization);
    *to = (branch){ .taps = 1,
        .biased = op != NULL,
        .same = op == NULL,
        .x = prt_op_input(root, slot),
        .y = prt_op_input(root, slot) };
    for (uint32_t i = 0; i < SPATIAL; i++)
        to->kernel[i] = to->stride[i] = to->dilation[i] = 1;
    if (op == NULL)
        return prt_match_reader(&root->out[0], PRT_OP_batch_normalization) != NULL;
    to->x = prt_op_input(op, 0);
    return prt_bn_match(op, &to->bn) && prt_match_is_f32(to->x) &&
        prt_bn_is_supported(&to->bn, PRT_DTYPE_f32, (uint64_t)prt_match_dim(to->x, 1));
}

/* Finds the position of the first tap of `small` in the kernel of `large`, on each axis. Returns
 * false if it does not lie within. */
static bool find_place(const branch *large, const branch *small, int64_t *at)
{
    for (uint32_t i = 0; i < large->axes; i++) {
        const int64_t distance = large->pad[i] - small->pad[i], step = large->dilation[i];
        if (step <= 0 || large->stride[i] != small->stride[i] || distance < 0 ||
            distance % step != 0 || (small->kernel[i] > 1 && small->dilation[i] != step))
            return false;
        at[i] = distance / step;
        if (at[i] > large->kernel[i] - small->kernel[i])
            return false;
    }
    return true;
}

static bool fits(const prt_op *root, const branch *large, const branch *small, int64_t *at)
{
    if (large->attrs == NULL || large->x != small->x || prt_match_ranked(large->y) == NULL ||
        large->y->type != small->y->type || root->out[0].type != large->y->type ||
        !find_place(large, small, at))
        return false;
    if (small->attrs != NULL)
        return large->group == small->group && large->w.dims[0] == small->w.dims[0] &&
            large->w.dims[1] == small->w.dims[1];
    return large->w.dims[0] == large->w.dims[1] * large->group &&
        (small->same || prt_tensor_count(&small->bn.scale) == (size_t)large->w.dims[0]);
}

/* Returns the tap of the large kernel where tap `tap` of the small kernel lies. */
static size_t tap_of(const branch *large, const branch *small, const int64_t *at, size_t tap)
{
    size_t to = 0, step = 1;
    for (uint32_t i = large->axes; i-- > 0;) {
        const size_t n = (size_t)small->kernel[i];
        to += ((size_t)at[i] + tap % n) * step;
        tap /= n;
        step *= (size_t)large->kernel[i];
    }
    return to;
}

/* Adds the weights of `small` to w, [filters, depth, taps]. */
static void add_weights(const branch *large, const branch *small, const int64_t *at,
    const double *factors, float *w)
{
    const size_t filters = (size_t)large->w.dims[0], depth = (size_t)large->w.dims[1];
    for (size_t f = 0; f < filters; f++)
        for (size_t d = 0; d < depth; d++)
            for (size_t t = 0; t < small->taps; t++) {
                float *to = &w[(f * depth + d) * large->taps + tap_of(large, small, at, t)];
                if (small->attrs != NULL)
                    *to += (float)prt_load_f64(PRT_DTYPE_f32, small->w.data,
                        (f * depth + d) * small->taps + t);
                else if (d == f % depth)
                    *to += small->same ? 1.0f : (float)factors[f];
            }
}

static double bias_of(const branch *x, const double *factors, size_t f)
{
    if (x->attrs != NULL)
        return x->biased ? prt_load_f64(PRT_DTYPE_f32, x->bias.data, f) : 0.0;
    if (x->same)
        return 0.0;
    return prt_load_f64(PRT_DTYPE_f32, x->bn.bias.data, f) -
        prt_load_f64(PRT_DTYPE_f32, x->bn.mean.data, f) * factors[f];
}

static bool replace(prt_pass *p, prt_build *b, prt_op *root, const branch *large,
    const branch *small, const int64_t *at)
{
    const size_t count = prt_tensor_count(&large->w), filters = (size_t)large->w.dims[0];
    const bool norm = small->attrs == NULL && !small->same;
    const double *factors = norm ? prt_bn_factors(&small->bn, p->arena) : NULL;
    float *w = PRT_NEW_N(p->arena, float, count), *bias = PRT_NEW_N(p->arena, float, filters);
    if (w == NULL || bias == NULL || (norm && factors == NULL) ||
        !prt_pass_reserve(p, count * sizeof(float)))
        return false;
    for (size_t i = 0; i < count; i++)
        w[i] = (float)prt_load_f64(PRT_DTYPE_f32, large->w.data, i);
    add_weights(large, small, at, factors, w);
    for (size_t f = 0; f < filters; f++) {
        bias[f] = (float)(bias_of(large, NULL, f) + bias_of(small, factors, f));
        if (!isfinite(bias[f]))
            return false;
    }
    for (size_t i = 0; i < count; i++)
        if (!isfinite(w[i]))
            return false;
    prt_value *in[3] = { large->x,
        prt_build_tensor(b, PRT_DTYPE_f32, large->w.rank, large->w.dims, w), NULL };
    if (large->biased || small->biased)
        in[2] = prt_build_tensor(b, PRT_DTYPE_f32, 1, large->w.dims, bias);
    return prt_match_replace_named(b, root, PRT_OP_conv, large->attrs, in[2] != NULL ? 3 : 2, in);
}

static bool apply(prt_pass *p, prt_build *b, prt_op *root)
{
    branch x[2];
    int64_t at[SPATIAL];
    for (uint32_t i = 0; i < 2; i++)
        if (!find_conv(root, i, &x[i]) && !find_norm(root, i, &x[i]))
            return false;
    for (uint32_t i = 0; i < 2; i++)
        if (fits(root, &x[i], &x[!i], at))
            return replace(p, b, root, &x[i], &x[!i], at);
    return false;
}

PRT_PASS_OF_REWRITE(fuse_sum_of_convs, PRT_OP_add, apply);
