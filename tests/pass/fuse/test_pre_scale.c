/* SPDX-License-Identifier: MIT */
/* test_pre_scale.c — pre_scale. */
#include <stdio.h>
#include <string.h>

#include "support/check_main.h"
#include "support/graph_text.h"

static const char *const pass = "pre_scale";

#define X                                                                                          \
    "x = input f32[2,4]\nw = const f32[4,2] {1,2,3,4,5,6,7,8}\nb = const f32[2] {1,-2}\n"          \
    "k = input f32[2,3]\nc = const f32[] {4}\nto = const i64[3] {1,2,2}\n"
#define MOVED                                                                                      \
    X "m = matmul x w @proj\na = add m b\nr = reshape a to\nq = transpose r {perm=[0,2,1]}\n"      \
      "s = matmul q k @scores\n"

START_TEST(the_factor_goes_into_the_weights)
{
    assert_pass_rewrites(pass, NULL, MOVED "d = div s c\ny = softmax d\nreturn y\n",
        X
        "w_0 = const f32[4,2] {0.25,0.5,0.75,1,1.25,1.5,1.75,2}\nb_1 = const f32[2] {0.25,-0.5}\n"
        "m = matmul x w_0 @proj\na = add m b_1\nr = reshape a to\nq = transpose r {perm=[0,2,1]}\n"
        "d = matmul q k @scores\ny = softmax d\nreturn y\n");
    assert_pass_keeps_results(MOVED "d = div s c\ny = softmax d\nreturn y\n", pass, 0);
    assert_pass_keeps_results(MOVED
        "e = const f32[1] {0.3}\nd = mul e s\ny = softmax d\nreturn y\n",
        pass, 1e-5);
    assert_pass_keeps_results(X "m = matmul x w\ns = matmul m k\ny = mul s c\nreturn y\n", pass, 0);
    /* on the right side */
    assert_pass_keeps_results(X "z = input f32[3,2]\nm = matmul x w\nt = transpose m\n"
                                "s = matmul z t\ny = mul s c\nreturn y\n",
        pass, 0);
}
END_TEST

/* torch's scaled_dot_product_attention: a factor on each operand. */
#define OPERANDS                                                                                   \
    "x = input f32[2,4]\nw = const f32[4,2] {1,2,3,4,5,6,7,8}\nb = const f32[2] {1,-2}\n"          \
    "v = const f32[4,2] {8,7,6,5,4,3,2,1}\nc = const f32[] {0.5}\nto = const i64[3] {1,2,2}\n"     \
    "m = matmul x w\na = add m b\nr = reshape a to\nq = transpose r {perm=[0,2,1]}\n"              \
    "n = matmul x v\no = reshape n to\nk = transpose o {perm=[0,2,1]}\n"

START_TEST(factors_of_operands_are_taken)
{
    static const char *const forms[] = {
        "d = mul q c\ne = mul k c\ns = matmul d e\ny = softmax s\nreturn y\n",
        "d = mul c q\ne = mul c k\ns = matmul d e\ny = softmax s\nreturn y\n",
        "d = div q c\ns = matmul d k\ng = input f32[1,2,2]\nf = add s g\ny = softmax f\nreturn y\n",
    };
    for (size_t i = 0; i < PRT_COUNT_OF(forms); i++) {
        char text[1024];
        (void)snprintf(text, sizeof(text), OPERANDS "%s", forms[i]);
        prt_graph *g = graph_from_text(text);
        ck_assert(run_pass(g, pass, NULL));
        ck_assert_msg(strstr(graph_text(g), "= mul ") == NULL, "%s", graph_text(g));
        ck_assert_msg(strstr(graph_text(g), "= div ") == NULL, "%s", graph_text(g));
        module_free(g);
        assert_pass_keeps_results(text, pass, 0);
    }
}
END_TEST

START_TEST(near_misses_are_left)
{
    static const char *const texts[] = {
        MOVED "d = div s c\nreturn d, s\n",
        MOVED "d = div s c\nreturn d, q\n",
        MOVED "d = div c s\nreturn d\n",
        MOVED "v = const f32[3] {1,2,3}\nd = mul s v\nreturn d\n",
        X "s = matmul x w\ny = mul s c\nreturn y\n",
        X "m = matmul x w\nn = neg m\ns = matmul n k\ny = mul s c\nreturn y\n",
        X "m = matmul x w\ns = matmul m k\ny = mul s c\nz = neg w\nreturn y, z\n",
        OPERANDS "d = mul q c\ns = matmul d k\ny = neg s\nreturn y\n",
        OPERANDS "d = mul q c\ns = matmul d k\ny = softmax s\nz = neg d\nreturn y, z\n",
        OPERANDS "d = mul q c\ns = matmul d k\ny = softmax s\nz = neg q\nreturn y, z\n",
        X
        "b2 = input f32[2]\nm = matmul x w\na = add m b2\ns = matmul a k\ny = mul s c\nreturn y\n",
    };
    for (size_t i = 0; i < PRT_COUNT_OF(texts); i++)
        assert_pass_leaves(pass, NULL, texts[i]);
}
END_TEST

START_TEST(regions_are_rewritten)
{
    assert_pass_keeps_results(X "o = input bool[]\nto2 = const i64[2] {4,2}\nr = if o {\n  "
                                "then_branch { x2 = concat x x; m = matmul x2 w; "
                                "s = matmul m k; d = div s c; return d }\n"
                                "  else_branch { e = reshape x to2; f = matmul e k; return f }\n}\n"
                                "return r\n",
        pass, 0);
}
END_TEST

PRT_TEST_MAIN("pass/fuse/pre_scale", the_factor_goes_into_the_weights,
    factors_of_operands_are_taken, near_misses_are_left, regions_are_rewritten)
