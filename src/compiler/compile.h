/* SPDX-License-Identifier: MIT */
/* compile.h — compiles a typed module to a program: place, lower, schedule, alias, plan, emit. */
#ifndef PRT_COMPILER_COMPILE_H
#define PRT_COMPILER_COMPILE_H

#include "ir/ir.h"
#include "program/program.h"

/* Data flow of a program; see program/flow.h. */
typedef struct prt_compile_flow {
    prt_flow flow;
    uint32_t n_broadcast; /* inputs of which all replicas read the same blocks */
    const prt_str *broadcast;
    uint32_t n_anchors; /* outputs; those that are not listed have return type all */
    const prt_str *anchor_names;
    const prt_anchor *anchors;
    prt_loss_scaling scaling; /* variables by index in the module */
    prt_str optimizer;        /* as in prt_program */
    bool accumulates;
} prt_compile_flow;

typedef struct prt_compile_options {
    const prt_allocator *allocator;
    size_t memory_limit; /* bytes; 0: unlimited */
    /* Reports progress; a nonzero return cancels. May be NULL. */
    int32_t (*progress)(void *user, const char *stage, uint64_t done, uint64_t total);
    void *progress_user;
    const prt_eliminated *eliminated; /* nodes that passes eliminated earlier; for inspection */
    uint32_t n_eliminated;
    const prt_weight *folded; /* weights that passes used up: their names and the passes */
    uint32_t n_folded;
    const prt_compile_flow *flow; /* NULL: a run is one micro-batch */
    bool no_memory_sharing;       /* every value has its own memory: no views, nothing in place */
} prt_compile_options;

/* Compiles a module, which is only read. Fails with one report of all operators that have no
 * kernel. */
poprt_status prt_compile(const prt_module *module, const prt_compile_options *options,
    prt_program **out);

#endif
