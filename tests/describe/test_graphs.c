/* SPDX-License-Identifier: MIT */
/* test_graphs.c — POPRT_FORMAT_GRAPHS_JSON: operators with their values, attributes and
 * subgraphs. */
#include "describe/describe.h"
#include "ir/ir.h"
#include "support/check_main.h"
#include "support/graph_text.h"

static const char *const model =
    "x = input f32[2,n]\nc = input bool[]\nk = const f32[2,1] {1, 2}\nd = const i64[1] {2}\n"
    "a = add x k @first\n%0 = transpose a {perm=[1,0]}\nm = const f32[] {3}\nb = clip %0 _ m\n"
    "l = leaky_relu b {alpha=0.5}\no = optional {type=f32[2]}\n"
    "v = ml_linear_regressor l {coefficients=[1,2.5],targets=1}\ns = const string[1] {a}\n"
    "t = ml_category_mapper s {cats_strings=[a,b],cats_int64s=[1,2]}\n"
    "y = if c {\n  then_branch {\n    u = gelu l {approximate=tanh}\n    return u\n  }\n"
    "  else_branch {\n    w = neg l\n    return w\n  }\n}\n"
    "z = constant_of_shape d {value=f32[1] {4}}\n"
    "f = \"com.example.F\" y : f32[2]\nreturn f, o, v, t, z\n";

typedef struct text {
    char data[1 << 14];
    size_t size;
} text;

/* Appends the text without its white space. */
static int32_t append(void *user, const void *bytes, size_t size)
{
    text *t = user;
    const char *from = bytes;
    ck_assert_uint_lt(t->size + size, sizeof(t->data));
    for (size_t i = 0; i < size; i++)
        if (from[i] != ' ' && from[i] != '\n')
            t->data[t->size++] = from[i];
    t->data[t->size] = '\0';
    return 0;
}

static const char *described(void)
{
    static text t;
    prt_sink sink;
    prt_graph *g = graph_from_text(model);
    const prt_graph *graphs[3] = { g };
    prt_for_each_op (op, g)
        for (uint32_t i = 0; i < op->n_regions; i++)
            graphs[i + 1] = op->regions[i];
    t.size = 0;
    prt_sink_init(&sink, append, &t);
    ck_assert_int_eq(prt_describe_graphs(g->module, g->module->arena, 3, graphs, &sink), POPRT_OK);
    module_free(g);
    return t.data;
}

static void ck_has(const char *json, const char *part)
{
    ck_assert_msg(strstr(json, part) != NULL, "%s is not in\n%s", part, json);
}

START_TEST(values_have_names_and_types)
{
    const char *json = described();
    ck_has(json,
        "{\"main\":[{\"type\":\"Add\",\"domain\":\"ai.onnx\",\"version\":14,"
        "\"name\":\"first\",\"inputs\":[{\"name\":\"x\",\"type\":\"f32[2,n]\"},"
        "{\"name\":\"k\",\"type\":\"f32[2,1]\",\"constant\":true}],\"outputs\":["
        "{\"name\":\"a\",\"type\":\"f32[2,n]\"}],\"attributes\":{},\"graphs\":[]},");
    ck_has(json,
        "\"type\":\"Clip\",\"domain\":\"ai.onnx\",\"version\":13,\"name\":\"\",\"inputs\":["
        "{\"name\":\"%0."); /* a value without a name */
    ck_has(json, ",null,{\"name\":\"m\",\"type\":\"f32[]\",\"constant\":true}]");
    ck_has(json, "{\"type\":\"F\",\"domain\":\"com.example\",\"version\":0,");
}
END_TEST

START_TEST(attributes_of_every_kind_are_written)
{
    const char *json = described();
    ck_has(json, "\"attributes\":{\"perm\":[1,0]}");
    ck_has(json, "\"attributes\":{\"alpha\":0.5}");
    ck_has(json, "\"attributes\":{\"type\":\"f32[2]\"}");
    ck_has(json, "\"attributes\":{\"coefficients\":[1,2.5],\"targets\":1}");
    ck_has(json, "\"attributes\":{\"cats_strings\":[\"a\",\"b\"],\"cats_int64s\":[1,2]}");
    ck_has(json, "\"attributes\":{\"approximate\":\"tanh\"}");
    ck_has(json, "{\"name\":\"z\",\"type\":\"f32[2]\"}],\"attributes\":{},"); /* a tensor */
}
END_TEST

START_TEST(subgraphs_follow_the_main_graph)
{
    const char *json = described();
    ck_has(json, "\"attributes\":{},\"graphs\":[\"graph1\",\"graph2\"]}");
    ck_has(json, "],\"graph1\":[{\"type\":\"Gelu\",");
    ck_has(json, "],\"graph2\":[{\"type\":\"Neg\",");
}
END_TEST

PRT_TEST_MAIN("describe/graphs", values_have_names_and_types, attributes_of_every_kind_are_written,
    subgraphs_follow_the_main_graph)
