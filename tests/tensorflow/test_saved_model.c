/* SPDX-License-Identifier: MIT */
/*
 * SavedModels and checkpoints with graphs are described: the choice of a graph and signature, and
 * where the contents of variables and tables are (saved_model.c, saved_checkpoint.c,
 * saved_objects.c, saved_effects.c, saved_resolve.c, saved_contents.c).
 */
#include <stdio.h>

#include "support/check_main.h"
#include "support/graph_text.h"
#include "support/saved_model_bytes.h"
#include "tensorflow/saved_model.h"

static prt_arena *arena;

/* Opens the model of a folder; NULL if it is refused. */
static prt_saved_model *open_model(const char *folder, const char *tags, const char *signature)
{
    const prt_saved_choice choice = { tags, signature };
    prt_saved_model *m = NULL;
    if (arena == NULL)
        ck_assert_int_eq(prt_arena_create(&prt_mem_libc, 0, &arena), POPRT_OK);
    return prt_saved_model_open(arena, folder, &choice, &m) == POPRT_OK ? m : NULL;
}

static void close_model(prt_saved_model *m)
{
    prt_saved_model_close(m);
    prt_arena_release(arena);
    arena = NULL;
}

static prt_tf_graph *graph_of(prt_saved_model *m)
{
    prt_tf_graph *graph = PRT_NEW(arena, prt_tf_graph);
    ck_assert_msg(prt_tf_graph_read(arena, m->graph_def, m->graph_depth, graph) == POPRT_OK, "%s",
        full_error());
    return graph;
}

/* Reads the graph of the model and resolves the resources. */
static prt_tf_graph *resolve(prt_saved_model *m)
{
    prt_tf_graph *graph = graph_of(m);
    ck_assert_msg(prt_saved_model_resolve(m, graph) == POPRT_OK, "%s", full_error());
    return graph;
}

static const prt_saved_resource *find(prt_saved_model *m, const prt_tf_graph *graph,
    const char *name)
{
    const prt_saved_resource *r = NULL;
    const prt_tf_node *node = prt_map_find(&graph->main.names, prt_str_of(name));
    ck_assert_msg(node != NULL, "no node %s", name);
    return prt_saved_resource_find(m, node, &r) == POPRT_OK ? r : NULL;
}

/* ---- files of TensorFlow */

/* Every variable that the signature's call reads has contents of its type and shape. */
START_TEST(captures_of_a_call_are_found)
{
    prt_saved_model *m = open_model(PRT_TEST_DATA "/tensorflow/variables", NULL, NULL);
    ck_assert_msg(m != NULL, "%s", full_error());
    ck_assert(prt_str_is(m->signature, "serving_default"));
    prt_tf_graph *graph = resolve(m);
    const prt_tf_node *call = NULL;
    prt_tf_edge edge;
    uint32_t found = 0;
    ck_assert(prt_tf_find_tensor(graph, &graph->main, m->outputs.data[0].tensor, &edge));
    call = &graph->main.nodes[edge.node];
    for (uint32_t i = 0; i < call->n_in; i++) {
        const prt_tf_node *node = &graph->main.nodes[call->in[i].node];
        const prt_saved_resource *r;
        prt_tensor t;
        prt_blob *blob;
        if (!prt_str_is(node->op, "VarHandleOp"))
            continue;
        ck_assert_int_eq(prt_saved_resource_find(m, node, &r), POPRT_OK);
        ck_assert_int_eq(prt_saved_variable_read(m, r, true, &t, &blob), POPRT_OK);
        ck_assert_uint_eq(t.size, blob->size);
        prt_blob_release(blob);
        found++;
    }
    ck_assert_uint_ge(found, 4);
    close_model(m);
}
END_TEST

/* One table has the lines of the file as keys, its name in a variable; the other has constants. */
START_TEST(a_table_of_an_asset_is_found)
{
    prt_saved_model *m = open_model(PRT_TEST_DATA "/tensorflow/table_asset", "serve", NULL);
    prt_tensor keys, values;
    ck_assert_msg(m != NULL, "%s", full_error());
    prt_tf_graph *graph = resolve(m);
    const prt_saved_resource *lines = find(m, graph, "hash_table_1");
    const prt_saved_resource *numbers = find(m, graph, "hash_table");
    ck_assert(lines != NULL && numbers != NULL);
    ck_assert_ptr_nonnull(lines->table);
    ck_assert_str_eq(lines->table->file, "assets/vocab.txt");
    ck_assert_int_eq(prt_saved_table_read(m, lines->table, PRT_DTYPE_string, PRT_DTYPE_i64, &keys,
                         &values),
        POPRT_OK);
    ck_assert_int_eq(keys.dims[0], 5);
    ck_assert_uint_gt(((const poprt_string *)keys.data)[4].size, 0);
    ck_assert_int_eq(((const int64_t *)values.data)[4], 4);
    ck_assert_ptr_nonnull(numbers->table);
    ck_assert_ptr_null(numbers->table->file);
    ck_assert_uint_gt(numbers->table->keys.size, 0);
    ck_assert_uint_gt(numbers->table->values.size, 0);
    close_model(m);
}
END_TEST

START_TEST(a_checkpoint_has_several_names)
{
    static const char *const paths[] = { PRT_TEST_DATA "/tensorflow/checkpoint",
        PRT_TEST_DATA "/tensorflow/checkpoint/model",
        PRT_TEST_DATA "/tensorflow/checkpoint/model.meta",
        PRT_TEST_DATA "/tensorflow/checkpoint/model.index" };
    for (size_t i = 0; i < PRT_COUNT_OF(paths); i++) {
        prt_saved_model *m = NULL;
        prt_tensor t;
        prt_blob *blob;
        ck_assert_int_eq(prt_arena_create(&prt_mem_libc, 0, &arena), POPRT_OK);
        ck_assert_msg(prt_saved_checkpoint_open(arena, paths[i], &m) == POPRT_OK, "%s",
            full_error());
        prt_tf_graph *graph = resolve(m);
        const prt_saved_resource *part = find(m, graph, "net/w/part_1");
        ck_assert_ptr_nonnull(part);
        ck_assert(prt_str_is(part->key, "net/w"));
        ck_assert_ptr_nonnull(part->part);
        ck_assert_int_eq(part->part->start[0], 2);
        ck_assert_int_eq(prt_saved_variable_read(m, part, true, &t, &blob), POPRT_OK);
        ck_assert_int_eq(t.dims[0], 2);
        ck_assert_int_eq(t.dims[1], 8);
        prt_blob_release(blob);
        ck_assert_ptr_nonnull(find(m, graph, "b"));
        ck_assert_ptr_nonnull(find(m, graph, "o"));
        close_model(m);
    }
}
END_TEST

/* ---- choices */

static const char graph_x[] = "x = Placeholder() dtype=float shape=[2]\ny = Neg(x) T=float\n";
static const char graph_z[] = "z = Placeholder() dtype=float shape=[2]\nu = Neg(z) T=float\n";

static const char *input_of(const char *folder, const char *tags)
{
    static char name[32];
    prt_saved_model *m = open_model(folder, tags, NULL);
    if (m == NULL)
        return "";
    (void)snprintf(name, sizeof(name), "%.*s", PRT_STR_ARG(m->inputs.data[0].tensor));
    close_model(m);
    return name;
}

START_TEST(a_meta_graph_is_chosen_by_its_tags)
{
    const char *folder = saved_folder();
    msg *first = saved_meta(graph_x, "serve,tpu"), *second = saved_meta(graph_z, "serve");
    saved_signature(first, "f", "a=x:0", "b=y:0");
    saved_signature(second, "f", "a=z:0", "b=u:0");
    saved_model(folder, first, second);
    ck_assert_str_eq(input_of(folder, NULL), "z:0");
    ck_assert_str_eq(input_of(folder, "serve"), "z:0");
    ck_assert_str_eq(input_of(folder, "tpu, serve"), "x:0");
    ck_assert_str_eq(input_of(folder, "serve,tpu"), "x:0");
    ck_assert_str_eq(input_of(folder, "train"), "");
    assert_text_has(full_error(), "train 'serve,tpu', 'serve'");
    ck_assert_str_eq(input_of(folder, ""), "");
    saved_model(folder, second, first);
    ck_assert_str_eq(input_of(folder, "serve"), "z:0");
    msg *untagged = saved_meta(graph_x, "");
    saved_signature(untagged, "f", "a=x:0", "b=y:0");
    saved_model(folder, untagged, second);
    ck_assert_str_eq(input_of(folder, ""), "x:0");
    saved_model(folder, untagged, NULL);
    ck_assert_str_eq(input_of(folder, NULL), "x:0");
    ck_assert_str_eq(input_of(folder, "serve"), "");
    saved_remove(folder);
}
END_TEST

static void assert_signature(const char *folder, const char *wanted, const char *chosen)
{
    prt_saved_model *m = open_model(folder, NULL, wanted);
    ck_assert_msg(m != NULL, "%s", full_error());
    ck_assert(prt_str_is(m->signature, chosen));
    close_model(m);
}

START_TEST(a_signature_is_chosen_by_its_name)
{
    const char *folder = saved_folder();
    msg *meta = saved_meta(graph_x, "serve");
    saved_signature(meta, "__saved_model_init_op", "", "out=y:0");
    saved_model(folder, meta, NULL);
    ck_assert_ptr_null(open_model(folder, NULL, NULL));
    assert_text_has(full_error(), "signature");
    saved_signature(meta, "encode", "a=x:0", "b=y:0");
    saved_model(folder, meta, NULL);
    assert_signature(folder, NULL, "encode");
    saved_signature(meta, "decode", "a=x:0", "b=y:0");
    saved_model(folder, meta, NULL);
    ck_assert_ptr_null(open_model(folder, NULL, NULL));
    assert_text_has(full_error(), "encode, decode !init_op");
    assert_signature(folder, "decode", "decode");
    ck_assert_ptr_null(open_model(folder, NULL, "encoder"));
    assert_text_has(full_error(), "encoder nearest encode");
    saved_signature(meta, "serving_default", "a=x:0", "b=y:0");
    saved_model(folder, meta, NULL);
    assert_signature(folder, NULL, "serving_default");
    saved_remove(folder);
}
END_TEST

/* A sparse tensor is three tensors of the graph, and a composite one has those of its parts. */
START_TEST(composite_tensors_are_several_inputs)
{
    static const char *const names[] = { "c/0", "c/1", "s/indices", "s/shape", "s/values" };
    const char *folder = saved_folder();
    msg *sparse = msg_text(msg_new(), PRT_TF_CooSparse_values, "v:0"), *signature = msg_new();
    (void)msg_text(sparse, PRT_TF_CooSparse_indices, "i:0");
    (void)msg_text(sparse, PRT_TF_CooSparse_dense_shape, "d:0");
    msg *parts = msg_new();
    (void)msg_msg(parts, PRT_TF_CompositeTensor_components, msg_text(msg_new(), 1, "p:0"));
    (void)msg_msg(parts, PRT_TF_CompositeTensor_components, msg_text(msg_new(), 1, "q:0"));
    const msg *s = msg_msg(msg_new(), PRT_TF_TensorInfo_coo_sparse, sparse);
    const msg *c = msg_msg(msg_new(), PRT_TF_TensorInfo_composite_tensor, parts);
    const msg *y = msg_text(msg_new(), PRT_TF_TensorInfo_name, "y:0");
    (void)msg_msg(signature, PRT_TF_Signature_inputs, msg_msg(msg_text(msg_new(), 1, "s"), 2, s));
    (void)msg_msg(signature, PRT_TF_Signature_inputs, msg_msg(msg_text(msg_new(), 1, "c"), 2, c));
    (void)msg_msg(signature, PRT_TF_Signature_outputs, msg_msg(msg_text(msg_new(), 1, "y"), 2, y));
    msg *meta = saved_meta("v = Placeholder() dtype=float shape=[?]\n"
                           "i = Placeholder() dtype=int64 shape=[?,2]\n"
                           "d = Placeholder() dtype=int64 shape=[2]\n"
                           "p = Placeholder() dtype=float shape=[?]\n"
                           "q = Placeholder() dtype=int64 shape=[?]\n"
                           "y = Neg(v) T=float\n",
        "serve");
    (void)msg_msg(meta, PRT_TF_MetaGraph_signature_def,
        msg_msg(msg_text(msg_new(), 1, "f"), 2, signature));
    saved_model(folder, meta, NULL);
    prt_saved_model *m = open_model(folder, NULL, NULL);
    ck_assert_msg(m != NULL, "%s", full_error());
    (void)resolve(m);
    ck_assert_uint_eq(m->inputs.count, PRT_COUNT_OF(names));
    for (size_t i = 0; i < m->inputs.count; i++)
        ck_assert(prt_str_is(m->inputs.data[i].name, names[i]));
    ck_assert(prt_str_is(m->inputs.data[3].tensor, "d:0"));
    close_model(m);
    saved_remove(folder);
}
END_TEST

START_TEST(folders_of_other_forms_are_explained)
{
    const char *folder = saved_folder();
    ck_assert_ptr_null(open_model(folder, NULL, NULL));
    assert_text_has(full_error(), "saved_model.pb");
    saved_write(folder, "saved_model.pbtxt", "x", 1);
    ck_assert_ptr_null(open_model(folder, NULL, NULL));
    assert_text_has(full_error(), "text binary");
    saved_remove(folder);
    folder = saved_folder();
    saved_write(folder, "saved_model.cpb", "x", 1);
    ck_assert_ptr_null(open_model(folder, NULL, NULL));
    assert_text_has(full_error(), "chunks");
    saved_write(folder, "saved_model.pb", "\x08\x01", 2);
    ck_assert_ptr_null(open_model(folder, NULL, NULL));
    assert_text_has(full_error(), "no graphs");
    saved_remove(folder);
}
END_TEST

static void assert_no_checkpoint(const char *path, const char *parts)
{
    prt_saved_model *m = NULL;
    ck_assert_int_eq(prt_arena_create(&prt_mem_libc, 0, &arena), POPRT_OK);
    ck_assert_int_ne(prt_saved_checkpoint_open(arena, path, &m), POPRT_OK);
    assert_text_has(full_error(), parts);
    prt_arena_release(arena);
    arena = NULL;
}

START_TEST(incomplete_checkpoints_are_explained)
{
    static const float ones[] = { 1, 1 };
    const saved_tensor tensor = { .key = "v", .count = 2, .floats = ones };
    const msg *meta = saved_meta(graph_x, "");
    const char *folder = saved_folder();
    char path[128];
    (void)snprintf(path, sizeof(path), "%s/p", folder);
    assert_no_checkpoint(folder, "meta");
    saved_checkpoint(folder, "p", &tensor, 1);
    assert_no_checkpoint(folder, "weights");
    assert_no_checkpoint(path, "weights .meta");
    saved_write(folder, "p.meta", meta->data, meta->size);
    saved_write(folder, "q.meta", meta->data, meta->size);
    assert_no_checkpoint(folder, "p.meta q.meta");
    (void)snprintf(path, sizeof(path), "%s/q", folder);
    assert_no_checkpoint(path, "q.index");
    saved_write(folder, "old", "x", 1);
    (void)snprintf(path, sizeof(path), "%s/old", folder);
    assert_no_checkpoint(path, "1.0");
    saved_remove(folder);
}
END_TEST

/* ---- variables */

static const float numbers[] = { 1, 2, 3, 4, 5, 6 };

/* A SavedModel whose variable v is restored by this slice of a tensor of shape [3, 2]. */
static prt_saved_model *open_slice(const char *folder, const char *slice)
{
    static const saved_tensor tensor = { .key = "t", .count = 6, .floats = numbers, .columns = 2 };
    char graph[800];
    (void)snprintf(graph, sizeof(graph),
        "%sv = VarHandleOp() dtype=float shape=[*]\n"
        "prefix = Const() value=string[]{\"p\"}\n"
        "names = Const() value=string[1]{\"t\"}\n"
        "slices = Const() value=string[1]{\"%s\"}\n"
        "values = RestoreV2(prefix, names, slices) dtypes=(float)\n"
        "same = Identity(values) T=float\n"
        "restore = StatefulPartitionedCall(v, same) f=@give Tin=(resource, float) Tout=()\n"
        "def give(to: resource, from: float) -> () {\n"
        "  set = AssignVariableOp(to, from) dtype=float\n"
        "}\n",
        graph_x, slice);
    msg *meta = saved_meta(graph, "serve");
    saved_signature(meta, "serving_default", "x=x:0", "y=y:0");
    saved_restore(meta, "restore");
    saved_model(folder, meta, NULL);
    saved_checkpoint(folder, "variables/variables", &tensor, 1);
    return open_model(folder, NULL, NULL);
}

START_TEST(the_restore_graph_is_followed)
{
    const char *folder = saved_folder();
    prt_saved_model *m = open_slice(folder, "3 2 1,2:-");
    ck_assert_msg(m != NULL, "%s", full_error());
    prt_tf_graph *graph = resolve(m);
    const prt_saved_resource *v = find(m, graph, "v");
    prt_tensor t;
    prt_blob *blob;
    ck_assert_ptr_nonnull(v);
    ck_assert_int_eq(prt_saved_variable_read(m, v, true, &t, &blob), POPRT_OK);
    ck_assert_uint_eq(t.rank, 2);
    ck_assert_int_eq(t.dims[0], 2);
    ck_assert_int_eq(t.dims[1], 2);
    ck_assert_mem_eq(blob->data, numbers + 2, 16);
    prt_blob_release(blob);
    close_model(m);
    saved_remove(folder);
}
END_TEST

START_TEST(malformed_slices_are_refused)
{
    static const char *const slices[] = { "3", "3 2", "3 2 -", "3 2 1:-", "3 2 1,2:-:-", "3 2 x",
        "3 2 1,2:-x", " 0,1", "99999999999999999999 2 -:-" };
    const char *folder = saved_folder();
    for (size_t i = 0; i < PRT_COUNT_OF(slices); i++) {
        prt_saved_model *m = open_slice(folder, slices[i]);
        ck_assert_msg(m != NULL, "%s", full_error());
        ck_assert_ptr_null(find(m, resolve(m), "v"));
        assert_text_has(full_error(), "slice 'v'");
        close_model(m);
    }
    /* A part that is not in the tensor is found when it is read. */
    prt_saved_model *m = open_slice(folder, "9 2 7,2:-");
    const prt_saved_resource *v = find(m, resolve(m), "v");
    prt_tensor t;
    prt_blob *blob;
    ck_assert_ptr_nonnull(v);
    ck_assert_int_ne(prt_saved_variable_read(m, v, true, &t, &blob), POPRT_OK);
    close_model(m);
    saved_remove(folder);
}
END_TEST

/* ---- object graphs */

static const msg *child(int64_t id, const char *name)
{
    return msg_text(msg_int(msg_new(), PRT_TF_ObjectReference_node_id, id),
        PRT_TF_ObjectReference_local_name, name);
}

/* A SavedObjectGraph: the root has children "deep" (1), which has the variable "w" (2), and "v",
 * the variable 3. The function f captures 3 and then 2. */
static const msg *saved_objects(const char *captures, size_t n)
{
    const msg *variable = msg_msg(msg_new(), PRT_TF_SavedObject_variable, msg_new());
    msg *root = msg_msg(msg_new(), PRT_TF_SavedObject_children, child(1, "deep"));
    (void)msg_msg(root, PRT_TF_SavedObject_children, child(3, "v"));
    const msg *deep = msg_msg(msg_new(), PRT_TF_SavedObject_children, child(2, "w"));
    const msg *f = msg_bytes(msg_new(), PRT_TF_SavedConcreteFunction_bound_inputs, captures, n);
    msg *graph = msg_new();
    (void)msg_msg(graph, PRT_TF_SavedObjectGraph_nodes, root);
    (void)msg_msg(graph, PRT_TF_SavedObjectGraph_nodes, deep);
    (void)msg_msg(graph, PRT_TF_SavedObjectGraph_nodes, variable);
    (void)msg_msg(graph, PRT_TF_SavedObjectGraph_nodes, variable);
    return msg_msg(graph, PRT_TF_SavedObjectGraph_concrete_functions,
        msg_msg(msg_text(msg_new(), 1, "f"), 2, f));
}

static const msg *stored(const char *key)
{
    msg *tensor = msg_text(msg_new(), PRT_TF_SerializedTensor_name, "VARIABLE_VALUE");
    return msg_msg(msg_new(), PRT_TF_TrackableObject_attributes,
        msg_text(tensor, PRT_TF_SerializedTensor_checkpoint_key, key));
}

/* The checkpoint's graph of the same objects with other numbers: v is 1, deep 2, w 3. */
static const char *tracked_objects(void)
{
    msg *root = msg_msg(msg_new(), PRT_TF_TrackableObject_children, child(2, "deep"));
    (void)msg_msg(root, PRT_TF_TrackableObject_children, child(1, "v"));
    const msg *deep = msg_msg(msg_new(), PRT_TF_TrackableObject_children, child(3, "w"));
    msg *graph = msg_msg(msg_new(), PRT_TF_TrackableObjectGraph_nodes, root);
    (void)msg_msg(graph, PRT_TF_TrackableObjectGraph_nodes, stored("key-v"));
    (void)msg_msg(graph, PRT_TF_TrackableObjectGraph_nodes, deep);
    (void)msg_msg(graph, PRT_TF_TrackableObjectGraph_nodes, stored("key-w"));
    ck_assert_ptr_null(memchr(graph->data, 0, graph->size));
    return (const char *)msg_raw(graph, "", 1)->data;
}

static prt_saved_model *open_objects(const char *folder, const char *captures, size_t n)
{
    static const char text[] =
        "x = Placeholder() dtype=float shape=[2]\n"
        "one = VarHandleOp() dtype=float shape=[2]\n"
        "two = VarHandleOp() dtype=float shape=[3]\n"
        "y = StatefulPartitionedCall(x, one, two) f=@f Tin=(float, resource, resource) "
        "Tout=(float)\n"
        "def f(a: float, b: resource, c: resource) -> (r: float = n:y:0) {\n"
        "  n = Neg(a) T=float\n"
        "}\n";
    const char *objects = tracked_objects();
    const saved_tensor tensors[] = {
        { .key = "_CHECKPOINTABLE_OBJECT_GRAPH", .count = 1, .texts = &objects, .scalar = true },
        { .key = "key-v", .count = 2, .floats = numbers },
        { .key = "key-w", .count = 3, .floats = numbers }
    };
    msg *meta = saved_meta(text, "serve");
    saved_signature(meta, "serving_default", "x=x:0", "y=y:0");
    (void)msg_msg(meta, PRT_TF_MetaGraph_object_graph_def, saved_objects(captures, n));
    saved_model(folder, meta, NULL);
    saved_checkpoint(folder, "variables/variables", tensors, 3);
    return open_model(folder, NULL, NULL);
}

START_TEST(objects_are_matched_by_the_names_of_children)
{
    const char *folder = saved_folder();
    prt_saved_model *m = open_objects(folder, "\x03\x02", 2);
    ck_assert_msg(m != NULL, "%s", full_error());
    prt_tf_graph *graph = resolve(m);
    const prt_saved_resource *one = find(m, graph, "one"), *two = find(m, graph, "two");
    ck_assert(one != NULL && two != NULL);
    ck_assert(prt_str_is(one->key, "key-v"));
    ck_assert(prt_str_is(two->key, "key-w"));
    close_model(m);
    saved_remove(folder);
}
END_TEST

/* Looks up every node as a resource; returns the number of those with contents. */
static size_t find_all(prt_saved_model *m, const prt_tf_graph *graph)
{
    const prt_saved_resource *r;
    size_t found = 0;
    for (uint32_t i = 0; i < graph->main.n_nodes; i++)
        found += prt_saved_resource_find(m, &graph->main.nodes[i], &r) == POPRT_OK;
    return found;
}

START_TEST(other_variables_are_found_by_the_restore_graph)
{
    prt_saved_model *m = open_model(PRT_TEST_DATA "/tensorflow/variables", NULL, NULL);
    ck_assert_msg(m != NULL, "%s", full_error());
    prt_tf_graph *graph = resolve(m);
    m->by_node = prt_map_in(arena); /* as if nothing was captured */
    ck_assert_uint_ge(find_all(m, graph), 4);
    close_model(m);
}
END_TEST

START_TEST(wrong_captures_are_refused)
{
    const char *folder = saved_folder();
    prt_saved_model *m = open_objects(folder, "\x03\x09", 2);
    ck_assert_int_ne(prt_saved_model_resolve(m, graph_of(m)), POPRT_OK);
    assert_text_has(full_error(), "object 9");
    close_model(m);
    m = open_objects(folder, "\x03\x03\x03\x03", 4);
    ck_assert_int_ne(prt_saved_model_resolve(m, graph_of(m)), POPRT_OK);
    assert_text_has(full_error(), "'y' captures 4");
    close_model(m);
    /* An object without contents is no error before it is read. */
    m = open_objects(folder, "\x01\x02", 2);
    ck_assert_ptr_null(find(m, resolve(m), "one"));
    assert_text_has(full_error(), "one: contents");
    close_model(m);
    saved_remove(folder);
}
END_TEST

/* ---- damage */

/* Each byte of a SavedModel is damaged in turn: it is accepted or refused, without a fault. */
START_TEST(damaged_models_are_no_danger)
{
    static const char values[] = { 0, 1, 0x7f };
    const char *folder = saved_folder();
    prt_saved_model *m = open_objects(folder, "\x03\x02", 2);
    ck_assert_ptr_nonnull(m);
    const size_t size = m->file->size;
    unsigned char *bytes = malloc(size);
    ck_assert_ptr_nonnull(bytes);
    memcpy(bytes, m->file->data, size);
    close_model(m);
    size_t accepted = 0;
    for (size_t i = 0; i < size; i++)
        for (size_t k = 0; k < sizeof(values); k++) {
            const unsigned char before = bytes[i];
            prt_tf_graph graph;
            bytes[i] = (unsigned char)values[k];
            saved_write(folder, "saved_model.pb", bytes, size);
            bytes[i] = before;
            m = open_model(folder, NULL, NULL);
            if (m != NULL &&
                prt_tf_graph_read(arena, m->graph_def, m->graph_depth, &graph) == POPRT_OK &&
                prt_saved_model_resolve(m, &graph) == POPRT_OK)
                accepted += find_all(m, &graph);
            close_model(m);
        }
    ck_assert_uint_gt(accepted, 0);
    free(bytes);
    saved_remove(folder);
}
END_TEST

PRT_TEST_MAIN("tensorflow/saved_model", captures_of_a_call_are_found, a_table_of_an_asset_is_found,
    a_checkpoint_has_several_names, a_meta_graph_is_chosen_by_its_tags,
    a_signature_is_chosen_by_its_name, composite_tensors_are_several_inputs,
    folders_of_other_forms_are_explained, incomplete_checkpoints_are_explained,
    the_restore_graph_is_followed, malformed_slices_are_refused,
    objects_are_matched_by_the_names_of_children, other_variables_are_found_by_the_restore_graph,
    wrong_captures_are_refused, damaged_models_are_no_danger)
