/* SPDX-License-Identifier: MIT */
/* test_mul_into_matmul.c — fuse_mul_into_matmul. */
#include <stdio.h>

#include "support/check_main.h"
#include "support/graph_text.h"

static const char *const pass = "fuse_mul_into_matmul";

#define XW "x = input f32[n,2]\nw = const f32[2,3] {1, 2, 3, 4, 5, 6}\n"

START_TEST(factors_of_results_go_into_weights)
{
    assert_pass_rewrites(pass, NULL,
        XW "c = const f32[] {2}\np = matmul x w @product\ny = mul p c @factor\nreturn y\n",
        XW "c = const f32[] {2}\nw_0 = const f32[2,3] {2, 4, 6, 8, 10, 12}\n"
           "y = matmul x w_0 @product\nreturn y\n");
    static const char *const forms[] = { "c = const f32[] {0.3}\np = matmul x w\ny = mul p c\n",
        "c = const f32[3] {2, 0.3, -4}\np = matmul x w\ny = mul c p\n",
        "c = const f32[1,3] {2, 0.3, -4}\np = matmul x w\ny = div p c\n",
        "c = const f32[1,1] {3}\np = matmul x w\ny = div p c\n" };
    for (size_t i = 0; i < PRT_COUNT_OF(forms); i++) {
        char text[512];
        (void)snprintf(text, sizeof(text), XW "%sreturn y\n", forms[i]);
        assert_pass_keeps_results(text, pass, 1e-6);
    }
}
END_TEST

START_TEST(factors_of_inputs_go_into_weights)
{
    assert_pass_rewrites(pass, NULL,
        XW "c = const f32[2] {2, -1}\nm = mul c x @factor\ny = matmul m w @product\nreturn y\n",
        XW "c = const f32[2] {2, -1}\nw_0 = const f32[2,3] {2, 4, 6, -4, -5, -6}\ny = matmul x w_0 "
           "@product\nreturn y\n");
    assert_pass_keeps_results(XW "c = const f32[1,2] {2, 0.3}\nm = div x c\ny = matmul m w\n"
                                 "return y\n",
        pass, 1e-6);
    assert_pass_keeps_results("x = input f32[2,2,3]\nw = const f32[2,3,1] {1, 2, 3, 4, 5, 6}\n"
                              "c = const f32[] {0.25}\nm = mul x c\ny = matmul m w\nreturn y\n",
        pass, 0);
}
END_TEST

START_TEST(near_misses_are_left)
{
    static const char *const texts[] = {
        XW "c = const f32[] {2}\np = matmul x w\ny = mul p c\nreturn y, p\n",
        XW "c = const f32[] {2}\np = matmul x w\ny = mul p c\nz = neg w\nreturn y, z\n",
        XW "c = input f32[]\np = matmul x w\ny = mul p c\nreturn y\n",
        XW "c = const f32[] {2}\np = matmul x w\ny = div c p\nreturn y\n",
        XW "c = const f32[1,1,3] {2,3,4}\np = matmul x w\ny = mul p c\nreturn y\n",
        XW "c = const f32[2,1] {2,3}\np = matmul x w\ny = mul p c\nreturn y\n",
        "x = input f32[2,2]\nw = const f32[2,3] {1, 2, 3, 4, 5, 6}\nc = const f32[2,1] {2,3}\n"
        "m = mul x c\ny = matmul m w\nreturn y\n",
        "x = input f32[3,2]\nw = const f32[2] {1, 2}\nc = const f32[] {2}\np = matmul x w\n"
        "y = mul p c\nreturn y\n",
        "x = input f16[1,1]\nw = const f16[1,1] {60000}\nc = const f16[] {2}\np = matmul x w\n"
        "y = mul p c\nreturn y\n",
    };
    for (size_t i = 0; i < PRT_COUNT_OF(texts); i++)
        assert_pass_leaves(pass, NULL, texts[i]);
}
END_TEST

/* Each factor would make another copy of a large weight. */
START_TEST(constants_are_not_made_without_end)
{
    char text[32768];
    size_t at = (size_t)snprintf(text, sizeof(text),
        "x = input f32[1,512]\nw = const f32[512,512] fill 1\nc = const f32[] {2}\n"
        "p0 = matmul x w\n");
    for (int i = 0; i < 100; i++)
        at += (size_t)snprintf(text + at, sizeof(text) - at, "p%d = mul p%d c\n", i + 1, i);
    (void)snprintf(text + at, sizeof(text) - at, "return p100\n");
    prt_graph *g = graph_from_text(text);
    ck_assert(run_pass(g, pass, NULL));
    ck_assert_uint_le(g->constants.count, 8);
    module_free(g);
}
END_TEST

START_TEST(regions_are_rewritten)
{
    assert_pass_keeps_results("x = input f32[2,2]\nw = const f32[2,2] {1,2,3,4}\nq = input bool[]\n"
                              "c = const f32[] {0.3}\nr = if q {\n  then_branch { p = matmul x w; "
                              "y = mul p c; return y }\n  else_branch { e = neg x; return e }\n}\n"
                              "return r\n",
        pass, 1e-6);
}
END_TEST

START_TEST(gelu_keeps_its_half)
{
    assert_pass_leaves("fuse_mul_into_matmul", NULL,
        "x = input f32[2,3]\nr = const f32[] {1.41421356}\no = const f32[] {1}\n"
        "h = const f32[] {0.5}\nw = const f32[3,2] {1, 2, 3, 4, 5, 6}\na = div x r\n"
        "b = erf a\nc = add b o\nd = mul x c\ne = mul d h\ny = matmul e w\nreturn y\n");
}
END_TEST

PRT_TEST_MAIN("pass/fuse/mul_into_matmul", gelu_keeps_its_half, factors_of_results_go_into_weights,
    factors_of_inputs_go_into_weights, near_misses_are_left, constants_are_not_made_without_end,
    regions_are_rewritten)
