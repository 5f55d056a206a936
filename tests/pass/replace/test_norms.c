/* SPDX-License-Identifier: MIT */
/* test_norms.c — BatchNormalization, GroupNormalization and ReduceMean in other forms. */
#include "support/check_main.h"
#include "support/graph_text.h"

#define P4                                                                                         \
    "s = const f32[2] {2,-1}\nb = const f32[2] {1,0}\nm = const f32[2] {0.5,3}\n"                  \
    "v = const f32[2] {3,15}\n"
#define AFTER "%0 = const f32[1,2,1] {1,-0.25}\n%1 = const f32[1,2,1] {0.5,0.75}\n"

START_TEST(batch_norm_becomes_mul_and_add)
{
    static const char *const pass = "replace_bn_with_mul_add";
    assert_pass_rewrites(pass, NULL,
        "x = input f32[n,2,7]\n" P4 "y = batch_normalization x s b m v {epsilon=1} @bn\n"
        "return y\n",
        "x = input f32[n,2,7]\n" P4 AFTER "%2 = mul x %0 @bn\ny = add %2 %1 @bn\nreturn y\n");
    assert_pass_keeps_results("x = input f32[2,2,3,4]\n" P4
                              "y = batch_normalization x s b m v\nreturn y\n",
        pass, 5e-7);
    assert_pass_keeps_results("x = input f16[5,2]\n" P4
                              "y = batch_normalization x s b m v\nreturn y\n",
        pass, 3e-3);
    assert_pass_keeps_results("q = input bool[]\nx = input f32[3,2,4]\n" P4
                              "r = if q {\n  then_branch { t = batch_normalization x s b m v; "
                              "return t }\n  else_branch { return x }\n}\nreturn r\n",
        pass, 5e-7);
}
END_TEST

START_TEST(other_batch_norms_are_left)
{
    static const char *const pass = "replace_bn_with_mul_add";
    assert_pass_leaves(pass, NULL,
        "x = input f32[?,2,7]\n" P4 "w = input f32[2]\ny = batch_normalization x s b m w\n"
        "return y\n");
    assert_pass_leaves(pass, NULL,
        "x = input f32[n,2,7]\n" P4 "y, _, _ = batch_normalization x s b m v {training_mode=1}\n"
        "return y\n");
    assert_pass_leaves(pass, NULL,
        "x = input f32[n,2,7]\n" P4 "w = const f32[2] {-1,1}\n"
        "y = batch_normalization x s b m w {epsilon=0}\nreturn y\n");
    assert_pass_leaves(pass, NULL,
        "x = input f16[n,2,7]\n" P4 "w = const f32[2] {1e10,1}\nu = const f32[2] {1e10,1}\n"
        "y = batch_normalization x u b w v\nreturn y\n");
    /* an image of unknown element type */
    assert_pass_leaves(pass, NULL,
        "a = input f32[2,2,7]\n" P4 "t = \"com.example.Twist\" a : ?\n"
        "h = const i64[3] {2,2,7}\nx = reshape t h\n"
        "y = batch_normalization x s b m v\nreturn y\n");
}
END_TEST

#define FACTORS "s = const f16[6] {1,2,3,4,5,6}\nb = const f16[6] {0,1,0,-1,0,2}\n"

START_TEST(group_norm_becomes_fast_norm)
{
    static const char *const pass = "replace_groupnorm_with_fast_norm";
    assert_pass_rewrites(pass, NULL,
        "x = input f16[n,6]\n" FACTORS "y = gc_group_normalization x s b {num_groups=1,epsilon=2} "
        "@g\nreturn y\n",
        "x = input f16[n,6]\n" FACTORS "y = gc_fast_norm x s b {epsilon=2} @g\nreturn y\n");
    assert_pass_keeps_results("x = input f16[5,6]\n" FACTORS
                              "y = group_normalization x s b {num_groups=1}\nreturn y\n",
        pass, 0);
    assert_pass_keeps_results("x = input f16[5,6]\n" FACTORS
                              "y, _, _ = gc_group_normalization x s b {num_groups=1}\nreturn y\n",
        pass, 0);
    assert_pass_keeps_results("q = input bool[]\nx = input f16[3,6]\n" FACTORS
                              "r = if q {\n  then_branch { t = group_normalization x s b "
                              "{num_groups=1}; return t }\n  else_branch { return x }\n}\n"
                              "return r\n",
        pass, 0);
    assert_pass_leaves(pass, NULL,
        "x = input f16[5,6]\n" FACTORS "y = group_normalization x s b {num_groups=2}\nreturn y\n");
    assert_pass_leaves(pass, NULL,
        "x = input f16[5,6,3]\n" FACTORS
        "y = group_normalization x s b {num_groups=1}\nreturn y\n");
    assert_pass_leaves(pass, NULL,
        "x = input f16[5,6]\n" FACTORS "y, m = gc_group_normalization x s b {num_groups=1}\n"
        "return y, m\n");
    assert_pass_leaves(pass, NULL,
        "x = input f32[5,2]\n" P4 "y = group_normalization x s b {num_groups=1}\nreturn y\n");
}
END_TEST

START_TEST(half_means_become_sums)
{
    static const char *const pass = "replace_half_reducemean";
    assert_pass_rewrites(pass, NULL,
        "x = input f16[n,4]\na = const i64[1] {-1}\ny = reduce_mean x a {keepdims=0} @m\n"
        "return y\n",
        "x = input f16[n,4]\na = const i64[1] {-1}\n%0 = const f16[] {0.25}\n%1 = mul x %0 @m\n"
        "y = reduce_sum %1 a {keepdims=0} @m\nreturn y\n");
    assert_pass_keeps_results("x = input f16[3,5,7]\ny = reduce_mean x\nreturn y\n", pass, 0.05);
    assert_pass_keeps_results("x = input f16[3,8,7]\na = const i64[1] {1}\ny = reduce_mean x a\n"
                              "return y\n",
        pass, 0.0);
    assert_pass_keeps_results("q = input bool[]\nx = input f16[3,1]\na = const i64[1] {1}\n"
                              "r = if q {\n  then_branch { t = reduce_mean x a; return t }\n"
                              "  else_branch { return x }\n}\nreturn r\n",
        pass, 0);
}
END_TEST

START_TEST(other_means_are_left)
{
    static const char *const pass = "replace_half_reducemean";
    assert_pass_leaves(pass, NULL, "x = input f32[3,5]\ny = reduce_mean x\nreturn y\n");
    assert_pass_leaves(pass, NULL, "x = input f16[3,n]\ny = reduce_mean x\nreturn y\n");
    assert_pass_leaves(pass, NULL,
        "x = input f16[3,5]\na = input i64[1]\ny = reduce_mean x a\nreturn y\n");
    assert_pass_leaves(pass, NULL,
        "x = input f16[3,5]\ny = reduce_mean x {noop_with_empty_axes=1}\nreturn y\n");
    assert_pass_leaves(pass, NULL, "x = input f16[3,10000]\ny = reduce_mean x\nreturn y\n");
    assert_pass_leaves(pass, NULL, "x = input f16[0,5]\ny = reduce_mean x\nreturn y\n");
}
END_TEST

PRT_TEST_MAIN("pass/replace/norms", batch_norm_becomes_mul_and_add, other_batch_norms_are_left,
    group_norm_becomes_fast_norm, half_means_become_sums, other_means_are_left)
