/* SPDX-License-Identifier: MIT */
/*
 * test_manual.c — marks set by manual_sharding and overlap_io.
 * Covers: overlap_io.c.
 */
#include "ir/extra.h"
#include "support/check_main.h"
#include "support/graph_text.h"

static const char model[] = "c = input bool[]\nx = input f32[2]\nw = const f32[2] {1, 2}\n"
                            "a = exp x @A\nb = add a w @B\nd = neg x @D\ne = add b d @E\n"
                            "r = if c {\n  then_branch { t = neg e; return t }\n"
                            "  else_branch { v = abs b; return v }\n} @R\n"
                            "y = exp r @Y\nreturn y, d\n";

static void check_marks(const prt_graph *g, const char *node, int64_t device, int64_t stage)
{
    int64_t value;
    prt_for_each_op (op, g) {
        if (!prt_str_is(op->origin, node))
            continue;
        value = -1;
        (void)prt_op_mark_i64(op, "__ipu_number", &value);
        ck_assert_msg(value == device, "%s is on %d", node, (int)value);
        value = -1;
        (void)prt_op_mark_i64(op, "__pipeline_stage", &value);
        ck_assert_msg(value == stage, "%s is in stage %d", node, (int)value);
        return;
    }
    ck_abort_msg("no node %s", node);
}

START_TEST(nodes_take_their_dependencies)
{
    prt_graph *g = graph_from_text(model);
    ck_assert(run_pass(g, "manual_sharding",
        "sharding_info={\"E\": 1,\"B\": 0}, pipelining_info={\"E\": 2,\"B\": 0}"));
    check_marks(g, "A", 0, 0);
    check_marks(g, "B", 0, 0);
    check_marks(g, "D", 1, 2);
    check_marks(g, "E", 1, 2);
    check_marks(g, "R", 2, 3);
    check_marks(g, "Y", 2, 3);
    module_free(g);
}
END_TEST

START_TEST(regions_count_as_readers_and_stages_may_be_left_out)
{
    prt_graph *g = graph_from_text(model);
    ck_assert(run_pass(g, "manual_sharding", "sharding_info={\"R\": 4}"));
    check_marks(g, "A", 4, -1);
    check_marks(g, "E", 4, -1);
    check_marks(g, "D", 4, -1);
    check_marks(g, "R", 4, -1);
    check_marks(g, "Y", 5, -1);
    module_free(g);
}
END_TEST

START_TEST(wrong_options_are_refused)
{
    assert_pass_fails("manual_sharding", "sharding_info={\"Q\": 1}", model, POPRT_E_NOT_FOUND,
        "no node");
    assert_pass_fails("manual_sharding", "sharding_info={\"A\": -1}", model, POPRT_E_ARG, "device");
    assert_pass_fails("manual_sharding", "sharding_info={\"A\": 0.5}", model, POPRT_E_ARG,
        "device");
    assert_pass_fails("manual_sharding", "sharding_info=[1]", model, POPRT_E_ARG, "object");
    assert_pass_fails("manual_sharding", NULL, model, POPRT_E_ARG, "no node is named at which");
    assert_pass_fails("manual_sharding", "sharding_info={\"A\": 1}",
        "x = input f32[2]\na = exp x @A\ny = exp a @A\nreturn y\n", POPRT_E_ARG, "two nodes");
}
END_TEST

START_TEST(overlapping_is_noted)
{
    prt_graph *g = graph_from_text(model);
    prt_str text;
    ck_assert(run_pass(g, "overlap_io", NULL));
    ck_assert(prt_module_metadata(g->module, "overlap_io", &text));
    ck_assert(prt_str_is(text, "{\"inputs\":[\"c\",\"x\"],\"outputs\":[\"y\",\"d\"]}"));
    ck_assert(!run_pass(g, "overlap_io", NULL));
    module_free(g);
}
END_TEST

PRT_TEST_MAIN("pass/shard/manual", nodes_take_their_dependencies,
    regions_count_as_readers_and_stages_may_be_left_out, wrong_options_are_refused,
    overlapping_is_noted)
