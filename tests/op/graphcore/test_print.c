/* SPDX-License-Identifier: MIT */
/* test_print.c — the text that PrintTensor prints: brackets, line breaks, summaries, numbers,
 * hostile titles. */
#include <stdio.h>
#include <string.h>

#include "runtime/session.h"
#include "support/check_main.h"
#include "support/op_check.h"
#include "support/program_text.h"

/* All lines of a run, each with its line break. */
static char printed[8192];

static void append_line(void *user, const char *line)
{
    (void)user;
    ck_assert_uint_lt(strlen(printed) + strlen(line) + 2, sizeof(printed));
    strcat(strcat(printed, line), "\n");
}

static void ck_printed(const char *text, const char *want)
{
    prt_program *p = program_from_text(text);
    const prt_session_options options = { .print = append_line };
    prt_session *s = NULL;
    prt_tensor out = { 0 };
    printed[0] = '\0';
    ck_assert_int_eq(prt_session_create(p, &options, &s), POPRT_OK);
    ck_assert_int_eq(prt_session_run(s, NULL, &out), POPRT_OK);
    ck_assert_str_eq(printed, want);
    prt_session_release(s);
    prt_program_release(p);
}

#define PRINT(x, attrs) "x = const " x "\ny = gc_print_tensor x {" attrs "}\nreturn y\n"

START_TEST(brackets_follow_the_shape)
{
    ck_printed(PRINT("f32[] {1.5}", ""), "x: 1.5\n");
    ck_printed(PRINT("i8[3] {-1,2,3}", "title=t"), "t: [-1 2 3]\n");
    ck_printed(PRINT("u64[2,2] {1,2,3,18446744073709551615}", "separator=\",\""),
        "x: [[1,2],\n [3,18446744073709551615]]\n");
    ck_printed(PRINT("bool[2,1,2] {true,false,true,true}", "openBracket=\"(\",closeBracket=\")\""),
        "x: (((1 0))\n ((1 1)))\n");
    ck_printed(PRINT("f32[0] {}", ""), "x: []\n");
    ck_printed(PRINT("i32[6] {1,2,3,4,5,6}", "maxLineWidth=8"), "x: [1 2 \n 3 4 5 6]\n");
}
END_TEST

START_TEST(long_tensors_are_summarised)
{
    ck_printed(PRINT("i32[6] {1,2,3,4,5,6}", "summariseThreshold=5,edgeItems=2"),
        "x: [1 2 ... 5 6]\n");
    ck_printed(PRINT("i32[6] {1,2,3,4,5,6}", "summariseThreshold=6,edgeItems=2"),
        "x: [1 2 3 4 5 6]\n");
    ck_printed(PRINT("i32[4,2] {1,2,3,4,5,6,7,8}", "summariseThreshold=1,edgeItems=1"),
        "x: [[1 2]\n ...\n [7 8]]\n");
    ck_printed(PRINT("i32[2] {1,2}", "summariseThreshold=0,edgeItems=0"), "x: [...]\n");
    ck_printed(PRINT("i32[2] {1,2}", "summariseThreshold=0,edgeItems=9223372036854775807"),
        "x: [1 2]\n");
}
END_TEST

START_TEST(numbers_follow_the_format)
{
    ck_printed(PRINT("f32[5] {0.1,1e20,nan,-inf,3}", ""), "x: [0.1 1e+20 nan -inf 3.0]\n");
    ck_printed(PRINT("f32[2] {0.1,2}", "floatFormat=1,digits=3"), "x: [0.100 2.000]\n");
    ck_printed(PRINT("f64[2] {0.1,-200}", "floatFormat=2,digits=2"), "x: [1.00e-01 -2.00e+02]\n");
    ck_printed(PRINT("f64[1] {0.123456789123}", "digits=4"), "x: [0.1235]\n");
    ck_printed(PRINT("f64[1] {0.123456789123}", "floatFormat=3"), "x: [0.123456789123]\n");
    ck_printed(PRINT("f64[1] {2}", "floatFormat=1,digits=0"), "x: [2]\n");
}
END_TEST

START_TEST(long_titles_are_printed)
{
    char text[1024], want[1024];
    char title[301];
    memset(title, 'a', 300);
    title[300] = '\0';
    (void)snprintf(text, sizeof(text), PRINT("i32[] {1}", "title=%s"), title);
    (void)snprintf(want, sizeof(want), "%.128s: 1\n", title);
    ck_printed(text, want);
    ck_printed(PRINT("i32[] {1}", "title=\"a\\nb\""), "a?b: 1\n");
    ck_failure(PRINT("i32[] {1}", "floatFormat=4"), POPRT_E_ARG, "floatFormat");
    ck_failure(PRINT("i32[] {1}", "maxLineWidth=0"), POPRT_E_ARG, "maxLineWidth");
}
END_TEST

PRT_TEST_MAIN("op/graphcore/print", brackets_follow_the_shape, long_tensors_are_summarised,
    numbers_follow_the_format, long_titles_are_printed)
