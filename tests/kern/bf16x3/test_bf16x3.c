/* SPDX-License-Identifier: MIT */
/* test_bf16x3.c — bf16x3 products against sums in double: sizes around the tiles, rows in
 * pieces, epilogues, panels that are converted during the product, equal bits for any division
 * of rows, gathered rows, and values that are not finite. Without AMX there is nothing to test.
 * Covers: bf16x3_amx.c. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/status.h"
#include "kern/levels.h"
#include "support/check_main.h"

enum { MOST = PRT_BF16X3_DEPTH, WIDE = PRT_GEMM_PANEL };

static const prt_kern *amx_kernels(void)
{
    const prt_kern *kern = level_named("avx512_amx");
    return kern != NULL && kern->bf16x3.multiply != NULL ? kern : NULL;
}

typedef struct sizes {
    size_t rows, columns, k, taps; /* taps: 0 if rows are contiguous */
} sizes;

static const sizes cases[] = { { 1, 1, 1, 0 }, { 5, 16, 31, 0 }, { 16, 33, 32, 0 },
    { 17, 64, 100, 0 }, { 31, 48, 256, 0 }, { 32, 64, 64, 0 }, { 33, 40, 96, 0 },
    { 70, 64, 256, 0 }, { 100, 17, 17, 0 }, { 64, 63, 255, 0 }, { 48, 64, 32, 8 },
    { 32, 24, 64, 3 }, { 80, 64, 128, 2 }, { 16, 5, 32, 1 }, { 64, 48, 48, 4 }, { 16, 64, 3, 8 },
    { 96, 60, 17, 5 }, { 200, 64, 64, 0 }, { 210, 40, 96, 0 } };

/* Operands of a product, in float32 and converted; the pieces of rows are permuted, 16 at a
 * time. */
typedef struct operands {
    sizes s;
    size_t depth, lda, ldc;
    float *a, *split_a, *b, *split_b, *bias, *residual, *c, *before;
    size_t tile_at[8], tap_at[8];
} operands;

/* Returns the row of A that holds piece `tap` of row i. */
static size_t piece_row(const operands *m, size_t i, size_t tap)
{
    const size_t tiles = m->s.rows / 16;
    return i % 16 + 16 * ((i / 16 * 5 + 3) % tiles + tap * 7 % m->s.taps * tiles);
}

static operands make_operands(const prt_kern *kern, const sizes *s)
{
    const size_t pieces = s->taps != 0 ? s->taps : 1, all = s->rows * pieces;
    operands m = { .s = *s,
        .depth = s->k * pieces,
        .lda = prt_bf16x3_pitch(s->k),
        .ldc = (s->taps != 0 ? WIDE : s->columns) + 3 };
    m.a = random_floats(all * s->k, 1);
    m.b = random_floats(m.depth * prt_gemm_width(s->columns), 2);
    m.bias = random_floats(s->columns, 3);
    m.residual = random_floats(s->rows * s->columns, 4);
    m.c = random_floats(s->rows * m.ldc, 5);
    m.before = random_floats(s->rows * m.ldc, 5);
    m.split_a = nan_lines((all + PRT_BF16X3_ROWS_PAST_END) * m.lda);
    m.split_b = nan_lines(pieces * prt_bf16x3_size(s->k) * WIDE);
    ck_assert(kern->bf16x3.rows(all, s->k, m.a, s->k, NULL, m.split_a, m.lda));
    for (size_t i = 0; i < s->rows / 16 && s->taps != 0; i++)
        m.tile_at[i] = piece_row(&m, i * 16, 0) * m.lda;
    for (size_t t = 0; t < s->taps; t++)
        m.tap_at[t] = (piece_row(&m, 0, t) - piece_row(&m, 0, 0)) * m.lda;
    prt_bf16x3_panel p = { .taps = pieces,
        .k = s->k,
        .columns = s->columns,
        .b = m.b,
        .stride = prt_gemm_width(s->columns),
        .to = m.split_b };
    kern->bf16x3.panel(&p);
    ck_assert(p.finite);
    return m;
}

static void free_operands(operands *m)
{
    free(m->a);
    free(m->b);
    free(m->bias);
    free(m->residual);
    free(m->c);
    free(m->before);
    free(m->split_a);
    free(m->split_b);
}

static void run_product(const prt_kern *kern, const operands *m, size_t rows, bool add, bool ends,
    prt_bf16x3_panel *ahead)
{
    const bool pieces = m->s.taps != 0;
    for (size_t i = 0; i < m->s.rows; i += rows) {
        const prt_gemm_end end = { .residual = m->residual + i * m->s.columns,
            .ldr = m->s.columns,
            .act = { .kind = PRT_ACT_relu } };
        const prt_bf16x3_block g = { .rows = m->s.rows - i < rows ? m->s.rows - i : rows,
            .columns = m->s.columns,
            .k = m->s.k,
            .a = m->split_a + (pieces ? 0 : i * m->lda),
            .lda = m->lda,
            .tile_at = pieces ? m->tile_at + i / 16 : NULL,
            .tap_at = m->tap_at,
            .taps = pieces ? m->s.taps : 1,
            .b = m->split_b,
            .bias = add ? NULL : m->bias,
            .c = m->c + i * m->ldc,
            .ldc = m->ldc,
            .add = add,
            .end = ends ? &end : NULL,
            .ahead = ahead };
        kern->bf16x3.begin(g.rows, pieces);
        kern->bf16x3.multiply(&g);
        kern->bf16x3.end();
    }
}

static void check_sums(const operands *m, bool add, bool ends)
{
    for (size_t i = 0; i < m->s.rows; i++)
        for (size_t j = 0; j < m->ldc; j++) {
            const float found = m->c[i * m->ldc + j], before = m->before[i * m->ldc + j];
            const bool some = j < m->s.columns;
            double sum = add ? (double)before : some ? (double)m->bias[j] : 0.0, size = fabs(sum);
            for (size_t q = 0; q < m->depth && some; q++) {
                const size_t row = m->s.taps != 0 ? piece_row(m, i, q / m->s.k) : i;
                const double x = (double)m->a[row * m->s.k + q % m->s.k];
                const double y = (double)m->b[q * prt_gemm_width(m->s.columns) + j];
                sum += x * y;
                size += fabs(x * y);
            }
            if (!some) {
                ck_assert(m->s.taps != 0 || found == before);
                continue;
            }
            if (ends)
                sum = fmax(0.0, sum + (double)m->residual[i * m->s.columns + j]);
            if (!(fabs((double)found - sum) <= 1e-5 * size + 1e-6))
                ck_abort_msg("%zux%zux%zu, %zu taps: [%zu,%zu] is %g, not %g", m->s.rows,
                    m->s.columns, m->s.k, m->s.taps, i, j, (double)found, sum);
        }
}

START_TEST(products_equal_sums_in_double)
{
    const prt_kern *kern = amx_kernels();
    for (size_t i = 0; kern != NULL && i < PRT_COUNT_OF(cases); i++)
        for (unsigned with = 0; with < 4; with++) {
            operands m = make_operands(kern, &cases[i]);
            run_product(kern, &m, m.s.rows, (with & 1) != 0, (with & 2) != 0, NULL);
            check_sums(&m, (with & 1) != 0, (with & 2) != 0);
            free_operands(&m);
        }
}
END_TEST

/* Dividing the rows keeps every bit. Conversion during the product gives the bits of `panel`. */
START_TEST(cuts_and_panels_keep_every_bit)
{
    const prt_kern *kern = amx_kernels();
    for (size_t i = 0; kern != NULL && i < PRT_COUNT_OF(cases); i++) {
        operands m = make_operands(kern, &cases[i]);
        const size_t size = m.s.rows * m.ldc * sizeof(float);
        const size_t taps = m.s.taps != 0 ? m.s.taps : 1, unit = m.s.taps != 0 ? 16 : 1;
        const size_t floats = taps * prt_bf16x3_size(m.s.k) * WIDE;
        float *whole = malloc(size), *to = nan_lines(floats);
        run_product(kern, &m, m.s.rows, false, true, NULL);
        memcpy(whole, m.c, size);
        for (size_t rows = unit; rows <= m.s.rows; rows += (1 + m.s.rows / unit / 5) * unit) {
            prt_bf16x3_panel ahead = { .taps = taps,
                .k = m.s.k,
                .columns = m.s.columns,
                .b = m.b,
                .stride = prt_gemm_width(m.s.columns),
                .to = to };
            memset(to, 0xff, floats * sizeof(float));
            memcpy(m.c, m.before, size);
            run_product(kern, &m, rows, false, true, &ahead);
            for (size_t row = 0; row < m.s.rows; row++)
                ck_assert_mem_eq(m.c + row * m.ldc, whole + row * m.ldc,
                    m.s.columns * sizeof(float));
            ck_assert(ahead.finite);
            ck_assert_mem_eq(to, m.split_b, floats * sizeof(float));
        }
        free(whole);
        free(to);
        free_operands(&m);
    }
}
END_TEST

/* Gathered rows have the bits of contiguous rows; nothing is written behind them. */
START_TEST(gathered_rows_have_the_same_bits)
{
    static const prt_bf16x3_pixels all[] = {
        { .count = 7, .step = 6, .each = 9, .piece_stride = 40, .k = 27 },
        { .count = 5, .step = 6, .each = 21, .piece_stride = 64, .k = 147 },
        { .count = 3, .step = 12, .each = 33, .piece_stride = 70, .k = 256 },
        { .count = 3, .step = 12, .each = 33, .piece_stride = 70, .skip = 256, .k = 107 },
        { .count = 4, .step = 1, .each = 1, .piece_stride = 9, .k = 256 },
        { .count = 2, .step = 3, .each = 100, .piece_stride = 101, .k = 100 }
    };
    const prt_kern *kern = amx_kernels();
    for (size_t c = 0; kern != NULL && c < PRT_COUNT_OF(all); c++) {
        prt_bf16x3_pixels g = all[c];
        const size_t k = g.k, lda = prt_bf16x3_pitch(k), size = g.count * lda;
        const size_t reach =
            (g.count - 1) * g.step + ((g.skip + k - 1) / g.each + 1) * g.piece_stride;
        float *x = random_floats(reach, 1), *rows = malloc(g.count * k * sizeof(float));
        float *want = nan_lines(size + lda);
        for (size_t i = 0; i < g.count * k; i++) {
            const size_t at = g.skip + i % k;
            rows[i] = x[i / k * g.step + at / g.each * g.piece_stride + at % g.each];
        }
        g.x = x;
        g.to = nan_lines(size + lda);
        g.ldto = lda;
        ck_assert(kern->bf16x3.pixels(&g));
        ck_assert(kern->bf16x3.rows(g.count, k, rows, k, NULL, want, lda));
        ck_assert(memcmp(g.to, want, (size + lda) * sizeof(float)) == 0);
        x[(g.count - 1) * g.step + g.skip / g.each * g.piece_stride + g.skip % g.each] = NAN;
        ck_assert(!kern->bf16x3.pixels(&g));
        free(x);
        free(rows);
        free(want);
        free(g.to);
    }
}
END_TEST

/* Numbers that bfloat16 represents are multiplied without an error. */
START_TEST(bf16_numbers_multiply_exactly)
{
    const prt_kern *kern = amx_kernels();
    const sizes s = { 40, 64, 200, 0 };
    if (kern == NULL)
        return;
    operands m = make_operands(kern, &s);
    for (size_t i = 0; i < s.rows * s.k; i++)
        m.a[i] = (float)((int)(i * 37 % 255) - 127);
    (void)kern->bf16x3.rows(s.rows, s.k, m.a, s.k, NULL, m.split_a, m.lda);
    prt_bf16x3_panel p = { .taps = 1,
        .k = s.k,
        .columns = WIDE,
        .b = m.b,
        .stride = WIDE,
        .to = m.split_b };
    for (size_t i = 0; i < s.k * WIDE; i++)
        m.b[i] = (float)(i * 13 % 15);
    memset(m.bias, 0, s.columns * sizeof(float));
    kern->bf16x3.panel(&p);
    run_product(kern, &m, s.rows, false, false, NULL);
    for (size_t i = 0; i < s.rows * WIDE; i++) {
        double sum = 0.0;
        for (size_t q = 0; q < s.k; q++)
            sum += (double)m.a[i / WIDE * s.k + q] * (double)m.b[q * WIDE + i % WIDE];
        ck_assert_double_eq((double)m.c[i / WIDE * m.ldc + i % WIDE], sum);
    }
    free_operands(&m);
}
END_TEST

START_TEST(values_that_are_not_finite_are_reported)
{
    static const float odd[] = { INFINITY, -INFINITY, NAN, FLT_MAX };
    const prt_kern *kern = amx_kernels();
    enum { ROWS = 3, K = 50 };
    float to[ROWS * (2 * PRT_BF16X3_UNIT + PRT_BF16X3_UNIT / 2)], *panel = nan_lines(MOST * WIDE);
    for (size_t i = 0; kern != NULL && i < PRT_COUNT_OF(odd); i++)
        for (size_t at = 0; at < (size_t)ROWS * K; at += 11) {
            float *a = random_floats((size_t)ROWS * K, 1);
            a[at] = odd[i];
            ck_assert(!kern->bf16x3.rows(ROWS, K, a, K, NULL, to, prt_bf16x3_pitch(K)));
            float *b = random_floats((size_t)K * WIDE, 2);
            prt_bf16x3_panel p = { .taps = 1,
                .k = K,
                .columns = WIDE,
                .b = b,
                .stride = WIDE,
                .to = panel };
            b[at * 20] = odd[i];
            kern->bf16x3.panel(&p);
            ck_assert(!p.finite);
            free(a);
            free(b);
        }
    free(panel);
}
END_TEST

PRT_TEST_MAIN("kern/bf16x3", products_equal_sums_in_double, cuts_and_panels_keep_every_bit,
    gathered_rows_have_the_same_bits, bf16_numbers_multiply_exactly,
    values_that_are_not_finite_are_reported)
