/* SPDX-License-Identifier: MIT */
/*
 * formulas.c — fuse_formulas: what exporters write out becomes the operator that it is:
 *
 *     x * Sigmoid(x)                                          Swish
 *     x * 0.5 * (1 + Erf(x / sqrt(2))), and with Tanh          Gelu, see gelu.c
 *     (x - mean) / Sqrt(mean((x - mean)^2) + e) * s + b       LayerNormalization, last axis
 *     x / Sqrt(mean(x^2) + e) * s                             RMSNormalization, last axis
 *
 * Of the root, 1 / Sqrt, Reciprocal and Pow(-0.5) are known.
 *
 * Constants are within a few units of single precision of what the formula says.
 */
#include <math.h>

#include "pass/fuse/formulas.h"

static bool put(prt_build *b, prt_op *root, uint32_t id, const void *attrs, uint32_t n,
    prt_value *const *in)
{
    prt_value *y = prt_build_op(b, id, attrs, n, in);
    if (y != NULL)
        (void)prt_pass_replace(b, &root->out[0], y);
    return true;
}

/* ---- x * Sigmoid(x), Gelu ---- */

static bool apply_silu(prt_build *b, prt_op *root)
{
    for (uint32_t slot = 0; slot < 2; slot++) {
        const prt_op *gate = prt_match_interior(root, slot, PRT_OP_sigmoid);
        prt_value *x = prt_op_input(root, 1 - slot);
        if (gate == NULL || prt_op_input(gate, 0) != x || !prt_formula_is_float(x))
            continue;
        return put(b, root, PRT_OP_swish, NULL, 1, &x);
    }
    return false;
}

/* ---- LayerNormalization ---- */

/* A mean over the last axis that keeps it. */
static const prt_op *mean_at(const prt_op *op, uint32_t slot)
{
    const prt_op *mean = prt_match_producer(op, slot, PRT_OP_reduce_mean);
    prt_tensor axes;
    if (mean == NULL || !prt_value_used_once(&mean->out[0]) ||
        ((const prt_reduce_mean_attrs *)mean->attrs)->keepdims == 0 ||
        !prt_match_constant(mean, 1, &axes) || prt_tensor_count(&axes) != 1)
        return NULL;
    const prt_value *x = prt_op_input(mean, 0);
    const int64_t axis = prt_load_i64(axes.dtype, axes.data, 0);
    const bool last = axis == -1 ||
        (prt_type_is_tensor(x->type) && x->type->rank > 0 && axis == x->type->rank - 1);
    return last ? mean : NULL;
}

/* d * d or d ^ 2. */
static bool is_square_of(const prt_op *op, uint32_t slot, const prt_value *d)
{
    const prt_op *pow = prt_match_interior(op, slot, PRT_OP_pow);
    if (pow != NULL)
        return prt_op_input(pow, 0) == d && prt_formula_is_number(pow, 1, 2.0);
    const prt_op *mul = prt_match_interior(op, slot, PRT_OP_mul);
    return mul != NULL && prt_op_input(mul, 0) == d && prt_op_input(mul, 1) == d;
}

/* s of 1 / Sqrt(s) at input `slot`, in one of its forms. */
static const prt_op *under_inverse_root(const prt_op *op, uint32_t slot)
{
    const prt_op *over = prt_match_interior(op, slot, PRT_OP_reciprocal);
    const prt_op *div = prt_match_interior(op, slot, PRT_OP_div);
    const prt_op *pow = prt_match_interior(op, slot, PRT_OP_pow);
    if (pow != NULL)
        return prt_formula_is_number(pow, 1, -0.5) ? prt_match_interior(pow, 0, PRT_OP_add) : NULL;
    if (over == NULL && (div == NULL || !prt_formula_is_number(div, 0, 1.0)))
        return NULL;
    const prt_op *root = over != NULL ? prt_match_interior(over, 0, PRT_OP_sqrt)
                                      : prt_match_interior(div, 1, PRT_OP_sqrt);
    return root != NULL ? prt_match_interior(root, 0, PRT_OP_add) : NULL;
}

/* The sum under the root of d / Sqrt(sum) or d * (1 / Sqrt(sum)); gives d. */
static const prt_op *divided(const prt_op *op, prt_value **d)
{
    if (prt_op_is(op, PRT_OP_div)) {
        const prt_op *root = prt_match_interior(op, 1, PRT_OP_sqrt);
        *d = prt_op_input(op, 0);
        return root != NULL ? prt_match_interior(root, 0, PRT_OP_add) : NULL;
    }
    for (uint32_t slot = 0; prt_op_is(op, PRT_OP_mul) && slot < 2; slot++) {
        const prt_op *sum = under_inverse_root(op, slot);
        *d = prt_op_input(op, 1 - slot);
        if (sum != NULL)
            return sum;
    }
    return NULL;
}

/* The d of d / Sqrt(mean(d^2) + e); NULL when `op` is something else. */
static prt_value *find_spread(const prt_op *op, double *epsilon)
{
    prt_value *d = NULL;
    prt_tensor e;
    const prt_op *sum = divided(op, &d);
    if (sum == NULL || d == NULL)
        return NULL;
    const uint32_t at = prt_match_constant(sum, 1, &e) ? 0 : 1;
    if ((at == 1 && !prt_match_constant(sum, 0, &e)) || prt_tensor_count(&e) != 1)
        return NULL;
    *epsilon = prt_load_f64(e.dtype, e.data, 0);
    const prt_op *variance = mean_at(sum, at);
    return variance != NULL && is_square_of(variance, 0, d) ? d : NULL;
}

/* The x of d = x - mean(x); NULL when d is something else. */
static prt_value *find_centred(const prt_value *d)
{
    if (d == NULL || !prt_op_is(d->def, PRT_OP_sub))
        return NULL;
    const prt_op *mean = mean_at(d->def, 1);
    prt_value *x = prt_op_input(d->def, 0);
    return mean != NULL && prt_op_input(mean, 0) == x ? x : NULL;
}

/* Input `slot` as Div or Mul that nobody else reads. */
static const prt_op *quotient_at(const prt_op *op, uint32_t slot)
{
    const prt_op *div = prt_match_interior(op, slot, PRT_OP_div);
    return div != NULL ? div : prt_match_interior(op, slot, PRT_OP_mul);
}

static bool is_row(const prt_value *v, const prt_type *x)
{
    return prt_type_is_tensor(v->type) && v->type->dtype == x->dtype && v->type->rank == 1 &&
        v->type->dims[0] == x->dims[x->rank - 1];
}

static bool is_normal(const prt_value *x, const prt_value *scale)
{
    return x != NULL && prt_type_is_tensor(x->type) && x->type->rank >= 1 &&
        x->type->dtype == PRT_DTYPE_f32 && is_row(scale, x->type);
}

static bool apply_add(prt_pass *p, prt_build *b, prt_op *root)
{
    (void)p;
    for (uint32_t slot = 0; slot < 2; slot++) {
        const prt_op *mul = prt_match_interior(root, slot, PRT_OP_mul);
        for (uint32_t side = 0; mul != NULL && side < 2; side++) {
            const prt_op *quotient = quotient_at(mul, side);
            double epsilon = 0;
            prt_value *x = quotient != NULL ? find_centred(find_spread(quotient, &epsilon)) : NULL;
            prt_value *in[3] = { x, prt_op_input(mul, 1 - side), prt_op_input(root, 1 - slot) };
            if (!is_normal(x, in[1]) || !is_row(in[2], x->type))
                continue;
            prt_layer_normalization_attrs attrs = PRT_ATTRS_OF(layer_normalization);
            PRT_ATTR_GIVE(attrs, layer_normalization, epsilon, (float)epsilon);
            return put(b, root, PRT_OP_layer_normalization, &attrs, 3, in);
        }
    }
    return false;
}

/* The same without a mean and a bias: scale * (x / Sqrt(mean(x^2) + e)). */
static bool apply_rms(prt_build *b, prt_op *root)
{
    for (uint32_t side = 0; side < 2; side++) {
        const prt_op *quotient = quotient_at(root, side);
        double epsilon = 0;
        prt_value *x = quotient != NULL ? find_spread(quotient, &epsilon) : NULL;
        prt_value *in[2] = { x, prt_op_input(root, 1 - side) };
        if (!is_normal(x, in[1]) || find_centred(x) != NULL)
            continue;
        prt_rms_normalization_attrs attrs = PRT_ATTRS_OF(rms_normalization);
        PRT_ATTR_GIVE(attrs, rms_normalization, epsilon, (float)epsilon);
        return put(b, root, PRT_OP_rms_normalization, &attrs, 2, in);
    }
    return false;
}

/* ---- what a Mul may be the end of ---- */

static bool apply_mul(prt_pass *p, prt_build *b, prt_op *root)
{
    (void)p;
    if (apply_silu(b, root) || apply_rms(b, root))
        return true;
    bool tanh = false;
    prt_value *x = prt_formula_gelu(root, &tanh);
    if (x == NULL || !prt_formula_is_float(x) || x->type != root->out[0].type)
        return false;
    prt_gelu_attrs attrs = PRT_ATTRS_OF(gelu);
    if (tanh)
        PRT_ATTR_GIVE(attrs, gelu, approximate, PRT_STR("tanh"));
    return put(b, root, PRT_OP_gelu, &attrs, 1, &x);
}

static const prt_rewrite rewrites[] = { { PRT_OP_mul, apply_mul }, { PRT_OP_add, apply_add } };

const prt_pass_hooks prt_pass_fuse_formulas = {
    .rewrites = rewrites,
    .n_rewrites = PRT_COUNT_OF(rewrites),
};
