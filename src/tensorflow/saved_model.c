/* SPDX-License-Identifier: MIT */
/* saved_model.c — opens SavedModels: the file, its meta graphs, and their signatures. */
#define _POSIX_C_SOURCE 200809L
#include "tensorflow/saved_model.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "base/list.h"
#include "base/nearest.h"
#include "tensorflow/saved_parts.h"

enum { MAX_PATH = 4096, MAX_LIST = 1000 };

typedef PRT_VEC(prt_bytes) bytes_list;
typedef PRT_VEC(prt_str) text_list;

/* ---- the file */

/* Formats a path into the arena; NULL (failure recorded) if it is too long. */
static const char *join_path(prt_arena *arena, const char *folder, const char *name)
{
    char text[MAX_PATH];
    const int n = snprintf(text, sizeof(text), "%s/%s", folder, name);
    if (n > 0 && (size_t)n < sizeof(text))
        return prt_arena_text(arena, text, (size_t)n);
    (void)prt_fail(POPRT_E_ARG, folder, "the path is too long");
    return NULL;
}

/* Says why a path has no saved_model.pb, and which form would be accepted. */
static poprt_status fail_no_file(const char *path)
{
    static const char *const others[][2] = {
        { "saved_model.pbtxt",
            "the model is in text form (saved_model.pbtxt); save it in binary form" },
        { "saved_model.cpb",
            "the model is split into chunks (saved_model.cpb), because its graph is larger than 2 "
            "GiB; keep its weights in variables, not in constants, and save it again" }
    };
    char text[MAX_PATH];
    for (size_t i = 0; i < PRT_COUNT_OF(others); i++) {
        const int n = snprintf(text, sizeof(text), "%s/%s", path, others[i][0]);
        if (n > 0 && (size_t)n < sizeof(text) && access(text, F_OK) == 0)
            return prt_fail_in_file(prt_fail(POPRT_E_UNSUPPORTED, NULL, "%s", others[i][1]), path);
    }
    return prt_fail_in_file(
        prt_fail(POPRT_E_NOT_FOUND, NULL,
            "the folder has no saved_model.pb; give the folder of a SavedModel"),
        path);
}

const char *prt_saved_folder_of(prt_arena *arena, const char *path)
{
    const char *slash = strrchr(path, '/');
    if (slash == NULL)
        return ".";
    return prt_arena_text(arena, path, slash == path ? 1 : (size_t)(slash - path));
}

static poprt_status map_model(prt_saved_model *m, const char *path)
{
    const prt_allocator *allocator = prt_arena_allocator(m->arena);
    m->folder = prt_arena_text(m->arena, path, strlen(path));
    m->path = join_path(m->arena, path, "saved_model.pb");
    if (m->folder == NULL || m->path == NULL)
        return prt_error_last()->status;
    if (prt_file_map(allocator, m->path, &m->file) == POPRT_OK)
        return POPRT_OK;
    if (prt_error_last()->status != POPRT_E_NOT_FOUND)
        return prt_error_last()->status;
    char file[MAX_PATH];
    const int n = snprintf(file, sizeof(file), "%s/.", path);
    if (n > 0 && (size_t)n < sizeof(file) && access(file, F_OK) == 0)
        return fail_no_file(path);
    m->path = m->folder;
    m->folder = prt_saved_folder_of(m->arena, path);
    return m->folder != NULL ? prt_file_map(allocator, m->path, &m->file) : POPRT_E_NOMEM;
}

/* ---- meta graphs */

static poprt_status read_tags(prt_arena *arena, prt_bytes meta_graph, text_list *tags)
{
    *tags = (text_list){ 0 };
    prt_wire w = prt_tf_open(meta_graph, PRT_TF_MetaGraph, 2);
    prt_field f, g;
    while (prt_wire_next(&w, &f)) {
        if (f.number != PRT_TF_MetaGraph_meta_info_def)
            continue;
        prt_wire info = prt_tf_open(f.bytes, PRT_TF_MetaInfo, 3);
        while (prt_wire_next(&info, &g))
            if (g.number == PRT_TF_MetaInfo_tags &&
                !PRT_VEC_PUSH(arena, tags, prt_wire_text(&info, &g)))
                return POPRT_E_NOMEM;
        PRT_TRY(info.status);
    }
    return w.status;
}

static bool has_tag(const text_list *tags, prt_str tag)
{
    for (size_t i = 0; i < tags->count; i++)
        if (prt_str_equal(tags->data[i], tag))
            return true;
    return false;
}

/* Compares sets: the order does not matter. */
static bool is_tag_set(const text_list *tags, const char *wanted)
{
    prt_str tag;
    for (const char *at = wanted; prt_list_next(&at, &tag);)
        if (!has_tag(tags, tag))
            return false;
    for (size_t i = 0; i < tags->count; i++) {
        bool found = false;
        for (const char *at = wanted; !found && prt_list_next(&at, &tag);)
            found = prt_str_equal(tags->data[i], tag);
        if (!found)
            return false;
    }
    return true;
}

/* Appends a text to a list in a message, and cuts what does not fit. */
static void append(char text[MAX_LIST], const char *separator, prt_str item)
{
    const size_t used = strlen(text);
    (void)snprintf(text + used, MAX_LIST - used, "%s%.*s", separator, PRT_STR_ARG(item));
}

static poprt_status fail_tags(const prt_saved_model *m, const bytes_list *graphs, const char *tags)
{
    char text[MAX_LIST] = "";
    text_list list;
    for (size_t i = 0; i < graphs->count; i++) {
        PRT_TRY(read_tags(m->arena, graphs->data[i], &list));
        append(text, i == 0 ? "'" : "', '", PRT_STR(""));
        for (size_t k = 0; k < list.count; k++)
            append(text, k == 0 ? "" : ",", list.data[k]);
    }
    return prt_fail(POPRT_E_NOT_FOUND, tags,
        "the model has no graph with exactly these tags; its graphs have %s'", text);
}

static poprt_status choose_meta_graph(prt_saved_model *m, const char *tags)
{
    bytes_list graphs = { 0 };
    text_list list;
    prt_wire w = prt_tf_open((prt_bytes){ m->file->data, m->file->size }, PRT_TF_SavedModel, 1);
    prt_field f;
    while (prt_wire_next(&w, &f))
        if (f.number == PRT_TF_SavedModel_meta_graphs && !PRT_VEC_PUSH(m->arena, &graphs, f.bytes))
            return POPRT_E_NOMEM;
    PRT_TRY(w.status);
    if (graphs.count == 0)
        return prt_fail(POPRT_E_PARSE, NULL, "the file is not a SavedModel: it has no graphs");
    m->depth = 2;
    for (size_t i = 0; i < graphs.count; i++) {
        PRT_TRY(read_tags(m->arena, graphs.data[i], &list));
        m->meta_graph = graphs.data[i];
        if (is_tag_set(&list, tags != NULL ? tags : "serve"))
            return POPRT_OK;
    }
    return graphs.count == 1 && tags == NULL ? POPRT_OK
                                             : fail_tags(m, &graphs, tags != NULL ? tags : "serve");
}

poprt_status prt_saved_find_graph(prt_saved_model *m)
{
    prt_wire w = prt_tf_open(m->meta_graph, PRT_TF_MetaGraph, m->depth);
    prt_field f;
    while (prt_wire_next(&w, &f))
        if (f.number == PRT_TF_MetaGraph_graph_def)
            m->graph_def = f.bytes;
    m->graph_depth = m->depth + 1;
    PRT_TRY(w.status);
    return m->graph_def.size != 0 ? POPRT_OK
                                  : prt_fail(POPRT_E_PARSE, NULL, "the file has no graph");
}

/* ---- signatures */

static poprt_status fail_signature(const prt_saved_model *m, const text_list *names,
    const char *wanted)
{
    const char **list = PRT_NEW_N(m->arena, const char *, names->count);
    char text[MAX_LIST] = "";
    if (list == NULL)
        return POPRT_E_NOMEM;
    for (size_t i = 0; i < names->count; i++) {
        list[i] = prt_arena_text(m->arena, names->data[i].data, names->data[i].size);
        if (list[i] == NULL)
            return POPRT_E_NOMEM;
        append(text, i == 0 ? "" : ", ", names->data[i]);
    }
    if (names->count == 0)
        return prt_fail(POPRT_E_NOT_FOUND, wanted, "the model has no signatures");
    return wanted != NULL
        ? prt_fail_nearest(wanted, list, names->count, "the model has no signature of this name")
        : prt_fail(POPRT_E_NOT_FOUND, NULL,
              "the model has no signature 'serving_default'; name one of: %s", text);
}

/* Chooses a signature, and returns its SignatureDef. */
static poprt_status choose_signature(prt_saved_model *m, const char *wanted, prt_bytes *out)
{
    text_list names = { 0 };
    prt_str name, visible = PRT_STR("");
    prt_bytes value, only = { NULL, 0 };
    size_t count = 0;
    bool found = false;
    prt_wire w = prt_tf_open(m->meta_graph, PRT_TF_MetaGraph, m->depth);
    prt_field f;
    while (prt_wire_next(&w, &f)) {
        if (f.number != PRT_TF_MetaGraph_signature_def)
            continue;
        PRT_TRY(prt_tf_entry(f.bytes, m->depth + 1, &name, &value));
        if (prt_str_is(name, wanted != NULL ? wanted : "serving_default")) {
            m->signature = name;
            *out = value;
            found = true;
        }
        if (name.size >= 2 && memcmp(name.data, "__", 2) == 0)
            continue;
        visible = name;
        only = value;
        count++;
        if (!PRT_VEC_PUSH(m->arena, &names, name))
            return POPRT_E_NOMEM;
    }
    PRT_TRY(w.status);
    if (found)
        return POPRT_OK;
    if (wanted != NULL || count != 1)
        return fail_signature(m, &names, wanted);
    m->signature = visible;
    *out = only;
    return POPRT_OK;
}

/* Adds an input or output named KEY or KEY/part. */
static poprt_status add_port(prt_saved_model *m, prt_saved_ports *ports, prt_str key,
    const char *part, prt_saved_port port)
{
    const size_t size = (size_t)key.size + strlen(part) + 1;
    port.name = key;
    if (part[0] != '\0') {
        char *name = prt_arena_alloc(m->arena, size + 1);
        if (name == NULL)
            return POPRT_E_NOMEM;
        (void)snprintf(name, size + 1, "%.*s/%s", PRT_STR_ARG(key), part);
        port.name = prt_str_of(name);
    }
    return PRT_VEC_PUSH(m->arena, ports, port) ? POPRT_OK : POPRT_E_NOMEM;
}

/* Adds the three tensors of a sparse tensor. */
static poprt_status add_sparse(prt_saved_model *m, prt_saved_ports *ports, prt_str key,
    prt_bytes bytes, uint32_t depth)
{
    static const char *const parts[] = { [PRT_TF_CooSparse_values] = "values",
        [PRT_TF_CooSparse_indices] = "indices",
        [PRT_TF_CooSparse_dense_shape] = "shape" };
    prt_wire w = prt_tf_open(bytes, PRT_TF_CooSparse, depth);
    prt_field f;
    while (prt_wire_next(&w, &f)) {
        if (!f.known)
            continue;
        const prt_saved_port port = { .tensor = prt_wire_text(&w, &f), .depth = depth };
        PRT_TRY(add_port(m, ports, key, parts[f.number], port));
    }
    return w.status;
}

static poprt_status add_info(prt_saved_model *m, prt_saved_ports *ports, prt_str key,
    const char *part, prt_bytes bytes, uint32_t depth);

/* Adds the components of a composite tensor, such as a ragged tensor. */
static poprt_status add_composite(prt_saved_model *m, prt_saved_ports *ports, prt_str key,
    prt_bytes bytes, uint32_t depth)
{
    char part[24];
    unsigned count = 0;
    prt_wire w = prt_tf_open(bytes, PRT_TF_CompositeTensor, depth);
    prt_field f;
    while (prt_wire_next(&w, &f)) {
        if (f.number != PRT_TF_CompositeTensor_components)
            continue;
        (void)snprintf(part, sizeof(part), "%u", count++);
        PRT_TRY(add_info(m, ports, key, part, f.bytes, depth + 1));
    }
    return w.status;
}

/* Adds what a TensorInfo describes. */
static poprt_status add_info(prt_saved_model *m, prt_saved_ports *ports, prt_str key,
    const char *part, prt_bytes bytes, uint32_t depth)
{
    prt_saved_port port = { .tensor = PRT_STR(""), .depth = depth + 1 };
    prt_wire w = prt_tf_open(bytes, PRT_TF_TensorInfo, depth);
    prt_field f;
    while (prt_wire_next(&w, &f)) {
        if (f.number == PRT_TF_TensorInfo_name)
            port.tensor = prt_wire_text(&w, &f);
        else if (f.number == PRT_TF_TensorInfo_tensor_shape)
            port.shape = f.bytes;
        else if (f.number == PRT_TF_TensorInfo_coo_sparse)
            return add_sparse(m, ports, key, f.bytes, depth + 1);
        else if (f.number == PRT_TF_TensorInfo_composite_tensor)
            return add_composite(m, ports, key, f.bytes, depth + 1);
    }
    PRT_TRY(w.status);
    return add_port(m, ports, key, part, port);
}

static poprt_status set_default(prt_saved_model *m, prt_bytes entry, uint32_t depth)
{
    prt_str key;
    prt_bytes value;
    PRT_TRY(prt_tf_entry(entry, depth, &key, &value));
    for (size_t i = 0; i < m->inputs.count; i++)
        if (prt_str_equal(m->inputs.data[i].name, key))
            m->inputs.data[i].default_value = value;
    return POPRT_OK;
}

static poprt_status read_signature(prt_saved_model *m, prt_bytes bytes)
{
    const uint32_t depth = m->depth + 2; /* meta graph, entry, signature */
    prt_str key;
    prt_bytes value;
    prt_wire w = prt_tf_open(bytes, PRT_TF_Signature, depth);
    prt_field f;
    while (prt_wire_next(&w, &f)) {
        if (f.number != PRT_TF_Signature_inputs && f.number != PRT_TF_Signature_outputs)
            continue;
        PRT_TRY(prt_tf_entry(f.bytes, depth + 1, &key, &value));
        PRT_TRY(add_info(m, f.number == PRT_TF_Signature_inputs ? &m->inputs : &m->outputs, key, "",
            value, depth + 2));
    }
    PRT_TRY(w.status);
    w = prt_tf_open(bytes, PRT_TF_Signature, depth);
    while (prt_wire_next(&w, &f))
        if (f.number == PRT_TF_Signature_defaults)
            PRT_TRY(set_default(m, f.bytes, depth + 1));
    return m->outputs.count != 0
        ? w.status
        : prt_fail(POPRT_E_UNSUPPORTED, NULL, "signature '%.*s' has no outputs",
              PRT_STR_ARG(m->signature));
}

/* ---- */

static poprt_status open_model(prt_saved_model *m, const char *path, const prt_saved_choice *choice)
{
    prt_bytes signature;
    PRT_TRY(map_model(m, path));
    PRT_TRY(choose_meta_graph(m, choice->tags));
    PRT_TRY(prt_saved_find_graph(m));
    PRT_TRY(choose_signature(m, choice->signature, &signature));
    PRT_TRY(read_signature(m, signature));
    const poprt_status status =
        prt_bundle_open(m->arena, m->folder, m->path, "variables/variables", &m->bundle);
    /* A model without variables has no such folder. */
    return status == POPRT_E_NOT_FOUND ? POPRT_OK : status;
}

prt_saved_model *prt_saved_model_new(prt_arena *arena)
{
    prt_saved_model *m = PRT_NEW(arena, prt_saved_model);
    if (m != NULL)
        *m = (prt_saved_model){ .arena = arena,
            .signature = PRT_STR(""),
            .by_node = prt_map_in(arena),
            .by_name = prt_map_in(arena) };
    return m;
}

poprt_status prt_saved_model_open(prt_arena *arena, const char *path,
    const prt_saved_choice *choice, prt_saved_model **out)
{
    prt_saved_model *m = prt_saved_model_new(arena);
    if (m == NULL)
        return POPRT_E_NOMEM;
    const poprt_status status = open_model(m, path, choice);
    if (status != POPRT_OK) {
        if (m->path != NULL)
            (void)prt_fail_in_file(status, m->path);
        prt_saved_model_close(m);
        return status;
    }
    *out = m;
    return POPRT_OK;
}

void prt_saved_model_close(prt_saved_model *m)
{
    if (m == NULL)
        return;
    prt_bundle_close(m->bundle);
    prt_blob_release(m->file);
    m->bundle = NULL;
    m->file = NULL;
}
