/* SPDX-License-Identifier: MIT */
/*
 * shape_values.h — helpers of operators that move elements: contents of shape tensors, strided
 * reading, filling, and the check that contents agree with the shape of an output.
 */
#ifndef PRT_OP_SHARE_SHAPE_VALUES_H
#define PRT_OP_SHARE_SHAPE_VALUES_H

#include "op/op.h"

/* ---- for infer hooks */

/* Reads the known integers of input i, an int32 or int64 tensor of rank 0 or 1; each element is
 * a number, an expression or PRT_DIM_UNKNOWN. Returns false if the count is not known or above
 * PRT_CONTENT_MAX, and always at run time. */
bool prt_shape_values(const prt_infer *c, uint32_t i, int64_t to[PRT_CONTENT_MAX], uint32_t *count);

/* Sets the known integers of output i, unless all are unknown. */
poprt_status prt_shape_values_set(prt_infer *c, uint32_t i, uint32_t count, const int64_t *values);

/* Copies the contents of input 0 to output 0, which has the same elements in the same order, if
 * the output has rank 0 or 1. Call it after the output's shape was set. */
poprt_status prt_shape_values_pass(prt_infer *c);

/* Reads the number of elements of input i, a list of rank 0 or 1. Returns false if it is not
 * known. */
bool prt_shape_values_count(const prt_infer *c, uint32_t i, int64_t *count);

/* Converts `axes` to a set of bits; negative axes count from the end. Returns false if one is
 * outside [-rank, rank). A repeated axis sets one bit only, so compare the number of bits. */
bool prt_shape_axes(const int64_t *axes, uint32_t count, uint32_t rank, uint32_t *set);

/* ---- for eval hooks */

/* Gives output i this shape. Fails with POPRT_E_SHAPE if the output already has another shape:
 * in a model from outside, the contents may contradict the declaration. */
poprt_status prt_shape_output(prt_eval *c, uint32_t i, int32_t dtype, uint32_t rank,
    const int64_t *dims);

/* Copies input 0 to output 0, which has the same elements in the same order. */
poprt_status prt_copy_flat(prt_eval *c);

/* Converts `axis` in [-rank, rank) to a non-negative index. */
poprt_status prt_shape_axis(const prt_eval *c, int64_t axis, uint32_t rank, uint32_t *out);

poprt_status prt_shape_index_fail(const prt_eval *c, int64_t index, int64_t dim);
/* Converts an index into `dim` elements, negative ones counted from the end. Fails with
 * POPRT_E_ARG if it is outside. */
static inline poprt_status prt_shape_index(const prt_eval *c, int64_t index, int64_t dim,
    int64_t *out)
{
    *out = index < 0 ? index + dim : index;
    return *out >= 0 && *out < dim ? POPRT_OK : prt_shape_index_fail(c, index, dim);
}

/* Writes `count` copies of one element. */
void prt_fill_elements(int32_t dtype, void *to, size_t to_index, const void *from,
    size_t from_index, size_t count);

/* Writes `count` elements of value zero: false, the empty string. */
void prt_zero_elements(int32_t dtype, void *to, size_t to_index, size_t count);

enum { PRT_VIEW_RANK = 2 * PRT_MAX_RANK };

/* A strided view of another tensor: its element at[] is element first + sum of at[i] *
 * stride[i]. The creator ensures that all of these are inside. */
typedef struct prt_view {
    uint32_t rank;
    int64_t dims[PRT_VIEW_RANK];
    int64_t stride[PRT_VIEW_RANK];
    int64_t first;
} prt_view;

/* Writes the elements of a view in row-major order. */
void prt_view_copy(const prt_view *view, int32_t dtype, void *to, const void *from);

/* Writes output 0, which has its shape, from a view of input 0, on all threads of the host. */
void prt_view_eval(prt_eval *c, const prt_view *view);

#endif
