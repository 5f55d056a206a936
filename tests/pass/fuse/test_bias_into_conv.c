/* SPDX-License-Identifier: MIT */
/* test_bias_into_conv.c — fuse_add_bias_into_conv: constants by channel, and near misses. */
#include <stdio.h>

#include "support/check_main.h"
#include "support/graph_text.h"

#define PASS "fuse_add_bias_into_conv"
#define X                                                                                          \
    "x = input f32[n,2,h,6]\nw = const f32[3,2,1,2] {1,2,3,4,5,6,7,8,9,10,11,12}\n"                \
    "t = const f32[2,3,2,2] {1,2,3,4,5,6,7,8,9,10,11,12,-1,-2,-3,-4,-5,-6,-7,-8,-9,-1,-2,-3}\n"    \
    "b = const f32[3] {1,2,3}\n"

START_TEST(constants_become_bias)
{
    static const char *const convs[] = { "c = conv x w\n", "c = conv x w b {pads=[0,1,0,1]}\n",
        "c = conv_transpose x t\n", "c = conv_transpose x t b {strides=[2,2]}\n" };
    static const char *const sums[] = { "f32[1,3,1,1] {0.5,-2,0.1}", "f32[3,1,1] {0.5,-2,0.1}",
        "f32[1,1,1] {2}", "f32[] {-0.5}" };
    for (size_t i = 0; i < PRT_COUNT_OF(convs); i++)
        for (size_t k = 0; k < 2 * PRT_COUNT_OF(sums); k++) {
            char text[1024];
            (void)snprintf(text, sizeof(text), X "f = const %s\n%sy = add %s\nreturn y\n",
                sums[k / 2], convs[i], k % 2 != 0 ? "c f" : "f c");
            prt_graph *g = graph_from_text(text);
            ck_assert_msg(run_pass(g, PASS, NULL), "%s", text);
            ck_assert_ptr_eq(g->first, g->last);
            ck_assert_uint_eq(g->first->n_in, 3);
            module_free(g);
            assert_pass_keeps_results(text, PASS, 1e-6);
        }
}
END_TEST

START_TEST(other_sums_are_left)
{
    static const char *const ends[] = {
        "f = const f32[6] {1,2,3,4,5,6}\nc = conv x w {pads=[0,0,0,1]}\ny = add c f\nreturn y\n",
        "f = input f32[3,1,1]\nc = conv x w\ny = add c f\nreturn y\n",
        "f = const f32[3,1,1] {1,2,3}\nc = conv x w\ny = add c f\nreturn y, c\n",
        "f = const f32[3,1,1] {1,2,3}\nc = conv x w\ny = mul c f\nreturn y\n",
        "f = const f32[2,1,1,1,1] {1,2}\nc = conv x w\ny = add c f\nreturn y\n",
        "v = input f32[3]\nf = const f32[3,1,1] {1,2,3}\nc = conv x w v\ny = add c f\nreturn y\n",
    };
    for (size_t i = 0; i < PRT_COUNT_OF(ends); i++) {
        char text[1024];
        (void)snprintf(text, sizeof(text), X "%s", ends[i]);
        assert_pass_leaves(PASS, NULL, text);
    }
}
END_TEST

/* A normalisation after the sum is then folded into the weights. */
START_TEST(a_following_norm_is_fused_too)
{
    prt_graph *g =
        graph_from_text(X "f = const f32[1,3,1,1] {1,2,3}\n"
                          "s = const f32[3] {1,2,3}\nc = conv_transpose x t\na = add c f\n"
                          "y = batch_normalization a s b b s\nreturn y\n");
    ck_assert(!run_pass(g, "fuse_bn_into_conv", NULL));
    ck_assert(run_pass(g, PASS, NULL));
    ck_assert(run_pass(g, "fuse_bn_into_conv", NULL));
    ck_assert_ptr_eq(g->first, g->last);
    module_free(g);
}
END_TEST

PRT_TEST_MAIN("pass/fuse/bias_into_conv", constants_become_bias, other_sums_are_left,
    a_following_norm_is_fused_too)
