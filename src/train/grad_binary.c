/* SPDX-License-Identifier: MIT */
/*
 * grad_binary.c — gradients of element-wise operators with several inputs; prt_grad_set sums over
 * broadcast axes. As in PopART, each of several equal arguments of Max and Min gets the whole
 * gradient, and a value at a bound of Clip gets 0.
 */
#include "train/rule.h"

poprt_status prt_grad_of_add(prt_grad *g)
{
    PRT_TRY(prt_grad_set(g, 0, g->out[0]));
    return prt_grad_set(g, 1, g->out[0]);
}

poprt_status prt_grad_of_sub(prt_grad *g)
{
    PRT_TRY(prt_grad_set(g, 0, g->out[0]));
    return g->wanted[1] ? prt_grad_set(g, 1, prt_grad_call(g, PRT_OP_neg, g->out[0])) : POPRT_OK;
}

poprt_status prt_grad_of_mul(prt_grad *g)
{
    for (uint32_t i = 0; i < 2; i++)
        if (g->wanted[i])
            PRT_TRY(prt_grad_set(g, i, prt_grad_mul(g, g->out[0], prt_grad_x(g, 1 - i))));
    return POPRT_OK;
}

poprt_status prt_grad_of_div(prt_grad *g)
{
    prt_value *quotient = prt_grad_div(g, g->out[0], prt_grad_x(g, 1));
    PRT_TRY(prt_grad_set(g, 0, quotient));
    if (!g->wanted[1])
        return POPRT_OK;
    return prt_grad_set(g, 1,
        prt_grad_call(g, PRT_OP_neg, prt_grad_mul(g, quotient, prt_grad_y(g))));
}

/* The gradient of the base is 0 where the exponent is 0; the gradient of the exponent is 0 where
 * the base is 0. */
poprt_status prt_grad_pow(prt_grad *g)
{
    prt_value *a = prt_grad_x(g, 0), *b = prt_grad_x(g, 1), *dy = g->out[0];
    if (g->wanted[0]) {
        prt_value *e = prt_build_binary(g->b, PRT_OP_cast_like, b, a);
        prt_value *power =
            prt_build_binary(g->b, PRT_OP_pow, a, prt_grad_sub(g, e, prt_grad_number(g, a, 1.0)));
        prt_value *da = prt_grad_mul(g, dy, prt_grad_mul(g, e, power));
        prt_value *zero = prt_grad_number(g, a, 0.0);
        PRT_TRY(prt_grad_set(g, 0,
            prt_grad_where(g, prt_build_binary(g->b, PRT_OP_equal, e, zero), zero, da)));
    }
    if (g->wanted[1]) {
        prt_value *zero = prt_grad_number(g, a, 0.0);
        prt_value *db =
            prt_grad_mul(g, dy, prt_grad_mul(g, prt_grad_y(g), prt_grad_call(g, PRT_OP_log, a)));
        db = prt_grad_where(g, prt_build_binary(g->b, PRT_OP_equal, a, zero), zero, db);
        PRT_TRY(prt_grad_set(g, 1, prt_build_binary(g->b, PRT_OP_cast_like, db, b)));
    }
    return POPRT_OK;
}

/* a - q b, where the integer quotient q counts as constant; its steps are ignored. */
poprt_status prt_grad_mod(prt_grad *g)
{
    prt_value *a = prt_grad_x(g, 0), *b = prt_grad_x(g, 1);
    PRT_TRY(prt_grad_set(g, 0, g->out[0]));
    if (!g->wanted[1])
        return POPRT_OK;
    prt_value *q = prt_grad_div(g, prt_grad_sub(g, a, prt_grad_y(g)), b);
    q = prt_grad_call(g, PRT_OP_round, q);
    return prt_grad_set(g, 1, prt_grad_call(g, PRT_OP_neg, prt_grad_mul(g, g->out[0], q)));
}

poprt_status prt_grad_extremum(prt_grad *g)
{
    for (uint32_t i = 0; i < g->op->n_in; i++)
        if (g->wanted[i])
            PRT_TRY(prt_grad_set(g, i,
                prt_grad_masked(g, PRT_OP_equal, prt_grad_x(g, i), prt_grad_y(g), g->out[0])));
    return POPRT_OK;
}

poprt_status prt_grad_of_sum(prt_grad *g)
{
    for (uint32_t i = 0; i < g->op->n_in; i++)
        PRT_TRY(prt_grad_set(g, i, g->out[0]));
    return POPRT_OK;
}

poprt_status prt_grad_of_mean(prt_grad *g)
{
    prt_value *part =
        prt_grad_div(g, g->out[0], prt_grad_number(g, g->out[0], (double)g->op->n_in));
    for (uint32_t i = 0; i < g->op->n_in; i++)
        PRT_TRY(prt_grad_set(g, i, part));
    return POPRT_OK;
}

poprt_status prt_grad_of_where(prt_grad *g)
{
    prt_value *zero = prt_grad_number(g, g->out[0], 0.0), *dy = g->out[0];
    prt_value *condition = prt_grad_x(g, 0);
    if (g->wanted[1])
        PRT_TRY(prt_grad_set(g, 1, prt_grad_where(g, condition, dy, zero)));
    if (g->wanted[2])
        PRT_TRY(prt_grad_set(g, 2, prt_grad_where(g, condition, zero, dy)));
    return POPRT_OK;
}

/* An element that is replaced by a bound passes its gradient on to the bound. */
poprt_status prt_grad_clip(prt_grad *g)
{
    prt_value *dy = g->out[0], *dx = dy, *zero = prt_grad_number(g, dy, 0.0);
    for (uint32_t i = 1; i < 3; i++) {
        prt_value *bound = prt_grad_x(g, i);
        if (bound == NULL)
            continue;
        prt_value *at = prt_build_binary(g->b, PRT_OP_equal, prt_grad_y(g), bound);
        dx = prt_grad_where(g, at, zero, dx);
        if (g->wanted[i])
            PRT_TRY(prt_grad_set(g, i, prt_grad_where(g, at, dy, zero)));
    }
    return prt_grad_set(g, 0, dx);
}

poprt_status prt_grad_prelu(prt_grad *g)
{
    prt_value *x = prt_grad_x(g, 0), *slope = prt_grad_x(g, 1), *dy = g->out[0];
    prt_value *zero = prt_grad_number(g, dy, 0.0);
    prt_value *negative = prt_build_binary(g->b, PRT_OP_less, x, zero);
    if (g->wanted[0])
        PRT_TRY(prt_grad_set(g, 0, prt_grad_where(g, negative, prt_grad_mul(g, dy, slope), dy)));
    if (g->wanted[1])
        PRT_TRY(prt_grad_set(g, 1, prt_grad_where(g, negative, prt_grad_mul(g, dy, x), zero)));
    return POPRT_OK;
}

/* Outside training, Dropout is the identity. In training, the mask is an output of the op. */
poprt_status prt_grad_dropout(prt_grad *g)
{
    prt_tensor mode;
    prt_value *training = prt_grad_x(g, 2), *ratio = prt_grad_x(g, 1), *dy = g->out[0];
    if (training == NULL)
        return prt_grad_set(g, 0, dy);
    const bool is_known = prt_value_tensor(training, &mode);
    if (is_known && *(const uint8_t *)mode.data == 0)
        return prt_grad_set(g, 0, dy);
    PRT_TRY(prt_grad_widen(g, 2));
    prt_value *one = prt_grad_number(g, dy, 1.0), *kept = prt_grad_number(g, dy, 0.5);
    if (ratio != NULL)
        kept = prt_grad_sub(g, one, prt_grad_cast_as(g, ratio, dy));
    prt_value *scaled =
        prt_grad_div(g, dy, is_known ? kept : prt_grad_where(g, training, kept, one));
    /* Where, because a ratio of 1 makes the scale infinite. */
    return prt_grad_set(g, 0,
        prt_grad_where(g, &g->op->out[1], scaled, prt_grad_number(g, dy, 0.0)));
}

/* Swish(a) * b */
poprt_status prt_grad_swi_glu(prt_grad *g)
{
    const prt_swi_glu_attrs *a = g->op->attrs;
    prt_swish_attrs attrs = PRT_ATTRS_OF(swish);
    prt_value *x = prt_grad_x(g, 0);
    PRT_ATTR_SET(attrs, swish, alpha, a->alpha);
    return prt_grad_by(g,
        prt_grad_mul(g, prt_build_op(g->b, PRT_OP_swish, &attrs, 1, &x), prt_grad_x(g, 1)));
}
