/* SPDX-License-Identifier: MIT */
/*
 * fused.c — FusedConv and FusedGemm, which onnxruntime writes into optimised models, become Conv or
 * Gemm, Add and an activation, so that other passes can match them.
 */
#include <math.h>

#include "pass/expand/expand.h"

typedef struct activation {
    prt_str name;
    float params[2];
    uint32_t n_params;
} activation;

static const struct {
    const char *name;
    uint32_t op;
} plain[] = { { "Relu", PRT_OP_relu }, { "Sigmoid", PRT_OP_sigmoid }, { "Tanh", PRT_OP_tanh },
    { "HardSwish", PRT_OP_hard_swish }, { "Gelu", PRT_OP_gelu } };

static bool is_identity(const activation *a)
{
    return a->name.size == 0 || prt_str_is(a->name, "Identity");
}

static bool known(const activation *a)
{
    static const char *const others[] = { "LeakyRelu", "HardSigmoid", "Clip" };
    bool found = is_identity(a);
    for (size_t i = 0; i < PRT_COUNT_OF(plain); i++)
        found = found || prt_str_is(a->name, plain[i].name);
    for (size_t i = 0; i < PRT_COUNT_OF(others); i++)
        found = found || prt_str_is(a->name, others[i]);
    return found;
}

static float param(const activation *a, uint32_t i, float absent)
{
    return i < a->n_params ? a->params[i] : absent;
}

/* Replaces root by the activation of y. The activation must be known. */
static bool become_activation(prt_build *b, prt_op *root, const activation *a, prt_value *y)
{
    for (size_t i = 0; i < PRT_COUNT_OF(plain); i++)
        if (prt_str_is(a->name, plain[i].name))
            return prt_match_replace_op(b, root, plain[i].op, NULL, 1, &y);
    if (prt_str_is(a->name, "LeakyRelu")) {
        prt_leaky_relu_attrs attrs = PRT_ATTRS_OF(leaky_relu);
        PRT_ATTR_SET(attrs, leaky_relu, alpha, param(a, 0, 0.01f));
        return prt_match_replace_op(b, root, PRT_OP_leaky_relu, &attrs, 1, &y);
    }
    if (prt_str_is(a->name, "HardSigmoid")) {
        prt_hard_sigmoid_attrs attrs = PRT_ATTRS_OF(hard_sigmoid);
        PRT_ATTR_SET(attrs, hard_sigmoid, alpha, param(a, 0, 0.2f));
        PRT_ATTR_SET(attrs, hard_sigmoid, beta, param(a, 1, 0.5f));
        return prt_match_replace_op(b, root, PRT_OP_hard_sigmoid, &attrs, 1, &y);
    }
    if (is_identity(a))
        return prt_match_replace(b, root, y);
    prt_value *in[3] = { y, prt_build_scalar(b, PRT_DTYPE_f32, (double)param(a, 0, -HUGE_VALF)),
        prt_build_scalar(b, PRT_DTYPE_f32, (double)param(a, 1, HUGE_VALF)) };
    return prt_match_replace_op(b, root, PRT_OP_clip, NULL, 3, in);
}

bool prt_expand_conv(prt_pass *p, prt_build *b, prt_op *root)
{
    const prt_ms_fused_conv_attrs *a = root->attrs;
    activation f = { .name = a->activation,
        .n_params = a->activation_params.count < 2 ? a->activation_params.count : 2 };
    (void)p;
    for (uint32_t i = 0; i < f.n_params; i++)
        f.params[i] = a->activation_params.data[i];
    if (!prt_match_is_f32(prt_op_input(root, 0)) || !known(&f))
        return false;
    prt_conv_attrs attrs = PRT_ATTRS_OF(conv);
    PRT_ATTR_SET(attrs, conv, group, a->group);
    PRT_ATTR_SET(attrs, conv, auto_pad, a->auto_pad);
    if (a->pads.count != 0)
        PRT_ATTR_SET(attrs, conv, pads, a->pads);
    if (a->strides.count != 0)
        PRT_ATTR_SET(attrs, conv, strides, a->strides);
    if (a->dilations.count != 0)
        PRT_ATTR_SET(attrs, conv, dilations, a->dilations);
    if (a->kernel_shape.count != 0)
        PRT_ATTR_SET(attrs, conv, kernel_shape, a->kernel_shape);
    prt_value *in[3] = { prt_op_input(root, 0), prt_op_input(root, 1), prt_op_input(root, 2) };
    prt_value *y = prt_build_op(b, PRT_OP_conv, &attrs, in[2] != NULL ? 3 : 2, in);
    if (prt_op_input(root, 3) != NULL)
        y = prt_build_binary(b, PRT_OP_add, y, prt_op_input(root, 3));
    return become_activation(b, root, &f, y);
}

bool prt_expand_gemm(prt_pass *p, prt_build *b, prt_op *root)
{
    enum { ALPHA = 1, BETA };
    const prt_ms_fused_gemm_attrs *a = root->attrs;
    const activation f = { .name = a->activation,
        .params = { a->activation_alpha, a->activation_beta },
        .n_params = !prt_attr_given(a, ALPHA) ? 0
            : prt_attr_given(a, BETA)         ? 2
                                              : 1 };
    (void)p;
    if (!prt_match_is_f32(prt_op_input(root, 0)) || !known(&f))
        return false;
    prt_gemm_attrs attrs = PRT_ATTRS_OF(gemm);
    PRT_ATTR_SET(attrs, gemm, alpha, a->alpha);
    PRT_ATTR_SET(attrs, gemm, beta, a->beta);
    PRT_ATTR_SET(attrs, gemm, transA, a->transA);
    PRT_ATTR_SET(attrs, gemm, transB, a->transB);
    prt_value *in[3] = { prt_op_input(root, 0), prt_op_input(root, 1), prt_op_input(root, 2) };
    return become_activation(b, root, &f,
        prt_build_op(b, PRT_OP_gemm, &attrs, in[2] != NULL ? 3 : 2, in));
}
