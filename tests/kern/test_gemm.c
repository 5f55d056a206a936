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

typedef struct problem {
    prt_gemm g;
    float *a, *b, *packed, *bias, *residual, *c, *whole;
    size_t ldb;
} problem;

enum { GUARD = 32 };

static problem make(size_t m, size_t n, size_t k, size_t pad, bool transposed)
{
    problem p = { .g = { .m = m, .n = n, .k = k, .lda = k + pad, .ldc = n + pad, .ldr = n } };
    p.a = random_floats(m * (k + pad), 1);
    p.b = random_floats(k * n, 2);
    p.bias = random_floats(n, 3);
    p.residual = random_floats(m * n, 4);
    p.packed = aligned_alloc(64, (prt_gemm_packed(k, n) * sizeof(float) + 127) / 64 * 64);
    prt_gemm_pack(k, n, p.b, transposed ? 1 : n, transposed ? k : 1, p.packed);
    p.whole = malloc((m * (n + pad) + 2 * GUARD) * sizeof(float));
    for (size_t i = 0; i < m * (n + pad) + 2 * GUARD; i++)
        p.whole[i] = 12345.0f;
    p.c = p.whole + GUARD;
    p.g.a = p.a;
    p.g.b = p.packed;
    p.g.c = p.c;
    return p;
}

static void drop(problem *p)
{
    free(p->a);
    free(p->b);
    free(p->bias);
    free(p->residual);
    free(p->packed);
    free(p->whole);
}

static void run(const prt_kern *kern, const prt_gemm *g, size_t rows)
{
    for (size_t panel = 0; panel < prt_gemm_panels(g->n); panel++)
        for (size_t i = 0; i < g->m; i += rows)
            kern->gemm_panel(g, i, g->m - i < rows ? g->m - i : rows, panel);
}

static void ck_result(const problem *p, bool transposed, const char *where)
{
    const prt_gemm *g = &p->g;
    for (size_t i = 0; i < g->m; i++)
        for (size_t j = 0; j < g->n; j++) {
            double sum = 0.0, size = 0.0;
            for (size_t q = 0; q < g->k; q++) {
                const double x = (double)p->a[i * g->lda + q];
                const double y = (double)(transposed ? p->b[j * g->k + q] : p->b[q * g->n + j]);
                sum += x * y;
                size += fabs(x * y);
            }
            if (g->bias != NULL)
                sum += (double)g->bias[j];
            if (g->residual != NULL)
                sum += (double)g->residual[i * g->ldr + j];
            if (g->act.kind == PRT_ACT_relu && sum < 0.0)
                sum = 0.0;
            const double found = (double)p->c[i * g->ldc + j];
            if (!(fabs(found - sum) <= 1e-6 * (1.0 + size)))
                ck_abort_msg("%s: %zux%zux%zu: [%zu,%zu] is %g, not %g", where, g->m, g->n, g->k, i,
                    j, found, sum);
        }
    for (size_t i = 0; i < g->m; i++)
        for (size_t j = g->n; j < g->ldc; j++)
            ck_assert(p->c[i * g->ldc + j] == 12345.0f);
    for (size_t i = 0; i < GUARD; i++)
        ck_assert(p->whole[i] == 12345.0f && p->c[g->m * g->ldc + i] == 12345.0f);
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
                    const bool transposed = (i + j + q) % 2 == 0;
                    problem p = make(ms[i], ns[j], ks[q], (i + q) % 3, transposed);
                    run(kern, &p.g, ms[i]);
                    ck_result(&p, transposed, levels[l]);
                    drop(&p);
                }
    }
}
END_TEST

START_TEST(epilogues_are_applied_once)
{
    for (int l = 0; l < 3; l++) {
        const prt_kern *kern = level(l);
        if (kern == NULL)
            continue;
        problem p = make(9, 70, 800, 1, false);
        p.g.bias = p.bias;
        p.g.residual = p.residual;
        p.g.act.kind = PRT_ACT_relu;
        run(kern, &p.g, 9);
        ck_result(&p, false, levels[l]);
        drop(&p);
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
        float *first = malloc(29 * 130 * sizeof(float));
        run(kern, &p.g, 29);
        memcpy(first, p.c, 29 * 130 * sizeof(float));
        for (size_t rows = 1; rows < 29; rows += 3) {
            memset(p.c, 0, 29 * 130 * sizeof(float));
            run(kern, &p.g, rows);
            ck_assert_mem_eq(first, p.c, 29 * 130 * sizeof(float));
        }
        free(first);
        drop(&p);
    }
}
END_TEST

START_TEST(packed_sizes_are_checked)
{
    ck_assert_uint_eq(prt_gemm_packed(3, 65), 3 * 80);
    ck_assert_uint_eq(prt_gemm_packed(0, 65), 0);
    ck_assert_uint_eq(prt_gemm_packed(SIZE_MAX / 8, 17), SIZE_MAX);
    ck_assert_uint_eq(prt_gemm_packed(1, SIZE_MAX - 3), SIZE_MAX);
}
END_TEST

PRT_TEST_MAIN("kern/gemm", products_are_right, epilogues_are_applied_once, cuts_do_not_change_bits,
    packed_sizes_are_checked)
