/* SPDX-License-Identifier: MIT */
/*
 * lower.h — operators beside the table that are compiled: what the compiler asks the `lower` hook
 * of such a row (prt_op_row), and what a program keeps of the answer. An operator of the table
 * needs none of it: its fast form is found when a session is made.
 */
#ifndef PRT_OP_LOWER_H
#define PRT_OP_LOWER_H

#include "op/infer.h"

#define PRT_LOWER_MOST_CONSTANTS 16u
#define PRT_LOWER_MOST_BYTES (UINT64_C(1) << 40) /* of a constant */
#define PRT_LOWER_MOST_SCRATCH (UINT64_C(1) << 30)
#define PRT_LOWER_MOST_ITEMS (UINT64_C(1) << 30)
#define PRT_LOWER_NO_KERNEL UINT32_MAX

/* An input that is not stored: its type is all there is. */
typedef struct prt_lowered_input {
    uint32_t input;
    const prt_type *type;
} prt_lowered_input;

/* How a step with a kernel of its own runs. */
typedef struct prt_lowered {
    uint32_t kernel; /* among the row's */
    uint32_t n_constants, n_dropped;
    const uint32_t *constants; /* prepared: constants of the program */
    const prt_lowered_input *dropped;
    uint64_t scratch; /* bytes, for each thread */
    uint64_t items;
    uint64_t over; /* bit i: output 0 may be written over input i */
    uint64_t from; /* bit i: input i was looked at, and must stay what it was */
} prt_lowered;

/* The context of the hook. */
typedef struct prt_lower prt_lower;
struct prt_lower {
    const struct prt_op_def *def;
    const void *attrs;
    prt_str origin;
    uint32_t n_in, n_out;
    const prt_type *const *in;  /* NULL where absent */
    const prt_type *const *out; /* NULL where not wanted */
    /* Elements of an input that is a constant for good, aligned; kind ABSENT: it is none. */
    poprt_status (*elements)(prt_lower *c, uint32_t input, prt_tensor *out);
    /* Zeroed bytes at the start of a cache line that become a constant. */
    poprt_status (*prepare)(prt_lower *c, size_t size, void **memory);
    void *user;
    /* The answer, as of prt_lowered. */
    uint32_t kernel; /* PRT_LOWER_NO_KERNEL: eval */
    uint32_t n_prepared;
    uint64_t scratch, items, over, from;
    uint64_t dropped; /* bit i: input i is not needed */
};

#endif
