/* SPDX-License-Identifier: MIT */
/*
 * overflow.h — which operators may go beyond the range of float16 on the way to a result that does
 * not: what enable_avoid_overflow_patterns keeps in float32.
 */
#ifndef PRT_PASS_PRECISION_OVERFLOW_H
#define PRT_PASS_PRECISION_OVERFLOW_H

#include "ir/ir.h"

typedef struct prt_overflow prt_overflow;

/* Looks at all graphs of the module; lives in `arena`. */
poprt_status prt_overflow_find(prt_arena *arena, const prt_module *module, prt_overflow **out);

/* The op has to compute in float32. False for ops made since. */
bool prt_overflow_keeps(const prt_overflow *o, const prt_op *op);

#endif
