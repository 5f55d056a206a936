/* SPDX-License-Identifier: MIT */
/* norm.c — normalisations of float32: by rows, by groups of channels, by given statistics. */
#include <math.h>

#include "fast/elementwise/rows.h"

/* Returns the axis of an attribute, which infer has checked. */
static uint32_t axis_of(const prt_eval *c, int64_t axis)
{
    return (uint32_t)(axis < 0 ? axis + c->in[0]->rank : axis);
}

static void layer_norm_row(const prt_fast_rows *r, size_t i)
{
    r->kern->rows.layer_norm(r->n, r->x + i * r->n, r->epsilon, r->gamma, r->beta, r->y + i * r->n);
}

poprt_status prt_fast_layer_norm(prt_eval *c, const prt_kern *k, bool *done)
{
    const prt_layer_normalization_attrs *a = c->attrs;
    if (!prt_fast_has(c, 0) || !prt_fast_has(c, 1) || !prt_fast_has_only_output(c))
        return prt_fast_use_reference(done);
    prt_fast_rows r = prt_fast_rows_of(c, k, axis_of(c, a->axis));
    if (r.n == 0 || prt_tensor_count(c->in[1]) != r.n ||
        (prt_eval_has(c, 2) && prt_tensor_count(c->in[2]) != r.n))
        return prt_fast_use_reference(done);
    r.gamma = c->in[1]->data;
    r.beta = prt_eval_has(c, 2) ? c->in[2]->data : NULL;
    r.epsilon = a->epsilon;
    r.run = layer_norm_row;
    return prt_fast_rows_run(c, &r);
}

static void rms_norm_row(const prt_fast_rows *r, size_t i)
{
    const prt_kern_rows *k = &r->kern->rows;
    const float *x = r->x + i * r->n;
    float *y = r->y + i * r->n;
    const double square = k->squares(r->n, x) / (double)r->n;
    k->scale(r->n, x, (float)(1.0 / sqrt(square + (double)r->epsilon)), 0.0f, y);
    k->binary(PRT_BINARY_mul, r->n, y, 1, r->gamma, 1, y);
}

poprt_status prt_fast_rms_norm(prt_eval *c, const prt_kern *k, bool *done)
{
    const prt_rms_normalization_attrs *a = c->attrs;
    if (!prt_fast_has(c, 0) || !prt_fast_has(c, 1) || !prt_fast_has_only_output(c))
        return prt_fast_use_reference(done);
    prt_fast_rows r = prt_fast_rows_of(c, k, axis_of(c, a->axis));
    if (r.n == 0 || prt_tensor_count(c->in[1]) != r.n)
        return prt_fast_use_reference(done);
    r.gamma = c->in[1]->data;
    r.epsilon = a->epsilon;
    r.run = rms_norm_row;
    return prt_fast_rows_run(c, &r);
}

/* ---- groups of channels: a row is a group of an image ---- */

static void group_norm_row(const prt_fast_rows *r, size_t i)
{
    float mean;
    double variance;
    r->kern->rows.moments(r->n, r->x + i * r->n, &mean, &variance);
    const double inverse = 1.0 / sqrt(variance + (double)r->epsilon);
    const size_t each = r->n / r->inner, first = i * each % r->channels;
    for (size_t j = 0; j < each; j++) {
        const size_t at = i * r->n + j * r->inner;
        r->kern->rows.centre(r->inner, r->x + at, mean,
            (float)(inverse * (double)r->gamma[first + j]), r->beta[first + j], r->y + at);
    }
}

static poprt_status run_groups(prt_eval *c, const prt_kern *k, size_t groups, float epsilon,
    bool *done)
{
    const prt_tensor *x = c->in[0];
    if (!prt_fast_has(c, 0) || !prt_fast_has(c, 1) || !prt_fast_has(c, 2) ||
        !prt_fast_has_only_output(c) || prt_tensor_count(x) == 0 || groups == 0)
        return prt_fast_use_reference(done);
    const size_t channels = (size_t)x->dims[1], inner = prt_dims_product(x->dims, 2, x->rank);
    prt_fast_rows r = { .kern = k,
        .count = (size_t)x->dims[0] * groups,
        .n = channels / groups * inner,
        .x = x->data,
        .y = c->out[0]->data,
        .gamma = c->in[1]->data,
        .beta = c->in[2]->data,
        .epsilon = epsilon,
        .channels = channels,
        .inner = inner,
        .run = group_norm_row };
    return prt_fast_rows_run(c, &r);
}

poprt_status prt_fast_instance_norm(prt_eval *c, const prt_kern *k, bool *done)
{
    const prt_instance_normalization_attrs *a = c->attrs;
    return run_groups(c, k, (size_t)c->in[0]->dims[1], a->epsilon, done);
}

poprt_status prt_fast_group_norm(prt_eval *c, const prt_kern *k, bool *done)
{
    const prt_group_normalization_attrs *a = c->attrs;
    return run_groups(c, k, (size_t)a->num_groups, a->epsilon, done);
}

/* ---- batch normalisation: a row is a channel of an image ---- */

static void batch_norm_row(const prt_fast_rows *r, size_t i)
{
    const size_t at = i % r->channels;
    const double scale = (double)r->gamma[at] / sqrt((double)r->variance[at] + (double)r->epsilon);
    const double shift = (double)r->beta[at] - (double)r->mean[at] * scale;
    r->kern->rows.scale(r->n, r->x + i * r->n, (float)scale, (float)shift, r->y + i * r->n);
}

poprt_status prt_fast_batch_norm(prt_eval *c, const prt_kern *k, bool *done)
{
    const prt_batch_normalization_attrs *a = c->attrs;
    for (uint32_t i = 0; i < 5; i++)
        if (!prt_fast_has(c, i))
            return prt_fast_use_reference(done);
    if (a->training_mode != 0 || !prt_fast_has_only_output(c) || c->in[0]->rank < 2)
        return prt_fast_use_reference(done);
    prt_fast_rows r = prt_fast_rows_of(c, k, 2);
    r.channels = (size_t)c->in[0]->dims[1];
    r.gamma = c->in[1]->data;
    r.beta = c->in[2]->data;
    r.mean = c->in[3]->data;
    r.variance = c->in[4]->data;
    r.epsilon = a->epsilon;
    r.run = batch_norm_row;
    return prt_fast_rows_run(c, &r);
}

/* ---- LpNormalization over the last axis ---- */

/* Computes in double, which neither overflows nor loses small numbers. */
static void lp_norm_in_double(const prt_fast_rows *r, const float *x, bool squares, float *y)
{
    double sum = 0.0;
    for (size_t i = 0; i < r->n; i++)
        sum += squares ? (double)x[i] * (double)x[i] : fabs((double)x[i]);
    const double norm = squares ? sqrt(sum) : sum;
    for (size_t i = 0; i < r->n; i++)
        y[i] = norm == 0.0 ? 0.0f : (float)((double)x[i] / norm);
}

static void lp_norm_row(const prt_fast_rows *r, size_t i, bool squares)
{
    const prt_kern_rows *k = &r->kern->rows;
    const float *x = r->x + i * r->n;
    float *y = r->y + i * r->n;
    if (!squares)
        k->unary(PRT_UNARY_abs, r->n, x, y);
    const double sum = squares ? k->squares(r->n, x) : k->sum(r->n, y);
    if (sum > 1e-25 && sum < 1e30)
        k->scale(r->n, x, (float)(1.0 / (squares ? sqrt(sum) : sum)), 0.0f, y);
    else
        lp_norm_in_double(r, x, squares, y);
}

static void l1_norm_row(const prt_fast_rows *r, size_t i)
{
    lp_norm_row(r, i, false);
}

static void l2_norm_row(const prt_fast_rows *r, size_t i)
{
    lp_norm_row(r, i, true);
}

poprt_status prt_fast_lp_norm(prt_eval *c, const prt_kern *k, bool *done)
{
    const prt_lp_normalization_attrs *a = c->attrs;
    if (!prt_fast_has(c, 0) || !prt_fast_has_only_output(c) || c->in[0]->rank == 0 ||
        axis_of(c, a->axis) != c->in[0]->rank - 1)
        return prt_fast_use_reference(done);
    prt_fast_rows r = prt_fast_rows_of(c, k, c->in[0]->rank - 1);
    r.run = a->p == 1 ? l1_norm_row : l2_norm_row;
    return prt_fast_rows_run(c, &r);
}
