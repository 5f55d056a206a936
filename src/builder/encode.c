/* SPDX-License-Identifier: MIT */
/* encode.c — attributes, nodes, graphs and models as ONNX messages. */
#include "builder/builder.h"

#include "converter/onnx_write.h"

/* Fields of ModelProto that the reader keeps without understanding them, and of their messages. */
enum { PRODUCER_NAME = 2, PRODUCER_VERSION = 3, METADATA = 14, NODE_DOC = 6 };

/* Writes one message into the encoder of `w`. */
typedef void (*put_fn)(prt_onnx_writer *w, const void *user);

typedef struct span {
    unsigned char *data;
    size_t size;
} span;

static int32_t store(void *user, const void *bytes, size_t size)
{
    span *to = user;
    memcpy(to->data + to->size, bytes, size);
    to->size += size;
    return 0;
}

static poprt_status count(prt_root *root, put_fn put, const void *user, prt_onnx_writer *w)
{
    prt_arena_reset(root->scratch);
    *w = (prt_onnx_writer){ .m = prt_onnx_append_module(root->module), .scratch = root->scratch };
    prt_encode_count(&w->encoder, root->scratch);
    put(w, user);
    return prt_encode_end(&w->encoder);
}

static poprt_status write(prt_onnx_writer *w, put_fn put, const void *user, unsigned char *to)
{
    span out = { to, 0 };
    prt_encode_write(&w->encoder, store, &out);
    put(w, user);
    return prt_encode_end(&w->encoder);
}

/* Encodes a message into the tree's arena. */
static poprt_status encode(prt_root *root, put_fn put, const void *user, prt_bytes *out)
{
    prt_onnx_writer w;
    PRT_TRY(count(root, put, user, &w));
    const size_t size = prt_encode_size(&w.encoder);
    unsigned char *bytes = prt_arena_alloc_raw(root->arena, size + 1);
    if (bytes == NULL)
        return POPRT_E_NOMEM;
    PRT_TRY(write(&w, put, user, bytes));
    *out = (prt_bytes){ bytes, size };
    return POPRT_OK;
}

static prt_str name_of(const prt_root *root, poprt_id id)
{
    return id != 0 ? root->tensors.data[id - 1].name : PRT_STR("");
}

/* ---- inputs */

typedef struct input {
    prt_str name;
    const poprt_type *type;
    const char *const *dim_names;
} input;

static void put_shape(prt_encoder *p, const poprt_type *type, const char *const *dim_names)
{
    const prt_encode_mark shape = prt_encode_open(p, PRT_ONNX_TensorType_shape);
    for (int32_t i = 0; i < type->rank; i++) {
        const prt_encode_mark dim = prt_encode_open(p, PRT_ONNX_Shape_dim);
        if (type->dims[i] >= 0)
            prt_encode_int(p, PRT_ONNX_Dimension_dim_value, type->dims[i]);
        else if (dim_names != NULL && dim_names[i] != NULL)
            prt_encode_str(p, PRT_ONNX_Dimension_dim_param, prt_str_of(dim_names[i]));
        prt_encode_close(p, dim);
    }
    prt_encode_close(p, shape);
}

/* Writes a TypeProto as field `field`. A rank below 0 is unknown. */
static void put_type(prt_encoder *p, uint32_t field, const poprt_type *type,
    const char *const *dim_names)
{
    const prt_encode_mark mark = prt_encode_open(p, field);
    const prt_encode_mark tensor = prt_encode_open(p, PRT_ONNX_Type_tensor_type);
    prt_encode_int(p, PRT_ONNX_TensorType_elem_type, type->dtype);
    if (type->rank >= 0)
        put_shape(p, type, dim_names);
    prt_encode_close(p, tensor);
    prt_encode_close(p, mark);
}

static void put_input(prt_onnx_writer *w, const void *user)
{
    const input *in = user;
    prt_encode_str(&w->encoder, PRT_ONNX_ValueInfo_name, in->name);
    if (in->type != NULL)
        put_type(&w->encoder, PRT_ONNX_ValueInfo_type, in->type, in->dim_names);
}

poprt_status prt_encode_input(prt_root *root, prt_str name, const poprt_type *type,
    const char *const *dim_names, prt_bytes *out)
{
    const input in = { name, type, dim_names };
    return encode(root, put_input, &in, out);
}

/* ---- graphs */

/* A main graph lists the types of all its outputs; a subgraph lists known types. */
static void put_graph(prt_onnx_writer *w, const poprt_builder *b)
{
    const prt_root *root = b->root;
    prt_encoder *p = &w->encoder;
    for (size_t i = 0; i < b->nodes.count; i++) {
        const prt_built_node *node = &root->nodes.data[b->nodes.data[i]];
        prt_encode_bytes(p, PRT_ONNX_Graph_node, node->bytes.data, node->bytes.size);
    }
    prt_encode_str(p, PRT_ONNX_Graph_name, b->name.size != 0 ? b->name : PRT_STR("graph"));
    for (size_t i = 0; i < b->inputs.count; i++) {
        const prt_built_tensor *t = &root->tensors.data[b->inputs.data[i] - 1];
        prt_encode_bytes(p, PRT_ONNX_Graph_input, t->info.data, t->info.size);
    }
    for (size_t i = 0; i < b->lists[POPRT_BUILDER_OUTPUTS].count; i++) {
        const prt_built_tensor *t =
            &root->tensors.data[b->lists[POPRT_BUILDER_OUTPUTS].data[i] - 1];
        prt_onnx_put_value_info(w, PRT_ONNX_Graph_output, t->name, t->value->type, PRT_STR(""));
    }
    for (const prt_raw *raw = b->extra; raw != NULL; raw = raw->next)
        prt_encode_raw(p, raw->bytes, raw->size);
}

/* ---- attributes */

static const int32_t onnx_kinds[] = { [POPRT_ATTR_INT] = PRT_ONNX_INT,
    [POPRT_ATTR_FLOAT] = PRT_ONNX_FLOAT,
    [POPRT_ATTR_STRING] = PRT_ONNX_STRING,
    [POPRT_ATTR_INTS] = PRT_ONNX_INTS,
    [POPRT_ATTR_FLOATS] = PRT_ONNX_FLOATS,
    [POPRT_ATTR_STRINGS] = PRT_ONNX_STRINGS,
    [POPRT_ATTR_TENSOR] = PRT_ONNX_TENSOR,
    [POPRT_ATTR_TYPE] = PRT_ONNX_TYPE_PROTO,
    [POPRT_ATTR_GRAPH] = PRT_ONNX_GRAPH };

static void put_list(prt_encoder *p, const poprt_attr *a)
{
    const poprt_string *strings = poprt_attr_object(a);
    for (uint32_t i = 0; i < a->count; i++)
        if (a->kind == POPRT_ATTR_INTS)
            prt_encode_int(p, PRT_ONNX_Attribute_ints, a->ints[i]);
        else if (a->kind == POPRT_ATTR_FLOATS)
            prt_encode_float(p, PRT_ONNX_Attribute_floats, a->floats[i]);
        else
            prt_encode_bytes(p, PRT_ONNX_Attribute_strings, strings[i].data, strings[i].size);
}

static void put_tensor(prt_onnx_writer *w, const poprt_attr *a)
{
    prt_tensor t;
    const poprt_status status = prt_builder_import_tensor(a->name, poprt_attr_object(a), &t);
    if (status != POPRT_OK)
        prt_encode_fail(&w->encoder, status);
    else
        prt_onnx_put_tensor(w, PRT_ONNX_Attribute_t, PRT_STR(""), &t);
}

static void put_attr(prt_onnx_writer *w, const void *user)
{
    const poprt_attr *a = user;
    prt_encoder *p = &w->encoder;
    prt_encode_mark graph;
    prt_encode_str(p, PRT_ONNX_Attribute_name, prt_str_of(a->name));
    switch (a->kind) {
    case POPRT_ATTR_INT:
        prt_encode_int(p, PRT_ONNX_Attribute_i, a->integer);
        break;
    case POPRT_ATTR_FLOAT:
        prt_encode_float(p, PRT_ONNX_Attribute_f, a->real);
        break;
    case POPRT_ATTR_STRING:
        prt_encode_bytes(p, PRT_ONNX_Attribute_s, a->string, a->count);
        break;
    case POPRT_ATTR_TENSOR:
        put_tensor(w, a);
        break;
    case POPRT_ATTR_TYPE:
        put_type(p, PRT_ONNX_Attribute_tp, poprt_attr_object(a), NULL);
        break;
    case POPRT_ATTR_GRAPH:
        graph = prt_encode_open(p, PRT_ONNX_Attribute_g);
        put_graph(w, poprt_attr_object(a));
        prt_encode_close(p, graph);
        break;
    default:
        put_list(p, a);
        break;
    }
    prt_encode_int(p, PRT_ONNX_Attribute_type, onnx_kinds[a->kind]);
}

poprt_status prt_encode_attr(prt_root *root, const poprt_attr *attr, prt_built_attr *out)
{
    *out = (prt_built_attr){ .name = prt_root_text(root, prt_str_of(attr->name)) };
    if (out->name.data == NULL)
        return POPRT_E_NOMEM;
    return encode(root, put_attr, attr, &out->bytes);
}

/* ---- nodes */

typedef struct node_of {
    const prt_root *root;
    const prt_built_node *node;
} node_of;

static void put_node(prt_onnx_writer *w, const void *user)
{
    const node_of *of = user;
    const prt_built_node *n = of->node;
    prt_encoder *p = &w->encoder;
    for (uint32_t i = 0; i < n->n_in; i++)
        prt_encode_str(p, PRT_ONNX_Node_input, name_of(of->root, n->in[i]));
    for (uint32_t i = 0; i < n->n_out; i++)
        prt_encode_str(p, PRT_ONNX_Node_output, name_of(of->root, n->out[i]));
    if (n->name.size != 0)
        prt_encode_str(p, PRT_ONNX_Node_name, n->name);
    prt_encode_str(p, PRT_ONNX_Node_op_type, n->op_type);
    for (size_t i = 0; i < n->attrs.count; i++)
        prt_encode_bytes(p, PRT_ONNX_Node_attribute, n->attrs.data[i].bytes.data,
            n->attrs.data[i].bytes.size);
    if (n->domain.size != 0)
        prt_encode_str(p, PRT_ONNX_Node_domain, n->domain);
    if (n->doc.size != 0)
        prt_encode_str(p, NODE_DOC, n->doc);
    for (const prt_raw *raw = n->extra; raw != NULL; raw = raw->next)
        prt_encode_raw(p, raw->bytes, raw->size);
}

poprt_status prt_encode_node(prt_root *root, prt_built_node *node)
{
    const node_of of = { root, node };
    return encode(root, put_node, &of, &node->bytes);
}

/* ---- models */

/* PopART writes IR version 3 up to opset 8 and 4 up to its last opset, 11. */
static int64_t ir_version(const prt_root *root)
{
    const int64_t opset = prt_module_opset(prt_onnx_append_module(root->module), PRT_STR(""));
    if (root->ir_version != 0)
        return root->ir_version;
    return opset <= 8 ? 3 : opset <= 11 ? 4 : prt_onnx_ir_of_opset(opset);
}

static void put_pair(prt_encoder *p, prt_str key, prt_str value)
{
    const prt_encode_mark pair = prt_encode_open(p, METADATA);
    prt_encode_str(p, PRT_ONNX_StringStringEntry_key, key);
    prt_encode_str(p, PRT_ONNX_StringStringEntry_value, value);
    prt_encode_close(p, pair);
}

static void put_model(prt_onnx_writer *w, const void *user)
{
    const prt_root *root = user;
    prt_encoder *p = &w->encoder;
    prt_encode_int(p, PRT_ONNX_Model_ir_version, ir_version(root));
    for (const prt_raw *raw = root->extra; raw != NULL; raw = raw->next)
        prt_encode_raw(p, raw->bytes, raw->size);
    if (root->ir_version == 0) {
        prt_encode_str(p, PRODUCER_NAME, PRT_STR("libpoprt"));
        prt_encode_str(p, PRODUCER_VERSION, PRT_STR(POPRT_VERSION_STRING));
    }
    for (size_t i = 0; i < root->properties.count; i++)
        put_pair(p, root->properties.data[i].key, root->properties.data[i].value);
    for (const prt_opset *o = root->opsets; o != NULL; o = o->next) {
        const prt_encode_mark opset = prt_encode_open(p, PRT_ONNX_Model_opset_import);
        prt_encode_str(p, PRT_ONNX_OperatorSetId_domain, o->domain);
        prt_encode_int(p, PRT_ONNX_OperatorSetId_version, o->version);
        prt_encode_close(p, opset);
    }
    const prt_encode_mark graph = prt_encode_open(p, PRT_ONNX_Model_graph);
    put_graph(w, root->all.data[0]);
    prt_encode_close(p, graph);
}

poprt_status prt_encode_model(prt_root *root, prt_blob **out)
{
    prt_onnx_writer w;
    PRT_TRY(count(root, put_model, root, &w));
    PRT_TRY(prt_blob_create(root->allocator, prt_encode_size(&w.encoder), out));
    const poprt_status status = write(&w, put_model, root, prt_blob_bytes(*out));
    if (status != POPRT_OK)
        prt_blob_release(*out);
    return status;
}
