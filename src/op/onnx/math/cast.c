/* SPDX-License-Identifier: MIT */
/*
 * cast.c — Cast and CastLike between all element types except complex types. Integers wrap, floats
 * are truncated toward zero, and text is converted by number_text.h.
 */
#include <float.h>
#include <math.h>
#include <stdio.h>

#include "op/share/broadcast.h"
#include "op/content.h"
#include "op/share/number_text.h"

typedef enum rounding { UP, DOWN, NEAREST } rounding;

typedef struct cast {
    int32_t to;
    bool saturate;
    rounding mode;
} cast;

static bool read_mode(prt_str text, rounding *out)
{
    if (prt_str_is(text, "up"))
        *out = UP;
    else if (prt_str_is(text, "down"))
        *out = DOWN;
    else if (prt_str_is(text, "nearest"))
        *out = NEAREST;
    else
        return false;
    return true;
}

/* Float8 E8M0 is a power of two, 2^(bits - 127), without a sign; the result is computed from
 * |x|. A value out of range becomes the nearest end (`saturate`) or NaN. */
static uint8_t to_e8m0(double x, bool saturate, rounding mode)
{
    enum { NAN_BITS = 255, BIAS = 127, MOST = 254 };
    int exponent;
    if (isnan(x))
        return NAN_BITS;
    if (isinf(x))
        return saturate ? MOST : NAN_BITS;
    if (x == 0.0)
        return saturate ? 0 : NAN_BITS;
    const double fraction = frexp(fabs(x), &exponent) * 2.0; /* in [1, 2) */
    exponent--;
    if ((mode == UP && fraction > 1.0) || (mode == NEAREST && fraction >= 1.5))
        exponent++;
    const int bits = exponent + BIAS;
    if (bits >= 0 && bits <= MOST)
        return (uint8_t)bits;
    if (!saturate)
        return NAN_BITS;
    return bits < 0 ? 0 : MOST;
}

/* Infinity saturates in all small formats, even if the format has no infinity. Float4 and float6
 * have no NaN; NaN becomes zero. */
static double for_small(const cast *k, double x)
{
    if (isinf(x) && k->saturate)
        return copysign(DBL_MAX, x);
    return isnan(x) && prt_dtype_bits(k->to) < 8 ? 0.0 : x;
}

static void write_floats(const cast *k, prt_tensor *y, size_t first, size_t n, const double *x)
{
    const bool small = prt_dtype_is_float(k->to) && prt_dtype_bits(k->to) <= 8;
    if (!small) {
        prt_write_f64(k->to, y->data, first, n, x);
        return;
    }
    for (size_t i = 0; i < n; i++)
        if (k->to == PRT_DTYPE_f8e8m0)
            ((uint8_t *)y->data)[first + i] = to_e8m0(x[i], k->saturate, k->mode);
        else
            prt_store_f64_as(k->to, y->data, first + i, for_small(k, x[i]), k->saturate);
}

/* Converts an integer to double before it is rounded to a smaller float. A double has too few
 * bits for large integers, and double rounding could differ from a single rounding: the lost
 * bits are therefore merged into one sticky bit. */
static double widen(int64_t x, bool no_sign, int32_t to)
{
    const bool negative = !no_sign && x < 0;
    uint64_t u = negative ? 0 - (uint64_t)x : (uint64_t)x;
    if (to != PRT_DTYPE_f64 && u >> 53 != 0)
        u = (u & ~(uint64_t)0xfff) | ((u & 0xfff) != 0 ? 0x800 : 0);
    return negative ? -(double)u : (double)u;
}

static void cast_ints(const cast *k, const prt_tensor *x, prt_tensor *y)
{
    const bool no_sign = prt_dtype_is_unsigned(x->dtype), floats = prt_dtype_is_float(k->to);
    int64_t v[PRT_RUN];
    double f[PRT_RUN];
    prt_rows r;
    prt_rows_init(&r, y, 1, &(const prt_tensor *){ x });
    while (prt_rows_next(&r)) {
        prt_read_i64(x->dtype, x->data, r.from[0], r.step[0], r.count, v);
        if (!floats) {
            prt_write_i64(k->to, y->data, r.to, r.count, v);
            continue;
        }
        for (size_t i = 0; i < r.count; i++)
            f[i] = widen(v[i], no_sign, k->to);
        write_floats(k, y, r.to, r.count, f);
    }
}

static void cast_floats(const cast *k, const prt_tensor *x, prt_tensor *y)
{
    double f[PRT_RUN];
    prt_rows r;
    prt_rows_init(&r, y, 1, &(const prt_tensor *){ x });
    while (prt_rows_next(&r)) {
        prt_read_f64(x->dtype, x->data, r.from[0], r.step[0], r.count, f);
        write_floats(k, y, r.to, r.count, f);
    }
}

static size_t print_element(const prt_tensor *x, size_t i, char *to)
{
    if (prt_dtype_is_float(x->dtype))
        return prt_print_f64(x->dtype, prt_load_f64(x->dtype, x->data, i), to);
    const int n = prt_dtype_is_unsigned(x->dtype)
        ? snprintf(to, PRT_NUMBER_TEXT, "%llu",
              (unsigned long long)prt_load_u64(x->dtype, x->data, i))
        : snprintf(to, PRT_NUMBER_TEXT, "%lld", (long long)prt_load_i64(x->dtype, x->data, i));
    return n > 0 ? (size_t)n : 0;
}

static poprt_status to_strings(prt_eval *c, const prt_tensor *x, prt_tensor *y)
{
    poprt_string *s = y->data;
    const size_t n = prt_tensor_count(x);
    for (size_t i = 0; i < n; i++) {
        char text[PRT_NUMBER_TEXT];
        const size_t size = print_element(x, i, text);
        char *copy = c->host->alloc(c, 0, size + 1);
        if (copy == NULL)
            return POPRT_E_NOMEM;
        memcpy(copy, text, size + 1);
        s[i] = (poprt_string){ copy, size };
    }
    return POPRT_OK;
}

static poprt_status from_strings(prt_eval *c, const cast *k, const prt_tensor *x, prt_tensor *y)
{
    const poprt_string *s = x->data;
    const size_t n = prt_tensor_count(x);
    for (size_t i = 0; i < n; i++) {
        int64_t whole;
        double number;
        if (!prt_dtype_is_float(k->to) && prt_parse_i64(s[i].data, s[i].size, &whole))
            prt_write_i64(k->to, y->data, i, 1, &whole);
        else if (prt_parse_f64(s[i].data, s[i].size, &number))
            write_floats(k, y, i, 1, &number);
        else
            return prt_eval_fail(c, POPRT_E_ARG, "element %zu is not a number: \"%.*s\"", i,
                (int)(s[i].size < 40 ? s[i].size : 40), s[i].size != 0 ? s[i].data : "");
    }
    return POPRT_OK;
}

static poprt_status eval_cast(prt_eval *c, int64_t saturate, prt_str round_mode)
{
    const prt_tensor *x = c->in[0];
    prt_tensor *y = c->out[0];
    if (!prt_eval_wants(c, 0))
        return POPRT_OK;
    cast k = { .to = y->dtype, .saturate = saturate != 0 };
    (void)read_mode(round_mode, &k.mode);
    if (x->dtype == k.to)
        return prt_eval_copy(c, 0, x);
    if (k.to == PRT_DTYPE_string)
        return to_strings(c, x, y);
    if (x->dtype == PRT_DTYPE_string)
        return from_strings(c, &k, x, y);
    if (prt_dtype_is_float(x->dtype))
        cast_floats(&k, x, y);
    else
        cast_ints(&k, x, y);
    return POPRT_OK;
}

/* Whole numbers do not change, ratios are truncated, and prt_known_set drops values that the
 * type cannot represent. */
static poprt_status infer_cast(prt_infer *c, int32_t to, prt_str round_mode)
{
    rounding mode;
    if (!read_mode(round_mode, &mode))
        return prt_infer_fail(c, POPRT_E_PARSE,
            "round_mode is \"%.*s\"; accepted: up, down, nearest", PRT_STR_ARG(round_mode));
    if (!prt_infer_wants(c, 0))
        return POPRT_OK;
    c->out[0].dtype = to;
    PRT_TRY(prt_infer_unary(c));
    prt_known k;
    if (!prt_known_of(c, 0, &k))
        return POPRT_OK;
    for (uint32_t i = 0; i < k.count; i++) {
        int64_t *v = &k.values[i];
        if (to == PRT_DTYPE_bool)
            *v = prt_known_is_true(c->dims, *v);
        else if (!prt_dtype_is_float(to) && prt_dim_never_negative(c->dims, *v))
            *v = prt_dim_floor(c->dims, *v);
        if (!prt_dtype_is_float(to) && prt_dim_has_ratio(c->dims, *v))
            *v = PRT_DIM_UNKNOWN;
    }
    return prt_known_set(c, &k);
}

static poprt_status infer(prt_infer *c)
{
    const prt_cast_attrs *a = c->attrs;
    const uint64_t set = c->def->types[1].set;
    if (a->to <= 0 || a->to >= PRT_DTYPE_COUNT || (set >> a->to & 1) == 0)
        return prt_infer_fail(c, POPRT_E_TYPE, "cannot cast to element type %lld (%s)",
            (long long)a->to,
            a->to > 0 && a->to < PRT_DTYPE_COUNT ? prt_dtype_of((int32_t)a->to)->name : "?");
    return infer_cast(c, (int32_t)a->to, a->round_mode);
}

static poprt_status eval(prt_eval *c)
{
    const prt_cast_attrs *a = c->attrs;
    return eval_cast(c, a->saturate, a->round_mode);
}

const prt_op_hooks prt_op_cast = { .infer = infer, .eval = eval };

static poprt_status infer_like(prt_infer *c)
{
    const prt_cast_like_attrs *a = c->attrs;
    return infer_cast(c, c->in[1].dtype, a->round_mode);
}

static poprt_status eval_like(prt_eval *c)
{
    const prt_cast_like_attrs *a = c->attrs;
    return eval_cast(c, a->saturate, a->round_mode);
}

const prt_op_hooks prt_op_cast_like = { .infer = infer_like, .eval = eval_like };
