/* SPDX-License-Identifier: MIT */
/*
 * downgrade.h — rewrites canonical operators to the variants of an older opset: helpers for the
 * `down` functions of upgrade.def.
 *
 * A hook gets an op in the variant of the row's `to`, with types as far as inference knows them. It
 * leaves the variant of the opset before: in place, or by building other ops and replacing the
 * outputs. Required inputs and outputs are present. Attribute values may be out of range, because
 * not every op of a model can be inferred. The ops that a hook builds are canonical and are
 * downgraded by their own rows. Attributes that only older variants have are added as ONNX bytes;
 * an op with such attributes can no longer be inferred.
 */
#ifndef PRT_CONVERTER_DOWNGRADE_H
#define PRT_CONVERTER_DOWNGRADE_H

#include "converter/upgrade.h"

/* Hides contradictory shapes in branches, see contradiction.c. */
poprt_status prt_onnx_hide_contradictions(prt_graph *graph);

/* Fails because the op cannot be downgraded. The text follows the operator, its node and the
 * versions. */
poprt_status prt_down_refuse(const prt_downgrade *d, const char *fmt, ...) PRT_PRINTF(2, 3);

/* ---- attributes that only the older variant has */
poprt_status prt_down_add_int(prt_downgrade *d, const char *name, int64_t value);
poprt_status prt_down_add_float(prt_downgrade *d, const char *name, float value);
poprt_status prt_down_add_text(prt_downgrade *d, const char *name, const char *value);
poprt_status prt_down_add_ints(prt_downgrade *d, const char *name, uint32_t n, const int64_t *v);
poprt_status prt_down_add_floats(prt_downgrade *d, const char *name, uint32_t n, const float *v);

/* Resets an attribute that the older variant does not have to its default, so it is not written. */
void prt_down_reset_attr(prt_op *op, const char *name);
/* Marks an attribute that the older variant requires as given, so it is written. */
void prt_down_mark_given(prt_op *op, const char *name);

/* Writes the op under another name, with the attributes added to it and without those of its
 * row. */
void prt_down_rename(prt_downgrade *d, const char *name);

/* ---- known properties of values */

/* Stores up to `most` integers of a constant, or of a value that inference knows, in `to`. Returns
 * false if they are unknown. */
bool prt_down_integers(const prt_value *v, uint32_t most, int64_t *to, uint32_t *count);
/* Reads the only element of a constant of a numeric type; false if there is not exactly one. */
bool prt_down_number(const prt_value *v, double *out);
/* Returns the type of a tensor with a rank of at most PRT_MAX_RANK, else NULL. */
const prt_type *prt_down_ranked(const prt_value *v);
/* Like prt_down_ranked, but NULL unless all dims are numbers. */
const prt_type *prt_down_static(const prt_value *v);
int32_t prt_down_dtype(const prt_value *v);
/* Normalises an axis, which may be negative, to count from the front; false if it is out of
 * range. */
bool prt_down_axis_of(int64_t axis, int32_t rank, int64_t *out);
/* Returns whether the operator exists at the target for the element type of `v` as input 0; a NULL
 * `v` checks only that it exists. */
bool prt_down_supports(const prt_downgrade *d, const char *name, const prt_value *v);

/* ---- edits */

/* Drops all inputs after the first `count`. */
void prt_down_keep_inputs(prt_op *op, uint32_t count);
poprt_status prt_down_set_input(prt_op *op, uint32_t slot, prt_value *value);
/* Turns the integers of input `slot` into attribute `name` and empties the slot. */
poprt_status prt_down_input_to_ints(prt_downgrade *d, uint32_t slot, const char *name);
/* Replaces output 0 by `by`, with its name and readers, and erases the op. */
poprt_status prt_down_replace(prt_downgrade *d, prt_build *b, prt_value *by);
/* Returns a builder that inserts ops right after `op`. */
prt_build prt_down_build_after(prt_op *op);
/* Moves the name and the other readers of `inner` to `outer`, which is computed from `inner`
 * alone. */
poprt_status prt_down_wrap(prt_build *b, prt_value *inner, prt_value *outer);
/* Returns a negative axis counted from the front if the rank of `like` is known, else unchanged. */
int64_t prt_down_front_axis(int64_t axis, const prt_value *like);

/* ---- building */

/* Builds a scalar of the type of `like`. */
prt_value *prt_down_scalar(prt_build *b, double value, const prt_value *like);
prt_value *prt_down_cast(prt_build *b, prt_value *x, int32_t dtype);
/* `axes` may be NULL: all axes. */
prt_value *prt_down_reduce(prt_build *b, uint32_t id, prt_value *x, prt_value *axes,
    bool keep_dims);
prt_value *prt_down_transpose(prt_build *b, prt_value *x, uint32_t rank, const int64_t *perm);
prt_value *prt_down_reshape(prt_build *b, prt_value *x, uint32_t rank, const int64_t *dims);
/* Reshapes to a shape in which a 0 means a dim of 0. */
prt_value *prt_down_reshape_to(prt_build *b, prt_value *x, prt_value *shape);
/* Writes `list` to the positions `at` of `whole`; both have rank 1. */
prt_value *prt_down_write_at(prt_build *b, prt_value *whole, uint32_t count, const int64_t *at,
    prt_value *list);
/* Builds the indices 0, 1, … of an axis (counted from the back) of x, with rank 2: as a column or
 * as a row. */
prt_value *prt_down_indices(prt_build *b, prt_value *x, int64_t axis, bool column);

#endif
