/* SPDX-License-Identifier: MIT */
/*
 * elementwise.c — element-wise operators of ai.graphcore: unary functions, arithmetic with a
 * constant, sums of two scaled inputs, bitwise operators.
 */
#include <math.h>

#include "op/share/broadcast.h"
#include "op/graphcore/onnx_hooks.h"

/* ---- unary functions, computed in double */

static double expm1_of(double x, const double *p)
{
    (void)p;
    return expm1(x);
}

static double log1p_of(double x, const double *p)
{
    (void)p;
    return log1p(x);
}

/* Rounds halves away from zero, as round of C does. */
static double round_of(double x, const double *p)
{
    (void)p;
    return round(x);
}

static double scaled(double x, const double *p)
{
    return p[0] * x;
}

static double incremented(double x, const double *p)
{
    return fmod(x + p[0], p[1]);
}

#define MAP(id, f)                                                                                 \
    static poprt_status eval_##id(prt_eval *c)                                                     \
    {                                                                                              \
        return prt_eval_map(c, f, NULL);                                                           \
    }                                                                                              \
    const prt_op_hooks prt_op_##id = { .infer = prt_infer_unary, .eval = eval_##id };

MAP(gc_expm1, expm1_of)
MAP(gc_log1p, log1p_of)
MAP(gc_round, round_of)

static poprt_status eval_scale(prt_eval *c)
{
    const prt_gc_scale_attrs *a = c->attrs;
    const double scale = (double)a->scale;
    return prt_eval_map(c, scaled, &scale);
}

const prt_op_hooks prt_op_gc_scale = { .infer = prt_infer_unary, .eval = eval_scale };

/* ---- functions equal to ONNX operators */

static prt_gelu_attrs gelu_tanh(const void *attrs)
{
    (void)attrs;
    return (prt_gelu_attrs){ .approximate = PRT_STR("tanh") };
}

static prt_gelu_attrs gelu_erf(const void *attrs)
{
    (void)attrs;
    return (prt_gelu_attrs){ .approximate = PRT_STR("none") };
}

static prt_swish_attrs swish(const void *attrs)
{
    (void)attrs;
    return (prt_swish_attrs){ .alpha = 1.0f };
}

static prt_mod_attrs truncating(const void *attrs)
{
    (void)attrs;
    return (prt_mod_attrs){ .fmod = 1 };
}

static prt_mod_attrs flooring(const void *attrs)
{
    (void)attrs;
    return (prt_mod_attrs){ .fmod = 0 };
}

static prt_round_attrs no_attrs(const void *attrs)
{
    (void)attrs;
    return (prt_round_attrs){ 0 };
}

PRT_GC_SAME(gc_gelu, gelu, prt_gelu_attrs, gelu_tanh);
PRT_GC_SAME(gc_gelu_erf, gelu, prt_gelu_attrs, gelu_erf);
PRT_GC_SAME(gc_swish, swish, prt_swish_attrs, swish);
PRT_GC_SAME(gc_fmod, mod, prt_mod_attrs, truncating);
PRT_GC_SAME(gc_remainder, mod, prt_mod_attrs, flooring);
PRT_GC_SAME(gc_nearby_int, round, prt_round_attrs, no_attrs);
PRT_GC_SAME(gc_bitwise_and, bitwise_and, prt_round_attrs, no_attrs);
PRT_GC_SAME(gc_bitwise_not, bitwise_not, prt_round_attrs, no_attrs);
PRT_GC_SAME(gc_bitwise_or, bitwise_or, prt_round_attrs, no_attrs);
PRT_GC_SAME(gc_bitwise_xor, bitwise_xor, prt_round_attrs, no_attrs);

/* ---- binary functions */

static void atan2_f64(size_t n, const double *a, const double *b, double *y)
{
    for (size_t i = 0; i < n; i++)
        y[i] = atan2(a[i], b[i]);
}

static poprt_status eval_atan2(prt_eval *c)
{
    return prt_eval_binary(c, &(prt_binary_fns){ .f64 = atan2_f64 });
}

const prt_op_hooks prt_op_gc_atan2 = { .infer = prt_infer_nary, .eval = eval_atan2 };

static bool xnor_u64(size_t n, const uint64_t *a, const uint64_t *b, uint64_t *y)
{
    for (size_t i = 0; i < n; i++)
        y[i] = ~(a[i] ^ b[i]);
    return true;
}

static bool xnor_i64(size_t n, const int64_t *a, const int64_t *b, int64_t *y)
{
    return xnor_u64(n, (const uint64_t *)a, (const uint64_t *)b, (uint64_t *)y);
}

static poprt_status eval_xnor(prt_eval *c)
{
    return prt_eval_binary(c, &(prt_binary_fns){ .i64 = xnor_i64, .u64 = xnor_u64 });
}

const prt_op_hooks prt_op_gc_bitwise_xnor = { .infer = prt_infer_nary, .eval = eval_xnor };

/* Runs a binary ONNX operator on a and b. */
static poprt_status run_binary(prt_eval *c, const prt_op_hooks *hooks, const prt_tensor *a,
    const prt_tensor *b)
{
    const prt_tensor *in[2] = { a, b };
    prt_eval other = *c;
    other.n_in = 2;
    other.in = in;
    return hooks->eval(&other);
}

static poprt_status eval_square(prt_eval *c)
{
    return run_binary(c, &prt_op_mul, c->in[0], c->in[0]);
}

const prt_op_hooks prt_op_gc_square = { .infer = prt_infer_unary, .eval = eval_square };

/* ---- BinaryConstScalar: X and a constant, in either order */

static const prt_op_hooks *hooks_of(prt_str op)
{
    static const struct {
        const char *name;
        const prt_op_hooks *hooks;
    } known[] = { { "Add", &prt_op_add }, { "Sub", &prt_op_sub }, { "Mul", &prt_op_mul },
        { "Div", &prt_op_div }, { "Pow", &prt_op_pow } };
    for (size_t i = 0; i < PRT_COUNT_OF(known); i++)
        if (prt_str_is(op, known[i].name))
            return known[i].hooks;
    return NULL;
}

static poprt_status infer_const_scalar(prt_infer *c)
{
    const prt_gc_binary_const_scalar_attrs *a = c->attrs;
    if (hooks_of(a->op) == NULL)
        return prt_infer_fail(c, POPRT_E_ARG, "op is \"%.*s\"; accepted: Add, Sub, Mul, Div, Pow",
            PRT_STR_ARG(a->op));
    if (a->scalar_in_index != 0 && a->scalar_in_index != 1)
        return prt_infer_fail(c, POPRT_E_ARG, "scalar_in_index is %lld; accepted: 0, 1",
            (long long)a->scalar_in_index);
    return prt_infer_unary(c);
}

static poprt_status eval_const_scalar(prt_eval *c)
{
    const prt_gc_binary_const_scalar_attrs *a = c->attrs;
    uint64_t number[2];
    prt_tensor scalar;
    (void)prt_tensor_init(&scalar, c->in[0]->dtype, 0, NULL, number);
    prt_store_f64(scalar.dtype, number, 0, (double)a->value);
    const bool first = a->scalar_in_index == 0;
    return run_binary(c, hooks_of(a->op), first ? &scalar : c->in[0], first ? c->in[0] : &scalar);
}

const prt_op_hooks prt_op_gc_binary_const_scalar = { .infer = infer_const_scalar,
    .eval = eval_const_scalar };

/* ---- IncrementMod: remainder of x + increment as in C; integers wrap first */

static poprt_status increment_ints(prt_eval *c, uint64_t increment, uint64_t modulus)
{
    const int32_t dtype = c->in[0]->dtype;
    const bool no_sign = prt_dtype_is_unsigned(dtype);
    if (modulus == 0)
        return prt_eval_fail(c, POPRT_E_ARG, "modulus is 0 as an integer; it must not be 0");
    const size_t n = prt_tensor_count(c->in[0]);
    for (size_t i = 0; i < n; i++) {
        const uint64_t sum = (uint64_t)prt_load_i64(dtype, c->in[0]->data, i) + increment;
        prt_store_u64(dtype, c->out[0]->data, i, sum); /* wraps at the type's width */
        const int64_t x = prt_load_i64(dtype, c->out[0]->data, i);
        const int64_t m = (int64_t)modulus;
        if (no_sign)
            prt_store_u64(dtype, c->out[0]->data, i, (uint64_t)x % modulus);
        else
            prt_store_i64(dtype, c->out[0]->data, i, m == -1 ? 0 : x % m);
    }
    return POPRT_OK;
}

static poprt_status eval_increment_mod(prt_eval *c)
{
    const prt_gc_increment_mod_attrs *a = c->attrs;
    if (!prt_eval_wants(c, 0))
        return POPRT_OK;
    const double p[2] = { (double)a->increment, (double)a->modulus };
    if (prt_dtype_is_float(c->in[0]->dtype))
        return prt_eval_map(c, incremented, p);
    int64_t ints[2];
    prt_store_f64(PRT_DTYPE_i64, &ints, 0, p[0]); /* truncates, and saturates */
    prt_store_f64(PRT_DTYPE_i64, &ints, 1, p[1]);
    return increment_ints(c, (uint64_t)ints[0], (uint64_t)ints[1]);
}

const prt_op_hooks prt_op_gc_increment_mod = { .infer = prt_infer_unary,
    .eval = eval_increment_mod };

/* ---- ScaledAdd: scale0 X + scale1 Y, the factors from attributes or scalar inputs */

static poprt_status infer_scaled_add(prt_infer *c)
{
    const prt_gc_scaled_add_attrs *a = c->attrs;
    const int32_t dtype = c->out[0].dtype;
    prt_shape shape = { .kind = PRT_VALUE_TENSOR };
    if (prt_infer_has(c, 2) && !prt_infer_has(c, 3))
        return prt_infer_fail(c, POPRT_E_PARSE, "input scale0 needs input scale1");
    if (prt_infer_has(c, 3) && !prt_infer_has(c, 2) && a->scale0 != 1.0f)
        return prt_infer_fail(c, POPRT_E_ARG,
            "input scale1 without input scale0 needs attribute scale0 1; it is %g",
            (double)a->scale0);
    for (uint32_t i = 2; i < 4; i++)
        for (int32_t k = 0; prt_infer_ranked(c, i) && k < c->in[i].rank; k++)
            if (prt_dim_is_number(c->in[i].dims[k]) && c->in[i].dims[k] != 1)
                return prt_infer_fail(c, POPRT_E_SHAPE, "input scale%u must be one number", i - 2);
    PRT_TRY(prt_infer_broadcast(c, 0, 2, &shape));
    return prt_infer_set(c, 0, dtype, shape.rank, shape.dims);
}

static double factor_of(const prt_eval *c, uint32_t i, float attr)
{
    return prt_eval_has(c, i) ? prt_load_f64(c->in[i]->dtype, c->in[i]->data, 0) : (double)attr;
}

static poprt_status eval_scaled_add(prt_eval *c)
{
    const prt_gc_scaled_add_attrs *a = c->attrs;
    if (!prt_eval_wants(c, 0))
        return POPRT_OK;
    const double s0 = factor_of(c, 2, a->scale0), s1 = factor_of(c, 3, a->scale1);
    double x[PRT_RUN], y[PRT_RUN];
    prt_rows r;
    prt_rows_init(&r, c->out[0], 2, c->in);
    while (prt_rows_next(&r)) {
        prt_read_f64(c->in[0]->dtype, c->in[0]->data, r.from[0], r.step[0], r.count, x);
        prt_read_f64(c->in[1]->dtype, c->in[1]->data, r.from[1], r.step[1], r.count, y);
        for (size_t i = 0; i < r.count; i++)
            x[i] = s0 * x[i] + s1 * y[i];
        prt_write_f64(c->out[0]->dtype, c->out[0]->data, r.to, r.count, x);
    }
    return POPRT_OK;
}

const prt_op_hooks prt_op_gc_scaled_add = { .infer = infer_scaled_add, .eval = eval_scaled_add };
