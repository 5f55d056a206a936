/* SPDX-License-Identifier: MIT */
/* verify.c — the invariants of the IR, checked in one walk; a breach is POPRT_E_INTERNAL. */
#include "ir/ir.h"


static poprt_status broken(const prt_op *op, const char *what)
{
    return prt_fail(POPRT_E_INTERNAL, prt_op_label(op), "broken graph: %s", what);
}

/* Where `value` is made in `op`'s graph or an enclosing one, is it before `op` there? */
static bool comes_before(const prt_value *value, const prt_op *op, const uint32_t *order)
{
    for (const prt_op *at = op; at != NULL; at = at->graph->owner) {
        if (at->graph != value->graph)
            continue;
        if (value->def == NULL || at == at->graph->ret)
            return true;
        return at != op ? true : order[value->def->id] < order[at->id];
    }
    return false;
}

static poprt_status verify_uses(const prt_op *op, const uint32_t *order)
{
    for (uint32_t i = 0; i < op->n_in; i++) {
        const prt_use *use = &op->in[i];
        if (use->user != op)
            return broken(op, "an input slot belongs to another op");
        if (use->value == NULL)
            continue;
        if (use->value->def != NULL && use->value->def->dead)
            return broken(op, "an input was made by an erased op");
        if (!comes_before(use->value, op, order))
            return broken(op, "an input is used before it is made, or cannot be seen from here");
        const prt_use *listed = use->value->uses;
        while (listed != NULL && listed != use)
            listed = listed->next;
        if (listed == NULL)
            return broken(op, "an input slot is missing from its value's use list");
    }
    return POPRT_OK;
}

static poprt_status verify_graph(const prt_graph *g, prt_arena *scratch)
{
    uint32_t *order = PRT_NEW_N(scratch, uint32_t, (size_t)g->n_ops + 1);
    if (order == NULL)
        return POPRT_E_NOMEM;
    uint32_t at = 1;
    for (const prt_op *op = g->first; op != NULL; op = op->next)
        order[op->id] = at++;
    for (const prt_op *op = g->first; op != NULL; op = op->next) {
        if (op->dead || op->graph != g || op->id >= g->n_ops)
            return broken(op, "a listed op is dead or belongs to another graph");
        if ((op->next != NULL ? op->next->prev : g->last) != op)
            return broken(op, "the op list is torn");
        for (uint32_t i = 0; i < op->n_out; i++)
            if (op->out[i].def != op || op->out[i].slot != i || op->out[i].type == NULL)
                return broken(op, "an output does not know its op");
        PRT_TRY(verify_uses(op, order));
        for (uint32_t i = 0; i < op->n_regions; i++) {
            if (op->regions[i]->owner != op)
                return broken(op, "a region does not know its op");
            PRT_TRY(verify_graph(op->regions[i], scratch));
        }
    }
    if (g->output_names.count != g->ret->n_in)
        return broken(g->ret, "outputs and their names differ in number");
    return verify_uses(g->ret, order);
}

poprt_status prt_ir_verify(const prt_module *module)
{
    prt_arena *scratch = NULL;
    PRT_TRY(prt_arena_create(module->allocator, 0, &scratch));
    const poprt_status status = verify_graph(module->main, scratch);
    prt_arena_release(scratch);
    return status;
}
