/* SPDX-License-Identifier: MIT */
/* test_weights.c — matrices that become panels, and those that stay. */
#include <stdio.h>
#include <stdlib.h>

#include "support/check_main.h"
#include "support/graph_text.h"

/* A graph whose @W stands for a constant matrix of r rows and c columns. */
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

START_TEST(other_products_stay)
{
    static const char *const graphs[] = { "x = input f32[4,40]\nw = input f32[40,26]\n"
                                          "y = matmul x w\nreturn y\n",
        "x = input f32[2,2]\nw = const f32[2,2] {1,2,3,4}\ny = matmul x w\nreturn y\n" };
    for (size_t i = 0; i < PRT_COUNT_OF(graphs); i++) {
        prt_graph *g = graph_from_text(graphs[i]);
        ck_assert(!run_pass(g, "pack_weights", NULL));
        module_free(g);
    }
    char *text = with_matrix("x = input f32[5,40]\nb = input f32[5,26]\n", 40, 26,
        "y = gemm x w b\nz = gemm x w {alpha=2}\nreturn y, z\n");
    prt_graph *g = graph_from_text(text);
    ck_assert(!run_pass(g, "pack_weights", NULL));
    module_free(g);
    free(text);
}
END_TEST

PRT_TEST_MAIN("pass/pack/weights", products_read_panels, other_products_stay)
