/* SPDX-License-Identifier: MIT */
/* test_apply_ir_pass.c — apply_ir_pass. */
#include "support/check_main.h"
#include "support/graph_text.h"

static const char *const text = "x = input f32[n]\na = identity x\nb = cast a {to=1}\nc = exp a\n"
                                "y = neg b\nreturn y\n";

START_TEST(passes_run_in_one_go)
{
    assert_pass_rewrites("apply_ir_pass",
        "passes= eliminate_identity,eliminate_nop_cast ,eliminate_deadend,", text,
        "x = input f32[n]\ny = neg x\nreturn y\n");
    assert_pass_rewrites("apply_ir_pass", "passes=eliminate_identity", text,
        "x = input f32[n]\nb = cast x {to=1}\nc = exp x\ny = neg b\nreturn y\n");
    assert_pass_leaves("apply_ir_pass", NULL, text);
    assert_pass_leaves("apply_ir_pass", "passes=eliminate_nop_pad", text);
}
END_TEST

START_TEST(names_are_checked_first)
{
    prt_graph *g = graph_from_text(text);
    assert_pass_fails("apply_ir_pass", "passes=eliminate_identity,eliminate_nop_cst", text,
        POPRT_E_NOT_FOUND, "eliminate_nop_cast");
    assert_pass_fails("apply_ir_pass", "passes=apply_ir_pass", text, POPRT_E_ARG, "itself");
    ck_assert_int_ne(try_pass(g, "apply_ir_pass", "passes=eliminate_identity,none"), POPRT_OK);
    ck_assert_graph(g, text);
    module_free(g);
}
END_TEST

PRT_TEST_MAIN("pass/clean/apply_ir_pass", passes_run_in_one_go, names_are_checked_first)
