/* SPDX-License-Identifier: MIT */
/*
 * norms.c — the formulas of layer and RMS norms over the last axis:
 *
 *     (x - mean) / Sqrt(mean((x - mean)^2) + e) * s + b
 *     x / Sqrt(mean(x^2) + e) * s
 *
 * x - mean may be written once or twice. Of the root, 1 / Sqrt, Reciprocal and Pow(-0.5) are known.
 */
#include "pass/fuse/formulas.h"

/* A mean over the last axis that keeps it. */
static const prt_op *mean_at(const prt_op *op, uint32_t slot)
{
    const prt_op *mean = prt_match_producer(op, slot, PRT_OP_reduce_mean);
    prt_tensor axes;
    if (mean == NULL || ((const prt_reduce_mean_attrs *)mean->attrs)->keepdims == 0 ||
        !prt_match_constant(mean, 1, &axes) || prt_tensor_count(&axes) != 1)
        return NULL;
    const prt_value *x = prt_op_input(mean, 0);
    const int64_t axis = prt_load_i64(axes.dtype, axes.data, 0);
    const bool last = axis == -1 ||
        (prt_type_is_tensor(x->type) && x->type->rank > 0 && axis == x->type->rank - 1);
    return last ? mean : NULL;
}

/* The d of d * d or d ^ 2. */
static prt_value *under_square(const prt_op *op, uint32_t slot)
{
    const prt_op *pow = prt_match_interior(op, slot, PRT_OP_pow);
    if (pow != NULL)
        return prt_formula_is_number(pow, 1, 2.0) ? prt_op_input(pow, 0) : NULL;
    const prt_op *mul = prt_match_interior(op, slot, PRT_OP_mul);
    return mul != NULL && prt_op_input(mul, 0) == prt_op_input(mul, 1) ? prt_op_input(mul, 0)
                                                                       : NULL;
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

/* One Sub reads the mean, or two that are alike. */
static bool is_shared_by_subs(const prt_value *mean)
{
    uint32_t n = 0;
    prt_for_each_use(use, mean)
        if (++n > 2 || !prt_op_is(use->user, PRT_OP_sub))
            return false;
    return true;
}

/* The x of d = x - mean(x); NULL when d is something else. */
static prt_value *find_centred(const prt_value *d)
{
    if (d == NULL || !prt_op_is(d->def, PRT_OP_sub))
        return NULL;
    const prt_op *mean = mean_at(d->def, 1);
    prt_value *x = prt_op_input(d->def, 0);
    return mean != NULL && is_shared_by_subs(&mean->out[0]) && prt_op_input(mean, 0) == x ? x
                                                                                          : NULL;
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
    if (variance == NULL || !prt_value_used_once(&variance->out[0]))
        return NULL;
    const prt_value *base = under_square(variance, 0);
    if (base == d)
        return d;
    return find_centred(d) != NULL && find_centred(d) == find_centred(base) ? d : NULL;
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

bool prt_formula_layer_norm(const prt_op *root, prt_formula_norm *out)
{
    for (uint32_t slot = 0; slot < 2; slot++) {
        const prt_op *mul = prt_match_interior(root, slot, PRT_OP_mul);
        for (uint32_t side = 0; mul != NULL && side < 2; side++) {
            const prt_op *quotient = quotient_at(mul, side);
            double epsilon = 0;
            prt_value *x = quotient != NULL ? find_centred(find_spread(quotient, &epsilon)) : NULL;
            *out = (prt_formula_norm){ x, prt_op_input(mul, 1 - side), prt_op_input(root, 1 - slot),
                epsilon };
            if (is_normal(x, out->scale) && is_row(out->bias, x->type))
                return true;
        }
    }
    return false;
}

bool prt_formula_rms_norm(const prt_op *root, prt_formula_norm *out)
{
    for (uint32_t side = 0; side < 2; side++) {
        const prt_op *quotient = quotient_at(root, side);
        double epsilon = 0;
        prt_value *x = quotient != NULL ? find_spread(quotient, &epsilon) : NULL;
        *out = (prt_formula_norm){ x, prt_op_input(root, 1 - side), NULL, epsilon };
        if (is_normal(x, out->scale) && find_centred(x) == NULL)
            return true;
    }
    return false;
}
