/* SPDX-License-Identifier: MIT */
/* test_concat_squeeze.c — remove_empty_concat_inputs, fill_squeeze_axes. */
#include "support/check_main.h"
#include "support/graph_text.h"

START_TEST(empty_concat_inputs_are_removed)
{
    static const char *const pass = "remove_empty_concat_inputs";
    static const char *const three =
        "x = input f32[2,3]\ne = const f32[2,0] {}\nz = input f32[2,1]\n"
        "y = concat x e z {axis=1} @join\nreturn y\n";
    assert_pass_rewrites(pass, NULL, three,
        "x = input f32[2,3]\ne = const f32[2,0] {}\nz = input f32[2,1]\n"
        "y = concat x z {axis=1} @join\nreturn y\n");
    assert_pass_keeps_results(three, pass, 0);
    assert_pass_rewrites(pass, NULL,
        "x = input f32[2,3]\ne = const f32[2,0] {}\ny = concat e x {axis=-1} @join\nreturn y\n",
        "x = input f32[2,3]\ne = const f32[2,0] {}\ny = identity x @join\nreturn y\n");
    assert_pass_rewrites(pass, NULL,
        "x = input f32[0]\nz = input f32[0]\ny = concat x z\nreturn y\n",
        "x = input f32[0]\nz = input f32[0]\ny = identity x\nreturn y\n");
    assert_pass_keeps_results(
        "x = input f32[3]\nq = input bool[]\ne = const f32[0] {}\nr = if q {\n"
        "  then_branch { a = concat x e; return a }\n"
        "  else_branch { c = exp x; return c }\n}\nreturn r\n",
        pass, 0);
}
END_TEST

START_TEST(other_concat_inputs_stay)
{
    static const char *const pass = "remove_empty_concat_inputs";
    assert_pass_leaves(pass, NULL,
        "x = input f32[2,n]\nz = input f32[2,1]\n"
        "y = concat x z {axis=1}\nreturn y\n");
    /* empty, but along another axis: its columns count */
    assert_pass_leaves(pass, NULL,
        "x = input f32[0,2]\nz = input f32[0,3]\n"
        "y = concat x z {axis=1}\nreturn y\n");
}
END_TEST

START_TEST(squeeze_axes_are_filled_in)
{
    static const char *const pass = "fill_squeeze_axes";
    static const char *const text = "x = input f32[1,2,1,3]\ny = squeeze x @s\nreturn y\n";
    assert_pass_rewrites(pass, NULL, text,
        "x = input f32[1,2,1,3]\n%0 = const i64[2] {0,2}\ny = squeeze x %0 @s\nreturn y\n");
    assert_pass_keeps_results(text, pass, 0);
    assert_pass_keeps_results("x = input f32[3,1]\nq = input bool[]\nr = if q {\n"
                              "  then_branch { a = squeeze x; return a }\n"
                              "  else_branch { b = exp x; c = squeeze b; return c }\n}\nreturn r\n",
        pass, 0);
    assert_pass_leaves(pass, NULL, "x = input f32[1,n]\ny = squeeze x\nreturn y\n");
    assert_pass_leaves(pass, NULL, "x = input f32[2,3]\ny = squeeze x\nreturn y\n");
    assert_pass_leaves(pass, NULL,
        "x = input f32[1,1]\na = const i64[1] {0}\ny = squeeze x a\nreturn y\n");
}
END_TEST

PRT_TEST_MAIN("pass/clean/concat_squeeze", empty_concat_inputs_are_removed,
    other_concat_inputs_stay, squeeze_axes_are_filled_in)
