/* SPDX-License-Identifier: MIT */
/* test_clip.c — Clip: absent bounds, crossed bounds, integers, NaN, bounds that are not scalars. */
#include "support/check_main.h"
#include "support/op_check.h"

START_TEST(bounds_are_optional)
{
    ck_result("x = const f32[3] {-5,0,5}\nm = const f32[] {1}\ny = clip x _ m\nreturn y\n",
        "f32[3] {-5,0,1}");
    ck_result("x = const i8[3] {-5,0,5}\nm = const i8[] {1}\ny = clip x m\nreturn y\n",
        "i8[3] {1,1,5}");
    ck_result("x = const f32[3] {-inf,nan,inf}\ny = clip x\nreturn y\n", "f32[3] {-inf,nan,inf}");
}
END_TEST

START_TEST(the_upper_bound_wins)
{
    ck_result("x = const f32[2] {-5,nan}\na = const f32[] {6}\nb = const f32[] {2}\n"
              "y = clip x a b\nreturn y\n",
        "f32[2] {2,nan}");
    ck_result("x = const u64[2] {18446744073709551615,0}\na = const u64[] {3}\n"
              "b = const u64[] {9223372036854775808}\ny = clip x a b\nreturn y\n",
        "u64[2] {9223372036854775808,3}");
}
END_TEST

START_TEST(bounds_are_scalars)
{
    ck_result("x = const i32[2] {1,9}\na = const i32[1] {4}\ny = clip x _ a\nreturn y\n",
        "i32[2] {1,4}");
    ck_failure("x = const i32[2] {1,9}\na = const i32[2] {4,4}\ny = clip x a\nreturn y\n",
        POPRT_E_SHAPE, "min");
    ck_failure("x = const i32[] {1}\na = const i32[1] {4}\ny = clip x _ a\nreturn y\n",
        POPRT_E_SHAPE, "max");
    ck_content("x = input f32[n,6]\ns = shape x\nm = const i64[] {4}\ny = clip s _ m\nreturn y\n",
        "min(n, 4) 4");
}
END_TEST

PRT_TEST_MAIN("op/clip", bounds_are_optional, the_upper_bound_wins, bounds_are_scalars)
