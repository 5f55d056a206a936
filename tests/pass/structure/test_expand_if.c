/* SPDX-License-Identifier: MIT */
/* test_expand_if.c — expand_if. */
#include "support/check_main.h"
#include "support/graph_text.h"

static const char *const pass = "expand_if";

#define HEAD "x = input f32[2]\nc = input bool[]\nd = input bool[]\nk = const f32[2] {1,2}\n"
#define IF(out, cond, then, other)                                                                 \
    out " = if " cond " {\n  then_branch { " then " }\n  else_branch { " other " }\n} @choice\n"

START_TEST(both_branches_are_computed)
{
    static const char *const text = HEAD IF("a, b", "c", "t = add x k; return t, x",
        "l = const f32[2] {3,4}; e = mul x l; return e, l") "y = sub a b\nreturn y, a\n";
    assert_pass_rewrites(pass, NULL, text,
        HEAD "l = const f32[2] {3,4}\nt = add x k\ne = mul x l\na = where c t e @choice\n"
             "b = where c x l @choice\ny = sub a b\nreturn y, a\n");
    assert_pass_keeps_results(text, pass, 0);
    assert_pass_keeps_results("x = input f32[2]\nc = input bool[1]\n" IF("a", "c",
                                  "t = exp x; return t", "e = neg x; return e") "return a\n",
        pass, 0);
}
END_TEST

START_TEST(inner_ones_go_first)
{
    static const char *const text = HEAD IF("a", "c",
        "i = if d {\n then_branch { u = exp x; return u }\n else_branch { return k }\n}\nreturn i",
        "e = neg x; return e") "return a\n";
    assert_pass_rewrites(pass, NULL, text,
        HEAD "u = exp x\ni = where d u k\ne = neg x\na = where c i e @choice\nreturn a\n");
    assert_pass_keeps_results(text, pass, 0);
}
END_TEST

START_TEST(near_misses_are_left)
{
    static const char *const texts[] = {
        /* other shapes; an index; division of integers; random; unknown dims; a scalar by [1] */
        HEAD IF("a", "c", "t = concat x x; return t", "return x") "return a\n",
        HEAD "n = input i64[2]\n" IF("a", "c", "t = gather x n; return t", "return x") "return a\n",
        HEAD "n = input i64[2]\n" IF("a", "c", "t = div n n; return t", "return n") "return a\n",
        HEAD IF("a", "c", "t = random_normal_like x; return t", "return x") "return a\n",
        "x = input f32[n]\nc = input bool[]\n" IF("a", "c", "t = exp x; return t",
            "return x") "return a\n",
        "x = input f32[]\nc = input bool[1]\n" IF("a", "c", "t = exp x; return t",
            "return x") "return a\n",
        HEAD
        "s = input i64[1]\n" IF("a", "c", "t = reshape x s; return t", "return x") "return a\n",
        /* a product that some sizes of its input have not */
        HEAD "z = input f32[n]\nw = const f32[2,2] {1,2,3,4}\n" IF("a", "c",
            "t = matmul z w; return t", "return x") "return a\n",
    };
    for (size_t i = 0; i < PRT_COUNT_OF(texts); i++)
        assert_pass_leaves(pass, NULL, texts[i]);
}
END_TEST

PRT_TEST_MAIN("pass/structure/expand_if", both_branches_are_computed, inner_ones_go_first,
    near_misses_are_left)
