/* SPDX-License-Identifier: MIT */
/* test_dropout.c — Dropout: inference, the published mask of a seed, ratios out of range. */
#include <stdio.h>

#include "support/check_main.h"
#include "support/op_check.h"

START_TEST(inference_copies)
{
    ck_result("x = const f32[3] {1,nan,3}\nr = const f32[] {0.9}\ny = dropout x r\nreturn y\n",
        "f32[3] {1,nan,3}");
    ck_result("x = const f32[3] {1,2,3}\ny,m = dropout x\nreturn m\n", "bool[3] {true,true,true}");
    ck_result("x = const f16[0] {}\ny,m = dropout x\nreturn m\n", "bool[0] {}");
}
END_TEST

/* numpy.random.RandomState(0).uniform(0, 1, 6) is 0.549 0.715 0.603 0.545 0.424 0.646 */
START_TEST(seed_gives_the_published_mask)
{
    const char *text = "x = const f32[6] {1,2,3,4,5,6}\nr = const f64[] {0.6}\n"
                       "t = const bool[] {true}\ny,m = dropout x r t {seed=0}\nreturn m\n";
    ck_result(text, "bool[6] {false,true,true,false,false,true}");
    ck_result("x = const f32[6] {1,2,3,4,5,6}\nr = const f64[] {0.6}\nt = const bool[] {true}\n"
              "y = dropout x r t {seed=0}\nreturn y\n",
        "f32[6] {0,5,7.5,0,0,15}");
}
END_TEST

START_TEST(ratios_out_of_range_are_refused)
{
    const char *graph = "x = const f32[2] {inf,2}\nr = const f32[] {%s}\nt = const bool[] {true}\n"
                        "y = dropout x r t {seed=1}\nreturn y\n";
    char text[256];
    (void)snprintf(text, sizeof(text), graph, "1");
    ck_result(text, "f32[2] {0,0}");
    const char *outside[] = { "1.5", "-0.5", "nan" };
    for (size_t i = 0; i < 3; i++) {
        (void)snprintf(text, sizeof(text), graph, outside[i]);
        ck_failure(text, POPRT_E_ARG, "ratio");
    }
    ck_failure("x = const f32[2] {1,2}\nr = const f32[2] {1,1}\ny = dropout x r\nreturn y\n",
        POPRT_E_SHAPE, "ratio");
}
END_TEST

PRT_TEST_MAIN("op/dropout", inference_copies, seed_gives_the_published_mask,
    ratios_out_of_range_are_refused)
