/* SPDX-License-Identifier: MIT */
/* test_trace.c — which pass eliminated which node. */
#include "pass/engine/trace.h"

#include "support/check_main.h"
#include "support/graph_text.h"

/* Returns the pass to which the trace attributes the node of a name, or NULL. */
static const char *pass_of(const prt_trace *t, const char *node)
{
    for (size_t i = 0; i < t->nodes.count; i++)
        if (prt_str_is(t->nodes.data[i]->node, node))
            return t->nodes.data[i]->pass;
    ck_abort_msg("node %s was not recorded", node);
    return NULL;
}

START_TEST(a_node_belongs_to_the_first_pass_that_leaves_it_out)
{
    prt_graph *g = graph_from_text("x = input f32[2]\na = identity x\nb = exp a\nd = neg a\n"
                                   "return b\n");
    prt_trace t;
    prt_trace_begin(&t, g->module, g->module->arena);
    ck_assert_int_eq(t.status, POPRT_OK);
    prt_trace_look(&t, "no_pass");
    ck_assert_ptr_null(pass_of(&t, "a"));
    ck_assert(run_pass(g, "eliminate_identity", NULL));
    prt_trace_look(&t, "first");
    ck_assert(run_pass(g, "eliminate_deadend", NULL));
    prt_trace_look(&t, "second");
    prt_trace_look(&t, "third");
    ck_assert_str_eq(pass_of(&t, "a"), "first");
    ck_assert_str_eq(pass_of(&t, "d"), "second");
    ck_assert_ptr_null(pass_of(&t, "b"));
    module_free(g);
}
END_TEST

START_TEST(a_merged_node_is_not_eliminated)
{
    prt_graph *g = graph_from_text("x = input f32[2]\na = exp x\nb = neg a\nd = abs b\n"
                                   "return d\n");
    prt_trace t;
    prt_trace_begin(&t, g->module, g->module->arena);
    prt_op *merged = g->first, *last = merged->next->next;
    last->merged = PRT_STR("a+b");
    prt_op_set_input(last, 0, merged->in[0].value);
    ck_assert(run_pass(g, "eliminate_deadend", NULL));
    prt_trace_look(&t, "fuse");
    ck_assert_ptr_null(pass_of(&t, "a"));
    ck_assert_ptr_null(pass_of(&t, "b"));
    last->merged = PRT_STR("a");
    prt_trace_look(&t, "next");
    ck_assert_str_eq(pass_of(&t, "b"), "next");
    module_free(g);
}
END_TEST

START_TEST(nodes_of_regions_are_recorded)
{
    prt_graph *g =
        graph_from_text("c = input bool[]\nx = input f32[2]\n"
                        "y = if c {\nthen_branch {\na = identity x\ne = exp a\nreturn e\n}\n"
                        "else_branch {\nb = neg x\nreturn b\n}\n}\nreturn y\n");
    prt_trace t;
    prt_trace_begin(&t, g->module, g->module->arena);
    ck_assert(run_pass(g, "eliminate_identity", NULL));
    prt_trace_look(&t, "clean");
    ck_assert_str_eq(pass_of(&t, "a"), "clean");
    ck_assert_ptr_null(pass_of(&t, "e"));
    ck_assert_ptr_null(pass_of(&t, "y"));
    module_free(g);
}
END_TEST

PRT_TEST_MAIN("pass/engine/trace", a_node_belongs_to_the_first_pass_that_leaves_it_out,
    a_merged_node_is_not_eliminated, nodes_of_regions_are_recorded)
