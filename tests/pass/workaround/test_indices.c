/* SPDX-License-Identifier: MIT */
/* test_indices.c — indices_workaround. */
#include "support/check_main.h"
#include "support/graph_text.h"

#define PASS "indices_workaround"

START_TEST(constant_indices_become_int32)
{
    assert_pass_rewrites(PASS, NULL,
        "x = input f32[n,5]\ni = const i64[2] {-1,2}\ny = gather x i {axis=1} @g\nreturn y\n",
        "x = input f32[n,5]\ni = const i64[2] {-1,2}\ni_0 = const i32[2] {4,2}\n"
        "y = gather x i_0 {axis=1} @g\nreturn y\n");
    assert_pass_rewrites(PASS, NULL,
        "x = input f32[n]\ni = const i64[] {3}\ny = gather x i\nreturn y\n",
        "x = input f32[n]\ni = const i64[] {3}\ni_0 = const i32[] {3}\ny = gather x i_0\n"
        "return y\n");
    assert_pass_rewrites(PASS, NULL,
        "x = input f32[2,3]\ni = const i32[1,2] {-1,-2}\ny = gather_elements x i\nreturn y\n",
        "x = input f32[2,3]\ni = const i32[1,2] {-1,-2}\ni_0 = const i32[1,2] {1,0}\n"
        "y = gather_elements x i_0\nreturn y\n");
    assert_pass_keeps_results("x = input f32[4,3]\ni = const i64[0,2] {}\ny = gather x i\n"
                              "return y\n",
        PASS, 0);
}
END_TEST

START_TEST(computed_indices_become_int32)
{
    assert_pass_rewrites(PASS, NULL,
        "x = input f32[5]\ni = input i64[n]\ny = gather x i @g\nreturn y\n",
        "x = input f32[5]\ni = input i64[n]\n%0 = const i64[] {0}\n%1 = less i %0 @g\n"
        "%2 = const i64[] {5}\n%3 = add i %2 @g\n%4 = where %1 %3 i @g\n%5 = cast %4 {to=6} @g\n"
        "y = gather x %5 @g\nreturn y\n");
    assert_pass_rewrites(PASS, NULL, "x = input f32[n]\ni = argmax x\ny = gather x i\nreturn y\n",
        "x = input f32[n]\ni = argmax x\n%0 = cast i {to=6}\ny = gather x %0\nreturn y\n");
    assert_pass_keeps_results("x = input f32[5,3]\ni = input i64[4]\nf = const i64[] {5}\n"
                              "j = sub i f\ny = gather x j\nz = gather x i\nreturn y, z\n",
        PASS, 0);
    assert_pass_keeps_results("q = input bool[]\nx = input f32[5]\ni = input i32[5]\n"
                              "r = if q {\n  then_branch { j = neg i; t = gather_elements x j; "
                              "return t }\n  else_branch { return x }\n}\nreturn r\n",
        PASS, 0);
}
END_TEST

START_TEST(near_misses_are_left)
{
    assert_pass_leaves(PASS, NULL,
        "x = input f32[n]\ni = const i32[2] {0,2}\ny = gather x i\nreturn y\n");
    assert_pass_leaves(PASS, NULL,
        "x = input f32[n]\ni = const i64[1] {-1}\ny = gather x i\nreturn y\n");
    assert_pass_leaves(PASS, NULL,
        "x = input f32[n]\ni = input i64[1]\ny = gather x i\nreturn y\n");
    assert_pass_leaves(PASS, NULL,
        "x = input f32[?]\ni = const i64[1] {3000000000}\ny = gather x i\nreturn y\n");
    assert_pass_leaves(PASS, NULL,
        "x = input f32[n]\ni = input i64[1,1]\ny = gather_nd x i\nreturn y\n");
}
END_TEST

PRT_TEST_MAIN("pass/workaround/indices", constant_indices_become_int32,
    computed_indices_become_int32, near_misses_are_left)
