/* SPDX-License-Identifier: MIT */
/*
 * trace.h — which nodes of a model are gone after passes, and which pass took each of them out. A
 * node that another one stands for (prt_op.merged) is not gone.
 */
#ifndef PRT_PASS_ENGINE_TRACE_H
#define PRT_PASS_ENGINE_TRACE_H

#include "ir/ir.h"

typedef struct prt_trace_node {
    prt_str node, op; /* its label; its operator */
    const char *pass; /* NULL: still there */
    uint32_t seen;
} prt_trace_node;

typedef struct prt_trace {
    const prt_module *module;
    prt_arena *arena;
    prt_map by_name;
    PRT_VEC(prt_trace_node *) nodes;
    uint32_t round;
    poprt_status status; /* the first failure; calls after it do nothing */
} prt_trace;

/* Notes the nodes there are. Everything lives in `arena`; `module` has to stay for the calls. */
void prt_trace_begin(prt_trace *t, const prt_module *module, prt_arena *arena);
/* Those that are missing for the first time were taken out by `pass` (which has to stay). */
void prt_trace_look(prt_trace *t, const char *pass);

#endif
