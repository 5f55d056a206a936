/* SPDX-License-Identifier: MIT */
/* model.c — reads the records of a model that exists, and makes models of records. */
#include "builder/builder.h"

#include "ir/interface.h"

#include "ir/extra.h"

enum { GRAPH_DEPTH = 64, METADATA = 14 /* ModelProto.metadata_props */ };

/* ---- from a model */

/* Collects the bytes of a model in an arena. */
typedef struct text {
    prt_arena *arena;
    PRT_VEC(unsigned char) bytes;
    size_t refused; /* bytes for which there was no memory */
} text;

static int32_t collect(void *user, const void *bytes, size_t size)
{
    text *to = user;
    if (!prt_vec_reserve(to->arena, (void **)&to->bytes.data, &to->bytes.capacity, to->bytes.count,
            size, 1)) {
        to->refused = size;
        return 1;
    }
    memcpy(to->bytes.data + to->bytes.count, bytes, size);
    to->bytes.count += size;
    return 0;
}

static poprt_status copy_list(prt_arena *arena, const prt_raw *from, bool graph,
    const prt_raw **out)
{
    prt_raw_list list = { NULL, NULL };
    for (const prt_raw *raw = from; raw != NULL; raw = raw->next) {
        /* Inputs, outputs and metadata are records. */
        const bool is_record = graph
            ? raw->field == PRT_ONNX_Graph_input || raw->field == PRT_ONNX_Graph_output
            : raw->field == METADATA;
        if (!is_record)
            PRT_TRY(prt_raw_keep(arena, &list, raw->field, (prt_bytes){ raw->bytes, raw->size }));
    }
    *out = list.first;
    return POPRT_OK;
}

static poprt_status load_constants(poprt_builder *b, const prt_onnx_given_list *constants)
{
    prt_root *root = b->root;
    prt_module *m = prt_onnx_append_module(root->module);
    for (size_t i = 0; i < constants->count; i++) {
        poprt_id id;
        const prt_onnx_given *c = &constants->data[i];
        const bool is_weight = c->initializer != PRT_INITIALIZER_none;
        prt_built_tensor t = { .name = c->name,
            .owner = b,
            .kind = is_weight ? PRT_BUILT_WEIGHT : PRT_BUILT_CONSTANT,
            .contents = *c };
        int64_t *dims = PRT_NEW_N(root->arena, int64_t, (size_t)c->rank + 1);
        if (dims != NULL && c->rank != 0)
            memcpy(dims, c->dims, c->rank * sizeof(int64_t));
        t.contents.dims = dims;
        const prt_type *type = prt_type_tensor(m->types, c->dtype, (int32_t)c->rank, c->dims);
        t.contents.location = prt_root_text(root, c->location);
        if (t.contents.dims == NULL || t.contents.location.data == NULL || type == NULL)
            return POPRT_E_NOMEM;
        PRT_TRY(prt_onnx_append_constant(root->module, t.name, type, c->blob, &t.value));
        PRT_TRY(prt_root_add_tensor(root, &t, &id));
        (void)prt_blob_retain(c->blob); /* the tree releases it */
    }
    return POPRT_OK;
}

static poprt_id find(const prt_root *root, prt_str name)
{
    return (poprt_id)(uintptr_t)prt_map_find(&root->names, name);
}

static poprt_status load_inputs(poprt_builder *b, const prt_raw_graph *g)
{
    prt_root *root = b->root;
    for (size_t i = 0; i < g->inputs.count; i++) {
        const prt_raw_named *in = &g->inputs.data[i];
        poprt_id id = find(root, in->name);
        if (id != 0) {
            root->tensors.data[id - 1].info = in->bytes;
        } else {
            prt_built_tensor t = { .name = prt_root_text(root, in->name),
                .owner = b,
                .kind = PRT_BUILT_INPUT,
                .info = in->bytes };
            if (t.name.data == NULL)
                return POPRT_E_NOMEM;
            PRT_TRY(prt_onnx_append_declared(root->module, b->graph, t.name, t.info, &t.value));
            PRT_TRY(prt_root_add_tensor(root, &t, &id));
        }
        if (!PRT_VEC_PUSH(root->arena, &b->inputs, id))
            return POPRT_E_NOMEM;
    }
    return prt_module_relate_dims(prt_onnx_append_module(root->module));
}

static poprt_status load_operands(poprt_builder *b, const prt_raw_node *raw, prt_built_node *node)
{
    prt_root *root = b->root;
    poprt_id *in = PRT_NEW_N(root->arena, poprt_id, raw->inputs.count);
    poprt_id *out = PRT_NEW_N(root->arena, poprt_id, raw->outputs.count);
    if (in == NULL || out == NULL)
        return POPRT_E_NOMEM;
    for (size_t i = 0; i < raw->inputs.count; i++)
        in[i] = raw->inputs.data[i].size != 0 ? find(root, raw->inputs.data[i]) : 0;
    for (size_t i = 0; i < raw->outputs.count; i++) {
        const prt_built_tensor t = { .name = prt_root_text(root, raw->outputs.data[i]),
            .owner = b,
            .kind = PRT_BUILT_RESULT,
            .node = (uint32_t)root->nodes.count };
        if (t.name.data == NULL)
            return POPRT_E_NOMEM;
        if (t.name.size != 0)
            PRT_TRY(prt_root_add_tensor(root, &t, &out[i]));
    }
    node->in = in;
    node->n_in = (uint32_t)raw->inputs.count;
    node->out = out;
    node->n_out = (uint32_t)raw->outputs.count;
    return POPRT_OK;
}

static poprt_status load_node(poprt_builder *b, const prt_raw_node *raw)
{
    prt_root *root = b->root;
    prt_built_node node = { .owner = b,
        .domain = prt_root_text(root, raw->domain),
        .op_type = prt_root_text(root, raw->op_type),
        .name = prt_root_text(root, raw->name),
        .bytes = raw->bytes };
    if (node.domain.data == NULL || node.op_type.data == NULL || node.name.data == NULL)
        return POPRT_E_NOMEM;
    for (size_t i = 0; i < raw->attrs.count; i++) {
        const prt_built_attr a = { .name = prt_root_text(root, raw->attrs.data[i].name),
            .bytes = raw->attrs.data[i].bytes };
        if (a.name.data == NULL || !PRT_VEC_PUSH(root->arena, &node.attrs, a))
            return POPRT_E_NOMEM;
    }
    PRT_TRY(load_operands(b, raw, &node));
    PRT_TRY(copy_list(root->arena, raw->extra.first, false, &node.extra));
    PRT_TRY(prt_root_append(root, &node));
    const uint32_t index = (uint32_t)root->nodes.count;
    return PRT_VEC_PUSH(root->arena, &root->nodes, node) &&
            PRT_VEC_PUSH(root->arena, &b->nodes, index)
        ? POPRT_OK
        : POPRT_E_NOMEM;
}

static poprt_status load_outputs(poprt_builder *b, const prt_raw_graph *g)
{
    prt_root *root = b->root;
    for (size_t i = 0; i < g->outputs.count; i++) {
        const poprt_id id = find(root, g->outputs.data[i].name);
        if (id == 0)
            return prt_fail(POPRT_E_INTERNAL, NULL, "an output is computed by no node");
        root->tensors.data[id - 1].is_output = true;
        if (!PRT_VEC_PUSH(root->arena, &b->lists[POPRT_BUILDER_OUTPUTS], id))
            return POPRT_E_NOMEM;
    }
    return POPRT_OK;
}

static poprt_status load_properties(poprt_builder *b, const prt_module *module)
{
    prt_str key, value;
    for (const prt_raw *at = NULL; prt_module_next_metadata(module, &at, &key, &value);) {
        const prt_str copy = prt_root_text(b->root, value);
        if (copy.data == NULL)
            return POPRT_E_NOMEM;
        PRT_TRY(prt_builder_property(b, key, copy.data));
    }
    return POPRT_OK;
}

static poprt_status load_model(poprt_builder *b, const prt_raw_model *raw)
{
    prt_root *root = b->root;
    prt_str domain;
    int64_t version;
    root->ir_version = raw->ir_version;
    for (size_t i = 0; i < raw->opsets.count; i++) {
        PRT_TRY(prt_onnx_read_opset(raw->opsets.data[i], 2, &domain, &version));
        PRT_TRY(prt_root_set_opset(root, domain, version));
    }
    b->name = prt_root_text(root, raw->graph->name);
    if (b->name.data == NULL)
        return POPRT_E_NOMEM;
    PRT_TRY(copy_list(root->arena, raw->extra.first, false, &root->extra));
    PRT_TRY(copy_list(root->arena, raw->graph->extra.first, true, &b->extra));
    PRT_TRY(load_inputs(b, raw->graph));
    for (size_t i = 0; i < raw->graph->nodes.count; i++)
        PRT_TRY(load_node(b, raw->graph->nodes.data[i]));
    return load_outputs(b, raw->graph);
}

static poprt_status load(poprt_builder *b, const prt_module *module, prt_arena *scratch)
{
    prt_root *root = b->root;
    text file = { .arena = root->arena };
    prt_onnx_given_list constants = { 0 };
    prt_raw_model raw;
    const poprt_status status =
        prt_onnx_write_skeleton(module, root->arena, collect, &file, &constants);
    PRT_TRY(file.refused != 0 ? prt_fail_nomem(file.refused) : status);
    const prt_raw_reader parser = { .arena = scratch, .subgraphs = GRAPH_DEPTH };
    PRT_TRY(prt_raw_read_model(&parser, (prt_bytes){ file.bytes.data, file.bytes.count }, &raw));
    PRT_TRY(load_constants(b, &constants));
    PRT_TRY(load_properties(b, module));
    return load_model(b, &raw);
}

poprt_status prt_builder_load(poprt_builder *b, const prt_module *module)
{
    prt_arena *scratch = NULL;
    PRT_TRY(prt_arena_create(b->root->allocator, b->root->limit, &scratch));
    const poprt_status status = load(b, module, scratch);
    prt_arena_release(scratch);
    return status;
}

/* ---- to a model */

static poprt_status list_contents(const prt_root *root, prt_arena *scratch,
    prt_onnx_given_list *out)
{
    for (size_t i = 0; i < root->tensors.count; i++)
        if (root->tensors.data[i].contents.blob != NULL &&
            !PRT_VEC_PUSH(scratch, out, root->tensors.data[i].contents))
            return POPRT_E_NOMEM;
    return POPRT_OK;
}

/* Makes the writer encode subgraphs anew, with the types that inference found: other readers want
 * the types of their inputs. */
static void write_types(prt_graph *g)
{
    prt_for_each_op (op, g) {
        if (op->n_regions != 0)
            prt_op_touch(op);
        for (uint32_t i = 0; i < op->n_regions; i++)
            write_types(op->regions[i]);
    }
}

poprt_status prt_builder_finish(const poprt_builder *b, const prt_allocator *allocator,
    prt_module **out)
{
    prt_root *root = b->root;
    prt_onnx_given_list contents = { 0 };
    prt_blob *bytes = NULL;
    if (b->parent != NULL)
        return prt_fail(POPRT_E_STATE, b->name.data,
            "this is the builder of a subgraph: finish the builder of the main graph");
    PRT_TRY(prt_encode_model(root, &bytes));
    prt_arena_reset(root->scratch);
    poprt_status status = list_contents(root, root->scratch, &contents);
    const prt_onnx_limits limits = { .arena = root->limit, .nodes = UINT64_MAX, .ops = root->ops };
    if (status == POPRT_OK)
        status = prt_onnx_read_given(allocator, bytes, &limits, contents.data, contents.count, out);
    prt_blob_release(bytes);
    if (status != POPRT_OK)
        return status;
    (*out)->keeps_unread = true;
    write_types((*out)->main);
    return POPRT_OK;
}
