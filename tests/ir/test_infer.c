/* SPDX-License-Identifier: MIT */
/*
 * test_infer.c — types of values in graphs: declared and inferred ones, regions, reports.
 * Covers: report.c.
 */
#include "support/check_main.h"
#include "ir/report.h"
#include "support/graph_text.h"

static void assert_type(const prt_graph *g, const char *name, const char *expected)
{
    char text[128];
    const prt_value *v = prt_map_find(&g->module->names, prt_str_of(name));
    ck_assert_ptr_nonnull(v);
    prt_type_print(g->module->dims, v->type, text, sizeof(text));
    ck_assert_str_eq(text, expected);
}

START_TEST(symbols_are_propagated)
{
    prt_graph *g = graph_from_text("x = input f32[n,3,?]\n"
                                   "y = transpose x {perm=[2,0,1]}\n"
                                   "z = add x x\n"
                                   "return y, z\n");
    assert_type(g, "y", "f32[?,n,3]");
    assert_type(g, "z", "f32[n,3,?]");
    module_free(g);
}
END_TEST

START_TEST(contents_of_shapes_are_followed)
{
    prt_graph *g = graph_from_text("x = input f32[n,3,4]\n"
                                   "s = shape x\n"
                                   "y = reshape x s\n"
                                   "return y\n");
    assert_type(g, "s", "i64[3]");
    assert_type(g, "y", "f32[n,3,4]");
    module_free(g);
}
END_TEST

START_TEST(declared_dims_are_not_trusted)
{
    prt_graph *g = graph_from_text("x = input f32[?,3]\ny = identity x : f32[7,3]\nreturn y\n");
    assert_type(g, "y", "f32[?,3]");
    module_free(g);
}
END_TEST

START_TEST(declared_kinds_fill_gaps)
{
    prt_graph *g =
        graph_from_text("x = input ?\ny = identity x : f32[7,3]\nz = identity x : seq(i64[2])\n"
                        "return y, z\n");
    assert_type(g, "y", "f32[*]");
    assert_type(g, "z", "seq(i64[2])");
    module_free(g);
}
END_TEST

START_TEST(branches_give_their_types)
{
    prt_graph *g = graph_from_text("c = input bool[]\nx = input f32[2]\n"
                                   "r = if c {\n"
                                   "  then_branch { t = add x x; return t }\n"
                                   "  else_branch { u = neg x; return u }\n"
                                   "}\nreturn r\n");
    assert_type(g, "r", "f32[2]");
    module_free(g);
}
END_TEST

#define TWO_RATES                                                                                  \
    "w = const f32[4,3] {1,2,3,4,5,6,7,8,9,1,2,3}\nv = const f32[2,3] {1,2,3,4,5,6}\n"             \
    "r = if c {\n  then_branch { s = matmul x w; t = neg s; return t }\n"                          \
    "  else_branch { u = matmul x v; k = abs u; return k }\n}\ny = abs r\nreturn y\n"

/* Sets the number of columns of the first input. */
static poprt_status infer_columns(prt_graph *g, int64_t columns)
{
    const int64_t dims[2] = { 1, columns };
    g->inputs.data[0]->type = prt_type_tensor(g->module->types, PRT_DTYPE_f32, 2, dims);
    return prt_ir_infer(g);
}

/* A branch with impossible shapes fails when it is taken; the other branch gives the type of the
 * result. The shapes that its values had with other inputs are cleared. */
START_TEST(a_branch_may_have_impossible_shapes)
{
    prt_graph *g = graph_from_text("x = input f32[1,n]\nc = input bool[]\n" TWO_RATES);
    const prt_op *op = g->first;
    assert_type(g, "k", "f32[1,3]");
    ck_assert_int_eq(infer_columns(g, 4), POPRT_OK);
    ck_assert(!op->regions[0]->contradictory && op->regions[1]->contradictory);
    assert_type(g, "y", "f32[1,3]");
    assert_type(g, "t", "f32[1,3]");
    assert_type(g, "u", "f32[*]");
    assert_type(g, "k", "f32[*]");
    prt_module *copy = NULL;
    ck_assert_int_eq(prt_ir_clone(g->module, &copy), POPRT_OK);
    ck_assert(copy->main->first->regions[1]->contradictory);
    prt_module_release(copy);
    ck_assert_int_eq(infer_columns(g, 2), POPRT_OK);
    ck_assert(op->regions[0]->contradictory && !op->regions[1]->contradictory);
    assert_type(g, "k", "f32[1,3]");
    assert_type(g, "s", "f32[*]");
    ck_assert_int_eq(infer_columns(g, 5), POPRT_E_SHAPE);
    module_free(g);
}
END_TEST

START_TEST(a_branch_that_is_always_taken_needs_shapes)
{
    prt_graph *g = graph_from_text("x = input f32[1,n]\nc = const bool[] {false}\n" TWO_RATES);
    ck_assert_int_eq(infer_columns(g, 2), POPRT_OK);
    ck_assert_int_eq(infer_columns(g, 4), POPRT_E_SHAPE);
    ck_assert_str_eq(prt_error_last()->subject, "u");
    module_free(g);
    g = graph_from_text("x = input f32[1,n]\nc = const bool[] {true}\n" TWO_RATES);
    ck_assert_int_eq(infer_columns(g, 2), POPRT_E_SHAPE);
    ck_assert_str_eq(prt_error_last()->subject, "s");
    module_free(g);
}
END_TEST

/* Only shapes depend on the sizes of inputs; a branch that is wrong at any size is refused. */
START_TEST(wrong_branches_are_refused)
{
    prt_graph *g = graph_from_text("x = input f32[1,n]\nc = input bool[]\n" TWO_RATES);
    g->first->regions[1]->first->next->in[0].value = NULL;
    ck_assert_int_eq(infer_columns(g, 4), POPRT_E_PARSE);
    g->first->regions[1]->first->next->in[0].value = &g->first->regions[1]->first->out[0];
    module_free(g);
}
END_TEST

START_TEST(a_report_collects_all_failures)
{
    prt_graph *g = graph_from_text("x = input f32[2]\ny = input f32[2]\n"
                                   "a = add x y @first\nb = mul x y @second\nreturn a, b\n");
    const int64_t dim = 5;
    g->inputs.data[1]->type = prt_type_tensor(g->module->types, PRT_DTYPE_f32, 1, &dim);
    ck_assert_int_eq(prt_ir_infer(g), POPRT_E_SHAPE);
    ck_assert_str_eq(prt_error_last()->subject, "first");
    ck_assert_ptr_nonnull(strstr(prt_error_last()->message, "second: "));
    module_free(g);
}
END_TEST

START_TEST(unknown_operators_keep_what_is_declared)
{
    prt_graph *g = graph_from_text("x = input f32[2]\ny = \"com.example.Twist\" x @n : f32[2]\n"
                                   "z = neg y\nreturn z\n");
    ck_assert_int_eq(prt_ir_infer(g), POPRT_OK);
    assert_type(g, "z", "f32[2]");
    module_free(g);
}
END_TEST

START_TEST(ill_typed_and_unknown_nodes_are_in_one_report)
{
    prt_graph *g = graph_from_text("x = input f32[2]\ny = input f32[2]\n"
                                   "a = add x y @first\nreturn a\n");
    const int64_t dim = 5;
    prt_report report = { .status = POPRT_OK };
    ck_assert_int_eq(prt_module_set_opset(g->module, PRT_STR(""), 17), POPRT_OK);
    prt_op *op = prt_graph_add_op(g, NULL, NULL, 0, 1, 0);
    op->name = PRT_STR("Twist");
    op->origin = PRT_STR("n");
    g->inputs.data[1]->type = prt_type_tensor(g->module->types, PRT_DTYPE_f32, 1, &dim);
    prt_ir_report_failure(&report, g->first, prt_ir_infer_op(g->first));
    prt_ir_report_unknown(&report, g);
    ck_assert_int_eq(prt_report_end(&report), POPRT_E_SHAPE);
    ck_assert_str_eq(prt_error_last()->subject, "first");
    ck_assert_ptr_nonnull(strstr(prt_error_last()->message, "Add: "));
    ck_assert_ptr_nonnull(strstr(prt_error_last()->message, " (ai.onnx, opset 17)\nn: Twist: is "));
    module_free(g);
}
END_TEST

START_TEST(types_are_refined)
{
    prt_graph *g = graph_from_text("x = input f32[?,3]\ny = input ?\nz = input f32[n,m]\n"
                                   "return x, y\n");
    prt_value *const *in = g->inputs.data;
    ck_assert_int_eq(prt_value_refine_type(in[0], in[2]->type), POPRT_OK);
    assert_type(g, "x", "f32[n,3]");
    ck_assert_int_eq(prt_value_refine_type(in[1], in[2]->type), POPRT_OK);
    assert_type(g, "y", "f32[n,m]");
    module_free(g);
}
END_TEST

PRT_TEST_MAIN("ir/infer", symbols_are_propagated, contents_of_shapes_are_followed,
    declared_dims_are_not_trusted, declared_kinds_fill_gaps, branches_give_their_types,
    a_branch_may_have_impossible_shapes, a_branch_that_is_always_taken_needs_shapes,
    wrong_branches_are_refused, a_report_collects_all_failures,
    unknown_operators_keep_what_is_declared, ill_typed_and_unknown_nodes_are_in_one_report,
    types_are_refined)
