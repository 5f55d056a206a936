/* SPDX-License-Identifier: MIT */
/* region.c — lists the values that a region captures, copies its ops into another graph, and adds
 * ops with regions. */
#include "train/region.h"

#include "ir/extra.h"

enum { MAX_DEPTH = 256 }; /* deepest nesting of regions */

/* ---- captures */

typedef struct capture_walk {
    const prt_graph *region;
    prt_arena *arena;
    prt_map seen; /* keys: pointers to values */
    prt_value_list *out;
} capture_walk;

bool prt_region_contains(const prt_graph *region, const prt_graph *graph)
{
    for (; graph != NULL; graph = graph->owner != NULL ? graph->owner->graph : NULL)
        if (graph == region)
            return true;
    return false;
}

static poprt_status add_capture(capture_walk *w, prt_value *v)
{
    if (v == NULL || prt_region_contains(w->region, v->graph))
        return POPRT_OK;
    prt_value **key = PRT_NEW(w->arena, prt_value *);
    if (key == NULL)
        return POPRT_E_NOMEM;
    *key = v;
    const prt_str text = { (const char *)key, sizeof(*key) };
    if (prt_map_find(&w->seen, text) != NULL)
        return POPRT_OK;
    PRT_TRY(prt_map_set(&w->seen, text, v));
    return PRT_VEC_PUSH(w->arena, w->out, v) ? POPRT_OK : POPRT_E_NOMEM;
}

static poprt_status walk_captures(capture_walk *w, const prt_graph *graph)
{
    prt_for_each_op (op, graph) {
        for (uint32_t i = 0; i < op->n_in; i++)
            PRT_TRY(add_capture(w, op->in[i].value));
        for (uint32_t i = 0; i < op->n_regions; i++)
            PRT_TRY(walk_captures(w, op->regions[i]));
    }
    for (uint32_t i = 0; i < graph->ret->n_in; i++)
        PRT_TRY(add_capture(w, graph->ret->in[i].value));
    return POPRT_OK;
}

poprt_status prt_region_captures(const prt_graph *region, prt_arena *arena, prt_value_list *out)
{
    capture_walk w = { .region = region, .arena = arena, .seen = prt_map_in(arena), .out = out };
    return walk_captures(&w, region);
}

/* ---- copies */

/* A graph being copied; `values` maps ids of old values to new values. */
typedef struct frame {
    const prt_graph *from;
    prt_value **values;
    const struct frame *outer;
    uint32_t depth;
} frame;

typedef struct copier {
    prt_build *b;
    prt_arena *scratch;
    const prt_region_copy *copy;
} copier;

static prt_value *find_value(const copier *c, const frame *f, prt_value *from)
{
    if (from == NULL)
        return NULL;
    for (; f != NULL; f = f->outer)
        if (f->from == from->graph)
            return f->values[from->id];
    for (uint32_t i = 0; i < c->copy->n_replaced; i++)
        if (c->copy->from[i] == from)
            return c->copy->to[i];
    return from;
}

static poprt_status begin(const copier *c, frame *f, const prt_graph *from, prt_graph *to)
{
    if (f->depth > MAX_DEPTH)
        return prt_fail(POPRT_E_LIMIT, from->name.data, "regions are nested too deeply");
    f->values = PRT_NEW_N(c->scratch, prt_value *, (size_t)from->n_values + 1);
    if (f->values == NULL)
        return POPRT_E_NOMEM;
    for (size_t i = 0; i < from->constants.count; i++) {
        const prt_value *v = from->constants.data[i];
        if (!prt_value_used(v))
            continue;
        f->values[v->id] =
            prt_graph_add_constant(to, PRT_STR(""), v->type, prt_blob_retain(v->constant));
        if (f->values[v->id] == NULL)
            return POPRT_E_NOMEM;
    }
    return POPRT_OK;
}

static poprt_status copy_region(const copier *c, const prt_graph *from, prt_graph *to,
    const frame *outer);

static poprt_status copy_op(const copier *c, frame *f, const prt_op *from, prt_graph *to,
    prt_op *before)
{
    prt_arena *arena = to->module->arena;
    prt_op *op = prt_graph_add_op(to, before, from->def, from->n_in, from->n_out, from->n_regions);
    if (op == NULL || (op->attrs = prt_attrs_clone(from->def, arena, from->attrs)) == NULL)
        return POPRT_E_NOMEM;
    op->origin = from->origin;
    PRT_TRY(prt_op_copy_marks(op, from));
    for (uint32_t i = 0; i < from->n_in; i++)
        prt_op_set_input(op, i, find_value(c, f, from->in[i].value));
    for (uint32_t i = 0; i < from->n_regions; i++)
        PRT_TRY(copy_region(c, from->regions[i], op->regions[i], f));
    for (uint32_t i = 0; i < from->n_out; i++)
        f->values[from->out[i].id] = &op->out[i];
    return prt_ir_infer_new_op(op);
}

static poprt_status copy_region(const copier *c, const prt_graph *from, prt_graph *to,
    const frame *outer)
{
    frame f = { .from = from, .outer = outer, .depth = outer->depth + 1 };
    PRT_TRY(begin(c, &f, from, to));
    for (size_t i = 0; i < from->inputs.count; i++) {
        const prt_value *v = from->inputs.data[i];
        if ((f.values[v->id] = prt_graph_add_input(to, PRT_STR(""), v->type)) == NULL)
            return POPRT_E_NOMEM;
    }
    prt_for_each_op (op, from)
        PRT_TRY(copy_op(c, &f, op, to, NULL));
    const uint32_t n = from->ret->n_in;
    prt_value **values = PRT_NEW_N(c->scratch, prt_value *, n);
    if (values == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < n; i++)
        values[i] = find_value(c, &f, from->ret->in[i].value);
    return prt_graph_set_outputs(to, n, values, from->output_names.data);
}

static poprt_status copy_ops(const copier *c, prt_value **ret)
{
    const prt_graph *region = c->copy->region;
    frame f = { .from = region };
    PRT_TRY(begin(c, &f, region, c->b->graph));
    for (size_t i = 0; i < region->inputs.count; i++)
        f.values[region->inputs.data[i]->id] = c->copy->inputs[i];
    for (uint32_t i = 0; i < c->copy->n_given; i++)
        f.values[c->copy->results[i]->id] = c->copy->given[i];
    prt_for_each_op (op, region)
        if (op->n_out == 0 || f.values[op->out[0].id] == NULL)
            PRT_TRY(copy_op(c, &f, op, c->b->graph, c->b->before));
    for (uint32_t i = 0; i < region->ret->n_in; i++)
        ret[i] = find_value(c, &f, region->ret->in[i].value);
    return POPRT_OK;
}

poprt_status prt_region_copy_ops(prt_build *b, const prt_region_copy *copy, prt_value **ret)
{
    copier c = { .b = b, .copy = copy };
    PRT_TRY(prt_build_status(b));
    PRT_TRY(prt_arena_create(b->graph->module->allocator, 0, &c.scratch));
    b->status = copy_ops(&c, ret);
    prt_arena_release(c.scratch);
    return b->status;
}

/* ---- new ops */

prt_op *prt_region_add_op(prt_build *b, uint32_t id, uint32_t n_in, prt_value *const *in,
    uint32_t n_out, uint32_t n_regions)
{
    if (b->status != POPRT_OK)
        return NULL;
    prt_op *op = prt_graph_add_op(b->graph, b->before, prt_op_of(id), n_in, n_out, n_regions);
    if (op == NULL) {
        b->status = POPRT_E_NOMEM;
        return NULL;
    }
    op->origin = b->origin;
    for (uint32_t i = 0; i < n_in; i++)
        prt_op_set_input(op, i, in[i]);
    return op;
}

poprt_status prt_region_return(prt_graph *graph, uint32_t n, prt_value *const *values)
{
    prt_str *names = PRT_NEW_N(graph->module->arena, prt_str, n);
    return names != NULL ? prt_graph_set_outputs(graph, n, values, names) : POPRT_E_NOMEM;
}

prt_op *prt_region_add_loop(prt_build *b, uint32_t n_in, prt_value *const *in, uint32_t n_out)
{
    prt_loop_attrs attrs = PRT_ATTRS_OF(loop);
    prt_op *op = prt_region_add_op(b, PRT_OP_loop, n_in, in, n_out, 1);
    PRT_ATTR_SET(attrs, loop, body, 0);
    if (op != NULL &&
        (op->attrs = prt_attrs_clone(op->def, b->graph->module->arena, &attrs)) == NULL)
        b->status = POPRT_E_NOMEM;
    return b->status == POPRT_OK ? op : NULL;
}

poprt_status prt_region_add_loop_inputs(prt_op *loop)
{
    prt_types *types = loop->graph->module->types;
    for (uint32_t i = 0; i < loop->n_in; i++) {
        const prt_type *type = i < 2
            ? prt_type_tensor(types, i == 0 ? PRT_DTYPE_i64 : PRT_DTYPE_bool, 0, NULL)
            : prt_op_input(loop, i)->type;
        if (prt_graph_add_input(loop->regions[0], PRT_STR(""), type) == NULL)
            return POPRT_E_NOMEM;
    }
    return POPRT_OK;
}
