/* SPDX-License-Identifier: MIT */
/*
 * trace.h — records which nodes of a model are eliminated, and which weights are used up, and by
 * which pass. A node that was merged into another one (prt_op.merged) does not count as eliminated,
 * and a weight that a constant holds (prt_value_hold) not as used up.
 */
#ifndef PRT_PASS_ENGINE_TRACE_H
#define PRT_PASS_ENGINE_TRACE_H

#include "ir/ir.h"

typedef struct prt_trace_node {
    prt_str node, op; /* label; operator */
    const char *pass; /* the pass that eliminated it; NULL: still present */
    uint32_t seen;
} prt_trace_node;

/* An initializer of any graph. */
typedef struct prt_trace_weight {
    prt_str name;
    const char *pass; /* the pass that used it up, "" if no node read it; NULL: still present */
    uint32_t seen;
} prt_trace_weight;

typedef struct prt_trace {
    const prt_module *module;
    prt_arena *arena;
    prt_map by_name;
    PRT_VEC(prt_trace_node *) nodes;
    prt_map weight_by_name;
    PRT_VEC(prt_trace_weight *) weights;
    uint32_t round;
    poprt_status status; /* the first failure; later calls do nothing */
} prt_trace;

/* Records the nodes and weights of `module`, which must outlive the trace. Everything is allocated
 * in `arena`. */
void prt_trace_begin(prt_trace *t, const prt_module *module, prt_arena *arena);
/* Attributes to `pass` (whose text must stay valid) all nodes and weights that are missing for the
 * first time. */
void prt_trace_look(prt_trace *t, const char *pass);

#endif
