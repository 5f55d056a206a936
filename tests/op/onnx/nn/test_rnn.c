/* SPDX-License-Identifier: MIT */
/* test_rnn.c — RNN, GRU, LSTM: shapes, lengths of sequences, wrong attributes.
 * Covers: rnn_core.c. */
#include "support/check_main.h"
#include "support/op_text.h"

#define SMALL "x = const f32[2,1,1] {1,2}\nw = const f32[1,1,1] {1}\nr = const f32[1,1,1] {10}\n"
#define LINEAR "hidden_size=1, activations=[Affine]"
#define WITH_LENGTH(n)                                                                             \
    SMALL "l = const i32[1] {" n "}\ny, h = rnn x w r _ l {" LINEAR "}\nreturn y, h\n"

START_TEST(shapes_are_inferred)
{
    ck_assert_str_eq(op_type("x = input f32[s,b,8]\nw = input f32[2,64,8]\nr = input f32[2,64,16]\n"
                             "y = lstm x w r {direction=bidirectional, hidden_size=16}\n"
                             "return y\n"),
        "f32[s,2,b,16]");
    ck_assert_str_eq(op_type("x = input f32[b,s,8]\nw = input f32[1,48,8]\nr = input f32[1,48,16]\n"
                             "y = gru x w r {layout=1}\nreturn y\n"),
        "f32[b,s,1,16]");
    ck_assert_str_eq(op_type("x = input f32\nw = input f32\nr = input f32\n"
                             "y, h = rnn x w r {hidden_size=4}\nreturn h\n"),
        "f32[1,?,4]");
}
END_TEST

START_TEST(values_follow_the_recurrence)
{
    ck_assert_str_eq(op_value(SMALL "y = rnn x w r {" LINEAR "}\nreturn y\n"),
        "f32[2,1,1,1]: 1 12");
    ck_assert_str_eq(op_value(SMALL "y = rnn x w r {" LINEAR ", direction=reverse}\nreturn y\n"),
        "f32[2,1,1,1]: 21 2");
    ck_assert_str_eq(op_value(SMALL "y = rnn x w r {" LINEAR ", clip=5.0}\nreturn y\n"),
        "f32[2,1,1,1]: 1 5");
    ck_assert_str_eq(op_value(SMALL "y = rnn x w r {" LINEAR ", activation_alpha=[2.0], "
                                    "activation_beta=[0.5]}\nreturn y\n"),
        "f32[2,1,1,1]: 2.5 54.5");
    ck_assert_str_eq(op_value("x = const f32[3,1,1] {1,9,nan}\nw = const f32[1,1,1] {1}\n"
                              "r = const f32[1,1,1] {0}\ny = rnn x w r {activations=[HardSigmoid],"
                              "activation_alpha=[0.25]}\nreturn y\n"),
        "f32[3,1,1,1]: 0.75 1 nan");
    ck_assert_str_eq(op_value_of(SMALL "_, h = rnn x w r {" LINEAR "}\nreturn h\n", 0),
        "f32[1,1,1]: 12");
}
END_TEST

START_TEST(steps_after_the_length_give_zero)
{
    ck_assert_str_eq(op_value(WITH_LENGTH("1")), "f32[2,1,1,1]: 1 0");
    ck_assert_str_eq(op_value_of(WITH_LENGTH("1"), 1), "f32[1,1,1]: 1");
    ck_assert_str_eq(op_value_of(WITH_LENGTH("0"), 1), "f32[1,1,1]: 0");
    ck_assert_str_eq(op_status(WITH_LENGTH("3")), "POPRT_E_SHAPE");
    ck_assert_str_eq(op_status(WITH_LENGTH("-1")), "POPRT_E_SHAPE");
}
END_TEST

START_TEST(wrong_attributes_are_refused)
{
    ck_assert_str_eq(op_status(SMALL "y = rnn x w r {direction=sideways}\nreturn y\n"),
        "POPRT_E_ARG");
    ck_assert_str_eq(op_status(SMALL "y = rnn x w r {hidden_size=2}\nreturn y\n"), "POPRT_E_SHAPE");
    ck_assert_str_eq(op_status(SMALL "y = rnn x w r {layout=2}\nreturn y\n"), "POPRT_E_ARG");
    ck_assert_str_eq(op_status(SMALL "y = rnn x w r {activations=[Tanh,Tanh]}\nreturn y\n"),
        "POPRT_E_ARG");
    ck_assert_str_eq(op_status(SMALL "y = rnn x w r {activations=[Cos]}\nreturn y\n"),
        "POPRT_E_UNSUPPORTED");
    ck_assert_str_eq(op_status(SMALL "y = lstm x w r\nreturn y\n"), "POPRT_E_SHAPE");
    ck_assert_str_eq(op_status(SMALL "y = rnn x w r {direction=bidirectional}\nreturn y\n"),
        "POPRT_E_SHAPE");
}
END_TEST

PRT_TEST_MAIN("op/rnn", shapes_are_inferred, values_follow_the_recurrence,
    steps_after_the_length_give_zero, wrong_attributes_are_refused)
