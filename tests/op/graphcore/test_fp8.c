/* SPDX-License-Identifier: MIT */
/* test_fp8.c — CastToUint8, FP8MatMul and FP8Conv. Expected products come from ml_dtypes'
 * float8_e4m3fnuz and float8_e5m2fnuz in double precision, rounded to float16.
 * Covers: fp8_product.c. */
#include "support/check_main.h"
#include "support/op_check.h"

/* Numbers of PopART: 0.75 and 0.25, plain and scaled by powers of two, and numbers that are too
 * large. */
START_TEST(bytes_equal_those_of_popart)
{
    ck_result("x = const f16[4] {0.75, 250, inf, nan}\ns = const i32[1] {0}\n"
              "y = gc_cast_to_uint8 x s\nreturn y\n",
        "u8[4] {60, 127, 128, 128}");
    ck_result("x = const f32[4] {0.25, 70000, -0.0, -1e-9}\ns = const i32[1] {0}\n"
              "y = gc_cast_to_uint8 x s {fp8Format=F152}\nreturn y\n",
        "u8[4] {56, 127, 0, 0}");
    ck_result("x = const f16[1] {0.75}\ns = const i32[1] {2}\ny = gc_cast_to_uint8 x s\nreturn y\n",
        "u8[1] {44}");
    ck_result("x = const f16[1] {0.75}\ns = const i8[] {-1}\ny = gc_cast_to_uint8 x s\nreturn y\n",
        "u8[1] {68}");
    ck_result("x = const f16[1] {0.25}\ns = const i32[1] {3}\n"
              "y = gc_cast_to_uint8 x s {fp8Format=F152}\nreturn y\n",
        "u8[1] {44}");
    /* smallest numbers: 2^-10 and 2^-17; ties go to even */
    ck_result("x = const f32[4] {0.0009765625, 0.00048828125, 0.00146484375, -0.0009765625}\n"
              "s = const i32[1] {0}\ny = gc_cast_to_uint8 x s\nreturn y\n",
        "u8[4] {1, 0, 2, 129}");
    ck_result("x = const f32[1] {7.62939453125e-06}\ns = const i32[1] {0}\n"
              "y = gc_cast_to_uint8 x s {fp8Format=F152}\nreturn y\n",
        "u8[1] {1}");
}
END_TEST

START_TEST(wrong_casts_are_refused)
{
    ck_type("x = input f16[n,3]\ns = input i32[1]\ny = gc_cast_to_uint8 x s\nreturn y\n",
        "u8[n,3]");
    ck_failure("x = const f32[1] {1}\ns = const i32[1] {32}\ny = gc_cast_to_uint8 x s\nreturn y\n",
        POPRT_E_ARG, "[-32, 31]");
    ck_failure("x = const f32[1] {1}\ns = const i32[2] {0,0}\ny = gc_cast_to_uint8 x s\nreturn y\n",
        POPRT_E_SHAPE, "one number");
    ck_failure("x = const f32[1] {1}\ns = const i32[1] {0}\n"
               "y = gc_cast_to_uint8 x s {fp8Format=F134}\nreturn y\n",
        POPRT_E_ARG, "F143, F152");
    ck_failure("x = const i32[1] {1}\ns = const i32[1] {0}\ny = gc_cast_to_uint8 x s\nreturn y\n",
        POPRT_E_TYPE, "float16");
}
END_TEST

#define SCALES(a, b) "s = const i32[1] {" #a "}\nt = const i32[1] {" #b "}\n"

START_TEST(products_have_their_values)
{
    ck_result("a = const u8[2,3] {88,218,69,201,198,190}\n"
              "b = const u8[3,2] {216,191,206,93,62,195}\n" SCALES(-1,
                  2) "y = gc_fp8_matmul a b s t\nreturn y\n",
        "f16[2,2] {-55.15625,-279.5,46.71875,-38.875}");
    ck_result("a = const u8[2,3] {193,197,200,194,68,192}\n"
              "b = const u8[3,2] {79,189,36,84,73,200}\n" SCALES(3,
                  -4) "y = gc_fp8_matmul a b s t {fp8FormatLHS=F152}\nreturn y\n",
        "f16[2,2] {-6.9609375,-2.9921875,-3.84375,7.609375}");
    /* a value above float16's range is infinity; NaN stays NaN; an empty sum is 0 */
    ck_result("a = const u8[2,1] {127,128}\nb = const u8[1,1] {127}\n" SCALES(8,
                  0) "y = gc_fp8_matmul a b s t\nreturn y\n",
        "f16[2,1] {inf,nan}");
    ck_result("a = const u8[2,0] {}\nb = const u8[0,1] {}\n" SCALES(0,
                  0) "y = gc_fp8_matmul a b s t\nreturn y\n",
        "f16[2,1] {0,0}");
    /* a batch against one matrix, and one vector */
    ck_result("a = const u8[2,1,2] {64,64,64,72}\nb = const u8[2] {64,72}\n" SCALES(0,
                  0) "y = gc_fp8_matmul a b s t\nreturn y\n",
        "f16[2,1] {3,5}");
}
END_TEST

#define HALF                                                                                       \
    "a = const f16[2,3] {-0.7314453125,2.162109375,7.7421875,-1.078125,-0.97412109375,"            \
    "4.0078125}\nb = const u8[3,2] {206,193,78,73,52,75}\n"

/* The scale of the left side has no effect; with 2^-20 the weights are tiny float16 numbers. */
START_TEST(half_products_ignore_the_left_scale)
{
    ck_result(HALF SCALES(9, -3) "y = gc_fp8_matmul a b s t\nreturn y\n",
        "f16[2,2] {1.62890625,3.373046875,0.2333984375,1.2548828125}");
    ck_result(HALF SCALES(0, -20) "y = gc_fp8_matmul a b s t\nreturn y\n",
        "f16[2,2] {1.239776611328125e-05,2.574920654296875e-05,1.7881393432617188e-06,"
        "9.59634780883789e-06}");
}
END_TEST

START_TEST(wrong_products_are_refused)
{
    ck_type("a = input u8[n,4]\nb = input u8[4,m]\ns = input i32[1]\n"
            "y = gc_fp8_matmul a b s s\nreturn y\n",
        "f16[n,m]");
    ck_failure("a = input u8[2,4]\nb = input u8[3,2]\ns = input i32[1]\n"
               "y = gc_fp8_matmul a b s s\nreturn y\n",
        POPRT_E_SHAPE, "inner dim");
    ck_failure("a = input u8[2,4]\nb = input f16[4,2]\ns = input i32[1]\n"
               "y = gc_fp8_matmul a b s s\nreturn y\n",
        POPRT_E_TYPE, "uint8");
    ck_failure("a = input u8[2,4]\nb = input u8[4,2]\ns = input i32[1]\n"
               "y = gc_fp8_matmul a b s s {fp8FormatRHS=F16}\nreturn y\n",
        POPRT_E_ARG, "fp8FormatRHS");
    ck_failure("a = const u8[1,1] {1}\nb = const u8[1,1] {1}\n" SCALES(0,
                   -33) "y = gc_fp8_matmul a b s t\nreturn y\n",
        POPRT_E_ARG, "scale -33 of operand 1");
}
END_TEST

START_TEST(convolutions_have_their_values)
{
    ck_result("x = const u8[1,2,3,3] {211,72,199,205,57,67,190,201,29,166,75,68,52,73,181,199,65,"
              "65}\n"
              "w = const u8[2,1,2,2] {187,194,59,201,66,64,199,52}\n" SCALES(1,
                  -2) "y = gc_fp8_conv x w s t {group=2, fp8FormatRHS=F152}\nreturn y\n",
        "f16[1,2,2,2] {-2.4140625,-2.345703125,5.72265625,-1.7734375,0.77734375,-1.150390625,"
        "4.7578125,-0.4140625}");
    ck_result("x = const f16[1,1,3] {1,2,-3}\nw = const u8[1,1,2] {64,72}\n" SCALES(0,
                  1) "y = gc_fp8_conv x w s t {pads=[1,0]}\nreturn y\n",
        "f16[1,1,3] {4,10,-8}");
    ck_type("x = input u8[n,3,32,32]\nw = input u8[8,3,3,3]\ns = input i32[1]\n"
            "y = gc_fp8_conv x w s s {strides=[2,2], pads=[1,1,1,1]}\nreturn y\n",
        "f16[n,8,16,16]");
    ck_failure("x = input u8[1,3,8,8]\nw = input u8[8,2,3,3]\ns = input i32[1]\n"
               "y = gc_fp8_conv x w s s\nreturn y\n",
        POPRT_E_SHAPE, "channels");
    ck_failure("x = input u8[1,3,8,8]\nw = input u8[8,3,3,3]\ns = input i32[1]\n"
               "y = gc_fp8_conv x w s s {fp8FormatLHS=x}\nreturn y\n",
        POPRT_E_ARG, "fp8FormatLHS");
}
END_TEST

PRT_TEST_MAIN("op/graphcore/fp8", bytes_equal_those_of_popart, wrong_casts_are_refused,
    products_have_their_values, half_products_ignore_the_left_scale, wrong_products_are_refused,
    convolutions_have_their_values)
