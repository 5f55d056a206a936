/* SPDX-License-Identifier: MIT */
/* rows.h — what the functions of operators.def include: their declarations and the builder. */
#ifndef PRT_TENSORFLOW_ROWS_H
#define PRT_TENSORFLOW_ROWS_H

#include "ir/build_ops.h"
#include "tensorflow/convert.h"

#define OP(name, function, outputs) poprt_status prt_tf_row_##function(prt_tf_call *n);
#define OP_IS(name, function, id) OP(name, function, "")
#define OP_LAZY(name, function, outputs) OP(name, function, outputs)
#define OP_WRITES(name, function, outputs) OP(name, function, outputs)
#include "tensorflow/operators.def"

#endif
