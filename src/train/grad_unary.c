/* SPDX-License-Identifier: MIT */
/*
 * grad_unary.c — gradients of functions of one element: the output's gradient times the derivative,
 * in terms of the input x or the output y, whichever is cheaper. At points without a derivative the
 * rules follow PopART (Elu, Selu and Celu use the mean of both sides at 0).
 */
#include <math.h>

#include "train/rule.h"

/* Shorthands for one builder call each. X and Y are the op's input and output, G is the output's
 * gradient. */
#define X prt_grad_x(g, 0)
#define Y prt_grad_y(g)
#define G (g->out[0])
#define NUM(v) prt_grad_number(g, G, v)
#define ADD(a, b) prt_grad_add(g, a, b)
#define SUB(a, b) prt_grad_sub(g, a, b)
#define MUL(a, b) prt_grad_mul(g, a, b)
#define DIV(a, b) prt_grad_div(g, a, b)
#define CALL(id, a) prt_grad_call(g, PRT_OP_##id, a)
#define SQUARE(a) MUL(a, a)

#define RULE(name, expression)                                                                     \
    poprt_status prt_grad_##name(prt_grad *g)                                                      \
    {                                                                                              \
        return prt_grad_set(g, 0, expression);                                                     \
    }

RULE(abs, MUL(G, CALL(sign, X)))
RULE(acos, CALL(neg, DIV(G, CALL(sqrt, SUB(NUM(1), SQUARE(X))))))
RULE(acosh, DIV(G, CALL(sqrt, SUB(SQUARE(X), NUM(1)))))
RULE(asin, DIV(G, CALL(sqrt, SUB(NUM(1), SQUARE(X)))))
RULE(asinh, DIV(G, CALL(sqrt, ADD(SQUARE(X), NUM(1)))))
RULE(atan, DIV(G, ADD(NUM(1), SQUARE(X))))
RULE(atanh, DIV(G, SUB(NUM(1), SQUARE(X))))
RULE(cast, prt_build_binary(g->b, PRT_OP_cast_like, G, X))
RULE(cos, CALL(neg, MUL(G, CALL(sin, X))))
RULE(cosh, MUL(G, CALL(sinh, X)))
RULE(erf, MUL(G, MUL(NUM(2.0 / sqrt(acos(-1.0))), CALL(exp, CALL(neg, SQUARE(X))))))
RULE(exp, MUL(G, Y))
RULE(identity, G)
RULE(log, DIV(G, X))
RULE(neg, CALL(neg, G))
RULE(reciprocal, CALL(neg, MUL(G, SQUARE(Y))))
RULE(relu, prt_grad_masked(g, PRT_OP_greater, Y, NUM(0), G))
RULE(sigmoid, MUL(G, MUL(Y, SUB(NUM(1), Y))))
RULE(sin, MUL(G, CALL(cos, X)))
RULE(sinh, MUL(G, CALL(cosh, X)))
RULE(softplus, MUL(G, CALL(sigmoid, X)))
RULE(softsign, DIV(G, SQUARE(ADD(NUM(1), CALL(abs, X)))))
RULE(sqrt, DIV(G, MUL(NUM(2), Y)))
RULE(tan, MUL(G, ADD(NUM(1), SQUARE(Y))))
RULE(tanh, MUL(G, SUB(NUM(1), SQUARE(Y))))

/* Derivative `right` for x > 0, `left` for x < 0, their mean at 0. */
static prt_value *two_sided(prt_grad *g, prt_value *right, prt_value *left)
{
    prt_value *sign = CALL(sign, X), *half = NUM(0.5);
    return MUL(G, MUL(half, ADD(MUL(ADD(NUM(1), sign), right), MUL(SUB(NUM(1), sign), left))));
}

poprt_status prt_grad_elu(prt_grad *g)
{
    const prt_elu_attrs *a = g->op->attrs;
    prt_value *below =
        MUL(NUM((double)a->alpha), CALL(exp, prt_build_binary(g->b, PRT_OP_min, X, NUM(0))));
    return prt_grad_set(g, 0, two_sided(g, NUM(1), below));
}

poprt_status prt_grad_selu(prt_grad *g)
{
    const prt_selu_attrs *a = g->op->attrs;
    prt_value *below = MUL(NUM((double)a->gamma * (double)a->alpha),
        CALL(exp, prt_build_binary(g->b, PRT_OP_min, X, NUM(0))));
    return prt_grad_set(g, 0, two_sided(g, NUM((double)a->gamma), below));
}

poprt_status prt_grad_celu(prt_grad *g)
{
    const prt_celu_attrs *a = g->op->attrs;
    prt_value *below =
        CALL(exp, DIV(prt_build_binary(g->b, PRT_OP_min, X, NUM(0)), NUM((double)a->alpha)));
    return prt_grad_set(g, 0, two_sided(g, NUM(1), below));
}

poprt_status prt_grad_leaky_relu(prt_grad *g)
{
    const prt_leaky_relu_attrs *a = g->op->attrs;
    prt_value *negative = prt_build_binary(g->b, PRT_OP_less, X, NUM(0));
    return prt_grad_set(g, 0, prt_grad_where(g, negative, MUL(G, NUM((double)a->alpha)), G));
}

poprt_status prt_grad_thresholded_relu(prt_grad *g)
{
    const prt_thresholded_relu_attrs *a = g->op->attrs;
    return prt_grad_set(g, 0, prt_grad_masked(g, PRT_OP_greater, X, NUM((double)a->alpha), G));
}

/* Half the slope at each end of the linear part. */
poprt_status prt_grad_hard_sigmoid(prt_grad *g)
{
    const prt_hard_sigmoid_attrs *a = g->op->attrs;
    prt_value *line = ADD(MUL(X, NUM((double)a->alpha)), NUM((double)a->beta));
    prt_value *inside = SUB(CALL(sign, line), CALL(sign, SUB(line, NUM(1))));
    return prt_grad_set(g, 0, MUL(G, MUL(NUM(0.5 * (double)a->alpha), inside)));
}

poprt_status prt_grad_shrink(prt_grad *g)
{
    const prt_shrink_attrs *a = g->op->attrs;
    return prt_grad_set(g, 0,
        prt_grad_masked(g, PRT_OP_greater, CALL(abs, X), NUM((double)a->lambd), G));
}

/* d/dx of y = x s, with s = sigmoid(alpha x), is s + alpha y (1 - s). */
poprt_status prt_grad_swish(prt_grad *g)
{
    const prt_swish_attrs *a = g->op->attrs;
    prt_value *alpha = NUM((double)a->alpha), *s = CALL(sigmoid, MUL(alpha, X));
    return prt_grad_set(g, 0, MUL(G, ADD(s, MUL(alpha, MUL(Y, SUB(NUM(1), s))))));
}

poprt_status prt_grad_mish(prt_grad *g)
{
    return prt_grad_by(g, MUL(X, CALL(tanh, CALL(softplus, X))));
}

/* 0 below -3, 1 above 3, x / 3 + 1 / 2 between them. */
poprt_status prt_grad_hard_swish(prt_grad *g)
{
    prt_value *between = MUL(G, ADD(MUL(X, NUM(1.0 / 3.0)), NUM(0.5)));
    prt_value *d = prt_grad_masked(g, PRT_OP_greater, X, NUM(-3.0), between);
    return prt_grad_set(g, 0,
        prt_grad_where(g, prt_build_binary(g->b, PRT_OP_less, X, NUM(3.0)), d, G));
}

poprt_status prt_grad_gelu(prt_grad *g)
{
    const prt_gelu_attrs *a = g->op->attrs;
    prt_value *half = NUM(0.5), *inner;
    if (prt_str_is(a->approximate, "tanh")) {
        prt_value *cubic = ADD(X, MUL(NUM(0.044715), MUL(X, SQUARE(X))));
        inner = CALL(tanh, MUL(NUM(sqrt(2.0 / acos(-1.0))), cubic));
    } else {
        inner = CALL(erf, MUL(NUM(sqrt(0.5)), X));
    }
    return prt_grad_by(g, MUL(MUL(half, X), ADD(NUM(1), inner)));
}
