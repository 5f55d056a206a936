/* SPDX-License-Identifier: MIT */
/* read.c — reads a model from a file: recognises it, parses it, converts it and cleans up. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <unistd.h>

#include "base/file.h"
#include "base/size.h"
#include "ir/extra.h"
#include "pass/engine/manager.h"
#include "poprt/base.h"
#include "tensorflow/interface.h"
#include "tensorflow/saved_model.h"

enum { NEWEST_OPSET = 18, MAX_PATH = 4096 };

typedef enum format { FORMAT_other, FORMAT_graph, FORMAT_saved_model, FORMAT_checkpoint } format;

/* ---- recognising a format */

/* Returns whether bytes look like a GraphDef: the first field is a node with a name and an
 * operator, or a library or versions with nothing before them. */
static bool looks_like_graph(prt_bytes bytes)
{
    prt_error_copy before;
    prt_error_save(&before);
    bool found = false;
    prt_wire w = prt_tf_open(bytes, PRT_TF_GraphDef, 1);
    prt_field f;
    if (prt_wire_next(&w, &f) && f.number == PRT_TF_GraphDef_node) {
        uint32_t texts = 0;
        prt_wire n = prt_tf_open(f.bytes, PRT_TF_NodeDef, 2);
        prt_field g;
        while (prt_wire_next(&n, &g))
            texts |= g.number == PRT_TF_NodeDef_name || g.number == PRT_TF_NodeDef_op
                ? 1u << g.number
                : 0;
        found =
            n.status == POPRT_OK && texts == (1u << PRT_TF_NodeDef_name | 1u << PRT_TF_NodeDef_op);
    }
    prt_error_restore(&before);
    return found;
}

/* Returns whether bytes look like a SavedModel: its first meta graph has a graph. */
static bool looks_like_saved_model(prt_bytes bytes)
{
    prt_error_copy before;
    prt_error_save(&before);
    bool found = false;
    prt_wire w = prt_tf_open(bytes, PRT_TF_SavedModel, 1);
    prt_field f;
    while (!found && prt_wire_next(&w, &f)) {
        if (f.number != PRT_TF_SavedModel_meta_graphs)
            continue;
        prt_wire m = prt_tf_open(f.bytes, PRT_TF_MetaGraph, 2);
        prt_field g;
        while (!found && prt_wire_next(&m, &g))
            found = g.number == PRT_TF_MetaGraph_graph_def;
        break;
    }
    prt_error_restore(&before);
    return found;
}

static bool exists(const char *path, const char *end)
{
    char text[MAX_PATH];
    const int n = snprintf(text, sizeof(text), "%s%s", path, end);
    return n > 0 && (size_t)n < sizeof(text) && access(text, F_OK) == 0;
}

static bool ends_with(const char *text, const char *end)
{
    const size_t n = strlen(text), size = strlen(end);
    return n >= size && strcmp(text + n - size, end) == 0;
}

/* Folders and prefixes of checkpoints are recognised by the names of files, other files by their
 * contents: `file` is NULL for what is no file. */
static format format_of_file(const char *path, const prt_blob *file)
{
    if (exists(path, "/saved_model.pb") || exists(path, "/saved_model.pbtxt") ||
        exists(path, "/saved_model.cpb"))
        return FORMAT_saved_model;
    if (ends_with(path, ".meta") || ends_with(path, ".index") ||
        (!exists(path, "") && exists(path, ".index")) || prt_saved_is_checkpoint_folder(path))
        return FORMAT_checkpoint;
    if (file == NULL)
        return FORMAT_other;
    const prt_bytes bytes = { file->data, file->size };
    return looks_like_graph(bytes)      ? FORMAT_graph
        : looks_like_saved_model(bytes) ? FORMAT_saved_model
                                        : FORMAT_other;
}

bool prt_tf_recognises(const prt_blob *bytes)
{
    return looks_like_graph((prt_bytes){ bytes->data, bytes->size });
}

bool prt_tf_recognises_file(const char *path, const prt_blob *file)
{
    return format_of_file(path, file) != FORMAT_other;
}

/* ---- converting */

/* Settings of the pipeline: `opset_23` if the model is written for an opset that has Attention. */
static const char *get_setting(void *user, const char *key)
{
    const bool set = strcmp(key, "opset_23") == 0 && prt_module_opset(user, PRT_STR("")) >= 23;
    return set ? "true" : NULL;
}

/* Returns the bytes of constants that a pass may make: those of the model's weights are folded, but
 * a small model does not become a large one. */
static uint64_t most_folded(const prt_module *m)
{
    uint64_t bytes = (uint64_t)64 << 20;
    for (size_t i = 0; i < m->blobs.count; i++)
        bytes = prt_saturating_add(bytes, prt_saturating_mul(2, m->blobs.data[i]->size));
    return bytes;
}

/* Runs the passes that tidy a converted graph. */
static poprt_status clean_up(prt_module *m)
{
    const prt_pass_settings settings = { .user = m, .get = get_setting };
    const prt_pass_limits limits = { .fold_bytes = most_folded(m),
        .fold_steps = PRT_TF_FOLD_STEPS };
    prt_pass_manager *pm = NULL;
    poprt_status status = prt_pass_manager_create(m->allocator, &pm);
    if (status == POPRT_OK)
        status = prt_pass_manager_add_pipeline(pm, "tensorflow", &settings);
    if (status == POPRT_OK) {
        prt_pass_manager_set_limits(pm, &limits);
        status = prt_pass_manager_run(pm, m, NULL);
    }
    prt_pass_manager_release(pm);
    return status;
}

static poprt_status convert_graph(prt_tf_converter *c, prt_bytes bytes, uint32_t depth,
    const prt_tf_options *options)
{
    prt_tf_interface io = { 0 };
    prt_tf_scope *scope;
    c->graph = PRT_NEW(c->arena, prt_tf_graph);
    if (c->graph == NULL)
        return POPRT_E_NOMEM;
    PRT_TRY(prt_tf_graph_read(c->arena, bytes, depth, c->graph));
    if (c->saved != NULL)
        PRT_TRY(prt_saved_model_resolve(c->saved, c->graph));
    PRT_TRY(prt_tf_choose_interface(c, options, &io));
    PRT_TRY(prt_tf_interface_layouts(c, options, &io));
    PRT_TRY(prt_tf_scope_create(c, NULL, &c->graph->main, c->module->main, PRT_STR(""), 0, NULL,
        &scope));
    return prt_tf_convert(c, scope, &io);
}

/* Only a SavedModel has signatures and tags. */
static poprt_status check_options(const prt_tf_options *options, const char *name, const char *what)
{
    const char *given = options->saved_model                          ? "saved_model"
        : options->signature != NULL && options->signature[0] != '\0' ? "signature_def"
        : options->tags != NULL                                       ? "tag"
                                                                      : NULL;
    if (given == NULL)
        return POPRT_OK;
    return prt_fail_in_file(
        prt_fail(POPRT_E_ARG, given,
            "the model is a %s, and only a SavedModel has signatures and tags: choose tensors by "
            "inputs and outputs",
            what),
        name);
}

/* Prepares a module and the rest of a converter, which has an arena. */
static poprt_status start(const prt_allocator *allocator, prt_blob *bytes, const char *name,
    const prt_tf_options *options, prt_tf_converter *c)
{
    PRT_TRY(prt_module_create(allocator, options->arena, &c->module));
    prt_module *m = c->module;
    m->ops = options->ops;
    m->file = prt_module_str(m, prt_str_of(name));
    if (m->file.data == NULL)
        return POPRT_E_NOMEM;
    PRT_TRY(
        prt_module_set_opset(m, PRT_STR(""), options->opset != 0 ? options->opset : NEWEST_OPSET));
    PRT_TRY(prt_module_keep(m, prt_blob_retain(bytes)));
    PRT_TRY(prt_module_set_producer(m, "poprt", POPRT_VERSION_STRING));
    c->node_limit = 1000000;
    c->owned_limit = ((size_t)64 << 20) + 16 * (bytes->size < SIZE_MAX / 32 ? bytes->size : 0);
    c->file = bytes;
    c->resources = prt_map_in(c->arena);
    c->verify = options->verify;
    return POPRT_OK;
}

/* Converts a GraphDef, the graph of a SavedModel or checkpoint, or what `read` reads. */
static poprt_status convert(const prt_allocator *allocator, prt_blob *bytes, const char *name,
    const prt_tf_options *options, prt_tf_read_fn read, prt_tf_converter *c)
{
    const prt_saved_model *saved = c->saved;
    PRT_TRY(start(allocator, saved != NULL ? saved->file : bytes, name, options, c));
    if (read != NULL)
        return read(c, bytes, options);
    return saved != NULL ? convert_graph(c, saved->graph_def, saved->graph_depth, options)
                         : convert_graph(c, (prt_bytes){ bytes->data, bytes->size }, 1, options);
}

/* Opens a SavedModel or checkpoint. */
static poprt_status open_saved(prt_tf_converter *c, const char *path, format kind,
    const prt_tf_options *options)
{
    const char *signature = options->signature;
    const prt_saved_choice choice = { .tags = options->tags,
        .signature = signature != NULL && signature[0] != '\0' ? signature : NULL };
    return kind == FORMAT_saved_model ? prt_saved_model_open(c->arena, path, &choice, &c->saved)
                                      : prt_saved_checkpoint_open(c->arena, path, &c->saved);
}

/* Reads `bytes`, or if that is NULL the model at the path `name`. */
static poprt_status read_model(const prt_allocator *allocator, prt_blob *bytes, const char *name,
    format kind, const prt_tf_options *options, prt_tf_read_fn read, prt_module **out)
{
    prt_tf_options limited = *options;
    prt_tf_converter c = { 0 };
    if (limited.arena == 0)
        limited.arena = (size_t)1 << 30;
    poprt_status status = prt_arena_create(allocator, limited.arena, &c.arena);
    if (status == POPRT_OK && bytes == NULL)
        status = open_saved(&c, name, kind, options);
    if (status == POPRT_OK)
        status = convert(allocator, bytes, name, &limited, read, &c);
    if (status == POPRT_OK)
        status = clean_up(c.module);
    for (size_t i = 0; i < c.warnings.count && options->warn != NULL; i++)
        options->warn(options->user, c.warnings.data[i].data);
    prt_saved_model_close(c.saved);
    prt_arena_release(c.arena);
    if (status == POPRT_OK)
        *out = c.module;
    else
        prt_module_release(c.module);
    return prt_fail_in_file(prt_fail_at_stage(status, "read"), name);
}

poprt_status prt_tf_read_with(const prt_allocator *allocator, prt_blob *bytes, const char *name,
    const prt_tf_options *options, prt_tf_read_fn read, prt_module **out)
{
    return read_model(allocator, bytes, name, FORMAT_other, options, read, out);
}

poprt_status prt_tf_read_bytes(const prt_allocator *allocator, prt_blob *bytes, const char *name,
    const prt_tf_options *options, prt_module **out)
{
    PRT_TRY(prt_fail_at_stage(check_options(options, name, "GraphDef"), "read"));
    return read_model(allocator, bytes, name, FORMAT_graph, options, NULL, out);
}

poprt_status prt_tf_read_file(const prt_allocator *allocator, const char *path,
    const prt_tf_options *options, prt_module **out)
{
    prt_error_copy before;
    prt_blob *bytes = NULL;
    prt_error_save(&before);
    poprt_status status = prt_file_map(allocator, path, &bytes);
    const format kind = format_of_file(path, bytes);
    if (kind != FORMAT_saved_model && kind != FORMAT_checkpoint) {
        if (status == POPRT_OK)
            status = prt_tf_read_bytes(allocator, bytes, path, options, out);
        prt_blob_release(bytes);
        return status;
    }
    prt_blob_release(bytes);
    prt_error_restore(&before);
    if (kind == FORMAT_checkpoint)
        PRT_TRY(prt_fail_at_stage(check_options(options, path, "checkpoint"), "read"));
    return read_model(allocator, NULL, path, kind, options, NULL, out);
}
