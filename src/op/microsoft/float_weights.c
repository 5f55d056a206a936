/* SPDX-License-Identifier: MIT */
/*
 * float_weights.c — MatMulBlockQuantizedFp8Weight, MatMulBlockQuantizedFp4Weight and GemmFloat8:
 * products with float weights of 8 and 4 bits.
 */
#include <math.h>

#include "op/check.h"
#include "op/share/delegate.h"
#include "op/microsoft/unpacked_matmul.h"
#include "op/share/quant.h"

/* ---- weights [N, K] with a scale for each `block` weights of a row ---- */

typedef struct rows {
    int32_t dtype, scale_dtype;
    const void *data, *scales;
    size_t k, block, blocks;
    double global_scale;
} rows;

static void rows_column(const void *user, size_t column, double *to, size_t step)
{
    const rows *w = user;
    for (size_t i = 0; i < w->k; i++)
        to[i * step] = prt_load_f64(w->dtype, w->data, column * w->k + i) * w->global_scale *
            prt_load_f64(w->scale_dtype, w->scales, column * w->blocks + i / w->block);
}

static poprt_status infer_rows(prt_infer *c, int64_t block, int64_t packed, uint32_t bias)
{
    int64_t merged;
    if (block < 1 || block > INT32_MAX)
        return prt_infer_fail(c, POPRT_E_ARG, "block_size is %lld; accepted: 1 to 2^31 - 1",
            (long long)block);
    PRT_TRY(prt_infer_rank(c, 1, 2));
    PRT_TRY(prt_infer_rank(c, 2, 2));
    const int64_t n = prt_infer_dim(c, 1, 0);
    const int64_t k = prt_dim_mul(c->dims, prt_infer_dim(c, 1, 1), packed);
    PRT_TRY(
        prt_infer_merge(c, n, prt_infer_dim(c, 2, 0), "the number of output features", &merged));
    PRT_TRY(prt_infer_merge(c, prt_dim_ceildiv(c->dims, k, block), prt_infer_dim(c, 2, 1),
        "the number of scales in a row", &merged));
    PRT_TRY(prt_infer_vector(c, bias, n));
    return prt_unpacked_matmul_infer(c, 0, n, k);
}

static poprt_status run_rows(prt_eval *c, const rows *r, const prt_tensor *x, uint32_t bias_slot)
{
    const double *bias;
    const prt_unpacked_matmul w = { .n = (size_t)c->in[1]->dims[0],
        .k = r->k,
        .column = rows_column,
        .user = r };
    if (!prt_load_reals(c, bias_slot, &bias))
        return POPRT_E_NOMEM;
    return prt_unpacked_matmul_run(c, &w, x, bias, c->out[0]);
}

/* ---- float8e4m3fn ---- */

static poprt_status infer_fp8(prt_infer *c)
{
    const prt_ms_matmul_fp8_weight_attrs *a = c->attrs;
    int64_t unused;
    PRT_TRY(prt_infer_scalar(c, 3, &unused));
    return infer_rows(c, a->block_size, 1, 4);
}

/* Rounds the activations, divided by their scale, to float8e4m3fn. */
static poprt_status round_to_fp8(prt_eval *c, const prt_tensor *from, double scale, prt_tensor *to)
{
    const size_t count = prt_tensor_count(from);
    PRT_TRY(prt_delegate_tensor(c, PRT_DTYPE_f64, from->rank, from->dims, to));
    double *v = to->data;
    prt_reals_load(from->dtype, from->data, 0, 1, count, v);
    for (size_t i = 0; i < count; i++) {
        uint8_t bits;
        prt_store_f64_as(PRT_DTYPE_f8e4m3fn, &bits, 0, v[i] / scale, true);
        v[i] = prt_load_f64(PRT_DTYPE_f8e4m3fn, &bits, 0) * scale;
    }
    return POPRT_OK;
}

static poprt_status eval_fp8(prt_eval *c)
{
    const prt_ms_matmul_fp8_weight_attrs *a = c->attrs;
    const prt_tensor *b = c->in[1], *x = c->in[0];
    prt_tensor rounded;
    const rows r = { .dtype = b->dtype,
        .data = b->data,
        .scale_dtype = c->in[2]->dtype,
        .scales = c->in[2]->data,
        .k = (size_t)b->dims[1],
        .block = (size_t)a->block_size,
        .blocks = (size_t)c->in[2]->dims[1],
        .global_scale = 1 };
    if (prt_eval_has(c, 3)) {
        PRT_TRY(round_to_fp8(c, x, prt_quant_number(c, 3, 1), &rounded));
        x = &rounded;
    }
    return run_rows(c, &r, x, 4);
}

const prt_op_hooks prt_op_ms_matmul_fp8_weight = { .infer = infer_fp8, .eval = eval_fp8 };

/* ---- NVFP4: pairs of float4e2m1, scales in float8e4m3fn bytes, one global scale ---- */

static poprt_status infer_fp4(prt_infer *c)
{
    const prt_ms_matmul_fp4_weight_attrs *a = c->attrs;
    int64_t unused;
    PRT_TRY(prt_infer_scalar(c, 3, &unused));
    PRT_TRY(prt_infer_scalar(c, 4, &unused));
    return infer_rows(c, a->block_size, 2, 5);
}

static poprt_status eval_fp4(prt_eval *c)
{
    const prt_ms_matmul_fp4_weight_attrs *a = c->attrs;
    const prt_tensor *b = c->in[1];
    const rows r = { .dtype = PRT_DTYPE_f4e2m1,
        .data = b->data,
        .scale_dtype = PRT_DTYPE_f8e4m3fn,
        .scales = c->in[2]->data,
        .k = 2 * (size_t)b->dims[1],
        .block = (size_t)a->block_size,
        .blocks = (size_t)c->in[2]->dims[1],
        .global_scale = prt_quant_number(c, 3, 1) };
    return run_rows(c, &r, c->in[0], 5);
}

const prt_op_hooks prt_op_ms_matmul_fp4_weight = { .infer = infer_fp4, .eval = eval_fp4 };

/* ---- GemmFloat8: activation(alpha * scaleA * scaleB * A · B + beta * C) ---- */

enum { IN_A, IN_B, IN_C, IN_SCALE_A, IN_SCALE_B, IN_SCALE_Y };

static prt_gemm_attrs gemm_attrs(const prt_ms_gemm_float8_attrs *a)
{
    return (prt_gemm_attrs){ .alpha = a->alpha,
        .beta = a->beta,
        .transA = a->transA,
        .transB = a->transB };
}

static bool no_activation(prt_str name)
{
    return name.size == 0 || prt_str_is(name, "NONE");
}

static poprt_status infer_gemm(prt_infer *c)
{
    const prt_ms_gemm_float8_attrs *a = c->attrs;
    const prt_gemm_attrs attrs = gemm_attrs(a);
    prt_shape in[3] = { c->in[IN_A], c->in[IN_B], { .kind = PRT_VALUE_ABSENT } }, y;
    int64_t unused;
    if (prt_infer_has(c, IN_C))
        in[IN_C] = c->in[IN_C];
    if (!no_activation(a->activation) && !prt_str_is(a->activation, "RELU") &&
        !prt_str_is(a->activation, "GELU"))
        return prt_infer_fail(c, POPRT_E_ARG, "activation is \"%.*s\"; accepted: NONE, RELU, GELU",
            PRT_STR_ARG(a->activation));
    PRT_TRY(prt_infer_dtype_attr(c, "dtype",
        PRT_T(f8e4m3fn) | PRT_T(f8e5m2) | PRT_T(f16) | PRT_T(bf16) | PRT_T(f32), a->dtype));
    PRT_TRY(prt_infer_scalar(c, IN_SCALE_A, &unused));
    PRT_TRY(prt_infer_scalar(c, IN_SCALE_B, &unused));
    if (prt_infer_has(c, IN_SCALE_Y))
        return prt_infer_fail(c, POPRT_E_UNSUPPORTED,
            "scaleY is not supported: the schema does not say whether it multiplies or divides");
    PRT_TRY(prt_delegate_infer(c, PRT_OP_gemm, &attrs, 3, in, NULL, 1, &y));
    return prt_infer_set(c, 0, (int32_t)a->dtype, y.rank, y.dims);
}

/* Returns input i times its scale, as doubles. */
static poprt_status scale_input(prt_eval *c, uint32_t i, double scale, prt_tensor *to)
{
    const prt_tensor *x = c->in[i];
    const size_t count = prt_tensor_count(x);
    PRT_TRY(prt_delegate_tensor(c, PRT_DTYPE_f64, x->rank, x->dims, to));
    double *v = to->data;
    prt_reals_load(x->dtype, x->data, 0, 1, count, v);
    for (size_t k = 0; k < count; k++)
        v[k] *= scale;
    return POPRT_OK;
}

static double activate(prt_str name, double x)
{
    if (prt_str_is(name, "RELU"))
        return x < 0 ? 0 : x;
    return 0.5 * x * (1 + erf(x * sqrt(0.5)));
}

static poprt_status eval_gemm(prt_eval *c)
{
    const prt_ms_gemm_float8_attrs *a = c->attrs;
    const prt_gemm_attrs attrs = gemm_attrs(a);
    prt_tensor x, w, bias, y;
    const prt_tensor *in[] = { &x, &w, NULL };
    prt_tensor *out[] = { &y };
    PRT_TRY(scale_input(c, IN_A, prt_quant_number(c, IN_SCALE_A, 1), &x));
    PRT_TRY(scale_input(c, IN_B, prt_quant_number(c, IN_SCALE_B, 1), &w));
    if (prt_eval_has(c, IN_C)) {
        PRT_TRY(scale_input(c, IN_C, 1, &bias));
        in[IN_C] = &bias;
    }
    PRT_TRY(prt_delegate_tensor(c, PRT_DTYPE_f64, 2, c->out[0]->dims, &y));
    PRT_TRY(prt_delegate_eval(c, PRT_OP_gemm, &attrs, 3, in, 1, out));
    double *v = y.data;
    const size_t count = prt_tensor_count(&y);
    for (size_t i = 0; !no_activation(a->activation) && i < count; i++)
        v[i] = activate(a->activation, v[i]);
    prt_reals_store(c->out[0]->dtype, c->out[0]->data, 0, 1, count, v);
    return POPRT_OK;
}

const prt_op_hooks prt_op_ms_gemm_float8 = { .infer = infer_gemm, .eval = eval_gemm };
