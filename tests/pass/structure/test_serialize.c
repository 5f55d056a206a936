/* SPDX-License-Identifier: MIT */
/* test_serialize.c — serialize_matmul, serialize_matmul_add. */
#include <stdio.h>

#include "ir/extra.h"
#include "support/check_main.h"
#include "support/graph_text.h"

static const char *const text = "x = input f32[n,6,4]\nw = const f32[4,8] fill 2\n"
                                "p = matmul x w @a/p\nreturn p\n";

static void check_marks(const char *dict, const char *mode, int64_t factor, int64_t keep)
{
    prt_graph *g = graph_from_text(text);
    prt_str got_mode;
    int64_t got_factor, got_keep;
    ck_assert(run_pass(g, "serialize_matmul", dict));
    ck_assert(prt_op_mark_text(g->first, "__serialize_matmul_mode", &got_mode));
    ck_assert(prt_op_mark_i64(g->first, "__serialize_matmul_factor", &got_factor));
    ck_assert(prt_op_mark_i64(g->first, "__serialize_matmul_precision", &got_keep));
    ck_assert(prt_str_is(got_mode, mode));
    ck_assert_int_eq(got_factor, factor);
    ck_assert_int_eq(got_keep, keep);
    ck_assert(!run_pass(g, "serialize_matmul", dict));
    module_free(g);
}

START_TEST(marks_are_set)
{
    check_marks("serialize_dict={\"a/p\": \"4\"}", "output_channels", 4, 0);
    check_marks("serialize_dict={\"a/p\": 2}", "output_channels", 2, 0);
    check_marks("serialize_dict={\"a/p\": \"3/input_channels\"}", "input_channels", 3, 0);
    check_marks("serialize_dict={\"a/p\": \"2/reducing_dim/True\"}", "reducing_dim", 2, 1);
    check_marks("serialize_dict={\"a/p\": [2,\"reducing_dim\",true]}", "reducing_dim", 2, 1);
    check_marks("serialize_dict={\"a/p\": [5,\"none\",\"False\"]}", "none", 5, 0);
    assert_pass_leaves("serialize_matmul", NULL, text);
}
END_TEST

START_TEST(wrong_factors_are_refused)
{
    static const struct {
        const char *dict, *part;
    } cases[] = { { "{\"a/p\": \"3\"}", "does not divide" },
        { "{\"a/p\": \"4/input_channels\"}", "6 does not divide into 4" },
        { "{\"a/p\": \"3/reducing_dim\"}", "does not divide" },
        { "{\"a/p\": \"2/rows\"}", "modes are" }, { "{\"a/p\": \"0\"}", "1 or more" },
        { "{\"a/p\": \"2/none/maybe\"}", "FACTOR" }, { "{\"a/p\": \"x\"}", "FACTOR" },
        { "{\"a/p\": true}", "FACTOR" }, { "{\"a/p\": []}", "FACTOR" },
        { "{\"a/p\": [2,\"none\",true,1]}", "FACTOR" }, { "[1]", "object" } };
    for (size_t i = 0; i < PRT_COUNT_OF(cases); i++) {
        char option[128];
        (void)snprintf(option, sizeof(option), "serialize_dict=%s", cases[i].dict);
        assert_pass_fails("serialize_matmul", option, text, POPRT_E_ARG, cases[i].part);
    }
    assert_pass_fails("serialize_matmul", "serialize_dict={\"p\": 2}", text, POPRT_E_NOT_FOUND,
        "no node of this name");
    assert_pass_fails("serialize_matmul", "serialize_dict={\"e\": 2}",
        "x = input f32[2]\ny = exp x @e\nreturn y\n", POPRT_E_ARG, "a MatMul");
}
END_TEST

#define PAIR                                                                                       \
    "x = input f32[n,2]\nw = const f32[2,4] {1,2,3,4,5,6,7,8}\nb = const f32[4] {1,2,3,4}\n"

START_TEST(sums_are_written_out)
{
    static const char *const before = PAIR "m = matmul x w @l/m\ny = add m b @l/a\nreturn y\n";
    prt_graph *g = graph_from_text(before), *old = graph_from_text(before);
    ck_assert(run_pass(g, "serialize_matmul_add", "serialize_dict={\"l/m/l/a\": \"2\"}"));
    ck_assert_graph(g,
        PAIR "w_0 = const f32[2,2] {1,2,5,6}\nb_1 = const f32[2] {1,2}\n"
             "w_2 = const f32[2,2] {3,4,7,8}\nb_3 = const f32[2] {3,4}\n"
             "%0 = matmul x w_0 @l/m\n%1 = add %0 b_1 @l/a\n"
             "%2 = matmul x w_2 @l/m\n%3 = add %2 b_3 @l/a\n"
             "y = concat %1 %3 {axis=-1} @l/a\nreturn y\n");
    assert_same_results(old, g, 0, 3);
    module_free(g);
    module_free(old);
    g = graph_from_text("x = input f32[2,2]\nq = input bool[]\nw = const f32[2,2] {1,2,3,4}\n"
                        "b = const f32[2,1] {1,2}\nr = if q {\n  then_branch { m = matmul x w @m; "
                        "y = add b m @a; return y }\n  else_branch { e = neg x; return e }\n}\n"
                        "return r\n");
    old = graph_from_text(graph_text(g));
    ck_assert(run_pass(g, "serialize_matmul_add", "serialize_dict={\"m/a\": 2}"));
    assert_same_results(old, g, 0, 3);
    module_free(g);
    module_free(old);
}
END_TEST

START_TEST(pairs_that_do_not_fit_are_refused)
{
    static const char *const pass = "serialize_matmul_add";
    static const char *const both = PAIR "m = matmul x w @m\ny = add m b @a\nreturn y\n";
    assert_pass_leaves(pass, "serialize_dict={\"m/a\": 1}", both);
    assert_pass_fails(pass, "serialize_dict={\"m/a\": 3}", both, POPRT_E_ARG, "does not divide");
    assert_pass_fails(pass, "serialize_dict={\"m/a\": \"two\"}", both, POPRT_E_ARG, "integer");
    assert_pass_fails(pass, "serialize_dict={\"m/z\": 2}", both, POPRT_E_NOT_FOUND, "m/z");
    assert_pass_fails(pass, "serialize_dict={\"a/m\": 2}", both, POPRT_E_ARG, "a MatMul");
    assert_pass_fails(pass, "serialize_dict={\"m/a\": 2}",
        PAIR "m = matmul x w @m\ny = add m b @a\nreturn y, m\n", POPRT_E_ARG, "only reader");
    assert_pass_fails(pass, "serialize_dict={\"m/a\": 2}",
        PAIR "c = input f32[4]\nm = matmul x w @m\ny = add m c @a\nreturn y\n", POPRT_E_ARG,
        "constants");
}
END_TEST

PRT_TEST_MAIN("pass/structure/serialize", marks_are_set, wrong_factors_are_refused,
    sums_are_written_out, pairs_that_do_not_fit_are_refused)
