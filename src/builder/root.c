/* SPDX-License-Identifier: MIT */
/* root.c — the common part of a tree of builders: lifetime, the first failure, names of tensors. */
#include "builder/builder.h"

#include <stdio.h>

#include "converter/history.h"
#include "train/state.h"

enum {
    MAX_NAME = 4096,     /* bytes of a name with its scopes */
    MAX_BUILDERS = 65536 /* builders of a tree */
};

/* ---- lifetime */

static poprt_status add_builder(prt_root *root, poprt_builder *parent, poprt_builder **out)
{
    poprt_builder *b = PRT_NEW(root->arena, poprt_builder);
    if (b == NULL || !PRT_VEC_PUSH(root->arena, &root->all, b))
        return POPRT_E_NOMEM;
    b->root = root;
    b->parent = parent;
    b->name = PRT_STR("");
    root->builders++;
    *out = b;
    return POPRT_OK;
}

static void release_root(prt_root *root)
{
    for (size_t i = 0; i < root->tensors.count; i++)
        prt_blob_release(root->tensors.data[i].contents.blob);
    prt_onnx_append_release(root->module);
    prt_budget *budget = root->budget;
    prt_arena_release(root->scratch);
    prt_arena_release(root->arena);
    prt_budget_release(budget);
}

static poprt_status fill_root(prt_root *root, const prt_op_set *ops, poprt_builder **out)
{
    root->ops = ops;
    root->names = prt_map_in(root->arena);
    root->suffixes = prt_map_in(root->arena);
    PRT_TRY(prt_arena_create(root->allocator, root->limit, &root->scratch));
    PRT_TRY(prt_onnx_append_create(root->allocator, root->limit, ops, &root->module));
    PRT_TRY(add_builder(root, NULL, out));
    (*out)->graph = prt_onnx_append_main(root->module);
    return POPRT_OK;
}

poprt_status prt_builder_create(const prt_allocator *allocator, size_t limit, const prt_op_set *ops,
    poprt_builder **out)
{
    prt_budget *budget = NULL;
    prt_arena *arena = NULL;
    poprt_builder *b = NULL;
    PRT_TRY(prt_budget_create(allocator, limit, &budget));
    allocator = prt_budget_allocator(budget, allocator);
    poprt_status status = prt_arena_create(allocator, limit, &arena);
    prt_root *root = status == POPRT_OK ? PRT_NEW(arena, prt_root) : NULL;
    if (root == NULL) {
        prt_arena_release(arena);
        prt_budget_release(budget);
        return POPRT_E_NOMEM;
    }
    *root = (prt_root){ .allocator = allocator, .budget = budget, .limit = limit, .arena = arena };
    status = fill_root(root, ops, &b);
    if (status != POPRT_OK) {
        release_root(root);
        return status;
    }
    *out = b;
    return POPRT_OK;
}

poprt_status prt_builder_add_child(poprt_builder *parent, prt_str name, poprt_builder **out)
{
    prt_root *root = parent->root;
    poprt_builder *b = NULL;
    if (root->all.count >= MAX_BUILDERS)
        return prt_fail(POPRT_E_LIMIT, NULL, "a tree has at most %d builders", MAX_BUILDERS);
    PRT_TRY(prt_builder_check_open(parent));
    PRT_TRY(add_builder(root, parent, &b));
    b->name = prt_root_text(root, name);
    poprt_status status = b->name.data != NULL ? POPRT_OK : POPRT_E_NOMEM;
    if (status == POPRT_OK)
        status = prt_onnx_append_graph(root->module, parent->graph, &b->graph);
    if (status != POPRT_OK) {
        (void)prt_builder_release(b);
        return status;
    }
    *out = b;
    return POPRT_OK;
}

struct poprt_env *prt_builder_release(poprt_builder *b)
{
    prt_root *root = b->root;
    struct poprt_env *env = root->env;
    if (b->released)
        return NULL;
    b->released = true;
    if (--root->builders != 0)
        return NULL;
    release_root(root);
    return env;
}

/* ---- failures */

poprt_status prt_builder_enter(const poprt_builder *b)
{
    prt_root *root = b->root;
    if (root->status != POPRT_OK) {
        prt_error_restore(&root->error);
        return root->status;
    }
    root->tensors_before = root->tensors.count;
    root->nodes_before = root->nodes.count;
    root->edited = NULL;
    return POPRT_OK;
}

poprt_status prt_builder_leave(poprt_builder *b, poprt_status status)
{
    prt_root *root = b->root;
    if (status == POPRT_OK || root->status != POPRT_OK)
        return status;
    (void)prt_fail_at_stage(status, "build");
    prt_error_save(&root->error);
    root->status = status;
    return status;
}

poprt_status prt_builder_check_open(const poprt_builder *b)
{
    return !b->used ? POPRT_OK
                    : prt_fail(POPRT_E_STATE, b->name.data,
                          "the subgraph is an attribute of an operator already: change it before");
}

/* ---- tensors and nodes */

static bool sees(const poprt_builder *b, const poprt_builder *owner)
{
    for (; b != NULL; b = b->parent)
        if (b == owner)
            return true;
    return false;
}

poprt_status prt_builder_tensor(const poprt_builder *b, poprt_id id, const char *parameter,
    prt_built_tensor **out)
{
    prt_root *root = b->root;
    if (id == 0 || id > root->tensors.count)
        return prt_fail(POPRT_E_ARG, parameter,
            "%u is not a tensor: the builder has the tensors 1 to %zu", id, root->tensors.count);
    prt_built_tensor *t = &root->tensors.data[id - 1];
    if (!sees(b, t->owner))
        return prt_fail(POPRT_E_ARG, parameter,
            "tensor '%s' belongs to a subgraph that this graph does not see; accepted: tensors of "
            "this graph and of the graphs around it",
            t->name.data);
    *out = t;
    return POPRT_OK;
}

poprt_status prt_builder_node(const poprt_builder *b, poprt_id id, prt_built_node **out)
{
    prt_built_tensor *t = NULL;
    PRT_TRY(prt_builder_tensor(b, id, "tensor", &t));
    if (t->kind != PRT_BUILT_RESULT)
        return prt_fail(POPRT_E_ARG, t->name.data,
            "no operator computes this tensor; attributes belong to outputs of operators");
    if (t->owner != b)
        return prt_fail(POPRT_E_ARG, t->name.data,
            "the operator belongs to another graph: use the builder of that graph");
    *out = &b->root->nodes.data[t->node];
    return POPRT_OK;
}

/* Adds a tensor to the lists of its owner, except for the outputs. */
static poprt_status list_tensor(prt_root *root, const prt_built_tensor *t, poprt_id id)
{
    static const int32_t lists[] = { [PRT_BUILT_INPUT] = POPRT_BUILDER_INPUTS,
        [PRT_BUILT_WEIGHT] = POPRT_BUILDER_WEIGHTS,
        [PRT_BUILT_RESULT] = POPRT_BUILDER_VALUES };
    prt_built_ids *all = t->owner->lists;
    if (t->kind == PRT_BUILT_CONSTANT)
        return POPRT_OK;
    if (t->kind == PRT_BUILT_WEIGHT && prt_dtype_is_float(t->contents.dtype) &&
        !PRT_VEC_PUSH(root->arena, &all[POPRT_BUILDER_TRAINABLE], id))
        return POPRT_E_NOMEM;
    return PRT_VEC_PUSH(root->arena, &all[lists[t->kind]], id) ? POPRT_OK : POPRT_E_NOMEM;
}

poprt_status prt_root_add_tensor(prt_root *root, const prt_built_tensor *tensor, poprt_id *out)
{
    if (root->tensors.count >= UINT32_MAX - 1 ||
        !PRT_VEC_PUSH(root->arena, &root->tensors, *tensor))
        return POPRT_E_NOMEM;
    const poprt_id id = (poprt_id)root->tensors.count;
    PRT_TRY(prt_map_set(&root->names, tensor->name, (void *)(uintptr_t)id));
    PRT_TRY(list_tensor(root, tensor, id));
    *out = id;
    return POPRT_OK;
}

/* ---- names */

prt_str prt_root_text(prt_root *root, prt_str text)
{
    return (prt_str){ prt_arena_text(root->arena, text.size != 0 ? text.data : "", text.size),
        text.size };
}

static poprt_status check_reserved(const char *name)
{
    const char *prefix = prt_training_reserved_prefix(prt_str_of(name));
    return prefix == NULL ? POPRT_OK
                          : prt_fail(POPRT_E_ARG, name,
                                "a tensor name must not begin with '%s', which training uses for "
                                "its own tensors",
                                prefix);
}

static poprt_status check_text(const char *text, const char *parameter)
{
    const size_t size = prt_text_size(text, MAX_NAME);
    if (size == 0)
        return prt_fail(POPRT_E_ARG, parameter, "a name must not be empty");
    return size <= MAX_NAME
        ? POPRT_OK
        : prt_fail(POPRT_E_LIMIT, parameter, "a name has at most %d bytes", MAX_NAME);
}

poprt_status prt_builder_take_name(poprt_builder *b, const char *name, prt_str *out)
{
    PRT_TRY(check_text(name, "name"));
    PRT_TRY(check_reserved(name));
    if (prt_map_find(&b->root->names, prt_str_of(name)) != NULL)
        return prt_fail(POPRT_E_ARG, name, "another tensor has this name");
    *out = prt_root_text(b->root, prt_str_of(name));
    return out->data != NULL ? POPRT_OK : POPRT_E_NOMEM;
}

/* Appends "/1", "/2", ... to a name that is taken. The map of suffixes makes this fast for many
 * equal names. */
static poprt_status make_unique(prt_root *root, prt_str *name)
{
    if (prt_map_find(&root->names, *name) == NULL)
        return POPRT_OK;
    const prt_str base = *name;
    char text[MAX_NAME + 16];
    uintptr_t number = (uintptr_t)prt_map_find(&root->suffixes, base);
    prt_str next;
    do {
        const int n = snprintf(text, sizeof(text), "%s/%zu", base.data, (size_t)++number);
        next = (prt_str){ text, (uint32_t)n };
    } while (prt_map_find(&root->names, next) != NULL);
    *name = prt_root_text(root, next);
    return name->data != NULL ? prt_map_set(&root->suffixes, base, (void *)number) : POPRT_E_NOMEM;
}

poprt_status prt_builder_make_name(poprt_builder *b, const char *wanted, bool scoped, int32_t index,
    prt_str *out)
{
    char text[MAX_NAME + 16];
    size_t used = 0;
    PRT_TRY(check_text(wanted, "name"));
    for (size_t i = 0; scoped && i < b->scopes.count; i++) {
        const prt_str scope = b->scopes.data[i].name;
        if (scope.size == 0)
            continue;
        if (used + scope.size + 1 > MAX_NAME)
            return prt_fail(POPRT_E_LIMIT, "name", "a name has at most %d bytes with its scopes",
                MAX_NAME);
        memcpy(text + used, scope.data, scope.size);
        used += scope.size;
        text[used++] = '/';
    }
    const size_t size = strlen(wanted);
    if (used + size > MAX_NAME)
        return prt_fail(POPRT_E_LIMIT, "name", "a name has at most %d bytes with its scopes",
            MAX_NAME);
    memcpy(text + used, wanted, size + 1);
    used += size;
    PRT_TRY(check_reserved(text));
    if (index != PRT_NO_INDEX)
        used += (size_t)snprintf(text + used, sizeof(text) - used, ":%d", index);
    *out = prt_root_text(b->root, (prt_str){ text, (uint32_t)used });
    return out->data != NULL ? make_unique(b->root, out) : POPRT_E_NOMEM;
}

/* ---- opsets */

poprt_status prt_root_set_opset(prt_root *root, prt_str domain, int64_t version)
{
    prt_opset **end = &root->opsets;
    while (*end != NULL && !prt_domain_equal((*end)->domain, domain))
        end = &(*end)->next;
    if (*end == NULL) {
        *end = PRT_NEW(root->arena, prt_opset);
        if (*end == NULL)
            return POPRT_E_NOMEM;
        (*end)->domain = prt_root_text(root, domain);
        if ((*end)->domain.data == NULL)
            return POPRT_E_NOMEM;
    }
    (*end)->version = version;
    return prt_module_set_opset(prt_onnx_append_module(root->module), domain, version);
}

poprt_status prt_root_import(prt_root *root, prt_str domain)
{
    for (const prt_opset *o = root->opsets; o != NULL; o = o->next)
        if (prt_domain_equal(o->domain, domain))
            return POPRT_OK;
    const int64_t newest = prt_history_newest_of(domain.data);
    return prt_root_set_opset(root, domain, newest > 0 ? newest : 1);
}
