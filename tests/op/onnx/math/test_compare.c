/* SPDX-License-Identifier: MIT */
/* test_compare.c — comparisons of every class of elements, tests for infinity and NaN. */
#include "support/check_main.h"
#include "support/op_check.h"

START_TEST(every_element_type_compares)
{
    ck_result("a = const u64[2] {18446744073709551615,1}\nb = const u64[] {2}\ny = greater a b\n"
              "return y\n",
        "bool[2] {true,false}");
    ck_result("a = const i64[2] {9007199254740993,-1}\nb = const i64[] {9007199254740992}\n"
              "y = less_or_equal a b\nreturn y\n",
        "bool[2] {false,true}");
    ck_result("a = const f32[3] {nan,1,-0}\nb = const f32[3] {nan,1,0}\ny = equal a b\nreturn y\n",
        "bool[3] {false,true,true}");
    ck_result("a = const f16[2] {nan,1}\ny = greater_or_equal a a\nreturn y\n",
        "bool[2] {false,true}");
    ck_result("a = const bool[2] {true,false}\nb = const bool[1] {true}\ny = equal a b\nreturn y\n",
        "bool[2] {true,false}");
}
END_TEST

START_TEST(strings_compare)
{
    ck_result("a = const string[2,1] {\"a\",\"\"}\nb = const string[3] {\"a\",\"\",\"ab\"}\n"
              "y = equal a b\nreturn y\n",
        "bool[2,3] {true,false,false,false,true,false}");
    ck_failure("a = const string[1] {\"a\"}\ny = less a a\nreturn y\n", POPRT_E_TYPE, "string");
}
END_TEST

START_TEST(infinity_and_nan_are_detected)
{
    ck_result("x = const f32[4] {inf,-inf,nan,1}\ny = isinf x\nreturn y\n",
        "bool[4] {true,true,false,false}");
    ck_result("x = const f32[4] {inf,-inf,nan,1}\ny = isinf x {detect_positive=0}\nreturn y\n",
        "bool[4] {false,true,false,false}");
    ck_result("x = const bf16[3] {nan,inf,1}\ny = isnan x\nreturn y\n",
        "bool[3] {true,false,false}");
    ck_result("x = const f8e5m2[2] {nan,inf}\ny = isnan x\nreturn y\n", "bool[2] {true,false}");
}
END_TEST

START_TEST(comparisons_of_known_sizes_are_known)
{
    ck_content("x = input f32[n,6]\ns = shape x\nk = const i64[] {-1}\ny = equal s k\nreturn y\n",
        "0 0");
    ck_content("x = input f32[n,6]\ns = shape x\nk = const i64[] {0}\ny = equal s k\nreturn y\n",
        "(1-min(n, 1)) 0");
    ck_content("x = input f32[n,6]\ns = shape x\nk = const i64[2] {3,7}\ny = less s k\n"
               "return y\n",
        "min(max((3-n), 0), 1) 1");
    ck_content("x = input f32[n,6]\ns = shape x\nk = const i64[] {-1}\ny = greater s k\nreturn y\n",
        "1 1");
}
END_TEST

PRT_TEST_MAIN("op/compare", every_element_type_compares, strings_compare,
    infinity_and_nan_are_detected, comparisons_of_known_sizes_are_known)
