/* SPDX-License-Identifier: MIT */
/* test_mask.c — insert_attention_mask. */
#include <stdio.h>

#include "support/check_main.h"
#include "support/graph_text.h"

#define PASS "insert_attention_mask"
#define IN "m = input i64[b,s]\nx = input f32[b,4,s,s]\n"
#define NUMBERS "one = const f32[] {1}\nbig = const f32[] {-10000}\n"
#define PATH                                                                                       \
    "a = const i64[2] {1,2}\nu = unsqueeze m a\nc = cast u {to=1}\nn = sub one c\n"                \
    "k = mul n big\n"

START_TEST(the_mask_path_is_replaced)
{
    assert_pass_rewrites(PASS, NULL, IN NUMBERS PATH "s1 = add x k @s\ny = softmax s1\nreturn y\n",
        IN NUMBERS "a = const i64[2] {1,2}\n%0 = cast m {to=6} @s\n"
                   "%1 = gc_attention_mask %0 x {dataType=\"FLOAT\"} @s\ns1 = add x %1 @s\n"
                   "y = softmax s1\nreturn y\n");
    assert_pass_rewrites(PASS, NULL,
        "m = input i32[2,3]\nx = input f16[2,4,3,3]\none = const f16[] {1}\n"
        "big = const f16[1] {-65504}\nh = const i64[4] {2,1,1,3}\nc = cast m {to=10}\n"
        "u = reshape c h\nn = sub one u\nk = mul big n\ny = add k x\nreturn y\n",
        "m = input i32[2,3]\nx = input f16[2,4,3,3]\none = const f16[] {1}\n"
        "big = const f16[1] {-65504}\nh = const i64[4] {2,1,1,3}\n"
        "%0 = gc_attention_mask m x {dataType=\"FLOAT16\"}\ny = add x %0\nreturn y\n");
}
END_TEST

#define ATTENTION(rows)                                                                            \
    "z = input i64[2,3]\nx = input f32[2,4,3,3]\nv = input f32[2,4,3,5]\n"                         \
    "t = const i64[2,3] {1,1,0,1,1,0}\nf = const i64[] {0}\nw = mul z f\nm = add w t\n" NUMBERS    \
        PATH "s1 = add x k\np = softmax s1\ny = matmul p v\n"                                      \
    "l = const i64[1] {0}\nh = const i64[1] {" rows "}\ne = const i64[1] {2}\nr = slice y l h e\n" \
    "return r\n"

START_TEST(valid_rows_keep_their_results)
{
    assert_pass_keeps_results(ATTENTION("2"), PASS, 0);
    assert_pass_keeps_results("q = input bool[]\nx = input f32[1,1,2,2]\n"
                              "m = const i64[1,2] {1,1}\n" NUMBERS
                              "r = if q {\n  then_branch {\n" PATH
                              "t = add x k; return t }\n  else_branch { return x }\n}\n"
                              "return r\n",
        PASS, 0);
}
END_TEST

START_TEST(near_misses_are_left)
{
    static const char *const numbers[] = { "one = const f32[] {2}\nbig = const f32[] {-10000}\n",
        "one = const f32[] {1}\nbig = const f32[] {-10}\n",
        "one = const f32[] {1}\nbig = input f32[]\n" };
    char text[1024];
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        (void)snprintf(text, sizeof(text), IN "%s" PATH "y = add x k\nreturn y\n", numbers[i]);
        assert_pass_leaves(PASS, NULL, text);
    }
    assert_pass_leaves(PASS, NULL,
        "m = input i64[b,s]\nx = input f32[b,4,1,s]\n" NUMBERS PATH "y = add x k\nreturn y\n");
    assert_pass_leaves(PASS, NULL,
        "m = input i64[b,s]\nx = input f64[b,4,s,s]\none = const f64[] {1}\n"
        "big = const f64[] {-10000}\na = const i64[2] {1,2}\nu = unsqueeze m a\n"
        "c = cast u {to=11}\nn = sub one c\nk = mul n big\ny = add x k\nreturn y\n");
    assert_pass_leaves(PASS, NULL,
        IN NUMBERS "a = const i64[2] {1,2}\nu = unsqueeze m a\nc = cast u {to=1}\n"
                   "n = sub c one\nk = mul n big\ny = add x k\nreturn y\n");
}
END_TEST

PRT_TEST_MAIN("pass/attention/mask", the_mask_path_is_replaced, valid_rows_keep_their_results,
    near_misses_are_left)
