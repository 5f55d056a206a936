/* SPDX-License-Identifier: MIT */
/*
 * half_opset.h — operators that support float16 or bfloat16 only from a later opset than float32. A
 * model that uses these types would need an opset that few runtimes read; keeping float32 costs one
 * or two Casts.
 */
#ifndef PRT_PASS_PRECISION_HALF_OPSET_H
#define PRT_PASS_PRECISION_HALF_OPSET_H

#include "ir/ir.h"

/* Returns the first opset whose schema of the operator allows element type `to`, if an earlier
 * schema allows float32; 0 if there is no such gap; INT64_MAX if no schema allows the type. */
int64_t prt_half_opset_of(const prt_op *op, int32_t to);

/* Returns the opset that a bfloat16 model may use for its layers (convolutions, recurrent layers):
 * that of the op, but `least` or more. */
int64_t prt_half_opset_of_layer(const prt_op *op, int32_t to, int64_t least);

#endif
