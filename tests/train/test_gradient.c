/* SPDX-License-Identifier: MIT */
/* test_gradient.c — Gradient: names, values to differentiate at, second derivatives. */
#include "train/gradient.h"

#include <stdio.h>

#include "ir/build.h"
#include "ir/interp.h"
#include "support/check_main.h"
#include "support/graph_text.h"

/* c = a a b and d = a + 1, with a = {1, 2} and b = {3, 5}. */
static const char product[] = "a = const f32[2] {1,2}\nb = const f32[2] {3,5}\n"
                              "i = identity a\nj = identity b\ns = mul i i\nc = mul s j\n"
                              "one = const f32[] {1}\nd = add i one\nreturn c\n";

static prt_value *value_named(const prt_graph *g, const char *name)
{
    prt_value *v = prt_map_find(&g->module->names, prt_str_of(name));
    ck_assert_ptr_nonnull(v);
    return v;
}

/* Appends a node Gradient; `inputs` and `outputs` are names. */
static prt_op *add_gradient(prt_graph *g, uint32_t n_in, const char *const *inputs, uint32_t n_out,
    const char *const *outputs)
{
    prt_op *op = prt_graph_add_op(g, NULL, NULL, n_in, n_out, 0);
    ck_assert_ptr_nonnull(op);
    op->origin = PRT_STR("node");
    for (uint32_t i = 0; i < n_in; i++)
        prt_op_set_input(op, i, value_named(g, inputs[i]));
    for (uint32_t i = 0; i < n_out; i++)
        ck_assert_int_eq(prt_value_set_name(&op->out[i], prt_str_of(outputs[i])), POPRT_OK);
    return op;
}

static prt_strs list(uint32_t n, const prt_str *names)
{
    return (prt_strs){ names, n };
}

static void ck_values(prt_graph *g, const char *name, double first, double second)
{
    prt_value *v = value_named(g, name);
    const prt_str names[1] = { prt_str_of(name) };
    prt_tensor out;
    ck_assert_int_eq(prt_graph_set_outputs(g, 1, &v, names), POPRT_OK);
    ck_assert_int_eq(prt_ir_verify(g->module), POPRT_OK);
    ck_assert_int_eq(prt_ir_run(g, 0, NULL, 1, &out, g->module->arena), POPRT_OK);
    ck_assert_uint_eq(prt_tensor_count(&out), 2);
    ck_assert_double_eq((double)((const float *)out.data)[0], first);
    ck_assert_double_eq((double)((const float *)out.data)[1], second);
}

START_TEST(names_select_the_differentiated_values)
{
    prt_graph *g = graph_from_text(product);
    const prt_str xs[2] = { PRT_STR("i"), PRT_STR("j") };
    prt_op *op = add_gradient(g, 2, (const char *[]){ "i", "j" }, 2, (const char *[]){ "p", "q" });
    ck_assert_int_eq(prt_train_gradient(op, list(2, xs), list(0, NULL), PRT_STR("c")), POPRT_OK);
    ck_values(g, "p", 6.0, 20.0); /* 2 a b */
    ck_values(g, "q", 1.0, 4.0);  /* a a */
    module_free(g);
}
END_TEST

START_TEST(inputs_select_the_point)
{
    prt_graph *g = graph_from_text(product);
    const prt_str x[1] = { PRT_STR("i") }, z[1] = { PRT_STR("j") };
    prt_op *op = add_gradient(g, 2, (const char *[]){ "d", "j" }, 1, (const char *[]){ "p" });
    ck_assert_int_eq(prt_train_gradient(op, list(1, x), list(1, z), PRT_STR("c")), POPRT_OK);
    ck_values(g, "p", 12.0, 30.0); /* 2 (a + 1) b */
    ck_values(g, "c", 3.0, 20.0);
    module_free(g);
}
END_TEST

/* The last copied operator is directly before the place of the copies. */
START_TEST(the_last_operator_may_be_y)
{
    prt_graph *g = graph_from_text(product);
    const prt_str x[1] = { PRT_STR("i") };
    prt_op *op = add_gradient(g, 1, (const char *[]){ "c" }, 1, (const char *[]){ "p" });
    ck_assert_int_eq(prt_train_gradient(op, list(1, x), list(0, NULL), PRT_STR("d")), POPRT_OK);
    ck_values(g, "p", 1.0, 1.0);
    module_free(g);
}
END_TEST

START_TEST(gradients_have_gradients)
{
    prt_graph *g = graph_from_text(product);
    const prt_str x[1] = { PRT_STR("i") }, z[1] = { PRT_STR("j") };
    prt_op *op = add_gradient(g, 2, (const char *[]){ "i", "j" }, 1, (const char *[]){ "p" });
    ck_assert_int_eq(prt_train_gradient(op, list(1, x), list(1, z), PRT_STR("c")), POPRT_OK);
    op = add_gradient(g, 2, (const char *[]){ "i", "j" }, 1, (const char *[]){ "r" });
    ck_assert_int_eq(prt_train_gradient(op, list(1, x), list(1, z), PRT_STR("p")), POPRT_OK);
    ck_values(g, "r", 6.0, 10.0); /* 2 b */
    module_free(g);
}
END_TEST

/* y = x * kept / (1 - ratio), so that the gradient is y / x, with the same elements dropped. The
 * mode and the ratio may be known only at run time, and the mask need not be an output. */
START_TEST(dropout_scales_by_its_mask)
{
    static const char *const dropouts[] = {
        "y, m = dropout i c t {seed=7}\n",
        "y = dropout i c t {seed=7}\n",
        "u = identity t\ny, m = dropout i c u {seed=7}\n",
        "r = identity c\nu = identity t\ny = dropout i r u {seed=7}\n",
    };
    for (size_t i = 0; i < 2 * PRT_COUNT_OF(dropouts); i++) {
        const bool training = i % 2 == 0;
        char text[512];
        (void)snprintf(text, sizeof(text),
            "a = const f32[2] {1,2}\nc = const f32[] {0.25}\nt = const bool[] {%s}\n"
            "i = identity a\n%sq = div y i\nreturn y\n",
            training ? "true" : "false", dropouts[i / 2]);
        prt_graph *g = graph_from_text(text);
        const prt_str x[1] = { PRT_STR("i") };
        prt_op *op = add_gradient(g, 1, (const char *[]){ "i" }, 1, (const char *[]){ "p" });
        ck_assert_int_eq(prt_train_gradient(op, list(1, x), list(0, NULL), PRT_STR("y")), POPRT_OK);
        prt_value *outputs[2] = { value_named(g, "p"), value_named(g, "q") };
        const prt_str names[2] = { PRT_STR("p"), PRT_STR("q") };
        prt_tensor out[2];
        ck_assert_int_eq(prt_graph_set_outputs(g, 2, outputs, names), POPRT_OK);
        ck_assert_int_eq(prt_ir_run(g, 0, NULL, 2, out, g->module->arena), POPRT_OK);
        for (size_t k = 0; k < 2; k++) {
            const double p = (double)((const float *)out[0].data)[k];
            ck_assert_double_eq(p, (double)((const float *)out[1].data)[k]);
            ck_assert(!training ? p == 1.0 : p == 0.0 || p == (double)(float)(1 / 0.75));
        }
        module_free(g);
    }
}
END_TEST

START_TEST(regions_may_read_x)
{
    static const char *const reads[] = { "i", "j" };
    for (size_t k = 0; k < 2; k++) {
        char text[512];
        (void)snprintf(text, sizeof(text),
            "a = const f32[2] {1,2}\nb = const f32[2] {3,5}\nc = const bool[] {true}\n"
            "i = identity a\nj = identity b\nr = if c {\n"
            "  then_branch {\n    t = neg %s\n    return t\n  }\n"
            "  else_branch {\n    return j\n  }\n}\ny = mul i r\nreturn y\n",
            reads[k]);
        prt_graph *g = graph_from_text(text);
        const prt_str x[1] = { PRT_STR("i") };
        prt_op *op = add_gradient(g, 1, (const char *[]){ "i" }, 1, (const char *[]){ "p" });
        ck_assert_int_eq(prt_train_gradient(op, list(1, x), list(0, NULL), PRT_STR("y")), POPRT_OK);
        if (k == 1)
            ck_values(g, "p", -3.0, -5.0); /* -b */
        else
            ck_values(g, "p", -2.0, -4.0); /* -2 a */
        module_free(g);
    }
}
END_TEST

START_TEST(unused_inputs_have_zero_gradients)
{
    prt_graph *g = graph_from_text(product);
    const prt_str xs[2] = { PRT_STR("i"), PRT_STR("j") };
    prt_op *op = add_gradient(g, 2, (const char *[]){ "i", "j" }, 2, (const char *[]){ "p", "q" });
    ck_assert_int_eq(prt_train_gradient(op, list(2, xs), list(0, NULL), PRT_STR("d")), POPRT_OK);
    ck_values(g, "p", 1.0, 1.0);
    ck_values(g, "q", 0.0, 0.0);
    module_free(g);
}
END_TEST

START_TEST(errors_name_the_missing_value)
{
    prt_graph *g = graph_from_text(product);
    const prt_str wrong[1] = { PRT_STR("nowhere") }, x[1] = { PRT_STR("i") };
    prt_op *op = add_gradient(g, 1, (const char *[]){ "i" }, 1, (const char *[]){ "p" });
    ck_assert_int_eq(prt_train_gradient(op, list(1, wrong), list(0, NULL), PRT_STR("c")),
        POPRT_E_NOT_FOUND);
    ck_assert_str_eq(prt_error_last()->subject, "node");
    ck_assert_ptr_nonnull(strstr(prt_error_last()->message, "'nowhere'"));
    ck_assert_int_eq(prt_train_gradient(op, list(1, x), list(0, NULL), PRT_STR("nowhere")),
        POPRT_E_NOT_FOUND);
    ck_assert_int_eq(prt_train_gradient(op, list(1, x), list(0, NULL), PRT_STR("p")),
        POPRT_E_NOT_FOUND);
    ck_assert_int_eq(prt_train_gradient(op, list(1, x), list(1, x), PRT_STR("c")), POPRT_E_PARSE);
    module_free(g);
}
END_TEST

PRT_TEST_MAIN("train/gradient", names_select_the_differentiated_values, inputs_select_the_point,
    the_last_operator_may_be_y, gradients_have_gradients, regions_may_read_x,
    dropout_scales_by_its_mask, unused_inputs_have_zero_gradients, errors_name_the_missing_value)
