/* SPDX-License-Identifier: MIT */
/* onnx_constant.c — turns Constant nodes into constants of their graphs. */
#include "converter/onnx_build.h"

/* Makes a tensor from attribute values. */
static poprt_status from_memory(prt_onnx_reader *r, int32_t dtype, uint32_t rank, size_t count,
    const void *data, prt_raw_tensor *t, prt_blob **out)
{
    *t = (prt_raw_tensor){ .name = PRT_STR(""), .dtype = dtype, .rank = rank, .count = count };
    t->dims[0] = (int64_t)count;
    if (!prt_dtype_size(dtype, count, &t->size))
        return prt_fail(POPRT_E_LIMIT, NULL, "constant is too large");
    PRT_TRY(prt_blob_create(r->m->allocator, t->size, out));
    if (t->size != 0)
        memcpy(prt_blob_bytes(*out), data, t->size);
    return POPRT_OK;
}

/* Stores the characters after the array in one block, in the layout of onnx_tensor.c. */
static poprt_status from_strings(prt_onnx_reader *r, uint32_t rank, const prt_str *from,
    size_t count, prt_raw_tensor *t, prt_blob **out)
{
    *t = (prt_raw_tensor){ .name = PRT_STR(""),
        .dtype = PRT_DTYPE_string,
        .rank = rank,
        .count = count,
        .size = count * sizeof(poprt_string) };
    t->dims[0] = (int64_t)count;
    size_t whole = t->size;
    for (size_t i = 0; i < count; i++)
        whole += from[i].size;
    prt_blob *block = NULL;
    PRT_TRY(prt_blob_create(r->m->allocator, whole, &block));
    poprt_string *strings = (poprt_string *)(void *)prt_blob_bytes(block);
    char *chars = (char *)(strings + count);
    for (size_t i = 0; i < count; i++) {
        strings[i] = (poprt_string){ chars, from[i].size };
        memcpy(chars, from[i].data, from[i].size);
        chars += from[i].size;
    }
    const poprt_status status = prt_blob_view(block, 0, t->size, out);
    prt_blob_release(block);
    return status;
}

static poprt_status from_payload(prt_onnx_reader *r, const prt_raw_attr *raw, uint32_t depth,
    prt_raw_tensor *t, prt_blob **out)
{
    if (raw->kind == PRT_ONNX_SPARSE_TENSOR)
        return prt_onnx_sparse_blob(&r->source, raw->payload, depth, t, out);
    PRT_TRY(prt_raw_tensor_open(raw->payload, depth, t));
    return prt_onnx_tensor_blob(&r->source, t, out);
}

static poprt_status read_value(prt_onnx_reader *r, const prt_raw_node *node,
    const prt_resolved_attr *given, prt_raw_tensor *t, prt_blob **out)
{
    const prt_raw_attr *raw = given->raw;
    prt_node_attr a;
    if (raw->kind == PRT_ONNX_TENSOR || raw->kind == PRT_ONNX_SPARSE_TENSOR)
        return from_payload(r, raw, node->depth + 2, t, out);
    PRT_TRY(prt_onnx_attr(r, given, node->depth + 1, 0, &a));
    switch (raw->kind) {
    case PRT_ONNX_FLOAT:
        return from_memory(r, PRT_DTYPE_f32, 0, 1, &a.f, t, out);
    case PRT_ONNX_INT:
        return from_memory(r, PRT_DTYPE_i64, 0, 1, &a.i, t, out);
    case PRT_ONNX_STRING:
        return from_strings(r, 0, &a.s, 1, t, out);
    case PRT_ONNX_FLOATS:
        return from_memory(r, PRT_DTYPE_f32, 1, a.floats.count, a.floats.data, t, out);
    case PRT_ONNX_INTS:
        return from_memory(r, PRT_DTYPE_i64, 1, a.ints.count, a.ints.data, t, out);
    default:
        return from_strings(r, 1, a.strings.data, a.strings.count, t, out);
    }
}

/* Returns whether it is one of the attributes of Constant, with the right kind. */
static bool is_value(const prt_resolved_attr *given)
{
    static const struct {
        const char *name;
        int32_t kind;
    } values[] = { { "value", PRT_ONNX_TENSOR }, { "sparse_value", PRT_ONNX_SPARSE_TENSOR },
        { "value_float", PRT_ONNX_FLOAT }, { "value_int", PRT_ONNX_INT },
        { "value_string", PRT_ONNX_STRING }, { "value_floats", PRT_ONNX_FLOATS },
        { "value_ints", PRT_ONNX_INTS }, { "value_strings", PRT_ONNX_STRINGS } };
    for (size_t i = 0; i < PRT_COUNT_OF(values); i++)
        if (prt_str_is(given->name, values[i].name))
            return given->raw->kind == values[i].kind;
    return false;
}

poprt_status prt_onnx_build_constant(prt_onnx_reader *r, prt_graph *g, prt_scope *scope,
    const prt_raw_node *node, const prt_resolved_attrs *given)
{
    prt_raw_tensor t;
    prt_blob *blob = NULL;
    if (node->outputs.count != 1 || node->outputs.data[0].size == 0 || node->inputs.count != 0)
        return prt_onnx_fail(POPRT_E_PARSE, prt_raw_label(node),
            "Constant: has %zu inputs and %zu outputs; must have 0 inputs and 1 output",
            node->inputs.count, node->outputs.count);
    for (size_t i = 0; i < given->count; i++)
        if (is_value(&given->data[i])) {
            const poprt_status status = read_value(r, node, &given->data[i], &t, &blob);
            if (status != POPRT_OK)
                return prt_onnx_fail(status, prt_raw_label(node), "Constant: %s",
                    prt_error_last()->message);
            return prt_onnx_add_constant(r, g, scope, node->outputs.data[0], &t, blob);
        }
    return prt_onnx_fail(POPRT_E_PARSE, prt_raw_label(node),
        "Constant: has no value; one of the attributes value, sparse_value and value_* is needed");
}
