/* SPDX-License-Identifier: MIT */
/*
 * fused.c — FusedConv (Conv, residual, activation), FusedGemm and GemmFastGelu (MatMul, bias, Gelu
 * with tanh). The hooks of Conv, Gemm and MatMul compute the first half.
 */
#include "op/share/gelu.h"
#include "op/microsoft/activation.h"
#include "op/share/sliding.h"

/* ---- FusedConv ---- */

static prt_conv_attrs conv_attrs(const prt_ms_fused_conv_attrs *a)
{
    return (prt_conv_attrs){ .group = a->group,
        .pads = a->pads,
        .auto_pad = a->auto_pad,
        .strides = a->strides,
        .dilations = a->dilations,
        .kernel_shape = a->kernel_shape };
}

static prt_ms_activation conv_activation(const prt_ms_fused_conv_attrs *a)
{
    const prt_f32s p = a->activation_params;
    return (prt_ms_activation){ a->activation,
        { p.count > 0 ? p.data[0] : 0, p.count > 1 ? p.data[1] : 0 }, p.count };
}

static poprt_status infer_conv(prt_infer *c)
{
    const prt_conv_attrs a = conv_attrs(c->attrs);
    const prt_ms_activation f = conv_activation(c->attrs);
    prt_infer inner = *c;
    inner.attrs = &a;
    PRT_TRY(prt_ms_activation_check(c, &f));
    PRT_TRY(prt_op_of(PRT_OP_conv)->hooks->infer(&inner));
    const prt_shape *y = &c->out[0], *z = &c->in[3];
    if (!prt_infer_ranked(c, 3) || y->rank < 0 || !prt_infer_wants(c, 0))
        return POPRT_OK;
    PRT_TRY(prt_infer_rank(c, 3, y->rank));
    for (int32_t k = 0; k < y->rank; k++) {
        int64_t dim;
        PRT_TRY(prt_infer_merge(c, y->dims[k], z->dims[k], "a dim of Z", &dim));
    }
    return POPRT_OK;
}

static poprt_status eval_conv(prt_eval *c)
{
    const prt_conv_attrs a = conv_attrs(c->attrs);
    const prt_ms_activation f = conv_activation(c->attrs);
    prt_eval inner = *c;
    inner.attrs = &a;
    PRT_TRY(prt_op_of(PRT_OP_conv)->hooks->eval(&inner));
    return prt_ms_activation_run(c, &f, prt_eval_has(c, 3) ? c->in[3] : NULL);
}

const prt_op_hooks prt_op_ms_fused_conv = { .infer = infer_conv, .eval = eval_conv };

/* ---- FusedGemm ---- */

enum { ATTR_ALPHA = 1, ATTR_BETA, ATTR_GAMMA };

static prt_gemm_attrs gemm_attrs(const prt_ms_fused_gemm_attrs *a)
{
    return (prt_gemm_attrs){ .alpha = a->alpha,
        .beta = a->beta,
        .transA = a->transA,
        .transB = a->transB };
}

static prt_ms_activation gemm_activation(const prt_ms_fused_gemm_attrs *a)
{
    const bool selu = prt_str_is(a->activation, "Selu");
    const bool second = prt_attr_given(a, selu ? ATTR_GAMMA : ATTR_BETA);
    return (prt_ms_activation){ a->activation,
        { a->activation_alpha, selu ? a->activation_gamma : a->activation_beta },
        !prt_attr_given(a, ATTR_ALPHA) ? 0
            : second                   ? 2
                                       : 1 };
}

static poprt_status infer_gemm(prt_infer *c)
{
    const prt_gemm_attrs a = gemm_attrs(c->attrs);
    const prt_ms_activation f = gemm_activation(c->attrs);
    prt_infer inner = *c;
    inner.attrs = &a;
    PRT_TRY(prt_ms_activation_check(c, &f));
    return prt_op_of(PRT_OP_gemm)->hooks->infer(&inner);
}

static poprt_status eval_gemm(prt_eval *c)
{
    const prt_gemm_attrs a = gemm_attrs(c->attrs);
    const prt_ms_activation f = gemm_activation(c->attrs);
    prt_eval inner = *c;
    inner.attrs = &a;
    PRT_TRY(prt_op_of(PRT_OP_gemm)->hooks->eval(&inner));
    return prt_ms_activation_run(c, &f, NULL);
}

const prt_op_hooks prt_op_ms_fused_gemm = { .infer = infer_gemm, .eval = eval_gemm };

/* ---- GemmFastGelu ---- */

static poprt_status infer_fast(prt_infer *c)
{
    PRT_TRY(prt_op_of(PRT_OP_matmul)->hooks->infer(c));
    const prt_shape *w = &c->in[1];
    if (!prt_infer_ranked(c, 1))
        return POPRT_OK;
    if (w->rank < 2)
        return prt_infer_fail(c, POPRT_E_SHAPE, "the weights have rank %d; at least 2 is needed",
            w->rank);
    return prt_infer_vector(c, 2, w->dims[w->rank - 1]);
}

static poprt_status eval_fast(prt_eval *c)
{
    PRT_TRY(prt_op_of(PRT_OP_matmul)->hooks->eval(c));
    prt_tensor *y = c->out[0];
    const prt_tensor *bias = prt_eval_has(c, 2) ? c->in[2] : NULL;
    const size_t each = bias != NULL ? prt_tensor_count(bias) : 1;
    for (size_t i = 0; i < prt_tensor_count(y); i++) {
        const double x = prt_real_at(y, i) + (bias != NULL ? prt_real_at(bias, i % each) : 0);
        const double value = prt_gelu_tanh(x);
        prt_reals_store(y->dtype, y->data, i, 1, 1, &value);
    }
    return POPRT_OK;
}

const prt_op_hooks prt_op_ms_gemm_fast_gelu = { .infer = infer_fast, .eval = eval_fast };
