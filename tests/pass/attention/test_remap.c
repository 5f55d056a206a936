/* SPDX-License-Identifier: MIT */
/* test_remap.c — auto_insert_remap. */
#include "support/check_main.h"
#include "support/graph_text.h"

#define PASS "auto_insert_remap"
#define IN "x = input f32[2,2]\n"

START_TEST(remap_follows_the_chosen_operators)
{
    assert_pass_rewrites(PASS, NULL, IN "m = matmul x x @m\ny = neg m\nreturn y\n",
        IN "m = matmul x x @m\n%0 = gc_remap m @m\ny = neg %0\nreturn y\n");
    assert_pass_rewrites(PASS, NULL, IN "y = matmul x x @m\nz = neg y\nreturn y, z\n",
        IN "%0 = matmul x x @m\ny = gc_remap %0 @m\nz = neg y\nreturn y, z\n");
    assert_pass_rewrites(PASS, "remap_mode=before_softmax",
        IN "n = neg x\ny = softmax n @s\nreturn y\n",
        IN "n = neg x\n%0 = gc_remap n @s\ny = softmax %0 @s\nreturn y\n");
    assert_pass_rewrites(PASS, "remap_mode=both",
        IN "c = const f32[2] {1,2}\nm = matmul x x\ny = add m c\nz = add x y\nreturn z\n",
        IN "c = const f32[2] {1,2}\nm = matmul x x\n%0 = gc_remap m\ny = add %0 c\n"
           "%1 = gc_remap y\nz = add x %1\nreturn z\n");
    assert_pass_rewrites(PASS, "remap_mode= before_add,after_concat ",
        IN "n = neg x\nc = concat n x\nd = add n n\nreturn c, d\n",
        IN "n = neg x\n%0 = concat n x\nc = gc_remap %0\n%1 = gc_remap n\n%2 = gc_remap n\n"
           "d = add %1 %2\nreturn c, d\n");
}
END_TEST

START_TEST(near_misses_are_left)
{
    assert_pass_leaves(PASS, NULL, IN "y = add x x\nreturn y\n");
    assert_pass_leaves(PASS, NULL, IN "m = matmul x x\nr = gc_remap m\ny = neg r\nreturn y\n");
    assert_pass_leaves(PASS, "remap_mode=before_add",
        IN "c = const f32[2] {1,2}\ny = add x c\nreturn y\n");
    assert_pass_fails(PASS, "remap_mode=around_add", IN "return x\n", POPRT_E_ARG, "before_TYPE");
    assert_pass_fails(PASS, "remap_mode=before_nothing", IN "return x\n", POPRT_E_ARG,
        "lower case");
    assert_pass_fails(PASS, "remap_mode=after_Add", IN "return x\n", POPRT_E_ARG, "lower case");
}
END_TEST

START_TEST(results_are_the_same)
{
    assert_pass_keeps_results(IN "m = matmul x x\ny = add m x\nreturn y\n", PASS, 0);
    assert_pass_keeps_results("q = input bool[]\n" IN "r = if q {\n"
                              "  then_branch { t = matmul x x; return t }\n"
                              "  else_branch { return x }\n}\nreturn r\n",
        PASS, 0);
}
END_TEST

PRT_TEST_MAIN("pass/attention/remap", remap_follows_the_chosen_operators, near_misses_are_left,
    results_are_the_same)
