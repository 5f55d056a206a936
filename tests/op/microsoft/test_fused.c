/* SPDX-License-Identifier: MIT */
/* test_fused.c — products and convolutions fused with an activation. Expected values come from
 * onnxruntime 1.31.1 or, where it has no CPU kernel, from numpy.
 * Covers: fused_matmul.c, activation.c. */
#include "support/check_main.h"
#include "support/op_check.h"

START_TEST(fused_matmul_has_its_values)
{
    ck_result_near("x0 = const f32[2,2,3] {0.9,-0.9,0.3,-0.2,0,0.4,-0.6,-0.9,-0.7,-0.2,0.3,0}\n"
                   "x1 = const f32[2,2,3] {0.6,-0.5,-0.8,0.2,0.4,0,-0.9,-0.1,0.4,-0.3,0.7,-0.5}\n"
                   "y0 = ms_fused_matmul x0 x1 {transB=1, alpha=0.5}\n"
                   "return y0\n",
        "f32[2,2,2] {0.375,-0.09,-0.22000001,-0.020000001,0.175,-0.049999982,0.074999996,0.135}",
        1e-5);
    ck_result_near("x0 = const f32[3,2] {0.3,-0.2,-0.8,-0.5,-0.7,0.1}\n"
                   "x1 = const f32[2,3,2] {0.7,0.5,0.3,-0.9,0.2,0.5,-0.4,-0.1,-0.1,0,-0.8,0}\n"
                   "y0 = ms_fused_matmul x0 x1 {transA=1}\n"
                   "return y0\n",
        "f32[2,2,2] {-0.17,0.52,-0.27,0.4,0.52,-0.030000001,0.05000001,0.020000001}", 1e-5);
    ck_result_near("x0 = const f32[2,2,3] {0.1,-0.9,-0.4,-0.8,0.5,0.9,0.4,-0.2,-0.1,0.2,-0.6,-1}\n"
                   "x1 = const f32[2,3,1] {0.7,0,0.4,-0.1,-0.5,-0.9}\n"
                   "y0 = ms_fused_matmul x0 x1 {transBatchA=1}\n"
                   "return y0\n",
        "f32[2,2,1] {-0.09000001,0.24,-0.97999996,1.1800001}", 1e-5);
    ck_result_near("x0 = const f32[3] {0.2,0.1,-1}\n"
                   "x1 = const f32[3] {-0.7,0.9,0.4}\n"
                   "y0 = ms_fused_matmul x0 x1 {transA=1}\n"
                   "return y0\n",
        "f32[] {-0.45000002}", 1e-5);
    ck_result_near("x0 = const f32[2,3,2] {-0.3,0.3,0.7,-0.8,0.3,0.1,0.4,-0.8,-0.2,0.3,-0.4,0.1}\n"
                   "x1 = const f32[3,2,2] {-0.2,0.1,0.7,0.5,-0.8,0.3,-0.9,-0.3,0.5,0.5,1,-0.5}\n"
                   "y0 = ms_fused_matmul x0 x1 {transBatchB=1, transB=1}\n"
                   "return y0\n",
        "f32[2,3,3] {0.09,0.33,0,-0.22,-0.8,-0.050000012,-0.05,-0.21000001,0.2,-0.120000005,"
        "-0.119999975,0.8,0.010000005,0.08999999,-0.35000002,-0.23,0.32999998,-0.45000002}",
        1e-5);
    ck_result_near(
        "x0 = const f32[2,3] {0,0.3,0.6,0.8,-0.4,-0.7}\n"
        "x1 = const f32[3,2] {-0.5,0.5,-0.9,-0.5,0.7,0.9}\n"
        "y0 = ms_fused_matmul_activation x0 x1 {activation=\"HardSigmoid\", activation_alpha=0.5,"
        " activation_beta=0.25}\n"
        "return y0\n",
        "f32[2,2] {0.325,0.445,0,0.23500001}", 1e-5);
    ck_result_near("x0 = const f32[2,3] {0,0.3,0.6,0.8,-0.4,-0.7}\n"
                   "x1 = const f32[3,2] {-0.5,0.5,-0.9,-0.5,0.7,0.9}\n"
                   "x2 = const f32[2] {0.5,-0.2}\n"
                   "y0 = ms_gemm_fast_gelu x0 x1 x2\n"
                   "return y0\n",
        "f32[2,2] {0.48235676,0.10931522,-0.014641003,-0.09408143}", 1e-5);
}
END_TEST

START_TEST(fused_gemm_has_its_values)
{
    ck_result_near("x0 = const f32[2,3] {-0.5,0.1,-0.8,-0.1,0.3,0.9}\n"
                   "x1 = const f32[2,3] {0.8,-0.6,-0.1,-0.9,-0.9,1}\n"
                   "x2 = const f32[2] {-0.6,-0.3}\n"
                   "y0 = ms_fused_gemm x0 x1 x2 {activation=\"Relu\", transB=1}\n"
                   "return y0\n",
        "f32[2,2] {0,0,0,0.41999996}", 1e-5);
    ck_result_near(
        "x0 = const f32[2,3] {-0.6,-0.2,-0.8,0.6,-0.3,-0.7}\n"
        "x1 = const f32[2,3] {-0.4,0.2,-0.1,-0.4,-0.4,-0.3}\n"
        "x2 = const f32[2] {-0.1,-0.3}\n"
        "y0 = ms_fused_gemm x0 x1 x2 {activation=\"LeakyRelu\", transB=1, activation_alpha=0.2}\n"
        "return y0\n",
        "f32[2,2] {0.18,0.26000005,-0.06600001,-0.042000003}", 1e-5);
    ck_result_near(
        "x0 = const f32[2,3] {0.4,-0.3,-0.8,-0.9,-0.3,0.9}\n"
        "x1 = const f32[2,3] {-0.2,-0.2,-0.9,0,-0.9,-0.5}\n"
        "x2 = const f32[2] {-0.6,-0.3}\n"
        "y0 = ms_fused_gemm x0 x1 x2 {activation=\"ScaledTanh\", transB=1, activation_alpha=0.5, "
        "activation_beta=2}\n"
        "return y0\n",
        "f32[2,2] {0.09868763,0.31457257,-0.49080637,-0.37213844}", 1e-5);
    ck_result_near(
        "x0 = const f32[2,3] {-0.6,-1,0,-0.5,0.7,0.5}\n"
        "x1 = const f32[2,3] {-0.1,0.8,-0.4,-0.9,0.7,0.9}\n"
        "x2 = const f32[2] {-0.9,-0.2}\n"
        "y0 = ms_fused_gemm x0 x1 x2 {activation=\"Elu\", transB=1, activation_alpha=0.5}\n"
        "return y0\n",
        "f32[2,2] {-0.40300998,-0.15116182,-0.19368681,1.1899999}", 1e-5);
    ck_result_near("x0 = const f32[2,3] {-0.9,0.3,0.6,-0.8,0.5,0.1}\n"
                   "x1 = const f32[2,3] {-0.7,-0.5,-0.6,-0.6,0.1,-0.9}\n"
                   "x2 = const f32[2] {0.8,-0.3}\n"
                   "y0 = ms_fused_gemm x0 x1 x2 {activation=\"ParametricSoftplus\", transB=1, "
                   "activation_alpha=0.5, activation_beta=2}\n"
                   "return y0\n",
        "f32[2,2] {0.99369997,0.22958139,1.1077597,0.4214577}", 1e-5);
    ck_result_near(
        "x0 = const f32[2,3] {0.5,-0.9,-0.6,0.4,0.3,0}\n"
        "x1 = const f32[2,3] {0.4,0.3,0.4,0.7,0.4,0.7}\n"
        "x2 = const f32[2] {-0.1,0.6}\n"
        "y0 = ms_fused_gemm x0 x1 x2 {activation=\"Selu\", transB=1, activation_alpha=1.5, "
        "activation_gamma=1.25}\n"
        "return y0\n",
        "f32[2,2] {-0.63065577,0.21250002,0.18750004,1.25}", 1e-5);
    ck_result_near("x0 = const f32[2,3] {0.5,-1,0,0.8,-0.1,-0.3}\n"
                   "x1 = const f32[2,3] {-0.3,0.6,-0.3,-0.6,0.4,1}\n"
                   "x2 = const f32[2] {0.2,-0.9}\n"
                   "y0 = ms_fused_gemm x0 x1 x2 {activation=\"Softsign\", transB=1}\n"
                   "return y0\n",
        "f32[2,2] {-0.35483873,-0.61538464,-0.0099009955,-0.63235295}", 1e-5);
}
END_TEST

START_TEST(fused_conv_has_its_values)
{
    ck_result_near("x0 = const f32[1,1,3,3] {-0.4,0.5,0.8,0.5,-0.8,0.4,0.6,-0.1,-0.6}\n"
                   "x1 = const f32[2,1,2,2] {0,-0.1,-0.3,-1,-0.5,0.5,-0.4,0.3}\n"
                   "x2 = const f32[2] {-0.2,-0.6}\n"
                   "x3 = const f32[1,2,2,2] {0.5,0.8,0.4,0.5,-0.2,0.7,1,0.2}\n"
                   "y0 = ms_fused_conv x0 x1 x2 x3 {activation=\"Relu\"}\n"
                   "return y0\n",
        "f32[1,2,2,2] {0.90000004,0.36,0.2,0.89000005,0,0.68999994,0,0.060000002}", 1e-5);
    ck_result_near(
        "x0 = const f32[1,1,3,3] {0.5,-0.8,-0.9,0.3,-0.3,-0.4,0.2,-0.9,0.1}\n"
        "x1 = const f32[2,1,2,2] {0.4,0.5,-1,-0.9,0.6,0.8,0.8,0.1}\n"
        "x2 = const f32[2] {-0.3,0.6}\n"
        "y0 = ms_fused_conv x0 x1 x2 {activation=\"Clip\", activation_params=[-0.5,0.5]}\n"
        "return y0\n",
        "f32[1,2,2,2] {-0.5,-0.40999997,0.2799999,0.18999997,0.47000003,-0.5,0.5,-0.5}", 1e-5);
    ck_result_near(
        "x0 = const f32[1,1,3,3] {0.9,0,-1,-1,0.8,-0.4,-0.6,-0.9,-0.3}\n"
        "x1 = const f32[2,1,2,2] {0.9,-1,0.6,-0.2,0.6,0.7,0.8,-0.6}\n"
        "x2 = const f32[2] {0.4,-0.7}\n"
        "y0 = ms_fused_conv x0 x1 x2 {activation=\"HardSigmoid\", activation_params=[0.25,0.5]}\n"
        "return y0\n",
        "f32[1,2,2,2] {0.61249995,0.99,0.12999994,0.76,0.13999999,0.37,0.32999998,0.24000001}",
        1e-5);
    ck_result_near("x0 = const f32[1,1,3,3] {-0.6,-0.6,0.9,0.8,0.5,-0.6,-0.8,0.5,0.1}\n"
                   "x1 = const f32[2,1,2,2] {0.7,0.4,-0.3,0.1,0.6,-0.1,-0.9,-0.2}\n"
                   "x2 = const f32[2] {0.5,0.2}\n"
                   "x3 = const f32[1,2,2,2] {0.6,0.5,0.2,0.5,-0.5,-0.6,-0.8,-0.1}\n"
                   "y0 = ms_fused_conv x0 x1 x2 x3 {activation=\"HardSwish\"}\n"
                   "return y0\n",
        "f32[1,2,2,2] {0.13541667,0.45381665,1.3854167,0.6418166,-0.37393332,-0.35793334,"
        "0.25874996,-0.0049833213}",
        1e-5);
    ck_result_near("x0 = const f32[1,1,2,2] {-0.5,0.6,-0.6,-0.9}\n"
                   "x1 = const f32[1,1,3,3] {-0.1,-0.3,-0.9,-0.1,-0.1,0.8,0.3,-0.5,0.9}\n"
                   "x2 = const i64[4] {1,0,0,1}\n"
                   "x3 = const f32[1] {0.7}\n"
                   "y0 = ms_conv_transpose_with_dynamic_pads x0 x1 x2 x3 {strides=[2,2]}\n"
                   "return y0\n",
        "f32[1,1,4,4] {0.75,0.75,0.23999998,0.64,0.61,1.13,1.06,0.66999996,0.76,0.76,0.30999997,"
        "0.78999996,0.52,1,-0.110000074,1.15}",
        1e-5);
}
END_TEST

START_TEST(maxpool_with_mask_ignores_masked_pixels)
{
    ck_result_near(
        "x0 = const f32[1,2,3,3] {0.8,-0.2,-0.5,0.7,0.6,0.3,-0.8,-0.2,-0.8,0.9,-0.5,0.7,0.5,0.1,"
        "0.4,-0.4,-0.9,0.6}\n"
        "x1 = const i32[1,1,3,3] {1,0,1,1,1,1,0,1,1}\n"
        "y0 = ms_maxpool_with_mask x0 x1 {kernel_shape=[2,2]}\n"
        "return y0\n",
        "f32[1,2,2,2] {0.8,0.6,0.7,0.6,0.9,0.4,0.5,0.6}", 1e-5);
    ck_result_near("x0 = const f32[1,1,4] {-0.9,-0.2,0.4,0.6}\n"
                   "x1 = const i32[1,1,4] {0,1,1,0}\n"
                   "y0 = ms_maxpool_with_mask x0 x1 {kernel_shape=[2]}\n"
                   "return y0\n",
        "f32[1,1,3] {-3.40282347e+38,0.4,0.4}", 1e-5);
}
END_TEST

START_TEST(wrong_fused_inputs_are_refused)
{
    ck_failure("a = const f32[2,3] ones\n"
               "b = const f32[2,3] ones\n"
               "y = ms_fused_matmul a b\n"
               "return y\n",
        POPRT_E_SHAPE, "inner dim");
    ck_failure("a = const f32[2,3] ones\n"
               "b = const f32[2,3] ones\n"
               "y = ms_fused_matmul_activation a b {transB=1, activation=Nothing}\n"
               "return y\n",
        POPRT_E_PARSE, "is unknown");
    ck_failure("a = const f32[2,3] ones\n"
               "b = const f32[2,3] ones\n"
               "y = ms_fused_gemm a b {transB=1, activation=Nothing}\n"
               "return y\n",
        POPRT_E_PARSE, "is unknown");
    ck_failure("x = const f32[1,1,2,2] ones\n"
               "w = const f32[1,1,1,1] ones\n"
               "z = const f32[1,1,1,2] ones\n"
               "y = ms_fused_conv x w _ z\n"
               "return y\n",
        POPRT_E_SHAPE, "dim of Z");
    ck_failure("x = const f32[1,1,2,2] ones\n"
               "p = const i64[3] ones\n"
               "y = ms_conv_transpose_with_dynamic_pads x x p\n"
               "return y\n",
        POPRT_E_SHAPE, "pads");
    ck_failure("x = const f32[1,1,2,2] ones\n"
               "m = const i32[1,1,2,1] ones\n"
               "y = ms_maxpool_with_mask x m {kernel_shape=[1,1]}\n"
               "return y\n",
        POPRT_E_SHAPE, "mask");
    ck_failure("a = const f32[2,3] ones\n"
               "b = const f32[3] ones\n"
               "c = const f32[1] ones\n"
               "y = ms_gemm_fast_gelu a b c\n"
               "return y\n",
        POPRT_E_SHAPE, "rank 1");
}
END_TEST

PRT_TEST_MAIN("op/microsoft/fused", fused_matmul_has_its_values, fused_gemm_has_its_values,
    fused_conv_has_its_values, maxpool_with_mask_ignores_masked_pixels,
    wrong_fused_inputs_are_refused)
