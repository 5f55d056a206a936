/* SPDX-License-Identifier: MIT */
/* onnx_graph.c — builds graphs: constants, inputs, nodes, outputs, and the values that names
 * denote. */
#include "converter/onnx_build.h"
#include "converter/onnx_type.h"
#include "ir/interface.h"

prt_value *prt_onnx_look_up(const prt_scope *scope, prt_str name)
{
    for (; scope != NULL; scope = scope->outer) {
        prt_value *value = prt_map_find(&scope->values, name);
        if (value != NULL)
            return value;
    }
    return NULL;
}

/* Names of the main graph are kept; conflicting names of nested graphs and functions are
 * changed. */
static poprt_status name_value(prt_onnx_reader *r, const prt_scope *scope, prt_str name,
    prt_value *value)
{
    prt_module *m = r->m;
    if (scope->frame != NULL) {
        const prt_str prefix = scope->frame->prefix;
        char *whole = PRT_NEW_N(r->scratch, char, (size_t)prefix.size + name.size + 1);
        if (whole == NULL)
            return POPRT_E_NOMEM;
        memcpy(whole, prefix.data, prefix.size);
        memcpy(whole + prefix.size, name.data, name.size);
        name = (prt_str){ whole, prefix.size + name.size };
    }
    name = prt_module_str(m, name);
    if (name.data == NULL)
        return POPRT_E_NOMEM;
    prt_value *other = prt_map_find(&m->names, name);
    if (other == NULL || other == value || !prt_str_equal(other->name, name))
        return prt_value_set_name(value, name);
    const prt_str fresh = prt_module_fresh_name(m, name.data);
    if (fresh.data == NULL)
        return POPRT_E_NOMEM;
    if (scope->outer != NULL || scope->frame != NULL)
        return prt_value_set_name(value, fresh);
    PRT_TRY(prt_value_set_name(other, fresh));
    return prt_value_set_name(value, name);
}

poprt_status prt_onnx_define(prt_onnx_reader *r, prt_scope *scope, prt_str name, prt_value *value)
{
    if (prt_map_find(&scope->values, name) != NULL)
        return prt_onnx_fail(POPRT_E_PARSE, name, "two values have the name '%.*s'",
            PRT_SHOW(name));
    PRT_TRY(prt_map_set(&scope->values, name, value));
    return value == &r->absent ? POPRT_OK : name_value(r, scope, name, value);
}

poprt_status prt_onnx_add_constant(prt_onnx_reader *r, prt_graph *g, prt_scope *scope, prt_str name,
    const prt_raw_tensor *t, prt_blob *blob)
{
    const prt_type *type = prt_type_tensor(r->m->types, t->dtype, (int32_t)t->rank, t->dims);
    if (type == NULL) {
        prt_blob_release(blob);
        return POPRT_E_NOMEM;
    }
    prt_value *value = prt_graph_add_constant(g, PRT_STR(""), type, blob);
    return value != NULL ? prt_onnx_define(r, scope, name, value) : POPRT_E_NOMEM;
}

poprt_status prt_onnx_keep_list(prt_onnx_reader *r, const prt_raw_list *list, const prt_raw **out)
{
    prt_raw_list copy = { NULL, NULL };
    for (const prt_raw *raw = list->first; raw != NULL; raw = raw->next)
        PRT_TRY(prt_raw_keep(r->m->arena, &copy, raw->field, (prt_bytes){ raw->bytes, raw->size }));
    *out = copy.first;
    return POPRT_OK;
}

static poprt_status add_initializers(prt_onnx_reader *r, const prt_raw_graph *raw, prt_graph *g,
    prt_scope *scope)
{
    prt_raw_tensor t;
    prt_blob *blob;
    for (size_t i = 0; i < raw->constants.count + raw->sparse.count; i++) {
        const bool sparse = i >= raw->constants.count;
        const prt_raw_named *named =
            sparse ? &raw->sparse.data[i - raw->constants.count] : &raw->constants.data[i];
        if (named->name.size == 0)
            return prt_fail(POPRT_E_PARSE, NULL, "initializer %zu has no name", i);
        if (g->owner != NULL && prt_map_find(&scope->values, named->name) != NULL)
            continue; /* the default of a region's input, which is never used because the input is
                       * always given */
        if (sparse) {
            PRT_TRY(prt_onnx_sparse_blob(&r->source, named->bytes, raw->depth + 1, &t, &blob));
        } else {
            PRT_TRY(prt_raw_tensor_open(named->bytes, raw->depth + 1, &t));
            PRT_TRY(prt_onnx_tensor_blob(&r->source, &t, &blob));
        }
        PRT_TRY(prt_onnx_add_constant(r, g, scope, named->name, &t, blob));
        ((prt_value *)prt_map_find(&scope->values, named->name))->initializer =
            PRT_INITIALIZER_only;
    }
    return POPRT_OK;
}

static poprt_status set_stored(prt_onnx_reader *r, const prt_onnx_given *c, prt_value *value)
{
    prt_stored *stored = PRT_NEW(r->m->arena, prt_stored);
    if (stored == NULL)
        return POPRT_E_NOMEM;
    *stored = (prt_stored){ prt_module_str(r->m, c->location), c->offset, c->blob };
    value->stored = stored;
    return stored->location.data != NULL ? POPRT_OK : POPRT_E_NOMEM;
}

static poprt_status add_given(prt_onnx_reader *r, prt_graph *g, prt_scope *scope)
{
    for (size_t i = 0; i < r->n_given; i++) {
        const prt_onnx_given *c = &r->given[i];
        const prt_type *type = prt_type_tensor(r->m->types, c->dtype, (int32_t)c->rank, c->dims);
        if (type == NULL)
            return POPRT_E_NOMEM;
        prt_value *value = prt_graph_add_constant(g, PRT_STR(""), type, prt_blob_retain(c->blob));
        if (value == NULL)
            return POPRT_E_NOMEM;
        PRT_TRY(prt_onnx_define(r, scope, c->name, value));
        value->initializer = (uint8_t)c->initializer;
        if (c->location.size != 0)
            PRT_TRY(set_stored(r, c, value));
    }
    return POPRT_OK;
}

/* An input of the main graph that has an initializer becomes a constant. onnx_write_graph.c finds
 * it among the graph's kept fields and lists it as an input again. */
static poprt_status add_inputs(prt_onnx_reader *r, const prt_raw_graph *raw, prt_graph *g,
    prt_scope *scope)
{
    for (size_t i = 0; i < raw->inputs.count; i++) {
        const prt_raw_named *in = &raw->inputs.data[i];
        prt_value *constant = prt_map_find(&scope->values, in->name);
        const prt_type *type;
        prt_str doc;
        if (constant != NULL && constant->constant != NULL) {
            constant->initializer = PRT_INITIALIZER_input;
            continue;
        }
        if (in->name.size == 0)
            return prt_fail(POPRT_E_PARSE, NULL, "graph input %zu has no name", i);
        PRT_TRY(
            prt_onnx_value_info(r->m, in->bytes, raw->depth + 1, g->owner == NULL, &type, &doc));
        prt_value *value = prt_graph_add_input(g, PRT_STR(""), type);
        if (value == NULL || (value->doc = prt_module_str(r->m, doc)).data == NULL)
            return POPRT_E_NOMEM;
        PRT_TRY(prt_onnx_define(r, scope, in->name, value));
    }
    return POPRT_OK;
}

/* Applies declared types to values of this graph whose types are unknown. */
static poprt_status declare(prt_onnx_reader *r, const prt_raw_graph *raw, const prt_scope *scope,
    const prt_raw_named *info)
{
    prt_value *value = prt_map_find(&scope->values, info->name);
    if (value == NULL || value == &r->absent || value->type->kind != PRT_VALUE_UNKNOWN)
        return POPRT_OK;
    const prt_type *type;
    prt_str doc;
    PRT_TRY(prt_onnx_value_info(r->m, info->bytes, raw->depth + 1, false, &type, &doc));
    value->type = type;
    value->doc = prt_module_str(r->m, doc);
    return value->doc.data != NULL ? POPRT_OK : POPRT_E_NOMEM;
}

static poprt_status set_outputs(prt_onnx_reader *r, const prt_raw_graph *raw, prt_graph *g,
    const prt_scope *scope)
{
    const size_t n = raw->outputs.count;
    prt_value **values = PRT_NEW_N(r->scratch, prt_value *, n);
    prt_str *names = PRT_NEW_N(r->scratch, prt_str, n);
    if (values == NULL || names == NULL)
        return POPRT_E_NOMEM;
    for (size_t i = 0; i < n; i++) {
        const prt_str name = raw->outputs.data[i].name;
        values[i] = prt_onnx_look_up(scope, name);
        if (values[i] == NULL || values[i] == &r->absent)
            return prt_onnx_fail(POPRT_E_PARSE, name,
                "graph output '%.*s' is produced by no node, input or initializer", PRT_SHOW(name));
        names[i] = prt_module_str(r->m, name);
        if (names[i].data == NULL)
            return POPRT_E_NOMEM;
    }
    return prt_graph_set_outputs(g, (uint32_t)n, values, names);
}

static poprt_status build(prt_onnx_reader *r, const prt_raw_graph *raw, prt_graph *g,
    prt_scope *scope)
{
    g->name = prt_module_str(r->m, raw->name);
    g->doc = prt_module_str(r->m, raw->doc);
    if (g->name.data == NULL || g->doc.data == NULL)
        return POPRT_E_NOMEM;
    PRT_TRY(prt_onnx_keep_list(r, &raw->extra, &g->extra));
    if (g->owner != NULL)
        PRT_TRY(add_inputs(r, raw, g, scope));
    if (g->owner == NULL)
        PRT_TRY(add_given(r, g, scope));
    PRT_TRY(add_initializers(r, raw, g, scope));
    if (g->owner == NULL) {
        PRT_TRY(add_inputs(r, raw, g, scope));
        PRT_TRY(prt_module_relate_dims(r->m));
    }
    for (size_t i = 0; i < raw->nodes.count; i++)
        PRT_TRY(prt_onnx_build_node(r, g, scope, raw->nodes.data[i]));
    PRT_TRY(set_outputs(r, raw, g, scope));
    for (size_t i = 0; i < raw->infos.count; i++)
        PRT_TRY(declare(r, raw, scope, &raw->infos.data[i]));
    for (size_t i = 0; i < raw->outputs.count; i++)
        PRT_TRY(declare(r, raw, scope, &raw->outputs.data[i]));
    return POPRT_OK;
}

poprt_status prt_onnx_build_graph(prt_onnx_reader *r, const prt_raw_graph *raw, prt_graph *g,
    prt_scope *outer, const prt_function_call *frame)
{
    prt_scope *scope = PRT_NEW(r->scratch, prt_scope);
    if (scope == NULL)
        return POPRT_E_NOMEM;
    if (r->level >= PRT_ONNX_NESTING)
        return prt_fail(POPRT_E_LIMIT, NULL, "graphs and functions are nested more than %d deep",
            PRT_ONNX_NESTING);
    *scope = (prt_scope){ .values = prt_map_in(r->scratch), .outer = outer, .frame = frame };
    r->level++;
    const poprt_status status = build(r, raw, g, scope);
    r->level--;
    return status;
}
