/* SPDX-License-Identifier: MIT */
/* test_dynamic.c — DynamicSlice, DynamicUpdate and their relatives: offsets that wrap round,
 * updates, errors. */
#include "support/check_main.h"
#include "support/op_check.h"

#define X "x = const f32[4,2] {1,2,3,4,5,6,7,8}\n"
#define AT(n) "o = const u32[1] {" n "}\n"

START_TEST(slices_wrap_round)
{
    ck_result(X AT("1") "y = gc_dynamic_slice x o {axes=[0],sizes=[2]}\nreturn y\n",
        "f32[2,2] {3,4,5,6}");
    ck_result(X AT("3") "y = gc_dynamic_slice x o {axes=[0],sizes=[2]}\nreturn y\n",
        "f32[2,2] {7,8,1,2}");
    ck_result(X AT("4294967293") "y = gc_dynamic_slice x o {axes=[0],sizes=[1]}\nreturn y\n",
        "f32[1,2] {3,4}");
    ck_result(X "o = const u32[2] {1,2}\n"
                "y = gc_dynamic_slice x o {axes=[1,0],sizes=[1,2]}\nreturn y\n",
        "f32[2,1] {6,8}");
    ck_result("x = const f32[0,2] {}\n" AT(
                  "5") "y = gc_dynamic_slice x o {axes=[0],sizes=[0]}\nreturn y\n",
        "f32[0,2] {}");
    ck_type("x = input f32[n,4]\no = input u32[1]\n"
            "y = gc_dynamic_slice x o {axes=[0],sizes=[3]}\nreturn y\n",
        "f32[3,4]");
}
END_TEST

START_TEST(updates_wrap_round)
{
    ck_result(X AT("3") "b = const f32[2,2] {10,20,30,40}\n"
                        "y = gc_dynamic_update x o b {axes=[0],sizes=[2]}\nreturn y\n",
        "f32[4,2] {30,40,3,4,5,6,10,20}");
    ck_result(X AT("1") "b = const f32[4,1] {10,20,30,40}\n"
                        "y = gc_dynamic_add x o b {axes=[1],sizes=[1]}\nreturn y\n",
        "f32[4,2] {1,12,3,24,5,36,7,48}");
    ck_result("x = const u8[2] {250,1}\n" AT(
                  "0") "b = const u8[1] {10}\n"
                       "y = gc_dynamic_add x o b {axes=[0],sizes=[1]}\nreturn y\n",
        "u8[2] {4,1}");
    ck_result(X AT("2") "y = gc_dynamic_zero x o {axes=[0],sizes=[1]}\nreturn y\n",
        "f32[4,2] {1,2,3,4,0,0,7,8}");
}
END_TEST

START_TEST(wrong_sizes_and_axes_are_refused)
{
    ck_failure(X AT("1") "y = gc_dynamic_slice x o {axes=[0],sizes=[5]}\nreturn y\n", POPRT_E_SHAPE,
        "size 5");
    ck_failure(X AT("1") "y = gc_dynamic_slice x o {axes=[2],sizes=[1]}\nreturn y\n", POPRT_E_SHAPE,
        "axis 2");
    ck_failure(X "o = const u32[2] {1,1}\n"
                 "y = gc_dynamic_slice x o {axes=[0,0],sizes=[1,1]}\nreturn y\n",
        POPRT_E_SHAPE, "repeated");
    ck_failure(X AT("1") "y = gc_dynamic_slice x o {axes=[0,1],sizes=[1,1]}\nreturn y\n",
        POPRT_E_SHAPE, "offset has 1");
    ck_failure(X AT("1") "y = gc_dynamic_slice x o {axes=[0],sizes=[1,1]}\nreturn y\n", POPRT_E_ARG,
        "1 axes");
    ck_failure(X "o = const i32[1] {-1}\ny = gc_dynamic_slice x o {axes=[0],sizes=[1]}\nreturn y\n",
        POPRT_E_ARG, "negative");
    ck_failure(X AT("1") "b = const f32[1,1] {1}\n"
                         "y = gc_dynamic_update x o b {axes=[0],sizes=[1]}\nreturn y\n",
        POPRT_E_SHAPE, "block");
}
END_TEST

PRT_TEST_MAIN("op/graphcore/dynamic", slices_wrap_round, updates_wrap_round,
    wrong_sizes_and_axes_are_refused)
