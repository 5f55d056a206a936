/* SPDX-License-Identifier: MIT */
/*
 * GraphDefs are read: inputs and outputs, constants, functions, errors (read.c, interface.c,
 * graph.c, attr.c, convert.c, wanted.c, call.c, tensor.c, table.c, op_basic.c, op_math.c,
 * build_ops.c), and shapes are folded on the way (fold.c, evaluate.c).
 */
#include "support/check_main.h"
#include "support/graph_text.h"
#include "support/graphdef_text.h"

START_TEST(inputs_and_outputs_have_the_names_of_tensors)
{
    prt_graph *g = graphdef_convert("x = Placeholder() dtype=float shape=[?,3]\n"
                                    "c = Const() value=float[3]{1, 2, 3}\n"
                                    "y = AddV2(x, c) T=float\n");
    assert_text_has(graph_text(g), "x:0 x_0,3 add y:0");
    module_free(g);
}
END_TEST

START_TEST(constants_are_read_in_each_form)
{
    assert_graphdef_results("x = Placeholder() dtype=float shape=[3]\n"
                            "c = Const() value=float[3]{2.5}\n" /* the last value is repeated */
                            "h = Const() value=half[3]{0x3c00, 0x4000}\n"
                            "i = Const() value=int32[3]{1, -2, 3}\n"
                            "l = Const() value=int64[]{-5000000000}\n"
                            "a = AddV2(x, c) T=float\n"
                            "b = Neg(h) T=half\n"
                            "d = Abs(i) T=int32\n"
                            "e = Neg(l) T=int64\n",
        "x = input f32[3]\n"
        "c = const f32[3] {2.5, 2.5, 2.5}\n"
        "b = const f16[3] {-1, -2, -2}\n"
        "d = const i32[3] {1, 2, 3}\n"
        "e = const i64[] {5000000000}\n"
        "a = add x c\n"
        "return a, b, d, e\n",
        0);
}
END_TEST

START_TEST(functions_are_converted_for_each_call)
{
    prt_graph *g = graphdef_convert("x = Placeholder() dtype=float shape=[2]\n"
                                    "y = PartitionedCall(x) f=@twice Tin=(float) Tout=(float)\n"
                                    "z = PartitionedCall(y) f=@twice Tin=(float) Tout=(float)\n"
                                    "def twice(a: float) -> (r: float = s:z:0) {\n"
                                    "  s = AddV2(a, a) T=float\n"
                                    "}\n");
    const char *text = graph_text(g);
    const char *first = strstr(text, "= add ");
    ck_assert_ptr_nonnull(first);
    ck_assert_ptr_nonnull(strstr(first + 1, "= add "));
    module_free(g);
}
END_TEST

START_TEST(a_function_that_calls_itself_is_refused)
{
    assert_graphdef_refused("x = Placeholder() dtype=float shape=[2]\n"
                            "y = PartitionedCall(x) f=@again Tin=(float) Tout=(float)\n"
                            "def again(a: float) -> (r: float = s:output:0) {\n"
                            "  s = PartitionedCall(a) f=@again Tin=(float) Tout=(float)\n"
                            "}\n",
        "nested 64");
}
END_TEST

START_TEST(every_operator_that_cannot_be_converted_is_in_one_error)
{
    assert_graphdef_refused("x = Placeholder() dtype=float shape=[2]\n"
                            "a = MakeTea(x)\n"
                            "b = MakeTea(a)\n"
                            "c = DrinkTea(x)\n",
        "MakeTea DrinkTea 'a' 'c'");
}
END_TEST

START_TEST(results_of_calls_that_nothing_needs_are_not_converted)
{
    const prt_tf_options one = { .outputs = "call:1" };
    static const char text[] =
        "x = Placeholder() dtype=float shape=[2]\n"
        "call = PartitionedCall(x) f=@outer Tin=(float) Tout=(float, float)\n"
        "def outer(a: float) -> (r: float = same:output:0, s: float = n:y:0) {\n"
        "  inner = PartitionedCall(a) f=@inner Tin=(float) Tout=(float, float)\n"
        "  same = Identity(inner:output:0) T=float\n"
        "  n = Neg(inner:output:1) T=float\n"
        "}\n"
        "def inner(a: float) -> (r: float = tea:x:0, s: float = e:y:0) {\n"
        "  tea = MakeTea(a)\n"
        "  e = Exp(a) T=float\n"
        "}\n";
    prt_module *m = NULL;
    ck_assert_msg(graphdef_read(text, &one, &m) == POPRT_OK, "%s", last_error());
    assert_text_has(graph_text(m->main), "exp neg");
    prt_module_release(m);
    assert_graphdef_refused(text, "MakeTea");
}
END_TEST

START_TEST(a_cycle_and_a_missing_node_are_named)
{
    assert_graphdef_refused("a = Neg(b) T=float\nb = Neg(a) T=float\n"
                            "y = Neg(b) T=float\n",
        "node depends on itself");
    assert_graphdef_refused("y = Neg(nowhere) T=float\n", "nowhere 'y'");
}
END_TEST

START_TEST(names_of_inputs_and_outputs_are_chosen_by_the_caller)
{
    static const char text[] = "x = Placeholder() dtype=float\n"
                               "a = Neg(x) T=float\n"
                               "b = Exp(a) T=float\n"
                               "c = Abs(b) T=float\n";
    const prt_tf_options options = { .inputs = "a:0[2,?]", .outputs = "b,c:0" };
    const prt_tf_options wrong = { .outputs = "bb" };
    prt_module *m = NULL;
    ck_assert_msg(graphdef_read(text, &options, &m) == POPRT_OK, "%s", last_error());
    assert_text_has(graph_text(m->main), "input f32[2,a_1] exp abs !neg");
    prt_module_release(m);
    ck_assert_int_ne(graphdef_read(text, &wrong, &m), POPRT_OK);
    assert_text_has(last_error(), "outputs nearest");
}
END_TEST

START_TEST(nodes_that_control_edges_read_are_no_outputs)
{
    prt_graph *g = graphdef_convert("x = Placeholder() dtype=float shape=[2]\n"
                                    "pivot = Neg(x) T=float\n"
                                    "c = Const(^pivot) value=float[]{1.0}\n"
                                    "y = AddV2(x, c) T=float\n"
                                    "done = NoOp(^y)\n");
    assert_text_has(graph_text(g), "add y:0 !neg");
    module_free(g);
}
END_TEST

START_TEST(image_inputs_can_be_nchw)
{
    static const char text[] = "x = Placeholder() dtype=float shape=[1,4,5,3]\n"
                               "y = Relu(x) T=float\n";
    const prt_tf_options options = { .inputs_as_nchw = "x:0", .outputs_as_nchw = "y" };
    const prt_tf_options wrong = { .inputs_as_nchw = "z" };
    prt_module *m = NULL;
    ck_assert_msg(graphdef_read(text, &options, &m) == POPRT_OK, "%s", last_error());
    assert_text_has(graph_text(m->main), "f32[1,3,4,5] relu");
    prt_module_release(m);
    ck_assert_int_ne(graphdef_read(text, &wrong, &m), POPRT_OK);
    assert_text_has(last_error(), "'z'");
}
END_TEST

/* Each byte of a model is damaged in turn: the reader accepts or refuses it, without a fault. */
START_TEST(damaged_models_are_no_danger)
{
    static const unsigned char values[] = { 0, 1, 0x7f, 0x80, 0xff };
    const msg *graph = graphdef_from_text("x = Placeholder() dtype=float shape=[?,3]\n"
                                          "c = Const() value=float[3]{1, 2, 3}\n"
                                          "y = AddV2(x, c) T=float\n"
                                          "z = PartitionedCall(y) f=@f Tin=(float) Tout=(float)\n"
                                          "def f(a: float) -> (r: float = s:z:0) {\n"
                                          "  s = Mul(a, a) T=float\n"
                                          "}\n");
    unsigned char *bytes = malloc(graph->size);
    static const prt_tf_options none;
    ck_assert_ptr_nonnull(bytes);
    for (size_t i = 0; i < graph->size; i++)
        for (size_t k = 0; k < sizeof(values); k++) {
            prt_blob *blob = NULL;
            prt_module *m = NULL;
            memcpy(bytes, graph->data, graph->size);
            bytes[i] = values[k];
            ck_assert_int_eq(prt_blob_borrow(&prt_mem_libc, bytes, graph->size, NULL, NULL, &blob),
                POPRT_OK);
            if (prt_tf_read_bytes(&prt_mem_libc, blob, "damaged", &none, &m) == POPRT_OK) {
                ck_assert_int_eq(prt_ir_verify(m), POPRT_OK);
                prt_module_release(m);
            }
            prt_blob_release(blob);
        }
    free(bytes);
}
END_TEST

PRT_TEST_MAIN("tensorflow/read", inputs_and_outputs_have_the_names_of_tensors,
    constants_are_read_in_each_form, functions_are_converted_for_each_call,
    a_function_that_calls_itself_is_refused,
    every_operator_that_cannot_be_converted_is_in_one_error,
    results_of_calls_that_nothing_needs_are_not_converted, a_cycle_and_a_missing_node_are_named,
    names_of_inputs_and_outputs_are_chosen_by_the_caller,
    nodes_that_control_edges_read_are_no_outputs, image_inputs_can_be_nchw,
    damaged_models_are_no_danger)
