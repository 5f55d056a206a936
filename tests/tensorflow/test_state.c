/* SPDX-License-Identifier: MIT */
/*
 * Variables and lookup tables of SavedModels become constants and LabelEncoders (state.c,
 * op_state.c), and signatures become inputs and outputs (interface.c, read.c).
 */
#include <stdio.h>

#include "base/file.h"
#include "support/check_main.h"
#include "support/graph_text.h"
#include "support/saved_model_bytes.h"
#include "tensorflow/tensorflow.h"

static const float one_to_six[] = { 1, 2, 3, 4, 5, 6 };

static const saved_tensor tensors[] = { { .key = "a", .count = 3, .floats = one_to_six },
    { .key = "b", .count = 6, .floats = one_to_six, .columns = 2 } };

/* Two variables that the node "restore" assigns. */
#define VARIABLES                                                                                  \
    "x = Placeholder() dtype=float shape=[?,3]\n"                                                  \
    "a = VarHandleOp() dtype=float shape=[3] shared_name=\"a\"\n"                                  \
    "b = VarHandleOp() dtype=float shape=[3,2]\n"                                                  \
    "prefix = Const() value=string[]{\"p\"}\n"                                                     \
    "names = Const() value=string[2]{\"a\", \"b\"}\n"                                              \
    "slices = Const() value=string[2]{\"\", \"\"}\n"                                               \
    "values = RestoreV2(prefix, names, slices) dtypes=(float, float)\n"                            \
    "give_a = AssignVariableOp(a, values) dtype=float\n"                                           \
    "give_b = AssignVariableOp(b, values:1) dtype=float\n"                                         \
    "restore = NoOp(^give_a, ^give_b)\n"

static char warnings[2000];

static void keep_warning(void *user, const char *text)
{
    (void)user;
    (void)snprintf(warnings + strlen(warnings), sizeof(warnings) - strlen(warnings), "%s\n", text);
}

/* Reads the SavedModel of a folder; NULL if it is refused. */
static prt_module *read_folder(const char *folder, prt_tf_options options)
{
    prt_module *m = NULL;
    warnings[0] = '\0';
    options.warn = keep_warning;
    if (prt_tf_read_file(&prt_mem_libc, folder, &options, &m) != POPRT_OK)
        return NULL;
    ck_assert_int_eq(prt_ir_verify(m), POPRT_OK);
    return m;
}

/* A SavedModel of a graph with the variables, read with the options. */
static prt_module *read_graph(const char *graph, const char *inputs, const char *outputs,
    prt_tf_options options)
{
    const char *folder = saved_folder();
    msg *meta = saved_meta(graph, "serve");
    saved_signature(meta, "serving_default", inputs, outputs);
    saved_restore(meta, "restore");
    saved_model(folder, meta, NULL);
    saved_checkpoint(folder, "variables/variables", tensors, 2);
    prt_module *m = read_folder(folder, options);
    saved_remove(folder);
    return m;
}

/* A graph converts to one that gives the results of a text. */
static void assert_results(const char *graph, const char *inputs, const char *outputs,
    const char *expected)
{
    prt_module *m = read_graph(graph, inputs, outputs, (prt_tf_options){ 0 });
    ck_assert_msg(m != NULL, "%s", full_error());
    prt_graph *want = graph_from_text(expected);
    assert_same_results(m->main, want, 0, 1);
    prt_module_release(m);
    module_free(want);
}

static void assert_refused(const char *graph, const char *parts)
{
    prt_module *m = read_graph(graph, "x=x:0", "y=y:0", (prt_tf_options){ 0 });
    ck_assert_msg(m == NULL, "the model is accepted; the error should have: %s", parts);
    assert_text_has(full_error(), parts);
}

START_TEST(variables_are_constants_of_the_checkpoint)
{
    assert_results(VARIABLES "ra = ReadVariableOp(a) dtype=float\n"
                             "y = AddV2(x, ra) T=float\n"
                             "z = ReadVariableOp(b) dtype=float\n",
        "in=x:0", "sum=y:0, all=z:0",
        "in = input f32[n,3]\n"
        "a = const f32[3] {1, 2, 3}\n"
        "all = const f32[3,2] {1, 2, 3, 4, 5, 6}\n"
        "sum = add in a\n"
        "return all, sum\n");
}
END_TEST

START_TEST(checksums_of_variables_are_verified_on_request)
{
    const char *folder = saved_folder();
    const float other[9] = { 7, 7, 7 };
    msg *meta = saved_meta(VARIABLES "y = ReadVariableOp(a) dtype=float\n", "serve");
    saved_signature(meta, "serving_default", "x=x:0", "y=y:0");
    saved_restore(meta, "restore");
    saved_model(folder, meta, NULL);
    saved_checkpoint(folder, "variables/variables", tensors, 2);
    prt_module_release(read_folder(folder, (prt_tf_options){ .verify = true }));
    saved_write(folder, "variables/variables.data-00000-of-00001", other, sizeof(other));
    prt_module *m = read_folder(folder, (prt_tf_options){ 0 });
    ck_assert_msg(m != NULL, "%s", full_error());
    prt_module_release(m);
    ck_assert_ptr_null(read_folder(folder, (prt_tf_options){ .verify = true }));
    assert_text_has(full_error(), "variables.index: a: checksum");
    saved_remove(folder);
}
END_TEST

START_TEST(variables_are_known_by_their_shared_name)
{
    assert_results(VARIABLES "again = VarHandleOp() dtype=float shape=[3] shared_name=\"a\"\n"
                             "ra = ReadVariableOp(again) dtype=float\n"
                             "y = AddV2(x, ra) T=float\n",
        "x=x:0", "y=y:0",
        "x = input f32[n,3]\na = const f32[3] {1, 2, 3}\ny = add x a\nreturn y\n");
}
END_TEST

START_TEST(references_of_tensorflow_1_are_read)
{
    assert_results("x = Placeholder() dtype=float shape=[?,3]\n"
                   "v = VariableV2() dtype=float shape=[3]\n"
                   "prefix = Const() value=string[]{\"p\"}\n"
                   "names = Const() value=string[1]{\"a\"}\n"
                   "slices = Const() value=string[1]{\"\"}\n"
                   "values = RestoreV2(prefix, names, slices) dtypes=(float)\n"
                   "restore = Assign(v, values) T=float\n"
                   "read = Identity(v) T=float\n"
                   "y = AddV2(x, read) T=float\n",
        "x=x:0", "y=y:0",
        "x = input f32[n,3]\na = const f32[3] {1, 2, 3}\ny = add x a\nreturn y\n");
}
END_TEST

START_TEST(rows_and_shapes_of_variables_are_read)
{
    assert_results(VARIABLES "i = Placeholder() dtype=int32 shape=[2]\n"
                             "y = ResourceGather(b, i) dtype=float Tindices=int32\n"
                             "nd = ResourceGatherNd(b, nd_at) dtype=float Tindices=int32\n"
                             "nd_at = Const() value=int32[1,2]{2, 0}\n"
                             "shape = VariableShape(b) out_type=int32\n"
                             "set = VarIsInitializedOp(b)\n",
        "i=i:0", "a=y:0, b=nd:0, c=shape:0, d=set:0",
        "i = input i32[2]\n"
        "v = const f32[3,2] {1, 2, 3, 4, 5, 6}\n"
        "a = gather v i\n"
        "b = const f32[1] {5}\n"
        "c = const i32[2] {3, 2}\n"
        "d = const bool[] {true}\n"
        "return a, b, c, d\n");
}
END_TEST

/* Control edges say that the second read is behind the writes, and the first before. */
START_TEST(a_write_is_seen_by_later_reads_alone)
{
    static const char graph[] = VARIABLES "row = Const() value=float[3]{10, 20, 30}\n"
                                          "before = ReadVariableOp(a) dtype=float\n"
                                          "add = AssignAddVariableOp(a, row, ^before) dtype=float\n"
                                          "sub = AssignSubVariableOp(a, before, ^add) dtype=float\n"
                                          "after = ReadVariableOp(a, ^sub) dtype=float\n"
                                          "both = AddV2(before, after) T=float\n"
                                          "y = AddV2(x, both) T=float\n";
    assert_results(graph, "x=x:0", "y=y:0",
        "x = input f32[n,3]\na = const f32[3] {11, 22, 33}\ny = add x a\nreturn y\n");
    assert_text_has(warnings, "'a' kept");
}
END_TEST

START_TEST(writes_of_called_functions_are_seen)
{
    assert_results(VARIABLES "call = StatefulPartitionedCall(a, x) f=@set Tout=()\n"
                             "y = ReadVariableOp(a, ^call) dtype=float\n"
                             "outer = StatefulPartitionedCall(a, x) f=@both Tout=(float)\n"
                             "def set(v: resource, t: float) -> (^w) {\n"
                             "  w = AssignVariableOp(v, t) dtype=float\n"
                             "}\n"
                             "def both(v: resource, t: float) -> (r: float = read:value:0) {\n"
                             "  inner = StatefulPartitionedCall(v, t) f=@set Tout=()\n"
                             "  read = ReadVariableOp(v, ^inner) dtype=float\n"
                             "}\n",
        "x=x:0", "y=outer:0", "x = input f32[n,3]\ny = identity x\nreturn y\n");
}
END_TEST

START_TEST(rows_of_variables_are_written)
{
    assert_results(VARIABLES "at = Const() value=int32[2]{2, 0}\n"
                             "two = Const() value=float[2,2]{10, 20, 30, 40}\n"
                             "cell = Const() value=int32[1,2]{1, 1}\n"
                             "one = Const() value=float[1]{100}\n"
                             "w1 = ResourceScatterUpdate(b, at, two) dtype=float Tindices=int32\n"
                             "w2 = ResourceScatterSub(b, at, two, ^w1) dtype=float Tindices=int32\n"
                             "w3 = ResourceScatterNdAdd(b, cell, one, ^w2) T=float Tindices=int32\n"
                             "y = ReadVariableOp(b, ^w3) dtype=float\n",
        "x=x:0", "y=y:0",
        "x = input f32[n,3]\ny = const f32[3,2] {0, 0, 3, 104, 0, 0}\nreturn y\n");
}
END_TEST

START_TEST(wrong_variables_are_refused)
{
    assert_refused(VARIABLES "v = VarHandleOp() dtype=float shape=[3]\n"
                             "y = ReadVariableOp(v) dtype=float\n",
        "v: initialisation");
    assert_refused("x = Placeholder() dtype=float shape=[3]\n"
                   "a = VarHandleOp() dtype=float shape=[4]\n"
                   "prefix = Const() value=string[]{\"p\"}\n"
                   "names = Const() value=string[1]{\"a\"}\n"
                   "values = RestoreV2(prefix, names, names) dtypes=(float)\n"
                   "restore = AssignVariableOp(a, values) dtype=float\n"
                   "y = ReadVariableOp(a) dtype=float\n",
        "slice 'a'");
    assert_refused("x = Placeholder() dtype=float shape=[3]\n"
                   "a = VarHandleOp() dtype=float shape=[4]\n"
                   "prefix = Const() value=string[]{\"p\"}\n"
                   "names = Const() value=string[1]{\"a\"}\n"
                   "slices = Const() value=string[1]{\"\"}\n"
                   "values = RestoreV2(prefix, names, slices) dtypes=(float)\n"
                   "restore = AssignVariableOp(a, values) dtype=float\n"
                   "y = ReadVariableOp(a) dtype=float\n",
        "another type shape");
    assert_refused(VARIABLES "y = ReadVariableOp(x) dtype=float\n", "ReadVariableOp variable");
    assert_graphdef_refused(VARIABLES "y = ReadVariableOp(a) dtype=float\n",
        "ReadVariableOp 'a' SavedModel");
}
END_TEST

/* ---- tables */

/* A graph with a table, which the node "init" fills, and a SavedModel of it. */
static prt_module *read_table(const char *graph, const char *outputs, const char *vocabulary)
{
    const char *folder = saved_folder();
    msg *meta = saved_meta(graph, "serve");
    saved_signature(meta, "serving_default", "x=x:0", outputs);
    saved_initialiser(meta, "saved_model_main_op", "init");
    if (vocabulary != NULL) {
        saved_asset(meta, "file:0", "words.txt");
        saved_write(folder, "assets/words.txt", vocabulary, strlen(vocabulary));
    }
    saved_model(folder, meta, NULL);
    prt_module *m = read_folder(folder, (prt_tf_options){ 0 });
    saved_remove(folder);
    return m;
}

static void assert_table(const char *graph, const char *outputs, const char *vocabulary,
    const char *expected)
{
    prt_module *m = read_table(graph, outputs, vocabulary);
    ck_assert_msg(m != NULL, "%s", full_error());
    prt_graph *want = graph_from_text(expected);
    assert_same_results(m->main, want, 0, 1);
    prt_module_release(m);
    module_free(want);
}

/* The words stand for strings: inputs of a test are numbers. */
START_TEST(tables_of_constants_are_encoders)
{
    assert_table("x = Placeholder() dtype=int64 shape=[?]\n"
                 "t = HashTableV2() key_dtype=int64 value_dtype=int32 shared_name=\"t\"\n"
                 "keys = Const() value=int64[3]{0, 1, 3}\n"
                 "values = Const() value=int32[3]{10, 11, 13}\n"
                 "init = LookupTableImportV2(t, keys, values) Tin=int64 Tout=int32\n"
                 "none = Const() value=int32[]{-5}\n"
                 "y = LookupTableFindV2(t, x, none) Tin=int64 Tout=int32\n"
                 "size = LookupTableSizeV2(t)\n"
                 "all = LookupTableExportV2(t) Tkeys=int64 Tvalues=int32\n",
        "a=y:0, b=size:0, c=all:0, d=all:1", NULL,
        "x = input i64[n]\n"
        "w = ml_label_encoder x {keys_int64s=[0, 1, 3], values_int64s=[10, 11, 13], "
        "default_int64=-5}\n"
        "a = cast w {to=6}\n"
        "b = const i64[] {3}\n"
        "c = const i64[3] {0, 1, 3}\n"
        "d = const i32[3] {10, 11, 13}\n"
        "return a, b, c, d\n");
}
END_TEST

START_TEST(defaults_may_be_computed)
{
    assert_table("x = Placeholder() dtype=int64 shape=[]\n"
                 "t = HashTableV2() key_dtype=int64 value_dtype=int64\n"
                 "keys = Const() value=int64[2]{0, 1}\n"
                 "values = Const() value=int64[2]{10, 11}\n"
                 "init = LookupTableImportV2(t, keys, values) Tin=int64 Tout=int64\n"
                 "none = Neg(x) T=int64\n"
                 "y = LookupTableFindV2(t, x, none) Tin=int64 Tout=int64\n",
        "y=y:0", NULL,
        "x = input i64[]\n"
        "found = ml_label_encoder x {keys_int64s=[0, 1], values_int64s=[10, 11], "
        "default_int64=99}\n"
        "mark = const i64[] {99}\n"
        "absent = equal found mark\n"
        "none = neg x\n"
        "y = where absent none found\n"
        "return y\n");
}
END_TEST

START_TEST(values_may_be_floats)
{
    assert_table("x = Placeholder() dtype=int64 shape=[?]\n"
                 "t = HashTableV2() key_dtype=int64 value_dtype=float\n"
                 "keys = Const() value=int64[2]{0, 1}\n"
                 "values = Const() value=float[2]{0.5, 1.5}\n"
                 "init = LookupTableImportV2(t, keys, values) Tin=int64 Tout=float\n"
                 "none = Const() value=float[]{0.25}\n"
                 "y = LookupTableFindV2(t, x, none) Tin=int64 Tout=float\n",
        "y=y:0", NULL,
        "x = input i64[n]\n"
        "y = ml_label_encoder x {keys_int64s=[0, 1], values_floats=[0.5, 1.5], "
        "default_float=0.25}\n"
        "return y\n");
}
END_TEST

START_TEST(tables_of_rows_are_gathered)
{
    assert_table("x = Placeholder() dtype=int64 shape=[?]\n"
                 "t = MutableHashTableOfTensorsV2() key_dtype=int64 value_dtype=float\n"
                 "keys = Const() value=int64[2]{0, 1}\n"
                 "values = Const() value=float[2,2]{1, 2, 3, 4}\n"
                 "init = LookupTableImportV2(t, keys, values) Tin=int64 Tout=float\n"
                 "none = Const() value=float[2]{-1, -2}\n"
                 "y = LookupTableFindV2(t, x, none) Tin=int64 Tout=float\n",
        "y=y:0", NULL,
        "x = input i64[n]\n"
        "at = ml_label_encoder x {keys_int64s=[0, 1], values_int64s=[1, 2], default_int64=0}\n"
        "rows = const f32[3,2] {-1, -2, 1, 2, 3, 4}\n"
        "y = gather rows at\n"
        "return y\n");
}
END_TEST

START_TEST(tables_of_files_are_read)
{
    static const char graph[] =
        "x = Placeholder() dtype=int64 shape=[?]\n"
        "file = Const() value=string[]{\"assets/words.txt\"}\n"
        "t = HashTableV2() key_dtype=int64 value_dtype=int64\n"
        "init = InitializeTableFromTextFileV2(t, file) key_index=1 value_index=-1 "
        "vocab_size=2 delimiter=\",\" offset=7\n"
        "none = Const() value=int64[]{-1}\n"
        "y = LookupTableFindV2(t, x, none) Tin=int64 Tout=int64\n";
    assert_table(graph, "y=y:0", "a,0,b\r\nb,1,c\nc,2,d\n",
        "x = input i64[n]\n"
        "y = ml_label_encoder x {keys_int64s=[0, 1], values_int64s=[7, 8], default_int64=-1}\n"
        "return y\n");
    ck_assert_ptr_null(read_table(graph, "y=y:0", "a,0\nb\n"));
    assert_text_has(full_error(), "words.txt line 2 column");
    ck_assert_ptr_null(read_table(graph, "y=y:0", "a,0\n"));
    assert_text_has(full_error(), "words.txt lines");
    ck_assert_ptr_null(read_table(graph, "y=y:0", NULL));
    assert_text_has(full_error(), "asset");
}
END_TEST

START_TEST(text_tables_are_encoders)
{
    prt_module *m = read_table("x = Placeholder() dtype=string shape=[?]\n"
                               "file = Const() value=string[]{\"assets/words.txt\"}\n"
                               "t = HashTableV2() key_dtype=string value_dtype=int64\n"
                               "init = InitializeTableFromTextFileV2(t, file) key_index=-2 "
                               "value_index=-1\n"
                               "none = Const() value=int64[]{-1}\n"
                               "y = LookupTableFindV2(t, x, none) Tin=string Tout=int64\n",
        "y=y:0", "the cat\nsat\n");
    ck_assert_msg(m != NULL, "%s", full_error());
    assert_text_has(graph_text(m->main),
        "ml_label_encoder {keys_strings=[\"the cat\",sat], values_int64s=[0,1]} !default");
    prt_module_release(m);
}
END_TEST

START_TEST(tables_without_contents_are_refused)
{
    ck_assert_ptr_null(read_table("x = Placeholder() dtype=int64 shape=[?]\n"
                                  "t = HashTableV2() key_dtype=int64 value_dtype=int64\n"
                                  "init = NoOp()\n"
                                  "none = Const() value=int64[]{-1}\n"
                                  "y = LookupTableFindV2(t, x, none) Tin=int64 Tout=int64\n",
        "y=y:0", NULL));
    assert_text_has(full_error(), "t: contents");
    ck_assert_ptr_null(read_table("x = Placeholder() dtype=int64 shape=[?]\n"
                                  "init = NoOp()\n"
                                  "y = LookupTableFindV2(x, x, x) Tin=int64 Tout=int64\n",
        "y=y:0", NULL));
    assert_text_has(full_error(), "LookupTableFindV2 lookup table");
}
END_TEST

/* ---- signatures */

/* The signature is a call, as TensorFlow 2 writes it. */
#define CALL                                                                                       \
    "serve_b = Placeholder() dtype=float shape=[?,3]\n"                                            \
    "serve_a = Placeholder() dtype=float shape=[?,3]\n"                                            \
    "call = PartitionedCall(serve_b, serve_a) f=@f Tin=(float, float) Tout=(float, float)\n"       \
    "def f(second: float, first: float) -> (r: float = n:y:0, s: float = e:y:0) {\n"               \
    "  n = Neg(first) T=float\n"                                                                   \
    "  e = Exp(second) T=float\n"                                                                  \
    "}\n"

static prt_module *read_call(prt_tf_options options)
{
    const char *folder = saved_folder();
    msg *meta = saved_meta(CALL, "serve");
    saved_signature(meta, "serving_default", "a=serve_a:0, b=serve_b:0", "e=call:1, n=call:0");
    saved_model(folder, meta, NULL);
    prt_module *m = read_folder(folder, options);
    saved_remove(folder);
    return m;
}

START_TEST(a_signature_has_the_order_of_its_call)
{
    prt_module *m = read_call((prt_tf_options){ 0 });
    ck_assert_msg(m != NULL, "%s", full_error());
    const char *text = graph_text(m->main);
    ck_assert_msg(strncmp(text, "b = input", 9) == 0, "%s", text);
    assert_text_has(text, "a = input n, e");
    prt_module_release(m);
}
END_TEST

START_TEST(inputs_and_outputs_have_several_names)
{
    static const char *const names[][2] = { { "a", "n" }, { "a:0", "n:0" }, { "serve_a", "call" },
        { "serve_a:0", "call:0" }, { "first", "Identity" }, { "first:0", "Identity:0" } };
    for (size_t i = 0; i < PRT_COUNT_OF(names); i++) {
        char inputs[32];
        (void)snprintf(inputs, sizeof(inputs), "b,%s[2,3]", names[i][0]);
        prt_module *m = read_call((prt_tf_options){ .inputs = inputs, .outputs = names[i][1] });
        ck_assert_msg(m != NULL, "%s", full_error());
        assert_text_has(graph_text(m->main), "f32[2,3] neg !exp n");
        prt_module_release(m);
    }
    ck_assert_ptr_null(read_call((prt_tf_options){ .outputs = "nn" }));
    assert_text_has(full_error(), "outputs nn");
}
END_TEST

START_TEST(names_with_two_meanings_are_refused)
{
    const char *folder = saved_folder();
    msg *meta = saved_meta(CALL, "serve");
    saved_signature(meta, "serving_default", "first=serve_b:0, b=serve_a:0", "e=call:1, n=call:0");
    saved_model(folder, meta, NULL);
    ck_assert_ptr_null(read_folder(folder, (prt_tf_options){ .inputs = "first" }));
    assert_text_has(full_error(), "inputs 'first' 'b'");
    saved_remove(folder);
}
END_TEST

START_TEST(an_output_with_the_name_of_an_input_is_renamed)
{
    prt_module *m = read_graph("x = Placeholder() dtype=float shape=[2]\ny = Neg(x) T=float\n"
                               "restore = NoOp()\n",
        "v=x:0", "v=y:0", (prt_tf_options){ 0 });
    ck_assert_msg(m != NULL, "%s", full_error());
    assert_text_has(graph_text(m->main), "input neg v_1");
    assert_text_has(warnings, "'v_1'");
    prt_module_release(m);
}
END_TEST

START_TEST(an_input_may_have_a_default)
{
    const char *folder = saved_folder();
    msg *meta =
        saved_meta("x = Placeholder() dtype=float shape=[2]\ny = Neg(x) T=float\n", "serve");
    msg *signature = msg_new();
    const msg *x = msg_text(msg_new(), 1, "x:0"), *y = msg_text(msg_new(), 1, "y:0");
    const float contents[] = { 1.5F, 2.5F };
    msg *tensor = msg_int(msg_new(), 1, 1);
    (void)msg_msg(tensor, 2, msg_msg(msg_new(), 2, msg_int(msg_new(), 1, 2)));
    (void)msg_bytes(tensor, 4, contents, sizeof(contents));
    (void)msg_msg(signature, 1, msg_msg(msg_text(msg_new(), 1, "in"), 2, x));
    (void)msg_msg(signature, 2, msg_msg(msg_text(msg_new(), 1, "out"), 2, y));
    (void)msg_msg(signature, 4, msg_msg(msg_text(msg_new(), 1, "in"), 2, tensor));
    (void)msg_msg(meta, 5, msg_msg(msg_text(msg_new(), 1, "f"), 2, signature));
    saved_model(folder, meta, NULL);
    prt_module *m = read_folder(folder, (prt_tf_options){ 0 });
    saved_remove(folder);
    ck_assert_msg(m != NULL, "%s", full_error());
    assert_text_has(graph_text(m->main), "in = input f32[2] {1.5, 2.5}");
    prt_module_release(m);
}
END_TEST

START_TEST(another_kind_than_a_saved_model_is_refused_on_request)
{
    const char *folder = saved_folder();
    const msg *graph = graphdef_from_text("x = Placeholder() dtype=float shape=[2]\n"
                                          "y = Neg(x) T=float\n");
    char path[128];
    saved_write(folder, "model.pb", graph->data, graph->size);
    (void)snprintf(path, sizeof(path), "%s/model.pb", folder);
    prt_blob *file = NULL;
    ck_assert_int_eq(prt_file_map(&prt_mem_libc, path, &file), POPRT_OK);
    ck_assert(prt_tf_recognises_file(path, file));
    prt_blob_release(file);
    ck_assert_ptr_null(read_folder(path, (prt_tf_options){ .saved_model = true }));
    assert_text_has(full_error(), "model.pb: GraphDef, SavedModel");
    prt_module *m = read_folder(path, (prt_tf_options){ 0 });
    ck_assert_msg(m != NULL, "%s", full_error());
    prt_module_release(m);
    saved_remove(folder);
}
END_TEST

/* Every allocation is refused in turn: the reader returns an error and leaves nothing behind. */
START_TEST(no_allocation_failure_leaks)
{
    const char *folder = saved_folder();
    msg *meta = saved_meta(VARIABLES "row = ReadVariableOp(a) dtype=float\n"
                                     "write = AssignAddVariableOp(a, row) dtype=float\n"
                                     "after = ReadVariableOp(a, ^write) dtype=float\n"
                                     "y = AddV2(x, after) T=float\n"
                                     "t = HashTableV2() key_dtype=string value_dtype=int64\n"
                                     "keys = Const() value=string[2]{\"k\", \"l\"}\n"
                                     "numbers = Const() value=int64[2]{1, 2}\n"
                                     "init = LookupTableImportV2(t, keys, numbers)\n"
                                     "word = Placeholder() dtype=string shape=[?]\n"
                                     "none = Const() value=int64[]{-1}\n"
                                     "z = LookupTableFindV2(t, word, none)\n",
        "serve");
    saved_signature(meta, "serving_default", "x=x:0, word=word:0", "y=y:0, z=z:0");
    saved_restore(meta, "restore");
    saved_initialiser(meta, "saved_model_main_op", "init");
    saved_model(folder, meta, NULL);
    saved_checkpoint(folder, "variables/variables", tensors, 2);
    poprt_status status = POPRT_E_NOMEM;
    for (size_t n = 0; status != POPRT_OK; n++) {
        static const prt_tf_options none;
        failing f = { n, 0 };
        const prt_allocator allocator = failing_allocator(&f);
        prt_module *m = NULL;
        status = prt_tf_read_file(&allocator, folder, &none, &m);
        ck_assert_msg(status == POPRT_OK || status == POPRT_E_NOMEM, "%zu: %s", n, full_error());
        prt_module_release(m);
        ck_assert_uint_eq(f.live, 0);
        ck_assert_uint_lt(n, 10000);
    }
    saved_remove(folder);
}
END_TEST

PRT_TEST_MAIN("tensorflow/state", variables_are_constants_of_the_checkpoint,
    checksums_of_variables_are_verified_on_request, variables_are_known_by_their_shared_name,
    references_of_tensorflow_1_are_read, rows_and_shapes_of_variables_are_read,
    a_write_is_seen_by_later_reads_alone, writes_of_called_functions_are_seen,
    rows_of_variables_are_written, wrong_variables_are_refused, tables_of_constants_are_encoders,
    defaults_may_be_computed, values_may_be_floats, tables_of_rows_are_gathered,
    tables_of_files_are_read, text_tables_are_encoders, tables_without_contents_are_refused,
    a_signature_has_the_order_of_its_call, inputs_and_outputs_have_several_names,
    names_with_two_meanings_are_refused, an_output_with_the_name_of_an_input_is_renamed,
    an_input_may_have_a_default, another_kind_than_a_saved_model_is_refused_on_request,
    no_allocation_failure_leaks)
