/* SPDX-License-Identifier: MIT */
/*
 * alias.h — outputs that need no memory of their own: views (a byte range of an input),
 * concatenations whose inputs are computed in place inside the result, and outputs written over an
 * input. The traits and slot flags of the rows say which operators qualify, and the hooks `view`
 * and `columns` for which attributes, shapes and contents (op.h).
 *
 * The compiler plans memory with these functions. The runtime calls the same functions to choose
 * the mode of a step, so it never trusts the plan in a program file.
 */
#ifndef PRT_OP_ALIAS_H
#define PRT_OP_ALIAS_H

#include "op/op.h"

/* Outputs of this operator can be views of input 0, if shapes and contents allow it. */
bool prt_alias_may_view(const prt_op_def *def);

/* An output `i` of a step that may be a view of input 0. An input has contents where they are
 * known (`data` not NULL). */
typedef struct prt_view_query {
    const void *attrs;
    uint32_t n_in, n_out;
    const prt_tensor *const *in; /* NULL where absent */
    uint32_t i;
    const prt_tensor *y; /* the header of the output */
    bool others;         /* another output is wanted */
} prt_view_query;

/* Returns true if the output has the elements of input 0 from byte `*offset` on, in the same
 * order. Returns false also where the decision depends on contents that are not known. */
bool prt_alias_view(const prt_op_def *def, const prt_view_query *q, size_t *offset);

/* For `view` hooks: input `k` is present; and it is present, but its contents are not known. */
bool prt_view_has(const prt_view_query *q, uint32_t k);
bool prt_view_is_unknown(const prt_view_query *q, uint32_t k);

/* For `view` hooks: returns integer `at` of an input whose contents are known, or `absent`. */
int64_t prt_view_integer(const prt_view_query *q, uint32_t k, size_t at, int64_t absent);

/* For `view` hooks: computes the index, in elements, of the box of input 0 that starts at `first`
 * and has the dims of the output. Returns false if the box is not contiguous or leaves the
 * input. */
bool prt_view_box(const prt_view_query *q, const int64_t *first, size_t *element);

/* The operator concatenates its inputs, or splits input 0, and does nothing else. */
static inline bool prt_alias_is_concat(const prt_op_def *def)
{
    return (def->traits & PRT_CONCAT) != 0;
}
static inline bool prt_alias_is_split(const prt_op_def *def)
{
    return (def->traits & PRT_SPLIT) != 0;
}

/* Output 0 of a concatenation is its inputs, one after another without gaps. */
bool prt_alias_concat_is_contiguous(const prt_op_def *def, const void *attrs, const prt_tensor *y);

/* The operator is a concatenation or a split along the last axis of tensors of this rank. */
bool prt_alias_is_along_columns(const prt_op_def *def, const void *attrs, uint32_t rank);

/* Argument `i` of this operator, an input or (`out`) an output of this type, may be columns of a
 * larger tensor: the distance between rows along the last axis exceeds their length, as `pitch`
 * of prt_tensor says. The fast implementations support this; for others the session makes a
 * copy. */
bool prt_alias_takes_columns(const prt_op_def *def, const void *attrs, const prt_type *type,
    bool out, uint32_t i);

/* Output 0 of this operator may be written over input `in` if both have one type and shape:
 * element i is read for the last time before element i is written. */
bool prt_alias_in_place(const prt_op_def *def, uint32_t n_in, uint32_t in);

#endif
