/* SPDX-License-Identifier: MIT */
/* test_pool.c — pools: symbolic sizes, ceil_mode, indices, 8-bit types, wrong attributes.
 * Covers: max_unpool.c, sliding.c. */
#include "support/check_main.h"
#include "support/op_text.h"

#define TYPE(op, x, attrs) "x = input " x "\ny = " op " x {" attrs "}\nreturn y\n"
#define LINE(op, attrs) "x = const f32[1,1,5] {1,5,2,4,3}\ny = " op " x {" attrs "}\nreturn y\n"

START_TEST(sizes_are_symbolic)
{
    ck_assert_str_eq(op_type(TYPE("max_pool", "f32[n,c,h,112]",
                         "kernel_shape=[3,3], strides=[2,2], pads=[1,1,1,1]")),
        "f32[n,c,((h+1)/2),56]");
    ck_assert_str_eq(op_type(TYPE("average_pool", "f32", "kernel_shape=[2]")), "f32[?,?,?]");
    ck_assert_str_eq(op_type(TYPE("global_max_pool", "f32[n,c,h,w]", "")), "f32[n,c,1,1]");
    ck_assert_str_eq(op_type(TYPE("max_pool", "f32[1,1,6]",
                         "kernel_shape=[2], strides=[3], ceil_mode=1")),
        "f32[1,1,2]");
    ck_assert_str_eq(op_type(TYPE("max_pool", "f32[1,1,4]",
                         "kernel_shape=[1], strides=[3], ceil_mode=1, pads=[0,3]")),
        "f32[1,1,2]");
}
END_TEST

START_TEST(pools_have_their_values)
{
    ck_assert_str_eq(op_value(LINE("max_pool", "kernel_shape=[2], strides=[2], ceil_mode=1")),
        "f32[1,1,3]: 5 4 3");
    ck_assert_str_eq(op_value(LINE("average_pool",
                         "kernel_shape=[2], strides=[2], ceil_mode=1, "
                         "count_include_pad=1")),
        "f32[1,1,3]: 3 3 3");
    ck_assert_str_eq(op_value(LINE("average_pool",
                         "kernel_shape=[3], pads=[1,1], "
                         "count_include_pad=1, strides=[4]")),
        "f32[1,1,2]: 2 2.33333");
    ck_assert_str_eq(op_value(LINE("lp_pool", "kernel_shape=[2], strides=[2], p=1")),
        "f32[1,1,2]: 6 6");
    ck_assert_str_eq(op_value("x = const i8[1,1,3] {-100,-128,-3}\ny = max_pool x "
                              "{kernel_shape=[2], pads=[2,0]}\nreturn y\n"),
        "i8[1,1,4]: -128 -100 -100 -3");
    ck_assert_str_eq(op_value_of("x = const f32[1,2,2,2] {1,2,3,4,8,7,6,5}\ny, i = max_pool x "
                                 "{kernel_shape=[2,2], storage_order=1}\nreturn y, i\n",
                         1),
        "i64[1,2,1,1]: 3 4");
    ck_assert_str_eq(op_value("x = const f32[1,1,3] {1,nan,2}\ny = global_max_pool x\nreturn y\n"),
        "f32[1,1,1]: nan");
    ck_assert_str_eq(op_value("x = const f32[2,0,3] {}\ny = global_average_pool x\nreturn y\n"),
        "f32[2,0,1]:");
}
END_TEST

START_TEST(wrong_attributes_are_refused)
{
    ck_assert_str_eq(op_status(LINE("max_pool", "")), "POPRT_E_ARG");
    ck_assert_str_eq(op_status(LINE("max_pool", "kernel_shape=[0]")), "POPRT_E_ARG");
    ck_assert_str_eq(op_status(LINE("max_pool", "kernel_shape=[2,2]")), "POPRT_E_SHAPE");
    ck_assert_str_eq(op_status(LINE("max_pool", "kernel_shape=[9]")), "POPRT_E_SHAPE");
    ck_assert_str_eq(op_status(LINE("lp_pool", "kernel_shape=[2], p=0")), "POPRT_E_ARG");
    ck_assert_str_eq(op_status(LINE("global_lp_pool", "p=-1")), "POPRT_E_ARG");
    /* A kernel far larger than the input costs no more than the input. */
    ck_assert_str_eq(op_value(LINE("max_pool",
                         "kernel_shape=[2147483647], "
                         "pads=[1073741823,1073741823], strides=[9]")),
        "f32[1,1,1]: 5");
}
END_TEST

START_TEST(unpooling_checks_indices)
{
    ck_assert_str_eq(op_value("x = const f32[1,1,2] {7,8}\ni = const i64[1,1,2] {1,2}\n"
                              "y = max_unpool x i {kernel_shape=[2], strides=[2]}\nreturn y\n"),
        "f32[1,1,4]: 0 7 8 0");
    ck_assert_str_eq(op_status("x = const f32[1,1,2] {7,8}\ni = const i64[1,1,2] {1,4}\n"
                               "y = max_unpool x i {kernel_shape=[2], strides=[2]}\nreturn y\n"),
        "POPRT_E_SHAPE");
    ck_assert_str_eq(op_status("x = const f32[1,1,2] {7,8}\ni = const i64[1,1,2] {-1,0}\n"
                               "y = max_unpool x i {kernel_shape=[2], strides=[2]}\nreturn y\n"),
        "POPRT_E_SHAPE");
}
END_TEST

PRT_TEST_MAIN("op/pool", sizes_are_symbolic, pools_have_their_values, wrong_attributes_are_refused,
    unpooling_checks_indices)
