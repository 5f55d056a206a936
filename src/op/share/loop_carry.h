/* SPDX-License-Identifier: MIT */
/*
 * loop_carry.h — what loops keep between runs of their region: values that go from one iteration to
 * the next, and results of all iterations put together.
 */
#ifndef PRT_OP_SHARE_LOOP_CARRY_H
#define PRT_OP_SHARE_LOOP_CARRY_H

#include "op/op.h"

/* A carried value. What a region returns may be one of its own inputs, so there are two places,
 * written in turn. */
typedef struct prt_loop_carry {
    prt_tensor value; /* what the next run of the region gets */
    prt_tensor held;  /* what `value`, an optional, holds */
    bool wrapped;     /* the region gave the item of an optional; it gets an optional again */
    void *place[2];
    size_t room[2]; /* bytes */
    uint32_t turn;
} prt_loop_carry;

/* Copies a result of the region. Its kind and element type must be those of `first`, the value
 * the loop began with; only an optional may turn into what it holds. */
poprt_status prt_loop_carry_take(prt_eval *c, prt_loop_carry *to, const prt_tensor *first,
    const prt_tensor *from);

/* The value as the region gave it last. */
static inline const prt_tensor *prt_loop_carry_result(const prt_loop_carry *carry)
{
    return carry->wrapped ? &carry->held : &carry->value;
}

/* Tensors of one shape, one after another. */
typedef struct prt_stack {
    prt_tensor first; /* header of the first: element type and dims of all */
    void *data;
    size_t count, room; /* items */
} prt_stack;

/* Appends a copy of `item`, in memory that output `out` can refer to. */
poprt_status prt_stack_push(prt_eval *c, uint32_t out, prt_stack *stack, const prt_tensor *item);

/* Output `out` becomes the items along a new first axis. Without items the dims come from what is
 * declared for the output. */
poprt_status prt_stack_give(prt_eval *c, uint32_t out, const prt_stack *stack);

/* Shape of an output of a loop that never ran: as declared, zero where a dim is not known. */
poprt_status prt_loop_carry_empty(prt_eval *c, uint32_t out, uint32_t axis);

/* Copies between a tensor and its slice `index` along `axis`; `whole` has one axis more. */
void prt_slice_read(const prt_tensor *whole, uint32_t axis, int64_t index, prt_tensor *slice);
void prt_slice_write(prt_tensor *whole, uint32_t axis, int64_t index, const prt_tensor *slice);

/* One element of a tensor input that must have exactly one. */
poprt_status prt_loop_carry_flag(prt_eval *c, const prt_tensor *t, const char *what, bool *out);

#endif
