/* SPDX-License-Identifier: MIT */
/* test_int8.c — float_to_int8. */
#include "support/check_main.h"
#include "support/graph_text.h"
#include "support/precision_check.h"

static const char *const pass = "float_to_int8";

#define MODEL                                                                                      \
    "x = input f32[1,2]\nw = const f32[2,2] {1, -0.5, 2.54, 0.06}\ny = matmul x w\nreturn y\n"

START_TEST(weights_are_rounded_to_a_scale_of_their_own)
{
    assert_pass_rewrites(pass, NULL, MODEL,
        "x = input f32[1,2]\nw = const i8[2,2] {50, -127, 127, 15}\n"
        "%0 = const f32[2] {0.02, 0.003937007859349251}\n"
        "%1 = dequantize_linear w %0 {axis=1}\ny = matmul x %1\nreturn y\n");
    /* rows are the channels of Conv and of a Gemm with transB */
    assert_pass_rewrites(pass, NULL,
        "x = input f32[1,1,3]\nw = const f32[2,1,2] {1.27, -0.5, 254, 6}\n"
        "y = conv x w\nreturn y\n",
        "x = input f32[1,1,3]\nw = const i8[2,1,2] {127, -50, 127, 3}\n"
        "%0 = const f32[2] {0.01, 2}\n%1 = dequantize_linear w %0 {axis=0}\ny = conv x %1\n"
        "return y\n");
    assert_pass_rewrites(pass, NULL,
        "x = input f32[1,2]\nw = const f32[2,2] {1.27, -0.5, 0, 0}\n"
        "y = gemm x w {transB=1}\nreturn y\n",
        "x = input f32[1,2]\nw = const i8[2,2] {127, -50, 0, 0}\n%0 = const f32[2] {0.01, 1}\n"
        "%1 = dequantize_linear w %0 {axis=0}\ny = gemm x %1 {transB=1}\nreturn y\n");
}
END_TEST

START_TEST(scale_and_offset_may_be_given)
{
    assert_pass_rewrites(pass, "int8_offset_scale={\"w\":{\"offset\":-3,\"scale\":0.01}}", MODEL,
        "x = input f32[1,2]\nw = const i8[2,2] {97, -53, 127, 3}\n%0 = const f32[] {0.01}\n"
        "%1 = const i8[] {-3}\n%2 = dequantize_linear w %0 %1\ny = matmul x %2\nreturn y\n");
    assert_pass_rewrites(pass,
        "int8_offset_scale={\"w\":{\"offset\":0.5,\"scale\":2,\"value\":[1,-2,3,-128]}}", MODEL,
        "x = input f32[1,2]\nw = const i8[2,2] {1, -2, 3, -128}\n%0 = const f32[] {2}\n"
        "%1 = const f32[] {0.5}\n%2 = cast w {to=1}\n%3 = sub %2 %1\n%4 = mul %3 %0\n"
        "y = matmul x %4\nreturn y\n");
}
END_TEST

START_TEST(all_readers_read_it)
{
    prt_graph *g = graph_from_text(
        "q = input bool[]\nx = input f16[2,2]\nw = const f16[2,2] {1, -0.5, 2.5, 0.25}\n"
        "r = if q {\n  then_branch { a = matmul x w; return a }\n"
        "  else_branch { b = add x w; return b }\n}\nreturn r\n");
    prt_graph *before = graph_from_text(graph_text(g));
    ck_assert(run_pass(g, pass, NULL));
    assert_same_results(before, g, 1e-2, 3);
    ck_assert_graph(g,
        "q = input bool[]\nx = input f16[2,2]\nw = const i8[2,2] {51,-127,127,64}\n"
        "%0 = const f16[2] {0.019683837890625, 0.003936767578125}\n"
        "%1 = dequantize_linear w %0 {axis=1}\n"
        "r = if q {\n  then_branch { a = matmul x %1; return a }\n"
        "  else_branch { b = add x %1; return b }\n}\nreturn r\n");
    module_free(before);
    module_free(g);
}
END_TEST

START_TEST(nothing_to_take_is_left)
{
    assert_pass_leaves(pass, NULL,
        "x = input f32[2,2]\nw = const f64[2,2] {1,2,3,4}\nz = input f32[2,2]\n"
        "y = matmul x z\nv = matmul w w\nreturn y, v\n");
}
END_TEST

START_TEST(bad_options_are_named)
{
    assert_pass_fails(pass, "int8_offset_scale={\"v\":{}}", MODEL, POPRT_E_ARG, "'v'");
    assert_pass_fails(pass, "int8_offset_scale={\"x\":{}}", MODEL, POPRT_E_ARG,
        "no float32 or float16 constant");
    assert_pass_fails(pass, "int8_offset_scale=[]", MODEL, POPRT_E_ARG, "object");
    assert_pass_fails(pass, "int8_offset_scale={\"w\":1}", MODEL, POPRT_E_ARG, "object");
    assert_pass_fails(pass, "int8_offset_scale={\"w\":{\"scale\":0}}", MODEL, POPRT_E_ARG,
        "above 0");
    assert_pass_fails(pass, "int8_offset_scale={\"w\":{\"scale\":1e-60}}", MODEL, POPRT_E_ARG,
        "not finite");
    assert_pass_fails(pass, "int8_offset_scale={\"w\":{\"offset\":\"a\"}}", MODEL, POPRT_E_ARG,
        "offset");
    assert_pass_fails(pass, "int8_offset_scale={\"w\":{\"value\":[1]}}", MODEL, POPRT_E_ARG,
        "each element");
    assert_pass_fails(pass, "int8_offset_scale={\"w\":{\"value\":[1,2,3,128]}}", MODEL, POPRT_E_ARG,
        "from -128 to 127");
}
END_TEST

START_TEST(trained_models_stay_close)
{
    static const char *const models[] = { "digits", "charlm", "encoder" };
    for (size_t i = 0; i < 3; i++)
        assert_model_stays_close(models[i], pass, NULL, 5e-2);
}
END_TEST

PRT_TEST_MAIN("pass/precision/int8", weights_are_rounded_to_a_scale_of_their_own,
    scale_and_offset_may_be_given, all_readers_read_it, nothing_to_take_is_left,
    bad_options_are_named, trained_models_stay_close)
