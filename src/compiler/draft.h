/* SPDX-License-Identifier: MIT */
/*
 * draft.h — a program during compilation: growing blocks, and buffers that refer to graph values
 * and types of the module. `emit` converts it to a prt_program.
 */
#ifndef PRT_COMPILER_DRAFT_H
#define PRT_COMPILER_DRAFT_H

#include "compiler/compile.h"

typedef struct prt_draft_step {
    const prt_op *op;
    uint32_t kernel;
    uint32_t *args; /* buffers: inputs, then outputs */
    uint32_t *regions;
    prt_lowered *lowered; /* of a `plugin` step; constants by index in `prepared` */
} prt_draft_step;

/* A constant prepared by a plug-in. */
typedef struct prt_prepared {
    prt_blob *blob;
    const prt_op *op; /* the operation it was prepared for */
} prt_prepared;

typedef struct prt_draft_block {
    const prt_graph *graph;
    uint32_t index, parent;
    uint32_t *buffer_of; /* by value id of `graph`: buffer + 1, or 0 */
    prt_map captures;    /* address of an outer value, as a text key → buffer + 1 */
    PRT_VEC(prt_buffer) buffers;
    PRT_VEC(prt_draft_step) steps;
    uint32_t *inputs, *outputs;
    uint32_t n_inputs, n_outputs;
    bool is_static;
    size_t plan_size, plan_peak;
} prt_draft_block;

/* A block that nodes with PRT_CALLS run. */
typedef struct prt_draft_callee {
    uint32_t block;
    const struct prt_draft_callee *next;
} prt_draft_callee;

typedef struct prt_draft {
    const prt_module *module;
    const prt_compile_options *options;
    prt_arena *arena; /* build arena, released after the compilation */
    PRT_VEC(prt_draft_block *) blocks;
    PRT_VEC(prt_entry) entries;
    PRT_VEC(const prt_value *) constants;
    PRT_VEC(prt_prepared) prepared; /* constants that follow `constants` */
    uint64_t prepared_bytes;
    prt_map constant_of; /* address of a value, as a key → index + 1 */
    prt_map callees;     /* name of a graph → prt_draft_callee, the newest first */
    bool unordered;      /* a block calls a callee with a smaller index */
    uint64_t done;       /* operations lowered, for progress */
} prt_draft;

/* The steps of compilation, in order. */
poprt_status prt_compile_place(prt_draft *d);
poprt_status prt_compile_lower(prt_draft *d);
poprt_status prt_compile_schedule(prt_draft *d);
poprt_status prt_compile_alias(prt_draft *d);
poprt_status prt_compile_plan(prt_draft *d);
poprt_status prt_compile_emit(prt_draft *d, prt_program **out);

/* callees.c: finds a block that can stand for the region of a node with PRT_CALLS in block
 * `caller`; UINT32_MAX: there is none. The second function makes a block a candidate, and the third
 * puts the blocks in an order in which callers come before their callees. */
uint32_t prt_compile_find_callee(prt_draft *d, uint32_t caller, const prt_graph *region);
poprt_status prt_compile_add_callee(prt_draft *d, uint32_t block);
poprt_status prt_compile_order_blocks(prt_draft *d);

/* prepare.c: asks the plug-in of a node's operator for a kernel of the step. Leaves the step
 * unchanged if the plug-in has no kernel for it. */
poprt_status prt_compile_prepare(prt_draft *d, prt_draft_step *step);
/* Returns whether the kernel of a step drops an input, which is then not an argument. */
static inline bool prt_draft_drops(const prt_draft_step *step, uint32_t input)
{
    for (uint32_t i = 0; step->lowered != NULL && i < step->lowered->n_dropped; i++)
        if (step->lowered->dropped[i].input == input)
            return true;
    return false;
}

/* Returns a map key made from an address; its bytes are allocated in the draft's arena. */
prt_str prt_draft_key(prt_draft *d, const void *address);

#endif
