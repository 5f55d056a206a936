/* SPDX-License-Identifier: MIT */
/*
 * unused_initializer.c — eliminate_unused_initializer: constants that no operator and no output
 * reads go, and inputs of the main graph that have such a constant for a default.
 */
#include "pass/pass.h"

static bool drop_inputs(prt_graph *graph)
{
    size_t kept = 0;
    for (size_t i = 0; i < graph->inputs.count; i++) {
        prt_value *v = graph->inputs.data[i];
        if (v->constant != NULL && !prt_value_used(v)) {
            v->name = PRT_STR("");
            continue;
        }
        v->slot = (uint32_t)kept;
        graph->inputs.data[kept++] = v;
    }
    const bool dropped = kept != graph->inputs.count;
    graph->inputs.count = kept;
    return dropped;
}

static poprt_status run(prt_pass *p, prt_graph *graph, bool *changed)
{
    (void)p;
    if (prt_graph_drop_constants(graph, false) != 0)
        *changed = true;
    if (drop_inputs(graph))
        *changed = true;
    return POPRT_OK;
}

const prt_pass_hooks prt_pass_eliminate_unused_initializer = { .run = run };
