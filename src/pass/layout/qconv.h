/* SPDX-License-Identifier: MIT */
/* qconv.h — builds NhwcQConv from the parts of a quantised convolution or product. */
#ifndef PRT_PASS_LAYOUT_QCONV_H
#define PRT_PASS_LAYOUT_QCONV_H

#include "op/internal/nhwc.h"
#include "pass/engine/rewrite.h"

/* Parts of a quantised convolution; all are constants. Scales and zero points of data and result
 * have one element, those of weights one or one for each filter. */
typedef struct prt_qconv {
    prt_value *w; /* the source of the packed weights */
    prt_tensor weights, x_scale, x_zero, w_scale, w_zero, y_scale, y_zero, bias;
    bool has_bias;                /* int32, quantised with the scale of data times weights */
    size_t by_filter, by_channel; /* strides of weights between filters and channels, in elements;
                                     taps are contiguous */
    prt_nhwc_weights layout;
    prt_nhwc_qconv_attrs attrs; /* without form, group, channels and filters */
} prt_qconv;

/* Reads the inputs of QLinearConv after its data: scale, zero point, w, scale, zero point, y's
 * scale, zero point, bias or NULL. Returns false if they are not as described above. */
bool prt_qconv_read(prt_value *const in[8], prt_qconv *q);

/* Makes the constant inputs of NhwcQConv, from the second on. Returns false if weights minus their
 * zero points, or sums, might overflow, or after a failure. */
bool prt_qconv_pack(prt_pass *p, prt_build *b, const prt_qconv *q, prt_value *in[6]);

/* Builds the operator; in[0] has channels last, unless attribute `images` is set. NULL after a
 * failure. */
prt_value *prt_qconv_build(prt_build *b, const prt_qconv *q, prt_value *const in[6]);

/* Converts a QLinearConv; see channels_last.c. */
bool prt_to_nhwc_qconv(prt_pass *p, prt_build *b, prt_op *root);

#endif
