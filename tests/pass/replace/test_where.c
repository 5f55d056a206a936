/* SPDX-License-Identifier: MIT */
/* test_where.c — replace_where_mask, replace_where_with_mul_add. */
#include "support/check_main.h"
#include "support/graph_text.h"

#define IN "m = input bool[b,1,1,s]\nx = input f32[b,h,s,s]\n"

START_TEST(masks_become_sums)
{
    static const char *const pass = "replace_where_mask";
    assert_pass_rewrites(pass, NULL,
        IN "c = const f32[] {-10000}\nw = where m x c @w\ny = softmax w\nreturn y\n",
        IN "c = const f32[] {-10000}\n%0 = const f32[] {-10000}\n%1 = const f32[] {0}\n"
           "%2 = where m %1 %0 @w\nw = add x %2 @w\ny = softmax w\nreturn y\n");
    assert_pass_rewrites(pass, NULL,
        IN "c = const f32[1] {-inf}\nw = where m c x\ny = softmax w {axis=3}\nreturn y\n",
        IN "c = const f32[1] {-inf}\n%0 = const f32[] {-inf}\n%1 = const f32[] {0}\n"
           "%2 = where m %0 %1\nw = add x %2\ny = softmax w {axis=3}\nreturn y\n");
    assert_pass_keeps_results("m = input bool[3,1,1,7]\nx = input f32[3,2,5,7]\n"
                              "t = const bool[7] {false,true,false,false,false,false,false}\n"
                              "k = or m t\nc = const f32[] {-3.4028235e38}\nw = where k x c\n"
                              "y = softmax w\nreturn y\n",
        pass, 0);
    assert_pass_keeps_results("q = input bool[]\nx = input f32[3,4]\nc = const f32[] {-1e9}\n"
                              "k = const bool[4] {true,true,false,true}\n"
                              "r = if q {\n  then_branch { w = where k x c; t = softmax w; return t"
                              " }\n  else_branch { return x }\n}\nreturn r\n",
        pass, 1e-6);
}
END_TEST

START_TEST(other_masks_are_left)
{
    static const char *const pass = "replace_where_mask";
    assert_pass_leaves(pass, NULL,
        IN "c = const f32[] {-100}\nw = where m x c\ny = softmax w\nreturn y\n");
    assert_pass_leaves(pass, NULL,
        IN "c = const f32[] {-1e9}\nw = where m x c\ny = softmax w\nreturn y, w\n");
    assert_pass_leaves(pass, NULL,
        IN "c = const f32[] {-1e9}\nw = where m x c\ny = softmax w {axis=2}\nreturn y\n");
    assert_pass_leaves(pass, NULL,
        IN "c = const f32[] {nan}\nw = where m x c\ny = softmax w\nreturn y\n");
    assert_pass_leaves(pass, NULL,
        "m = input bool[4,1,1,5]\nx = input f32[5]\nc = const f32[] {-1e9}\nw = where m x c\n"
        "y = softmax w\nreturn y\n");
    assert_pass_leaves(pass, NULL,
        IN "c = const f32[2,1,1,1] {-1e9,-1e9}\nw = where m x c\ny = softmax w\nreturn y\n");
}
END_TEST

START_TEST(choices_become_arithmetic)
{
    static const char *const pass = "replace_where_with_mul_add";
    assert_pass_rewrites(pass, NULL,
        "c = input bool[n]\nx = input f32[n]\nz = input f32[]\ny = where c x z @w\nreturn y\n",
        "c = input bool[n]\nx = input f32[n]\nz = input f32[]\n%0 = cast c {to=1} @w\n"
        "%1 = const f32[] {1}\n%2 = sub %1 %0 @w\n%3 = mul %0 x @w\n%4 = mul %2 z @w\n"
        "y = add %3 %4 @w\nreturn y\n");
    assert_pass_keeps_results("c = input bool[5,1]\nx = input f32[4]\nz = input f32[3,1,4]\n"
                              "y = where c x z\nreturn y\n",
        pass, 0);
    assert_pass_keeps_results("q = input bool[]\nx = input f16[3]\nr = if q {\n"
                              "  then_branch { z = neg x; t = where q x z; return t }\n"
                              "  else_branch { return x }\n}\nreturn r\n",
        pass, 0);
    assert_pass_leaves(pass, NULL,
        "c = input bool[n]\nx = input i32[n]\ny = where c x x\nreturn y\n");
    assert_pass_leaves(pass, NULL,
        "c = input bool[n]\nx = input f32[n]\nz = const f32[] {-inf}\ny = where c x z\nreturn y\n");
    assert_pass_leaves(pass, NULL,
        "x = input f32[n]\nz = const f32[] {0}\nc = isnan x\nd = not c\ny = where d x z\n"
        "return y\n");
    assert_pass_leaves(pass, NULL,
        "c = input bool[n]\nd = input bool[n]\nx = input f32[n]\nz = const f64[1] {-inf}\n"
        "f = cast z {to=1}\nw = where d x f\ny = where c w x\nreturn y\n");
    assert_pass_leaves(pass, NULL,
        "c = input bool[n]\nx = input f32[n]\nz = const f32[2] {0,nan}\ny = where c z x\n"
        "return y\n");
}
END_TEST

PRT_TEST_MAIN("pass/replace/where", masks_become_sums, other_masks_are_left,
    choices_become_arithmetic)
