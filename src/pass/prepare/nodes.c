/* SPDX-License-Identifier: MIT */
/*
 * nodes.c — unique_name_for_nodes: gives every node a unique name; of several nodes with one name,
 * the first keeps it. sort_graph: graphs are in topological order at all times (ir.h), since the
 * reader sorts the nodes of a file stably; the pass verifies the invariants.
 */
#include <stdio.h>

#include "pass/engine/pass.h"

/* Makes a name such as "MatMul_7": the operator or the old name, and a number that makes it
 * unique. */
static poprt_status make_name(prt_pass *p, prt_map *taken, prt_op *op, uint32_t *next)
{
    const bool named = op->origin.size != 0;
    const prt_str base = named ? op->origin : op->name;
    for (;;) {
        char text[320];
        const int n = snprintf(text, sizeof(text), "%.280s_%u", base.data, (*next)++);
        const prt_str name = { text, n > 0 ? (uint32_t)n : 0 };
        PRT_TRY(prt_pass_check(p));
        if (prt_map_find(taken, name) != NULL)
            continue;
        op->origin = prt_module_str(p->module, name);
        prt_op_touch(op);
        return op->origin.data != NULL ? prt_map_set(taken, op->origin, op) : POPRT_E_NOMEM;
    }
}

/* Without `naming` records the existing names; with it names the nodes that have no name of their
 * own. */
static poprt_status walk(prt_pass *p, const prt_graph *graph, prt_map *taken, bool naming,
    uint32_t *next, bool *changed)
{
    prt_for_each_op (op, graph) {
        const bool owns = op->origin.size != 0 && prt_map_find(taken, op->origin) == op;
        if (naming && !owns) {
            PRT_TRY(make_name(p, taken, op, next));
            *changed = true;
        } else if (!naming && op->origin.size != 0 && prt_map_find(taken, op->origin) == NULL) {
            PRT_TRY(prt_map_set(taken, op->origin, op));
        }
        for (uint32_t i = 0; i < op->n_regions; i++)
            PRT_TRY(walk(p, op->regions[i], taken, naming, next, changed));
    }
    return POPRT_OK;
}

static poprt_status run_names(prt_pass *p, prt_graph *graph, bool *changed)
{
    prt_map taken = prt_map_in(p->arena);
    uint32_t next = 0;
    PRT_TRY(walk(p, graph, &taken, false, &next, changed));
    return walk(p, graph, &taken, true, &next, changed);
}

const prt_pass_hooks prt_pass_unique_name_for_nodes = { .run = run_names };

static poprt_status run_sort(prt_pass *p, prt_graph *graph, bool *changed)
{
    (void)graph;
    (void)changed;
    return prt_ir_verify(p->module);
}

const prt_pass_hooks prt_pass_sort_graph = { .run = run_sort };
