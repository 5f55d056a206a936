/* SPDX-License-Identifier: MIT */
/*
 * onnx_read.c — reads a model from a file or from memory: parses it, builds the graph, upgrades the
 * nodes to canonical operators and infers types.
 */
#include "converter/onnx.h"

#include "base/file.h"
#include "converter/onnx_build.h"
#include "converter/sniff.h"

static prt_onnx_limits with_defaults(const prt_onnx_limits *given, size_t file_size)
{
    prt_onnx_limits l = { 0 };
    if (given != NULL)
        l = *given;
    if (l.arena == 0)
        l.arena = (size_t)1 << 30;
    if (l.owned == 0 &&
        (!prt_size_mul(file_size, 16, &l.owned) ||
            !prt_size_add(l.owned, (size_t)64 << 20, &l.owned)))
        l.owned = SIZE_MAX;
    if (l.dense == 0)
        l.dense = (size_t)256 << 20;
    if (l.copy_below == 0)
        l.copy_below = (size_t)16 << 10;
    if (l.nodes == 0)
        l.nodes = 1000000;
    if (l.subgraphs == 0)
        l.subgraphs = 64;
    return l;
}

static poprt_status set_opsets(prt_onnx_reader *r, const prt_raw_model *raw)
{
    prt_str domain;
    int64_t version;
    for (size_t i = 0; i < raw->opsets.count; i++) {
        PRT_TRY(prt_onnx_read_opset(raw->opsets.data[i], 2, &domain, &version));
        if (version < 1)
            return prt_onnx_fail(POPRT_E_PARSE, domain,
                "opset version %lld of domain '%.*s' is not valid: must be at least 1",
                (long long)version, PRT_SHOW(domain));
        PRT_TRY(prt_module_set_opset(r->m, domain, version));
    }
    /* Files that predate opset_import use opset 1. */
    if (prt_module_opset(r->m, PRT_STR("")) == 0 && raw->ir_version < 3)
        PRT_TRY(prt_module_set_opset(r->m, PRT_STR(""), 1));
    return POPRT_OK;
}

static poprt_status index_functions(prt_onnx_reader *r, const prt_raw_model *raw)
{
    for (size_t i = 0; i < raw->functions.count; i++) {
        prt_raw_function *fn = raw->functions.data[i];
        if (fn->name.size == 0)
            return prt_fail(POPRT_E_PARSE, NULL, "function %zu has no name", i);
        fn->same = prt_map_find(&r->functions, fn->name);
        PRT_TRY(prt_map_set(&r->functions, fn->name, fn));
    }
    return POPRT_OK;
}

/* Keeps the model's fields for writing. Functions are dropped if a call was inlined. */
static poprt_status keep_fields(prt_onnx_reader *r, prt_raw_model *raw)
{
    if (!r->inlined)
        for (size_t i = 0; i < raw->functions.count; i++)
            PRT_TRY(prt_raw_keep(r->scratch, &raw->extra, PRT_ONNX_Model_functions,
                raw->functions.data[i]->whole));
    return prt_onnx_keep_list(r, &raw->extra, &r->m->extra);
}

static poprt_status read_model(prt_onnx_reader *r, const prt_onnx_limits *limits)
{
    const prt_blob *file = r->source.file;
    const prt_raw_reader parser = { .arena = r->scratch, .subgraphs = limits->subgraphs };
    prt_raw_model raw;
    PRT_TRY(prt_raw_read_model(&parser, (prt_bytes){ file->data, file->size }, &raw));
    r->m->ir_version = raw.ir_version;
    PRT_TRY(set_opsets(r, &raw));
    PRT_TRY(index_functions(r, &raw));
    PRT_TRY(prt_onnx_build_graph(r, raw.graph, r->m->main, NULL, NULL));
    PRT_TRY(keep_fields(r, &raw));
    return prt_upgrade_all(r->built.data, r->built.count);
}

/* What prt_onnx_read_bytes and prt_onnx_read_given read. */
typedef struct input {
    prt_blob *bytes;
    const char *name, *folder;
    const prt_onnx_given *given;
    size_t n_given;
} input;

static poprt_status read_with(prt_arena *scratch, prt_module *m, const input *in,
    const prt_onnx_limits *limits)
{
    prt_onnx_reader *r = PRT_NEW(scratch, prt_onnx_reader);
    if (r == NULL)
        return POPRT_E_NOMEM;
    r->m = m;
    r->scratch = scratch;
    r->functions = prt_map_in(scratch);
    r->node_limit = limits->nodes;
    r->given = in->given;
    r->n_given = in->n_given;
    m->conversion_counts = limits->conversion_counts;
    r->source = (prt_onnx_source){ .allocator = m->allocator,
        .arena = scratch,
        .file = in->bytes,
        .folder = in->folder,
        .owner = m->file.data,
        .externals = prt_map_in(scratch),
        .owned_limit = limits->owned,
        .dense_limit = limits->dense,
        .copy_below = limits->copy_below };
    PRT_TRY(prt_module_keep(m, prt_blob_retain(in->bytes)));
    m->source = in->n_given == 0 ? in->bytes : NULL;
    const poprt_status status = read_model(r, limits);
    prt_onnx_source_close(&r->source);
    return status;
}

static poprt_status read_input(const prt_allocator *allocator, const input *in,
    const prt_onnx_limits *limits, prt_module **out)
{
    const prt_onnx_limits bounds = with_defaults(limits, in->bytes->size);
    prt_arena *scratch = NULL;
    prt_module *m = NULL;
    poprt_status status = prt_arena_create(allocator, bounds.arena, &scratch);
    if (status == POPRT_OK)
        status = prt_module_create(allocator, bounds.arena, &m);
    if (status == POPRT_OK) {
        m->ops = bounds.ops;
        m->file = prt_module_str(m, prt_str_of(in->name));
        status = m->file.data != NULL ? read_with(scratch, m, in, &bounds) : POPRT_E_NOMEM;
    }
    prt_arena_release(scratch);
    if (status == POPRT_OK) {
        *out = m;
        return status;
    }
    prt_module_release(m);
    return status;
}

poprt_status prt_onnx_read_bytes(const prt_allocator *allocator, prt_blob *bytes, const char *name,
    const char *folder, const prt_onnx_limits *limits, prt_module **out)
{
    const input in = { .bytes = bytes, .name = name, .folder = folder };
    poprt_status status = read_input(allocator, &in, limits, out);
    const char *foreign = status == POPRT_E_PARSE ? prt_onnx_sniff(bytes->data, bytes->size) : NULL;
    if (foreign != NULL)
        status = prt_fail(POPRT_E_PARSE, NULL, "%s", foreign);
    return prt_fail_in_file(prt_fail_at_stage(status, "read"), name);
}

poprt_status prt_onnx_read_given(const prt_allocator *allocator, prt_blob *bytes,
    const prt_onnx_limits *limits, const prt_onnx_given *given, size_t count, prt_module **out)
{
    const input in = { .bytes = bytes, .name = "", .given = given, .n_given = count };
    return read_input(allocator, &in, limits, out);
}

/* Returns the folder of a path, in an arena: "." for a path without a slash. */
static const char *folder_of(prt_arena *arena, const char *path)
{
    const char *slash = strrchr(path, '/');
    if (slash == NULL)
        return ".";
    return prt_arena_text(arena, path, slash == path ? 1 : (size_t)(slash - path));
}

poprt_status prt_onnx_read_file(const prt_allocator *allocator, const char *path,
    const prt_onnx_limits *limits, prt_module **out)
{
    prt_blob *bytes = NULL;
    prt_arena *arena = NULL;
    poprt_status status = prt_file_map(allocator, path, &bytes);
    if (status == POPRT_OK)
        status = prt_arena_create(allocator, 0, &arena);
    if (status == POPRT_OK) {
        const char *folder = folder_of(arena, path);
        status = folder != NULL ? prt_onnx_read_bytes(allocator, bytes, path, folder, limits, out)
                                : POPRT_E_NOMEM;
    }
    prt_arena_release(arena);
    prt_blob_release(bytes);
    return prt_fail_in_file(prt_fail_at_stage(status, "read"), path);
}
