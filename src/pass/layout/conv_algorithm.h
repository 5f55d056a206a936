/* SPDX-License-Identifier: MIT */
/* conv_algorithm.h — chooses between algorithms of a convolution, where more than one is
 * possible. */
#ifndef PRT_PASS_LAYOUT_CONV_ALGORITHM_H
#define PRT_PASS_LAYOUT_CONV_ALGORITHM_H

#include "op/internal/nhwc.h"
#include "pass/engine/pass.h"

/* Returns whether the options allow this algorithm. */
bool prt_conv_algorithm_allowed(const prt_pass *p, prt_nhwc_algorithm algorithm);

/* Returns whether panels of these weights will be multiplied by bf16x3, which is faster than
 * Winograd. */
bool prt_conv_algorithm_bf16x3(const prt_pass *p, const prt_nhwc_weights *w);

/* Returns whether Winograd weights may be stored transformed: all constants together may grow by at
 * most option `winograd_growth` percent. If `record`, the growth is recorded. */
bool prt_conv_algorithm_transform(prt_pass *p, prt_nhwc_weights w, bool record);

/* Returns the algorithm of `op`, a Conv or FusedConv that becomes an NhwcConv with these
 * attributes. `weights` has the choice of the rule, which is used without an autotuner. `close`:
 * the rule is close to its threshold. */
prt_nhwc_algorithm prt_conv_algorithm_of_conv(prt_pass *p, const prt_op *op,
    const prt_nhwc_conv_attrs *attrs, const prt_nhwc_weights *weights, bool close);

/* Returns whether the NhwcConvs in `parts` (pointwise or NULL, depthwise, pointwise or NULL) are
 * fused into an NhwcSeparable with `attrs` and the inputs `in`. `rule` is the choice of the rule,
 * `close` tells whether it is close to its threshold. */
bool prt_conv_algorithm_of_separable(const prt_pass *p, const prt_op *const parts[3],
    const prt_nhwc_separable_attrs *attrs, uint32_t n_in, prt_value *const *in, bool rule,
    bool close);

#endif
