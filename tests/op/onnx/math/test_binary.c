/* SPDX-License-Identifier: MIT */
/* test_binary.c — arithmetic of two inputs: wrapping, division, remainders, shapes, contents. */
#include <stdio.h>

#include "support/check_main.h"
#include "support/op_check.h"

START_TEST(integers_wrap)
{
    ck_result("a = const i8[2] {127,-128}\nb = const i8[] {1}\ny = add a b\nreturn y\n",
        "i8[2] {-128,-127}");
    ck_result("a = const u16[2] {0,5}\nb = const u16[] {1}\ny = sub a b\nreturn y\n",
        "u16[2] {65535,4}");
    ck_result("a = const i64[] {-9223372036854775808}\nb = const i64[] {-1}\ny = mul a b\n"
              "return y\n",
        "i64[] {-9223372036854775808}");
}
END_TEST

START_TEST(division_truncates)
{
    ck_result("a = const i32[4] {7,-7,7,-7}\nb = const i32[4] {2,2,-2,-2}\ny = div a b\nreturn y\n",
        "i32[4] {3,-3,-3,3}");
    ck_result("a = const i64[] {-9223372036854775808}\nb = const i64[] {-1}\ny = div a b\n"
              "return y\n",
        "i64[] {-9223372036854775808}");
    ck_result("a = const i64[5] {4294967295,4294967296,-7,4294967295,-4294967297}\n"
              "b = const i64[5] {7,7,4294967295,4294967296,4294967295}\ny = div a b\nreturn y\n",
        "i64[5] {613566756,613566756,0,0,-1}");
    ck_result("a = const u64[] {18446744073709551615}\nb = const u64[] {2}\ny = div a b\n"
              "return y\n",
        "u64[] {9223372036854775807}");
    ck_result("a = const f32[3] {1,-1,0}\nb = const f32[] {0}\ny = div a b\nreturn y\n",
        "f32[3] {inf,-inf,nan}");
}
END_TEST

START_TEST(division_by_zero_is_an_error)
{
    ck_failure("a = const i32[2] {1,2}\nb = const i32[2] {1,0}\ny = div a b @here\nreturn y\n",
        POPRT_E_ARG, "by zero");
    ck_failure("a = const u8[] {1}\nb = const u8[] {0}\ny = mod a b\nreturn y\n", POPRT_E_ARG,
        "by zero");
    ck_failure("a = const i8[] {1}\nb = const i8[] {0}\ny = mod a b {fmod=1}\nreturn y\n",
        POPRT_E_ARG, "by zero");
}
END_TEST

START_TEST(remainders_take_either_sign)
{
    const char *a = "a = const i32[4] {7,-7,7,-7}\nb = const i32[4] {3,3,-3,-3}\n";
    char text[256];
    (void)snprintf(text, sizeof(text), "%sy = mod a b\nreturn y\n", a);
    ck_result(text, "i32[4] {1,2,-2,-1}");
    (void)snprintf(text, sizeof(text), "%sy = mod a b {fmod=1}\nreturn y\n", a);
    ck_result(text, "i32[4] {1,-1,1,-1}");
    ck_result("a = const i32[] {-2147483648}\nb = const i32[] {-1}\ny = mod a b\nreturn y\n",
        "i32[] {0}");
    ck_result("a = const i64[5] {4294967295,4294967296,-7,4294967295,-4294967297}\n"
              "b = const i64[5] {7,7,4294967295,4294967296,4294967295}\ny = mod a b\nreturn y\n",
        "i64[5] {3,4,4294967288,4294967295,4294967293}");
    ck_result("a = const f32[4] {5,-5,-0,3}\nb = const f32[4] {inf,inf,2,0}\ny = mod a b\n"
              "return y\n",
        "f32[4] {5,inf,0,nan}");
    ck_failure("a = const i32[] {1}\ny = mod a a {fmod=2}\nreturn y\n", POPRT_E_PARSE, "fmod");
}
END_TEST

START_TEST(shapes_broadcast)
{
    ck_result("a = const i32[2,1] {10,20}\nb = const i32[3] {1,2,3}\ny = add a b\nreturn y\n",
        "i32[2,3] {11,12,13,21,22,23}");
    ck_result("a = const f32[0,2] {}\nb = const f32[1,2] {1,2}\ny = mul a b\nreturn y\n",
        "f32[0,2] {}");
    ck_type("a = input f32[n,1]\nb = input f32[4]\ny = add a b\nreturn y\n", "f32[n,4]");
    ck_type("a = input f32[n,k]\nb = input f32[4]\ny = add a b\nreturn y\n", "f32[n,4]");
    ck_failure("a = const f32[2] {1,2}\nb = const f32[3] {1,2,3}\ny = add a b\nreturn y\n",
        POPRT_E_SHAPE, "do not broadcast");
    ck_failure("a = const f32[2] {1,2}\nb = const i32[2] {1,2}\ny = add a b\nreturn y\n",
        POPRT_E_TYPE, "int32");
}
END_TEST

START_TEST(slopes_broadcast_to_their_input)
{
    ck_result("x = const f32[2,2] {-1,1,-2,nan}\ns = const f32[2] {2,3}\ny = prelu x s\nreturn y\n",
        "f32[2,2] {-2,1,-4,nan}");
    ck_result("x = const u32[2] {1,4294967295}\ns = const u32[1] {2}\ny = prelu x s\nreturn y\n",
        "u32[2] {1,4294967295}");
    ck_failure("x = const f32[1] {1}\ns = const f32[2] {2,3}\ny = prelu x s\nreturn y\n",
        POPRT_E_SHAPE, "slope");
}
END_TEST

START_TEST(known_contents_are_computed)
{
    const char *shape = "x = input f32[n,6]\ns = shape x\n";
    const struct {
        const char *rest, *want;
    } cases[] = {
        { "k = const i64[] {2}\ny = mul s k\n", "(2*n) 12" },
        { "k = const i64[2] {1,-1}\ny = add s k\n", "(n+1) 5" },
        { "k = const i64[] {2}\ny = div s k\n", "(n/2) 3" },
        { "k = const i64[] {4}\ny = mod s k\n", "(n%4) 2" },
        { "k = const i64[] {0}\ny = div s k\n", "" },
        { "k = input i64[]\ny = add s k\n", "" },
        { "y = sub s s\n", "0 0" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[256];
        (void)snprintf(text, sizeof(text), "%s%sreturn y\n", shape, cases[i].rest);
        ck_content(text, cases[i].want);
    }
}
END_TEST

PRT_TEST_MAIN("op/binary", integers_wrap, division_truncates, division_by_zero_is_an_error,
    remainders_take_either_sign, shapes_broadcast, slopes_broadcast_to_their_input,
    known_contents_are_computed)
