/* SPDX-License-Identifier: MIT */
/* downgrade_formula.c — newer element-wise operators, expressed by their formulas. */
#include "converter/downgrade.h"
#include "converter/conversions.h"
#include "ir/formula.h"

/* These build ops with the builder `b` of the hooks below. */
#define NUMBER(like, v) prt_down_scalar(&b, v, like)
#define UNARY(id, x) prt_build_unary(&b, PRT_OP_##id, x)
#define BINARY(id, x, y) prt_build_binary(&b, PRT_OP_##id, x, y)
#define CHOOSE(test, x, y) prt_build_op(&b, PRT_OP_where, NULL, 3, (prt_value *[]){ test, x, y })

/* x · (1 + erf(x / √2)) / 2, or its tanh approximation. */
poprt_status prt_down_gelu(prt_downgrade *d)
{
    prt_build b = prt_build_before(d->op);
    prt_value *x = prt_op_input(d->op, 0), *inner;
    if (prt_str_is(((const prt_gelu_attrs *)d->op->attrs)->approximate, "tanh")) {
        inner = BINARY(mul, BINARY(mul, x, x), x);
        inner = BINARY(add, x, BINARY(mul, inner, NUMBER(x, 0.044715)));
        inner = UNARY(tanh, BINARY(mul, inner, NUMBER(x, 0.79788456080286536)));
    } else {
        inner = UNARY(erf, BINARY(mul, x, NUMBER(x, 0.70710678118654752)));
    }
    inner = BINARY(add, inner, NUMBER(x, 1));
    return prt_down_replace(d, &b, BINARY(mul, BINARY(mul, x, NUMBER(x, 0.5)), inner));
}

poprt_status prt_down_mish(prt_downgrade *d)
{
    prt_build b = prt_build_before(d->op);
    prt_value *x = prt_op_input(d->op, 0);
    return prt_down_replace(d, &b, BINARY(mul, x, UNARY(tanh, UNARY(softplus, x))));
}

static prt_value *swish(prt_build *build, prt_value *x, float alpha)
{
    prt_build b = *build;
    prt_value *gate = alpha == 1.0f ? x : BINARY(mul, x, NUMBER(x, (double)alpha));
    prt_value *y = BINARY(mul, x, UNARY(sigmoid, gate));
    *build = b;
    return y;
}

poprt_status prt_down_swish(prt_downgrade *d)
{
    prt_build b = prt_build_before(d->op);
    return prt_down_replace(d, &b,
        swish(&b, prt_op_input(d->op, 0), ((const prt_swish_attrs *)d->op->attrs)->alpha));
}

poprt_status prt_down_swi_glu(prt_downgrade *d)
{
    prt_build b = prt_build_before(d->op);
    prt_value *gate =
        swish(&b, prt_op_input(d->op, 0), ((const prt_swi_glu_attrs *)d->op->attrs)->alpha);
    return prt_down_replace(d, &b, BINARY(mul, gate, prt_op_input(d->op, 1)));
}

poprt_status prt_down_hard_swish(prt_downgrade *d)
{
    prt_build b = prt_build_before(d->op);
    return prt_down_replace(d, &b, prt_build_hard_swish(&b, prt_op_input(d->op, 0)));
}

poprt_status prt_down_celu(prt_downgrade *d)
{
    prt_build b = prt_build_before(d->op);
    prt_value *x = prt_op_input(d->op, 0);
    const float alpha = ((const prt_celu_attrs *)d->op->attrs)->alpha;
    if (prt_down_dtype(x) == PRT_DTYPE_undefined)
        return prt_down_refuse(d, "its element type must be known");
    if (!(alpha > 0.0f))
        return prt_down_refuse(d, "alpha is %g and must be above 0", (double)alpha);
    return prt_down_replace(d, &b, prt_build_celu(&b, x, alpha));
}

poprt_status prt_down_or_equal(prt_downgrade *d)
{
    const bool greater = prt_op_is(d->op, PRT_OP_greater_or_equal);
    prt_build b = prt_build_before(d->op);
    return prt_down_replace(d, &b,
        prt_build_or_equal(&b, greater, prt_op_input(d->op, 0), prt_op_input(d->op, 1)));
}

poprt_status prt_down_thresholded_relu(prt_downgrade *d)
{
    prt_build b = prt_build_before(d->op);
    prt_value *x = prt_op_input(d->op, 0);
    if (!prt_down_supports(d, "Where", NULL))
        return prt_down_refuse(d,
            "it would become a Where, which does not exist at that opset either");
    const double alpha = (double)((const prt_thresholded_relu_attrs *)d->op->attrs)->alpha;
    prt_value *above = BINARY(greater, x, NUMBER(x, alpha));
    return prt_down_replace(d, &b, CHOOSE(above, x, NUMBER(x, 0)));
}

/* Returns a bool tensor as numbers. */
static prt_value *as_number(prt_build *b, prt_value *truth, const prt_value *like)
{
    return prt_down_cast(b, truth, prt_down_dtype(like));
}

/* For finite numbers: x > lambd adds x - bias, x < -lambd adds x + bias. */
poprt_status prt_down_shrink(prt_downgrade *d)
{
    const prt_shrink_attrs *a = d->op->attrs;
    prt_build b = prt_build_before(d->op);
    prt_value *x = prt_op_input(d->op, 0), *bias = NUMBER(x, (double)a->bias);
    prt_value *above = as_number(&b, BINARY(greater, x, NUMBER(x, (double)a->lambd)), x);
    prt_value *below = as_number(&b, BINARY(less, x, NUMBER(x, -(double)a->lambd)), x);
    above = BINARY(mul, BINARY(sub, x, bias), above);
    below = BINARY(mul, BINARY(add, x, bias), below);
    return prt_down_replace(d, &b, BINARY(add, above, below));
}

poprt_status prt_down_sign(prt_downgrade *d)
{
    prt_build b = prt_build_before(d->op);
    prt_value *x = prt_op_input(d->op, 0), *zero = NUMBER(x, 0);
    prt_value *above = as_number(&b, BINARY(greater, x, zero), x);
    return prt_down_replace(d, &b, BINARY(sub, above, as_number(&b, BINARY(less, x, zero), x)));
}

poprt_status prt_down_cast_like(prt_downgrade *d)
{
    const prt_cast_like_attrs *a = d->op->attrs;
    const int32_t to = prt_down_dtype(prt_op_input(d->op, 1));
    if (to == PRT_DTYPE_undefined)
        return prt_down_refuse(d, "the type of input 1 must be known");
    prt_build b = prt_build_before(d->op);
    return prt_down_replace(d, &b, prt_build_cast_like(&b, a, prt_op_input(d->op, 0), to));
}

/* Compares a uniform random number with the probability. */
poprt_status prt_down_bernoulli(prt_downgrade *d)
{
    const prt_bernoulli_attrs *a = d->op->attrs;
    prt_random_uniform_like_attrs draw =
        *(const prt_random_uniform_like_attrs *)prt_op_of(PRT_OP_random_uniform_like)->defaults;
    prt_value *x = prt_op_input(d->op, 0);
    const uint32_t seed = prt_op_attr(d->op->def, PRT_STR("seed"));
    if (prt_attr_given(a, seed)) {
        draw.seed = a->seed;
        draw.present |= (uint64_t)1
            << prt_op_attr(prt_op_of(PRT_OP_random_uniform_like), PRT_STR("seed"));
    }
    prt_build b = prt_build_before(d->op);
    prt_value *y = BINARY(less, prt_build_op(&b, PRT_OP_random_uniform_like, &draw, 1, &x), x);
    return prt_down_replace(d, &b, prt_down_cast(&b, y, prt_down_dtype(&d->op->out[0])));
}
