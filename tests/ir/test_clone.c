/* SPDX-License-Identifier: MIT */
/*
 * test_clone.c — clones are equal, independent, dense, and share the bytes of constants.
 * Covers: module.c.
 */
#define _POSIX_C_SOURCE 200809L
#include "ir/build.h"
#include "support/check_main.h"
#include "support/graph_text.h"

static const char *const model = "x = input f32[n,(2*n),?]\n"
                                 "q = input seq(f32[n])\n"
                                 "c = const bool[] {true}\n"
                                 "w = const f32[2] {1, 2}\n"
                                 "s = const string[2] {\"a\", \"bc\"}\n"
                                 "y = transpose x {perm=[2,1,0]} @node\n"
                                 "d = shape x\n"
                                 "r = if c {\n"
                                 "  then_branch {\n"
                                 "    k = const f32[] {3}\n"
                                 "    t = mul y k\n"
                                 "    return t\n"
                                 "  }\n"
                                 "  else_branch {\n"
                                 "    return y\n"
                                 "  }\n"
                                 "}\n"
                                 "_, f = \"com.example.F\" r _ : ?, f32[n]\n"
                                 "return r as out, d, f, q, s\n";

static prt_module *clone_of(const prt_graph *g)
{
    prt_module *copy = NULL;
    ck_assert_int_eq(prt_ir_clone(g->module, &copy), POPRT_OK);
    ck_assert_int_eq(prt_ir_verify(copy), POPRT_OK);
    return copy;
}

START_TEST(a_clone_prints_the_same_and_outlives_its_model)
{
    prt_graph *g = graph_from_text(model);
    char *before = strdup(graph_text(g));
    prt_module *copy = clone_of(g);
    module_free(g);
    ck_assert_str_eq(graph_text(copy->main), before);
    free(before);
    prt_module_release(copy);
}
END_TEST

START_TEST(bytes_of_constants_are_shared)
{
    prt_graph *g = graph_from_text("w = const f32[2] {1, 2}\nreturn w as y\n");
    const unsigned char *bytes = g->constants.data[0]->constant->data;
    prt_module *copy = clone_of(g);
    ck_assert_ptr_eq(copy->main->constants.data[0]->constant->data, bytes);
    module_free(g);
    float first;
    memcpy(&first, copy->main->constants.data[0]->constant->data, 4);
    ck_assert(first == 1.0f);
    prt_module_release(copy);
}
END_TEST

START_TEST(erased_ops_and_unread_nameless_constants_are_left_behind)
{
    prt_graph *g = graph_from_text("x = input f32[2]\n"
                                   "%0 = const f32[2] {1, 2}\n"
                                   "a = add x %0\n"
                                   "b = mul x x\n"
                                   "return b\n");
    prt_op_erase(g->first);
    prt_module *copy = clone_of(g);
    ck_assert_uint_eq(copy->main->n_ops, 1);
    ck_assert_uint_eq(copy->main->n_values, 2);
    ck_assert_uint_eq(copy->blobs.count, 0);
    ck_assert_graph(copy->main, "x = input f32[2]\nb = mul x x\nreturn b\n");
    module_free(g);
    prt_module_release(copy);
}
END_TEST

START_TEST(editing_a_clone_leaves_the_model_alone)
{
    prt_graph *g = graph_from_text(model);
    char *before = strdup(graph_text(g));
    prt_module *copy = clone_of(g);
    prt_op *y = copy->main->first, *choice = y->next->next;
    prt_build b = prt_build_before(choice);
    prt_value *neg = prt_build_unary(&b, PRT_OP_neg, &y->out[0]);
    ck_assert_int_eq(prt_build_status(&b), POPRT_OK);
    prt_op_set_input(choice->regions[1]->ret, 0, neg);
    ck_assert_int_eq(prt_value_set_name(neg, PRT_STR("new")), POPRT_OK);
    ck_assert_str_eq(graph_text(g), before);
    free(before);
    module_free(g);
    prt_module_release(copy);
}
END_TEST

START_TEST(module_facts_and_raw_fields_come_along)
{
    static const char bytes[] = "raw";
    prt_graph *g = graph_from_text("x = input f32[2]\ny = neg x\nreturn y\n");
    prt_raw *raw = PRT_NEW(g->module->arena, prt_raw);
    prt_raw *second = PRT_NEW(g->module->arena, prt_raw);
    *second = (prt_raw){ .field = 9, .bytes = bytes, .size = 1 };
    *raw = (prt_raw){ .field = 7, .bytes = bytes, .size = 3, .next = second };
    g->first->extra = raw;
    g->module->extra = raw;
    g->module->ir_version = 10;
    ck_assert_int_eq(prt_module_set_opset(g->module, PRT_STR(""), 17), POPRT_OK);
    prt_module *copy = clone_of(g);
    module_free(g);
    ck_assert_int_eq(copy->ir_version, 10);
    ck_assert_int_eq(prt_module_opset(copy, PRT_STR("ai.onnx")), 17);
    const prt_raw *got = copy->main->first->extra;
    ck_assert_uint_eq(got->field, 7);
    ck_assert_ptr_ne(got->bytes, bytes);
    ck_assert_mem_eq(got->bytes, "raw", 3);
    ck_assert_uint_eq(got->next->field, 9);
    ck_assert_ptr_null(got->next->next);
    ck_assert_ptr_nonnull(copy->extra);
    prt_module_release(copy);
}
END_TEST

START_TEST(a_clone_runs_the_same)
{
    prt_graph *g = graph_from_text("x = input f32[4,3]\n"
                                   "w = const f32[3] {1, 2, 3}\n"
                                   "a = add x w\nb = exp a\nreturn b\n");
    prt_module *copy = clone_of(g);
    assert_same_results(g, copy->main, 0, 5);
    module_free(g);
    prt_module_release(copy);
}
END_TEST

PRT_TEST_MAIN("ir/clone", a_clone_prints_the_same_and_outlives_its_model,
    bytes_of_constants_are_shared, erased_ops_and_unread_nameless_constants_are_left_behind,
    editing_a_clone_leaves_the_model_alone, module_facts_and_raw_fields_come_along,
    a_clone_runs_the_same)
