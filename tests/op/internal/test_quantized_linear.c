/* SPDX-License-Identifier: MIT */
/* test_quantized_linear.c — QuantizedLinear: products of bytes with float results, and invalid
 * inputs. */
#include "support/check_main.h"
#include "support/op_check.h"

/* B is [2, 3] {1,-2,3, 4,5,-6}: words of two bytes and two zeros, in 16 columns. */
#define NONE "0,0,0,0,0,0,0,0,0,0,0,0,0"
#define B                                                                                          \
    "b = const i8[64] {1,4,0,0,-2,5,0,0,3,-6,0,0," NONE "," NONE "," NONE "," NONE "}\n"           \
    "t = const i32[3] {5,3,-3}\n"

START_TEST(values_equal_hand_computed_products)
{
    /* (10 - 8, 7 - 8) B: 2 - 4, -4 - 5, 6 + 6 */
    ck_result("a = const u8[1,2] {10,7}\nz = const u8[] {8}\n" B "s = const f32[] {0.5}\n"
              "y = quantized_linear a z b t s {columns=3}\nreturn y\n",
        "f32[1,3] {-1,-4.5,6}");
    ck_result("a = const i8[2,1,2] {-128,127,0,1}\nz = const i8[1] {-1}\n" B
              "s = const f32[3] {1,2,0.5}\nc = const f32[3] {1,2,3}\n"
              "r = const f32[2,1,3] {0,0,0,10,10,-100}\n"
              "y = quantized_linear a z b t s c r {columns=3,activation=\"Relu\"}\nreturn y\n",
        /* -127, 128: 385, 894, -1149; 1, 2: 9, 8, -9 */
        "f32[2,1,3] {386,1790,0,20,28,0}");
    ck_result("a = const u8[0,2] {}\nz = const u8[] {8}\n" B "s = const f32[] {0.5}\n"
              "y = quantized_linear a z b t s {columns=3}\nreturn y\n",
        "f32[0,3] {}");
    /* 0 to 255, and -100 to 155 with zero point 100; an empty row; infinity and NaN */
    ck_result("a = const f32[4,2] {255,3, -100,155, 0,0, inf,1}\n" B "s = const f32[3] {1,2,0.5}\n"
              "y = quantized_linear a _ b t s {columns=3}\nreturn y\n",
        /* 255, 3: 267, -495, 747; -100, 155: 520, 975, -1230 */
        "f32[4,3] {267,-990,373.5,520,1950,-615,0,0,0,nan,nan,nan}");
    ck_type("a = input f32[n,m,2]\nb = input i8[64]\nt = input i32[3]\ns = input f32[]\n"
            "y = quantized_linear a _ b t s {columns=3}\nreturn y\n",
        "f32[n,m,3]");
    ck_type("a = input u8[n,m,2]\nz = input u8[]\nb = input i8[64]\nt = input i32[3]\n"
            "s = input f32[]\ny = quantized_linear a z b t s {columns=3}\nreturn y\n",
        "f32[n,m,3]");
}
END_TEST

#define PRODUCT(a, z, b, t, s, c, attrs)                                                           \
    "a = const u8" a " fill 1\nz = const u8" z " fill 1\nb = const i8" b " fill 1\n"               \
    "t = const i32" t " fill 1\ns = const f32" s " fill 1\nc = const f32" c " fill 1\n"            \
    "y = quantized_linear a z b t s c {" attrs "}\nreturn y\n"

START_TEST(wrong_shapes_are_refused)
{
    ck_failure(PRODUCT("[1,2]", "[]", "[63]", "[3]", "[]", "[3]", "columns=3"), POPRT_E_SHAPE,
        "63 elements are not panels of 3 columns");
    ck_failure(PRODUCT("[1,5]", "[]", "[64]", "[3]", "[]", "[3]", "columns=3"), POPRT_E_SHAPE,
        "panels");
    ck_failure(PRODUCT("[1,2]", "[2]", "[64]", "[3]", "[]", "[3]", "columns=3"), POPRT_E_SHAPE, "");
    ck_failure(PRODUCT("[1,2]", "[]", "[64]", "[2]", "[]", "[3]", "columns=3"), POPRT_E_SHAPE, "");
    ck_failure(PRODUCT("[1,2]", "[]", "[64]", "[3]", "[2]", "[3]", "columns=3"), POPRT_E_SHAPE, "");
    ck_failure(PRODUCT("[1,2]", "[]", "[64]", "[3]", "[3,1]", "[3]", "columns=3"), POPRT_E_SHAPE,
        "");
    ck_failure(PRODUCT("[1,2]", "[]", "[64]", "[3]", "[]", "[2]", "columns=3"), POPRT_E_SHAPE, "");
    ck_failure(PRODUCT("[]", "[]", "[64]", "[3]", "[]", "[3]", "columns=3"), POPRT_E_SHAPE,
        "rank 0");
    ck_failure(PRODUCT("[1,2]", "[]", "[64]", "[3]", "[]", "[3]", "columns=0"), POPRT_E_ARG, "");
    ck_failure("a = input f32[1,2]\nz = input f32[]\nb = input i8[64]\nt = input i32[3]\n"
               "s = input f32[]\ny = quantized_linear a z b t s {columns=3}\nreturn y\n",
        POPRT_E_ARG, "a float32 A has none");
    ck_failure("a = input u8[1,2]\nb = input i8[64]\nt = input i32[3]\ns = input f32[]\n"
               "y = quantized_linear a _ b t s {columns=3}\nreturn y\n",
        POPRT_E_ARG, "A_zero_point goes with");
    ck_failure(PRODUCT("[1,2]", "[]", "[64]", "[3]", "[]", "[3]", "columns=3,activation=\"Neg\""),
        POPRT_E_ARG, "");
}
END_TEST

PRT_TEST_MAIN("op/quantized_linear", values_equal_hand_computed_products, wrong_shapes_are_refused)
