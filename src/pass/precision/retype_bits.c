/* SPDX-License-Identifier: MIT */
/*
 * retype_bits.c — values whose bits matter: a BitCast reinterprets the bits of an integer as a
 * float, or the reverse. Integers that it reads stay unchanged back to their origin. Integers that
 * it gives stay unchanged up to the ops that use them as numbers. Inputs and outputs of the model
 * are included. Values computed from them by an operator of the same type variable (Add, Where,
 * Gather) are included too.
 */
#include "pass/precision/retype_state.h"

enum { READ = 1, GIVEN = 2 }; /* a BitCast reads the value; it comes from a BitCast */

typedef struct marked {
    prt_value *value;
    uint8_t how;
} marked;

typedef PRT_VEC(marked) mark_list;

bool prt_retype_has_bits(const prt_retype_state *s, const prt_value *v)
{
    const prt_retype_graph *g = v != NULL ? prt_retype_graph_of(s, v->graph) : NULL;
    return g != NULL && g->bits != NULL && v->id < g->n_values && g->bits[v->id] != 0;
}

static poprt_status mark(prt_retype_state *s, mark_list *list, prt_value *v, uint8_t how)
{
    if (v == NULL || !prt_retype_is(v, s->how->from))
        return POPRT_OK;
    uint8_t *bits = &prt_retype_graph_of(s, v->graph)->bits[v->id];
    if ((*bits & how) == how)
        return POPRT_OK;
    *bits |= how;
    const marked m = { v, how };
    return PRT_VEC_PUSH(s->p->arena, list, m) ? POPRT_OK : POPRT_E_NOMEM;
}

static void keep_graph(prt_retype_state *s, prt_graph *graph)
{
    prt_retype_graph *g = prt_retype_graph_of(s, graph);
    g->edges = true;
    prt_for_each_op (op, graph) {
        g->modes[op->id] = PRT_RETYPE_KEEP;
        for (uint32_t i = 0; i < op->n_regions; i++)
            keep_graph(s, op->regions[i]);
    }
}

/* Keeps the op, and marks its operands and results of type variable `var` (of an owner of regions,
 * all). `how` tells whether a BitCast reads the results or has given the operands. */
static poprt_status keep(prt_retype_state *s, mark_list *list, prt_op *op, const char *var,
    uint8_t how)
{
    prt_retype_graph_of(s, op->graph)->modes[op->id] = PRT_RETYPE_KEEP;
    for (uint32_t i = 0; i < op->n_regions; i++)
        keep_graph(s, op->regions[i]);
    for (uint32_t i = 0; op->def != NULL && i < op->n_in; i++)
        if (op->n_regions != 0 || strcmp(prt_op_in_slot(op->def, i)->var, var) == 0)
            PRT_TRY(mark(s, list, op->in[i].value, READ));
    for (uint32_t i = 0; op->def != NULL && i < op->n_out; i++)
        if (op->n_regions != 0 || strcmp(prt_op_out_slot(op->def, i)->var, var) == 0)
            PRT_TRY(mark(s, list, &op->out[i], how));
    return POPRT_OK;
}

/* Keeps the op that defines the value, or the owner of the region whose input it is. */
static poprt_status keep_producer(prt_retype_state *s, mark_list *list, prt_value *v)
{
    if (v->def != NULL)
        return v->def->def == NULL
            ? POPRT_OK
            : keep(s, list, v->def, prt_op_out_slot(v->def->def, v->slot)->var, READ);
    return prt_value_is_input(v) && v->graph->owner != NULL
        ? keep(s, list, v->graph->owner, "", READ)
        : POPRT_OK;
}

static poprt_status keep_readers(prt_retype_state *s, mark_list *list, prt_value *v)
{
    prt_for_each_use (use, v) {
        prt_op *op = use->user;
        const bool result = op == op->graph->ret;
        if (result)
            op = op->graph->owner;
        if (op == NULL || op->def == NULL)
            continue;
        const char *var = result ? "" : prt_op_in_slot(op->def, (uint32_t)(use - op->in))->var;
        PRT_TRY(keep(s, list, op, var, GIVEN));
    }
    return POPRT_OK;
}

static poprt_status alloc_bits(prt_retype_state *s, prt_graph *graph)
{
    prt_retype_graph *g = prt_retype_graph_of(s, graph);
    g->bits = PRT_NEW_N(s->p->arena, uint8_t, (size_t)g->n_values + 1);
    if (g->bits == NULL)
        return POPRT_E_NOMEM;
    prt_for_each_op (op, graph)
        for (uint32_t i = 0; i < op->n_regions; i++)
            PRT_TRY(alloc_bits(s, op->regions[i]));
    return POPRT_OK;
}

static poprt_status seed(prt_retype_state *s, mark_list *list, prt_graph *graph)
{
    prt_for_each_op (op, graph) {
        if (prt_op_is(op, PRT_OP_bit_cast)) {
            PRT_TRY(mark(s, list, prt_op_input(op, 0), READ));
            PRT_TRY(mark(s, list, &op->out[0], GIVEN));
        }
        for (uint32_t i = 0; i < op->n_regions; i++)
            PRT_TRY(seed(s, list, op->regions[i]));
    }
    return POPRT_OK;
}

poprt_status prt_retype_keep_bits(prt_retype_state *s)
{
    mark_list list = { 0 };
    PRT_TRY(alloc_bits(s, s->p->module->main));
    PRT_TRY(seed(s, &list, s->p->module->main));
    while (list.count != 0) {
        const marked m = list.data[--list.count];
        PRT_TRY(keep_producer(s, &list, m.value));
        if (m.how == GIVEN)
            PRT_TRY(keep_readers(s, &list, m.value));
    }
    return POPRT_OK;
}
