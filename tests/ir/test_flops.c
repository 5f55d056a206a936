/* SPDX-License-Identifier: MIT */
/* test_flops.c — FLOPs of nodes, compared with hand counts. */
#include "ir/flops.h"
#include "support/check_main.h"
#include "support/graph_text.h"

/* The last node of the graph. */
static const struct {
    const char *graph;
    uint64_t flops;
} cases[] = {
    /* 30 sums of 4 terms */
    { "a = input f32[2,3,4]\nb = input f32[4,5]\ny = matmul a b\nreturn y\n", 240 },
    { "a = input f32[4]\nb = input f32[4,5]\ny = matmul a b\nreturn y\n", 40 },
    /* 15 sums of 4 terms, and C */
    { "a = input f32[4,3]\nb = input f32[4,5]\nc = input f32[5]\n"
      "y = gemm a b c {transA=1}\nreturn y\n",
        135 },
    /* 54 sums of 2 * 9 terms, and the bias */
    { "x = input f32[1,4,5,5]\nw = input f32[6,2,3,3]\nb = input f32[6]\n"
      "y = conv x w b {group=2}\nreturn y\n",
        54 * 36 + 54 },
    { "x = input f32[1,4,5,5]\nw = input f32[6,2,3,3]\ny = conv x w {group=2}\nreturn y\n",
        54 * 36 },
    /* 18 elements, each into 4 * 4 */
    { "x = input f32[1,2,3,3]\nw = input f32[2,4,2,2]\ny = conv_transpose x w\nreturn y\n", 576 },
    { "x = input f32[1,1,4,4]\ny = max_pool x {kernel_shape=[2,2], strides=[2,2]}\nreturn y\n",
        16 },
    { "x = input f32[1,2,3,3]\ny = global_average_pool x\nreturn y\n", 18 },
    { "x = input f32[2,3]\na = const i64[1] {1}\ny = reduce_sum x a\nreturn y\n", 6 },
    { "x = input f32[2,1]\nz = input f32[1,3]\ny = add x z\nreturn y\n", 6 },
    { "x = input f32[2,3]\ny = softmax x\nreturn y\n", 30 },
    { "x = input f32[2,4]\ng = input f32[4]\ny = layer_normalization x g\nreturn y\n", 56 },
    { "x = input f32[1,4,1,1]\ny = lrn x {size=3}\nreturn y\n", 40 },
    /* 10 steps: 2 * (48 + 64) of products, 3 for each of 16 gates, 5 for each of 4 states */
    { "x = input f32[5,2,3]\nw = input f32[1,16,3]\nr = input f32[1,16,4]\n"
      "y, h, c = lstm x w r {hidden_size=4}\nreturn h\n",
        2920 },
    { "x = input f32[1,1,3]\nw = input f32[1,6,3]\nr = input f32[1,6,2]\n"
      "y, h = gru x w r {hidden_size=2}\nreturn h\n",
        88 },
    { "x = input f32[1,1,3]\nw = input f32[1,2,3]\nr = input f32[1,2,2]\n"
      "y, h = rnn x w r {hidden_size=2}\nreturn h\n",
        26 },
    /* 6 rows of 5 scores: 4 + 4 terms each, and 6 for the score */
    { "q = input f32[1,2,3,4]\nk = input f32[1,2,5,4]\ny = attention q k k\nreturn y\n", 660 },
    { "q = input f32[1,3,8]\nk = input f32[1,5,8]\n"
      "y = attention q k k {q_num_heads=2,kv_num_heads=2}\nreturn y\n",
        660 },
    /* 24 sums of 4 terms, and 4 rows of 5 scores: 2 + 2 terms each, and 6 for the score */
    { "x = input f32[1,2,4]\nw = input f32[4,12]\nb = input f32[12]\np = input f32[2,1,2,3,2]\n"
      "y, z = ms_attention x w b _ p {num_heads=2}\nreturn y\n",
        192 + 280 },
    { "a = input f32[2,3,4]\nb = input f32[2,4,5]\n"
      "y = einsum a b {equation=\"bij, bjk -> bik\"}\nreturn y\n",
        240 },
    { "a = input f32[2,3]\nb = input f32[4,5]\ny = einsum a b {equation=\"ij,kl->ijkl\"}\n"
      "return y\n",
        120 },
    { "a = input f32[2,3,4]\ny = einsum a a {equation=\"...i,...i->...\"}\nreturn y\n", 48 },
    { "a = input f32[2,3]\ny = einsum a {equation=\"ij->ji\"}\nreturn y\n", 0 },
    /* Data movement, views and names. */
    { "x = input f32[2,3]\ny = transpose x\nreturn y\n", 0 },
    { "x = input f32[2,3]\ns = const i64[1] {6}\ny = reshape x s\nreturn y\n", 0 },
    { "x = input f32[2,3]\ny = shape x\nreturn y\n", 0 },
    { "c = input bool[2]\nx = input f32[2]\ny = where c x x\nreturn y\n", 0 },
    { "x = input f32[n,3]\ny = transpose x\nreturn y\n", 0 },
    /* More than the integer holds. */
    { "a = input f32[2147483648,2147483648]\ny = matmul a a\nreturn y\n", UINT64_MAX },
};

START_TEST(operators_have_the_expected_flops)
{
    for (size_t i = 0; i < PRT_COUNT_OF(cases); i++) {
        prt_graph *g = graph_from_text(cases[i].graph);
        uint64_t flops = 1;
        ck_assert_msg(prt_op_flops(g->last, &flops), "not known: %s", cases[i].graph);
        ck_assert_msg(flops == cases[i].flops, "%llu instead of %llu: %s",
            (unsigned long long)flops, (unsigned long long)cases[i].flops, cases[i].graph);
        module_free(g);
    }
}
END_TEST

START_TEST(unknown_dims_give_unknown_flops)
{
    static const char *const graphs[] = {
        "x = input f32[n]\ny = exp x\nreturn y\n",
        "x = input f32[2,n]\nw = input f32[n,3]\ny = matmul x w\nreturn y\n",
        ("x = input f32[n,2,3]\nw = input f32[1,16,3]\nr = input f32[1,16,4]\n"
         "y, h, c = lstm x w r {hidden_size=4}\nreturn h\n"),
        "x = input f32[2]\ny = \"my.Own\" x : f32[2]\nreturn y\n",
    };
    for (size_t i = 0; i < PRT_COUNT_OF(graphs); i++) {
        prt_graph *g = graph_from_text(graphs[i]);
        uint64_t flops;
        ck_assert_msg(!prt_op_flops(g->last, &flops), "known: %s", graphs[i]);
        module_free(g);
    }
}
END_TEST

START_TEST(regions_are_counted_once)
{
    prt_graph *g = graph_from_text("c = input bool[]\nx = input f32[3]\nz = input f32[n]\n"
                                   "r = if c {\n  then_branch { t = neg x; return t }\n"
                                   "  else_branch { u = exp z; v = abs x; w = add v x; return w }\n"
                                   "}\nreturn r\n");
    uint64_t flops = 1, unknown = 0;
    ck_assert(prt_op_flops(g->last, &flops) && flops == 0);
    ck_assert_uint_eq(prt_op_flops_within(g->last, &unknown), 3 + 3 + 3);
    ck_assert_uint_eq(unknown, 1);
    module_free(g);
}
END_TEST

PRT_TEST_MAIN("ir/flops", operators_have_the_expected_flops, unknown_dims_give_unknown_flops,
    regions_are_counted_once)
