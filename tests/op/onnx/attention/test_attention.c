/* SPDX-License-Identifier: MIT */
/* test_attention.c — Attention, RotaryEmbedding, steps of optimisers, and operators of late
 * opsets.
 * Covers: training.c, cum_prod.c, attention_core.c. */
#include "support/check_main.h"
#include "support/op_text.h"

START_TEST(attention_shapes_are_inferred)
{
    ck_assert_str_eq(op_type("q = input f32[b,s,64]\nk = input f32[b,t,32]\nv = input f32[b,t,16]\n"
                             "y = attention q k v {q_num_heads=8, kv_num_heads=4}\nreturn y\n"),
        "f32[b,s,32]");
    ck_assert_str_eq(op_type("q = input f32[b,8,s,4]\nk = input f32[b,8,t,4]\n"
                             "p = input f32[b,8,past,4]\n"
                             "y, pk, pv = attention q k k _ p p\nreturn pk, y, pv\n"),
        "f32[b,8,(t+past),4]");
}
END_TEST

#define ONE                                                                                        \
    "q = const f32[1,1,2,1] {1,1}\nk = const f32[1,1,2,1] {0,0}\n"                                 \
    "v = const f32[1,1,2,1] {2,4}\n"

START_TEST(masked_keys_are_ignored)
{
    ck_assert_str_eq(op_value(ONE "y = attention q k v\nreturn y\n"), "f32[1,1,2,1]: 3 3");
    ck_assert_str_eq(op_value(ONE "y = attention q k v {is_causal=1}\nreturn y\n"),
        "f32[1,1,2,1]: 2 3");
    ck_assert_str_eq(op_value(ONE "m = const bool[1] {false}\ny = attention q k v m\nreturn y\n"),
        "f32[1,1,2,1]: 0 0");
    ck_assert_str_eq(op_value(ONE "n = const i64[1] {-9223372036854775808}\n"
                                  "y = attention q k v _ _ _ n {is_causal=1}\nreturn y\n"),
        "f32[1,1,2,1]: 0 0");
    ck_assert_str_eq(op_value("q = const f32[1,1,1,1] {1}\nk = const f32[1,1,0,1] {}\n"
                              "y = attention q k k\nreturn y\n"),
        "f32[1,1,1,1]: 0");
}
END_TEST

START_TEST(wrong_attention_inputs_are_refused)
{
    ck_assert_str_eq(op_status(ONE "m = const bool[3] ones\ny = attention q k v m\nreturn y\n"),
        "POPRT_E_SHAPE");
    ck_assert_str_eq(op_status(ONE "y = attention q k v _ k\nreturn y\n"), "POPRT_E_ARG");
    ck_assert_str_eq(op_status(ONE "y = attention q k v {left_window_size=-2}\nreturn y\n"),
        "POPRT_E_ARG");
    ck_assert_str_eq(op_status("q = const f32[1,2,4] zeros\ny = attention q q q\nreturn y\n"),
        "POPRT_E_ARG");
    ck_assert_str_eq(op_status("q = const f32[1,3,2,4] zeros\nk = const f32[1,2,2,4] zeros\n"
                               "y = attention q k k\nreturn y\n"),
        "POPRT_E_SHAPE");
    ck_assert_str_eq(op_status("q = const f32[1,3,2,4] zeros\nk = const f32[1,0,2,4] {}\n"
                               "y = attention q k k\nreturn y\n"),
        "POPRT_E_SHAPE");
}
END_TEST

#define ROTARY(positions, attrs)                                                                   \
    "x = const f32[1,1,1,2] {1,2}\nc = const f32[2,1] {1,0}\ns = const f32[2,1] {0,1}\n"           \
    "p = const i64[1,1] {" positions "}\ny = rotary_embedding x c s p" attrs "\nreturn y\n"

START_TEST(wrong_positions_are_refused)
{
    ck_assert_str_eq(op_value(ROTARY("1", "")), "f32[1,1,1,2]: -2 1");
    ck_assert_str_eq(op_status(ROTARY("2", "")), "POPRT_E_ARG");
    ck_assert_str_eq(op_status(ROTARY("-1", "")), "POPRT_E_ARG");
    ck_assert_str_eq(op_status(ROTARY("0", " {rotary_embedding_dim=4}")), "POPRT_E_ARG");
    ck_assert_str_eq(op_status(ROTARY("0", " {rotary_embedding_dim=-2}")), "POPRT_E_ARG");
}
END_TEST

START_TEST(optimiser_steps_have_their_values)
{
    ck_assert_str_eq(op_value("r = const f32[] {0.5}\nt = const i64[] {0}\nx = const f32[2] {1,2}\n"
                              "g = const f32[2] {1,1}\nv = const f32[2] {0,0}\n"
                              "y, w = momentum r t x g v {alpha=0.9, beta=0.1, mode=standard, "
                              "norm_coefficient=0}\nreturn y, w\n"),
        "f32[2]: 0.5 1.5");
    ck_assert_str_eq(op_status(
                         "r = const f32[] {0.5}\nt = const i64[] {0}\nx = const f32[2] {1,2}\n"
                         "g = const f32[1] {1}\nv = const f32[2] {0,0}\n"
                         "y, w = adagrad r t x g v\nreturn y, w\n"),
        "POPRT_E_SHAPE");
    ck_assert_str_eq(op_status("r = const f32[0] {}\nt = const i64[] {0}\nx = const f32[2] {1,2}\n"
                               "y, w = adagrad r t x x x\nreturn y, w\n"),
        "POPRT_E_SHAPE");
    ck_assert_str_eq(op_status(
                         "r = const f32[] {0.5}\nt = const i64[] {0}\nx = const f32[2] {1,2}\n"
                         "y = adam r t x x x\nreturn y\n"),
        "POPRT_E_ARG");
}
END_TEST

START_TEST(late_operators_have_their_values)
{
    ck_assert_str_eq(op_value("x = const i32[4] {1,2,3,4}\na = const i64[] {-1}\n"
                              "y = cum_prod x a {exclusive=1, reverse=1}\nreturn y\n"),
        "i32[4]: 24 12 4 1");
    ck_assert_str_eq(op_value("x = const f32[1] {1}\ny = bit_cast x {to=6}\nreturn y\n"),
        "i32[1]: 1065353216");
    ck_assert_str_eq(op_status("x = const f32[1] {1}\ny = bit_cast x {to=7}\nreturn y\n"),
        "POPRT_E_TYPE");
    ck_assert_str_eq(op_status("x = const f32[1] {1}\ny = bit_cast x {to=8}\nreturn y\n"),
        "POPRT_E_TYPE");
    ck_assert_str_eq(op_value("x = const f32[2] {0,100}\ny = swi_glu x x\nreturn y\n"),
        "f32[2]: 0 10000");
    ck_assert_str_eq(op_status("x = const f32[2] zeros\nz = const f32[1] zeros\ny = swi_glu x z\n"
                               "return y\n"),
        "POPRT_E_SHAPE");
}
END_TEST

PRT_TEST_MAIN("op/attention", attention_shapes_are_inferred, masked_keys_are_ignored,
    wrong_attention_inputs_are_refused, wrong_positions_are_refused,
    optimiser_steps_have_their_values, late_operators_have_their_values)
