/* SPDX-License-Identifier: MIT */
/*
 * dim_poly.h — dimensions as polynomials, for folding. Private to num/dim*.c.
 *
 * A polynomial's variables are atoms: symbols, and whatever has no place in a polynomial
 * (quotients, remainders, minima, maxima). Two equal polynomials are equal member for member, which
 * is what makes equal expressions equal integers. Size is bounded; what does not fit is not folded.
 */
#ifndef PRT_NUM_DIM_POLY_H
#define PRT_NUM_DIM_POLY_H

#include "num/dim.h"

enum { PRT_POLY_TERMS = 16, PRT_POLY_DEGREE = 8 };

typedef struct prt_term {
    int64_t coef; /* never 0 within a polynomial */
    uint32_t degree;
    uint32_t factors[PRT_POLY_DEGREE]; /* indices of atoms, ascending; repeated for powers */
} prt_term;

/* A sum; higher degree first, then by factors. No terms: zero. */
typedef struct prt_poly {
    uint32_t count;
    prt_term terms[PRT_POLY_TERMS];
} prt_poly;

/* All of these give false when a bound or 64 bits are exceeded; `out` is then rubbish. */
bool prt_poly_of(const prt_dims *dims, int64_t dim, prt_poly *out);
bool prt_poly_add_term(prt_poly *to, const prt_term *term);
bool prt_poly_mul(const prt_poly *a, const prt_poly *b, prt_poly *out);

/* a + scale * b */
bool prt_poly_add(const prt_poly *a, const prt_poly *b, int64_t scale, prt_poly *out);

/* The quotient where `by` divides `p` without remainder; false otherwise. */
bool prt_poly_divide(const prt_poly *p, const prt_poly *by, prt_poly *out);
bool prt_term_divide(const prt_term *t, const prt_term *by, prt_term *out);

/* Leaves in `common` what divides every term of `p` (its coefficient positive). */
void prt_poly_common(const prt_poly *p, prt_term *common);

/* Its expression; an opaque one comes back as itself. PRT_DIM_UNKNOWN without memory, or when a
 * coefficient is no plain number. */
int64_t prt_poly_dim(prt_dims *dims, const prt_poly *p);

/* p with factor `f` of term `t` replaced by value/by, all times `by`. */
bool prt_poly_replace(const prt_poly *p, uint32_t t, uint32_t f, const prt_poly *value, int64_t by,
    prt_poly *out);

/* From dim_sign.c: true when no choice of symbols makes it negative; false when nobody can tell. */
bool prt_poly_never_negative(const prt_dims *dims, const prt_poly *p);

int64_t prt_gcd(int64_t a, int64_t b);

/* From dim_ratio.c: a/b, with what both share divided out. */
int64_t prt_dim_fold_ratio(prt_dims *dims, int64_t a, int64_t b);

/* From dim.c: what was folded once is not folded again. After so many different operations as no
 * real model asks for, recall says that anything new is unknown: the time for all is bounded. */
bool prt_dims_recall(prt_dims *dims, prt_dim_op op, int64_t a, int64_t b, int64_t *result);
int64_t prt_dims_remember(prt_dims *dims, prt_dim_op op, int64_t a, int64_t b, int64_t result);

/* From dim.c: the node as written. An opaque sum or product is an atom to polynomials, because it
 * did not fit into one. */
int64_t prt_dim_intern(prt_dims *dims, prt_dim_op op, int64_t a, int64_t b, bool opaque);
bool prt_dim_is_opaque(const prt_dims *dims, size_t index);

#endif
