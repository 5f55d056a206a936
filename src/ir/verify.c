/* SPDX-License-Identifier: MIT */
/* verify.c — checks the invariants of the IR in one walk. A violation is POPRT_E_INTERNAL. */
#include "ir/ir.h"
#include "ir/place.h"

enum { MAX_DEPTH = 256 }; /* deepest nesting of regions; the readers of models allow less */

/* A graph being checked. `order` has positions of its ops in the list, from 1; 0: not listed. */
typedef struct frame {
    const prt_graph *graph;
    uint32_t *order; /* by op id */
    const struct frame *outer;
    uint32_t depth;
} frame;

static poprt_status broken(const prt_op *op, const char *what)
{
    return prt_fail(POPRT_E_INTERNAL, prt_op_label(op), "broken graph: %s", what);
}

/* Returns whether `value`, in `op`'s graph or in a graph around it, is defined before `op` or
 * before the op whose region contains `op`. */
static bool comes_before(const prt_value *value, const prt_op *op, const frame *f)
{
    for (const prt_op *at = op; f != NULL; at = f->graph->owner, f = f->outer) {
        if (f->graph != value->graph)
            continue;
        if (value->def == NULL)
            return true;
        const uint32_t made = f->order[value->def->id];
        return made != 0 && (at == f->graph->ret || made < f->order[at->id]);
    }
    return false;
}

static poprt_status verify_uses(const prt_op *op, const frame *f)
{
    for (uint32_t i = 0; i < op->n_in; i++) {
        const prt_use *use = &op->in[i];
        const prt_value *v = use->value;
        if (use->user != op)
            return broken(op, "an input slot belongs to another op");
        if (v == NULL)
            continue;
        if (v->def != NULL && (v->def->dead || v->def->graph != v->graph))
            return broken(op, "an input was made by an erased op");
        if (v->def == NULL && v->constant == NULL && v->variable == NULL && !prt_value_is_input(v))
            return broken(op,
                "an input is neither made by an op nor a graph input, a constant or a variable");
        if (!comes_before(v, op, f))
            return broken(op, "an input is used before it is made, or cannot be seen from here");
        if ((use->prev != NULL ? use->prev->next : v->uses) != use ||
            (use->next != NULL && (use->next->prev != use || use->next->value != v)))
            return broken(op, "an input slot is missing from its value's use list");
    }
    return POPRT_OK;
}

/* Checks that every use in the value's list is an input slot of a live op. */
static poprt_status verify_value(const prt_value *v, const prt_op *at)
{
    if (v->type == NULL)
        return broken(at, "a value has no type");
    for (const prt_use *use = v->uses; use != NULL; use = use->next)
        if (use->value != v || use->user->dead)
            return broken(at, "a use list names an erased op or another value's slot");
    return POPRT_OK;
}

static poprt_status verify_op(const prt_op *op, const prt_graph *g)
{
    if ((op->next != NULL ? op->next->prev : g->last) != op ||
        (op->prev != NULL ? op->prev->next : g->first) != op)
        return broken(op, "the op list is torn");
    if (op->def != NULL && (op->n_in > op->def->max_in || op->n_out > op->def->max_out))
        return broken(op, "more inputs or outputs than the operator has");
    if (!prt_op_place_agrees(op))
        return broken(op, "the place differs from the marks");
    for (uint32_t i = 0; i < op->n_out; i++) {
        const prt_value *v = &op->out[i];
        if (v->def != op || v->slot != i || v->graph != g || v->id >= g->n_values)
            return broken(op, "an output does not know its op");
        PRT_TRY(verify_value(v, op));
    }
    return POPRT_OK;
}

/* A name of the interface belongs to one value. It may be listed several times. */
static poprt_status verify_name(prt_map *names, prt_str name, const prt_value *v, const prt_op *at)
{
    bool clash;
    PRT_TRY(prt_graph_claim_name(names, name, v, &clash));
    return clash ? broken(at, "an output shares its name with another output or an input")
                 : POPRT_OK;
}

static poprt_status verify_interface(const prt_graph *g, prt_arena *scratch)
{
    prt_map names = prt_map_in(scratch);
    for (size_t i = 0; i < g->inputs.count; i++)
        PRT_TRY(verify_name(&names, g->inputs.data[i]->name, g->inputs.data[i], g->ret));
    for (uint32_t i = 0; i < g->ret->n_in; i++)
        PRT_TRY(verify_name(&names, g->output_names.data[i], g->ret->in[i].value, g->ret));
    return POPRT_OK;
}

static poprt_status verify_graph(const prt_graph *g, const frame *outer, prt_arena *scratch)
{
    frame f = { .graph = g, .outer = outer, .depth = outer != NULL ? outer->depth + 1 : 0 };
    uint32_t at = 1;
    if (f.depth > MAX_DEPTH)
        return broken(g->ret, "regions are nested too deeply");
    f.order = PRT_NEW_N(scratch, uint32_t, (size_t)g->n_ops + 1);
    if (f.order == NULL)
        return POPRT_E_NOMEM;
    for (const prt_op *op = g->first; op != NULL; op = op->next) {
        if (op->dead || op->graph != g || op->id >= g->n_ops || f.order[op->id] != 0)
            return broken(op, "a listed op is dead, listed twice or of another graph");
        f.order[op->id] = at++;
    }
    for (size_t i = 0; i < g->inputs.count; i++) {
        if (!prt_value_is_input(g->inputs.data[i]))
            return broken(g->ret, "a graph input does not know its place");
        PRT_TRY(verify_value(g->inputs.data[i], g->ret));
    }
    for (size_t i = 0; i < g->constants.count; i++) {
        if (g->constants.data[i]->constant == NULL || g->constants.data[i]->graph != g)
            return broken(g->ret, "a constant has no contents");
        PRT_TRY(verify_value(g->constants.data[i], g->ret));
    }
    for (size_t i = 0; i < g->variables.count; i++) {
        if (g->variables.data[i]->variable == NULL || g->variables.data[i]->graph != g ||
            g->variables.data[i]->type != g->variables.data[i]->variable->type)
            return broken(g->ret, "a variable is not of its type");
        PRT_TRY(verify_value(g->variables.data[i], g->ret));
    }
    for (const prt_op *op = g->first; op != NULL; op = op->next) {
        PRT_TRY(verify_op(op, g));
        PRT_TRY(verify_uses(op, &f));
        for (uint32_t i = 0; i < op->n_regions; i++) {
            if (op->regions[i]->owner != op)
                return broken(op, "a region does not know its op");
            PRT_TRY(verify_graph(op->regions[i], &f, scratch));
        }
    }
    if (g->output_names.count != g->ret->n_in)
        return broken(g->ret, "outputs and their names differ in number");
    return verify_uses(g->ret, &f);
}

poprt_status prt_ir_verify(const prt_module *module)
{
    prt_arena *scratch = NULL;
    PRT_TRY(prt_arena_create(module->allocator, 0, &scratch));
    poprt_status status = verify_graph(module->main, NULL, scratch);
    if (status == POPRT_OK)
        status = verify_interface(module->main, scratch);
    for (size_t i = 0; status == POPRT_OK && i < module->entries.count; i++)
        status = verify_graph(module->entries.data[i].graph, NULL, scratch);
    prt_arena_release(scratch);
    return status;
}
