/* SPDX-License-Identifier: MIT */
/* test_merge_matmul.c — merge_matmul, merge_matmul_add; options that list nodes in pairs.
 * Covers: match.c. */
#include "support/check_main.h"
#include "support/graph_text.h"

#define X                                                                                          \
    "x = input f32[n,2]\nw = const f32[2,3] {1,2,3,4,5,6}\nv = const f32[2,1] {7,8}\n"             \
    "a = const f32[3] {1,2,3}\nb = const f32[1,1] {4}\n"
#define PLAIN X "p = matmul x w @p\nz = neg p\nq = matmul x v @q\n"
#define BIASED X "p = matmul x w @p\ns = add p a @s\nq = matmul x v @q\nt = add b q @t\n"

static void assert_keeps_results(const char *text, const char *pass, const char *options)
{
    prt_graph *before = graph_from_text(text), *g = graph_from_text(text);
    ck_assert(run_pass(g, pass, options));
    assert_same_results(before, g, 0, 7);
    module_free(before);
    module_free(g);
}

START_TEST(products_are_merged)
{
    prt_graph *g = graph_from_text(PLAIN "return z, q\n");
    ck_assert(run_pass(g, "merge_matmul", "merge_str= p ,q,"));
    module_free(g);
    g = graph_from_text(PLAIN "return z, q\n");
    ck_assert(run_pass(g, "merge_matmul", "merge_str=p,q"));
    ck_assert_graph(g,
        X "w_0 = const f32[2,4] {1,2,3,7,4,5,6,8}\n%0 = const i64[2] {3,1}\n"
          "%1 = matmul x w_0 @p\np, q = split %1 %0 {axis=-1} @p\nz = neg p\n"
          "return z, q\n");
    module_free(g);
    assert_keeps_results(PLAIN "return z, q\n", "merge_matmul", "merge_str=q,p");
}
END_TEST

START_TEST(sums_are_merged_with_their_products)
{
    prt_graph *g = graph_from_text(BIASED "return s, t\n");
    ck_assert(run_pass(g, "merge_matmul_add", "merge_str=p,s,q,t"));
    ck_assert_graph(g,
        X "w_0 = const f32[2,4] {1,2,3,7,4,5,6,8}\na_1 = const f32[4] {1,2,3,4}\n"
          "%0 = const i64[2] {3,1}\n%1 = matmul x w_0 @p\n%2 = add %1 a_1 @s\n"
          "s, t = split %2 %0 {axis=-1} @p\nreturn s, t\n");
    module_free(g);
    assert_keeps_results(BIASED "return s, t\n", "merge_matmul_add", "merge_str=q,t,p,s");
}
END_TEST

START_TEST(unequal_products_are_refused)
{
    static const char *const pass = "merge_matmul", *const adds = "merge_matmul_add";
    assert_pass_leaves(pass, NULL, PLAIN "return z, q\n");
    assert_pass_leaves(pass, "merge_str=p", PLAIN "return z, q\n");
    assert_pass_fails(pass, "merge_str=p,r", PLAIN "return z, q\n", POPRT_E_NOT_FOUND,
        "no node of this name");
    assert_pass_fails(pass, "merge_str=p,p", PLAIN "return z, q\n", POPRT_E_ARG, "twice");
    assert_pass_fails(adds, "merge_str=p,s,q", BIASED "return s, t\n", POPRT_E_ARG,
        "multiple of 2");
    assert_pass_fails(adds, "merge_str=p,t,q,s", BIASED "return s, t\n", POPRT_E_ARG,
        "only reader");
    assert_pass_fails(pass, "merge_str=p,s", BIASED "return s, t\n", POPRT_E_ARG, "not a MatMul");
    assert_pass_fails(pass, "merge_str=p,q",
        X "y = neg x\np = matmul x w @p\nq = matmul y v @q\n"
          "return p, q\n",
        POPRT_E_ARG, "its left operand is not");
    assert_pass_fails(pass, "merge_str=p,q",
        X "u = input f32[2,2]\np = matmul x w @p\nq = matmul x u @q\nreturn p, q\n", POPRT_E_ARG,
        "constant");
    assert_pass_fails(pass, "merge_str=p,q",
        X "u = const f32[1,2,1] {1,2}\np = matmul x w @p\nq = matmul x u @q\nreturn p, q\n",
        POPRT_E_ARG, "differ from");
    assert_pass_fails(adds, "merge_str=p,s,q,t",
        X "c = const f32[2,1] {1,2}\nx2 = input f32[2,2]\np = matmul x2 w @p\ns = add p a @s\n"
          "q = matmul x2 v @q\nt = add q c @t\nreturn s, t\n",
        POPRT_E_ARG, "each column");
}
END_TEST

START_TEST(regions_are_rewritten)
{
    assert_keeps_results(X
        "c = input bool[]\nr, o = if c {\n  then_branch { p = matmul x w @p; q = matmul x v @q; "
        "return p, q }\n  else_branch { d = matmul x v; e = matmul x w; return e, d }\n}\n"
        "return r, o\n",
        "merge_matmul", "merge_str=p,q");
}
END_TEST

PRT_TEST_MAIN("pass/fuse/merge_matmul", products_are_merged, sums_are_merged_with_their_products,
    unequal_products_are_refused, regions_are_rewritten)
