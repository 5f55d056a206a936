/* SPDX-License-Identifier: MIT */
/*
 * autodiff.h — reverse-mode differentiation: adds to a graph the ops that compute gradients.
 *
 * Rules are rows of grads.def, one for each operator that has a gradient. They build ordinary
 * operators, so what they make is rewritten, compiled and stored like everything else, and can be
 * differentiated again.
 */
#ifndef PRT_TRAIN_AUTODIFF_H
#define PRT_TRAIN_AUTODIFF_H

#include "ir/build.h"

/*
 * Gradients of `y` with respect to `xs`, times `dy` (NULL: ones), built at `b`, behind `y`.
 * `cut` values (and `xs` themselves) count as independent: nothing flows through them. dxs[i] is
 * of the type of xs[i]; zeros where y does not depend on it. An operator on the way that has no
 * rule is POPRT_E_UNSUPPORTED, named with its node.
 */
poprt_status prt_autodiff(prt_build *b, prt_value *y, prt_value *dy, uint32_t n,
    prt_value *const *xs, uint32_t n_cut, prt_value *const *cut, prt_value **dxs);

#endif
