/* SPDX-License-Identifier: MIT */
/* test_rotary.c — RotaryEmbedding, MRotaryEmbedding and GemmaRotaryEmbedding of com.microsoft.
 * Expected values come from onnxruntime 1.31.1 or, where it has no CPU kernel, from numpy. */
#include "support/check_main.h"
#include "support/op_check.h"

START_TEST(rotary_embedding_has_its_values)
{
    ck_result_near(
        "x0 = const f32[1,2,8] {0.2,0.6,-0.5,-0.9,0.8,0.3,0.5,0.3,0.4,-0.9,-0.7,0.8,-0.4,0.2,0.4,"
        "0}\n"
        "x1 = const i64[1,2] {3,0}\n"
        "x2 = const f32[4,2] {-0.9,0.2,-0.1,-0.4,-0.1,0.1,-0.9,-0.2}\n"
        "x3 = const f32[4,2] {-0.6,0,-0.6,-0.1,-0.1,-0.7,-0.5,0.1}\n"
        "y0 = ms_rotary_embedding x0 x1 x2 x3\n"
        "return y0\n",
        "f32[1,2,8] {-0.43,-0.03000001,0.35,0.24,-0.47,-0.09,-0.85,-0.030000001,-0.78000003,"
        "-0.17999999,0.39,0.16000001,0.6,0.040000003,-0.119999975,0}",
        1e-5);
    ck_result_near(
        "x0 = const f32[1,2,8] {0.2,0.8,0.3,0.1,1,1,0,0,0.9,-0.3,0.6,-0.6,-0.6,-0.4,0,-0.3}\n"
        "x1 = const i64[1,2] {3,0}\n"
        "x2 = const f32[4,2] {-0.6,-0.8,-0.9,0.8,0.6,0.6,0.3,0.1}\n"
        "x3 = const f32[4,2] {-0.1,0.4,-0.1,0.8,-0.5,-0.1,0.6,0.1}\n"
        "y0 = ms_rotary_embedding x0 x1 x2 x3 {interleaved=1, num_heads=2}\n"
        "return y0\n",
        "f32[1,2,8] {-0.42000002,0.36,0.02,0.040000003,-0.3,0.90000004,0,0,-0.57,0.09000001,"
        "-0.24000001,0.72,0.32000002,0.3,0.120000005,0.24000001}",
        1e-5);
    ck_result_near(
        "x0 = const f32[1,2,2,4] {0.5,-0.2,-0.2,-0.9,-0.2,0.9,-0.9,0.8,0.7,0.6,-0.7,0.7,1,-0.3,"
        "-0.7,-0.7}\n"
        "x1 = const i64[1,2] {3,0}\n"
        "x2 = const f32[4,2] {-0.5,-0.5,-0.8,-0.6,-0.3,0.5,1,-1}\n"
        "x3 = const f32[4,2] {0.8,0.8,1,0,-0.2,-0.6,-0.4,-0.5}\n"
        "y0 = ms_rotary_embedding x0 x1 x2 x3\n"
        "return y0\n",
        "f32[1,2,2,4] {0.42,-0.24999999,-0.4,1,0.82,-1.09,0.29,0.32,0.42,-0.25000003,-0.97999996,"
        "-1,0.060000002,0.71000004,1.15,0.109999985}",
        1e-5);
    ck_result_near(
        "x0 = const f32[1,2,8] {-0.5,-0.2,-0.9,-0.7,-0.1,-0.9,0.7,0.4,-0.5,0.5,0.9,0.6,-0.4,0.2,"
        "0.4,0.7}\n"
        "x1 = const i64[1] {1}\n"
        "x2 = const f32[4,2] {-0.2,-0.5,-0.2,-0.9,0.7,0.3,0.1,0.1}\n"
        "x3 = const f32[4,2] {0.9,-0.9,0.8,-0.4,0,-0.1,-0.4,-0.2}\n"
        "y0 = ms_rotary_embedding x0 x1 x2 x3\n"
        "return y0\n",
        "f32[1,2,8] {0.82,-0.1,-0.22000001,0.71,-0.54,0.96999997,-0.22,1.13248824e-08,-0.35,"
        "0.21000001,0.63,0.13000001,-0.28,0.13000001,0.28,0.19000001}",
        1e-5);
    ck_result_near(
        "x0 = const f32[1,2,8] {-0.4,-0.6,-1,-0.3,0,-0.9,-0.9,0.8,-1,-0.8,-0.3,0.4,0.3,0.1,-0.2,"
        "-0.2}\n"
        "x1 = const i64[1,2] {3,0}\n"
        "x2 = const f32[4,1] {-0.9,0.4,0.7,1}\n"
        "x3 = const f32[4,1] {-0.4,-0.1,-0.5,0.4}\n"
        "y0 = ms_rotary_embedding x0 x1 x2 x3 {num_heads=2, rotary_embedding_dim=2}\n"
        "return y0\n",
        "f32[1,2,8] {-0.16,-0.76000005,-1,-0.3,0.35999998,-0.9,-0.9,0.8,0.5799999,1.12,-0.3,0.4,"
        "-0.23,-0.21000001,-0.2,-0.2}",
        1e-5);
}
END_TEST

START_TEST(three_positions_per_token_have_their_values)
{
    ck_result_near("x0 = const f32[1,2,6] {0.5,-0.6,-0.6,0.8,0.2,-0.7,-0.3,-0.1,0.4,0.7,0.6,-0.8}\n"
                   "x1 = const i64[3,1,2] {0,1,2,3,1,1}\n"
                   "x2 = const f32[4,3] {-0.8,0.3,0.4,-0.8,0,0.6,0.5,0.7,0.1,-0.1,0.2,0.4}\n"
                   "x3 = const f32[4,3] {-0.5,0.5,-0.3,1,-0.5,0.6,0.7,0.6,0.3,0.8,-0.9,-0.3}\n"
                   "y0 = ms_m_rotary_embedding x0 x1 x2 x3 {mrope_section=[1,1,1], num_heads=1}\n"
                   "return y0\n",
        "f32[1,2,6] {0,-0.54,0.059999987,-0.89000005,-0.22000003,-0.78000003,-0.45999998,"
        "0.52000004,0.72,-0.86,0.21000001,-0.24000001}",
        1e-5);
    ck_result_near("x0 = const f32[1,2,6] {0,-0.3,-0.5,-0.4,-1,0.4,-0.9,0.5,-0.9,-0.7,-0.1,-0.8}\n"
                   "x1 = const i64[3,1,2] {0,1,2,3,1,1}\n"
                   "x2 = const f32[4,3] {-0.9,0.9,0.9,0.3,0.4,-0.7,-0.9,-0.5,0,0.5,-0.1,-0.3}\n"
                   "x3 = const f32[4,3] {-0.9,-0.7,-0.2,-0.5,-0.2,0.2,-0.5,0.9,0.1,0.9,-0.1,0.2}\n"
                   "y0 = ms_m_rotary_embedding x0 x1 x2 x3 {mrope_section=[1,1,1], num_heads=1, "
                   "mrope_layout=1, scale=2}\n"
                   "return y0\n",
        "f32[1,2,6] {-0.71999997,2.1,0.53999996,0.71999997,0.45999998,-0.76,-1.24,-0.120000005,"
        "1.5799999,0.47999996,-0.08,0.76}",
        1e-5);
    ck_result_near(
        "x0 = const f32[1,2,8] {1,-0.3,0.4,0.6,-0.5,-0.3,-0.3,-0.8,-0.4,-0.4,0.6,0.9,-1,0.3,0.3,"
        "-0.4}\n"
        "x1 = const i64[3,1,2] {0,1,2,3,1,1}\n"
        "x2 = const f32[4,3] {0.6,-0.2,-0.8,-0.9,0.4,0.9,0.1,0.9,-0.6,-0.6,0.7,-0.3}\n"
        "x3 = const f32[4,3] {0.4,0.2,-0.2,0.4,0.4,1,0.8,0.4,-0.3,0.2,-0.5,0.9}\n"
        "y0 = ms_m_rotary_embedding x0 x1 x2 x3 {mrope_section=[2,1,0], num_heads=1, "
        "mrope_layout=1, rotary_embedding_dim=6}\n"
        "return y0\n",
        "f32[1,2,8] {0.36,-0.07,-0.38000003,0.76,-0.57,0.16000001,-0.3,-0.8,1.13248824e-08,-0.78,"
        "0.24,-0.96999997,-0.5,0.87,0.3,-0.4}",
        1e-5);
}
END_TEST

START_TEST(gemma_rotary_embedding_has_its_values)
{
    ck_result_near("x0 = const f32[1,1,2] {-0.7,0.6}\n"
                   "x1 = const f16[1,1,1,2] {0.5,0.9}\n"
                   "x2 = const f16[1,1,1,2] {1,0}\n"
                   "x3 = const f16[1,1,1,2] {-0.7,-0.7}\n"
                   "x4 = const f16[1,1,1,2] {-1,-0.7}\n"
                   "y0, y1 = ms_gemma_rotary_embedding x0 x1 x2 x3 x4\n"
                   "return y0\n",
        "f16[1,1,1,2] {-0.2617,0.7427}", 2e-3);
    ck_result_near("x0 = const f32[1,1,2] {-0.7,0.6}\n"
                   "x1 = const f16[1,1,1,2] {0.5,0.9}\n"
                   "x2 = const f16[1,1,1,2] {1,0}\n"
                   "x3 = const f16[1,1,1,2] {-0.7,-0.7}\n"
                   "x4 = const f16[1,1,1,2] {-1,-0.7}\n"
                   "y0, y1 = ms_gemma_rotary_embedding x0 x1 x2 x3 x4\n"
                   "return y1\n",
        "f16[1,1,1,2] {0.1087,-0.973}", 2e-3);
}
END_TEST

START_TEST(wrong_rotary_inputs_are_refused)
{
    ck_failure("x = const f32[1,1,4] ones\n"
               "c = const f32[2,2] ones\n"
               "p = const i64[1,1] {2}\n"
               "y = ms_rotary_embedding x p c c\n"
               "return y\n",
        POPRT_E_ARG, "position 2 is outside the 2 positions");
    ck_failure("x = const f32[1,1,4] ones\n"
               "c = const f32[2,2] ones\n"
               "p = const i64[1] {-1}\n"
               "y = ms_rotary_embedding x p c c\n"
               "return y\n",
        POPRT_E_ARG, "position -1");
    ck_failure("x = const f32[1,1,4] ones\n"
               "c = const f32[2,2] ones\n"
               "p = const i64[1,1] {0}\n"
               "y = ms_rotary_embedding x p c c {rotary_embedding_dim=2}\n"
               "return y\n",
        POPRT_E_ARG, "needs num_heads");
    ck_failure("x = const f32[1,1,4] ones\n"
               "c = const f32[2,2] ones\n"
               "p = const i64[1,1] {0}\n"
               "y = ms_rotary_embedding x p c c {num_heads=3}\n"
               "return y\n",
        POPRT_E_SHAPE, "divide into 3 heads");
    ck_failure("x = const f32[1,1,4] ones\n"
               "c = const f32[2,2] ones\n"
               "p = const i64[3,1,1] zeros\n"
               "y = ms_m_rotary_embedding x p c c {mrope_section=[1,1]}\n"
               "return y\n",
        POPRT_E_ARG, "2 numbers");
    ck_failure("x = const f32[1,1,4] ones\n"
               "c = const f32[2,2] ones\n"
               "p = const i64[3,1,1] zeros\n"
               "y = ms_m_rotary_embedding x p c c {mrope_section=[1,1,1], num_heads=1}\n"
               "return y\n",
        POPRT_E_ARG, "add up to 2 angles");
}
END_TEST

PRT_TEST_MAIN("op/microsoft/rotary", rotary_embedding_has_its_values,
    three_positions_per_token_have_their_values, gemma_rotary_embedding_has_its_values,
    wrong_rotary_inputs_are_refused)
