/* SPDX-License-Identifier: MIT */
/*
 * unused_initializer.c — eliminate_unused_initializer: removes unused constants, and unused inputs
 * of the main graph that have a default.
 */
#include "ir/interface.h"
#include "pass/engine/pass.h"

static bool is_needless(const prt_value *input)
{
    return input->constant != NULL && !prt_value_used(input);
}

static poprt_status run(prt_pass *p, prt_graph *graph, bool *changed)
{
    (void)p;
    if (prt_graph_drop_constants(graph, false) != 0)
        *changed = true;
    const size_t count = graph->inputs.count;
    prt_graph_drop_inputs(graph, is_needless);
    if (graph->inputs.count != count)
        *changed = true;
    return POPRT_OK;
}

const prt_pass_hooks prt_pass_eliminate_unused_initializer = { .run = run };
