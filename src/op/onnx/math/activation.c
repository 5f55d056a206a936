/* SPDX-License-Identifier: MIT */
/*
 * activation.c — functions of one element with parameters from attributes: Elu, Celu, Selu,
 * LeakyRelu, ThresholdedRelu, HardSigmoid, Swish, Gelu, Shrink, computed in double and rounded
 * once. Clip, whose bounds are inputs, is in clip.c.
 */
#include <math.h>

#include "op/share/broadcast.h"
#include "op/share/gelu.h"

static double elu(double x, const double *p)
{
    return x < 0.0 ? p[0] * expm1(x) : x;
}

static double celu(double x, const double *p)
{
    return x < 0.0 ? p[0] * expm1(x / p[0]) : x;
}

static double selu(double x, const double *p)
{
    return p[1] * (x > 0.0 ? x : p[0] * expm1(x));
}

static double leaky_relu(double x, const double *p)
{
    return x < 0.0 ? p[0] * x : x;
}

static double thresholded_relu(double x, const double *p)
{
    return x > p[0] ? x : 0.0;
}

static double hard_sigmoid(double x, const double *p)
{
    const double y = p[0] * x + p[1];
    return y < 0.0 ? 0.0 : y > 1.0 ? 1.0 : y;
}

static double swish(double x, const double *p)
{
    return x / (1.0 + exp(-p[0] * x));
}

static double gelu(double x, const double *p)
{
    (void)p;
    return prt_gelu(x);
}

static double gelu_tanh(double x, const double *p)
{
    (void)p;
    return prt_gelu_tanh(x);
}

#define ACTIVATION(id, p0, p1)                                                                     \
    static poprt_status eval_##id(prt_eval *c)                                                     \
    {                                                                                              \
        const prt_##id##_attrs *a = c->attrs;                                                      \
        const double p[2] = { p0, p1 };                                                            \
        return prt_eval_map(c, id, p);                                                             \
    }                                                                                              \
    const prt_op_hooks prt_op_##id = { .infer = prt_infer_unary, .eval = eval_##id };

ACTIVATION(elu, (double)a->alpha, 0.0)
ACTIVATION(celu, (double)a->alpha, 0.0)
ACTIVATION(selu, (double)a->alpha, (double)a->gamma)
ACTIVATION(leaky_relu, (double)a->alpha, 0.0)
ACTIVATION(thresholded_relu, (double)a->alpha, 0.0)
ACTIVATION(hard_sigmoid, (double)a->alpha, (double)a->beta)
ACTIVATION(swish, (double)a->alpha, 0.0)

static poprt_status infer_gelu(prt_infer *c)
{
    const prt_gelu_attrs *a = c->attrs;
    if (!prt_str_is(a->approximate, "none") && !prt_str_is(a->approximate, "tanh"))
        return prt_infer_fail(c, POPRT_E_PARSE, "approximate is \"%.*s\"; accepted: none, tanh",
            PRT_STR_ARG(a->approximate));
    return prt_infer_unary(c);
}

static poprt_status eval_gelu(prt_eval *c)
{
    const prt_gelu_attrs *a = c->attrs;
    return prt_eval_map(c, prt_str_is(a->approximate, "tanh") ? gelu_tanh : gelu, NULL);
}

const prt_op_hooks prt_op_gelu = { .infer = infer_gelu, .eval = eval_gelu };

static double shrink(double x, const double *p)
{
    return x < -p[0] ? x + p[1] : x > p[0] ? x - p[1] : 0.0;
}

/* A bias that is a whole number is added in integers, which wrap; another one is added in double
 * and truncated. */
static poprt_status shrink_ints(prt_eval *c, double lambd, double bias)
{
    const int32_t dtype = c->in[0]->dtype;
    const bool no_sign = prt_dtype_is_unsigned(dtype);
    const bool whole = bias == floor(bias) && fabs(bias) < 0x1p62;
    const uint64_t by = whole ? (uint64_t)(int64_t)bias : 0;
    int64_t x[PRT_RUN];
    double f[PRT_RUN];
    prt_rows r;
    prt_rows_init(&r, c->out[0], 1, c->in);
    while (prt_rows_next(&r)) {
        prt_read_i64(dtype, c->in[0]->data, r.from[0], r.step[0], r.count, x);
        for (size_t i = 0; i < r.count; i++) {
            const double v = no_sign ? (double)(uint64_t)x[i] : (double)x[i];
            const uint64_t u = (uint64_t)x[i];
            f[i] = v < -lambd ? v + bias : v > lambd ? v - bias : 0.0;
            x[i] = (int64_t)(v < -lambd ? u + by : v > lambd ? u - by : 0);
        }
        if (whole)
            prt_write_i64(dtype, c->out[0]->data, r.to, r.count, x);
        else
            prt_write_f64(dtype, c->out[0]->data, r.to, r.count, f);
    }
    return POPRT_OK;
}

static poprt_status eval_shrink(prt_eval *c)
{
    const prt_shrink_attrs *a = c->attrs;
    if (!prt_eval_wants(c, 0))
        return POPRT_OK;
    if (!prt_dtype_is_float(c->in[0]->dtype))
        return shrink_ints(c, (double)a->lambd, (double)a->bias);
    const double p[2] = { (double)a->lambd, (double)a->bias };
    return prt_eval_map(c, shrink, p);
}

const prt_op_hooks prt_op_shrink = { .infer = prt_infer_unary, .eval = eval_shrink };
