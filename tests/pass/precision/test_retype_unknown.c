/* SPDX-License-Identifier: MIT */
/* test_retype_unknown.c — unknown operators between operators that are converted. */
#include "converter/onnx.h"
#include "ir/build.h"
#include "support/check_main.h"
#include "support/graph_text.h"

/* Returns the graph with the producer of `name` replaced by an op of an unknown domain. */
static prt_graph *with_unknown(const char *text, const char *name)
{
    prt_graph *g = graph_from_text(text);
    prt_value *v = prt_map_find(&g->module->names, prt_str_of(name));
    v->def->def = NULL;
    v->def->domain = PRT_STR("my");
    v->def->name = PRT_STR("Foo");
    v->def->attrs = NULL;
    for (prt_op *op = v->def; op != NULL; op = op->next)
        for (uint32_t i = 0; i < op->n_out; i++)
            if (!prt_value_is_output(&op->out[i]))
                op->out[i].type = prt_type_unknown(g->module->types);
    return g;
}

static void ck_becomes(const char *pass, const char *text, const char *parts)
{
    prt_graph *g = with_unknown(text, "b");
    ck_assert(run_pass(g, pass, NULL));
    assert_text_has(graph_text(g), parts);
    module_free(g);
}

static const char *const chain = "x = input f32[4]\nw = const f32[4] {1, 2, 3, 0.1}\na = relu x\n"
                                 "b = neg a\nc = relu b\nd = mul c w\nreturn d\n";

START_TEST(results_of_unknown_operators_are_cast)
{
    prt_graph *g = with_unknown(chain, "b");
    ck_assert(run_pass(g, "float_to_half", NULL));
    const prt_value *b = prt_map_find(&g->module->names, PRT_STR("b"));
    const prt_value *c = prt_map_find(&g->module->names, PRT_STR("c"));
    const prt_value *d = prt_map_find(&g->module->names, PRT_STR("d"));
    ck_assert_int_eq(b->def->in[0].value->type->dtype, PRT_DTYPE_f32);
    ck_assert_int_eq(b->type->dtype, PRT_DTYPE_f32);
    ck_assert(prt_op_is(c->def->in[0].value->def, PRT_OP_cast));
    ck_assert_int_eq(c->def->in[0].value->type->dtype, PRT_DTYPE_f16);
    ck_assert_int_eq(d->def->in[0].value->type->dtype, PRT_DTYPE_f16);
    ck_assert_int_eq(d->def->in[1].value->type->dtype, PRT_DTYPE_f16);
    module_free(g);
}
END_TEST

START_TEST(products_behind_it_are_mixed)
{
    ck_becomes("float_to_mixed",
        "x = input f32[4,4]\nw = const f32[4,4] fill 0.5\na = relu x\nb = neg a\nc = matmul b w\n"
        "return c\n",
        "f16[4,4]");
}
END_TEST

/* The value_info of its result. */
START_TEST(declared_types_are_believed)
{
    prt_graph *g = with_unknown(chain, "b");
    prt_value *b = prt_map_find(&g->module->names, PRT_STR("b"));
    b->type = prt_type_tensor(g->module->types, PRT_DTYPE_f16, PRT_RANK_UNKNOWN, NULL);
    ck_assert(run_pass(g, "float_to_half", NULL));
    const prt_value *c = prt_map_find(&g->module->names, PRT_STR("c"));
    ck_assert_ptr_eq(c->def->in[0].value, b); /* float16 already */
    ck_assert_int_eq(b->def->in[0].value->type->dtype, PRT_DTYPE_f32);
    module_free(g);
}
END_TEST

/* V of Attention has a separate type variable, so its type is unknown. */
START_TEST(readers_of_unknown_types_stay_float32)
{
    prt_graph *g = with_unknown("q = input f32[1,2,3,4]\na = relu q\nb = neg a\n"
                                "y = attention q q b\nreturn y\n",
        "b");
    ck_assert(run_pass(g, "float_to_half", NULL));
    const prt_op *attention = g->last;
    while (!prt_op_is(attention, PRT_OP_attention))
        attention = attention->prev;
    ck_assert_int_eq(attention->in[0].value->type->dtype, PRT_DTYPE_f32);
    ck_assert_int_eq(attention->in[1].value->type->dtype, PRT_DTYPE_f32);
    module_free(g);
}
END_TEST

PRT_TEST_MAIN("pass/precision/retype_unknown", results_of_unknown_operators_are_cast,
    products_behind_it_are_mixed, declared_types_are_believed,
    readers_of_unknown_types_stay_float32)
