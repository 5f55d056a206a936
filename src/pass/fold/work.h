/* SPDX-License-Identifier: MIT */
/*
 * work.h — estimate of the time to evaluate an operator, from the shapes of its operands.
 */
#ifndef PRT_PASS_FOLD_WORK_H
#define PRT_PASS_FOLD_WORK_H

#include "ir/ir.h"

/* Returns an upper estimate of the steps; 0 if they are a small multiple of the elements read and
 * written. */
uint64_t prt_fold_work(const prt_op *op);

#endif
