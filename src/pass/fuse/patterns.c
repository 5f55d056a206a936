/* SPDX-License-Identifier: MIT */
/*
 * patterns.c — erf_gelu_pattern, gelu_pattern, layer_norm_pattern: replace the formulas of
 * formulas.h by operators of ai.graphcore:
 *
 *     Gelu with Erf           GeluErf (not in the reference: not Gelu, so that results stay)
 *     Gelu with Tanh          Gelu
 *     layer norm, last axis   GroupNormalization of one group over [rows, hidden], between
 *                             Reshapes if the rank of x is not 2
 *
 * Results differ by rounding: the formula rounds after each step, the operator once. Rounded
 * constants such as 1.4142 count as the exact ones.
 */
#include "pass/fuse/formulas.h"
#include "pass/engine/match.h"

static bool apply_gelu(prt_build *b, prt_op *root, bool by_tanh)
{
    bool tanh = false;
    prt_value *x = prt_formula_gelu(root, &tanh);
    if (x == NULL || tanh != by_tanh || !prt_formula_is_float(x) || x->type != root->out[0].type)
        return false;
    return prt_match_replace_named(b, root, tanh ? PRT_OP_gc_gelu : PRT_OP_gc_gelu_erf, NULL, 1,
        &x);
}

static bool apply_by_erf(prt_pass *p, prt_build *b, prt_op *root)
{
    (void)p;
    return apply_gelu(b, root, false);
}

static bool apply_by_tanh(prt_pass *p, prt_build *b, prt_op *root)
{
    (void)p;
    return apply_gelu(b, root, true);
}

/* Returns the shape of x as a value. */
static prt_value *shape_of(prt_build *b, prt_value *x)
{
    if (prt_type_is_static(x->type))
        return prt_build_i64s(b, (uint32_t)x->type->rank, x->type->dims);
    return prt_build_unary(b, PRT_OP_shape, x);
}

static bool replace_norm(prt_build *b, prt_op *root, prt_formula_norm n)
{
    const int64_t hidden = n.x->type->dims[n.x->type->rank - 1], rows[2] = { -1, hidden };
    if (!prt_dim_is_number(hidden) || hidden == 0)
        return false;
    const bool flat = n.x->type->rank == 2;
    prt_value *in[3] = { n.x, prt_formula_row(b, n.scale), prt_formula_row(b, n.bias) };
    if (!flat)
        in[0] = prt_build_binary(b, PRT_OP_reshape, n.x, prt_build_i64s(b, 2, rows));
    prt_gc_group_normalization_attrs attrs = PRT_ATTRS_OF(gc_group_normalization);
    PRT_ATTR_SET(attrs, gc_group_normalization, num_groups, 1);
    PRT_ATTR_SET(attrs, gc_group_normalization, epsilon, (float)n.epsilon);
    if (flat)
        return prt_match_replace_named(b, root, PRT_OP_gc_group_normalization, &attrs, 3, in);
    prt_op *norm = prt_match_new(b, root, PRT_OP_gc_group_normalization, &attrs, 3, in, 1);
    prt_value *back = shape_of(b, n.x);
    prt_value *y = norm != NULL ? prt_build_binary(b, PRT_OP_reshape, &norm->out[0], back) : NULL;
    if (y != NULL)
        (void)prt_pass_replace(b, &root->out[0], y);
    return true;
}

static bool apply_norm(prt_pass *p, prt_build *b, prt_op *root)
{
    prt_formula_norm n;
    (void)p;
    return prt_formula_layer_norm(root, &n) && replace_norm(b, root, n);
}

/* Not in the reference: also replaces LayerNormalization of opset 17. For opset 11, exporters write
 * it out before the reference reads it. */
static bool apply_norm_op(prt_pass *p, prt_build *b, prt_op *root)
{
    const prt_layer_normalization_attrs *a = root->attrs;
    const prt_formula_norm n = { prt_op_input(root, 0), prt_op_input(root, 1),
        prt_op_input(root, 2), (double)a->epsilon };
    const prt_type *x = prt_match_ranked(n.x), *scale = prt_match_ranked(n.scale);
    const prt_type *bias = prt_match_ranked(n.bias);
    (void)p;
    if (x == NULL || scale == NULL || bias == NULL || x->rank < 1 || scale->rank != 1 ||
        bias->rank != 1 || (a->axis != -1 && a->axis != x->rank - 1) ||
        !prt_match_outputs_unused(root, 1) || scale->dims[0] != x->dims[x->rank - 1] ||
        bias->dims[0] != scale->dims[0])
        return false;
    return replace_norm(b, root, n);
}

static bool apply_gelu_op(prt_build *b, prt_op *root, bool by_tanh)
{
    const prt_gelu_attrs *a = root->attrs;
    prt_value *x = prt_op_input(root, 0);
    if (prt_str_is(a->approximate, "tanh") != by_tanh || !prt_formula_is_float(x))
        return false;
    return prt_match_replace_named(b, root, by_tanh ? PRT_OP_gc_gelu : PRT_OP_gc_gelu_erf, NULL, 1,
        &x);
}

static bool apply_erf_op(prt_pass *p, prt_build *b, prt_op *root)
{
    (void)p;
    return apply_gelu_op(b, root, false);
}

static bool apply_tanh_op(prt_pass *p, prt_build *b, prt_op *root)
{
    (void)p;
    return apply_gelu_op(b, root, true);
}

static const prt_rewrite by_erf[] = { { PRT_OP_mul, apply_by_erf }, { PRT_OP_gelu, apply_erf_op } };
static const prt_rewrite by_tanh[] = { { PRT_OP_mul, apply_by_tanh },
    { PRT_OP_gelu, apply_tanh_op } };
static const prt_rewrite norms[] = { { PRT_OP_add, apply_norm },
    { PRT_OP_layer_normalization, apply_norm_op } };

const prt_pass_hooks prt_pass_erf_gelu_pattern = { .rewrites = by_erf, .n_rewrites = 2 };
const prt_pass_hooks prt_pass_gelu_pattern = { .rewrites = by_tanh, .n_rewrites = 2 };
const prt_pass_hooks prt_pass_layer_norm_pattern = { .rewrites = norms, .n_rewrites = 2 };
