/* SPDX-License-Identifier: MIT */
/* onnx_write.c — writes a module as a ModelProto: versions, metadata and graph, to a sink or to
 * files. */
#include "converter/onnx_write.h"

#include <stdio.h>

enum { MOST_BYTES = 0x7fffffff }; /* message size limit of other protobuf readers, in bytes */

static void put_opsets(prt_onnx_writer *w)
{
    for (const prt_opset *o = w->opsets; o != NULL; o = o->next) {
        const prt_encode_mark opset = prt_encode_open(&w->encoder, PRT_ONNX_Model_opset_import);
        prt_encode_str(&w->encoder, PRT_ONNX_OperatorSetId_domain, o->domain);
        prt_encode_int(&w->encoder, PRT_ONNX_OperatorSetId_version, o->version);
        prt_encode_close(&w->encoder, opset);
    }
}

static void put_model(prt_onnx_writer *w)
{
    prt_encode_int(&w->encoder, PRT_ONNX_Model_ir_version, w->ir_version);
    for (const prt_raw *raw = w->m->extra; raw != NULL; raw = raw->next)
        prt_encode_raw(&w->encoder, raw->bytes, raw->size);
    put_opsets(w);
    prt_onnx_put_graph(w, PRT_ONNX_Model_graph, w->m->main);
}

static poprt_status count(prt_onnx_writer *w, const prt_module *m, prt_arena *scratch,
    prt_str data_name)
{
    *w = (prt_onnx_writer){ .m = m,
        .left_out = w->left_out,
        .list_arena = w->list_arena,
        .scratch = scratch,
        .data_name = data_name,
        .ir_version = m->ir_version };
    prt_onnx_need(w, 3); /* opset imports need IR version 3 */
    prt_encode_count(&w->encoder, scratch);
    PRT_TRY(prt_names_create(m, scratch, &w->names));
    PRT_TRY(prt_onnx_choose_opsets(w));
    put_model(w);
    return prt_encode_end(&w->encoder);
}

static poprt_status write(prt_onnx_writer *w, poprt_write_fn sink, void *user)
{
    w->data_size = 0;
    prt_encode_write(&w->encoder, sink, user);
    put_model(w);
    return prt_encode_end(&w->encoder);
}

poprt_status prt_onnx_write(const prt_module *module, poprt_write_fn sink, void *user)
{
    prt_arena *scratch = NULL;
    prt_onnx_writer w = { 0 };
    PRT_TRY(prt_arena_create(module->allocator, 0, &scratch));
    poprt_status status = count(&w, module, scratch, PRT_STR(""));
    if (status == POPRT_OK && prt_encode_size(&w.encoder) > MOST_BYTES)
        status = prt_fail(POPRT_E_LIMIT, NULL,
            "the model has %zu bytes, but an ONNX file at most 2 GiB: save it to a file, which "
            "stores its weights in a second file",
            prt_encode_size(&w.encoder));
    if (status == POPRT_OK)
        status = write(&w, sink, user);
    prt_arena_release(scratch);
    return prt_fail_at_stage(status, "write");
}

poprt_status prt_onnx_write_skeleton(const prt_module *module, prt_arena *arena,
    poprt_write_fn sink, void *user, prt_onnx_given_list *out)
{
    prt_arena *scratch = NULL;
    prt_onnx_writer w = { .left_out = out, .list_arena = arena };
    PRT_TRY(prt_arena_create(module->allocator, 0, &scratch));
    poprt_status status = count(&w, module, scratch, PRT_STR(""));
    if (status == POPRT_OK)
        status = write(&w, sink, user);
    prt_arena_release(scratch);
    return prt_fail_at_stage(status, "write");
}

/* The data file is completed before the model that refers to it. */
static poprt_status write_files(prt_onnx_writer *w, const char *path, const char *data_path)
{
    prt_file_writer *model = NULL;
    const prt_allocator *allocator = w->m->allocator;
    if (data_path != NULL)
        PRT_TRY(prt_file_writer_create(allocator, data_path, &w->data));
    poprt_status status = prt_file_writer_create(allocator, path, &model);
    if (status == POPRT_OK)
        status = write(w, prt_file_writer_sink, model);
    if (w->data != NULL)
        status = prt_file_writer_finish(w->data, status);
    return model != NULL ? prt_file_writer_finish(model, status) : status;
}

poprt_status prt_onnx_write_file(const prt_module *module, const char *path, size_t most)
{
    prt_arena *scratch = NULL;
    prt_onnx_writer w = { 0 };
    PRT_TRY(prt_arena_create(module->allocator, 0, &scratch));
    poprt_status status = count(&w, module, scratch, PRT_STR(""));
    char *data_path = NULL;
    if (status == POPRT_OK && prt_encode_size(&w.encoder) > (most != 0 ? most : MOST_BYTES)) {
        const size_t size = strlen(path) + sizeof(".data");
        data_path = PRT_NEW_N(scratch, char, size);
        if (data_path == NULL) {
            status = POPRT_E_NOMEM;
        } else {
            (void)snprintf(data_path, size, "%s.data", path);
            const char *slash = strrchr(data_path, '/');
            status = count(&w, module, scratch, prt_str_of(slash != NULL ? slash + 1 : data_path));
        }
    }
    if (status == POPRT_OK)
        status = write_files(&w, path, data_path);
    prt_arena_release(scratch);
    return prt_fail_in_file(prt_fail_at_stage(status, "write"), path);
}
