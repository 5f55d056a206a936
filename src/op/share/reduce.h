/* SPDX-License-Identifier: MIT */
/* reduce.h — the axes of Reduce* operators, whose attributes are all alike. */
#ifndef PRT_OP_SHARE_REDUCE_H
#define PRT_OP_SHARE_REDUCE_H

#include "op/op.h"

/* The axes that input 1 and the attributes name, as bits; none where nothing is reduced. */
poprt_status prt_reduce_axes(const prt_eval *c, uint32_t *set);

#endif
