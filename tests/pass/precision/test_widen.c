/* SPDX-License-Identifier: MIT */
/* test_widen.c — widen_half and decode_fp8. */
#include <string.h>

#include "pass/engine/pass.h"
#include "support/check_main.h"
#include "support/graph_text.h"
#include "support/precision_check.h"

static const char *const widen = "widen_half", *const decode = "decode_fp8";

static const char *const exact = "exact=true";

START_TEST(half_is_rounded_between)
{
    assert_pass_rewrites(widen, exact,
        "x = input f16[4]\ns = const i64[2] {2,2}\nw = const f16[4] {1, 2, 3, 0.1}\n"
        "a = mul x w\nb = relu a\nc = reshape b s\nreturn c\n",
        "x = input f16[4]\ns = const i64[2] {2,2}\nw = const f32[4] {1, 2, 3, 0.0999755859375}\n"
        "%0 = cast x {to=1}\na = mul %0 w\n%1 = cast a {to=10}\n%2 = cast %1 {to=1}\n"
        "b = relu %2\n%3 = cast b {to=10}\nc = reshape %3 s\nreturn c\n");
    assert_pass_rewrites(widen, exact, "x = input bf16[4]\ny = exp x\nz = neg y\nreturn y, z\n",
        "x = input bf16[4]\n%0 = cast x {to=1}\n%1 = exp %0\ny = cast %1 {to=16}\n"
        "%2 = cast y {to=1}\n%3 = neg %2\nz = cast %3 {to=16}\nreturn y, z\n");
    assert_pass_leaves(widen, exact,
        "x = input f16[2,2]\na = transpose x\nb = cast a {to=1}\nc = input f32[2]\n"
        "d = cast c {to=10}\nreturn a, b, d\n");
}
END_TEST

START_TEST(values_inside_are_wide)
{
    assert_pass_rewrites(widen, NULL,
        "x = input f16[4]\ns = const i64[2] {2,2}\nw = const f16[4] {1, 2, 3, 0.1}\n"
        "a = mul x w\nb = relu a\nc = reshape b s\nd = neg c\nreturn d\n",
        "x = input f16[4]\ns = const i64[2] {2,2}\nw = const f32[4] {1, 2, 3, 0.0999755859375}\n"
        "%0 = cast x {to=1}\na = mul %0 w\nb = relu a\nc = reshape b s\n%1 = neg c\n"
        "d = cast %1 {to=10}\nreturn d\n");
    /* products in half within a model of float32, and back to it */
    assert_pass_rewrites(widen, NULL,
        "x = input f32[2,2]\nw = const f16[2,2] {1, 2, 3, 4}\na = cast x {to=10}\n"
        "b = matmul a w\nc = cast b {to=1}\nd = relu c\nreturn d\n",
        "x = input f32[2,2]\nw = const f32[2,2] {1, 2, 3, 4}\nb = matmul x w\nd = relu b\n"
        "return d\n");
    /* both halves */
    assert_pass_rewrites(widen, NULL,
        "x = input f16[2]\na = exp x\nb = cast a {to=16}\nc = neg b\nreturn c\n",
        "x = input f16[2]\n%0 = cast x {to=1}\na = exp %0\n%1 = neg a\nc = cast %1 {to=16}\n"
        "return c\n");
    assert_pass_rewrites(widen, NULL, "q = input f16[1,2,4,8]\ny = attention q q q\nreturn y\n",
        "q = input f16[1,2,4,8]\n%0 = cast q {to=1}\n%1 = attention %0 %0 %0\n"
        "y = cast %1 {to=10}\nreturn y\n");
}
END_TEST

START_TEST(outputs_keep_type_and_name)
{
    assert_pass_rewrites(widen, NULL, "x = input f16[4]\ny = exp x\nz = neg y\nreturn y, z\n",
        "x = input f16[4]\n%0 = cast x {to=1}\n%1 = exp %0\ny = cast %1 {to=10}\n"
        "%2 = neg %1\nz = cast %2 {to=10}\nreturn y, z\n");
}
END_TEST

START_TEST(data_movement_and_quantisation_stay_half)
{
    assert_pass_leaves(widen, NULL, "x = input f16[2,2]\na = transpose x\nreturn a\n");
    assert_pass_leaves(widen, NULL, "x = input f32[2]\ny = exp x\nreturn y\n");
    assert_pass_leaves(widen, NULL,
        "x = input f16[2]\ns = const f16[] {0.5}\nz = const i8[] {1}\n"
        "y = quantize_linear x s z\nreturn y\n");
}
END_TEST

START_TEST(regions_keep_their_edges)
{
    assert_pass_rewrites(widen, NULL,
        "q = input bool[]\nx = input f16[4]\nr = if q {\n"
        "  then_branch { a = exp x; return a }\n  else_branch { return x }\n}\nreturn r\n",
        "q = input bool[]\nx = input f16[4]\n%0 = cast x {to=1}\nr = if q {\n"
        "  then_branch { a = exp %0; %1 = cast a {to=10}; return %1 }\n"
        "  else_branch { return x }\n}\nreturn r\n");
}
END_TEST

START_TEST(results_are_those_of_half)
{
    static const prt_pass_arg rounded = { "exact", "true" };
    static const char *const text =
        "x = input f16[3,4]\ny = input f16[3,4]\na = add x y\nb = mul a y\n"
        "c = sub b x\nd = relu c\ne = max d y\nreturn e\n";
    prt_graph *before = graph_from_text(text), *after = graph_from_text(text);
    run_pass_with(after, widen, 1, &rounded);
    assert_same_results(before, after, 0, 7);
    module_free(before);
    module_free(after);
    assert_pass_keeps_results(text, widen, 4e-3);
    assert_pass_keeps_results("x = input f16[3,40]\ny = input f16[40,4]\na = matmul x y\n"
                              "b = softmax a\nc = gelu b\nreturn a, c\n",
        widen, 4e-3);
}
END_TEST

#define LAYER                                                                                      \
    "x = input f32[2,2]\nw = const u8[2,2] {64, 56, 200, 37}\ns = const i32[1] {1}\n"              \
    "t = const i32[1] {-2}\n"

START_TEST(constant_bytes_become_floats)
{
    assert_pass_rewrites(decode, NULL,
        LAYER "b = gc_cast_to_uint8 x s\ny = gc_fp8_matmul b w s t\nreturn y\n",
        "x = input f32[2,2]\nw = const u8[2,2] {64, 56, 200, 37}\ns = const i32[1] {1}\n"
        "t = const i32[1] {-2}\nb = gc_cast_to_uint8 x s\n%0 = bit_cast b {to=18}\n"
        "%1 = cast %0 {to=1}\nw_0 = const f32[2,2] {0.5, 0.25, -1, 0.05078125}\n"
        "%2 = matmul %1 w_0\ny = cast %2 {to=10}\nreturn y\n");
    assert_pass_keeps_results(LAYER
        "b = gc_cast_to_uint8 x s\ny = gc_fp8_matmul b w s t {fp8FormatRHS=F152}\nreturn y\n",
        decode, 0);
    assert_pass_keeps_results(LAYER "h = cast x {to=10}\ny = gc_fp8_matmul h w s t\nreturn y\n",
        decode, 1e-3);
    assert_pass_keeps_results(
        "x = input f16[1,2,5]\nw = const u8[2,1,2] {64, 56, 200, 37}\ns = const i32[1] {-30}\n"
        "t = const i32[1] {0}\nb = gc_cast_to_uint8 x t\n"
        "y = gc_fp8_conv b w t t {group=2, pads=[1,0], strides=[2]}\n"
        "z = gc_fp8_conv x w s s {group=2}\nreturn y, z\n",
        decode, 1e-3);
}
END_TEST

START_TEST(computed_operands_stay_bytes)
{
    assert_pass_leaves(decode, NULL,
        "x = input u8[2,2]\nw = input u8[2,2]\ns = const i32[1] {1}\n"
        "y = gc_fp8_matmul x w s s\nreturn y\n");
    assert_pass_leaves(decode, NULL,
        "x = input u8[2,2]\nw = const u8[2,2] {1,2,3,4}\ns = input i32[1]\n"
        "y = gc_fp8_matmul x w s s\nreturn y\n");
    assert_pass_leaves(decode, NULL,
        "x = input u8[2,2]\nw = const u8[2,2] {1,2,3,4}\ns = const i32[1] {99}\n"
        "y = gc_fp8_matmul x w s s\nreturn y\n");
}
END_TEST

START_TEST(trained_models_stay_close)
{
    static const char *const models[] = { "digits", "charlm", "encoder" };
    for (size_t i = 0; i < 6; i++) {
        prt_graph *before = trained_model(models[i % 3]), *after = trained_model(models[i % 3]);
        const char *const pass = i < 3 ? "float_to_half" : "float_to_fp8";
        ck_assert(run_pass(before, pass, NULL));
        ck_assert(run_pass(after, pass, NULL));
        (void)run_pass(after, decode, NULL);
        ck_assert(run_pass(after, widen, NULL));
        const model_distance d = distance_of(models[i % 3], before, after);
        /* a last bit of difference may become a step of 8 bits */
        ck_assert_msg(d.worst <= (i < 3 ? 5e-3 : 5e-2), "%s, %s: %g", models[i % 3], pass, d.worst);
        module_free(before);
        module_free(after);
    }
}
END_TEST

PRT_TEST_MAIN("pass/precision/widen", half_is_rounded_between, values_inside_are_wide,
    outputs_keep_type_and_name, data_movement_and_quantisation_stay_half, regions_keep_their_edges,
    results_are_those_of_half, constant_bytes_become_floats, computed_operands_stay_bytes,
    trained_models_stay_close)
