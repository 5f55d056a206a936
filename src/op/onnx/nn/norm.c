/* SPDX-License-Identifier: MIT */
/*
 * norm.c — normalisations by the statistics of rows or of groups of channels: LayerNormalization,
 * RMSNormalization, InstanceNormalization and GroupNormalization.
 */
#include <math.h>

#include "op/share/norm.h"
#include "op/share/norm_core.h"

double prt_norm_centre(double *x, size_t n, double *mean)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; i++)
        sum += x[i];
    *mean = sum / (double)n;
    for (size_t i = 0; i < n; i++)
        x[i] -= *mean;
    return prt_norm_square(x, n);
}

double prt_norm_square(const double *x, size_t n)
{
    double squares = 0.0;
    for (size_t i = 0; i < n; i++)
        squares += x[i] * x[i];
    return squares / (double)n;
}

/* ---- LayerNormalization and RMSNormalization: rows start at an axis, factors broadcast ---- */

/* Checks that input i broadcasts to the shape of input 0. */
static poprt_status check_factor(const prt_infer *c, uint32_t i)
{
    if (!prt_infer_ranked(c, i) || !prt_infer_ranked(c, 0))
        return POPRT_OK;
    const prt_shape *x = &c->in[0], *f = &c->in[i];
    if (f->rank > x->rank)
        return prt_infer_fail(c, POPRT_E_SHAPE,
            "input %u has rank %d; the limit is the rank of the input, %d", i, f->rank, x->rank);
    for (int32_t k = 1; k <= f->rank; k++) {
        const int64_t a = f->dims[f->rank - k], b = x->dims[x->rank - k];
        if (prt_dim_is_number(a) && prt_dim_is_number(b) && a != b && a != 1)
            return prt_infer_fail(c, POPRT_E_SHAPE,
                "dim %d of input %u is %lld where 1 or %lld is "
                "needed",
                f->rank - k, i, (long long)a, (long long)b);
    }
    return POPRT_OK;
}

static poprt_status infer_layer(prt_infer *c)
{
    const prt_layer_normalization_attrs *a = c->attrs;
    const prt_shape *x = &c->in[0];
    const int32_t stash = a->stash_type == PRT_DTYPE_bf16 ? PRT_DTYPE_bf16 : PRT_DTYPE_f32;
    int64_t dims[PRT_MAX_RANK];
    if (a->stash_type != PRT_DTYPE_f32 && a->stash_type != PRT_DTYPE_bf16)
        return prt_infer_fail(c, POPRT_E_UNSUPPORTED, "stash_type is %lld; accepted: 1, 16",
            (long long)a->stash_type);
    PRT_TRY(check_factor(c, 1));
    PRT_TRY(check_factor(c, 2));
    PRT_TRY(prt_infer_like(c, 0, 0, x->dtype));
    if (x->rank < 0) {
        PRT_TRY(prt_infer_unranked(c, 1, stash, x->rank));
        return prt_infer_unranked(c, 2, stash, x->rank);
    }
    uint32_t axis;
    PRT_TRY(prt_infer_axis(c, a->axis, x->rank, false, &axis));
    for (uint32_t i = 0; i < (uint32_t)x->rank; i++)
        dims[i] = i < axis ? x->dims[i] : 1;
    PRT_TRY(prt_infer_set(c, 1, stash, x->rank, dims));
    return prt_infer_set(c, 2, stash, x->rank, dims);
}

static poprt_status infer_rms(prt_infer *c)
{
    const prt_rms_normalization_attrs *a = c->attrs;
    uint32_t axis;
    PRT_TRY(check_factor(c, 1));
    if (c->in[0].rank >= 0)
        PRT_TRY(prt_infer_axis(c, a->axis, c->in[0].rank, false, &axis));
    return prt_infer_like(c, 0, 0, c->in[1].dtype);
}

/* A scale or bias, broadcast to one row. */
typedef struct factor {
    const prt_tensor *t;
    size_t step[PRT_MAX_RANK]; /* stride per axis of the input */
    bool same;                 /* the same for every row */
    double *row;
} factor;

static poprt_status init_factor(prt_eval *c, factor *f, uint32_t i, uint32_t axis, size_t inner)
{
    const prt_tensor *x = c->in[0];
    *f = (factor){ .t = prt_eval_has(c, i) ? c->in[i] : NULL, .same = true };
    if (f->t == NULL)
        return POPRT_OK;
    const uint32_t missing = x->rank - f->t->rank;
    for (uint32_t k = missing; k < x->rank; k++) {
        const bool one = f->t->dims[k - missing] == 1;
        f->step[k] = one ? 0 : prt_dims_product(f->t->dims, k - missing + 1, f->t->rank);
        f->same = f->same && (one || k >= axis);
    }
    f->row = prt_eval_scratch(c, inner, sizeof(double));
    return f->row != NULL ? POPRT_OK : POPRT_E_NOMEM;
}

static void load_factor(factor *f, const prt_tensor *x, uint32_t axis, size_t outer, size_t inner)
{
    int64_t at[PRT_MAX_RANK] = { 0 };
    size_t first = 0;
    if (f->t == NULL || (f->same && outer != 0))
        return;
    prt_unravel(outer, axis, x->dims, at);
    for (uint32_t i = 0; i < axis; i++)
        first += (size_t)at[i] * f->step[i];
    for (size_t j = 0; j < inner; j++) {
        size_t from = first;
        for (uint32_t i = axis; i < x->rank; i++)
            from += (size_t)at[i] * f->step[i];
        prt_reals_load(f->t->dtype, f->t->data, from, 1, 1, &f->row[j]);
        (void)prt_at_next(x->rank - axis, x->dims + axis, at + axis);
    }
}

/* Subtracts the mean (unless `rms`) from each row and divides it by its root mean square. */
static poprt_status run_rows(prt_eval *c, int64_t from, bool rms, double epsilon)
{
    const prt_tensor *x = c->in[0];
    const uint32_t axis = (uint32_t)(from < 0 ? from + x->rank : from);
    const size_t rows = prt_dims_product(x->dims, 0, axis);
    const size_t inner = prt_dims_product(x->dims, axis, x->rank);
    double *row = prt_eval_scratch(c, inner, sizeof(double));
    factor scale, bias;
    if (row == NULL)
        return POPRT_E_NOMEM;
    PRT_TRY(init_factor(c, &scale, 1, axis, inner));
    PRT_TRY(init_factor(c, &bias, 2, axis, inner));
    for (size_t r = 0; r < rows; r++) {
        double mean = 0.0;
        prt_reals_load(x->dtype, x->data, r * inner, 1, inner, row);
        load_factor(&scale, x, axis, r, inner);
        load_factor(&bias, x, axis, r, inner);
        const double square =
            rms ? prt_norm_square(row, inner) : prt_norm_centre(row, inner, &mean);
        const double inverse = 1.0 / sqrt(square + epsilon);
        for (size_t i = 0; i < inner; i++)
            row[i] = row[i] * inverse * scale.row[i] + (bias.t != NULL ? bias.row[i] : 0.0);
        if (c->out[0] != NULL)
            prt_reals_store(c->out[0]->dtype, c->out[0]->data, r * inner, 1, inner, row);
        if (prt_eval_wants(c, 1))
            prt_reals_store(c->out[1]->dtype, c->out[1]->data, r, 1, 1, &mean);
        if (prt_eval_wants(c, 2))
            prt_reals_store(c->out[2]->dtype, c->out[2]->data, r, 1, 1, &inverse);
    }
    return POPRT_OK;
}

static poprt_status eval_layer(prt_eval *c)
{
    const prt_layer_normalization_attrs *a = c->attrs;
    return run_rows(c, a->axis, false, (double)a->epsilon);
}

static poprt_status eval_rms(prt_eval *c)
{
    const prt_rms_normalization_attrs *a = c->attrs;
    return run_rows(c, a->axis, true, (double)a->epsilon);
}

const prt_op_hooks prt_op_layer_normalization = { .infer = infer_layer, .eval = eval_layer };
const prt_op_hooks prt_op_rms_normalization = { .infer = infer_rms, .eval = eval_rms };

/* ---- InstanceNormalization and GroupNormalization: groups of channels, factors per channel
 * ---- */

poprt_status prt_group_norm_infer(prt_infer *c, int64_t groups)
{
    const prt_shape *x = &c->in[0];
    const int64_t channels = prt_infer_dim(c, 0, 1);
    if (prt_infer_ranked(c, 0) && x->rank < 2)
        return prt_infer_fail(c, POPRT_E_SHAPE,
            "the input has rank %d; a rank of at least 2 is required", x->rank);
    if (groups < 1)
        return prt_infer_fail(c, POPRT_E_ARG, "num_groups is %lld; it must be at least 1",
            (long long)groups);
    if (prt_dim_is_number(channels) && channels % groups != 0)
        return prt_infer_fail(c, POPRT_E_SHAPE, "%lld channels are not divisible by %lld groups",
            (long long)channels, (long long)groups);
    PRT_TRY(prt_infer_vector(c, 1, channels));
    PRT_TRY(prt_infer_vector(c, 2, channels));
    return prt_infer_like(c, 0, 0, x->dtype);
}

poprt_status prt_group_norm_run(prt_eval *c, size_t groups, double epsilon)
{
    const prt_tensor *x = c->in[0];
    prt_tensor *y = c->out[0];
    const size_t channels = (size_t)x->dims[1], inner = prt_dims_product(x->dims, 2, x->rank);
    const size_t each = groups != 0 ? channels / groups : 0, n = each * inner;
    const double *scale = prt_eval_reals(c, c->in[1]), *bias = prt_eval_reals(c, c->in[2]);
    double *row = prt_eval_scratch(c, n, sizeof(double));
    if (scale == NULL || bias == NULL || row == NULL)
        return POPRT_E_NOMEM;
    if (n == 0)
        return POPRT_OK;
    for (size_t r = 0; r < (size_t)x->dims[0] * groups; r++) {
        double mean;
        prt_reals_load(x->dtype, x->data, r * n, 1, n, row);
        const double inverse = 1.0 / sqrt(prt_norm_centre(row, n, &mean) + epsilon);
        if (prt_eval_wants(c, 1))
            prt_reals_store(c->out[1]->dtype, c->out[1]->data, r, 1, 1, &mean);
        if (prt_eval_wants(c, 2))
            prt_reals_store(c->out[2]->dtype, c->out[2]->data, r, 1, 1, &inverse);
        for (size_t i = 0; y != NULL && i < n; i++) {
            const size_t channel = r % groups * each + i / inner;
            row[i] = row[i] * inverse * scale[channel] + bias[channel];
        }
        if (y != NULL)
            prt_reals_store(y->dtype, y->data, r * n, 1, n, row);
    }
    return POPRT_OK;
}

static poprt_status infer_instance(prt_infer *c)
{
    return prt_group_norm_infer(c, 1);
}

static poprt_status eval_instance(prt_eval *c)
{
    const prt_instance_normalization_attrs *a = c->attrs;
    return prt_group_norm_run(c, (size_t)c->in[0]->dims[1], (double)a->epsilon);
}

static poprt_status infer_group(prt_infer *c)
{
    const prt_group_normalization_attrs *a = c->attrs;
    return prt_group_norm_infer(c, a->num_groups);
}

static poprt_status eval_group(prt_eval *c)
{
    const prt_group_normalization_attrs *a = c->attrs;
    return prt_group_norm_run(c, (size_t)a->num_groups, (double)a->epsilon);
}

const prt_op_hooks prt_op_instance_normalization = { .infer = infer_instance,
    .eval = eval_instance };
const prt_op_hooks prt_op_group_normalization = { .infer = infer_group, .eval = eval_group };
