/* SPDX-License-Identifier: MIT */
/*
 * fp8.c — casts to and from 8-bit floats with a factor 2^s, where s is an input: Pow2ScaleThenCast
 * and CastThenPow2Scale, whose overflow gives NaN; and CastToUint8, whose factor is 2^-s and which
 * stores bytes and saturates.
 */
#include <math.h>

#include "op/check.h"
#include "op/graphcore/fp8.h"

static int32_t target_of(prt_str to)
{
    if (prt_str_is(to, "FLOAT8_143"))
        return PRT_DTYPE_f8e4m3fnuz;
    return prt_str_is(to, "FLOAT8_152") ? PRT_DTYPE_f8e5m2fnuz : PRT_DTYPE_undefined;
}

static poprt_status infer_from(prt_infer *c)
{
    int64_t scale;
    PRT_TRY(prt_infer_scalar(c, 1, &scale));
    return prt_infer_like(c, 0, 0, PRT_DTYPE_f16);
}

static poprt_status infer_to(prt_infer *c)
{
    const prt_gc_pow2_scale_then_cast_attrs *a = c->attrs;
    const int32_t dtype = target_of(a->to);
    int64_t scale;
    if (dtype == PRT_DTYPE_undefined)
        return prt_infer_fail(c, POPRT_E_TYPE, "to is \"%.*s\"; accepted: FLOAT8_143, FLOAT8_152",
            PRT_STR_ARG(a->to));
    PRT_TRY(prt_infer_scalar(c, 1, &scale));
    return prt_infer_like(c, 0, 0, dtype);
}

static poprt_status infer_bytes(prt_infer *c)
{
    const prt_gc_cast_to_uint8_attrs *a = c->attrs;
    int64_t scale;
    if (prt_fp8_format(a->fp8Format) == PRT_DTYPE_undefined)
        return prt_infer_fail(c, POPRT_E_ARG, "fp8Format is \"%.*s\"; accepted: F143, F152",
            PRT_STR_ARG(a->fp8Format));
    PRT_TRY(prt_infer_scalar(c, 1, &scale));
    return prt_infer_like(c, 0, 0, PRT_DTYPE_u8);
}

static poprt_status scale_of(const prt_eval *c, int *scale)
{
    enum { MOST = 4096 }; /* beyond it every product is 0 or infinite */
    int64_t s = prt_load_i64(c->in[1]->dtype, c->in[1]->data, 0);
    if (c->any_log2_scale)
        s = s < -MOST ? -MOST : s > MOST ? MOST : s;
    else if (s < PRT_FP8_SCALE_MIN || s > PRT_FP8_SCALE_MAX)
        return prt_eval_fail(c, POPRT_E_ARG, "log2 of the scale is %lld, outside [%d, %d]",
            (long long)s, PRT_FP8_SCALE_MIN, PRT_FP8_SCALE_MAX);
    *scale = (int)s;
    return POPRT_OK;
}

static poprt_status eval(prt_eval *c)
{
    const prt_tensor *x = c->in[0];
    const size_t n = prt_tensor_count(x);
    int scale;
    PRT_TRY(scale_of(c, &scale));
    for (size_t i = 0; prt_eval_wants(c, 0) && i < n; i++)
        prt_store_f64_as(c->out[0]->dtype, c->out[0]->data, i,
            ldexp(prt_load_f64(x->dtype, x->data, i), scale), false);
    return POPRT_OK;
}

static poprt_status eval_bytes(prt_eval *c)
{
    const prt_gc_cast_to_uint8_attrs *a = c->attrs;
    const int32_t dtype = prt_fp8_format(a->fp8Format);
    const prt_tensor *x = c->in[0];
    const size_t n = prt_tensor_count(x);
    int scale;
    PRT_TRY(scale_of(c, &scale));
    for (size_t i = 0; i < n; i++)
        prt_store_f64_as(dtype, c->out[0]->data, i,
            ldexp(prt_load_f64(x->dtype, x->data, i), -scale), true);
    return POPRT_OK;
}

const prt_op_hooks prt_op_gc_cast_then_pow2_scale = { .infer = infer_from, .eval = eval };
const prt_op_hooks prt_op_gc_cast_to_uint8 = { .infer = infer_bytes, .eval = eval_bytes };
const prt_op_hooks prt_op_gc_pow2_scale_then_cast = { .infer = infer_to, .eval = eval };
