/* SPDX-License-Identifier: MIT */
/*
 * test_narrow.c — products whose weights are stored in fewer bits: every type, against the
 * reference on the stored weights, at every level, for rows and columns around every tile.
 */
#include <stdio.h>
#include <stdlib.h>

#include "kern/narrow.h"
#include "support/check_main.h"
#include "support/fast_check.h"
#include "support/graph_text.h"

static const struct {
    const char *weights, *type;
    int scaled;
} kinds[] = { { "f16", "f16", 0 }, { "bf16", "bf16", 0 }, { "f8e4m3", "f8e4m3fnuz", 1 },
    { "f8e5m2", "f8e5m2fnuz", 1 }, { "i8", "i8", 1 } };

static size_t width_of(int n)
{
    return (size_t)n / PRT_GEMM_PANEL * PRT_GEMM_PANEL +
        prt_gemm_width((size_t)n % PRT_GEMM_PANEL);
}

/* A product of m rows with panels of pseudo-random stored numbers. */
static void check_product(size_t kind, int m, int n, int k, const char *attrs, int scaled)
{
    const size_t rows = prt_narrow_rows((int)kind, (size_t)k), count = rows * width_of(n);
    const size_t size = count * 8 + 1024;
    char *text = malloc(size);
    size_t at = (size_t)snprintf(text, size,
        "a = input f32[%d,%d]\nc = input f32[%d]\nr = input f32[%d,%d]\ns = input f32[%d]\n"
        "w = const %s[%zu] {", m, k, n, m, n, n, kinds[kind].type, count);
    for (size_t i = 0; i < count; i++) {
        const int v = (int)(((unsigned)i * 2654435761u >> 7) % 97) - 48;
        at += (size_t)snprintf(text + at, size - at, "%s%d", i != 0 ? "," : "", v);
    }
    (void)snprintf(text + at, size - at, "}\ny = fused_linear a w c r%s {columns=%d%s}\nreturn y\n",
        scaled ? " s" : "", n, attrs);
    fast_check(text, -1, 1, 1e-5);
    free(text);
}

START_TEST(every_type_and_tile)
{
    static const int rows[] = { 1, 2, 3, 4, 5, 7, 8, 9, 13, 250 };
    for (size_t kind = 0; kind < PRT_COUNT_OF(kinds); kind++) {
        for (size_t i = 0; i < PRT_COUNT_OF(rows); i++)
            check_product(kind, rows[i], 70, 33, "", kinds[kind].scaled);
        check_product(kind, 1, 130, 64, ",activation=\"Gelu\"", 1);
        check_product(kind, 2, 16, 1, ",activation=\"Relu\"", 1);
        check_product(kind, 9, 5, 1031, ",activation=\"Relu\"", 1);
        check_product(kind, 1, 200, 700, "", 0);
        check_product(kind, 0, 70, 8, "", 1);
    }
}
END_TEST

START_TEST(both_sides_rounded)
{
    static const int rows[] = { 1, 8, 9, 14, 23, 250 };
    for (size_t i = 0; i < PRT_COUNT_OF(rows); i++) {
        check_product(PRT_NARROW_bf16, rows[i], 70, 33, ",compute=\"bf16\"", 0);
        check_product(PRT_NARROW_bf16, rows[i], 130, 64,
            ",activation=\"Gelu\",compute=\"bf16\"", 0);
        check_product(PRT_NARROW_bf16, rows[i], 16, 1, ",compute=\"bf16\"", 1);
        check_product(PRT_NARROW_i8, rows[i], 20, 9, ",compute=\"bf16\"", 1);
    }
    fast_check("a = input f32[9,40]\nb = input f32[40,33]\n"
        "y = fused_linear a b {compute=\"bf16\"}\nreturn y\n", -1, 1, 1e-5);
}
END_TEST

/* All 256 bytes of the 8-bit types, those that have no number in them included. */
START_TEST(every_byte)
{
    for (size_t kind = PRT_NARROW_e4m3; kind < PRT_COUNT_OF(kinds); kind++)
        for (int m = 1; m < 20; m += 18) {
            char text[8192];
            size_t at = (size_t)snprintf(text, sizeof(text),
                "a = input f32[%d,16]\nw = const i8[256] {", m);
            for (int i = 0; i < 256; i++)
                at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%d", i != 0 ? "," : "",
                    i - 128);
            (void)snprintf(text + at, sizeof(text) - at,
                "}\nb = bit_cast w {to=%d}\ny = fused_linear a b {columns=16}\nreturn y\n",
                kind == PRT_NARROW_e4m3 ? PRT_DTYPE_f8e4m3fnuz
                                        : kind == PRT_NARROW_e5m2 ? PRT_DTYPE_f8e5m2fnuz
                                                                  : PRT_DTYPE_i8);
            fast_check(text, 0.5, 1, 1e-5);
        }
}
END_TEST

PRT_TEST_MAIN("fast/narrow", every_type_and_tile, both_sides_rounded,
    every_byte)
