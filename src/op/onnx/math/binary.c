/* SPDX-License-Identifier: MIT */
/*
 * binary.c — Add, Sub, Mul, Div, Mod, PRelu: arithmetic on two broadcast inputs. Integers wrap;
 * integer division by zero is an error.
 */
#include <math.h>

#include "op/share/broadcast.h"
#include "op/content.h"

/* Defines a loop; `expr` combines the elements `p` and `q`. */
#define FLOATS(name, expr)                                                                         \
    static void name##_f64(size_t n, const double *a, const double *b, double *y)                  \
    {                                                                                              \
        for (size_t i = 0; i < n; i++) {                                                           \
            const double p = a[i], q = b[i];                                                       \
            y[i] = (expr);                                                                         \
        }                                                                                          \
    }
#define UNSIGNED(name, fails, expr)                                                                \
    static bool name##_u64(size_t n, const uint64_t *a, const uint64_t *b, uint64_t *y)            \
    {                                                                                              \
        for (size_t i = 0; i < n; i++) {                                                           \
            const uint64_t p = a[i], q = b[i];                                                     \
            if (fails)                                                                             \
                return false;                                                                      \
            y[i] = (expr);                                                                         \
        }                                                                                          \
        return true;                                                                               \
    }
#define SIGNED(name, fails, expr)                                                                  \
    static bool name##_i64(size_t n, const int64_t *a, const int64_t *b, int64_t *y)               \
    {                                                                                              \
        for (size_t i = 0; i < n; i++) {                                                           \
            const int64_t p = a[i], q = b[i];                                                      \
            if (fails)                                                                             \
                return false;                                                                      \
            y[i] = (expr);                                                                         \
        }                                                                                          \
        return true;                                                                               \
    }

/* Wrapping negation, used for division by -1. */
static int64_t negate(int64_t x)
{
    return (int64_t)(0 - (uint64_t)x);
}

FLOATS(add, p + q)
UNSIGNED(add, false, p + q)
SIGNED(add, false, (int64_t)((uint64_t)p + (uint64_t)q))

FLOATS(sub, p - q)
UNSIGNED(sub, false, p - q)
SIGNED(sub, false, (int64_t)((uint64_t)p - (uint64_t)q))

FLOATS(mul, p *q)
UNSIGNED(mul, false, p *q)
SIGNED(mul, false, (int64_t)((uint64_t)p *(uint64_t)q))

/* Returns true if both numbers fit 32 bits unsigned: such divisions are several times as fast. */
static bool is_short(int64_t p, int64_t q)
{
    return ((uint64_t)p | (uint64_t)q) >> 32 == 0;
}

static int64_t divide(int64_t p, int64_t q)
{
    if (is_short(p, q))
        return (uint32_t)p / (uint32_t)q;
    return q == -1 ? negate(p) : p / q;
}

FLOATS(div, p / q)
UNSIGNED(div, q == 0, p / q)
SIGNED(div, q == 0, divide(p, q))

/* Remainder with the sign of the divisor, as numpy.mod. */
static double floor_mod(double p, double q)
{
    const double r = fmod(p, q);
    if (r == 0.0)
        return copysign(0.0, q);
    if (isnan(r) || (r < 0.0) == (q < 0.0))
        return r;
    return isinf(q) ? q : r + q;
}

static int64_t floor_mod_int(int64_t p, int64_t q)
{
    if (is_short(p, q))
        return (uint32_t)p % (uint32_t)q;
    const int64_t r = q == -1 ? 0 : p % q;
    return r != 0 && (r < 0) != (q < 0) ? r + q : r;
}

FLOATS(mod, floor_mod(p, q))
UNSIGNED(mod, q == 0, p % q)
SIGNED(mod, q == 0, floor_mod_int(p, q))

FLOATS(fmod, fmod(p, q))
UNSIGNED(fmod, q == 0, p % q)
SIGNED(fmod, q == 0, q == -1 ? 0 : p % q)

FLOATS(prelu, p < 0.0 ? p * q : p)
UNSIGNED(prelu, false, ((void)q, p)) /* an unsigned element is never below zero */
SIGNED(prelu, false, p < 0 ? (int64_t)((uint64_t)p * (uint64_t)q) : p)

/* ---- partial contents, element by element */
static int64_t known_add(const prt_infer *c, uint32_t n, const int64_t *in)
{
    (void)n;
    return prt_dim_add(c->dims, in[0], in[1]);
}

static int64_t known_sub(const prt_infer *c, uint32_t n, const int64_t *in)
{
    (void)n;
    return prt_dim_sub(c->dims, in[0], in[1]);
}

static bool is_ratio(const prt_infer *c, int64_t a, prt_dim_node *out)
{
    if (!prt_dim_is_expr(a))
        return false;
    *out = *prt_dims_at(c->dims, prt_dim_index(a));
    return out->op == PRT_DIM_RATIO;
}

static int64_t known_mul(const prt_infer *c, uint32_t n, const int64_t *in)
{
    (void)n;
    /* Multiplies the numerator and keeps the divisor, so that a whole result becomes a number. */
    prt_dim_node of;
    for (uint32_t i = 0; i < 2; i++)
        if (is_ratio(c, in[i], &of))
            return prt_dim_make(c->dims, PRT_DIM_RATIO, prt_dim_mul(c->dims, of.a, in[1 - i]),
                of.b);
    return prt_dim_mul(c->dims, in[0], in[1]);
}

/* Divides with rounding toward zero: the floor for operands that are never negative, else the
 * larger of the floor and the ceiling where that is negative. */
static int64_t truncating_div(const prt_infer *c, int64_t a, int64_t b)
{
    const int64_t floor_of = prt_dim_floordiv(c->dims, a, b);
    if (prt_dim_never_negative(c->dims, a) && prt_dim_never_negative(c->dims, b))
        return floor_of;
    if (!prt_dim_is_number(b) || b < 0)
        return PRT_DIM_UNKNOWN;
    const int64_t below = prt_dim_min(c->dims, prt_dim_ceildiv(c->dims, a, b), 0);
    return prt_dim_max(c->dims, floor_of, below);
}

/* A quotient of floats is a ratio, which only rounding may consume (see content.h). */
static int64_t known_div(const prt_infer *c, uint32_t n, const int64_t *in)
{
    (void)n;
    const int64_t a = in[0], b = in[1];
    if (b == 1)
        return a;
    if (a == PRT_DIM_UNKNOWN || b == PRT_DIM_UNKNOWN || b == 0)
        return PRT_DIM_UNKNOWN;
    if (prt_dtype_is_float(c->in[0].dtype))
        return prt_dim_is_number(b) && b > 0 ? prt_dim_make(c->dims, PRT_DIM_RATIO, a, b)
                                             : PRT_DIM_UNKNOWN;
    if (prt_dim_is_number(a) && prt_dim_is_number(b))
        return a / b;
    return truncating_div(c, a, b);
}

static int64_t known_mod(const prt_infer *c, uint32_t n, const int64_t *in)
{
    (void)n;
    const prt_mod_attrs *attrs = c->attrs;
    const int64_t a = in[0], b = in[1];
    if (a == PRT_DIM_UNKNOWN || b == PRT_DIM_UNKNOWN || b == 0)
        return PRT_DIM_UNKNOWN;
    if (prt_dim_is_number(a) && prt_dim_is_number(b))
        return attrs->fmod != 0 ? a % b : floor_mod_int(a, b);
    if (prt_dtype_is_float(c->in[0].dtype))
        return PRT_DIM_UNKNOWN; /* an operand may be a ratio */
    if (attrs->fmod != 0 &&
        (!prt_dim_never_negative(c->dims, a) || !prt_dim_never_negative(c->dims, b)))
        return PRT_DIM_UNKNOWN;
    return prt_dim_make(c->dims, PRT_DIM_MOD, a, b);
}

#define BINARY(id)                                                                                 \
    static poprt_status infer_##id(prt_infer *c)                                                   \
    {                                                                                              \
        PRT_TRY(prt_infer_nary(c));                                                                \
        return prt_known_map(c, known_##id);                                                       \
    }                                                                                              \
    static poprt_status eval_##id(prt_eval *c)                                                     \
    {                                                                                              \
        return prt_eval_binary(c, &(prt_binary_fns){ id##_f64, id##_i64, id##_u64 });              \
    }                                                                                              \
    const prt_op_hooks prt_op_##id = { .infer = infer_##id, .eval = eval_##id };

BINARY(add)
BINARY(sub)
BINARY(mul)
BINARY(div)

static poprt_status infer_mod(prt_infer *c)
{
    const prt_mod_attrs *attrs = c->attrs;
    if (attrs->fmod != 0 && attrs->fmod != 1)
        return prt_infer_fail(c, POPRT_E_PARSE, "fmod is %lld; accepted: 0, 1",
            (long long)attrs->fmod);
    PRT_TRY(prt_infer_nary(c));
    return prt_known_map(c, known_mod);
}

static poprt_status eval_mod(prt_eval *c)
{
    const prt_mod_attrs *attrs = c->attrs;
    const prt_binary_fns floors = { mod_f64, mod_i64, mod_u64 };
    const prt_binary_fns truncates = { fmod_f64, fmod_i64, fmod_u64 };
    return prt_eval_binary(c, attrs->fmod != 0 ? &truncates : &floors);
}

const prt_op_hooks prt_op_mod = { .infer = infer_mod, .eval = eval_mod };

/* The slope broadcasts to the shape of the input; the input does not broadcast to the slope. */
static poprt_status infer_prelu(prt_infer *c)
{
    const int32_t dtype = c->out[0].dtype;
    const prt_shape *x = &c->in[0];
    prt_shape both = { .kind = PRT_VALUE_TENSOR };
    if (!prt_infer_ranked(c, 0) || !prt_infer_ranked(c, 1))
        return prt_infer_unary(c);
    PRT_TRY(prt_infer_broadcast(c, 0, 2, &both));
    bool wider = both.rank > x->rank;
    for (int32_t i = 0; !wider && i < x->rank; i++)
        wider = prt_dim_is_number(both.dims[i]) && prt_dim_is_number(x->dims[i]) &&
            both.dims[i] != x->dims[i];
    if (wider)
        return prt_infer_fail(c, POPRT_E_SHAPE, "slope does not broadcast to the shape of X");
    return prt_infer_set(c, 0, dtype, x->rank, x->dims);
}

static poprt_status eval_prelu(prt_eval *c)
{
    return prt_eval_binary(c, &(prt_binary_fns){ prelu_f64, prelu_i64, prelu_u64 });
}

const prt_op_hooks prt_op_prelu = { .infer = infer_prelu, .eval = eval_prelu };
