/* SPDX-License-Identifier: MIT */
/* test_deadend.c — eliminate_deadend. */
#include "support/check_main.h"
#include "support/graph_text.h"

static void assert_rewrites(const char *before, const char *after)
{
    prt_graph *g = graph_from_text(before);
    ck_assert(run_pass(g, "eliminate_deadend", NULL));
    ck_assert_graph(g, after);
    ck_assert(!run_pass(g, "eliminate_deadend", NULL));
    module_free(g);
}

START_TEST(unread_chains_are_removed)
{
    assert_rewrites("x = input f32[2]\ny = exp x\na = neg x\nb = exp a\nc = add a b\nreturn y\n",
        "x = input f32[2]\ny = exp x\nreturn y\n");
}
END_TEST

START_TEST(one_result_that_is_read_keeps_the_rest)
{
    prt_graph *g = graph_from_text("x = input f32[4]\na, b = split x {axis=0}\nreturn b\n");
    ck_assert(!run_pass(g, "eliminate_deadend", NULL));
    module_free(g);
}
END_TEST

START_TEST(bodies_count_as_readers_and_are_swept)
{
    assert_rewrites("c = input bool[]\nx = input f32[2]\na = neg x\nb = abs x\n"
                    "y = if c {\n  then_branch { t = exp a; u = neg t; return t }\n"
                    "  else_branch { v = exp x; return v }\n}\n"
                    "z = if c {\n  then_branch { r = exp b; return r }\n"
                    "  else_branch { s = neg b; return s }\n}\nreturn y\n",
        "c = input bool[]\nx = input f32[2]\na = neg x\n"
        "y = if c {\n  then_branch { t = exp a; return t }\n"
        "  else_branch { v = exp x; return v }\n}\nreturn y\n");
}
END_TEST

START_TEST(operators_with_effects_stay)
{
    prt_graph *g = graph_from_text("x = input f32[4]\ny = exp x\na = gc_print_tensor x\n"
                                   "return y\n");
    ck_assert(!run_pass(g, "eliminate_deadend", NULL));
    module_free(g);
}
END_TEST

PRT_TEST_MAIN("pass/clean/deadend", unread_chains_are_removed,
    one_result_that_is_read_keeps_the_rest, bodies_count_as_readers_and_are_swept,
    operators_with_effects_stay)
