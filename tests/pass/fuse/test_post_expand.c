/* SPDX-License-Identifier: MIT */
/* test_post_expand.c — post_expand. */
#include "support/check_main.h"
#include "support/graph_text.h"

static const char *const pass = "post_expand";

#define X "x = input f32[1,3]\nto = const i64[3] {4,2,3}\nk = const f32[3] {1,2,3}\n"

START_TEST(operators_move_before_the_expand)
{
    static const char *const text = X "e = expand x to @wide\nn = neg e @n\nm = mul k n @m\n"
                                      "y = cast m {to=10} @c\nreturn y\n";
    assert_pass_rewrites(pass, NULL, text,
        X "%0 = neg x @n\n%1 = mul k %0 @m\n%2 = cast %1 {to=10} @c\ny = expand %2 to @wide\n"
          "return y\n");
    assert_pass_keeps_results(text, pass, 0);
    /* a shape that is not known, and an operator of three inputs */
    assert_pass_rewrites(pass, NULL,
        "x = input f32[a,1]\nto = input i64[3]\nlo = const f32[] {0}\ne = expand x to\n"
        "y = clip e lo\nreturn y\n",
        "x = input f32[a,1]\nto = input i64[3]\nlo = const f32[] {0}\n%0 = clip x lo\n"
        "y = expand %0 to\nreturn y\n");
    assert_pass_keeps_results(
        "x = input f32[3]\nto = const i64[2] {2,3}\nq = input bool[]\nr = if q {\n"
        "  then_branch { e = expand x to; t = exp e; return t }\n"
        "  else_branch { f = neg x; return f }\n}\nreturn r\n",
        pass, 0);
}
END_TEST

START_TEST(near_misses_are_left)
{
    static const char *const texts[] = {
        X "e = expand x to\ny = neg e\nreturn y, e\n",
        X "z = input f32[3]\ne = expand x to\ny = add e z\nreturn y\n",
        X "w = const f32[2,3] {1,2,3,4,5,6}\ne = expand x to\ny = add e w\nreturn y\n",
        X "e = expand x to\ny = add e e\nreturn y\n",
        X "e = expand x to\ny = softmax e\nreturn y\n",
        ("x = input f32[*]\nto = const i64[2] {2,3}\nk = const f32[3] {1,2,3}\ne = expand x to\n"
         "y = add e k\nreturn y\n"),
    };
    for (size_t i = 0; i < PRT_COUNT_OF(texts); i++)
        assert_pass_leaves(pass, NULL, texts[i]);
}
END_TEST

PRT_TEST_MAIN("pass/fuse/post_expand", operators_move_before_the_expand, near_misses_are_left)
