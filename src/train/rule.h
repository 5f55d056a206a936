/* SPDX-License-Identifier: MIT */
/*
 * rule.h — what a rule of grads.def works with. A rule reads the inputs and outputs of its op and
 * the gradients of the outputs, and gives those of the inputs. Builders are sticky: a rule chains
 * calls and the sweep looks at the builder's status afterwards.
 */
#ifndef PRT_TRAIN_RULE_H
#define PRT_TRAIN_RULE_H

#include "train/autodiff.h"

typedef struct prt_grad {
    prt_build *b;
    prt_op *op;
    prt_value *const *out; /* gradient of output i; NULL where none flows back */
    prt_value **in;        /* to fill: gradient of input i; NULL where none flows */
    const bool *wanted;    /* input i depends on what is differentiated for */
    struct prt_sweep *sweep;
    prt_op *last; /* the last op before those that the rule builds */
} prt_grad;

typedef poprt_status (*prt_grad_fn)(prt_grad *g);

static inline prt_value *prt_grad_x(const prt_grad *g, uint32_t i)
{
    return prt_op_input(g->op, i);
}
static inline prt_value *prt_grad_y(const prt_grad *g)
{
    return &g->op->out[0];
}

static inline prt_value *prt_grad_add(prt_grad *g, prt_value *a, prt_value *b)
{
    return prt_build_binary(g->b, PRT_OP_add, a, b);
}
static inline prt_value *prt_grad_sub(prt_grad *g, prt_value *a, prt_value *b)
{
    return prt_build_binary(g->b, PRT_OP_sub, a, b);
}
static inline prt_value *prt_grad_mul(prt_grad *g, prt_value *a, prt_value *b)
{
    return prt_build_binary(g->b, PRT_OP_mul, a, b);
}
static inline prt_value *prt_grad_div(prt_grad *g, prt_value *a, prt_value *b)
{
    return prt_build_binary(g->b, PRT_OP_div, a, b);
}
static inline prt_value *prt_grad_call(prt_grad *g, uint32_t id, prt_value *x)
{
    return prt_build_unary(g->b, id, x);
}

/* A refusal that names the op. */
poprt_status prt_grad_refuse(const prt_grad *g, const char *why);

/* A scalar of the element type of `like`. */
prt_value *prt_grad_number(prt_grad *g, prt_value *like, double value);

/* `condition` ? a : b, all broadcast. */
prt_value *prt_grad_where(prt_grad *g, prt_value *condition, prt_value *a, prt_value *b);

/* a < b, a > b, a == b by the operator's id, then `value` where it holds and 0 elsewhere. */
prt_value *prt_grad_masked(prt_grad *g, uint32_t compare, prt_value *a, prt_value *b,
    prt_value *value);

/* Shape of a value as int64: a constant where it is known. */
prt_value *prt_grad_shape(prt_grad *g, prt_value *x);
/* `v` with the shape of `like`, which has as many elements, or to which it broadcasts. */
prt_value *prt_grad_reshape(prt_grad *g, prt_value *v, prt_value *like);
prt_value *prt_grad_expand(prt_grad *g, prt_value *v, prt_value *like);
/* Sum over `count` axes. */
prt_value *prt_grad_sum(prt_grad *g, prt_value *v, uint32_t count, const int64_t *axes, bool keep);
prt_value *prt_grad_mean(prt_grad *g, prt_value *v, uint32_t count, const int64_t *axes);
/* Dims in another order. */
prt_value *prt_grad_permute(prt_grad *g, prt_value *v, uint32_t rank, const int64_t *perm);
/* The number of elements of `x` over that of `y`, as a scalar of their element type. */
prt_value *prt_grad_ratio(prt_grad *g, prt_value *x, prt_value *y);
/* Rank of a value, or -1. */
int32_t prt_grad_rank(const prt_value *v);

/* Gives input i the gradient `v`, summed over the axes along which the input was broadcast. */
poprt_status prt_grad_give(prt_grad *g, uint32_t i, prt_value *v);

/* `y` is the op's output 0 computed anew from its inputs by simpler operators that the rule has
 * built: their rules give the gradients. The last thing a rule does. */
poprt_status prt_grad_by(prt_grad *g, prt_value *y);

#endif
