/* SPDX-License-Identifier: MIT */
/*
 * consecutive_arithmetic.c — fuse_consecutive_arithmetic: merges two consecutive sums or
 * differences with constants, and two consecutive products or quotients with constants:
 *
 *     (x + a) + b = x + (a + b)    b - (x - a) = (a + b) - x    … with Sub on either side
 *     (x * a) * b = x * (a * b)    b / (x / a) = (a * b) / x    … with Div on either side
 *
 * Requires that only the second operator reads the first result. The joined constant must not take
 * more bytes than both, and must be finite (in products also neither zero nor subnormal). Integers
 * are joined only in sums, differences and products whose constants are too small to overflow.
 *
 * Not in the reference: float results differ by a few units in the last place of the larger term,
 * or of the product.
 */
#include <math.h>

#include "pass/engine/match.h"

typedef struct term {
    prt_value *x, *constant;
    bool product;  /* Mul or Div; otherwise Add or Sub */
    bool minus;    /* x - c, x / c */
    bool reversed; /* c - x, c / x */
} term;

static bool read_term(const prt_op *op, term *t)
{
    const bool product = prt_op_is(op, PRT_OP_mul) || prt_op_is(op, PRT_OP_div);
    const bool inverse = prt_op_is(op, PRT_OP_sub) || prt_op_is(op, PRT_OP_div);
    prt_tensor c;
    if (!product && !inverse && !prt_op_is(op, PRT_OP_add))
        return false;
    for (uint32_t slot = 0; slot < 2; slot++) {
        if (!prt_match_constant(op, slot, &c))
            continue;
        *t = (term){ prt_op_input(op, 1 - slot), prt_op_input(op, slot), product,
            inverse && slot == 1, inverse && slot == 0 };
        return true;
    }
    return false;
}

/* ---- which constants may be joined */

static double smallest_normal(int32_t dtype)
{
    return dtype == PRT_DTYPE_f16 ? 0x1p-14 : dtype == PRT_DTYPE_f64 ? 0x1p-1022 : 0x1p-126;
}

static bool is_normal(const prt_value *v)
{
    prt_tensor t;
    if (v == NULL || !prt_value_tensor(v, &t))
        return false;
    for (size_t i = 0; i < prt_tensor_count(&t); i++)
        if (fabs(prt_load_f64(t.dtype, t.data, i)) < smallest_normal(t.dtype))
            return false;
    return true;
}

/* Returns whether all integers are so small that the sum or product of two such numbers does not
 * overflow. */
static bool is_small(const prt_value *v, bool product)
{
    prt_tensor t;
    if (!prt_value_tensor(v, &t))
        return false;
    const uint32_t bits = prt_dtype_bits(t.dtype);
    const double limit = ldexp(1.0, (int)(product ? bits / 2 - 1 : bits - 2));
    for (size_t i = 0; i < prt_tensor_count(&t); i++)
        if (fabs(prt_load_f64(t.dtype, t.data, i)) >= limit)
            return false;
    return true;
}

static bool may_join(const prt_op *root, const prt_op *first, const term *one, const term *two)
{
    const int32_t dtype = one->constant->type->dtype;
    if (prt_dtype_is_float(dtype))
        return dtype == PRT_DTYPE_f16 || dtype == PRT_DTYPE_bf16 || dtype == PRT_DTYPE_f32 ||
            dtype == PRT_DTYPE_f64;
    return prt_dtype_of(dtype)->kind == PRT_KIND_int && !prt_op_is(root, PRT_OP_div) &&
        !prt_op_is(first, PRT_OP_div) && is_small(one->constant, one->product) &&
        is_small(two->constant, one->product);
}

/* ---- the merged operator */

typedef struct joined {
    uint32_t join; /* operator between the constants */
    bool swapped;  /* the second constant is the first operand */
    bool minus, reversed;
} joined;

/* Written for sums; products are analogous. With first = s x + k a, for signs s and k, the result
 * is first + b, first - b or b - first. */
static joined join_terms(const term *one, const term *two)
{
    const uint32_t plus = one->product ? PRT_OP_mul : PRT_OP_add;
    const uint32_t minus = one->product ? PRT_OP_div : PRT_OP_sub;
    const bool negative_a = one->minus;                     /* x - a */
    const bool negative_x = one->reversed != two->reversed; /* sign of x in the result */
    joined j = { .join = plus, .reversed = negative_x };
    if (negative_a && !two->reversed) { /* x - a + b = x + (b - a); x - a - b = x - (a + b) */
        j.join = two->minus ? plus : minus;
        j.swapped = !two->minus;
        j.minus = two->minus;
    } else if (!negative_a && two->reversed) { /* b - (x + a) = (b - a) - x; b - (a - x) = x + … */
        j.join = minus;
        j.swapped = true;
    } else if (!negative_a && two->minus) { /* x + a - b, a - x - b: a - b */
        j.join = minus;
    }
    return j;
}

static bool apply(prt_pass *p, prt_build *b, prt_op *root)
{
    static const uint32_t ids[] = { PRT_OP_add, PRT_OP_sub, PRT_OP_mul, PRT_OP_div };
    term one, two;
    prt_op *first = NULL;
    if (!read_term(root, &two))
        return false;
    for (size_t i = 0; i < PRT_COUNT_OF(ids) && first == NULL; i++)
        first = prt_match_interior(root, two.x == prt_op_input(root, 0) ? 0 : 1, ids[i]);
    if (first == NULL || !read_term(first, &one) || one.product != two.product ||
        !may_join(root, first, &one, &two))
        return false;
    const joined j = join_terms(&one, &two);
    prt_value *in[2] = { j.swapped ? two.constant : one.constant,
        j.swapped ? one.constant : two.constant };
    prt_value *c = prt_match_compute(p, b, two.constant, j.join, NULL, 2, in);
    if (c == NULL)
        return b->status != POPRT_OK;
    if (one.product && prt_dtype_is_float(c->type->dtype) && !is_normal(c)) {
        c->name = PRT_STR(""); /* not used */
        return false;
    }
    const uint32_t plus = one.product ? PRT_OP_mul : PRT_OP_add;
    const uint32_t minus = one.product ? PRT_OP_div : PRT_OP_sub;
    prt_value *operands[2] = { j.reversed ? c : one.x, j.reversed ? one.x : c };
    return prt_match_replace_named(b, root, j.minus || j.reversed ? minus : plus, NULL, 2,
        operands);
}

static const prt_rewrite rewrites[] = { { PRT_OP_add, apply }, { PRT_OP_sub, apply },
    { PRT_OP_mul, apply }, { PRT_OP_div, apply } };

const prt_pass_hooks prt_pass_fuse_consecutive_arithmetic = {
    .rewrites = rewrites,
    .n_rewrites = PRT_COUNT_OF(rewrites),
};
