/* SPDX-License-Identifier: MIT */
/* tensors.c — inputs, weights, constants and outputs of a builder's graph. */
#include "builder/builder.h"

#include "ir/interface.h"

enum { MAX_DIM_NAME = 256 };

/* ---- inputs */

static poprt_status check_type(const char *name, const poprt_type *type)
{
    if (type->dtype == POPRT_DTYPE_UNDEFINED || prt_dtype_bits(type->dtype) == 0)
        return prt_fail(POPRT_E_ARG, name, "%d is not an element type: use a POPRT_DTYPE_ value",
            type->dtype);
    if (type->rank < 0 || type->rank > POPRT_PLUGIN_MAX_RANK)
        return prt_fail(POPRT_E_ARG, name, "rank %d: must be from 0 to %d", type->rank,
            POPRT_PLUGIN_MAX_RANK);
    for (int32_t i = 0; i < type->rank; i++)
        if (type->dims[i] < -1)
            return prt_fail(POPRT_E_ARG, name,
                "dim %d is %lld: must be a number from 0, or -1 for an open dim", i,
                (long long)type->dims[i]);
    return POPRT_OK;
}

static poprt_status check_dim_names(const char *name, const poprt_type *type,
    const char *const *dim_names)
{
    for (int32_t i = 0; dim_names != NULL && i < type->rank; i++) {
        if (dim_names[i] == NULL)
            continue;
        const size_t size = prt_text_size(dim_names[i], MAX_DIM_NAME);
        if (type->dims[i] != -1 || size == 0 || size > MAX_DIM_NAME)
            return prt_fail(POPRT_E_ARG, name,
                "dim %d: a name needs an open dim (-1), and 1 to %d bytes", i, MAX_DIM_NAME);
    }
    return POPRT_OK;
}

poprt_status prt_builder_input(poprt_builder *b, const char *name, const poprt_type *type,
    const char *const *dim_names, poprt_id *out)
{
    prt_root *root = b->root;
    prt_built_tensor t = { .owner = b, .kind = PRT_BUILT_INPUT };
    PRT_TRY(prt_builder_check_open(b));
    if (type == NULL && (b->parent == NULL || dim_names != NULL))
        return prt_fail(POPRT_E_ARG, "type",
            "is NULL: only inputs of subgraphs may have no type, and then no names of dims");
    PRT_TRY(prt_builder_make_name(b, name != NULL ? name : "input", true, PRT_NO_INDEX, &t.name));
    if (type != NULL) {
        PRT_TRY(check_type(t.name.data, type));
        PRT_TRY(check_dim_names(t.name.data, type, dim_names));
    }
    PRT_TRY(prt_encode_input(root, t.name, type, dim_names, &t.info));
    PRT_TRY(prt_onnx_append_declared(root->module, b->graph, t.name, t.info, &t.value));
    if (b->parent == NULL)
        PRT_TRY(prt_module_relate_dims(prt_onnx_append_module(root->module)));
    PRT_TRY(prt_root_add_tensor(root, &t, out));
    return PRT_VEC_PUSH(root->arena, &b->inputs, *out) ? POPRT_OK : POPRT_E_NOMEM;
}

/* ---- weights and constants */

static poprt_status check_strings(const char *name, const prt_tensor *t)
{
    const poprt_string *s = t->data;
    for (size_t i = 0; t->dtype == PRT_DTYPE_string && i < prt_tensor_count(t); i++)
        if ((s[i].data == NULL && s[i].size != 0) || s[i].size > UINT32_MAX)
            return prt_fail(POPRT_E_ARG, name, "string %zu is NULL or too long", i);
    return POPRT_OK;
}

poprt_status prt_builder_import_tensor(const char *name, const poprt_tensor *t, prt_tensor *out)
{
    if (t->dtype == POPRT_DTYPE_UNDEFINED || prt_dtype_bits(t->dtype) == 0)
        return prt_fail(POPRT_E_ARG, name, "%d is not an element type: use a POPRT_DTYPE_ value",
            t->dtype);
    if (t->rank > PRT_MAX_RANK || (t->rank != 0 && t->dims == NULL))
        return prt_fail(POPRT_E_ARG, name, "a tensor needs dims, of a rank of at most %d",
            PRT_MAX_RANK);
    for (uint32_t i = 0; i < t->rank; i++)
        if (t->dims[i] < 0)
            return prt_fail(POPRT_E_ARG, name, "dim %u is %lld: must not be negative", i,
                (long long)t->dims[i]);
    if (!prt_tensor_init(out, t->dtype, t->rank, t->dims, t->data))
        return prt_fail(POPRT_E_LIMIT, name, "the product of the dims is too large");
    if (out->size != t->size || (t->data == NULL && t->size != 0))
        return prt_fail(POPRT_E_ARG, name, "the tensor has %zu bytes, but its dims need %zu",
            t->data != NULL ? t->size : 0, out->size);
    return check_strings(name, out);
}

/* Copies strings with their characters behind them. */
static poprt_status copy_strings(prt_root *root, const prt_tensor *t, prt_blob **out)
{
    const poprt_string *from = t->data;
    const size_t count = prt_tensor_count(t);
    size_t size = t->size;
    for (size_t i = 0; i < count; i++)
        if (!prt_size_add(size, from[i].size, &size))
            return prt_fail_nomem(SIZE_MAX);
    prt_blob *block = NULL;
    PRT_TRY(prt_blob_create(root->allocator, size, &block));
    poprt_string *strings = (poprt_string *)(void *)prt_blob_bytes(block);
    char *chars = (char *)(strings + count);
    for (size_t i = 0; i < count; i++) {
        strings[i] = (poprt_string){ chars, from[i].size };
        if (from[i].size != 0)
            memcpy(chars, from[i].data, from[i].size);
        chars += from[i].size;
    }
    const poprt_status status = prt_blob_view(block, 0, t->size, out);
    prt_blob_release(block);
    return status;
}

static poprt_status make_blob(prt_root *root, const prt_tensor *t, int32_t flags, prt_blob **out)
{
    if ((flags & POPRT_BUILDER_BORROW) != 0)
        return prt_blob_borrow(root->allocator, t->data, t->size, NULL, NULL, out);
    if (t->dtype == PRT_DTYPE_string)
        return copy_strings(root, t, out);
    PRT_TRY(prt_blob_create(root->allocator, t->size, out));
    if (t->size != 0)
        memcpy(prt_blob_bytes(*out), t->data, t->size);
    return POPRT_OK;
}

/* Adds the tensor of a record whose contents are set. */
static poprt_status add_contents(prt_root *root, prt_built_tensor *t, poprt_id *out)
{
    const prt_onnx_given *c = &t->contents;
    prt_module *m = prt_onnx_append_module(root->module);
    const prt_type *type = prt_type_tensor(m->types, c->dtype, (int32_t)c->rank, c->dims);
    if (type == NULL)
        return POPRT_E_NOMEM;
    PRT_TRY(prt_onnx_append_constant(root->module, t->name, type, c->blob, &t->value));
    return prt_root_add_tensor(root, t, out);
}

poprt_status prt_builder_contents(poprt_builder *b, prt_built_kind kind, prt_str name,
    const poprt_tensor *tensor, int32_t flags, poprt_id *out)
{
    prt_root *root = b->root;
    poprt_builder *main = root->all.data[0];
    prt_tensor t;
    prt_built_tensor made = { .name = name, .owner = main, .kind = kind };
    if ((flags & ~POPRT_BUILDER_BORROW) != 0)
        return prt_fail(POPRT_E_ARG, "flags", "%d: accepted are 0 and POPRT_BUILDER_BORROW", flags);
    PRT_TRY(prt_builder_import_tensor(name.data, tensor, &t));
    made.contents = (prt_onnx_given){ .name = name,
        .dtype = t.dtype,
        .rank = t.rank,
        .initializer = kind == PRT_BUILT_WEIGHT ? PRT_INITIALIZER_input : PRT_INITIALIZER_none,
        .dims = prt_arena_copy(root->arena, t.dims, sizeof(t.dims)) };
    if (made.contents.dims == NULL)
        return POPRT_E_NOMEM;
    if (kind == PRT_BUILT_WEIGHT) {
        poprt_type type = { .dtype = t.dtype, .rank = (int32_t)t.rank };
        memcpy(type.dims, t.dims, t.rank * sizeof(int64_t));
        PRT_TRY(prt_encode_input(root, name, &type, NULL, &made.info));
    }
    PRT_TRY(make_blob(root, &t, flags, &made.contents.blob));
    prt_blob *blob = made.contents.blob;
    const size_t before = root->tensors.count;
    const poprt_status status = add_contents(root, &made, out);
    if (status != POPRT_OK) {
        if (root->tensors.count == before) /* else the tree releases it */
            prt_blob_release(blob);
        return status;
    }
    if (kind == PRT_BUILT_WEIGHT && !PRT_VEC_PUSH(root->arena, &main->inputs, *out))
        return POPRT_E_NOMEM;
    return POPRT_OK;
}

/* ---- outputs */

poprt_status prt_builder_output(poprt_builder *b, poprt_id id)
{
    prt_built_tensor *t = NULL;
    PRT_TRY(prt_builder_check_open(b));
    PRT_TRY(prt_builder_tensor(b, id, "tensor", &t));
    /* ONNX wants the outputs of a subgraph to be results of its own nodes. */
    if (b->parent != NULL && (t->owner != b || t->kind != PRT_BUILT_RESULT || t->is_output)) {
        const poprt_builder_op_info copy = { .struct_size = sizeof(copy),
            .op_type = "Identity",
            .inputs = &id,
            .n_inputs = 1,
            .n_outputs = 1 };
        PRT_TRY(prt_builder_op(b, &copy, &id));
        PRT_TRY(prt_builder_tensor(b, id, "tensor", &t));
    }
    if (t->is_output)
        return prt_fail(POPRT_E_ARG, t->name.data, "the tensor is an output already");
    t->is_output = true;
    return PRT_VEC_PUSH(b->root->arena, &b->lists[POPRT_BUILDER_OUTPUTS], id) ? POPRT_OK
                                                                              : POPRT_E_NOMEM;
}
