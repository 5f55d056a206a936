/* SPDX-License-Identifier: MIT */
/* test_reduce.c — Reduce*, ArgMax, ArgMin, TopK, CumSum, Unique and selections: integers that
 * wrap, NaN, empty tensors, ties.
 * Covers: argmax.c, cumsum.c, topk.c, unique.c, select.c, trilu.c, depth_to_space.c, order.c. */
#include <stdio.h>

#include "base/status.h"
#include "support/check_main.h"
#include "support/op_text.h"

#define REDUCE(op, type, n, data) "x = const " type "[" n "] {" data "}\ny = " op " x\nreturn y\n"

START_TEST(empty_reductions_give_the_identity)
{
    ck_assert_str_eq(op_value(REDUCE("reduce_sum", "f32", "0", "")), "f32[1]: 0");
    ck_assert_str_eq(op_value(REDUCE("reduce_prod", "i32", "0", "")), "i32[1]: 1");
    ck_assert_str_eq(op_value(REDUCE("reduce_max", "i8", "0", "")), "i8[1]: -128");
    ck_assert_str_eq(op_value(REDUCE("reduce_min", "u64", "0", "")),
        "u64[1]: 18446744073709551615");
    ck_assert_str_eq(op_value(REDUCE("reduce_min", "f16", "0", "")), "f16[1]: inf");
    ck_assert_str_eq(op_value(REDUCE("reduce_max", "bool", "0", "")), "bool[1]: 0");
    ck_assert_str_eq(op_value(REDUCE("reduce_log_sum", "f32", "0", "")), "f32[1]: -inf");
    ck_assert_str_eq(op_value(REDUCE("reduce_log_sum_exp", "f64", "0", "")), "f64[1]: -inf");
    ck_assert_str_eq(op_status(REDUCE("reduce_mean", "i32", "0", "")), "POPRT_E_ARG");
}
END_TEST

START_TEST(reductions_of_every_type_have_their_values)
{
    ck_assert_str_eq(op_value(REDUCE("reduce_sum", "i32", "2", "2147483647,1")),
        "i32[1]: -2147483648");
    ck_assert_str_eq(op_value(REDUCE("reduce_mean", "i64", "2", "-4,1")), "i64[1]: -1");
    ck_assert_str_eq(op_value(REDUCE("reduce_max", "u64", "2", "18446744073709551615,1")),
        "u64[1]: 18446744073709551615");
    ck_assert_str_eq(op_value(REDUCE("reduce_min", "i64", "2", "-9223372036854775808,1")),
        "i64[1]: -9223372036854775808");
    ck_assert_str_eq(op_value(REDUCE("reduce_l1", "i64", "2", "-3,2")), "i64[1]: 5");
    ck_assert_str_eq(op_value(REDUCE("reduce_l2", "i32", "2", "-3,4")), "i32[1]: 5");
    ck_assert_str_eq(op_value(REDUCE("reduce_sum_square", "u32", "2", "65536,2")), "u32[1]: 4");
    ck_assert_str_eq(op_value(REDUCE("reduce_max", "f32", "3", "1,nan,2")), "f32[1]: nan");
    ck_assert_str_eq(op_value(REDUCE("reduce_log_sum_exp", "f32", "2", "1000,1000")),
        "f32[1]: 1000.69");
    ck_assert_str_eq(op_value(REDUCE("reduce_log_sum_exp", "f32", "2", "inf,0")), "f32[1]: inf");
    ck_assert_str_eq(op_value(
                         "x = const i32[2,3,2] {1,2,3,4,5,6,7,8,9,10,11,12}\n"
                         "a = const i64[2] {0,-1}\ny = reduce_sum x a {keepdims=0}\nreturn y\n"),
        "i32[3]: 18 26 34");
    ck_assert_str_eq(op_value("x = const f32[2] {2,3}\n"
                              "y = reduce_sum_square x {noop_with_empty_axes=1}\nreturn y\n"),
        "f32[2]: 4 9");
}
END_TEST

START_TEST(axes_are_normalised_and_checked)
{
    ck_assert_str_eq(op_type("x = input f32[b,c,h]\na = const i64[1] {-1}\ny = reduce_mean x a\n"
                             "return y\n"),
        "f32[b,c,1]");
    ck_assert_str_eq(op_type("x = input f32[*]\ny = reduce_mean x {keepdims=0}\nreturn y\n"),
        "f32[]");
    ck_assert_str_eq(op_type("x = input f32[b,c]\na = input i64[1]\n"
                             "y = reduce_mean x a {keepdims=0}\nreturn y\n"),
        "f32[?]");
    ck_assert_str_eq(op_status("x = const f32[2] zeros\na = const i64[1] {1}\ny = reduce_sum x a\n"
                               "return y\n"),
        "POPRT_E_SHAPE");
    ck_assert_str_eq(op_status("x = const f32[2] zeros\na = const i64[2] {0,-1}\n"
                               "y = reduce_sum x a\nreturn y\n"),
        "POPRT_E_SHAPE");
}
END_TEST

START_TEST(argmax_and_topk_break_ties_by_index)
{
    ck_assert_str_eq(op_value("x = const f32[3] {1,nan,nan}\ny = argmin x\nreturn y\n"),
        "i64[1]: 1");
    ck_assert_str_eq(op_value("x = const u64[3] {0,18446744073709551615,0}\n"
                              "y = argmin x {select_last_index=1}\nreturn y\n"),
        "i64[1]: 2");
    ck_assert_str_eq(op_status("x = const f32[0] {}\ny = argmax x\nreturn y\n"), "POPRT_E_SHAPE");
    ck_assert_str_eq(op_value_of("x = const i8[5] {3,-1,3,7,-128}\nk = const i64[1] {3}\n"
                                 "v, i = topk x k\nreturn v, i\n",
                         1),
        "i64[3]: 3 0 2");
    ck_assert_str_eq(op_value("x = const f32[3] {nan,-inf,2}\nk = const i64[1] {2}\n"
                              "v, _ = topk x k {largest=0}\nreturn v\n"),
        "f32[2]: -inf 2");
    ck_assert_str_eq(op_status("x = const f32[3] zeros\nk = const i64[1] {4}\nv, i = topk x k\n"
                               "return v, i\n"),
        "POPRT_E_SHAPE");
    ck_assert_str_eq(op_status("x = const f32[3] zeros\nk = const i64[1] {-9223372036854775808}\n"
                               "v, i = topk x k\nreturn v, i\n"),
        "POPRT_E_SHAPE");
    ck_assert_str_eq(op_type(
                         "x = input f32[b,n]\nk = const i64[1] {4}\nv, i = topk x k\nreturn v\n"),
        "f32[b,4]");
}
END_TEST

/* TopK of long rows, where most elements are skipped, against the same in doubles, where every
 * element is sorted. */
START_TEST(topk_of_long_rows_equals_doubles)
{
    static const char *const ks[] = { "0", "1", "5", "70", "299" };
    char text[6000];
    for (int odd = 0; odd < 2; odd++)
        for (int largest = 0; largest < 2; largest++)
            for (size_t i = 0; i < PRT_COUNT_OF(ks); i++) {
                size_t n = (size_t)sprintf(text, "x = const f32[2,300] {");
                for (int k = 0; k < 600; k++)
                    n += odd && k % 50 == 7
                        ? (size_t)sprintf(text + n, "%s,", k % 100 == 7 ? "nan" : "inf")
                        : (size_t)sprintf(text + n, "%d%s", k * 7919 % 211 - 100,
                              k < 599 ? "," : "}\n");
                (void)sprintf(text + n,
                    "d = cast x {to=11}\nk = const i64[1] {%s}\n"
                    "v, p = topk x k {largest=%d}\nw, q = topk d k {largest=%d}\ns = sub p q\n"
                    "a = abs s\ny = reduce_sum a\nreturn y\n",
                    ks[i], largest, largest);
                ck_assert_str_eq(op_value(text), "i64[1,1]: 0");
            }
}
END_TEST

START_TEST(cumsum_wraps_and_reverses)
{
    ck_assert_str_eq(op_value("x = const i32[3] {1,2,2147483647}\na = const i32[] {0}\n"
                              "y = cumsum x a {reverse=1, exclusive=1}\nreturn y\n"),
        "i32[3]: -2147483647 2147483647 0");
    ck_assert_str_eq(op_status("x = const i32[3] zeros\na = const i32[] {1}\ny = cumsum x a\n"
                               "return y\n"),
        "POPRT_E_SHAPE");
    ck_assert_str_eq(op_value("x = const i32[0,2] {}\na = const i64[1] {0}\ny = cumsum x a\n"
                              "return y\n"),
        "i32[0,2]:");
}
END_TEST

START_TEST(unique_returns_sorted_values_and_indices)
{
    const char *text = "x = const string[4] {b,a,b,ab}\ny, i, r, n = unique x\nreturn y, i, r, n\n";
    ck_assert_str_eq(op_value(text), "string[3]: 'a' 'ab' 'b'");
    ck_assert_str_eq(op_value_of(text, 1), "i64[3]: 1 3 0");
    ck_assert_str_eq(op_value_of(text, 2), "i64[4]: 2 0 2 1");
    ck_assert_str_eq(op_value_of(text, 3), "i64[3]: 1 1 2");
    ck_assert_str_eq(op_value(
                         "x = const f32[4] {nan,-0,0,nan}\ny = unique x {sorted=0}\nreturn y\n"),
        "f32[2]: nan -0");
    ck_assert_str_eq(op_value(
                         "x = const i32[2,3] {1,0,1,2,0,2}\ny = unique x {axis=1}\nreturn y\n"),
        "i32[2,2]: 0 1 0 2");
    ck_assert_str_eq(op_value("x = const i32[0] {}\ny = unique x\nreturn y\n"), "i32[0]:");
    ck_assert_str_eq(op_status("x = const i32[2] zeros\ny = unique x {axis=-2}\nreturn y\n"),
        "POPRT_E_SHAPE");
}
END_TEST

START_TEST(nonzero_and_compress_select_elements)
{
    ck_assert_str_eq(op_value("x = const string[2] {\"\",a}\ny = nonzero x\nreturn y\n"),
        "i64[1,1]: 1");
    ck_assert_str_eq(op_value("x = const f32[] {3}\ny = nonzero x\nreturn y\n"), "i64[0,1]:");
    ck_assert_str_eq(op_value("x = const i32[2,2] {1,2,3,4}\nc = const bool[5] {1,0,0,1,1}\n"
                              "y = compress x c\nreturn y\n"),
        "i32[2]: 1 4");
    ck_assert_str_eq(op_status("x = const i32[2] zeros\nc = const bool[1] {1}\n"
                               "y = compress x c {axis=1}\nreturn y\n"),
        "POPRT_E_SHAPE");
}
END_TEST

START_TEST(trilu_and_depth_to_space_move_elements)
{
    ck_assert_str_eq(op_value("x = const i4[2,3] {1,2,3,4,5,6}\nk = const i64[] {1}\n"
                              "y = trilu x k {upper=0}\nreturn y\n"),
        "i4[2,3]: 1 2 0 4 5 6");
    ck_assert_str_eq(op_value(
                         "x = const i32[2,2] {1,2,3,4}\nk = const i64[] {9223372036854775807}\n"
                         "y = trilu x k\nreturn y\n"),
        "i32[2,2]: 0 0 0 0");
    ck_assert_str_eq(op_status("x = const i32[2] zeros\ny = trilu x\nreturn y\n"), "POPRT_E_SHAPE");
    ck_assert_str_eq(op_status("x = const i32[2,2] zeros\nn = const i64[2] {3,0}\n"
                               "y = reverse_sequence x n\nreturn y\n"),
        "POPRT_E_ARG");
    ck_assert_str_eq(op_status("x = const i32[1,4,1,1] zeros\n"
                               "y = depth_to_space x {blocksize=0}\nreturn y\n"),
        "POPRT_E_ARG");
    ck_assert_str_eq(op_status("x = const i32[1,4,1,1] zeros\n"
                               "y = space_to_depth x {blocksize=2}\nreturn y\n"),
        "POPRT_E_SHAPE");
    ck_assert_str_eq(op_type("x = input f32[n,12,h,w]\ny = depth_to_space x {blocksize=2}\n"
                             "return y\n"),
        "f32[n,3,(2*h),(2*w)]");
}
END_TEST

PRT_TEST_MAIN("op/reduce", empty_reductions_give_the_identity,
    reductions_of_every_type_have_their_values, axes_are_normalised_and_checked,
    argmax_and_topk_break_ties_by_index, topk_of_long_rows_equals_doubles,
    cumsum_wraps_and_reverses, unique_returns_sorted_values_and_indices,
    nonzero_and_compress_select_elements, trilu_and_depth_to_space_move_elements)
