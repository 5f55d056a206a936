/* SPDX-License-Identifier: MIT */
/* test_verify.c — each invariant, when broken by hand, is detected. */
#include "support/check_main.h"
#include "support/graph_text.h"

static const char *const model = "c = input bool[]\n"
                                 "x = input f32[2]\n"
                                 "w = const f32[2] {1, 2}\n"
                                 "a = add x w\n"
                                 "b = neg a\n"
                                 "r = if c {\n  then_branch { t = exp b; return t }\n"
                                 "  else_branch { return b }\n}\n"
                                 "d = abs r\n"
                                 "return d\n";

static prt_op *op_of(const prt_graph *g, const char *name)
{
    const prt_value *v = prt_map_find(&g->module->names, prt_str_of(name));
    ck_assert_ptr_nonnull(v);
    return v->def;
}

static void assert_broken(prt_graph *g, const char *what)
{
    ck_assert_int_eq(prt_ir_verify(g->module), POPRT_E_INTERNAL);
    const char *got = prt_error_last()->message;
    ck_assert_msg(strstr(got, what) != NULL, "'%s' is not in '%s'", what, got);
    module_free(g);
}

START_TEST(a_sound_graph_passes)
{
    prt_graph *g = graph_from_text(model);
    ck_assert_int_eq(prt_ir_verify(g->module), POPRT_OK);
    module_free(g);
}
END_TEST

START_TEST(order_is_checked)
{
    prt_graph *g = graph_from_text(model);
    prt_op_move_before(op_of(g, "b"), op_of(g, "a"));
    assert_broken(g, "used before it is made");
}
END_TEST

START_TEST(order_is_checked_for_captured_values)
{
    prt_graph *g = graph_from_text(model);
    prt_op_move_before(op_of(g, "r"), op_of(g, "b"));
    assert_broken(g, "used before it is made");
}
END_TEST

START_TEST(a_region_cannot_read_its_own_op)
{
    prt_graph *g = graph_from_text(model);
    prt_op_set_input(op_of(g, "t"), 0, &op_of(g, "r")->out[0]);
    assert_broken(g, "used before it is made");
}
END_TEST

START_TEST(a_graph_cannot_read_inner_values)
{
    prt_graph *g = graph_from_text(model);
    prt_op_set_input(op_of(g, "d"), 0, &op_of(g, "t")->out[0]);
    assert_broken(g, "cannot be seen from here");
}
END_TEST

START_TEST(uses_of_erased_ops_are_noticed)
{
    prt_graph *g = graph_from_text(model);
    op_of(g, "a")->dead = true;
    assert_broken(g, "dead");
    g = graph_from_text(model);
    prt_op *a = op_of(g, "a");
    a->dead = true; /* as if unlinked, but still read */
    a->next->prev = NULL;
    g->first = a->next;
    assert_broken(g, "erased op");
}
END_TEST

START_TEST(torn_lists_are_noticed)
{
    prt_graph *g = graph_from_text(model);
    op_of(g, "b")->prev = NULL;
    assert_broken(g, "torn");
    g = graph_from_text(model);
    op_of(g, "b")->in[0].value->uses = NULL;
    assert_broken(g, "missing from its value's use list");
    g = graph_from_text(model);
    op_of(g, "b")->in[0].user = op_of(g, "a");
    assert_broken(g, "belongs to another op");
}
END_TEST

START_TEST(values_and_regions_name_their_owner)
{
    prt_graph *g = graph_from_text(model);
    op_of(g, "b")->out[0].slot = 1;
    assert_broken(g, "does not know its op");
    g = graph_from_text(model);
    op_of(g, "r")->regions[0]->owner = op_of(g, "a");
    assert_broken(g, "");
    g = graph_from_text(model);
    g->inputs.data[1]->slot = 0;
    assert_broken(g, "does not know its place");
    g = graph_from_text(model);
    g->constants.data[0]->constant = NULL;
    assert_broken(g, "no contents");
    g = graph_from_text(model);
    g->output_names.count = 0;
    assert_broken(g, "differ in number");
    g = graph_from_text(model);
    op_of(g, "b")->out[0].type = NULL;
    assert_broken(g, "no type");
}
END_TEST

START_TEST(a_name_of_the_interface_belongs_to_one_value)
{
    prt_graph *g = graph_from_text("x = input f32[2]\nc = const f32[2] {1, 2}\ny = neg x\n"
                                   "return x, y, y, y as z, y as z, c, c\n");
    ck_assert_int_eq(prt_ir_verify(g->module), POPRT_OK);
    prt_op_set_input(g->ret, 2, g->inputs.data[0]); /* y is y and x */
    assert_broken(g, "shares its name");
    g = graph_from_text("x = input f32[2]\ny = neg x\nreturn x, y\n");
    prt_op_set_input(g->ret, 0, g->ret->in[1].value); /* the output x is not the input x */
    assert_broken(g, "shares its name");
}
END_TEST

START_TEST(counts_are_checked_against_the_table)
{
    prt_graph *g = graph_from_text(model);
    ck_assert_int_eq(prt_op_add_input(op_of(g, "b"), g->inputs.data[1]), POPRT_OK);
    assert_broken(g, "more inputs");
}
END_TEST

PRT_TEST_MAIN("ir/verify", a_sound_graph_passes, order_is_checked,
    order_is_checked_for_captured_values, a_region_cannot_read_its_own_op,
    a_graph_cannot_read_inner_values, uses_of_erased_ops_are_noticed, torn_lists_are_noticed,
    values_and_regions_name_their_owner, a_name_of_the_interface_belongs_to_one_value,
    counts_are_checked_against_the_table)
