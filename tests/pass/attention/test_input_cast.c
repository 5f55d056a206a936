/* SPDX-License-Identifier: MIT */
/* test_input_cast.c — remove_input_cast. */
#include "support/check_main.h"
#include "support/graph_text.h"

#define PASS "remove_input_cast"
#define W "w = const f16[4,2] {1,2,3,4,5,6,7,8}\n"

START_TEST(casts_of_indices_are_removed)
{
    assert_pass_rewrites(PASS, NULL,
        "x = input f16[b,3]\n" W "c = cast x {to=6}\nd = cast x {to=6}\ny = gather w c\n"
        "z = gather w d {axis=1}\nreturn y, z\n",
        "x = input i32[b,3]\n" W "y = gather w x\nz = gather w x {axis=1}\nreturn y, z\n");
    assert_pass_rewrites(PASS, NULL,
        "x = input f32[b]\nz = input f32[]\n" W "c = cast x {to=7}\ny = gather w c\n"
        "return y, z\n",
        "x = input i64[b]\nz = input f32[]\n" W "y = gather w x\nreturn y, z\n");
    assert_pass_rewrites(PASS, NULL,
        "q = input bool[]\nx = input f16[2]\nz = input f16[2,2]\n" W "r = if q {\n"
        "  then_branch { c = cast x {to=6}; t = gather w c; return t }\n"
        "  else_branch { return z }\n}\nreturn r\n",
        "q = input bool[]\nx = input i32[2]\nz = input f16[2,2]\n" W "r = if q {\n"
        "  then_branch { t = gather w x; return t }\n"
        "  else_branch { return z }\n}\nreturn r\n");
}
END_TEST

START_TEST(near_misses_are_left)
{
    assert_pass_leaves(PASS, NULL,
        "x = input f16[3]\n" W "c = cast x {to=6}\ny = gather w c\nz = neg x\nreturn y, z\n");
    assert_pass_leaves(PASS, NULL,
        "x = input f16[3]\n" W "c = cast x {to=6}\ny = gather w c\nreturn y, c\n");
    assert_pass_leaves(PASS, NULL,
        "x = input f16[3]\n" W "c = cast x {to=6}\nd = cast x {to=7}\ny = gather w c\n"
        "z = gather w d\nreturn y, z\n");
    assert_pass_leaves(PASS, NULL, "x = input f16[3]\nc = cast x {to=6}\ny = neg c\nreturn y\n");
    assert_pass_leaves(PASS, NULL,
        "x = input i64[3]\n" W "c = cast x {to=6}\ny = gather w c\nreturn y\n");
    assert_pass_leaves(PASS, NULL,
        "x = input f16[2] {1,2}\n" W "c = cast x {to=6}\ny = gather w c\nreturn y\n");
    assert_pass_leaves(PASS, NULL, "x = input f16[3]\nreturn x\n");
}
END_TEST

PRT_TEST_MAIN("pass/attention/input_cast", casts_of_indices_are_removed, near_misses_are_left)
