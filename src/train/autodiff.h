/* SPDX-License-Identifier: MIT */
/*
 * autodiff.h — reverse-mode differentiation: adds the ops that compute gradients to a graph.
 *
 * Rules are rows of grads.def. Most build ordinary operators, so gradients pass through the same
 * passes and compiler as other ops, and can be differentiated again. The others build an operator
 * of op/internal/gradients.def.
 */
#ifndef PRT_TRAIN_AUTODIFF_H
#define PRT_TRAIN_AUTODIFF_H

#include "ir/build.h"

/* The gradients of all values of a graph. A gradient gets the name Gradient___<name of the value>
 * if the value has a name, and neither the gradient nor another value has one already. */
typedef struct prt_gradients {
    prt_arena *arena; /* of the caller; holds `of` */
    bool tree;        /* set by the caller: gradients of several readers are added in pairs */
    uint32_t count;
    prt_value **of; /* by value id; NULL: y does not depend on the value */
} prt_gradients;

/*
 * Builds at `b`, after `y`, the gradients of `y` with respect to `xs`, multiplied by `dy` (NULL:
 * ones). `cut` values and `xs` themselves count as independent: no gradient flows through them.
 * dxs[i] has the type of xs[i], and is zeros if y does not depend on it. If `all` is not NULL, it
 * is filled.
 *
 * A forward op that must keep more for its gradient, such as the mask of Dropout or the states of a
 * Loop, is replaced by an equal op with more outputs, which get its names and uses. So a caller
 * that needs a forward value afterwards finds it by its name, or as an output of the graph.
 *
 * New ops get the node name and the marks of the op whose gradient they compute. Fails with
 * POPRT_E_UNSUPPORTED, naming all nodes whose operator has no rule or whose attributes its rule
 * does not support; then the graph has no new ops.
 */
poprt_status prt_autodiff(prt_build *b, prt_value *y, prt_value *dy, uint32_t n,
    prt_value *const *xs, uint32_t n_cut, prt_value *const *cut, prt_value **dxs,
    prt_gradients *all);

#endif
