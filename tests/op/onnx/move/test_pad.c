/* SPDX-License-Identifier: MIT */
/* test_pad.c — Pad, CenterCropPad, ConstantOfShape, EyeLike, Range, OneHot: sizes from contents.
 * Covers: fill.c, one_hot.c. */
#include <stdio.h>
#include <stdlib.h>

#include "base/status.h"
#include "support/check_main.h"
#include "support/op_text.h"

#define PAD(data, n, pads, attrs)                                                                  \
    "x = const i32[" n "] {" data "}\np = const i64[2] {" pads "}\ny = pad x p {" attrs            \
    "}\nreturn y\n"

START_TEST(pad_modes_have_their_values)
{
    ck_assert_str_eq(op_value(PAD("1,2,3", "3", "5,6", "mode=reflect")),
        "i32[14]: 2 1 2 3 2 1 2 3 2 1 2 3 2 1");
    ck_assert_str_eq(op_value(PAD("1,2,3", "3", "4,4", "mode=wrap")),
        "i32[11]: 3 1 2 3 1 2 3 1 2 3 1");
    ck_assert_str_eq(op_value(PAD("1,2,3", "3", "-1,2", "mode=edge")), "i32[4]: 2 3 3 3");
    ck_assert_str_eq(op_value(PAD("7", "1", "2,1", "mode=reflect")), "i32[4]: 7 7 7 7");
    ck_assert_str_eq(op_value(PAD("1,2,3", "3", "-4,6", "")), "i32[5]: 0 0 0 0 0");
    ck_assert_str_eq(op_value(PAD("", "0", "1,1", "")), "i32[2]: 0 0");
    ck_assert_str_eq(op_status(PAD("", "0", "1,1", "mode=edge")), "POPRT_E_SHAPE");
    ck_assert_str_eq(op_status(PAD("1,2,3", "3", "-2,-2", "")), "POPRT_E_SHAPE");
    ck_assert_str_eq(op_status(PAD("1", "1", "9223372036854775807,1", "")), "POPRT_E_SHAPE");
    ck_assert_str_eq(op_status(PAD("1", "1", "0,0", "mode=mirror")), "POPRT_E_ARG");
    ck_assert_str_eq(op_status("x = const f32[2,2] zeros\np = const i64[2] {1,1}\n"
                               "y = pad x p\nreturn y\n"),
        "POPRT_E_SHAPE");
    ck_assert_str_eq(op_value("x = const string[1] {a}\np = const i64[2] {1,0}\ny = pad x p\n"
                              "return y\n"),
        "string[2]: '' 'a'");
    ck_assert_str_eq(op_value("x = const i4[1,2] {1,2}\np = const i64[2] {1,0}\n"
                              "v = const i4[] {-1}\na = const i64[1] {-1}\ny = pad x p v a\n"
                              "return y\n"),
        "i4[1,3]: -1 1 2");
    ck_assert_str_eq(op_type("x = input f32[n,4]\np = const i64[4] {1,0,2,0}\ny = pad x p\n"
                             "return y\n"),
        "f32[(n+3),4]");
}
END_TEST

START_TEST(center_crop_pad_crops_and_pads)
{
    ck_assert_str_eq(op_value("x = const i32[5] {1,2,3,4,5}\ns = const i64[1] {2}\n"
                              "y = center_crop_pad x s\nreturn y\n"),
        "i32[2]: 2 3");
    ck_assert_str_eq(op_value("x = const i32[1,2] {1,2}\ns = const i32[1] {5}\n"
                              "y = center_crop_pad x s {axes=[-1]}\nreturn y\n"),
        "i32[1,5]: 0 1 2 0 0");
    ck_assert_str_eq(op_status("x = const i32[2] zeros\ns = const i64[1] {-1}\n"
                               "y = center_crop_pad x s\nreturn y\n"),
        "POPRT_E_SHAPE");
}
END_TEST

START_TEST(constant_of_shape_repeats_its_value)
{
    ck_assert_str_eq(op_value("s = const i64[2] {2,1}\n"
                              "y = constant_of_shape s {value=bool[1] {true}}\nreturn y\n"),
        "bool[2,1]: 1 1");
    ck_assert_str_eq(op_value("s = const i64[0] {}\ny = constant_of_shape s\nreturn y\n"),
        "f32[]: 0");
    ck_assert_str_eq(op_type(
                         "x = input f32[a,b]\ns = shape x\ny = constant_of_shape s\nreturn y\n"),
        "f32[a,b]");
    ck_assert_str_eq(op_content("s = const i64[1] {3}\n"
                                "y = constant_of_shape s {value=i64[1] {7}}\nreturn y\n"),
        "7 7 7");
    ck_assert_str_eq(op_status("s = const i64[1] {-1}\ny = constant_of_shape s\nreturn y\n"),
        "POPRT_E_SHAPE");
    ck_assert_str_eq(op_status("s = const i64[1] {1}\n"
                               "y = constant_of_shape s {value=f32[2] zeros}\nreturn y\n"),
        "POPRT_E_SHAPE");
    ck_assert_str_eq(op_status("s = const i64[1] {1}\n"
                               "y = constant_of_shape s {value=string[1] {a}}\nreturn y\n"),
        "POPRT_E_TYPE");
}
END_TEST

/* More elements than one copy of the filled part takes. */
START_TEST(long_fills_repeat_their_value)
{
    static const char *const types[] = { "u8", "f16", "i32", "f64" };
    static const char *const counts[] = { "15", "17", "5000", "40001" };
    for (size_t t = 0; t < PRT_COUNT_OF(types); t++)
        for (size_t n = 0; n < PRT_COUNT_OF(counts); n++) {
            char text[300], want[40];
            (void)snprintf(text, sizeof(text),
                "x = const %s[1] {7}\ns = const i64[1] {%s}\n"
                "e = expand x s\nc = cast e {to=7}\nm = reduce_sum c\nh = reduce_max c\n"
                "l = reduce_min c\ny = concat l h m\nreturn y\n",
                types[t], counts[n]);
            (void)snprintf(want, sizeof(want), "i64[3]: 7 7 %ld", 7 * atol(counts[n]));
            ck_assert_str_eq(op_value(text), want);
        }
    ck_assert_str_eq(op_value("x = const string[1] {ab}\ns = const i64[1] {3}\n"
                              "y = expand x s\nreturn y\n"),
        "string[3]: 'ab' 'ab' 'ab'");
}
END_TEST

START_TEST(eye_like_has_ones_on_its_diagonal)
{
    ck_assert_str_eq(op_value(
                         "x = const f32[2,3] zeros\ny = eye_like x {k=1, dtype=7}\nreturn y\n"),
        "i64[2,3]: 0 1 0 0 0 1");
    ck_assert_str_eq(op_value("x = const f16[2,1] zeros\ny = eye_like x {k=-9223372036854775808}\n"
                              "return y\n"),
        "f16[2,1]: 0 0");
    ck_assert_str_eq(op_status("x = const f32[2,3] zeros\ny = eye_like x {dtype=8}\nreturn y\n"),
        "POPRT_E_TYPE");
    ck_assert_str_eq(op_status("x = const f32[2] zeros\ny = eye_like x\nreturn y\n"),
        "POPRT_E_SHAPE");
}
END_TEST

#define RANGE(type, start, limit, delta)                                                           \
    "s = const " type "[] {" start "}\nl = const " type "[] {" limit "}\nd = const " type          \
    "[] {" delta "}\ny = range s l d\nreturn y\n"

START_TEST(range_ends_before_its_limit)
{
    ck_assert_str_eq(op_value(RANGE("i64", "9223372036854775806", "9223372036854775807",
                         "9223372036854775807")),
        "i64[1]: 9223372036854775806");
    ck_assert_str_eq(op_value(RANGE("i64", "-9223372036854775808", "9223372036854775807",
                         "9223372036854775807")),
        "i64[3]: -9223372036854775808 -1 9223372036854775806");
    ck_assert_str_eq(op_value(RANGE("i16", "5", "0", "-2")), "i16[3]: 5 3 1");
    ck_assert_str_eq(op_value(RANGE("f32", "1", "0", "1")), "f32[0]:");
    ck_assert_str_eq(op_value(RANGE("f16", "0", "1", "0.25")), "f16[4]: 0 0.25 0.5 0.75");
    ck_assert_str_eq(op_value("s = const i64[] {5}\nl = const i64[] {1805}\n"
                              "d = const i64[] {3}\nr = range s l d\nx = reduce_max r\n"
                              "m = reduce_sum r\ny = concat x m\nreturn y\n"),
        "i64[2]: 1802 542100");
    ck_assert_str_eq(op_value("s = const f32[] {5}\nl = const f32[] {1805}\n"
                              "d = const f32[] {3}\nr = range s l d\ny = reduce_sum r\nreturn y\n"),
        "f32[1]: 542100");
    ck_assert_str_eq(op_status(RANGE("i64", "0", "1", "0")), "POPRT_E_ARG");
    ck_assert_str_eq(op_status(RANGE("f32", "0", "nan", "1")), "POPRT_E_ARG");
    ck_assert_str_eq(op_status(RANGE("f32", "0", "inf", "1")), "POPRT_E_ARG");
    ck_assert_str_eq(op_type("x = input f32[seq]\nn = size x\nz = const i64[] {0}\n"
                             "o = const i64[] {1}\ny = range z n o\nreturn y\n"),
        "i64[seq]");
}
END_TEST

START_TEST(one_hot_wraps_negative_indices)
{
    ck_assert_str_eq(op_value("i = const f32[4] {1.5,-1,nan,1e30}\nd = const f32[] {2}\n"
                              "v = const string[2] {a,b}\ny = one_hot i d v\nreturn y\n"),
        "string[4,2]: 'a' 'b' 'a' 'b' 'a' 'a' 'a' 'a'");
    ck_assert_str_eq(op_type("i = input i64[b]\nd = const i64[1] {10}\nv = input f32[2]\n"
                             "y = one_hot i d v {axis=0}\nreturn y\n"),
        "f32[10,b]");
    ck_assert_str_eq(op_status(
                         "i = const i64[1] {0}\nd = const i64[] {-1}\nv = const f32[2] zeros\n"
                         "y = one_hot i d v\nreturn y\n"),
        "POPRT_E_ARG");
    ck_assert_str_eq(op_status(
                         "i = const i64[1] {0}\nd = const f32[] {nan}\nv = const f32[2] zeros\n"
                         "y = one_hot i d v\nreturn y\n"),
        "POPRT_E_ARG");
    ck_assert_str_eq(op_status("i = const i64[1,1,1,1,1,1,1,1] zeros\nd = const i64[] {1}\n"
                               "v = const f32[2] zeros\ny = one_hot i d v\nreturn y\n"),
        "POPRT_E_LIMIT");
}
END_TEST

PRT_TEST_MAIN("op/pad", pad_modes_have_their_values, center_crop_pad_crops_and_pads,
    constant_of_shape_repeats_its_value, long_fills_repeat_their_value,
    eye_like_has_ones_on_its_diagonal, range_ends_before_its_limit, one_hot_wraps_negative_indices)
