/* SPDX-License-Identifier: MIT */
/*
 * initializers.c — location of constants.
 *
 * remove_initializer_from_input: an input with a default becomes a constant, and the file does not
 * list constants among its inputs. move_subgraph_initializer: moves constants of regions to the
 * main graph. extract_constant_to_initializer: reading a model already turns Constant nodes
 * (value_float, value_ints and others included) into initializers, so the pass only prints a note.
 */
#include "ir/extra.h"
#include "ir/interface.h"
#include "pass/engine/pass.h"

/* Adds a constant to `graph` with the bytes and name of `v`, and replaces all uses of `v` by it. */
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

/* Moves constants to the main graph. A constant that is an output of a region stays, since an outer
 * value would need an Identity. */
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
