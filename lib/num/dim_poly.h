/* SPDX-License-Identifier: MIT */
/*
 * dim_poly.h — dimensions as polynomials, for folding. Private to num/dim*.c.
 *
 * The variables of a polynomial are atoms: symbols, and operations that a polynomial cannot express
 * (quotients, remainders, minima, maxima). Equal polynomials are equal member by member, which
 * makes equal expressions equal integers. The size is bounded; a larger polynomial is not folded.
 */
#ifndef PRT_NUM_DIM_POLY_H
#define PRT_NUM_DIM_POLY_H

#include "num/dim.h"

enum { PRT_POLY_TERMS = 16, PRT_POLY_DEGREE = 8 };

typedef struct prt_term {
    int64_t coef; /* never 0 within a polynomial */
    uint32_t degree;
    uint32_t factors[PRT_POLY_DEGREE]; /* indices of atoms, ascending; a power repeats its atom */
} prt_term;

/* A sum of terms, by descending degree, then by factors. Without terms it is zero. */
typedef struct prt_poly {
    uint32_t count;
    prt_term terms[PRT_POLY_TERMS];
} prt_poly;

/* These functions return false when a bound or 64 bits are exceeded; `out` is then undefined. */
bool prt_poly_of(const prt_dims *dims, int64_t dim, prt_poly *out);
bool prt_poly_add_term(prt_poly *to, const prt_term *term);
bool prt_poly_mul(const prt_poly *a, const prt_poly *b, prt_poly *out);

/* Returns a + scale * b. */
bool prt_poly_add(const prt_poly *a, const prt_poly *b, int64_t scale, prt_poly *out);

/* Divides `p` by `by`; returns false if a remainder is left. */
bool prt_poly_divide(const prt_poly *p, const prt_poly *by, prt_poly *out);
bool prt_term_divide(const prt_term *t, const prt_term *by, prt_term *out);

/* Sets `common` to the greatest term that divides every term of `p`; its coefficient is
 * positive. */
void prt_poly_common(const prt_poly *p, prt_term *common);

/* Returns the expression of a polynomial; an opaque expression is returned as itself.
 * PRT_DIM_UNKNOWN without memory, or when a coefficient is outside the range of numbers. */
int64_t prt_poly_dim(prt_dims *dims, const prt_poly *p);

/* Replaces factor `f` of term `t` in `p` by value/by, and multiplies the whole by `by`. */
bool prt_poly_replace(const prt_poly *p, uint32_t t, uint32_t f, const prt_poly *value, int64_t by,
    prt_poly *out);

/* dim_sign.c: returns true when no choice of symbols makes it negative; false when that is not
 * proved. */
bool prt_poly_never_negative(const prt_dims *dims, const prt_poly *p);

int64_t prt_gcd(int64_t a, int64_t b);

/* dim_ratio.c: returns a/b with common factors cancelled. */
int64_t prt_dim_fold_ratio(prt_dims *dims, int64_t a, int64_t b);

/* dim.c: the cache of folded operations. Once it holds the maximum of different operations, which
 * no real model reaches, recall returns true with PRT_DIM_UNKNOWN for any new one, so that the
 * total time is bounded. */
bool prt_dims_find_folded(prt_dims *dims, prt_dim_op op, int64_t a, int64_t b, int64_t *result);
int64_t prt_dims_add_folded(prt_dims *dims, prt_dim_op op, int64_t a, int64_t b, int64_t result);

/* dim.c: interns the node as written. An opaque sum or product exceeded the bounds of a polynomial,
 * so it is an atom. */
int64_t prt_dim_intern(prt_dims *dims, prt_dim_op op, int64_t a, int64_t b, bool opaque);
bool prt_dim_is_opaque(const prt_dims *dims, size_t index);

#endif
