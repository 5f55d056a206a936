/* SPDX-License-Identifier: MIT */
/* test_mul_into_conv.c — fuse_mul_into_conv: factors go into the weights of a convolution. */
#include "support/check_main.h"
#include "support/graph_text.h"

static const char *const pass = "fuse_mul_into_conv";

#define CONV                                                                                       \
    "x = input f32[2,2,4,4]\nw = const f32[2,1,2,2] {1,2,3,4,5,6,7,8}\nb = const f32[2] {1,-1}\n"

START_TEST(factors_go_into_weights_and_bias)
{
    static const char *const texts[] = {
        CONV "f = const f32[2,1,1] {2,-3}\ny = conv x w b {group=2}\nz = mul y f\nreturn z\n",
        CONV "f = const f32[] {0.5}\ny = conv x w b {group=2}\nz = mul f y\nreturn z\n",
        CONV "f = const f32[1,2,1,1] {2,0}\ny = conv x w {group=2}\nz = mul y f\nreturn z\n",
    };
    for (size_t i = 0; i < PRT_COUNT_OF(texts); i++) {
        prt_graph *g = graph_from_text(texts[i]);
        ck_assert(run_pass(g, pass, NULL));
        ck_assert(run_pass(g, "constant_folding", NULL));
        assert_text_has(graph_text(g), "conv !mul");
        module_free(g);
        assert_pass_keeps_results(texts[i], pass, 1e-5);
    }
}
END_TEST

START_TEST(other_products_stay)
{
    /* a computed factor; one for each column; a result that is read twice; computed weights */
    assert_pass_leaves(pass, NULL,
        "f = input f32[2,1,1]\n" CONV "y = conv x w {group=2}\nz = mul y f\nreturn z\n");
    assert_pass_leaves(pass, NULL,
        CONV "f = const f32[3] {1,2,3}\ny = conv x w {group=2}\nz = mul y f\nreturn z\n");
    assert_pass_leaves(pass, NULL,
        CONV "f = const f32[] {2}\ny = conv x w {group=2}\nz = mul y f\nreturn z, y\n");
    assert_pass_leaves(pass, NULL,
        "v = input f32[2,1,2,2]\n" CONV
        "f = const f32[] {2}\ny = conv x v {group=2}\nz = mul y f\nreturn z\n");
}
END_TEST

PRT_TEST_MAIN("pass/fuse/mul_into_conv", factors_go_into_weights_and_bias, other_products_stay)
