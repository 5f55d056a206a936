/* SPDX-License-Identifier: MIT */
/* onnx_raw.c — parses the messages of a model: model, functions, graphs, nodes. */
#include "converter/onnx_raw.h"

#include <stdarg.h>
#include <stdio.h>

/* Appends an item, or returns POPRT_E_NOMEM from the function. */
#define PUSH(vec, item)                                                                            \
    do {                                                                                           \
        if (!PRT_VEC_PUSH(r->arena, vec, item))                                                    \
            return POPRT_E_NOMEM;                                                                  \
    } while (0)

poprt_status prt_onnx_fail(poprt_status status, prt_str subject, const char *fmt, ...)
{
    char name[256], text[1024];
    va_list args;
    va_start(args, fmt);
    if (vsnprintf(text, sizeof(text), fmt, args) < 0)
        text[0] = '\0';
    va_end(args);
    (void)snprintf(name, sizeof(name), "%.*s", PRT_SHOW(subject));
    return prt_fail(status, name, "%s", text);
}

prt_str prt_raw_label(const prt_raw_node *node)
{
    if (node->name.size != 0)
        return node->name;
    for (size_t i = 0; i < node->outputs.count; i++)
        if (node->outputs.data[i].size != 0)
            return node->outputs.data[i];
    return node->op_type;
}

poprt_status prt_raw_keep(prt_arena *arena, prt_raw_list *list, uint32_t field, prt_bytes whole)
{
    prt_raw *raw = PRT_NEW(arena, prt_raw);
    if (raw == NULL)
        return POPRT_E_NOMEM;
    *raw = (prt_raw){ .field = field, .bytes = whole.data, .size = whole.size };
    if (list->last != NULL)
        list->last->next = raw;
    else
        list->first = raw;
    list->last = raw;
    return POPRT_OK;
}

static poprt_status read_graph(const prt_raw_reader *r, prt_bytes bytes, uint32_t depth,
    uint32_t level, prt_raw_graph *g);

static poprt_status read_attr_graph(const prt_raw_reader *r, prt_bytes bytes, uint32_t depth,
    uint32_t level, prt_raw_attr *attr)
{
    prt_raw_graph *g = PRT_NEW(r->arena, prt_raw_graph);
    if (g == NULL)
        return POPRT_E_NOMEM;
    PRT_TRY(read_graph(r, bytes, depth, level + 1, g));
    PUSH(&attr->graphs, g);
    return POPRT_OK;
}

/* Returns the kind that a field implies, for files that predate AttributeProto.type. */
static int32_t kind_of_field(uint32_t number)
{
    switch (number) {
    case PRT_ONNX_Attribute_f:
        return PRT_ONNX_FLOAT;
    case PRT_ONNX_Attribute_i:
        return PRT_ONNX_INT;
    case PRT_ONNX_Attribute_s:
        return PRT_ONNX_STRING;
    case PRT_ONNX_Attribute_t:
        return PRT_ONNX_TENSOR;
    case PRT_ONNX_Attribute_g:
        return PRT_ONNX_GRAPH;
    case PRT_ONNX_Attribute_floats:
        return PRT_ONNX_FLOATS;
    case PRT_ONNX_Attribute_ints:
        return PRT_ONNX_INTS;
    case PRT_ONNX_Attribute_strings:
        return PRT_ONNX_STRINGS;
    case PRT_ONNX_Attribute_tp:
        return PRT_ONNX_TYPE_PROTO;
    default:
        return 0;
    }
}

static poprt_status read_attr(const prt_raw_reader *r, const prt_field *field, uint32_t depth,
    uint32_t level, prt_raw_attr *out)
{
    *out = (prt_raw_attr){ .name = PRT_STR(""),
        .ref = PRT_STR(""),
        .bytes = field->bytes,
        .whole = field->whole };
    prt_wire w = prt_onnx_open(field->bytes, PRT_ONNX_Attribute, depth);
    prt_field f;
    int32_t implied = 0;
    while (prt_wire_next(&w, &f)) {
        if (implied == 0)
            implied = kind_of_field(f.number);
        switch (f.number) {
        case PRT_ONNX_Attribute_name:
            out->name = prt_wire_text(&w, &f);
            break;
        case PRT_ONNX_Attribute_ref_attr_name:
            out->ref = prt_wire_text(&w, &f);
            break;
        case PRT_ONNX_Attribute_type:
            out->kind = (int32_t)f.word;
            break;
        case PRT_ONNX_Attribute_t:
        case PRT_ONNX_Attribute_tp:
        case PRT_ONNX_Attribute_sparse_tensor:
            out->payload = f.bytes;
            break;
        case PRT_ONNX_Attribute_g:
        case PRT_ONNX_Attribute_graphs:
            PRT_TRY(read_attr_graph(r, f.bytes, depth + 1, level, out));
            break;
        default:
            break;
        }
    }
    if (out->kind == 0)
        out->kind = implied;
    if (out->kind == PRT_ONNX_GRAPH && out->graphs.count != 1 && out->ref.size == 0 &&
        w.status == POPRT_OK)
        return prt_onnx_fail(POPRT_E_PARSE, out->name, "attribute holds %zu graphs; must hold one",
            out->graphs.count);
    return w.status;
}

static poprt_status read_node(const prt_raw_reader *r, prt_bytes bytes, uint32_t depth,
    uint32_t level, prt_raw_node *n)
{
    *n = (prt_raw_node){ .name = PRT_STR(""),
        .op_type = PRT_STR(""),
        .domain = PRT_STR(""),
        .overload = PRT_STR(""),
        .bytes = bytes,
        .depth = depth };
    prt_wire w = prt_onnx_open(bytes, PRT_ONNX_Node, depth);
    prt_field f;
    prt_raw_attr attr;
    while (prt_wire_next(&w, &f)) {
        switch (f.number) {
        case PRT_ONNX_Node_input:
            PUSH(&n->inputs, prt_wire_text(&w, &f));
            break;
        case PRT_ONNX_Node_output:
            PUSH(&n->outputs, prt_wire_text(&w, &f));
            break;
        case PRT_ONNX_Node_name:
            n->name = prt_wire_text(&w, &f);
            break;
        case PRT_ONNX_Node_op_type:
            n->op_type = prt_wire_text(&w, &f);
            break;
        case PRT_ONNX_Node_domain:
            n->domain = prt_wire_text(&w, &f);
            break;
        case PRT_ONNX_Node_attribute:
            PRT_TRY(read_attr(r, &f, depth + 1, level, &attr));
            PUSH(&n->attrs, attr);
            break;
        case PRT_ONNX_Node_overload:
            n->overload = prt_wire_text(&w, &f);
            PRT_TRY(prt_raw_keep(r->arena, &n->extra, f.number, f.whole));
            break;
        default:
            PRT_TRY(prt_raw_keep(r->arena, &n->extra, f.number, f.whole));
            break;
        }
    }
    PRT_TRY(w.status);
    if (n->op_type.size == 0)
        return prt_onnx_fail(POPRT_E_PARSE, prt_raw_label(n), "a node has no op_type");
    return prt_raw_captures(r, n);
}

static poprt_status add_node(const prt_raw_reader *r, prt_bytes bytes, uint32_t depth,
    uint32_t level, prt_raw_graph *g)
{
    prt_raw_node *n = PRT_NEW(r->arena, prt_raw_node);
    if (n == NULL)
        return POPRT_E_NOMEM;
    PRT_TRY(read_node(r, bytes, depth, level, n));
    PUSH(&g->nodes, n);
    return POPRT_OK;
}

/* Reads only the name in a message. */
static poprt_status read_name(prt_bytes bytes, prt_onnx_message message, uint32_t field,
    uint32_t depth, prt_raw_named *out)
{
    *out = (prt_raw_named){ PRT_STR(""), bytes };
    prt_wire w = prt_onnx_open(bytes, message, depth);
    prt_field f;
    while (prt_wire_next(&w, &f))
        if (f.number == field)
            out->name = prt_wire_text(&w, &f);
    return w.status;
}

/* The name of a sparse tensor is the name of its values. */
static poprt_status read_sparse_name(prt_bytes bytes, uint32_t depth, prt_raw_named *out)
{
    *out = (prt_raw_named){ PRT_STR(""), bytes };
    prt_wire w = prt_onnx_open(bytes, PRT_ONNX_SparseTensor, depth);
    prt_field f;
    prt_raw_named values;
    while (prt_wire_next(&w, &f))
        if (f.number == PRT_ONNX_SparseTensor_values) {
            PRT_TRY(read_name(f.bytes, PRT_ONNX_Tensor, PRT_ONNX_Tensor_name, depth + 1, &values));
            out->name = values.name;
        }
    return w.status;
}

static poprt_status read_graph(const prt_raw_reader *r, prt_bytes bytes, uint32_t depth,
    uint32_t level, prt_raw_graph *g)
{
    *g = (prt_raw_graph){ .name = PRT_STR(""), .doc = PRT_STR(""), .depth = depth };
    if (level > r->subgraphs)
        return prt_fail(POPRT_E_LIMIT, NULL, "graphs are nested more than %u deep", r->subgraphs);
    prt_wire w = prt_onnx_open(bytes, PRT_ONNX_Graph, depth);
    prt_field f;
    prt_raw_named named;
    while (prt_wire_next(&w, &f)) {
        switch (f.number) {
        case PRT_ONNX_Graph_node:
            PRT_TRY(add_node(r, f.bytes, depth + 1, level, g));
            break;
        case PRT_ONNX_Graph_name:
            g->name = prt_wire_text(&w, &f);
            break;
        case PRT_ONNX_Graph_doc_string:
            g->doc = prt_wire_text(&w, &f);
            break;
        case PRT_ONNX_Graph_initializer:
            PRT_TRY(read_name(f.bytes, PRT_ONNX_Tensor, PRT_ONNX_Tensor_name, depth + 1, &named));
            PUSH(&g->constants, named);
            break;
        case PRT_ONNX_Graph_sparse_initializer:
            PRT_TRY(read_sparse_name(f.bytes, depth + 1, &named));
            PUSH(&g->sparse, named);
            break;
        case PRT_ONNX_Graph_input:
        case PRT_ONNX_Graph_output:
        case PRT_ONNX_Graph_value_info:
            PRT_TRY(
                read_name(f.bytes, PRT_ONNX_ValueInfo, PRT_ONNX_ValueInfo_name, depth + 1, &named));
            if (f.number == PRT_ONNX_Graph_input)
                PUSH(&g->inputs, named);
            else if (f.number == PRT_ONNX_Graph_output)
                PUSH(&g->outputs, named);
            else
                PUSH(&g->infos, named);
            PRT_TRY(prt_raw_keep(r->arena, &g->extra, f.number, f.whole));
            break;
        default:
            PRT_TRY(prt_raw_keep(r->arena, &g->extra, f.number, f.whole));
            break;
        }
    }
    PRT_TRY(w.status);
    return prt_raw_order(r, g);
}

static poprt_status read_function(const prt_raw_reader *r, const prt_field *field, uint32_t depth,
    prt_raw_function *fn)
{
    *fn = (prt_raw_function){ .domain = PRT_STR(""),
        .name = PRT_STR(""),
        .overload = PRT_STR(""),
        .whole = field->whole };
    fn->body = (prt_raw_graph){ .name = PRT_STR(""), .doc = PRT_STR(""), .depth = depth };
    prt_wire w = prt_onnx_open(field->bytes, PRT_ONNX_Function, depth);
    prt_field f;
    prt_raw_attr attr;
    prt_raw_named named;
    while (prt_wire_next(&w, &f)) {
        switch (f.number) {
        case PRT_ONNX_Function_name:
            fn->name = prt_wire_text(&w, &f);
            break;
        case PRT_ONNX_Function_domain:
            fn->domain = prt_wire_text(&w, &f);
            break;
        case PRT_ONNX_Function_overload:
            fn->overload = prt_wire_text(&w, &f);
            break;
        case PRT_ONNX_Function_input:
            named = (prt_raw_named){ prt_wire_text(&w, &f), f.bytes };
            PUSH(&fn->body.inputs, named);
            break;
        case PRT_ONNX_Function_output:
            named = (prt_raw_named){ prt_wire_text(&w, &f), f.bytes };
            PUSH(&fn->body.outputs, named);
            break;
        case PRT_ONNX_Function_attribute:
            PUSH(&fn->attributes, prt_wire_text(&w, &f));
            break;
        case PRT_ONNX_Function_attribute_proto:
            PRT_TRY(read_attr(r, &f, depth + 1, 1, &attr));
            PUSH(&fn->defaults, attr);
            break;
        case PRT_ONNX_Function_node:
            PRT_TRY(add_node(r, f.bytes, depth + 1, 1, &fn->body));
            break;
        case PRT_ONNX_Function_opset_import:
            PRT_TRY(read_name(f.bytes, PRT_ONNX_OperatorSetId, PRT_ONNX_OperatorSetId_domain,
                depth + 1, &named));
            PUSH(&fn->opsets, named);
            break;
        default:
            break;
        }
    }
    PRT_TRY(w.status);
    return prt_raw_order(r, &fn->body);
}

static poprt_status add_function(const prt_raw_reader *r, const prt_field *f, prt_raw_model *m)
{
    prt_raw_function *fn = PRT_NEW(r->arena, prt_raw_function);
    if (fn == NULL)
        return POPRT_E_NOMEM;
    PRT_TRY(read_function(r, f, 2, fn));
    PUSH(&m->functions, fn);
    return POPRT_OK;
}

poprt_status prt_raw_read_model(const prt_raw_reader *r, prt_bytes bytes, prt_raw_model *out)
{
    *out = (prt_raw_model){ 0 };
    prt_wire w = prt_onnx_open(bytes, PRT_ONNX_Model, 1);
    prt_field f;
    while (prt_wire_next(&w, &f)) {
        switch (f.number) {
        case PRT_ONNX_Model_ir_version:
            out->ir_version = (int64_t)f.word;
            break;
        case PRT_ONNX_Model_opset_import:
            PUSH(&out->opsets, f.bytes);
            break;
        case PRT_ONNX_Model_functions:
            PRT_TRY(add_function(r, &f, out));
            break;
        case PRT_ONNX_Model_graph:
            out->graph = PRT_NEW(r->arena, prt_raw_graph);
            if (out->graph == NULL)
                return POPRT_E_NOMEM;
            PRT_TRY(read_graph(r, f.bytes, 2, 1, out->graph));
            break;
        default:
            PRT_TRY(prt_raw_keep(r->arena, &out->extra, f.number, f.whole));
            break;
        }
    }
    PRT_TRY(w.status);
    if (out->graph == NULL)
        return prt_fail(POPRT_E_PARSE, NULL, "no graph: this is not an ONNX model");
    return POPRT_OK;
}

poprt_status prt_raw_read_node(const prt_raw_reader *r, prt_bytes bytes, prt_raw_node *out)
{
    return read_node(r, bytes, 1, 1, out);
}
