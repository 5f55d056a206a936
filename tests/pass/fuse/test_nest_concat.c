/* SPDX-License-Identifier: MIT */
/* test_nest_concat.c — nest_concat. */
#include "support/check_main.h"
#include "support/graph_text.h"

static const char *const pass = "nest_concat";

#define X "x = input f32[2,3]\ny = input f32[2,1]\nz = input f32[2,2]\n"

START_TEST(joined_prefixes_are_reused)
{
    static const char *const text = X "a = concat x y {axis=1} @a\nb = concat x y z {axis=1} @b\n"
                                      "c = concat x y z x y {axis=1} @c\nreturn a, b, c\n";
    assert_pass_rewrites(pass, NULL, text,
        X "a = concat x y {axis=1} @a\nb = concat a z {axis=1} @b\n"
          "c = concat b x y {axis=1} @c\nreturn a, b, c\n");
    assert_pass_keeps_results(text, pass, 0);
    assert_pass_keeps_results(
        "x = input f32[3]\nq = input bool[]\ny = concat x x\nr = if q {\n"
        "  then_branch { a = concat x x; b = concat x x x; c = mul b b; return c }\n"
        "  else_branch { d = concat x x x; return d }\n}\nreturn y, r\n",
        pass, 0);
}
END_TEST

START_TEST(near_misses_are_left)
{
    static const char *const texts[] = {
        X "a = concat y x {axis=1}\nb = concat x y z {axis=1}\nreturn a, b\n",
        X "a = concat x z {axis=1}\nb = concat x y z {axis=1}\nreturn a, b\n",
        X "a = concat x y z {axis=1}\nb = concat x y {axis=1}\nreturn a, b\n",
        X "a = concat x y {axis=1}\nb = concat x y {axis=1}\nreturn a, b\n",
        X "a = concat x x {axis=0}\nb = concat x x x {axis=1}\nreturn a, b\n",
        X "a = concat x {axis=1}\nb = concat x y {axis=1}\nreturn a, b\n",
    };
    for (size_t i = 0; i < PRT_COUNT_OF(texts); i++)
        assert_pass_leaves(pass, NULL, texts[i]);
}
END_TEST

PRT_TEST_MAIN("pass/fuse/nest_concat", joined_prefixes_are_reused, near_misses_are_left)
