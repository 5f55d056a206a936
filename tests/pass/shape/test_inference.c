/* SPDX-License-Identifier: MIT */
/* test_inference.c — shape_inference. */
#include "support/check_main.h"
#include "support/graph_text.h"

static const char *type_of(const prt_graph *g, const char *name)
{
    static char text[128];
    const prt_value *v = prt_map_find(&g->module->names, prt_str_of(name));
    ck_assert_ptr_nonnull(v);
    prt_type_print(g->module->dims, v->type, text, sizeof(text));
    return text;
}

static void set_input(prt_graph *g, size_t i, int64_t a, int64_t b)
{
    const int64_t dims[2] = { a, b };
    g->inputs.data[i]->type = prt_type_tensor(g->module->types, PRT_DTYPE_f32, 2, dims);
}

START_TEST(a_new_input_shape_spreads)
{
    prt_graph *g = graph_from_text("x = input f32[n,3]\n"
                                   "s = shape x\ny = exp x\nz = reshape y s\nreturn z\n");
    ck_assert_str_eq(type_of(g, "z"), "f32[n,3]");
    ck_assert(!run_pass(g, "shape_inference", NULL));
    set_input(g, 0, 5, 3);
    ck_assert(run_pass(g, "shape_inference", NULL));
    ck_assert_str_eq(type_of(g, "z"), "f32[5,3]");
    ck_assert(!run_pass(g, "shape_inference", NULL));
    module_free(g);
}
END_TEST

START_TEST(regions_are_inferred_with_what_they_capture)
{
    prt_graph *g = graph_from_text("c = input bool[]\nx = input f32[n,3]\n"
                                   "r = if c {\n"
                                   "  then_branch { t = exp x; return t }\n"
                                   "  else_branch { u = neg x; return u }\n"
                                   "}\nreturn r\n");
    set_input(g, 1, 4, 3);
    ck_assert(run_pass(g, "shape_inference", NULL));
    ck_assert_str_eq(type_of(g, "t"), "f32[4,3]");
    ck_assert_str_eq(type_of(g, "r"), "f32[4,3]");
    module_free(g);
}
END_TEST

START_TEST(foreign_operators_are_passed_over)
{
    prt_graph *g =
        graph_from_text("x = input f32[n,3]\n"
                        "y = \"com.example.F\" x : f32[n,2]\nz = exp y\nw = exp x\nreturn z, w\n");
    set_input(g, 0, 4, 3);
    ck_assert(run_pass(g, "shape_inference", NULL));
    ck_assert_str_eq(type_of(g, "z"), "f32[n,2]");
    ck_assert_str_eq(type_of(g, "w"), "f32[4,3]");
    module_free(g);
}
END_TEST

START_TEST(contradictions_are_reported)
{
    prt_graph *g = graph_from_text("x = input f32[n,3]\nw = const f32[3] zeros\n"
                                   "y = add x w @sum\nreturn y\n");
    set_input(g, 0, 4, 7);
    ck_assert_int_eq(try_pass(g, "shape_inference", NULL), POPRT_E_SHAPE);
    ck_assert_str_eq(prt_error_last()->subject, "sum");
    module_free(g);
}
END_TEST

PRT_TEST_MAIN("pass/shape/inference", a_new_input_shape_spreads,
    regions_are_inferred_with_what_they_capture, foreign_operators_are_passed_over,
    contradictions_are_reported)
