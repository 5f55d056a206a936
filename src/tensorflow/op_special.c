/* SPDX-License-Identifier: MIT */
/*
 * op_special.c — special functions by polynomials, in float32 or float64. The errors of the
 * polynomials are below 1e-6.
 */
#include <float.h>
#include <math.h>

#include "num/dtype.h"
#include "tensorflow/formulas.h"
#include "tensorflow/special.h"

#define NUMBER(value) prt_build_number(&n->b, x, value)

static const double PI = 3.14159265358979323846;

/* Returns input 0; numbers of 16 bits become float32. */
static prt_value *wide_input(prt_tf_call *n)
{
    prt_value *x = prt_tf_in(n, 0);
    return prt_dtype_bits(prt_tf_dtype(x)) < 32 ? prt_build_cast(&n->b, x, PRT_DTYPE_f32) : x;
}

/* Ends a function with a value of the type of input 0. */
static poprt_status end(prt_tf_call *n, prt_value *y)
{
    return prt_tf_end_with(n, prt_build_cast_as(&n->b, y, prt_tf_in(n, 0)));
}

/* Returns a polynomial of x, by Horner's rule. The highest coefficient comes first. */
static prt_value *polynomial(prt_tf_call *n, prt_value *x, uint32_t count, const double *c)
{
    prt_value *y = NUMBER(c[0]);
    for (uint32_t i = 1; i < count; i++)
        y = BINARY(add, BINARY(mul, y, x), NUMBER(c[i]));
    return y;
}

/* ---- the inverse of the error function */

/* M. Giles, Approximating the erfinv function, 2010: the quotient of the function and x, by the
 * distance of w = -log(1 - x²) from 2.5, where w < 5. */
static prt_value *erfinv_middle(prt_tf_call *n, prt_value *x)
{
    static const double c[] = { 2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06,
        0.00021858087, -0.00125372503, -0.00417768164, 0.246640727, 1.50140941 };
    return polynomial(n, x, PRT_COUNT_OF(c), c);
}

prt_value *prt_tf_erfinv(prt_tf_call *n, prt_value *x)
{
    static const double tails[] = { -0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844,
        0.00573950773, -0.0076224613, 0.00943887047, 1.00167406, 2.83297682 };
    prt_value *one = NUMBER(1);
    prt_value *rest = BINARY(mul, BINARY(sub, one, x), BINARY(add, one, x));
    prt_value *w = UNARY(neg, UNARY(log, rest));
    prt_value *root = UNARY(sqrt, BINARY(max, w, NUMBER(5)));
    prt_value *p = WHERE(BINARY(less, w, NUMBER(5)), erfinv_middle(n, BINARY(sub, w, NUMBER(2.5))),
        polynomial(n, BINARY(sub, root, NUMBER(3)), PRT_COUNT_OF(tails), tails));
    p = WHERE(BINARY(equal, rest, NUMBER(0)), NUMBER((double)INFINITY), p);
    return BINARY(mul, p, x);
}

poprt_status prt_tf_row_erfinv(prt_tf_call *n)
{
    return end(n, prt_tf_erfinv(n, wide_input(n)));
}

/* The quantile of the normal distribution: √2 erfinv(2x - 1), in the tails P. J. Acklam, An
 * algorithm for computing the inverse normal cumulative distribution function, 2003. */
poprt_status prt_tf_row_ndtri(prt_tf_call *n)
{
    static const double c[] = { -7.784894002430293e-03, -3.223964580411365e-01,
        -2.400758277161838e+00, -2.549732539343734e+00, 4.374664141464968e+00,
        2.938163982698783e+00 };
    static const double d[] = { 7.784695709041462e-03, 3.224671290700398e-01, 2.445134137142996e+00,
        3.754408661907416e+00, 1 };
    prt_value *x = wide_input(n), *from_half = BINARY(sub, x, NUMBER(0.5));
    prt_value *rest = BINARY(min, x, BINARY(sub, NUMBER(1), x));
    prt_value *q = UNARY(sqrt, BINARY(mul, UNARY(log, rest), NUMBER(-2)));
    prt_value *tail =
        BINARY(div, polynomial(n, q, PRT_COUNT_OF(c), c), polynomial(n, q, PRT_COUNT_OF(d), d));
    tail = WHERE(BINARY(equal, rest, NUMBER(0)), NUMBER(-(double)INFINITY), tail);
    tail = WHERE(BINARY(less, from_half, NUMBER(0)), tail, UNARY(neg, tail));
    prt_value *w = BINARY(mul, BINARY(mul, x, NUMBER(4)), BINARY(sub, NUMBER(1), x));
    w = BINARY(sub, UNARY(neg, UNARY(log, w)), NUMBER(2.5));
    prt_value *middle = BINARY(mul, erfinv_middle(n, w), from_half);
    middle = BINARY(mul, middle, NUMBER(2.82842712474619010));
    return end(n, WHERE(BINARY(greater, rest, NUMBER(0.02425)), middle, tail));
}

/* ---- the gamma function */

/* The terms of Lanczos' approximation with g = 7, at z = x - 1 for x >= 0.5, else at z = -x. */
typedef struct lanczos {
    prt_value *z, *t;       /* t = z + 7.5 */
    prt_value *sum, *slope; /* the series and its derivative */
    prt_value *reflects;    /* where x < 0.5 */
} lanczos;

static lanczos lanczos_of(prt_tf_call *n, prt_value *x)
{
    static const double c[] = { 676.5203681218851, -1259.1392167224028, 771.32342877765313,
        -176.61502916214059, 12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6,
        1.5056327351493116e-7 };
    lanczos l = { .reflects = BINARY(less, x, NUMBER(0.5)) };
    l.z = WHERE(l.reflects, UNARY(neg, x), BINARY(sub, x, NUMBER(1)));
    l.t = BINARY(add, l.z, NUMBER(7.5));
    l.sum = NUMBER(0.99999999999980993);
    l.slope = NUMBER(0);
    for (uint32_t i = 0; i < PRT_COUNT_OF(c); i++) {
        prt_value *below = BINARY(add, l.z, NUMBER(i + 1.0));
        prt_value *part = BINARY(div, NUMBER(c[i]), below);
        l.sum = BINARY(add, l.sum, part);
        l.slope = BINARY(sub, l.slope, BINARY(div, part, below));
    }
    return l;
}

/* Returns π times the distance of x from the nearest integer. */
static prt_value *angle(prt_tf_call *n, prt_value *x)
{
    return BINARY(mul, BINARY(sub, x, UNARY(round, x)), NUMBER(PI));
}

/* Returns log Γ(z + 1) = log √(2π) + (z + 1/2) (log t - 1) - 7 + log sum. */
static prt_value *log_gamma(prt_tf_call *n, prt_value *x, const lanczos *l)
{
    prt_value *y =
        BINARY(mul, BINARY(add, l->z, NUMBER(0.5)), BINARY(sub, UNARY(log, l->t), NUMBER(1)));
    return BINARY(add, y, BINARY(add, UNARY(log, l->sum), NUMBER(0.91893853320467274 - 7)));
}

/* log Γ(x) = log π - log |sin πx| - log Γ(1 - x) */
poprt_status prt_tf_row_lgamma(prt_tf_call *n)
{
    prt_value *x = wide_input(n);
    const lanczos l = lanczos_of(n, x);
    prt_value *y = log_gamma(n, x, &l);
    prt_value *sine = UNARY(abs, UNARY(sin, angle(n, x)));
    prt_value *other = BINARY(sub, BINARY(sub, NUMBER(log(PI)), UNARY(log, sine)), y);
    return end(n, WHERE(l.reflects, other, y));
}

/* The regularised incomplete gamma functions: the sum of exp(-x) x^(a+k) / Γ(a+k+1) over k, as a
 * last axis, or 1 minus the sum for Igammac. It is the share of a Poisson distribution of mean x at
 * a and above, so that it is 1 where a is many deviations √x below x, and elsewhere all terms that
 * count are within a few deviations. */
poprt_status prt_tf_row_igamma(prt_tf_call *n)
{
    static const int64_t last = -1;
    prt_value *a = prt_build_cast(&n->b, prt_tf_in(n, 0), PRT_DTYPE_f64);
    prt_value *x = prt_build_cast(&n->b, prt_tf_in(n, 1), PRT_DTYPE_f64), *zero = NUMBER(0);
    prt_value *below = BINARY(sub, x, a), *deviation = UNARY(sqrt, x);
    prt_value *far = BINARY(add, BINARY(mul, deviation, NUMBER(8)), NUMBER(30));
    prt_value *inside = BINARY(and,
        BINARY(and, BINARY(less_or_equal, below, far), BINARY(greater_or_equal, x, zero)),
        BINARY(greater_or_equal, a, zero));
    prt_value *count = BINARY(add, BINARY(max, below, zero),
        BINARY(add, BINARY(mul, deviation, NUMBER(8)), NUMBER(40)));
    count = prt_build_reduce(&n->b, PRT_OP_reduce_max, WHERE(inside, count, zero), NULL, false);
    prt_value *wide_x = prt_build_unsqueeze(&n->b, WHERE(inside, x, NUMBER(1)), 1, &last);
    prt_value *k = BINARY(add, prt_build_unsqueeze(&n->b, a, 1, &last),
        prt_build_range(&n->b, zero, count, NUMBER(1)));
    const lanczos l = lanczos_of(n, BINARY(add, k, NUMBER(1)));
    prt_value *terms = BINARY(sub, BINARY(mul, k, UNARY(log, wide_x)), wide_x);
    terms = UNARY(exp, BINARY(sub, terms, log_gamma(n, x, &l)));
    prt_value *y = prt_build_reduce_axis(&n->b, PRT_OP_reduce_sum, terms, -1, false);
    y = WHERE(inside, y, WHERE(BINARY(greater, below, far), NUMBER(1), NUMBER((double)NAN)));
    return end(n, n->node->row->id == PRT_OP_sub ? BINARY(sub, NUMBER(1), y) : y);
}

/* ψ(z + 1) = log t - 7 / t + slope / sum; ψ(x) = ψ(1 - x) - π / tan πx. */
poprt_status prt_tf_row_digamma(prt_tf_call *n)
{
    prt_value *x = wide_input(n);
    const lanczos l = lanczos_of(n, x);
    prt_value *y = BINARY(sub, UNARY(log, l.t), BINARY(div, NUMBER(7), l.t));
    y = BINARY(add, y, BINARY(div, l.slope, l.sum));
    prt_value *other = BINARY(sub, y, BINARY(div, NUMBER(PI), UNARY(tan, angle(n, x))));
    return end(n, WHERE(l.reflects, other, y));
}

/* ---- Bessel functions */

enum { INNER = 7, OUTER = 9 };

/* M. Abramowitz, I. A. Stegun, Handbook of Mathematical Functions, 9.8.1 to 9.8.4: exp(-|x|) times
 * a polynomial of (x/3.75)² near zero, 1/√|x| times one of 3.75/|x| elsewhere. */
static prt_value *bessel(prt_tf_call *n, prt_value *x, const double small[INNER],
    const double large[OUTER])
{
    prt_value *limit = NUMBER(3.75), *size = UNARY(abs, x);
    prt_value *t = BINARY(div, BINARY(min, size, limit), limit);
    prt_value *inner = polynomial(n, BINARY(mul, t, t), INNER, small);
    inner = BINARY(mul, inner, UNARY(exp, UNARY(neg, size)));
    prt_value *above = BINARY(max, size, limit);
    prt_value *outer = polynomial(n, BINARY(div, limit, above), OUTER, large);
    outer = BINARY(div, outer, UNARY(sqrt, above));
    return WHERE(BINARY(less, size, limit), inner, outer);
}

poprt_status prt_tf_row_bessel_i0e(prt_tf_call *n)
{
    static const double small[INNER] = { 0.0045813, 0.0360768, 0.2659732, 1.2067492, 3.0899424,
        3.5156229, 1 };
    static const double large[OUTER] = { 0.00392377, -0.01647633, 0.02635537, -0.02057706,
        0.00916281, -0.00157565, 0.00225319, 0.01328592, 0.39894228 };
    return end(n, bessel(n, wide_input(n), small, large));
}

/* The polynomial near zero is that of I1(x) / x; the function is odd. */
poprt_status prt_tf_row_bessel_i1e(prt_tf_call *n)
{
    static const double small[INNER] = { 0.00032411, 0.00301532, 0.02658733, 0.15084934, 0.51498869,
        0.87890594, 0.5 };
    static const double large[OUTER] = { -0.00420059, 0.01787654, -0.02895312, 0.02282967,
        -0.01031555, 0.00163801, -0.00362018, -0.03988024, 0.39894228 };
    prt_value *x = wide_input(n), *y = bessel(n, x, small, large), *limit = NUMBER(3.75);
    y = WHERE(BINARY(less, UNARY(abs, x), limit), BINARY(mul, y, x),
        BINARY(mul, y, UNARY(sign, x)));
    return end(n, y);
}

/* ---- neighbours */

/* The number next to x in the direction of y. The step is more than half and less than one and a
 * half of the distance to the neighbour, so that the sum is rounded to it. Below 2^-100 the step
 * itself is rounded, and the result may be x. */
poprt_status prt_tf_row_next_after(prt_tf_call *n)
{
    prt_value *x = prt_tf_in(n, 0), *y = prt_tf_in(n, 1), *zero = NUMBER(0);
    const bool wide = prt_tf_dtype(x) == PRT_DTYPE_f64;
    if (!wide && prt_tf_dtype(x) != PRT_DTYPE_f32)
        return prt_tf_refuse(n, "the element type must be float32 or float64");
    const double half = wide ? 0x1.0000001p-53 : 0x1.00001p-24, least = wide ? 0x1p-1074 : 0x1p-149;
    const double most = wide ? DBL_MAX : (double)FLT_MAX;
    prt_value *size = UNARY(abs, x);
    prt_value *step = BINARY(max, BINARY(mul, size, NUMBER(half)), NUMBER(least));
    prt_value *finite = BINARY(min, size, NUMBER(most));
    step = WHERE(BINARY(greater, size, finite), zero, step);
    finite = WHERE(BINARY(less, x, zero), UNARY(neg, finite), finite);
    prt_value *up = BINARY(add, finite, step), *down = BINARY(sub, finite, step);
    prt_value *z = WHERE(BINARY(greater, y, x), up, WHERE(BINARY(less, y, x), down, y));
    prt_value *odd = BINARY(or, UNARY(isnan, x), UNARY(isnan, y));
    return prt_tf_end_with(n, WHERE(odd, BINARY(add, x, y), z));
}
