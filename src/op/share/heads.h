/* SPDX-License-Identifier: MIT */
/* heads.h — dims that hold the elements of several attention heads. */
#ifndef PRT_OP_SHARE_HEADS_H
#define PRT_OP_SHARE_HEADS_H

#include "op/op.h"

/* Computes the size of one head in a dim that packs `heads` (at least 1) heads. Fails with
 * POPRT_E_SHAPE if the dim is not divisible. */
static inline poprt_status prt_infer_head_size(const prt_infer *c, int64_t packed, int64_t heads,
    int64_t *size)
{
    if (prt_dim_is_number(packed) && packed % heads != 0)
        return prt_infer_fail(c, POPRT_E_SHAPE, "%lld is not divisible by %lld heads",
            (long long)packed, (long long)heads);
    *size = prt_dim_floordiv(c->dims, packed, heads);
    return POPRT_OK;
}

/* Checks that the number of query heads is a multiple of the number of key heads. Dims that are
 * not known numbers pass. */
static inline poprt_status prt_infer_head_groups(const prt_infer *c, int64_t query, int64_t key)
{
    if (prt_dim_is_number(query) && prt_dim_is_number(key) && (key < 1 || query % key != 0))
        return prt_infer_fail(c, POPRT_E_SHAPE,
            "%lld query heads over %lld key heads; a multiple is required", (long long)query,
            (long long)key);
    return POPRT_OK;
}

#endif
