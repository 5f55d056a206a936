/* SPDX-License-Identifier: MIT */
/* topk.h — the first elements of sorted lines, for TopK and sorts. */
#ifndef PRT_OP_SHARE_TOPK_H
#define PRT_OP_SHARE_TOPK_H

#include "op/op.h"

/* Writes the `k` least (or greatest) elements of each line of input 0 along `axis`, sorted, to
 * output 0, and their indices, in its own integer type, to output 1. Either output may be
 * unwanted; both have their shapes already. Equal elements keep their order; NaN is above all
 * numbers. */
poprt_status prt_topk_run(prt_eval *c, uint32_t axis, int64_t k, bool largest);

#endif
