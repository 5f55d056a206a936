/* SPDX-License-Identifier: MIT */
/* low_precision.h — element types in the numbering of kern/gemm/low_precision.h. */
#ifndef PRT_OP_SHARE_LOW_PRECISION_H
#define PRT_OP_SHARE_LOW_PRECISION_H

#include "kern/gemm/low_precision.h"
#include "op/op.h"

/* Returns the low-precision format of an element type; PRT_LOW_PRECISION_COUNT for float32 and
 * types without one. */
int prt_low_precision_of(int32_t dtype);

#endif
