/* SPDX-License-Identifier: MIT */
/* test_nop_moves.c — Slice of everything and Pad by nothing. */
#include <string.h>

#include "support/check_main.h"
#include "support/graph_text.h"

#define X "x = input f32[2,3]\na = const i64[2] {0,0}\nb = const i64[2] {2,9}\n"

static void check(const char *pass, const char *op, const char *text, bool goes)
{
    prt_graph *g = graph_from_text(text);
    ck_assert_msg(run_pass(g, pass, NULL) == goes, "%s", text);
    ck_assert_msg((strstr(graph_text(g), op) == NULL) == goes, "%s", graph_text(g));
    module_free(g);
}

START_TEST(slices)
{
    static const char *const pass = "eliminate_nop_slice";
    check(pass, "slice", X "s = slice x a b\ny = neg s\nreturn y\n", true);
    check(pass, "slice", X "e = const i64[2] {0,1}\nt = const i64[2] {1,1}\ns = slice x a b e t\n"
                           "y = neg s\nreturn y\n", true);
    /* fewer; backwards; of unknown length; a graph's input that would be its output */
    check(pass, "slice", X "c = const i64[2] {2,2}\ns = slice x a c\ny = neg s\nreturn y\n", false);
    check(pass, "slice", X "c = const i64[1] {2}\nd = const i64[1] {-9}\ne = const i64[1] {1}\n"
                           "t = const i64[1] {-1}\ns = slice x c d e t\ny = neg s\nreturn y\n",
        false);
    check(pass, "slice", "x = input f32[n]\na = const i64[1] {0}\nb = const i64[1] {9}\n"
                         "s = slice x a b\ny = neg s\nreturn y\n", false);
    check(pass, "slice", X "y = slice x a b\nreturn y\n", false);
}
END_TEST

START_TEST(pads)
{
    static const char *const pass = "eliminate_nop_pad";
    check(pass, "pad", "x = input f32[n,3]\np = const i64[4] {0,0,0,0}\ns = pad x p\ny = neg s\n"
                       "return y\n", true);
    check(pass, "pad", "x = input f32[2,3]\np = const i64[4] {0,1,0,-1}\ns = pad x p\ny = neg s\n"
                       "return y\n", false);
    check(pass, "pad", "x = input f32[2,3]\np = input i64[4]\ns = pad x p\ny = neg s\nreturn y\n",
        false);
}
END_TEST

PRT_TEST_MAIN("pass/clean/nop_moves", slices, pads)
