/* SPDX-License-Identifier: MIT */
/* test_rotary.c — matmul_rotary_embedding. */
#include "support/check_main.h"
#include "support/graph_text.h"

#define PASS "matmul_rotary_embedding"
#define NUMBERS                                                                                    \
    "z = const i64[1] {0}\nh = const i64[1] {2}\ne = const i64[1] {4}\n"                           \
    "l = const i64[1] {-1}\n"
#define HALVES "a = slice x z h l\nb = slice x h e l\nn = neg b\nr = concat n a {axis=-1}\n"
#define SUM "u = mul x c\nv = mul r s\ny = add u v\n"
#define TABLES "c = input f32[3,4]\ns = input f32[3,4]\n"

START_TEST(rotated_halves_become_a_product)
{
    assert_pass_rewrites(PASS, NULL,
        "x = input f32[b,3,4]\n" TABLES NUMBERS HALVES SUM "return y\n",
        "x = input f32[b,3,4]\n" TABLES NUMBERS
        "rotation_float32_4_672190f6 = const f32[4,4] {0,0,1,0,0,0,0,1,-1,0,0,0,0,-1,0,0}\n"
        "r = matmul x rotation_float32_4_672190f6\n" SUM "return y\n");
    assert_pass_keeps_results("x = input f32[2,3,4]\n" TABLES
                              "a, b = split x {axis=2,num_outputs=2}\nn = neg b\n"
                              "r = concat n a {axis=2}\nu = mul c x\nv = mul s r\ny = add v u\n"
                              "return y\n",
        PASS, 0);
    assert_pass_keeps_results("q = input bool[]\nx = input f16[3,4]\n" NUMBERS "r0 = if q {\n"
                              "  then_branch {\n" HALVES "u = mul x x; v = mul r x; y = add u v; "
                              "return y }\n  else_branch { return x }\n}\nreturn r0\n",
        PASS, 0);
}
END_TEST

START_TEST(rotated_pairs_become_a_product)
{
    assert_pass_keeps_results("x = input f32[2,3,4]\n" TABLES
                              "z = const i64[1] {0}\no = const i64[1] {1}\nt = const i64[1] {2}\n"
                              "e = const i64[1] {9223372036854775807}\nl = const i64[1] {2}\n"
                              "k = const i64[1] {-1}\nf = const i64[3] {2,3,4}\n"
                              "m = const f32[] {-1}\na = slice x z e l t\nb = slice x o e l t\n"
                              "n = mul b m\nnu = unsqueeze n k\nau = unsqueeze a k\n"
                              "w = concat nu au {axis=-1}\nr = reshape w f\n" SUM "return y\n",
        PASS, 0);
}
END_TEST

START_TEST(near_misses_are_left)
{
    /* an element twice; of another x; no rotation; another axis; unknown last dim */
    assert_pass_leaves(PASS, NULL,
        "x = input f32[3,4]\n" TABLES NUMBERS "a = slice x z h l\nn = neg a\n"
        "r = concat n a {axis=-1}\n" SUM "return y\n");
    assert_pass_leaves(PASS, NULL,
        "x = input f32[3,4]\nw = input f32[3,4]\n" TABLES NUMBERS
        "a = slice w z h l\nb = slice w h e l\nn = neg b\nr = concat n a {axis=-1}\n" SUM
        "return y\n");
    assert_pass_leaves(PASS, NULL, "x = input f32[3,4]\n" TABLES "r = neg x\n" SUM "return y\n");
    assert_pass_leaves(PASS, NULL,
        "x = input f32[4,4]\nc = input f32[4]\ns = input f32[4]\nz = const i64[1] {0}\n"
        "h = const i64[1] {2}\ne = const i64[1] {4}\nl = const i64[1] {0}\n"
        "a = slice x z h l\n"
        "b = slice x h e l\nn = neg b\nr = concat n a\n" SUM "return y\n");
    assert_pass_leaves(PASS, NULL,
        "x = input f32[3,n]\nc = input f32[n]\ns = input f32[n]\n" NUMBERS HALVES
        "u = mul x c\nv = mul x s\ny = add u v\nreturn y, r\n");
    assert_pass_leaves(PASS, NULL,
        "x = input f32[3,4]\n" TABLES NUMBERS HALVES "u = mul x c\nv = mul r s\ny = sub u v\n"
        "return y\n");
}
END_TEST

PRT_TEST_MAIN("pass/attention/rotary", rotated_halves_become_a_product,
    rotated_pairs_become_a_product, near_misses_are_left)
