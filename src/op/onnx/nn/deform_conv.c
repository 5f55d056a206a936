/* SPDX-License-Identifier: MIT */
/*
 * deform_conv.c — DeformConv: a convolution whose taps are displaced by fractional offsets (with
 * linear interpolation) and weighted by a mask.
 */
#include <math.h>

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
