/* SPDX-License-Identifier: MIT */
/*
 * fused.c — fused_conv and fused_linear: Conv, or MatMul with one matrix on the right and a bias;
 * then a residual of the shape of the result is added, then an activation applied in double.
 */
#include "op/fused.h"

#include <math.h>

#include "kern/gemm.h"
#include "op/gelu.h"
#include "op/inner.h"
#include "op/nn.h"

/* ---- activations ---- */

static const char *const names[PRT_ACT_COUNT] = {
    [PRT_ACT_none] = "",
    [PRT_ACT_relu] = "Relu",
    [PRT_ACT_clip] = "Clip",
    [PRT_ACT_leaky_relu] = "LeakyRelu",
    [PRT_ACT_sigmoid] = "Sigmoid",
    [PRT_ACT_tanh] = "Tanh",
    [PRT_ACT_silu] = "Silu",
    [PRT_ACT_hard_sigmoid] = "HardSigmoid",
    [PRT_ACT_hard_swish] = "HardSwish",
    [PRT_ACT_gelu] = "Gelu",
    [PRT_ACT_gelu_tanh] = "GeluTanh",
};

const char *prt_fused_act_name(int kind)
{
    return names[kind];
}

bool prt_fused_act(prt_str name, float alpha, float beta, prt_act *out)
{
    for (int kind = 0; kind < PRT_ACT_COUNT; kind++)
        if (prt_str_is(name, names[kind])) {
            *out = (prt_act){ kind, alpha, beta };
            return true;
        }
    return false;
}

bool prt_fused_act_of(uint32_t op, const void *attrs, prt_act *out)
{
    static const int plain[PRT_OP_COUNT] = { [PRT_OP_relu] = PRT_ACT_relu,
        [PRT_OP_sigmoid] = PRT_ACT_sigmoid, [PRT_OP_tanh] = PRT_ACT_tanh,
        [PRT_OP_hard_swish] = PRT_ACT_hard_swish };
    *out = (prt_act){ plain[op], 0, 0 };
    if (op == PRT_OP_leaky_relu) {
        *out = (prt_act){ PRT_ACT_leaky_relu, ((const prt_leaky_relu_attrs *)attrs)->alpha, 0 };
    } else if (op == PRT_OP_hard_sigmoid) {
        const prt_hard_sigmoid_attrs *a = attrs;
        *out = (prt_act){ PRT_ACT_hard_sigmoid, a->alpha, a->beta };
    } else if (op == PRT_OP_gelu) {
        const prt_gelu_attrs *a = attrs;
        out->kind = prt_str_is(a->approximate, "tanh") ? PRT_ACT_gelu_tanh : PRT_ACT_gelu;
    } else if (op == PRT_OP_swish && ((const prt_swish_attrs *)attrs)->alpha == 1.0f) {
        out->kind = PRT_ACT_silu;
    }
    return out->kind != PRT_ACT_none;
}

static double clamp(double x, double low, double high)
{
    return x < low ? low : x > high ? high : x;
}

static double value_of(const prt_act *act, double x)
{
    const double a = (double)act->a, b = (double)act->b;
    switch (act->kind) {
    case PRT_ACT_relu:
        return x < 0.0 ? 0.0 : x;
    case PRT_ACT_clip:
        return clamp(x, a, b);
    case PRT_ACT_leaky_relu:
        return x < 0.0 ? a * x : x;
    case PRT_ACT_sigmoid:
        return 1.0 / (1.0 + exp(-x));
    case PRT_ACT_tanh:
        return tanh(x);
    case PRT_ACT_silu:
        return prt_silu(x);
    case PRT_ACT_hard_sigmoid:
        return clamp(a * x + b, 0.0, 1.0);
    case PRT_ACT_hard_swish:
        return x * clamp(x / 6.0 + 0.5, 0.0, 1.0);
    case PRT_ACT_gelu:
        return prt_gelu(x);
    case PRT_ACT_gelu_tanh:
        return prt_gelu_tanh(x);
    default:
        return x;
    }
}

static poprt_status check_act(const prt_infer *c, prt_str name)
{
    prt_act act;
    if (!prt_fused_act(name, 0, 0, &act))
        return prt_infer_fail(c, POPRT_E_ARG, "activation '%.*s' is none of those known",
            PRT_STR_ARG(name));
    return POPRT_OK;
}

/* ---- what both share ---- */

void prt_fused_finish(prt_eval *c, const prt_tensor *bias, const prt_tensor *residual,
    const prt_act *act)
{
    prt_tensor *y = c->out[0];
    const size_t n = bias != NULL ? prt_tensor_count(bias) : 1;
    for (size_t i = 0; i < prt_tensor_count(y); i++) {
        double x = prt_real_at(y, i);
        if (bias != NULL)
            x += prt_real_at(bias, i % n);
        if (residual != NULL)
            x += prt_real_at(residual, i);
        x = value_of(act, x);
        prt_reals_store(y->dtype, y->data, i, 1, 1, &x);
    }
}

/* The residual has the shape of the result. */
static poprt_status check_residual(prt_infer *c, uint32_t i, const prt_shape *y)
{
    int64_t dim;
    if (!prt_infer_ranked(c, i) || y->rank < 0)
        return POPRT_OK;
    PRT_TRY(prt_infer_rank(c, i, y->rank));
    for (int32_t k = 0; k < y->rank; k++)
        PRT_TRY(prt_infer_merge(c, y->dims[k], c->in[i].dims[k], "a dim of the residual", &dim));
    return POPRT_OK;
}

static const prt_tensor *input(const prt_eval *c, uint32_t i)
{
    return prt_eval_has(c, i) ? c->in[i] : NULL;
}

/* ---- fused_conv ---- */

prt_conv_attrs prt_fused_conv_of(const prt_fused_conv_attrs *a)
{
    return (prt_conv_attrs){ .group = a->group, .pads = a->pads, .auto_pad = a->auto_pad,
        .strides = a->strides, .dilations = a->dilations, .kernel_shape = a->kernel_shape };
}

static poprt_status infer_conv(prt_infer *c)
{
    const prt_fused_conv_attrs *a = c->attrs;
    const prt_conv_attrs inner = prt_fused_conv_of(a);
    prt_shape y;
    PRT_TRY(check_act(c, a->activation));
    PRT_TRY(prt_inner_infer(c, PRT_OP_conv, &inner, c->n_in < 3 ? c->n_in : 3, c->in, c->value, 1,
        &y));
    PRT_TRY(check_residual(c, 3, &y));
    return prt_infer_set(c, 0, c->in[0].dtype, y.rank, y.dims);
}

static poprt_status eval_conv(prt_eval *c)
{
    const prt_fused_conv_attrs *a = c->attrs;
    const prt_conv_attrs inner = prt_fused_conv_of(a);
    prt_act act;
    if (!prt_eval_wants(c, 0) || !prt_fused_act(a->activation, a->alpha, a->beta, &act))
        return POPRT_OK;
    PRT_TRY(prt_inner_eval(c, PRT_OP_conv, &inner, c->n_in < 3 ? c->n_in : 3, c->in, 1, c->out));
    prt_fused_finish(c, NULL, input(c, 3), &act);
    return POPRT_OK;
}

const prt_op_hooks prt_op_fused_conv = { .infer = infer_conv, .eval = eval_conv };

/* ---- fused_linear ---- */

/* Columns and depth of B. A packed one is a vector of K rows, as wide as its panels. */
static poprt_status infer_right(prt_infer *c, int64_t columns, bool turned, int64_t *n, int64_t *k)
{
    if (columns == 0) {
        PRT_TRY(prt_infer_rank(c, 1, 2));
        *n = prt_infer_dim(c, 1, !turned);
        *k = prt_infer_dim(c, 1, turned);
        return POPRT_OK;
    }
    if (columns < 0 || columns > INT32_MAX || turned)
        return prt_infer_fail(c, POPRT_E_ARG, "a packed B of %lld columns", (long long)columns);
    PRT_TRY(prt_infer_rank(c, 1, 1));
    const int64_t width = (int64_t)prt_gemm_width((size_t)columns);
    const int64_t size = prt_infer_dim(c, 1, 0);
    *n = columns;
    *k = prt_dim_is_number(size) ? size / width : PRT_DIM_UNKNOWN;
    if (prt_dim_is_number(size) && size % width != 0)
        return prt_infer_fail(c, POPRT_E_SHAPE, "%lld elements are no panels of %lld columns",
            (long long)size, (long long)columns);
    return POPRT_OK;
}

static poprt_status infer_linear(prt_infer *c)
{
    const prt_fused_linear_attrs *a = c->attrs;
    int64_t n = PRT_DIM_UNKNOWN, k = PRT_DIM_UNKNOWN, inner;
    PRT_TRY(check_act(c, a->activation));
    PRT_TRY(infer_right(c, a->columns, a->transB != 0, &n, &k));
    PRT_TRY(prt_infer_vector(c, 2, n));
    if (!prt_infer_ranked(c, 0))
        return prt_infer_unranked(c, 0, c->in[0].dtype, PRT_RANK_UNKNOWN);
    prt_shape y = c->in[0];
    if (y.rank < 1)
        return prt_infer_fail(c, POPRT_E_SHAPE, "A has rank 0; at least 1 is needed");
    PRT_TRY(prt_infer_merge(c, y.dims[y.rank - 1], k, "inner dim", &inner));
    y.dims[y.rank - 1] = n;
    PRT_TRY(check_residual(c, 3, &y));
    return prt_infer_exact(c, 0, y.dtype, y.rank, y.dims);
}

/* The matrix that was packed. */
static poprt_status unpack(prt_eval *c, int64_t k, int64_t n, prt_tensor *to)
{
    const int64_t dims[2] = { k, n };
    PRT_TRY(prt_inner_tensor(c, PRT_DTYPE_f32, 2, dims, to));
    prt_gemm_unpack_all((size_t)k, (size_t)n, c->in[1]->data, to->data, (size_t)n, 1);
    return POPRT_OK;
}

static poprt_status eval_linear(prt_eval *c)
{
    const prt_fused_linear_attrs *a = c->attrs;
    const prt_gemm_attrs gemm = { .alpha = 1.0f, .beta = 1.0f, .transB = a->transB };
    prt_act act;
    if (!prt_eval_wants(c, 0) || !prt_fused_act(a->activation, a->alpha, a->beta, &act))
        return POPRT_OK;
    prt_tensor x = *c->in[0], y = *c->out[0], w = *c->in[1];
    const int64_t k = x.dims[x.rank - 1], n = y.dims[y.rank - 1];
    x.dims[0] = y.dims[0] = (int64_t)prt_dims_product(x.dims, 0, x.rank - 1);
    x.dims[1] = k;
    y.dims[1] = n;
    x.rank = y.rank = 2;
    if (a->columns != 0)
        PRT_TRY(unpack(c, k, n, &w));
    const prt_tensor *in[2] = { &x, &w };
    prt_tensor *out[1] = { &y };
    PRT_TRY(prt_inner_eval(c, PRT_OP_gemm, &gemm, 2, in, 1, out));
    prt_fused_finish(c, input(c, 2), input(c, 3), &act);
    return POPRT_OK;
}

const prt_op_hooks prt_op_fused_linear = { .infer = infer_linear, .eval = eval_linear };
