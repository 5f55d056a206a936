/* SPDX-License-Identifier: MIT */
/* test_periodic_initializer.c — fold_periodic_initializer. */
#include "support/check_main.h"
#include "support/graph_text.h"

static const char *const pass = "fold_periodic_initializer";
static const char *const all = "min_saved_bytes=1";

static void assert_keeps_results(const char *text)
{
    prt_graph *before = graph_from_text(text), *g = graph_from_text(text);
    ck_assert(run_pass(g, pass, all));
    assert_same_results(before, g, 0, 7);
    module_free(before);
    module_free(g);
}

START_TEST(one_element_is_expanded)
{
    assert_pass_rewrites(pass, all,
        "x = input f32[3]\nc = const f32[2,3] {1,2,3,1,2,3}\ny = add x c @sum\nreturn y\n",
        "x = input f32[3]\nc_0 = const f32[1,3] {1,2,3}\n%0 = const i64[2] {2,3}\n"
        "c = expand c_0 %0\ny = add x c @sum\nreturn y\n");
    assert_keeps_results(
        "x = input f32[3]\nc = const f32[2,3] {1,2,3,1,2,3}\ny = add x c\nreturn y\n");
    assert_keeps_results("x = input f32[3]\nc = const f32[5,2,3] fill 7\ny = add x c\nreturn y\n");
}
END_TEST

START_TEST(longer_periods_are_tiled)
{
    assert_pass_rewrites(pass, all,
        "x = input f32[12]\nc = const i16[12] {1,2,3,4,1,2,3,4,1,2,3,4}\nd = cast c {to=1}\n"
        "y = add x d\nreturn y\n",
        "x = input f32[12]\nc_0 = const i16[4] {1,2,3,4}\n%0 = const i64[1] {3}\n"
        "c = tile c_0 %0\nd = cast c {to=1}\ny = add x d\nreturn y\n");
    /* along several axes */
    assert_keeps_results(
        "x = input f32[6]\nc = const f32[4,6] {1,2,1,2,1,2,3,4,3,4,3,4,1,2,1,2,1,2,3,4,3,4,3,4}\n"
        "y = add x c\nreturn y\n");
    assert_keeps_results(
        "x = input f32[6]\nc = const f32[2,2,6] {1,2,1,2,1,2,3,4,3,4,3,4,1,2,1,2,1,2,3,4,3,4,3,4}\n"
        "y = add x c\nreturn y\n");
    assert_keeps_results(
        "x = input f32[2]\nq = input bool[]\nr = if q {\n  then_branch { c = const f32[2] {5,5}; "
        "t = add x c; return t }\n  else_branch { e = neg x; return e }\n}\nreturn r\n");
}
END_TEST

START_TEST(constants_without_a_period_are_left)
{
    static const char *const text =
        "x = input f32[3]\nc = const f32[2,3] {1,2,3,1,2,3}\ny = add x c\nreturn y\n";
    assert_pass_leaves(pass, NULL, text);
    assert_pass_leaves(pass, "min_saved_bytes=13", text);
    /* no whole number of periods; the last one differs; bits differ; an output; an input */
    assert_pass_leaves(pass, all,
        "x = input f32[5]\nc = const f32[5] {1,2,1,2,1}\ny = add x c\n"
        "return y\n");
    assert_pass_leaves(pass, all,
        "x = input f32[6]\nc = const f32[6] {1,2,1,2,1,3}\ny = add x c\n"
        "return y\n");
    assert_pass_leaves(pass, all,
        "x = input f32[2]\nc = const f32[2] {0,-0.0}\ny = add x c\n"
        "return y\n");
    assert_pass_leaves(pass, all,
        "x = input f32[2]\nc = const f32[2] {1,1}\ny = add x c\n"
        "return y, c\n");
    assert_pass_leaves(pass, all,
        "x = input f32[2]\nc = input f32[2] {1,1}\ny = add x c\n"
        "return y\n");
    assert_pass_fails(pass, "min_saved_bytes=0", text, POPRT_E_ARG, "at least 1");
}
END_TEST

PRT_TEST_MAIN("pass/fold/periodic_initializer", one_element_is_expanded, longer_periods_are_tiled,
    constants_without_a_period_are_left)
