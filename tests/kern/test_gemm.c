/* SPDX-License-Identifier: MIT */
/*
 * test_gemm.c — every level against a product in double: all sizes around the tiles, guard bytes
 * around C, the epilogue, and the same bits however rows are cut.
 */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "cpu/cpu.h"
#include "kern/kern.h"
#include "base/status.h"
#include "support/check_main.h"

static const char *const levels[] = { "portable", "avx2", "avx512" };

static const prt_kern *level(int i)
{
    const uint64_t want = prt_cpu_level(levels[i]);
    return (want & prt_cpu_features()) == want ? prt_kern_of(want) : NULL;
}

static float *random_floats(size_t n, uint32_t seed)
{
    float *p = malloc((n + 1) * sizeof(float));
    uint32_t state = seed * 2654435761u + 1;
    for (size_t i = 0; i < n; i++) {
        state = state * 1664525u + 1013904223u;
        p[i] = (float)(state >> 8) / 8388608.0f - 1.0f;
    }
    return p;
}

/* C [m, n] = A B + …, rows of A and C `pad` apart from each other. */
typedef struct problem {
    size_t m, n, k, lda, ldc;
    float *a, *b, *packed, *bias, *row_bias, *residual, *c, *whole;
    bool transposed, ends;
} problem;

enum { GUARD = 32 };

static problem make(size_t m, size_t n, size_t k, size_t pad, bool transposed)
{
    problem p = { .m = m, .n = n, .k = k, .lda = k + pad, .ldc = n + pad,
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

static void drop(problem *p)
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
static void run(const prt_kern *kern, const problem *p, size_t rows)
{
    const size_t part = (p->k + 2) / 3;
    for (size_t j = 0; j < p->n; j += PRT_GEMM_PANEL) {
        const size_t columns = p->n - j < PRT_GEMM_PANEL ? p->n - j : PRT_GEMM_PANEL;
        for (size_t q = 0; q < p->k; q += part) {
            const size_t depth = p->k - q < part ? p->k - q : part;
            const size_t row = p->transposed ? 1 : p->n, column = p->transposed ? p->k : 1;
            prt_gemm_pack(depth, columns, p->b + q * row + j * column, row, column, p->packed);
            for (size_t i = 0; i < p->m; i += rows) {
                const prt_gemm_end end = { .bias = p->bias + j, .row_bias = p->row_bias + i,
                    .residual = p->residual + i * p->n + j, .ldr = p->n,
                    .act = { .kind = PRT_ACT_relu } };
                const prt_gemm_block g = { .rows = p->m - i < rows ? p->m - i : rows,
                    .columns = columns, .k = depth, .a = p->a + i * p->lda + q, .lda = p->lda,
                    .b = p->packed, .stride = prt_gemm_width(columns), .c = p->c + i * p->ldc + j,
                    .ldc = p->ldc, .add = q != 0,
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
                sum = fmax(0.0, sum + (double)p->bias[j] + (double)p->row_bias[i] +
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

START_TEST(products_are_right)
{
    static const size_t ms[] = { 1, 2, 5, 6, 7, 8, 12, 13, 25 };
    static const size_t ns[] = { 1, 15, 16, 17, 48, 63, 64, 65, 130 };
    static const size_t ks[] = { 1, 2, 33, 400, 900 };
    for (int l = 0; l < 3; l++) {
        const prt_kern *kern = level(l);
        for (size_t i = 0; kern != NULL && i < PRT_COUNT_OF(ms); i++)
            for (size_t j = 0; j < PRT_COUNT_OF(ns); j++)
                for (size_t q = 0; q < PRT_COUNT_OF(ks); q++) {
                    problem p = make(ms[i], ns[j], ks[q], (i + q) % 3, (i + j + q) % 2 == 0);
                    p.ends = (i + j) % 2 == 0;
                    run(kern, &p, ms[i]);
                    ck_product(&p, levels[l]);
                    drop(&p);
                }
    }
}
END_TEST

START_TEST(cuts_do_not_change_bits)
{
    for (int l = 0; l < 3; l++) {
        const prt_kern *kern = level(l);
        if (kern == NULL)
            continue;
        problem p = make(29, 130, 500, 0, false);
        const size_t size = p.m * p.n * sizeof(float);
        float *first = malloc(size);
        run(kern, &p, p.m);
        memcpy(first, p.c, size);
        for (size_t rows = 1; rows < p.m; rows += 3) {
            memset(p.c, 0, size);
            run(kern, &p, rows);
            ck_assert_mem_eq(first, p.c, size);
        }
        free(first);
        drop(&p);
    }
}
END_TEST

PRT_TEST_MAIN("kern/gemm", products_are_right, cuts_do_not_change_bits)
