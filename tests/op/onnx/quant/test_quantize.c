/* SPDX-License-Identifier: MIT */
/* test_quantize.c — quantisation: granularities, small types, rounding, errors.
 * Covers: quant.c. */
#include "support/check_main.h"
#include "support/op_text.h"

START_TEST(values_round_to_even_and_saturate)
{
    ck_assert_str_eq(op_value("x = const f32[6] {0.5,1.5,-2.5,1000,-1000,nan}\n"
                              "s = const f32[] {1}\nz = const i8[] {0}\n"
                              "y = quantize_linear x s z\nreturn y\n"),
        "i8[6]: 0 2 -2 127 -128 -128");
    ck_assert_str_eq(op_value("x = const f32[3] {-1,0,300}\ns = const f32[1] {1}\n"
                              "y = quantize_linear x s\nreturn y\n"),
        "u8[3]: 0 0 255");
    ck_assert_str_eq(op_value("x = const f32[4] {-9,9,0.4,3}\ns = const f32[] {1}\n"
                              "y = quantize_linear x s {output_dtype=22}\nreturn y\n"),
        "i4[4]: -8 7 0 3");
    ck_assert_str_eq(op_value("x = const f32[4] {-9,9,0.4,-1}\ns = const f32[] {1}\n"
                              "y = quantize_linear x s {output_dtype=26}\nreturn y\n"),
        "i2[4]: -2 1 0 -1");
    ck_assert_str_eq(op_value("x = const f32[2] {1000,-1.1}\ns = const f32[] {1}\n"
                              "y = quantize_linear x s {output_dtype=17, saturate=1}\nreturn y\n"),
        "f8e4m3fn[2]: 448 -1.125");
    ck_assert_str_eq(op_value("x = const f32[5] {1.3,-2.6,100,-0.04,5.2}\ns = const f32[] {0.5}\n"
                              "y = quantize_linear x s {output_dtype=27}\nreturn y\n"),
        "f6e2m3[5]: 2.5 -5 7.5 -0.125 7.5");
    ck_assert_str_eq(op_value("x = const f32[5] {1.3,-2.6,100,-0.04,5.2}\ns = const f32[] {0.5}\n"
                              "z = const f6e3m2[] {0}\ny = quantize_linear x s z\nreturn y\n"),
        "f6e3m2[5]: 2.5 -5 28 -0.0625 10");
    ck_assert_str_eq(op_value("x = const f6e3m2[3] {28,-0.0625,1.5}\ns = const f32[] {2}\n"
                              "y = dequantize_linear x s\nreturn y\n"),
        "f32[3]: 56 -0.125 3");
}
END_TEST

START_TEST(axes_and_blocks_have_their_own_scales)
{
    ck_assert_str_eq(op_value("x = const f32[2,2] {1,2,3,4}\ns = const f32[2] {1,2}\n"
                              "z = const u8[2] {0,1}\ny = quantize_linear x s z {axis=-1}\n"
                              "return y\n"),
        "u8[2,2]: 1 2 3 3");
    ck_assert_str_eq(op_value("x = const i8[5] {1,2,3,4,5}\ns = const f32[3] {1,10,100}\n"
                              "y = dequantize_linear x s {axis=0, block_size=2}\nreturn y\n"),
        "f32[5]: 1 2 30 40 500");
    ck_assert_str_eq(op_value("x = const i4[2,2] {1,2,3,-4}\ns = const f16[1,2] {1,2}\n"
                              "y = dequantize_linear x s {axis=0, block_size=2}\nreturn y\n"),
        "f16[2,2]: 1 4 3 -8");
    ck_assert_str_eq(op_type("x = input i8[n,c]\ns = input f32[c]\nz = input i8[c]\n"
                             "y = dequantize_linear x s z\nreturn y\n"),
        "f32[n,c]");
}
END_TEST

START_TEST(wrong_scales_are_refused)
{
    ck_assert_str_eq(op_status("x = const f32[2,2] zeros\ns = const f32[3] ones\n"
                               "y = quantize_linear x s\nreturn y\n"),
        "POPRT_E_SHAPE");
    ck_assert_str_eq(op_status("x = const f32[2,2] zeros\ns = const f32[2] ones\n"
                               "y = quantize_linear x s {axis=2}\nreturn y\n"),
        "POPRT_E_SHAPE");
    ck_assert_str_eq(op_status("x = const f32[4] zeros\ns = const f32[2] ones\n"
                               "y = quantize_linear x s {axis=0, block_size=3, output_dtype=1}\n"
                               "return y\n"),
        "POPRT_E_TYPE");
    ck_assert_str_eq(op_status("x = const f32[4] zeros\ns = const f32[2] ones\n"
                               "y = quantize_linear x s {axis=0, block_size=-1}\nreturn y\n"),
        "POPRT_E_ARG");
    ck_assert_str_eq(op_status("x = const f32[4] zeros\ns = const f32[2] ones\n"
                               "y = quantize_linear x s {axis=0, block_size=9223372036854775807}\n"
                               "return y\n"),
        "POPRT_E_SHAPE");
}
END_TEST

START_TEST(dynamic_quantization_finds_the_range)
{
    ck_assert_str_eq(op_value("x = const f32[3] {-1,0,1.55}\ny, s, z = dynamic_quantize_linear x\n"
                              "return y, s, z\n"),
        "u8[3]: 0 100 255");
    ck_assert_str_eq(op_value("x = const f32[0] {}\ny, s, z = dynamic_quantize_linear x\n"
                              "return s, y, z\n"),
        "f32[]: 1");
}
END_TEST

PRT_TEST_MAIN("op/quantize", values_round_to_even_and_saturate,
    axes_and_blocks_have_their_own_scales, wrong_scales_are_refused,
    dynamic_quantization_finds_the_range)
