/* SPDX-License-Identifier: MIT */
/* formulas.h — short forms for functions of rows that write a formula: `n` is their call. */
#ifndef PRT_TENSORFLOW_FORMULAS_H
#define PRT_TENSORFLOW_FORMULAS_H

#include "tensorflow/rows.h"

#define UNARY(id, x) prt_build_unary(&n->b, PRT_OP_##id, x)
#define BINARY(id, x, y) prt_build_binary(&n->b, PRT_OP_##id, x, y)
#define WHERE(condition, x, y) prt_build_where(&n->b, condition, x, y)
#define F32(value) prt_build_scalar(&n->b, PRT_DTYPE_f32, value)
#define I64(value) prt_build_i64(&n->b, value)

#endif
