/* SPDX-License-Identifier: MIT */
/* topk.h — the first elements of sorted lines, for TopK and for sorts. */
#ifndef PRT_OP_SHARE_TOPK_H
#define PRT_OP_SHARE_TOPK_H

#include "op/op.h"

/*
 * Output 0 gets the `k` least (or greatest) elements of each line of input 0 along `axis`, sorted,
 * output 1 where they were, in its own integer type. Both are wanted or not, and shaped already.
 * Of equal elements the first comes first; NaN is above all numbers.
 */
poprt_status prt_topk_run(prt_eval *c, uint32_t axis, int64_t k, bool largest);

#endif
