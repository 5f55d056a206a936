/* SPDX-License-Identifier: MIT */
/*
 * grad_conv.c — gradients of convolutions. The gradient of the data is the transposed
 * convolution. The gradient of the weights is a convolution of the data by the gradient, with
 * channels and batch exchanged, and strides and dilations exchanged.
 */
#include "op/share/conv_core.h"
#include "train/windows.h"

typedef prt_grad_windows windows;

static int64_t pad_before(prt_str auto_pad, int64_t total, int64_t given)
{
    const int64_t all = total > 0 ? total : 0;
    if (prt_str_is(auto_pad, "SAME_UPPER"))
        return all / 2;
    if (prt_str_is(auto_pad, "SAME_LOWER"))
        return all - all / 2;
    return prt_str_is(auto_pad, "VALID") ? 0 : given;
}

/* Adds the pads of axis i to the windows, so that they reach the last output. */
static void find_pads(windows *w, uint32_t i, int64_t before, int64_t total)
{
    w->pads[i] = before;
    w->pads[w->n + i] = total > before ? total - before : 0;
    w->unused[i] = total < before ? before - total : 0;
}

poprt_status prt_grad_find_windows(const prt_grad *g, const prt_value *x, const prt_value *y,
    const prt_window_spec *spec, prt_grad_windows *w)
{
    const int32_t rank = prt_grad_rank(x);
    if (rank < 3 || rank > PRT_MAX_RANK || prt_grad_rank(y) != rank)
        return prt_grad_refuse(g, "needs an input of known rank");
    *w = (windows){ .n = (uint32_t)rank - 2 };
    for (uint32_t i = 0; i < w->n; i++) {
        w->in[i] = x->type->dims[i + 2];
        w->out[i] = y->type->dims[i + 2];
        w->kernel[i] = prt_i64s_at(spec->kernel, i, 1);
        w->stride[i] = prt_i64s_at(spec->strides, i, 1);
        w->dilation[i] = prt_i64s_at(spec->dilations, i, 1);
        if (w->in[i] < 0 || w->out[i] < 1 || w->kernel[i] < 1)
            return prt_grad_refuse(g, "needs spatial dimensions that are numbers");
        const int64_t total =
            (w->out[i] - 1) * w->stride[i] + (w->kernel[i] - 1) * w->dilation[i] + 1 - w->in[i];
        find_pads(w, i, pad_before(spec->auto_pad, total, prt_i64s_at(spec->pads, i, 0)), total);
    }
    return POPRT_OK;
}

static prt_value *convolve(prt_grad *g, const windows *w, prt_value *x, prt_value *weights,
    bool exchanged, int64_t group)
{
    prt_conv_attrs attrs = PRT_ATTRS_OF(conv);
    const prt_i64s stride = { exchanged ? w->dilation : w->stride, w->n };
    const prt_i64s dilation = { exchanged ? w->stride : w->dilation, w->n };
    const prt_i64s pads = { w->pads, 2 * w->n };
    PRT_ATTR_SET(attrs, conv, strides, stride);
    PRT_ATTR_SET(attrs, conv, dilations, dilation);
    PRT_ATTR_SET(attrs, conv, pads, pads);
    PRT_ATTR_SET(attrs, conv, group, group);
    prt_value *in[2] = { x, weights };
    return prt_build_op(g->b, PRT_OP_conv, &attrs, 2, in);
}

static prt_value *convolve_back(prt_grad *g, const windows *w, prt_value *dy, prt_value *weights,
    int64_t group)
{
    prt_conv_transpose_attrs attrs = PRT_ATTRS_OF(conv_transpose);
    const prt_i64s stride = { w->stride, w->n }, dilation = { w->dilation, w->n };
    const prt_i64s pads = { w->pads, 2 * w->n }, more = { w->unused, w->n };
    PRT_ATTR_SET(attrs, conv_transpose, strides, stride);
    PRT_ATTR_SET(attrs, conv_transpose, dilations, dilation);
    PRT_ATTR_SET(attrs, conv_transpose, pads, pads);
    PRT_ATTR_SET(attrs, conv_transpose, output_padding, more);
    PRT_ATTR_SET(attrs, conv_transpose, group, group);
    prt_value *in[2] = { dy, weights };
    return prt_build_op(g->b, PRT_OP_conv_transpose, &attrs, 2, in);
}

/* Exchanges dims 0 and 1. */
static prt_value *swapped(prt_grad *g, prt_value *v, uint32_t rank)
{
    int64_t perm[PRT_MAX_RANK];
    for (uint32_t i = 0; i < rank; i++)
        perm[i] = i < 2 ? 1 - (int64_t)i : (int64_t)i;
    return prt_grad_permute(g, v, rank, perm);
}

/* Makes the batch of x the channels of each group: [N, G * C, ...] to [C, G * N, ...]. */
static prt_value *batch_to_channels(prt_grad *g, const windows *w, prt_value *x, int64_t group)
{
    int64_t dims[PRT_MAX_RANK + 1] = { 0, group, -1 }, perm[PRT_MAX_RANK + 1] = { 2, 1, 0 };
    int64_t joined[PRT_MAX_RANK];
    if (group == 1 || g->b->status != POPRT_OK)
        return swapped(g, x, w->n + 2);
    for (uint32_t i = 0; i < w->n; i++) {
        dims[3 + i] = joined[2 + i] = w->in[i];
        perm[3 + i] = 3 + (int64_t)i;
    }
    joined[0] = x->type->dims[1] / group;
    joined[1] = -1;
    x = prt_grad_reshape_to(g, x, w->n + 3, dims);
    return prt_grad_reshape_to(g, prt_grad_permute(g, x, w->n + 3, perm), w->n + 2, joined);
}

/* Gradient of the weights: x as [C, G * N, ...], convolved in G groups by dy as [G * O, N, ...],
 * gives [C, G * O, ...], cut to the kernel's size. */
static prt_value *weight_gradient(prt_grad *g, const windows *w, prt_value *x, prt_value *dy,
    int64_t group)
{
    int64_t starts[PRT_MAX_SPATIAL] = { 0 }, axes[PRT_MAX_SPATIAL];
    for (uint32_t i = 0; i < w->n; i++)
        axes[i] = i + 2;
    if (group > 1 && w->n + 3 > PRT_MAX_RANK) {
        g->b->status = prt_grad_refuse(g, "has too many dims for groups");
        return NULL;
    }
    prt_value *dw =
        convolve(g, w, batch_to_channels(g, w, x, group), swapped(g, dy, w->n + 2), true, group);
    prt_value *in[4] = { dw, prt_build_i64s(g->b, w->n, starts),
        prt_build_i64s(g->b, w->n, w->kernel), prt_build_i64s(g->b, w->n, axes) };
    return swapped(g, prt_build_op(g->b, PRT_OP_slice, NULL, 4, in), w->n + 2);
}

poprt_status prt_grad_set_bias(prt_grad *g, uint32_t input, prt_value *dy)
{
    int64_t axes[PRT_MAX_RANK] = { 0 };
    const int32_t rank = prt_grad_rank(dy);
    if (input >= g->op->n_in || !g->wanted[input])
        return POPRT_OK;
    for (int32_t i = 2; i < rank; i++)
        axes[i - 1] = i;
    return prt_grad_set(g, input, prt_grad_sum(g, dy, (uint32_t)rank - 1, axes, false));
}

poprt_status prt_grad_conv(prt_grad *g)
{
    const prt_conv_attrs *a = g->op->attrs;
    prt_value *x = prt_grad_x(g, 0), *weights = prt_grad_x(g, 1);
    const prt_type *type = weights->type;
    windows w;
    if (!prt_type_is_static(type) || type->rank < 3 || a->group < 1 || a->group > type->dims[0])
        return prt_grad_refuse(g, "needs weights of known shape");
    prt_window_spec spec = PRT_WINDOW_SPEC(a);
    spec.kernel = (prt_i64s){ type->dims + 2, (uint32_t)type->rank - 2 };
    PRT_TRY(prt_grad_find_windows(g, x, prt_grad_y(g), &spec, &w));
    if (g->wanted[0])
        PRT_TRY(prt_grad_set(g, 0, convolve_back(g, &w, g->out[0], weights, a->group)));
    if (g->wanted[1])
        PRT_TRY(prt_grad_set(g, 1, weight_gradient(g, &w, x, g->out[0], a->group)));
    return prt_grad_set_bias(g, 2, g->out[0]);
}

/* Pads that make convolutions over `v` read the positions that the windows give; negative ones cut
 * `v`. */
static prt_value *padded(prt_grad *g, const windows *w, prt_value *v)
{
    int64_t pads[2 * PRT_MAX_RANK] = { 0 };
    const uint32_t rank = w->n + 2;
    for (uint32_t i = 0; i < w->n; i++) {
        pads[2 + i] = w->pads[i];
        pads[rank + 2 + i] = w->pads[w->n + i] - w->unused[i];
    }
    return prt_build_binary(g->b, PRT_OP_pad, v, prt_build_i64s(g->b, 2 * rank, pads));
}

/* ConvTranspose is the gradient of a convolution of y, and is differentiated as such. */
poprt_status prt_grad_conv_transpose(prt_grad *g)
{
    const prt_conv_transpose_attrs *a = g->op->attrs;
    prt_value *x = prt_grad_x(g, 0), *weights = prt_grad_x(g, 1), *dy = g->out[0];
    const prt_type *type = weights->type;
    prt_window given;
    windows w;
    if (!prt_type_is_static(type) || type->rank < 3 || a->group < 1)
        return prt_grad_refuse(g, "needs weights of known shape");
    const prt_window_spec spec = { .kernel = { type->dims + 2, (uint32_t)type->rank - 2 },
        .strides = a->strides,
        .dilations = a->dilations };
    PRT_TRY(prt_grad_find_windows(g, dy, x, &spec, &w));
    prt_conv_transpose_fill(NULL, a, w.n, x->type->dims + 2, type->dims + 2, &given);
    bool exact = true; /* the pads are such that a convolution can have them */
    for (uint32_t i = 0; i < w.n; i++) {
        const int64_t total =
            (w.out[i] - 1) * w.stride[i] + (w.kernel[i] - 1) * w.dilation[i] + 1 - w.in[i];
        find_pads(&w, i, given.begin[i], total);
        exact = exact && given.begin[i] >= 0 && w.unused[i] < w.stride[i];
    }
    if (!exact) {
        dy = padded(g, &w, dy);
        for (uint32_t i = 0; i < w.n; i++) {
            w.in[i] += w.pads[i] + w.pads[w.n + i] - w.unused[i];
            find_pads(&w, i, 0, 0);
        }
    }
    if (g->wanted[0])
        PRT_TRY(prt_grad_set(g, 0, convolve(g, &w, dy, weights, false, a->group)));
    if (g->wanted[1])
        PRT_TRY(prt_grad_set(g, 1, weight_gradient(g, &w, dy, x, a->group)));
    return prt_grad_set_bias(g, 2, g->out[0]);
}

/* A convolution in each channel by a kernel of ones. */
prt_value *prt_grad_window_sums(prt_grad *g, const prt_grad_windows *w, prt_value *x,
    prt_value *like)
{
    int64_t flat[PRT_MAX_RANK] = { -1, 1 }, kernel[PRT_MAX_RANK] = { 1, 1 };
    for (uint32_t i = 0; i < w->n; i++) {
        flat[i + 2] = w->in[i];
        kernel[i + 2] = w->kernel[i];
    }
    prt_value *planes = prt_grad_reshape_to(g, x, w->n + 2, flat);
    prt_value *ones = prt_build_binary(g->b, PRT_OP_expand, prt_grad_number(g, x, 1.0),
        prt_build_i64s(g->b, w->n + 2, kernel));
    return prt_grad_reshape(g, convolve(g, w, planes, ones, false, 1), like);
}
