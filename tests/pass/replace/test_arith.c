/* SPDX-License-Identifier: MIT */
/* test_arith.c — replace_div_with_mul, replace_pow. */
#include "support/check_main.h"
#include "support/graph_text.h"

START_TEST(division_by_constants_becomes_a_product)
{
    static const char *const pass = "replace_div_with_mul";
    assert_pass_rewrites(pass, NULL,
        "x = input f32[n,2]\nc = const f32[2] {4,-0.5}\nd = div x c @d\ny = neg d\nreturn y\n",
        "x = input f32[n,2]\nc = const f32[2] {4,-0.5}\nc_0 = const f32[2] {0.25,-2}\n"
        "d = mul x c_0 @d\ny = neg d\nreturn y\n");
    assert_pass_keeps_results("x = input f32[3,50]\nc = const f32[] {3}\ny = div x c\nreturn y\n",
        pass, 2e-7);
    assert_pass_keeps_results("x = input f16[3,50]\nc = const f16[] {8}\ny = div x c\nreturn y\n",
        pass, 0);
    assert_pass_keeps_results("q = input bool[]\nx = input f32[4]\nc = const f32[4] {1,2,3,4}\n"
                              "r = if q {\n  then_branch { t = div x c; return t }\n"
                              "  else_branch { return x }\n}\nreturn r\n",
        pass, 2e-7);
}
END_TEST

START_TEST(other_divisions_are_left)
{
    static const char *const pass = "replace_div_with_mul";
    assert_pass_leaves(pass, NULL,
        "x = input f32[2]\nc = const f32[2] {1,0}\ny = div x c\nreturn y\n");
    assert_pass_leaves(pass, NULL,
        "x = input f32[2]\nc = const f32[2] {1,1e38}\ny = div x c\nreturn y\n");
    assert_pass_leaves(pass, NULL,
        "x = input f16[2]\nc = const f16[] {30000}\ny = div x c\nreturn y\n");
    assert_pass_leaves(pass, NULL,
        "x = input f32[2]\nc = const f32[] {nan}\ny = div x c\nreturn y\n");
    assert_pass_leaves(pass, NULL,
        "x = input i32[2]\nc = const i32[] {2}\ny = div x c\nreturn y\n");
    assert_pass_leaves(pass, NULL,
        "x = input f32[2]\nc = input f32[] {2}\ny = div x c\nreturn y\n");
    assert_pass_leaves(pass, NULL,
        "x = input f32[2]\nc = const f32[] {2}\ny = div c x\nreturn y\n");
}
END_TEST

START_TEST(small_powers_become_products)
{
    static const char *const pass = "replace_pow";
    assert_pass_rewrites(pass, NULL,
        "x = input f32[n]\nc = const i64[1] {2}\ny = pow x c @p\nreturn y\n",
        "x = input f32[n]\nc = const i64[1] {2}\ny = mul x x @p\nreturn y\n");
    assert_pass_rewrites(pass, NULL,
        "x = input f32[n]\nc = const f32[] {3}\ny = pow x c\nreturn y\n",
        "x = input f32[n]\nc = const f32[] {3}\n%0 = mul x x\ny = mul %0 x\nreturn y\n");
    assert_pass_rewrites(pass, NULL,
        "x = input f32[n]\nc = const f32[] {1}\nz = pow x c\ny = neg z\nreturn y\n",
        "x = input f32[n]\nc = const f32[] {1}\ny = neg x\nreturn y\n");
    assert_pass_keeps_results("x = input f32[3,50]\nc = const f32[] {2}\ny = pow x c\nreturn y\n",
        pass, 0);
    assert_pass_keeps_results("x = input f16[3,50]\nc = const f32[1,1] {3}\ny = pow x c\n"
                              "return y\n",
        pass, 2e-3);
    assert_pass_keeps_results("q = input bool[]\nx = input f32[4]\nc = const f32[] {3}\n"
                              "r = if q {\n  then_branch { t = pow x c; return t }\n"
                              "  else_branch { return x }\n}\nreturn r\n",
        pass, 3e-7);
}
END_TEST

START_TEST(other_powers_are_left)
{
    static const char *const pass = "replace_pow";
    assert_pass_leaves(pass, NULL,
        "x = input f32[n]\nc = const f32[] {0.5}\ny = pow x c\nreturn y\n");
    assert_pass_leaves(pass, NULL,
        "x = input f32[n]\nc = const f32[] {-1}\ny = pow x c\nreturn y\n");
    assert_pass_leaves(pass, NULL, "x = input f32[n]\nc = input f32[]\ny = pow x c\nreturn y\n");
    assert_pass_leaves(pass, NULL,
        "x = input f32[n]\nc = const f32[2] {2,2}\ny = pow x c\nreturn y\n");
    assert_pass_leaves(pass, NULL,
        "x = input f32[n]\nc = const f32[1,1] {2}\ny = pow x c\nreturn y\n");
    assert_pass_leaves(pass, NULL,
        "x = input i32[n]\nc = const i32[] {2}\ny = pow x c\nreturn y\n");
    /* an input would become an output */
    assert_pass_leaves(pass, NULL,
        "x = input f32[n]\nc = const f32[] {1}\ny = pow x c\nreturn y\n");
}
END_TEST

PRT_TEST_MAIN("pass/replace/arith", division_by_constants_becomes_a_product,
    other_divisions_are_left, small_powers_become_products, other_powers_are_left)
