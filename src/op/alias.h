/* SPDX-License-Identifier: MIT */
/*
 * alias.h — which results need no memory of their own: views, that lie in the bytes of an input
 * as they are, joins, whose inputs may be made where the result is, and results that may be written
 * over an input.
 *
 * The compiler plans memory by this, and the runtime decides by the very same functions what a step
 * has to do, so that a program from a file is never believed.
 */
#ifndef PRT_OP_ALIAS_H
#define PRT_OP_ALIAS_H

#include "op/op.h"

/* Some outputs of this operator can be bytes of input 0, where shapes and contents allow it. */
bool prt_alias_may_view(const prt_op_def *def);

/*
 * Output `i` has the elements of input 0 from byte `*offset` of it on, in the same order. `y` is
 * its header; inputs have their contents where these are known (`data` not NULL). False also when
 * what decides is not known.
 */
bool prt_alias_view(const prt_op_def *def, const void *attrs, uint32_t n_in,
    const prt_tensor *const *in, uint32_t n_out, bool others, uint32_t i, const prt_tensor *y,
    size_t *offset);

/* The operator puts its inputs together, and does nothing else. */
bool prt_alias_may_join(const prt_op_def *def);

/* The inputs of such an operator, one after another without gaps, are output 0. */
bool prt_alias_join(const prt_op_def *def, const void *attrs, const prt_tensor *y);

/*
 * Argument `i` of this operator, an input or (`out`) an output of this type, may be columns
 * of a larger tensor: its rows along the last axis lie farther apart than they are long,
 * as prt_tensor's `pitch` says. Fast forms see to that; a session gives others a copy.
 */
bool prt_alias_takes_columns(const prt_op_def *def, const void *attrs, const prt_type *type,
    bool out, uint32_t i);

/* The operator puts its inputs beside each other in the rows of output 0, along the last axis, or
 * takes (`apart`) the rows of input 0 apart; the attributes are checked. */
bool prt_alias_takes_concat_columns(const prt_op_def *def, const void *attrs, uint32_t rank,
    bool apart);

/* Output 0 of this operator may be written over input `in`, when both have one type and shape:
 * element i is read for the last time before element i is written. */
bool prt_alias_in_place(const prt_op_def *def, uint32_t n_in, uint32_t in);

#endif
