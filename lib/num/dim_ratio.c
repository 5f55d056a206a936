/* SPDX-License-Identifier: MIT */
/*
 * dim_ratio.c — fractions as intermediate results of whole numbers: floor(ratio(s, 2) + 1) is
 * (s/2)+1.
 *
 * A ratio has a value only if the division leaves no remainder. An expression that contains a ratio
 * is correct but may have no value, so it is not used as a dimension.
 */
#include "num/dim_poly.h"

/* Cancels the common divisor of all coefficients and `b`, which is a number above zero. */
int64_t prt_dim_fold_ratio(prt_dims *dims, int64_t a, int64_t b)
{
    prt_poly p;
    if (!prt_dim_is_number(b) || b <= 0 || !prt_poly_of(dims, a, &p))
        return b == 0 ? PRT_DIM_UNKNOWN : prt_dim_intern(dims, PRT_DIM_RATIO, a, b, true);
    int64_t shared = b;
    for (uint32_t i = 0; i < p.count; i++)
        shared = prt_gcd(shared, p.terms[i].coef);
    for (uint32_t i = 0; i < p.count; i++)
        p.terms[i].coef /= shared;
    const int64_t over = prt_poly_dim(dims, &p);
    if (b == shared || over == PRT_DIM_UNKNOWN)
        return over;
    return prt_dim_intern(dims, PRT_DIM_RATIO, over, b / shared, true);
}

/* Rounds a sum after bringing all its ratios to one divisor. */
static int64_t round_whole(prt_dims *dims, prt_dim_op op, int64_t dim)
{
    prt_poly p, next, above;
    int64_t by = 1;
    if (!prt_dim_is_expr(dim) || !prt_poly_of(dims, dim, &p))
        return dim;
    for (uint32_t t = 0; t < p.count; t++)
        for (uint32_t f = 0; f < p.terms[t].degree; f++) {
            const prt_dim_node *n = prt_dims_at(dims, p.terms[t].factors[f]);
            if (n->op != PRT_DIM_RATIO || !prt_dim_is_number(n->b))
                continue;
            if (n->b <= 0 || !prt_poly_of(dims, n->a, &above) ||
                !prt_poly_replace(&p, t, f, &above, n->b, &next) || !prt_i64_mul(by, n->b, &by))
                return PRT_DIM_UNKNOWN;
            p = next;
            t = f = UINT32_MAX; /* restarts, because terms have moved */
            break;
        }
    return by == 1 ? dim : prt_dim_make(dims, op, prt_poly_dim(dims, &p), by);
}

int64_t prt_dim_floor(prt_dims *dims, int64_t dim)
{
    return round_whole(dims, PRT_DIM_FLOORDIV, dim);
}

int64_t prt_dim_ceil(prt_dims *dims, int64_t dim)
{
    return round_whole(dims, PRT_DIM_CEILDIV, dim);
}

bool prt_dim_has_ratio(const prt_dims *dims, int64_t dim)
{
    enum { STACK = 64, STEPS = 256 };
    int64_t stack[STACK] = { dim };
    uint32_t depth = 1;
    for (uint32_t step = 0; depth > 0; step++) {
        const int64_t d = stack[--depth];
        if (!prt_dim_is_expr(d))
            continue;
        const prt_dim_node *node = prt_dims_at(dims, prt_dim_index(d));
        if (node->op == PRT_DIM_RATIO || step == STEPS || depth + 2 > STACK)
            return true;
        if (node->op == PRT_DIM_SYMBOL)
            continue;
        stack[depth++] = node->a;
        stack[depth++] = node->b;
    }
    return false;
}
