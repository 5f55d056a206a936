/* SPDX-License-Identifier: MIT */
/* test_tokenizer.c — Tokenizer and Irfft. Expected values come from onnxruntime 1.31.1 or, where
 * it has no CPU kernel, from numpy.
 * Covers: fourier.c, regex.c, regex_match.c. */
#include "support/check_main.h"
#include "support/op_check.h"

START_TEST(tokenizer_splits_and_pads)
{
    ck_result("x0 = const string[2] {\"Hello World\",\"I love it\"}\n"
              "y0 = ms_tokenizer x0 {mark=0, mincharnum=1, pad_value=pad, separators=[\" \"]}\n"
              "return y0\n",
        "string[2,3] {\"Hello\",\"World\",\"pad\",\"I\",\"love\",\"it\"}");
    ck_result("x0 = const string[2] {\"a bc\",\"def\"}\n"
              "y0 = ms_tokenizer x0 {mark=0, mincharnum=2, pad_value=pad, separators=[\" \"]}\n"
              "return y0\n",
        "string[2,1] {\"bc\",\"def\"}");
    ck_result("x0 = const string[2] {\"abc\",\"d\"}\n"
              "y0 = ms_tokenizer x0 {mark=0, mincharnum=1, pad_value=pad, separators=[\"\"]}\n"
              "return y0\n",
        "string[2,3] {\"a\",\"b\",\"c\",\"d\",\"pad\",\"pad\"}");
    ck_result(
        "x0 = const string[2] {\"a,b;c\",\"x; y,z\"}\n"
        "y0 = ms_tokenizer x0 {mark=0, mincharnum=1, pad_value=pad, separators=[\",\",\";\"]}\n"
        "return y0\n",
        "string[2,3] {\"a\",\"b\",\"c\",\"x\",\" y\",\"z\"}");
    ck_result(
        "x0 = const string[2] {\"a12b345c\",\"xx9\"}\n"
        "y0 = ms_tokenizer x0 {mark=0, mincharnum=1, pad_value=pad, separators=[\"[0-9]+\"]}\n"
        "return y0\n",
        "string[2,3] {\"a\",\"b\",\"c\",\"xx\",\"pad\",\"pad\"}");
    ck_result("x0 = const string[2] {\"ab12cd\",\"9z\"}\n"
              "y0 = ms_tokenizer x0 {mark=0, mincharnum=1, pad_value=pad, tokenexp=\"[a-z]+\"}\n"
              "return y0\n",
        "string[2,2] {\"ab\",\"cd\",\"z\",\"pad\"}");
    ck_result("x0 = const string[1] {\"   \"}\n"
              "y0 = ms_tokenizer x0 {mark=0, mincharnum=1, pad_value=pad, separators=[\" \"]}\n"
              "return y0\n",
        "string[1,0] {}");
    ck_result("x0 = const string[1] {\"abcabd\"}\n"
              "y0 = ms_tokenizer x0 {mark=0, mincharnum=1, pad_value=pad, tokenexp=\"a|ab|abc\"}\n"
              "return y0\n",
        "string[1,2] {\"abc\",\"ab\"}");
    ck_result("x0 = const string[1] {\"   \"}\n"
              "y0 = ms_tokenizer x0 {mark=1, mincharnum=1, pad_value=pad, separators=[\" \"]}\n"
              "return y0\n",
        "string[1,0] {}");
}
END_TEST

START_TEST(irfft_has_its_values)
{
    ck_result_near("x0 = const f32[2,3,2] {0,0.7,-0.8,-0.5,-0.7,-0.7,0,0.4,-0.4,-0.1,-0.1,0.5}\n"
                   "y0 = ms_irfft x0 {signal_ndim=1}\n"
                   "return y0\n",
        "f32[2,4] {-0.575,0.425,0.22500001,-0.075,-0.22500001,0.075,0.175,-0.025}", 1e-5);
}
END_TEST

START_TEST(wrong_tokenizer_inputs_are_refused)
{
    ck_failure("x = const string[1] {\"a\"}\n"
               "y = ms_tokenizer x {mincharnum=1}\n"
               "return y\n",
        POPRT_E_ARG, "one of tokenexp");
    ck_failure("x = const string[1] {\"a\"}\n"
               "y = ms_tokenizer x {tokenexp=a}\n"
               "return y\n",
        POPRT_E_ARG, "mincharnum is 0");
    ck_failure("x = const f32[1,2] ones\n"
               "y = ms_irfft x {signal_ndim=1}\n"
               "return y\n",
        POPRT_E_SHAPE, "too short");
    ck_failure("x = const f32[2,2] ones\n"
               "y = ms_irfft x {signal_ndim=2}\n"
               "return y\n",
        POPRT_E_UNSUPPORTED, "must be 1");
}
END_TEST

PRT_TEST_MAIN("op/microsoft/tokenizer", tokenizer_splits_and_pads, irfft_has_its_values,
    wrong_tokenizer_inputs_are_refused)
