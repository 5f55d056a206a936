/* SPDX-License-Identifier: MIT */
/*
 * loop.h — facts about a Loop whose trip count is an input and whose condition stays true: its
 * counters, the values that it reads from outside, the tensors that it writes step by step, and
 * masks that compare the iteration with the length of a sequence.
 */
#ifndef PRT_PASS_RECURRENT_LOOP_H
#define PRT_PASS_RECURRENT_LOOP_H

#include "pass/engine/match.h"

enum { PRT_LOOP_FIRST = 2 }; /* inputs of the op and of its body before the carried values */

typedef struct prt_loop {
    prt_op *op;
    prt_graph *body;
    uint32_t carried; /* number of carried values; scan outputs follow */
    int64_t trips;    /* as a dimension: a number, an expression or PRT_DIM_UNKNOWN */
} prt_loop;

/* An integer that an iteration computes: slope * iteration + start. */
typedef struct prt_loop_integer {
    int64_t slope, start;
} prt_loop_integer;

/* Returns false if the op is not a Loop of this kind, or has side effects. */
bool prt_loop_init(prt_op *op, prt_loop *l);

/* Returns whether a value is the same in all iterations: made outside of the body, or constant. */
bool prt_loop_is_outer(const prt_loop *l, const prt_value *v);
/* Returns such a value as one of the graph around the loop; NULL after a failure, which is in
 * `b`. */
prt_value *prt_loop_outer(const prt_loop *l, prt_build *b, prt_value *v);

/* Returns the index of the carried value whose input of the body is `v`; UINT32_MAX: another
 * value. */
uint32_t prt_loop_state(const prt_loop *l, const prt_value *v);
/* The new value of carried value or scan output k. */
prt_value *prt_loop_next(const prt_loop *l, uint32_t k);

/* Follows Identity and reshapes that keep the last dimension and the order of the rows. Only the
 * rows that the last axis makes up are looked at: of leading dims, at most one is not 1. */
prt_value *prt_loop_rows(prt_value *v);

/* Reads the elements of an integer tensor of the body, at most PRT_MAX_RANK. */
bool prt_loop_integers(const prt_loop *l, const prt_value *v, prt_loop_integer out[PRT_MAX_RANK],
    uint32_t *count);
/* Returns whether an integer tensor of the body has one element, and reads it. */
bool prt_loop_integer_of(const prt_loop *l, const prt_value *v, prt_loop_integer *out);

/* Returns the value that iteration i writes as element i of carried tensor k, where all elements
 * are written; NULL: the tensor is not written like that. */
prt_value *prt_loop_item(const prt_loop *l, uint32_t k);

/* Reads a condition of shape [batch, 1] or wider that compares the iteration with the length of
 * the sequence of each row: true while (`*active`) or true when no more (`!*active`) the iteration
 * is below the length. Returns the lengths, or NULL for another condition. */
prt_value *prt_loop_lengths(const prt_loop *l, prt_value *condition, bool *active);

/* Returns whether a value is a constant 0, perhaps expanded to a shape. */
bool prt_loop_is_zero(const prt_value *v);

#endif
