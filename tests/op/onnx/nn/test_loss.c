/* SPDX-License-Identifier: MIT */
/* test_loss.c — losses and NonMaxSuppression: targets out of range, empty results, errors.
 * Covers: nms.c. */
#include "support/check_main.h"
#include "support/op_text.h"

#define NLL(target, attrs)                                                                         \
    "x = const f32[2,3] {-1,-2,-3,-4,-5,-6}\nt = const i64[2] {" target                            \
    "}\ny = negative_log_likelihood_loss x t" attrs "\nreturn y\n"

START_TEST(negative_log_likelihood_has_its_values)
{
    ck_assert_str_eq(op_value(NLL("0,2", "")), "f32[]: 3.5");
    ck_assert_str_eq(op_value(NLL("0,2", " {reduction=none}")), "f32[2]: 1 6");
    ck_assert_str_eq(op_value(NLL("0,-7", " {ignore_index=-7}")), "f32[]: 1");
    ck_assert_str_eq(op_status(NLL("0,3", "")), "POPRT_E_ARG");
    ck_assert_str_eq(op_status(NLL("0,-1", "")), "POPRT_E_ARG");
    ck_assert_str_eq(op_status(NLL("0,1", " {reduction=most}")), "POPRT_E_ARG");
    ck_assert_str_eq(op_type("x = input f32[n,c,d]\nt = input i64[n,d]\n"
                             "y = negative_log_likelihood_loss x t {reduction=none}\nreturn y\n"),
        "f32[n,d]");
    ck_assert_str_eq(op_status("x = const f32[2,3] zeros\nt = const i64[2] zeros\n"
                               "w = const f32[2] ones\n"
                               "y = negative_log_likelihood_loss x t w\nreturn y\n"),
        "POPRT_E_SHAPE");
}
END_TEST

START_TEST(cross_entropy_has_its_values)
{
    ck_assert_str_eq(op_value("x = const f32[1,2] {1000,1000}\nt = const i32[1] {1}\n"
                              "y, l = softmax_cross_entropy_loss x t\nreturn y, l\n"),
        "f32[]: 0.693147");
    ck_assert_str_eq(op_value("x = const f32[0,2] {}\nt = const i32[0] {}\n"
                              "y = softmax_cross_entropy_loss x t {reduction=sum}\nreturn y\n"),
        "f32[]: 0");
}
END_TEST

#define NMS(most, more)                                                                            \
    "b = const f32[1,3,4] {0,0,1,1, 0,0,1,1.1, 5,5,6,6}\ns = const f32[1,1,3] {0.5,0.9,0.7}\n"     \
    "m = const i64[] {" most "}\ni = const f32[1] {0.5}\n"                                         \
    "y = non_max_suppression b s m i" more "\nreturn y\n"

START_TEST(suppression_follows_its_limits)
{
    ck_assert_str_eq(op_value(NMS("9223372036854775807", "")), "i64[2,3]: 0 0 1 0 0 2");
    ck_assert_str_eq(op_value(NMS("1", "")), "i64[1,3]: 0 0 1");
    ck_assert_str_eq(op_value(NMS("0", "")), "i64[0,3]:");
    ck_assert_str_eq(op_value(NMS("-1", "")), "i64[0,3]:");
    ck_assert_str_eq(op_value("b = const f32[1,2,4] zeros\ns = const f32[1,1,2] {nan,1}\n"
                              "m = const i64[] {5}\ny = non_max_suppression b s m\nreturn y\n"),
        "i64[1,3]: 0 0 1");
    ck_assert_str_eq(op_status("b = const f32[1,2,3] zeros\ns = const f32[1,1,2] zeros\n"
                               "y = non_max_suppression b s\nreturn y\n"),
        "POPRT_E_SHAPE");
    ck_assert_str_eq(op_status("b = const f32[1,2,4] zeros\ns = const f32[1,1,3] zeros\n"
                               "y = non_max_suppression b s\nreturn y\n"),
        "POPRT_E_SHAPE");
}
END_TEST

PRT_TEST_MAIN("op/loss", negative_log_likelihood_has_its_values, cross_entropy_has_its_values,
    suppression_follows_its_limits)
