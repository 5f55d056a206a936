/* SPDX-License-Identifier: MIT */
/*
 * loop_carry.h — state of loops between runs of their region: values carried from one iteration to
 * the next, and stacked results of all iterations.
 */
#ifndef PRT_OP_SHARE_LOOP_CARRY_H
#define PRT_OP_SHARE_LOOP_CARRY_H

#include "op/op.h"

/* A carried value. A region may return one of its own inputs, so there are two buffers, written
 * alternately. */
typedef struct prt_loop_carry {
    prt_tensor value; /* input of the next run of the region */
    prt_tensor held;  /* the item of `value` if that is an optional */
    /* the region returned the item of an optional; its next input is an optional again */
    bool wrapped;
    void *place[2];
    size_t capacity[2]; /* in bytes */
    uint32_t current;
} prt_loop_carry;

/* Copies a result of the region. Its kind and element type must be those of `first`, the initial
 * value; the only exception is an optional that becomes its item. */
poprt_status prt_loop_carry_take(prt_eval *c, prt_loop_carry *to, const prt_tensor *first,
    const prt_tensor *from);

/* Returns the value in the form in which the region returned it last. */
static inline const prt_tensor *prt_loop_carry_result(const prt_loop_carry *carry)
{
    return carry->wrapped ? &carry->held : &carry->value;
}

/* A growing stack of tensors of one shape. */
typedef struct prt_stack {
    prt_tensor first; /* header of the first item: element type and dims of all items */
    void *data;
    size_t count, capacity; /* number of items, and capacity in items */
} prt_stack;

/* Appends a copy of `item`. Its strings are copied to the memory of output `out`. */
poprt_status prt_stack_push(prt_eval *c, uint32_t out, prt_stack *stack, const prt_tensor *item);

/* Makes output `out` the items along a new first axis. Without items, the dims are the declared
 * dims of the output. */
poprt_status prt_stack_to_output(prt_eval *c, uint32_t out, const prt_stack *stack);

/* Makes output `out` the result of a loop that never ran: the declared shape, with 0 for each
 * unknown dim. */
poprt_status prt_loop_carry_empty(prt_eval *c, uint32_t out, uint32_t axis);

/* Copy between a tensor and its slice `index` along `axis`; `whole` has one axis more than the
 * slice. */
void prt_slice_read(const prt_tensor *whole, uint32_t axis, int64_t index, prt_tensor *slice);
void prt_slice_write(prt_tensor *whole, uint32_t axis, int64_t index, const prt_tensor *slice);

/* Reads a bool input that must have exactly one element; `what` names it in the error. */
poprt_status prt_loop_carry_flag(prt_eval *c, const prt_tensor *t, const char *what, bool *out);

#endif
