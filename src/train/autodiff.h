/* SPDX-License-Identifier: MIT */
/*
 * autodiff.h — reverse-mode differentiation: adds the ops that compute gradients to a graph.
 *
 * Rules are rows of grads.def, one for each operator that has a gradient. They build ordinary
 * operators, so gradients pass through the same passes and compiler as other ops, and can be
 * differentiated again.
 */
#ifndef PRT_TRAIN_AUTODIFF_H
#define PRT_TRAIN_AUTODIFF_H

#include "ir/build.h"

/*
 * Builds at `b`, after `y`, the gradients of `y` with respect to `xs`, multiplied by `dy` (NULL:
 * ones). `cut` values and `xs` themselves count as independent: no gradient flows through them.
 * dxs[i] has the type of xs[i], and is zeros if y does not depend on it. Fails with
 * POPRT_E_UNSUPPORTED, naming the node, if an operator on the way has no rule.
 */
poprt_status prt_autodiff(prt_build *b, prt_value *y, prt_value *dy, uint32_t n,
    prt_value *const *xs, uint32_t n_cut, prt_value *const *cut, prt_value **dxs);

#endif
