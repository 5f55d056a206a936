/* SPDX-License-Identifier: MIT */
/* qconv.h — NhwcQConv from the parts of a quantised convolution or product. */
#ifndef PRT_PASS_LAYOUT_QCONV_H
#define PRT_PASS_LAYOUT_QCONV_H

#include "op/internal/nhwc.h"
#include "pass/engine/rewrite.h"

/* Constants all; scales and zero points of data and result are one number, those of weights one or
 * one by filter. */
typedef struct prt_qconv {
    prt_value *w; /* what the packed weights are made of */
    prt_tensor weights, x_scale, x_zero, w_scale, w_zero, y_scale, y_zero, bias;
    bool has_bias;                /* int32, in units of data times weights */
    size_t by_filter, by_channel; /* elements from a weight to the next one of those; taps follow
                                   * each other */
    prt_nhwc_weights form;
    prt_nhwc_qconv_attrs attrs; /* but for form, group, channels and filters */
} prt_qconv;

/* The inputs of QLinearConv behind its data: scale, zero point, w, scale, zero point, y's scale,
 * zero point, bias or NULL. False when they are not as above. */
bool prt_qconv_take(prt_value *const in[8], prt_qconv *q);

/* Inputs of the operator from the second on, constants; false when weights less their zero point,
 * or sums, might not fit. */
bool prt_qconv_pack(prt_pass *p, prt_build *b, const prt_qconv *q, prt_value *in[6]);

/* The operator; in[0] has its channels last, but for images. NULL on failure. */
prt_value *prt_qconv_put(prt_build *b, const prt_qconv *q, prt_value *const in[6]);

/* QLinearConv: see channels_last.c. */
bool prt_to_nhwc_qconv(prt_pass *p, prt_build *b, prt_op *root);

#endif
