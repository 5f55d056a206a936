/* SPDX-License-Identifier: MIT */
/* region.c — queries about If and its branches, and moving ops in and out of them. */
#include "pass/engine/region.h"

enum { MAX_DEPTH = 256 }; /* nested regions */

bool prt_region_branches(const prt_op *op, prt_graph **then_branch, prt_graph **else_branch)
{
    if (!prt_op_is(op, PRT_OP_if))
        return false;
    const prt_if_attrs *a = op->attrs;
    if (!prt_attr_given(a, 0) || !prt_attr_given(a, 1) || a->then_branch >= op->n_regions ||
        a->else_branch >= op->n_regions || a->then_branch == a->else_branch)
        return false;
    *then_branch = op->regions[a->then_branch];
    *else_branch = op->regions[a->else_branch];
    return (*then_branch)->inputs.count == 0 && (*else_branch)->inputs.count == 0 &&
        (*then_branch)->ret->n_in == op->n_out && (*else_branch)->ret->n_in == op->n_out;
}

static bool is_pure(const prt_op *op, uint32_t depth)
{
    const uint32_t effects = PRT_RANDOM | PRT_STATEFUL | PRT_COLLECTIVE;
    if (op->def == NULL || (op->def->traits & effects) != 0 ||
        (op->def->traits & (PRT_PURE | PRT_CONTROL)) == 0 || depth > MAX_DEPTH)
        return false;
    for (uint32_t i = 0; i < op->n_regions; i++)
        prt_for_each_op (in, op->regions[i])
            if (!is_pure(in, depth + 1))
                return false;
    return true;
}

bool prt_region_is_pure(const prt_op *op)
{
    return is_pure(op, 0);
}

static bool reads(const prt_op *op, bool (*visit)(void *user, const prt_value *v), void *user,
    uint32_t depth)
{
    for (uint32_t i = 0; i < op->n_in; i++)
        if (op->in[i].value != NULL && visit(user, op->in[i].value))
            return true;
    for (uint32_t i = 0; i < op->n_regions && depth < MAX_DEPTH; i++) {
        prt_for_each_op (in, op->regions[i])
            if (reads(in, visit, user, depth + 1))
                return true;
        if (reads(op->regions[i]->ret, visit, user, depth + 1))
            return true;
    }
    return false;
}

bool prt_region_reads(const prt_op *op, bool (*visit)(void *user, const prt_value *v), void *user)
{
    return reads(op, visit, user, 0);
}

typedef struct marked {
    const prt_graph *graph;
    const bool *marks;
} marked;

static bool is_marked(void *user, const prt_value *v)
{
    const marked *m = user;
    return v->graph == m->graph && v->def != NULL && m->marks[v->def->id];
}

bool prt_region_depends(const prt_op *op, const bool *marks)
{
    marked m = { op->graph, marks };
    return prt_region_reads(op, is_marked, &m);
}

bool *prt_region_dependents(prt_arena *arena, const prt_op *first, const prt_op *last)
{
    bool *marks = PRT_NEW_N(arena, bool, (size_t)first->graph->n_ops + 1);
    if (marks == NULL)
        return NULL;
    marks[first->id] = true;
    for (const prt_op *op = first->next; op != NULL && op != last; op = op->next)
        marks[op->id] = prt_region_depends(op, marks);
    return marks;
}

void prt_region_sink(prt_op *first, prt_op *last, const bool *marks)
{
    prt_op *before = last->next;
    for (prt_op *op = first, *next; op != NULL && op != last; op = next) {
        next = op->next;
        if (!marks[op->id])
            continue;
        prt_op_move_before(op, before);
    }
}

poprt_status prt_region_inline(prt_graph *region, prt_graph *to, prt_op *before,
    prt_value **results)
{
    PRT_TRY(prt_graph_inline(region, to, before));
    for (uint32_t i = 0; i < region->ret->n_in; i++) {
        results[i] = prt_op_input(region->ret, i);
        prt_op_set_input(region->ret, i, NULL);
    }
    return POPRT_OK;
}

prt_op *prt_region_new_if(prt_op *before, prt_value *condition, uint32_t n_out)
{
    prt_op *op = prt_graph_add_op(before->graph, before, prt_op_of(PRT_OP_if), 1, n_out, 2);
    if (op == NULL)
        return NULL;
    prt_if_attrs *attrs = op->attrs;
    PRT_ATTR_SET(*attrs, if, then_branch, 0);
    PRT_ATTR_SET(*attrs, if, else_branch, 1);
    prt_op_set_input(op, 0, condition);
    return op;
}

poprt_status prt_region_set_outputs(prt_graph *region, uint32_t count, prt_value *const *values)
{
    prt_str *names = PRT_NEW_N(region->module->arena, prt_str, count);
    if (names == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < count; i++)
        names[i] = PRT_STR("");
    return prt_graph_set_outputs(region, count, values, names);
}

prt_graph *prt_region_containing(const prt_op *in, const prt_op *op)
{
    prt_graph *g = in->graph;
    while (g != NULL && g->owner != op)
        g = g->owner != NULL ? g->owner->graph : NULL;
    return g;
}

prt_op *prt_region_copy_op(const prt_op *op, prt_graph *graph, prt_op *before)
{
    prt_arena *arena = graph->module->arena;
    PRT_ASSERT(op->n_regions == 0);
    prt_op *copy = prt_graph_add_op(graph, before, op->def, op->n_in, op->n_out, 0);
    if (copy == NULL)
        return NULL;
    copy->origin = op->origin;
    copy->extra = op->extra;
    copy->place = op->place;
    if (op->def != NULL && (copy->attrs = prt_attrs_clone(op->def, arena, op->attrs)) == NULL)
        return NULL;
    for (uint32_t i = 0; i < op->n_in; i++)
        prt_op_set_input(copy, i, op->in[i].value);
    for (uint32_t i = 0; i < op->n_out; i++)
        copy->out[i].type = op->out[i].type;
    return copy;
}
