/* SPDX-License-Identifier: MIT */
/*
 * test_fp8.c — float_to_fp8.
 * Covers: fp8_code.c.
 */
#include <stdio.h>
#include <string.h>

#include "support/check_main.h"
#include "support/graph_text.h"
#include "support/precision_check.h"

static const char *const pass = "float_to_fp8";

/* 1 is 0x40, 0.5 is 0x38, -2 is 0xC8, 0.1 is 0.1015625 = 0x25 in F143. */
#define W "w = const f32[2,2] {1, 0.5, -2, 0.1}\n"
#define X "x = input f32[2,2]\n"

START_TEST(products_take_bytes)
{
    assert_pass_rewrites(pass, NULL, X W "y = matmul x w @fc\nz = relu y\nreturn z\n",
        "x = input f16[2,2]\n%0 = const i32[1] {0}\nw = const u8[2,2] {64, 56, 200, 37}\n"
        "%1 = const i32[1] {0}\n%2 = const i32[1] {0}\n"
        "%3 = gc_cast_to_uint8 x %0 {fp8Format=F143}\n"
        "y = gc_fp8_matmul %3 w %1 %2 {fp8FormatLHS=F143, fp8FormatRHS=F143} @fc\n"
        "z = relu y\nreturn z\n");
}
END_TEST

START_TEST(weights_alone_are_bytes)
{
    assert_pass_rewrites(pass, "convert_model=fp8_weight, fp8_params=F143,F152,0,-1",
        X W "y = matmul x w\nreturn y\n",
        "x = input f16[2,2]\nw = const u8[2,2] {68, 64, 200, 54}\n%0 = const i32[1] {0}\n"
        "%1 = const i32[1] {-1}\n"
        "y = gc_fp8_matmul x w %0 %1 {fp8FormatLHS=F143, fp8FormatRHS=F152}\nreturn y\n");
}
END_TEST

START_TEST(convolutions_keep_their_attributes)
{
    assert_pass_rewrites(pass, NULL,
        "x = input f32[1,1,4,4]\nw = const f32[2,1,1,1] {1, 0.5}\nb = const f32[2] {3, 4}\n"
        "y = conv x w b {strides=[2,2], pads=[1,0,1,0]} @c\nreturn y\n",
        "x = input f16[1,1,4,4]\n%0 = const i32[1] {0}\nw = const u8[2,1,1,1] {64, 56}\n"
        "%1 = const i32[1] {0}\n%2 = const i32[1] {0}\nb = const f16[2,1,1] {3, 4}\n"
        "%3 = gc_cast_to_uint8 x %0 {fp8Format=F143}\n"
        "%4 = gc_fp8_conv %3 w %1 %2 {fp8FormatLHS=F143, fp8FormatRHS=F143, "
        "pads=[1,0,1,0], strides=[2,2]} @c\n"
        "y = add %4 b\nreturn y\n");
}
END_TEST

/* Everything a Gemm can do to its operands and its sum. */
START_TEST(gemm_becomes_its_parts)
{
    static const char *const text =
        "x = input f32[2,3]\nw = const f32[4,2] {1, 0.5, -2, 0.25, 3, 1.5, -0.5, 0.75}\n"
        "c = input f32[4]\n"
        "y = gemm x w c {transA=1, transB=1, alpha=0.5, beta=2}\nreturn y\n";
    prt_graph *before = graph_from_text(text), *after = graph_from_text(text);
    ck_assert(run_pass(after, pass, "convert_model=fp8_weight"));
    const char *const got = graph_text(after);
    ck_assert_ptr_nonnull(strstr(got, "const u8[2,4] {64, 200, 76, 184, 56, 48, 68, 60}"));
    ck_assert_ptr_null(strstr(got, "cast"));
    /* the numbers are float16's and float8's own, so the sums differ by a rounding only */
    prt_graph *half = graph_from_text(text);
    ck_assert(run_pass(half, "float_to_half", NULL));
    assert_same_results(half, after, 2e-3, 5);
    module_free(before);
    module_free(half);
    module_free(after);
}
END_TEST

START_TEST(some_layers_stay_half)
{
    static const char *const two = X W "a = matmul x w @fc1\nb = matmul a w @fc2\nreturn b\n";
    prt_graph *g = graph_from_text(two);
    ck_assert(run_pass(g, pass, "skip_op_names=fc2,Gather_9"));
    ck_assert_ptr_nonnull(strstr(graph_text(g), "b = matmul a w @fc2"));
    ck_assert_ptr_nonnull(strstr(graph_text(g), "gc_fp8_matmul"));
    module_free(g);
    /* a right side that is computed, and groups */
    static const char *const computed =
        "x = input f32[2,2]\nz = input f32[2,2]\ny = matmul x z\nreturn y\n";
    g = graph_from_text(computed);
    ck_assert(run_pass(g, pass, NULL));
    ck_assert_ptr_null(strstr(graph_text(g), "fp8"));
    module_free(g);
    g = graph_from_text(computed);
    ck_assert(run_pass(g, pass, "skip_op=false"));
    ck_assert_ptr_nonnull(strstr(graph_text(g), "gc_cast_to_uint8 z"));
    module_free(g);
    static const char *const groups = "x = input f32[1,2,3]\nw = const f32[2,1,1] {1,2}\n"
                                      "y = conv x w {group=2}\nreturn y\n";
    g = graph_from_text(groups);
    ck_assert(run_pass(g, pass, NULL));
    ck_assert_ptr_null(strstr(graph_text(g), "fp8"));
    ck_assert(run_pass(g, pass, "skip_op=false"));
    ck_assert_ptr_nonnull(strstr(graph_text(g), "gc_fp8_conv"));
    module_free(g);
    assert_pass_leaves(pass, NULL, "x = input f64[2,2]\ny = matmul x x\nreturn y\n");
}
END_TEST

START_TEST(dictionaries_go_by_node)
{
    prt_graph *g = graph_from_text(X W "a = matmul x w @fc1\nb = matmul a w @fc2\nreturn b\n");
    ck_assert(run_pass(g, pass,
        "fp8_input_dict={\"fc2\":[\"F152\",3]}, "
        "fp8_weight_dict={\"fc2\":[\"F143\",-1]}"));
    const char *const text = graph_text(g);
    ck_assert_ptr_nonnull(strstr(text, "{fp8FormatLHS=F143, fp8FormatRHS=F143} @fc1"));
    ck_assert_ptr_nonnull(strstr(text, "{fp8FormatLHS=F152, fp8FormatRHS=F143} @fc2"));
    ck_assert_ptr_nonnull(strstr(text, "const i32[1] {3}"));
    ck_assert_ptr_nonnull(strstr(text, "const u8[2,2] {64, 56, 200, 37}"));
    ck_assert_ptr_nonnull(strstr(text, "const u8[2,2] {72, 64, 208, 45}"));
    module_free(g);
}
END_TEST

START_TEST(bad_options_are_named)
{
    static const char *const text = X W "y = matmul x w\nreturn y\n";
    assert_pass_fails(pass, "fp8_params=F143", text, POPRT_E_ARG, "F143 and F152");
    assert_pass_fails(pass, "fp8_params=F143,F143,0,32", text, POPRT_E_ARG, "-32 to 31");
    assert_pass_fails(pass, "fp8_params=F143,F143,0,0,1", text, POPRT_E_ARG, "fp8_params");
    assert_pass_fails(pass, "convert_model=fp16", text, POPRT_E_ARG, "fp8_weight");
    assert_pass_fails(pass, "fp8_input_dict={\"a\":[\"F143\",40]}", text, POPRT_E_ARG, "'a'");
    assert_pass_fails(pass, "fp8_weight_dict=[1]", text, POPRT_E_ARG, "object");
    assert_pass_fails(pass, "fp8_weight_dict={", text, POPRT_E_PARSE, "");
}
END_TEST

START_TEST(regions_are_converted)
{
    prt_graph *g = graph_from_text("q = input bool[]\n" X W "r = if q {\n"
                                   "  then_branch { a = matmul x w; return a }\n"
                                   "  else_branch { return x }\n}\nreturn r\n");
    ck_assert(run_pass(g, pass, NULL));
    ck_assert_ptr_nonnull(strstr(graph_text(g), "gc_fp8_matmul"));
    ck_assert(!run_pass(g, pass, NULL));
    module_free(g);
}
END_TEST

START_TEST(trained_models_keep_their_direction)
{
    static const char *const models[] = { "digits", "charlm", "encoder" };
    static const char *const options[] = { "fp8_params=F143,F143,-1,-3",
        "convert_model=fp8_weight, fp8_params=F143,F143,0,-3" };
    for (size_t i = 0; i < 6; i++) {
        prt_graph *before = trained_model(models[i % 3]), *after = trained_model(models[i % 3]);
        ck_assert(run_pass(after, pass, options[i / 3]));
        const model_distance d = distance_of(models[i % 3], before, after);
        ck_assert_msg(d.cosine < 0.02, "%s: cosine distance %g", models[i % 3], d.cosine);
        module_free(before);
        module_free(after);
    }
}
END_TEST

START_TEST(digits_are_still_read)
{
    prt_graph *before = trained_model("digits"), *after = trained_model("digits");
    ck_assert(run_pass(after, pass, "fp8_params=F143,F143,-1,-3"));
    const uint32_t was = digits_read(before), is = digits_read(after);
    ck_assert_uint_eq(was, 358);
    ck_assert_msg(is + 3 >= was, "%u digits of 360 are read, %u before", is, was);
    module_free(before);
    module_free(after);
}
END_TEST

PRT_TEST_MAIN("pass/precision/fp8", products_take_bytes, weights_alone_are_bytes,
    convolutions_keep_their_attributes, gemm_becomes_its_parts, some_layers_stay_half,
    dictionaries_go_by_node, bad_options_are_named, regions_are_converted,
    trained_models_keep_their_direction, digits_are_still_read)
