/* SPDX-License-Identifier: MIT */
/* test_rewrite.c — the pattern engine: chains, new ops, failures, patterns without an end. */
#include <stdio.h>

#include "pass/engine/rewrite.h"
#include "support/check_main.h"
#include "support/graph_text.h"

/* neg(neg(x)) is x. */
static bool double_neg(prt_pass *p, prt_build *b, prt_op *root)
{
    (void)p;
    const prt_op *inner = prt_match_producer(root, 0, PRT_OP_neg);
    return inner != NULL && prt_pass_replace(b, &root->out[0], prt_op_input(inner, 0));
}

/* x - y is x + neg(y). */
static bool sub_to_add(prt_pass *p, prt_build *b, prt_op *root)
{
    (void)p;
    prt_value *neg = prt_build_unary(b, PRT_OP_neg, prt_op_input(root, 1));
    prt_value *sum = prt_build_binary(b, PRT_OP_add, prt_op_input(root, 0), neg);
    return sum != NULL && prt_pass_replace(b, &root->out[0], sum);
}

static bool for_ever(prt_pass *p, prt_build *b, prt_op *root)
{
    (void)p;
    prt_value *again = prt_build_unary(b, PRT_OP_exp, prt_op_input(root, 0));
    return again != NULL && prt_pass_replace(b, &root->out[0], again);
}

static bool fails(prt_pass *p, prt_build *b, prt_op *root)
{
    (void)p;
    b->status = prt_fail(POPRT_E_LIMIT, prt_op_label(root), "no");
    return false;
}

static poprt_status run(prt_graph *g, uint32_t n, const prt_rewrite *rewrites, bool *changed)
{
    static const prt_pass_def def = { .name = "test", .kind = PRT_PASS_pattern };
    prt_pass p = { .def = &def, .module = g->module };
    ck_assert_int_eq(prt_arena_create(NULL, 0, &p.arena), POPRT_OK);
    *changed = false;
    const poprt_status status = prt_rewrite_graph(&p, g, rewrites, n, changed);
    prt_arena_release(p.arena);
    ck_assert_int_eq(prt_ir_verify(g->module), POPRT_OK);
    return status;
}

START_TEST(rewrites_feed_each_other)
{
    static const prt_rewrite both[] = { { PRT_OP_neg, double_neg }, { PRT_OP_sub, sub_to_add } };
    prt_graph *g =
        graph_from_text("x = input f32[2]\ny = input f32[2]\n"
                        "a = neg y\nb = sub x a\nc = neg b\nd = neg c\ne = sub d y\nreturn e\n");
    bool changed;
    ck_assert_int_eq(run(g, 2, both, &changed), POPRT_OK);
    ck_assert(changed);
    ck_assert_graph(g,
        "x = input f32[2]\ny = input f32[2]\n"
        "b = add x y\n%0 = neg y\ne = add b %0\nreturn e\n");
    ck_assert_int_eq(run(g, 2, both, &changed), POPRT_OK);
    ck_assert(!changed);
    module_free(g);
}
END_TEST

START_TEST(long_chains_collapse)
{
    static char text[200000];
    size_t at = (size_t)snprintf(text, sizeof(text), "x = input f32[2]\n%%0 = exp x\n");
    const int n = 5000;
    for (int i = 0; i < n; i++)
        at += (size_t)snprintf(text + at, sizeof(text) - at, "%%%d = neg %%%d\n", i + 1, i);
    (void)snprintf(text + at, sizeof(text) - at, "y = abs %%%d\nreturn y\n", n);
    static const prt_rewrite one[] = { { PRT_OP_neg, double_neg } };
    prt_graph *g = graph_from_text(text);
    bool changed;
    ck_assert_int_eq(run(g, 1, one, &changed), POPRT_OK);
    ck_assert_graph(g, "x = input f32[2]\n%0 = exp x\ny = abs %0\nreturn y\n");
    module_free(g);
}
END_TEST

START_TEST(patterns_without_an_end_are_stopped)
{
    static const prt_rewrite one[] = { { PRT_OP_exp, for_ever } };
    prt_graph *g = graph_from_text("x = input f32[2]\ny = exp x\nz = neg y\nreturn z\n");
    bool changed;
    ck_assert_int_eq(run(g, 1, one, &changed), POPRT_E_INTERNAL);
    module_free(g);
}
END_TEST

START_TEST(failures_end_the_pass)
{
    static const prt_rewrite one[] = { { PRT_OP_exp, fails } };
    prt_graph *g = graph_from_text("x = input f32[2]\ny = exp x\nreturn y\n");
    bool changed;
    ck_assert_int_eq(run(g, 1, one, &changed), POPRT_E_LIMIT);
    ck_assert(!changed);
    module_free(g);
}
END_TEST

START_TEST(interior_values_have_one_reader)
{
    prt_graph *g =
        graph_from_text("x = input f32[2]\na = exp x\nb = neg a\nc = abs a\nd = exp c\ne = neg d\n"
                        "return b, e, d\n");
    const prt_op *b = g->first->next, *e = g->last;
    ck_assert_ptr_nonnull(prt_match_producer(b, 0, PRT_OP_exp));
    ck_assert_ptr_null(prt_match_interior(b, 0, PRT_OP_exp));
    ck_assert_ptr_null(prt_match_interior(e, 0, PRT_OP_exp));
    ck_assert_ptr_nonnull(prt_match_interior(e->prev, 0, PRT_OP_abs));
    ck_assert_ptr_null(prt_match_producer(b, 0, PRT_OP_neg));
    ck_assert_ptr_null(prt_match_producer(b, 5, PRT_OP_exp));
    module_free(g);
}
END_TEST

PRT_TEST_MAIN("pass/rewrite", rewrites_feed_each_other, long_chains_collapse,
    patterns_without_an_end_are_stopped, failures_end_the_pass, interior_values_have_one_reader)
