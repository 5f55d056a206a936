/* SPDX-License-Identifier: MIT */
/*
 * interp.c — graph evaluator. Each running graph has a table of tensors by value id, filled by the
 * operators' eval hooks. Memory is not reused, which keeps the code simple at the cost of speed.
 */
#include "ir/interp.h"

#include "op/interp.h"

typedef struct frame {
    const prt_graph *graph;
    prt_tensor *values; /* by value id; kind is PRT_VALUE_ABSENT until computed */
    struct frame *outer;
    prt_arena *arena;
    const prt_op *op; /* the op that runs, for its regions */
} frame;

/* Returns the tensor of a value; NULL if it has none. Stores the aligned view of a constant in the
 * table. The default of an input counts if the caller passed no value. */
static const prt_tensor *look_up(const frame *f, const prt_value *v)
{
    for (; f != NULL; f = f->outer)
        if (f->graph == v->graph) {
            prt_tensor *t = &f->values[v->id];
            if (t->kind != PRT_VALUE_ABSENT || prt_value_aligned(v, f->arena, t))
                return t;
            return NULL;
        }
    return NULL;
}

static poprt_status run_graph(const prt_graph *graph, frame *outer, uint32_t n_in,
    const prt_tensor *const *in, uint32_t n_out, prt_tensor *out, prt_arena *arena);

/* Describes the declared type of a value as a tensor without data. */
static void declare(const prt_type *type, prt_tensor *out)
{
    *out = (prt_tensor){ .kind = PRT_VALUE_UNKNOWN, .dtype = type->dtype, .rank = UINT32_MAX };
    for (const prt_type *t = type; t != NULL && t->kind != PRT_VALUE_TENSOR; t = t->elem)
        out->dtype = t->elem != NULL ? t->elem->dtype : out->dtype;
    if (type->kind != PRT_VALUE_TENSOR || type->rank < 0 || type->rank > PRT_MAX_RANK)
        return;
    out->rank = (uint32_t)type->rank;
    for (uint32_t k = 0; k < out->rank; k++)
        out->dims[k] = prt_dim_is_number(type->dims[k]) ? type->dims[k] : -1;
}

static poprt_status call_region(prt_eval *c, uint32_t region, uint32_t n_in,
    const prt_tensor *const *in, uint32_t n_out, prt_tensor *out)
{
    frame *f = prt_interp_user(c);
    if (region >= f->op->n_regions)
        return prt_eval_fail(c, POPRT_E_PARSE, "has no region %u", region);
    return run_graph(f->op->regions[region], f, n_in, in, n_out, out, f->arena);
}

static poprt_status region_signature(prt_eval *c, uint32_t region, uint32_t in,
    prt_region_signature *to)
{
    const frame *f = prt_interp_user(c);
    if (region >= f->op->n_regions)
        return prt_eval_fail(c, POPRT_E_PARSE, "has no region %u", region);
    const prt_graph *g = f->op->regions[region];
    *to = (prt_region_signature){ .n_in = (uint32_t)g->inputs.count,
        .n_out = g->ret->n_in,
        .in = { .kind = PRT_VALUE_UNKNOWN } };
    if (in >= to->n_in)
        return POPRT_OK;
    declare(g->inputs.data[in]->type, &to->in);
    to->in.kind = g->inputs.data[in]->type->kind;
    return POPRT_OK;
}

static const prt_interp_regions regions = { .call = call_region, .signature = region_signature };

static poprt_status run_op(const prt_op *op, frame *f)
{
    prt_arena *arena = f->arena;
    const prt_tensor **in = PRT_NEW_N(arena, const prt_tensor *, op->n_in);
    prt_tensor *out = PRT_NEW_N(arena, prt_tensor, op->n_out);
    if (in == NULL || out == NULL)
        return POPRT_E_NOMEM;
    if (op->def == NULL)
        return prt_fail(POPRT_E_UNSUPPORTED, prt_op_label(op), "operator %.100s is not known",
            op->name.data);
    for (uint32_t i = 0; i < op->n_in; i++)
        if (op->in[i].value != NULL) {
            in[i] = look_up(f, op->in[i].value);
            if (in[i] == NULL)
                return prt_fail(POPRT_E_INTERNAL, prt_op_label(op), "input %u has no value", i);
        }
    for (uint32_t i = 0; i < op->n_out; i++)
        if (op->out[i].name.size != 0 || op->out[i].uses != NULL)
            declare(op->out[i].type, &out[i]);
    f->op = op;
    PRT_TRY(prt_interp_run(op->def, op->attrs, prt_str_of(prt_op_label(op)), op->n_in, in,
        op->n_out, out, arena, &regions, f));
    for (uint32_t i = 0; i < op->n_out; i++)
        f->values[op->out[i].id] = out[i];
    return POPRT_OK;
}

static poprt_status run_graph(const prt_graph *graph, frame *outer, uint32_t n_in,
    const prt_tensor *const *in, uint32_t n_out, prt_tensor *out, prt_arena *arena)
{
    frame f = { .graph = graph, .outer = outer, .arena = arena };
    f.values = PRT_NEW_N(arena, prt_tensor, (size_t)graph->n_values + 1);
    if (f.values == NULL)
        return POPRT_E_NOMEM;
    if (n_in != graph->inputs.count || n_out != graph->ret->n_in)
        return prt_fail(POPRT_E_SHAPE, graph->name.data,
            "graph takes %zu inputs and gives %u outputs; asked with %u and %u",
            graph->inputs.count, graph->ret->n_in, n_in, n_out);
    for (uint32_t i = 0; i < n_in; i++)
        if (in[i] != NULL)
            f.values[graph->inputs.data[i]->id] = *in[i];
    for (const prt_op *op = graph->first; op != NULL; op = op->next)
        PRT_TRY(run_op(op, &f));
    for (uint32_t i = 0; i < n_out; i++) {
        const prt_value *v = graph->ret->in[i].value;
        const prt_tensor *t = v != NULL ? look_up(&f, v) : NULL;
        if (t == NULL)
            return prt_fail(POPRT_E_INTERNAL, graph->name.data, "output %u has no value", i);
        out[i] = *t;
    }
    return POPRT_OK;
}

poprt_status prt_ir_run(const prt_graph *graph, uint32_t n_in, const prt_tensor *const *in,
    uint32_t n_out, prt_tensor *out, prt_arena *arena)
{
    return run_graph(graph, NULL, n_in, in, n_out, out, arena);
}
