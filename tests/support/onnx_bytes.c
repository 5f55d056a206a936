/* SPDX-License-Identifier: MIT */
/* onnx_bytes.c — protobuf messages by hand. */
#include "support/onnx_bytes.h"

#include <stdlib.h>

#include "converter/onnx_raw.h"

static prt_arena *pool(void)
{
    static prt_arena *arena;
    if (arena == NULL && prt_arena_create(&prt_mem_libc, 0, &arena) != POPRT_OK)
        abort();
    return arena;
}

msg *msg_new(void)
{
    return PRT_NEW(pool(), msg);
}

msg *msg_raw(msg *m, const void *data, size_t size)
{
    if (m->capacity - m->size < size) {
        const size_t capacity = (m->capacity + size) * 2;
        unsigned char *grown = prt_arena_alloc(pool(), capacity);
        if (m->size != 0)
            memcpy(grown, m->data, m->size);
        m->data = grown;
        m->capacity = capacity;
    }
    if (size != 0)
        memcpy(m->data + m->size, data, size);
    m->size += size;
    return m;
}

msg *msg_varint(msg *m, uint64_t value)
{
    unsigned char bytes[10];
    size_t n = 0;
    for (; value >= 128; value >>= 7)
        bytes[n++] = (unsigned char)(value | 128);
    bytes[n++] = (unsigned char)value;
    return msg_raw(m, bytes, n);
}

msg *msg_int(msg *m, uint32_t field, int64_t value)
{
    return msg_varint(msg_varint(m, (uint64_t)field << 3), (uint64_t)value);
}

msg *msg_f32(msg *m, uint32_t field, float value)
{
    return msg_raw(msg_varint(m, (uint64_t)field << 3 | 5), &value, 4);
}

msg *msg_bytes(msg *m, uint32_t field, const void *data, size_t size)
{
    return msg_raw(msg_varint(msg_varint(m, (uint64_t)field << 3 | 2), size), data, size);
}

msg *msg_text(msg *m, uint32_t field, const char *text)
{
    return msg_bytes(m, field, text, strlen(text));
}

msg *msg_msg(msg *m, uint32_t field, const msg *inner)
{
    return msg_bytes(m, field, inner->data, inner->size);
}

static void put_names(msg *m, uint32_t field, const char *names)
{
    while (*names != '\0') {
        const size_t n = strcspn(names, ",");
        (void)msg_bytes(m, field, names, n);
        names += n + (names[n] == ',');
    }
}

msg *onnx_node(const char *op, const char *inputs, const char *outputs)
{
    msg *m = msg_new();
    put_names(m, PRT_ONNX_Node_input, inputs);
    put_names(m, PRT_ONNX_Node_output, outputs);
    return msg_text(m, PRT_ONNX_Node_op_type, op);
}

static msg *attr(const char *name, int32_t kind)
{
    return msg_int(msg_text(msg_new(), PRT_ONNX_Attribute_name, name), PRT_ONNX_Attribute_type,
        kind);
}

msg *onnx_attr_int(msg *node, const char *name, int64_t value)
{
    return msg_msg(node, PRT_ONNX_Node_attribute,
        msg_int(attr(name, PRT_ONNX_INT), PRT_ONNX_Attribute_i, value));
}

msg *onnx_attr_ints(msg *node, const char *name, uint32_t count, const int64_t *values)
{
    msg *a = attr(name, PRT_ONNX_INTS);
    for (uint32_t i = 0; i < count; i++)
        (void)msg_int(a, PRT_ONNX_Attribute_ints, values[i]);
    return msg_msg(node, PRT_ONNX_Node_attribute, a);
}

msg *onnx_attr_f32(msg *node, const char *name, float value)
{
    return msg_msg(node, PRT_ONNX_Node_attribute,
        msg_f32(attr(name, PRT_ONNX_FLOAT), PRT_ONNX_Attribute_f, value));
}

msg *onnx_attr_f32s(msg *node, const char *name, uint32_t count, const float *values)
{
    msg *a = attr(name, PRT_ONNX_FLOATS);
    for (uint32_t i = 0; i < count; i++)
        (void)msg_f32(a, PRT_ONNX_Attribute_floats, values[i]);
    return msg_msg(node, PRT_ONNX_Node_attribute, a);
}

msg *onnx_attr_text(msg *node, const char *name, const char *value)
{
    return msg_msg(node, PRT_ONNX_Node_attribute,
        msg_text(attr(name, PRT_ONNX_STRING), PRT_ONNX_Attribute_s, value));
}

msg *onnx_attr_msg(msg *node, const char *name, uint32_t field, int32_t kind, const msg *value)
{
    return msg_msg(node, PRT_ONNX_Node_attribute, msg_msg(attr(name, kind), field, value));
}

msg *onnx_attr_ref(msg *node, const char *name, int32_t kind, const char *ref)
{
    return msg_msg(node, PRT_ONNX_Node_attribute,
        msg_text(attr(name, kind), PRT_ONNX_Attribute_ref_attr_name, ref));
}

msg *onnx_info(const char *name, int32_t dtype, uint32_t rank, const int64_t *dims)
{
    msg *shape = msg_new();
    for (uint32_t i = 0; i < rank; i++) {
        msg *dim = msg_new();
        if (dims[i] >= 0)
            (void)msg_int(dim, PRT_ONNX_Dimension_dim_value, dims[i]);
        (void)msg_msg(shape, PRT_ONNX_Shape_dim, dim);
    }
    msg *tensor = msg_msg(msg_int(msg_new(), PRT_ONNX_TensorType_elem_type, dtype),
        PRT_ONNX_TensorType_shape, shape);
    return msg_msg(msg_text(msg_new(), PRT_ONNX_ValueInfo_name, name), PRT_ONNX_ValueInfo_type,
        msg_msg(msg_new(), PRT_ONNX_Type_tensor_type, tensor));
}

msg *onnx_tensor(const char *name, int32_t dtype, uint32_t rank, const int64_t *dims)
{
    msg *t = msg_new();
    for (uint32_t i = 0; i < rank; i++)
        (void)msg_int(t, PRT_ONNX_Tensor_dims, dims[i]);
    return msg_text(msg_int(t, PRT_ONNX_Tensor_data_type, dtype), PRT_ONNX_Tensor_name, name);
}

msg *onnx_graph(const char *name, msg *const *nodes)
{
    msg *g = msg_text(msg_new(), PRT_ONNX_Graph_name, name);
    for (; *nodes != NULL; nodes++)
        (void)msg_msg(g, PRT_ONNX_Graph_node, *nodes);
    return g;
}

msg *onnx_xy(msg *graph)
{
    const int64_t two = 2;
    (void)msg_msg(graph, PRT_ONNX_Graph_input, onnx_info("x", PRT_DTYPE_f32, 1, &two));
    return msg_msg(graph, PRT_ONNX_Graph_output, onnx_info("y", PRT_DTYPE_f32, 1, &two));
}

msg *onnx_model(const msg *graph, int64_t opset)
{
    const msg *import = msg_int(msg_text(msg_new(), PRT_ONNX_OperatorSetId_domain, ""),
        PRT_ONNX_OperatorSetId_version, opset);
    return msg_msg(msg_msg(msg_int(msg_new(), PRT_ONNX_Model_ir_version, 8), PRT_ONNX_Model_graph,
                       graph),
        PRT_ONNX_Model_opset_import, import);
}

/* A local function: out = Transpose(in, perm = the call's `order`). */
static msg *sample_function(void)
{
    const int64_t order[2] = { 1, 0 };
    msg *fn = msg_text(msg_new(), PRT_ONNX_Function_name, "Turn");
    (void)msg_text(fn, PRT_ONNX_Function_domain, "local");
    (void)msg_text(fn, PRT_ONNX_Function_input, "in");
    (void)msg_text(fn, PRT_ONNX_Function_output, "out");
    msg *defaults = msg_text(msg_int(msg_new(), PRT_ONNX_Attribute_type, PRT_ONNX_INTS),
        PRT_ONNX_Attribute_name, "order");
    for (size_t i = 0; i < 2; i++)
        (void)msg_int(defaults, PRT_ONNX_Attribute_ints, order[i]);
    (void)msg_msg(fn, PRT_ONNX_Function_attribute_proto, defaults);
    return msg_msg(fn, PRT_ONNX_Function_node,
        onnx_attr_ref(onnx_node("Transpose", "in", "out"), "perm", PRT_ONNX_INTS, "order"));
}

static msg *sample_branch(const char *op)
{
    const int64_t dims[2] = { 3, 2 };
    msg *nodes[] = { onnx_node(op, "t", "inner"), NULL };
    return msg_msg(onnx_graph(op, nodes), PRT_ONNX_Graph_output,
        onnx_info("inner", PRT_DTYPE_f32, 2, dims));
}

msg *onnx_sample(void)
{
    const int64_t in_dims[2] = { 2, 3 }, out_dims[2] = { 3, 2 }, two = 2;
    const float weights[6] = { 1, 2, 3, 4, 5, 6 };
    msg *call = msg_text(onnx_node("Turn", "s", "t"), PRT_ONNX_Node_domain, "local");
    msg *branch = onnx_node("If", "c", "b");
    (void)onnx_attr_msg(branch, "then_branch", PRT_ONNX_Attribute_g, PRT_ONNX_GRAPH,
        sample_branch("Identity"));
    (void)onnx_attr_msg(branch, "else_branch", PRT_ONNX_Attribute_g, PRT_ONNX_GRAPH,
        sample_branch("Neg"));
    msg *words = onnx_tensor("words", PRT_DTYPE_string, 1, &two);
    (void)msg_text(msg_text(words, PRT_ONNX_Tensor_string_data, "one"), PRT_ONNX_Tensor_string_data,
        "two");
    msg *foreign = msg_text(onnx_node("Odd", "b,words", "y"), PRT_ONNX_Node_domain, "elsewhere");
    (void)onnx_attr_text(foreign, "mode", "strange");
    msg *nodes[] = { foreign, branch, call, onnx_node("Add", "x,w", "s"), NULL };
    msg *g = onnx_graph("sample", nodes);
    (void)msg_msg(g, PRT_ONNX_Graph_input, onnx_info("x", PRT_DTYPE_f32, 2, in_dims));
    (void)msg_msg(g, PRT_ONNX_Graph_input, onnx_info("c", PRT_DTYPE_bool, 0, NULL));
    (void)msg_msg(g, PRT_ONNX_Graph_output, onnx_info("y", PRT_DTYPE_f32, 2, out_dims));
    (void)msg_msg(g, PRT_ONNX_Graph_output, onnx_info("b", PRT_DTYPE_f32, 2, out_dims));
    (void)msg_msg(g, PRT_ONNX_Graph_initializer,
        msg_bytes(onnx_tensor("w", PRT_DTYPE_f32, 2, in_dims), PRT_ONNX_Tensor_raw_data, weights,
            sizeof(weights)));
    (void)msg_msg(g, PRT_ONNX_Graph_initializer, words);
    msg *m = onnx_model(g, 21);
    (void)msg_msg(m, PRT_ONNX_Model_opset_import,
        msg_int(msg_text(msg_new(), PRT_ONNX_OperatorSetId_domain, "elsewhere"),
            PRT_ONNX_OperatorSetId_version, 3));
    (void)msg_text(m, 2, "a producer");
    return msg_msg(m, PRT_ONNX_Model_functions, sample_function());
}

poprt_status onnx_load(const msg *model, const prt_onnx_limits *limits, prt_module **out)
{
    prt_blob *blob = NULL;
    PRT_TRY(prt_blob_borrow(&prt_mem_libc, model->data, model->size, NULL, NULL, &blob));
    const poprt_status status = prt_onnx_read_bytes(&prt_mem_libc, blob, "test", NULL, limits, out);
    prt_blob_release(blob);
    return status;
}

const char *last_error(void)
{
    return prt_error_last()->message;
}

static void *failing_alloc(void *user, size_t size, size_t align)
{
    failing *f = user;
    if (f->left == 0)
        return NULL;
    f->left--;
    void *ptr = prt_mem_libc.alloc(prt_mem_libc.user, size, align);
    f->live += ptr != NULL;
    return ptr;
}

static void failing_release(void *user, void *ptr)
{
    ((failing *)user)->live--;
    prt_mem_libc.release(prt_mem_libc.user, ptr);
}

prt_allocator failing_allocator(failing *f)
{
    return (prt_allocator){ .user = f, .alloc = failing_alloc, .release = failing_release };
}
