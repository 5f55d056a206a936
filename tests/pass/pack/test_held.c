/* SPDX-License-Identifier: MIT */
/*
 * test_held.c — constants that passes make by moving the elements of weights know which weights
 * they hold, and these are restored bit for bit. Covers: held.c.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/check_main.h"
#include "support/graph_text.h"

enum { TEXT = 1 << 20 };

/* Appends a constant of distinct numbers; `dims` ends with 0. */
static void put(char *text, const char *name, const char *type, const int *dims)
{
    size_t at = strlen(text), count = 1;
    at += (size_t)snprintf(text + at, TEXT - at, "%s = const %s[", name, type);
    for (int i = 0; dims[i] != 0; i++) {
        at += (size_t)snprintf(text + at, TEXT - at, "%s%d", i != 0 ? "," : "", dims[i]);
        count *= (size_t)dims[i];
    }
    at += (size_t)snprintf(text + at, TEXT - at, "] {");
    for (size_t i = 0; i < count; i++) {
        const int n = (int)(i * 37 % 251);
        at += type[0] != 'f'
            ? (size_t)snprintf(text + at, TEXT - at, "%s%d", i != 0 ? "," : "", n % 16 - 8)
            : (size_t)snprintf(text + at, TEXT - at, "%s%d.%02d", i != 0 ? "," : "", n - 125,
                  (int)(i % 97));
    }
    (void)snprintf(text + at, TEXT - at, "}\n");
}

static void holds(const char *pass, const char *before, const char *type, const int *dims,
    const char *after, int count)
{
    char *text = calloc(1, TEXT);
    (void)snprintf(text, TEXT, "%s", before);
    put(text, "w", type, dims);
    (void)snprintf(text + strlen(text), TEXT - strlen(text), "%s", after);
    const int got = held_after_pass(text, pass);
    ck_assert_msg(got == count, "%d instead of %d: %s%s", got, count, before, after);
    free(text);
}

#define DIMS(...)                                                                                  \
    (const int[])                                                                                  \
    {                                                                                              \
        __VA_ARGS__, 0                                                                             \
    }

START_TEST(panels_hold_matrices)
{
    holds("pack_weights", "x = input f32[3,40]\n", "f32", DIMS(40, 131),
        "y = matmul x w\nreturn y\n", 1);
    holds("pack_weights", "x = input f32[3,40]\n", "f32", DIMS(70, 40),
        "y = gemm x w {transB=1}\nreturn y\n", 1);
}
END_TEST

START_TEST(filters_are_held)
{
    static const char *const image = "x = input f32[1,%d,%d,%d]\n";
    char x[64];
    (void)snprintf(x, sizeof(x), image, 16, 9, 9);
    holds("channels_last", x, "f32", DIMS(70, 16, 1, 2), "y = conv x w\nreturn y\n", 1);
    (void)snprintf(x, sizeof(x), image, 24, 9, 9);
    holds("channels_last", x, "f32", DIMS(48, 12, 2, 2), "y = conv x w {group=2}\nreturn y\n", 1);
    (void)snprintf(x, sizeof(x), image, 12, 9, 9);
    holds("channels_last", x, "f32", DIMS(12, 1, 3, 3), "y = conv x w {group=12}\nreturn y\n", 1);
    holds("channels_last", x, "f32", DIMS(12, 4, 3, 3), "y = conv x w {group=3}\nreturn y\n", 1);
    /* Several pixels at once: the filters are part of larger ones. */
    (void)snprintf(x, sizeof(x), image, 32, 40, 40);
    holds("channels_last", x, "f32", DIMS(3, 32, 5, 5), "y = conv x w\nreturn y\n", 1);
    holds("channels_last", "x = input f32[1,8,5]\n", "f32", DIMS(20, 8, 3),
        "y = conv x w\nreturn y\n", 1);
    holds("channels_last", "x = input f32[2,3,5,6,7]\n", "f32", DIMS(8, 3, 2, 3, 3),
        "y = conv x w\nreturn y\n", 1);
    (void)snprintf(x, sizeof(x), image, 6, 4, 4);
    holds("channels_last", x, "f32", DIMS(6, 5, 2, 3),
        "y = conv_transpose x w {strides=[2,3]}\nreturn y\n", 1);
}
END_TEST

START_TEST(recurrent_weights_are_held)
{
    static const char *const ops[] = { "rnn", "gru", "lstm" };
    static const int gates[] = { 1, 3, 4 };
    for (int i = 0; i < 3; i++) {
        char *before = calloc(1, TEXT), after[128];
        (void)snprintf(before, TEXT, "x = input f32[5,2,20]\n");
        put(before, "r", "f32", DIMS(2, gates[i] * 24, 24));
        (void)snprintf(after, sizeof(after),
            "y = %s x w r {direction=\"bidirectional\",hidden_size=24}\nreturn y\n", ops[i]);
        holds("pack_weights", before, "f32", DIMS(2, gates[i] * 24, 20), after, 2);
        free(before);
    }
}
END_TEST

START_TEST(folded_moves_are_held)
{
    holds("constant_folding", "x = input f32[4,3,2]\n", "f32", DIMS(2, 3, 4),
        "t = transpose w\ny = add x t\nreturn y\n", 1);
    holds("constant_folding", "x = input f32[12,2]\ns = const i64[2] {12,2}\n", "f32",
        DIMS(2, 3, 4), "t = transpose w {perm=[1,0,2]}\nu = reshape t s\ny = add x u\nreturn y\n",
        1);
    holds("constant_folding", "x = input f32[3,4]\n", "f16", DIMS(3, 4),
        "t = cast w {to=1}\ny = add x t\nreturn y\n", 1);
    holds("constant_folding", "x = input f32[2,7]\nv = const f32[2,3] {1,2,3,4,5,6}\n", "f32",
        DIMS(2, 4), "t = concat v w {axis=-1}\ny = add x t\nreturn y\n", 2);
    /* A sum, a part and a rounded copy of a weight do not hold it. */
    holds("constant_folding", "x = input f32[3,4]\n", "f32", DIMS(3, 4),
        "t = add w w\ny = add x t\nreturn y\n", 0);
    holds("constant_folding", "x = input f32[2,4]\na = const i64[1] {0}\nb = const i64[1] {2}\n",
        "f32", DIMS(3, 4), "t = slice w a b a\ny = add x t\nreturn y\n", 0);
    holds("constant_folding", "x = input f16[3,4]\n", "f32", DIMS(3, 4),
        "t = cast w {to=10}\ny = add x t\nreturn y\n", 0);
}
END_TEST

START_TEST(low_bit_integers_and_their_scales_are_held)
{
    char *before = calloc(1, TEXT);
    (void)snprintf(before, TEXT, "x = input f32[2,64]\n");
    put(before, "s", "f32", DIMS(2, 70));
    holds("pack_n_bits", before, "i4", DIMS(64, 70),
        "d = dequantize_linear w s {axis=0,block_size=32}\ny = matmul x d\nreturn y\n", 2);
    (void)snprintf(before, TEXT, "x = input f32[2,64]\n");
    put(before, "s", "f32", DIMS(70));
    holds("pack_n_bits", before, "i8", DIMS(70, 64),
        "d = dequantize_linear w s {axis=0}\ny = gemm x d {transB=1}\nreturn y\n", 2);
    holds("pack_n_bits", "x = input f32[2,64]\ns = const f32[] {0.5}\n", "i4", DIMS(64, 30),
        "d = dequantize_linear w s\ny = matmul x d\nreturn y\n", 2);
    free(before);
}
END_TEST

PRT_TEST_MAIN("pass/pack/held", panels_hold_matrices, filters_are_held, recurrent_weights_are_held,
    folded_moves_are_held, low_bit_integers_and_their_scales_are_held)
