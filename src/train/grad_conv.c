/* SPDX-License-Identifier: MIT */
/*
 * grad_conv.c — gradients of convolution and pooling. The gradient of the data is the transposed
 * convolution. The gradient of the weights is a convolution of the data by the gradient, with
 * channels and batch exchanged, and strides and dilations exchanged.
 */
#include "train/rule.h"

enum { SPATIAL = PRT_MAX_RANK - 2 };

/* Windows over the spatial dims. The end pads are as large as the outputs need; `unused` is the
 * number of input elements at the end that no window covers. */
typedef struct windows {
    uint32_t n;
    int64_t in[SPATIAL], out[SPATIAL], kernel[SPATIAL], stride[SPATIAL], dilation[SPATIAL];
    int64_t pads[2 * SPATIAL];
    int64_t unused[SPATIAL];
} windows;

static int64_t entry(prt_i64s list, uint32_t i, int64_t absent)
{
    return i < list.count ? list.data[i] : absent;
}

static int64_t pad_before(prt_str auto_pad, int64_t total, int64_t given)
{
    const int64_t all = total > 0 ? total : 0;
    if (prt_str_is(auto_pad, "SAME_UPPER"))
        return all / 2;
    if (prt_str_is(auto_pad, "SAME_LOWER"))
        return all - all / 2;
    return prt_str_is(auto_pad, "VALID") ? 0 : given;
}

/* Computes the windows. `kernel` is an attribute or the spatial dims of the weights. */
static poprt_status find_windows(const prt_grad *g, prt_i64s kernel, prt_i64s strides,
    prt_i64s dilations, prt_str auto_pad, prt_i64s pads, windows *w)
{
    const prt_type *x = prt_grad_x(g, 0)->type, *y = prt_grad_y(g)->type;
    if (x->rank < 3 || x->rank > PRT_MAX_RANK || y->rank != x->rank)
        return prt_grad_refuse(g, "needs an input of known rank");
    *w = (windows){ .n = (uint32_t)x->rank - 2 };
    for (uint32_t i = 0; i < w->n; i++) {
        w->in[i] = x->dims[i + 2];
        w->out[i] = y->dims[i + 2];
        w->kernel[i] = entry(kernel, i, 1);
        w->stride[i] = entry(strides, i, 1);
        w->dilation[i] = entry(dilations, i, 1);
        if (w->in[i] < 0 || w->out[i] < 1 || w->kernel[i] < 1)
            return prt_grad_refuse(g, "needs spatial dimensions that are numbers");
        const int64_t total =
            (w->out[i] - 1) * w->stride[i] + (w->kernel[i] - 1) * w->dilation[i] + 1 - w->in[i];
        const int64_t before = pad_before(auto_pad, total, entry(pads, i, 0));
        w->pads[i] = before;
        w->pads[w->n + i] = total > before ? total - before : 0;
        w->unused[i] = total < before ? before - total : 0;
    }
    return POPRT_OK;
}

static prt_value *convolve(prt_grad *g, const windows *w, prt_value *x, prt_value *weights,
    bool exchanged)
{
    prt_conv_attrs attrs = PRT_ATTRS_OF(conv);
    const prt_i64s stride = { exchanged ? w->dilation : w->stride, w->n };
    const prt_i64s dilation = { exchanged ? w->stride : w->dilation, w->n };
    const prt_i64s pads = { w->pads, 2 * w->n };
    PRT_ATTR_SET(attrs, conv, strides, stride);
    PRT_ATTR_SET(attrs, conv, dilations, dilation);
    PRT_ATTR_SET(attrs, conv, pads, pads);
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

/* Gradient of the weights of one group: [C, N, ...] convolved by [O, N, ...] gives [C, O, spatial],
 * cut to the kernel's size. */
static prt_value *weight_gradient(prt_grad *g, const windows *w, prt_value *x, prt_value *dy)
{
    int64_t starts[SPATIAL] = { 0 }, axes[SPATIAL];
    for (uint32_t i = 0; i < w->n; i++)
        axes[i] = i + 2;
    prt_value *dw = convolve(g, w, swapped(g, x, w->n + 2), swapped(g, dy, w->n + 2), true);
    prt_value *in[4] = { dw, prt_build_i64s(g->b, w->n, starts),
        prt_build_i64s(g->b, w->n, w->kernel), prt_build_i64s(g->b, w->n, axes) };
    return swapped(g, prt_build_op(g->b, PRT_OP_slice, NULL, 4, in), w->n + 2);
}

static const prt_op *split_channels(prt_grad *g, prt_value *v, uint32_t groups)
{
    prt_split_attrs attrs = PRT_ATTRS_OF(split);
    PRT_ATTR_SET(attrs, split, axis, 1);
    PRT_ATTR_SET(attrs, split, num_outputs, groups);
    return prt_build_op_n(g->b, PRT_OP_split, &attrs, 1, &v, groups);
}

static prt_value *all_weight_gradients(prt_grad *g, const windows *w, uint32_t groups)
{
    if (groups == 1)
        return weight_gradient(g, w, prt_grad_x(g, 0), g->out[0]);
    const prt_op *x = split_channels(g, prt_grad_x(g, 0), groups);
    const prt_op *dy = split_channels(g, g->out[0], groups);
    prt_value **parts = PRT_NEW_N(g->b->graph->module->arena, prt_value *, groups);
    if (x == NULL || dy == NULL || parts == NULL)
        return NULL;
    for (uint32_t i = 0; i < groups; i++)
        parts[i] = weight_gradient(g, w, &x->out[i], &dy->out[i]);
    prt_concat_attrs attrs = PRT_ATTRS_OF(concat);
    PRT_ATTR_SET(attrs, concat, axis, 0);
    return prt_build_op(g->b, PRT_OP_concat, &attrs, groups, parts);
}

poprt_status prt_grad_conv(prt_grad *g)
{
    const prt_conv_attrs *a = g->op->attrs;
    const prt_type *weights = prt_grad_x(g, 1)->type;
    windows w;
    if (!prt_type_is_static(weights) || weights->rank < 3 || a->group < 1 ||
        a->group > weights->dims[0])
        return prt_grad_refuse(g, "needs weights of known shape");
    const prt_i64s kernel = { weights->dims + 2, (uint32_t)weights->rank - 2 };
    PRT_TRY(find_windows(g, kernel, a->strides, a->dilations, a->auto_pad, a->pads, &w));
    if (g->wanted[0])
        PRT_TRY(prt_grad_set(g, 0, convolve_back(g, &w, g->out[0], prt_grad_x(g, 1), a->group)));
    if (g->wanted[1])
        PRT_TRY(prt_grad_set(g, 1, all_weight_gradients(g, &w, (uint32_t)a->group)));
    if (g->op->n_in > 2 && g->wanted[2]) {
        int64_t axes[PRT_MAX_RANK] = { 0 };
        for (uint32_t i = 0; i < w.n; i++)
            axes[i + 1] = i + 2;
        PRT_TRY(prt_grad_set(g, 2, prt_grad_sum(g, g->out[0], w.n + 1, axes, false)));
    }
    return POPRT_OK;
}

/* Sums over windows in each channel. */
static prt_value *window_sums(prt_grad *g, const windows *w, prt_value *x)
{
    int64_t flat[PRT_MAX_RANK] = { -1, 1 }, kernel[PRT_MAX_RANK] = { 1, 1 };
    for (uint32_t i = 0; i < w->n; i++) {
        flat[i + 2] = w->in[i];
        kernel[i + 2] = w->kernel[i];
    }
    prt_value *planes =
        prt_build_binary(g->b, PRT_OP_reshape, x, prt_build_i64s(g->b, w->n + 2, flat));
    prt_value *ones = prt_build_binary(g->b, PRT_OP_expand, prt_grad_number(g, x, 1.0),
        prt_build_i64s(g->b, w->n + 2, kernel));
    return prt_grad_reshape(g, convolve(g, w, planes, ones, false), prt_grad_y(g));
}

poprt_status prt_grad_average_pool(prt_grad *g)
{
    const prt_average_pool_attrs *a = g->op->attrs;
    windows w;
    double size = 1.0;
    bool longer = false;
    PRT_TRY(find_windows(g, a->kernel_shape, a->strides, a->dilations, a->auto_pad, a->pads, &w));
    for (uint32_t i = 0; i < w.n; i++) {
        size *= (double)w.kernel[i];
        longer = longer || w.pads[w.n + i] > entry(a->pads, w.n + i, 0);
    }
    prt_value *x = prt_grad_x(g, 0), *count = prt_grad_number(g, x, size);
    if (a->count_include_pad != 0 && a->ceil_mode != 0 && longer)
        return prt_grad_refuse(g,
            "not supported if ceil_mode extends the padding that count_include_pad counts");
    if (a->count_include_pad == 0)
        count = window_sums(g, &w, prt_grad_expand(g, prt_grad_number(g, x, 1.0), x));
    return prt_grad_by(g, prt_grad_div(g, window_sums(g, &w, x), count));
}

poprt_status prt_grad_global_average_pool(prt_grad *g)
{
    prt_value *count = prt_grad_ratio(g, prt_grad_x(g, 0), prt_grad_y(g), g->out[0]);
    return prt_grad_set(g, 0,
        prt_grad_expand(g, prt_grad_div(g, g->out[0], count), prt_grad_x(g, 0)));
}

poprt_status prt_grad_global_max_pool(prt_grad *g)
{
    return prt_grad_set(g, 0,
        prt_grad_masked(g, PRT_OP_equal, prt_grad_x(g, 0), prt_grad_y(g), g->out[0]));
}
