/* SPDX-License-Identifier: MIT */
/* test_matrices.c — inverses, distances, complex products, unfolding and crops. Expected values
 * come from onnxruntime 1.31.1 or, where it has no CPU kernel, from numpy.
 * Covers: crop_and_resize.c. */
#include "support/check_main.h"
#include "support/op_check.h"

START_TEST(inverse_has_its_values)
{
    ck_result_near("x0 = const f32[2,2,2] {2,1,1,1,0,2,4,0}\n"
                   "y0 = ms_inverse x0\n"
                   "return y0\n",
        "f32[2,2,2] {1,-1,-1,2,0,0.25,0.5,0}", 1e-5);
}
END_TEST

START_TEST(cdist_has_its_values)
{
    ck_result_near("x0 = const f32[2,2] {-0.6,-1,0.8,0}\n"
                   "x1 = const f32[3,2] {-0.5,-0.7,0.7,-0.8,0.7,0.4}\n"
                   "y0 = ms_cdist x0 x1 {metric=euclidean}\n"
                   "return y0\n",
        "f32[2,3] {0.3162278,1.3152946,1.9104973,1.4764823,0.8062258,0.41231057}", 1e-5);
    ck_result_near("x0 = const f32[2,2] {0.8,0.8,-0.8,0}\n"
                   "x1 = const f32[3,2] {0,-0.2,0.9,-0.1,0.4,0.8}\n"
                   "y0 = ms_cdist x0 x1 {metric=sqeuclidean}\n"
                   "return y0\n",
        "f32[2,3] {1.6400001,0.82000005,0.16000009,0.68000007,2.8999999,2.0800002}", 1e-5);
}
END_TEST

START_TEST(complex_products_have_their_values)
{
    ck_result_near("x0 = const f32[2,1,2] {0.8,0.2,0.9,-0.1}\n"
                   "x1 = const f32[1,2,2] {0.5,-0.9,-0.2,-0.4}\n"
                   "y0 = ms_complex_mul x0 x1\n"
                   "return y0\n",
        "f32[2,2,2] {0.58,-0.62,-0.08,-0.36,0.35999998,-0.85999995,-0.22,-0.34}", 1e-5);
    ck_result_near("x0 = const f32[2,1,2] {0.8,0.2,0.9,-0.1}\n"
                   "x1 = const f32[1,2,2] {0.5,-0.9,-0.2,-0.4}\n"
                   "y0 = ms_complex_mul_conj x0 x1\n"
                   "return y0\n",
        "f32[2,2,2] {0.22000001,0.82,-0.24000001,0.28,0.53999996,0.75999993,-0.14,0.38}", 1e-5);
}
END_TEST

START_TEST(infinity_and_nan_are_not_finite)
{
    ck_result("x0 = const f32[2] {1,2}\n"
              "y0 = ms_is_all_finite x0\n"
              "return y0\n",
        "bool[] {true}");
    ck_result("x0 = const f32[2] {1,inf}\n"
              "y0 = ms_is_all_finite x0\n"
              "return y0\n",
        "bool[] {false}");
    ck_result("x0 = const f32[2] {1,nan}\n"
              "y0 = ms_is_all_finite x0 {isinf_only=1}\n"
              "return y0\n",
        "bool[] {true}");
    ck_result("x0 = const f32[2] {1,-inf}\n"
              "y0 = ms_is_all_finite x0 {isnan_only=1}\n"
              "return y0\n",
        "bool[] {true}");
    ck_result("x0 = const f32[1] {nan}\n"
              "y0 = ms_is_all_finite x0 {isnan_only=1}\n"
              "return y0\n",
        "bool[] {false}");
}
END_TEST

START_TEST(unfold_gives_overlapping_slices)
{
    ck_result_near("x0 = const f32[6] {0,1,2,3,4,5}\n"
                   "y0 = ms_unfold_tensor x0 {size=3, step=2}\n"
                   "return y0\n",
        "f32[2,3] {0,1,2,2,3,4}", 1e-5);
    ck_result_near("x0 = const f32[3,2] {0,1,2,3,4,5}\n"
                   "y0 = ms_unfold_tensor x0 {size=2, dim=0}\n"
                   "return y0\n",
        "f32[2,2,2] {0,2,1,3,2,4,3,5}", 1e-5);
}
END_TEST

START_TEST(crops_are_resized)
{
    ck_result_near(
        "x0 = const f32[2,1,3,3] {0.9,0.1,-0.6,0.4,-0.4,-0.6,0,-0.9,-0.8,0.6,-0.4,-0.8,0,-0.6,1,"
        "0,0.3,0.8}\n"
        "x1 = const f32[2,4] {0.1,0.2,0.8,0.93,-0.5,0,1,1}\n"
        "x2 = const i32[2] {1,0}\n"
        "x3 = const i32[2] {2,3}\n"
        "y0 = ms_crop_and_resize x0 x1 x2 x3 {mode=bilinear, extrapolation_value=0.5}\n"
        "return y0\n",
        "f32[2,1,2,3] {0.11200001,-0.44,-0.44000003,-0.023999989,0.06220001,0.74840003,0.5,0.5,"
        "0.5,0,-0.9,-0.8}",
        1e-5);
    ck_result_near(
        "x0 = const f32[2,1,3,3] {0.4,-0.1,0.7,0,-0.1,0.8,-0.1,-0.4,0.8,0.2,0.3,-0.1,-0.1,0.7,"
        "-0.8,0.9,0.2,0.5}\n"
        "x1 = const f32[2,4] {0.1,0.2,0.8,0.93,-0.5,0,1,1}\n"
        "x2 = const i32[2] {1,0}\n"
        "x3 = const i32[2] {2,2}\n"
        "y0 = ms_crop_and_resize x0 x1 x2 x3 {mode=nearest, extrapolation_value=0.5}\n"
        "return y0\n",
        "f32[2,1,2,2] {0.2,-0.1,0.9,0.5,0.5,0.5,-0.1,0.8}", 1e-5);
    ck_result_near(
        "x0 = const f32[2,1,3,3] {1,0.5,-0.9,0.6,0.6,0.9,-0.5,0.6,0.5,0.2,0.6,-0.5,-0.1,0.1,0.9,"
        "0.4,-0.9,0.7}\n"
        "x1 = const f32[2,4] {0.1,0.2,0.8,0.93,-0.5,0,1,1}\n"
        "x2 = const i32[2] {1,0}\n"
        "x3 = const i32[2] {1,1}\n"
        "y0 = ms_crop_and_resize x0 x1 x2 x3 {mode=bilinear, extrapolation_value=0.5}\n"
        "return y0\n",
        "f32[2,1,1,1] {0.22929999,0.55}", 1e-5);
}
END_TEST

START_TEST(wrong_matrices_are_refused)
{
    ck_failure("x = const f32[2,3] ones\n"
               "y = ms_inverse x\n"
               "return y\n",
        POPRT_E_SHAPE, "side");
    ck_failure("a = const f32[2,3] ones\n"
               "b = const f32[2,3] ones\n"
               "y = ms_cdist a b {metric=cosine}\n"
               "return y\n",
        POPRT_E_PARSE, "accepted: euclidean");
    ck_failure("a = const f32[2,3] ones\n"
               "b = const f32[2,3] ones\n"
               "y = ms_complex_mul a b\n"
               "return y\n",
        POPRT_E_SHAPE, "last dim");
    ck_failure("x = const f32[2] ones\n"
               "y = ms_unfold_tensor x {size=3}\n"
               "return y\n",
        POPRT_E_SHAPE, "smaller than a window of 3");
    ck_failure("x = const f32[2] ones\n"
               "y = ms_unfold_tensor x {size=0}\n"
               "return y\n",
        POPRT_E_ARG, "positive");
    ck_failure("x = const f32[1,1,1,1] ones\n"
               "b = const f32[1,4] ones\n"
               "i = const i32[1] {1}\n"
               "s = const i32[2] ones\n"
               "y = ms_crop_and_resize x b i s\n"
               "return y\n",
        POPRT_E_ARG, "refers to image 1");
    ck_failure("x = const f32[1,1,1,1] ones\n"
               "b = const f32[1,4] ones\n"
               "i = const i32[1] {0}\n"
               "s = const i32[2] zeros\n"
               "y = ms_crop_and_resize x b i s\n"
               "return y\n",
        POPRT_E_ARG, "positive");
}
END_TEST

START_TEST(singular_matrices_give_infinity)
{
    ck_result("x = const f32[1,1] {0}\ny = ms_inverse x\nreturn y\n", "f32[1,1] {inf}");
    ck_result("x = const f32[0,2,2] {}\ny = ms_inverse x\nreturn y\n", "f32[0,2,2] {}");
}
END_TEST

PRT_TEST_MAIN("op/microsoft/matrices", inverse_has_its_values, cdist_has_its_values,
    complex_products_have_their_values, infinity_and_nan_are_not_finite,
    unfold_gives_overlapping_slices, crops_are_resized, wrong_matrices_are_refused,
    singular_matrices_give_infinity)
