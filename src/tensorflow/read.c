/* SPDX-License-Identifier: MIT */
/* read.c — reads a model from a file: recognises it, parses it, converts it and cleans up. */
#include "base/file.h"
#include "pass/engine/manager.h"
#include "tensorflow/interface.h"

enum { NEWEST_OPSET = 18 };

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

bool prt_tf_recognises(const prt_blob *bytes)
{
    return looks_like_graph((prt_bytes){ bytes->data, bytes->size });
}

/* A GraphDef begins with the tag of a node; only then the file is mapped. Mapping and not reading:
 * the file may be large. */
bool prt_tf_recognises_file(const char *path)
{
    prt_error_copy before;
    prt_blob *bytes = NULL;
    prt_error_save(&before);
    const bool found = prt_file_map(NULL, path, &bytes) == POPRT_OK && prt_tf_recognises(bytes);
    prt_blob_release(bytes);
    prt_error_restore(&before);
    return found;
}

/* Runs the passes that tidy a converted graph. */
static poprt_status clean_up(prt_module *m)
{
    prt_pass_manager *pm = NULL;
    poprt_status status = prt_pass_manager_create(m->allocator, &pm);
    if (status == POPRT_OK)
        status = prt_pass_manager_add_pipeline(pm, "tensorflow", NULL);
    if (status == POPRT_OK)
        status = prt_pass_manager_run(pm, m, NULL);
    prt_pass_manager_release(pm);
    return status;
}

static poprt_status convert_graph(prt_tf_converter *c, prt_bytes bytes,
    const prt_tf_options *options)
{
    prt_tf_interface io = { 0 };
    prt_tf_scope *scope;
    c->graph = PRT_NEW(c->arena, prt_tf_graph);
    if (c->graph == NULL)
        return POPRT_E_NOMEM;
    PRT_TRY(prt_tf_graph_read(c->arena, bytes, 1, c->graph));
    PRT_TRY(prt_tf_graph_interface(c, options, &io));
    PRT_TRY(prt_tf_interface_layouts(c, options, &io));
    PRT_TRY(prt_tf_scope_create(c, NULL, &c->graph->main, c->module->main, PRT_STR(""), 0, NULL,
        &scope));
    PRT_TRY(prt_tf_convert(c, scope, &io));
    return clean_up(c->module);
}

/* A GraphDef has neither signatures nor tags. */
static poprt_status check_options(const prt_tf_options *options)
{
    const char *given = options->signature != NULL && options->signature[0] != '\0'
        ? "signature_def"
        : options->tags != NULL && options->tags[0] != '\0' ? "tag"
        : options->saved_model                              ? "saved_model"
                                                            : NULL;
    if (given == NULL)
        return POPRT_OK;
    return prt_fail(POPRT_E_ARG, given,
        "the model is a GraphDef, and only a SavedModel has signatures and tags: choose tensors by "
        "inputs and outputs");
}

/* Prepares a module and a converter. `*scratch` is released by the caller, `*out` on failure. */
static poprt_status start(const prt_allocator *allocator, prt_blob *bytes,
    const prt_tf_options *options, prt_arena **scratch, prt_module **out, prt_tf_converter *c)
{
    const size_t limit = options->arena != 0 ? options->arena : (size_t)1 << 30;
    PRT_TRY(prt_arena_create(allocator, limit, scratch));
    PRT_TRY(prt_module_create(allocator, limit, out));
    prt_module *m = *out;
    m->ops = options->ops;
    PRT_TRY(
        prt_module_set_opset(m, PRT_STR(""), options->opset != 0 ? options->opset : NEWEST_OPSET));
    PRT_TRY(prt_module_keep(m, prt_blob_retain(bytes)));
    *c = (prt_tf_converter){ .module = m,
        .arena = *scratch,
        .node_limit = 1000000,
        .owned_limit = ((size_t)64 << 20) + 16 * (bytes->size < SIZE_MAX / 32 ? bytes->size : 0),
        .file = bytes };
    return POPRT_OK;
}

static void send_warnings(const prt_tf_converter *c, const prt_tf_options *options)
{
    for (size_t i = 0; i < c->warnings.count && options->warn != NULL; i++)
        options->warn(options->user, c->warnings.data[i].data);
}

poprt_status prt_tf_read_bytes(const prt_allocator *allocator, prt_blob *bytes, const char *name,
    const prt_tf_options *options, prt_module **out)
{
    prt_arena *scratch = NULL;
    prt_module *m = NULL;
    prt_tf_converter c = { 0 };
    poprt_status status = check_options(options);
    if (status == POPRT_OK)
        status = start(allocator, bytes, options, &scratch, &m, &c);
    if (status == POPRT_OK) {
        m->file = prt_module_str(m, prt_str_of(name));
        status = m->file.data != NULL
            ? convert_graph(&c, (prt_bytes){ bytes->data, bytes->size }, options)
            : POPRT_E_NOMEM;
    }
    send_warnings(&c, options);
    prt_arena_release(scratch);
    if (status == POPRT_OK)
        *out = m;
    else
        prt_module_release(m);
    return prt_fail_in_file(prt_fail_at_stage(status, "read"), name);
}

poprt_status prt_tf_read_file(const prt_allocator *allocator, const char *path,
    const prt_tf_options *options, prt_module **out)
{
    prt_blob *bytes = NULL;
    PRT_TRY(prt_file_map(allocator, path, &bytes));
    const poprt_status status = prt_tf_read_bytes(allocator, bytes, path, options, out);
    prt_blob_release(bytes);
    return status;
}
