/* SPDX-License-Identifier: MIT */
/*
 * view.h — values that are another value's elements in other places: what Reshape, Transpose,
 * Slice, Split, Gather with one index and factors make, described as distances within the value
 * that they come from. For passes that read the elements where they are.
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

/* A tensor whose dims are all numbers. */
bool prt_view_is_static(const prt_value *value);

/* A value as it lies; false when its shape is not known. */
bool prt_view_whole(prt_value *value, prt_view *out);

/* The farthest value that `value` is a view of, maybe itself; false when its shape is not known. */
bool prt_view_trace(prt_value *value, prt_view *out);

/* The same elements with other dims; false when the distances of that are not even. */
bool prt_view_reshape(prt_view *v, uint32_t rank, const int64_t *dims);

/* A distance that is as long as the last dim, where that is no number. */
#define PRT_VIEW_OPEN ((int64_t)-1)

/* An operand broadcast to `dims`, distances 0 where it repeats; false when it does not fit. The
 * last dim may be an expression. */
bool prt_view_broadcast(const prt_value *value, uint32_t rank, const int64_t *dims, prt_view *out);

/* The elements follow each other as they would in a tensor of these dims. */
bool prt_view_is_plain(const prt_view *v);

/* Input `slot` is a constant of one float. */
bool prt_view_number(const prt_op *op, uint32_t slot, double *out);

#endif
