/* SPDX-License-Identifier: MIT */
/*
 * group_norm.c — GroupNorm and SkipGroupNorm: group normalisation of images, channels last or
 * second, optionally with SiLU.
 */
#include <math.h>

#include "op/share/gelu.h"
#include "op/share/norm_core.h"

enum { IN_X, IN_GAMMA, IN_BETA, IN_SKIP, IN_BIAS };

typedef struct params {
    int64_t groups, activation;
    float epsilon;
    bool last; /* channels are the last dim */
} params;

static poprt_status infer_with(prt_infer *c, const params *f)
{
    const prt_shape *x = &c->in[IN_X];
    if (f->activation != 0 && f->activation != 1)
        return prt_infer_fail(c, POPRT_E_ARG,
            "activation is %lld; accepted: 0 for none, 1 for "
            "SiLU",
            (long long)f->activation);
    if (f->groups < 1)
        return prt_infer_fail(c, POPRT_E_ARG, "groups is %lld; at least 1 is needed",
            (long long)f->groups);
    if (prt_infer_ranked(c, IN_X) && x->rank < 2)
        return prt_infer_fail(c, POPRT_E_SHAPE, "the input has rank %d; at least 2 is needed",
            x->rank);
    const int64_t channels =
        !prt_infer_ranked(c, IN_X) ? PRT_DIM_UNKNOWN : x->dims[f->last ? x->rank - 1 : 1];
    if (prt_dim_is_number(channels) && channels % f->groups != 0)
        return prt_infer_fail(c, POPRT_E_SHAPE, "%lld channels do not divide into %lld groups",
            (long long)channels, (long long)f->groups);
    PRT_TRY(prt_infer_vector(c, IN_GAMMA, channels));
    PRT_TRY(prt_infer_vector(c, IN_BETA, channels));
    PRT_TRY(prt_infer_vector(c, IN_BIAS, channels));
    PRT_TRY(prt_infer_like(c, 0, IN_X, x->dtype));
    return prt_infer_like(c, 1, IN_X, x->dtype);
}

/* Fails unless the residual has the input's shape, or one number for each image and channel. */
static poprt_status check_skip(const prt_infer *c, bool last)
{
    const prt_shape *x = &c->in[IN_X], *s = &c->in[IN_SKIP];
    int64_t dim;
    if (!prt_infer_ranked(c, IN_X) || !prt_infer_ranked(c, IN_SKIP))
        return POPRT_OK;
    if (s->rank != 2 && s->rank != x->rank)
        return prt_infer_fail(c, POPRT_E_SHAPE, "the residual has rank %d; accepted: 2, %d",
            s->rank, x->rank);
    const uint32_t channel = last ? (uint32_t)x->rank - 1 : 1;
    const uint32_t own = s->rank == 2 ? 1 : channel;
    PRT_TRY(prt_infer_merge(c, x->dims[0], s->dims[0], "the batch", &dim));
    PRT_TRY(prt_infer_merge(c, x->dims[channel], s->dims[own], "the channels", &dim));
    bool ones = true, same = true;
    for (uint32_t k = 1; s->rank == x->rank && k < (uint32_t)x->rank; k++) {
        if (k == channel || !prt_dim_is_number(s->dims[k]) || !prt_dim_is_number(x->dims[k]))
            continue;
        ones = ones && s->dims[k] == 1;
        same = same && s->dims[k] == x->dims[k];
    }
    if (!ones && !same)
        return prt_infer_fail(c, POPRT_E_SHAPE,
            "the residual's height and width are neither the "
            "input's nor 1");
    return POPRT_OK;
}

/* Layout of an image: channels, and pixels in each channel. */
typedef struct layout {
    size_t channels, places;
    bool last;
} layout;

static size_t element(const layout *l, size_t image, size_t channel, size_t place)
{
    return l->last ? (image * l->places + place) * l->channels + channel
                   : (image * l->channels + channel) * l->places + place;
}

/* Loads the sum of input, residual and bias for one group; writes it to output 1 if that is
   wanted. */
static void load_group(const prt_eval *c, const layout *l, size_t image, size_t first, size_t each,
    double *to)
{
    const prt_tensor *x = c->in[IN_X];
    const prt_tensor *skip = c->n_in > IN_SKIP && prt_eval_has(c, IN_SKIP) ? c->in[IN_SKIP] : NULL;
    const prt_tensor *bias = c->n_in > IN_BIAS && prt_eval_has(c, IN_BIAS) ? c->in[IN_BIAS] : NULL;
    const bool one = skip != NULL && prt_tensor_count(skip) != prt_tensor_count(x);
    for (size_t k = 0; k < each * l->places; k++) {
        const size_t channel = first + k / l->places;
        const size_t at = element(l, image, channel, k % l->places);
        to[k] = prt_real_at(x, at);
        if (skip != NULL)
            to[k] += prt_real_at(skip, one ? image * l->channels + channel : at);
        if (bias != NULL)
            to[k] += prt_real_at(bias, channel);
        if (prt_eval_wants(c, 1))
            prt_reals_store(c->out[1]->dtype, c->out[1]->data, at, 1, 1, &to[k]);
    }
}

static poprt_status eval_with(prt_eval *c, const params *f)
{
    const prt_tensor *x = c->in[IN_X];
    layout l = { .last = f->last };
    l.channels = (size_t)x->dims[f->last ? x->rank - 1 : 1];
    l.places =
        f->last ? prt_dims_product(x->dims, 1, x->rank - 1) : prt_dims_product(x->dims, 2, x->rank);
    const size_t groups = (size_t)f->groups, each = l.channels / groups, n = each * l.places;
    double *row = prt_eval_scratch(c, n, sizeof(double));
    if (row == NULL)
        return POPRT_E_NOMEM;
    for (size_t g = 0; n != 0 && g < (size_t)x->dims[0] * groups; g++) {
        const size_t image = g / groups, first = g % groups * each;
        double mean;
        load_group(c, &l, image, first, each, row);
        const double inverse = 1 / sqrt(prt_norm_centre(row, n, &mean) + (double)f->epsilon);
        for (size_t k = 0; k < n && prt_eval_wants(c, 0); k++) {
            const size_t channel = first + k / l.places;
            double y = row[k] * inverse * prt_real_at(c->in[IN_GAMMA], channel) +
                prt_real_at(c->in[IN_BETA], channel);
            y = f->activation == 1 ? prt_silu(y) : y;
            prt_reals_store(x->dtype, c->out[0]->data, element(&l, image, channel, k % l.places), 1,
                1, &y);
        }
    }
    return POPRT_OK;
}

#define PARAMS(a)                                                                                  \
    {                                                                                              \
        (a)->groups, (a)->activation, (a)->epsilon, (a)->channels_last != 0                        \
    }

static poprt_status infer(prt_infer *c)
{
    const prt_ms_group_norm_attrs *a = c->attrs;
    const params f = PARAMS(a);
    return infer_with(c, &f);
}

static poprt_status eval(prt_eval *c)
{
    const prt_ms_group_norm_attrs *a = c->attrs;
    const params f = PARAMS(a);
    return eval_with(c, &f);
}

const prt_op_hooks prt_op_ms_group_norm = { .infer = infer, .eval = eval };

static poprt_status infer_skip(prt_infer *c)
{
    const prt_ms_skip_group_norm_attrs *a = c->attrs;
    const params f = PARAMS(a);
    PRT_TRY(check_skip(c, f.last));
    return infer_with(c, &f);
}

static poprt_status eval_skip(prt_eval *c)
{
    const prt_ms_skip_group_norm_attrs *a = c->attrs;
    const params f = PARAMS(a);
    return eval_with(c, &f);
}

const prt_op_hooks prt_op_ms_skip_group_norm = { .infer = infer_skip, .eval = eval_skip };
