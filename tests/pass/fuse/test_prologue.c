/* SPDX-License-Identifier: MIT */
/* test_prologue.c — fuse_prologue: constants before a convolution go into its weights and bias. */
#include <stdio.h>

#include "support/check_main.h"
#include "support/graph_text.h"

#define PASS "fuse_prologue"
#define X "x = input f32[2,4,5,5]\n"
#define NUMBERS                                                                                    \
    "s = const f32[] {1.5}\nt = const f32[1] {-0.25}\nm = const f32[4,1,1] {1,2,-3,0.5}\n"         \
    "n = const f32[1,4,1,1] {0.5,-1,2,3}\nk = const f32[1,1,5,5] zeros\n"
#define W                                                                                          \
    "w = const f32[3,4,1,1] {1,2,3,4,5,6,-7,8,9,-1,-2,-3}\nb = const f32[3] {1,2,3}\n"             \
    "d = const f32[4,1,2,2] {1,2,3,4,5,6,7,8,-1,-2,-3,-4,-5,-6,-7,-8}\n"                           \
    "g = const f32[6,2,1,2] {1,2,3,4,5,6,7,8,9,10,11,12,-1,-2,-3,-4,-5,-6,-7,-8,-9,-10,-11,-12}\n"

/* All of it becomes the convolution. */
static void goes(const char *before, const char *conv)
{
    char text[1024];
    (void)snprintf(text, sizeof(text), X NUMBERS W "%sy = %s\nreturn y\n", before, conv);
    prt_graph *graph = graph_from_text(text);
    ck_assert_msg(run_pass(graph, PASS, NULL), "%s", text);
    ck_assert_msg(graph->first == graph->last, "%s", graph_text(graph));
    module_free(graph);
    assert_pass_keeps_results(text, PASS, 1e-5);
}

static void all_go(size_t n, const char *const *before, size_t m, const char *const *convs)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < m; k++)
            goes(before[i], convs[k]);
}

START_TEST(factors_go_into_the_weights)
{
    static const char *const before[] = { "v = mul x s\n", "v = mul t x\n", "v = mul x m\n",
        "v = mul n x\n", "u = mul x n\nv = mul u t\n" };
    static const char *const convs[] = { "conv v w", "conv v w b", "conv v d {group=4}",
        "conv v d {group=4,pads=[1,1,1,1]}", "conv v g {group=2,strides=[2,1]}",
        "fused_conv v w b {activation=Relu}" };
    all_go(PRT_COUNT_OF(before), before, PRT_COUNT_OF(convs), convs);
}
END_TEST

START_TEST(sums_go_into_the_bias)
{
    static const char *const before[] = { "v = add x s\n", "v = add t x\n", "v = add x m\n",
        "v = add n x\n", "u = mul x n\nv = add u m\n", "u = add x n\nv = mul u t\n" };
    static const char *const convs[] = { "conv v w", "conv v w b", "conv v d {group=4}",
        "conv v g {group=2,strides=[2,1]}", "conv v d {group=4,auto_pad=VALID}",
        "fused_conv v w b {activation=Tanh}" };
    all_go(PRT_COUNT_OF(before), before, PRT_COUNT_OF(convs), convs);
}
END_TEST

START_TEST(residuals_are_kept)
{
    static const char *const text =
        X NUMBERS W "r = input f32[2,3,5,5]\nv = mul x s\n"
                    "y = fused_conv v w b r {activation=Relu}\nreturn y\n";
    prt_graph *graph = graph_from_text(text);
    ck_assert(run_pass(graph, PASS, NULL));
    ck_assert_msg(graph->first == graph->last && graph->first->n_in == 4, "%s", graph_text(graph));
    module_free(graph);
    assert_pass_keeps_results(text, PASS, 1e-5);
}
END_TEST

START_TEST(other_inputs_are_left)
{
    static const char *const ends[] = {
        "v = add x s\ny = conv v d {group=4,pads=[0,1,0,0]}\nreturn y\n",
        "v = add x s\ny = conv v d {group=4,auto_pad=SAME_UPPER}\nreturn y\n",
        "v = mul x k\ny = conv v w\nreturn y\n",
        "v = mul x s\ny = conv v w\nreturn y, v\n",
        "v = mul x x\ny = conv v w\nreturn y\n",
        "v = mul x s\ny = conv v w\nz = conv v w b\nreturn y, z\n",
        "v = mul x s\nu = conv x w\ny = conv v w\nreturn y, u\n", /* weights of two */
        "f = input f32[3,4,1,1]\nv = mul x s\ny = conv v f\nreturn y\n",
        "h = input f32[3]\nv = add x s\ny = conv v w h\nreturn y\n",
        "h = const f32[] {3e38}\nu = const f32[3,4,1,1] {9,9,9,9,9,9,9,9,9,9,9,9}\n"
        "v = mul x h\ny = conv v u\nreturn y\n",
    };
    for (size_t i = 0; i < PRT_COUNT_OF(ends); i++) {
        char text[1024];
        (void)snprintf(text, sizeof(text), X NUMBERS W "%s", ends[i]);
        assert_pass_leaves(PASS, NULL, text);
    }
}
END_TEST

PRT_TEST_MAIN("pass/fuse/prologue", factors_go_into_the_weights, sums_go_into_the_bias,
    residuals_are_kept, other_inputs_are_left)
