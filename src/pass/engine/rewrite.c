/* SPDX-License-Identifier: MIT */
/*
 * rewrite.c — the worklist of pattern rewriting. It starts with all ops in order. After an edit it
 * gets the ops the edit made, their readers and producers, and the readers and producers of the
 * root. The next round over all ops finds the matches this misses, such as uses that moved far
 * away.
 */
#include "pass/engine/rewrite.h"

#include "pass/engine/popart.h"

#include "ir/extra.h"

enum {
    MAX_ROUNDS = 64,   /* walks over all ops of a graph */
    EDITS_PER_OP = 16, /* limit of edits: this times the ops of the graph, */
    MORE_EDITS = 1024  /* and so many more */
};

typedef struct engine {
    prt_pass *p;
    prt_graph *graph;
    const prt_rewrite *rewrites;
    uint32_t count;
    PRT_VEC(prt_op *) list; /* a stack: the last op is the next */
    PRT_VEC(bool) listed;   /* by op id */
    size_t edits, most_edits;
} engine;

static poprt_status push(engine *e, prt_op *op)
{
    if (op == NULL || op->dead || op->graph != e->graph || op == e->graph->ret)
        return POPRT_OK;
    while (e->listed.count <= op->id)
        if (!PRT_VEC_PUSH(e->p->arena, &e->listed, false))
            return POPRT_E_NOMEM;
    if (e->listed.data[op->id])
        return POPRT_OK;
    e->listed.data[op->id] = true;
    return PRT_VEC_PUSH(e->p->arena, &e->list, op) ? POPRT_OK : POPRT_E_NOMEM;
}

static poprt_status push_readers(engine *e, const prt_op *op)
{
    for (uint32_t i = 0; i < op->n_out; i++)
        prt_for_each_use (use, &op->out[i])
            PRT_TRY(push(e, use->user));
    return POPRT_OK;
}

static poprt_status push_producers(engine *e, const prt_op *op)
{
    for (uint32_t i = 0; i < op->n_in; i++)
        if (op->in[i].value != NULL)
            PRT_TRY(push(e, op->in[i].value->def));
    return POPRT_OK;
}

/* Pushes the ops that an edit made, with their readers and producers. These ops have ids from
 * `first` on and stand before the root, which keeps its `prev` when it is erased. */
static poprt_status push_new(engine *e, const prt_op *root, uint32_t first)
{
    for (prt_op *op = root->prev; op != NULL && (op->id >= first || op->dead); op = op->prev)
        if (!op->dead) {
            PRT_TRY(push(e, op));
            PRT_TRY(push_readers(e, op));
            PRT_TRY(push_producers(e, op));
        }
    return POPRT_OK;
}

static poprt_status apply_at(engine *e, const prt_rewrite *rewrite, prt_op *root, bool *changed)
{
    const uint32_t first = e->graph->n_ops;
    const size_t waiting = e->list.count;
    prt_build b = prt_build_before(root);
    if (prt_popart_excludes(e->p, root))
        return POPRT_OK;
    /* The neighbours are pushed before the edit, which disconnects them. */
    PRT_TRY(push_readers(e, root));
    PRT_TRY(push_producers(e, root));
    const bool applied = rewrite->apply(e->p, &b, root);
    PRT_TRY(prt_build_status(&b));
    if (!applied) {
        while (e->list.count > waiting)
            e->listed.data[e->list.data[--e->list.count]->id] = false;
        return POPRT_OK;
    }
    *changed = true;
    if (++e->edits > e->most_edits)
        return prt_fail(POPRT_E_INTERNAL, prt_op_label(root),
            "pass %s does not terminate: it has reached the limit of edits", e->p->def->name);
    PRT_TRY(push(e, root));
    return push_new(e, root, first);
}

static poprt_status drain(engine *e, bool *changed)
{
    while (e->list.count != 0) {
        prt_op *op = e->list.data[--e->list.count];
        e->listed.data[op->id] = false;
        PRT_TRY(prt_pass_check(e->p));
        for (uint32_t i = 0; i < e->count && !op->dead; i++)
            if (prt_op_is(op, e->rewrites[i].root))
                PRT_TRY(apply_at(e, &e->rewrites[i], op, changed));
    }
    return POPRT_OK;
}

poprt_status prt_rewrite_graph(prt_pass *p, prt_graph *graph, const prt_rewrite *rewrites,
    uint32_t count, bool *changed)
{
    engine e = { .p = p, .graph = graph, .rewrites = rewrites, .count = count };
    e.most_edits = EDITS_PER_OP * (size_t)graph->n_ops + MORE_EDITS;
    for (uint32_t round = 0; round < MAX_ROUNDS; round++) {
        bool edited = false;
        for (prt_op *op = graph->last; op != NULL; op = op->prev)
            PRT_TRY(push(&e, op));
        PRT_TRY(drain(&e, &edited));
        if (!edited)
            return POPRT_OK;
        *changed = true;
    }
    return POPRT_OK;
}

prt_op *prt_match_producer(const prt_op *op, uint32_t slot, uint32_t id)
{
    const prt_value *v = prt_op_input(op, slot);
    return v != NULL && prt_op_is(v->def, id) && v->graph == op->graph ? v->def : NULL;
}

prt_op *prt_match_interior(const prt_op *op, uint32_t slot, uint32_t id)
{
    prt_op *def = prt_match_producer(op, slot, id);
    return def != NULL && prt_value_used_once(prt_op_input(op, slot)) ? def : NULL;
}

bool prt_match_constant(const prt_op *op, uint32_t slot, prt_tensor *out)
{
    const prt_value *v = prt_op_input(op, slot);
    return v != NULL && prt_value_is_fixed(v) && prt_value_tensor(v, out);
}

void prt_match_mark(prt_build *b, prt_value *y, const prt_op *from)
{
    if (y != NULL && y->def != NULL && b->status == POPRT_OK)
        b->status = prt_op_copy_marks(y->def, from);
}
