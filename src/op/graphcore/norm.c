/* SPDX-License-Identifier: MIT */
/* norm.c — BatchNormalization, GroupNormalization and NormalizeImage of ai.graphcore. */
#include "op/share/norm.h"

#include <float.h>
#include <math.h>

/* ---- BatchNormalization: training mode if and only if there is more than one output */

static bool trains(uint32_t n_out)
{
    return n_out > 1;
}

static poprt_status infer_batch(prt_infer *c)
{
    const prt_shape *x = &c->in[0];
    int64_t channels = prt_infer_dim(c, 0, 1);
    if (c->n_out != 1 && c->n_out != 5)
        return prt_infer_fail(c, POPRT_E_PARSE, "has %u outputs; accepted: 1, 5", c->n_out);
    if (x->rank >= 0 && x->rank < 3)
        return prt_infer_fail(c, POPRT_E_SHAPE, "input has rank %d; at least 3 is needed", x->rank);
    for (uint32_t i = 1; i < 5; i++) {
        PRT_TRY(prt_infer_vector(c, i, channels));
        PRT_TRY(
            prt_infer_merge(c, channels, prt_infer_dim(c, i, 0), "number of channels", &channels));
    }
    for (uint32_t i = 1; i < 5; i++)
        PRT_TRY(prt_infer_set(c, i, c->in[3].dtype, 1, &channels));
    return prt_infer_like(c, 0, 0, x->dtype);
}

static poprt_status eval_batch(prt_eval *c)
{
    const prt_gc_batch_normalization_attrs *a = c->attrs;
    const prt_batch_norm params = { .training = trains(c->n_out),
        .unbiased = true,
        .epsilon = (double)a->epsilon,
        .momentum = (double)a->momentum };
    return prt_batch_norm_run(c, &params);
}

const prt_op_hooks prt_op_gc_batch_normalization = { .infer = infer_batch, .eval = eval_batch };

/* ---- GroupNormalization: groups of adjacent channels; mean and inverse deviation are flat
   outputs */

static poprt_status infer_group(prt_infer *c)
{
    const prt_gc_group_normalization_attrs *a = c->attrs;
    PRT_TRY(prt_group_norm_infer(c, a->num_groups));
    const int64_t groups = prt_dim_mul(c->dims, prt_infer_dim(c, 0, 0), a->num_groups);
    PRT_TRY(prt_infer_exact(c, 1, c->in[0].dtype, 1, &groups));
    return prt_infer_exact(c, 2, c->in[0].dtype, 1, &groups);
}

/* The statistics of groups without elements are NaN. */
static poprt_status eval_group(prt_eval *c)
{
    const prt_gc_group_normalization_attrs *a = c->attrs;
    for (uint32_t i = 1; i < 3; i++)
        for (size_t k = 0; prt_eval_wants(c, i) && k < prt_tensor_count(c->out[i]); k++)
            prt_store_f64(c->out[i]->dtype, c->out[i]->data, k, (double)NAN);
    return prt_group_norm_run(c, (size_t)a->num_groups, (double)a->epsilon);
}

const prt_op_hooks prt_op_gc_group_normalization = { .infer = infer_group, .eval = eval_group };

/* ---- NormalizeImage: (scale * image - offset) * factor by channel; adds a fourth channel of
   zeros */

static poprt_status infer_image(prt_infer *c)
{
    const prt_gc_normalize_image_attrs *a = c->attrs;
    const prt_shape *x = &c->in[0];
    int64_t dims[PRT_MAX_RANK];
    const int32_t dtype = x->dtype == PRT_DTYPE_u8 ? PRT_DTYPE_f16 : x->dtype;
    if (!(fabsf(a->scale) >= FLT_EPSILON))
        return prt_infer_fail(c, POPRT_E_ARG, "scale %g is too close to 0", (double)a->scale);
    PRT_TRY(prt_infer_vector(c, 1, 3));
    PRT_TRY(prt_infer_vector(c, 2, 3));
    if (x->rank < 0)
        return prt_infer_unranked(c, 0, dtype, PRT_RANK_UNKNOWN);
    if (x->rank < 2)
        return prt_infer_fail(c, POPRT_E_SHAPE, "the image has rank %d; at least 2 is needed",
            x->rank);
    const int64_t channels = x->dims[x->rank - 1];
    if (prt_dim_is_number(channels) && channels != 3)
        return prt_infer_fail(c, POPRT_E_SHAPE, "the last dim is %lld, not 3", (long long)channels);
    memcpy(dims, x->dims, sizeof(dims));
    dims[x->rank - 1] = 4;
    return prt_infer_set(c, 0, dtype, x->rank, dims);
}

static poprt_status eval_image(prt_eval *c)
{
    const prt_gc_normalize_image_attrs *a = c->attrs;
    const prt_tensor *x = c->in[0];
    const size_t pixels = prt_tensor_count(x) / 3;
    double offset[3], factor[3], pixel[4] = { 0 };
    if (!prt_eval_wants(c, 0))
        return POPRT_OK;
    prt_reals_load(c->in[1]->dtype, c->in[1]->data, 0, 1, 3, offset);
    prt_reals_load(c->in[2]->dtype, c->in[2]->data, 0, 1, 3, factor);
    for (size_t i = 0; i < pixels; i++) {
        prt_reals_load(x->dtype, x->data, 3 * i, 1, 3, pixel);
        for (uint32_t k = 0; k < 3; k++)
            pixel[k] = ((double)a->scale * pixel[k] - offset[k]) * factor[k];
        prt_reals_store(c->out[0]->dtype, c->out[0]->data, 4 * i, 1, 4, pixel);
    }
    return POPRT_OK;
}

const prt_op_hooks prt_op_gc_normalize_image = { .infer = infer_image, .eval = eval_image };
