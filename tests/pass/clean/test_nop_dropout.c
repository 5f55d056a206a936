/* SPDX-License-Identifier: MIT */
/* test_nop_dropout.c — removal of Dropout nodes that drop nothing. */
#include "support/check_main.h"
#include "support/graph_text.h"

START_TEST(dropouts_that_copy_are_removed)
{
    static const char *const graphs[] = {
        "x = input f32[2,3]\nd = dropout x\ny = neg d\nreturn y\n",
        "x = input f32[2,3]\nr = const f32[] {0.5}\nt = const bool[] {0}\n"
        "d = dropout x r t\ny = neg d\nreturn y\n",
        "x = input f32[2,3]\nr = const f32[] {0}\nt = const bool[] {1}\n"
        "d = dropout x r t\ny = neg d\nreturn y\n",
        "x = input f32[2,3]\nr = const f32[] {0}\nt = input bool[]\n"
        "d = dropout x r t\ny = neg d\nreturn y\n",
    };
    for (size_t i = 0; i < PRT_COUNT_OF(graphs); i++) {
        prt_graph *g = graph_from_text(graphs[i]);
        ck_assert_msg(run_pass(g, "eliminate_nop_dropout", NULL), "%s", graphs[i]);
        ck_assert_uint_eq(g->first->def->id, PRT_OP_neg);
        ck_assert_ptr_null(g->first->next);
        ck_assert(!run_pass(g, "eliminate_nop_dropout", NULL));
        module_free(g);
    }
}
END_TEST

START_TEST(dropouts_that_drop_stay)
{
    static const char *const graphs[] = {
        "x = input f32[2,3]\nr = const f32[] {0.5}\nt = const bool[] {1}\n"
        "d = dropout x r t\ny = neg d\nreturn y\n",
        "x = input f32[2,3]\nr = const f32[] {0.5}\nt = input bool[]\n"
        "d = dropout x r t\ny = neg d\nreturn y\n",
        "x = input f32[2,3]\nd, m = dropout x\ny = neg d\nreturn y, m\n",
        "x = input f32[2,3]\ny = dropout x\nreturn y\n",
    };
    for (size_t i = 0; i < PRT_COUNT_OF(graphs); i++) {
        prt_graph *g = graph_from_text(graphs[i]);
        ck_assert_msg(!run_pass(g, "eliminate_nop_dropout", NULL), "%s", graphs[i]);
        module_free(g);
    }
}
END_TEST

PRT_TEST_MAIN("pass/clean/nop_dropout", dropouts_that_copy_are_removed, dropouts_that_drop_stay)
