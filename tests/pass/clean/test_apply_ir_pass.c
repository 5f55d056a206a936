/* SPDX-License-Identifier: MIT */
/* test_apply_ir_pass.c — apply_ir_pass. */
#include "pass/engine/manager.h"
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

START_TEST(messages_of_listed_passes_are_passed_on)
{
    prt_graph *g = graph_from_text("x = input f32[2]\na = exp x\nb = neg a @N\nc = exp b @N\n"
                                   "return c\n");
    ck_assert_ptr_nonnull(
        strstr(pass_notes(g, "apply_ir_pass", "passes=auto_sharding"), "unique_name_for_nodes"));
    module_free(g);
}
END_TEST

/* Becomes true after a number of questions. */
static bool stop_after(void *user)
{
    size_t *left = user;
    return *left == 0 || --*left == 0;
}

START_TEST(a_listed_pass_can_be_cancelled)
{
    static const prt_pass_arg args[] = { { "passes", "eliminate_identity,eliminate_deadend" } };
    size_t cancelled = 0;
    for (size_t left = 1; left < 20; left++) {
        size_t counter = left;
        prt_graph *g = graph_from_text(text);
        prt_pass_manager *pm = NULL;
        const prt_pass_observer observer = { .user = &counter, .cancelled = stop_after };
        ck_assert_int_eq(prt_pass_manager_create(NULL, &pm), POPRT_OK);
        prt_pass_manager_set_observer(pm, &observer);
        ck_assert_int_eq(prt_pass_manager_add(pm, "apply_ir_pass", 1, args), POPRT_OK);
        const poprt_status status = prt_pass_manager_run(pm, g->module, NULL);
        ck_assert(status == POPRT_OK || status == POPRT_E_CANCELLED);
        cancelled += status == POPRT_E_CANCELLED;
        ck_assert_int_eq(prt_ir_verify(g->module), POPRT_OK);
        prt_pass_manager_release(pm);
        module_free(g);
    }
    ck_assert_uint_gt(cancelled, 1); /* before the pass, and within it */
    ck_assert_uint_lt(cancelled, 19);
}
END_TEST

PRT_TEST_MAIN("pass/clean/apply_ir_pass", passes_run_in_one_go, names_are_checked_first,
    messages_of_listed_passes_are_passed_on, a_listed_pass_can_be_cancelled)
