/* SPDX-License-Identifier: MIT */
/* test_epilogue.c — what products take in, and what they leave alone. */
#include <stdio.h>

#include "support/check_main.h"
#include "support/graph_text.h"

#define CONV "x = input f32[1,3,8,8]\nw = input f32[4,3,3,3]\nb = input f32[4]\n"
#define LINEAR "a = input f32[2,5,8]\nw = input f32[8,6]\nb = input f32[6]\n"

START_TEST(a_convolution_takes_residual_and_activation)
{
    prt_graph *g = graph_from_text(
        CONV "r = input f32[1,4,6,6]\nc = conv x w b {strides=[1,1]} @n\n"
             "s = add r c\ny = relu s\nreturn y\n");
    ck_assert(run_pass(g, "fuse_epilogue", NULL));
    ck_assert_graph(g, CONV "r = input f32[1,4,6,6]\n"
                            "y = fused_conv x w b r {strides=[1,1],activation=\"Relu\",alpha=0,"
                            "beta=0} @n\nreturn y\n");
    ck_assert(!run_pass(g, "fuse_epilogue", NULL));
    module_free(g);
}
END_TEST

START_TEST(a_product_takes_bias_residual_and_activation)
{
    prt_graph *g = graph_from_text(LINEAR "r = input f32[2,5,6]\nm = matmul a w @n\ns = add m b\n"
                                          "t = add s r\ny = gelu t\nreturn y\n");
    ck_assert(run_pass(g, "fuse_epilogue", NULL));
    ck_assert_graph(g, LINEAR "r = input f32[2,5,6]\n"
                              "y = fused_linear a w b r {activation=\"Gelu\",alpha=0,beta=0} @n\n"
                              "return y\n");
    module_free(g);
}
END_TEST

START_TEST(results_stay)
{
    static const char *const ends[] = { "relu s", "clip s lo hi", "leaky_relu s {alpha=0.3}",
        "sigmoid s", "tanh s", "hard_sigmoid s", "hard_swish s", "gelu s",
        "gelu s {approximate=\"tanh\"}", "swish s" };
    for (size_t i = 0; i < PRT_COUNT_OF(ends); i++) {
        char text[512];
        (void)snprintf(text, sizeof(text),
            CONV "lo = const f32[] {-0.25}\nhi = const f32[] {0.5}\ns = conv x w b\ny = %s\n"
                 "return y\n", ends[i]);
        assert_pass_keeps_results(text, "fuse_epilogue", 1e-6);
        (void)snprintf(text, sizeof(text),
            "lo = const f32[] {-0.25}\nhi = const f32[] {0.5}\nx = input f32[4,8]\n"
            "w = input f32[6,8]\nb = input f32[6]\ns = gemm x w b {transB=1}\ny = %s\nreturn y\n",
            ends[i]);
        assert_pass_keeps_results(text, "fuse_epilogue", 1e-6);
    }
}
END_TEST

START_TEST(other_readers_keep_things_apart)
{
    static const char *const graphs[] = {
        CONV "c = conv x w b\ny = relu c\nz = neg c\nreturn y, z\n",
        CONV "y = conv x w b\nz = relu y\nreturn y, z\n",
        CONV "r = input f32[4,1,1]\nc = conv x w b\ny = add c r\nreturn y\n",
        "x = input f64[1,3,8,8]\nw = input f64[4,3,3,3]\nc = conv x w\ny = relu c\nreturn y\n",
        LINEAR "r = input f32[5,1]\nm = matmul a w\ny = add m r\nreturn y\n",
        "a = input f32[4,8]\nw = input f32[8,6]\nc = input f32[4,6]\ng = gemm a w c\ny = relu g\n"
        "return y\n",
        "a = input f32[2,4,8]\nw = input f32[2,8,6]\nm = matmul a w\ny = relu m\nreturn y\n",
        CONV "lo = input f32[]\nc = conv x w b\ny = clip c lo\nreturn y\n",
    };
    for (size_t i = 0; i < PRT_COUNT_OF(graphs); i++) {
        prt_graph *g = graph_from_text(graphs[i]);
        ck_assert_msg(!run_pass(g, "fuse_epilogue", NULL), "%s", graphs[i]);
        module_free(g);
    }
}
END_TEST

START_TEST(symbols_do_no_harm)
{
    assert_pass_keeps_results("a = input f32[n,8]\nw = input f32[8,6]\nb = input f32[6]\n"
                              "m = matmul a w\ns = add b m\ny = relu s\nreturn y\n",
        "fuse_epilogue", 1e-6);
}
END_TEST

PRT_TEST_MAIN("pass/fuse/epilogue", a_convolution_takes_residual_and_activation,
    a_product_takes_bias_residual_and_activation, results_stay, other_readers_keep_things_apart,
    symbols_do_no_harm)
