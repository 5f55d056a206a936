/* SPDX-License-Identifier: MIT */
/*
 * kernels.c — the library's kernels as a share of the processor's measured peak, in one run.
 *
 *     kernels [SECONDS]        how long each figure may take; 0.2 if not given
 *
 * One JSON line a figure: the peak of each instruction-set level, products of single layers (B
 * packed and warm), all products of BERT base in order with their own weights each, and rows by the
 * bytes they read and write. One thread.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "cpu/cpu.h"
#include "kern/kern.h"
#include "peak.h"

enum { BLOCK_K = 512, BLOCK_ROWS = 240, ALIGN = 64 };

typedef struct product {
    size_t m, n, k;
    float *a, *b, *c; /* B packed */
} product;

static double limit_s = 0.2;

static double now_s(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static float *take(size_t count)
{
    float *p = NULL;
    if (posix_memalign((void **)&p, ALIGN, (count + ALIGN) * sizeof *p) != 0)
        exit(1);
    for (size_t i = 0; i < count + ALIGN; i++)
        p[i] = (float)((i * 2654435761u >> 8) % 2001) / 1000 - 1;
    return p;
}

/* Keeps the compiler from removing results that are never read. */
static volatile float sink;

/* The shortest time of `work`, repeated until the time is up. */
static double best_s(void (*work)(const prt_kern *, const void *), const prt_kern *kern,
    const void *what)
{
    double best = 1e9;
    const double begin = now_s();
    work(kern, what);
    do {
        const double start = now_s();
        work(kern, what);
        const double took = now_s() - start;
        best = took < best ? took : best;
    } while (now_s() - begin < limit_s);
    return best;
}

static void turn_peak(const prt_kern *kern, const void *what)
{
    (void)kern;
    sink = ((const peak_level *)what)->turns(100000);
}

static double measure_peak(const peak_level *p)
{
    return (double)p->flops * 100000 / best_s(turn_peak, NULL, p);
}

static product make_product(size_t m, size_t n, size_t k)
{
    const size_t width = prt_gemm_width(n);
    return (product){ m, n, k, take(m * k), take(width * k), take(m * n) };
}

static void drop_product(const product *p)
{
    free(p->a);
    free(p->b);
    free(p->c);
}

/* Blocked like the operators of src/fast: a block of rows of A stays in the cache while it passes
 * over all panels, and the next panel is prefetched. */
static void run_product(const prt_kern *kern, const void *what)
{
    const product *p = what;
    const size_t parts = (p->k + BLOCK_K - 1) / BLOCK_K, depth = (p->k + parts - 1) / parts;
    for (size_t row = 0; row < p->m; row += BLOCK_ROWS) {
        const size_t rows = p->m - row < BLOCK_ROWS ? p->m - row : BLOCK_ROWS;
        for (size_t first = 0; first < p->n; first += PRT_GEMM_PANEL) {
            const size_t left = p->n - first;
            const size_t columns = left < PRT_GEMM_PANEL ? left : PRT_GEMM_PANEL;
            const size_t width = prt_gemm_width(columns);
            for (size_t k = 0; k < p->k; k += depth) {
                const bool last = k + depth >= p->k;
                prt_gemm_block g = { .rows = rows,
                    .columns = columns,
                    .k = p->k - k < depth ? p->k - k : depth,
                    .a = p->a + row * p->k + k,
                    .lda = p->k,
                    .b = p->b + first * p->k + k * width,
                    .stride = width,
                    .c = p->c + row * p->n + first,
                    .ldc = p->n,
                    .add = k != 0 };
                if (!last || left > PRT_GEMM_PANEL) {
                    g.next = last ? p->b + (first + columns) * p->k : g.b + depth * width;
                    g.next_count = depth * width;
                }
                kern->gemm(&g);
            }
        }
    }
}

static void put_product(const prt_kern *kern, double peak, size_t m, size_t n, size_t k)
{
    const product p = make_product(m, n, k);
    const double flops = 2.0 * (double)m * (double)n * (double)k / best_s(run_product, kern, &p);
    (void)printf("{\"kind\":\"product\",\"m\":%zu,\"n\":%zu,\"k\":%zu,\"gflops\":%.2f,"
                 "\"percent\":%.1f}\n",
        m, n, k, flops / 1e9, 100 * flops / peak);
    drop_product(&p);
}

enum { LAYERS = 12, EACH = 6, CHAIN = LAYERS * EACH, WORDS = 128, WIDTH = 768, INNER = 3072 };

static void run_chain(const prt_kern *kern, const void *what)
{
    for (size_t i = 0; i < CHAIN; i++)
        run_product(kern, (const product *)what + i);
}

/* 340 MB of weights, so each product meets its own cold. */
static void put_chain(const prt_kern *kern, double peak)
{
    static product chain[CHAIN];
    double flops = 0;
    for (size_t i = 0; i < CHAIN; i++) {
        const size_t n = i % EACH == EACH - 2 ? INNER : WIDTH;
        const size_t k = i % EACH == EACH - 1 ? INNER : WIDTH;
        chain[i] = make_product(WORDS, n, k);
        flops += 2.0 * WORDS * (double)n * (double)k;
    }
    limit_s = limit_s < 0.4 ? 0.4 : limit_s;
    const double rate = flops / best_s(run_chain, kern, chain);
    (void)printf("{\"kind\":\"chain\",\"name\":\"72 of BERT base, cold\","
                 "\"gflops\":%.2f,\"percent\":%.1f}\n",
        rate / 1e9, 100 * rate / peak);
    for (size_t i = 0; i < CHAIN; i++)
        drop_product(&chain[i]);
}

typedef enum row_kind { ROW_copy, ROW_softmax, ROW_norm, ROW_erf, ROW_gelu, ROW_COUNT } row_kind;

static const char *const row_names[ROW_COUNT] = { "copy (memcpy)", "softmax", "layer norm", "erf",
    "gelu" };

typedef struct rows {
    row_kind kind;
    size_t count, n; /* rows, and elements of each */
    float *x, *y, *gamma;
} rows;

static void run_rows(const prt_kern *kern, const void *what)
{
    const rows *r = what;
    const prt_act gelu = { .kind = PRT_ACT_gelu };
    for (size_t i = 0; i < r->count; i++) {
        const float *x = r->x + i * r->n;
        float *y = r->y + i * r->n;
        switch (r->kind) {
        case ROW_softmax:
            kern->rows.softmax(r->n, x, y);
            break;
        case ROW_norm:
            kern->rows.layer_norm(r->n, x, 1e-5f, r->gamma, r->gamma, y);
            break;
        case ROW_erf:
            kern->rows.one(PRT_UNARY_erf, r->n, x, y);
            break;
        case ROW_gelu:
            kern->rows.act(&gelu, r->n, x, y);
            break;
        default:
            memcpy(y, x, r->n * sizeof *x);
        }
    }
}

/* 128 rows of 768: 393 kB in, as many out. */
static void put_rows(const prt_kern *kern)
{
    rows r = { .count = WORDS, .n = WIDTH };
    const size_t count = r.count * r.n;
    r.x = take(count);
    r.y = take(count);
    r.gamma = take(r.n);
    double copy = 0;
    for (int kind = 0; kind < ROW_COUNT; kind++) {
        r.kind = (row_kind)kind;
        const double rate = 2.0 * (double)(count * sizeof(float)) / best_s(run_rows, kern, &r);
        copy = kind == ROW_copy ? rate : copy;
        (void)printf("{\"kind\":\"rows\",\"name\":\"%s\",\"gbytes\":%.2f,\"percent\":%.1f}\n",
            row_names[kind], rate / 1e9, 100 * rate / copy);
    }
    free(r.x);
    free(r.y);
    free(r.gamma);
}

/* ---- memory */

enum {
    STREAM = 128 << 20, /* floats: far more than any cache holds */
    LINE = 16,
    AHEAD = 2048
}; /* floats */

typedef struct stream {
    float *x;
} stream;

/* A float of each line, which is fetched before. */
static void run_stream(const prt_kern *kern, const void *what)
{
    const stream *s = what;
    float sum[4] = { 0 };
    (void)kern;
    for (size_t i = 0; i < STREAM; i += 4 * LINE)
        for (size_t j = 0; j < 4; j++) {
            const float *x = s->x + i + j * LINE;
            __builtin_prefetch(x + AHEAD, 0, 2);
            sum[j] += *x;
        }
    sink = sum[0] + sum[1] + sum[2] + sum[3];
}

static void put_stream(const prt_kern *kern)
{
    const double size = (double)STREAM * sizeof(float);
    stream s = { .x = take(STREAM) };
    const double rate = size / best_s(run_stream, kern, &s);
    free(s.x);
    s.x = prt_mem_libc.alloc(NULL, STREAM * sizeof(float), ALIGN); /* in large pages */
    if (s.x == NULL)
        exit(1);
    memset(s.x, 0, STREAM * sizeof(float));
    const double large = size / best_s(run_stream, kern, &s);
    free(s.x);
    (void)printf("{\"kind\":\"stream\",\"gbytes\":%.2f,\"large_pages\":%.2f}\n", rate / 1e9,
        large / 1e9);
}

/* The peak of every level this processor has; that of the best one. */
static double put_peaks(uint64_t features)
{
    const struct {
        uint64_t needs;
        const peak_level *level;
    } levels[] = {
#if defined(__x86_64__)
        { PRT_CPU_AVX512, &peak_avx512 },
        { PRT_CPU_AVX2, &peak_avx2 },
#endif
        { 0, &peak_portable }
    };
    double best = 0;
    const double given_s = limit_s;
    limit_s *= 3; /* all else is measured by it */
    for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++) {
        if ((features & levels[i].needs) != levels[i].needs)
            continue;
        const double peak = measure_peak(levels[i].level);
        (void)printf("{\"kind\":\"peak\",\"level\":\"%s\",\"gflops\":%.2f}\n",
            levels[i].level->name, peak / 1e9);
        best = best > 0 ? best : peak;
    }
    limit_s = given_s;
    return best;
}

int main(int argc, char **argv)
{
    static const size_t shapes[][3] = { { 1, 1000, 2048 }, { 1, 3072, 768 }, { 8, 768, 768 },
        { 128, 768, 768 }, { 128, 3072, 768 }, { 128, 768, 3072 }, { 512, 768, 768 },
        { 384, 1024, 4096 }, { 3136, 64, 64 }, { 3136, 256, 64 }, { 784, 128, 512 },
        { 196, 256, 1024 }, { 196, 1024, 256 }, { 49, 512, 2048 }, { 1024, 1024, 1024 } };
    if (argc > 1)
        limit_s = strtod(argv[1], NULL);
    const uint64_t features = prt_cpu_features();
    const prt_kern *kern = prt_kern_of(features);
    const double peak = put_peaks(features);
    (void)printf("{\"kind\":\"level\",\"level\":\"%s\"}\n", kern->level);
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
        put_product(kern, peak, shapes[i][0], shapes[i][1], shapes[i][2]);
    put_chain(kern, peak);
    put_rows(kern);
    put_stream(kern);
    return 0;
}
