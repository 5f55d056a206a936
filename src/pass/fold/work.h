/* SPDX-License-Identifier: MIT */
/*
 * work.h — how long evaluating an operator may take, from what is known of its operands.
 */
#ifndef PRT_PASS_FOLD_WORK_H
#define PRT_PASS_FOLD_WORK_H

#include "ir/ir.h"

/* At most about so many steps; 0 where they are a small multiple of the elements read and made. */
uint64_t prt_fold_work(const prt_op *op);

#endif
