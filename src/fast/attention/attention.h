/* SPDX-License-Identifier: MIT */
/* attention.h — attention of float32 operands with arbitrary strides. */
#ifndef PRT_FAST_ATTENTION_ATTENTION_H
#define PRT_FAST_ATTENTION_ATTENTION_H

#include "fast/fast.h"
#include "op/internal/fused_attention.h"

/* Runs attention. If `with` is not NULL, its hook gives the masks, and a query that sees no key
 * gives zeros. */
poprt_status prt_fast_mha(prt_eval *c, const prt_kern *k, const prt_mha *m,
    const prt_attention *with, bool *done);

#endif
