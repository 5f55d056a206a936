/* SPDX-License-Identifier: MIT */
/* quantized.h — the parts of a quantised product, for the passes that look for one. */
#ifndef PRT_PASS_FUSE_QUANTIZED_H
#define PRT_PASS_FUSE_QUANTIZED_H

#include "pass/engine/rewrite.h"

/* Tensors of 8-bit integers; of one number, of rank 0 or 1. False for NULL. */
bool prt_quantized_byte(const prt_value *v);
bool prt_quantized_one(const prt_value *v);

/* The DequantizeLinear behind input `slot`, of bytes with a zero point; `axis`: that of several
 * scales, or -1 for one only. */
prt_op *prt_quantized_side(const prt_op *op, uint32_t slot, int64_t axis);

/* The int32 bias at input 2, NULL where there is none; false when it is counted in other units than
 * those of the two sides. */
bool prt_quantized_bias(const prt_op *op, const prt_op *x, const prt_op *w, prt_value **bias);

/* ByteTable in place of the chain of element-wise operators that ends in QuantizeLinear `root`. */
bool prt_quantized_table(prt_build *b, prt_op *root);

#endif
