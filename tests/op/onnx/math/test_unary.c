/* SPDX-License-Identifier: MIT */
/* test_unary.c — unary functions: special values, integers, unusual types, known contents. */
#include "support/check_main.h"
#include "support/op_check.h"

START_TEST(integer_abs_and_neg_wrap)
{
    ck_result("x = const i8[3] {-128,0,5}\ny = abs x\nreturn y\n", "i8[3] {-128,0,5}");
    ck_result("x = const i64[2] {-9223372036854775808,7}\ny = neg x\nreturn y\n",
        "i64[2] {-9223372036854775808,-7}");
    ck_result("x = const u64[2] {18446744073709551615,0}\ny = sign x\nreturn y\n", "u64[2] {1,0}");
    ck_result("x = const u64[1] {18446744073709551615}\ny = abs x\nreturn y\n",
        "u64[1] {18446744073709551615}");
    ck_result("x = const i32[3] {-3,0,3}\ny = sign x\nreturn y\n", "i32[3] {-1,0,1}");
    ck_result("x = const i16[2] {-3,3}\ny = relu x\nreturn y\n", "i16[2] {0,3}");
}
END_TEST

START_TEST(special_values_follow_the_standard)
{
    ck_result("x = const f32[3] {nan,-0,-2}\ny = relu x\nreturn y\n", "f32[3] {nan,0,0}");
    ck_result("x = const f32[3] {nan,-0,-2}\ny = sign x\nreturn y\n", "f32[3] {nan,0,-1}");
    ck_result("x = const f64[4] {0.5,1.5,2.5,-0.5}\ny = round x\nreturn y\n", "f64[4] {0,2,2,-0}");
    ck_result("x = const f32[2] {-1,0}\ny = sqrt x\nreturn y\n", "f32[2] {nan,0}");
    ck_result("x = const f32[3] {-1000,1000,-inf}\ny = sigmoid x\nreturn y\n", "f32[3] {0,1,0}");
    ck_result("x = const f64[3] {1000,-inf,inf}\ny = softplus x\nreturn y\n",
        "f64[3] {1000,0,inf}");
    ck_result("x = const bf16[2] {2,-0.5}\ny = reciprocal x\nreturn y\n", "bf16[2] {0.5,-2}");
    ck_result("x = const f16[0] {}\ny = exp x\nreturn y\n", "f16[0] {}");
}
END_TEST

START_TEST(not_flips_bits_and_truth)
{
    ck_result("x = const u8[2] {0,170}\ny = bitwise_not x\nreturn y\n", "u8[2] {255,85}");
    ck_result("x = const bool[2] {true,false}\ny = not x\nreturn y\n", "bool[2] {false,true}");
    ck_failure("x = const i32[1] {1}\ny = not x\nreturn y\n", POPRT_E_TYPE, "bool");
    ck_failure("x = const u8[1] {1}\ny = neg x\nreturn y\n", POPRT_E_TYPE, "uint8");
}
END_TEST

START_TEST(known_contents_pass_through)
{
    ck_content("x = input f32[n,6]\ns = shape x\nm = neg s\ny = abs m\nreturn y\n", "n 6");
    ck_content("x = input f32[n,6]\ns = shape x\nf = cast s {to=1}\nr = floor f\n"
               "y = cast r {to=7}\nreturn y\n",
        "n 6");
    ck_content("x = input f32[n,6]\ns = shape x\nk = const f32[] {2}\nf = cast s {to=1}\n"
               "g = mul f k\nr = floor g\ny = cast r {to=7}\nreturn y\n",
        "(2*n) 12");
}
END_TEST

PRT_TEST_MAIN("op/unary", integer_abs_and_neg_wrap, special_values_follow_the_standard,
    not_flips_bits_and_truth, known_contents_pass_through)
