/* SPDX-License-Identifier: MIT */
/*
 * vmath.h — exp, sigmoid, tanh, erf, log, sine, cosine, tangent and atan of a vector; branch-free
 * except for sines of large arguments. Polynomials are weighted minimax fits made for this library.
 * Error bounds over all finite inputs are measured by tests/kern/vector/test_act.c for activations,
 * and by tests/fast/elementwise/test_integer_logic.c for the others.
 */
#ifndef PRT_KERN_VECTOR_VMATH_H
#define PRT_KERN_VECTOR_VMATH_H

#include "kern/vector/simd.h"

/* x = n log 2 + r, exp(x) = 2^n exp(r). NaN is preserved: min and max return their second
 * operand. */
static inline vf v_exp(vf x)
{
    const vf y = v_max(v_set(-104.0f), v_min(v_set(89.0f), x)); /* beyond: 0 and infinity */
    const vf n = v_round(v_mul(y, v_set(1.44269504f)));
    vf r = v_fma(n, v_set(-0.693359375f), y);
    r = v_fma(n, v_set(2.12194440e-4f), r);
    vf p = v_set(0.00138146104f);
    p = v_fma(p, r, v_set(0.00836871099f));
    p = v_fma(p, r, v_set(0.0416683890f));
    p = v_fma(p, r, v_set(0.166665211f));
    p = v_fma(p, r, v_set(0.49999994f));
    p = v_fma(v_mul(p, r), r, r);
    return v_scale2(v_add(p, v_set(1.0f)), n);
}

#ifdef V_ROOTS
/* x = n (log 2)/parts + r, exp(x) = 2^(n/parts) exp(r); with negative parts: exp(-x). Returns r,
 * and *t = n + 3 * 2^22. */
static inline vf v_rest_of_root(vf x, float parts, vf *t)
{
    const vf magic = v_set(12582912.0f); /* its last place is 1 */
    *t = v_fma(x, v_set(parts * 1.44269504f), magic);
    return v_fma(v_sub(*t, magic), v_set(-0.69314718f / parts), x);
}

/* Returns exp(sign x), for normal results. r is so small that three terms suffice; for eighths, the
 * second coefficient includes most of the fourth term. */
static inline vf v_exp_normal(vf x, float sign)
{
    vf t;
    const vf r = v_rest_of_root(x, sign * V_ROOTS, &t), power = v_root(t);
    vf p = v_fma(v_set(sign * 0.16666667f), r, v_set(V_ROOTS < 16 ? 0.50006478f : 0.5f));
    p = v_fma(p, r, v_set(sign));
    return v_fma(v_mul(power, r), p, power);
}
#endif

/* Returns exp(x) for x <= 0, for sums of weights. Subnormal results are flushed to 0, since some
 * processors need a hundred times as long for products with them. */
static inline vf v_exp_weight(vf x)
{
    const vf least = v_set(-87.3365f); /* exp(least) is about the smallest normal number */
#ifdef V_ROOTS
    const vf y = v_exp_normal(v_max(least, x), 1.0f);
#else
    const vf y = v_exp(v_max(least, x));
#endif
    return v_select(v_less(x, least), v_set(0.0f), y);
}

enum { V_LEAST = -88 }; /* exp(-x) of smaller x exceeds float32 */

/* Returns 1 + exp(-x), finite: x is clamped to V_LEAST. */
static inline vf v_one_and_exp_minus(vf x)
{
    const vf one = v_set(1.0f);
#ifdef V_ROOTS
    const vf y = v_min(v_set(87.0f), v_max(v_set((float)V_LEAST), x));
    return v_add(one, v_exp_normal(y, -1.0f));
#else
    /* Like v_exp with negated signs; the error in the last place does not affect the sum. */
    const vf y = v_min(v_set(104.0f), v_max(v_set((float)V_LEAST), x));
    const vf n = v_round(v_mul(y, v_set(-1.44269504f)));
    vf r = v_fma(n, v_set(0.693359375f), y);
    r = v_fma(n, v_set(-2.12194440e-4f), r);
    vf p = v_set(0.00138146104f);
    p = v_fma(p, r, v_set(-0.00836871099f));
    p = v_fma(p, r, v_set(0.0416683890f));
    p = v_fma(p, r, v_set(-0.166665211f));
    p = v_fma(p, r, v_set(0.49999994f));
    p = v_fma(p, r, v_set(-1.0f));
    return v_add(one, v_scale2(v_fma(p, r, one), n));
#endif
}

static inline vf v_sigmoid(vf x)
{
    return v_div(v_set(1.0f), v_one_and_exp_minus(x));
}

/* The functions from here on are for activations of feed-forward layers. Cells of recurrent
 * operators, where errors accumulate, use divisions. */

/* Returns x / y for a normal y, within 1.5 units of the last place. */
static inline vf v_quotient(vf x, vf y)
{
#ifdef V_RECIPROCAL
    const vf r = v_reciprocal(y);
    return v_mul(x, v_fma(v_fnma(y, r, v_set(1.0f)), r, r));
#else
    return v_div(x, y);
#endif
}

/* Returns x sigmoid(y), where |x| is at most 100 if y is below V_LEAST. With 32nds two terms
 * suffice. */
static inline vf v_sigmoid_of(vf x, vf y)
{
#ifdef V_THIRTYSECONDS
    vf t;
    const vf z = v_min(v_set(87.0f), v_max(v_set((float)V_LEAST), y));
    const vf r = v_rest_of_root(z, -32.0f, &t), power = v_thirtyseconds(t);
    const vf p = v_fma(v_set(0.5f), r, v_set(-1.00001466f));
    return v_quotient(x, v_add(v_set(1.0f), v_fma(v_mul(power, r), p, power)));
#else
    return v_quotient(x, v_one_and_exp_minus(y));
#endif
}

/* x Phi(x), Phi(x) = 1/2 + x P(x^2) / Q(x^2) up to 5.6; beyond that Phi is 0 or 1. */
static inline vf v_gelu(vf x)
{
    const vf above = v_max(v_set(-5.6f), x), t = v_min(v_set(5.6f), above), s = v_mul(t, t);
    vf p = v_set(2.21453398e-8f), q = v_set(1.18021228e-6f);
    p = v_fma(p, s, v_set(6.35652441e-6f));
    q = v_fma(q, s, v_set(7.51017069e-5f));
    p = v_fma(p, s, v_set(1.73850101e-4f));
    q = v_fma(q, s, v_set(0.00191297464f));
    p = v_fma(p, s, v_set(0.0047072554f));
    q = v_fma(q, s, v_set(0.0289400537f));
    p = v_fma(p, s, v_set(0.0343760476f));
    q = v_fma(q, s, v_set(0.252833694f));
    p = v_fma(p, s, v_set(0.398942232f));
    q = v_fma(q, s, v_set(1.0f));
    return v_mul(above, v_add(v_set(0.5f), v_quotient(v_mul(t, p), q)));
}

/* x P(x^2) / Q(x^2) up to 8.84; beyond that tanh is 1. */
static inline vf v_tanh(vf x)
{
    const vf t = v_min(v_set(8.84f), v_max(v_set(-8.84f), x)), s = v_mul(t, t), one = v_set(1.0f);
    vf p = v_set(1.36421345e-8f), q = v_set(7.89345e-7f);
    p = v_fma(p, s, v_set(2.0814143e-5f));
    q = v_fma(q, s, v_set(3.305939e-4f));
    p = v_fma(p, s, v_set(0.0035079746f));
    q = v_fma(q, s, v_set(0.025924046f));
    p = v_fma(p, s, v_set(0.13391437f));
    q = v_fma(q, s, v_set(0.46724755f));
    p = v_fma(p, s, one);
    q = v_fma(q, s, one);
    return v_min(one, v_max(v_set(-1.0f), v_div(v_mul(t, p), q)));
}

/* An odd polynomial near 0, otherwise 1 - exp(-t Q(t)). */
static inline vf v_erf(vf x)
{
    const vf t = v_min(v_set(3.95f), v_abs(x)), s = v_mul(x, x);
    vf p = v_set(-5.9658004e-4f);
    p = v_fma(p, s, v_set(0.00498830713f));
    p = v_fma(p, s, v_set(-0.0267633293f));
    p = v_fma(p, s, v_set(0.112817265f));
    p = v_fma(p, s, v_set(-0.376124859f));
    p = v_fma(p, s, v_set(0.128379151f));
    const vf small = v_fma(p, x, x);
    vf q = v_set(1.12312628e-5f);
    q = v_fma(q, t, v_set(-3.22803447e-4f));
    q = v_fma(q, t, v_set(0.00364245754f));
    q = v_fma(q, t, v_set(-0.0237620603f));
    q = v_fma(q, t, v_set(0.106236875f));
    q = v_fma(q, t, v_set(0.635151327f));
    q = v_fma(q, t, v_set(1.12864852f));
    const vf large = v_sub(v_set(1.0f), v_exp(v_mul(v_sub(v_set(0.0f), t), q)));
    return v_select(v_less(v_abs(x), v_set(0.92f)), small, v_copysign(large, x));
}

/* x = 2^n (1 + f), log(x) = n log 2 + f - f^2 / 2 + f^3 P(f). */
static inline vf v_log(vf x)
{
    const vf zero = v_set(0.0f), infinity = v_set(INFINITY);
    vf n;
    const vf f = v_sub(v_split(x, &n), v_set(1.0f)), s = v_mul(f, f);
    vf p = v_set(-0.0450747833f);
    p = v_fma(p, f, v_set(0.10463021f));
    p = v_fma(p, f, v_set(-0.131611943f));
    p = v_fma(p, f, v_set(0.144783959f));
    p = v_fma(p, f, v_set(-0.16647312f));
    p = v_fma(p, f, v_set(0.199908614f));
    p = v_fma(p, f, v_set(-0.250000954f));
    p = v_fma(p, f, v_set(0.333334506f));
    vf y = v_fma(v_mul(p, f), s, v_mul(v_set(-0.5f), s));
    y = v_add(f, v_fma(n, v_set(-2.12194440e-4f), y));
    y = v_fma(n, v_set(0.693359375f), y);
    y = v_select(v_less(x, infinity), y, x); /* NaN as well */
    y = v_select(v_equal(x, zero), v_neg(infinity), y);
    return v_select(v_less(x, zero), v_set(NAN), y);
}

/* x = q pi/2 + r. Returns r without q times the last 7.55e-8 of pi/2. The parts of pi/2 are so
 * short that q times each is exact. */
static inline vf v_reduce_by_half_pi(vf x, vf *q)
{
    *q = v_round(v_mul(x, v_set(0.636619772f)));
    const vf r = v_fma(*q, v_set(-1.5703125f), x);
    return v_fma(*q, v_set(-4.837512969970703125e-4f), r);
}

/* Returns the sine of r, which is at most pi/4 from 0, and its cosine. */
static inline vf v_sine_cosine(vf r, vf *cosine)
{
    const vf s = v_mul(r, r);
    vf sine = v_fma(v_set(-1.95152825e-4f), s, v_set(0.0083321603f));
    sine = v_fma(sine, s, v_set(-0.166666552f));
    vf c = v_fma(v_set(2.44331568e-5f), s, v_set(-0.00138873165f));
    c = v_fma(c, s, v_set(0.0416666456f));
    *cosine = v_fma(v_mul(c, s), s, v_fma(v_set(-0.5f), s, v_set(1.0f)));
    return v_fma(v_mul(sine, s), r, r);
}

static inline vf v_sine_quarter(vf x, float ahead)
{
    vf q, cosine;
    vf r = v_reduce_by_half_pi(x, &q);
    r = v_fma(q, v_set(-7.54978995489188216e-8f), r);
    const vf sine = v_sine_cosine(r, &cosine);
    /* The quadrant: 0, 1, 2 or -2, -1. */
    const vf at = v_add(q, v_set(ahead));
    const vf quarter = v_fma(v_round(v_mul(at, v_set(0.25f))), v_set(-4.0f), at);
    const vf y = v_select(v_equal(v_abs(quarter), v_set(1.0f)), cosine, sine);
    const vf sign = v_select(v_equal(quarter, v_set(2.0f)), v_set(-1.0f), quarter);
    return v_select(v_less(sign, v_set(0.0f)), v_neg(y), y);
}

/* Returns the sine of x + ahead pi/2, ahead 0 or 1. Large arguments are computed one by one. */
static inline vf v_sine(vf x, float ahead)
{
    float lane[VL];
    if (!(v_largest(v_abs(x)) > 8192.0f)) {
        const vf y = v_sine_quarter(x, ahead);
        return ahead == 0.0f ? v_select(v_equal(x, v_set(0.0f)), x, y) : y;
    }
    v_store(lane, x);
    for (size_t i = 0; i < VL; i++)
        lane[i] = (float)(ahead == 0.0f ? sin((double)lane[i]) : cos((double)lane[i]));
    return v_load(lane);
}

/* Returns the tangent. The rest of pi/2 has two parts, the first of which is exact times q: so the
 * relative error stays small near zeros and poles. Large arguments are computed one by one. */
static inline vf v_tangent(vf x)
{
    float lane[VL];
    if (!(v_largest(v_abs(x)) > 8192.0f)) {
        vf q, cosine;
        vf r = v_reduce_by_half_pi(x, &q);
        r = v_fma(q, v_set(-7.549533620476723e-08f), r);
        r = v_fma(q, v_set(-2.56334407e-12f), r);
        const vf sine = v_sine_cosine(r, &cosine);
        const vm odd =
            v_less(v_set(0.0f), v_abs(v_fma(v_round(v_mul(q, v_set(0.5f))), v_set(-2.0f), q)));
        const vf y = v_div(v_select(odd, v_neg(cosine), sine), v_select(odd, sine, cosine));
        return v_select(v_equal(x, v_set(0.0f)), x, y);
    }
    v_store(lane, x);
    for (size_t i = 0; i < VL; i++)
        lane[i] = (float)tan((double)lane[i]);
    return v_load(lane);
}

/* Above 1 by the arc tangent of the reciprocal. */
static inline vf v_atan(vf x)
{
    const vf size = v_abs(x), one = v_set(1.0f);
    const vm large = v_less(one, size);
    const vf r = v_div(v_select(large, v_set(-1.0f), size), v_select(large, size, one));
    const vf s = v_mul(r, r);
    vf p = v_fma(v_set(0.00292066974f), s, v_set(-0.0163678434f));
    p = v_fma(p, s, v_set(0.0432117321f));
    p = v_fma(p, s, v_set(-0.0755220428f));
    p = v_fma(p, s, v_set(0.106660001f));
    p = v_fma(p, s, v_set(-0.142110541f));
    p = v_fma(p, s, v_set(0.199937731f));
    p = v_fma(p, s, v_set(-0.333331525f));
    p = v_fma(v_mul(p, s), r, r);
    return v_copysign(v_add(v_select(large, v_set(1.57079633f), v_set(0.0f)), p), x);
}

#endif
