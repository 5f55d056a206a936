/* SPDX-License-Identifier: MIT */
/* onnx_append.c — reads a model one node at a time. */
#include "converter/onnx_append.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/nearest.h"
#include "converter/history.h"
#include "converter/onnx_type.h"

enum { SUBGRAPHS = 64, COPY_BELOW = 16 << 10 };

struct prt_onnx_append {
    prt_onnx_reader reader;
    prt_arena *arena; /* scopes; lives as long as the struct */
    prt_arena *node;  /* of one call */
    prt_append_graph *main;
    bool newer_types; /* see prt_onnx_append_newer_types */
};

static prt_append_graph *add_graph(prt_onnx_append *a, prt_graph *graph, prt_append_graph *outer)
{
    prt_append_graph *g = PRT_NEW(a->arena, prt_append_graph);
    if (g == NULL || graph == NULL)
        return NULL;
    g->scope = (prt_scope){ .values = prt_map_in(a->arena),
        .outer = outer != NULL ? &outer->scope : NULL };
    g->graph = graph;
    return g;
}

poprt_status prt_onnx_append_create(const prt_allocator *allocator, size_t limit,
    const prt_op_set *ops, prt_onnx_append **out)
{
    prt_arena *arena = NULL;
    PRT_TRY(prt_arena_create(allocator, limit, &arena));
    prt_onnx_append *a = PRT_NEW(arena, prt_onnx_append);
    if (a == NULL) {
        prt_arena_release(arena);
        return POPRT_E_NOMEM;
    }
    a->arena = arena;
    poprt_status status = prt_arena_create(allocator, limit, &a->node);
    if (status == POPRT_OK)
        status = prt_module_create(allocator, limit, &a->reader.m);
    if (status == POPRT_OK) {
        a->reader.m->ops = ops;
        a->main = add_graph(a, a->reader.m->main, NULL);
        status = a->main != NULL ? POPRT_OK : POPRT_E_NOMEM;
    }
    if (status != POPRT_OK) {
        prt_onnx_append_release(a);
        return status;
    }
    a->reader.node_limit = UINT64_MAX;
    *out = a;
    return POPRT_OK;
}

void prt_onnx_append_release(prt_onnx_append *a)
{
    if (a == NULL)
        return;
    prt_module_release(a->reader.m);
    prt_arena_release(a->node);
    prt_arena_release(a->arena);
}

void prt_onnx_append_newer_types(prt_onnx_append *a, bool on)
{
    a->newer_types = on;
}

prt_module *prt_onnx_append_module(prt_onnx_append *a)
{
    return a->reader.m;
}

prt_append_graph *prt_onnx_append_main(prt_onnx_append *a)
{
    return a->main;
}

poprt_status prt_onnx_append_graph(prt_onnx_append *a, prt_append_graph *outer,
    prt_append_graph **out)
{
    prt_append_graph *g = add_graph(a, prt_graph_create(a->reader.m, NULL), outer);
    if (g == NULL)
        return POPRT_E_NOMEM;
    *out = g;
    return POPRT_OK;
}

/* Begins a call: lists that belong to one node are made in an arena that is emptied here. */
static prt_onnx_reader *begin(prt_onnx_append *a)
{
    prt_onnx_reader *r = &a->reader;
    prt_arena_reset(a->node);
    r->scratch = a->node;
    r->functions = prt_map_in(a->node);
    r->built.data = NULL;
    r->built.count = r->built.capacity = 0;
    r->source = (prt_onnx_source){ .allocator = r->m->allocator,
        .arena = a->node,
        .owner = "",
        .externals = prt_map_in(a->node),
        .owned_limit = SIZE_MAX,
        .dense_limit = SIZE_MAX,
        .copy_below = COPY_BELOW };
    return r;
}

static poprt_status define(prt_onnx_append *a, prt_append_graph *graph, prt_str name,
    prt_value *value, prt_value **out)
{
    if (value == NULL)
        return POPRT_E_NOMEM;
    PRT_TRY(prt_onnx_define(begin(a), &graph->scope, name, value));
    *out = value;
    return POPRT_OK;
}

poprt_status prt_onnx_append_input(prt_onnx_append *a, prt_append_graph *graph, prt_str name,
    const prt_type *type, prt_value **out)
{
    return define(a, graph, name, prt_graph_add_input(graph->graph, PRT_STR(""), type), out);
}

poprt_status prt_onnx_append_declared(prt_onnx_append *a, prt_append_graph *graph, prt_str name,
    prt_bytes info, prt_value **out)
{
    const prt_type *type;
    prt_str doc;
    PRT_TRY(prt_onnx_value_info(a->reader.m, info, 1, graph == a->main, &type, &doc));
    return prt_onnx_append_input(a, graph, name, type, out);
}

poprt_status prt_onnx_append_constant(prt_onnx_append *a, prt_str name, const prt_type *type,
    prt_blob *blob, prt_value **out)
{
    return define(a, a->main, name,
        prt_graph_add_constant(a->main->graph, PRT_STR(""), type, prt_blob_retain(blob)), out);
}

/* ---- the operator at the model's opset ---- */

/* Returns whether a row of upgrade.def or of a plug-in knows the operator. */
static bool is_known(const prt_op *op, int64_t version)
{
    size_t count;
    const prt_opset_variant *rows = prt_opset_variants(&count);
    bool known = op->def != NULL;
    for (size_t i = 0; i < count && !known; i++)
        known = rows[i].up != NULL && rows[i].from <= version && version < rows[i].to &&
            prt_str_is(op->name, rows[i].name) && prt_str_is(op->domain, rows[i].domain);
    return known;
}

/* Fails with the nearest names of the domain. Operators of a domain without rows are kept, and
 * their outputs have no known types. */
static poprt_status refuse_unknown(const prt_op *op)
{
    const char *names[PRT_OP_COUNT];
    char nearest[256];
    size_t count = 0;
    for (uint32_t id = 0; id < PRT_OP_COUNT; id++)
        if (prt_domain_equal(op->domain, prt_str_of(prt_op_of(id)->domain)))
            names[count++] = prt_op_of(id)->name;
    if (count == 0)
        return POPRT_OK;
    prt_nearest(op->name.data, names, count, nearest, sizeof(nearest));
    return prt_fail(POPRT_E_UNSUPPORTED, prt_op_label(op),
        "%s: the domain '%s' has no operator of this name%s%s", op->name.data,
        op->domain.size != 0 ? op->domain.data : "ai.onnx", nearest[0] != '\0' ? "; nearest: " : "",
        nearest);
}

/* Operators of an older version are compared with its schema. Inference checks operators of the
 * newest version. */
static poprt_status check_version(const prt_op *op, int64_t version, bool newer_types)
{
    char why[256];
    const char *domain = prt_history_domain(op->domain);
    if (op->def != NULL && version >= (int64_t)op->def->since &&
        (domain == NULL || prt_history_version(op->name, version) != 0))
        return POPRT_OK;
    if (domain == NULL || prt_history_is_other_domain(op->name, domain) ||
        prt_history_first(op->name) == 0)
        return is_known(op, version) ? POPRT_OK : refuse_unknown(op);
    if ((newer_types ? prt_history_fits_form : prt_history_fits)(op, version, why, sizeof(why)) ||
        version > prt_history_newest_of(domain))
        return POPRT_OK;
    return prt_fail(POPRT_E_UNSUPPORTED, prt_op_label(op), "%s of opset %" PRId64 ": %s",
        op->name.data, version, why);
}

/* ---- nodes ---- */

/* Adds an op that uses the outputs of a node, so that it follows them where an upgrade replaces
 * them. */
static poprt_status follow(const prt_append_graph *graph, const prt_raw_node *node, prt_op **out)
{
    const uint32_t n = (uint32_t)node->outputs.count;
    prt_op *op = prt_graph_add_op(graph->graph, NULL, prt_op_of(PRT_OP_identity), n, 0, 0);
    if (op == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < n; i++)
        if (node->outputs.data[i].size != 0)
            prt_op_set_input(op, i, prt_map_find(&graph->scope.values, node->outputs.data[i]));
    *out = op;
    return POPRT_OK;
}

static poprt_status read_node(prt_onnx_append *a, prt_bytes bytes, prt_raw_node *out)
{
    const prt_raw_reader parser = { .arena = a->node, .subgraphs = SUBGRAPHS };
    return prt_raw_read_node(&parser, bytes, out);
}

static poprt_status append(prt_onnx_append *a, prt_append_graph *graph, const prt_raw_node *node,
    prt_value **out)
{
    prt_onnx_reader *r = &a->reader;
    prt_op *follower = NULL;
    PRT_TRY(prt_onnx_build_node(r, graph->graph, &graph->scope, node));
    if (r->built.count != 0) {
        const prt_upgrade *u = &r->built.data[r->built.count - 1];
        PRT_TRY(check_version(u->op, u->version, a->newer_types));
    }
    PRT_TRY(follow(graph, node, &follower));
    PRT_TRY(prt_upgrade_all(r->built.data, r->built.count));
    for (uint32_t i = 0; i < follower->n_in; i++) {
        out[i] = follower->in[i].value;
        if (out[i] != NULL)
            PRT_TRY(prt_map_set(&graph->scope.values, node->outputs.data[i], out[i]));
    }
    prt_op_erase(follower);
    return POPRT_OK;
}

poprt_status prt_onnx_append_node(prt_onnx_append *a, prt_append_graph *graph, prt_bytes bytes,
    uint32_t n_out, prt_value **out)
{
    prt_raw_node node;
    prt_onnx_reader *r = begin(a);
    prt_blob *file = NULL;
    PRT_TRY(read_node(a, bytes, &node));
    if (node.outputs.count != n_out)
        return prt_fail(POPRT_E_INTERNAL, NULL, "a node has another number of outputs");
    PRT_TRY(prt_blob_borrow(r->m->allocator, bytes.data, bytes.size, NULL, NULL, &file));
    r->source.file = file;
    const poprt_status status = append(a, graph, &node, out);
    prt_onnx_source_close(&r->source);
    prt_blob_release(file);
    return status;
}

poprt_status prt_onnx_append_attr(prt_onnx_append *a, prt_bytes bytes, prt_str name, bool *found,
    prt_node_attr *out)
{
    prt_raw_node node;
    prt_onnx_reader *r = begin(a);
    prt_blob *file = NULL;
    *found = false;
    PRT_TRY(read_node(a, bytes, &node));
    for (size_t i = 0; i < node.attrs.count; i++) {
        const prt_resolved_attr given = { node.attrs.data[i].name, &node.attrs.data[i],
            &a->main->scope };
        if (!prt_str_equal(given.name, name))
            continue;
        PRT_TRY(prt_blob_borrow(r->m->allocator, bytes.data, bytes.size, NULL, NULL, &file));
        r->source.file = file;
        const poprt_status status = prt_onnx_attr(r, &given, node.depth + 1, 0, out);
        prt_onnx_source_close(&r->source);
        prt_blob_release(file);
        *found = status == POPRT_OK;
        return status;
    }
    return POPRT_OK;
}
