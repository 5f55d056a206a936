/* SPDX-License-Identifier: MIT */
/*
 * half_opset.h — operators whose float16 or bfloat16 came to ONNX later than their float32. A model
 * that uses them so needs an opset that few runtimes read; in float32 they cost a Cast or two.
 */
#ifndef PRT_PASS_PRECISION_HALF_OPSET_H
#define PRT_PASS_PRECISION_HALF_OPSET_H

#include "ir/ir.h"

/* The first opset whose schema of this operator takes element type `to`, where an earlier schema
 * takes float32; 0 where there is no such gap; INT64_MAX where no schema takes the type. */
int64_t prt_half_opset_of(const prt_op *op, int32_t to);

/* An opset that a model in bfloat16 may need for its layers (convolutions, recurrent layers): that
 * of the op, or `least`. */
int64_t prt_half_opset_of_layer(const prt_op *op, int32_t to, int64_t least);

#endif
