/* SPDX-License-Identifier: MIT */
/*
 * downgrade.h — from canonical operators to the forms of an older opset: what the `down` functions
 * of upgrade.def are written with.
 *
 * A hook gets an op whose types are known as far as inference knows them, in the form of the row's
 * `to`, and leaves that of the opset before: in place, or by building other ops and replacing the
 * outputs. Required inputs and outputs are there; what attributes say may be out of all bounds,
 * because not every op of a model could be inferred. What it builds is canonical and goes down by
 * rows of its own. Attributes that only older forms have are added as ONNX bytes; an op that has
 * some cannot be inferred any more.
 */
#ifndef PRT_CONVERTER_DOWNGRADE_H
#define PRT_CONVERTER_DOWNGRADE_H

#include "converter/upgrade.h"

/* Hides the shapes that contradict each other in branches, see broken.c. */
poprt_status prt_onnx_open_broken(prt_graph *graph);

/* There is no way down: a sentence that goes behind the operator, its node and the versions. */
poprt_status prt_down_refuse(const prt_downgrade *d, const char *fmt, ...) PRT_PRINTF(2, 3);

/* ---- attributes that only the older form has */
poprt_status prt_down_add_int(prt_downgrade *d, const char *name, int64_t value);
poprt_status prt_down_add_float(prt_downgrade *d, const char *name, float value);
poprt_status prt_down_add_text(prt_downgrade *d, const char *name, const char *value);
poprt_status prt_down_add_ints(prt_downgrade *d, const char *name, uint32_t n, const int64_t *v);
poprt_status prt_down_add_floats(prt_downgrade *d, const char *name, uint32_t n, const float *v);

/* An attribute of the row that the older form does not have: back to its default, not written. */
void prt_down_hide(prt_op *op, const char *name);
/* An attribute that the older form must have spelled out. */
void prt_down_show(prt_op *op, const char *name);

/* The op is written under another name from now on, with the attributes added to it and nothing of
 * its row's. */
void prt_down_rename(prt_downgrade *d, const char *name);

/* ---- what is known of values */

/* The integers of a constant, or those that inference knows; at most `most` of them, in `to`. */
bool prt_down_integers(const prt_value *v, uint32_t most, int64_t *to, uint32_t *count);
/* The only number in a constant of a numeric type. */
bool prt_down_number(const prt_value *v, double *out);
/* Type of a tensor, with a rank of at most PRT_MAX_RANK; else NULL. */
const prt_type *prt_down_ranked(const prt_value *v);
/* The same where all dims are numbers. */
const prt_type *prt_down_static(const prt_value *v);
int32_t prt_down_dtype(const prt_value *v);
/* An axis from either end, counted from the front; false when it is not one of `rank`. */
bool prt_down_axis_of(int64_t axis, int32_t rank, int64_t *out);
/* Has it an element type for which the operator exists at the target, as input 0? */
bool prt_down_takes(const prt_downgrade *d, const char *name, const prt_value *v);

/* ---- edits */

/* The op keeps its first `count` inputs. */
void prt_down_keep_inputs(prt_op *op, uint32_t count);
poprt_status prt_down_set_input(prt_op *op, uint32_t slot, prt_value *value);
/* The integers of input `slot` become attribute `name`; the slot is emptied. */
poprt_status prt_down_input_to_ints(prt_downgrade *d, uint32_t slot, const char *name);
/* Output 0 becomes `by`, and the op goes. Names and readers follow. */
poprt_status prt_down_replace(prt_downgrade *d, prt_build *b, prt_value *by);
/* A builder that puts ops right behind `op`. */
prt_build prt_down_build_after(prt_op *op);
/* `outer`, made from `inner` alone, takes over its name and its other readers. */
poprt_status prt_down_wrap(prt_build *b, prt_value *inner, prt_value *outer);
/* A negative axis counted from the front, where the rank of `like` is known. */
int64_t prt_down_front_axis(int64_t axis, const prt_value *like);

/* ---- building */

/* A scalar of the type of `like`. */
prt_value *prt_down_scalar(prt_build *b, double value, const prt_value *like);
prt_value *prt_down_cast(prt_build *b, prt_value *x, int32_t dtype);
/* `axes` may be NULL: all of them. */
prt_value *prt_down_reduce(prt_build *b, uint32_t id, prt_value *x, prt_value *axes,
    bool keep_dims);
prt_value *prt_down_transpose(prt_build *b, prt_value *x, uint32_t rank, const int64_t *perm);
prt_value *prt_down_reshape(prt_build *b, prt_value *x, uint32_t rank, const int64_t *dims);
/* Reshape to a shape that may say 0 and means it. */
prt_value *prt_down_reshape_to(prt_build *b, prt_value *x, prt_value *shape);
/* `list` at the places `at` of `whole`, both of rank 1. */
prt_value *prt_down_place(prt_build *b, prt_value *whole, uint32_t count, const int64_t *at,
    prt_value *list);
/* 0, 1, … below the length of an axis (counted from the back) of x, of rank 2: as a column or as
 * a row. */
prt_value *prt_down_indices(prt_build *b, prt_value *x, int64_t axis, bool column);

#endif
