/* SPDX-License-Identifier: MIT */
/* test_padding.c — attention_padding. */
#include "support/check_main.h"
#include "support/graph_text.h"

#define PASS "attention_padding"

START_TEST(both_products_are_padded)
{
    assert_pass_rewrites(PASS, NULL,
        "q = input f32[h,5,16]\nk = input f32[h,16,20]\nc = const f32[] {2}\n"
        "s = matmul q k @qk\nd = div s c\np = softmax d\nreturn p\n",
        "q = input f32[h,5,16]\nk = input f32[h,16,20]\nc = const f32[] {2}\n"
        "%0 = const i64[6] {0,0,0,0,0,12}\n%1 = pad k %0 @qk\n%2 = matmul q %1 @qk\n"
        "%3 = const i64[1] {0}\n%4 = const i64[1] {20}\n%5 = const i64[1] {-1}\n"
        "s = slice %2 %3 %4 %5 @qk\nd = div s c\np = softmax d\nreturn p\n");
    assert_pass_rewrites(PASS, NULL,
        "s = input f32[h,5,7]\nv = input f32[h,7,32]\np = softmax s\ny = matmul p v @pv\n"
        "return y\n",
        "s = input f32[h,5,7]\nv = input f32[h,7,32]\np = softmax s\n"
        "%0 = const i64[6] {0,0,0,0,0,9}\n%1 = pad p %0 @pv\n"
        "%2 = const i64[6] {0,0,0,0,9,0}\n%3 = pad v %2 @pv\ny = matmul %1 %3 @pv\nreturn y\n");
}
END_TEST

START_TEST(padding_keeps_the_results)
{
    assert_pass_keeps_results("q = input f32[2,3,5,7]\nk = input f32[2,3,7,9]\n"
                              "v = input f32[2,3,9,10]\nm = input f32[9]\ns = matmul q k\n"
                              "t = add s m\np = softmax t\ny = matmul p v\nreturn y\n",
        PASS, 0);
    assert_pass_keeps_results("c = input bool[]\nx = input f16[3,3]\nr = if c {\n"
                              "  then_branch { s = matmul x x; p = softmax s; t = matmul p x; "
                              "return t }\n  else_branch { return x }\n}\nreturn r\n",
        PASS, 0);
}
END_TEST

START_TEST(near_misses_are_left)
{
    assert_pass_leaves(PASS, NULL,
        "q = input f32[5,16]\nk = input f32[16,32]\ns = matmul q k\np = softmax s\nreturn p\n");
    assert_pass_leaves(PASS, NULL,
        "q = input f32[5,7]\nk = input f32[7,9]\ns = matmul q k\nreturn s\n");
    assert_pass_leaves(PASS, NULL,
        "q = input f32[5,n]\nk = input f32[n,9]\ns = matmul q k\np = softmax s\nreturn p\n");
    assert_pass_leaves(PASS, NULL,
        "q = input f32[5,7]\nk = input f32[7,9]\ns = matmul q k\np = softmax s\nreturn p, s\n");
    assert_pass_leaves(PASS, NULL,
        "q = input f32[5,7]\nk = input f32[7]\ns = matmul q k\np = softmax s\nreturn p\n");
}
END_TEST

PRT_TEST_MAIN("pass/attention/padding", both_products_are_padded, padding_keeps_the_results,
    near_misses_are_left)
