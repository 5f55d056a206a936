/* SPDX-License-Identifier: MIT */
/*
 * test_weights.c — pack_weights: matrices that become panels, and matrices that stay.
 * Covers: recurrent.c.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/check_main.h"
#include "support/graph_text.h"

/* A graph in which @W is replaced by a constant matrix of r rows and c columns. */
static char *with_matrix(const char *before, int r, int c, const char *after)
{
    const size_t size = (size_t)r * (size_t)c * 8 + 1024;
    char *text = malloc(size);
    size_t at = (size_t)snprintf(text, size, "%sw = const f32[%d,%d] {", before, r, c);
    for (int i = 0; i < r * c; i++)
        at += (size_t)snprintf(text + at, size - at, "%s%d", i != 0 ? "," : "", i * 7 % 19 - 9);
    (void)snprintf(text + at, size - at, "}\n%s", after);
    return text;
}

static void is_packed(const char *before, int r, int c, const char *after)
{
    char *text = with_matrix(before, r, c, after);
    prt_graph *g = graph_from_text(text);
    ck_assert_msg(run_pass(g, "pack_weights", NULL), "%s", after);
    ck_assert(prt_op_is(g->first, PRT_OP_fused_linear));
    ck_assert(!run_pass(g, "pack_weights", NULL));
    module_free(g);
    assert_pass_keeps_results(text, "pack_weights", 1e-6);
    ck_assert_int_eq(held_after_pass(text, "pack_weights"), 1);
    free(text);
}

START_TEST(products_read_panels)
{
    static const int sizes[][2] = { { 40, 26 }, { 33, 64 }, { 17, 130 }, { 20, 80 } };
    for (size_t i = 0; i < PRT_COUNT_OF(sizes); i++) {
        const int k = sizes[i][0], n = sizes[i][1];
        char before[128];
        (void)snprintf(before, sizeof(before), "x = input f32[2,3,%d]\n", k);
        is_packed(before, k, n, "y = matmul x w\nreturn y\n");
        (void)snprintf(before, sizeof(before), "x = input f32[5,%d]\nb = input f32[%d]\n", k, n);
        is_packed(before, k, n, "y = gemm x w b\nreturn y\n");
        is_packed(before, n, k, "y = gemm x w b {transB=1}\nreturn y\n");
        is_packed(before, n, k,
            "y = fused_linear x w b {transB=1,activation=\"Relu\"}\nreturn y\n");
    }
    is_packed("x = input f32[n,40]\n", 40, 26, "y = matmul x w\nreturn y\n");
}
END_TEST

static void assert_stays(const char *text)
{
    prt_graph *g = graph_from_text(text);
    ck_assert_msg(!run_pass(g, "pack_weights", NULL), "%s", text);
    module_free(g);
}

START_TEST(other_products_stay)
{
    static const char *const graphs[] = { "x = input f32[4,40]\nw = input f32[40,26]\n"
                                          "y = matmul x w\nreturn y\n",
        "x = input f32[2,2]\nw = const f32[2,2] {1,2,3,4}\ny = matmul x w\nreturn y\n" };
    for (size_t i = 0; i < PRT_COUNT_OF(graphs); i++)
        assert_stays(graphs[i]);
    char *text = with_matrix("x = input f32[5,40]\nb = input f32[5,26]\n", 40, 26,
        "y = gemm x w b\nz = gemm x w {alpha=2}\nreturn y, z\n");
    assert_stays(text);
    free(text);
}
END_TEST

/* ---- recurrent operators ---- */

/* `count` small numbers as a constant. */
static size_t put_constant(char *text, size_t size, const char *name, const int *dims)
{
    const int count = dims[0] * dims[1] * dims[2];
    size_t at =
        (size_t)snprintf(text, size, "%s = const f32[%d,%d,%d] {", name, dims[0], dims[1], dims[2]);
    for (int i = 0; i < count; i++)
        at +=
            (size_t)snprintf(text + at, size - at, "%s%d", i != 0 ? ",0.0" : "0.0", i * 7 % 19 + 1);
    return at + (size_t)snprintf(text + at, size - at, "}\n");
}

/* X has 3 steps and a batch of 2; w and r have the given number of gates. */
static char *recurrent(int dirs, int gates, int input, int hidden, const char *rest)
{
    const size_t size = 1 << 18;
    const int w[3] = { dirs, gates * hidden, input }, r[3] = { dirs, gates * hidden, hidden };
    char *text = malloc(size);
    size_t at = (size_t)snprintf(text, size, "x = input f32[3,2,%d]\n", input);
    at += put_constant(text + at, size - at, "w", w);
    at += put_constant(text + at, size - at, "r", r);
    (void)snprintf(text + at, size - at, "%s", rest);
    return text;
}

START_TEST(recurrent_operators_read_panels)
{
    static const struct {
        int dirs, gates, input;
        const char *rest, *line;
    } all[] = {
        { 1, 1, 5, "y = rnn x w r\nreturn y\n", "packed_rnn x" },
        { 2, 3, 5,
            "h0 = input f32[2,2,22]\nl = const i32[2] {3,1}\nb = input f32[2,132]\n"
            "y, h = gru x w r b l h0 {direction=bidirectional,clip=0.5}\nreturn h, y\n",
            "direction=bidirectional" },
        { 1, 3, 16, "_, y = gru x w r {linear_before_reset=1,hidden_size=22,layout=1}\nreturn y\n",
            "linear_before_reset=1" },
        { 1, 4, 70,
            "b = input f32[1,176]\n"
            "y, h, c = lstm x w r b {direction=reverse,activations=[Relu,Tanh,Sigmoid]}\n"
            "return y, h, c\n",
            "input_size=70" },
        { 1, 4, 1,
            "b = input f32[1,176]\nh0 = input f32[1,2,22]\np = input f32[1,66]\n"
            "_, _, c = lstm x w r b _ h0 h0 p {input_forget=1}\nreturn c\n",
            "hidden_size=22" },
    };
    for (size_t i = 0; i < PRT_COUNT_OF(all); i++) {
        char *text = recurrent(all[i].dirs, all[i].gates, all[i].input, all[i].gates == 1 ? 40 : 22,
            all[i].rest);
        prt_graph *g = graph_from_text(text);
        ck_assert_msg(run_pass(g, "pack_weights", NULL), "%s", all[i].rest);
        ck_assert_msg(strstr(graph_text(g), all[i].line) != NULL, "%s", all[i].rest);
        ck_assert(strstr(graph_text(g), "packed_") != NULL);
        ck_assert_ptr_null(g->first->next);
        ck_assert_int_eq(prt_op_input(g->first, 1)->type->rank, 1);
        ck_assert(!run_pass(g, "pack_weights", NULL));
        module_free(g);
        assert_pass_keeps_results(text, "pack_weights", 0);
        free(text);
    }
}
END_TEST

START_TEST(other_recurrent_operators_stay)
{
    static const char *const graphs[] = {
        "x = input f32[3,2,5]\nw = input f32[1,80,5]\nr = input f32[1,80,20]\n"
        "y = lstm x w r\nreturn y\n",
        "x = input f32[3,1,1]\nw = const f32[1,1,1] {1}\nr = const f32[1,1,1] {2}\n"
        "y = rnn x w r\nreturn y\n",
    };
    for (size_t i = 0; i < PRT_COUNT_OF(graphs); i++)
        assert_stays(graphs[i]);
    /* One of the two is not a constant. */
    char *text = recurrent(1, 4, 5, 20,
        "v = input f32[1,80,20]\ny = lstm x w v\n"
        "u = mul r r\nreturn y, u\n");
    assert_stays(text);
    free(text);
}
END_TEST

START_TEST(weights_stay_for_other_readers)
{
    char *text = recurrent(1, 4, 5, 20, "y = lstm x w r\nu = neg r\nreturn y, u\n");
    prt_graph *g = graph_from_text(text);
    ck_assert(run_pass(g, "pack_weights", NULL));
    ck_assert(prt_op_is(g->first, PRT_OP_packed_lstm));
    ck_assert_int_eq(prt_op_input(g->first->next, 0)->type->rank, 3);
    module_free(g);
    assert_pass_keeps_results(text, "pack_weights", 0);
    free(text);
}
END_TEST

PRT_TEST_MAIN("pass/pack/weights", products_read_panels, other_products_stay,
    recurrent_operators_read_panels, other_recurrent_operators_stay, weights_stay_for_other_readers)
