/* SPDX-License-Identifier: MIT */
/*
 * alias.h — outputs that need no memory of their own: views (a byte range of an input),
 * concatenations whose inputs are computed in place inside the result, and outputs written over an
 * input.
 *
 * The compiler plans memory with these functions. The runtime calls the same functions to choose
 * the mode of a step, so it never trusts the plan in a program file.
 */
#ifndef PRT_OP_ALIAS_H
#define PRT_OP_ALIAS_H

#include "op/op.h"

/* Outputs of this operator can be views of input 0, if shapes and contents allow it. */
bool prt_alias_may_view(const prt_op_def *def);

/*
 * Returns true if output `i` holds the elements of input 0 from byte `*offset` on, in the same
 * order. `y` is the header of the output. An input has contents where they are known (`data` not
 * NULL). `others`: an output other than `i` is wanted. Returns false also where the decision
 * depends on contents that are not known.
 */
bool prt_alias_view(const prt_op_def *def, const void *attrs, uint32_t n_in,
    const prt_tensor *const *in, uint32_t n_out, bool others, uint32_t i, const prt_tensor *y,
    size_t *offset);

/* The operator concatenates its inputs and does nothing else. */
bool prt_alias_may_join(const prt_op_def *def);

/* Output 0 of such an operator is its inputs, one after another without gaps. */
bool prt_alias_join(const prt_op_def *def, const void *attrs, const prt_tensor *y);

/* Argument `i` of this operator, an input or (`out`) an output of this type, may be columns of a
 * larger tensor: the distance between rows along the last axis exceeds their length, as `pitch`
 * of prt_tensor says. The fast implementations support this; for others the session makes a
 * copy. */
bool prt_alias_takes_columns(const prt_op_def *def, const void *attrs, const prt_type *type,
    bool out, uint32_t i);

/* The operator concatenates its inputs along the last axis or, if `apart`, splits input 0 along
 * the last axis. Only the attributes are checked. */
bool prt_alias_takes_concat_columns(const prt_op_def *def, const void *attrs, uint32_t rank,
    bool apart);

/* Output 0 of this operator may be written over input `in` if both have one type and shape:
 * element i is read for the last time before element i is written. */
bool prt_alias_in_place(const prt_op_def *def, uint32_t n_in, uint32_t in);

#endif
