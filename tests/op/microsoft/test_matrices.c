/* SPDX-License-Identifier: MIT */
/* test_matrices.c — matrices, complex numbers, windows and crops.
 * Values are those of onnxruntime 1.31.1 or, where it has no kernel for CPUs, of numpy. */
#include "support/check_main.h"
#include "support/op_check.h"

START_TEST(inverse)
{
    ck_result_near(
        "x0 = const f32[2,2,2] {2,1,1,1,0,2,4,0}\n"
        "y0 = ms_inverse x0\n"
        "return y0\n",
        "f32[2,2,2] {1,-1,-1,2,0,0.25,0.5,0}",
        1e-5);
}
END_TEST

START_TEST(distances)
{
    ck_result_near(
        "x0 = const f32[2,2] {0.800000012,0.5,0.200000003,0.400000006}\n"
        "x1 = const f32[3,2] {-0.400000006,0.400000006,-0.300000012,-0.200000003,0.300000012,"
        "-0.100000001}\n"
        "y0 = ms_cdist x0 x1 {metric=euclidean}\n"
        "return y0\n",
        "f32[2,3] {1.2041595,1.30384052,0.781024992,0.600000024,0.781024992,0.509902}",
        1e-5);
    ck_result_near(
        "x0 = const f32[2,2] {-0.400000006,-0.5,0.5,-0.899999976}\n"
        "x1 = const f32[3,2] {-0.600000024,0.5,-0.899999976,-0.800000012,0.400000006,"
        "-0.200000003}\n"
        "y0 = ms_cdist x0 x1 {metric=sqeuclidean}\n"
        "return y0\n",
        "f32[2,3] {1.03999996,0.340000153,0.730000019,3.17000008,1.97000003,0.49999997}",
        1e-5);
}
END_TEST

START_TEST(complex_products)
{
    ck_result_near(
        "x0 = const f32[2,1,2] {-0.899999976,-0.699999988,0.5,-0.300000012}\n"
        "x1 = const f32[1,2,2] {0.300000012,0.800000012,1,0.400000006}\n"
        "y0 = ms_complex_mul x0 x1\n"
        "return y0\n",
        "f32[2,2,2] {0.289999992,-0.930000007,-0.620000005,-1.05999994,0.390000015,0.310000002,"
        "0.620000005,-0.100000009}",
        1e-5);
    ck_result_near(
        "x0 = const f32[2,1,2] {-0.899999976,-0.699999988,0.5,-0.300000012}\n"
        "x1 = const f32[1,2,2] {0.300000012,0.800000012,1,0.400000006}\n"
        "y0 = ms_complex_mul_conj x0 x1\n"
        "return y0\n",
        "f32[2,2,2] {-0.829999983,0.50999999,-1.17999995,-0.340000004,-0.0900000036,-0.49000001,"
        "0.379999995,-0.5}",
        1e-5);
}
END_TEST

START_TEST(finite)
{
    ck_result(
        "x0 = const f32[2] {1,2}\n"
        "y0 = ms_is_all_finite x0\n"
        "return y0\n",
        "bool[] {true}");
    ck_result(
        "x0 = const f32[2] {1,inf}\n"
        "y0 = ms_is_all_finite x0\n"
        "return y0\n",
        "bool[] {false}");
    ck_result(
        "x0 = const f32[2] {1,nan}\n"
        "y0 = ms_is_all_finite x0 {isinf_only=1}\n"
        "return y0\n",
        "bool[] {true}");
    ck_result(
        "x0 = const f32[2] {1,-inf}\n"
        "y0 = ms_is_all_finite x0 {isnan_only=1}\n"
        "return y0\n",
        "bool[] {true}");
    ck_result(
        "x0 = const f32[1] {nan}\n"
        "y0 = ms_is_all_finite x0 {isnan_only=1}\n"
        "return y0\n",
        "bool[] {false}");
}
END_TEST

START_TEST(unfolded)
{
    ck_result_near(
        "x0 = const f32[6] {0,1,2,3,4,5}\n"
        "y0 = ms_unfold_tensor x0 {size=3, step=2}\n"
        "return y0\n",
        "f32[2,3] {0,1,2,2,3,4}",
        1e-5);
    ck_result_near(
        "x0 = const f32[3,2] {0,1,2,3,4,5}\n"
        "y0 = ms_unfold_tensor x0 {size=2, dim=0}\n"
        "return y0\n",
        "f32[2,2,2] {0,2,1,3,2,4,3,5}",
        1e-5);
}
END_TEST

START_TEST(crops)
{
    ck_result_near(
        "x0 = const f32[2,1,3,3] {0.800000012,0.800000012,-0.200000003,0.100000001,-0.200000003,"
        "-0.600000024,0.800000012,0.800000012,-0.800000012,-0.600000024,0.600000024,-0.899999976,"
        "-0.5,0.100000001,0.300000012,0.699999988,-0.5,-0.400000006}\n"
        "x1 = const f32[2,4] {0.100000001,0.200000003,0.800000012,0.930000007,-0.5,0,1,1}\n"
        "x2 = const i32[2] {1,0}\n"
        "x3 = const i32[2] {2,3}\n"
        "y0 = ms_crop_and_resize x0 x1 x2 x3 {mode=bilinear, extrapolation_value=0.5}\n"
        "return y0\n",
        "f32[2,1,2,3] {-0.148000002,0.34920001,-0.497599959,0.0279999971,-0.241799995,"
        "-0.139600009,0.5,0.5,0.5,0.800000012,0.800000012,-0.800000012}",
        1e-5);
    ck_result_near(
        "x0 = const f32[2,1,3,3] {-0.400000006,0.400000006,-0.300000012,0.200000003,0.300000012,"
        "0.200000003,-0.200000003,0,0.699999988,-0.300000012,-0.600000024,-0.600000024,"
        "-0.400000006,-0.699999988,1,-0.699999988,0.600000024,0.200000003}\n"
        "x1 = const f32[2,4] {0.100000001,0.200000003,0.800000012,0.930000007,-0.5,0,1,1}\n"
        "x2 = const i32[2] {1,0}\n"
        "x3 = const i32[2] {2,2}\n"
        "y0 = ms_crop_and_resize x0 x1 x2 x3 {mode=nearest, extrapolation_value=0.5}\n"
        "return y0\n",
        "f32[2,1,2,2] {-0.300000012,-0.600000024,-0.699999988,0.200000003,0.5,0.5,-0.200000003,"
        "0.699999988}",
        1e-5);
    ck_result_near(
        "x0 = const f32[2,1,3,3] {1,-0.5,0.800000012,-0.800000012,-0.5,-0.100000001,0.699999988,"
        "0.200000003,0.600000024,0,-0.899999976,-0.800000012,-0.400000006,-0.699999988,"
        "0.899999976,0.100000001,0.699999988,1}\n"
        "x1 = const f32[2,4] {0.100000001,0.200000003,0.800000012,0.930000007,-0.5,0,1,1}\n"
        "x2 = const i32[2] {1,0}\n"
        "x3 = const i32[2] {1,1}\n"
        "y0 = ms_crop_and_resize x0 x1 x2 x3 {mode=bilinear, extrapolation_value=0.5}\n"
        "return y0\n",
        "f32[2,1,1,1] {-0.531499982,-0.5}",
        1e-5);
}
END_TEST

START_TEST(matrix_errors)
{
    ck_failure(
        "x = const f32[2,3] ones\n"
        "y = ms_inverse x\n"
        "return y\n",
        POPRT_E_SHAPE, "side");
    ck_failure(
        "a = const f32[2,3] ones\n"
        "b = const f32[2,3] ones\n"
        "y = ms_cdist a b {metric=cosine}\n"
        "return y\n",
        POPRT_E_PARSE, "accepted: euclidean");
    ck_failure(
        "a = const f32[2,3] ones\n"
        "b = const f32[2,3] ones\n"
        "y = ms_complex_mul a b\n"
        "return y\n",
        POPRT_E_SHAPE, "last dim");
    ck_failure(
        "x = const f32[2] ones\n"
        "y = ms_unfold_tensor x {size=3}\n"
        "return y\n",
        POPRT_E_SHAPE, "no window of 3");
    ck_failure(
        "x = const f32[2] ones\n"
        "y = ms_unfold_tensor x {size=0}\n"
        "return y\n",
        POPRT_E_ARG, "positive");
    ck_failure(
        "x = const f32[1,1,1,1] ones\n"
        "b = const f32[1,4] ones\n"
        "i = const i32[1] {1}\n"
        "s = const i32[2] ones\n"
        "y = ms_crop_and_resize x b i s\n"
        "return y\n",
        POPRT_E_ARG, "image 1 of 1");
    ck_failure(
        "x = const f32[1,1,1,1] ones\n"
        "b = const f32[1,4] ones\n"
        "i = const i32[1] {0}\n"
        "s = const i32[2] zeros\n"
        "y = ms_crop_and_resize x b i s\n"
        "return y\n",
        POPRT_E_ARG, "positive");
}
END_TEST

START_TEST(singular)
{
    ck_result("x = const f32[1,1] {0}\ny = ms_inverse x\nreturn y\n", "f32[1,1] {inf}");
    ck_result("x = const f32[0,2,2] {}\ny = ms_inverse x\nreturn y\n", "f32[0,2,2] {}");
}
END_TEST

PRT_TEST_MAIN("op/microsoft/matrices", inverse, distances, complex_products, finite, unfolded,
    crops, matrix_errors, singular)
