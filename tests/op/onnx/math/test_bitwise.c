/* SPDX-License-Identifier: MIT */
/* test_bitwise.c — logic and bit operators, shifts by too much, known contents that a zero
 * decides. */
#include <stdio.h>

#include "support/check_main.h"
#include "support/op_check.h"

START_TEST(truth_tables_hold)
{
    const char *in = "a = const bool[4] {false,false,true,true}\n"
                     "b = const bool[4] {false,true,false,true}\n";
    const struct {
        const char *op, *want;
    } cases[] = {
        { "and", "bool[4] {false,false,false,true}" },
        { "or", "bool[4] {false,true,true,true}" },
        { "xor", "bool[4] {false,true,true,false}" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[256];
        (void)snprintf(text, sizeof(text), "%sy = %s a b\nreturn y\n", in, cases[i].op);
        ck_result(text, cases[i].want);
    }
    ck_result("a = const i8[2] {-1,12}\nb = const i8[] {10}\ny = bitwise_and a b\nreturn y\n",
        "i8[2] {10,8}");
}
END_TEST

START_TEST(shifts_by_the_width_give_zero)
{
    ck_result("x = const u8[4] {255,255,255,1}\nn = const u8[4] {0,8,200,7}\n"
              "y = bit_shift x n {direction=LEFT}\nreturn y\n",
        "u8[4] {255,0,0,128}");
    ck_result("x = const i8[5] {-8,-8,8,-8,-128}\nn = const i8[5] {1,8,8,-1,7}\n"
              "y = bit_shift x n {direction=RIGHT}\nreturn y\n",
        "i8[5] {-4,-1,0,-1,-1}");
    ck_result("x = const u64[2] {1,1}\nn = const u64[2] {63,64}\n"
              "y = bit_shift x n {direction=LEFT}\nreturn y\n",
        "u64[2] {9223372036854775808,0}");
    ck_failure("x = const u8[1] {1}\ny = bit_shift x x {direction=UP}\nreturn y\n", POPRT_E_PARSE,
        "LEFT, RIGHT");
    ck_failure("x = const u8[1] {1}\ny = bit_shift x x\nreturn y\n", POPRT_E_PARSE, "direction");
}
END_TEST

START_TEST(truth_of_known_contents_is_known)
{
    ck_content("x = input f32[n,6]\ns = shape x\nk = const i64[2] {-1,6}\ne = equal s k\n"
               "g = equal s s\ny = and e g\nreturn y\n",
        "0 1");
    ck_content("x = input f32[n,6]\ns = shape x\nk = const i64[] {6}\ne = equal s k\n"
               "z = const bool[2] {false,true}\ny = and e z\nreturn y\n",
        "0 1");
}
END_TEST

PRT_TEST_MAIN("op/bitwise", truth_tables_hold, shifts_by_the_width_give_zero,
    truth_of_known_contents_is_known)
