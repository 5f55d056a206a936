/* SPDX-License-Identifier: MIT */
/* test_bias.c — operators that add a bias and apply a function or dropout. Expected values come
 * from onnxruntime 1.31.1 or, where it has no CPU kernel, from numpy. */
#include "support/check_main.h"
#include "support/op_check.h"

START_TEST(bias_gelus_have_their_values)
{
    ck_result_near("x0 = const f32[2,3] {0.8,0.9,-0.4,0.7,-0.1,0.1}\n"
                   "x1 = const f32[3] {-0.1,0.8,-0.4}\n"
                   "y0 = ms_fast_gelu x0 x1\n"
                   "return y0\n",
        "f32[2,3] {0.53057015,1.6241059,-0.1695683,0.43541515,0.53057015,-0.11462908}", 1e-5);
    ck_result_near("x0 = const f32[3] {0.8,-0.3,-0.5}\n"
                   "y0 = ms_fast_gelu x0\n"
                   "return y0\n",
        "f32[3] {0.6304317,-0.11462908,-0.154286}", 1e-5);
    ck_result_near("x0 = const f32[2,3] {0.8,0.9,-0.4,0.7,-0.1,0.1}\n"
                   "x1 = const f32[3] {-0.1,0.8,-0.4}\n"
                   "y0 = ms_bias_gelu x0 x1\n"
                   "return y0\n",
        "f32[2,3] {0.53062546,1.6242388,-0.1694843,0.4354481,0.53062546,-0.11462658}", 1e-5);
}
END_TEST

START_TEST(bias_sums_and_softmax_have_their_values)
{
    ck_result_near("x0 = const f32[2,3] {0.8,0.9,-0.4,0.7,-0.1,0.1}\n"
                   "x1 = const f32[3] {-0.1,0.8,-0.4}\n"
                   "x2 = const f32[2,3] {0.8,0.9,-0.4,0.7,-0.1,0.1}\n"
                   "y0 = ms_bias_add x0 x1 x2\n"
                   "return y0\n",
        "f32[2,3] {1.5,2.6,-1.2,1.3,0.59999996,-0.20000002}", 1e-5);
    ck_result_near("x0 = const f32[2,4] {-0.7,0.2,0.9,0.7,0.4,-1,-0.9,0.6}\n"
                   "x1 = const f32[4] {0.6,1,-0.3,0.1}\n"
                   "y0 = ms_bias_split_gelu x0 x1\n"
                   "return y0\n",
        "f32[2,2] {-0.043544795,0.75661886,-0.13808359,0}", 1e-5);
    ck_result_near("x0 = const f32[2,2,3] {-0.4,-0.8,0.4,0.4,-0.9,0.1,0.7,0.5,-0.4,-1,-0.5,-0.7}\n"
                   "x1 = const f32[2,1,3] {-0.2,0,-0.1,-0.7,-0.3,-0.5}\n"
                   "y0 = ms_bias_softmax x0 x1 {axis=2, is_inner_broadcast=1}\n"
                   "return y0\n",
        "f32[2,2,3] {0.23373584,0.19136673,0.5748974,0.46477002,0.1547085,0.3805215,0.3805215,"
        "0.46477,0.1547085,0.19575891,0.48148924,0.32275188}",
        1e-5);
    ck_result_near(
        "x0 = const f32[2,2,3] {0.6,0.9,-0.2,0.6,-0.6,-0.3,-0.2,-0.4,-0.6,0.8,-0.1,0.4}\n"
        "x1 = const f32[1,2,3] {-0.6,0.4,0.4,0.8,-0.5,0.9}\n"
        "y0 = ms_bias_softmax x0 x1 {axis=2, is_inner_broadcast=0}\n"
        "return y0\n",
        "f32[2,2,3] {0.16975914,0.6228966,0.20734428,0.65299135,0.053600788,0.2934079,0.19811161,"
        "0.4409055,0.3609829,0.54006726,0.059841152,0.40009162}",
        1e-5);
}
END_TEST

START_TEST(dropout_without_training_keeps_all)
{
    ck_result_near("x0 = const f32[2,3] {0.7,-0.7,-0.2,-0.2,1,0.4}\n"
                   "x1 = const f32[3] {-0.7,0,0.5}\n"
                   "x2 = const f32[2,3] {0.7,-0.7,-0.2,-0.2,1,0.4}\n"
                   "y0, y1 = ms_bias_dropout x0 x1 x2\n"
                   "return y0\n",
        "f32[2,3] {0.7,-1.4,0.10000001,-1.1,2,1.3}", 1e-5);
    ck_result("x0 = const f32[2,3] {0.7,-0.7,-0.2,-0.2,1,0.4}\n"
              "x1 = const f32[3] {-0.7,0,0.5}\n"
              "x2 = const f32[2,3] {0.7,-0.7,-0.2,-0.2,1,0.4}\n"
              "y0, y1 = ms_bias_dropout x0 x1 x2\n"
              "return y1\n",
        "bool[2,3] {true,true,true,true,true,true}");
    ck_result_near("x0 = const f32[2,3] {0.7,-0.7,-0.2,-0.2,1,0.4}\n"
                   "y0, y1 = ms_bitmask_dropout x0\n"
                   "return y0\n",
        "f32[2,3] {0.7,-0.7,-0.2,-0.2,1,0.4}", 1e-5);
    ck_result("x0 = const f32[2,3] {0.7,-0.7,-0.2,-0.2,1,0.4}\n"
              "y0, y1 = ms_bitmask_dropout x0\n"
              "return y1\n",
        "u32[1] {63}");
    ck_result(
        "x0 = const f32[5,7] {0.5,0.4,0.5,-0.7,0.9,-0.2,0.3,-0.5,-0.9,-0.9,0.1,0.8,0.4,-0.9,-1,1,"
        "-0.2,0.8,0.5,0.5,0.7,-0.2,-0.4,-0.9,1,-0.8,0.7,-0.8,0.2,0.8,0.1,0.2,0,-0.8,0.9}\n"
        "x1 = const f32[7] {0.4,0.9,0.7,-0.5,0.5,0.1,-0.6}\n"
        "_, m = ms_bitmask_bias_dropout x0 x1\n"
        "return m\n",
        "u32[2] {4294967295,7}");
}
END_TEST

START_TEST(wrong_biases_are_refused)
{
    ck_failure("x = const f32[1,2] ones\n"
               "b = const f32[3] ones\n"
               "y = ms_fast_gelu x b\n"
               "return y\n",
        POPRT_E_SHAPE, "bias");
    ck_failure("x = const f32[1,2] ones\n"
               "b = const f32[1] ones\n"
               "y = ms_bias_gelu x b\n"
               "return y\n",
        POPRT_E_SHAPE, "B");
    ck_failure("x = const f32[1,3] ones\n"
               "b = const f32[3] ones\n"
               "y = ms_bias_split_gelu x b\n"
               "return y\n",
        POPRT_E_SHAPE, "an even number");
    ck_failure("x = const f32[1,2] ones\n"
               "b = const f32[3] ones\n"
               "y = ms_bias_softmax x b {axis=1, is_inner_broadcast=1}\n"
               "return y\n",
        POPRT_E_SHAPE, "does not repeat");
    ck_failure("x = const f32[1,2] ones\n"
               "b = const f32[1] ones\n"
               "y = ms_bias_dropout x b\n"
               "return y\n",
        POPRT_E_SHAPE, "a dim");
}
END_TEST

/* An element is kept or dropped, and the mask says which. */
START_TEST(mask_matches_the_kept_elements)
{
    ck_result("x = const f32[3] {1,2,3}\nb = const f32[3] ones\nr = const f32[] {1}\n"
              "t = const bool[] {true}\ny = ms_bias_dropout x b x r t {seed=1}\nreturn y\n",
        "f32[3] {1,2,3}");
    ck_result("x = const f32[3] {1,2,3}\nr = const f32[] {1}\nt = const bool[] {true}\n"
              "y, m = ms_bitmask_dropout x r t {seed=1}\nreturn m\n",
        "u32[1] {0}");
    ck_failure("x = const f32[3] {1,2,3}\nr = const f32[] {2}\nt = const bool[] {true}\n"
               "y, m = ms_bitmask_dropout x r t\nreturn m\n",
        POPRT_E_ARG, "ratio is 2");
}
END_TEST

PRT_TEST_MAIN("op/microsoft/bias", bias_gelus_have_their_values,
    bias_sums_and_softmax_have_their_values, dropout_without_training_keeps_all,
    wrong_biases_are_refused, mask_matches_the_kept_elements)
