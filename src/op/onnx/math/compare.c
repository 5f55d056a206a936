/* SPDX-License-Identifier: MIT */
/*
 * compare.c — Equal (also for strings and bool), Greater, GreaterOrEqual, Less, LessOrEqual; IsInf
 * and IsNaN. Comparisons with NaN are false.
 */
#include <math.h>

#include "op/share/broadcast.h"
#include "op/content.h"

/* Defines one comparison for float, int64 and uint64 elements; the results are 0 or 1 in the
 * same type. */
#define COMPARE(id, op)                                                                            \
    static void id##_f64(size_t n, const double *a, const double *b, double *y)                    \
    {                                                                                              \
        for (size_t i = 0; i < n; i++)                                                             \
            y[i] = a[i] op b[i] ? 1.0 : 0.0;                                                       \
    }                                                                                              \
    static bool id##_i64(size_t n, const int64_t *a, const int64_t *b, int64_t *y)                 \
    {                                                                                              \
        for (size_t i = 0; i < n; i++)                                                             \
            y[i] = a[i] op b[i];                                                                   \
        return true;                                                                               \
    }                                                                                              \
    static bool id##_u64(size_t n, const uint64_t *a, const uint64_t *b, uint64_t *y)              \
    {                                                                                              \
        for (size_t i = 0; i < n; i++)                                                             \
            y[i] = a[i] op b[i];                                                                   \
        return true;                                                                               \
    }                                                                                              \
    static const prt_binary_fns id##_fns = { id##_f64, id##_i64, id##_u64 };

COMPARE(equal, ==)
COMPARE(greater, >)
COMPARE(greater_or_equal, >=)
COMPARE(less, <)
COMPARE(less_or_equal, <=)

/* Returns -1, 0 or 1 if a is below, equal to or above b; PRT_DIM_UNKNOWN if that is not known.
 * Sizes are never negative, so a size always differs from a marker such as -1. */
static int64_t order(const prt_infer *c, int64_t a, int64_t b)
{
    if (a == PRT_DIM_UNKNOWN || b == PRT_DIM_UNKNOWN)
        return PRT_DIM_UNKNOWN;
    if (a == b)
        return 0;
    if (prt_dim_is_number(a) && prt_dim_is_number(b))
        return a < b ? -1 : 1;
    if (prt_dim_is_number(a) && a < 0 && prt_dim_never_negative(c->dims, b))
        return -1;
    if (prt_dim_is_number(b) && b < 0 && prt_dim_never_negative(c->dims, a))
        return 1;
    return PRT_DIM_UNKNOWN;
}

/* Returns 1 where x is above zero, else 0. */
static int64_t above_zero(prt_dims *dims, int64_t x)
{
    return prt_dim_min(dims, prt_dim_max(dims, x, 0), 1);
}

/* The result is a number if the order is known, else an expression of a and b. */
#define KNOWN(id, number, expression)                                                              \
    static int64_t known_##id(const prt_infer *c, uint32_t n, const int64_t *in)                   \
    {                                                                                              \
        (void)n;                                                                                   \
        prt_dims *d = c->dims;                                                                     \
        const int64_t a = in[0], b = in[1], o = order(c, a, b);                                    \
        return o != PRT_DIM_UNKNOWN ? (number) : (expression);                                     \
    }
#define NOT(x) prt_dim_sub(d, 1, x)

KNOWN(equal, o == 0, NOT(prt_known_is_true(d, prt_dim_sub(d, a, b))))
KNOWN(greater, o > 0, above_zero(d, prt_dim_sub(d, a, b)))
KNOWN(greater_or_equal, o >= 0, NOT(above_zero(d, prt_dim_sub(d, b, a))))
KNOWN(less, o < 0, above_zero(d, prt_dim_sub(d, b, a)))
KNOWN(less_or_equal, o <= 0, NOT(above_zero(d, prt_dim_sub(d, a, b))))

#define INFER(id)                                                                                  \
    static poprt_status infer_##id(prt_infer *c)                                                   \
    {                                                                                              \
        PRT_TRY(prt_infer_nary(c));                                                                \
        return prt_known_map(c, known_##id);                                                       \
    }
#define HOOKS(id)                                                                                  \
    INFER(id)                                                                                      \
    static poprt_status eval_##id(prt_eval *c)                                                     \
    {                                                                                              \
        return prt_eval_binary(c, &id##_fns);                                                      \
    }                                                                                              \
    const prt_op_hooks prt_op_##id = { .infer = infer_##id, .eval = eval_##id };

HOOKS(greater)
HOOKS(greater_or_equal)
HOOKS(less)
HOOKS(less_or_equal)

static void equal_strings(prt_eval *c)
{
    const poprt_string *a = c->in[0]->data, *b = c->in[1]->data;
    uint8_t *y = c->out[0]->data;
    prt_rows r;
    prt_rows_init(&r, c->out[0], 2, c->in);
    while (prt_rows_next(&r))
        for (size_t i = 0; i < r.count; i++) {
            const poprt_string p = a[r.from[0] + i * r.step[0]], q = b[r.from[1] + i * r.step[1]];
            y[r.to + i] = p.size == q.size && (p.size == 0 || memcmp(p.data, q.data, p.size) == 0);
        }
}

INFER(equal)

static poprt_status eval_equal(prt_eval *c)
{
    if (c->in[0]->dtype != PRT_DTYPE_string || !prt_eval_wants(c, 0))
        return prt_eval_binary(c, &equal_fns);
    equal_strings(c);
    return POPRT_OK;
}

const prt_op_hooks prt_op_equal = { .infer = infer_equal, .eval = eval_equal };
#ifndef PRT_NO_CONTRIB
const prt_op_hooks prt_op_contrib_string_equal = { .infer = prt_infer_nary, .eval = eval_equal };
#endif

/* Writes true for the selected kinds of elements: negative infinity, positive infinity, NaN. */
static poprt_status classify(prt_eval *c, bool negative, bool positive, bool nan)
{
    if (!prt_eval_wants(c, 0))
        return POPRT_OK;
    double x[PRT_RUN];
    uint8_t *y = c->out[0]->data;
    prt_rows r;
    prt_rows_init(&r, c->out[0], 1, c->in);
    while (prt_rows_next(&r)) {
        prt_read_f64(c->in[0]->dtype, c->in[0]->data, r.from[0], r.step[0], r.count, x);
        for (size_t i = 0; i < r.count; i++)
            y[r.to + i] = isnan(x[i]) ? nan : isinf(x[i]) && (x[i] < 0.0 ? negative : positive);
    }
    return POPRT_OK;
}

static poprt_status eval_isinf(prt_eval *c)
{
    const prt_isinf_attrs *a = c->attrs;
    return classify(c, a->detect_negative != 0, a->detect_positive != 0, false);
}

static poprt_status eval_isnan(prt_eval *c)
{
    return classify(c, false, false, true);
}

const prt_op_hooks prt_op_isinf = { .infer = prt_infer_unary, .eval = eval_isinf };
const prt_op_hooks prt_op_isnan = { .infer = prt_infer_unary, .eval = eval_isnan };
