/* SPDX-License-Identifier: MIT */
/* trace.c — records the nodes of a model by label and its weights by name, and looks them up again
 * after each pass. */
#include "pass/engine/trace.h"

typedef void (*visitor)(prt_trace *t, const prt_op *op);
typedef void (*constant_visitor)(prt_trace *t, const prt_value *v);

/* Visits the constants and the ops of a graph and its regions. */
static void each(prt_trace *t, const prt_graph *graph, constant_visitor visit_constant,
    visitor visit_op)
{
    for (size_t i = 0; i < graph->constants.count; i++)
        visit_constant(t, graph->constants.data[i]);
    for (const prt_op *op = graph->first; op != NULL; op = op->next) {
        visit_op(t, op);
        for (uint32_t i = 0; i < op->n_regions; i++)
            each(t, op->regions[i], visit_constant, visit_op);
    }
}

static bool keep_text(const prt_trace *t, prt_str from, prt_str *to)
{
    *to = (prt_str){ prt_arena_text(t->arena, from.data != NULL ? from.data : "", from.size),
        from.size };
    return to->data != NULL;
}

static void record(prt_trace *t, const prt_op *op)
{
    const prt_str label = prt_str_of(prt_op_label(op));
    if (t->status != POPRT_OK || label.size == 0 || prt_map_find(&t->by_name, label) != NULL)
        return;
    prt_trace_node *n = PRT_NEW(t->arena, prt_trace_node);
    if (n == NULL || !keep_text(t, label, &n->node) || !keep_text(t, op->name, &n->op) ||
        prt_map_set(&t->by_name, n->node, n) != POPRT_OK || !PRT_VEC_PUSH(t->arena, &t->nodes, n))
        t->status = POPRT_E_NOMEM;
}

static void record_weight(prt_trace *t, const prt_value *v)
{
    if (t->status != POPRT_OK || v->initializer == PRT_INITIALIZER_none || v->name.size == 0)
        return;
    prt_trace_weight *w = PRT_NEW(t->arena, prt_trace_weight);
    if (w == NULL || !keep_text(t, v->name, &w->name) ||
        prt_map_set(&t->weight_by_name, w->name, w) != POPRT_OK ||
        !PRT_VEC_PUSH(t->arena, &t->weights, w))
        t->status = POPRT_E_NOMEM;
    else if (!prt_value_used(v))
        w->pass = "";
}

static void mark_weight(prt_trace *t, prt_str name)
{
    prt_trace_weight *w = prt_map_find(&t->weight_by_name, name);
    if (w != NULL)
        w->seen = t->round;
}

/* Marks as present the weights that a constant with a reader is or holds. */
static void mark_constant(prt_trace *t, const prt_value *v)
{
    if (!prt_value_used(v))
        return;
    if (v->initializer != PRT_INITIALIZER_none)
        mark_weight(t, v->name);
    for (const prt_held *h = v->held; h != NULL; h = h->next)
        mark_weight(t, h->form.name);
}

static void mark_present(prt_trace *t, prt_str name)
{
    prt_trace_node *n = prt_map_find(&t->by_name, name);
    if (n != NULL)
        n->seen = t->round;
}

/* Marks as present the op's label, the names of its outputs (a node without a name is labelled by
 * its first output), and the labels of nodes merged into it. */
static void mark_op(prt_trace *t, const prt_op *op)
{
    mark_present(t, prt_str_of(prt_op_label(op)));
    for (uint32_t i = 0; i < op->n_out; i++)
        if (op->out[i].name.size != 0)
            mark_present(t, op->out[i].name);
    const char *at = op->merged.data, *end = at + op->merged.size;
    while (at < end) {
        const char *stop = memchr(at, '+', (size_t)(end - at));
        if (stop == NULL)
            stop = end;
        mark_present(t, (prt_str){ at, (uint32_t)(stop - at) });
        at = stop + 1;
    }
}

void prt_trace_begin(prt_trace *t, const prt_module *module, prt_arena *arena)
{
    *t = (prt_trace){ .module = module,
        .arena = arena,
        .by_name = prt_map_in(arena),
        .weight_by_name = prt_map_in(arena),
        .status = POPRT_OK };
    each(t, module->main, record_weight, record);
}

void prt_trace_look(prt_trace *t, const char *pass)
{
    if (t->status != POPRT_OK)
        return;
    t->round++;
    each(t, t->module->main, mark_constant, mark_op);
    for (size_t i = 0; i < t->nodes.count; i++)
        if (t->nodes.data[i]->seen != t->round && t->nodes.data[i]->pass == NULL)
            t->nodes.data[i]->pass = pass;
    for (size_t i = 0; i < t->weights.count; i++)
        if (t->weights.data[i]->seen != t->round && t->weights.data[i]->pass == NULL)
            t->weights.data[i]->pass = pass;
}
