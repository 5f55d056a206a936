/* SPDX-License-Identifier: MIT */
/* conv_algorithm.h — what the passes of this folder ask, where more than one form of a convolution
 * fits. */
#ifndef PRT_PASS_LAYOUT_CONV_ALGORITHM_H
#define PRT_PASS_LAYOUT_CONV_ALGORITHM_H

#include "op/internal/nhwc.h"
#include "pass/engine/pass.h"

/* Whether the options allow this form. */
bool prt_conv_algorithm_may(const prt_pass *p, prt_nhwc_form form);

/* Whether they say that panels will be multiplied split, faster than by Winograd's algorithm. */
bool prt_conv_algorithm_bf16x3(const prt_pass *p, const prt_nhwc_weights *w);

/* Whether Winograd's weights may be kept transformed, by which all constants together grow by the
 * option `winograd_growth` percent at most; `take`: they are. */
bool prt_conv_algorithm_transform(prt_pass *p, prt_nhwc_weights w, bool take);

/* The form of `op`, Conv or FusedConv, that will be an NhwcConv with these attributes, whose form
 * is the rule's. `close`: the rule is near its border. */
prt_nhwc_form prt_conv_algorithm_of_conv(prt_pass *p, const prt_op *op,
    const prt_nhwc_conv_attrs *attrs, const prt_nhwc_weights *weights, bool close);

/* Shall the NhwcConvs first (or NULL), wise, last (or NULL) become `attrs`, an NhwcSeparable with
 * the inputs `in`? */
bool prt_conv_algorithm_of_separable(const prt_pass *p, const prt_op *const parts[3],
    const prt_nhwc_separable_attrs *attrs, uint32_t n_in, prt_value *const *in, bool rule,
    bool close);

#endif
