/* SPDX-License-Identifier: MIT */
/* test_identity.c — eliminate_identity. */
#include "support/check_main.h"
#include "support/graph_text.h"

static void assert_rewrites(const char *before, const char *after)
{
    prt_graph *g = graph_from_text(before);
    ck_assert(run_pass(g, "eliminate_identity", NULL));
    ck_assert_graph(g, after);
    ck_assert(!run_pass(g, "eliminate_identity", NULL));
    module_free(g);
}

static void assert_left_alone(const char *text)
{
    prt_graph *g = graph_from_text(text);
    ck_assert(!run_pass(g, "eliminate_identity", NULL));
    ck_assert_graph(g, text);
    module_free(g);
}

START_TEST(chains_of_identities_are_removed)
{
    assert_rewrites("x = input f32[2]\na = identity x\nb = identity a\nc = exp b\nreturn c\n",
        "x = input f32[2]\nc = exp x\nreturn c\n");
}
END_TEST

START_TEST(the_output_keeps_its_name)
{
    assert_rewrites("x = input f32[2]\na = exp x\ny = identity a\nb = neg a\nreturn y, b\n",
        "x = input f32[2]\ny = exp x\nb = neg y\nreturn y, b\n");
}
END_TEST

START_TEST(an_input_or_constant_does_not_become_an_output)
{
    assert_left_alone("x = input f32[2]\ny = identity x\nreturn y\n");
    assert_left_alone("w = const f32[2] {1, 2}\ny = identity w\nreturn y\n");
}
END_TEST

START_TEST(one_value_does_not_become_two_outputs)
{
    assert_left_alone("x = input f32[2]\na = exp x\ny = identity a\nreturn a, y\n");
    assert_rewrites("x = input f32[2]\na = exp x\ny = identity a\nz = identity a\nreturn y, z\n",
        "x = input f32[2]\ny = exp x\nz = identity y\nreturn y, z\n");
}
END_TEST

START_TEST(regions_are_rewritten_too)
{
    assert_rewrites("c = input bool[]\nx = input f32[2]\n"
                    "r = if c {\n"
                    "  then_branch { a = identity x; b = exp a; d = identity b; return d }\n"
                    "  else_branch { u = identity x; return u }\n"
                    "}\nreturn r\n",
        "c = input bool[]\nx = input f32[2]\n"
        "r = if c {\n"
        "  then_branch { d = exp x; return d }\n"
        "  else_branch { u = identity x; return u }\n"
        "}\nreturn r\n");
}
END_TEST

START_TEST(results_are_the_same)
{
    assert_pass_keeps_results("c = input bool[]\nx = input f32[2,3]\n"
                              "k = identity x\n"
                              "r = if c {\n"
                              "  then_branch { a = identity k; b = exp a; return b }\n"
                              "  else_branch { u = neg k; v = identity u; return v }\n"
                              "}\n"
                              "s = identity r\ny = add s k\nreturn y\n",
        "eliminate_identity", 0);
}
END_TEST

PRT_TEST_MAIN("pass/clean/identity", chains_of_identities_are_removed, the_output_keeps_its_name,
    an_input_or_constant_does_not_become_an_output, one_value_does_not_become_two_outputs,
    regions_are_rewritten_too, results_are_the_same)
