/* SPDX-License-Identifier: MIT */
/*
 * test_merge_models.c — several graphs merged as branches of one: structure, names, types,
 * refused models, and the mark of the resulting program.
 * Covers: interface.c.
 */
#include "ir/merge_models.h"

#include "compiler/compile.h"
#include "ir/extra.h"
#include "ir/interface.h"
#include "support/check_main.h"
#include "support/graph_text.h"
#include "support/program_text.h"

static prt_module *fuse_texts(const char *a, const char *b)
{
    const prt_graph *first = graph_from_text(a), *second = graph_from_text(b);
    const prt_module *modules[2] = { first->module, second->module };
    prt_module *out = NULL;
    const poprt_status status = prt_ir_merge_models(modules, 2, &out);
    ck_assert_msg(status == POPRT_OK, "%s: %s", prt_error_last()->subject,
        prt_error_last()->message);
    prt_module_release(modules[0]->main->module);
    prt_module_release(modules[1]->main->module);
    ck_assert_int_eq(prt_ir_verify(out), POPRT_OK);
    return out;
}

/* Asserts that the first of the two models cannot be merged. */
static void check_refusal(const char *text, poprt_status status, const char *subject,
    const char *part)
{
    const prt_graph *first = graph_from_text(text),
                    *second = graph_from_text("x = input f32[2]\ny = neg x\nreturn y\n");
    const prt_module *modules[2] = { first->module, second->module };
    prt_module *out = NULL;
    ck_assert_int_eq(prt_ir_merge_models(modules, 2, &out), status);
    ck_assert_ptr_null(out);
    ck_assert_str_eq(prt_error_last()->subject, subject);
    ck_assert_msg(strstr(prt_error_last()->message, part) != NULL, "%s", prt_error_last()->message);
    prt_module_release(first->module);
    prt_module_release(second->module);
}

START_TEST(graphs_become_branches)
{
    prt_module *m = fuse_texts("x = input f32[2]\nw = const f32[2] {1, 2}\n"
                               "y = mul x w @node\nz = neg y\nreturn z as out\n",
        "x = input f16[3]\ny = exp x\nreturn y\n");
    ck_assert_graph(m->main,
        "index = input u32[1]\n"
        "graph0/x = input f32[2]\n"
        "graph1/x = input f16[3]\n"
        "graph0/selected = const i64[] {0}\n"
        "graph1/selected = const i64[] {1}\n"
        "index/int64 = cast index {to=7} @index\n"
        "graph0/selected_0 = equal index/int64 graph0/selected @graph0/selected\n"
        "graph0/out = if graph0/selected_0 {\n"
        "  then_branch {\n"
        "    graph0/w = const f32[2] {1, 2}\n"
        "    graph0/y = mul graph0/x graph0/w @graph0/node\n"
        "    graph0/z = neg graph0/y\n"
        "    return graph0/z\n"
        "  }\n"
        "  else_branch {\n"
        "    graph0/else = const f32[] {0}\n"
        "    graph0/else_1 = const i64[1] {2}\n"
        "    graph0/else_2 = expand graph0/else graph0/else_1 @graph0/else\n"
        "    return graph0/else_2\n"
        "  }\n"
        "} @graph0\n"
        "graph1/selected_3 = equal index/int64 graph1/selected @graph1/selected\n"
        "graph1/y = if graph1/selected_3 {\n"
        "  then_branch {\n"
        "    graph1/y_4 = exp graph1/x\n"
        "    return graph1/y_4\n"
        "  }\n"
        "  else_branch {\n"
        "    graph1/else = const f16[] {0}\n"
        "    graph1/else_5 = const i64[1] {3}\n"
        "    graph1/else_6 = expand graph1/else graph1/else_5 @graph1/else\n"
        "    return graph1/else_6\n"
        "  }\n"
        "} @graph1\n"
        "return graph0/out, graph1/y\n");
    ck_assert_uint_eq(prt_ir_merged_models(m), 2);
    prt_module_release(m);
}
END_TEST

START_TEST(weights_share_their_bytes_and_outlive_the_models)
{
    const prt_graph *a = graph_from_text("x = input f32[2]\nw = const f32[2] {1, 2}\n"
                                         "y = mul x w\nreturn y\n");
    const prt_module *modules[2] = { a->module, a->module };
    const unsigned char *bytes = a->constants.data[0]->constant->data;
    prt_module *m = NULL;
    ck_assert_int_eq(prt_ir_merge_models(modules, 2, &m), POPRT_OK);
    prt_module_release(a->module);
    uint32_t found = 0;
    prt_for_each_op (op, m->main)
        if (op->n_regions == 2) {
            const prt_value *w = op->regions[0]->constants.data[0];
            float second;
            ck_assert_ptr_eq(w->constant->data, bytes);
            memcpy(&second, w->constant->data + 4, 4);
            ck_f32(second, 2.0f);
            found++;
        }
    ck_assert_uint_eq(found, 2);
    prt_module_release(m);
}
END_TEST

/* An output that is its input, one given twice, a constant, an open dimension, a narrow type, a
 * sequence; a sequence and an optional as inputs. */
START_TEST(interfaces_of_all_kinds_are_merged)
{
    prt_module *m = fuse_texts("x = input f32[2]\nw = const f32[3] {1, 2, 3}\ny = neg x\n"
                               "return x, w, y, y as again, x as copy\n",
        "q = input seq(f32[?])\no = input optional(f32[])\nx = input i64[4]\nz = nonzero x\n"
        "b = cast x {to=16}\nreturn z, b, q as r\n");
    const prt_graph *g = m->main;
    static const char *const names[] = { "graph0/x", "graph0/w", "graph0/y", "graph0/again",
        "graph0/copy", "graph1/z", "graph1/b", "graph1/r" };
    ck_assert_uint_eq(g->ret->n_in, 8);
    for (uint32_t i = 0; i < 8; i++) {
        ck_assert(prt_str_is(g->output_names.data[i], names[i]));
        ck_assert_msg((g->ret->in[i].value->def == NULL) == (i == 0), "output %u", i);
    }
    ck_assert_int_eq(prt_ir_infer(m->main), POPRT_OK);
    const prt_type *open = g->ret->in[5].value->type;
    ck_assert_int_eq(open->rank, 2);
    ck_assert(open->dims[1] == PRT_DIM_UNKNOWN);
    ck_assert_int_eq(g->ret->in[6].value->type->dtype, PRT_DTYPE_bf16);
    ck_assert_int_eq(g->ret->in[7].value->type->kind, PRT_VALUE_SEQUENCE);
    const prt_compile_options options = { .allocator = NULL };
    prt_program *p = NULL;
    ck_assert_int_eq(prt_compile(m, &options, &p), POPRT_OK);
    ck_assert_uint_eq(p->n_graphs, 2);
    prt_program_release(p);
    prt_module_release(m);
}
END_TEST

/* A name that a model lists twice is one output of its If, listed twice. */
START_TEST(names_may_be_listed_twice)
{
    prt_module *m = fuse_texts("x = input f32[2]\nw = const f32[2] {1, 2}\ny = neg x\n"
                               "return y, w, x, y, w, x\n",
        "x = input f32[2]\nz = abs x\nreturn z\n");
    static const char *const names[] = { "graph0/y", "graph0/w", "graph0/x", "graph0/y", "graph0/w",
        "graph0/x", "graph1/z" };
    const prt_op *ret = m->main->ret;
    ck_assert_uint_eq(ret->n_in, 7);
    for (uint32_t i = 0; i < 7; i++)
        ck_assert_str_eq(m->main->output_names.data[i].data, names[i]);
    for (uint32_t i = 0; i < 3; i++)
        ck_assert_ptr_eq(ret->in[i].value, ret->in[i + 3].value);
    ck_assert_uint_eq(ret->in[0].value->def->n_out, 2);
    const prt_compile_options options = { .allocator = NULL };
    prt_program *p = NULL;
    ck_assert_int_eq(prt_compile(m, &options, &p), POPRT_OK);
    ck_assert_uint_eq(p->n_graphs, 2);
    prt_program_release(p);
    prt_module_release(m);
}
END_TEST

START_TEST(symbols_of_two_models_stay_distinct)
{
    static const char *const text = "x = input f32[n]\ny = neg x\nreturn y\n";
    const prt_graph *a = graph_from_text(text), *b = graph_from_text(text);
    const prt_module *modules[2] = { a->module, b->module };
    const int64_t two = 2, three = 3;
    prt_module *m = NULL;
    uint32_t found[2] = { 0, 0 };
    ck_assert_int_eq(prt_module_set_input_shape(a->module, "x", &two, 1), POPRT_OK);
    ck_assert_int_eq(prt_module_set_input_shape(b->module, "x", &three, 1), POPRT_OK);
    ck_assert_int_eq(prt_ir_infer(a->module->main), POPRT_OK);
    ck_assert_int_eq(prt_ir_infer(b->module->main), POPRT_OK);
    ck_assert_int_eq(prt_ir_merge_models(modules, 2, &m), POPRT_OK);
    for (size_t i = 0; i < prt_dims_count(m->dims); i++)
        if (prt_dims_at(m->dims, i)->op == PRT_DIM_SYMBOL) {
            const uint32_t graph = prt_fused_graph_of(prt_dims_at(m->dims, i)->symbol);
            ck_assert_uint_lt(graph, 2);
            found[graph]++;
        }
    ck_assert_uint_eq(found[0], 1);
    ck_assert_uint_eq(found[1], 1);
    prt_module_release(a->module);
    prt_module_release(b->module);
    prt_module_release(m);
}
END_TEST

START_TEST(versions_are_the_newest_and_metadata_is_kept_apart)
{
    const prt_graph *a = graph_from_text("x = input f32[2]\ny = neg x\nreturn y\n");
    const prt_graph *b = graph_from_text("x = input f32[2]\ny = exp x\nreturn y\n");
    const prt_module *modules[2] = { a->module, b->module };
    prt_module *m = NULL;
    prt_str value;
    ck_assert_int_eq(prt_module_set_opset(a->module, PRT_STR("ai.onnx"), 13), POPRT_OK);
    ck_assert_int_eq(prt_module_set_opset(b->module, PRT_STR(""), 9), POPRT_OK);
    ck_assert_int_eq(prt_module_set_opset(b->module, PRT_STR("ai.onnx.ml"), 2), POPRT_OK);
    a->module->ir_version = 7;
    b->module->ir_version = 4;
    ck_assert_int_eq(prt_module_set_metadata(b->module, "key", PRT_STR("value")), POPRT_OK);
    ck_assert_int_eq(prt_ir_merge_models(modules, 2, &m), POPRT_OK);
    ck_assert_int_eq(prt_module_opset(m, PRT_STR("")), 13);
    ck_assert_int_eq(prt_module_opset(m, PRT_STR("ai.onnx.ml")), 2);
    ck_assert_int_eq(m->ir_version, 7);
    ck_assert(prt_module_metadata(m, "graph1/key", &value) && prt_str_is(value, "value"));
    ck_assert(!prt_module_metadata(m, "key", &value));
    prt_module_release(a->module);
    prt_module_release(b->module);
    prt_module_release(m);
}
END_TEST

START_TEST(obstacles_to_merging_are_named)
{
    check_refusal("x = input f32[n]\ny = neg x\nreturn y\n", POPRT_E_SHAPE, "x", "set its shape");
    check_refusal("x = input f32\ny = neg x\nreturn y\n", POPRT_E_SHAPE, "x", "set its shape");
    check_refusal("m = input map(i64,f32[])\nx = input f32[2]\ny = neg x\nreturn y\n",
        POPRT_E_UNSUPPORTED, "m", "is a map");
    check_refusal("o = input optional(f32[])\nreturn o as p\n", POPRT_E_UNSUPPORTED, "p",
        "tensors or sequences");
    const prt_graph *g = graph_from_text("x = input f32[2]\ny = neg x\nreturn y\n");
    const prt_module *modules[65];
    prt_module *out = NULL;
    for (size_t i = 0; i < 65; i++)
        modules[i] = g->module;
    ck_assert_int_eq(prt_ir_merge_models(modules, 1, &out), POPRT_E_ARG);
    ck_assert_int_eq(prt_ir_merge_models(modules, 65, &out), POPRT_E_ARG);
    ck_assert_int_eq(prt_ir_merge_models(modules, 64, &out), POPRT_OK);
    ck_assert_uint_eq(prt_ir_merged_models(out), 64);
    ck_assert_uint_eq(out->main->inputs.count, 65);
    prt_module_release(out);
    module_free((prt_graph *)(uintptr_t)g);
}
END_TEST

/* ---- the mark */

START_TEST(the_mark_is_a_number_of_graphs)
{
    static const struct {
        const char *text;
        uint32_t count;
    } rows[] = { { "2", 2 }, { "64", 64 }, { "65", 0 }, { "1", 0 }, { "", 0 }, { "two", 0 },
        { "-2", 0 }, { "002", 0 } };
    const prt_graph *g = graph_from_text("x = input f32[2]\ny = neg x\nreturn y\n");
    ck_assert_uint_eq(prt_ir_merged_models(g->module), 0);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        ck_assert_int_eq(prt_module_set_metadata(g->module, PRT_FUSED_KEY,
                             prt_str_of(rows[i].text)),
            POPRT_OK);
        ck_assert_msg(prt_ir_merged_models(g->module) == rows[i].count, "%s", rows[i].text);
    }
    module_free((prt_graph *)(uintptr_t)g);
}
END_TEST

START_TEST(names_give_the_number_of_their_graph)
{
    static const struct {
        const char *name;
        uint32_t graph;
    } rows[] = { { "graph0/x", 0 }, { "graph63/x/y", 63 }, { "graph7/", 7 },
        { "graph/x", PRT_NO_GRAPH }, { "graph", PRT_NO_GRAPH }, { "graph1", PRT_NO_GRAPH },
        { "graph100/x", PRT_NO_GRAPH }, { "graph-1/x", PRT_NO_GRAPH }, { "Graph1/x", PRT_NO_GRAPH },
        { "", PRT_NO_GRAPH }, { "graph1x/", PRT_NO_GRAPH } };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        ck_assert_msg(prt_fused_graph_of(prt_str_of(rows[i].name)) == rows[i].graph, "%s",
            rows[i].name);
}
END_TEST

/* A mark on a graph of another structure is ignored; in a file it is an error. */
START_TEST(marks_on_other_interfaces_are_ignored)
{
    static const char *const texts[] = { "x = input f32[2]\ny = neg x\nreturn y\n",
        "index = input u32[2]\ngraph0/x = input f32[2]\ny = neg graph0/x\nreturn y as graph0/y\n",
        "index = input i32[1]\ngraph0/x = input f32[2]\ny = neg graph0/x\nreturn y as graph0/y\n",
        "index = input u32[1]\nx = input f32[2]\ny = neg x\nreturn y as graph0/y\n",
        "index = input u32[1]\ngraph0/x = input f32[n]\ny = neg graph0/x\nreturn y as graph0/y\n",
        "index = input u32[1]\ngraph2/x = input f32[2]\ny = neg graph2/x\nreturn y as graph0/y\n",
        "index = input u32[1]\ngraph0/x = input f32[2]\ny = neg graph0/x\nreturn y\n" };
    const prt_compile_options options = { .allocator = NULL };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        prt_graph *g = graph_from_text(texts[i]);
        prt_program *p = NULL, *again = NULL;
        ck_assert_int_eq(prt_module_set_metadata(g->module, PRT_FUSED_KEY, PRT_STR("2")), POPRT_OK);
        ck_assert_int_eq(prt_compile(g->module, &options, &p), POPRT_OK);
        ck_assert_msg(p->n_graphs == 0, "text %zu", i);
        p->n_graphs = 2;
        const test_bytes bytes = popef_of(p);
        ck_assert_int_eq(program_from_bytes(bytes.data, bytes.size, true, &again), POPRT_E_PARSE);
        ck_assert_ptr_nonnull(strstr(prt_error_last()->message, "fused"));
        free(bytes.data);
        prt_program_release(p);
        module_free(g);
    }
}
END_TEST

START_TEST(the_mark_survives_a_file)
{
    prt_module *m = fuse_texts("x = input f32[2]\ny = neg x\nreturn y\n",
        "x = input f32[2]\ny = exp x\nreturn y\n");
    const prt_compile_options options = { .allocator = NULL };
    prt_program *p = NULL, *again = NULL;
    ck_assert_int_eq(prt_compile(m, &options, &p), POPRT_OK);
    const test_bytes bytes = popef_of(p);
    ck_assert_int_eq(program_from_bytes(bytes.data, bytes.size, true, &again), POPRT_OK);
    ck_assert_uint_eq(again->n_graphs, 2);
    free(bytes.data);
    prt_program_release(p);
    prt_program_release(again);
    prt_module_release(m);
}
END_TEST

PRT_TEST_MAIN("ir/fuse", graphs_become_branches, weights_share_their_bytes_and_outlive_the_models,
    interfaces_of_all_kinds_are_merged, names_may_be_listed_twice,
    symbols_of_two_models_stay_distinct, versions_are_the_newest_and_metadata_is_kept_apart,
    obstacles_to_merging_are_named, the_mark_is_a_number_of_graphs,
    names_give_the_number_of_their_graph, marks_on_other_interfaces_are_ignored,
    the_mark_survives_a_file)
