/* SPDX-License-Identifier: MIT */
/* test_matmul.c — replace_einsum_with_matmul, replace_gemm_with_matmul. */
#include <stdio.h>

#include "support/check_main.h"
#include "support/graph_text.h"

#define EINSUM "replace_einsum_with_matmul"
#define GEMM "replace_gemm_with_matmul"

START_TEST(einsums_of_products_become_matmul)
{
    assert_pass_rewrites(EINSUM, NULL,
        "a = input f32[b,2,3]\nc = input f32[b,3,4]\n"
        "y = einsum a c {equation=\" bmk, bkn -> bmn\"} @e\nreturn y\n",
        "a = input f32[b,2,3]\nc = input f32[b,3,4]\ny = matmul a c @e\nreturn y\n");
    assert_pass_rewrites(EINSUM, NULL,
        "a = input f32[5,b,2,3]\nc = input f32[5,b,4,3]\n"
        "y = einsum a c {equation=\"xyij,xykj->xyik\"} @e\nreturn y\n",
        "a = input f32[5,b,2,3]\nc = input f32[5,b,4,3]\n"
        "%0 = transpose c {perm=[0,1,3,2]} @e\ny = matmul a %0 @e\nreturn y\n");
    assert_pass_keeps_results("a = input f32[2,3]\nc = input f32[3,4]\n"
                              "y = einsum a c {equation=\"mk,kn->mn\"}\nreturn y\n",
        EINSUM, 1e-6);
    assert_pass_keeps_results("a = input i64[5,2,3]\nc = input i64[5,4,3]\n"
                              "y = einsum a c {equation=\"bmk,bnk->bmn\"}\nreturn y\n",
        EINSUM, 0);
    assert_pass_keeps_results("q = input bool[]\nx = input f32[3,3]\nr = if q {\n"
                              "  then_branch { t = einsum x x {equation=\"mk,nk->mn\"}; return "
                              "t }\n"
                              "  else_branch { return x }\n}\nreturn r\n",
        EINSUM, 1e-6);
}
END_TEST

START_TEST(other_einsums_are_left)
{
    static const char *const equations[] = { "bmk,bkn", "bmk,bkn->bnm", "Bmk,Bkn->Bmn",
        "bmk,ckn->bmn", "...mk,...kn->...mn", "bmk,bmk->bmk", "bkm,bkn->bmn", "bmk,bkn->bmk",
        "bmm,bmn->bmn" };
    for (size_t i = 0; i < sizeof(equations) / sizeof(equations[0]); i++) {
        char text[256];
        (void)snprintf(text, sizeof(text),
            "a = input f32[3,3,3]\nc = input f32[3,3,3]\ny = einsum a c {equation=\"%s\"}\n"
            "return y\n",
            equations[i]);
        assert_pass_leaves(EINSUM, NULL, text);
    }
    assert_pass_leaves(EINSUM, NULL,
        "a = input f32[3]\nc = input f32[3]\ny = einsum a c {equation=\"k,k->\"}\nreturn y\n");
    /* An inner dim of 1, or one that may be, is repeated. */
    assert_pass_leaves(EINSUM, NULL,
        "a = input f32[3,1]\nc = input f32[5,3]\ny = einsum a c {equation=\"mk,kn->mn\"}\n"
        "return y\n");
    assert_pass_leaves(EINSUM, NULL,
        "a = input f32[3,k]\nc = input f32[3,5]\ny = einsum a c {equation=\"mk,nk->mn\"}\n"
        "return y\n");
    assert_pass_leaves(EINSUM, NULL,
        "a = input f32[3,3]\ny = einsum a a a "
        "{equation=\"ij,jk,kl->il\"}\nreturn y\n");
    assert_pass_leaves(EINSUM, NULL,
        "a = input i8[3,3]\ny = einsum a a {equation=\"ij,jk->ik\"}\n"
        "return y\n");
}
END_TEST

START_TEST(gemm_becomes_matmul)
{
    assert_pass_rewrites(GEMM, NULL,
        "a = input f32[n,2]\nw = const f32[3,2] {1,2,3,4,5,6}\nc = const f32[3] {1,2,3}\n"
        "y = gemm a w c {transB=1,alpha=0.5,beta=2} @g\nreturn y\n",
        "a = input f32[n,2]\nw = const f32[3,2] {1,2,3,4,5,6}\nc = const f32[3] {1,2,3}\n"
        "w_0 = const f32[2,3] {0.5,1.5,2.5,1,2,3}\nc_1 = const f32[3] {2,4,6}\n"
        "%0 = matmul a w_0 @g\ny = add %0 c_1 @g\nreturn y\n");
    assert_pass_rewrites(GEMM, NULL,
        "a = input f32[2,n]\nw = input f32[2,3]\nc = input f32[]\n"
        "y = gemm a w c {transA=1,alpha=2,beta=3}\nreturn y\n",
        "a = input f32[2,n]\nw = input f32[2,3]\nc = input f32[]\n%0 = transpose a {perm=[1,0]}\n"
        "%1 = matmul %0 w\n%2 = const f32[] {2}\n%3 = mul %1 %2\n%4 = const f32[] {3}\n"
        "%5 = mul c %4\ny = add %3 %5\nreturn y\n");
    assert_pass_rewrites(GEMM, NULL,
        "a = input i32[n,2]\nw = input i32[2,3]\ny = gemm a w\nreturn y\n",
        "a = input i32[n,2]\nw = input i32[2,3]\ny = matmul a w\nreturn y\n");
}
END_TEST

START_TEST(gemm_of_shared_weights_keeps_the_weights)
{
    assert_pass_rewrites(GEMM, NULL,
        "a = input f32[n,2]\nw = const f32[2,2] {1,2,3,4}\ny = gemm a w {transB=1}\n"
        "z = neg w\nreturn y, z\n",
        "a = input f32[n,2]\nw = const f32[2,2] {1,2,3,4}\n%0 = transpose w {perm=[1,0]}\n"
        "y = matmul a %0\nz = neg w\nreturn y, z\n");
}
END_TEST

START_TEST(gemm_keeps_its_results)
{
    for (int round = 0; round < 4; round++) {
        char text[512];
        (void)snprintf(text, sizeof(text),
            "a = input f32[%s]\nw = input f32[%s]\nc = input f32[5,1]\n"
            "y = gemm a w c {transA=%d,transB=%d,alpha=0.3,beta=-1.5}\nreturn y\n",
            (round & 1) != 0 ? "7,5" : "5,7", (round & 2) != 0 ? "4,7" : "7,4", round & 1,
            round >> 1);
        assert_pass_keeps_results(text, GEMM, 1e-6);
    }
    assert_pass_keeps_results("a = input f16[3,2]\nw = const f16[2,2] {1,2,3,60000}\n"
                              "y = gemm a w {alpha=0.5}\nreturn y\n",
        GEMM, 2e-3);
    assert_pass_keeps_results("a = input f32[0,2]\nw = const f32[2,2] {1,2,3,4}\n"
                              "y = gemm a w {transB=1}\nreturn y\n",
        GEMM, 0);
    assert_pass_keeps_results("q = input bool[]\nx = input f32[3,3]\nw = const f32[3,3] fill 2\n"
                              "r = if q {\n  then_branch { t = gemm x w {alpha=3}; return t }\n"
                              "  else_branch { return x }\n}\nreturn r\n",
        GEMM, 1e-6);
}
END_TEST

START_TEST(other_gemms_are_left)
{
    assert_pass_leaves(GEMM, NULL,
        "a = input i32[n,2]\nw = input i32[2,3]\ny = gemm a w {alpha=2}\nreturn y\n");
    assert_pass_leaves(GEMM, NULL,
        "a = input f32[n,2]\nw = input f32[2,3]\ny = matmul a w\nreturn y\n");
}
END_TEST

PRT_TEST_MAIN("pass/replace/matmul", einsums_of_products_become_matmul, other_einsums_are_left,
    gemm_becomes_matmul, gemm_of_shared_weights_keeps_the_weights, gemm_keeps_its_results,
    other_gemms_are_left)
