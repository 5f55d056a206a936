/* SPDX-License-Identifier: MIT */
/*
 * lower.h — compilation of operators outside the table: the context of the `lower` hook of such a
 * row (prt_op_row), and the part of its answer that a program stores. An operator of the table has
 * no such hook: its fast implementation is selected when a session is created.
 */
#ifndef PRT_OP_LOWER_H
#define PRT_OP_LOWER_H

#include "op/infer.h"

#define PRT_LOWER_MAX_CONSTANTS 16u
#define PRT_LOWER_MAX_BYTES (UINT64_C(1) << 40) /* limit of one constant, in bytes */
#define PRT_LOWER_MAX_SCRATCH (UINT64_C(1) << 30)
#define PRT_LOWER_MAX_ITEMS (UINT64_C(1) << 30)
#define PRT_LOWER_NO_KERNEL UINT32_MAX

/* A constant input that is not stored in the program; only its type is kept. */
typedef struct prt_lowered_input {
    uint32_t input;
    const prt_type *type;
} prt_lowered_input;

/* How a step with a kernel of its own runs. */
typedef struct prt_lowered {
    uint32_t kernel; /* index into the kernels of the row */
    uint32_t n_constants, n_dropped;
    const uint32_t *constants; /* constants of the program that the hook prepared */
    const prt_lowered_input *dropped;
    uint64_t scratch; /* bytes per thread */
    uint64_t items;
    uint64_t in_place_inputs; /* bit i: output 0 may be written over input i */
    uint64_t read_constants;  /* bit i: the hook read constant input i, which must not change
                                 afterwards */
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
    /* Returns the elements, aligned, of an input that is a permanent constant; kind ABSENT if it
     * is not. */
    poprt_status (*elements)(prt_lower *c, uint32_t input, prt_tensor *out);
    /* Allocates zeroed memory, cache-line aligned, that becomes a constant of the program. */
    poprt_status (*prepare)(prt_lower *c, size_t size, void **memory);
    void *user;
    prt_arena *arena; /* memory that lives at least as long as the context */
    /* The answer; the members mean the same as in prt_lowered. */
    uint32_t kernel; /* PRT_LOWER_NO_KERNEL: run by eval */
    uint32_t n_prepared;
    uint64_t scratch, items, in_place_inputs, read_constants;
    uint64_t dropped; /* bit i: input i is not needed */
};

#endif
