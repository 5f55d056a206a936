/* SPDX-License-Identifier: MIT */
/* test_dot.c — dot4_i8 and dot2_bf16 products at every level, the tiles of the best levels
 * included, against sums counted one by one; rows in pieces, and divisions of rows.
 * Covers: dot_vnni.c, dot_bf16.c, dot_amx.c. */
#include <math.h>
#include <string.h>

#include "base/status.h"
#include "kern/levels.h"
#include "support/check_main.h"

enum { ALL = 5, ROWS = 70, WIDE = PRT_GEMM_PANEL };

static const prt_kern *kern_of_level(int i)
{
    static const char *const names[ALL] = { "portable", "avx2", "avx512", "avx512_bf16",
        "avx512_amx" };
    return level_named(names[i]);
}

typedef struct sizes {
    size_t rows, columns, words, taps; /* taps: 0 if rows are contiguous */
} sizes;

static const sizes cases[] = { { 32, 64, 16, 0 }, { 64, 64, 192, 0 }, { 70, 64, 12, 0 },
    { 33, 40, 37, 0 }, { 17, 33, 100, 0 }, { 9, 17, 65, 0 }, { 1, 64, 48, 0 }, { 7, 16, 5, 0 },
    { 48, 64, 16, 9 }, { 70, 64, 64, 9 }, { 31, 50, 5, 25 }, { 40, 64, 7, 49 }, { 16, 20, 70, 3 },
    { 64, 64, 1, 49 }, { 9, 20, 0, 0 } };

/* Operands of a block; the pieces of rows are permuted. */
typedef struct operands {
    sizes s;
    size_t depth; /* words */
    uint32_t *a, *b;
    const uint32_t **from;
} operands;

/* Returns words of four bytes or, with `pairs`, of two bfloat16 of about 1 in size, without NaN. */
static uint32_t *random_words(size_t n, uint32_t seed, bool pairs)
{
    uint32_t *w = malloc(n * sizeof(*w)), state = seed;
    for (size_t i = 0; i < n; i++) {
        state = state * 1664525u + 1013904223u;
        w[i] = state >> 16;
        state = state * 1664525u + 1013904223u;
        w[i] |= state & 0xffff0000u;
        if (pairs)
            w[i] = (w[i] & 0x807f807fu) | 0x3f003f00u;
    }
    return w;
}

static operands make_operands(const sizes *s, bool pairs)
{
    operands m = { .s = *s, .depth = s->words * (s->taps != 0 ? s->taps : 1) };
    m.a = random_words(s->rows * m.depth, 1, pairs);
    m.b = random_words(m.depth * prt_gemm_width(s->columns), 2, pairs);
    m.from = malloc((s->rows * (s->taps + 1)) * sizeof(*m.from));
    for (size_t i = 0; i < s->rows * s->taps; i++) /* tap i / rows of row i % rows */
        m.from[i] = m.a + (s->rows * s->taps - 1 - i) * s->words;
    return m;
}

static void free_operands(operands *m)
{
    free(m->a);
    free(m->b);
    free(m->from);
}

static uint32_t word_of_a(const operands *m, size_t row, size_t word)
{
    const sizes *s = &m->s;
    return s->taps == 0 ? m->a[row * s->words + word]
                        : m->from[word / s->words * s->rows + row][word % s->words];
}

/* A block of rows [first, end). */
static prt_dot_block make_block(const operands *m, size_t first, size_t end, void *c)
{
    const sizes *s = &m->s;
    return (prt_dot_block){ .rows = end - first,
        .columns = s->columns,
        .words = s->words,
        .a = m->a + first * s->words,
        .lda = s->words,
        .from = s->taps != 0 ? m->from + first : NULL,
        .taps = s->taps,
        .step = s->rows,
        .b = m->b,
        .next = (const char *)m->b,
        .next_lines = 5,
        .c = c,
        .ldc = WIDE };
}

static uint32_t dot4(uint32_t a, uint32_t b)
{
    int32_t sum = 0;
    for (int i = 0; i < 32; i += 8)
        sum += (int32_t)(a >> i & 255u) * (int8_t)(uint8_t)(b >> i);
    return (uint32_t)sum;
}

static double bf16_value(uint32_t bits)
{
    float x;
    bits <<= 16;
    memcpy(&x, &bits, sizeof(x));
    return (double)x;
}

START_TEST(dot4_i8_is_exact)
{
    for (size_t t = 0; t < PRT_COUNT_OF(cases); t++) {
        operands m = make_operands(&cases[t], false);
        const size_t width = prt_gemm_width(m.s.columns);
        static int32_t want[ROWS * WIDE], c[ROWS * WIDE];
        for (size_t i = 0; i < m.s.rows; i++)
            for (size_t j = 0; j < width; j++) {
                uint32_t sum = 0;
                for (size_t k = 0; k < m.depth; k++)
                    sum += dot4(word_of_a(&m, i, k), m.b[k * width + j]);
                want[i * WIDE + j] = (int32_t)sum;
            }
        for (int l = 0; l < ALL; l++) {
            if (kern_of_level(l) == NULL)
                continue;
            memset(c, -1, sizeof(c));
            const prt_dot_block g = make_block(&m, 0, m.s.rows, c);
            kern_of_level(l)->dot.i8(&g);
            for (size_t i = 0; i < m.s.rows; i++)
                ck_assert_mem_eq(c + i * WIDE, want + i * WIDE, m.s.columns * sizeof(*c));
        }
        free_operands(&m);
    }
}
END_TEST

/* Bytes made in registers or tiles equal the bytes made from the sums. */
START_TEST(requantized_bytes_equal_those_of_sums)
{
    static double scales[WIDE];
    static float scales_f32[WIDE];
    static int32_t biases[WIDE], sums[ROWS * WIDE];
    static uint8_t want[ROWS * WIDE], y[ROWS * WIDE];
    for (size_t j = 0; j < WIDE; j++) {
        scales[j] = 1e-4 * (double)(1 + j);
        scales_f32[j] = (float)scales[j];
        biases[j] = (int32_t)j * 1000 - 30000;
    }
    for (size_t t = 0; t < PRT_COUNT_OF(cases); t++)
        for (int sign = 0; sign < 2; sign++) {
            operands m = make_operands(&cases[t], false);
            const prt_requantize q = { .scales = scales,
                .scales_f32 = scales_f32,
                .biases = biases,
                .zero = sign ? -3.0 : 120.0,
                .low = sign ? -128.0 : 0.0,
                .high = sign ? 127.0 : 255.0,
                .fits_int32 = true };
            prt_dot_block g = make_block(&m, 0, m.s.rows, sums);
            kern_of_level(0)->dot.i8(&g);
            kern_of_level(0)->bytes.requantize_sums(m.s.rows, m.s.columns, sums, &q, want, WIDE);
            for (int l = 0; l < ALL; l++) {
                if (kern_of_level(l) == NULL || kern_of_level(l)->dot.requantize == NULL)
                    continue;
                memset(y, 0, sizeof(y));
                g.c = NULL;
                const size_t rows = kern_of_level(l)->dot.requantize(&g, &q, y, WIDE);
                ck_assert_uint_le(rows, m.s.rows);
                for (size_t i = 0; i < rows; i++)
                    ck_assert_mem_eq(y + i * WIDE, want + i * WIDE, m.s.columns);
            }
            free_operands(&m);
        }
}
END_TEST

/* Sums in float32, whose order the level chooses; equal for any division of rows. */
START_TEST(dot2_bf16_is_within_its_bound)
{
    for (size_t t = 0; t < PRT_COUNT_OF(cases); t++) {
        operands m = make_operands(&cases[t], true);
        const size_t width = prt_gemm_width(m.s.columns);
        static float c[ROWS * WIDE], cut[ROWS * WIDE];
        float *bias = random_floats(m.s.columns, 3);
        const prt_gemm_end end = { .bias = bias, .act = { PRT_ACT_leaky_relu, 0.25f, 0.0f } };
        for (int l = 0; l < ALL; l++) {
            if (kern_of_level(l) == NULL || kern_of_level(l)->dot.bf16 == NULL)
                continue;
            prt_dot_block g = make_block(&m, 0, m.s.rows, c);
            g.end = &end;
            kern_of_level(l)->dot.bf16(&g);
            for (size_t i = 0; i < m.s.rows; i++)
                for (size_t j = 0; j < m.s.columns; j++) {
                    double sum = (double)bias[j], most = 1.0;
                    for (size_t k = 0; k < m.depth; k++) {
                        const uint32_t a = word_of_a(&m, i, k), b = m.b[k * width + j];
                        const double p = bf16_value(a & 0xffffu) * bf16_value(b & 0xffffu);
                        const double q = bf16_value(a >> 16) * bf16_value(b >> 16);
                        sum += p + q;
                        most += fabs(p) + fabs(q);
                    }
                    sum = sum < 0.0 ? 0.25 * sum : sum;
                    ck_assert_double_le(fabs((double)c[i * WIDE + j] - sum), 2e-6 * most);
                }
            for (size_t first = 0; first < m.s.rows; first += 13) {
                const size_t left = m.s.rows - first;
                g = make_block(&m, first, first + (left < 13 ? left : 13), cut + first * WIDE);
                g.end = &end;
                kern_of_level(l)->dot.bf16(&g);
            }
            for (size_t i = 0; i < m.s.rows; i++)
                ck_assert_mem_eq(c + i * WIDE, cut + i * WIDE, m.s.columns * sizeof(*c));
        }
        free(bias);
        free_operands(&m);
    }
}
END_TEST

PRT_TEST_MAIN("kern/dot", dot4_i8_is_exact, requantized_bytes_equal_those_of_sums,
    dot2_bf16_is_within_its_bound)
