/* SPDX-License-Identifier: MIT */
/* test_variadic.c — Max, Min, Sum, Mean: one input, many inputs, NaN, integers, absent inputs. */
#include "support/check_main.h"
#include "support/op_check.h"

START_TEST(many_inputs_broadcast)
{
    ck_result("a = const f32[2,1] {1,5}\nb = const f32[3] {2,4,6}\nc = const f32[] {3}\n"
              "y = max a b c\nreturn y\n",
        "f32[2,3] {3,4,6,5,5,6}");
    ck_result("a = const f32[2,1] {1,5}\nb = const f32[3] {2,4,6}\nc = const f32[] {3}\n"
              "y = mean a b c\nreturn y\n",
        "f32[2,3] {2,2.6666667,3.3333333,3.3333333,4,4.6666667}");
    ck_result("a = const f64[1] {1}\ny = sum a\nreturn y\n", "f64[1] {1}");
    ck_result("a = const f64[0] {}\nb = const f64[1] {1}\ny = min a b\nreturn y\n", "f64[0] {}");
}
END_TEST

START_TEST(integers_stay_exact_and_nan_wins)
{
    ck_result("a = const u64[2] {18446744073709551615,1}\nb = const u64[] {2}\ny = max a b\n"
              "return y\n",
        "u64[2] {18446744073709551615,2}");
    ck_result("a = const i8[2] {-128,1}\nb = const i8[] {0}\ny = min a b\nreturn y\n",
        "i8[2] {-128,0}");
    ck_result("a = const f32[3] {nan,1,2}\nb = const f32[3] {1,nan,3}\ny = max a b\nreturn y\n",
        "f32[3] {nan,nan,3}");
    ck_result("a = const f32[3] {nan,1,2}\nb = const f32[3] {1,nan,3}\ny = min a b\nreturn y\n",
        "f32[3] {nan,nan,2}");
}
END_TEST

START_TEST(absent_inputs_are_refused)
{
    ck_failure("a = const f32[1] {1}\ny = sum a _\nreturn y\n", POPRT_E_PARSE, "missing");
    ck_failure("y = max\nreturn y\n", POPRT_E_PARSE, "missing");
}
END_TEST

START_TEST(known_contents_have_bounds)
{
    ck_content("x = input f32[n,6]\ns = shape x\nk = const i64[] {4}\ny = min s k\nreturn y\n",
        "min(n, 4) 4");
    ck_content("x = input f32[n,6]\ns = shape x\nk = const i64[] {4}\ny = max s k s\nreturn y\n",
        "max(n, 4) 6");
}
END_TEST

PRT_TEST_MAIN("op/variadic", many_inputs_broadcast, integers_stay_exact_and_nan_wins,
    absent_inputs_are_refused, known_contents_have_bounds)
