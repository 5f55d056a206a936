/* SPDX-License-Identifier: MIT */
/*
 * arith.c — cheaper arithmetic.
 *
 *     replace_div_with_mul  Div(x, c) of floats becomes Mul(x, 1/c). Two roundings instead of one:
 *                           within 2 ulp; bitwise equal if c is a power of two. Not applied if
 *                           some 1/c is not finite or loses bits.
 *     replace_pow           Pow(x, c) of floats: x for 1, x*x for 2, x*x*x for 3. Bitwise equal
 *                           for 1 and 2 (float32 and below), within 2 ulp for 3.
 *
 * Difference from the reference: Pow(x, 0.5) stays, because Sqrt differs for -infinity and -0.
 */
#include "pass/engine/match.h"

static double inverse(double x, double with)
{
    return with / x;
}

static bool apply_div(prt_pass *p, prt_build *b, prt_op *root)
{
    prt_value *by = prt_match_map_constant(p, b, root, 1, inverse, 1.0);
    if (by == NULL)
        return b->status != POPRT_OK;
    prt_value *in[2] = { prt_op_input(root, 0), by };
    return prt_match_replace_op(b, root, PRT_OP_mul, NULL, 2, in);
}

static bool apply_pow(prt_pass *p, prt_build *b, prt_op *root)
{
    double c;
    prt_value *x = prt_op_input(root, 0);
    (void)p;
    if (!prt_dtype_is_float(prt_match_dtype(x)) || x->type != root->out[0].type ||
        prt_match_ranked(x) == NULL || !prt_match_number(root, 1, &c))
        return false;
    if (c == 1)
        return prt_pass_replace(b, &root->out[0], x);
    if (c != 2 && c != 3)
        return false;
    prt_value *y = prt_build_binary(b, PRT_OP_mul, x, x);
    return prt_match_replace(b, root, c == 2 ? y : prt_build_binary(b, PRT_OP_mul, y, x));
}

PRT_PASS_OF_REWRITE(replace_div_with_mul, PRT_OP_div, apply_div);
PRT_PASS_OF_REWRITE(replace_pow, PRT_OP_pow, apply_pow);
