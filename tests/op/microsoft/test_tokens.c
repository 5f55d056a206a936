/* SPDX-License-Identifier: MIT */
/* test_tokens.c — operators on lists of tokens and words. Expected values come from onnxruntime
 * 1.31.1 or, where it has no CPU kernel, from numpy. */
#include "support/check_main.h"
#include "support/op_check.h"

START_TEST(murmur_hash_of_numbers_has_its_values)
{
    ck_result("x0 = const i32[2] {1,-5}\n"
              "y0 = ms_murmur_hash3 x0\n"
              "return y0\n",
        "u32[2] {4226891818,1637461840}");
    ck_result("x0 = const i64[1] {3}\n"
              "y0 = ms_murmur_hash3 x0 {seed=42}\n"
              "return y0\n",
        "u32[1] {519220707}");
    ck_result("x0 = const f32[1] {0.5}\n"
              "y0 = ms_murmur_hash3 x0 {positive=0}\n"
              "return y0\n",
        "i32[1] {-1849112322}");
}
END_TEST

START_TEST(repeated_ngrams_are_blocked)
{
    ck_result_near("x0 = const i64[2,5] {0,1,2,0,1,3,3,3,3,3}\n"
                   "x1 = const f32[2,4] {0.4,0.1,-0.7,0.1,0.7,0.9,-0.6,0.4}\n"
                   "y0 = ms_ngram_repeat_block x0 x1 {ngram_size=3}\n"
                   "return y0\n",
        "f32[2,4] {0.4,0.1,-inf,0.1,0.7,0.9,-0.6,-inf}", 1e-5);
    ck_result_near("x0 = const i64[2,5] {0,1,2,0,1,3,3,3,3,3}\n"
                   "x1 = const f32[2,4] {0.2,-0.3,-0.6,0.2,-0.3,-0.2,0.8,0.3}\n"
                   "y0 = ms_ngram_repeat_block x0 x1 {ngram_size=6}\n"
                   "return y0\n",
        "f32[2,4] {0.2,-0.3,-0.6,0.2,-0.3,-0.2,0.8,0.3}", 1e-5);
}
END_TEST

START_TEST(bifurcation_is_detected)
{
    ck_result("x0 = const i64[9] {1,5,3,4,2,5,3,8,9}\n"
              "x1 = const i64[1] {2}\n"
              "x2 = const i64[] {0}\n"
              "x3 = const i64[10] {1,5,3,4,7,8,8,8,8,8}\n"
              "y0, y1 = ms_bifurcation_detector x0 x1 x2 x3\n"
              "return y0\n",
        "i64[6] {2,1,5,3,4,7}");
    ck_result("x0 = const i64[9] {1,5,3,4,2,5,3,8,9}\n"
              "x1 = const i64[1] {2}\n"
              "x2 = const i64[] {0}\n"
              "x3 = const i64[10] {1,5,3,4,7,8,8,8,8,8}\n"
              "y0, y1 = ms_bifurcation_detector x0 x1 x2 x3\n"
              "return y1\n",
        "i64[] {-1}");
    ck_result("x0 = const i64[9] {1,5,3,4,2,5,3,8,9}\n"
              "x1 = const i64[4] {4,2,5,3}\n"
              "x2 = const i64[] {0}\n"
              "y0, y1 = ms_bifurcation_detector x0 x1 x2 {min_ngram_size=2}\n"
              "return y0\n",
        "i64[4] {4,2,5,3}");
    ck_result("x0 = const i64[9] {1,5,3,4,2,5,3,8,9}\n"
              "x1 = const i64[4] {4,2,5,3}\n"
              "x2 = const i64[] {0}\n"
              "y0, y1 = ms_bifurcation_detector x0 x1 x2 {min_ngram_size=2}\n"
              "return y1\n",
        "i64[] {7}");
    ck_result("x0 = const i64[9] {1,5,3,4,2,5,3,8,9}\n"
              "x1 = const i64[3] {6,5,3}\n"
              "x2 = const i64[] {0}\n"
              "y0, y1 = ms_bifurcation_detector x0 x1 x2\n"
              "return y0\n",
        "i64[3] {6,5,3}");
    ck_result("x0 = const i64[9] {1,5,3,4,2,5,3,8,9}\n"
              "x1 = const i64[3] {6,5,3}\n"
              "x2 = const i64[] {0}\n"
              "y0, y1 = ms_bifurcation_detector x0 x1 x2\n"
              "return y1\n",
        "i64[] {-1}");
    ck_result("x0 = const i64[9] {1,5,3,4,2,5,3,8,9}\n"
              "x1 = const i64[1] {3}\n"
              "x2 = const i64[] {0}\n"
              "x3 = const i64[10] {1,5,3,4,2,5,3,8,9,5}\n"
              "y0, y1 = ms_bifurcation_detector x0 x1 x2 x3\n"
              "return y0\n",
        "i64[11] {3,1,5,3,4,2,5,3,8,9,5}");
    ck_result("x0 = const i64[9] {1,5,3,4,2,5,3,8,9}\n"
              "x1 = const i64[1] {3}\n"
              "x2 = const i64[] {0}\n"
              "x3 = const i64[10] {1,5,3,4,2,5,3,8,9,5}\n"
              "y0, y1 = ms_bifurcation_detector x0 x1 x2 x3\n"
              "return y1\n",
        "i64[] {-1}");
    ck_result("x0 = const i64[9] {1,5,3,4,2,5,3,8,9}\n"
              "x1 = const i64[1] {77}\n"
              "x2 = const i64[] {0}\n"
              "y0, y1 = ms_bifurcation_detector x0 x1 x2\n"
              "return y0\n",
        "i64[1] {77}");
    ck_result("x0 = const i64[9] {1,5,3,4,2,5,3,8,9}\n"
              "x1 = const i64[1] {77}\n"
              "x2 = const i64[] {0}\n"
              "y0, y1 = ms_bifurcation_detector x0 x1 x2\n"
              "return y1\n",
        "i64[] {-1}");
}
END_TEST

START_TEST(dynamic_time_warping_finds_the_path)
{
    ck_result("x0 = const f32[3,4] {0.8,0.7,0.5,0.8,0.8,0.9,0,0.5,0.1,0,0.7,0.1}\n"
              "y0 = ms_dynamic_time_warping x0\n"
              "return y0\n",
        "i32[2,4] {0,0,1,2,0,1,2,3}");
    ck_result("x0 = const f32[1,3,2] {0.4,0.6,0.6,0.6,0.4,0.6}\n"
              "y0 = ms_dynamic_time_warping x0\n"
              "return y0\n",
        "i32[2,4] {0,1,2,2,0,0,0,1}");
}
END_TEST

START_TEST(word_conv_embedding_has_its_values)
{
    ck_result_near("x0 = const i32[3,3] {1,2,3,2,0,0,0,1,1}\n"
                   "x1 = const f32[2,1,2,2] {-0.5,-0.3,-0.5,0.1,-0.4,0.5,-0.9,0.3}\n"
                   "x2 = const f32[2] {-0.5,0.7}\n"
                   "x3 = const f32[4,2] {0.8,0.1,-0.9,-0.9,0.5,-0.5,0.1,0.6}\n"
                   "y0 = ms_word_conv_embedding x0 x1 x2 x3\n"
                   "return y0\n",
        "f32[3,2] {-0.079829805,0.3274774,-0.7573623,-0.4136444,0,0}", 1e-5);
}
END_TEST

START_TEST(wrong_tokens_are_refused)
{
    ck_failure("i = const i64[1,2] {5,5}\n"
               "s = const f32[1,2] ones\n"
               "y = ms_ngram_repeat_block i s {ngram_size=2}\n"
               "return y\n",
        POPRT_E_ARG, "token 5 is outside [0, 2)");
    ck_failure("i = const i64[1,2] {5,5}\n"
               "s = const f32[1,2] ones\n"
               "y = ms_ngram_repeat_block i s\n"
               "return y\n",
        POPRT_E_ARG, "ngram_size is 0");
    ck_failure("s = const i64[2] {1,2}\n"
               "i = const i64[] {3}\n"
               "y, z = ms_bifurcation_detector s s i s\n"
               "return y\n",
        POPRT_E_ARG, "after position 3 of 2");
    ck_failure("x = const f32[0,2] {}\n"
               "y = ms_dynamic_time_warping x\n"
               "return y\n",
        POPRT_E_SHAPE, "empty");
    ck_failure("x = const i32[1,1] {4}\n"
               "w = const f32[1,1,1,1] ones\n"
               "b = const f32[1] ones\n"
               "c = const f32[2,1] ones\n"
               "y = ms_word_conv_embedding x w b c\n"
               "return y\n",
        POPRT_E_ARG, "character 4 is outside [0, 2)");
    ck_failure("x = const i32[1,1] {4}\n"
               "w = const f32[1,1,2,1] ones\n"
               "b = const f32[1] ones\n"
               "c = const f32[2,1] ones\n"
               "y = ms_word_conv_embedding x w b c\n"
               "return y\n",
        POPRT_E_SHAPE, "the window has 2");
}
END_TEST

/* The hash that ONNX Runtime gives for "abc" with seed 7. */
START_TEST(murmur_hash_of_text_has_its_values)
{
    ck_result("x = const string[2] {\"abc\",\"\"}\n"
              "y = ms_murmur_hash3 x {positive=0, seed=7}\nreturn y\n",
        "i32[2] {940791465,415870660}");
}
END_TEST

PRT_TEST_MAIN("op/microsoft/tokens", murmur_hash_of_numbers_has_its_values,
    repeated_ngrams_are_blocked, bifurcation_is_detected, dynamic_time_warping_finds_the_path,
    word_conv_embedding_has_its_values, wrong_tokens_are_refused,
    murmur_hash_of_text_has_its_values)
