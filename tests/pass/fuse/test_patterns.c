/* SPDX-License-Identifier: MIT */
/* test_patterns.c — erf_gelu_pattern, gelu_pattern, layer_norm_pattern. */
#include <stdio.h>

#include "support/check_main.h"
#include "support/graph_text.h"

#define NUMBERS                                                                                    \
    "half = const f32[] {0.5}\none = const f32[] {1}\nthree = const f32[] {3}\n"                   \
    "root = const f32[] {1.4142135}\nk = const f32[] {0.044715}\nc = const f32[] {0.7978846}\n"
#define X "x = input f32[2,3,8]\n"
#define BY_ERF "d = div x root\nf = erf d\ng = add f one\nm = mul x g\ny = mul m half @gelu\n"
#define BY_TANH                                                                                    \
    "p = pow x three\nq = mul p k\nr = add x q\nu = mul r c\nt = tanh u\ng = add t one\n"          \
    "h = mul x half\ny = mul h g @gelu\n"

START_TEST(gelu_formulas_become_operators)
{
    assert_pass_rewrites("erf_gelu_pattern", NULL, X NUMBERS BY_ERF "return y\n",
        X NUMBERS "y = gc_gelu_erf x @gelu\nreturn y\n");
    assert_pass_keeps_results(X NUMBERS BY_ERF "return y\n", "erf_gelu_pattern", 1e-6);
    assert_pass_rewrites("gelu_pattern", NULL, X NUMBERS BY_TANH "return y\n",
        X NUMBERS "y = gc_gelu x @gelu\nreturn y\n");
    assert_pass_keeps_results(X NUMBERS BY_TANH "return y\n", "gelu_pattern", 1e-6);
    assert_pass_keeps_results(
        "x = input f16[2,8]\nhalf = const f16[] {0.5}\none = const f16[] {1}\n"
        "three = const f16[] {3}\nk = const f16[] {0.044715}\n"
        "c = const f16[] {0.7978846}\n" BY_TANH "return y\n",
        "gelu_pattern", 4e-3);
    assert_pass_leaves("gelu_pattern", NULL, X NUMBERS BY_ERF "return y\n");
    assert_pass_leaves("erf_gelu_pattern", NULL, X NUMBERS BY_TANH "return y\n");
    assert_pass_leaves("erf_gelu_pattern", NULL, X NUMBERS BY_ERF "return y, f\n");
    assert_pass_leaves("erf_gelu_pattern", NULL,
        X NUMBERS "d = div x c\nf = erf d\ng = add f one\nm = mul x g\ny = mul m half\nreturn y\n");
}
END_TEST

#define PARAMS                                                                                     \
    "s = const f32[8] {1,2,3,4,5,6,7,8}\nb = const f32[8] {8,7,6,5,4,3,2,1}\n"                     \
    "ax = const i64[1] {-1}\ntwo = const f32[] {2}\ne = const f32[] {0.001}\none = const f32[] "   \
    "{1}\n"
#define VARIANCE "p = pow d two\nv = reduce_mean p ax\nw = add v e\nr = sqrt w\n"
#define END "n = mul q s\ny = add n b @norm\nreturn y\n"
#define ONE_SUB "m = reduce_mean x ax\nd = sub x m\n"

START_TEST(layer_norm_formulas_become_group_norm)
{
    static const char *const pass = "layer_norm_pattern";
    assert_pass_rewrites(pass, NULL, X PARAMS ONE_SUB VARIANCE "q = div d r\n" END,
        X PARAMS "%0 = const i64[2] {-1,8}\n%1 = const i64[3] {2,3,8}\n%2 = reshape x %0 @norm\n"
                 "%3 = gc_group_normalization %2 s b {num_groups=1, epsilon=0.001} @norm\n"
                 "y = reshape %3 %1 @norm\nreturn y\n");
    static const char *const forms[] = {
        X PARAMS ONE_SUB VARIANCE "q = div d r\n" END,
        X PARAMS ONE_SUB VARIANCE "i = div one r\nq = mul d i\n" END,
        X PARAMS ONE_SUB "z = sub x m\n" VARIANCE "q = div z r\n" END,
        X PARAMS ONE_SUB "m2 = reduce_mean x ax\nz = sub x m2\n" VARIANCE "q = div z r\n" END,
        X PARAMS ONE_SUB "p = mul d d\nv = reduce_mean p ax\nw = add e v\nr = sqrt w\nq = div d r\n"
                         "n = mul s q\ny = add b n\nreturn y\n",
        "x = input f32[n,8]\n" PARAMS ONE_SUB VARIANCE "q = div d r\n" END,
        "x = input f32[n,m,8]\n" PARAMS "m = reduce_mean x ax\nd = sub x m\n" VARIANCE
        "q = div d r\n" END,
    };
    for (size_t i = 0; i < PRT_COUNT_OF(forms); i++)
        assert_pass_keeps_results(forms[i], pass, 2e-6);
}
END_TEST

START_TEST(norms_of_other_forms_are_left)
{
    static const char *const texts[] = {
        "x = input f32[2,8,3]\n" PARAMS "a1 = const i64[1] {1}\nm = reduce_mean x a1\nd = sub x m\n"
        "p = pow d two\nv = reduce_mean p a1\nw = add v e\nr = sqrt w\nq = div d r\n"
        "s3 = const f32[3] {1,2,3}\nn = mul q s3\ny = add n s3\nreturn y\n",
        X PARAMS ONE_SUB "z = sub x one\n" VARIANCE "q = div z r\n" END,
        X PARAMS ONE_SUB VARIANCE "q = div d r\nn = mul q one\ny = add n b\nreturn y\n",
        X PARAMS ONE_SUB VARIANCE "q = div d r\nn = mul q s\ny = add n b\nreturn y, w\n",
    };
    for (size_t i = 0; i < PRT_COUNT_OF(texts); i++)
        assert_pass_leaves("layer_norm_pattern", NULL, texts[i]);
}
END_TEST

START_TEST(regions_are_rewritten)
{
    static const char *const passes[][2] = {
        { "erf_gelu_pattern",
            "d = div x root; f = erf d; g = add f one; o = mul x g; "
            "t = mul o half;" },
        { "gelu_pattern",
            "p = pow x three; q2 = mul p k; r2 = add x q2; u = mul r2 c; v = tanh u; "
            "g = add v one; h = mul x half; t = mul h g;" },
        { "layer_norm_pattern",
            "o = reduce_mean x ax; d = sub x o; p = pow d two; "
            "v = reduce_mean p ax; w = add v e; r2 = sqrt w; q2 = div d r2; "
            "n = mul q2 s; t = add n b;" },
    };
    for (size_t i = 0; i < PRT_COUNT_OF(passes); i++) {
        char text[2048];
        (void)snprintf(text, sizeof(text),
            X
            "q = input bool[]\nhalf = const f32[] {0.5}\nthree = const f32[] {3}\n"
            "root = const f32[] {1.4142135}\nk = const f32[] {0.044715}\n"
            "c = const f32[] {0.7978846}\n" PARAMS
            "r = if q {\n  then_branch { %s return t }\n  else_branch { z = neg x; return z }\n}\n"
            "return r\n",
            passes[i][1]);
        assert_pass_keeps_results(text, passes[i][0], 2e-6);
    }
}
END_TEST

START_TEST(operators_count_as_their_formulas)
{
    assert_pass_rewrites("erf_gelu_pattern", NULL, "x = input f32[2]\ny = gelu x\nreturn y\n",
        "x = input f32[2]\ny = gc_gelu_erf x\nreturn y\n");
    assert_pass_leaves("erf_gelu_pattern", NULL,
        "x = input f32[2]\ny = gelu x {approximate=\"tanh\"}\nreturn y\n");
    assert_pass_rewrites("gelu_pattern", NULL,
        "x = input f32[2]\ny = gelu x {approximate=\"tanh\"}\nreturn y\n",
        "x = input f32[2]\ny = gc_gelu x\nreturn y\n");
    assert_pass_keeps_results(
        "x = input f32[2,3,4]\ns = const f32[4] {1, 2, 3, 4}\nb = const f32[4] {0, 1, 0, -1}\n"
        "y = layer_normalization x s b {epsilon=0.001}\nreturn y\n",
        "layer_norm_pattern", 1e-6);
    assert_pass_leaves("layer_norm_pattern", NULL,
        "x = input f32[2,3,4]\ns = const f32[3,4] {1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3}\n"
        "y = layer_normalization x s {axis=1}\nreturn y\n");
}
END_TEST

PRT_TEST_MAIN("pass/fuse/patterns", operators_count_as_their_formulas,
    gelu_formulas_become_operators, layer_norm_formulas_become_group_norm,
    norms_of_other_forms_are_left, regions_are_rewritten)
