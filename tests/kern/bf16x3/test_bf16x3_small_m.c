/* SPDX-License-Identifier: MIT */
/* test_bf16x3_small_m.c — bf16x3 products of few rows have the bits of the products by panels,
 * for any columns, and write nothing else. Without AMX there is nothing to test.
 * Covers: bf16x3_small_m_amx.c. */
#include <math.h>
#include <string.h>

#include "base/size.h"
#include "base/status.h"
#include "kern/levels.h"
#include "support/check_main.h"

enum { WIDE = PRT_GEMM_PANEL, DEPTH = PRT_BF16X3_DEPTH };

static const prt_kern *amx_kernels(void)
{
    const prt_kern *kern = level_named("avx512_amx");
    return kern != NULL && kern->bf16x3.small_m != NULL ? kern : NULL;
}

typedef struct operands {
    size_t m, n, k, ldc;
    float *a, *b, *packed, *scale, *bias, *residual, *split, *scratch;
    float *c, *expected;
    bool finite; /* whether the panels report finite values */
} operands;

/* Computes the same product by panels, DEPTH of K at a time. */
static void multiply_by_panels(const prt_kern *kern, operands *d, const prt_gemm_end *end)
{
    float *a = nan_lines((d->m + PRT_BF16X3_ROWS_PAST_END) * prt_bf16x3_pitch(DEPTH));
    float *panel = nan_lines(DEPTH * WIDE);
    d->finite = true;
    for (size_t j = 0; j < d->n; j += WIDE)
        for (size_t k = 0; k < d->k; k += DEPTH) {
            const size_t some = prt_size_min(d->k - k, DEPTH), lda = prt_bf16x3_pitch(some);
            const size_t stride = prt_gemm_panel_width(d->n, j);
            prt_gemm_end here = *end;
            here.residual += j;
            prt_bf16x3_panel p = { .taps = 1,
                .k = some,
                .columns = prt_size_min(d->n - j, WIDE),
                .b = d->packed + j * d->k + k * stride,
                .stride = stride,
                .to = panel };
            if (!kern->bf16x3.rows(d->m, some, d->a + k, d->k, d->scale + k, a, lda))
                d->finite = false;
            kern->bf16x3.panel(&p);
            d->finite = p.finite && d->finite;
            const prt_bf16x3_block g = { .rows = d->m,
                .columns = p.columns,
                .k = some,
                .a = a,
                .lda = lda,
                .taps = 1,
                .b = panel,
                .bias = d->bias + j,
                .add = k != 0,
                .c = d->expected + j,
                .ldc = d->ldc,
                .end = k + some == d->k ? &here : NULL };
            kern->bf16x3.begin(g.rows, false);
            kern->bf16x3.multiply(&g);
            kern->bf16x3.end();
        }
    free(a);
    free(panel);
}

static operands make_operands(size_t m, size_t n, size_t k)
{
    operands d = { .m = m, .n = n, .k = k, .ldc = n + 3 };
    d.a = random_floats(m * k, 1);
    d.b = random_floats(n * k, 2);
    d.packed = nan_lines(prt_gemm_width(n) * k);
    d.scale = random_floats(k, 6);
    d.bias = random_floats(n, 3);
    d.residual = random_floats(m * n, 4);
    d.c = random_floats(m * d.ldc, 5);
    d.expected = random_floats(m * d.ldc, 5);
    d.split = nan_lines(m * prt_bf16x3_pitch(k));
    d.scratch = nan_lines(PRT_BF16X3_SMALL_M_SCRATCH);
    return d;
}

static void free_operands(operands *d)
{
    free(d->a);
    free(d->b);
    free(d->packed);
    free(d->scale);
    free(d->bias);
    free(d->residual);
    free(d->c);
    free(d->expected);
    free(d->split);
    free(d->scratch);
}

/* Computes the product in `parts` ranges of columns; returns whether every range is finite. */
static bool multiply_small_m(const prt_kern *kern, operands *d, size_t parts,
    const prt_gemm_end *end)
{
    const size_t all = (d->n + 15) / 16, lda = prt_bf16x3_pitch(d->k);
    bool finite = kern->bf16x3.rows(d->m, d->k, d->a, d->k, d->scale, d->split, lda);
    for (size_t i = 0; i < parts; i++) {
        const prt_bf16x3_small_m g = { .rows = d->m,
            .k = d->k,
            .a = d->split,
            .lda = lda,
            .n = d->n,
            .first = all * i / parts * 16,
            .last = prt_size_min(all * (i + 1) / parts * 16, d->n),
            .b = d->packed,
            .bias = d->bias,
            .c = d->c,
            .ldc = d->ldc,
            .end = end,
            .scratch = d->scratch };
        finite = kern->bf16x3.small_m(&g) && finite;
    }
    return finite;
}

static const size_t rows[] = { 8, 11, 12, 16, 17, 33, 49, 50, 63, 64 };
static const size_t columns[] = { 1, 16, 40, 64, 100, 130, 200 };
static const size_t depths[] = { 1, 17, 31, 32, 100, 160, 300, 520 };

START_TEST(bits_equal_those_of_panels)
{
    const prt_kern *kern = amx_kernels();
    for (size_t i = 0;
         kern != NULL && i < PRT_COUNT_OF(rows) * PRT_COUNT_OF(columns) * PRT_COUNT_OF(depths);
         i++) {
        operands d = make_operands(rows[i % 10], columns[i / 10 % 7], depths[i / 70]);
        const prt_gemm_end end = { .residual = d.residual,
            .ldr = d.n,
            .act = { .kind = i % 2 == 0 ? PRT_ACT_relu : PRT_ACT_silu } };
        prt_gemm_pack_all(d.k, d.n, d.b, d.n, 1, d.packed);
        multiply_by_panels(kern, &d, &end);
        ck_assert(d.finite);
        for (size_t parts = 1; parts <= 3; parts++) {
            float *again = random_floats(d.m * d.ldc, 5);
            memcpy(d.c, again, d.m * d.ldc * sizeof(float));
            free(again);
            ck_assert(multiply_small_m(kern, &d, prt_size_min(parts, (d.n + 15) / 16), &end));
            ck_assert_msg(memcmp(d.c, d.expected, d.m * d.ldc * sizeof(float)) == 0,
                "%zu x %zu x %zu in %zu", d.m, d.n, d.k, parts);
        }
        free_operands(&d);
    }
}
END_TEST

START_TEST(values_that_are_not_finite_are_reported)
{
    static const float odd[] = { INFINITY, -INFINITY, NAN };
    const prt_kern *kern = amx_kernels();
    for (size_t i = 0; kern != NULL && i < 3 * 40; i++) {
        operands d = make_operands(20, 70, 50);
        d.b[i * 29] = odd[i % 3];
        prt_gemm_pack_all(d.k, d.n, d.b, d.n, 1, d.packed);
        ck_assert(!multiply_small_m(kern, &d, 2, NULL));
        free_operands(&d);
    }
}
END_TEST

PRT_TEST_MAIN("kern/bf16x3_small_m", bits_equal_those_of_panels,
    values_that_are_not_finite_are_reported)
