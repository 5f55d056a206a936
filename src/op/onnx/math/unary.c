/* SPDX-License-Identifier: MIT */
/*
 * unary.c — functions of one element without parameters: Exp, Sqrt, Sin …, computed in double and
 * rounded once; Abs, Neg, Sign and Relu also for integers, which wrap; Not, BitwiseNot.
 */
#include <math.h>

#include "op/share/broadcast.h"
#include "op/content.h"

static poprt_status unary_f64(prt_eval *c, double (*f)(double))
{
    if (!prt_eval_wants(c, 0))
        return POPRT_OK;
    double x[PRT_RUN];
    prt_rows r;
    prt_rows_init(&r, c->out[0], 1, c->in);
    while (prt_rows_next(&r)) {
        prt_read_f64(c->in[0]->dtype, c->in[0]->data, r.from[0], r.step[0], r.count, x);
        for (size_t i = 0; i < r.count; i++)
            x[i] = f(x[i]);
        prt_write_f64(c->out[0]->dtype, c->out[0]->data, r.to, r.count, x);
    }
    return POPRT_OK;
}

static poprt_status unary_i64(prt_eval *c, int64_t (*f)(int64_t x))
{
    if (!prt_eval_wants(c, 0))
        return POPRT_OK;
    int64_t x[PRT_RUN];
    prt_rows r;
    prt_rows_init(&r, c->out[0], 1, c->in);
    while (prt_rows_next(&r)) {
        prt_read_i64(c->in[0]->dtype, c->in[0]->data, r.from[0], r.step[0], r.count, x);
        for (size_t i = 0; i < r.count; i++)
            x[i] = f(x[i]);
        prt_write_i64(c->out[0]->dtype, c->out[0]->data, r.to, r.count, x);
    }
    return POPRT_OK;
}

static double reciprocal(double x)
{
    return 1.0 / x;
}

static double sigmoid(double x)
{
    return 1.0 / (1.0 + exp(-x));
}

/* log(1 + exp(x)) without overflow and without loss of small values. */
static double softplus(double x)
{
    return (x > 0.0 ? x : 0.0) + log1p(exp(-fabs(x)));
}

static double softsign(double x)
{
    return x / (1.0 + fabs(x));
}

static double mish(double x)
{
    return x * tanh(softplus(x));
}

static double hard_swish(double x)
{
    const double gate = x / 6.0 + 0.5;
    return x * (gate < 0.0 ? 0.0 : gate > 1.0 ? 1.0 : gate);
}

#define UNARY(id, f)                                                                               \
    static poprt_status eval_##id(prt_eval *c)                                                     \
    {                                                                                              \
        return unary_f64(c, f);                                                                    \
    }                                                                                              \
    const prt_op_hooks prt_op_##id = { .infer = prt_infer_unary, .eval = eval_##id };

UNARY(acos, acos)
UNARY(acosh, acosh)
UNARY(asin, asin)
UNARY(asinh, asinh)
UNARY(atan, atan)
UNARY(atanh, atanh)
UNARY(cos, cos)
UNARY(cosh, cosh)
UNARY(erf, erf)
UNARY(exp, exp)
UNARY(hard_swish, hard_swish)
UNARY(log, log)
UNARY(mish, mish)
UNARY(reciprocal, reciprocal)
UNARY(sigmoid, sigmoid)
UNARY(sin, sin)
UNARY(sinh, sinh)
UNARY(softplus, softplus)
UNARY(softsign, softsign)
UNARY(sqrt, sqrt)
UNARY(tan, tan)
UNARY(tanh, tanh)

/* ---- float types only, with contents: sizes are rounded as floats */

/* Rounding half to even has no formula for expressions, so the result for a ratio is not known. */
static int64_t known_round(prt_dims *dims, int64_t x)
{
    return prt_dim_floor(dims, x) == x ? x : PRT_DIM_UNKNOWN;
}

static poprt_status round_known(prt_infer *c, int64_t (*to_whole)(prt_dims *dims, int64_t x))
{
    prt_known k;
    PRT_TRY(prt_infer_unary(c));
    if (!prt_known_of(c, 0, &k))
        return POPRT_OK;
    for (uint32_t i = 0; i < k.count; i++)
        k.values[i] = to_whole(c->dims, k.values[i]);
    return prt_known_set(c, &k);
}

#define ROUNDING(id, f, to_whole)                                                                  \
    static poprt_status infer_##id(prt_infer *c)                                                   \
    {                                                                                              \
        return round_known(c, to_whole);                                                           \
    }                                                                                              \
    static poprt_status eval_##id(prt_eval *c)                                                     \
    {                                                                                              \
        return unary_f64(c, f);                                                                    \
    }                                                                                              \
    const prt_op_hooks prt_op_##id = { .infer = infer_##id, .eval = eval_##id };

ROUNDING(ceil, ceil, prt_dim_ceil)
ROUNDING(floor, floor, prt_dim_floor)
/* Rounds half to even, which is the default rounding mode. */
ROUNDING(round, rint, known_round)

/* ---- integer types too */

static int64_t negate(int64_t x)
{
    return (int64_t)(0 - (uint64_t)x);
}

static int64_t abs_i64(int64_t x)
{
    return x < 0 ? negate(x) : x;
}

static double negate_f64(double x)
{
    return -x;
}

static int64_t sign_i64(int64_t x)
{
    return (x > 0) - (x < 0);
}

/* NaN propagates, as in numpy. */
static double sign_f64(double x)
{
    return x > 0.0 ? 1.0 : x < 0.0 ? -1.0 : x == 0.0 ? 0.0 : x;
}

static int64_t relu_i64(int64_t x)
{
    return x > 0 ? x : 0;
}

static double relu_f64(double x)
{
    return x > 0.0 || isnan(x) ? x : 0.0;
}

static int64_t bitwise_not(int64_t x)
{
    return ~x;
}

static int64_t not(int64_t x)
{
    return x == 0;
}

static int64_t known_abs(const prt_infer *c, uint32_t n, const int64_t *in)
{
    (void)n;
    const int64_t x = in[0];
    if (x == PRT_DIM_UNKNOWN || prt_dim_never_negative(c->dims, x))
        return x;
    return prt_dim_max(c->dims, x, prt_dim_sub(c->dims, 0, x));
}

static int64_t known_neg(const prt_infer *c, uint32_t n, const int64_t *in)
{
    (void)n;
    return prt_dim_sub(c->dims, 0, in[0]);
}

static int64_t known_sign(const prt_infer *c, uint32_t n, const int64_t *in)
{
    (void)c;
    (void)n;
    return prt_dim_is_number(in[0]) ? sign_i64(in[0]) : PRT_DIM_UNKNOWN;
}

static int64_t known_relu(const prt_infer *c, uint32_t n, const int64_t *in)
{
    (void)n;
    return prt_dim_never_negative(c->dims, in[0]) ? in[0] : prt_dim_max(c->dims, in[0], 0);
}

static int64_t known_bitwise_not(const prt_infer *c, uint32_t n, const int64_t *in)
{
    (void)c;
    (void)n;
    return prt_dim_is_number(in[0]) ? ~in[0] : PRT_DIM_UNKNOWN;
}

static int64_t known_not(const prt_infer *c, uint32_t n, const int64_t *in)
{
    (void)n;
    return prt_dim_sub(c->dims, 1, in[0]);
}

/* `by_sign`: the function does not change non-negative numbers, so an unsigned input is copied. */
static poprt_status unary_any(prt_eval *c, double (*f)(double), int64_t (*i)(int64_t), bool by_sign)
{
    const int32_t dtype = c->in[0]->dtype;
    if (prt_dtype_is_float(dtype))
        return unary_f64(c, f);
    return by_sign && prt_dtype_is_unsigned(dtype) ? prt_eval_copy(c, 0, c->in[0])
                                                   : unary_i64(c, i);
}

#define ANY(id, f, i, by_sign)                                                                     \
    static poprt_status infer_##id(prt_infer *c)                                                   \
    {                                                                                              \
        PRT_TRY(prt_infer_unary(c));                                                               \
        return prt_known_map(c, known_##id);                                                       \
    }                                                                                              \
    static poprt_status eval_##id(prt_eval *c)                                                     \
    {                                                                                              \
        return unary_any(c, f, i, by_sign);                                                        \
    }                                                                                              \
    const prt_op_hooks prt_op_##id = { .infer = infer_##id, .eval = eval_##id };

ANY(abs, fabs, abs_i64, true)
ANY(neg, negate_f64, negate, false)
ANY(relu, relu_f64, relu_i64, true)
ANY(bitwise_not, NULL, bitwise_not, false)
ANY(not, NULL, not, false)

static poprt_status infer_sign(prt_infer *c)
{
    PRT_TRY(prt_infer_unary(c));
    return prt_known_map(c, known_sign);
}

/* A uint64 above INT64_MAX would look negative. */
static int64_t sign_u64(int64_t x)
{
    return x != 0;
}

static poprt_status eval_sign(prt_eval *c)
{
    const bool no_sign = prt_dtype_is_unsigned(c->in[0]->dtype);
    return unary_any(c, sign_f64, no_sign ? sign_u64 : sign_i64, false);
}

const prt_op_hooks prt_op_sign = { .infer = infer_sign, .eval = eval_sign };
