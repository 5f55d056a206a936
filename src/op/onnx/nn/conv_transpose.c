/* SPDX-License-Identifier: MIT */
/*
 * conv_transpose.c — ConvTranspose, computed per output element: position o sums tap k of input i
 * where o = i * stride - begin + k * dilation. ConvTransposeWithDynamicPads of com.microsoft has
 * its pads in an input.
 */
#include "op/share/conv_core.h"

static const prt_conv_slots SLOTS = { 0, 1, 2 };

void prt_conv_transpose_fill(prt_dims *d, const prt_conv_transpose_attrs *a, uint32_t rank,
    const int64_t *in, const int64_t *kernel, prt_window *w)
{
    const prt_window_spec spec = PRT_WINDOW_SPEC(a);
    /* In old models output_shape lists all dims, not only the spatial dims. */
    const uint32_t skip = a->output_shape.count > rank ? 2 : 0;
    const bool upper = prt_str_is(a->auto_pad, "SAME_UPPER");
    const bool valid = prt_str_is(a->auto_pad, "VALID");
    prt_window_fill(d, &spec, rank, in, kernel, w);
    for (uint32_t i = 0; i < rank; i++) {
        const int64_t span =
            prt_dim_add(d, prt_dim_mul(d, w->dilation[i], prt_dim_sub(d, w->kernel[i], 1)), 1);
        const int64_t reach = prt_dim_mul(d, w->stride[i], prt_dim_sub(d, in[i], 1));
        const int64_t full =
            prt_dim_add(d, prt_dim_add(d, reach, span), prt_i64s_at(a->output_padding, i, 0));
        if (a->output_shape.count == 0 && !prt_window_is_same(&spec)) {
            w->begin[i] = valid ? 0 : prt_i64s_at(a->pads, i, 0);
            w->end[i] = valid ? 0 : prt_i64s_at(a->pads, rank + i, 0);
            w->out[i] = prt_dim_sub(d, prt_dim_sub(d, full, w->begin[i]), w->end[i]);
            continue;
        }
        w->out[i] = a->output_shape.count != 0 ? a->output_shape.data[skip + i]
                                               : prt_dim_mul(d, in[i], w->stride[i]);
        const int64_t total = prt_dim_max(d, prt_dim_sub(d, full, w->out[i]), 0);
        const int64_t less = prt_dim_floordiv(d, total, 2), more = prt_dim_sub(d, total, less);
        w->begin[i] = upper ? less : more;
        w->end[i] = upper ? more : less;
    }
}

static poprt_status check_extra(const prt_infer *c, prt_i64s list, uint32_t rank, int64_t least,
    const char *name)
{
    if (list.count != 0 && list.count != rank && !(least == 1 && list.count == rank + 2))
        return prt_infer_fail(c, POPRT_E_SHAPE, "%s has %u values; %u are required", name,
            list.count, rank);
    for (uint32_t i = 0; i < list.count; i++)
        if (list.data[i] < least || list.data[i] > INT32_MAX)
            return prt_infer_fail(c, POPRT_E_ARG, "%s contains %lld, which is out of range", name,
                (long long)list.data[i]);
    return POPRT_OK;
}

static poprt_status check(prt_infer *c, const prt_conv_transpose_attrs *a, uint32_t bias,
    uint32_t rank)
{
    const prt_window_spec spec = PRT_WINDOW_SPEC(a);
    const int64_t channels = prt_infer_dim(c, 0, 1);
    int64_t merged;
    PRT_TRY(prt_infer_rank(c, 0, (int32_t)rank + 2));
    PRT_TRY(prt_infer_rank(c, 1, (int32_t)rank + 2));
    PRT_TRY(prt_window_check(c, &spec, rank));
    PRT_TRY(check_extra(c, a->output_padding, rank, 0, "output_padding"));
    PRT_TRY(check_extra(c, a->output_shape, rank, 1, "output_shape"));
    if (a->group < 1 || a->group > INT32_MAX)
        return prt_infer_fail(c, POPRT_E_ARG, "group is %lld; accepted: 1 to 2147483647",
            (long long)a->group);
    PRT_TRY(prt_infer_merge(c, channels, prt_infer_dim(c, 1, 0), "number of channels", &merged));
    if (prt_dim_is_number(merged) && merged % a->group != 0)
        return prt_infer_fail(c, POPRT_E_SHAPE, "%lld channels are not divisible by %lld groups",
            (long long)merged, (long long)a->group);
    return prt_infer_vector(c, bias, prt_dim_mul(c->dims, prt_infer_dim(c, 1, 1), a->group));
}

static poprt_status infer_with(prt_infer *c, const prt_conv_transpose_attrs *a,
    prt_conv_slots slots)
{
    const prt_window_spec spec = PRT_WINDOW_SPEC(a);
    const int32_t dtype = c->in[0].dtype;
    int64_t dims[PRT_MAX_RANK], kernel[PRT_MAX_SPATIAL], in[PRT_MAX_SPATIAL];
    const int32_t rank = prt_infer_ranked(c, 0) ? c->in[0].rank
        : prt_infer_ranked(c, 1)                ? c->in[1].rank
                                                : PRT_RANK_UNKNOWN;
    if (rank < 0)
        return prt_infer_unranked(c, 0, dtype, rank);
    if (rank < 3 || rank > PRT_MAX_RANK)
        return prt_infer_fail(c, POPRT_E_SHAPE, "the input has rank %d; accepted: 3 to %d", rank,
            PRT_MAX_RANK);
    const uint32_t spatial = (uint32_t)rank - 2;
    PRT_TRY(check(c, a, slots.bias, spatial));
    PRT_TRY(prt_window_kernel(c, 1, &spec, spatial, kernel));
    for (uint32_t i = 0; i < spatial; i++)
        in[i] = prt_infer_dim(c, 0, i + 2);
    prt_window w;
    prt_conv_transpose_fill(c->dims, a, spatial, in, kernel, &w);
    dims[0] = prt_infer_dim(c, 0, 0);
    dims[1] = prt_dim_mul(c->dims, prt_infer_dim(c, 1, 1), a->group);
    memcpy(dims + 2, w.out, spatial * sizeof(int64_t));
    return prt_infer_exact(c, 0, dtype, rank, dims);
}

static size_t source(const prt_window *w, const int64_t *out, const int64_t *tap)
{
    size_t at = 0;
    for (uint32_t i = 0; i < w->rank; i++) {
        const int64_t x = out[i] + w->begin[i] - tap[i] * w->dilation[i];
        if (x < 0 || x % w->stride[i] != 0 || x / w->stride[i] >= w->in[i])
            return SIZE_MAX;
        at = at * (size_t)w->in[i] + (size_t)(x / w->stride[i]);
    }
    return at;
}

/* Transposes W from (C, M/group, taps) to [M][C/group * taps]. */
static poprt_status transform_weights(prt_eval *c, prt_conv *v)
{
    double *to = prt_eval_scratch(c, v->groups * v->filters, v->depth * sizeof(double));
    if (to == NULL)
        return POPRT_E_NOMEM;
    const double *from = v->weights;
    for (size_t channel = 0; channel < v->groups * v->channels; channel++)
        for (size_t m = 0; m < v->filters; m++) {
            const size_t filter = channel / v->channels * v->filters + m;
            memcpy(to + filter * v->depth + channel % v->channels * v->taps, from,
                v->taps * sizeof(double));
            from += v->taps;
        }
    v->weights = to;
    return POPRT_OK;
}

static poprt_status eval_with(prt_eval *c, const prt_conv_transpose_attrs *a, prt_conv_slots slots)
{
    const prt_window_spec spec = PRT_WINDOW_SPEC(a);
    const prt_tensor *x = c->in[0], *w = c->in[1];
    prt_conv v;
    PRT_TRY(prt_conv_init(c, &v, slots, &spec, 1, NULL));
    prt_conv_transpose_fill(NULL, a, x->rank - 2, x->dims + 2, w->dims + 2, &v.window);
    v.groups = (size_t)a->group;
    v.channels = (size_t)w->dims[0] / v.groups;
    v.filters = (size_t)w->dims[1];
    v.depth = v.channels * v.taps;
    v.source = source;
    PRT_TRY(transform_weights(c, &v));
    return prt_conv_run(c, &v);
}

static poprt_status infer(prt_infer *c)
{
    return infer_with(c, c->attrs, SLOTS);
}

static poprt_status eval(prt_eval *c)
{
    return eval_with(c, c->attrs, SLOTS);
}

const prt_op_hooks prt_op_conv_transpose = { .infer = infer, .eval = eval };

#ifndef PRT_NO_MICROSOFT

/* ---- ConvTransposeWithDynamicPads ---- */

static const prt_conv_slots DYNAMIC_SLOTS = { 0, 1, 3 };

static prt_conv_transpose_attrs conv_transpose_attrs_of(const void *attrs, const int64_t *pads,
    uint32_t count)
{
    const prt_ms_conv_transpose_with_dynamic_pads_attrs *a = attrs;
    return (prt_conv_transpose_attrs){ .group = a->group,
        .auto_pad = a->auto_pad,
        .strides = a->strides,
        .pads = { pads, count },
        .output_padding = a->output_padding,
        .dilations = a->dilations,
        .kernel_shape = a->kernel_shape };
}

static poprt_status infer_dynamic(prt_infer *c)
{
    int64_t pads[2 * PRT_MAX_SPATIAL];
    uint32_t count = 0;
    bool known = !prt_infer_has(c, 2) || prt_infer_ints(c, 2, pads, PRT_COUNT_OF(pads), &count);
    for (uint32_t i = 0; i < count; i++)
        known = known && prt_dim_is_number(pads[i]);
    if (known) {
        const prt_conv_transpose_attrs a = conv_transpose_attrs_of(c->attrs, pads, count);
        return infer_with(c, &a, DYNAMIC_SLOTS);
    }
    if (c->dims == NULL)
        return prt_infer_fail(c, POPRT_E_SHAPE,
            "Pads must be a list of two numbers for each "
            "spatial dim");
    if (!prt_infer_ranked(c, 0))
        return prt_infer_unranked(c, 0, c->in[0].dtype, PRT_RANK_UNKNOWN);
    return prt_infer_unranked(c, 0, c->in[0].dtype, c->in[0].rank);
}

static poprt_status eval_dynamic(prt_eval *c)
{
    int64_t pads[2 * PRT_MAX_SPATIAL];
    uint32_t count = 0;
    if (prt_eval_has(c, 2))
        PRT_TRY(prt_eval_ints(c, 2, pads, PRT_COUNT_OF(pads), &count));
    const prt_conv_transpose_attrs a = conv_transpose_attrs_of(c->attrs, pads, count);
    return eval_with(c, &a, DYNAMIC_SLOTS);
}

const prt_op_hooks prt_op_ms_conv_transpose_with_dynamic_pads = { .infer = infer_dynamic,
    .eval = eval_dynamic };

#endif
