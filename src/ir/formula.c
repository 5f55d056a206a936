/* SPDX-License-Identifier: MIT */
/* formula.c — operators expressed by operators of older opsets. */
#include "ir/formula.h"

prt_value *prt_build_hard_swish(prt_build *b, prt_value *x)
{
    const prt_hard_sigmoid_attrs gate = { .alpha = 1.0f / 6.0f, .beta = 0.5f };
    return prt_build_binary(b, PRT_OP_mul, x, prt_build_op(b, PRT_OP_hard_sigmoid, &gate, 1, &x));
}

prt_value *prt_build_celu(prt_build *b, prt_value *x, float alpha)
{
    const prt_elu_attrs one = { .alpha = 1.0f };
    if (alpha == 1.0f)
        return prt_build_op(b, PRT_OP_elu, &one, 1, &x);
    prt_value *by = prt_build_scalar(b, x->type->dtype, (double)alpha);
    prt_value *y = prt_build_binary(b, PRT_OP_div, x, by);
    y = prt_build_op(b, PRT_OP_elu, &one, 1, &y);
    return prt_build_binary(b, PRT_OP_mul, y, by);
}

prt_value *prt_build_or_equal(prt_build *b, bool greater, prt_value *x, prt_value *y)
{
    prt_value *strict = prt_build_binary(b, greater ? PRT_OP_greater : PRT_OP_less, x, y);
    return prt_build_binary(b, PRT_OP_or, strict, prt_build_binary(b, PRT_OP_equal, x, y));
}

prt_value *prt_build_cast_like(prt_build *b, const prt_cast_like_attrs *like, prt_value *x,
    int32_t to)
{
    const prt_cast_attrs cast = { .to = to,
        .saturate = like->saturate,
        .round_mode = like->round_mode };
    return prt_build_op(b, PRT_OP_cast, &cast, 1, &x);
}
