/* SPDX-License-Identifier: MIT */
/*
 * rule.h — interface of the rules of grads.def. A rule reads the inputs and outputs of its op and
 * the gradients of the outputs, and sets the gradients of the inputs. Builders are sticky: a rule
 * chains calls, and the caller checks the builder's status afterwards.
 */
#ifndef PRT_TRAIN_RULE_H
#define PRT_TRAIN_RULE_H

#include "train/autodiff.h"

typedef struct prt_grad {
    prt_build *b;
    prt_op *op;
    prt_value *const *out; /* gradient of output i; NULL: no gradient */
    prt_value **in;        /* set by the rule: gradient of input i; NULL: no gradient */
    const bool *wanted;    /* whether input i needs a gradient */
    struct prt_sweep *sweep;
    prt_op *last; /* the op before the first op that the rule builds */
} prt_grad;

typedef poprt_status (*prt_grad_fn)(prt_grad *g);

/* Declares the functions of the rows. */
#define GRAD(id, function) poprt_status function(prt_grad *g);
#define GRAD_ZERO(id)
#define GRAD_MISSING(id, reason)
#include "train/grads.def"

/* A differentiation of several values, in the graph of a builder. */
typedef struct prt_derivative {
    uint32_t n_y, n_x, n_cut;
    prt_value *const *ys, *const *dys; /* dys[i] NULL: ones */
    prt_value *const *xs, *const *cut;
    prt_value **dxs; /* to be filled; NULL where no value of ys depends on the variable */
} prt_derivative;

/* Like prt_autodiff, without checks of the arguments. */
poprt_status prt_derivative_build(prt_build *b, const prt_derivative *d, prt_gradients *all);

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
/* a * b; the other factor itself if one is the number 1. */
prt_value *prt_grad_mul(prt_grad *g, prt_value *a, prt_value *b);
static inline prt_value *prt_grad_div(prt_grad *g, prt_value *a, prt_value *b)
{
    return prt_build_binary(g->b, PRT_OP_div, a, b);
}
static inline prt_value *prt_grad_call(prt_grad *g, uint32_t id, prt_value *x)
{
    return prt_build_unary(g->b, id, x);
}

/* Fails with POPRT_E_UNSUPPORTED; the message names the op and the reason. */
poprt_status prt_grad_refuse(const prt_grad *g, const char *why);

/* Returns a scalar constant of the element type of `like`. */
prt_value *prt_grad_number(prt_grad *g, prt_value *like, double value);

/* Returns a tensor of `value` with the type of `like`. */
prt_value *prt_grad_filled(prt_grad *g, prt_value *like, double value);

/* Where(condition, a, b), with broadcast. */
prt_value *prt_grad_where(prt_grad *g, prt_value *condition, prt_value *a, prt_value *b);

/* `value` where the comparison of a and b holds (operator id less, greater or equal), 0
 * elsewhere. */
prt_value *prt_grad_masked(prt_grad *g, uint32_t compare, prt_value *a, prt_value *b,
    prt_value *value);

/* Shape of a value as int64: a constant if it is static. */
prt_value *prt_grad_shape(prt_grad *g, prt_value *x);
/* `v` in the shape of `like`: reshape needs the same number of elements, expand broadcasts. Both
 * return `v` itself if it has the shape. */
prt_value *prt_grad_reshape(prt_grad *g, prt_value *v, prt_value *like);
prt_value *prt_grad_expand(prt_grad *g, prt_value *v, prt_value *like);
/* Sum or mean over `count` axes. */
prt_value *prt_grad_sum(prt_grad *g, prt_value *v, uint32_t count, const int64_t *axes, bool keep);
prt_value *prt_grad_mean(prt_grad *g, prt_value *v, uint32_t count, const int64_t *axes);
/* Transpose by `perm`. */
prt_value *prt_grad_permute(prt_grad *g, prt_value *v, uint32_t rank, const int64_t *perm);
/* Number of elements of `x` divided by that of `y`, as a scalar of the element type of `like`. */
prt_value *prt_grad_ratio(prt_grad *g, prt_value *x, prt_value *y, prt_value *like);
/* `v` with the element type `dtype`, or that of `like`; `v` itself if it has it. */
prt_value *prt_grad_cast_to(prt_grad *g, prt_value *v, int32_t dtype);
prt_value *prt_grad_cast_as(prt_grad *g, prt_value *v, prt_value *like);
/* Inserts dims of 1, or removes them. */
prt_value *prt_grad_unsqueeze(prt_grad *g, prt_value *v, uint32_t count, const int64_t *axes);
prt_value *prt_grad_squeeze(prt_grad *g, prt_value *v, uint32_t count, const int64_t *axes);
/* Reshape to a shape of numbers; 0 copies the dim of `v`. */
prt_value *prt_grad_reshape_to(prt_grad *g, prt_value *v, uint32_t rank, const int64_t *dims);
/* One dim of a value, as a vector of one int64; a constant if it is a number. */
prt_value *prt_grad_dim(prt_grad *g, prt_value *v, int64_t axis);
/* Concatenation along an axis. */
prt_value *prt_grad_concat_values(prt_grad *g, int64_t axis, uint32_t count,
    prt_value *const *values);
/* Elements [start, end) along an axis, every step-th. */
prt_value *prt_grad_slice(prt_grad *g, prt_value *v, int64_t axis, int64_t start, int64_t end,
    int64_t step);
/* 0, 1, 2 ... below the single number `limit`, int64. */
prt_value *prt_grad_count(prt_grad *g, prt_value *limit);
/* GatherElements; and zeros of the type of `like` with `v` added at the indices. */
prt_value *prt_grad_gather_at(prt_grad *g, prt_value *v, prt_value *indices, int64_t axis);
prt_value *prt_grad_scatter_at(prt_grad *g, prt_value *v, prt_value *indices, int64_t axis,
    prt_value *like);
/* Constants in the element type of `like`. */
prt_value *prt_grad_integer(prt_grad *g, prt_value *like, int64_t value);

/* Makes the op have at least `n_out` outputs: replaces it by an equal op, whose outputs later ops
 * read. g->op is the new op. */
poprt_status prt_grad_widen(prt_grad *g, uint32_t n_out);

/* Returns the rank of a value; -1 if it is unknown or the value is not a tensor. */
int32_t prt_grad_rank(const prt_value *v);

/* Sets the gradient of input i to `v`, summed over the axes along which the input was broadcast. */
poprt_status prt_grad_set(prt_grad *g, uint32_t i, prt_value *v);

/* Sets the gradients of the `n` inputs `which` of an operator that moves their elements to output
 * 0, and sets other elements to zero, by applying it to the numbers of the elements in type
 * `dtype`. */
poprt_status prt_grad_route(prt_grad *g, uint32_t n, const uint32_t *which, int32_t dtype);

/* Sets the gradient of input i, the bias of a convolution with gradient `dy`, to the sum over all
 * axes but that of the channels. Does nothing if the op has no such input. */
poprt_status prt_grad_set_bias(prt_grad *g, uint32_t i, prt_value *dy);

/* Differentiates through `y`, which the rule has built by simpler operators and which equals output
 * 0 of the op. Their rules give the gradients of the inputs. Must be the last call of a rule. */
poprt_status prt_grad_by(prt_grad *g, prt_value *y);
/* The same for an op with several outputs; ys[i] equals output i, and is not read if that has no
 * gradient. */
poprt_status prt_grad_by_outputs(prt_grad *g, prt_value *const *ys);

/* Returns whether a value of the graph, which the op or a region of it reads, needs a gradient. */
bool prt_grad_wants(const prt_grad *g, const prt_value *v);
/* Adds to the gradient of such a value. NULL adds nothing. */
poprt_status prt_grad_flow(prt_grad *g, const prt_value *v, prt_value *gradient);

#endif
