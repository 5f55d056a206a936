/* SPDX-License-Identifier: MIT */
/* graphs.c — host functions that read graphs, nodes and values. */
#include "ir/extra.h"
#include "plugin/internal.h"

static const prt_graph *graph_of(const poprt_graph *graph)
{
    return (const prt_graph *)(const void *)graph;
}

static const prt_op *op_of(const poprt_node *node)
{
    return (const prt_op *)(const void *)node;
}

static const prt_value *value_of(const poprt_value *value)
{
    return (const prt_value *)(const void *)value;
}

static poprt_graph *show_graph(const prt_graph *graph)
{
    return (poprt_graph *)(uintptr_t)graph;
}

static poprt_node *show_op(const prt_op *op)
{
    return (poprt_node *)(uintptr_t)op;
}

static poprt_value *show_value(const prt_value *value)
{
    return (poprt_value *)(uintptr_t)value;
}

/* ---- graphs */

static poprt_node *graph_first(const poprt_graph *graph)
{
    return show_op(graph_of(graph)->first);
}

static poprt_node *node_next(const poprt_node *node)
{
    const prt_op *next = op_of(node)->next;
    while (next != NULL && next->dead) /* an erased op keeps its successor */
        next = next->next;
    return show_op(next);
}

static uint32_t graph_inputs(const poprt_graph *graph)
{
    return (uint32_t)graph_of(graph)->inputs.count;
}

static poprt_value *graph_input(const poprt_graph *graph, uint32_t index)
{
    const prt_graph *g = graph_of(graph);
    return index < g->inputs.count ? show_value(g->inputs.data[index]) : NULL;
}

static uint32_t graph_outputs(const poprt_graph *graph)
{
    return graph_of(graph)->ret->n_in;
}

static poprt_value *graph_output(const poprt_graph *graph, uint32_t index)
{
    return show_value(prt_op_input(graph_of(graph)->ret, index));
}

/* ---- nodes */

static const char *text_of(prt_str s)
{
    return s.data != NULL ? s.data : "";
}

static const char *node_op_type(const poprt_node *node)
{
    return text_of(op_of(node)->name);
}

static const char *node_domain(const poprt_node *node)
{
    return text_of(op_of(node)->domain);
}

static const char *node_name(const poprt_node *node)
{
    return text_of(op_of(node)->origin);
}

static poprt_graph *node_graph(const poprt_node *node)
{
    return op_of(node)->dead ? NULL : show_graph(op_of(node)->graph);
}

static uint32_t node_inputs(const poprt_node *node)
{
    return op_of(node)->dead ? 0 : op_of(node)->n_in;
}

static poprt_value *node_input(const poprt_node *node, uint32_t index)
{
    return op_of(node)->dead ? NULL : show_value(prt_op_input(op_of(node), index));
}

static uint32_t node_outputs(const poprt_node *node)
{
    return op_of(node)->dead ? 0 : op_of(node)->n_out;
}

static poprt_value *node_output(const poprt_node *node, uint32_t index)
{
    const prt_op *op = op_of(node);
    return !op->dead && index < op->n_out ? show_value(&op->out[index]) : NULL;
}

static uint32_t node_subgraphs(const poprt_node *node)
{
    return op_of(node)->dead ? 0 : op_of(node)->n_regions;
}

static poprt_graph *node_subgraph(const poprt_node *node, uint32_t index)
{
    const prt_op *op = op_of(node);
    return !op->dead && index < op->n_regions ? show_graph(op->regions[index]) : NULL;
}

/* Returns an attribute that the operator's row does not define; it is stored as bytes. */
static bool show_mark(const prt_op *op, const char *name, poprt_attr *out)
{
    prt_arena *arena = op->graph->module->arena;
    poprt_attr a = { .name = name };
    prt_str text;
    prt_i64s ints;
    prt_f32s floats;
    prt_strs texts;
    if (prt_op_mark_i64(op, name, &a.integer)) {
        a.kind = POPRT_ATTR_INT;
    } else if (prt_op_mark_f32(op, name, &a.real)) {
        a.kind = POPRT_ATTR_FLOAT;
    } else if (prt_op_mark_text(op, name, &text)) {
        a.kind = POPRT_ATTR_STRING;
        a.string = text.data;
        a.count = text.size;
    } else if (prt_op_mark_i64s(op, name, arena, &ints)) {
        a = poprt_attr_ints(name, ints.data, ints.count);
    } else if (prt_op_mark_f32s(op, name, arena, &floats)) {
        a = poprt_attr_floats(name, floats.data, floats.count);
    } else if (!prt_op_mark_texts(op, name, arena, &texts) ||
        prt_plugin_export_strings(texts, prt_plugin_arena_memory(arena), &a) != POPRT_OK) {
        return false;
    }
    *out = a;
    return true;
}

static poprt_status show_attr(const prt_op *op, uint32_t index, poprt_attr *out)
{
    const prt_attr_def *row = &op->def->attrs[index];
    poprt_attr a;
    PRT_TRY(prt_plugin_export_attr(row, op->attrs,
        prt_plugin_arena_memory(op->graph->module->arena), &a));
    if (row->kind == PRT_ATTR_graph && prt_attr_given(op->attrs, index)) {
        const uint32_t region =
            *(const uint32_t *)(const void *)((const char *)op->attrs + row->offset);
        a = poprt_attr_of(prt_attr_name(row), POPRT_ATTR_GRAPH, 1, op->regions[region]);
    }
    *out = a;
    return POPRT_OK;
}

static poprt_status node_attr(const poprt_node *node, const char *name, poprt_attr *out)
{
    const prt_op *op = op_of(node);
    const prt_raw *at = NULL;
    prt_str other;
    if (name == NULL)
        return prt_fail(POPRT_E_ARG, NULL, "an attribute name must not be NULL");
    const uint32_t index = op->def != NULL ? prt_op_attr(op->def, prt_str_of(name)) : UINT32_MAX;
    if (index != UINT32_MAX)
        return show_attr(op, index, out);
    if (show_mark(op, name, out))
        return POPRT_OK;
    while (prt_op_next_extra(op, &at, &other))
        if (prt_str_is(other, name))
            return prt_fail(POPRT_E_UNSUPPORTED, prt_op_label(op),
                "attribute %.100s is a tensor, type or graph, which the operator does not define",
                name);
    return prt_fail(POPRT_E_NOT_FOUND, prt_op_label(op), "there is no attribute %.100s", name);
}

/* ---- values */

static const char *value_name(const poprt_value *value)
{
    return text_of(value_of(value)->name);
}

static poprt_status value_type(const poprt_value *value, poprt_type *out)
{
    *out = prt_plugin_export_type(value_of(value)->type);
    return POPRT_OK;
}

static poprt_status value_constant(poprt_pass_run *pass, const poprt_value *value,
    poprt_tensor *out)
{
    const prt_value *v = value_of(value);
    prt_arena *arena = pass->p->arena;
    prt_tensor *t = PRT_NEW(arena, prt_tensor); /* `dims` must outlive the call */
    if (t == NULL)
        return POPRT_E_NOMEM;
    if (!prt_value_is_fixed(v))
        return prt_fail(POPRT_E_NOT_FOUND, text_of(v->name), "the value is not a constant");
    if (!prt_value_aligned(v, arena, t))
        return prt_fail(POPRT_E_UNSUPPORTED, text_of(v->name), "the constant is not a tensor");
    *out = (poprt_tensor){ .data = t->data,
        .size = t->size,
        .dims = t->dims,
        .rank = t->rank,
        .dtype = t->dtype };
    return POPRT_OK;
}

static poprt_node *value_maker(const poprt_value *value)
{
    return show_op(value_of(value)->def);
}

static poprt_node *value_reader(const poprt_value *value, uint32_t index, uint32_t *slot)
{
    prt_for_each_use (use, value_of(value)) {
        if (use->user == use->user->graph->ret || index-- != 0)
            continue;
        if (slot != NULL)
            *slot = (uint32_t)(use - use->user->in);
        return show_op(use->user);
    }
    return NULL;
}

static int32_t value_is_output(const poprt_value *value)
{
    return prt_value_is_output(value_of(value));
}

void prt_plugin_host_graphs(poprt_host *host)
{
    host->graph_first = graph_first;
    host->node_next = node_next;
    host->graph_inputs = graph_inputs;
    host->graph_input = graph_input;
    host->graph_outputs = graph_outputs;
    host->graph_output = graph_output;
    host->node_op_type = node_op_type;
    host->node_domain = node_domain;
    host->node_name = node_name;
    host->node_graph = node_graph;
    host->node_inputs = node_inputs;
    host->node_input = node_input;
    host->node_outputs = node_outputs;
    host->node_output = node_output;
    host->node_subgraphs = node_subgraphs;
    host->node_subgraph = node_subgraph;
    host->node_attr = node_attr;
    host->value_name = value_name;
    host->value_type = value_type;
    host->value_constant = value_constant;
    host->value_maker = value_maker;
    host->value_reader = value_reader;
    host->value_is_output = value_is_output;
}
