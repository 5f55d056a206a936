/* SPDX-License-Identifier: MIT */
/* test_nonzero.c — replace_consecutive_cast_with_notzero, replace_nonzero. */
#include "support/check_main.h"
#include "support/graph_text.h"

#define CASTS "replace_consecutive_cast_with_notzero"
#define NONZERO "replace_nonzero"

START_TEST(casts_through_bool_become_not_zero)
{
    assert_pass_rewrites(CASTS, NULL,
        "x = input f32[n]\nb = cast x {to=9}\ny = cast b {to=6} @c\nreturn y\n",
        "x = input f32[n]\ny = gc_not_zero x {to=6} @c\nreturn y\n");
    assert_pass_keeps_results("x = input i32[3,50]\nb = cast x {to=9}\ny = cast b {to=10}\n"
                              "return y\n",
        CASTS, 0);
    assert_pass_keeps_results("x = input f32[50]\nl = log x\nb = cast l {to=9}\n"
                              "y = cast b {to=7}\nreturn y\n",
        CASTS, 0);
    assert_pass_keeps_results("q = input bool[]\nx = input f32[4]\nr = if q {\n"
                              "  then_branch { b = cast x {to=9}; t = cast b {to=1}; return t }\n"
                              "  else_branch { return x }\n}\nreturn r\n",
        CASTS, 0);
}
END_TEST

START_TEST(other_casts_are_left)
{
    assert_pass_leaves(CASTS, NULL,
        "x = input f32[n]\nb = cast x {to=6}\ny = cast b {to=1}\nreturn y\n");
    assert_pass_leaves(CASTS, NULL,
        "x = input f32[n]\nb = cast x {to=9}\ny = cast b {to=6}\nreturn y, b\n");
    assert_pass_leaves(CASTS, NULL,
        "x = input f32[n]\nb = cast x {to=9}\ny = cast b {to=8}\nreturn y\n");
    assert_pass_leaves(CASTS, NULL,
        "x = input string[n]\nb = cast x {to=9}\ny = cast b {to=6}\nreturn y\n");
    assert_pass_leaves(CASTS, NULL,
        "x = input f32[n]\nb = cast x {to=9}\ny = cast b {to=9}\nreturn y\n");
}
END_TEST

#define RANGE "l = const i64[4] {2,0,3,1}\n"

START_TEST(lists_with_one_hit_become_argmax)
{
    assert_pass_rewrites(NONZERO, NULL,
        "x = input f32[4]\n" RANGE "i = argmax x {keepdims=0}\ne = equal l i\n"
        "y = nonzero e @z\nreturn y\n",
        "x = input f32[4]\n" RANGE "i = argmax x {keepdims=0}\ne = equal l i\n"
        "%0 = cast e {to=6} @z\n%1 = argmax %0 @z\n%2 = const i64[2] {1,1}\n"
        "y = reshape %1 %2 @z\nreturn y\n");
    assert_pass_keeps_results("x = input f32[3]\n" RANGE "i = argmin x\ne = equal i l\n"
                              "c = cast e {to=1}\ny = nonzero c\nreturn y\n",
        NONZERO, 0);
    assert_pass_keeps_results("x = input i64[1]\n" RANGE "k = const i64[] {3}\ne = equal l k\n"
                              "y = nonzero e\nreturn x, y\n",
        NONZERO, 0);
    assert_pass_keeps_results("x = input f32[1,4]\nd = const i64[] {5}\nv = const f32[2] {0,2}\n"
                              "i = argmax x {axis=1,keepdims=0}\na = const i64[1] {0}\n"
                              "s = squeeze i a\nh = one_hot s d v\ny = nonzero h\nreturn y\n",
        NONZERO, 0);
    assert_pass_keeps_results("q = input bool[]\nx = input f32[4]\n" RANGE
                              "z = const i64[1,1] {0}\nr = if q {\n"
                              "  then_branch { i = argmax x; e = equal l i; t = nonzero e; return t"
                              " }\n  else_branch { return z }\n}\nreturn r\n",
        NONZERO, 0);
}
END_TEST

START_TEST(other_lists_are_left)
{
    /* a number from outside; one that is too large; one twice; a matrix; bits that a cast loses */
    assert_pass_leaves(NONZERO, NULL,
        "i = input i64[1]\n" RANGE "e = equal l i\ny = nonzero e\nreturn y\n");
    assert_pass_leaves(NONZERO, NULL,
        "x = input f32[5]\n" RANGE "i = argmax x\ne = equal l i\ny = nonzero e\nreturn y\n");
    assert_pass_leaves(NONZERO, NULL,
        "x = input f32[3]\nl = const i64[4] {0,1,2,2}\ni = argmax x\ne = equal l i\n"
        "y = nonzero e\nreturn y\n");
    assert_pass_leaves(NONZERO, NULL,
        "x = input f32[4]\nl = const i64[1,4] {0,1,2,3}\ni = argmax x\ne = equal l i\n"
        "y = nonzero e\nreturn y\n");
    assert_pass_leaves(NONZERO, NULL,
        "x = input f32[4]\nd = const i64[] {4}\nv = const i32[2] {0,256}\n"
        "i = argmax x {keepdims=0}\nh = one_hot i d v\nc = cast h {to=2}\ny = nonzero c\n"
        "return y\n");
    assert_pass_leaves(NONZERO, NULL,
        "x = input f32[4]\nd = const i64[] {4}\nv = const f32[2] {0,-1}\n"
        "i = argmax x {keepdims=0}\nh = one_hot i d v\ny = nonzero h\nreturn y\n");
    assert_pass_leaves(NONZERO, NULL,
        "x = input f32[2,4]\n" RANGE "i = argmax x {axis=1}\ne = equal l i\ny = nonzero e\n"
        "return y\n");
}
END_TEST

PRT_TEST_MAIN("pass/replace/nonzero", casts_through_bool_become_not_zero, other_casts_are_left,
    lists_with_one_hit_become_argmax, other_lists_are_left)
