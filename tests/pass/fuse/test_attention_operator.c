/* SPDX-License-Identifier: MIT */
/* test_attention_operator.c — fuse_attention_operator: the formula of attention as one operator. */
#include "support/check_main.h"
#include "support/graph_text.h"

static const char *const pass = "fuse_attention_operator";

#define INPUTS                                                                                     \
    "q = input f32[2,3,5,4]\nk = input f32[2,6,3,4]\nv = input f32[2,3,6,7]\n"                     \
    "half = const f32[] {0.5}\nkt = transpose k {perm=[0,2,3,1]}\ns = matmul q kt\n"
#define TAIL(from) "p = softmax " from " {axis=-1}\ny = matmul p v\nreturn y\n"

START_TEST(products_with_a_softmax_between_are_attention)
{
    prt_graph *g = graph_from_text(INPUTS "t = mul s half\n" TAIL("t"));
    ck_assert(run_pass(g, pass, NULL));
    assert_text_has(graph_text(g), "attention perm=[0,2,1,3] scale=0.5 !softmax !matmul");
    module_free(g);
    assert_pass_keeps_results(INPUTS "t = mul s half\n" TAIL("t"), pass, 1e-5);
    assert_pass_keeps_results(INPUTS "t = div s half\n" TAIL("t"), pass, 1e-5);
    assert_pass_keeps_results(INPUTS TAIL("s"), pass, 1e-5);
}
END_TEST

START_TEST(masks_are_added)
{
    assert_pass_keeps_results("m = input f32[2,3,5,6]\n" INPUTS
                              "t = mul half s\nw = add t m\n" TAIL("w"),
        pass, 1e-5);
    assert_pass_keeps_results("m = input f32[2,1,5,6]\n" INPUTS
                              "t = mul half s\nw = add m t\n" TAIL("w"),
        pass, 1e-5);
    assert_pass_keeps_results("m = input f32[1,1,5,6]\n" INPUTS "w = add s m\n" TAIL("w"), pass,
        1e-5);
}
END_TEST

START_TEST(other_formulas_stay)
{
    /* a mask for all queries; another axis; a factor for each head; scores that are an output;
     * heads that are repeated */
    assert_pass_leaves(pass, NULL, "m = input f32[2,1,1,6]\n" INPUTS "w = add s m\n" TAIL("w"));
    assert_pass_leaves(pass, NULL, INPUTS "p = softmax s {axis=2}\ny = matmul p v\nreturn y\n");
    assert_pass_leaves(pass, NULL, "f = input f32[3,1,1]\n" INPUTS "t = mul s f\n" TAIL("t"));
    assert_pass_leaves(pass, NULL, INPUTS "p = softmax s {axis=-1}\ny = matmul p v\nreturn y, s\n");
    assert_pass_leaves(pass, NULL,
        "q = input f32[2,3,5,4]\nk = input f32[2,6,1,4]\nv = input f32[2,1,6,7]\n"
        "kt = transpose k {perm=[0,2,3,1]}\ns = matmul q kt\n" TAIL("s"));
}
END_TEST

PRT_TEST_MAIN("pass/fuse/attention_operator", products_with_a_softmax_between_are_attention,
    masks_are_added, other_formulas_stay)
