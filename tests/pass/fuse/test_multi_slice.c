/* SPDX-License-Identifier: MIT */
/* test_multi_slice.c — merge_multi_slice. */
#include "support/check_main.h"
#include "support/graph_text.h"

static const char *const pass = "merge_multi_slice";

#define X                                                                                          \
    "x = input f32[2,7]\nax = const i64[1] {1}\n_0 = const i64[1] {0}\n_2 = const i64[1] {2}\n"    \
    "_3 = const i64[1] {3}\n_5 = const i64[1] {5}\n_9 = const i64[1] {9}\n_m2 = const i64[1] "     \
    "{-2}\n"

START_TEST(slices_become_a_split)
{
    static const char *const all = X "b = slice x _3 _9 ax @two\na = slice x _0 _3 ax @one\n"
                                     "c = neg b\nreturn a, c\n";
    assert_pass_rewrites(pass, NULL, all,
        X "%0 = const i64[2] {3,4}\na, b = split x %0 {axis=1} @two\nc = neg b\nreturn a, c\n");
    assert_pass_keeps_results(all, pass, 0);
    /* part of the axis, from the end too, and the same one twice */
    static const char *const some = X "a = slice x _m2 _9 ax\nb = slice x _2 _3 ax\n"
                                      "c = slice x _5 _9 ax\nd = slice x _2 _3 ax\n"
                                      "return a, b, c, d\n";
    assert_pass_keeps_results(some, pass, 0);
    prt_graph *g = graph_from_text(some);
    ck_assert(run_pass(g, pass, NULL));
    ck_assert(prt_op_is(g->first, PRT_OP_split));
    ck_assert_uint_eq(g->first->n_out, 4);
    module_free(g);
}
END_TEST

START_TEST(near_misses_are_left)
{
    static const char *const texts[] = {
        X "a = slice x _0 _3 ax\nb = slice x _2 _5 ax\nreturn a, b\n",
        X "a = slice x _0 _3 ax\nb = slice x _0 _3 ax\nreturn a, b\n",
        X "a = slice x _0 _3 ax\nb = slice x _3 _5\nreturn a, b\n",
        X "a = slice x _0 _3 ax\nb = slice x _3 _9 ax _2\nreturn a, b\n",
        "x = input f32[n]\na1 = const i64[1] {0}\nb1 = const i64[1] {1}\nc1 = const i64[1] {2}\n"
        "a = slice x a1 b1\nb = slice x b1 c1\nreturn a, b\n",
        X "s = input i64[1]\na = slice x _0 _3 ax\nb = slice x _3 s ax\nreturn a, b\n",
    };
    for (size_t i = 0; i < PRT_COUNT_OF(texts); i++)
        assert_pass_leaves(pass, NULL, texts[i]);
}
END_TEST

START_TEST(regions_are_rewritten)
{
    assert_pass_keeps_results(X
        "q = input bool[]\nr = if q {\n  then_branch { a = slice x _0 _3 ax; "
        "b = slice x _3 _9 ax; c = concat b a {axis=1}; return c }\n"
        "  else_branch { d = neg x; return d }\n}\nreturn r\n",
        pass, 0);
}
END_TEST

PRT_TEST_MAIN("pass/fuse/multi_slice", slices_become_a_split, near_misses_are_left,
    regions_are_rewritten)
