/* SPDX-License-Identifier: MIT */
/*
 * dim_sign.c — proves that an expression is not negative, given that no symbol is negative.
 *
 * A polynomial with positive coefficients over non-negative atoms is not negative. Any other term
 * is replaced by a lower bound: floor(x/k) is at most x/k, min(x, y) at most x, and so on. The
 * search is bounded in depth and steps; beyond the bounds nothing is proved.
 */
#include "num/dim_poly.h"

enum { DEPTH = 6, STEPS = 96 }; /* recursion; steps of one search */

typedef struct search {
    const prt_dims *dims;
    uint32_t steps;
} search;

static bool poly_never_negative(search *s, const prt_poly *p, uint32_t depth);

static bool dim_never_negative(search *s, int64_t dim, uint32_t depth)
{
    prt_poly p;
    if (prt_dim_is_number(dim))
        return dim >= 0;
    return prt_dim_is_expr(dim) && prt_poly_of(s->dims, dim, &p) &&
        poly_never_negative(s, &p, depth);
}

static bool atom_never_negative(search *s, uint32_t atom, uint32_t depth)
{
    const prt_dim_node *n = prt_dims_at(s->dims, atom);
    if (n->op == PRT_DIM_SYMBOL || n->op == PRT_DIM_BOUND)
        return true;
    if (depth == 0 || s->steps == 0)
        return false;
    s->steps--;
    depth--;
    switch (n->op) {
    case PRT_DIM_SUB:
        return false;
    case PRT_DIM_MOD:
        return dim_never_negative(s, n->b, depth);
    case PRT_DIM_MAX:
        return dim_never_negative(s, n->a, depth) || dim_never_negative(s, n->b, depth);
    default:
        return dim_never_negative(s, n->a, depth) && dim_never_negative(s, n->b, depth);
    }
}

/* Bounds an atom: `by` times the atom is at most (with `below`: at least) the polynomial `out`.
 * `choice` enumerates the bounds; returns false after the last. */
static bool bound_of(search *s, uint32_t atom, bool below, uint32_t choice, uint32_t depth,
    prt_poly *out, int64_t *by)
{
    const prt_dim_node *n = prt_dims_at(s->dims, atom);
    const int64_t k = prt_dim_is_number(n->b) ? n->b : 0;
    *by = 1;
    switch (n->op) {
    case PRT_DIM_FLOORDIV: /* x-k+1 <= k*floor(x/k) <= x */
    case PRT_DIM_CEILDIV:  /* x <= k*ceil(x/k) <= x+k-1 */
        *by = k;
        if (choice != 0 || k <= 0 || !prt_poly_of(s->dims, n->a, out))
            return false;
        if (below == (n->op == PRT_DIM_CEILDIV))
            return true;
        return prt_poly_add_term(out, &(prt_term){ .coef = below ? 1 - k : k - 1 });
    case PRT_DIM_RATIO:
        *by = k;
        return choice == 0 && k > 0 && prt_poly_of(s->dims, n->a, out);
    case PRT_DIM_MOD: /* x%k <= k-1, and <= x if neither is negative */
        if (choice == 0)
            return !below && k > 0 && prt_poly_of(s->dims, k - 1, out);
        return !below && dim_never_negative(s, n->a, depth) && dim_never_negative(s, n->b, depth) &&
            prt_poly_of(s->dims, n->a, out);
    case PRT_DIM_MIN:
    case PRT_DIM_MAX:
        return below == (n->op == PRT_DIM_MAX) && choice < 2 &&
            prt_poly_of(s->dims, choice == 0 ? n->a : n->b, out);
    case PRT_DIM_BOUND:
        return !below && choice == 0 && prt_poly_of(s->dims, n->b, out);
    default:
        return false;
    }
}

/* Tries the bounds on factor `f` of term `t`; the other factors must not be negative. */
static bool try_factor(search *s, const prt_poly *p, uint32_t t, uint32_t f, uint32_t depth)
{
    const prt_term *term = &p->terms[t];
    prt_poly bound, next;
    int64_t by;
    for (uint32_t i = 0; i < term->degree; i++)
        if (i != f && !atom_never_negative(s, term->factors[i], depth))
            return false;
    const prt_dim_node *n = prt_dims_at(s->dims, term->factors[f]);
    if (n->op == (term->coef > 0 ? PRT_DIM_MIN : PRT_DIM_MAX)) { /* equals an operand */
        for (uint32_t choice = 0; choice < 2; choice++)
            if (!prt_poly_of(s->dims, choice == 0 ? n->a : n->b, &bound) ||
                !prt_poly_replace(p, t, f, &bound, 1, &next) ||
                !poly_never_negative(s, &next, depth))
                return false;
        return true;
    }
    for (uint32_t choice = 0; choice < 2; choice++)
        if (bound_of(s, term->factors[f], term->coef > 0, choice, depth, &bound, &by) &&
            prt_poly_replace(p, t, f, &bound, by, &next) && poly_never_negative(s, &next, depth))
            return true;
    return false;
}

static bool poly_never_negative(search *s, const prt_poly *p, uint32_t depth)
{
    if (s->steps == 0)
        return false;
    s->steps--;
    bool good = true;
    for (uint32_t t = 0; good && t < p->count; t++) {
        good = p->terms[t].coef > 0;
        for (uint32_t f = 0; good && f < p->terms[t].degree; f++)
            good = atom_never_negative(s, p->terms[t].factors[f], depth);
    }
    for (uint32_t t = 0; !good && depth > 0 && t < p->count; t++)
        for (uint32_t f = 0; !good && f < p->terms[t].degree; f++)
            good = try_factor(s, p, t, f, depth - 1);
    return good;
}

bool prt_poly_never_negative(const prt_dims *dims, const prt_poly *p)
{
    search s = { dims, STEPS };
    return poly_never_negative(&s, p, DEPTH);
}

bool prt_dim_never_negative(const prt_dims *dims, int64_t dim)
{
    search s = { dims, STEPS };
    return dim_never_negative(&s, dim, DEPTH);
}
