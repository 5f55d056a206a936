/* SPDX-License-Identifier: MIT */
/* test_batch_norm.c — batch_norm_to_conv. */
#include <stdio.h>

#include "support/check_main.h"
#include "support/graph_text.h"

#define PASS "batch_norm_to_conv"
#define PARAMS                                                                                     \
    "s = const f32[3] {2,0.5,-1}\nt = const f32[3] {1,-1,0.25}\n"                                  \
    "m = const f32[3] {0.5,0,-0.5}\nv = const f32[3] {1,4,0.25}\n"
#define NORM "y = batch_normalization x s t m v {epsilon=0.001} @bn\nreturn y\n"

START_TEST(channels_are_scaled_and_shifted)
{
    prt_graph *g = graph_from_text("x = input f32[n,2,h,4]\n%0 = const f32[2] {2,3}\n"
                                   "%1 = const f32[2] {1,-1}\n%2 = const f32[2] {0.5,1}\n"
                                   "%3 = const f32[2] {3,15}\n"
                                   "y = batch_normalization x %0 %1 %2 %3 {epsilon=1} @bn\n"
                                   "return y\n");
    ck_assert(run_pass(g, PASS, NULL));
    ck_assert_graph(g,
        "x = input f32[n,2,h,4]\n%0 = const f32[2,1,1,1] {1,0.75}\n"
        "%1 = const f32[2] {0.5,-1.75}\ny = conv x %0 %1 {group=2} @bn\nreturn y\n");
    ck_assert(!run_pass(g, PASS, NULL));
    module_free(g);
}
END_TEST

START_TEST(fusion_keeps_the_results)
{
    assert_pass_keeps_results("x = input f32[2,3,4,5]\n" PARAMS NORM, PASS, 1e-6);
    assert_pass_keeps_results("x = input f32[n,3,h,w]\n" PARAMS NORM, PASS, 1e-6);
    assert_pass_keeps_results("x = input f32[4,3]\n" PARAMS NORM, PASS, 1e-6);
    assert_pass_keeps_results("x = input f32[n,3]\n" PARAMS NORM, PASS, 1e-6);
    assert_pass_keeps_results("x = input f32[2,3,4,5]\n" PARAMS "q = input bool[]\nr = if q {\n"
                              "  then_branch { a = batch_normalization x s t m v; return a }\n"
                              "  else_branch { b = neg x; return b }\n}\nreturn r\n",
        PASS, 1e-6);
}
END_TEST

START_TEST(near_misses_are_left)
{
    static const char *const graphs[] = {
        "x = input f32[2,3,4]\n" PARAMS NORM,
        "x = input f32[2,3,4,5,6]\n" PARAMS NORM,
        "x = input f32[*]\n" PARAMS NORM,
        "x = input f32[2,c,4,5]\n" PARAMS NORM,
        "x = input f16[2,3,4,5]\n" PARAMS NORM,
        "x = input f32[2,1,4,5]\ns = const f32[1] {1}\nt = const f32[1] {1}\nm = const f32[1] {1}\n"
        "v = const f32[1] {1}\n" NORM,
        "x = input f32[2,3,4,5]\ns = input f32[3]\nt = const f32[3] {1,-1,0.25}\n"
        "m = const f32[3] {0.5,0,-0.5}\nv = const f32[3] {1,4,0.25}\n" NORM,
        "x = input f32[2,3,4,5]\ns = const f32[3] {2,0.5,-1}\nt = const f32[3] {1,-1,0.25}\n"
        "m = const f32[3] {0.5,0,-0.5}\nv = const f32[3] {1,-4,0.25}\n" NORM,
        "x = input f32[2,3,4,5]\ns = const f32[3] {2,inf,-1}\nt = const f32[3] {1,-1,0.25}\n"
        "m = const f32[3] {0.5,0,-0.5}\nv = const f32[3] {1,4,0.25}\n" NORM,
        "x = input f32[2,3,4,5]\n" PARAMS
        "y = batch_normalization x s t m v {training_mode=1}\nreturn y\n",
        "x = input f32[2,3,4,5]\n" PARAMS
        "y, a, b = batch_normalization x s t m v {training_mode=1}\nreturn y, a, b\n",
    };
    for (size_t i = 0; i < PRT_COUNT_OF(graphs); i++)
        assert_pass_leaves(PASS, NULL, graphs[i]);
}
END_TEST

PRT_TEST_MAIN("pass/fuse/batch_norm", channels_are_scaled_and_shifted, fusion_keeps_the_results,
    near_misses_are_left)
