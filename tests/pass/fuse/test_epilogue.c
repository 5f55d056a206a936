/* SPDX-License-Identifier: MIT */
/* test_epilogue.c — fuse_epilogue: epilogues of convolutions and products, and near misses. */
#include <stdio.h>

#include "support/check_main.h"
#include "support/graph_text.h"

#define CONV "x = input f32[1,3,8,8]\nw = input f32[4,3,3,3]\nb = input f32[4]\n"
#define LINEAR "a = input f32[2,5,8]\nw = input f32[8,6]\nb = input f32[6]\n"

START_TEST(a_convolution_takes_residual_and_activation)
{
    prt_graph *g =
        graph_from_text(CONV "r = input f32[1,4,6,6]\nc = conv x w b {strides=[1,1]} @n\n"
                             "s = add r c\ny = relu s\nreturn y\n");
    ck_assert(run_pass(g, "fuse_epilogue", NULL));
    ck_assert_graph(g,
        CONV "r = input f32[1,4,6,6]\n"
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
    ck_assert_graph(g,
        LINEAR "r = input f32[2,5,6]\n"
               "y = fused_linear a w b r {activation=\"Gelu\",alpha=0,beta=0} @n\n"
               "return y\n");
    module_free(g);
}
END_TEST

#define FOUR "w = const f32[2,4] {1,-2,3,0.5, 0.25,1,-1,2}\nb = const f32[4] {1,2,-3,0.5}\n"

START_TEST(factors_go_into_weights)
{
    static const char *const products[] = {
        "a = input f32[3,2]\n" FOUR "m = matmul a w\ns = add m b\n",
        "a = input f32[5,3,2]\n" FOUR "s = matmul a w\n",
        "a = input f32[3,4]\n" FOUR "c = const f32[2] {4,-1}\ns = gemm a w c {transB=1}\n",
    };
    static const char *const factors[] = { "f32[] {3}", "f32[1,1] {0.75}", "f32[4] {1,-2,0.3,0}",
        "f32[1,4] {1,-2,0.3,0}", "f32[2] {0.5,3}" };
    for (size_t i = 0; i < PRT_COUNT_OF(products); i++)
        for (size_t j = 0; j < PRT_COUNT_OF(factors); j++) {
            char text[512];
            if (j >= 2 && (i == 2) != (j == 4)) /* of other lengths */
                continue;
            (void)snprintf(text, sizeof(text), "%sf = const %s\ny = mul %s\nreturn y\n",
                products[i], factors[j], j % 2 != 0 ? "s f" : "f s");
            prt_graph *g = graph_from_text(text);
            ck_assert(run_pass(g, "fuse_epilogue", NULL));
            for (const prt_op *op = g->first; op != NULL; op = op->next)
                ck_assert(!prt_op_is(op, PRT_OP_mul));
            module_free(g);
            assert_pass_keeps_results(text, "fuse_epilogue", 1e-6);
        }
    static const char *const convolution =
        "x = input f32[1,2,5,6]\nw = const f32[3,2,1,2] {1,2,3,4,5,6,7,8,9,10,11,12}\n"
        "b = const f32[3] {1,2,3}\nf = const f32[3,1,1] {0.5,-2,0.1}\nr = input f32[1,3,5,5]\n"
        "c = conv x w b\nm = mul c f\ns = add m r\ny = relu s\nreturn y\n";
    prt_graph *g = graph_from_text(convolution);
    ck_assert(run_pass(g, "fuse_epilogue", NULL));
    for (const prt_op *op = g->first; op != NULL; op = op->next)
        ck_assert(prt_op_is(op, PRT_OP_fused_conv));
    module_free(g);
    assert_pass_keeps_results(convolution, "fuse_epilogue", 1e-6);
}
END_TEST

/* Constants by channel go into the bias, with other ranks than a bias has as well. */
START_TEST(constants_become_bias)
{
    static const char *const convolutions[] = { "c = conv x w\n", "c = conv x w b\n" };
    static const char *const sums[] = { "f32[1,3,1,1] {0.5,-2,0.1}", "f32[3,1,1] {0.5,-2,0.1}",
        "f32[1,1,1] {2}", "f32[] {-0.5}" };
    static const char *const linear[] = { "m = matmul a w\n", "m = gemm a w b\n" };
    char text[512];
    for (size_t i = 0; i < 2 * PRT_COUNT_OF(sums); i++) {
        (void)snprintf(text, sizeof(text),
            "x = input f32[n,2,h,6]\n"
            "w = const f32[3,2,1,2] {1,2,3,4,5,6,7,8,9,10,11,12}\nb = const f32[3] {1,2,3}\n"
            "f = const %s\nr = input f32[n,3,h,5]\n%ss = add %s\nt = add s r\ny = relu t\n"
            "return y\n",
            sums[i / 2], convolutions[i % 2], i % 2 != 0 ? "c f" : "f c");
        prt_graph *g = graph_from_text(text);
        ck_assert(run_pass(g, "fuse_epilogue", NULL));
        ck_assert_ptr_eq(g->first, g->last);
        ck_assert_str_eq(g->first->def->key, "fused_conv");
        ck_assert_uint_eq(g->first->n_in, 4);
        module_free(g);
        assert_pass_keeps_results(text, "fuse_epilogue", 1e-6);
        (void)snprintf(text, sizeof(text),
            "a = input f32[3,2]\n" FOUR "f = const f32[%s4] "
            "{4,-1,2,0.3}\n%ss = add f m\ny = relu s\nreturn y\n",
            i / 2 != 0 ? "1," : "", linear[i % 2]);
        g = graph_from_text(text);
        ck_assert(run_pass(g, "fuse_epilogue", NULL));
        ck_assert_ptr_eq(g->first, g->last);
        module_free(g);
        assert_pass_keeps_results(text, "fuse_epilogue", 1e-6);
    }
    /* Constants not of one value a column, and inputs that a caller may change, are left. */
    static const char *const other[] = { "const f32[1,1,5] {1,2,3,4,5}", "input f32[3,1,1]" };
    for (size_t i = 0; i < PRT_COUNT_OF(other); i++) {
        (void)snprintf(text, sizeof(text),
            "x = input f32[1,2,5,6]\nw = input f32[3,2,1,2]\n"
            "f = %s\nc = conv x w\ny = add c f\nreturn y\n",
            other[i]);
        prt_graph *g = graph_from_text(text);
        ck_assert(!run_pass(g, "fuse_epilogue", NULL));
        module_free(g);
    }
}
END_TEST

/* With channels last, where they are another operator. */
START_TEST(transposed_convolutions_take_activations)
{
    static const char *const ends[] = { "y = relu c\n", "y = clip c lo hi\n", "y = gelu c\n" };
    for (size_t i = 0; i < PRT_COUNT_OF(ends); i++) {
        char text[512];
        (void)snprintf(text, sizeof(text),
            "x = input f32[2,3,4,5]\nlo = const f32[] {0.5}\n"
            "hi = const f32[] {2}\nk = const f32[3,2,2,2] fill 0.5\n"
            "c = conv_transpose x k {strides=[2,2]}\n%sreturn y\n",
            ends[i]);
        prt_graph *g = graph_from_text(text);
        ck_assert(run_pass(g, "channels_last", NULL));
        ck_assert(run_pass(g, "fuse_epilogue", NULL));
        ck_assert_ptr_eq(g->first->next->next, g->last);
        ck_assert_ptr_nonnull(strstr(graph_text(g), "activation="));
        ck_assert(!run_pass(g, "fuse_epilogue", NULL));
        module_free(g);
    }
}
END_TEST

START_TEST(fusion_keeps_the_results)
{
    static const char *const ends[] = { "relu s", "clip s lo hi", "clip s hi lo",
        "leaky_relu s {alpha=0.3}", "sigmoid s", "tanh s", "hard_sigmoid s", "hard_swish s",
        "gelu s", "gelu s {approximate=\"tanh\"}", "swish s" };
    for (size_t i = 0; i < PRT_COUNT_OF(ends); i++) {
        char text[512];
        (void)snprintf(text, sizeof(text),
            CONV "lo = const f32[] {-0.25}\nhi = const f32[] {0.5}\ns = conv x w b\ny = %s\n"
                 "return y\n",
            ends[i]);
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
        LINEAR "f = const f32[6] {1,2,3,4,5,6}\nm = matmul a w\ny = mul m f\nreturn y\n",
        "a = input f32[4,2]\n" FOUR "f = input f32[4]\nm = matmul a w\ny = mul m f\nreturn y\n",
        "a = input f32[4,2]\n" FOUR "f = const f32[4,1] {1,2,3,4}\nm = matmul a w\ny = mul m f\n"
        "return y\n",
        "a = input f32[4,2]\n" FOUR "f = const f32[4] {1,2,3,4}\nm = matmul a w\ny = mul m f\n"
        "z = matmul a w\nreturn y, z\n",
        "a = input f32[4,2]\n" FOUR "f = const f32[4] {1,2,3e38,4}\nm = matmul a w\ny = mul m f\n"
        "return y\n",
    };
    for (size_t i = 0; i < PRT_COUNT_OF(graphs); i++) {
        prt_graph *g = graph_from_text(graphs[i]);
        ck_assert_msg(!run_pass(g, "fuse_epilogue", NULL), "%s", graphs[i]);
        module_free(g);
    }
}
END_TEST

START_TEST(symbolic_dims_are_fused)
{
    assert_pass_keeps_results("a = input f32[n,8]\nw = input f32[8,6]\nb = input f32[6]\n"
                              "m = matmul a w\ns = add b m\ny = relu s\nreturn y\n",
        "fuse_epilogue", 1e-6);
}
END_TEST

PRT_TEST_MAIN("pass/fuse/epilogue", a_convolution_takes_residual_and_activation,
    a_product_takes_bias_residual_and_activation, factors_go_into_weights, constants_become_bias,
    transposed_convolutions_take_activations, fusion_keeps_the_results,
    other_readers_keep_things_apart, symbolic_dims_are_fused)
