/* SPDX-License-Identifier: MIT */
/* check.h — checks of attributes and inputs that several operator families share. */
#ifndef PRT_OP_CHECK_H
#define PRT_OP_CHECK_H

#include "op/op.h"

/* Fails unless `dtype` (an attribute's value) is an element type of `set`. */
static inline poprt_status prt_infer_dtype_attr(const prt_infer *c, const char *attr, uint64_t set,
    int64_t dtype)
{
    if (dtype <= 0 || dtype >= PRT_DTYPE_COUNT || (set >> dtype & 1) == 0)
        return prt_infer_fail(c, POPRT_E_TYPE,
            "%s %lld is not an element type that this operator can produce", attr,
            (long long)dtype);
    return POPRT_OK;
}

/* Reads the single number in integer input `i` as a dim, or PRT_DIM_UNKNOWN. Fails with
 * POPRT_E_SHAPE if the input is known not to have exactly one element; eval may therefore read
 * element 0. */
static inline poprt_status prt_infer_scalar(const prt_infer *c, uint32_t i, int64_t *to)
{
    uint32_t count = 0;
    *to = PRT_DIM_UNKNOWN;
    for (int32_t k = 0; prt_infer_ranked(c, i) && k < c->in[i].rank; k++)
        if (prt_dim_is_number(c->in[i].dims[k]) && c->in[i].dims[k] != 1)
            return prt_infer_fail(c, POPRT_E_SHAPE,
                "input %u is not one number; a tensor of one element is required", i);
    if (!prt_infer_ints(c, i, to, 1, &count) || count != 1)
        *to = PRT_DIM_UNKNOWN;
    return POPRT_OK;
}

#endif
