/* SPDX-License-Identifier: MIT */
/*
 * shape_values.h — what operators that move elements share: contents of shape tensors, strided
 * reading, filling, and the check that contents agree with the shape of an output.
 */
#ifndef PRT_OP_SHARE_SHAPE_VALUES_H
#define PRT_OP_SHARE_SHAPE_VALUES_H

#include "op/op.h"

/* ---- while inferring */

/*
 * What is known of the integers of input i, an int32 or int64 tensor of rank 0 or 1: element for
 * element a number, an expression or PRT_DIM_UNKNOWN. False when not even their count is known, or
 * it is above PRT_CONTENT_MAX, and always at run time, where nobody asks for contents.
 */
bool prt_shape_values(const prt_infer *c, uint32_t i, int64_t to[PRT_CONTENT_MAX], uint32_t *count);

/* Says what is known of output i, unless that is nothing. */
poprt_status prt_shape_values_set(prt_infer *c, uint32_t i, uint32_t count, const int64_t *values);

/* Output 0 has the elements of input 0 in the same order: passes their contents on when the output
 * has rank 0 or 1. Called after the output's shape was set. */
poprt_status prt_shape_values_pass(prt_infer *c);

/* Number of elements of input i, a list of rank 0 or 1: false when not known. */
bool prt_shape_values_count(const prt_infer *c, uint32_t i, int64_t *count);

/*
 * `axes` as a set of bits, negative ones counted from the end; false when one is outside
 * [-rank, rank). Repeated axes show in the count of bits.
 */
bool prt_shape_axes(const int64_t *axes, uint32_t count, uint32_t rank, uint32_t *set);

/* ---- while evaluating */

/* Gives output i this shape, or fails when another one was promised: what contents say and what
 * was declared may differ in a model from outside. */
poprt_status prt_shape_output(prt_eval *c, uint32_t i, int32_t dtype, uint32_t rank,
    const int64_t *dims);

/* Output 0 has the elements of input 0 in the same order. */
poprt_status prt_copy_flat(prt_eval *c);

/* `axis`, in [-rank, rank), made non-negative. */
poprt_status prt_shape_axis(const prt_eval *c, int64_t axis, uint32_t rank, uint32_t *out);

poprt_status prt_shape_index_fail(const prt_eval *c, int64_t index, int64_t dim);
/* Index `index` of `dim` elements, negative ones counted from the end; fails outside. */
static inline poprt_status prt_shape_index(const prt_eval *c, int64_t index, int64_t dim,
    int64_t *out)
{
    *out = index < 0 ? index + dim : index;
    return *out >= 0 && *out < dim ? POPRT_OK : prt_shape_index_fail(c, index, dim);
}

/* `count` copies of one element. */
void prt_fill_elements(int32_t dtype, void *to, size_t to_index, const void *from,
    size_t from_index, size_t count);

/* `count` elements of value zero: false, the empty string. */
void prt_zero_elements(int32_t dtype, void *to, size_t to_index, size_t count);

enum { PRT_VIEW_RANK = 2 * PRT_MAX_RANK };

/* A tensor read through strides: its element at[] is element first + sum of at[i] * stride[i] of
 * another one. Whoever makes it sees that these are inside. */
typedef struct prt_view {
    uint32_t rank;
    int64_t dims[PRT_VIEW_RANK];
    int64_t stride[PRT_VIEW_RANK];
    int64_t first;
} prt_view;

/* Writes the elements of a view in order. */
void prt_view_copy(const prt_view *view, int32_t dtype, void *to, const void *from);

/* Output 0, which has its shape, from a view of input 0; all threads lent take part. */
void prt_view_eval(prt_eval *c, const prt_view *view);

#endif
