/* SPDX-License-Identifier: MIT */
/* test_norm.c — normalisations and softmax: broadcast factors, empty rows, wrong attributes.
 * Covers: norm_axes.c, batch_norm.c, softmax.c. */
#include "support/check_main.h"
#include "support/op_text.h"

#define ROW "x = const f32[2,2] {1,3,2,2}\n"

START_TEST(layer_normalization_has_its_values)
{
    ck_assert_str_eq(op_value("x = const f32[2,2] {1,3,4,2}\ns = const f32[2] {1,10}\n"
                              "b = const f32[1] {0.5}\n"
                              "y = layer_normalization x s b {epsilon=0.0}\nreturn y\n"),
        "f32[2,2]: -0.5 10.5 1.5 -9.5");
    ck_assert_str_eq(op_value_of(ROW "s = const f32[2,1] {1,10}\n"
                                     "y, m, d = layer_normalization x s {epsilon=1.0}\n"
                                     "return y, m, d\n",
                         2),
        "f32[2,1]: 0.707107 1");
    ck_assert_str_eq(op_value("x = const f16[2,2] {1,3,2,2}\ns = const f32[2,1] {1,10}\n"
                              "y = rms_normalization x s {epsilon=0.0, axis=0}\nreturn y\n"),
        "f32[2,2]: 0.471405 1.41421 9.42809 9.42809");
    ck_assert_str_eq(op_status(ROW "s = const f32[3] zeros\ny = layer_normalization x s\n"
                                   "return y\n"),
        "POPRT_E_SHAPE");
    ck_assert_str_eq(op_status(ROW "s = const f32[2] zeros\n"
                                   "y = layer_normalization x s {stash_type=7}\nreturn y\n"),
        "POPRT_E_UNSUPPORTED");
    ck_assert_str_eq(op_status(ROW "s = const f32[2] zeros\n"
                                   "y = layer_normalization x s {axis=2}\nreturn y\n"),
        "POPRT_E_SHAPE");
}
END_TEST

START_TEST(batch_normalization_has_its_values)
{
    ck_assert_str_eq(op_value(ROW "s = const f64[2] {1,2}\nm = const bf16[2] {0,1}\n"
                                  "y = batch_normalization x s s m m {epsilon=0.0}\nreturn y\n"),
        "f32[2,2]: inf 6 inf 4");
    ck_assert_str_eq(op_value_of(ROW "s = const f32[2] {1,1}\n"
                                     "y, m, v = batch_normalization x s s s "
                                     "s {training_mode=1, momentum=0.5}\nreturn y, m, v\n",
                         2),
        "f32[2]: 0.625 0.625");
    ck_assert_str_eq(op_status(ROW "s = const f32[2] {1,1}\ny, m = batch_normalization x s s s s\n"
                                   "return y, m\n"),
        "POPRT_E_ARG");
    ck_assert_str_eq(op_status(ROW "s = const f32[3] zeros\ny = batch_normalization x s s s s\n"
                                   "return y\n"),
        "POPRT_E_SHAPE");
    ck_assert_str_eq(op_value("x = const f32[1,2,2] {1,3,5,5}\ns = const f32[2] {1,2}\n"
                              "y = group_normalization x s s {num_groups=2, epsilon=1.0}\n"
                              "return y\n"),
        "f32[1,2,2]: 0.292893 1.70711 2 2");
    ck_assert_str_eq(op_status("x = const f32[1,2,2] zeros\ns = const f32[2] {1,2}\n"
                               "y = group_normalization x s s {num_groups=3}\nreturn y\n"),
        "POPRT_E_SHAPE");
    ck_assert_str_eq(op_status("x = const f32[1,2,2] zeros\ns = const f32[2] {1,2}\n"
                               "y = group_normalization x s s {num_groups=-9223372036854775808}\n"
                               "return y\n"),
        "POPRT_E_ARG");
}
END_TEST

START_TEST(lp_and_mean_variance_follow_their_axes)
{
    ck_assert_str_eq(op_value("x = const f32[2,2] {3,0,4,0}\ny = lp_normalization x {axis=0}\n"
                              "return y\n"),
        "f32[2,2]: 0.6 0 0.8 0");
    ck_assert_str_eq(op_status(ROW "y = lp_normalization x {p=3}\nreturn y\n"), "POPRT_E_ARG");
    ck_assert_str_eq(op_status(ROW "y = lrn x {size=0}\nreturn y\n"), "POPRT_E_ARG");
    ck_assert_str_eq(op_value(ROW "y = lrn x {size=9223372036854775807, alpha=0.0}\nreturn y\n"),
        "f32[2,2]: 1 3 2 2");
    ck_assert_str_eq(op_status(ROW "y = mean_variance_normalization x\nreturn y\n"),
        "POPRT_E_SHAPE");
    ck_assert_str_eq(op_value(ROW "y = mean_variance_normalization x {axes=[-1,1]}\nreturn y\n"),
        "f32[2,2]: -1 1 0 0");
}
END_TEST

START_TEST(softmax_is_stable)
{
    ck_assert_str_eq(op_value("x = const f32[3] {1000,1000,-inf}\ny = softmax x\nreturn y\n"),
        "f32[3]: 0.5 0.5 0");
    ck_assert_str_eq(op_value("x = const f64[2] {0,-2000}\ny = log_softmax x\nreturn y\n"),
        "f64[2]: 0 -2000");
    ck_assert_str_eq(op_value("x = const f16[2,2] {1,3,2,3}\ny = hardmax x {axis=0}\nreturn y\n"),
        "f16[2,2]: 0 1 1 0");
    ck_assert_str_eq(op_value("x = const f32[2,0] {}\ny = softmax x\nreturn y\n"), "f32[2,0]:");
    ck_assert_str_eq(op_status("x = const f32[] {1}\ny = softmax x\nreturn y\n"), "POPRT_E_SHAPE");
    ck_assert_str_eq(op_type("x = input f32[n,c]\ny = softmax x {axis=0}\nreturn y\n"), "f32[n,c]");
}
END_TEST

PRT_TEST_MAIN("op/norm", layer_normalization_has_its_values, batch_normalization_has_its_values,
    lp_and_mean_variance_follow_their_axes, softmax_is_stable)
