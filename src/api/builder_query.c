/* SPDX-License-Identifier: MIT */
/* builder_query.c — poprt/builder.h: questions about tensors and attributes. They change nothing,
 * and their failures are not kept. */
#include "builder/builder.h"

#include "api/handles.h"
#include "plugin/internal.h"

/* Returns the record of a tensor of the tree; NULL for a wrong id. */
static const prt_built_tensor *find(const poprt_builder *b, poprt_id id)
{
    return b != NULL && id != 0 && id <= b->root->tensors.count ? &b->root->tensors.data[id - 1]
                                                                : NULL;
}

/* Returns the record of the node that computes a tensor of this builder; NULL for other tensors. */
static const prt_built_node *node_of(const poprt_builder *b, poprt_id id)
{
    const prt_built_tensor *t = find(b, id);
    return t != NULL && t->kind == PRT_BUILT_RESULT && t->owner == b ? &b->root->nodes.data[t->node]
                                                                     : NULL;
}

const char *poprt_builder_name(const poprt_builder *builder, poprt_id tensor)
{
    const prt_built_tensor *t = find(builder, tensor);
    return t != NULL ? t->name.data : NULL;
}

poprt_id poprt_builder_find(const poprt_builder *builder, const char *name)
{
    if (builder == NULL || name == NULL)
        return 0;
    const poprt_id id = (poprt_id)(uintptr_t)prt_map_find(&builder->root->names, prt_str_of(name));
    const prt_built_tensor *t = find(builder, id);
    for (const poprt_builder *b = builder; t != NULL && b != NULL; b = b->parent)
        if (t->owner == b)
            return id;
    return 0;
}

poprt_status poprt_builder_type(const poprt_builder *builder, poprt_id tensor, poprt_type *out)
{
    PRT_REQUIRE(builder);
    PRT_REQUIRE(out);
    prt_built_tensor *t = NULL;
    PRT_TRY(prt_builder_tensor(builder, tensor, "tensor", &t));
    if (t->value == NULL)
        return prt_fail(POPRT_E_STATE, t->name.data, "the operator of the tensor has failed");
    *out = prt_plugin_export_type(t->value->type);
    return POPRT_OK;
}

int32_t poprt_builder_is_initializer(const poprt_builder *builder, poprt_id tensor)
{
    const prt_built_tensor *t = find(builder, tensor);
    return t != NULL && (t->kind == PRT_BUILT_WEIGHT || t->kind == PRT_BUILT_CONSTANT);
}

/* ---- attributes */

poprt_status poprt_builder_get(const poprt_builder *builder, poprt_id tensor, const char *name,
    int32_t kind, poprt_attr *out)
{
    PRT_REQUIRE(builder);
    PRT_REQUIRE(name);
    PRT_REQUIRE(out);
    return prt_fail_at_stage(prt_builder_get(builder, tensor, name, kind, out), "build");
}

int32_t poprt_builder_has(const poprt_builder *builder, poprt_id tensor, const char *name)
{
    const prt_built_node *node = node_of(builder, tensor);
    return node != NULL && name != NULL && prt_built_find(&node->attrs, prt_str_of(name)) != NULL;
}

size_t poprt_builder_attr_count(const poprt_builder *builder, poprt_id tensor)
{
    const prt_built_node *node = node_of(builder, tensor);
    return node != NULL ? node->attrs.count : 0;
}

const char *poprt_builder_attr_name(const poprt_builder *builder, poprt_id tensor, size_t index)
{
    const prt_built_node *node = node_of(builder, tensor);
    return node != NULL && index < node->attrs.count ? node->attrs.data[index].name.data : NULL;
}

/* ---- lists */

size_t poprt_builder_count(const poprt_builder *builder, int32_t list)
{
    return builder != NULL && list >= 0 && list < PRT_BUILT_LISTS ? builder->lists[list].count : 0;
}

poprt_id poprt_builder_at(const poprt_builder *builder, int32_t list, size_t index)
{
    return index < poprt_builder_count(builder, list) ? builder->lists[list].data[index] : 0;
}
