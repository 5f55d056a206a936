/* SPDX-License-Identifier: MIT */
/* test_gemm.c — every level against a product in double: all sizes around the tiles, guard bytes
 * around C, the epilogue, and equal bits for any division of rows.
 * Covers: level_portable.c, level_avx2.c, level_avx512.c, kern.c. */
#include <math.h>
#include <stdbool.h>

#include "base/size.h"
#include "base/status.h"
#include "kern/levels.h"
#include "support/check_main.h"

/* C [m, n] = A B + …, with `pad` floats between the rows of A and between the rows of C. */
typedef struct problem {
    size_t m, n, k, lda, ldc;
    float *a, *b, *packed, *bias, *row_bias, *residual, *c, *whole;
    bool transposed, ends, in_cache;
} problem;

enum { GUARD = 32 };

static problem make_problem(size_t m, size_t n, size_t k, size_t pad, bool transposed)
{
    problem p = { .m = m,
        .n = n,
        .k = k,
        .lda = k + pad,
        .ldc = n + pad,
        .transposed = transposed };
    p.a = random_floats(m * p.lda, 1);
    p.b = random_floats(k * n, 2);
    p.bias = random_floats(n, 3);
    p.row_bias = random_floats(m, 5);
    p.residual = random_floats(m * n, 4);
    p.packed = aligned_alloc(64, k * PRT_GEMM_PANEL * sizeof(float));
    p.whole = malloc((m * p.ldc + 2 * GUARD) * sizeof(float));
    for (size_t i = 0; i < m * p.ldc + 2 * GUARD; i++)
        p.whole[i] = 12345.0f;
    p.c = p.whole + GUARD;
    return p;
}

static void free_problem(problem *p)
{
    free(p->a);
    free(p->b);
    free(p->bias);
    free(p->row_bias);
    free(p->residual);
    free(p->packed);
    free(p->whole);
}

/* Panel by panel, `rows` rows and a third of K at a time. */
static void run_panels(const prt_kern *kern, const problem *p, size_t rows)
{
    const size_t part = (p->k + 2) / 3;
    for (size_t j = 0; j < p->n; j += PRT_GEMM_PANEL) {
        const size_t columns = p->n - j < PRT_GEMM_PANEL ? p->n - j : PRT_GEMM_PANEL;
        for (size_t q = 0; q < p->k; q += part) {
            const size_t depth = p->k - q < part ? p->k - q : part;
            const size_t row = p->transposed ? 1 : p->n, column = p->transposed ? p->k : 1;
            prt_gemm_pack(depth, columns, p->b + q * row + j * column, row, column, p->packed);
            for (size_t i = 0; i < p->m; i += rows) {
                const prt_gemm_end end = { .bias = p->bias + j,
                    .row_bias = p->row_bias + i,
                    .residual = p->residual + i * p->n + j,
                    .ldr = p->n,
                    .act = { .kind = PRT_ACT_relu } };
                const prt_gemm_block g = { .rows = p->m - i < rows ? p->m - i : rows,
                    .columns = columns,
                    .k = depth,
                    .a = p->a + i * p->lda + q,
                    .lda = p->lda,
                    .b = p->packed,
                    .stride = prt_gemm_width(columns),
                    .c = p->c + i * p->ldc + j,
                    .ldc = p->ldc,
                    .in_cache = p->in_cache,
                    .add = q != 0,
                    .end = p->ends && q + depth == p->k ? &end : NULL };
                kern->gemm(&g);
            }
        }
    }
}

static void ck_product(const problem *p, const char *where)
{
    for (size_t i = 0; i < p->m; i++)
        for (size_t j = 0; j < p->n; j++) {
            double sum = 0.0, size = 0.0;
            for (size_t q = 0; q < p->k; q++) {
                const double x = (double)p->a[i * p->lda + q];
                const double y = (double)(p->transposed ? p->b[j * p->k + q] : p->b[q * p->n + j]);
                sum += x * y;
                size += fabs(x * y);
            }
            if (p->ends)
                sum = fmax(0.0,
                    sum + (double)p->bias[j] + (double)p->row_bias[i] +
                        (double)p->residual[i * p->n + j]);
            const double found = (double)p->c[i * p->ldc + j];
            if (!(fabs(found - sum) <= 1e-6 * (1.0 + size)))
                ck_abort_msg("%s: %zux%zux%zu: [%zu,%zu] is %g, not %g", where, p->m, p->n, p->k, i,
                    j, found, sum);
        }
    for (size_t i = 0; i < p->m; i++)
        for (size_t j = p->n; j < p->ldc; j++)
            ck_assert(p->c[i * p->ldc + j] == 12345.0f);
    for (size_t i = 0; i < GUARD; i++)
        ck_assert(p->whole[i] == 12345.0f && p->c[p->m * p->ldc + i] == 12345.0f);
}

START_TEST(products_equal_sums_in_double)
{
    static const size_t ms[] = { 1, 2, 5, 6, 7, 8, 12, 13, 25 };
    static const size_t ns[] = { 1, 15, 16, 17, 48, 63, 64, 65, 130 };
    static const size_t ks[] = { 1, 2, 33, 400, 900 };
    for (int l = 0; l < LEVELS; l++) {
        const prt_kern *kern = level(l);
        for (size_t i = 0; kern != NULL && i < PRT_COUNT_OF(ms); i++)
            for (size_t j = 0; j < PRT_COUNT_OF(ns); j++)
                for (size_t q = 0; q < PRT_COUNT_OF(ks); q++) {
                    problem p =
                        make_problem(ms[i], ns[j], ks[q], (i + q) % 3, (i + j + q) % 2 == 0);
                    p.ends = (i + j) % 2 == 0;
                    run_panels(kern, &p, ms[i]);
                    ck_product(&p, kern->level);
                    free_problem(&p);
                }
    }
}
END_TEST

START_TEST(dividing_rows_keeps_every_bit)
{
    for (int l = 0; l < LEVELS; l++) {
        const prt_kern *kern = level(l);
        if (kern == NULL)
            continue;
        problem p = make_problem(29, 130, 500, 0, false);
        const size_t size = p.m * p.n * sizeof(float);
        float *first = malloc(size);
        run_panels(kern, &p, p.m);
        memcpy(first, p.c, size);
        for (size_t rows = 1; rows < p.m; rows += 3) {
            memset(p.c, 0, size);
            p.in_cache = rows % 2 == 0;
            run_panels(kern, &p, rows);
            ck_assert_mem_eq(first, p.c, size);
        }
        for (int in_cache = 0; in_cache < 2; in_cache++) {
            memset(p.c, 0, size);
            p.in_cache = in_cache != 0;
            run_panels(kern, &p, 1);
            ck_assert_mem_eq(first, p.c, size);
        }
        free(first);
        free_problem(&p);
    }
}
END_TEST

/* The kernel subtracts two operands; the result equals the product of their difference, which it
 * leaves behind. */
START_TEST(differences_equal_an_explicit_subtraction)
{
    static const size_t rows[] = { PRT_GEMM_DIFFERENCE_ROWS, 13, 29, 64 };
    static const size_t columns[] = { PRT_GEMM_PANEL / 2, PRT_GEMM_PANEL };
    enum { K = 77, STRIDE = PRT_GEMM_PANEL, B = K * STRIDE };
    for (int l = 0; l < 2 * LEVELS; l++) {
        const prt_kern *kern = level(l / 2);
        for (size_t i = 0; kern != NULL && i < PRT_COUNT_OF(rows) * PRT_COUNT_OF(columns); i++) {
            const size_t m = rows[i / 2], n = columns[i % 2], size = m * n * sizeof(float);
            float *a = random_floats(m * K, 1), *b = random_floats(B, 2);
            float *less = random_floats(B, 3), *made = l % 2 != 0 ? less : random_floats(B, 4);
            float *plain = random_floats(B, 5), *c = random_floats(m * n, 6);
            float *want = random_floats(m * n, 6);
            for (size_t q = 0; q < B; q++)
                plain[q] = b[q] - less[q];
            prt_gemm_block g = { .rows = m,
                .columns = n,
                .k = K,
                .a = a,
                .lda = K,
                .b = plain,
                .stride = STRIDE,
                .c = want,
                .ldc = n,
                .add = l % 2 != 0 };
            kern->gemm(&g);
            g.b = b;
            g.less = less;
            g.made = made;
            g.c = c;
            kern->gemm(&g);
            ck_assert_mem_eq(c, want, size);
            for (size_t q = 0; q < B; q++)
                ck_assert(q % STRIDE >= n || made[q] == plain[q]);
            if (made != less)
                free(made);
            free(a);
            free(b);
            free(less);
            free(plain);
            free(c);
            free(want);
        }
    }
}
END_TEST

/* One row by all panels, wherever they lie: the bits of the panels one by one. */
START_TEST(one_row_by_all_panels_keeps_every_bit)
{
    static const size_t columns[] = { 1, 64, 128, 200, 320, 449, 900 }, ks[] = { 1, 3, 8, 77 };
    for (int l = 0; l < LEVELS; l++) {
        const prt_kern *kern = level(l);
        for (size_t i = 0; kern != NULL && i < PRT_COUNT_OF(columns) * PRT_COUNT_OF(ks); i++) {
            const size_t n = columns[i / PRT_COUNT_OF(ks)], k = ks[i % PRT_COUNT_OF(ks)];
            float *x = random_floats(k, 1), *b = random_floats(k * n, 2);
            float *add = random_floats(n, 3);
            float *want = random_floats(n, 4), *y = random_floats(n + 1, 5);
            float *packed = aligned_alloc(64, k * prt_gemm_width(n) * sizeof(float));
            prt_gemm_pack_all(k, n, b, n, 1, packed);
            for (unsigned with = 0; with < 8; with++) {
                const prt_gemm_row r = { .k = k,
                    .columns = n,
                    .x = x,
                    .b = packed,
                    .add = with % 2 != 0 ? add : NULL,
                    .y = y,
                    .from_memory = (with & 2) != 0,
                    .back = (with & 4) != 0 };
                for (size_t j = 0; j < n; j += PRT_GEMM_PANEL) {
                    const prt_gemm_end end = { .bias = r.add != NULL ? add + j : NULL };
                    const prt_gemm_block g = { .rows = 1,
                        .k = k,
                        .a = x,
                        .lda = k,
                        .columns = prt_size_min(n - j, PRT_GEMM_PANEL),
                        .b = packed + j * k,
                        .stride = prt_gemm_panel_width(n, j),
                        .c = want + j,
                        .ldc = n,
                        .end = &end };
                    kern->gemm(&g);
                }
                y[n] = 12345.0f;
                kern->gemm_row(&r);
                ck_assert_mem_eq(y, want, n * sizeof(float));
                ck_assert(y[n] == 12345.0f);
            }
            free(x);
            free(b);
            free(add);
            free(want);
            free(y);
            free(packed);
        }
    }
}
END_TEST

/* ---- rows of A in pieces at any place, as convolutions read them */

static const prt_act acts[] = { { PRT_ACT_none, 0, 0 }, { PRT_ACT_relu, 0, 0 },
    { PRT_ACT_clip, -0.5f, 0.75f }, { PRT_ACT_leaky_relu, 0.25f, 0 } };

static double activation_of(const prt_act *act, double x)
{
    return act->kind == PRT_ACT_relu ? fmax(0.0, x)
        : act->kind == PRT_ACT_clip  ? fmin(0.75, fmax(-0.5, x))
        : act->kind == PRT_ACT_none  ? x
        : x < 0.0                    ? 0.25 * x
                                     : x;
}

/* `with`: bits for bias, row_bias, residual, a residual that is C itself, add, and no epilogue. */
static void check_pieces(const prt_kern *kern, size_t rows, size_t columns, size_t taps, size_t k,
    unsigned with)
{
    const size_t skip = with % 3, ldc = columns + with % 2, width = prt_gemm_width(columns);
    const bool ends = (with & 32) == 0;
    float *data = random_floats(taps * rows + k + skip + 3, 1);
    float *b = random_floats(taps * k * width, 2), *bias = random_floats(columns, 3);
    float *row_bias = random_floats(rows, 4), *residual = random_floats(rows * columns, 5);
    float *c = random_floats(rows * ldc, 6), *before = random_floats(rows * ldc, 6);
    const float **from = malloc(taps * rows * sizeof(float *));
    const prt_act *act = &acts[(with + rows) % PRT_COUNT_OF(acts)];
    size_t wrong = 0;
    for (size_t i = 0; i < taps * rows; i++)
        from[i] = data + i * 7 % (taps * rows + 1);
    const prt_gemm_end end = { .bias = (with & 1) != 0 ? bias : NULL,
        .row_bias = (with & 2) != 0 ? row_bias : NULL,
        .residual = (with & 8) != 0 ? c
            : (with & 4) != 0       ? residual
                                    : NULL,
        .ldr = (with & 8) != 0 ? ldc : columns,
        .act = *act };
    const prt_gemm_block g = { .rows = rows,
        .columns = columns,
        .k = k,
        .from = from,
        .taps = taps,
        .skip = skip,
        .b = b,
        .stride = width,
        .c = c,
        .ldc = ldc,
        /* A C that is added to cannot be the residual too. */
        .add = (with & 16) != 0 && (with & 8) == 0,
        .end = ends ? &end : NULL };
    kern->gemm(&g);
    for (size_t i = 0; i < rows * ldc; i++) {
        const size_t row = i / ldc, j = i % ldc;
        double sum = g.add ? (double)before[i] : 0.0;
        for (size_t t = 0; t < taps * k && j < columns; t++)
            sum += (double)from[t / k * rows + row][skip + t % k] * (double)b[t * width + j];
        if (ends) {
            sum += end.bias != NULL && j < columns ? (double)bias[j] : 0.0;
            sum += end.row_bias != NULL ? (double)row_bias[row] : 0.0;
            sum += end.residual == c                  ? (double)before[i]
                : end.residual != NULL && j < columns ? (double)residual[row * columns + j]
                                                      : 0.0;
            sum = activation_of(act, sum);
        }
        wrong += j < columns ? !(fabs((double)c[i] - sum) <= 1e-5 * (1.0 + fabs(sum)))
                             : c[i] != before[i];
    }
    ck_assert_msg(wrong == 0, "%s: %zu wrong of %zux%zu, %zu taps of %zu, with %u", kern->level,
        wrong, rows, columns, taps, k, with);
    free(data);
    free(b);
    free(bias);
    free(row_bias);
    free(residual);
    free(c);
    free(before);
    free(from);
}

START_TEST(rows_in_pieces_equal_contiguous_rows)
{
    static const size_t columns[] = { 1, 7, 16, 31, 40, 63, 64 };
    for (int l = 0; l < LEVELS; l++)
        for (size_t rows = 1; level(l) != NULL && rows <= 26; rows++)
            for (size_t j = 0; j < PRT_COUNT_OF(columns); j++)
                for (unsigned with = 0; with < 64; with += 1 + (unsigned)(rows + j) % 5)
                    check_pieces(level(l), rows, columns[j], 1 + (rows + with) % 9,
                        1 + (rows * 3 + with) % 21, with);
}
END_TEST

PRT_TEST_MAIN("kern/gemm", products_equal_sums_in_double, dividing_rows_keeps_every_bit,
    differences_equal_an_explicit_subtraction, one_row_by_all_panels_keeps_every_bit,
    rows_in_pieces_equal_contiguous_rows)
