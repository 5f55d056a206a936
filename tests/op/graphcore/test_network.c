/* SPDX-License-Identifier: MIT */
/* test_network.c — LSTM, MultiConv, AddBias, splines.
 * Covers: lstm.c, multi_conv.c, spline.c. */
#include "support/check_main.h"
#include "support/op_check.h"

/* With zero weights every gate is 1/2, so c halves and h = tanh(c) / 2. */
#define LSTM                                                                                       \
    "x = const f32[2,1,1] {7,8}\nw = const f32[4,2,1] {0,0,0,0,0,0,0,0}\n"                         \
    "s = const f32[2,1,1] {9,2}\n"

START_TEST(lstm_has_its_values)
{
    ck_result_within(LSTM "y,c = gc_lstm x w _ s\nreturn y\n", "f32[2,1,1] {0.38079708,0.23105858}",
        1e-6);
    ck_result(LSTM "y,c = gc_lstm x w _ s\nreturn c\n", "f32[1,1] {0.5}");
    ck_result_within(LSTM "n = const i32[1] {1}\ny = gc_lstm x w _ s n\nreturn y\n",
        "f32[2,1,1] {0.38079708,0}", 1e-6);
    ck_result_within(LSTM "n = const i32[1] {1}\n"
                          "y = gc_lstm x w _ s n {output_full_sequence=0}\nreturn y\n",
        "f32[1,1] {0.38079708}", 1e-6);
    ck_result(LSTM
        "n = const i32[1] {0}\ny = gc_lstm x w _ s n {output_full_sequence=0}\nreturn y\n",
        "f32[1,1] {9}");
    /* The bias opens the input and output gates and closes the forget gate: c = tanh(bias). */
    ck_result_within(LSTM "b = const f32[4,1] {-99,99,1,99}\ny,c = gc_lstm x w b s\nreturn c\n",
        "f32[1,1] {0.76159416}", 1e-6);
    ck_failure(LSTM "n = const i32[1] {3}\ny = gc_lstm x w _ s n\nreturn y\n", POPRT_E_ARG,
        "seqLens");
    ck_failure("x = const f32[1,1,1] {1}\nw = const f32[3,2,1] {0,0,0,0,0,0}\ny = gc_lstm x w\n"
               "return y\n",
        POPRT_E_SHAPE, "gates");
    ck_failure("x = const f32[1,1,2] {1,2}\nw = const f32[4,2,1] {0,0,0,0,0,0,0,0}\n"
               "y = gc_lstm x w\nreturn y\n",
        POPRT_E_SHAPE, "rows");
}
END_TEST

#define CONVS                                                                                      \
    "a = const f32[1,1,4] {1,2,3,4}\nb = const f32[1,1,2] {1,10}\nc = const f32[1] {100}\n"        \
    "d = const f32[1,2,2] {1,2,3,4}\ne = const f32[2,1,1] {2,3}\n"

START_TEST(multi_conv_equals_single_convolutions)
{
    ck_result(CONVS "y,z = gc_multi_conv a b c d e\nreturn y\n", "f32[1,1,3] {121,132,143}");
    ck_result(CONVS "y,z = gc_multi_conv a b c d e _\nreturn z\n", "f32[1,2,2] {2,4,9,12}");
    ck_result(CONVS "y,z = gc_multi_conv a b c d e {strides=[2,1],pads=[1,0,0,1]}\nreturn y\n",
        "f32[1,1,2] {110,132}");
    ck_result(CONVS "y,z = gc_multi_conv a b _ d e {inDilations=[1,2],outPads=[0,0,1,0]}\n"
                    "return z\n",
        "f32[1,2,4] {0,2,0,4,0,9,0,12}");
    ck_failure(CONVS "y,z = gc_multi_conv a b c d e {strides=[2]}\nreturn y\n", POPRT_E_ARG,
        "strides");
    ck_failure(CONVS "y,z = gc_multi_conv a b c d\nreturn y\n", POPRT_E_PARSE, "triple");
    ck_failure(CONVS "y = gc_multi_conv a b c d e\nreturn y\n", POPRT_E_PARSE, "triple");
    ck_failure(CONVS "y = gc_multi_conv a d\nreturn y\n", POPRT_E_SHAPE, "groups of 2");
    ck_failure(CONVS "y = gc_multi_conv a _ c\nreturn y\n", POPRT_E_PARSE, "missing");
    ck_type("x = input f32[n,2,9]\nw = input f32[4,2,3]\ny = gc_multi_conv x w {inDilations=[2]}\n"
            "return y\n",
        "f32[n,4,15]");
}
END_TEST

START_TEST(add_bias_adds_to_channels)
{
    ck_result("x = const f32[1,2,2] {1,2,3,4}\nb = const f32[2] {10,20}\ny = gc_add_bias x b\n"
              "return y\n",
        "f32[1,2,2] {11,12,23,24}");
    ck_failure("x = const f32[1,2] {1,2}\nb = const f32[1] {10}\ny = gc_add_bias x b\nreturn y\n",
        POPRT_E_SHAPE, "");
}
END_TEST

#define SPLINE(k, open)                                                                            \
    "p = const f32[2,1] {0.25,0.375}\nk = const i32[1] {" k "}\no = const u8[1] {" open "}\n"

START_TEST(spline_basis_has_its_values)
{
    ck_result(SPLINE("5", "1") "b,i = gc_spline_basis p k o {degree=1}\nreturn b\n",
        "f32[2,2] {1,0,0.5,0.5}");
    ck_result(SPLINE("5", "1") "b,i = gc_spline_basis p k o {degree=1}\nreturn i\n",
        "i32[2,2] {1,2,1,2}");
    /* Closed splines: 2 * 0.25 and 2 * 0.375; the second kernel element is followed by the
     * first. */
    ck_result(SPLINE("2", "0") "b,i = gc_spline_basis p k o {degree=2}\nreturn b\n",
        "f32[2,3] {0.125,0.75,0.125,0.03125,0.6875,0.28125}");
    ck_result(SPLINE("2", "0") "b,i = gc_spline_basis p k o {degree=2}\nreturn i\n",
        "i32[2,3] {0,1,0,0,1,0}");
    ck_result(SPLINE("4", "0") "b = gc_spline_basis p k o\nreturn b\n", "f32[2,1] {1,1}");
    ck_failure(SPLINE("0", "0") "b = gc_spline_basis p k o\nreturn b\n", POPRT_E_ARG,
        "kernel_size");
    ck_failure(SPLINE("4", "0") "b = gc_spline_basis p k o {degree=4}\nreturn b\n", POPRT_E_ARG,
        "degree");
    ck_failure("p = const f32[1,1] {nan}\nk = const i32[1] {2}\no = const u8[1] {0}\n"
               "b = gc_spline_basis p k o\nreturn b\n",
        POPRT_E_ARG, "nan");
    ck_type("p = input f32[e,3]\nk = input i32[3]\no = input u8[3]\n"
            "b = gc_spline_basis p k o {degree=2}\nreturn b\n",
        "f32[e,27]");
}
END_TEST

#define WEIGHTING                                                                                  \
    "x = const f32[1,2] {1,2}\nw = const f32[2,2,1] {1,10,100,1000}\nb = const f32[1,2] {0.5,2}\n"

START_TEST(spline_weighting_sums_weighted_rows)
{
    ck_result(WEIGHTING "i = const i32[1,2] {1,0}\ny = gc_spline_weighting x w b i\nreturn y\n",
        "f32[1,1] {1092}");
    ck_failure(WEIGHTING "i = const i32[1,2] {1,2}\ny = gc_spline_weighting x w b i\nreturn y\n",
        POPRT_E_ARG, "weight_index 2");
    ck_failure(WEIGHTING "i = const i32[1,1] {1}\ny = gc_spline_weighting x w b i\nreturn y\n",
        POPRT_E_SHAPE, "basis");
}
END_TEST

PRT_TEST_MAIN("op/graphcore/network", lstm_has_its_values, multi_conv_equals_single_convolutions,
    add_bias_adds_to_channels, spline_basis_has_its_values, spline_weighting_sums_weighted_rows)
