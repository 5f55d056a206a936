/* SPDX-License-Identifier: MIT */
/* module.c — the module: pools, retained blobs, names, opsets. */
#include <stdio.h>

#include "ir/ir.h"

poprt_status prt_module_create(const prt_allocator *allocator, size_t limit, prt_module **out)
{
    prt_arena *arena = NULL;
    PRT_TRY(prt_arena_create(allocator, limit, &arena));
    prt_module *m = PRT_NEW(arena, prt_module);
    if (m == NULL)
        goto fail;
    m->allocator = allocator;
    m->arena = arena;
    m->names = prt_map_in(arena);
    m->places = prt_map_in(arena);
    m->variable_names = prt_map_in(arena);
    m->ir_version = 8;
    if (prt_strings_create(arena, &m->strings) != POPRT_OK ||
        prt_dims_create(arena, &m->dims) != POPRT_OK ||
        prt_types_create(arena, &m->types) != POPRT_OK)
        goto fail;
    m->file = prt_module_str(m, PRT_STR(""));
    m->main = prt_graph_create(m, NULL);
    if (m->main == NULL)
        goto fail;
    *out = m;
    return POPRT_OK;
fail:
    prt_arena_release(arena);
    return POPRT_E_NOMEM;
}

void prt_module_release(prt_module *module)
{
    if (module == NULL)
        return;
    for (size_t i = 0; i < module->blobs.count; i++)
        prt_blob_release(module->blobs.data[i]);
    prt_arena_release(module->arena);
}

poprt_status prt_module_keep(prt_module *module, prt_blob *blob)
{
    if (PRT_VEC_PUSH(module->arena, &module->blobs, blob))
        return POPRT_OK;
    prt_blob_release(blob);
    return POPRT_E_NOMEM;
}

prt_str prt_module_str(prt_module *module, prt_str text)
{
    return prt_strings_intern(module->strings, text);
}

prt_str prt_module_fresh_name(prt_module *module, const char *base)
{
    const prt_str plain = prt_str_of(base);
    if (plain.size != 0 && prt_map_find(&module->names, plain) == NULL)
        return prt_module_str(module, plain);
    for (;;) {
        char text[320];
        const int n = snprintf(text, sizeof(text), "%.280s_%u", base, module->next_name++);
        const prt_str name = { text, n > 0 ? (uint32_t)n : 0 };
        if (prt_map_find(&module->names, name) == NULL)
            return prt_module_str(module, name);
    }
}

int64_t prt_module_opset(const prt_module *module, prt_str domain)
{
    for (const prt_opset *o = module->opsets; o != NULL; o = o->next)
        if (prt_domain_equal(o->domain, domain))
            return o->version;
    return 0;
}

poprt_status prt_module_set_opset(prt_module *module, prt_str domain, int64_t version)
{
    prt_opset **end = &module->opsets;
    for (; *end != NULL; end = &(*end)->next)
        if (prt_domain_equal((*end)->domain, domain)) {
            (*end)->version = version;
            return POPRT_OK;
        }
    prt_opset *o = PRT_NEW(module->arena, prt_opset);
    if (o == NULL)
        return POPRT_E_NOMEM;
    *o = (prt_opset){ .domain = prt_module_str(module, domain), .version = version };
    if (o->domain.data == NULL)
        return POPRT_E_NOMEM;
    *end = o;
    return POPRT_OK;
}
