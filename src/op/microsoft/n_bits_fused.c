/* SPDX-License-Identifier: MIT */
/*
 * n_bits_fused.c — MatMulNBitsMlp and MatMulNBitsQkv: RMS normalisation of the input, or of its sum
 * with a residual, and products of the result with several weights.
 */
#include <math.h>

#include "op/share/delegate.h"
#include "op/microsoft/n_bits.h"

enum { IN_X, IN_SKIP, IN_NORM, IN_WEIGHTS }; /* then weights, scales, bias of each product */

typedef struct fused {
    int64_t k, bits, block;
    double epsilon;
    uint32_t products;
    int64_t n[3];
    uint32_t sum; /* output index of the sum of input and skip */
} fused;

static prt_n_bits_params params_of(const fused *f, uint32_t i)
{
    const uint32_t first = IN_WEIGHTS + 3 * i;
    return (prt_n_bits_params){ .n = f->n[i],
        .k = f->k,
        .bits = f->bits,
        .block = f->block,
        .weights = first,
        .scales = first + 1,
        .bias = first + 2,
        .zeros = UINT32_MAX,
        .groups = UINT32_MAX };
}

static poprt_status check(prt_infer *c, const fused *f)
{
    const prt_shape *x = &c->in[IN_X], *skip = &c->in[IN_SKIP];
    for (uint32_t i = 0; i < f->products; i++) {
        const prt_n_bits_params params = params_of(f, i);
        PRT_TRY(prt_n_bits_check(c, &params));
    }
    PRT_TRY(prt_infer_vector(c, IN_NORM, f->k));
    if (prt_infer_has(c, IN_SKIP) && !prt_infer_has(c, IN_NORM))
        return prt_infer_fail(c, POPRT_E_ARG, "skip needs norm_scale");
    if (prt_infer_wants(c, f->sum) && !prt_infer_has(c, IN_SKIP))
        return prt_infer_fail(c, POPRT_E_ARG, "input_skip_bias_sum needs skip");
    if (prt_infer_ranked(c, IN_SKIP) && x->rank >= 0) {
        int64_t dim;
        PRT_TRY(prt_infer_rank(c, IN_SKIP, x->rank));
        for (int32_t k = 0; k < x->rank; k++)
            PRT_TRY(prt_infer_merge(c, x->dims[k], skip->dims[k], "a dim of skip", &dim));
    }
    return prt_infer_like(c, f->sum, IN_X, x->dtype);
}

/* Computes x + skip (also an output, if wanted) and normalises it; without norm_scale it is not
   normalised. */
static poprt_status normalise(prt_eval *c, const fused *f, prt_tensor *to)
{
    const prt_tensor *x = c->in[IN_X];
    const size_t count = prt_tensor_count(x), k = (size_t)f->k;
    const double *skip, *scale;
    PRT_TRY(prt_delegate_tensor(c, PRT_DTYPE_f64, x->rank, x->dims, to));
    if (!prt_load_reals(c, IN_SKIP, &skip) || !prt_load_reals(c, IN_NORM, &scale))
        return POPRT_E_NOMEM;
    double *v = to->data;
    prt_reals_load(x->dtype, x->data, 0, 1, count, v);
    for (size_t i = 0; skip != NULL && i < count; i++)
        v[i] += skip[i];
    if (prt_eval_wants(c, f->sum))
        prt_reals_store(c->out[f->sum]->dtype, c->out[f->sum]->data, 0, 1, count, v);
    for (size_t r = 0; scale != NULL && r < count / k; r++, v += k) {
        double square = 0;
        for (size_t i = 0; i < k; i++)
            square += v[i] * v[i];
        const double by = 1 / sqrt(square / (double)k + f->epsilon);
        for (size_t i = 0; i < k; i++)
            v[i] *= by * scale[i];
    }
    return POPRT_OK;
}

static poprt_status multiply(prt_eval *c, const fused *f, uint32_t i, const prt_tensor *x,
    prt_tensor *y)
{
    const prt_n_bits_params params = params_of(f, i);
    const double *bias;
    prt_n_bits bits;
    PRT_TRY(prt_n_bits_init(c, &params, &bits));
    if (!prt_load_reals(c, params.bias, &bias))
        return POPRT_E_NOMEM;
    const prt_unpacked_matmul w = { .n = (size_t)params.n,
        .k = (size_t)params.k,
        .column = prt_n_bits_column,
        .user = &bits };
    return prt_unpacked_matmul_run(c, &w, x, bias, y);
}

/* ---- MatMulNBitsMlp ---- */

static fused mlp_of(const prt_ms_matmul_n_bits_mlp_attrs *a)
{
    return (fused){ .k = a->K,
        .bits = a->bits,
        .block = a->block_size,
        .epsilon = (double)a->epsilon,
        .products = 2,
        .n = { a->N, a->N },
        .sum = 1 };
}

static poprt_status infer_mlp(prt_infer *c)
{
    const prt_ms_matmul_n_bits_mlp_attrs *a = c->attrs;
    const fused f = mlp_of(a);
    if (!prt_str_is(a->activation, "silu"))
        return prt_infer_fail(c, POPRT_E_UNSUPPORTED, "activation is \"%.*s\"; accepted: silu",
            PRT_STR_ARG(a->activation));
    PRT_TRY(check(c, &f));
    return prt_unpacked_matmul_infer(c, 0, a->N, a->K);
}

static poprt_status eval_mlp(prt_eval *c)
{
    const fused f = mlp_of(c->attrs);
    prt_tensor x, gate, up, *y = c->out[0];
    PRT_TRY(normalise(c, &f, &x));
    if (y == NULL)
        return POPRT_OK;
    PRT_TRY(prt_delegate_tensor(c, PRT_DTYPE_f64, y->rank, y->dims, &gate));
    PRT_TRY(prt_delegate_tensor(c, PRT_DTYPE_f64, y->rank, y->dims, &up));
    PRT_TRY(multiply(c, &f, 0, &x, &gate));
    PRT_TRY(multiply(c, &f, 1, &x, &up));
    double *g = gate.data;
    const double *u = up.data;
    const size_t n = prt_tensor_count(y);
    for (size_t i = 0; i < n; i++)
        g[i] = g[i] / (1 + exp(-g[i])) * u[i];
    prt_reals_store(y->dtype, y->data, 0, 1, n, g);
    return POPRT_OK;
}

const prt_op_hooks prt_op_ms_matmul_n_bits_mlp = { .infer = infer_mlp, .eval = eval_mlp };

/* ---- MatMulNBitsQkv ---- */

static fused qkv_of(const prt_ms_matmul_n_bits_qkv_attrs *a)
{
    return (fused){ .k = a->K,
        .bits = a->bits,
        .block = a->block_size,
        .epsilon = (double)a->epsilon,
        .products = 3,
        .n = { a->Nq, a->Nkv, a->Nkv },
        .sum = 3 };
}

static poprt_status infer_qkv(prt_infer *c)
{
    const fused f = qkv_of(c->attrs);
    PRT_TRY(check(c, &f));
    for (uint32_t i = 0; i < f.products; i++)
        PRT_TRY(prt_unpacked_matmul_infer(c, i, f.n[i], f.k));
    return POPRT_OK;
}

static poprt_status eval_qkv(prt_eval *c)
{
    const fused f = qkv_of(c->attrs);
    prt_tensor x;
    PRT_TRY(normalise(c, &f, &x));
    for (uint32_t i = 0; i < f.products; i++)
        if (prt_eval_wants(c, i))
            PRT_TRY(multiply(c, &f, i, &x, c->out[i]));
    return POPRT_OK;
}

const prt_op_hooks prt_op_ms_matmul_n_bits_qkv = { .infer = infer_qkv, .eval = eval_qkv };
