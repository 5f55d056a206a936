/* SPDX-License-Identifier: MIT */
/* test_n_bits.c — products with constant integers of 2, 4 and 8 bits. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/check_main.h"
#include "support/graph_text.h"

#define PASS "pack_n_bits"

static void assert_becomes(const char *text, const char *type, uint32_t inputs)
{
    prt_graph *g = graph_from_text(text);
    ck_assert_msg(run_pass(g, PASS, NULL), "%s", text);
    ck_assert(!run_pass(g, PASS, NULL));
    const prt_op *op = g->first;
    ck_assert_msg(op == g->last && prt_op_is(op, PRT_OP_fused_linear), "%s", text);
    ck_assert_str_eq(prt_dtype_of(prt_op_input(op, 1)->type->dtype)->name, type);
    ck_assert_uint_eq(op->n_in, inputs);
    module_free(g);
    assert_pass_keeps_results(text, PASS, 1e-5);
}

/* Writes a constant of pseudo-random numbers in [low, low + range); returns the length. */
static size_t write_constant(char *text, size_t size, const char *name, const char *type,
    const char *dims, size_t count, int low, int range)
{
    size_t at = (size_t)snprintf(text, size, "%s = const %s[%s] {", name, type, dims);
    for (size_t i = 0; i < count; i++)
        at += (size_t)snprintf(text + at, size - at, "%s%d", i != 0 ? "," : "",
            low + (int)(((unsigned)i * 2654435761u >> 9) % (unsigned)range));
    return at + (size_t)snprintf(text + at, size - at, "}\n");
}

enum { TEXT = 1 << 18 };

static void check_n_bits(int k, int n, int bits, int block, const char *zeros, const char *type)
{
    const int blocks = (k + block - 1) / block, bytes = blocks * block * bits / 8;
    const int packed = (blocks * bits + 7) / 8;
    char *text = malloc(TEXT), dims[64];
    ck_assert_ptr_nonnull(text);
    size_t at = (size_t)snprintf(text, TEXT, "x = input f32[2,3,%d]\n", k);
    (void)snprintf(dims, sizeof(dims), "%d,%d", n, bytes);
    at += write_constant(text + at, TEXT - at, "w", "u8", dims, (size_t)(n * bytes), 0, 256);
    (void)snprintf(dims, sizeof(dims), "%d", n * blocks);
    at += write_constant(text + at, TEXT - at, "s", "f32", dims, (size_t)(n * blocks), 1, 9);
    if (strcmp(zeros, "u8") == 0) {
        (void)snprintf(dims, sizeof(dims), "%d", n * packed);
        at += write_constant(text + at, TEXT - at, "z", "u8", dims, (size_t)(n * packed), 0, 256);
    } else if (strcmp(zeros, "f32") == 0) {
        at += write_constant(text + at, TEXT - at, "z", "f32", dims, (size_t)(n * blocks), 3, 8);
    }
    (void)snprintf(text + at, TEXT - at,
        "y = ms_matmul_n_bits x w s %s {K=%d, N=%d, bits=%d, block_size=%d}\nreturn y\n",
        zeros[0] != 0 ? "z" : "", k, n, bits, block);
    assert_becomes(text, type, zeros[0] != 0 ? 6 : 5);
    free(text);
}

START_TEST(matmul_n_bits_is_packed)
{
    static const char *const zeros[] = { "", "u8", "f32" };
    for (size_t i = 0; i < 3; i++) {
        check_n_bits(64, 70, 4, 32, zeros[i], "int4");
        check_n_bits(77, 20, 4, 16, zeros[i], "int4");
        check_n_bits(77, 130, 8, 32, zeros[i], "int8");
        check_n_bits(35, 5, 2, 16, zeros[i], "int4");
    }
}
END_TEST

/* Kernels store matrices by rows of K or of N; scales: one, by column, by blocks. */
static void check_qdq(const char *type, int low, int range, const char *scales, int count, int axis,
    const char *attrs, bool zero, bool transposed)
{
    const int n = 70, k = 48;
    char *text = malloc(TEXT);
    ck_assert_ptr_nonnull(text);
    size_t at = (size_t)snprintf(text, TEXT, "x = input f32[3,%d]\n", k);
    at += write_constant(text + at, TEXT - at, "w", type, transposed ? "70,48" : "48,70",
        (size_t)(n * k), low, range);
    at += write_constant(text + at, TEXT - at, "s", "f32", scales, (size_t)count, 1, 9);
    if (zero)
        at += write_constant(text + at, TEXT - at, "z", type, scales, (size_t)count, low, range);
    at += (size_t)snprintf(text + at, TEXT - at, "d = dequantize_linear w s %s {axis=%d%s}\n",
        zero ? "z" : "_", axis, attrs);
    (void)snprintf(text + at, TEXT - at, "%s",
        transposed ? "y = gemm x d {transB=1}\nreturn y\n" : "y = matmul x d\nreturn y\n");
    prt_graph *g = graph_from_text(text);
    ck_assert_msg(run_pass(g, PASS, NULL), "%s", text);
    module_free(g);
    assert_pass_keeps_results(text, PASS, 1e-5);
    free(text);
}

START_TEST(dequantised_weights_are_packed)
{
    static const struct {
        const char *name;
        int low, range;
    } types[] = { { "i4", -8, 16 }, { "u4", 0, 16 }, { "i8", -128, 256 }, { "u8", 0, 256 },
        { "i2", -2, 4 }, { "u2", 0, 4 } };
    for (size_t t = 0; t < PRT_COUNT_OF(types); t++)
        for (int zero = 0; zero < 2; zero++) {
            const char *name = types[t].name;
            const int low = types[t].low, range = types[t].range;
            check_qdq(name, low, range, "", 1, 0, "", zero != 0, false);
            check_qdq(name, low, range, "70", 70, 1, "", zero != 0, false);
            check_qdq(name, low, range, "3,70", 210, 0, ",block_size=16", zero != 0, false);
            check_qdq(name, low, range, "2,70", 140, -2, ",block_size=32", zero != 0, false);
            check_qdq(name, low, range, "70", 70, 0, "", zero != 0, true);
            check_qdq(name, low, range, "70,3", 210, 1, ",block_size=16", zero != 0, true);
        }
}
END_TEST

START_TEST(transposed_weights_are_packed)
{
    char *text = malloc(TEXT);
    ck_assert_ptr_nonnull(text);
    size_t at = (size_t)snprintf(text, TEXT, "x = input f32[3,48]\n");
    at += write_constant(text + at, TEXT - at, "w", "u4", "70,48", 70 * 48, 0, 16);
    at += write_constant(text + at, TEXT - at, "s", "f32", "70,3", 210, 1, 9);
    (void)snprintf(text + at, TEXT - at,
        "d = dequantize_linear w s {axis=1,block_size=16}\n"
        "t = transpose d {perm=[1,0]}\ny = matmul x t\nreturn y\n");
    assert_becomes(text, "int4", 6);
    free(text);
}
END_TEST

START_TEST(near_misses_are_left)
{
    static const char *const ends[] = {
        /* blocks across columns; a result that others read; factors */
        "d = dequantize_linear w s {axis=1,block_size=16}\ny = matmul x d\nreturn y\n",
        "d = dequantize_linear w q {axis=0,block_size=16}\ny = matmul x d\nreturn y, d\n",
        "d = dequantize_linear w q {axis=0,block_size=16}\ny = gemm x d {alpha=2.0}\nreturn y\n",
    };
    char *text = malloc(TEXT);
    ck_assert_ptr_nonnull(text);
    size_t at = (size_t)snprintf(text, TEXT, "x = input f32[3,48]\n");
    at += write_constant(text + at, TEXT - at, "w", "i4", "48,64", 48 * 64, -8, 16);
    at += write_constant(text + at, TEXT - at, "s", "f32", "48,4", 192, 1, 9);
    at += write_constant(text + at, TEXT - at, "q", "f32", "3,64", 192, 1, 9);
    for (size_t i = 0; i < PRT_COUNT_OF(ends); i++) {
        (void)snprintf(text + at, TEXT - at, "%s", ends[i]);
        prt_graph *g = graph_from_text(text);
        ck_assert_msg(!run_pass(g, PASS, NULL), "%s", ends[i]);
        module_free(g);
    }
    free(text);
}
END_TEST

/* Groups in another order stay; groups in ascending order are ignored. */
START_TEST(only_unordered_groups_stay)
{
    for (int round = 0; round < 2; round++) {
        char text[4096];
        size_t at = (size_t)snprintf(text, sizeof(text), "x = input f32[2,32]\n");
        at += write_constant(text + at, sizeof(text) - at, "w", "u8", "3,16", 48, 0, 256);
        at += write_constant(text + at, sizeof(text) - at, "s", "f32", "6", 6, 1, 9);
        at += (size_t)snprintf(text + at, sizeof(text) - at, "g = const i32[32] {");
        for (int k = 0; k < 32; k++)
            at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%d", k != 0 ? "," : "",
                (k / 16) ^ round);
        (void)snprintf(text + at, sizeof(text) - at,
            "}\n"
            "y = ms_matmul_n_bits x w s _ g {K=32, N=3, bits=4, block_size=16}\nreturn y\n");
        prt_graph *graph = graph_from_text(text);
        ck_assert(run_pass(graph, PASS, NULL) == (round == 0));
        module_free(graph);
    }
}
END_TEST

/* The activations become integers if the model allows it, the weights have 4 bits, and the
 * option does not forbid it. */
START_TEST(accuracy_levels_decide_on_integers)
{
    static const struct {
        int level, bits;
        const char *args;
        bool integers;
    } cases[] = { { 4, 4, NULL, true }, { 4, 2, "compute=model", true }, { 4, 8, NULL, false },
        { 3, 4, NULL, false }, { 0, 4, NULL, false }, { 4, 4, "compute=f32", false },
        { 4, 4, "compute=bf16", false } };
    for (size_t i = 0; i < PRT_COUNT_OF(cases); i++) {
        char text[2048], dims[16];
        size_t at = (size_t)snprintf(text, sizeof(text), "x = input f32[2,32]\n");
        (void)snprintf(dims, sizeof(dims), "3,%d", 4 * cases[i].bits);
        at += write_constant(text + at, sizeof(text) - at, "w", "u8", dims,
            (size_t)(12 * cases[i].bits), 0, 256);
        at += write_constant(text + at, sizeof(text) - at, "s", "f32", "6", 6, 1, 9);
        (void)snprintf(text + at, sizeof(text) - at,
            "y = ms_matmul_n_bits x w s {K=32, N=3, "
            "bits=%d, block_size=16, accuracy_level=%d}\nreturn y\n",
            cases[i].bits, cases[i].level);
        prt_graph *g = graph_from_text(text);
        ck_assert(run_pass(g, PASS, cases[i].args));
        const bool has = strstr(graph_text(g), "compute=i8") != NULL;
        ck_assert_msg(has == cases[i].integers, "case %zu", i);
        module_free(g);
    }
}
END_TEST

PRT_TEST_MAIN("pass/pack/n_bits", matmul_n_bits_is_packed, dequantised_weights_are_packed,
    transposed_weights_are_packed, near_misses_are_left, only_unordered_groups_stay,
    accuracy_levels_decide_on_integers)
