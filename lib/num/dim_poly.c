/* SPDX-License-Identifier: MIT */
/*
 * dim_poly.c — arithmetic on bounded polynomials with integer coefficients.
 *
 * Terms are in graded lexicographic order. Division relies on its agreement with multiplication:
 * the first term of a product is the product of the first terms.
 */
#include "num/dim_poly.h"

/* Returns a value below 0 when `a` comes first. */
static int compare(const prt_term *a, const prt_term *b)
{
    if (a->degree != b->degree)
        return a->degree > b->degree ? -1 : 1;
    for (uint32_t i = 0; i < a->degree; i++)
        if (a->factors[i] != b->factors[i])
            return a->factors[i] < b->factors[i] ? -1 : 1;
    return 0;
}

/* Excludes INT64_MIN, which cannot be negated. */
static bool coef_add(int64_t a, int64_t b, int64_t *out)
{
    return prt_i64_add(a, b, out) && *out != INT64_MIN;
}

static bool coef_mul(int64_t a, int64_t b, int64_t *out)
{
    return prt_i64_mul(a, b, out) && *out != INT64_MIN;
}

int64_t prt_gcd(int64_t a, int64_t b)
{
    while (b != 0) {
        const int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a < 0 ? -a : a;
}

bool prt_poly_add_term(prt_poly *to, const prt_term *term)
{
    if (term->coef == 0)
        return true;
    uint32_t i = 0;
    while (i < to->count && compare(&to->terms[i], term) < 0)
        i++;
    if (i < to->count && compare(&to->terms[i], term) == 0) {
        if (!coef_add(to->terms[i].coef, term->coef, &to->terms[i].coef))
            return false;
        if (to->terms[i].coef == 0) {
            to->count--;
            memmove(&to->terms[i], &to->terms[i + 1], (to->count - i) * sizeof(prt_term));
        }
        return true;
    }
    if (to->count == PRT_POLY_TERMS)
        return false;
    memmove(&to->terms[i + 1], &to->terms[i], (to->count - i) * sizeof(prt_term));
    to->terms[i] = *term;
    to->count++;
    return true;
}

static bool term_mul(const prt_term *a, const prt_term *b, prt_term *out)
{
    if (a->degree + b->degree > PRT_POLY_DEGREE || !coef_mul(a->coef, b->coef, &out->coef))
        return false;
    out->degree = a->degree + b->degree;
    uint32_t i = 0, j = 0;
    for (uint32_t k = 0; k < out->degree; k++) {
        const bool from_a = j == b->degree || (i < a->degree && a->factors[i] <= b->factors[j]);
        out->factors[k] = from_a ? a->factors[i++] : b->factors[j++];
    }
    return true;
}

bool prt_term_divide(const prt_term *t, const prt_term *by, prt_term *out)
{
    if (t->coef % by->coef != 0)
        return false;
    prt_term q = { .coef = t->coef / by->coef };
    uint32_t j = 0;
    for (uint32_t i = 0; i < t->degree; i++) {
        if (j < by->degree && by->factors[j] == t->factors[i])
            j++;
        else
            q.factors[q.degree++] = t->factors[i];
    }
    *out = q;
    return j == by->degree;
}

/* to += scale * p * term */
static bool add_product(prt_poly *to, const prt_poly *p, const prt_term *term, int64_t scale)
{
    for (uint32_t i = 0; i < p->count; i++) {
        prt_term product = { .coef = 0 };
        if (!term_mul(&p->terms[i], term, &product) ||
            !coef_mul(product.coef, scale, &product.coef) || !prt_poly_add_term(to, &product))
            return false;
    }
    return true;
}

bool prt_poly_add(const prt_poly *a, const prt_poly *b, int64_t scale, prt_poly *out)
{
    const prt_term one = { .coef = 1 };
    *out = *a;
    return add_product(out, b, &one, scale);
}

bool prt_poly_mul(const prt_poly *a, const prt_poly *b, prt_poly *out)
{
    out->count = 0;
    for (uint32_t i = 0; i < b->count; i++)
        if (!add_product(out, a, &b->terms[i], 1))
            return false;
    return true;
}

bool prt_poly_divide(const prt_poly *p, const prt_poly *by, prt_poly *out)
{
    if (by->count == 0)
        return false;
    out->count = 0;
    prt_poly rest = *p;
    /* Each iteration removes the first term and adds only later ones. */
    while (rest.count != 0) {
        prt_term q = { .coef = 0 };
        if (!prt_term_divide(&rest.terms[0], &by->terms[0], &q) || !prt_poly_add_term(out, &q) ||
            !add_product(&rest, by, &q, -1))
            return false;
    }
    return true;
}

void prt_poly_common(const prt_poly *p, prt_term *common)
{
    *common = (prt_term){ .coef = 1 };
    if (p->count == 0)
        return;
    *common = p->terms[0];
    for (uint32_t i = 0; i < p->count; i++) {
        const prt_term *t = &p->terms[i];
        common->coef = prt_gcd(common->coef, t->coef);
        uint32_t kept = 0, j = 0;
        for (uint32_t k = 0; k < common->degree; k++) {
            while (j < t->degree && t->factors[j] < common->factors[k])
                j++;
            if (j < t->degree && t->factors[j] == common->factors[k]) {
                common->factors[kept++] = common->factors[k];
                j++;
            }
        }
        common->degree = kept;
    }
}

bool prt_poly_replace(const prt_poly *p, uint32_t t, uint32_t f, const prt_poly *value, int64_t by,
    prt_poly *out)
{
    const prt_term *old = &p->terms[t];
    prt_poly rest = { .count = 1, .terms = { { .coef = old->coef } } }, part, others = *p;
    for (uint32_t i = 0; i < old->degree; i++)
        if (i != f)
            rest.terms[0].factors[rest.terms[0].degree++] = old->factors[i];
    others.count--;
    memmove(&others.terms[t], &others.terms[t + 1], (others.count - t) * sizeof(prt_term));
    return prt_poly_mul(&rest, value, &part) && prt_poly_add(&part, &others, by, out);
}

/* The recursion is bounded: folded sums and products are left-leaning chains of at most
 * PRT_POLY_TERMS and PRT_POLY_DEGREE links, and every other node is an atom. */
bool prt_poly_of(const prt_dims *dims, int64_t dim, prt_poly *out)
{
    out->count = 0;
    if (prt_dim_is_number(dim))
        return prt_poly_add_term(out, &(prt_term){ .coef = dim });
    const size_t index = prt_dim_index(dim);
    const prt_dim_node *node = prt_dims_at(dims, index);
    const bool inner =
        node->op == PRT_DIM_ADD || node->op == PRT_DIM_SUB || node->op == PRT_DIM_MUL;
    if (!inner || prt_dim_is_opaque(dims, index))
        return prt_poly_add_term(out,
            &(prt_term){ .coef = 1, .degree = 1, .factors = { (uint32_t)index } });
    prt_poly a, b;
    if (!prt_poly_of(dims, node->a, &a) || !prt_poly_of(dims, node->b, &b))
        return false;
    if (node->op == PRT_DIM_MUL)
        return prt_poly_mul(&a, &b, out);
    return prt_poly_add(&a, &b, node->op == PRT_DIM_ADD ? 1 : -1, out);
}

/* Returns coef * factors, as "2*(a*b)"; a number for a term without factors. */
static int64_t term_dim(prt_dims *dims, const prt_term *t, int64_t coef)
{
    if (!prt_dim_is_number(coef))
        return PRT_DIM_UNKNOWN;
    if (t->degree == 0)
        return coef;
    int64_t dim = prt_dim_of_index(t->factors[0]);
    for (uint32_t i = 1; i < t->degree && dim != PRT_DIM_UNKNOWN; i++)
        dim = prt_dim_intern(dims, PRT_DIM_MUL, dim, prt_dim_of_index(t->factors[i]), false);
    if (coef == 1 || dim == PRT_DIM_UNKNOWN)
        return dim;
    return prt_dim_intern(dims, PRT_DIM_MUL, coef, dim, false);
}

int64_t prt_poly_dim(prt_dims *dims, const prt_poly *p)
{
    int64_t dim = 0;
    bool empty = true;
    /* Positive terms come first, so that the sum does not begin with a subtraction. */
    for (int round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < p->count; i++) {
            const prt_term *t = &p->terms[i];
            if ((t->coef < 0) != (round == 1))
                continue;
            const int64_t part = term_dim(dims, t, empty || round == 0 ? t->coef : -t->coef);
            if (part == PRT_DIM_UNKNOWN || dim == PRT_DIM_UNKNOWN)
                return PRT_DIM_UNKNOWN;
            if (empty)
                dim = part;
            else
                dim =
                    prt_dim_intern(dims, round == 0 ? PRT_DIM_ADD : PRT_DIM_SUB, dim, part, false);
            empty = false;
        }
    }
    return dim;
}
