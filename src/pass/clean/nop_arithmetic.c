/* SPDX-License-Identifier: MIT */
/*
 * nop_arithmetic.c — eliminate_nop_cast: removes a Cast to the type of its input.
 * eliminate_nop_arithmetic: removes x + 0, x - 0, x * 1, x / 1, x ^ 1, And with true, Or with
 * false, if all elements of the constant have that value and it does not broadcast x.
 *
 * Bitwise equal, except for x + 0 and x - (-0): with x = -0 they give +0, and -0 afterwards.
 */
#include "pass/engine/match.h"

enum { MOST_ELEMENTS = 1 << 20 }; /* largest constant that is checked, in elements */

static bool apply_cast(prt_pass *p, prt_build *b, prt_op *root)
{
    const prt_type *x = prt_op_input(root, 0)->type;
    (void)p;
    return prt_type_is_tensor(x) && x->dtype != PRT_DTYPE_undefined &&
        x->dtype == ((const prt_cast_attrs *)root->attrs)->to &&
        prt_pass_replace(b, &root->out[0], prt_op_input(root, 0));
}

static bool is_all(const prt_tensor *t, double value)
{
    if (prt_tensor_count(t) > MOST_ELEMENTS ||
        (!prt_dtype_is_float(t->dtype) && !prt_dtype_is_integer(t->dtype) &&
            t->dtype != PRT_DTYPE_bool))
        return false;
    for (size_t i = 0; i < prt_tensor_count(t); i++)
        if (prt_load_f64(t->dtype, t->data, i) != value)
            return false;
    return true;
}

/* Replaces root by x if the other input is a neutral constant. */
static bool drop(prt_build *b, prt_op *root, uint32_t slot, double neutral)
{
    prt_value *x = prt_op_input(root, 1 - slot);
    const prt_value *c = prt_op_input(root, slot);
    prt_tensor t;
    return prt_match_constant(root, slot, &t) && prt_match_broadcasts(c->type, x->type) &&
        is_all(&t, neutral) && prt_pass_replace(b, &root->out[0], x);
}

static bool either(prt_build *b, prt_op *root, double neutral)
{
    return drop(b, root, 1, neutral) || drop(b, root, 0, neutral);
}

static bool apply_zero(prt_pass *p, prt_build *b, prt_op *root) /* Add, Or */
{
    (void)p;
    return either(b, root, 0.0);
}

static bool apply_one(prt_pass *p, prt_build *b, prt_op *root) /* Mul, And */
{
    (void)p;
    return either(b, root, 1.0);
}

static bool apply_sub(prt_pass *p, prt_build *b, prt_op *root)
{
    (void)p;
    return drop(b, root, 1, 0.0);
}

static bool apply_by_one(prt_pass *p, prt_build *b, prt_op *root) /* Div, Pow */
{
    (void)p;
    return drop(b, root, 1, 1.0);
}

static const prt_rewrite casts[] = { { PRT_OP_cast, apply_cast } };
static const prt_rewrite arithmetic[] = { { PRT_OP_add, apply_zero }, { PRT_OP_or, apply_zero },
    { PRT_OP_mul, apply_one }, { PRT_OP_and, apply_one }, { PRT_OP_sub, apply_sub },
    { PRT_OP_div, apply_by_one }, { PRT_OP_pow, apply_by_one } };

const prt_pass_hooks prt_pass_eliminate_nop_cast = { .rewrites = casts, .n_rewrites = 1 };
const prt_pass_hooks prt_pass_eliminate_nop_arithmetic = {
    .rewrites = arithmetic,
    .n_rewrites = PRT_COUNT_OF(arithmetic),
};
