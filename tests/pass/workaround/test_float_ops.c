/* SPDX-License-Identifier: MIT */
/* test_float_ops.c — float_ops_workaround. */
#include "support/check_main.h"
#include "support/graph_text.h"

#define PASS "float_ops_workaround"

START_TEST(small_integers_are_computed_in_float32)
{
    assert_pass_rewrites(PASS, NULL, "x = input i8[n]\ny = relu x @r\nreturn y\n",
        "x = input i8[n]\n%0 = cast x {to=1} @r\n%1 = relu %0 @r\ny = cast %1 {to=3} @r\n"
        "return y\n");
    assert_pass_rewrites(PASS, NULL, "x = input u8[n]\nm = input u8[]\ny = clip x _ m\nreturn y\n",
        "x = input u8[n]\nm = input u8[]\n%0 = cast x {to=1}\n%1 = cast m {to=1}\n"
        "%2 = clip %0 _ %1\ny = cast %2 {to=2}\nreturn y\n");
    assert_pass_rewrites(PASS, NULL,
        "x = input bool[n,3]\na = const i64[1] {1}\ny = reduce_max x a {keepdims=0}\nreturn y\n",
        "x = input bool[n,3]\na = const i64[1] {1}\n%0 = cast x {to=1}\n"
        "%1 = reduce_max %0 a {keepdims=0}\ny = cast %1 {to=9}\nreturn y\n");
}
END_TEST

START_TEST(the_workaround_keeps_the_results)
{
    assert_pass_keeps_results("x = input i8[3,5]\nz = input i8[5]\ny = max x z z\n"
                              "w = min x z\ns = sign x\nreturn y, w, s\n",
        PASS, 0);
    assert_pass_keeps_results("x = input u8[1,2,5,5]\ny = max_pool x {kernel_shape=[2,2]}\n"
                              "return y\n",
        PASS, 0);
    assert_pass_keeps_results("x = input bool[3,4]\ny = reduce_min x\nreturn y\n", PASS, 0);
    assert_pass_keeps_results("q = input bool[]\nx = input i16[4]\nr = if q {\n"
                              "  then_branch { t = relu x; return t }\n"
                              "  else_branch { return x }\n}\nreturn r\n",
        PASS, 0);
}
END_TEST

START_TEST(near_misses_are_left)
{
    assert_pass_leaves(PASS, NULL, "x = input i32[n]\ny = relu x\nreturn y\n");
    assert_pass_leaves(PASS, NULL, "x = input f16[n]\ny = relu x\nreturn y\n");
    assert_pass_leaves(PASS, NULL, "x = input bool[2,0]\ny = reduce_max x\nreturn y\n");
    assert_pass_leaves(PASS, NULL, "x = input bool[2,n]\ny = reduce_max x\nreturn y\n");
    assert_pass_leaves(PASS, NULL, "x = input i8[n]\ny = add x x\nreturn y\n");
    assert_pass_leaves(PASS, NULL,
        "x = input i8[1,1,4]\ny, i = max_pool x {kernel_shape=[2]}\nreturn y, i\n");
}
END_TEST

PRT_TEST_MAIN("pass/workaround/float_ops", small_integers_are_computed_in_float32,
    the_workaround_keeps_the_results, near_misses_are_left)
