/* SPDX-License-Identifier: MIT */
/*
 * view.h — values that hold the elements of another value in other places, made by Reshape,
 * Transpose, Slice, Split, Gather with one index, and constant factors. A view has an offset and
 * strides within its source. For passes that read the elements in place.
 */
#ifndef PRT_PASS_FUSE_VIEW_H
#define PRT_PASS_FUSE_VIEW_H

#include "pass/engine/rewrite.h"

/* Element (i, j, …) is at first + i * step[0] + j * step[1] + … of `value`, times `scale`. */
typedef struct prt_view {
    prt_value *value;
    int64_t first;
    uint32_t rank;
    int64_t dims[PRT_MAX_RANK], steps[PRT_MAX_RANK];
    double scale;
} prt_view;

/* Returns whether the value is a tensor whose dims are all numbers. */
bool prt_view_is_static(const prt_value *value);

/* Describes a value as a view of itself; false if its shape is not known. */
bool prt_view_identity(prt_value *value, prt_view *out);

/* Traces `value` back to the farthest source that it is a view of, which may be itself. Returns
 * false if the shape is not known. */
bool prt_view_trace(prt_value *value, prt_view *out);

/* Gives the view other dims; returns false if the result does not have constant strides. */
bool prt_view_reshape(prt_view *v, uint32_t rank, const int64_t *dims);

/* A stride equal to the last dim, if that is not a number. */
#define PRT_VIEW_OPEN ((int64_t)-1)

/* Describes an operand broadcast to `dims`, with strides 0 where it repeats. Returns false if it
 * does not broadcast. The last dim may be an expression. */
bool prt_view_broadcast(const prt_value *value, uint32_t rank, const int64_t *dims, prt_view *out);

/* Returns whether the view is contiguous, in row-major order of its dims. */
bool prt_view_is_contiguous(const prt_view *v);

/* Reads input `slot` if it is a constant of one float. */
bool prt_view_number(const prt_op *op, uint32_t slot, double *out);

#endif
