/* SPDX-License-Identifier: MIT */
/*
 * norms.c — matches the formulas of layer and RMS norms over the last axis:
 *
 *     (x - mean) / Sqrt(variance + e) * s + b
 *     x / Sqrt(mean(x^2) + e) * s
 *     x * i + (b - mean * i), with i = 1 / Sqrt(variance + e) * s, as TensorFlow writes it
 *
 * x - mean may be computed once or twice, and the factors may be grouped in any way. A mean is
 * ReduceMean, or ReduceSum divided by the number of elements. A variance is mean((x - mean)^2), or
 * mean(x^2) - mean^2 as Flax writes it, with or without Max(0, .) around it. The inverse root may
 * be 1 / Sqrt, Reciprocal or Pow(-0.5). s and b have the elements of the last axis and dims of 1
 * before it.
 */
#include "pass/fuse/formulas.h"

/* ---- means and variances ---- */

/* Returns `op` if it is Reduce operator `id` over the last axis with keepdims; otherwise NULL. */
static const prt_op *over_last(const prt_op *op, uint32_t id)
{
    prt_tensor axes;
    if (!prt_op_is(op, id) || ((const prt_reduce_mean_attrs *)op->attrs)->keepdims == 0 ||
        !prt_match_constant(op, 1, &axes) || prt_tensor_count(&axes) != 1)
        return NULL;
    const prt_value *x = prt_op_input(op, 0);
    const int64_t axis = prt_load_i64(axes.dtype, axes.data, 0);
    const bool last = axis == -1 ||
        (prt_type_is_tensor(x->type) && x->type->rank > 0 && axis == x->type->rank - 1);
    return last ? op : NULL;
}

/* Returns the operator whose input 0 is averaged by `v`: the producer of `v`, or the ReduceSum
 * under a division by the number of elements. */
static const prt_op *mean_of(const prt_value *v)
{
    const prt_op *op = v != NULL && v->def != NULL && v->graph == v->def->graph ? v->def : NULL;
    if (op == NULL || over_last(op, PRT_OP_reduce_mean) != NULL)
        return op;
    for (uint32_t slot = 0; slot < 2; slot++) {
        const prt_op *sum = (prt_op_is(op, PRT_OP_div) && slot == 0) || prt_op_is(op, PRT_OP_mul)
            ? over_last(prt_match_interior(op, slot, PRT_OP_reduce_sum), PRT_OP_reduce_sum)
            : NULL;
        const int64_t n = sum != NULL ? prt_match_dim(prt_op_input(sum, 0), -1) : 0;
        double by;
        if (n > 0 && prt_match_number(op, 1 - slot, &by) &&
            fabs((prt_op_is(op, PRT_OP_div) ? by : 1.0 / by) - (double)n) < 1e-5 * (double)n)
            return sum;
    }
    return NULL;
}

/* Returns d if input `slot` is d * d or d ^ 2; otherwise NULL. */
static prt_value *under_square(const prt_op *op, uint32_t slot)
{
    const prt_op *pow = prt_match_interior(op, slot, PRT_OP_pow);
    if (pow != NULL)
        return prt_formula_is_number(pow, 1, 2.0) ? prt_op_input(pow, 0) : NULL;
    const prt_value *v = prt_op_input(op, slot);
    const prt_op *mul = prt_match_producer(op, slot, PRT_OP_mul);
    return mul != NULL && prt_value_used_once(v) && prt_op_input(mul, 0) == prt_op_input(mul, 1)
        ? prt_op_input(mul, 0)
        : NULL;
}

/* Returns whether a mean is read by at most two Subs and by exactly `others` other uses. */
static bool is_shared_by_subs(const prt_value *mean, uint32_t others)
{
    uint32_t subs = 0, n = 0;
    prt_for_each_use (use, mean)
        if (prt_op_is(use->user, PRT_OP_sub))
            subs++;
        else
            n++;
    return subs <= 2 && n == others;
}

/* Returns the x, and the mean, of d = x - mean(x); NULL if d is something else. */
static prt_value *find_centred(const prt_value *d, uint32_t others, const prt_value **mean)
{
    if (d == NULL || !prt_op_is(d->def, PRT_OP_sub) || d->graph != d->def->graph)
        return NULL;
    const prt_op *op = mean_of(prt_op_input(d->def, 1));
    prt_value *x = prt_op_input(d->def, 0);
    *mean = prt_op_input(d->def, 1);
    return op != NULL && prt_op_input(op, 0) == x && is_shared_by_subs(*mean, others) ? x : NULL;
}

/* Returns the base if input `slot` of `op` is mean(base^2) without other readers; otherwise
 * NULL. */
static prt_value *mean_square_at(const prt_op *op, uint32_t slot)
{
    const prt_value *v = prt_op_input(op, slot);
    const prt_op *mean = prt_value_used_once(v) ? mean_of(v) : NULL;
    return mean != NULL ? under_square(mean, 0) : NULL;
}

/* Returns x if input `slot` of `op` is mean(x^2) - mean^2; otherwise NULL. */
static prt_value *fast_variance_at(const prt_op *op, uint32_t slot, const prt_value **mean)
{
    const prt_op *max = prt_match_interior(op, slot, PRT_OP_max);
    if (max != NULL) {
        double zero;
        const uint32_t at = prt_match_number(max, 1, &zero) ? 0 : 1;
        if (max->n_in != 2 || (at == 1 && !prt_match_number(max, 0, &zero)) || zero != 0.0)
            return NULL;
        op = max;
        slot = at;
    }
    const prt_op *sub = prt_match_interior(op, slot, PRT_OP_sub);
    prt_value *x = sub != NULL ? mean_square_at(sub, 0) : NULL;
    *mean = x != NULL ? under_square(sub, 1) : NULL;
    return *mean != NULL ? x : NULL;
}

/* Returns whether `sum` adds e to a variance of d, or of the x that d is made from (`*centred`
 * true), or to the mean square of d (`*centred` false). */
static bool is_variance(const prt_op *sum, const prt_value *d, double *epsilon, bool *centred)
{
    const prt_value *mean = NULL, *other = NULL;
    const uint32_t at = prt_match_number(sum, 1, epsilon) ? 0 : 1;
    if (at == 1 && !prt_match_number(sum, 0, epsilon))
        return false;
    const prt_value *base = mean_square_at(sum, at);
    if (base != NULL) {
        const prt_value *x = find_centred(d, 0, &mean);
        *centred = x != NULL;
        return base == d || (x != NULL && find_centred(base, 0, &other) == x);
    }
    const prt_value *x = fast_variance_at(sum, at, &other);
    /* mean * mean reads the mean twice, Pow(mean, 2) once. */
    *centred = x != NULL && (find_centred(d, 2, &mean) == x || find_centred(d, 1, &mean) == x) &&
        mean == other;
    return *centred;
}

/* ---- quotients ---- */

/* Returns the Add s if input `slot` is 1 / Sqrt(s), Reciprocal(Sqrt(s)) or Pow(s, -0.5). */
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

/* Factors of 1 / Sqrt(sum), from products and quotients in any grouping. */
typedef struct factors {
    prt_value *v[2];
    uint32_t n;
    const prt_op *sum;
} factors;

static bool find_factors(const prt_op *op, uint32_t depth, factors *f);

static bool add_factor(const prt_op *op, uint32_t slot, uint32_t depth, factors *f)
{
    const prt_op *sum = under_inverse_root(op, slot);
    if (sum != NULL) {
        const bool first = f->sum == NULL;
        f->sum = sum;
        return first;
    }
    const prt_op *inner = prt_match_interior(op, slot, PRT_OP_mul);
    if (inner == NULL)
        inner = prt_match_interior(op, slot, PRT_OP_div);
    if (inner != NULL && depth != 0 && inner->out[0].type == op->out[0].type) {
        factors more = *f;
        if (find_factors(inner, depth - 1, &more)) {
            *f = more;
            return true;
        }
    }
    if (f->n == PRT_COUNT_OF(f->v))
        return false;
    f->v[f->n++] = prt_op_input(op, slot);
    return true;
}

static bool find_factors(const prt_op *op, uint32_t depth, factors *f)
{
    if (!prt_op_is(op, PRT_OP_div))
        return add_factor(op, 0, depth, f) && add_factor(op, 1, depth, f);
    const prt_op *root = prt_match_interior(op, 1, PRT_OP_sqrt);
    if (root == NULL || f->sum != NULL)
        return false;
    f->sum = prt_match_interior(root, 0, PRT_OP_add);
    return f->sum != NULL && add_factor(op, 0, depth, f);
}

/* Matches d / Sqrt(variance or mean square of d + e) * scale, where `op` is the last product. */
static bool find_scaled(const prt_op *op, prt_formula_norm *out, bool *centred)
{
    factors f = { .n = 0 };
    if (!find_factors(op, 1, &f) || f.sum == NULL || f.n != 2)
        return false;
    for (uint32_t i = 0; i < 2; i++)
        if (is_variance(f.sum, f.v[i], &out->epsilon, centred)) {
            out->scale = f.v[1 - i];
            out->x = *centred ? prt_op_input(f.v[i]->def, 0) : f.v[i];
            return true;
        }
    return false;
}

/* Matches x * i + (bias - mean * i), with i = scale / Sqrt(variance + e). */
static bool find_folded(const prt_op *root, uint32_t slot, prt_formula_norm *out)
{
    const prt_op *sub = prt_match_interior(root, slot, PRT_OP_sub);
    const prt_op *left = prt_match_interior(root, 1 - slot, PRT_OP_mul);
    const prt_op *right = sub != NULL ? prt_match_interior(sub, 1, PRT_OP_mul) : NULL;
    for (uint32_t k = 0; left != NULL && right != NULL && k < 4; k++) {
        const prt_value *mean = prt_op_input(right, k / 2), *by = prt_op_input(right, 1 - k / 2);
        prt_value *x = prt_op_input(left, k % 2);
        const prt_op *average = mean_of(mean), *over = by != NULL ? by->def : NULL;
        factors f = { .n = 0 };
        if (prt_op_input(left, 1 - k % 2) != by || average == NULL ||
            prt_op_input(average, 0) != x || !prt_op_is(over, PRT_OP_mul) ||
            over->graph != root->graph || !find_factors(over, 0, &f) || f.sum == NULL || f.n != 1)
            continue;
        const uint32_t at = prt_match_number(f.sum, 1, &out->epsilon) ? 0 : 1;
        if (at == 1 && !prt_match_number(f.sum, 0, &out->epsilon))
            continue;
        const prt_value *seen = NULL, *base = mean_square_at(f.sum, at);
        if (base != NULL ? find_centred(base, 1, &seen) != x
                         : fast_variance_at(f.sum, at, &seen) != x)
            continue;
        *out = (prt_formula_norm){ x, f.v[0], prt_op_input(sub, 0), out->epsilon };
        return seen == mean;
    }
    return false;
}

/* ---- operands ---- */

/* Returns whether the value has the elements of x's last axis, with dims of 1 before it. */
static bool is_row(const prt_value *v, const prt_type *x)
{
    const prt_type *type = prt_match_ranked(v);
    if (type == NULL || type->dtype != x->dtype || type->rank < 1 || type->rank > x->rank ||
        type->dims[type->rank - 1] != x->dims[x->rank - 1])
        return false;
    for (int32_t i = 0; i + 1 < type->rank; i++)
        if (type->dims[i] != 1)
            return false;
    return type->rank == 1 || prt_dim_is_number(type->dims[type->rank - 1]);
}

static bool is_norm(const prt_value *x, const prt_value *scale)
{
    return x != NULL && prt_type_is_tensor(x->type) && x->type->rank >= 1 &&
        x->type->dtype == PRT_DTYPE_f32 && is_row(scale, x->type);
}

bool prt_formula_layer_norm(const prt_op *root, prt_formula_norm *out)
{
    for (uint32_t slot = 0; slot < 2; slot++) {
        const prt_op *mul = prt_match_interior(root, slot, PRT_OP_mul);
        if (mul == NULL)
            mul = prt_match_interior(root, slot, PRT_OP_div);
        bool centred = false;
        *out = (prt_formula_norm){ .bias = prt_op_input(root, 1 - slot) };
        if (mul != NULL && find_scaled(mul, out, &centred) && centred &&
            is_norm(out->x, out->scale) && is_row(out->bias, out->x->type))
            return true;
        if (find_folded(root, slot, out) && is_norm(out->x, out->scale) &&
            is_row(out->bias, out->x->type))
            return true;
    }
    return false;
}

bool prt_formula_rms_norm(const prt_op *root, prt_formula_norm *out)
{
    bool centred = false;
    *out = (prt_formula_norm){ .x = NULL };
    return find_scaled(root, out, &centred) && !centred && is_norm(out->x, out->scale);
}

prt_value *prt_formula_row(prt_build *b, prt_value *v)
{
    if (v == NULL || v->type->rank == 1)
        return v;
    const int64_t *dim = &v->type->dims[v->type->rank - 1];
    return prt_value_is_fixed(v) ? prt_match_reshape_constant(b, v, 1, dim)
                                 : prt_match_add_reshape(b, v, 1, dim);
}
