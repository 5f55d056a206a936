/* SPDX-License-Identifier: MIT */
/*
 * onnx_write_marks.c — writes the file that a module was read from with the present marks of its
 * nodes (__ipu_number and the like, ir/extra.h) and no other change. Results of upgrades, inference
 * and naming are not written.
 *
 * A node of the file corresponds to the op that computes its first named output. Nodes of subgraphs
 * are copied unchanged.
 */
#include "converter/onnx.h"

#include "base/file.h"
#include "converter/encode.h"
#include "ir/extra.h"

enum {
    EXTERNAL = 1,           /* TensorProto.DataLocation */
    MOST_BYTES = 0x7fffffff /* message size limit of other protobuf readers, in bytes */
};

typedef struct marks_writer {
    prt_encoder encoder;
    const prt_module *m;
    prt_arena *scratch;
    bool external; /* some tensor lies in another file */
} marks_writer;

/* Returns the op that a node of the main graph became; NULL if the op was removed. */
static const prt_op *op_of(const prt_module *m, prt_bytes node)
{
    prt_wire w = prt_onnx_open(node, PRT_ONNX_Node, 3);
    prt_field f;
    while (prt_wire_next(&w, &f)) {
        if (f.number != PRT_ONNX_Node_output || f.bytes.size == 0)
            continue;
        const prt_value *v = prt_map_find(&m->names, prt_wire_text(&w, &f));
        return v != NULL && v->def != NULL && !v->def->dead && v->graph == m->main ? v->def : NULL;
    }
    return NULL;
}

static bool is_mark(prt_str name)
{
    return name.size > 2 && memcmp(name.data, "__", 2) == 0;
}

static prt_str name_of(prt_bytes attribute)
{
    prt_wire w = prt_onnx_open(attribute, PRT_ONNX_Attribute, 4);
    prt_field f;
    while (prt_wire_next(&w, &f))
        if (f.number == PRT_ONNX_Attribute_name)
            return prt_wire_text(&w, &f);
    return PRT_STR("");
}

/* Returns whether the op has a mark of this name, which replaces the one of the file. */
static bool replaces(const prt_op *op, prt_str name)
{
    const prt_raw *at = NULL;
    prt_str own;
    while (is_mark(name) && prt_op_next_extra(op, &at, &own))
        if (prt_str_equal(own, name))
            return true;
    return false;
}

static void put_node(marks_writer *k, const prt_field *node)
{
    const prt_op *op = op_of(k->m, node->bytes);
    const prt_raw *at = NULL;
    prt_str name;
    if (op == NULL) {
        prt_encode_raw(&k->encoder, node->whole.data, node->whole.size);
        return;
    }
    const prt_encode_mark mark = prt_encode_open(&k->encoder, PRT_ONNX_Graph_node);
    prt_wire w = prt_onnx_open(node->bytes, PRT_ONNX_Node, 3);
    prt_field f;
    while (prt_wire_next(&w, &f))
        if (f.number != PRT_ONNX_Node_attribute || !replaces(op, name_of(f.bytes)))
            prt_encode_raw(&k->encoder, f.whole.data, f.whole.size);
    while (prt_op_next_extra(op, &at, &name))
        if (is_mark(name))
            prt_encode_raw(&k->encoder, at->bytes, at->size);
    prt_encode_close(&k->encoder, mark);
    prt_encode_fail(&k->encoder, w.status);
}

static void look_for_external(marks_writer *k, prt_bytes tensor)
{
    prt_wire w = prt_onnx_open(tensor, PRT_ONNX_Tensor, 3);
    prt_field f;
    while (prt_wire_next(&w, &f))
        k->external =
            k->external || (f.number == PRT_ONNX_Tensor_data_location && f.word == EXTERNAL);
}

static void put_graph(marks_writer *k, const prt_field *graph)
{
    const prt_encode_mark mark = prt_encode_open(&k->encoder, PRT_ONNX_Model_graph);
    prt_wire w = prt_onnx_open(graph->bytes, PRT_ONNX_Graph, 2);
    prt_field f;
    while (prt_wire_next(&w, &f)) {
        if (f.number == PRT_ONNX_Graph_node) {
            put_node(k, &f);
            continue;
        }
        if (f.number == PRT_ONNX_Graph_initializer)
            look_for_external(k, f.bytes);
        prt_encode_raw(&k->encoder, f.whole.data, f.whole.size);
    }
    prt_encode_close(&k->encoder, mark);
    prt_encode_fail(&k->encoder, w.status);
}

static void put_model(marks_writer *k)
{
    const prt_blob *file = k->m->source;
    prt_wire w = prt_onnx_open((prt_bytes){ file->data, file->size }, PRT_ONNX_Model, 1);
    prt_field f;
    while (prt_wire_next(&w, &f))
        if (f.number == PRT_ONNX_Model_graph)
            put_graph(k, &f);
        else
            prt_encode_raw(&k->encoder, f.whole.data, f.whole.size);
    prt_encode_fail(&k->encoder, w.status);
}

static poprt_status write_file(marks_writer *k, const char *path)
{
    prt_file_writer *writer = NULL;
    PRT_TRY(prt_file_writer_create(k->m->allocator, path, &writer));
    prt_encode_write(&k->encoder, prt_file_writer_sink, writer);
    put_model(k);
    return prt_file_writer_finish(writer, prt_encode_end(&k->encoder));
}

poprt_status prt_onnx_write_marks(const prt_module *module, const char *path)
{
    marks_writer k = { .m = module };
    if (module->source == NULL)
        return prt_fail(POPRT_E_UNSUPPORTED, path, "the model was not read from a file");
    PRT_TRY(prt_arena_create(module->allocator, 0, &k.scratch));
    prt_encode_count(&k.encoder, k.scratch);
    put_model(&k);
    poprt_status status = prt_encode_end(&k.encoder);
    if (status == POPRT_OK && k.external)
        status = prt_fail(POPRT_E_UNSUPPORTED, path,
            "the model has weights in other files, which a copy elsewhere would not find");
    if (status == POPRT_OK && prt_encode_size(&k.encoder) > MOST_BYTES)
        status = prt_fail(POPRT_E_LIMIT, path, "with its marks the model has more than 2 GiB");
    if (status == POPRT_OK)
        status = write_file(&k, path);
    prt_arena_release(k.scratch);
    return prt_fail_in_file(prt_fail_at_stage(status, "write"), path);
}
