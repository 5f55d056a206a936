/* SPDX-License-Identifier: MIT */
/* model.c — describes a model: its graph as summary, text, JSON and Graphviz. */
#include <stdio.h>

#include "describe/describe.h"
#include "ir/flops.h"
#include "ir/merge_models.h"

typedef PRT_VEC(const prt_graph *) graph_list;

/* Lists the graph and all subgraphs, outer ones first. The list grows during the loop over it. */
static poprt_status list_graphs(prt_arena *arena, const prt_graph *main, graph_list *out)
{
    if (!PRT_VEC_PUSH(arena, out, main))
        return POPRT_E_NOMEM;
    for (size_t i = 0; i < out->count; i++) {
        prt_for_each_op (op, out->data[i])
            for (uint32_t r = 0; r < op->n_regions; r++)
                if (!PRT_VEC_PUSH(arena, out, op->regions[r]))
                    return POPRT_E_NOMEM;
    }
    return POPRT_OK;
}

static poprt_status add_graph(prt_description *d, const prt_graph *graph, uint64_t *unknown)
{
    prt_for_each_op (op, graph) {
        uint64_t flops;
        *unknown += !prt_op_flops(op, &flops);
        PRT_TRY(prt_describe_add_op(d, op->domain, op->name, flops));
    }
    for (size_t i = 0; i < graph->constants.count; i++) {
        const prt_value *v = graph->constants.data[i];
        d->n_weights++;
        d->weight_bytes += v->constant != NULL ? v->constant->size : 0;
    }
    return POPRT_OK;
}

static poprt_status add_opsets(prt_description *d, const prt_module *module)
{
    char text[PRT_SINK_LINE];
    size_t used = 0;
    text[0] = '\0';
    for (const prt_opset *o = module->opsets; o != NULL && used < sizeof(text); o = o->next) {
        const prt_str domain = o->domain.size != 0 ? o->domain : PRT_STR("ai.onnx");
        const int n = snprintf(text + used, sizeof(text) - used, "%s%.*s %lld", used ? ", " : "",
            PRT_STR_ARG(domain), (long long)o->version);
        used += n > 0 ? (size_t)n : 0;
    }
    const size_t size = strlen(text);
    const char *copy = prt_arena_text(d->arena, text, size);
    if (copy == NULL)
        return POPRT_E_NOMEM;
    return prt_describe_add_fact(d, "opset", "opset", (prt_str){ copy, (uint32_t)size }, 0);
}

/* Adds the FLOPs of one run, as far as shapes are known. Each subgraph counts once. */
static poprt_status add_flops(prt_description *d, uint64_t unknown)
{
    const prt_str none = { NULL, 0 };
    PRT_TRY(prt_describe_add_fact(d, "FLOPs", "flops", none,
        d->flops < INT64_MAX ? d->flops : INT64_MAX));
    return prt_describe_add_fact(d, unknown != 0 ? "unknown of" : NULL, "flops_unknown_nodes", none,
        unknown);
}

static poprt_status describe(const prt_module *module, const prt_io_table *io, prt_arena *arena,
    const graph_list *graphs, bool json, prt_sink *sink)
{
    prt_description d = { .arena = arena,
        .kind = "onnx",
        .io = io,
        .file = module->file.data != NULL ? module->file.data : "",
        .ops = prt_map_in(arena) };
    prt_dim_counts dims = { 0 };
    uint64_t unknown = 0;
    for (size_t i = 0; i < graphs->count; i++) {
        PRT_TRY(add_graph(&d, graphs->data[i], &unknown));
        prt_describe_count_dims(graphs->data[i], &dims);
    }
    PRT_TRY(add_flops(&d, unknown));
    prt_str *names = PRT_NEW_N(arena, prt_str, graphs->count);
    if (names == NULL)
        return POPRT_E_NOMEM;
    for (size_t i = 0; i < graphs->count; i++)
        names[i] = graphs->data[i]->name;
    if (prt_ir_merged_models(module) != 0)
        PRT_TRY(prt_describe_add_graphs(&d, prt_ir_merged_models(module), names, graphs->count));
    PRT_TRY(prt_describe_add_dims(&d, &dims));
    PRT_TRY(add_opsets(&d, module));
    PRT_TRY(prt_describe_add_fact(&d, "ir version", "ir_version", (prt_str){ NULL, 0 },
        (uint64_t)module->ir_version));
    if (graphs->count > 1)
        PRT_TRY(prt_describe_add_fact(&d, "sub-graphs", "subgraphs", (prt_str){ NULL, 0 },
            graphs->count - 1));
    return json ? prt_describe_json(&d, sink) : prt_describe_summary(&d, sink);
}

/* Prints the graph, and a comment on its known and unknown dims. */
static poprt_status print_text(const prt_module *module, prt_arena *arena, const graph_list *graphs,
    prt_sink *sink)
{
    prt_str text;
    char line[128];
    prt_dim_counts dims = { 0 };
    PRT_TRY(prt_ir_print(module->main, arena, &text));
    prt_sink_str(sink, text);
    for (size_t i = 0; i < graphs->count; i++)
        prt_describe_count_dims(graphs->data[i], &dims);
    prt_describe_print_dims(&dims, line, sizeof(line));
    prt_sink_print(sink, "# dims: %s\n", line);
    if (dims.origins != 0)
        prt_sink_print(sink, "# unknown from: %s\n", dims.from);
    return prt_sink_finish(sink);
}

static size_t index_of(const graph_list *graphs, const prt_graph *graph)
{
    size_t i = 0;
    while (i < graphs->count && graphs->data[i] != graph)
        i++;
    return i;
}

/* Writes the source of an edge. Returns false for constants, which are not drawn. */
static bool print_source(prt_sink *sink, const graph_list *graphs, const prt_value *v)
{
    const size_t g = index_of(graphs, v->graph);
    if (v->constant != NULL)
        return false;
    if (v->def != NULL)
        prt_sink_print(sink, "  g%zu_op%u -> ", g, v->def->id);
    else
        prt_sink_print(sink, "  g%zu_in%u -> ", g, v->slot);
    return true;
}

static void print_edge_label(prt_sink *sink, const prt_dims *dims, const prt_value *v)
{
    char type[PRT_SINK_LINE / 2];
    prt_type_print(dims, v->type, type, sizeof(type));
    prt_sink_print(sink, " [label=\"");
    prt_sink_dot(sink, prt_str_of(type));
    prt_sink_print(sink, "\"];\n");
}

/* Returns whether the drawing has the node, whose place in the graph's order is `at`. */
static bool draws(const prt_dot *dot, uint64_t at)
{
    return at >= dot->first && at < dot->end;
}

static void print_node(prt_sink *sink, const prt_dot *dot, size_t g, const prt_op *op)
{
    uint64_t flops;
    prt_sink_print(sink, "  g%zu_op%u [label=\"", g, op->id);
    prt_sink_dot(sink, op->name);
    if (op->origin.size != 0 && dot->names) {
        prt_sink_print(sink, "\\n");
        prt_sink_dot(sink, op->origin);
    }
    if (prt_op_flops(op, &flops) && flops != 0) {
        prt_sink_print(sink, "\\n");
        prt_sink_count(sink, flops);
        prt_sink_print(sink, " FLOPs");
    }
    prt_sink_print(sink, "\"];\n");
}

static void print_graph(prt_sink *sink, const prt_dot *dot, const graph_list *graphs, size_t g)
{
    const prt_graph *graph = graphs->data[g];
    const prt_dims *dims = graph->module->dims;
    uint64_t at = 0;
    if (graph->owner != NULL)
        prt_sink_print(sink, "  subgraph cluster_g%zu {\n", g);
    for (size_t i = 0; i < graph->inputs.count; i++) {
        prt_sink_print(sink, "  g%zu_in%zu [shape=ellipse, label=\"", g, i);
        prt_sink_dot(sink, graph->inputs.data[i]->name);
        prt_sink_print(sink, "\"];\n");
    }
    prt_for_each_op (op, graph)
        if (draws(dot, at++))
            print_node(sink, dot, g, op);
    for (uint32_t i = 0; i < graph->ret->n_in; i++) {
        prt_sink_print(sink, "  g%zu_out%u [shape=ellipse, label=\"", g, i);
        if (i < graph->output_names.count)
            prt_sink_dot(sink, graph->output_names.data[i]);
        prt_sink_print(sink, "\"];\n");
    }
    if (graph->owner != NULL)
        prt_sink_print(sink, "  }\n");
    at = 0;
    prt_for_each_op (op, graph) {
        const bool drawn = draws(dot, at++);
        for (uint32_t i = 0; drawn && i < op->n_in; i++) {
            const prt_value *v = op->in[i].value;
            if (v == NULL || !print_source(sink, graphs, v))
                continue;
            prt_sink_print(sink, "g%zu_op%u", g, op->id);
            print_edge_label(sink, dims, v);
        }
    }
    for (uint32_t i = 0; i < graph->ret->n_in; i++) {
        const prt_value *v = graph->ret->in[i].value;
        if (v == NULL || !print_source(sink, graphs, v))
            continue;
        prt_sink_print(sink, "g%zu_out%u", g, i);
        print_edge_label(sink, dims, v);
    }
    if (graph->owner != NULL)
        prt_sink_print(sink, "  g%zu_op%u -> g%zu_out0 [style=dotted, dir=none];\n",
            index_of(graphs, graph->owner->graph), graph->owner->id, g);
}

static poprt_status print_dot(const prt_dot *dot, const graph_list *graphs, prt_sink *sink)
{
    prt_sink_print(sink, "digraph model {\n  node [shape=box];\n");
    for (size_t g = 0; g < graphs->count; g++)
        if (dot->graph == PRT_DOT_ALL || dot->graph == (int64_t)g)
            print_graph(sink, dot, graphs, g);
    prt_sink_print(sink, "}\n");
    return prt_sink_finish(sink);
}

poprt_status prt_describe_dot(const prt_module *module, const prt_dot *dot, prt_arena *arena,
    size_t *n_graphs, prt_sink *sink)
{
    graph_list graphs = { 0 };
    PRT_TRY(list_graphs(arena, module->main, &graphs));
    *n_graphs = graphs.count;
    return print_dot(dot, &graphs, sink);
}

poprt_status prt_describe_model(const prt_module *module, const prt_io_table *io, int32_t format,
    prt_arena *arena, prt_sink *sink)
{
    graph_list graphs = { 0 };
    PRT_TRY(list_graphs(arena, module->main, &graphs));
    switch (format) {
    case POPRT_FORMAT_TEXT:
        return print_text(module, arena, &graphs, sink);
    case POPRT_FORMAT_DOT:
        return print_dot(&(prt_dot){ .end = UINT64_MAX, .names = true, .graph = PRT_DOT_ALL },
            &graphs, sink);
    case POPRT_FORMAT_SHARDING:
        return prt_describe_sharding(module->main, arena, sink);
    case POPRT_FORMAT_GRAPHS_JSON:
        return prt_describe_graphs(module, arena, graphs.count, graphs.data, sink);
    default:
        return describe(module, io, arena, &graphs, format == POPRT_FORMAT_JSON, sink);
    }
}
