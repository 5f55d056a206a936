/* SPDX-License-Identifier: MIT */
/*
 * path.c — a walk forwards marks the values that depend on the variables, a walk backwards those
 * that the results depend on. The regions of an op on the way are walked in the same manner; their
 * inputs count as variables.
 */
#include "train/path.h"

#include "train/rules.h"

enum { MAX_DEPTH = 256 }; /* deepest nesting of regions */

/* The marks of one graph, by value id. */
typedef struct scope {
    const prt_graph *graph;
    uint32_t n, depth;
    const bool *cut; /* NULL: no value is cut */
    bool *depends, *reached;
    const struct scope *outer;
} scope;

typedef struct walk {
    prt_arena *scratch;
    PRT_VEC(const prt_op *) missing; /* ops without a rule, from the last to the first */
} walk;

static bool type_carries(const prt_type *type)
{
    for (; type != NULL; type = type->elem) {
        if (type->kind == PRT_VALUE_TENSOR)
            return prt_dtype_is_float(type->dtype);
        if (type->kind == PRT_VALUE_UNKNOWN)
            return true;
    }
    return true;
}

bool prt_path_carries(const prt_value *v)
{
    return v != NULL && type_carries(v->type);
}

static const scope *scope_of(const scope *s, const prt_value *v)
{
    while (s != NULL && (v == NULL || s->graph != v->graph))
        s = s->outer;
    return s != NULL && v->id < s->n ? s : NULL;
}

static bool depends(const scope *s, const prt_value *v)
{
    s = scope_of(s, v);
    return s != NULL && s->depends[v->id];
}

/* Returns whether the op, or an op of its regions, reads a value that depends on the variables. */
static bool reads_dependent(const scope *s, uint32_t n, const prt_use *in, uint32_t n_regions,
    prt_graph *const *regions)
{
    for (uint32_t i = 0; i < n; i++)
        if (depends(s, in[i].value))
            return true;
    for (uint32_t i = 0; i < n_regions; i++) {
        prt_for_each_op (op, regions[i])
            if (reads_dependent(s, op->n_in, op->in, op->n_regions, op->regions))
                return true;
        if (regions[i]->ret != NULL &&
            reads_dependent(s, regions[i]->ret->n_in, regions[i]->ret->in, 0, NULL))
            return true;
    }
    return false;
}

static void walk_forwards(scope *s)
{
    prt_for_each_op (op, s->graph) {
        if (prt_grad_row_of(op->def).kind == PRT_GRAD_ZERO ||
            !reads_dependent(s, op->n_in, op->in, op->n_regions, op->regions))
            continue;
        for (uint32_t i = 0; i < op->n_out; i++) {
            const uint32_t id = op->out[i].id;
            if (id < s->n && prt_path_carries(&op->out[i]) && (s->cut == NULL || !s->cut[id]))
                s->depends[id] = true;
        }
    }
}

static void reach(const scope *s, const prt_value *v)
{
    s = scope_of(s, v);
    if (s != NULL && s->depends[v->id])
        s->reached[v->id] = true;
}

static poprt_status walk_region(walk *w, const prt_graph *region, const scope *outer);

static poprt_status walk_backwards(walk *w, const scope *s)
{
    for (const prt_op *op = s->graph->last; op != NULL; op = op->prev) {
        bool on_path = false;
        for (uint32_t i = 0; i < op->n_out; i++) {
            const uint32_t id = op->out[i].id;
            on_path = on_path || (id < s->n && s->reached[id] && (s->cut == NULL || !s->cut[id]));
        }
        if (!on_path)
            continue;
        const prt_grad_row row = prt_grad_row_of(op->def);
        if (row.kind == PRT_GRAD_MISSING && !PRT_VEC_PUSH(w->scratch, &w->missing, op))
            return POPRT_E_NOMEM;
        for (uint32_t i = 0; i < op->n_in; i++)
            reach(s, op->in[i].value);
        for (uint32_t i = 0; i < op->n_regions && row.kind == PRT_GRAD_RULE; i++)
            PRT_TRY(walk_region(w, op->regions[i], s));
    }
    return POPRT_OK;
}

static poprt_status walk_region(walk *w, const prt_graph *region, const scope *outer)
{
    scope s = { .graph = region,
        .n = region->n_values,
        .depth = outer->depth + 1,
        .depends = PRT_NEW_N(w->scratch, bool, region->n_values),
        .reached = PRT_NEW_N(w->scratch, bool, region->n_values),
        .outer = outer };
    if (s.depends == NULL || s.reached == NULL)
        return POPRT_E_NOMEM;
    if (s.depth > MAX_DEPTH)
        return prt_fail(POPRT_E_LIMIT, region->name.data, "regions are nested too deeply");
    for (size_t i = 0; i < region->inputs.count; i++)
        s.depends[region->inputs.data[i]->id] = prt_path_carries(region->inputs.data[i]);
    walk_forwards(&s);
    for (uint32_t i = 0; i < region->ret->n_in; i++)
        reach(&s, region->ret->in[i].value);
    return walk_backwards(w, &s);
}

static poprt_status check(walk *w, const prt_graph *graph, uint32_t n, const bool *source,
    const bool *cut, uint32_t n_y, prt_value *const *ys)
{
    scope s = { .graph = graph,
        .n = n,
        .cut = cut,
        .depends = PRT_NEW_N(w->scratch, bool, n),
        .reached = PRT_NEW_N(w->scratch, bool, n) };
    if (s.depends == NULL || s.reached == NULL)
        return POPRT_E_NOMEM;
    memcpy(s.depends, source, n * sizeof(*source));
    walk_forwards(&s);
    for (uint32_t i = 0; i < n_y; i++)
        reach(&s, ys[i]);
    return walk_backwards(w, &s);
}

poprt_status prt_path_check(prt_report *report, const prt_graph *graph, uint32_t n,
    const bool *source, const bool *cut, uint32_t n_y, prt_value *const *ys)
{
    walk w = { 0 };
    PRT_TRY(prt_arena_create(graph->module->allocator, 0, &w.scratch));
    const poprt_status status = check(&w, graph, n, source, cut, n_y, ys);
    for (size_t i = w.missing.count; i-- > 0;) {
        const prt_op *op = w.missing.data[i];
        const prt_grad_row row = prt_grad_row_of(op->def);
        prt_ir_report_refusal(report, op, POPRT_E_UNSUPPORTED,
            row.why != NULL ? row.why : "has no gradient");
    }
    prt_arena_release(w.scratch);
    return status;
}
