/* SPDX-License-Identifier: MIT */
/*
 * gelu.c — matches the formula of Gelu: the factors x, 0.5 and a gate, in any order and grouping.
 * The gate is
 *
 *     1 + Erf(x / sqrt(2))
 *     1 + Tanh(c (x + 0.044715 x^3)), or 1 + Tanh(c x (1 + 0.044715 x x)), with c = sqrt(2 / pi)
 */
#include "pass/fuse/formulas.h"

/* Returns the producer of a value if it is an `id` and the value has one reader; otherwise NULL. */
static const prt_op *interior_producer(const prt_value *v, uint32_t id)
{
    return v != NULL && prt_value_used_once(v) && prt_op_is(v->def, id) && v->graph == v->def->graph
        ? v->def
        : NULL;
}

/* Returns x if input `slot` is x / sqrt(2); otherwise NULL. */
static prt_value *scaled_at(const prt_op *op, uint32_t slot)
{
    const prt_op *div = prt_match_interior(op, slot, PRT_OP_div);
    if (div != NULL)
        return prt_formula_is_number(div, 1, sqrt(2.0)) ? prt_op_input(div, 0) : NULL;
    return prt_formula_interior_operand(op, slot, PRT_OP_mul, sqrt(0.5));
}

static bool is_square(const prt_op *op, uint32_t slot, const prt_value *x)
{
    const prt_op *pow = prt_match_interior(op, slot, PRT_OP_pow);
    const prt_op *mul = prt_match_interior(op, slot, PRT_OP_mul);
    return (pow != NULL && prt_op_input(pow, 0) == x && prt_formula_is_number(pow, 1, 2.0)) ||
        (mul != NULL && prt_op_input(mul, 0) == x && prt_op_input(mul, 1) == x);
}

/* Returns whether v is x^3, by Pow or by products. */
static bool is_cube(const prt_value *v, const prt_value *x)
{
    const prt_op *pow = interior_producer(v, PRT_OP_pow), *mul = interior_producer(v, PRT_OP_mul);
    if (pow != NULL)
        return prt_op_input(pow, 0) == x && prt_formula_is_number(pow, 1, 3.0);
    for (uint32_t slot = 0; mul != NULL && slot < 2; slot++)
        if (prt_op_input(mul, slot) == x && is_square(mul, 1 - slot, x))
            return true;
    return false;
}

/* Returns whether v is 0.044715 x^power; a square may also be (0.044715 x) x. */
static bool is_term(const prt_value *v, const prt_value *x, int power)
{
    const prt_op *mul = interior_producer(v, PRT_OP_mul);
    if (mul == NULL)
        return false;
    const uint32_t at = prt_formula_other_operand(mul, 0.044715);
    if (at != UINT32_MAX)
        return power == 3 ? is_cube(prt_op_input(mul, at), x) : is_square(mul, at, x);
    for (uint32_t slot = 0; power == 2 && slot < 2; slot++)
        if (prt_op_input(mul, slot) == x &&
            prt_formula_interior_operand(mul, 1 - slot, PRT_OP_mul, 0.044715) == x)
            return true;
    return false;
}

/* Returns x if v is x + 0.044715 x^3; otherwise NULL. */
static prt_value *cubic(const prt_value *v)
{
    const prt_op *sum = interior_producer(v, PRT_OP_add);
    for (uint32_t slot = 0; sum != NULL && slot < 2; slot++)
        if (is_term(prt_op_input(sum, 1 - slot), prt_op_input(sum, slot), 3))
            return prt_op_input(sum, slot);
    return NULL;
}

/* Returns x if the argument of Tanh matches; otherwise NULL. */
static prt_value *inside_tanh(const prt_op *tanh)
{
    static const double c = 0.7978845608028654;
    prt_value *x = cubic(prt_formula_interior_operand(tanh, 0, PRT_OP_mul, c));
    const prt_op *mul = prt_match_interior(tanh, 0, PRT_OP_mul);
    for (uint32_t slot = 0; x == NULL && mul != NULL && slot < 2; slot++) {
        prt_value *base = prt_formula_interior_operand(mul, slot, PRT_OP_mul, c);
        const prt_value *term = prt_formula_interior_operand(mul, 1 - slot, PRT_OP_add, 1.0);
        if (base != NULL && term != NULL && is_term(term, base, 2))
            x = base;
    }
    return x;
}

/* Returns x if input `slot` is the gate; otherwise NULL. */
static prt_value *gate_at(const prt_op *op, uint32_t slot, bool *by_tanh)
{
    const prt_value *curve = prt_formula_interior_operand(op, slot, PRT_OP_add, 1.0);
    const prt_op *erf = interior_producer(curve, PRT_OP_erf),
                 *tanh = interior_producer(curve, PRT_OP_tanh);
    *by_tanh = tanh != NULL;
    return erf != NULL ? scaled_at(erf, 0) : tanh != NULL ? inside_tanh(tanh) : NULL;
}

/* Returns whether input `slot` is 0.5 x. */
static bool is_half_of(const prt_op *op, uint32_t slot, const prt_value *x)
{
    const prt_op *mul = prt_match_interior(op, slot, PRT_OP_mul);
    const uint32_t at = mul != NULL ? prt_formula_other_operand(mul, 0.5) : UINT32_MAX;
    return at != UINT32_MAX && prt_op_input(mul, at) == x;
}

prt_value *prt_formula_gelu(const prt_op *root, bool *tanh)
{
    /* (x * gate) * 0.5 */
    const uint32_t at = prt_formula_other_operand(root, 0.5);
    const prt_op *inner = at != UINT32_MAX ? prt_match_interior(root, at, PRT_OP_mul) : NULL;
    for (uint32_t slot = 0; inner != NULL && slot < 2; slot++) {
        prt_value *x = gate_at(inner, slot, tanh);
        if (x != NULL && prt_op_input(inner, 1 - slot) == x)
            return x;
    }
    /* (0.5 x) * gate, x * (0.5 gate) */
    for (uint32_t slot = 0; slot < 2; slot++) {
        prt_value *x = gate_at(root, slot, tanh);
        if (x != NULL && is_half_of(root, 1 - slot, x))
            return x;
        const prt_op *half = prt_match_interior(root, slot, PRT_OP_mul);
        const uint32_t side = half != NULL ? prt_formula_other_operand(half, 0.5) : UINT32_MAX;
        x = side != UINT32_MAX ? gate_at(half, side, tanh) : NULL;
        if (x != NULL && prt_op_input(root, 1 - slot) == x)
            return x;
    }
    return NULL;
}
