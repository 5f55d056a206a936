/* SPDX-License-Identifier: MIT */
/* test_sequence.c — sequences and optionals: positions, types of items, splitting, joining.
 * Covers: sequence_split.c, sequence_map.c, optional.c, type_wrap.c. */
#include "support/check_main.h"
#include "support/op_text.h"

#define ITEMS                                                                                      \
    "a = const f32[1] {1}\nb = const f32[2] {2,3}\nc = const f32[] {4}\n"                          \
    "s = sequence_construct a b c\n"

START_TEST(negative_positions_count_from_the_end)
{
    ck_assert_str_eq(op_value(ITEMS "i = const i64[] {-2}\ny = sequence_at s i\nreturn y\n"),
        "f32[2]: 2 3");
    ck_assert_str_eq(op_status(ITEMS "i = const i64[] {3}\ny = sequence_at s i\nreturn y\n"),
        "POPRT_E_ARG");
    ck_assert_str_eq(op_status(ITEMS "i = const i64[] {-9223372036854775808}\n"
                                     "y = sequence_at s i\nreturn y\n"),
        "POPRT_E_ARG");
    ck_assert_str_eq(op_value(ITEMS "i = const i32[] {-3}\nt = sequence_erase s i\n"
                                    "z = const i64[] {0}\ny = sequence_at t z\nreturn y\n"),
        "f32[2]: 2 3");
    ck_assert_str_eq(op_value(ITEMS "i = const i64[] {3}\nt = sequence_insert s b i\n"
                                    "y = sequence_length t\nreturn y\n"),
        "i64[]: 4");
    ck_assert_str_eq(op_status(ITEMS "i = const i64[] {4}\nt = sequence_insert s b i\n"
                                     "y = sequence_length t\nreturn y\n"),
        "POPRT_E_ARG");
    ck_assert_str_eq(op_status("s = sequence_empty\nt = sequence_erase s\n"
                               "y = sequence_length t\nreturn y\n"),
        "POPRT_E_ARG");
}
END_TEST

START_TEST(item_types_are_joined)
{
    ck_assert_str_eq(op_type("x = input f32[n,2]\ny = input f32[3,2]\n"
                             "s = sequence_construct x y\nreturn s\n"),
        "seq(f32[?,2])");
    ck_assert_str_eq(op_type("x = input f32[n,2]\ns = sequence_construct x x\n"
                             "i = const i64[] {0}\ny = sequence_at s i\nreturn y\n"),
        "f32[n,2]");
    ck_assert_str_eq(op_type("s = sequence_empty {dtype=7}\nreturn s\n"), "seq(i64[*])");
    ck_assert_str_eq(op_status("s = sequence_empty {dtype=99}\nreturn s\n"), "POPRT_E_TYPE");
    ck_assert_str_eq(op_status("s = sequence_empty {dtype=7}\nx = const f32[] {1}\n"
                               "t = sequence_insert s x\nreturn t\n"),
        "POPRT_E_TYPE");
}
END_TEST

START_TEST(split_to_sequence_keeps_the_rest)
{
    ck_assert_str_eq(op_value("x = const i32[5] {1,2,3,4,5}\nn = const i64[] {2}\n"
                              "s = split_to_sequence x n\ni = const i64[] {2}\n"
                              "y = sequence_at s i\nreturn y\n"),
        "i32[1]: 5");
    ck_assert_str_eq(op_value("x = const i4[2,3] {1,2,3,4,5,6}\ns = split_to_sequence x "
                              "{axis=-1, keepdims=0}\ni = const i64[] {1}\n"
                              "y = sequence_at s i\nreturn y\n"),
        "i4[2]: 2 5");
    ck_assert_str_eq(op_status("x = const i32[5] zeros\nn = const i64[] {0}\n"
                               "s = split_to_sequence x n\nreturn s\n"),
        "POPRT_E_ARG");
    ck_assert_str_eq(op_status("x = const i32[5] zeros\nn = const i64[2] {6,-1}\n"
                               "s = split_to_sequence x n\nreturn s\n"),
        "POPRT_E_ARG");
    ck_assert_str_eq(op_status("x = const i32[5] zeros\nn = const i64[2] {2,2}\n"
                               "s = split_to_sequence x n\nreturn s\n"),
        "POPRT_E_SHAPE");
    ck_assert_str_eq(op_status("x = const i32[] {1}\ns = split_to_sequence x\nreturn s\n"),
        "POPRT_E_SHAPE");
}
END_TEST

START_TEST(concat_from_sequence_joins_items)
{
    ck_assert_str_eq(op_value("a = const i32[1,2] {1,2}\nb = const i32[2,2] {3,4,5,6}\n"
                              "s = sequence_construct a b\n"
                              "y = concat_from_sequence s {axis=0}\nreturn y\n"),
        "i32[3,2]: 1 2 3 4 5 6");
    ck_assert_str_eq(op_value("a = const i32[2] {1,2}\nb = const i32[2] {3,4}\n"
                              "s = sequence_construct a b\n"
                              "y = concat_from_sequence s {axis=-1, new_axis=1}\nreturn y\n"),
        "i32[2,2]: 1 3 2 4");
    ck_assert_str_eq(op_type("a = input f32[n]\ns = sequence_construct a a\n"
                             "y = concat_from_sequence s {axis=0, new_axis=1}\nreturn y\n"),
        "f32[?,n]");
    ck_assert_str_eq(op_status(ITEMS "y = concat_from_sequence s {axis=0}\nreturn y\n"),
        "POPRT_E_SHAPE");
    ck_assert_str_eq(op_status("s = sequence_empty\ny = concat_from_sequence s {axis=0}\n"
                               "return y\n"),
        "POPRT_E_ARG");
}
END_TEST

START_TEST(sequence_map_runs_on_each_item)
{
    ck_assert_str_eq(op_value(ITEMS "t = sequence_map s a {body {\nu = input f32[*]\n"
                                    "v = input f32[1]\nw = add u v\nreturn w\n}}\n"
                                    "i = const i64[] {1}\ny = sequence_at t i\nreturn y\n"),
        "f32[2]: 3 4");
    ck_assert_str_eq(op_status(ITEMS "r = sequence_construct a\nt = sequence_map s r {body {\n"
                                     "u = input f32[*]\nv = input f32[*]\nw = add u v\n"
                                     "return w\n}}\nreturn t\n"),
        "POPRT_E_SHAPE");
}
END_TEST

START_TEST(optionals_hold_zero_or_one_value)
{
    ck_assert_str_eq(op_value("x = const f32[1] {3}\no = optional x\n"
                              "y = optional_get_element o\nreturn y\n"),
        "f32[1]: 3");
    ck_assert_str_eq(op_value("o = optional _ {type=f32[2]}\ny = optional_has_element o\n"
                              "return y\n"),
        "bool[]: 0");
    ck_assert_str_eq(op_value("y = optional_has_element _\nreturn y\n"), "bool[]: 0");
    ck_assert_str_eq(op_value(ITEMS "o = optional s\ny = optional_has_element o\nreturn y\n"),
        "bool[]: 1");
    ck_assert_str_eq(op_type("x = input f32[n]\no = optional x\nreturn o\n"), "optional(f32[n])");
    ck_assert_str_eq(op_status("o = optional _ {type=f32[2]}\ny = optional_get_element o\n"
                               "return y\n"),
        "POPRT_E_ARG");
    ck_assert_str_eq(op_status("o = optional _\nreturn o\n"), "POPRT_E_PARSE");
}
END_TEST

PRT_TEST_MAIN("op/sequence", negative_positions_count_from_the_end, item_types_are_joined,
    split_to_sequence_keeps_the_rest, concat_from_sequence_joins_items,
    sequence_map_runs_on_each_item, optionals_hold_zero_or_one_value)
