/* SPDX-License-Identifier: MIT */
/*
 * formulas.c — fuse_formulas: replaces formulas that exporters write out by the operator they
 * compute:
 *
 *     x * Sigmoid(x)                                          Swish
 *     Max(x, a x), a from 0 to 1; Where(x >= 0, x, a x);
 *     PRelu with one slope                                    LeakyRelu
 *     x * 0.5 * (1 + Erf(x / sqrt(2))), and with Tanh         Gelu, see gelu.c
 *     Clip(x + 3, 0, 6) / 6, and times x                      HardSigmoid, HardSwish: hard_swish.c
 *     (x - mean) / Sqrt(mean((x - mean)^2) + e) * s + b       LayerNormalization, last axis
 *     x / Sqrt(mean(x^2) + e) * s                             RMSNormalization, last axis
 *
 * norms.c matches the last two. Constants may differ from those of the formula by a relative 1e-3
 * (1e-5 in hard_swish.c). With option "portable", only operators that other runtimes have a kernel
 * for (kernels.def) are made.
 */
#include "pass/fuse/formulas.h"
#include "pass/precision/kernels.h"

/* With "portable", the operator must have a kernel for the type of x in other runtimes, where the
 * converted model may run. */
static bool is_allowed(const prt_pass *p, uint32_t id, const prt_value *x)
{
    return !prt_pass_bool(p, "portable") || prt_kernel_exists_of(id, x->type->dtype);
}

static bool replace(prt_pass *p, prt_build *b, prt_op *root, uint32_t id, const void *attrs,
    uint32_t n, prt_value *const *in)
{
    if (!is_allowed(p, id, in[0]))
        return false;
    prt_value *y = prt_build_op(b, id, attrs, n, in);
    if (y != NULL)
        (void)prt_pass_replace(b, &root->out[0], y);
    return true;
}

/* ---- x * Sigmoid(x), Gelu ---- */

static bool apply_silu(prt_pass *p, prt_build *b, prt_op *root)
{
    for (uint32_t slot = 0; slot < 2; slot++) {
        const prt_op *gate = prt_match_interior(root, slot, PRT_OP_sigmoid);
        prt_value *x = prt_op_input(root, 1 - slot);
        if (gate == NULL || prt_op_input(gate, 0) != x || !prt_formula_is_float(x))
            continue;
        return replace(p, b, root, PRT_OP_swish, NULL, 1, &x);
    }
    return false;
}

/* ---- Max(x, a x), PRelu ---- */

static bool replace_by_leaky_relu(prt_pass *p, prt_build *b, prt_op *root, prt_value *x,
    double slope)
{
    prt_leaky_relu_attrs attrs = PRT_ATTRS_OF(leaky_relu);
    PRT_ATTR_SET(attrs, leaky_relu, alpha, (float)slope);
    return replace(p, b, root, PRT_OP_leaky_relu, &attrs, 1, &x);
}

static bool apply_prelu(prt_pass *p, prt_build *b, prt_op *root)
{
    prt_value *x = prt_op_input(root, 0);
    double slope;
    return prt_formula_is_float(x) && x->type == root->out[0].type &&
        prt_match_number(root, 1, &slope) && replace_by_leaky_relu(p, b, root, x, slope);
}

static bool apply_max(prt_pass *p, prt_build *b, prt_op *root)
{
    for (uint32_t i = 0; i < 4 && root->n_in == 2; i++) {
        const uint32_t slot = i / 2, number = i % 2;
        const prt_op *mul = prt_match_interior(root, slot, PRT_OP_mul);
        prt_value *x = prt_op_input(root, 1 - slot);
        double slope;
        if (mul == NULL || prt_op_input(mul, 1 - number) != x || !prt_formula_is_float(x) ||
            x->type != root->out[0].type || !prt_match_number(mul, number, &slope))
            continue;
        return slope >= 0.0 && slope <= 1.0 && replace_by_leaky_relu(p, b, root, x, slope);
    }
    return false;
}

/* ---- Where(x >= 0, x, a x) ---- */

/* Matches a * x at input `slot`. Returns x, and a in `*slope`; NULL if it is something else. */
static prt_value *times_slope(const prt_op *root, uint32_t slot, double *slope)
{
    const prt_op *mul = prt_match_interior(root, slot, PRT_OP_mul);
    for (uint32_t k = 0; mul != NULL && k < 2; k++)
        if (prt_match_number(mul, k, slope))
            return prt_op_input(mul, 1 - k);
    return NULL;
}

/* Returns 1 if the condition selects positive x, -1 if negative x, otherwise 0. At 0 both branches
 * are 0, so whether the comparison includes equality does not matter. */
static int side_of(const prt_op *root, const prt_value *x)
{
    static const uint32_t more[] = { PRT_OP_greater, PRT_OP_greater_or_equal },
                          less[] = { PRT_OP_less, PRT_OP_less_or_equal };
    for (uint32_t i = 0; i < 4; i++) {
        const prt_op *cond = prt_match_interior(root, 0, i < 2 ? more[i] : less[i - 2]);
        double zero;
        if (cond == NULL)
            continue;
        const uint32_t at = prt_op_input(cond, 0) == x ? 0 : 1;
        if (prt_op_input(cond, at) != x || !prt_match_number(cond, 1 - at, &zero) || zero != 0.0)
            return 0;
        return (i < 2) == (at == 0) ? 1 : -1;
    }
    return 0;
}

static bool apply_where(prt_pass *p, prt_build *b, prt_op *root)
{
    for (uint32_t slot = 1; slot < 3; slot++) {
        double slope;
        prt_value *x = prt_op_input(root, 3 - slot);
        if (times_slope(root, slot, &slope) == x && prt_formula_is_float(x) &&
            x->type == root->out[0].type && isfinite(slope) &&
            side_of(root, x) == (slot == 2 ? 1 : -1))
            return replace_by_leaky_relu(p, b, root, x, slope);
    }
    return false;
}

/* ---- LayerNormalization, RMSNormalization ---- */

static bool apply_add(prt_pass *p, prt_build *b, prt_op *root)
{
    prt_formula_norm n;
    if (!prt_formula_layer_norm(root, &n) || !is_allowed(p, PRT_OP_layer_normalization, n.x))
        return false;
    prt_value *in[3] = { n.x, prt_formula_row(b, n.scale), prt_formula_row(b, n.bias) };
    prt_layer_normalization_attrs attrs = PRT_ATTRS_OF(layer_normalization);
    PRT_ATTR_SET(attrs, layer_normalization, epsilon, (float)n.epsilon);
    return replace(p, b, root, PRT_OP_layer_normalization, &attrs, 3, in);
}

static bool apply_rms(prt_pass *p, prt_build *b, prt_op *root)
{
    prt_formula_norm n;
    if (!prt_formula_rms_norm(root, &n) || !is_allowed(p, PRT_OP_rms_normalization, n.x))
        return false;
    prt_value *in[2] = { n.x, prt_formula_row(b, n.scale) };
    prt_rms_normalization_attrs attrs = PRT_ATTRS_OF(rms_normalization);
    PRT_ATTR_SET(attrs, rms_normalization, epsilon, (float)n.epsilon);
    return replace(p, b, root, PRT_OP_rms_normalization, &attrs, 2, in);
}

/* ---- HardSigmoid, HardSwish ---- */

static bool apply_hard(prt_pass *p, prt_build *b, prt_op *root)
{
    bool swish;
    prt_value *x = prt_formula_hard(root, &swish);
    if (x == NULL || !prt_formula_is_float(x) || x->type != root->out[0].type)
        return false;
    prt_hard_sigmoid_attrs attrs = PRT_ATTRS_OF(hard_sigmoid);
    PRT_ATTR_SET(attrs, hard_sigmoid, alpha, 1.0f / 6.0f);
    return replace(p, b, root, swish ? PRT_OP_hard_swish : PRT_OP_hard_sigmoid,
        swish ? NULL : &attrs, 1, &x);
}

/* ---- formulas that end with Mul or Div ---- */

static bool apply_div(prt_pass *p, prt_build *b, prt_op *root)
{
    return apply_rms(p, b, root) || apply_hard(p, b, root);
}

static bool apply_mul(prt_pass *p, prt_build *b, prt_op *root)
{
    if (apply_silu(p, b, root) || apply_rms(p, b, root) || apply_hard(p, b, root))
        return true;
    bool tanh = false;
    prt_value *x = prt_formula_gelu(root, &tanh);
    if (x == NULL || !prt_formula_is_float(x) || x->type != root->out[0].type)
        return false;
    prt_gelu_attrs attrs = PRT_ATTRS_OF(gelu);
    if (tanh)
        PRT_ATTR_SET(attrs, gelu, approximate, PRT_STR("tanh"));
    return replace(p, b, root, PRT_OP_gelu, &attrs, 1, &x);
}

static const prt_rewrite rewrites[] = { { PRT_OP_mul, apply_mul }, { PRT_OP_add, apply_add },
    { PRT_OP_div, apply_div }, { PRT_OP_max, apply_max }, { PRT_OP_prelu, apply_prelu },
    { PRT_OP_where, apply_where } };

const prt_pass_hooks prt_pass_fuse_formulas = {
    .rewrites = rewrites,
    .n_rewrites = PRT_COUNT_OF(rewrites),
};
