/* SPDX-License-Identifier: MIT */
/* test_group_norm.c — fuse_group_norm. */
#include <stdio.h>

#include "support/check_main.h"
#include "support/graph_text.h"

#define PASS "fuse_group_norm"
#define GROUPS "o = const f32[2] {1,2}\nz = const f32[2] {0,-1}\n"
#define WRITTEN                                                                                    \
    "t = const i64[3] {0,2,-1}\nu = reshape x t\n"                                                 \
    "v = instance_normalization u o z {epsilon=0.001}\n"
#define BACK "q = const i64[4] {2,4,3,5}\ny = reshape v q\n"

START_TEST(the_formula_becomes_one_operator)
{
    prt_graph *g = graph_from_text(
        "x = input f32[2,4,3,5]\n" GROUPS WRITTEN BACK
        "s = const f32[4,1,1] {1,2,3,4}\nb = const f32[1,4,1,1] {1,0,-1,0.5}\nm = mul y s\n"
        "r = add m b\nreturn r\n");
    ck_assert(run_pass(g, PASS, NULL));
    ck_assert_ptr_nonnull(strstr(graph_text(g), "group_normalization x"));
    ck_assert_ptr_nonnull(strstr(graph_text(g), "{1, 2, 6, 8}"));
    ck_assert_ptr_nonnull(strstr(graph_text(g), "{1, 0, -4, -3.5}"));
    ck_assert_ptr_null(strstr(graph_text(g), "instance_normalization"));
    ck_assert_ptr_null(strstr(graph_text(g), "= mul"));
    ck_assert_ptr_null(strstr(graph_text(g), "= add"));
    ck_assert(!run_pass(g, PASS, NULL));
    module_free(g);
}
END_TEST

START_TEST(fusion_keeps_the_results)
{
    static const char *const ends[] = { "return y\n",
        "s = const f32[4,1,1] {1,2,3,4}\nr = mul s y\nreturn r\n",
        "s = const f32[] {3}\nr = mul y s\nw = add r s\nreturn w\n",
        "s = const f32[1,4,1,1] {1,2,3,4}\nr = add s y\nw = relu r\nreturn w\n" };
    char text[1024];
    for (size_t i = 0; i < PRT_COUNT_OF(ends); i++) {
        (void)snprintf(text, sizeof(text), "x = input f32[2,4,3,5]\n" GROUPS WRITTEN BACK "%s",
            ends[i]);
        assert_pass_keeps_results(text, PASS, 1e-5);
    }
    assert_pass_keeps_results(
        "x = input f32[2,3,5,4]\ns = const f32[4] {1,2,3,4}\n"
        "n = nhwc_group_norm x s s {num_groups=2}\nf = const f32[4] {0.5,1,2,-1}\nm = mul n f\n"
        "a = add m s\ny = leaky_relu a {alpha=0.25}\nreturn y\n",
        PASS, 1e-5);
    assert_pass_keeps_results(
        "x = input f32[2,3,5,4]\ns = const f32[4] {1,2,3,4}\n"
        "n = nhwc_group_norm x s s {num_groups=4}\nl = const f32[] {-1}\nh = const f32[] {1}\n"
        "y = clip n l h\nreturn y\n",
        PASS, 1e-5);
    for (int i = 0; i < 4; i++) {
        (void)snprintf(text, sizeof(text),
            "x = input f32[2,3,5,4]\ns = const f32[4] {1,2,3,4}\n"
            "y = ms_group_norm x s s {groups=2,channels_last=%d,activation=%d}\nreturn y\n",
            i % 2, i / 2);
        if (i % 2 != 0)
            assert_pass_keeps_results(text, PASS, 1e-5);
    }
}
END_TEST

static void ck_left(const char *text)
{
    assert_pass_leaves(PASS, NULL, text);
}

START_TEST(near_misses_are_left)
{
    /* another shape afterwards; numbers that are not constants; groups that are not a separate
     * dim */
    ck_left("x = input f32[2,4,3,5]\n" GROUPS WRITTEN
            "q = const i64[4] {2,4,5,3}\ny = reshape v q\nreturn y\n");
    ck_left("x = input f32[2,4,3,5]\no = input f32[2]\nz = const f32[2] {0,-1}\n" WRITTEN BACK
            "return y\n");
    ck_left("x = input f32[2,4,3,5]\n" GROUPS WRITTEN BACK "return y, v\n");
    ck_left("x = input f16[2,4,3,5]\no = const f16[2] {1,1}\nz = const f16[2] {0,0}\n" WRITTEN BACK
            "return y\n");
    ck_left("x = input f32[2,4,3,5]\n" GROUPS "t = const i64[3] {4,2,15}\nu = reshape x t\n"
            "v = instance_normalization u o z\n" BACK "return y\n");
    ck_left("x = input f32[2,3,5,4]\ns = const f32[4] {1,2,3,4}\n"
            "n = nhwc_group_norm x s s {num_groups=2,activation=\"Relu\"}\n"
            "y = mul n s\nreturn y\n");
    ck_left("x = input f32[2,3,5,4]\ns = const f32[4] {1,2,3,4}\nf = const f32[5,1] {1,2,3,4,5}\n"
            "n = nhwc_group_norm x s s {num_groups=2}\ny = mul n f\nreturn y\n");
    ck_left("x = input f32[2,4,3,5]\ns = const f32[4] {1,2,3,4}\n"
            "n = group_normalization x s s {num_groups=2}\ny = relu n\nreturn y\n");
}
END_TEST

PRT_TEST_MAIN("pass/fuse/group_norm", the_formula_becomes_one_operator, fusion_keeps_the_results,
    near_misses_are_left)
