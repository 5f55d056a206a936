/* SPDX-License-Identifier: MIT */
/* test_requantize_tiles.c — int8 products that tiles requantise, against sums counted one by
 * one: rows of A that overlap, pieces of K, packed and unpacked panels, rows without an output.
 * Covers: requantize_tiles_amx.c. */
#include <string.h>

#include "base/status.h"
#include "kern/levels.h"
#include "support/check_main.h"

enum { PANEL = PRT_GEMM_PANEL, ROWS = PRT_REQUANTIZE_TILES_ROWS, MOST = 40 * ROWS };

typedef struct sizes {
    size_t tiles, columns, taps, words, lda; /* lda in bytes */
} sizes;

static const sizes cases[] = { { 1, 64, 1, 16, 64 }, { 2, 64, 1, 6, 24 }, { 3, 33, 3, 18, 8 },
    { 4, 64, 3, 32, 128 }, { 5, 48, 7, 7, 8 }, { 7, 17, 1, 100, 416 }, { 2, 64, 9, 64, 256 },
    { 19, 64, 5, 64, 128 }, { 40, 50, 3, 112, 64 }, { 18, 20, 1, 304, 1216 } };

typedef struct operands {
    size_t size; /* bytes of A */
    uint8_t *a, *b;
    const uint8_t *tile[MOST / ROWS];
    size_t tap_at[16];
    uint32_t to[MOST];
} operands;

static uint8_t *random_bytes(size_t n, uint32_t seed)
{
    uint8_t *p = aligned_alloc(64, (n + 63) / 64 * 64);
    uint32_t state = seed;
    for (size_t i = 0; i < n; i++) {
        state = state * 1664525u + 1013904223u;
        p[i] = (uint8_t)(state >> 24);
    }
    return p;
}

/* The tiles are permuted, and every seventh row has no output. */
static operands *make_operands(const sizes *s)
{
    operands *m = malloc(sizeof(*m));
    const size_t piece = prt_requantize_tiles_steps(s->words) * 64;
    const size_t all = s->tiles * ROWS * s->lda;
    m->size = all + s->taps * s->lda * 3 + piece;
    m->a = random_bytes(m->size, 1);
    m->b = random_bytes(s->taps * s->words * 4 * prt_gemm_width(s->columns), 2);
    for (size_t i = 0; i < s->tiles; i++)
        m->tile[i] = m->a + (s->tiles - 1 - i) * ROWS * s->lda;
    for (size_t i = 0; i < s->taps; i++)
        m->tap_at[i] = (s->taps - 1 - i) * s->lda * 3;
    for (size_t i = 0; i < s->tiles * ROWS; i++)
        m->to[i] = i % 7 == 3 ? PRT_REQUANTIZE_TILES_NONE : (uint32_t)(s->tiles * ROWS - 1 - i);
    return m;
}

static void free_operands(operands *m)
{
    free(m->a);
    free(m->b);
    free(m);
}

/* Computes the sums of row i, by column. */
static void sum_row(const sizes *s, const operands *m, size_t i, int32_t *sums)
{
    const size_t width = prt_gemm_width(s->columns);
    for (size_t j = 0; j < s->columns; j++) {
        int32_t sum = 0;
        for (size_t t = 0; t < s->taps; t++)
            for (size_t k = 0; k < 4 * s->words; k++)
                sum += m->tile[i / ROWS][i % ROWS * s->lda + m->tap_at[t] + k] *
                    (int8_t)m->b[((t * s->words + k / 4) * width + j) * 4 + k % 4];
        sums[j] = sum;
    }
}

static void pack_panels(const sizes *s, const uint32_t *panel, uint32_t *to)
{
    const size_t width = prt_gemm_width(s->columns), steps = prt_requantize_tiles_steps(s->words);
    for (size_t j = 0; j < width; j += 32)
        for (size_t t = 0; t < s->taps; t++)
            for (size_t k = 0; k < steps * PRT_TILES_WORDS; k++)
                for (size_t c = 0; c < 32; c++) {
                    const size_t tile = ((j / 32 * s->taps + t) * steps + k / 16) * 2 + c / 16;
                    const bool some = k < s->words && j + c < width;
                    to[(tile * 16 + k % 16) * 16 + c % 16] =
                        some ? panel[(t * s->words + k) * width + j + c] : 0;
                }
}

static void check(const sizes *s, const prt_kern *kern, bool packed, bool sign)
{
    static double scales[PANEL];
    static float scales_f32[PANEL];
    static int32_t biases[PANEL], sums[PANEL];
    static uint8_t y[MOST * PANEL], want[PANEL], none[PANEL];
    operands *m = make_operands(s);
    uint32_t *own = aligned_alloc(64, prt_requantize_tiles_size(s->taps, s->words) * sizeof(*own));
    const size_t rows = s->tiles * ROWS;
    for (size_t j = 0; j < PANEL; j++) {
        scales[j] = 2e-4 * (double)(1 + j % 9);
        scales_f32[j] = (float)scales[j];
        biases[j] = (int32_t)j * 1000 - 30000;
    }
    const prt_requantize q = { .scales = scales,
        .scales_f32 = scales_f32,
        .biases = biases,
        .zero = sign ? -3.0 : 120.0,
        .low = sign ? -128.0 : 0.0,
        .high = sign ? 127.0 : 255.0,
        .fits_int32 = true };
    prt_requantize_tiles_block g = { .tiles = s->tiles,
        .columns = s->columns,
        .taps = s->taps,
        .steps = prt_requantize_tiles_steps(s->words),
        .tile = m->tile,
        .tap_at = m->tap_at,
        .lda = s->lda,
        .b = packed ? own : (const void *)m->b,
        .packed = packed,
        .q = &q,
        .to = m->to,
        .y = y,
        .ldy = PANEL,
        .next = (const char *)m->b,
        .next_lines = 5 };
    if (packed)
        pack_panels(s, (const void *)m->b, own);
    uint32_t last[PRT_TILES_WORDS * PANEL] = { 0 };
    const size_t rest = s->words % PRT_TILES_WORDS, width = prt_gemm_width(s->columns);
    if (!packed && rest != 0) {
        memcpy(last, m->b + (s->words - rest) * width * 4, rest * width * 4);
        g.last = last;
    }
    memset(y, 77, sizeof(y));
    memset(none, 77, sizeof(none));
    kern->tiles(&g);
    for (size_t i = 0; i < rows; i++) {
        const uint8_t *row = y + (rows - 1 - i) * PANEL;
        sum_row(s, m, i, sums);
        kern->bytes.requantize_sums(1, s->columns, sums, &q, want, PANEL);
        ck_assert_mem_eq(row, m->to[i] == PRT_REQUANTIZE_TILES_NONE ? none : want, s->columns);
        ck_assert_mem_eq(row + s->columns, none, PANEL - s->columns);
    }
    free(own);
    free_operands(m);
}

START_TEST(requantized_bytes_are_exact)
{
    const prt_kern *kern = level_named("avx512_amx");
    if (kern == NULL)
        return;
    for (size_t t = 0; t < PRT_COUNT_OF(cases); t++)
        for (int sign = 0; sign < 2; sign++) {
            check(&cases[t], kern, true, sign != 0);
            if (cases[t].words % PRT_TILES_WORDS == 0 || cases[t].taps == 1)
                check(&cases[t], kern, false, sign != 0);
        }
}
END_TEST

PRT_TEST_MAIN("kern/requantize_tiles", requantized_bytes_are_exact)
