/* SPDX-License-Identifier: MIT */
/*
 * onnx_names.c — assigns names: first the names of the interface, then each value's own name if it
 * is free, then generated ones.
 */
#include "converter/onnx_names.h"

#include <stdio.h>

static prt_str key_of(const prt_graph *const *graph)
{
    return (prt_str){ (const char *)graph, sizeof(*graph) };
}

const prt_graph_names *prt_names_graph(const prt_names *names, const prt_graph *graph)
{
    return prt_map_find(&names->graphs, key_of(&graph));
}

prt_str prt_names_value(const prt_names *names, const prt_value *value)
{
    if (value == NULL)
        return PRT_STR("");
    const prt_graph_names *g = prt_names_graph(names, value->graph);
    if (g == NULL || g->values[value->id].data == NULL)
        return PRT_STR("");
    return g->values[value->id];
}

prt_str prt_names_node(const prt_names *names, const prt_op *op)
{
    return prt_names_graph(names, op->graph)->nodes[op->id];
}

static poprt_status reserve(prt_names *n, prt_str name, const prt_value *value)
{
    return prt_map_set(&n->taken, name, (void *)(uintptr_t)value);
}

/* The value that has the name in the file; NULL if the name is free. */
static const prt_value *holder_of(const prt_names *n, prt_str name)
{
    return prt_map_find(&n->taken, name);
}

/* Generates a name for `value` that occurs neither in the file nor in the module. */
static poprt_status generate(prt_names *n, const char *base, const prt_value *value, prt_str *out)
{
    char text[160];
    do {
        const int size = snprintf(text, sizeof(text), "%.120s_%u", base, n->counter++);
        *out = (prt_str){ text, (uint32_t)size };
    } while (holder_of(n, *out) != NULL || prt_map_find(&n->module->names, *out) != NULL);
    out->data = prt_arena_text(n->scratch, text, out->size);
    return out->data != NULL ? reserve(n, *out, value) : POPRT_E_NOMEM;
}

static poprt_status add_graph(prt_names *n, const prt_graph *graph, prt_graph_names **out)
{
    prt_graph_names *g = PRT_NEW(n->scratch, prt_graph_names);
    if (g == NULL)
        return POPRT_E_NOMEM;
    g->graph = graph;
    g->values = PRT_NEW_N(n->scratch, prt_str, graph->n_values);
    g->outputs = PRT_NEW_N(n->scratch, prt_str, graph->ret->n_in);
    g->copies = PRT_NEW_N(n->scratch, bool, graph->ret->n_in);
    g->nodes = PRT_NEW_N(n->scratch, prt_str, graph->n_ops);
    if (g->values == NULL || g->outputs == NULL || g->copies == NULL || g->nodes == NULL)
        return POPRT_E_NOMEM;
    *out = g;
    return prt_map_set(&n->graphs, key_of(&g->graph), g);
}

/* Graph outputs keep the names of the interface, which may list a name several times for one value.
 * A value computed in the graph takes the name of the first output that it provides. */
static poprt_status name_interface(prt_names *n, const prt_graph_names *g)
{
    const prt_graph *graph = g->graph;
    for (size_t i = 0; i < graph->inputs.count; i++) {
        const prt_value *in = graph->inputs.data[i];
        if (in->name.size == 0)
            continue;
        g->values[in->id] = in->name;
        PRT_TRY(reserve(n, in->name, in));
    }
    for (uint32_t i = 0; i < graph->ret->n_in; i++) {
        const prt_value *value = graph->ret->in[i].value;
        const prt_str name = graph->output_names.data[i];
        const prt_value *holder = holder_of(n, name);
        if (holder != NULL && holder != value)
            return prt_fail(POPRT_E_INTERNAL, name.data,
                "the name belongs to two values, an output and another output or an input");
        g->outputs[i] = name;
        g->copies[i] = holder == NULL;
        if (value->def != NULL && g->values[value->id].size == 0 && holder == NULL)
            g->values[value->id] = name;
        PRT_TRY(reserve(n, name, value));
    }
    return POPRT_OK;
}

/* Only optional outputs may remain unnamed: both outputs of a TopK have values, even if only the
 * indices are read. The number of outputs may also matter to the operator, as the parts of a
 * Split. */
static bool needs_no_name(const prt_value *value)
{
    const prt_op *op = value->def;
    if (op == NULL || value->uses != NULL)
        return false;
    return op->source != NULL || op->def == NULL ||
        (prt_op_out_slot(op->def, value->slot)->flags & PRT_SLOT_OPTIONAL) != 0;
}

static poprt_status name_value(prt_names *n, const prt_graph_names *g, const prt_value *value,
    const char *base)
{
    prt_str *name = &g->values[value->id];
    if (name->size != 0)
        return POPRT_OK;
    const prt_value *holder = value->name.size != 0 ? holder_of(n, value->name) : NULL;
    /* A constant may also be an output of the same name. */
    if (value->name.size != 0 && (holder == NULL || holder == value)) {
        *name = value->name;
        return reserve(n, *name, value);
    }
    if (needs_no_name(value))
        return POPRT_OK;
    return generate(n, base, value, name);
}

/* A region returns its values by position, so its outputs take the names of their values. A value
 * from outside, or one that is returned twice, needs an Identity. */
static poprt_status name_region_outputs(prt_names *n, const prt_graph_names *g)
{
    const prt_op *ret = g->graph->ret;
    for (uint32_t i = 0; i < ret->n_in; i++) {
        const prt_value *value = ret->in[i].value;
        bool again = value->graph != g->graph;
        for (uint32_t k = 0; k < i && !again; k++)
            again = ret->in[k].value == value;
        g->copies[i] = again;
        if (!again)
            g->outputs[i] = g->values[value->id];
        else
            PRT_TRY(generate(n, "out", value, &g->outputs[i]));
    }
    return POPRT_OK;
}

/* An output of the main graph is copied if its name is not its value's, and no earlier output has
 * that name. */
static void find_copies(const prt_graph_names *g)
{
    const prt_op *ret = g->graph->ret;
    for (uint32_t i = 0; i < ret->n_in; i++)
        g->copies[i] =
            g->copies[i] && !prt_str_equal(g->values[ret->in[i].value->id], g->outputs[i]);
}

static poprt_status name_graph(prt_names *n, const prt_graph_names *g)
{
    const prt_graph *graph = g->graph;
    for (size_t i = 0; i < graph->inputs.count; i++)
        PRT_TRY(name_value(n, g, graph->inputs.data[i], "in"));
    for (size_t i = 0; i < graph->constants.count; i++)
        PRT_TRY(name_value(n, g, graph->constants.data[i], "const"));
    prt_for_each_op (op, graph)
        for (uint32_t i = 0; i < op->n_out; i++)
            PRT_TRY(name_value(n, g, &op->out[i], op->name.data));
    if (graph->owner != NULL)
        PRT_TRY(name_region_outputs(n, g));
    else
        find_copies(g);
    prt_for_each_op (op, graph)
        for (uint32_t i = 0; i < op->n_regions; i++) {
            prt_graph_names *inner = NULL;
            PRT_TRY(add_graph(n, op->regions[i], &inner));
            PRT_TRY(name_graph(n, inner));
        }
    return POPRT_OK;
}

/* ---- nodes ---- */

/* Uses the name of the original node, with a number appended if another op has it already. */
static poprt_status name_node(prt_names *n, const prt_op *op, prt_str *out)
{
    *out = op->origin;
    if (op->origin.size == 0)
        return POPRT_OK;
    const size_t size = (size_t)op->origin.size + 12;
    while (prt_map_find(&n->nodes, *out) != NULL) {
        char *text = PRT_NEW_N(n->scratch, char, size);
        if (text == NULL)
            return POPRT_E_NOMEM;
        const int length =
            snprintf(text, size, "%.*s_%u", PRT_STR_ARG(op->origin), ++n->node_counter);
        *out = (prt_str){ text, (uint32_t)length };
    }
    return prt_map_set(&n->nodes, *out, (void *)(uintptr_t)op);
}

/* Names the ops that may be written as their source bytes first, then the others. */
static poprt_status name_nodes(prt_names *n, const prt_graph *graph, bool read)
{
    const prt_graph_names *g = prt_names_graph(n, graph);
    prt_for_each_op (op, graph) {
        if (read && op->source != NULL) {
            g->nodes[op->id] = op->origin;
            if (op->origin.size != 0)
                PRT_TRY(prt_map_set(&n->nodes, op->origin, op));
        } else if (!read && op->source == NULL) {
            PRT_TRY(name_node(n, op, &g->nodes[op->id]));
        }
        for (uint32_t i = 0; i < op->n_regions; i++)
            PRT_TRY(name_nodes(n, op->regions[i], read));
    }
    return POPRT_OK;
}

poprt_status prt_names_create(const prt_module *module, prt_arena *scratch, prt_names **out)
{
    prt_names *n = PRT_NEW(scratch, prt_names);
    if (n == NULL)
        return POPRT_E_NOMEM;
    n->module = module;
    n->scratch = scratch;
    n->taken = prt_map_in(scratch);
    n->nodes = prt_map_in(scratch);
    n->graphs = prt_map_in(scratch);
    prt_graph_names *main = NULL;
    PRT_TRY(add_graph(n, module->main, &main));
    PRT_TRY(name_interface(n, main));
    PRT_TRY(name_graph(n, main));
    PRT_TRY(name_nodes(n, module->main, true));
    PRT_TRY(name_nodes(n, module->main, false));
    *out = n;
    return POPRT_OK;
}
