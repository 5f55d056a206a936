/* SPDX-License-Identifier: MIT */
/*
 * initializers.c — where constants stand. remove_initializer_from_input: an input with a default is
 * a constant from then on, and a constant is listed no longer among the inputs of the file.
 * move_subgraph_initializer: constants of regions move to the main graph.
 * extract_constant_to_initializer: reading a model makes initializers of Constant nodes (also of
 * value_float, value_ints …), so there is nothing left to do but to say so.
 */
#include "ir/extra.h"
#include "ir/interface.h"
#include "pass/engine/pass.h"

/* A constant of `graph` with the bytes, name and readers of `v`. */
static prt_value *move_to(prt_graph *graph, prt_value *v)
{
    const prt_str name = v->name;
    prt_value *moved =
        prt_graph_add_constant(graph, PRT_STR(""), v->type, prt_blob_retain(v->constant));
    if (moved == NULL)
        return NULL;
    moved->doc = v->doc;
    prt_value_replace(v, moved);
    v->name = PRT_STR("");
    return prt_value_set_name(moved, name) == POPRT_OK ? moved : NULL;
}

static bool is_moved(const prt_value *input)
{
    return input->constant != NULL;
}

static poprt_status run_inputs(prt_pass *p, prt_graph *graph, bool *changed)
{
    (void)p;
    for (size_t i = 0; i < graph->inputs.count; i++) {
        prt_value *v = graph->inputs.data[i];
        if (v->constant == NULL)
            continue;
        if (move_to(graph, v) == NULL)
            return POPRT_E_NOMEM;
        *changed = true;
    }
    prt_graph_drop_inputs(graph, is_moved);
    if (prt_graph_unlist_constants(graph))
        *changed = true;
    return POPRT_OK;
}

const prt_pass_hooks prt_pass_remove_initializer_from_input = { .run = run_inputs };

/* A region may give a constant as its output; one from outside would need an Identity, so it
 * stays. */
static poprt_status move_out(prt_pass *p, prt_graph *graph, bool *changed)
{
    prt_graph *main = graph->module->main;
    for (size_t i = 0; graph != main && i < graph->constants.count; i++) {
        prt_value *v = graph->constants.data[i];
        PRT_TRY(prt_pass_check(p));
        if (!prt_value_used(v) || prt_value_is_output(v))
            continue;
        if (move_to(main, v) == NULL)
            return POPRT_E_NOMEM;
        *changed = true;
    }
    return POPRT_OK;
}

static poprt_status run_regions(prt_pass *p, prt_graph *graph, bool *changed)
{
    bool moved = false;
    PRT_TRY(prt_pass_each_graph(p, graph, move_out, &moved));
    if (moved) {
        (void)prt_graph_drop_constants(graph, true);
        *changed = true;
    }
    return POPRT_OK;
}

const prt_pass_hooks prt_pass_move_subgraph_initializer = { .run = run_regions };

static size_t count_constants(const prt_graph *graph)
{
    size_t n = graph->constants.count;
    prt_for_each_op (op, graph)
        for (uint32_t i = 0; i < op->n_regions; i++)
            n += count_constants(op->regions[i]);
    return n;
}

static poprt_status run_extract(prt_pass *p, prt_graph *graph, bool *changed)
{
    (void)changed;
    prt_pass_note(p, NULL, "Constant nodes became initializers when the model was read: %zu in all",
        count_constants(graph));
    return POPRT_OK;
}

const prt_pass_hooks prt_pass_extract_constant_to_initializer = { .run = run_extract };
