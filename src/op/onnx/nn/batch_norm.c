/* SPDX-License-Identifier: MIT */
/*
 * batch_norm.c — BatchNormalization by given statistics or, in training mode, by those of the
 * batch.
 */
#include <math.h>

#include "op/share/norm.h"

static poprt_status infer(prt_infer *c)
{
    const prt_batch_normalization_attrs *a = c->attrs;
    const prt_shape *x = &c->in[0];
    if (x->rank == 0)
        return prt_infer_fail(c, POPRT_E_SHAPE,
            "the input is a scalar; a rank of at least 1 is required");
    int64_t channels = x->rank == 1 ? 1 : prt_infer_dim(c, 0, 1);
    for (uint32_t i = 1; i < 5; i++) {
        PRT_TRY(prt_infer_vector(c, i, channels));
        PRT_TRY(
            prt_infer_merge(c, channels, prt_infer_dim(c, i, 0), "number of channels", &channels));
    }
    if (a->training_mode == 0 && (prt_infer_wants(c, 1) || prt_infer_wants(c, 2)))
        return prt_infer_fail(c, POPRT_E_ARG,
            "running_mean and running_var are outputs in training mode only");
    for (uint32_t i = 1; i < 3; i++)
        PRT_TRY(prt_infer_set(c, i, c->in[3].dtype, 1, &channels));
    return prt_infer_like(c, 0, 0, x->dtype);
}

typedef struct layout {
    size_t batch, channels, inner;
} layout;

/* Computes the mean and population variance of a channel over the batch; `row` is scratch of
 * `inner` elements. */
static void statistics(const prt_tensor *x, const layout *l, size_t channel, double *row,
    double *mean, double *variance)
{
    const double count = (double)l->batch * (double)l->inner;
    double sum = 0.0, squares = 0.0;
    for (size_t n = 0; n < l->batch; n++) {
        prt_reals_load(x->dtype, x->data, (n * l->channels + channel) * l->inner, 1, l->inner, row);
        for (size_t i = 0; i < l->inner; i++)
            sum += row[i];
    }
    *mean = sum / count;
    for (size_t n = 0; n < l->batch; n++) {
        prt_reals_load(x->dtype, x->data, (n * l->channels + channel) * l->inner, 1, l->inner, row);
        for (size_t i = 0; i < l->inner; i++)
            squares += (row[i] - *mean) * (row[i] - *mean);
    }
    *variance = squares / count;
}

static void write_channel(prt_eval *c, uint32_t out, size_t channel, double value)
{
    if (prt_eval_wants(c, out))
        prt_reals_store(c->out[out]->dtype, c->out[out]->data, channel, 1, 1, &value);
}

/* Writes outputs 1 and 2, the running statistics, and 3 and 4 (if the operator has them), the
 * statistics of the batch. */
static void write_statistics(prt_eval *c, const prt_batch_norm *params, const layout *l,
    size_t channel, const double *given, double mean, double variance)
{
    const double n = (double)l->batch * (double)l->inner, old = params->momentum;
    const double told = params->unbiased
        ? (variance + params->epsilon) * n / (n - 1.0) - params->epsilon
        : variance;
    write_channel(c, 1, channel, given[2] * old + mean * (1.0 - old));
    write_channel(c, 2, channel, given[3] * old + told * (1.0 - old));
    write_channel(c, 3, channel, mean);
    write_channel(c, 4, channel, told);
}

poprt_status prt_batch_norm_run(prt_eval *c, const prt_batch_norm *params)
{
    const prt_tensor *x = c->in[0];
    prt_tensor *y = c->out[0];
    const layout l = { .batch = (size_t)x->dims[0],
        .channels = x->rank > 1 ? (size_t)x->dims[1] : 1,
        .inner = x->rank > 2 ? prt_dims_product(x->dims, 2, x->rank) : 1 };
    double *row = prt_eval_scratch(c, l.inner, sizeof(double));
    if (row == NULL)
        return POPRT_E_NOMEM;
    for (size_t channel = 0; channel < l.channels; channel++) {
        double given[4], mean, variance; /* scale, bias, mean, variance */
        for (uint32_t i = 0; i < 4; i++)
            prt_reals_load(c->in[i + 1]->dtype, c->in[i + 1]->data, channel, 1, 1, &given[i]);
        mean = given[2];
        variance = given[3];
        if (params->training) {
            statistics(x, &l, channel, row, &mean, &variance);
            write_statistics(c, params, &l, channel, given, mean, variance);
        }
        const double factor = given[0] / sqrt(variance + params->epsilon);
        for (size_t n = 0; y != NULL && n < l.batch; n++) {
            const size_t first = (n * l.channels + channel) * l.inner;
            prt_reals_load(x->dtype, x->data, first, 1, l.inner, row);
            for (size_t i = 0; i < l.inner; i++)
                row[i] = (row[i] - mean) * factor + given[1];
            prt_reals_store(y->dtype, y->data, first, 1, l.inner, row);
        }
    }
    return POPRT_OK;
}

static poprt_status eval(prt_eval *c)
{
    const prt_batch_normalization_attrs *a = c->attrs;
    const prt_batch_norm params = { .training = a->training_mode != 0,
        .epsilon = (double)a->epsilon,
        .momentum = (double)a->momentum };
    return prt_batch_norm_run(c, &params);
}

const prt_op_hooks prt_op_batch_normalization = { .infer = infer, .eval = eval };
