/* SPDX-License-Identifier: MIT */
/*
 * deform_conv.c — DeformConv: a convolution whose taps are displaced by fractional offsets (with
 * linear interpolation) and weighted by a mask.
 */
#include <math.h>

#include "op/internal/gradient.h"
#include "op/share/conv_core.h"

static const prt_conv_slots SLOTS = { 0, 1, 3 };

static prt_window_spec spec_of(const prt_deform_conv_attrs *a)
{
    return (prt_window_spec){ .kernel = a->kernel_shape,
        .strides = a->strides,
        .dilations = a->dilations,
        .pads = a->pads };
}

/* Checks that input i is (N, offset_group * taps * per_tap, output dims). */
static poprt_status check_field(const prt_infer *c, uint32_t i, int64_t per_tap)
{
    const prt_deform_conv_attrs *a = c->attrs;
    const prt_shape *y = &c->out[0], *w = &c->in[1];
    int64_t merged, rows = prt_dim_mul(c->dims, a->offset_group, per_tap);
    if (!prt_infer_ranked(c, i) || y->rank < 0 || w->rank < 0)
        return POPRT_OK;
    PRT_TRY(prt_infer_rank(c, i, y->rank));
    rows = prt_dim_mul(c->dims, rows, prt_infer_product(c, w->dims, 2, (uint32_t)w->rank));
    PRT_TRY(prt_infer_merge(c, c->in[i].dims[0], y->dims[0], "batch", &merged));
    PRT_TRY(prt_infer_merge(c, c->in[i].dims[1], rows, "dim 1 of offset or mask", &merged));
    for (int32_t k = 2; k < y->rank; k++)
        PRT_TRY(prt_infer_merge(c, c->in[i].dims[k], y->dims[k], "output dim", &merged));
    return POPRT_OK;
}

static poprt_status infer(prt_infer *c)
{
    const prt_deform_conv_attrs *a = c->attrs;
    const prt_window_spec spec = spec_of(a);
    const int64_t channels = prt_infer_dim(c, 0, 1);
    if (a->offset_group < 1 || a->offset_group > INT32_MAX ||
        (prt_dim_is_number(channels) && channels % a->offset_group != 0))
        return prt_infer_fail(c, POPRT_E_SHAPE,
            "the channels are not divisible by %lld offset groups", (long long)a->offset_group);
    PRT_TRY(prt_conv_infer(c, SLOTS, &spec, a->group, c->in[0].dtype));
    if (c->out[0].kind != PRT_VALUE_TENSOR)
        return POPRT_OK;
    PRT_TRY(check_field(c, 2, c->out[0].rank - 2));
    return check_field(c, 4, 1);
}

typedef struct field {
    const double *offset, *mask; /* mask NULL: all ones */
    size_t groups;               /* number of offset groups */
} field;

/* Computes the flat indices (SIZE_MAX outside) and weights of the corners of the cell around a
 * point. */
static void find_corners(const prt_window *w, const double *point, size_t *at, double *weight)
{
    for (size_t corner = 0; corner < (size_t)1 << w->rank; corner++) {
        at[corner] = 0;
        weight[corner] = 1.0;
        for (uint32_t i = 0; i < w->rank; i++) {
            const bool upper = (corner >> i & 1) != 0;
            const double whole = floor(point[i]) + (upper ? 1.0 : 0.0);
            weight[corner] *= 1.0 - fabs(point[i] - whole);
            if (at[corner] == SIZE_MAX || !(whole >= 0.0 && whole < (double)w->in[i]))
                at[corner] = SIZE_MAX;
            else
                at[corner] = at[corner] * (size_t)w->in[i] + (size_t)whole;
        }
    }
}

/* Gathers one position and tap for the channels of one offset group. */
static void gather_point(const prt_conv *v, size_t n, size_t g, size_t group, size_t position,
    const int64_t *tap, size_t t, size_t j, double *panel)
{
    const field *f = v->user;
    const prt_window *w = &v->window;
    const size_t each = v->groups * v->channels / f->groups;
    const size_t row = (n * f->groups + group) * v->taps + t;
    double point[PRT_MAX_SPATIAL], weight[1 << PRT_MAX_SPATIAL];
    size_t at[1 << PRT_MAX_SPATIAL];
    int64_t out[PRT_MAX_SPATIAL];
    prt_unravel(position, w->rank, w->out, out);
    for (uint32_t i = 0; i < w->rank; i++)
        point[i] = (double)(out[i] * w->stride[i] - w->begin[i] + tap[i] * w->dilation[i]) +
            f->offset[(row * w->rank + i) * v->positions + position];
    find_corners(w, point, at, weight);
    const double mask = f->mask != NULL ? f->mask[row * v->positions + position] : 1.0;
    for (size_t ch = 0; ch < v->channels; ch++) {
        if ((g * v->channels + ch) / each != group)
            continue;
        double value = 0.0;
        for (size_t corner = 0; corner < (size_t)1 << w->rank; corner++)
            if (at[corner] != SIZE_MAX)
                value += weight[corner] * v->plane[ch * v->in_positions + at[corner]];
        panel[prt_tile_at(v->depth, ch * v->taps + t, j)] = value * mask;
    }
}

static void gather(const prt_conv *v, size_t n, size_t g, size_t first, size_t count, double *panel)
{
    const field *f = v->user;
    const size_t each = v->groups * v->channels / f->groups;
    if (each == 0)
        return;
    const size_t from = g * v->channels / each, to = (g * v->channels + v->channels - 1) / each;
    int64_t tap[PRT_MAX_SPATIAL] = { 0 };
    for (size_t t = 0; t < v->taps; t++) {
        for (size_t group = from; group <= to; group++)
            for (size_t j = 0; j < count; j++)
                gather_point(v, n, g, group, first + j, tap, t, j, panel);
        (void)prt_at_next(v->window.rank, v->window.kernel, tap);
    }
}

static poprt_status eval(prt_eval *c)
{
    const prt_deform_conv_attrs *a = c->attrs;
    const prt_window_spec spec = spec_of(a);
    field f = { .groups = (size_t)a->offset_group };
    prt_conv v;
    PRT_TRY(prt_conv_init(c, &v, SLOTS, &spec, a->group, NULL));
    f.offset = prt_eval_reals(c, c->in[2]);
    if (f.offset == NULL)
        return POPRT_E_NOMEM;
    if (prt_eval_has(c, 4) && (f.mask = prt_eval_reals(c, c->in[4])) == NULL)
        return POPRT_E_NOMEM;
    v.gather = gather;
    v.user = &f;
    return prt_conv_run(c, &v);
}

const prt_op_hooks prt_op_deform_conv = { .infer = infer, .eval = eval };

/* ---- DeformConvGrad ---- */

static prt_deform_conv_attrs forward_attrs(const prt_deform_conv_grad_attrs *a)
{
    prt_deform_conv_attrs forward = PRT_ATTRS_OF(deform_conv);
    forward.strides = a->strides;
    forward.pads = a->pads;
    forward.offset_group = a->offset_group;
    forward.kernel_shape = a->kernel_shape;
    forward.group = a->group;
    forward.dilations = a->dilations;
    return forward;
}

static poprt_status infer_grad(prt_infer *c)
{
    static const uint32_t like[4] = { 0, 1, 2, 4 };
    const prt_deform_conv_attrs forward = forward_attrs(c->attrs);
    const prt_gradient g = { PRT_OP_deform_conv, &forward, 5, 1, 4, like };
    return prt_gradient_infer(c, &g);
}

/* Sizes and values of the operands, and the gradients summed so far. */
typedef struct backprop {
    prt_window w;
    size_t batch, channels, filters, group, offset_groups; /* channels and filters: of all groups */
    size_t taps, positions, in_positions;
    const double *x, *weights, *offset, *mask, *dy; /* mask NULL: all ones */
    double *dx, *dw, *doffset, *dmask;
} backprop;

/* Returns the sum over the filters of a channel's group of the weight of tap t times dY, and adds
 * the gradients of these weights, which multiply `value`. */
static double filters_gradient(const backprop *b, size_t n, size_t ch, size_t t, size_t position,
    double value)
{
    const size_t each = b->channels / b->group, filters = b->filters / b->group;
    const size_t first = ch / each * filters;
    double sum = 0.0;
    for (size_t f = first; f < first + filters; f++) {
        const size_t at = (f * each + ch % each) * b->taps + t;
        const double d = b->dy[(n * b->filters + f) * b->positions + position];
        sum += b->weights[at] * d;
        b->dw[at] += value * d;
    }
    return sum;
}

/* Adds the gradients of one tap at one position, for the channels of one offset group. */
static void add_point(const backprop *b, size_t n, size_t group, const int64_t *tap, size_t t,
    size_t position)
{
    const prt_window *w = &b->w;
    const size_t each = b->channels / b->offset_groups, corners = (size_t)1 << w->rank;
    const size_t row = (n * b->offset_groups + group) * b->taps + t;
    const double mask = b->mask != NULL ? b->mask[row * b->positions + position] : 1.0;
    double point[PRT_MAX_SPATIAL], weight[1 << PRT_MAX_SPATIAL];
    size_t at[1 << PRT_MAX_SPATIAL];
    int64_t out[PRT_MAX_SPATIAL];
    prt_unravel(position, w->rank, w->out, out);
    for (uint32_t i = 0; i < w->rank; i++)
        point[i] = (double)(out[i] * w->stride[i] - w->begin[i] + tap[i] * w->dilation[i]) +
            b->offset[(row * w->rank + i) * b->positions + position];
    find_corners(w, point, at, weight);
    for (size_t ch = group * each; ch < (group + 1) * each; ch++) {
        const size_t plane = (n * b->channels + ch) * b->in_positions;
        double value = 0.0;
        for (size_t k = 0; k < corners; k++)
            if (at[k] != SIZE_MAX)
                value += weight[k] * b->x[plane + at[k]];
        const double d = filters_gradient(b, n, ch, t, position, value * mask);
        b->dmask[row * b->positions + position] += d * value;
        for (size_t k = 0; k < corners; k++) {
            if (at[k] == SIZE_MAX)
                continue;
            b->dx[plane + at[k]] += d * mask * weight[k];
            for (uint32_t i = 0; i < w->rank; i++) {
                /* The weight of the other axes, with the sign of this axis. */
                double slope = (k >> i & 1) != 0 ? 1.0 : -1.0;
                for (uint32_t j = 0; j < w->rank; j++) {
                    const double part = point[j] - floor(point[j]);
                    if (j != i)
                        slope *= (k >> j & 1) != 0 ? part : 1.0 - part;
                }
                b->doffset[(row * w->rank + i) * b->positions + position] +=
                    d * mask * slope * b->x[plane + at[k]];
            }
        }
    }
}

static poprt_status load_operands(prt_eval *c, backprop *b)
{
    const size_t n_mask = b->batch * b->offset_groups * b->taps * b->positions;
    b->x = prt_eval_reals(c, c->in[0]);
    b->weights = prt_eval_reals(c, c->in[1]);
    b->offset = prt_eval_reals(c, c->in[2]);
    b->mask = prt_eval_has(c, 4) ? prt_eval_reals(c, c->in[4]) : NULL;
    b->dy = prt_eval_reals(c, c->in[5]);
    b->dx = prt_eval_scratch(c, prt_tensor_count(c->in[0]) + 1, sizeof(double));
    b->dw = prt_eval_scratch(c, prt_tensor_count(c->in[1]) + 1, sizeof(double));
    b->doffset = prt_eval_scratch(c, prt_tensor_count(c->in[2]) + 1, sizeof(double));
    b->dmask = prt_eval_scratch(c, n_mask + 1, sizeof(double));
    return b->x != NULL && b->weights != NULL && b->offset != NULL &&
            (b->mask != NULL || !prt_eval_has(c, 4)) && b->dy != NULL && b->dx != NULL &&
            b->dw != NULL && b->doffset != NULL && b->dmask != NULL
        ? POPRT_OK
        : POPRT_E_NOMEM;
}

static poprt_status eval_grad(prt_eval *c)
{
    const prt_deform_conv_attrs forward = forward_attrs(c->attrs);
    const prt_window_spec spec = spec_of(&forward);
    const prt_tensor *x = c->in[0], *w = c->in[1];
    backprop b = { .batch = (size_t)x->dims[0],
        .channels = (size_t)x->dims[1],
        .filters = (size_t)w->dims[0],
        .group = (size_t)forward.group,
        .offset_groups = (size_t)forward.offset_group };
    prt_window_fill(NULL, &spec, x->rank - 2, x->dims + 2, w->dims + 2, &b.w);
    b.taps = prt_dims_product(w->dims, 2, w->rank);
    b.positions = prt_dims_product(b.w.out, 0, b.w.rank);
    b.in_positions = prt_dims_product(x->dims, 2, x->rank);
    PRT_TRY(load_operands(c, &b));
    for (size_t n = 0; n < b.batch && b.channels != 0; n++)
        for (size_t group = 0; group < b.offset_groups; group++) {
            int64_t tap[PRT_MAX_SPATIAL] = { 0 };
            PRT_TRY(c->host->check(c));
            for (size_t t = 0; t < b.taps; t++) {
                for (size_t position = 0; position < b.positions; position++)
                    add_point(&b, n, group, tap, t, position);
                (void)prt_at_next(b.w.rank, b.w.kernel, tap);
            }
        }
    const double *const results[4] = { b.dx, b.dw, b.doffset, b.dmask };
    for (uint32_t i = 0; i < 4; i++)
        if (prt_eval_wants(c, i) && (i < 3 || b.mask != NULL))
            prt_reals_store(c->out[i]->dtype, c->out[i]->data, 0, 1, prt_tensor_count(c->out[i]),
                results[i]);
    return POPRT_OK;
}

const prt_op_hooks prt_op_deform_conv_grad = { .infer = infer_grad, .eval = eval_grad };
