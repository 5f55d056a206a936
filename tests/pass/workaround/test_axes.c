/* SPDX-License-Identifier: MIT */
/* test_axes.c — cumsum_workaround, onehot_workaround, topk_workaround. */
#include "support/check_main.h"
#include "support/graph_text.h"

START_TEST(cumsum_axes_become_scalars)
{
    static const char *const pass = "cumsum_workaround";
    assert_pass_rewrites(pass, NULL,
        "x = input f32[n,3]\na = const i32[1] {-1}\ny = cumsum x a @c\nreturn y\n",
        "x = input f32[n,3]\na = const i32[1] {-1}\n%0 = const i32[] {1}\ny = cumsum x %0 @c\n"
        "return y\n");
    assert_pass_keeps_results("x = input i64[3,5,2]\na = const i64[1] {1}\n"
                              "y = cumsum x a {reverse=1}\nreturn y\n",
        pass, 0);
    assert_pass_keeps_results("x = input f32[3,5]\ns = shape x\nz = const i64[] {0}\n"
                              "d = gather s z\ne = const i64[] {2}\na = sub d e\ny = cumsum x a\n"
                              "return y\n",
        pass, 0);
    assert_pass_keeps_results("q = input bool[]\nx = input f32[3,5]\na = const i64[] {-2}\n"
                              "r = if q {\n  then_branch { t = cumsum x a; return t }\n"
                              "  else_branch { return x }\n}\nreturn r\n",
        pass, 0);
    assert_pass_leaves(pass, NULL,
        "x = input f32[3,5]\na = const i64[] {1}\ny = cumsum x a\nreturn y\n");
    assert_pass_leaves(pass, NULL,
        "x = input f32[3,5]\na = input i64[]\ny = cumsum x a\nreturn y\n");
    assert_pass_leaves(pass, NULL,
        "x = input f32[3,5]\na = input i64[] {-1}\ny = cumsum x a\nreturn y\n");
    assert_pass_leaves(pass, NULL,
        "x = input f32[?]\nr = \"o.R\" x\ns = cast r {to=1}\na = const i64[] {-1}\n"
        "y = cumsum s a\nreturn y\n");
}
END_TEST

START_TEST(one_hot_axes_and_depths_are_normalised)
{
    static const char *const pass = "onehot_workaround";
    assert_pass_rewrites(pass, NULL,
        "i = input i64[n,2]\nd = const i64[1] {4}\nv = const f32[2] {0,1}\n"
        "y = one_hot i d v {axis=-2} @o\nreturn y\n",
        "i = input i64[n,2]\nd = const i64[1] {4}\nv = const f32[2] {0,1}\n%0 = const i32[1] {4}\n"
        "y = one_hot i %0 v {axis=1} @o\nreturn y\n");
    assert_pass_rewrites(pass, NULL,
        "i = input i64[n]\nd = input i64[]\nv = const f32[2] {0,1}\ny = one_hot i d v {axis=0}\n"
        "return y\n",
        "i = input i64[n]\nd = input i64[]\nv = const f32[2] {0,1}\n%0 = cast d {to=6}\n"
        "y = one_hot i %0 v {axis=0}\nreturn y\n");
    assert_pass_keeps_results("i = input i64[3,5]\nd = const f32[] {4.5}\nv = const f16[2] {0,1}\n"
                              "y = one_hot i d v\nreturn y\n",
        pass, 0);
    assert_pass_keeps_results("q = input bool[]\ni = input i64[3]\nd = const i64[] {3}\n"
                              "v = const i64[2] {0,1}\nz = const i64[3,3] fill 1\n"
                              "r = if q {\n  then_branch { t = one_hot i d v; return t }\n"
                              "  else_branch { return z }\n}\nreturn r\n",
        pass, 0);
    assert_pass_leaves(pass, NULL,
        "i = input i64[n]\nd = const i32[] {4}\nv = const f32[2] {0,1}\n"
        "y = one_hot i d v {axis=1}\nreturn y\n");
    assert_pass_leaves(pass, NULL,
        "i = input i64[n]\nd = const i64[] {3000000000}\nv = const f32[2] {0,1}\n"
        "y = one_hot i d v {axis=1}\nreturn y\n");
}
END_TEST

START_TEST(topk_axes_become_positive)
{
    static const char *const pass = "topk_workaround";
    assert_pass_rewrites(pass, NULL,
        "x = input f32[n,5,4]\nk = input i64[1]\ny, i = topk x k {axis=-2} @t\nreturn y, i\n",
        "x = input f32[n,5,4]\nk = input i64[1]\ny, i = topk x k {axis=1} @t\nreturn y, i\n");
    assert_pass_keeps_results("x = input f32[3,5]\nk = const i64[1] {2}\ny, i = topk x k\n"
                              "return y, i\n",
        pass, 0);
    assert_pass_keeps_results("q = input bool[]\nx = input f32[3,5]\nk = const i64[1] {5}\n"
                              "r = if q {\n  then_branch { t, _ = topk x k; return t }\n"
                              "  else_branch { return x }\n}\nreturn r\n",
        pass, 0);
    assert_pass_leaves(pass, NULL,
        "x = input f32[5,4]\nk = input i64[1]\ny, _ = topk x k {axis=0}\nreturn y\n");
    assert_pass_leaves(pass, NULL,
        "x = input f32[5]\nr = \"o.R\" x\ns = cast r {to=1}\nk = input i64[1]\n"
        "y, _ = topk s k\nreturn y\n");
}
END_TEST

PRT_TEST_MAIN("pass/workaround/axes", cumsum_axes_become_scalars,
    one_hot_axes_and_depths_are_normalised, topk_axes_become_positive)
