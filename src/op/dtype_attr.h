/* SPDX-License-Identifier: MIT */
/* dtype_attr.h — checking attributes that name an element type. */
#ifndef PRT_OP_DTYPE_ATTR_H
#define PRT_OP_DTYPE_ATTR_H

#include "op/op.h"

/* Fails unless `dtype` (an attribute's value) is an element type of `set`. */
static inline poprt_status prt_infer_dtype_attr(const prt_infer *c, const char *attr, uint64_t set,
    int64_t dtype)
{
    if (dtype <= 0 || dtype >= PRT_DTYPE_COUNT || (set >> dtype & 1) == 0)
        return prt_infer_fail(c, POPRT_E_TYPE, "%s %lld is no type this operator gives", attr,
            (long long)dtype);
    return POPRT_OK;
}

#endif
