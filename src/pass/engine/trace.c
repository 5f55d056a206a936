/* SPDX-License-Identifier: MIT */
/* trace.c — nodes by label, looked up again after each pass. */
#include "pass/engine/trace.h"

typedef void (*visitor)(prt_trace *t, const prt_op *op);

static void each_op(prt_trace *t, const prt_graph *graph, visitor visit)
{
    for (const prt_op *op = graph->first; op != NULL; op = op->next) {
        visit(t, op);
        for (uint32_t i = 0; i < op->n_regions; i++)
            each_op(t, op->regions[i], visit);
    }
}

static bool keep_text(const prt_trace *t, prt_str from, prt_str *to)
{
    *to = (prt_str){ prt_arena_text(t->arena, from.data != NULL ? from.data : "", from.size),
        from.size };
    return to->data != NULL;
}

static void note(prt_trace *t, const prt_op *op)
{
    const prt_str label = prt_str_of(prt_op_label(op));
    if (t->status != POPRT_OK || label.size == 0 || prt_map_find(&t->by_name, label) != NULL)
        return;
    prt_trace_node *n = PRT_NEW(t->arena, prt_trace_node);
    if (n == NULL || !keep_text(t, label, &n->node) || !keep_text(t, op->name, &n->op) ||
        prt_map_set(&t->by_name, n->node, n) != POPRT_OK || !PRT_VEC_PUSH(t->arena, &t->nodes, n))
        t->status = POPRT_E_NOMEM;
}

static void see(prt_trace *t, prt_str name)
{
    prt_trace_node *n = prt_map_find(&t->by_name, name);
    if (n != NULL)
        n->seen = t->round;
}

/* Its own label, those of its outputs (a node without a name goes by its first output), and those
 * it stands for. */
static void look(prt_trace *t, const prt_op *op)
{
    see(t, prt_str_of(prt_op_label(op)));
    for (uint32_t i = 0; i < op->n_out; i++)
        if (op->out[i].name.size != 0)
            see(t, op->out[i].name);
    const char *at = op->merged.data, *end = at + op->merged.size;
    while (at < end) {
        const char *stop = memchr(at, '+', (size_t)(end - at));
        if (stop == NULL)
            stop = end;
        see(t, (prt_str){ at, (uint32_t)(stop - at) });
        at = stop + 1;
    }
}

void prt_trace_begin(prt_trace *t, const prt_module *module, prt_arena *arena)
{
    *t = (prt_trace){ .module = module,
        .arena = arena,
        .by_name = prt_map_in(arena),
        .status = POPRT_OK };
    each_op(t, module->main, note);
}

void prt_trace_look(prt_trace *t, const char *pass)
{
    if (t->status != POPRT_OK)
        return;
    t->round++;
    each_op(t, t->module->main, look);
    for (size_t i = 0; i < t->nodes.count; i++)
        if (t->nodes.data[i]->seen != t->round && t->nodes.data[i]->pass == NULL)
            t->nodes.data[i]->pass = pass;
}
