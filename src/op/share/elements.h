/* SPDX-License-Identifier: MIT */
/*
 * elements.h — conversion of runs of elements of any type to double or int64, and back. Kernels for
 * all types use it to dispatch on the type only once per run.
 */
#ifndef PRT_OP_SHARE_ELEMENTS_H
#define PRT_OP_SHARE_ELEMENTS_H

#include "op/op.h"

/* Read `count` elements from index `first` on, `step` apart; step 0 repeats element `first`. All
 * integer types are read as int64; a uint64 keeps its bits. Bool is 0 or 1. */
void prt_read_f64(int32_t dtype, const void *data, size_t first, size_t step, size_t count,
    double *to);
void prt_read_i64(int32_t dtype, const void *data, size_t first, size_t step, size_t count,
    int64_t *to);

/* Write elements with the rounding and wrapping of prt_store_f64 and prt_store_i64. As bool, any
 * number but zero is true. */
void prt_write_f64(int32_t dtype, void *data, size_t first, size_t count, const double *from);
void prt_write_i64(int32_t dtype, void *data, size_t first, size_t count, const int64_t *from);

/* Returns true for unsigned integers and bool: their int64 must be read as a uint64. */
static inline bool prt_dtype_is_unsigned(int32_t dtype)
{
    return prt_dtype_of(dtype)->kind == PRT_KIND_uint || dtype == PRT_DTYPE_bool;
}

#endif
