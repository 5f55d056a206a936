/* SPDX-License-Identifier: MIT */
/*
 * delegate.h — delegation to another operator of the table: its shape function and its reference
 * kernel, on tensors that need not have the types its row allows. The quantised variants of an
 * operator reuse the float operator this way.
 */
#ifndef PRT_OP_SHARE_DELEGATE_H
#define PRT_OP_SHARE_DELEGATE_H

#include "op/op.h"

/* Infers shapes with the other operator. `out` is filled; `value` (contents of its inputs) may
 * be NULL. */
poprt_status prt_delegate_infer(prt_infer *c, uint32_t id, const void *attrs, uint32_t n_in,
    const prt_shape *in, const prt_tensor *const *value, uint32_t n_out, prt_shape *out);

/* Runs the kernel of the other operator. Absent inputs are NULL; outputs have their shapes and
 * memory. */
poprt_status prt_delegate_eval(prt_eval *c, uint32_t id, const void *attrs, uint32_t n_in,
    const prt_tensor *const *in, uint32_t n_out, prt_tensor *const *out);

/* Makes a zeroed tensor in scratch. */
poprt_status prt_delegate_tensor(prt_eval *c, int32_t dtype, uint32_t rank, const int64_t *dims,
    prt_tensor *to);

#endif
