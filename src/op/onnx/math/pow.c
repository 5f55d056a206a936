/* SPDX-License-Identifier: MIT */
/*
 * pow.c — Pow: the result has the type of the base; the exponent may have another type. Integer
 * powers of integers are exact modulo 2^bits; every other pair is computed in double.
 */
#include <math.h>

#include "op/share/broadcast.h"
#include "op/content.h"

/* Exponentiation by squaring. In a uint64 the low bits are also right for signed numbers. */
static uint64_t power(uint64_t base, uint64_t exponent)
{
    uint64_t y = 1;
    if (exponent == 2)
        return base * base;
    for (; exponent != 0; exponent >>= 1) {
        if ((exponent & 1) != 0)
            y *= base;
        base *= base;
    }
    return y;
}

/* A negative exponent gives a non-zero integer only for the bases 1 and -1. Returns false for
 * base 0. */
static bool signed_power(int64_t base, int64_t exponent, int64_t *y)
{
    if (exponent >= 0)
        *y = (int64_t)power((uint64_t)base, (uint64_t)exponent);
    else if (base == 0)
        return false;
    else
        *y = base == 1 ? 1 : base != -1 ? 0 : (exponent & 1) != 0 ? -1 : 1;
    return true;
}

static int64_t known(const prt_infer *c, uint32_t n, const int64_t *in)
{
    (void)n;
    int64_t y = 1;
    if (!prt_dim_is_number(in[1]) || in[1] < 0 || in[1] > 8)
        return PRT_DIM_UNKNOWN;
    for (int64_t i = 0; i < in[1]; i++)
        y = prt_dim_mul(c->dims, y, in[0]);
    return y;
}

static poprt_status infer(prt_infer *c)
{
    PRT_TRY(prt_infer_nary(c));
    return prt_known_map(c, known);
}

static poprt_status eval_ints(prt_eval *c, prt_rows *r)
{
    const prt_tensor *x = c->in[0], *e = c->in[1];
    const bool no_sign = prt_dtype_is_unsigned(e->dtype);
    int64_t a[PRT_RUN], b[PRT_RUN];
    while (prt_rows_next(r)) {
        prt_read_i64(x->dtype, x->data, r->from[0], r->step[0], r->count, a);
        prt_read_i64(e->dtype, e->data, r->from[1], r->step[1], r->count, b);
        for (size_t i = 0; i < r->count; i++)
            if (no_sign)
                a[i] = (int64_t)power((uint64_t)a[i], (uint64_t)b[i]);
            else if (!signed_power(a[i], b[i], &a[i]))
                return prt_eval_fail(c, POPRT_E_ARG,
                    "an integer 0 cannot be raised to a negative power");
        prt_write_i64(x->dtype, c->out[0]->data, r->to, r->count, a);
    }
    return POPRT_OK;
}

/* Small integer powers of floats use the C library's pow, which is accurate to one unit in the
 * last place. */
static void eval_floats(prt_eval *c, prt_rows *r)
{
    const prt_tensor *x = c->in[0], *e = c->in[1];
    double a[PRT_RUN], b[PRT_RUN];
    while (prt_rows_next(r)) {
        prt_read_f64(x->dtype, x->data, r->from[0], r->step[0], r->count, a);
        prt_read_f64(e->dtype, e->data, r->from[1], r->step[1], r->count, b);
        for (size_t i = 0; i < r->count; i++)
            a[i] = pow(a[i], b[i]);
        prt_write_f64(x->dtype, c->out[0]->data, r->to, r->count, a);
    }
}

static poprt_status eval(prt_eval *c)
{
    if (!prt_eval_wants(c, 0))
        return POPRT_OK;
    prt_rows r;
    prt_rows_init(&r, c->out[0], 2, c->in);
    if (!prt_dtype_is_float(c->in[0]->dtype) && !prt_dtype_is_float(c->in[1]->dtype))
        return eval_ints(c, &r);
    eval_floats(c, &r);
    return POPRT_OK;
}

const prt_op_hooks prt_op_pow = { .infer = infer, .eval = eval };
