/* SPDX-License-Identifier: MIT */
/*
 * gemv_overlap.inl — interleaves a cache-bound GEMV with a piece of a GEMM, so that the FMA units
 * stay busy while the GEMV waits for the cache. The GEMM's register tile is 6 rows by a whole
 * panel.
 */
#ifndef PRT_KERN_GEMM_GEMV_OVERLAP_INL
#define PRT_KERN_GEMM_GEMV_OVERLAP_INL

#include "kern/gemm/gemm.h"
#include "kern/vector/simd.h"

#if defined(__AVX512F__) && defined(__AVX512DQ__)
enum {
    GEMV_OVERLAP_ROWS = 6, OVERLAP_W = PRT_GEMM_PANEL / VL,
    OVERLAP_PACE = 3 /* steps of the GEMV for one step of the GEMM */
};

#define OVERLAP_EACH                                                                               \
    PRT_UNROLL(6)                                                                                  \
    for (size_t i = 0; i < GEMV_OVERLAP_ROWS; i++)                                                 \
        PRT_UNROLL(4)                                                                              \
        for (size_t j = 0; j < OVERLAP_W; j++)

#define OVERLAP_ROW_STEP(Y, X, B)                                                                  \
    {                                                                                              \
        const vf of_row = v_set(X);                                                                \
        PRT_UNROLL(4)                                                                              \
        for (size_t n = 0; n < OVERLAP_W; n++)                                                     \
            Y[n] = v_fma(of_row, v_load((B) + n * VL), Y[n]);                                      \
    }

/* Vector J of one step of the GEMM tile. */
#define OVERLAP_STEP(J)                                                                            \
    {                                                                                              \
        const vf w = v_load(pb + (J) * VL);                                                        \
        PRT_UNROLL(6)                                                                              \
        for (size_t i = 0; i < GEMV_OVERLAP_ROWS; i++)                                             \
            sum[i][J] = v_fma(v_set(i < 3 ? a[i * lda] : rest[(i - 3) * lda]), w, sum[i][J]);      \
    }

/* Computes y = start + x B, k steps, and piece `piece` of g: a part of K of one tile. The order of
 * pieces is panels, parts of K, tiles. */
PRT_AT_LINE static void run_gemv_overlap(size_t k, const float *x, const float *b,
    const float *start, float *y, const prt_gemv_overlap *g, size_t piece)
{
    const size_t tiles = g->rows / GEMV_OVERLAP_ROWS, panel = piece / g->rows, lda = g->lda;
    const size_t part = piece / tiles % GEMV_OVERLAP_ROWS, row = piece % tiles * GEMV_OVERLAP_ROWS;
    const size_t from = part * g->k / GEMV_OVERLAP_ROWS;
    size_t depth = (part + 1) * g->k / GEMV_OVERLAP_ROWS - from;
    const float *a = g->a + row * lda + from, *rest = a + 3 * lda;
    const float *pb = g->b + PRT_GEMM_PANEL * (panel * g->k + from);
    float *c = g->c + row * g->ldc + panel * PRT_GEMM_PANEL;
    const float *bias = part == 0 && g->bias != NULL ? g->bias + panel * PRT_GEMM_PANEL : NULL;
    vf sum[GEMV_OVERLAP_ROWS][OVERLAP_W], own[OVERLAP_W];
    OVERLAP_EACH sum[i][j] = part != 0 ? v_load(c + i * g->ldc + j * VL)
        : bias != NULL                ? v_load(bias + j * VL)
                                      : v_set(0.0f);
    PRT_UNROLL(4)
    for (size_t j = 0; j < OVERLAP_W; j++)
        own[j] = v_load(start + j * VL);
    for (; depth != 0 && k >= OVERLAP_PACE; depth--, k -= OVERLAP_PACE, a++, rest++) {
        OVERLAP_STEP(0)
        OVERLAP_ROW_STEP(own, x[0], b)
        OVERLAP_STEP(1)
        OVERLAP_ROW_STEP(own, x[1], b + PRT_GEMM_PANEL)
        OVERLAP_STEP(2)
        OVERLAP_ROW_STEP(own, x[2], b + 2 * PRT_GEMM_PANEL)
        OVERLAP_STEP(3)
        pb += PRT_GEMM_PANEL;
        b += OVERLAP_PACE * PRT_GEMM_PANEL;
        x += OVERLAP_PACE;
    }
    for (; depth != 0; depth--, a++, rest++, pb += PRT_GEMM_PANEL) {
        OVERLAP_STEP(0)
        OVERLAP_STEP(1)
        OVERLAP_STEP(2)
        OVERLAP_STEP(3)
    }
    OVERLAP_EACH v_store(c + i * g->ldc + j * VL, sum[i][j]);
    for (; k != 0; k--, x++, b += PRT_GEMM_PANEL)
        OVERLAP_ROW_STEP(own, x[0], b)
    PRT_UNROLL(4)
    for (size_t j = 0; j < OVERLAP_W; j++)
        v_store(y + j * VL, own[j]);
}
#else
enum { GEMV_OVERLAP_ROWS = 0 };

static void run_gemv_overlap(size_t k, const float *x, const float *b, const float *start, float *y,
    const prt_gemv_overlap *g, size_t piece)
{
    (void)k, (void)x, (void)b, (void)start, (void)y, (void)g, (void)piece;
}
#endif

#endif
