/* SPDX-License-Identifier: MIT */
/*
 * outputs.c — add_checkpoints: makes named values inside the model outputs. remove_outputs: removes
 * named outputs and the ops that only feed them. Unused inputs stay.
 */
#include "ir/interface.h"
#include "ir/not_found.h"
#include "pass/engine/pass.h"

/* ---- add_checkpoints */

static poprt_status add_checkpoint(prt_pass *p, prt_graph *graph, prt_str name, bool *changed)
{
    const char *text = prt_arena_text(p->arena, name.data, name.size);
    prt_value *v = prt_map_find(&graph->module->names, name);
    if (text == NULL)
        return POPRT_E_NOMEM;
    if (prt_graph_has_output(graph, name))
        return POPRT_OK;
    if (v == NULL || !prt_str_equal(v->name, name) || (v->def != NULL && v->def->dead))
        return prt_fail_no_tensor(graph, name);
    if (v->graph != graph)
        return prt_fail(POPRT_E_ARG, text,
            "is inside a subgraph; only tensors of the main graph can be outputs");
    *changed = true;
    return prt_graph_add_output(graph, p->arena, v, v->name);
}

static poprt_status run_add(prt_pass *p, prt_graph *graph, bool *changed)
{
    prt_str name;
    for (const char *cursor = NULL; prt_pass_next(p, "checkpoints", &cursor, &name);)
        PRT_TRY(add_checkpoint(p, graph, name, changed));
    return POPRT_OK;
}

const prt_pass_hooks prt_pass_add_checkpoints = { .run = run_add };

/* ---- remove_outputs */

/* Erases the unused ops from `op` towards the inputs. Ops in regions count as readers. */
static poprt_status erase_unread(prt_pass *p, prt_op *op)
{
    PRT_VEC(prt_op *) list = { 0 };
    if (!PRT_VEC_PUSH(p->arena, &list, op))
        return POPRT_E_NOMEM;
    while (list.count != 0) {
        prt_op *last = list.data[--list.count];
        bool read = last->dead;
        for (uint32_t i = 0; i < last->n_out && !read; i++)
            read = prt_value_used(&last->out[i]);
        if (read)
            continue;
        for (uint32_t i = 0; i < last->n_in; i++)
            if (last->in[i].value != NULL && last->in[i].value->def != NULL &&
                !PRT_VEC_PUSH(p->arena, &list, last->in[i].value->def))
                return POPRT_E_NOMEM;
        prt_op_erase(last);
    }
    return POPRT_OK;
}

static poprt_status run_remove(prt_pass *p, prt_graph *graph, bool *changed)
{
    const uint32_t count = graph->ret->n_in;
    bool *keep = PRT_NEW_N(p->arena, bool, (size_t)count + 1);
    prt_op **producers = PRT_NEW_N(p->arena, prt_op *, (size_t)count + 1);
    uint32_t eliminated = 0;
    prt_str name;
    if (keep == NULL || producers == NULL)
        return POPRT_E_NOMEM;
    for (const char *cursor = NULL; prt_pass_next(p, "outputs", &cursor, &name);)
        if (!prt_graph_has_output(graph, name))
            return prt_fail_no_output(graph, name);
    for (uint32_t i = 0; i < count; i++) {
        keep[i] = !prt_pass_lists(p, "outputs", graph->output_names.data[i]);
        producers[eliminated] = graph->ret->in[i].value->def;
        eliminated += !keep[i];
    }
    if (eliminated == 0)
        return POPRT_OK;
    if (eliminated == count)
        return prt_fail(POPRT_E_ARG, "outputs", "nothing would be left: all %u outputs are listed",
            count);
    PRT_TRY(prt_graph_keep_outputs(graph, p->arena, keep));
    *changed = true;
    for (uint32_t i = 0; i < eliminated; i++)
        if (producers[i] != NULL)
            PRT_TRY(erase_unread(p, producers[i]));
    return POPRT_OK;
}

const prt_pass_hooks prt_pass_remove_outputs = { .run = run_remove };
