/* SPDX-License-Identifier: MIT */
/*
 * formulas.c — fuse_formulas: what exporters write out becomes the operator that it is:
 *
 *     x * Sigmoid(x)                                          Swish
 *     x * 0.5 * (1 + Erf(x / sqrt(2))), in any order          Gelu
 *     (x - mean) / Sqrt(mean((x - mean)^2) + e) * s + b       LayerNormalization, last axis
 *
 * Constants are within a few units of single precision of what the formula says.
 */
#include <math.h>

#include "pass/rewrite.h"

static bool is_float(const prt_value *v)
{
    return v != NULL && prt_type_is_tensor(v->type) && prt_dtype_is_float(v->type->dtype);
}

/* Input `slot` is a constant with one element near `value`. */
static bool is_number(const prt_op *op, uint32_t slot, double value)
{
    prt_tensor t;
    return prt_match_constant(op, slot, &t) && prt_dtype_is_float(t.dtype) &&
        prt_tensor_count(&t) == 1 &&
        fabs(prt_load_f64(t.dtype, t.data, 0) - value) <= 1e-3 * fabs(value);
}

/* The other slot of a binary op whose slot holds that number; UINT32_MAX for none. */
static uint32_t beside_number(const prt_op *op, double value)
{
    return is_number(op, 1, value) ? 0 : is_number(op, 0, value) ? 1 : UINT32_MAX;
}

static bool put(prt_build *b, prt_op *root, uint32_t id, const void *attrs, uint32_t n,
    prt_value *const *in)
{
    prt_value *y = prt_build_op(b, id, attrs, n, in);
    if (y != NULL)
        (void)prt_pass_replace(b, &root->out[0], y);
    return true;
}

/* ---- x * Sigmoid(x) ---- */

static bool apply_silu(prt_build *b, prt_op *root)
{
    for (uint32_t slot = 0; slot < 2; slot++) {
        const prt_op *gate = prt_match_interior(root, slot, PRT_OP_sigmoid);
        prt_value *x = prt_op_input(root, 1 - slot);
        if (gate == NULL || prt_op_input(gate, 0) != x || !is_float(x))
            continue;
        return put(b, root, PRT_OP_swish, NULL, 1, &x);
    }
    return false;
}

/* ---- Gelu: factors x, 0.5 and 1 + Erf(x / sqrt(2)) ---- */

/* 1 + Erf(x / sqrt(2)) at input `slot`: gives x. */
static prt_value *gate_at(const prt_op *op, uint32_t slot)
{
    const prt_op *sum = prt_match_interior(op, slot, PRT_OP_add);
    const uint32_t side = sum != NULL ? beside_number(sum, 1.0) : UINT32_MAX;
    const prt_op *erf = side != UINT32_MAX ? prt_match_interior(sum, side, PRT_OP_erf) : NULL;
    if (erf == NULL)
        return NULL;
    const prt_op *div = prt_match_interior(erf, 0, PRT_OP_div);
    if (div != NULL)
        return is_number(div, 1, sqrt(2.0)) ? prt_op_input(div, 0) : NULL;
    const prt_op *mul = prt_match_interior(erf, 0, PRT_OP_mul);
    const uint32_t at = mul != NULL ? beside_number(mul, sqrt(0.5)) : UINT32_MAX;
    return at != UINT32_MAX ? prt_op_input(mul, at) : NULL;
}

/* Input `slot` is 0.5 x. */
static bool is_half_of(const prt_op *op, uint32_t slot, const prt_value *x)
{
    const prt_op *mul = prt_match_interior(op, slot, PRT_OP_mul);
    const uint32_t at = mul != NULL ? beside_number(mul, 0.5) : UINT32_MAX;
    return at != UINT32_MAX && prt_op_input(mul, at) == x;
}

static prt_value *find_gelu(const prt_op *root)
{
    /* (x * gate) * 0.5 */
    const uint32_t at = beside_number(root, 0.5);
    const prt_op *inner = at != UINT32_MAX ? prt_match_interior(root, at, PRT_OP_mul) : NULL;
    for (uint32_t slot = 0; inner != NULL && slot < 2; slot++) {
        prt_value *x = gate_at(inner, slot);
        if (x != NULL && prt_op_input(inner, 1 - slot) == x)
            return x;
    }
    /* (0.5 x) * gate, x * (0.5 gate) */
    for (uint32_t slot = 0; slot < 2; slot++) {
        prt_value *x = gate_at(root, slot);
        if (x != NULL && is_half_of(root, 1 - slot, x))
            return x;
        const prt_op *half = prt_match_interior(root, slot, PRT_OP_mul);
        const uint32_t side = half != NULL ? beside_number(half, 0.5) : UINT32_MAX;
        x = side != UINT32_MAX ? gate_at(half, side) : NULL;
        if (x != NULL && prt_op_input(root, 1 - slot) == x)
            return x;
    }
    return NULL;
}

static bool apply_mul(prt_pass *p, prt_build *b, prt_op *root)
{
    (void)p;
    if (apply_silu(b, root))
        return true;
    prt_value *x = find_gelu(root);
    if (x == NULL || !is_float(x) || x->type != root->out[0].type)
        return false;
    return put(b, root, PRT_OP_gelu, NULL, 1, &x);
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
        return prt_op_input(pow, 0) == d && is_number(pow, 1, 2.0);
    const prt_op *mul = prt_match_interior(op, slot, PRT_OP_mul);
    return mul != NULL && prt_op_input(mul, 0) == d && prt_op_input(mul, 1) == d;
}

/* The x of (x - mean) / Sqrt(mean((x - mean)^2) + e); NULL when `div` is something else. */
static prt_value *find_standardised(const prt_op *div, double *epsilon)
{
    const prt_op *root = prt_match_interior(div, 1, PRT_OP_sqrt);
    const prt_op *sum = root != NULL ? prt_match_interior(root, 0, PRT_OP_add) : NULL;
    prt_value *d = prt_op_input(div, 0);
    if (sum == NULL || d == NULL || d->def == NULL || !prt_op_is(d->def, PRT_OP_sub))
        return NULL;
    prt_tensor e;
    const uint32_t at = prt_match_constant(sum, 1, &e) ? 0 : 1;
    if ((at == 1 && !prt_match_constant(sum, 0, &e)) || prt_tensor_count(&e) != 1)
        return NULL;
    *epsilon = prt_load_f64(e.dtype, e.data, 0);
    const prt_op *variance = mean_at(sum, at);
    if (variance == NULL || !is_square_of(variance, 0, d))
        return NULL;
    const prt_op *mean = mean_at(d->def, 1);
    prt_value *x = prt_op_input(d->def, 0);
    return mean != NULL && prt_op_input(mean, 0) == x ? x : NULL;
}

static bool is_row(const prt_value *v, const prt_type *x)
{
    return prt_type_is_tensor(v->type) && v->type->dtype == x->dtype && v->type->rank == 1 &&
        v->type->dims[0] == x->dims[x->rank - 1];
}

static bool apply_add(prt_pass *p, prt_build *b, prt_op *root)
{
    (void)p;
    for (uint32_t slot = 0; slot < 2; slot++) {
        const prt_op *mul = prt_match_interior(root, slot, PRT_OP_mul);
        for (uint32_t side = 0; mul != NULL && side < 2; side++) {
            const prt_op *div = prt_match_interior(mul, side, PRT_OP_div);
            double epsilon = 0;
            prt_value *x = div != NULL ? find_standardised(div, &epsilon) : NULL;
            prt_value *in[3] = { x, prt_op_input(mul, 1 - side), prt_op_input(root, 1 - slot) };
            if (x == NULL || !prt_type_is_tensor(x->type) || x->type->rank < 1 ||
                x->type->dtype != PRT_DTYPE_f32 || !is_row(in[1], x->type) ||
                !is_row(in[2], x->type))
                continue;
            prt_layer_normalization_attrs attrs = PRT_ATTRS_OF(layer_normalization);
            PRT_ATTR_GIVE(attrs, layer_normalization, epsilon, (float)epsilon);
            return put(b, root, PRT_OP_layer_normalization, &attrs, 3, in);
        }
    }
    return false;
}

static const prt_rewrite rewrites[] = { { PRT_OP_mul, apply_mul }, { PRT_OP_add, apply_add } };

const prt_pass_hooks prt_pass_fuse_formulas = {
    .rewrites = rewrites,
    .n_rewrites = PRT_COUNT_OF(rewrites),
};
