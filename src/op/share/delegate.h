/* SPDX-License-Identifier: MIT */
/*
 * delegate.h — another operator of the table as a part of this one: its shape function and its
 * reference value, on tensors that need not be of the types its row allows. How forms of an
 * operator for quantised numbers share the one for floats.
 */
#ifndef PRT_OP_SHARE_DELEGATE_H
#define PRT_OP_SHARE_DELEGATE_H

#include "op/op.h"

/* Shapes by the other operator. `out` is filled; `value` (contents of its inputs) may be NULL. */
poprt_status prt_delegate_infer(prt_infer *c, uint32_t id, const void *attrs, uint32_t n_in,
    const prt_shape *in, const prt_tensor *const *value, uint32_t n_out, prt_shape *out);

/* Values by the other operator. Absent inputs are NULL; outputs have their shapes and memory. */
poprt_status prt_delegate_eval(prt_eval *c, uint32_t id, const void *attrs, uint32_t n_in,
    const prt_tensor *const *in, uint32_t n_out, prt_tensor *const *out);

/* A tensor in scratch, zeroed. */
poprt_status prt_delegate_tensor(prt_eval *c, int32_t dtype, uint32_t rank, const int64_t *dims,
    prt_tensor *to);

#endif
