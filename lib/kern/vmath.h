/* SPDX-License-Identifier: MIT */
/*
 * vmath.h — exp, sigmoid, tanh and erf of a vector, branch-free. Polynomials are our own
 * weighted minimax fits. Bounds against the true value over all finite inputs, measured by
 * tests/kern/test_act.c.
 */
#ifndef PRT_KERN_VMATH_H
#define PRT_KERN_VMATH_H

#include "kern/simd.h"

/* x = n log 2 + r, exp(x) = 2^n exp(r). NaN stays NaN: min and max give their second operand. */
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

static inline vf v_sigmoid(vf x)
{
    const vf one = v_set(1.0f);
    return v_div(one, v_add(one, v_exp(v_sub(v_set(0.0f), x))));
}

/* Near 0 an odd polynomial, elsewhere 1 - 2 / (exp(2|x|) + 1). */
static inline vf v_tanh(vf x)
{
    const vf t = v_abs(x), s = v_mul(x, x), one = v_set(1.0f);
    vf p = v_set(-0.00564831635f);
    p = v_fma(p, s, v_set(0.0205898266f));
    p = v_fma(p, s, v_set(-0.0537251271f));
    p = v_fma(p, s, v_set(0.133312747f));
    p = v_fma(p, s, v_set(-0.333332747f));
    const vf near = v_fma(v_mul(p, s), x, x);
    const vf e = v_exp(v_add(t, t));
    const vf far = v_sub(one, v_div(v_set(2.0f), v_add(e, one)));
    return v_select(v_less(t, v_set(0.625f)), near, v_copysign(far, x));
}

/* Near 0 an odd polynomial, elsewhere 1 - exp(-t Q(t)). */
static inline vf v_erf(vf x)
{
    const vf t = v_min(v_set(3.95f), v_abs(x)), s = v_mul(x, x);
    vf p = v_set(-5.9658004e-4f);
    p = v_fma(p, s, v_set(0.00498830713f));
    p = v_fma(p, s, v_set(-0.0267633293f));
    p = v_fma(p, s, v_set(0.112817265f));
    p = v_fma(p, s, v_set(-0.376124859f));
    p = v_fma(p, s, v_set(0.128379151f));
    const vf near = v_fma(p, x, x);
    vf q = v_set(1.12312628e-5f);
    q = v_fma(q, t, v_set(-3.22803447e-4f));
    q = v_fma(q, t, v_set(0.00364245754f));
    q = v_fma(q, t, v_set(-0.0237620603f));
    q = v_fma(q, t, v_set(0.106236875f));
    q = v_fma(q, t, v_set(0.635151327f));
    q = v_fma(q, t, v_set(1.12864852f));
    const vf far = v_sub(v_set(1.0f), v_exp(v_mul(v_sub(v_set(0.0f), t), q)));
    return v_select(v_less(v_abs(x), v_set(0.92f)), near, v_copysign(far, x));
}

#endif
