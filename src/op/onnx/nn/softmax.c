/* SPDX-License-Identifier: MIT */
/* softmax.c — Softmax, LogSoftmax and Hardmax along one axis. */
#include <math.h>

#include "op/share/reals.h"

static poprt_status infer_axis(prt_infer *c, int64_t axis)
{
    uint32_t checked;
    if (c->in[0].rank >= 0)
        PRT_TRY(prt_infer_axis(c, axis, c->in[0].rank, false, &checked));
    return prt_infer_same(c);
}

static poprt_status run(prt_eval *c, int64_t axis, void (*row_of)(size_t n, double *x))
{
    const prt_tensor *x = c->in[0];
    prt_tensor *y = c->out[0];
    const uint32_t k = (uint32_t)(axis < 0 ? axis + x->rank : axis);
    const size_t inner = prt_dims_product(x->dims, k + 1, x->rank), n = (size_t)x->dims[k];
    const size_t count = prt_tensor_count(x);
    double *row = prt_eval_scratch(c, n, sizeof(double));
    if (row == NULL)
        return POPRT_E_NOMEM;
    for (size_t r = 0; count != 0 && r < count / n; r++) {
        const size_t first = r / inner * n * inner + r % inner;
        prt_reals_load(x->dtype, x->data, first, inner, n, row);
        row_of(n, row);
        prt_reals_store(y->dtype, y->data, first, inner, n, row);
    }
    return POPRT_OK;
}

/* Returns the index of the first largest value, or of the first NaN. */
static size_t largest(size_t n, const double *x)
{
    size_t best = 0;
    for (size_t i = 1; i < n && !isnan(x[best]); i++)
        if (x[i] > x[best] || isnan(x[i]))
            best = i;
    return best;
}

/* Subtracts the largest value from x. Returns the sum of exponentials. */
static double shift(size_t n, double *x)
{
    const double most = x[largest(n, x)];
    double sum = 0.0;
    for (size_t i = 0; i < n; i++) {
        x[i] -= most;
        sum += exp(x[i]);
    }
    return sum;
}

static void softmax_row(size_t n, double *x)
{
    const double sum = shift(n, x);
    for (size_t i = 0; i < n; i++)
        x[i] = exp(x[i]) / sum;
}

static void log_softmax_row(size_t n, double *x)
{
    const double lse = log(shift(n, x));
    for (size_t i = 0; i < n; i++)
        x[i] -= lse;
}

static void hardmax_row(size_t n, double *x)
{
    const size_t best = largest(n, x);
    for (size_t i = 0; i < n; i++)
        x[i] = i == best ? 1.0 : 0.0;
}

#define MEMBER(id)                                                                                 \
    static poprt_status infer_##id(prt_infer *c)                                                   \
    {                                                                                              \
        const prt_##id##_attrs *a = c->attrs;                                                      \
        return infer_axis(c, a->axis);                                                             \
    }                                                                                              \
    static poprt_status eval_##id(prt_eval *c)                                                     \
    {                                                                                              \
        const prt_##id##_attrs *a = c->attrs;                                                      \
        return run(c, a->axis, id##_row);                                                          \
    }                                                                                              \
    const prt_op_hooks prt_op_##id = { .infer = infer_##id, .eval = eval_##id };

MEMBER(softmax)
MEMBER(log_softmax)
MEMBER(hardmax)
