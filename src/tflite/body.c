/* SPDX-License-Identifier: MIT */
/* body.c — makes the nodes of subgraphs, and the constants. */
#include <stdio.h>

#include "tflite/constant.h"
#include "tflite/convert.h"

static const uint32_t NONE = UINT32_MAX;

static const prt_tf_row operator_row = { .name = "TFLite",
    .convert = prt_tflite_convert_operator,
    .wraps = true,
    .outputs = "" };
static const prt_tf_row constant_row = { .name = "TFLite constant",
    .convert = prt_tflite_convert_constant,
    .outputs = "" };
static const prt_tf_row condition_row = { .name = "TFLite condition",
    .convert = prt_tflite_convert_condition,
    .outputs = "" };

/* ---- nodes */

static prt_str text_of(prt_str text)
{
    return text.data != NULL ? text : PRT_STR("");
}

/* Adds the nodes of inputs and operators, and notes which tensors they make. A node has an output
 * also where the operator has none, so that it can be asked for. */
static poprt_status add_makers(const prt_tflite_subgraph *g, prt_tf_node *nodes, prt_tf_edge *from)
{
    uint32_t count = 0;
    for (size_t i = 0; i < g->inputs.count; i++) {
        const int32_t t = g->inputs.data[i];
        nodes[count] = (prt_tf_node){ .name = text_of(g->tensors[t].name),
            .op = PRT_STR("input"),
            .row = &constant_row,
            .n_out = 1 };
        from[t] = (prt_tf_edge){ count++, 0 };
    }
    for (size_t i = 0; i < g->n_operators; i++) {
        const prt_tflite_operator *op = &g->operators[i];
        nodes[count] = (prt_tf_node){ .name = op->outputs.count != 0
                ? text_of(g->tensors[op->outputs.data[0]].name)
                : PRT_STR(""),
            .op = text_of(prt_tflite_operator_name(op)),
            .row = &operator_row,
            .n_in = (uint32_t)op->inputs.count,
            .n_out = op->outputs.count != 0 ? (uint32_t)op->outputs.count : 1 };
        for (uint32_t k = 0; k < op->outputs.count; k++) {
            const int32_t t = op->outputs.data[k];
            if (from[t].node != NONE)
                return prt_fail(POPRT_E_PARSE, NULL, "two operators compute tensor '%.*s'",
                    PRT_STR_ARG(g->tensors[t].name));
            from[t] = (prt_tf_edge){ count, k };
        }
        count++;
    }
    return POPRT_OK;
}

static poprt_status link_operator(prt_arena *arena, const prt_tflite_operator *op,
    const prt_tf_edge *from, prt_tf_edge absent, prt_tf_node *node)
{
    prt_tf_edge *in = PRT_NEW_N(arena, prt_tf_edge, op->inputs.count);
    if (in == NULL)
        return POPRT_E_NOMEM;
    for (size_t i = 0; i < op->inputs.count; i++)
        in[i] = op->inputs.data[i] < 0 ? absent : from[op->inputs.data[i]];
    node->in = in;
    return POPRT_OK;
}

/* Returns whether an operator reads or writes variables, perhaps in other subgraphs. */
static bool has_effects(const prt_tflite_operator *op)
{
    static const int32_t codes[] = { PRT_TFLITE_OP_READ_VARIABLE, PRT_TFLITE_OP_ASSIGN_VARIABLE,
        PRT_TFLITE_OP_IF, PRT_TFLITE_OP_WHILE, PRT_TFLITE_OP_CALL };
    for (size_t i = 0; i < PRT_COUNT_OF(codes); i++)
        if (op->code == codes[i])
            return true;
    return false;
}

/* Operators with effects run in their order: each one depends on the one before. */
static poprt_status order_effects(prt_arena *arena, const prt_tflite_subgraph *g,
    prt_tf_node *operators, uint32_t first, bool *writes)
{
    uint32_t before = NONE;
    for (uint32_t i = 0; i < g->n_operators; i++) {
        *writes = *writes || g->operators[i].code == PRT_TFLITE_OP_ASSIGN_VARIABLE;
        if (!has_effects(&g->operators[i]))
            continue;
        uint32_t *control = PRT_NEW(arena, uint32_t);
        if (control == NULL)
            return POPRT_E_NOMEM;
        *control = before;
        operators[i].control = control;
        operators[i].n_control = before != NONE;
        before = first + i;
    }
    return POPRT_OK;
}

/* A body has a node for each input, each operator, each tensor, one for absent inputs, and one for
 * output 0 as a condition. A node of a tensor that another node makes is not read. */
static poprt_status make_body(prt_arena *arena, const prt_tflite_subgraph *g, prt_tflite_body *out)
{
    size_t count;
    if (!prt_size_add(g->inputs.count, g->n_operators, &count) ||
        !prt_size_add(count, g->n_tensors, &count) || count >= UINT32_MAX / 2)
        return prt_fail(POPRT_E_LIMIT, NULL, "a subgraph has too many tensors and operators");
    prt_tf_node *nodes = PRT_NEW_N(arena, prt_tf_node, count + 2);
    prt_tf_edge *from = PRT_NEW_N(arena, prt_tf_edge, g->n_tensors);
    prt_tf_edge *ret = PRT_NEW_N(arena, prt_tf_edge, g->outputs.count);
    if (nodes == NULL || from == NULL || ret == NULL)
        return POPRT_E_NOMEM;
    const uint32_t first = (uint32_t)(count - g->n_tensors);
    for (size_t i = 0; i < g->n_tensors; i++)
        from[i].node = NONE;
    PRT_TRY(add_makers(g, nodes, from));
    for (uint32_t i = 0; i <= g->n_tensors; i++)
        nodes[first + i] = (prt_tf_node){ .op = PRT_STR("tensor"),
            .name = i < g->n_tensors ? text_of(g->tensors[i].name) : PRT_STR(""),
            .row = &constant_row,
            .n_out = 1 };
    for (uint32_t i = 0; i < g->n_tensors; i++)
        if (from[i].node == NONE)
            from[i] = (prt_tf_edge){ first + i, 0 };
    for (size_t i = 0; i < g->n_operators; i++)
        PRT_TRY(link_operator(arena, &g->operators[i], from, (prt_tf_edge){ (uint32_t)count, 0 },
            &nodes[g->inputs.count + i]));
    bool writes = false;
    PRT_TRY(order_effects(arena, g, nodes + g->inputs.count, (uint32_t)g->inputs.count, &writes));
    for (size_t i = 0; i < g->outputs.count; i++)
        ret[i] = from[g->outputs.data[i]];
    nodes[count + 1] = (prt_tf_node){ .name = PRT_STR("condition"),
        .op = PRT_STR("condition"),
        .row = &condition_row,
        .n_in = g->outputs.count != 0,
        .n_out = 1 };
    if (g->outputs.count != 0) {
        nodes[count + 1].in = prt_arena_copy(arena, ret, sizeof(*ret));
        if (nodes[count + 1].in == NULL)
            return POPRT_E_NOMEM;
    }
    out->body = (prt_tf_body){ .nodes = nodes,
        .n_nodes = (uint32_t)count + 2,
        .n_args = (uint32_t)g->inputs.count,
        .names = prt_map_in(arena),
        .ret = ret,
        .n_ret = (uint32_t)g->outputs.count,
        .ret_index = prt_map_in(arena),
        .writes = writes };
    out->graph = g;
    out->from = from;
    return POPRT_OK;
}

prt_str prt_tflite_function_name(prt_arena *arena, uint32_t subgraph)
{
    char text[32];
    (void)snprintf(text, sizeof(text), "subgraph %u", subgraph);
    const char *kept = prt_arena_text(arena, text, strlen(text));
    return kept != NULL ? prt_str_of(kept) : (prt_str){ NULL, 0 };
}

/* Makes the outputs of conditions of loops scalars. */
static void mark_conditions(const prt_tflite_model *model, prt_tflite_body *bodies)
{
    for (size_t i = 0; i < model->n_subgraphs; i++)
        for (size_t k = 0; k < model->subgraphs[i].n_operators; k++) {
            const prt_tflite_operator *op = &model->subgraphs[i].operators[k];
            if (op->code != PRT_TFLITE_OP_WHILE || !prt_flat_present(&op->options))
                continue;
            const prt_tf_body *body =
                &bodies[PRT_TFLITE_INT(&op->options, WhileOptions, cond)].body;
            if (body->n_ret != 0)
                ((prt_tf_edge *)(uintptr_t)body->ret)[0] = (prt_tf_edge){ body->n_nodes - 1, 0 };
        }
}

poprt_status prt_tflite_bodies(prt_tf_converter *c, const prt_tflite_model *model,
    const prt_tflite_body **out)
{
    prt_tflite_body *bodies = PRT_NEW_N(c->arena, prt_tflite_body, model->n_subgraphs);
    prt_tf_function *functions = PRT_NEW_N(c->arena, prt_tf_function, model->n_subgraphs);
    if (bodies == NULL || functions == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < model->n_subgraphs; i++) {
        PRT_TRY(make_body(c->arena, &model->subgraphs[i], &bodies[i]));
        bodies[i].model = model;
        functions[i] = (prt_tf_function){ .name = prt_tflite_function_name(c->arena, i),
            .body = &bodies[i].body };
        if (functions[i].name.data == NULL)
            return POPRT_E_NOMEM;
        PRT_TRY(prt_map_set(&c->graph->functions, functions[i].name, &functions[i]));
    }
    mark_conditions(model, bodies);
    *out = bodies;
    return POPRT_OK;
}

/* ---- constants */

/* Returns the elements of a tensor of 4-bit integers as bytes. */
static poprt_status unpack(prt_tf_call *call, uint64_t count, bool is_signed, prt_blob **blob)
{
    prt_blob *wide = NULL;
    const prt_blob *packed = *blob;
    PRT_TRY(prt_blob_create(call->c->module->allocator, (size_t)count, &wide));
    for (size_t i = 0; i < count; i++) {
        const int low = packed->data[i / 2] >> (4 * (i % 2)) & 15;
        prt_blob_bytes(wide)[i] = (unsigned char)(is_signed && low > 7 ? low - 16 : low);
    }
    prt_blob_release(*blob);
    *blob = wide;
    return POPRT_OK;
}

static poprt_status make_constant(prt_tf_call *call, const prt_tflite_tensor *t, prt_blob *blob)
{
    int32_t dtype = t->dtype;
    prt_module *m = call->c->module;
    if (dtype == PRT_DTYPE_i4 || dtype == PRT_DTYPE_u4) {
        uint64_t count;
        const prt_type type = { PRT_VALUE_TENSOR, dtype, (int32_t)t->rank, t->dims, NULL };
        const poprt_status status = prt_type_count(&type, &count)
            ? unpack(call, count, dtype == PRT_DTYPE_i4, &blob)
            : POPRT_E_LIMIT;
        if (status != POPRT_OK) {
            prt_blob_release(blob);
            return status;
        }
        dtype = dtype == PRT_DTYPE_i4 ? PRT_DTYPE_i8 : PRT_DTYPE_u8;
    }
    const prt_type *type = prt_type_tensor(m->types, dtype, (int32_t)t->rank, t->dims);
    if (type == NULL) {
        prt_blob_release(blob);
        return POPRT_E_NOMEM;
    }
    prt_value *v = prt_graph_add_constant(call->scope->graph, PRT_STR(""), type, blob);
    if (v == NULL)
        return prt_error_last()->status;
    prt_tf_set(call, 0, v);
    return prt_tf_end(call);
}

/* Returns the tensor of a node, NULL for the absent input. */
static const prt_tflite_tensor *tensor_of(const prt_tf_call *call)
{
    const prt_tflite_body *body = (const prt_tflite_body *)(const void *)call->scope->body;
    const size_t node = (size_t)(call->node - body->body.nodes);
    const size_t first = body->graph->inputs.count + body->graph->n_operators;
    return node - first < body->graph->n_tensors ? &body->graph->tensors[node - first] : NULL;
}

/* A condition is one element of any shape. */
poprt_status prt_tflite_convert_condition(prt_tf_call *call)
{
    prt_value *v = prt_tf_in(call, 0);
    prt_tf_set(call, 0, prt_tf_rank(v) == 0 ? v : prt_build_reshape(&call->b, v, 0, NULL));
    return prt_tf_end(call);
}

poprt_status prt_tflite_convert_constant(prt_tf_call *call)
{
    const prt_tflite_body *body = (const prt_tflite_body *)(const void *)call->scope->body;
    const prt_tflite_tensor *t = tensor_of(call);
    prt_blob *blob = NULL;
    if (t == NULL || t->is_variable)
        return POPRT_OK; /* an input that is absent, or the state of a recurrent operator */
    bool empty = false;
    for (uint32_t i = 0; i < t->rank; i++)
        empty = empty || t->dims[i] == 0;
    if (t->data.data == NULL && !empty)
        return prt_tf_refuse(call, "the tensor has no data, and no operator computes it");
    size_t left = call->c->owned_limit - call->c->owned;
    if (t->data.data == NULL)
        PRT_TRY(prt_blob_create(call->c->module->allocator, 0, &blob));
    else
        PRT_TRY(prt_tflite_constant(body->model, t, call->c->module->allocator, &left, &blob));
    call->c->owned = call->c->owned_limit - left;
    return make_constant(call, t, blob);
}
