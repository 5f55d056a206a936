/* SPDX-License-Identifier: MIT */
/* test_where.c — Where over every element size, packed elements and strings included. */
#include "support/check_main.h"
#include "support/op_check.h"

START_TEST(any_type_is_chosen)
{
    ck_result("c = const bool[3] {true,false,true}\na = const i4[3] {-8,1,7}\nb = const i4[1] {3}\n"
              "y = where c a b\nreturn y\n",
        "i4[3] {-8,3,7}");
    ck_result("c = const bool[2,1] {true,false}\na = const string[2] {\"a\",\"\"}\n"
              "b = const string[] {\"long enough\"}\ny = where c a b\nreturn y\n",
        "string[2,2] {\"a\",\"\",\"long enough\",\"long enough\"}");
    ck_result("c = const bool[2] {true,false}\na = const f32[] {nan}\nb = const f32[] {-0}\n"
              "y = where c a b\nreturn y\n",
        "f32[2] {nan,-0}");
    ck_result("c = const bool[0] {}\na = const i64[] {1}\ny = where c a a\nreturn y\n",
        "i64[0] {}");
}
END_TEST

START_TEST(known_contents_are_chosen)
{
    ck_content("x = input f32[n,6]\ns = shape x\nk = const i64[2] {-1,7}\nm = const i64[] {-1}\n"
               "c = equal k m\ny = where c s k\nreturn y\n",
        "n 7");
    ck_content("x = input f32[n,6]\ns = shape x\nk = const i64[2] {1,6}\nc = input bool[2]\n"
               "y = where c s k\nreturn y\n",
        "");
}
END_TEST

PRT_TEST_MAIN("op/where", any_type_is_chosen, known_contents_are_chosen)
