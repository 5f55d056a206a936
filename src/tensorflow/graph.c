/* SPDX-License-Identifier: MIT */
/* graph.c — parses GraphDef and FunctionDef, and resolves the edges between their nodes. */
#include "tensorflow/graph.h"

#include "base/vec.h"
#include "tensorflow/table.h"

enum { MAX_NESTING = 64 }; /* of functions */

/* A node while its body is read: its inputs are still texts. */
typedef struct raw_node {
    prt_tf_node node;
    prt_strs inputs; /* data inputs, then control inputs */
} raw_node;

typedef PRT_VEC(raw_node) raw_nodes;
typedef PRT_VEC(prt_str) text_list;

typedef struct reader {
    prt_tf_graph *graph;
    prt_tf_body *body;
    raw_nodes raw;
    const prt_tf_attr *attrs; /* of the function, for lengths of lists */
    uint32_t n_attrs;
    const char *where;
} reader;

static poprt_status read_node(reader *r, prt_bytes bytes, uint32_t depth)
{
    prt_arena *arena = r->graph->arena;
    raw_node n = { .node = { .name = PRT_STR(""), .op = PRT_STR("") } };
    text_list inputs = { 0 };
    prt_wire w = prt_tf_open(bytes, PRT_TF_NodeDef, depth);
    prt_field f;
    while (prt_wire_next(&w, &f)) {
        const prt_str text = f.wire == PRT_WIRE_BYTES ? prt_wire_text(&w, &f) : PRT_STR("");
        if (f.number == PRT_TF_NodeDef_name)
            n.node.name = text;
        else if (f.number == PRT_TF_NodeDef_op)
            n.node.op = text;
        else if (f.number == PRT_TF_NodeDef_input && !PRT_VEC_PUSH(arena, &inputs, text))
            return POPRT_E_NOMEM;
    }
    PRT_TRY(w.status);
    PRT_TRY(prt_tf_attrs_read(arena, bytes, PRT_TF_NodeDef, PRT_TF_NodeDef_attr, depth,
        &n.node.attrs, &n.node.n_attrs));
    n.inputs = (prt_strs){ inputs.data, (uint32_t)inputs.count };
    n.node.row = prt_map_find(&r->graph->rows, n.node.op);
    return PRT_VEC_PUSH(arena, &r->raw, n) ? POPRT_OK : POPRT_E_NOMEM;
}

/* ---- numbers of outputs */

/* Returns the length of the list that attribute `name` of a node states: a number, or a list of
 * types. */
static poprt_status list_length(reader *r, const prt_tf_node *node, prt_str name, uint32_t *out)
{
    enum { MOST = 65536 }; /* outputs of a node */
    prt_tf_attr_value v = { 0 };
    const prt_tf_attr *attr = prt_tf_attr_find(node->attrs, node->n_attrs, name);
    *out = 0;
    if (attr == NULL)
        return POPRT_OK;
    PRT_TRY(prt_tf_attr_read(attr, &v));
    if (v.kind == PRT_TF_ATTR_placeholder) {
        attr = prt_tf_attr_find(r->attrs, r->n_attrs, v.s);
        if (attr == NULL)
            return POPRT_OK;
        PRT_TRY(prt_tf_attr_read(attr, &v));
    }
    if (v.kind == PRT_TF_ATTR_list) {
        prt_i64s list;
        PRT_TRY(prt_tf_list_ints(r->graph->arena, &v, attr->depth + 1, &list));
        v.i = list.count;
    }
    if (v.i < 0 || v.i > MOST)
        return prt_fail(POPRT_E_PARSE, r->where, "node '%.*s': attribute %.*s is not a length",
            PRT_STR_ARG(node->name), PRT_STR_ARG(name));
    *out = (uint32_t)v.i;
    return POPRT_OK;
}

/* Finds output `k` of the output `name` among the outputs of a node, of a function's node too;
 * counts all outputs with an empty name. */
static poprt_status find_output(reader *r, const prt_tf_node *node, prt_str name, uint32_t k,
    uint32_t *out, bool *found)
{
    const char *at = node->row != NULL ? node->row->outputs : "";
    uint32_t base = 0;
    *found = false;
    *out = 0;
    const prt_tf_function *fn =
        node->row == NULL ? prt_map_find(&r->graph->functions, node->op) : NULL;
    if (fn != NULL) {
        fn = prt_tf_function_find(r->graph, node->op);
        if (fn == NULL)
            return prt_error_last()->status;
        const uint32_t index = (uint32_t)(uintptr_t)prt_map_find(&fn->body->ret_index, name);
        *found = index != 0;
        *out = index != 0 ? index - 1 + k : fn->body->n_ret;
        return POPRT_OK;
    }
    if (at[0] == '\0') { /* one plain output, of any name; unknown operators too */
        *found = k == 0 || node->row == NULL;
        *out = name.size == 0;
        return POPRT_OK;
    }
    while (*at != '\0') {
        const size_t size = strcspn(at, " "), plain = strcspn(at, " *");
        uint32_t length = 1;
        if (plain < size)
            PRT_TRY(list_length(r, node, (prt_str){ at + plain + 1, (uint32_t)(size - plain - 1) },
                &length));
        if (name.size != 0 && prt_str_equal(name, (prt_str){ at, (uint32_t)plain })) {
            *found = k < length;
            *out = base + k;
            return POPRT_OK;
        }
        base += length;
        at += size + (at[size] == ' ');
    }
    *out = base;
    return POPRT_OK;
}

/* ---- edges */

static bool parse_index(prt_str text, uint32_t *out)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < text.size; i++) {
        if (text.data[i] < '0' || text.data[i] > '9' || n > UINT32_MAX / 16)
            return false;
        n = n * 10 + (uint64_t)(text.data[i] - '0');
    }
    *out = (uint32_t)n;
    return text.size != 0;
}

/* Splits the text behind the last colon from `text`. Returns false if there is no colon. */
static bool split_last(prt_str *text, prt_str *last)
{
    for (uint32_t i = text->size; i > 0; i--)
        if (text->data[i - 1] == ':') {
            *last = (prt_str){ text->data + i, text->size - i };
            text->size = i - 1;
            return true;
        }
    return false;
}

static poprt_status resolve(reader *r, prt_str text, prt_tf_edge *out, bool *found)
{
    prt_str index = PRT_STR(""), output = PRT_STR("");
    uint32_t k = 0;
    *found = false;
    if (split_last(&text, &index)) {
        if (!parse_index(index, &k))
            return POPRT_OK;
        (void)split_last(&text, &output);
    }
    const prt_tf_node *node = prt_map_find(&r->body->names, text);
    if (node == NULL)
        return POPRT_OK;
    out->node = (uint32_t)(node - r->body->nodes);
    out->output = k;
    *found = true;
    return output.size != 0 ? find_output(r, node, output, k, &out->output, found) : POPRT_OK;
}

static poprt_status no_tensor(const reader *r, const prt_tf_node *node, prt_str text)
{
    return prt_fail(POPRT_E_PARSE, r->where, "node '%.*s' reads '%.*s', which no node makes",
        PRT_STR_ARG(node->name), PRT_STR_ARG(text));
}

static poprt_status connect(reader *r, prt_tf_node *node, prt_strs inputs)
{
    uint32_t n_in = 0;
    bool found;
    while (n_in < inputs.count && inputs.data[n_in].size != 0 && inputs.data[n_in].data[0] != '^')
        n_in++;
    prt_tf_edge *in = PRT_NEW_N(r->graph->arena, prt_tf_edge, n_in);
    uint32_t *control = PRT_NEW_N(r->graph->arena, uint32_t, inputs.count - n_in);
    if (in == NULL || control == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < inputs.count; i++) {
        const prt_str text = inputs.data[i];
        if (i < n_in) {
            PRT_TRY(resolve(r, text, &in[i], &found));
            if (!found)
                return no_tensor(r, node, text);
            continue;
        }
        const prt_tf_node *before = text.size > 1 && text.data[0] == '^'
            ? prt_map_find(&r->body->names, (prt_str){ text.data + 1, text.size - 1 })
            : NULL;
        if (before == NULL)
            return no_tensor(r, node, text);
        control[i - n_in] = (uint32_t)(before - r->body->nodes);
    }
    node->in = in;
    node->n_in = n_in;
    node->control = control;
    node->n_control = inputs.count - n_in;
    return POPRT_OK;
}

/* Indexes the nodes by name, and resolves all edges. */
static poprt_status finish(reader *r)
{
    prt_tf_body *body = r->body;
    prt_tf_node *nodes = PRT_NEW_N(r->graph->arena, prt_tf_node, r->raw.count);
    bool found;
    if (nodes == NULL)
        return POPRT_E_NOMEM;
    body->nodes = nodes;
    body->n_nodes = (uint32_t)r->raw.count;
    body->names = prt_map_in(r->graph->arena);
    body->writes = -1;
    for (uint32_t i = 0; i < body->n_nodes; i++) {
        nodes[i] = r->raw.data[i].node;
        if (prt_map_find(&body->names, nodes[i].name) != NULL || nodes[i].name.size == 0)
            return prt_fail(POPRT_E_PARSE, r->where, "two nodes have the name '%.*s'",
                PRT_STR_ARG(nodes[i].name));
        PRT_TRY(prt_map_set(&body->names, nodes[i].name, &nodes[i]));
    }
    for (uint32_t i = 0; i < body->n_nodes; i++) {
        PRT_TRY(connect(r, &nodes[i], r->raw.data[i].inputs));
        PRT_TRY(find_output(r, &nodes[i], PRT_STR(""), 0, &nodes[i].n_out, &found));
    }
    return POPRT_OK;
}

/* ---- functions */

/* Reads the name of a function, and its attributes. */
static poprt_status read_head(prt_tf_graph *graph, prt_bytes bytes, uint32_t depth)
{
    prt_tf_function *fn = PRT_NEW(graph->arena, prt_tf_function);
    if (fn == NULL)
        return POPRT_E_NOMEM;
    *fn = (prt_tf_function){ .name = PRT_STR(""), .bytes = bytes, .depth = depth };
    prt_wire w = prt_tf_open(bytes, PRT_TF_FunctionDef, depth);
    prt_field f;
    while (prt_wire_next(&w, &f)) {
        if (f.number != PRT_TF_FunctionDef_signature)
            continue;
        prt_wire s = prt_tf_open(f.bytes, PRT_TF_OpDef, depth + 1);
        prt_field g;
        while (prt_wire_next(&s, &g))
            if (g.number == PRT_TF_OpDef_name)
                fn->name = prt_wire_text(&s, &g);
        PRT_TRY(s.status);
    }
    PRT_TRY(w.status);
    PRT_TRY(prt_tf_attrs_read(graph->arena, bytes, PRT_TF_FunctionDef, PRT_TF_FunctionDef_attr,
        depth, &fn->attrs, &fn->n_attrs));
    if (fn->name.size == 0)
        return prt_fail(POPRT_E_PARSE, NULL, "a function has no name");
    return prt_map_set(&graph->functions, fn->name, fn);
}

static poprt_status read_library(prt_tf_graph *graph, prt_bytes bytes, uint32_t depth)
{
    prt_wire w = prt_tf_open(bytes, PRT_TF_FunctionLibrary, depth);
    prt_field f;
    while (prt_wire_next(&w, &f))
        if (f.number == PRT_TF_FunctionLibrary_function)
            PRT_TRY(read_head(graph, f.bytes, depth + 1));
    return w.status;
}

static poprt_status read_arg_name(prt_bytes bytes, uint32_t depth, prt_str *name)
{
    *name = PRT_STR("");
    prt_wire w = prt_tf_open(bytes, PRT_TF_ArgDef, depth);
    prt_field f;
    while (prt_wire_next(&w, &f))
        if (f.number == PRT_TF_ArgDef_name)
            *name = prt_wire_text(&w, &f);
    return w.status;
}

/* Reads the names of the arguments, which become the first nodes, and of the outputs. */
static poprt_status read_signature(reader *r, prt_bytes bytes, uint32_t depth, text_list *outputs)
{
    prt_arena *arena = r->graph->arena;
    text_list args = { 0 };
    prt_wire w = prt_tf_open(bytes, PRT_TF_OpDef, depth);
    prt_field f;
    while (prt_wire_next(&w, &f)) {
        prt_str name;
        if (f.number != PRT_TF_OpDef_input_arg && f.number != PRT_TF_OpDef_output_arg)
            continue;
        PRT_TRY(read_arg_name(f.bytes, depth + 1, &name));
        if (!PRT_VEC_PUSH(arena, f.number == PRT_TF_OpDef_input_arg ? &args : outputs, name))
            return POPRT_E_NOMEM;
    }
    PRT_TRY(w.status);
    for (size_t i = 0; i < args.count; i++) {
        const raw_node n = { .node = { .name = args.data[i],
                                 .op = PRT_STR("_Arg"),
                                 .row = prt_map_find(&r->graph->rows, PRT_STR("_Arg")) } };
        if (!PRT_VEC_PUSH(arena, &r->raw, n))
            return POPRT_E_NOMEM;
    }
    r->body->n_args = (uint32_t)args.count;
    r->body->arg_names = (prt_strs){ args.data, (uint32_t)args.count };
    return POPRT_OK;
}

/* Finds the nodes of the function's control outputs. */
static poprt_status read_effects(reader *r, prt_bytes bytes, uint32_t depth)
{
    PRT_VEC(uint32_t) list = { 0 };
    prt_wire w = prt_tf_open(bytes, PRT_TF_FunctionDef, depth);
    prt_field f;
    while (prt_wire_next(&w, &f)) {
        prt_str key;
        prt_bytes value;
        if (f.number != PRT_TF_FunctionDef_control_ret)
            continue;
        PRT_TRY(prt_tf_entry(f.bytes, depth + 1, &key, &value));
        const prt_str name = { (const char *)value.data, (uint32_t)value.size };
        const prt_tf_node *node =
            value.size <= UINT32_MAX ? prt_map_find(&r->body->names, name) : NULL;
        if (node == NULL)
            return prt_fail(POPRT_E_PARSE, r->where, "the function has no node '%.*s'",
                PRT_STR_ARG(name));
        if (!PRT_VEC_PUSH(r->graph->arena, &list, (uint32_t)(node - r->body->nodes)))
            return POPRT_E_NOMEM;
    }
    r->body->effects = list.data;
    r->body->n_effects = (uint32_t)list.count;
    return w.status;
}

/* Resolves the tensors that the function returns. */
static poprt_status read_returns(reader *r, prt_bytes bytes, uint32_t depth, text_list *outputs)
{
    prt_tf_body *body = r->body;
    prt_tf_edge *ret = PRT_NEW_N(r->graph->arena, prt_tf_edge, outputs->count);
    prt_str *texts = PRT_NEW_N(r->graph->arena, prt_str, outputs->count);
    if (ret == NULL || texts == NULL)
        return POPRT_E_NOMEM;
    body->ret_index = prt_map_in(r->graph->arena);
    for (size_t i = 0; i < outputs->count; i++)
        PRT_TRY(prt_map_set(&body->ret_index, outputs->data[i], (void *)(uintptr_t)(i + 1)));
    prt_wire w = prt_tf_open(bytes, PRT_TF_FunctionDef, depth);
    prt_field f;
    while (prt_wire_next(&w, &f)) {
        prt_str key;
        prt_bytes value;
        if (f.number != PRT_TF_FunctionDef_ret)
            continue;
        PRT_TRY(prt_tf_entry(f.bytes, depth + 1, &key, &value));
        const uintptr_t index = (uintptr_t)prt_map_find(&body->ret_index, key);
        if (index != 0 && value.size <= UINT32_MAX)
            texts[index - 1] = (prt_str){ (const char *)value.data, (uint32_t)value.size };
    }
    PRT_TRY(w.status);
    for (size_t i = 0; i < outputs->count; i++) {
        bool found;
        PRT_TRY(resolve(r, texts[i], &ret[i], &found));
        if (!found)
            return prt_fail(POPRT_E_PARSE, r->where,
                "the function returns '%.*s', which no node makes", PRT_STR_ARG(texts[i]));
    }
    body->ret = ret;
    body->n_ret = (uint32_t)outputs->count;
    body->ret_names = (prt_strs){ outputs->data, body->n_ret };
    return POPRT_OK;
}

static poprt_status read_body(prt_tf_graph *graph, prt_tf_function *fn)
{
    text_list outputs = { 0 };
    reader r = { .graph = graph,
        .body = PRT_NEW(graph->arena, prt_tf_body),
        .attrs = fn->attrs,
        .n_attrs = fn->n_attrs,
        .where = prt_arena_text(graph->arena, fn->name.data, fn->name.size) };
    if (r.body == NULL || r.where == NULL)
        return POPRT_E_NOMEM;
    prt_wire w = prt_tf_open(fn->bytes, PRT_TF_FunctionDef, fn->depth);
    prt_field f;
    while (prt_wire_next(&w, &f))
        if (f.number == PRT_TF_FunctionDef_signature)
            PRT_TRY(read_signature(&r, f.bytes, fn->depth + 1, &outputs));
    PRT_TRY(w.status);
    w = prt_tf_open(fn->bytes, PRT_TF_FunctionDef, fn->depth);
    while (prt_wire_next(&w, &f))
        if (f.number == PRT_TF_FunctionDef_node_def)
            PRT_TRY(read_node(&r, f.bytes, fn->depth + 1));
    PRT_TRY(w.status);
    /* Functions that call each other in a circle find this body, without its nodes, and stop. */
    r.body->ret_index = prt_map_in(graph->arena);
    fn->body = r.body;
    PRT_TRY(finish(&r));
    PRT_TRY(read_effects(&r, fn->bytes, fn->depth));
    return read_returns(&r, fn->bytes, fn->depth, &outputs);
}

const prt_tf_function *prt_tf_function_find(prt_tf_graph *graph, prt_str name)
{
    prt_tf_function *fn = prt_map_find(&graph->functions, name);
    if (fn == NULL)
        (void)prt_fail(POPRT_E_PARSE, NULL, "the graph has no function '%.*s'", PRT_STR_ARG(name));
    if (fn == NULL || fn->body != NULL)
        return fn;
    if (graph->parsing == MAX_NESTING) {
        (void)prt_fail(POPRT_E_LIMIT, NULL, "functions are nested more than %d deep", MAX_NESTING);
        return NULL;
    }
    graph->parsing++;
    const poprt_status status = read_body(graph, fn);
    graph->parsing--;
    if (status == POPRT_OK)
        return fn;
    fn->body = NULL;
    return NULL;
}

/* ---- effects */

/* Returns whether the function of an attribute, or one of its list, writes. */
static bool attr_writes(prt_tf_graph *graph, const prt_tf_attr *attr)
{
    prt_tf_attr_value v;
    prt_tf_func func, *list = &func;
    uint32_t count = 1;
    poprt_status status = prt_tf_attr_read(attr, &v);
    if (status != POPRT_OK ||
        (v.kind != PRT_TF_ATTR_func &&
            (v.kind != PRT_TF_ATTR_list || !prt_str_is(attr->name, "branches"))))
        return false;
    status = v.kind == PRT_TF_ATTR_func
        ? prt_tf_func_read(graph->arena, v.bytes, attr->depth + 1, &func)
        : prt_tf_list_funcs(graph->arena, &v, attr->depth + 1, &list, &count);
    for (uint32_t i = 0; status == POPRT_OK && i < count; i++) {
        const prt_tf_function *fn = prt_tf_function_find(graph, list[i].name);
        if (fn != NULL && prt_tf_body_writes(graph, fn->body))
            return true;
    }
    return false;
}

bool prt_tf_node_writes(prt_tf_graph *graph, const prt_tf_node *node)
{
    if (node->row == NULL && prt_map_find(&graph->functions, node->op) != NULL) {
        const prt_tf_function *fn = prt_tf_function_find(graph, node->op);
        return fn != NULL && prt_tf_body_writes(graph, fn->body);
    }
    bool writes = node->row != NULL && node->row->writes;
    for (uint32_t i = 0; !writes && i < node->n_attrs; i++)
        writes = attr_writes(graph, &node->attrs[i]);
    return writes;
}

bool prt_tf_body_writes(prt_tf_graph *graph, prt_tf_body *body)
{
    if (body->writes >= 0)
        return body->writes != 0;
    body->writes = 0; /* for functions that call each other in a circle */
    if (graph->parsing == MAX_NESTING)
        return false;
    graph->parsing++;
    for (uint32_t i = 0; body->writes == 0 && i < body->n_nodes; i++) {
        const prt_tf_node *node = &body->nodes[i];
        body->writes = body == &graph->main ? node->row != NULL && node->row->writes
                                            : prt_tf_node_writes(graph, node);
    }
    graph->parsing--;
    return body->writes != 0;
}

/* ---- the graph */

static poprt_status read_producer(prt_bytes bytes, uint32_t depth, int64_t *out)
{
    prt_wire w = prt_tf_open(bytes, PRT_TF_VersionDef, depth);
    prt_field f;
    while (prt_wire_next(&w, &f))
        if (f.number == PRT_TF_VersionDef_producer)
            *out = (int64_t)f.word;
    return w.status;
}

poprt_status prt_tf_graph_read(prt_arena *arena, prt_bytes bytes, uint32_t depth, prt_tf_graph *out)
{
    *out = (prt_tf_graph){ .arena = arena, .functions = prt_map_in(arena) };
    PRT_TRY(prt_tf_rows(arena, &out->rows));
    reader r = { .graph = out, .body = &out->main };
    prt_wire w = prt_tf_open(bytes, PRT_TF_GraphDef, depth);
    prt_field f;
    while (prt_wire_next(&w, &f)) {
        if (f.number == PRT_TF_GraphDef_node)
            PRT_TRY(read_node(&r, f.bytes, depth + 1));
        else if (f.number == PRT_TF_GraphDef_library)
            PRT_TRY(read_library(out, f.bytes, depth + 1));
        else if (f.number == PRT_TF_GraphDef_version)
            out->producer = (int64_t)f.word;
        else if (f.number == PRT_TF_GraphDef_versions)
            PRT_TRY(read_producer(f.bytes, depth + 1, &out->producer));
    }
    PRT_TRY(w.status);
    return finish(&r);
}

bool prt_tf_find_tensor(prt_tf_graph *graph, const prt_tf_body *body, prt_str text,
    prt_tf_edge *out)
{
    reader r = { .graph = graph, .body = (prt_tf_body *)(uintptr_t)body };
    bool found = false;
    return resolve(&r, text, out, &found) == POPRT_OK && found;
}
