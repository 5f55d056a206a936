/* SPDX-License-Identifier: MIT */
/* test_scatter.c — replace_scatter_nd_with_concat: boxes that become Concat, and near misses. */
#include <stdio.h>

#include "support/check_main.h"
#include "support/graph_text.h"

#define PASS "replace_scatter_nd_with_concat"

/* A ScatterND into f32[3,4,5] of the box [begin, end) of its first `axes` axes. */
static const char *of_box(uint32_t axes, const int *begin, const int *end, const char *updates)
{
    static char text[8192];
    char indices[4096];
    int at = 0, dims[3] = { 1, 1, 1 };
    for (uint32_t k = 0; k < axes; k++)
        dims[k] = end[k] - begin[k];
    for (int i = 0; i < dims[0] * dims[1] * dims[2]; i++) {
        const int place[3] = { i / (dims[1] * dims[2]), i / dims[2] % dims[1], i % dims[2] };
        for (uint32_t k = 0; k < axes; k++)
            at += snprintf(indices + at, sizeof(indices) - (size_t)at, "%s%d", at != 0 ? "," : "",
                begin[k] + place[k]);
    }
    (void)snprintf(text, sizeof(text),
        "x = input f32[3,4,5]\nu = input f32[%s]\n"
        "i = const i64[%d,%u] {%s}\ny = scatter_nd x i u\nreturn y\n",
        updates, dims[0] * dims[1] * dims[2], axes, indices);
    return text;
}

static void assert_becomes_concats(const char *text, int concats)
{
    prt_graph *g = graph_from_text(text);
    int found = 0;
    ck_assert_msg(run_pass(g, PASS, NULL), "%s", text);
    prt_for_each_op (op, g) {
        ck_assert(!prt_op_is(op, PRT_OP_scatter_nd));
        found += prt_op_is(op, PRT_OP_concat);
    }
    ck_assert_int_eq(found, concats);
    module_free(g);
    assert_pass_keeps_results(text, PASS, 0);
}

START_TEST(boxes_become_concat)
{
    static const struct {
        uint32_t axes;
        int begin[3], end[3];
        const char *updates;
        int concats;
    } cases[] = {
        { 3, { 0, 0, 0 }, { 3, 4, 5 }, "60", 0 },
        { 1, { 1 }, { 3 }, "2,4,5", 1 },
        { 1, { 1 }, { 2 }, "1,4,5", 1 },
        { 2, { 0, 1 }, { 3, 4 }, "9,5", 1 },
        { 3, { 0, 0, 2 }, { 3, 4, 4 }, "24", 1 },
        { 3, { 1, 0, 2 }, { 2, 4, 4 }, "8", 2 },
        { 3, { 1, 1, 1 }, { 3, 3, 3 }, "8", 3 },
        { 3, { 0, 3, 0 }, { 1, 4, 1 }, "1", 3 },
    };
    for (size_t i = 0; i < PRT_COUNT_OF(cases); i++)
        assert_becomes_concats(of_box(cases[i].axes, cases[i].begin, cases[i].end,
                                   cases[i].updates),
            cases[i].concats);
    /* From the end; as exporters have it, a dim for each axis; of other types. */
    assert_becomes_concats("x = input i64[4,2]\nu = input i64[2,2]\ni = const i64[2,1] {-2,-1}\n"
                           "y = scatter_nd x i u\nreturn y\n",
        1);
    assert_becomes_concats("x = const f32[1,4] zeros\nu = input f32[1,2]\n"
                           "i = const i64[1,2,2] {0,1,0,2}\ny = scatter_nd x i u\nreturn y\n",
        1);
}
END_TEST

/* Nothing of x is left: the updates, which cannot be an output by another name. */
START_TEST(whole_replacement_becomes_identity)
{
    prt_graph *g = graph_from_text("x = input f32[2,3]\nu = input f32[2,3]\n"
                                   "i = const i64[2,1] {0,1}\ny = scatter_nd x i u\nreturn y\n");
    ck_assert(run_pass(g, PASS, NULL));
    assert_text_has(graph_text(g), "identity u");
    ck_assert(!run_pass(g, PASS, NULL));
    module_free(g);
}
END_TEST

START_TEST(near_misses_are_left)
{
    static const char *const graphs[] = {
        /* steps, another order, a place twice, out of range, sums, indices and shapes unknown */
        "x = input f32[5]\nu = input f32[2]\ni = const i64[2,1] {0,2}\n"
        "y = scatter_nd x i u\nreturn y\n",
        "x = input f32[5]\nu = input f32[2]\ni = const i64[2,1] {2,1}\n"
        "y = scatter_nd x i u\nreturn y\n",
        "x = input f32[5]\nu = input f32[3]\ni = const i64[3,1] {1,1,3}\n"
        "y = scatter_nd x i u\nreturn y\n",
        "x = input f32[5]\nu = input f32[2]\ni = const i64[2,1] {4,5}\n"
        "y = scatter_nd x i u\nreturn y\n",
        "x = input f32[5]\nu = input f32[2]\ni = const i64[2,1] {-6,-5}\n"
        "y = scatter_nd x i u\nreturn y\n",
        "x = input f32[5]\nu = input f32[2]\ni = const i64[2,1] {1,2}\n"
        "y = scatter_nd x i u {reduction=\"add\"}\nreturn y\n",
        "x = input f32[5]\nu = input f32[2]\ni = input i64[2,1]\n"
        "y = scatter_nd x i u\nreturn y\n",
        "x = input f32[n]\nu = input f32[2]\ni = const i64[2,1] {0,1}\n"
        "y = scatter_nd x i u\nreturn y\n",
        "x = input f32[3,3]\nu = input f32[4]\ni = const i64[4,2] {0,0,0,1,1,1,1,2}\n"
        "y = scatter_nd x i u\nreturn y\n",
        "x = input f32[3]\nu = input f32[0]\ni = const i64[0,1] {}\n"
        "y = scatter_nd x i u\nreturn y\n",
    };
    for (size_t i = 0; i < PRT_COUNT_OF(graphs); i++)
        assert_pass_leaves(PASS, NULL, graphs[i]);
}
END_TEST

PRT_TEST_MAIN("pass/replace/scatter", boxes_become_concat, whole_replacement_becomes_identity,
    near_misses_are_left)
