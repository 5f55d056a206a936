/* SPDX-License-Identifier: MIT */
/*
 * graphs.c — POPRT_FORMAT_GRAPHS_JSON: every graph as a list of operators, for tools that read the
 * output of PopRT's `serialize_ir`.
 *
 *     {"main": [{"type": "Conv", "domain": "ai.onnx", "version": 22, "name": "conv1",
 *                "inputs": [{"name": "x", "type": "f32[1,3,8,8]"}, ...], "outputs": [...],
 *                "attributes": {"strides": [2, 2]}, "graphs": []}, ...], ...}
 *
 * The first graph is the main graph. "graphs" has the names of the subgraphs of an operator. The
 * attributes of an operator are those of "version", whatever the opset of the file is. Constants
 * are inputs with "constant": true. An absent input is null. A value without a name is named by its
 * graph and number.
 */
#include <math.h>
#include <stdio.h>

#include "describe/describe.h"
#include "base/json.h"
#include "ir/ir.h"

typedef struct writer {
    prt_json_out out;
    const prt_module *module;
    prt_map numbers; /* graph → its index in the list, from 1 */
    prt_arena *arena;
} writer;

static poprt_status number_graph(writer *w, const prt_graph *graph, size_t number)
{
    const prt_graph **key = prt_arena_copy(w->arena, &graph, sizeof(graph));
    return key != NULL
        ? prt_map_set(&w->numbers, (prt_str){ (const char *)key, sizeof(*key) }, (void *)number)
        : POPRT_E_NOMEM;
}

static size_t graph_number(const writer *w, const prt_graph *graph)
{
    const prt_str key = { (const char *)&graph, sizeof(graph) };
    return (size_t)(uintptr_t)prt_map_find(&w->numbers, key) - 1;
}

static void graph_name(const writer *w, const prt_graph *graph, char *to, size_t size)
{
    const size_t n = graph_number(w, graph);
    if (n == 0)
        (void)snprintf(to, size, "main");
    else
        (void)snprintf(to, size, "graph%zu", n);
}

static void print_value(writer *w, const prt_value *v)
{
    char text[PRT_SINK_LINE];
    if (v == NULL) {
        prt_json_put_f64(&w->out, NULL, (double)NAN);
        return;
    }
    prt_json_open(&w->out, NULL, '{');
    if (v->name.size != 0) {
        prt_json_put_text(&w->out, "name", v->name);
    } else {
        (void)snprintf(text, sizeof(text), "%%%zu.%u", graph_number(w, v->graph), v->id);
        prt_json_put_text(&w->out, "name", prt_str_of(text));
    }
    prt_type_print(w->module->dims, v->type, text, sizeof(text));
    prt_json_put_text(&w->out, "type", prt_str_of(text));
    if (prt_value_is_constant(v))
        prt_json_put_bool(&w->out, "constant", true);
    prt_json_close(&w->out, '}');
}

static void print_op(writer *w, const prt_op *op)
{
    char name[32];
    prt_json_open(&w->out, NULL, '{');
    prt_json_put_text(&w->out, "type", op->name);
    prt_json_put_text(&w->out, "domain", op->domain.size != 0 ? op->domain : PRT_STR("ai.onnx"));
    prt_json_put_i64(&w->out, "version", op->def != NULL ? op->def->since : 0);
    prt_json_put_text(&w->out, "name", op->origin);
    prt_json_open(&w->out, "inputs", '[');
    for (uint32_t i = 0; i < op->n_in; i++)
        print_value(w, op->in[i].value);
    prt_json_close(&w->out, ']');
    prt_json_open(&w->out, "outputs", '[');
    for (uint32_t i = 0; i < op->n_out; i++)
        print_value(w, &op->out[i]);
    prt_json_close(&w->out, ']');
    prt_json_open(&w->out, "attributes", '{');
    if (op->def != NULL)
        prt_describe_attrs(&w->out, w->module->dims, op->def, op->attrs);
    prt_json_close(&w->out, '}');
    prt_json_open(&w->out, "graphs", '[');
    for (uint32_t i = 0; i < op->n_regions; i++) {
        graph_name(w, op->regions[i], name, sizeof(name));
        prt_json_put_text(&w->out, NULL, prt_str_of(name));
    }
    prt_json_close(&w->out, ']');
    prt_json_close(&w->out, '}');
}

poprt_status prt_describe_graphs(const prt_module *module, prt_arena *arena, size_t count,
    const prt_graph *const *graphs, prt_sink *sink)
{
    writer w = { .module = module, .numbers = prt_map_in(arena), .arena = arena };
    char name[32];
    prt_str text;
    for (size_t i = 0; i < count; i++)
        PRT_TRY(number_graph(&w, graphs[i], i + 1));
    prt_json_out_init(&w.out, arena, true);
    prt_json_open(&w.out, NULL, '{');
    for (size_t i = 0; i < count; i++) {
        graph_name(&w, graphs[i], name, sizeof(name));
        prt_json_open(&w.out, name, '[');
        prt_for_each_op (op, graphs[i])
            print_op(&w, op);
        prt_json_close(&w.out, ']');
    }
    prt_json_close(&w.out, '}');
    PRT_TRY(prt_json_out_finish(&w.out, &text));
    prt_sink_str(sink, text);
    prt_sink_print(sink, "\n");
    return prt_sink_finish(sink);
}
