/* SPDX-License-Identifier: MIT */
/*
 * overflow.h — operators that may exceed the range of float16 on the way to a result that does not;
 * enable_avoid_overflow_patterns keeps them in float32.
 */
#ifndef PRT_PASS_PRECISION_OVERFLOW_H
#define PRT_PASS_PRECISION_OVERFLOW_H

#include "ir/ir.h"

typedef struct prt_overflow prt_overflow;

/* Analyses all graphs of the module. The result is allocated in `arena`. */
poprt_status prt_overflow_find(prt_arena *arena, const prt_module *module, prt_overflow **out);

/* Returns whether the op must compute in float32; false for ops made later. */
bool prt_overflow_keeps(const prt_overflow *o, const prt_op *op);

#endif
