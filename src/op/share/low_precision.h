/* SPDX-License-Identifier: MIT */
/* low_precision.h — element types as kern/gemm/low_precision.h counts them. */
#ifndef PRT_OP_SHARE_LOW_PRECISION_H
#define PRT_OP_SHARE_LOW_PRECISION_H

#include "kern/gemm/low_precision.h"
#include "op/op.h"

/* The kind that a type is stored as; PRT_NARROW_COUNT for float32 and what has none. */
int prt_low_precision_of(int32_t dtype);

#endif
