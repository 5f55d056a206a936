/* SPDX-License-Identifier: MIT */
/*
 * fused.c — activations and epilogues of fused operators, and fused_conv: Conv, then the residual
 * is added, then the activation is applied in double.
 */
#include "op/internal/fused.h"

#include <math.h>

#include "op/share/gelu.h"
#include "op/share/delegate.h"
#include "op/share/reals.h"

/* ---- activations ---- */

bool prt_fused_act_of(uint32_t op, const void *attrs, prt_act *out)
{
    static const int plain[PRT_OP_COUNT] = { [PRT_OP_relu] = PRT_ACT_relu,
        [PRT_OP_sigmoid] = PRT_ACT_sigmoid,
        [PRT_OP_tanh] = PRT_ACT_tanh,
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

/* Clamps as Clip does: if low > high the result is high; NaN stays NaN. */
static double clamp(double x, double low, double high)
{
    const double raised = x < low ? low : x;
    return raised > high ? high : raised;
}

double prt_fused_act_value(const prt_act *act, double x)
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

/* ---- shared epilogue ---- */

void prt_fused_finish_scaled(prt_eval *c, const prt_tensor *scale, const prt_tensor *bias,
    const prt_tensor *residual, const prt_act *act)
{
    prt_tensor *y = c->out[0];
    const size_t n = bias != NULL ? prt_tensor_count(bias) : 1;
    const size_t n_scales = scale != NULL ? prt_tensor_count(scale) : 1;
    for (size_t i = 0; i < prt_tensor_count(y); i++) {
        double x = prt_real_at(y, i);
        if (scale != NULL)
            x *= prt_real_at(scale, i % n_scales);
        if (bias != NULL)
            x += prt_real_at(bias, i % n);
        if (residual != NULL)
            x += prt_real_at(residual, i);
        x = prt_fused_act_value(act, x);
        prt_reals_store(y->dtype, y->data, i, 1, 1, &x);
    }
}

void prt_fused_finish(prt_eval *c, const prt_tensor *bias, const prt_tensor *residual,
    const prt_act *act)
{
    prt_fused_finish_scaled(c, NULL, bias, residual, act);
}

poprt_status prt_fused_check_residual(prt_infer *c, uint32_t i, const prt_shape *y)
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
    return (prt_conv_attrs){ .group = a->group,
        .pads = a->pads,
        .auto_pad = a->auto_pad,
        .strides = a->strides,
        .dilations = a->dilations,
        .kernel_shape = a->kernel_shape };
}

static poprt_status infer_conv(prt_infer *c)
{
    const prt_fused_conv_attrs *a = c->attrs;
    const prt_conv_attrs inner = prt_fused_conv_of(a);
    prt_shape y;
    PRT_TRY(prt_delegate_infer(c, PRT_OP_conv, &inner, c->n_in < 3 ? c->n_in : 3, c->in, c->value,
        1, &y));
    PRT_TRY(prt_fused_check_residual(c, 3, &y));
    return prt_infer_set(c, 0, c->in[0].dtype, y.rank, y.dims);
}

static poprt_status eval_conv(prt_eval *c)
{
    const prt_fused_conv_attrs *a = c->attrs;
    const prt_conv_attrs inner = prt_fused_conv_of(a);
    const prt_act act = { a->activation, a->alpha, a->beta };
    if (!prt_eval_wants(c, 0))
        return POPRT_OK;
    PRT_TRY(prt_delegate_eval(c, PRT_OP_conv, &inner, c->n_in < 3 ? c->n_in : 3, c->in, 1, c->out));
    prt_fused_finish(c, NULL, input(c, 3), &act);
    return POPRT_OK;
}

const prt_op_hooks prt_op_fused_conv = { .infer = infer_conv, .eval = eval_conv };
