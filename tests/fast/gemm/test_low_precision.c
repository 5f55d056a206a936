/* SPDX-License-Identifier: MIT */
/* test_low_precision.c — products whose weights are stored in low precision: every type, against
 * the reference on the stored weights, at every level, for rows and columns around every tile.
 * Covers: matmul_bf16.c, matmul_i4_blocks.c, low_precision.c. */
#include <stdio.h>
#include <stdlib.h>

#include "cpu/cpu.h"
#include "runtime/session.h"
#include "support/check_main.h"
#include "support/fast_check.h"
#include "support/program_text.h"

static const struct {
    const char *weights, *type;
    int dtype, scaled;
} kinds[] = { { "f16", "f16", PRT_DTYPE_f16, 0 }, { "bf16", "bf16", PRT_DTYPE_bf16, 0 },
    { "f8e4m3", "f8e4m3fnuz", PRT_DTYPE_f8e4m3fnuz, 1 },
    { "f8e5m2", "f8e5m2fnuz", PRT_DTYPE_f8e5m2fnuz, 1 }, { "i8", "i8", PRT_DTYPE_i8, 1 },
    { "i4", "i4", PRT_DTYPE_i4, 1 } };

static size_t packed_width(int n)
{
    return (size_t)n / PRT_GEMM_PANEL * PRT_GEMM_PANEL + prt_gemm_width((size_t)n % PRT_GEMM_PANEL);
}

/* Writes a constant "w" of `count` pseudo-random stored numbers in [-48, 48], or all values of 4
 * bits. */
static size_t write_weights(char *text, size_t size, const char *type, size_t count)
{
    const bool four = strcmp(type, "i4") == 0;
    size_t at = (size_t)snprintf(text, size, "w = const %s[%zu] {", type, count);
    for (size_t i = 0; i < count; i++) {
        const int v = (int)(((unsigned)i * 2654435761u >> 7) % (four ? 16 : 97)) - (four ? 8 : 48);
        at += (size_t)snprintf(text + at, size - at, "%s%d", i != 0 ? "," : "", v);
    }
    return at;
}

/* A product of m rows with panels of pseudo-random stored numbers. */
static void check_product(size_t kind, int m, int n, int k, const char *attrs, int scaled)
{
    const size_t rows = prt_low_precision_rows((int)kind, (size_t)k),
                 count = rows * packed_width(n);
    const size_t size = count * 8 + 1024;
    char *text = malloc(size);
    size_t at = (size_t)snprintf(text, size,
        "a = input f32[%d,%d]\nc = input f32[%d]\nr = input f32[%d,%d]\ns = input f32[%d]\n", m, k,
        n, m, n, n);
    at += write_weights(text + at, size - at, kinds[kind].type, count);
    (void)snprintf(text + at, size - at, "}\ny = fused_linear a w c r%s {columns=%d%s}\nreturn y\n",
        scaled ? " s" : "", n, attrs);
    fast_check(text, -1, 1, 1e-5);
    free(text);
}

START_TEST(every_type_and_tile_equals_the_reference)
{
    static const int rows[] = { 1, 2, 3, 4, 5, 7, 8, 9, 13, 33, 250 };
    for (size_t kind = 0; kind < PRT_COUNT_OF(kinds); kind++) {
        for (size_t i = 0; i < PRT_COUNT_OF(rows); i++)
            check_product(kind, rows[i], 70, 33, "", kinds[kind].scaled);
        check_product(kind, 1, 130, 64, ",activation=\"Gelu\"", 1);
        check_product(kind, 2, 16, 1, ",activation=\"Relu\"", 1);
        check_product(kind, 9, 5, 1031, ",activation=\"Relu\"", 1);
        check_product(kind, 1, 200, 700, "", 0);
        check_product(kind, 0, 70, 8, "", 1);
        check_product(kind, 1, 70, 0, "", 1);
    }
}
END_TEST

/* Integers with a scale per block of rows and column, with and without an offset. */
static void check_blocks(const char *type, int m, int n, int k, int block, const char *attrs)
{
    const int scales = (k + block - 1) / block * (int)packed_width(n);
    const size_t rows = strcmp(type, "i4") == 0 ? (size_t)(k + 7) / 8 * 8 : (size_t)k;
    const size_t count = rows * packed_width(n), size = count * 8 + 1024;
    char *text = malloc(size);
    for (int offset = 0; offset < 2; offset++) {
        size_t at = (size_t)snprintf(text, size,
            "a = input f32[%d,%d]\nc = input f32[%d]\n"
            "s = input f32[%d]\no = input f32[%d]\n",
            m, k, n, scales, scales);
        at += write_weights(text + at, size - at, type, count);
        (void)snprintf(text + at, size - at,
            "}\ny = fused_linear a w c _ s%s {columns=%d,block=%d%s}\nreturn y\n",
            offset != 0 ? " o" : "", n, block, attrs);
        fast_check(text, -1, 1, 1e-5);
    }
    free(text);
}

START_TEST(block_scales_equal_the_reference)
{
    static const char *const types[] = { "i4", "i8" };
    static const int rows[] = { 1, 2, 3, 4, 5, 8, 9, 33, 250 };
    for (size_t t = 0; t < 2; t++) {
        for (size_t i = 0; i < PRT_COUNT_OF(rows); i++) {
            check_blocks(types[t], rows[i], 70, 32, 32, "");
            check_blocks(types[t], rows[i], 70, 77, 16, ",activation=\"Gelu\"");
        }
        check_blocks(types[t], 1, 130, 1031, 128, "");
        check_blocks(types[t], 12, 20, 1031, 64, ",compute=\"bf16\"");
        check_blocks(types[t], 2, 200, 9, 8, "");
        for (size_t i = 0; i < PRT_COUNT_OF(rows) && t == 0; i++) {
            check_blocks("i4", rows[i], 150, 77, 32, ",compute=\"i8\"");
            check_blocks("i4", rows[i], 35, 300, 128, ",activation=\"Gelu\",compute=\"i8\"");
            check_blocks("i4", rows[i], 64, 8, 1024, ",compute=\"i8\"");
        }
        check_blocks(types[t], 0, 70, 8, 32, "");
    }
}
END_TEST

START_TEST(bf16_products_equal_the_reference)
{
    static const int rows[] = { 1, 8, 9, 14, 23, 250 };
    for (size_t i = 0; i < PRT_COUNT_OF(rows); i++) {
        check_product(PRT_LOW_PRECISION_bf16, rows[i], 70, 33, ",compute=\"bf16\"", 0);
        check_product(PRT_LOW_PRECISION_bf16, rows[i], 130, 64,
            ",activation=\"Gelu\",compute=\"bf16\"", 0);
        check_product(PRT_LOW_PRECISION_bf16, rows[i], 16, 1, ",compute=\"bf16\"", 1);
        check_product(PRT_LOW_PRECISION_i8, rows[i], 20, 9, ",compute=\"bf16\"", 1);
    }
    fast_check("a = input f32[9,40]\nb = input f32[40,33]\n"
               "y = fused_linear a b {compute=\"bf16\"}\nreturn y\n",
        -1, 1, 1e-5);
}
END_TEST

/* All 256 bytes of the 8-bit types, bytes without a number included; by a slice of columns and
 * by a whole panel, with rows of A scaled by `factor`. */
static void check_bytes(size_t kind, int rows, int columns, const char *factor)
{
    char text[8192];
    size_t at = (size_t)snprintf(text, sizeof(text),
        "x = input f32[%d,%d]\nf = const f32[1] {%s}\nw = const i8[256] {", rows, 256 / columns,
        factor);
    for (int i = 0; i < 256; i++)
        at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%d", i != 0 ? "," : "", i - 128);
    (void)snprintf(text + at, sizeof(text) - at,
        "}\na = mul x f\nb = bit_cast w {to=%d}\ny = fused_linear a b {columns=%d}\nreturn y\n",
        kinds[kind].dtype, columns);
    fast_check(text, 0.5, 1, 1e-5);
}

START_TEST(every_byte_decodes_as_in_the_reference)
{
    for (size_t kind = PRT_LOW_PRECISION_e4m3; kind <= PRT_LOW_PRECISION_i8; kind++)
        for (int rows = 1; rows < 20; rows += rows < 4 ? 1 : 15)
            for (int columns = 16; columns <= 64; columns += 48) {
                check_bytes(kind, rows, columns, "1");
                check_bytes(kind, rows, columns, "40000");
                check_bytes(kind, rows, columns, "1e30");
                check_bytes(kind, rows, columns, "1e-30");
            }
}
END_TEST

/* A row of A with infinity or NaN next to a finite row. */
START_TEST(infinity_and_nan_stay_in_their_row)
{
    static const char *const specials[] = { "inf", "-inf", "nan" };
    for (size_t kind = 0; kind < PRT_COUNT_OF(kinds); kind++)
        for (size_t i = 0; i < PRT_COUNT_OF(specials); i++) {
            char text[4096];
            const int count = 64 * (int)prt_low_precision_rows((int)kind, 2);
            size_t at = (size_t)snprintf(text, sizeof(text),
                "x = input f32[2,1]\n"
                "a = const f32[2,2] {1,%s,5e37,2}\nb = const f32[%d] {",
                specials[i], count);
            for (int k = 0; k < count; k++)
                at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%d", k != 0 ? "," : "",
                    k % 5 - 2);
            (void)snprintf(text + at, sizeof(text) - at,
                "}\nw = cast b {to=%d}\n"
                "y = fused_linear a w {columns=64}\nz = add y x\nreturn z\n",
                kinds[kind].dtype);
            fast_check(text, -1, 1, 1e-5);
            if (kinds[kind].dtype != PRT_DTYPE_i4)
                continue;
            char *end = strstr(text, "y = ");
            (void)snprintf(end, sizeof(text) - (size_t)(end - text),
                "s = const f32[64] fill 1\n"
                "y = fused_linear a w _ _ s {columns=64,block=8,compute=\"i8\"}\n"
                "z = add y x\nreturn z\n");
            fast_check(text, -1, 1, 1e-5);
        }
}
END_TEST

/* If K is unknown until the session runs, it is checked then. */
START_TEST(unknown_k_is_checked_at_run_time)
{
    static const char *const weights[] = { "bf16[64]", "i8[48]", "i4[128]" };
    static const int types[] = { PRT_DTYPE_bf16, PRT_DTYPE_i8, PRT_DTYPE_i4 };
    static const int64_t sizes[] = { 64, 48, 128 };
    for (size_t i = 0; i < 3; i++)
        for (int64_t n = 3; n < 200; n += 98) {
            char text[256];
            (void)snprintf(text, sizeof(text),
                "x = input f32[2,n]\nw = input %s\n"
                "y = fused_linear x w {columns=16}\nreturn y\n",
                weights[i]);
            prt_program *p = program_from_text(text);
            const prt_session_options options = { .kern = prt_kern_of(prt_cpu_features()) };
            prt_session *session = NULL;
            prt_tensor in[2], out = { 0 };
            void *x = calloc(2 * (size_t)n, sizeof(float)), *w = calloc(64, 2);
            ck_assert(prt_tensor_init(&in[0], PRT_DTYPE_f32, 2, (const int64_t[]){ 2, n }, x));
            ck_assert(prt_tensor_init(&in[1], types[i], 1, &sizes[i], w));
            ck_assert_int_eq(prt_session_create(p, &options, &session), POPRT_OK);
            const poprt_status status = prt_session_run(session, in, &out);
            ck_assert_msg((status == POPRT_OK) == (n == 3), "depth %d", (int)n);
            prt_session_release(session);
            prt_program_release(p);
            free(x);
            free(w);
        }
}
END_TEST

PRT_TEST_MAIN("fast/low_precision", every_type_and_tile_equals_the_reference,
    block_scales_equal_the_reference, bf16_products_equal_the_reference,
    every_byte_decodes_as_in_the_reference, infinity_and_nan_stay_in_their_row,
    unknown_k_is_checked_at_run_time)
