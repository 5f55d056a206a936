/* SPDX-License-Identifier: MIT */
/* test_nop_where.c — removal of Where nodes with a constant result; other Where nodes stay. */
#include "support/check_main.h"
#include "support/graph_text.h"

/* The last row of a triangle of 4, up to n, the width of X. */
#define LAST(FIRST, ROW, END)                                                                      \
    "p = input f32[1,2,n,3]\nq = input f32[1,2,1,3]\nx0 = concat p q {axis=2}\n"                   \
    "x = transpose x0 {perm=[0,3,1,2]}\nd = shape x0\ni2 = const i64[1] {2}\ne = gather d i2\n"    \
    "one = const i64[1] {1}\nb = sub e one\nzero = const i64[1] {" FIRST "}\n"                     \
    "t = const bool[1,1,4,4] {1,0,0,0,1,1,0,0,1,1,1,0,1,1,1,1}\na2 = const i64[1] {2}\n"           \
    "a3 = const i64[1] {-1}\nr = slice t " ROW " e a2 one\nc = slice r zero " END " a3 one\n"

START_TEST(constant_conditions_are_removed)
{
    assert_pass_rewrites("eliminate_nop_where", NULL,
        "x = input f32[2,3]\nc = const bool[1,3] {1,1,1}\nl = const f32[] {-9}\n"
        "y = where c x l\nz = neg y\nreturn z\n",
        "x = input f32[2,3]\nc = const bool[1,3] {1,1,1}\nl = const f32[] {-9}\nz = neg x\n"
        "return z\n");
    static const char last[] =
        LAST("0", "b", "e") "l = const f32[] {-9}\ny = where c x l\nz = neg y\nreturn z\n";
    prt_graph *g = graph_from_text(last);
    ck_assert(run_pass(g, "eliminate_nop_where", NULL));
    assert_text_has(graph_text(g), "!where neg");
    module_free(g);
    assert_pass_keeps_results(last, "eliminate_nop_where", 0);
}
END_TEST

START_TEST(other_conditions_stay)
{
    static const char *const texts[] = {
        "x = input f32[2,3]\nc = const bool[1,3] {1,0,1}\nl = const f32[] {-9}\n"
        "y = where c x l\nreturn y\n",
        /* the result is larger than the value */
        "x = input f32[3]\nc = const bool[2,3] {1,1,1,1,1,1}\nl = const f32[] {-9}\n"
        "y = where c x l\nreturn y\n",
        /* the second value */
        "x = input f32[2,3]\nc = const bool[1,3] {0,0,0}\nl = const f32[2,3] {1,2,3,4,5,6}\n"
        "y = where c l x\nreturn y\n",
        /* another row, other columns, a value that adds dims, the second value */
        LAST("0", "zero", "e") "l = const f32[] {-9}\ny = where c x l\nz = neg y\nreturn z\n",
        LAST("1", "b", "e") "l = const f32[] {-9}\ny = where c x l\nz = neg y\nreturn z\n",
        LAST("0", "b", "b") "l = const f32[] {-9}\ny = where c x l\nz = neg y\nreturn z\n",
        LAST("0", "b", "e") "l = const f32[2,1,1,1] {1,2}\ny = where c x l\nreturn y\n",
        LAST("0", "b", "e") "l = const f32[] {-9}\ny = where c l x\nz = neg y\nreturn z\n",
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        prt_graph *g = graph_from_text(texts[i]);
        ck_assert_msg(!run_pass(g, "eliminate_nop_where", NULL), "%s", texts[i]);
        module_free(g);
    }
}
END_TEST

PRT_TEST_MAIN("pass/clean/nop_where", constant_conditions_are_removed, other_conditions_stay)
