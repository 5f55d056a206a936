/* SPDX-License-Identifier: MIT */
/* test_projections.c — fusion of the projections of Q, K and V, and near misses. */
#include "support/check_main.h"
#include "support/graph_text.h"

/* 2 images, 2 places, 2 heads of 2 (values of 1). */
#define WEIGHTS                                                                                    \
    "x = input f32[2,2,3]\nwq = const f32[3,4] {1,2,3,4,5,6,7,8,9,10,11,12}\n"                     \
    "wk = const f32[3,4] {2,1,4,3,6,5,8,7,1,9,2,1}\nwv = const f32[3,2] {1,-1,2,-2,3,-3}\n"        \
    "bq = const f32[4] {1,2,3,4}\nbk = const f32[4] {5,6,7,8}\nbv = const f32[2] {9,10}\n"
#define SIZES "sizes=[2,2,2,2,0,2,2,1]"
#define VIEWS "query=[0,8,2,4],key=[0,8,2,4],value=[0,4,1,2],order=[0,2,1],shape=[2,2,2],scale=0.1"

static void check_products(const char *text, int products)
{
    prt_graph *g = graph_from_text(text);
    ck_assert_msg(run_pass(g, "merge_projections", NULL), "%s", text);
    int found = 0;
    prt_for_each_op (op, g)
        found += prt_op_is(op, PRT_OP_fused_linear);
    ck_assert_int_eq(found, products);
    ck_assert(!run_pass(g, "merge_projections", NULL));
    module_free(g);
    assert_pass_keeps_results(text, "merge_projections", 1e-6);
}

START_TEST(three_projections_become_one)
{
    check_products(WEIGHTS
        "q = fused_linear x wq bq\nk = fused_linear x wk bk\nv = fused_linear x wv bv\n"
        "y = fused_attention q k v {" SIZES "," VIEWS "}\nreturn y\n",
        1);
    check_products(WEIGHTS "q = fused_linear x wq\nk = fused_linear x wk\nv = fused_linear x wv\n"
                           "y = fused_attention q k v {" SIZES "," VIEWS "}\nreturn y\n",
        1);
}
END_TEST

/* Tokens as rows of a matrix. */
#define ROWS                                                                                       \
    "x = input f32[4,3]\nwq = const f32[3,4] {1,2,3,4,5,6,7,8,9,10,11,12}\n"                       \
    "wk = const f32[3,4] {2,1,4,3,6,5,8,7,1,9,2,1}\n"                                              \
    "wv = const f32[3,4] {1,-1,2,-2,3,-3,1,1,2,2,3,3}\n"                                           \
    "bq = const f32[4] {1,2,3,4}\nbk = const f32[1,4] {5,6,7,8}\nbv = const f32[4] {9,10,1,1}\n"
#define OF_ROWS                                                                                    \
    "y = fused_attention q k v {sizes=[2,2,2,2,0,2,2,2],query=[0,8,2,4],key=[0,8,2,4],"            \
    "value=[0,8,2,4],order=[0,2,1],shape=[4,4],scale=0.1}\nreturn y\n"

START_TEST(gemm_is_taken_as_well)
{
    check_products(ROWS "q = gemm x wq bq\nk = gemm x wk bk\nv = gemm x wv bv\n" OF_ROWS, 1);
    assert_pass_leaves("merge_projections", NULL,
        ROWS "q = gemm x wq bq {alpha=2}\nk = gemm x wk bk {transB=0, beta=0.5}\n"
             "v = gemm x wv bv\n" OF_ROWS);
    /* a number for each row */
    assert_pass_leaves("merge_projections", NULL,
        ROWS "r = const f32[4,1] {1,2,3,4}\nq = relu x\nz = input f32[4,4]\n"
             "k = gemm x wk r\nv = gemm x wv bv\ny = fused_attention z k v "
             "{sizes=[2,2,2,2,0,2,2,2],query=[0,8,2,4],key=[0,8,2,4],value=[0,8,2,4],"
             "order=[0,2,1],shape=[4,4],scale=0.1}\nreturn y, q\n");
}
END_TEST

START_TEST(two_projections_become_one)
{
    check_products(WEIGHTS
        "z = input f32[2,2,3]\nq = fused_linear z wq bq\nk = fused_linear x wk bk\n"
        "v = fused_linear x wv bv\ny = fused_attention q k v {" SIZES "," VIEWS "}\nreturn y\n",
        2);
    check_products(WEIGHTS
        "z = input f32[2,2,4]\nk = fused_linear x wk bk\nv = fused_linear x wv bv\n"
        "y = fused_attention z k v {" SIZES "," VIEWS "}\nreturn y\n",
        1);
    /* the values come from elsewhere */
    check_products(WEIGHTS
        "z = input f32[2,2,2]\nq = fused_linear x wq bq\nk = fused_linear x wk bk\n"
        "y = fused_attention q k z {" SIZES "," VIEWS "}\nreturn y\n",
        1);
    /* heads are images: all in one row of the second, which has one row per image */
    check_products(
        "x = input f32[2,3]\nwk = const f32[3,4] {2,1,4,3,6,5,8,7,1,9,2,1}\n"
        "wv = const f32[3,4] {1,-1,2,-2,3,-3,1,2,3,4,5,6}\nq = input f32[4,2,2]\n"
        "k = fused_linear x wk\nv = fused_linear x wv\n"
        "y = fused_attention q k v {sizes=[2,2,2,2,0,2,2,2],query=[0,8,4,2],key=[0,2,0,4],"
        "value=[0,2,0,4],order=[0,1,2],shape=[2,2,2,2],scale=1}\nreturn y\n",
        1);
}
END_TEST

START_TEST(other_projections_are_left)
{
    static const char *const graphs[] = {
        /* another reader, an activation, a residual, weights that are not constants */
        WEIGHTS "k = fused_linear x wk bk\nv = fused_linear x wv bv\nz = input f32[2,2,4]\n"
                "y = fused_attention z k v {" SIZES "," VIEWS "}\nn = neg k\nreturn y, n\n",
        WEIGHTS "k = fused_linear x wk bk {activation=\"Relu\"}\nv = fused_linear x wv bv\n"
                "z = input f32[2,2,4]\ny = fused_attention z k v {" SIZES "," VIEWS "}\nreturn y\n",
        WEIGHTS "z = input f32[2,2,4]\nk = fused_linear x wk bk z\nv = fused_linear x wv bv\n"
                "y = fused_attention z k v {" SIZES "," VIEWS "}\nreturn y\n",
        WEIGHTS "w = input f32[3,4]\nk = fused_linear x w bk\nv = fused_linear x wv bv\n"
                "z = input f32[2,2,4]\ny = fused_attention z k v {" SIZES "," VIEWS "}\nreturn y\n",
        /* one with a bias, one without */
        WEIGHTS "k = fused_linear x wk\nv = fused_linear x wv bv\nz = input f32[2,2,4]\n"
                "y = fused_attention z k v {" SIZES "," VIEWS "}\nreturn y\n",
        /* a head that extends past the end of a row */
        WEIGHTS "k = fused_linear x wk bk\nv = fused_linear x wv bv\nz = input f32[2,2,4]\n"
                "y = fused_attention z k v {" SIZES ",query=[0,8,2,4],key=[1,4,2,4],"
                "value=[0,4,1,2],order=[0,2,1],shape=[2,2,2],scale=0.1}\nreturn y\n",
    };
    for (size_t i = 0; i < PRT_COUNT_OF(graphs); i++) {
        prt_graph *g = graph_from_text(graphs[i]);
        ck_assert_msg(!run_pass(g, "merge_projections", NULL), "%s", graphs[i]);
        module_free(g);
    }
}
END_TEST

PRT_TEST_MAIN("pass/fuse/projections", three_projections_become_one, gemm_is_taken_as_well,
    two_projections_become_one, other_projections_are_left)
