/* SPDX-License-Identifier: MIT */
/* test_gather.c — gathering and scattering: unusual types, empty tensors, indices out of range.
 * Covers: scatter.c. */
#include "support/check_main.h"
#include "support/op_text.h"

START_TEST(gather_takes_negative_indices)
{
    ck_assert_str_eq(op_type("x = input f32[v,d]\ni = input i64[b,s]\ny = gather x i\nreturn y\n"),
        "f32[b,s,d]");
    ck_assert_str_eq(op_value("x = const i4[2,3] {1,2,3,4,5,6}\ni = const i32[2] {-1,0}\n"
                              "y = gather x i {axis=1}\nreturn y\n"),
        "i4[2,2]: 3 1 6 4");
    ck_assert_str_eq(op_value("x = const f32[0,2] {}\ni = const i64[0] {}\ny = gather x i\n"
                              "return y\n"),
        "f32[0,2]:");
    ck_assert_str_eq(op_status("x = const f32[2] zeros\ni = const i64[] {2}\ny = gather x i\n"
                               "return y\n"),
        "POPRT_E_ARG");
    ck_assert_str_eq(op_status("x = const f32[2] zeros\ni = const i64[] {-9223372036854775808}\n"
                               "y = gather x i\nreturn y\n"),
        "POPRT_E_ARG");
    ck_assert_str_eq(op_status("x = const f32[0] {}\ni = const i64[] {0}\ny = gather x i\n"
                               "return y\n"),
        "POPRT_E_ARG");
    ck_assert_str_eq(op_status("x = const f32[2] zeros\ni = const i64[] {0}\n"
                               "y = gather x i {axis=1}\nreturn y\n"),
        "POPRT_E_SHAPE");
    ck_assert_str_eq(op_status("x = const f32[1,1,1,1,1] zeros\ni = const i64[1,1,1,1,1] zeros\n"
                               "y = gather x i\nreturn y\n"),
        "POPRT_E_LIMIT");
}
END_TEST

START_TEST(gather_elements_checks_indices)
{
    ck_assert_str_eq(op_value("x = const string[2] {a,b}\ni = const i64[3] {1,1,-2}\n"
                              "y = gather_elements x i\nreturn y\n"),
        "string[3]: 'b' 'b' 'a'");
    ck_assert_str_eq(op_status("x = const f32[2,2] zeros\ni = const i64[3,3] zeros\n"
                               "y = gather_elements x i\nreturn y\n"),
        "POPRT_E_SHAPE");
    ck_assert_str_eq(op_status("x = const f32[2,2] zeros\ni = const i64[2] zeros\n"
                               "y = gather_elements x i\nreturn y\n"),
        "POPRT_E_SHAPE");
}
END_TEST

START_TEST(gather_nd_follows_batch_dims)
{
    ck_assert_str_eq(op_type("x = input f32[b,4,d]\ni = input i64[b,n,1]\n"
                             "y = gather_nd x i {batch_dims=1}\nreturn y\n"),
        "f32[b,n,d]");
    ck_assert_str_eq(op_value("x = const i32[2,2] {1,2,3,4}\ni = const i64[1,0] {}\n"
                              "y = gather_nd x i\nreturn y\n"),
        "i32[1,2,2]: 1 2 3 4");
    ck_assert_str_eq(op_status("x = const f32[2,2] zeros\ni = const i64[1,3] zeros\n"
                               "y = gather_nd x i\nreturn y\n"),
        "POPRT_E_SHAPE");
    ck_assert_str_eq(op_status("x = const f32[2,2] zeros\ni = const i64[1,1] {5}\n"
                               "y = gather_nd x i\nreturn y\n"),
        "POPRT_E_ARG");
    ck_assert_str_eq(op_status("x = const f32[2,2] zeros\ni = const i64[3,1] zeros\n"
                               "y = gather_nd x i {batch_dims=1}\nreturn y\n"),
        "POPRT_E_SHAPE");
    ck_assert_str_eq(op_status("x = const f32[2,2] zeros\ni = const i64[3,1] zeros\n"
                               "y = gather_nd x i {batch_dims=-1}\nreturn y\n"),
        "POPRT_E_SHAPE");
}
END_TEST

#define SCATTER(type, data, i, u, attrs)                                                           \
    "x = const " type "[3] {" data "}\ni = const i64[2] {" i "}\nu = const " type "[2] {" u        \
    "}\ny = scatter_elements x i u {" attrs "}\nreturn y\n"

START_TEST(scatter_elements_reduces)
{
    ck_assert_str_eq(op_value(SCATTER("i8", "100,1,2", "0,0", "20,10", "reduction=add")),
        "i8[3]: -126 1 2");
    ck_assert_str_eq(op_value(SCATTER("u64", "18446744073709551615,1,2", "0,-2", "1,3",
                         "reduction=max")),
        "u64[3]: 18446744073709551615 3 2");
    ck_assert_str_eq(op_value(SCATTER("i64", "-1,1,2", "0,-2", "1,-3", "reduction=min")),
        "i64[3]: -1 -3 2");
    ck_assert_str_eq(op_value(
                         SCATTER("bool", "true,false,true", "0,1", "true,true", "reduction=add")),
        "bool[3]: 1 1 1");
    ck_assert_str_eq(op_value(SCATTER("string", "a,b,c", "2,2", "d,e", "reduction=none")),
        "string[3]: 'a' 'b' 'e'");
    ck_assert_str_eq(op_status(SCATTER("string", "a,b,c", "2,2", "d,e", "reduction=add")),
        "POPRT_E_TYPE");
    ck_assert_str_eq(op_status(SCATTER("f32", "1,2,3", "3,0", "1,1", "")), "POPRT_E_ARG");
    ck_assert_str_eq(op_status(SCATTER("f32", "1,2,3", "0,0", "1,1", "reduction=sub")),
        "POPRT_E_ARG");
    ck_assert_str_eq(op_status("x = const f32[2,2] zeros\ni = const i64[1,3] zeros\n"
                               "u = const f32[1,3] zeros\ny = scatter_elements x i u\nreturn y\n"),
        "POPRT_E_SHAPE");
}
END_TEST

START_TEST(scatter_nd_reduces)
{
    ck_assert_str_eq(op_value("x = const f32[2,2] {1,2,3,4}\ni = const i64[2,1] {1,-1}\n"
                              "u = const f32[2,2] {1,1,1,1}\n"
                              "y = scatter_nd x i u {reduction=add}\nreturn y\n"),
        "f32[2,2]: 1 2 5 6");
    ck_assert_str_eq(op_status("x = const f32[2,2] zeros\ni = const i64[1,2] zeros\n"
                               "u = const f32[2] zeros\ny = scatter_nd x i u\nreturn y\n"),
        "POPRT_E_SHAPE");
    ck_assert_str_eq(op_status("x = const f32[2,2] zeros\ni = const i64[1,2] {0,2}\n"
                               "u = const f32[1] zeros\ny = scatter_nd x i u\nreturn y\n"),
        "POPRT_E_ARG");
}
END_TEST

START_TEST(tensor_scatter_wraps_in_circular_mode)
{
    ck_assert_str_eq(op_value("x = const i32[1,3,1] {1,2,3}\nu = const i32[1,2,1] {7,8}\n"
                              "i = const i64[1] {5}\n"
                              "y = tensor_scatter x u i {mode=circular}\nreturn y\n"),
        "i32[1,3,1]: 8 2 7");
    ck_assert_str_eq(op_status("x = const i32[1,3,1] zeros\nu = const i32[1,2,1] zeros\n"
                               "i = const i64[1] {2}\ny = tensor_scatter x u i\nreturn y\n"),
        "POPRT_E_ARG");
    ck_assert_str_eq(op_status("x = const i32[1,3,1] zeros\nu = const i32[1,2,1] zeros\n"
                               "i = const i64[1] {-9223372036854775808}\n"
                               "y = tensor_scatter x u i {mode=circular}\nreturn y\n"),
        "POPRT_E_ARG");
}
END_TEST

PRT_TEST_MAIN("op/gather", gather_takes_negative_indices, gather_elements_checks_indices,
    gather_nd_follows_batch_dims, scatter_elements_reduces, scatter_nd_reduces,
    tensor_scatter_wraps_in_circular_mode)
