/* SPDX-License-Identifier: MIT */
/* quantized.h — matchers of the parts of a quantised product. */
#ifndef PRT_PASS_FUSE_QUANTIZED_H
#define PRT_PASS_FUSE_QUANTIZED_H

#include "pass/engine/rewrite.h"

/* Return whether the value is a tensor of 8-bit integers, or has one element and rank 0 or 1. False
 * for NULL. */
bool prt_quantized_byte(const prt_value *v);
bool prt_quantized_one(const prt_value *v);

/* Returns the DequantizeLinear of 8-bit integers with a zero point that makes input `slot`;
 * otherwise NULL. `axis` is the axis along which it may have several scales; -1: one scale only. */
prt_op *prt_quantized_side(const prt_op *op, uint32_t slot, int64_t axis);

/* Reads the int32 bias at input 2; NULL if there is none. Returns false if its scale is not the
 * product of the scales of `x` and `w`. */
bool prt_quantized_bias(const prt_op *op, const prt_op *x, const prt_op *w, prt_value **bias);

/* Replaces the chain of element-wise operators that ends in QuantizeLinear `root` by a ByteTable.
 * Returns false if there is no such chain. */
bool prt_quantized_table(prt_build *b, prt_op *root);

#endif
