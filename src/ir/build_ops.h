/* SPDX-License-Identifier: MIT */
/*
 * build_ops.h — short forms of prt_build_op for common operators. They are sticky like the builder:
 * with a NULL value they build nothing, and return NULL. An operator that would change nothing, as
 * a Cast to the same type, is left out.
 */
#ifndef PRT_IR_BUILD_OPS_H
#define PRT_IR_BUILD_OPS_H

#include "ir/build.h"

prt_value *prt_build_cast(prt_build *b, prt_value *x, int32_t dtype);
prt_value *prt_build_cast_as(prt_build *b, prt_value *x, prt_value *like);

/* A constant of rank 0 with the element type of a value, which must be known. */
prt_value *prt_build_number(prt_build *b, prt_value *like, double value);

prt_value *prt_build_transpose(prt_build *b, prt_value *x, uint32_t rank, const int64_t *perm);
/* Swaps the last two axes; the rank must be known. */
prt_value *prt_build_swap_last(prt_build *b, prt_value *x);

/* Reshapes to numbers, of which one may be -1. A 0 is a dimension of 0. */
prt_value *prt_build_reshape(prt_build *b, prt_value *x, uint32_t rank, const int64_t *dims);
/* Reshapes to a shape of any integer type. A 0 is a dimension of 0. Where only one dimension of a
 * shape is computed, or others are those of x, the shape becomes a constant. */
prt_value *prt_build_reshape_to(prt_build *b, prt_value *x, prt_value *shape);

prt_value *prt_build_unsqueeze(prt_build *b, prt_value *x, uint32_t count, const int64_t *axes);
prt_value *prt_build_squeeze(prt_build *b, prt_value *x, uint32_t count, const int64_t *axes);

prt_value *prt_build_shape(prt_build *b, prt_value *x); /* int64, rank 1 */
/* The size of one axis: int64, rank 1. */
prt_value *prt_build_size_of(prt_build *b, prt_value *x, int64_t axis);

prt_value *prt_build_concat(prt_build *b, int64_t axis, uint32_t count, prt_value *const *values);

/* The range [start, end) of one axis; INT64_MAX: to its end. */
prt_value *prt_build_slice(prt_build *b, prt_value *x, int64_t axis, int64_t start, int64_t end,
    int64_t step);
/* Slice with inputs of rank 1; `steps` may be NULL. */
prt_value *prt_build_slice_by(prt_build *b, prt_value *x, prt_value *starts, prt_value *ends,
    prt_value *axes, prt_value *steps);

prt_value *prt_build_gather(prt_build *b, prt_value *x, prt_value *indices, int64_t axis);
prt_value *prt_build_gather_nd(prt_build *b, prt_value *x, prt_value *indices, int64_t batch_dims);
/* ScatterND; `reduction` is "none", "add", "mul", "max" or "min". */
prt_value *prt_build_scatter_nd(prt_build *b, prt_value *x, prt_value *indices, prt_value *updates,
    const char *reduction);

/* The entries of an axis for which `condition`, of rank 1, is true. */
prt_value *prt_build_compress(prt_build *b, prt_value *x, prt_value *condition, int64_t axis);

prt_value *prt_build_expand(prt_build *b, prt_value *x, prt_value *shape);
prt_value *prt_build_where(prt_build *b, prt_value *condition, prt_value *x, prt_value *y);
prt_value *prt_build_range(prt_build *b, prt_value *start, prt_value *limit, prt_value *delta);

/* A reduction by its operator (PRT_OP_reduce_sum and the like); `axes` NULL: all axes. */
prt_value *prt_build_reduce(prt_build *b, uint32_t id, prt_value *x, prt_value *axes,
    bool keep_dims);
prt_value *prt_build_reduce_axis(prt_build *b, uint32_t id, prt_value *x, int64_t axis,
    bool keep_dims);

/* Clip to constants. */
prt_value *prt_build_clip(prt_build *b, prt_value *x, double low, double high);

/* Splits an axis into parts of the sizes; the outputs are those of the op. */
prt_op *prt_build_split(prt_build *b, prt_value *x, int64_t axis, uint32_t count,
    const int64_t *sizes);

#endif
