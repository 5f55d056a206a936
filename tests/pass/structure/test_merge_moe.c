/* SPDX-License-Identifier: MIT */
/* test_merge_moe.c — merge_moe. */
#include <stdio.h>

#include "support/check_main.h"
#include "support/graph_text.h"

static const char *const pass = "merge_moe";

#define WEIGHTS                                                                                    \
    "w0 = const f32[2,3] {1,2,3,4,5,6}\nw1 = const f32[2,3] {6,5,4,3,2,1}\n"                       \
    "v0 = const f32[3,2] {1,-1,2,-2,3,-3}\nv1 = const f32[3,2] {-3,3,-2,2,-1,1}\n"                 \
    "b0 = const f32[3] {1,2,3}\nb1 = const f32[3] {-1,-2,-3}\n"                                    \
    "c0 = const f32[2] {1,2}\nc1 = const f32[2] {3,4}\nh = const f32[] {0.5}\n"
#define X "x = input f32[4,2]\n" WEIGHTS
#define EXPERTS                                                                                    \
    "m0 = matmul x w0 @m0\na0 = add m0 b0\nr0 = relu a0\no0 = matmul r0 v0 @o0\n"                  \
    "m1 = matmul x w1 @m1\na1 = add m1 b1\nr1 = relu a1\no1 = matmul r1 v1 @o1\n"

static void assert_keeps_results_within(const char *text, const char *options, double tolerance)
{
    prt_graph *before = graph_from_text(text), *g = graph_from_text(text);
    ck_assert(run_pass(g, pass, options));
    assert_same_results(before, g, tolerance, 7);
    module_free(before);
    module_free(g);
}

static void assert_keeps_results(const char *text, const char *options)
{
    assert_keeps_results_within(text, options, 0);
}

START_TEST(experts_become_one)
{
    prt_graph *g = graph_from_text(X EXPERTS "y = add o0 o1\nreturn y\n");
    ck_assert(run_pass(g, pass, "merge_str=m0,o0,m1,o1"));
    ck_assert_graph(g,
        X "w0_0 = const f32[2,2,3] {1,2,3,4,5,6,6,5,4,3,2,1}\n"
          "%0 = const f32[2,1,3] {1,2,3,-1,-2,-3}\n"
          "v0_2 = const f32[2,3,2] {1,-1,2,-2,3,-3,-3,3,-2,2,-1,1}\n"
          "%1 = const i64[2] {1,1}\n%2 = const i64[1] {0}\n%3 = const i64[1] {0}\n"
          "%4 = matmul x w0_0 @m0\n%5 = add %4 %0\n%6 = relu %5\n"
          "%7 = matmul %6 v0_2 @o0\n%8, %9 = split %7 %1 {axis=0} @m1\n"
          "o0 = squeeze %8 %2 @o0\no1 = squeeze %9 %3 @o1\ny = add o0 o1\nreturn y\n");
    module_free(g);
    assert_keeps_results(X EXPERTS "y = add o0 o1\nreturn y, o1\n", "merge_str=m0,o0,m1,o1");
    assert_keeps_results(X EXPERTS "y = add o0 o1\nreturn y, o0\n", "merge_str=m1,o1,m0,o0");
}
END_TEST

START_TEST(branches_within_experts_are_merged)
{
    /* Swish as a formula, a shared constant, three dims, an operator along rows */
    assert_keeps_results(
        "x = input f32[2,4,2]\n" WEIGHTS
        "m0 = matmul x w0 @m0\na0 = add b0 m0\ns0 = sigmoid a0\nr0 = mul s0 a0\nt0 = mul r0 h\n"
        "u0 = softmax t0 {axis=2}\no0 = matmul u0 v0 @o0\ny0 = neg o0\n"
        "m1 = matmul x w1 @m1\na1 = add b1 m1\ns1 = sigmoid a1\nr1 = mul s1 a1\nt1 = mul r1 h\n"
        "u1 = softmax t1 {axis=2}\no1 = matmul u1 v1 @o1\ny1 = add o1 y0\nreturn y1, y0\n",
        "merge_str=m0,o0,m1,o1");
    /* of one node each */
    assert_keeps_results(X "m0 = matmul x w0 @m0\nm1 = matmul x w1 @m1\nreturn m0, m1\n",
        "merge_str=m0,m0,m1,m1");
}
END_TEST

START_TEST(experts_may_have_separate_inputs)
{
    assert_keeps_results(X "z = neg x\nm0 = matmul x w0 @m0\nr0 = relu m0 @r0\ne = exp r0\n"
                           "m1 = matmul z w1 @m1\nr1 = relu m1 @r1\nreturn r0, r1, e\n",
        "merge_str=m0,r0,m1,r1");
}
END_TEST

START_TEST(gemms_become_products_and_sums)
{
    assert_keeps_results_within(
        "x = input f32[4,3]\n" WEIGHTS "g0 = gemm x w0 c0 {transB=1} @g0\nr0 = relu g0 @r0\n"
        "g1 = gemm x w1 c1 {transB=1} @g1\nr1 = relu g1 @r1\nreturn r0, r1\n",
        "merge_str=g0,r0,g1,r1", 1e-6);
    assert_keeps_results_within(X
        "g0 = gemm x w0 b0 @g0\nr0 = relu g0 @r0\ng1 = gemm x w1 b1 @g1\nr1 = relu g1 @r1\n"
        "return r0, r1\n",
        "merge_str=g0,r0,g1,r1", 1e-6);
}
END_TEST

START_TEST(regions_are_rewritten)
{
    assert_keeps_results(
        "q = input bool[]\n" X "r = if q {\n  then_branch { " EXPERTS
        " y = add o0 o1; return y }\n  else_branch { z = neg x; return z }\n}\nreturn r\n",
        "merge_str=m0,o0,m1,o1");
}
END_TEST

START_TEST(unequal_experts_are_refused)
{
    static const char *const names = "merge_str=m0,o0,m1,o1";
    static const struct {
        const char *text, *part;
    } cases[] = {
        { X "m0 = matmul x w0 @m0\nr0 = relu m0\no0 = matmul r0 v0 @o0\nm1 = matmul x w1 @m1\n"
            "r1 = sigmoid m1\no1 = matmul r1 v1 @o1\nreturn o0, o1\n",
            "another operator" },
        { X "m0 = matmul x w0 @m0\no0 = matmul m0 v0 @o0\nm1 = matmul x w1 @m1\n"
            "r1 = relu m1\no1 = matmul r1 v1 @o1\nreturn o0, o1\n",
            "another operator" },
        { X "m0 = matmul x w0 @m0\nr0 = relu m0\no0 = matmul r0 v0 @o0\nm1 = matmul x w1 @m1\n"
            "r1 = relu m1\no1 = matmul r1 v1 @o1\nreturn o0, o1, r1\n",
            "outside" },
        { X "k = input f32[3]\nm0 = matmul x w0 @m0\nr0 = add m0 k\no0 = matmul r0 v0 @o0\n"
            "m1 = matmul x w1 @m1\nr1 = add m1 k\no1 = matmul r1 v1 @o1\nreturn o0, o1\n",
            "from outside" },
        { X "m0 = matmul x w0 @m0\no0 = matmul m0 v0 @o0\nm1 = matmul o0 w1 @m1\n"
            "o1 = matmul m1 v1 @o1\nreturn o0, o1\n",
            "waits for another" },
        { X "z0 = const f32[2,2] {1,2,3,4}\nm0 = matmul x z0 @m0\no0 = relu m0 @o0\n"
            "m1 = matmul o0 z0 @m1\no1 = relu m1 @o1\nreturn o0, o1\n",
            "waits for another" },
        { X "m0 = matmul x w0 @m0\no0 = relu m0 @o0\nm1 = matmul x w0 @m1\no1 = relu m1 @o1\n"
            "return o0, o1\n",
            "do not differ" },
        { X "m0 = matmul x w0 @m0\no0 = softmax m0 {axis=0} @o0\nm1 = matmul x w1 @m1\n"
            "o1 = softmax m1 {axis=0} @o1\nreturn o0, o1\n",
            "not supported in experts" },
        { X "o0 = matmul x w0 @o0\nm0 = relu o0 @m0\nm1 = relu x @m1\no1 = neg m1 @o1\n"
            "return m0, o1\n",
            "comes before" },
        { X "m0 = matmul x w0 @m0\no0 = relu x @o0\nm1 = relu x @m1\no1 = neg m1 @o1\n"
            "return m0, o0, o1\n",
            "does not depend" },
    };
    for (size_t i = 0; i < PRT_COUNT_OF(cases); i++)
        assert_pass_fails(pass, names, cases[i].text, POPRT_E_ARG, cases[i].part);
    assert_pass_fails(pass, "merge_str=m0,o0,m1", X EXPERTS "return o0, o1\n", POPRT_E_ARG,
        "the number must be a multiple of 2");
    assert_pass_fails(pass, "merge_str=m0,o0,m1,none", X EXPERTS "return o0, o1\n",
        POPRT_E_NOT_FOUND, "no node of this name");
    assert_pass_leaves(pass, NULL, X EXPERTS "return o0, o1\n");
}
END_TEST

PRT_TEST_MAIN("pass/structure/merge_moe", experts_become_one, branches_within_experts_are_merged,
    experts_may_have_separate_inputs, gemms_become_products_and_sums, regions_are_rewritten,
    unequal_experts_are_refused)
