/* SPDX-License-Identifier: MIT */
/* test_bn_into_gemm.c — fuse_bn_into_gemm. */
#include <stdio.h>

#include "support/check_main.h"
#include "support/graph_text.h"

static const char *const pass = "fuse_bn_into_gemm";

#define PARAMS                                                                                     \
    "s = const f32[2] {2, 3}\nt = const f32[2] {1, -1}\nm = const f32[2] {0.5, 1}\n"               \
    "v = const f32[2] {3, 15}\n"

static const char *text_of(const char *weight, const char *product)
{
    static char text[1024];
    (void)snprintf(text, sizeof(text),
        "x = input f32[4,3]\nw = const %s {1, 2, 3, 4, 5, 6}\n" PARAMS
        "%s\ny = batch_normalization p s t m v {epsilon=1} @norm\nreturn y\n",
        weight, product);
    return text;
}

START_TEST(products_take_in_the_normalisation)
{
    assert_pass_rewrites(pass, NULL, text_of("f32[3,2]", "p = matmul x w @product"),
        "x = input f32[4,3]\nw = const f32[3,2] {1, 2, 3, 4, 5, 6}\n" PARAMS
        "w_0 = const f32[3,2] {1, 1.5, 3, 3, 5, 4.5}\nt_1 = const f32[2] {0.5, -1.75}\n"
        "y = gemm x w_0 t_1 {beta=1} @product\nreturn y\n");
    static const char *const forms[][2] = { { "f32[3,2]", "p = matmul x w" },
        { "f32[2,3]", "p = gemm x w {transB=1, alpha=0.5}" },
        { "f32[3,2]", "c = const f32[2] {1,2}\np = gemm x w c {beta=3}" },
        { "f32[3,2]", "c = const f32[1,2] {1,2}\np = gemm x w c" },
        { "f32[2,3]", "c = const f32[] {7}\np = gemm x w c {transB=1}" } };
    for (size_t i = 0; i < PRT_COUNT_OF(forms); i++)
        assert_pass_keeps_results(text_of(forms[i][0], forms[i][1]), pass, 1e-6);
    assert_pass_keeps_results(text_of("f32[1,6]",
                                  "z = const f32[4,2] {1,2,3,4,5,6,7,8}\n"
                                  "p = gemm x z {transA=1}"),
        pass, 1e-6);
}
END_TEST

/* Layers take vectors; the normalisation, as PyTorch's BatchNorm1d, a matrix of them. */
#define OF_ROWS(shape, to)                                                                         \
    "x = input f32[" shape "]\nw = const f32[3,2] {1, 2, 3, 4, 5, 6}\n" PARAMS                     \
    "p = matmul x w\nk = const i64[2] {" to "}\nr = reshape p k\n"                                 \
    "y = batch_normalization r s t m v {epsilon=1} @norm\nz = neg y\nreturn z\n"

START_TEST(rows_may_have_more_dims)
{
    static const char *const graphs[] = { OF_ROWS("2,4,3", "8,2"), OF_ROWS("2,2,2,3", "-1,2"),
        OF_ROWS("b,4,3", "-1,2"), OF_ROWS("4,3", "4,2") };
    for (size_t i = 0; i < PRT_COUNT_OF(graphs); i++) {
        prt_graph *g = graph_from_text(graphs[i]);
        ck_assert_msg(run_pass(g, pass, NULL), "%s", graphs[i]);
        prt_for_each_op (op, g)
            ck_assert(!prt_op_is(op, PRT_OP_batch_normalization));
        module_free(g);
        assert_pass_keeps_results(graphs[i], pass, 1e-6);
    }
    assert_pass_leaves(pass, NULL,
        "x = input f32[2,4,3]\nw = const f32[3,4] {1,2,3,4,5,6,7,8,9,10,11,12}\n" PARAMS
        "p = matmul x w\nk = const i64[2] {16,2}\nr = reshape p k\n"
        "y = batch_normalization r s t m v\nreturn y\n");
}
END_TEST

START_TEST(regions_are_rewritten)
{
    assert_pass_keeps_results("q = input bool[]\nx = input f32[2,3]\n"
                              "w = const f32[3,2] {1, 2, 3, 4, 5, 6}\n" PARAMS "r = if q {\n"
                              "  then_branch { c = matmul x w; n = batch_normalization c s t m v; "
                              "return n }\n  else_branch { d = identity x; e = neg d; return e }\n"
                              "}\nreturn r\n",
        pass, 1e-6);
}
END_TEST

START_TEST(near_misses_are_left)
{
    static const char *const products[][2] = {
        { "f32[3,2]", "c = input f32[2]\np = gemm x w c" },
        { "f32[3,2]", "c = const f32[4,1] {1,2,3,4}\np = gemm x w c" },
        { "f32[1,3,2]", "p3 = matmul x w\nk = const i64[2] {4,2}\np = reshape p3 k" },
        { "f32[1,6]", "z = input f32[3,2]\np = matmul x z" },
    };
    for (size_t i = 0; i < PRT_COUNT_OF(products); i++)
        assert_pass_leaves(pass, NULL, text_of(products[i][0], products[i][1]));
    /* a weight that is shared; a product that is read elsewhere; training; statistics */
    assert_pass_leaves(pass, NULL,
        "x = input f32[4,3]\nw = const f32[3,2] {1, 2, 3, 4, 5, 6}\n" PARAMS
        "p = matmul x w\ny = batch_normalization p s t m v\nz = neg w\nreturn y, z\n");
    assert_pass_leaves(pass, NULL,
        "x = input f32[4,3]\nw = const f32[3,2] {1, 2, 3, 4, 5, 6}\n" PARAMS
        "p = matmul x w\ny = batch_normalization p s t m v\nreturn y, p\n");
    assert_pass_leaves(pass, NULL,
        "x = input f32[4,3]\nw = const f32[3,2] {1, 2, 3, 4, 5, 6}\n" PARAMS
        "p = matmul x w\ny = batch_normalization p s t m v "
        "{training_mode=1}\nreturn y\n");
    assert_pass_leaves(pass, NULL,
        "x = input f32[4,3]\nw = const f32[3,2] {1, 2, 3, 4, 5, 6}\n"
        "s = const f32[2] {2, 3}\nt = const f32[2] {1, -1}\n"
        "m = const f32[2] {0.5, 1}\nv = const f32[2] {-3, 15}\n"
        "p = matmul x w\ny = batch_normalization p s t m v\nreturn y\n");
}
END_TEST

PRT_TEST_MAIN("pass/fuse/bn_into_gemm", products_take_in_the_normalisation, rows_may_have_more_dims,
    regions_are_rewritten, near_misses_are_left)
