/* SPDX-License-Identifier: MIT */
/* test_batch_norm.c — batchnorm_workaround. */
#include "support/check_main.h"
#include "support/graph_text.h"

#define PASS "batchnorm_workaround"
#define PARAMS(type)                                                                               \
    "s = const " type "[2] {2,-1}\nb = const " type "[2] {1,0}\nm = const " type "[2] {0.5,3}\n"   \
    "v = const " type "[2] {3,15}\n"

START_TEST(inputs_of_other_ranks_are_reshaped)
{
    assert_pass_rewrites(PASS, NULL,
        "x = input f32[n,2]\n" PARAMS("f32") "y = batch_normalization x s b m v {epsilon=1} @bn\n"
                                             "return y\n",
        "x = input f32[n,2]\n" PARAMS(
            "f32") "%0 = const i64[1] {2}\n%1 = unsqueeze x %0 @bn\n"
                   "%2 = batch_normalization %1 s b m v {epsilon=1} @bn\n%3 = const i64[1] {2}\n"
                   "y = squeeze %2 %3 @bn\nreturn y\n");
    assert_pass_rewrites(PASS, NULL,
        "x = input f16[n,2,3]\ns = input f16[2]\nb = input f16[2]\nm = input f32[2]\n"
        "v = input f32[2]\ny = batch_normalization x s b m v\nreturn y\n",
        "x = input f16[n,2,3]\ns = input f16[2]\nb = input f16[2]\nm = input f32[2]\n"
        "v = input f32[2]\n%0 = cast x {to=1}\n%1 = cast s {to=1}\n%2 = cast b {to=1}\n"
        "%3 = batch_normalization %0 %1 %2 m v\ny = cast %3 {to=10}\nreturn y\n");
}
END_TEST

START_TEST(the_workaround_keeps_the_results)
{
    assert_pass_keeps_results("x = input f32[4,2]\n" PARAMS(
                                  "f32") "y = batch_normalization x s b m v\nreturn y\n",
        PASS, 0);
    assert_pass_keeps_results("x = input f16[4,2,3]\n" PARAMS(
                                  "f32") "y = batch_normalization x s b m v\nreturn y\n",
        PASS, 1e-3);
    assert_pass_keeps_results(
        "q = input bool[]\nx = input f32[4,2]\n" PARAMS(
            "f32") "r = if q {\n  then_branch { t = batch_normalization x s b m v; "
                   "return t }\n  else_branch { return x }\n}\nreturn r\n",
        PASS, 0);
}
END_TEST

START_TEST(near_misses_are_left)
{
    assert_pass_leaves(PASS, NULL,
        "x = input f32[n,2,3]\n" PARAMS("f32") "y = batch_normalization x s b m v\nreturn y\n");
    assert_pass_leaves(PASS, NULL,
        "x = input f32[n,2]\n" PARAMS(
            "f32") "y, _, _ = batch_normalization x s b m v {training_mode=1}\n"
                   "return y\n");
    assert_pass_leaves(PASS, NULL,
        "x = input f32[2]\nr = \"o.R\" x\nt = cast r {to=1}\n" PARAMS(
            "f32") "y = batch_normalization t s b m v\nreturn y\n");
}
END_TEST

PRT_TEST_MAIN("pass/workaround/batch_norm", inputs_of_other_ranks_are_reshaped,
    the_workaround_keeps_the_results, near_misses_are_left)
