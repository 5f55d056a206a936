/* SPDX-License-Identifier: MIT */
/* reduce.h — the axes of the Reduce* operators, whose attributes are identical. */
#ifndef PRT_OP_SHARE_REDUCE_H
#define PRT_OP_SHARE_REDUCE_H

#include "op/op.h"

/* Reads the axes from input 1 and the attributes as bits; 0 if nothing is reduced. */
poprt_status prt_reduce_axes(const prt_eval *c, uint32_t *set);

#endif
