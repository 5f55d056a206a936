/* SPDX-License-Identifier: MIT */
/* test_loop_invariants.c — hoist_loop_invariants. */
#include "support/check_main.h"
#include "support/graph_text.h"

static const char *const hoist = "hoist_loop_invariants";

#define HEAD                                                                                       \
    "x = input f32[2]\nm = const i64[] {3}\nw = const f32[2] {1,2}\nq = const f32[2,2] ones\n"
/* A body whose first inputs are the iteration i and the condition k. */
#define BODY(lines) "{body {\ni = input i64[]\nk = input bool[]\n" lines "}}\n"
#define V "v = input f32[2]\n"
#define U "u = input f32[2]\n"

static void rewrites(const char *text, const char *want)
{
    assert_pass_rewrites(hoist, NULL, text, want);
    assert_pass_keeps_results(text, hoist, 0);
}

START_TEST(invariants_are_not_carried)
{
    rewrites(HEAD "y, z = loop m _ x w " BODY(V U "a = mul v u\nreturn k, a, u\n") "return y\n",
        HEAD "y = loop m _ x " BODY(V "a = mul v w\nreturn k, a\n") "return y\n");
    /* in the middle, with a result that is read, and a scan output after it */
    rewrites(HEAD "y, z, t, s = loop m _ x w x " BODY(
                 V U "o = input f32[2]\na = mul v u\n"
                     "e = neg o\nreturn k, a, u, e, a\n") "b = add y z\nc = add b t\nreturn c, s\n",
        HEAD "y, t, s = loop m _ x x " BODY(
            V "o = input f32[2]\na = mul v w\ne = neg o\n"
              "return k, a, e, a\n") "b = add y w\nc = add b t\nreturn c, s\n");
    /* all of them */
    rewrites(HEAD "z, s = loop m _ w " BODY(U "a = exp u\nreturn k, u, a\n") "return s\n",
        HEAD "s = loop m _ " BODY("a = exp w\nreturn k, a\n") "return s\n");
}
END_TEST

START_TEST(unread_carried_values_are_removed)
{
    rewrites(HEAD
        "y, z = loop m _ x w " BODY(V U "a = neg v\nb = exp v\nreturn k, a, b\n") "return y\n",
        HEAD "y = loop m _ x " BODY(V "a = neg v\nb = exp v\nreturn k, a\n") "return y\n");
    assert_pass_leaves(hoist, NULL,
        HEAD
        "y, z = loop m _ x w " BODY(V U "a = neg v\nb = exp v\nreturn k, a, b\n") "return y, z\n");
    /* it reads itself */
    assert_pass_leaves(hoist, NULL,
        HEAD
        "y, z = loop m _ x w " BODY(V U "a = neg v\nb = exp u\nreturn k, a, b\n") "return y\n");
}
END_TEST

START_TEST(changing_values_are_carried)
{
    /* swapped */
    assert_pass_leaves(hoist, NULL,
        HEAD "y, z = loop m _ x w " BODY(V U "return k, u, v\n") "return y\n");
    /* given twice: the other one changes */
    assert_pass_leaves(hoist, NULL,
        HEAD "y, z = loop m _ x w " BODY(V U "a = add v u\nreturn k, u, u\n") "return y, z\n");
    /* an output of the graph needs an operator that makes it */
    assert_pass_leaves(hoist, NULL,
        HEAD "y, z = loop m _ x w " BODY(V U "a = mul v u\nreturn k, a, u\n") "return y, z\n");
}
END_TEST

START_TEST(nested_loops_are_rewritten)
{
    rewrites(HEAD "y, z = loop m _ x w " BODY(
                 V U "b, c = loop m _ v u {body {\n"
                     "j = input i64[]\nl = input bool[]\ne = input f32[2]\ng = input f32[2]\n"
                     "f = mul e g\nreturn l, f, g\n}}\n"
                     "return k, b, u\n") "return y\n",
        HEAD "y = loop m _ x " BODY(
            V "b = loop m _ v {body {\nj = input i64[]\n"
              "l = input bool[]\ne = input f32[2]\nf = mul e w\nreturn l, f\n}}\n"
              "return k, b\n") "return y\n");
}
END_TEST

START_TEST(operators_leave_the_loop)
{
    rewrites(HEAD "y = loop m _ x " BODY(V "a = matmul q w\nb = add a w\nc = add b v\n"
                                           "d = exp w\ne = add c d\nreturn k, e\n") "return y\n",
        HEAD "a = matmul q w\nb = add a w\ny = loop m _ x " BODY(
            V "c = add b v\nd = exp w\n"
              "e = add c d\nreturn k, e\n") "return y\n");
    /* as soon as their operands are not carried any more */
    static const char *const twice =
        HEAD "y, z = loop m _ x w " BODY(V U "a = mul u u\n"
                                             "c = add a v\nreturn k, c, u\n") "return y\n";
    assert_pass_keeps_results(twice, hoist, 0);
    assert_pass_leaves(hoist, NULL,
        HEAD
        "y, s = loop m _ x " BODY(V "a = mul w w\nc = neg v\nreturn k, c, a\n") "return y, s\n");
}
END_TEST

PRT_TEST_MAIN("pass/structure/loop_invariants", invariants_are_not_carried,
    unread_carried_values_are_removed, changing_values_are_carried, nested_loops_are_rewritten,
    operators_leave_the_loop)
