/* SPDX-License-Identifier: MIT */
/*
 * dim_fold.c — simplification of arithmetic on dimensions.
 *
 * Sums and products fold as polynomials. Quotients fold by rules that hold for all integers:
 * floor((q*d + r)/d) = q + floor(r/d), and for positive numbers floor(floor(x/m)/n) =
 * floor(x/(m*n)) and ceil(x/n) = floor((x+n-1)/n).
 *
 * Folding preserves the value for all non-negative symbols, with one exception: a division or
 * remainder by an expression is folded as if the expression were not zero (x/x is 1). If a symbol
 * in a divisor is zero at run time, folding may give a number in place of an undefined value.
 */
#include "num/dim_poly.h"

/* Interns the operation unfolded. For a commutative one, numbers come last and earlier nodes
 * first. */
static int64_t as_written(prt_dims *dims, prt_dim_op op, int64_t a, int64_t b)
{
    const bool commutes = op == PRT_DIM_ADD || op == PRT_DIM_MUL || op == PRT_DIM_MIN ||
        op == PRT_DIM_MAX || op == PRT_DIM_BROADCAST;
    const bool swapped =
        prt_dim_is_number(a) || (prt_dim_is_expr(b) && prt_dim_index(a) > prt_dim_index(b));
    if (commutes && swapped)
        return prt_dim_intern(dims, op, b, a, true);
    return prt_dim_intern(dims, op, a, b, true);
}

/* Returns x where term i is c*min(x, y) and term j is c*max(x-y, 0); PRT_DIM_UNKNOWN otherwise. */
static int64_t undo_split(const prt_dims *dims, const prt_term *i, const prt_term *j)
{
    if (i->degree != 1 || j->degree != 1 || i->coef != j->coef)
        return PRT_DIM_UNKNOWN;
    const prt_dim_node *least = prt_dims_at(dims, i->factors[0]);
    const prt_dim_node *most = prt_dims_at(dims, j->factors[0]);
    if (least->op != PRT_DIM_MIN || most->op != PRT_DIM_MAX || most->b != 0)
        return PRT_DIM_UNKNOWN;
    prt_poly x, y, more, rest;
    if (!prt_poly_of(dims, least->a, &x) || !prt_poly_of(dims, least->b, &y) ||
        !prt_poly_of(dims, most->a, &more) || !prt_poly_add(&x, &y, -1, &rest))
        return PRT_DIM_UNKNOWN;
    prt_poly none;
    if (prt_poly_add(&rest, &more, -1, &none) && none.count == 0)
        return least->a;
    return prt_poly_add(&rest, &more, 1, &none) && none.count == 0 ? least->b : PRT_DIM_UNKNOWN;
}

/* Merges one such pair of terms; returns false if there is no pair. */
static bool join_split_pair(const prt_dims *dims, prt_poly *p)
{
    for (uint32_t i = 0; i < p->count; i++)
        for (uint32_t j = 0; j < p->count; j++) {
            const int64_t whole = undo_split(dims, &p->terms[i], &p->terms[j]);
            prt_poly x, joined, others = { .count = 0 };
            if (whole == PRT_DIM_UNKNOWN || !prt_poly_of(dims, whole, &x))
                continue;
            for (uint32_t k = 0; k < p->count; k++)
                if (k != i && k != j)
                    others.terms[others.count++] = p->terms[k];
            if (prt_poly_add(&others, &x, p->terms[i].coef, &joined)) {
                *p = joined;
                return true;
            }
        }
    return false;
}

static int64_t fold_polynomial(prt_dims *dims, prt_dim_op op, int64_t a, int64_t b)
{
    prt_poly pa, pb, p;
    bool fits = prt_poly_of(dims, a, &pa) && prt_poly_of(dims, b, &pb);
    if (fits && op == PRT_DIM_MUL)
        fits = prt_poly_mul(&pa, &pb, &p);
    else if (fits)
        fits = prt_poly_add(&pa, &pb, op == PRT_DIM_ADD ? 1 : -1, &p);
    /* A dim split into two parts and joined again is the dim: min(x, y) + max(x-y, 0). */
    for (uint32_t round = 0; fits && round < PRT_POLY_TERMS && join_split_pair(dims, &p);)
        round++;
    for (uint32_t i = 0; fits && i < p.count; i++)
        fits = prt_dim_is_number(p.terms[i].coef) && prt_dim_is_number(-p.terms[i].coef);
    return fits ? prt_poly_dim(dims, &p) : as_written(dims, op, a, b);
}

/* Returns quotient + (rest op by). */
static int64_t with_quotient(prt_dims *dims, prt_dim_op op, const prt_poly *quotient,
    const prt_poly *rest, int64_t by)
{
    const int64_t whole = prt_poly_dim(dims, quotient);
    const int64_t inner = prt_poly_dim(dims, rest);
    if (whole == PRT_DIM_UNKNOWN || inner == PRT_DIM_UNKNOWN)
        return PRT_DIM_UNKNOWN;
    const int64_t part = prt_dim_is_number(inner) && prt_dim_is_number(by)
        ? prt_dim_apply(op, inner, by)
        : prt_dim_intern(dims, op, inner, by, true);
    return part == PRT_DIM_UNKNOWN ? part : prt_dim_add(dims, whole, part);
}

/* Moves the terms of `p` that `by` divides to `quotient`, divided by it. */
static bool split(prt_poly *p, const prt_term *by, prt_poly *quotient)
{
    prt_poly rest = { .count = 0 };
    for (uint32_t i = 0; i < p->count; i++) {
        prt_term q;
        if (!(prt_term_divide(&p->terms[i], by, &q) ? prt_poly_add_term(quotient, &q)
                                                    : prt_poly_add_term(&rest, &p->terms[i])))
            return false;
    }
    *p = rest;
    return true;
}

static void floor_divide(int64_t a, int64_t by, int64_t *quotient, int64_t *rest)
{
    *quotient = a / by - (a % by < 0);
    *rest = a - *quotient * by;
}

/* Cancels the common divisor of `by` and all coefficients except the constant's, then moves whole
 * quotients out. Afterwards the constant in `p` is within [0, *by). */
static bool reduce(prt_poly *p, int64_t *by, prt_poly *quotient)
{
    int64_t g = *by;
    for (uint32_t i = 0; i < p->count; i++)
        if (p->terms[i].degree != 0)
            g = prt_gcd(g, p->terms[i].coef);
    int64_t constant = 0;
    for (uint32_t i = 0; i < p->count; i++) {
        if (p->terms[i].degree != 0) {
            p->terms[i].coef /= g;
        } else {
            int64_t dropped;
            floor_divide(p->terms[i].coef, g, &constant, &dropped);
            p->count--; /* the constant is the last term */
        }
    }
    *by /= g;
    int64_t whole, rest;
    floor_divide(constant, *by, &whole, &rest);
    return split(p, &(prt_term){ .coef = *by }, quotient) &&
        prt_poly_add_term(quotient, &(prt_term){ .coef = whole }) &&
        prt_poly_add_term(p, &(prt_term){ .coef = rest });
}

/* For p = floor(x/m) + k: sets p = x + k*m and *by *= m. Returns false, without changes, for any
 * other p. */
static bool flatten(const prt_dims *dims, prt_poly *p, int64_t *by)
{
    if (p->count == 0 || p->count > 2 || p->terms[0].degree != 1 || p->terms[0].coef != 1 ||
        (p->count == 2 && p->terms[1].degree != 0))
        return false;
    const prt_dim_node *node = prt_dims_at(dims, p->terms[0].factors[0]);
    int64_t product, shift = 0;
    prt_poly x;
    if (node->op != PRT_DIM_FLOORDIV || !prt_dim_is_number(node->b) || node->b <= 0 ||
        !prt_i64_mul(*by, node->b, &product) || !prt_dim_is_number(-product) ||
        (p->count == 2 && !prt_i64_mul(p->terms[1].coef, node->b, &shift)) ||
        !prt_poly_of(dims, node->a, &x) || !prt_poly_add_term(&x, &(prt_term){ .coef = shift }))
        return false;
    *p = x;
    *by = product;
    return true;
}

/* Folds floor(p / by) for a positive number; returns false when the result exceeds a polynomial. */
static bool fold_by_number(prt_dims *dims, prt_poly p, int64_t by, int64_t *out)
{
    prt_poly quotient = { .count = 0 };
    do {
        if (!reduce(&p, &by, &quotient))
            return false;
    } while (flatten(dims, &p, &by));
    *out = with_quotient(dims, PRT_DIM_FLOORDIV, &quotient, &p, by);
    return true;
}

/* Divides both polynomials by their common term; returns false if it is 1. */
static bool cancel(prt_poly *p, prt_poly *by)
{
    prt_poly both = { .count = 2 }, shorter;
    prt_poly_common(p, &both.terms[0]);
    prt_poly_common(by, &both.terms[1]);
    prt_poly shared = { .count = 1 };
    prt_poly_common(&both, &shared.terms[0]);
    if (shared.terms[0].degree == 0 && shared.terms[0].coef == 1)
        return false;
    if (prt_poly_divide(p, &shared, &shorter))
        *p = shorter;
    if (prt_poly_divide(by, &shared, &shorter))
        *by = shorter;
    return true;
}

static int64_t fold_division(prt_dims *dims, prt_dim_op op, int64_t a, int64_t b)
{
    prt_poly p, by, quotient;
    if (b == 0)
        return PRT_DIM_UNKNOWN;
    if (!prt_poly_of(dims, a, &p) || !prt_poly_of(dims, b, &by))
        return as_written(dims, op, a, b);
    if (prt_poly_divide(&p, &by, &quotient))
        return prt_poly_dim(dims, &quotient);
    if (prt_dim_is_number(b) && b > 0) {
        int64_t result;
        const int64_t up = op == PRT_DIM_CEILDIV ? b - 1 : 0;
        if (prt_poly_add_term(&p, &(prt_term){ .coef = up }) && fold_by_number(dims, p, b, &result))
            return result;
        return as_written(dims, op, a, b);
    }
    if (cancel(&p, &by))
        return prt_dim_make(dims, op, prt_poly_dim(dims, &p), prt_poly_dim(dims, &by));
    quotient.count = 0;
    if (by.count == 1 && !split(&p, &by.terms[0], &quotient))
        return as_written(dims, op, a, b);
    return with_quotient(dims, op, &quotient, &p, b);
}

static int64_t fold_remainder(prt_dims *dims, int64_t a, int64_t b)
{
    prt_poly p, by, quotient;
    if (b == 0)
        return PRT_DIM_UNKNOWN;
    if (!prt_poly_of(dims, a, &p) || !prt_poly_of(dims, b, &by))
        return as_written(dims, PRT_DIM_MOD, a, b);
    if (prt_poly_divide(&p, &by, &quotient))
        return 0;
    prt_poly rest = { .count = 0 };
    if (prt_dim_is_number(b) && b > 0) {
        for (uint32_t i = 0; i < p.count; i++) {
            prt_term t = p.terms[i];
            int64_t dropped;
            floor_divide(p.terms[i].coef, b, &dropped, &t.coef);
            (void)prt_poly_add_term(&rest, &t); /* cannot fail: no longer than p */
        }
        p = rest;
    } else if (by.count == 1) {
        quotient.count = 0;
        if (!split(&p, &by.terms[0], &quotient))
            return as_written(dims, PRT_DIM_MOD, a, b);
    }
    quotient.count = 0;
    return with_quotient(dims, PRT_DIM_MOD, &quotient, &p, b);
}

/* Returns whether `dim` is the same minimum, maximum or broadcast, with `operand` as an operand. */
static bool has_operand(const prt_dims *dims, prt_dim_op op, int64_t dim, int64_t operand)
{
    if (!prt_dim_is_expr(dim))
        return false;
    const prt_dim_node *node = prt_dims_at(dims, prt_dim_index(dim));
    return node->op == (int32_t)op && (node->a == operand || node->b == operand);
}

static int64_t fold_extreme(prt_dims *dims, prt_dim_op op, int64_t a, int64_t b)
{
    if (a == b || has_operand(dims, op, a, b))
        return a;
    if (has_operand(dims, op, b, a))
        return b;
    prt_poly pa, pb, more;
    if (prt_poly_of(dims, a, &pa) && prt_poly_of(dims, b, &pb)) {
        if (prt_poly_add(&pa, &pb, -1, &more) && prt_poly_never_negative(dims, &more))
            return op == PRT_DIM_MAX ? a : b;
        if (prt_poly_add(&pb, &pa, -1, &more) && prt_poly_never_negative(dims, &more))
            return op == PRT_DIM_MAX ? b : a;
    }
    return as_written(dims, op, a, b);
}

/* Returns whether `dim` = min(other, k) with k > 0. Then `dim` is 1 only where `other` is 1, or
 * where k is 1 and `other` wins, so the two broadcast to `other`. */
static bool is_capped(const prt_dims *dims, int64_t dim, int64_t other)
{
    if (!has_operand(dims, PRT_DIM_MIN, dim, other))
        return false;
    const prt_dim_node *node = prt_dims_at(dims, prt_dim_index(dim));
    const int64_t cap = node->a == other ? node->b : node->a;
    return prt_dim_is_number(cap) && cap > 0;
}

/* Returns the operand that is the broadcast of both; unknown where it is neither. */
static int64_t absorb(const prt_dims *dims, int64_t a, int64_t b)
{
    if (a == b || b == 1)
        return a;
    if (a == 1)
        return b;
    if (prt_dim_is_number(a) || is_capped(dims, b, a) || has_operand(dims, PRT_DIM_BROADCAST, a, b))
        return a;
    if (prt_dim_is_number(b) || is_capped(dims, a, b) || has_operand(dims, PRT_DIM_BROADCAST, b, a))
        return b;
    return PRT_DIM_UNKNOWN;
}

static int64_t fold_broadcast(prt_dims *dims, int64_t a, int64_t b)
{
    const int64_t one = absorb(dims, a, b);
    if (one != PRT_DIM_UNKNOWN)
        return one;
    /* A broadcast of three dims, in any order: two of them may reduce to one. */
    for (uint32_t round = 0; round < 4; round++) {
        const int64_t other = round < 2 ? a : b, pair = round < 2 ? b : a;
        const prt_dim_node *n =
            prt_dim_is_expr(pair) ? prt_dims_at(dims, prt_dim_index(pair)) : NULL;
        if (n == NULL || n->op != PRT_DIM_BROADCAST)
            continue;
        const int64_t first = round % 2 == 0 ? n->a : n->b, second = round % 2 == 0 ? n->b : n->a;
        const int64_t both = absorb(dims, other, first);
        if (both == PRT_DIM_UNKNOWN)
            continue;
        const int64_t all = absorb(dims, both, second);
        return all != PRT_DIM_UNKNOWN ? all : as_written(dims, PRT_DIM_BROADCAST, both, second);
    }
    return as_written(dims, PRT_DIM_BROADCAST, a, b);
}

static int64_t fold_bound(prt_dims *dims, int64_t index, int64_t size)
{
    if (index == size || index == 0)
        return index;
    if (prt_dim_never_negative(dims, index))
        return prt_dim_min(dims, size, index);
    if (prt_dim_is_number(index))
        return prt_dim_max(dims, prt_dim_add(dims, size, index), 0);
    return as_written(dims, PRT_DIM_BOUND, index, size);
}

static int64_t fold(prt_dims *dims, prt_dim_op op, int64_t a, int64_t b)
{
    switch (op) {
    case PRT_DIM_ADD:
    case PRT_DIM_SUB:
    case PRT_DIM_MUL:
        return fold_polynomial(dims, op, a, b);
    case PRT_DIM_FLOORDIV:
    case PRT_DIM_CEILDIV:
        return fold_division(dims, op, a, b);
    case PRT_DIM_MOD:
        return fold_remainder(dims, a, b);
    case PRT_DIM_MIN:
    case PRT_DIM_MAX:
        return fold_extreme(dims, op, a, b);
    case PRT_DIM_BROADCAST:
        return fold_broadcast(dims, a, b);
    case PRT_DIM_BOUND:
        return fold_bound(dims, a, b);
    case PRT_DIM_RATIO:
        return prt_dim_fold_ratio(dims, a, b);
    default:
        return PRT_DIM_UNKNOWN;
    }
}

int64_t prt_dim_make(prt_dims *dims, prt_dim_op op, int64_t a, int64_t b)
{
    int64_t result;
    if (a == PRT_DIM_UNKNOWN || b == PRT_DIM_UNKNOWN)
        return PRT_DIM_UNKNOWN;
    const bool numbers = prt_dim_is_number(a) && prt_dim_is_number(b);
    if (numbers && (op != PRT_DIM_RATIO || dims == NULL)) /* a ratio needs its remainder */
        return prt_dim_apply(op, a, b);
    PRT_ASSERT(dims != NULL);
    if (dims == NULL)
        return PRT_DIM_UNKNOWN;
    if (prt_dims_find_folded(dims, op, a, b, &result))
        return result;
    return prt_dims_add_folded(dims, op, a, b, fold(dims, op, a, b));
}
