/* SPDX-License-Identifier: MIT */
/* edit.c — attributes of nodes that exist, and properties of the model. */
#include "builder/builder.h"

#include <stdio.h>

#include "converter/onnx_raw.h"
#include "ir/interface.h"

/* ---- the module of an edited model */

/* Adds a tensor that no node computes to the new module. */
static poprt_status add_leaf(prt_root *root, prt_built_tensor *t)
{
    prt_module *m = prt_onnx_append_module(root->module);
    const prt_onnx_given *c = &t->contents;
    if (t->kind == PRT_BUILT_INPUT)
        return prt_onnx_append_declared(root->module, t->owner->graph, t->name, t->info, &t->value);
    const prt_type *type = prt_type_tensor(m->types, c->dtype, (int32_t)c->rank, c->dims);
    return type != NULL ? prt_onnx_append_constant(root->module, t->name, type, c->blob, &t->value)
                        : POPRT_E_NOMEM;
}

static poprt_status build_again(prt_root *root)
{
    prt_module *m = prt_onnx_append_module(root->module);
    for (const prt_opset *o = root->opsets; o != NULL; o = o->next)
        PRT_TRY(prt_module_set_opset(m, o->domain, o->version));
    for (size_t i = 0; i < root->all.count; i++) {
        poprt_builder *b = root->all.data[i];
        if (b->parent == NULL)
            b->graph = prt_onnx_append_main(root->module);
        else
            PRT_TRY(prt_onnx_append_graph(root->module, b->parent->graph, &b->graph));
    }
    for (size_t i = 0; i < root->tensors.count; i++)
        if (root->tensors.data[i].kind != PRT_BUILT_RESULT)
            PRT_TRY(add_leaf(root, &root->tensors.data[i]));
    PRT_TRY(prt_module_relate_dims(m));
    for (size_t i = 0; i < root->nodes.count; i++)
        PRT_TRY(prt_root_append(root, &root->nodes.data[i]));
    return POPRT_OK;
}

/* Checks all nodes again and infers their types, in a new module. */
static poprt_status check_again(prt_root *root)
{
    prt_onnx_append *made = NULL, *before = root->module;
    PRT_TRY(prt_onnx_append_create(root->allocator, root->limit, root->ops, &made));
    for (size_t i = 0; i < root->tensors.count; i++)
        root->tensors.data[i].value = NULL;
    root->module = made;
    prt_onnx_append_newer_types(made, root->newer_types);
    prt_onnx_append_release(before);
    return build_again(root);
}

/* ---- undoing a call that failed */

/* Keeps a copy of a node that a call is about to change. */
static poprt_status remember(prt_root *root, prt_built_node *node)
{
    root->unedited = *node;
    prt_built_attrs *attrs = &root->unedited.attrs;
    *attrs = (prt_built_attrs){ 0 };
    for (size_t i = 0; i < node->attrs.count; i++)
        if (!PRT_VEC_PUSH(root->arena, attrs, node->attrs.data[i]))
            return POPRT_E_NOMEM;
    root->edited = node;
    return POPRT_OK;
}

static void forget(poprt_builder *b, size_t tensors, size_t nodes)
{
    for (size_t i = 0; i < PRT_BUILT_LISTS; i++)
        while (b->lists[i].count > 0 && b->lists[i].data[b->lists[i].count - 1] > tensors)
            b->lists[i].count--;
    while (b->inputs.count > 0 && b->inputs.data[b->inputs.count - 1] > tensors)
        b->inputs.count--;
    while (b->nodes.count > 0 && b->nodes.data[b->nodes.count - 1] >= nodes)
        b->nodes.count--;
}

poprt_status prt_builder_undo(poprt_builder *b)
{
    prt_root *root = b->root;
    if (root->status == POPRT_OK)
        return POPRT_OK;
    root->tensors.count = root->tensors_before;
    root->nodes.count = root->nodes_before;
    for (size_t i = 0; i < root->all.count; i++)
        forget(root->all.data[i], root->tensors.count, root->nodes.count);
    root->names = prt_map_in(root->arena);
    for (size_t i = 0; i < root->tensors.count; i++)
        PRT_TRY(prt_map_set(&root->names, root->tensors.data[i].name, (void *)(uintptr_t)(i + 1)));
    if (root->edited != NULL)
        *root->edited = root->unedited;
    PRT_TRY(check_again(root));
    root->status = POPRT_OK;
    return POPRT_OK;
}

/* ---- changing */

static poprt_status renew(prt_root *root, prt_built_node *node, bool types)
{
    PRT_TRY(prt_encode_node(root, node));
    return types ? check_again(root) : POPRT_OK;
}

poprt_status prt_builder_set(poprt_builder *b, poprt_id id, const poprt_attr *attr)
{
    prt_root *root = b->root;
    prt_built_node *node = NULL;
    prt_built_attr made;
    PRT_TRY(prt_builder_check_open(b));
    PRT_TRY(prt_builder_node(b, id, &node));
    PRT_TRY(prt_builder_check_attr(b, attr));
    if (attr->kind == POPRT_ATTR_GRAPH)
        return prt_fail(POPRT_E_UNSUPPORTED, attr->name,
            "a subgraph is given when the operator is added and cannot be replaced");
    PRT_TRY(prt_encode_attr(root, attr, &made));
    PRT_TRY(remember(root, node));
    prt_built_attr *old = prt_built_find(&node->attrs, made.name);
    if (old != NULL)
        *old = made;
    else if (!PRT_VEC_PUSH(root->arena, &node->attrs, made))
        return POPRT_E_NOMEM;
    return renew(root, node, !prt_builder_is_mark(made.name));
}

static poprt_status fail_missing(const prt_built_node *node, const char *name)
{
    char known[400] = "";
    size_t used = 0;
    for (size_t i = 0; i < node->attrs.count && used + 132 < sizeof(known); i++) {
        const prt_str other = node->attrs.data[i].name;
        if (other.size > 128)
            continue;
        used += (size_t)snprintf(known + used, sizeof(known) - used, "%s%s", used != 0 ? ", " : "",
            other.data);
    }
    return prt_fail(POPRT_E_NOT_FOUND, node->name.data, "%s has no attribute '%.128s'; it has: %s",
        node->op_type.data, name, used != 0 ? known : "none");
}

poprt_status prt_builder_remove(poprt_builder *b, poprt_id id, const char *name)
{
    prt_built_node *node = NULL;
    PRT_TRY(prt_builder_check_open(b));
    PRT_TRY(prt_builder_node(b, id, &node));
    prt_built_attr *old = prt_built_find(&node->attrs, prt_str_of(name));
    if (old == NULL)
        return fail_missing(node, name);
    PRT_TRY(remember(b->root, node));
    const bool types = !prt_builder_is_mark(old->name);
    const size_t after = (size_t)(node->attrs.data + node->attrs.count - old) - 1;
    memmove(old, old + 1, after * sizeof(*old));
    node->attrs.count--;
    return renew(b->root, node, types);
}

/* ---- asking */

static const void *copy(prt_root *root, const void *items, size_t size)
{
    return prt_arena_copy(root->arena, size != 0 ? items : "", size != 0 ? size : 1);
}

static const void *copy_strings(prt_root *root, const prt_strs *from)
{
    poprt_string *to = PRT_NEW_N(root->arena, poprt_string, (size_t)from->count + 1);
    for (uint32_t i = 0; to != NULL && i < from->count; i++) {
        const prt_str text = prt_root_text(root, from->data[i]);
        if (text.data == NULL)
            return NULL;
        to[i] = (poprt_string){ text.data, text.size };
    }
    return to;
}

static const void *copy_tensor(prt_root *root, const prt_tensor *from)
{
    poprt_tensor *to = PRT_NEW(root->arena, poprt_tensor);
    const void *dims = copy(root, from->dims, from->rank * sizeof(int64_t));
    const void *data = copy(root, from->data, from->size);
    if (to == NULL || dims == NULL || data == NULL)
        return NULL;
    *to = (poprt_tensor){ .data = (void *)(uintptr_t)data,
        .size = from->size,
        .dims = dims,
        .rank = from->rank,
        .dtype = from->dtype };
    if (from->dtype != PRT_DTYPE_string)
        return to;
    poprt_string *s = to->data;
    for (size_t i = 0; i < prt_tensor_count(from); i++) {
        const prt_str text = prt_root_text(root, (prt_str){ s[i].data, (uint32_t)s[i].size });
        if (text.data == NULL)
            return NULL;
        s[i].data = text.data;
    }
    return to;
}

static const void *copy_type(prt_root *root, const prt_type *from)
{
    poprt_type *to = PRT_NEW(root->arena, poprt_type);
    if (to == NULL)
        return NULL;
    to->rank = -1;
    if (!prt_type_is_tensor(from))
        return to;
    to->dtype = from->dtype;
    to->rank = from->rank <= POPRT_PLUGIN_MAX_RANK ? from->rank : -1;
    for (int32_t i = 0; i < to->rank; i++)
        to->dims[i] = prt_dim_is_number(from->dims[i]) ? from->dims[i] : -1;
    return to;
}

/* Copies a decoded attribute into the tree's arena. */
static poprt_status export_attr(prt_root *root, prt_str name, const prt_node_attr *a,
    poprt_attr *out)
{
    *out = (poprt_attr){ .name = name.data };
    const void *made = out;
    switch (a->kind) {
    case PRT_ONNX_INT:
        *out = poprt_attr_int(name.data, a->i);
        break;
    case PRT_ONNX_FLOAT:
        *out = poprt_attr_float(name.data, a->f);
        break;
    case PRT_ONNX_STRING:
        made = prt_root_text(root, a->s).data;
        *out = poprt_attr_of(name.data, POPRT_ATTR_STRING, a->s.size, made);
        break;
    case PRT_ONNX_INTS:
        made = copy(root, a->ints.data, a->ints.count * sizeof(int64_t));
        *out = poprt_attr_ints(name.data, made, a->ints.count);
        break;
    case PRT_ONNX_FLOATS:
        made = copy(root, a->floats.data, a->floats.count * sizeof(float));
        *out = poprt_attr_floats(name.data, made, a->floats.count);
        break;
    case PRT_ONNX_STRINGS:
        made = copy_strings(root, &a->strings);
        *out = poprt_attr_strings(name.data, made, a->strings.count);
        break;
    case PRT_ONNX_TENSOR:
        made = copy_tensor(root, a->tensor);
        *out = poprt_attr_tensor(name.data, made);
        break;
    case PRT_ONNX_TYPE_PROTO:
        made = copy_type(root, a->type);
        *out = poprt_attr_type(name.data, made);
        break;
    case PRT_ONNX_GRAPH:
        *out = poprt_attr_graph(name.data, NULL);
        break;
    default:
        break;
    }
    return made != NULL ? POPRT_OK : POPRT_E_NOMEM;
}

static poprt_status decode(prt_root *root, const prt_built_node *node, prt_built_attr *attr)
{
    bool found = false;
    prt_node_attr a;
    poprt_attr *made = PRT_NEW(root->arena, poprt_attr);
    if (made == NULL)
        return POPRT_E_NOMEM;
    PRT_TRY(prt_onnx_append_attr(root->module, node->bytes, attr->name, &found, &a));
    PRT_TRY(export_attr(root, attr->name, &a, made));
    attr->decoded = made;
    return POPRT_OK;
}

poprt_status prt_builder_get(const poprt_builder *b, poprt_id id, const char *name, int32_t kind,
    poprt_attr *out)
{
    prt_built_node *node = NULL;
    PRT_TRY(prt_builder_node(b, id, &node));
    prt_built_attr *attr = prt_built_find(&node->attrs, prt_str_of(name));
    if (attr == NULL)
        return fail_missing(node, name);
    if (attr->decoded == NULL)
        PRT_TRY(decode(b->root, node, attr));
    if (kind != 0 && attr->decoded->kind != kind)
        return prt_fail(POPRT_E_TYPE, name, "the attribute is of kind %d, not %d (POPRT_ATTR_)",
            attr->decoded->kind, kind);
    *out = *attr->decoded;
    return POPRT_OK;
}

/* ---- properties */

poprt_status prt_builder_property(poprt_builder *b, prt_str key, const char *value)
{
    prt_root *root = b->root;
    size_t at = 0;
    if (key.size == 0)
        return prt_fail(POPRT_E_ARG, "key", "the key of a property must not be empty");
    while (at < root->properties.count && !prt_str_equal(root->properties.data[at].key, key))
        at++;
    if (value == NULL) {
        if (at == root->properties.count)
            return POPRT_OK;
        const size_t after = --root->properties.count - at;
        memmove(&root->properties.data[at], &root->properties.data[at + 1],
            after * sizeof(*root->properties.data));
        return POPRT_OK;
    }
    const prt_built_property p = { prt_root_text(root, key),
        prt_root_text(root, prt_str_of(value)) };
    if (p.key.data == NULL || p.value.data == NULL)
        return POPRT_E_NOMEM;
    if (at < root->properties.count)
        root->properties.data[at] = p;
    else if (!PRT_VEC_PUSH(root->arena, &root->properties, p))
        return POPRT_E_NOMEM;
    return POPRT_OK;
}
