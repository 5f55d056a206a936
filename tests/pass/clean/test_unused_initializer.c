/* SPDX-License-Identifier: MIT */
/* test_unused_initializer.c — eliminate_unused_initializer. */
#include "support/check_main.h"
#include "support/graph_text.h"

START_TEST(unread_constants_go_and_read_ones_stay)
{
    prt_graph *g = graph_from_text("c = input bool[]\nx = input f32[2]\n"
                                   "a = const f32[2] {1, 2}\n"
                                   "b = const f32[2] {3, 4}\n"
                                   "d = const f32[2] {5, 6}\n"
                                   "e = const f32[2] {7, 8}\n"
                                   "r = if c {\n"
                                   "  then_branch { u = const f32[] {1}; t = add x b; return t }\n"
                                   "  else_branch { return x }\n"
                                   "}\nreturn r, d\n");
    const size_t blobs = g->module->blobs.count;
    ck_assert(run_pass(g, "eliminate_unused_initializer", NULL));
    ck_assert_uint_eq(g->module->blobs.count, blobs - 3);
    ck_assert_graph(g,
        "c = input bool[]\nx = input f32[2]\n"
        "b = const f32[2] {3, 4}\n"
        "d = const f32[2] {5, 6}\n"
        "r = if c {\n"
        "  then_branch { t = add x b; return t }\n"
        "  else_branch { return x }\n"
        "}\nreturn r, d\n");
    ck_assert(!run_pass(g, "eliminate_unused_initializer", NULL));
    module_free(g);
}
END_TEST

START_TEST(inputs_with_a_default_go_when_unread)
{
    prt_graph *g = graph_from_text("u = input f32[2] {1, 2}\n"
                                   "x = input f32[2]\n"
                                   "v = input f32[2] {1, 2}\n"
                                   "w = input f32[2]\n"
                                   "y = add x v\nreturn y\n");
    ck_assert(run_pass(g, "eliminate_unused_initializer", NULL));
    ck_assert_graph(g,
        "x = input f32[2]\nv = input f32[2] {1, 2}\nw = input f32[2]\n"
        "y = add x v\nreturn y\n");
    ck_assert(!run_pass(g, "eliminate_unused_initializer", NULL));
    module_free(g);
}
END_TEST

PRT_TEST_MAIN("pass/clean/unused_initializer", unread_constants_go_and_read_ones_stay,
    inputs_with_a_default_go_when_unread)
