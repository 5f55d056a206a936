/* SPDX-License-Identifier: MIT */
/* test_cast.c — Cast and CastLike: wrapping, rounding once, small floats, packed types, text. */
#include <stdio.h>

#include "support/check_main.h"
#include "support/op_check.h"

/* Checks a cast of `from` to an ONNX element type with further attributes. */
static void ck_cast(const char *from, int to, const char *attrs, const char *want)
{
    char text[512];
    (void)snprintf(text, sizeof(text), "x = const %s\ny = cast x {to=%d%s}\nreturn y\n", from, to,
        attrs);
    ck_result(text, want);
}

START_TEST(integers_wrap)
{
    ck_cast("i16[2] {200,-200}", PRT_DTYPE_i8, "", "i8[2] {-56,56}");
    ck_cast("i64[1] {-1}", PRT_DTYPE_u64, "", "u64[1] {18446744073709551615}");
    ck_cast("u64[1] {18446744073709551615}", PRT_DTYPE_i32, "", "i32[1] {-1}");
    ck_cast("i32[3] {7,8,-9}", PRT_DTYPE_i4, "", "i4[3] {7,-8,7}");
    ck_cast("i32[3] {3,4,-1}", PRT_DTYPE_u2, "", "u2[3] {3,0,3}");
    ck_cast("i2[3] {-2,1,-1}", PRT_DTYPE_f32, "", "f32[3] {-2,1,-1}");
    ck_cast("i32[3] {36,0,256}", PRT_DTYPE_bool, "", "bool[3] {true,false,true}");
}
END_TEST

START_TEST(floats_are_truncated)
{
    ck_cast("f32[4] {1.9,-1.9,0.5,-0.5}", PRT_DTYPE_i32, "", "i32[4] {1,-1,0,0}");
    ck_cast("f64[2] {nan,1e300}", PRT_DTYPE_i64, "", "i64[2] {0,9223372036854775807}");
    ck_cast("f32[3] {nan,0,-0.25}", PRT_DTYPE_bool, "", "bool[3] {true,false,true}");
    ck_cast("f64[2] {1e300,-1e300}", PRT_DTYPE_f32, "", "f32[2] {inf,-inf}");
}
END_TEST

/* 2^60 + 2^36 + 1 is above the middle of two floats by less than a double can tell. */
START_TEST(large_integers_round_once)
{
    ck_cast("i64[2] {1152921573326323713,-1152921573326323713}", PRT_DTYPE_f32, "",
        "f32[2] {1152921642045800448,-1152921642045800448}");
    ck_cast("u64[1] {18446744073709551615}", PRT_DTYPE_f32, "", "f32[1] {18446744073709551616}");
}
END_TEST

START_TEST(small_floats_saturate)
{
    const char *x = "f32[4] {inf,-inf,1e9,nan}";
    ck_cast(x, PRT_DTYPE_f8e4m3fn, "", "f8e4m3fn[4] {448,-448,448,nan}");
    ck_cast(x, PRT_DTYPE_f8e4m3fnuz, "", "f8e4m3fnuz[4] {240,-240,240,nan}");
    ck_cast(x, PRT_DTYPE_f8e5m2, "", "f8e5m2[4] {57344,-57344,57344,nan}");
    ck_cast(x, PRT_DTYPE_f8e5m2fnuz, "", "f8e5m2fnuz[4] {57344,-57344,57344,nan}");
    ck_cast(x, PRT_DTYPE_f8e4m3fn, ",saturate=0", "f8e4m3fn[4] {nan,nan,nan,nan}");
    ck_cast(x, PRT_DTYPE_f8e5m2, ",saturate=0", "f8e5m2[4] {inf,-inf,inf,nan}");
    ck_cast(x, PRT_DTYPE_f4e2m1, "", "f4e2m1[4] {6,-6,6,0}");
    ck_cast(x, PRT_DTYPE_f6e2m3, "", "f6e2m3[4] {7.5,-7.5,7.5,0}");
    ck_cast(x, PRT_DTYPE_f6e3m2, "", "f6e3m2[4] {28,-28,28,0}");
    ck_cast("f6e2m3[5] {1.125,-0.125,7.5,0,-3.25}", PRT_DTYPE_f6e3m2, "",
        "f6e3m2[5] {1,-0.125,8,0,-3}");
    ck_cast("f6e3m2[5] {28,-0.0625,1.75,0,-5}", PRT_DTYPE_i8, "", "i8[5] {28,0,1,0,-5}");
    ck_cast("f6e3m2[1] {-0.0625}", PRT_DTYPE_string, "", "string[1] {\"-0.0625\"}");
}
END_TEST

START_TEST(e8m0_follows_the_rounding_mode)
{
    const char *x = "f32[4] {1,1.25,1.5,3.5}";
    ck_cast(x, PRT_DTYPE_f8e8m0, "", "f8e8m0[4] {1,2,2,4}");
    ck_cast(x, PRT_DTYPE_f8e8m0, ",round_mode=down", "f8e8m0[4] {1,1,1,2}");
    ck_cast(x, PRT_DTYPE_f8e8m0, ",round_mode=nearest", "f8e8m0[4] {1,1,2,4}");
    ck_cast("f64[3] {0,inf,1e300}", PRT_DTYPE_f8e8m0, ",saturate=0", "f8e8m0[3] {nan,nan,nan}");
    ck_failure("x = const f32[1] {1}\ny = cast x {to=24,round_mode=odd}\nreturn y\n", POPRT_E_PARSE,
        "round_mode");
}
END_TEST

START_TEST(numbers_convert_to_text_and_back)
{
    ck_cast("f32[4] {1,0.1,-inf,nan}", PRT_DTYPE_string, "",
        "string[4] {\"1.0\",\"0.1\",\"-INF\",\"NaN\"}");
    ck_cast("u64[1] {18446744073709551615}", PRT_DTYPE_string, "",
        "string[1] {\"18446744073709551615\"}");
    ck_cast("string[4] {\"100.5\",\"-7\",\" 1e3 \",\"9223372036854775807\"}", PRT_DTYPE_i64, "",
        "i64[4] {100,-7,1000,9223372036854775807}");
    ck_cast("string[3] {\"+INF\",\"nan\",\".5\"}", PRT_DTYPE_f16, "", "f16[3] {inf,nan,0.5}");
    ck_failure("x = const string[2] {\"1\",\"Hello\"}\ny = cast x {to=1}\nreturn y\n", POPRT_E_ARG,
        "Hello");
}
END_TEST

START_TEST(wrong_targets_are_refused)
{
    ck_failure("x = const f32[1] {1}\ny = cast x {to=14}\nreturn y\n", POPRT_E_TYPE, "complex64");
    ck_failure("x = const f32[1] {1}\ny = cast x {to=-1}\nreturn y\n", POPRT_E_TYPE, "-1");
    ck_failure("x = const f32[1] {1}\ny = cast x\nreturn y\n", POPRT_E_TYPE, "0");
    ck_result("x = const f32[1] {1.5}\nt = const u8[0] {}\ny = cast_like x t\nreturn y\n",
        "u8[1] {1}");
    ck_type("x = input f32[n,3]\nt = input f16[]\ny = cast_like x t\nreturn y\n", "f16[n,3]");
}
END_TEST

PRT_TEST_MAIN("op/cast", integers_wrap, floats_are_truncated, large_integers_round_once,
    small_floats_saturate, e8m0_follows_the_rounding_mode, numbers_convert_to_text_and_back,
    wrong_targets_are_refused)
