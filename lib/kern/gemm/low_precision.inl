/* SPDX-License-Identifier: MIT */
/*
 * low_precision.inl — GEMM of a few rows by low-precision panels, widened in registers as they are
 * read, and widening of panels to float32. A tile keeps R rows by W vectors of sums in registers
 * and runs over all of K. A panel is read once for each group of up to LP_ROWS rows. The prefix lp
 * is short for low_precision.
 */
#ifndef PRT_KERN_GEMM_LOW_PRECISION_INL
#define PRT_KERN_GEMM_LOW_PRECISION_INL

#include <float.h>

#include "kern/gemm/gemm.inl"
#include "kern/gemm/widen.inl"

/* Factors that complete the widening of each kind. */
static const float lp_factor[PRT_LOW_PRECISION_COUNT] = { 1.0f, 1.0f, 128.0f, 0.5f, 1.0f,
    1.0f };

/* ---- a few rows ---- */

typedef struct lp_tile {
    const prt_low_precision_block *g;
    size_t width, row, column;
} lp_tile;

/* Finishes the sums of a tile, [rows][vectors * VL]: scale, bias, residual, activation. `scale` is
 * NULL if they are scaled already. */
static void lp_finish(const lp_tile *t, size_t rows, size_t vectors, const float *scale,
    const float *sum)
{
    const prt_low_precision_block *g = t->g;
    const prt_gemm_end *e = g->end;
    const size_t n = g->columns, end = t->column + vectors * VL;
    const vf factor = v_set(lp_factor[g->kind]);
    for (size_t row = t->row; row < t->row + rows; row++)
        for (size_t at = t->column; at < end; at += VL, sum += VL) {
            vf v = v_load(sum);
            v = v_mul(v, scale != NULL ? v_mul(v_load_some(scale, at, n), factor) : factor);
            if (e->bias != NULL)
                v = v_add(v, v_load_some(e->bias, at, n));
            if (e->residual != NULL)
                v = v_add(v, v_load_some(e->residual + row * e->ldr, at, n));
            v_store_some(g->c + row * g->ldc, at, n, v);
        }
    if (e->act.kind != PRT_ACT_none && t->column < n) {
        float *c = g->c + t->row * g->ldc + t->column;
        run_act_rows(&e->act, rows, (end < n ? end : n) - t->column, c, g->ldc, c, g->ldc);
    }
}

#define LP_EACH(R, W)                                                                              \
    PRT_UNROLL(8)                                                                                  \
    for (size_t i = 0; i < R; i++)                                                                 \
        PRT_UNROLL(8)                                                                              \
        for (size_t j = 0; j < W; j++)

/* With AVX2 one row reads its panel from memory in LP_STREAMS streams side by side, one window
 * (bytes) ahead: a single stream gets two thirds of the memory bandwidth. */
enum { LP_STREAMS = 4, LP_WINDOW = 49152, LP_W = VL == 8 ? PRT_GEMM_PANEL / VL : 0 };

typedef struct lp_ahead {
    const char *at;       /* in the first stream */
    size_t stride, stream; /* bytes between streams; bytes to the stream of the next line */
    size_t left;          /* lines of each stream left in the window */
} lp_ahead;

/* Returns the second window of a panel. All windows are alike. */
__attribute__((noinline)) static lp_ahead next_window(const prt_low_precision_block *g,
    size_t width)
{
    const size_t all = prt_low_precision_bytes(g->kind, prt_low_precision_rows(g->kind,
        g->k) * width);
    const size_t windows = (all + LP_WINDOW - 1) / LP_WINDOW;
    const size_t streams = (windows != 0 ? windows : 1) * LP_STREAMS;
    const size_t lines = (all / LINE + streams - 1) / streams;
    return (lp_ahead){ .at = (const char *)g->b + LP_STREAMS * lines * LINE,
        .stride = lines * LINE, .left = lines };
}

/* gcc drops calls of a function that only prefetches, unless it is inlined. */
__attribute__((always_inline)) static inline void fetch_line(lp_ahead *a)
{
    __builtin_prefetch(a->at + a->stream, 0, 2);
    a->stream += a->stride;
    if (a->stream < LP_STREAMS * a->stride)
        return;
    a->stream = 0;
    a->at += LINE;
    if (--a->left != 0)
        return;
    a->left = a->stride / LINE;
    a->at += (LP_STREAMS - 1) * a->stride;
}

#define BY_STREAMS(W) (STREAMED && (W) == LP_W)

#define LP_BEGIN(R, W)                                                                             \
    const prt_low_precision_block *g = t->g;                                                       \
    const size_t k = g->k, width = t->width;                                                       \
    vf sum[R][W];                                                                                  \
    const float *a[R];                                                                             \
    LP_EACH(R, W) sum[i][j] = v_set(0.0f);                                                         \
    PRT_UNROLL(8)                                                                                  \
    for (size_t i = 0; i < R; i++)                                                                 \
        a[i] = g->a + (t->row + i) * g->lda;                                                       \
    const char *b = (const char *)g->b + t->column * sizeof(ELEMENT);                              \
    lp_ahead ahead = { .at = NULL };                                                               \
    if (BY_STREAMS(W))                                                                             \
        ahead = next_window(g, width);

/* Prefetch distances. Integers and bytes take longer to widen than to read: they are prefetched
 * into L2 only. With AVX2, 16-bit elements are prefetched into L1 only, unless streams bring them;
 * data of streams is prefetched into L1 as well. */
enum { LP_FAR = VL == 8 ? 12288 : FAR, LP_SOON = VL == 8 ? 1024 : SOON };

#define LP_FETCH(W)                                                                                \
    PRT_UNROLL(8)                                                                                  \
    for (size_t j = 0; j < (W) * VL * sizeof(ELEMENT); j += LINE) {                                \
        if (BY_STREAMS(W))                                                                         \
            fetch_line(&ahead);                                                                    \
        else if (VL != 8 || !SOON_TOO)                                                             \
            __builtin_prefetch(b + LP_FAR + j, 0, 2);                                              \
        if (SOON_TOO || BY_STREAMS(W))                                                             \
            __builtin_prefetch(b + LP_SOON + j, 0, 3);                                             \
    }

#define LP_STEP(R, W, A, P)                                                                        \
    PRT_UNROLL(8)                                                                                  \
    for (size_t i = 0; i < R; i++) {                                                               \
        const vf x = v_set((A)[i][P]);                                                             \
        PRT_UNROLL(8)                                                                              \
        for (size_t j = 0; j < W; j++)                                                             \
            sum[i][j] = v_fma(x, w[j], sum[i][j]);                                                 \
    }

#define WIDEN_f16(b, at, kind) widen_f16(b, at)
#define WIDEN_f8(b, at, kind) widen_f8(b, at, lp_shift(kind))

/* Defines the kernel of R rows by W vectors. */
#define LP_KERNEL(KIND, R, W)                                                                      \
    static void lp_##KIND##_##R##x##W(const lp_tile *t)                                            \
    {                                                                                              \
        LP_BEGIN(R, W)                                                                             \
        for (size_t p = 0; p < k; p++) {                                                           \
            vf w[W];                                                                               \
            LP_FETCH(W)                                                                            \
            PRT_UNROLL(8)                                                                          \
            for (size_t j = 0; j < W; j++)                                                         \
                w[j] = WIDEN_##KIND(b, j * VL, g->kind);                                           \
            LP_STEP(R, W, a, p)                                                                    \
            b += width * sizeof(ELEMENT);                                                          \
        }                                                                                          \
        float part[(R) * (W) * VL];                                                                \
        LP_EACH(R, W) v_store(part + (i * (W) + j) * VL, sum[i][j]);                               \
        lp_finish(t, R, W, g->by.scale, part);                                                     \
    }

/* The same for pairs of rows of B (bf16). */
#define LP_PAIRS(KIND, R, W)                                                                       \
    static void lp_##KIND##_##R##x##W(const lp_tile *t)                                            \
    {                                                                                              \
        LP_BEGIN(R, W)                                                                             \
        for (size_t p = 0; p < k; p += 2) {                                                        \
            vf w[W], odd[W];                                                                       \
            LP_FETCH(W)                                                                            \
            PRT_UNROLL(8)                                                                          \
            for (size_t j = 0; j < W; j++)                                                         \
                widen_pairs(b, j * VL, &w[j], &odd[j]);                                            \
            LP_STEP(R, W, a, p)                                                                    \
            if (p + 1 == k)                                                                        \
                break;                                                                             \
            PRT_UNROLL(8)                                                                          \
            for (size_t j = 0; j < W; j++)                                                         \
                w[j] = odd[j];                                                                     \
            LP_STEP(R, W, a, p + 1)                                                                \
            b += width * sizeof(ELEMENT);                                                          \
        }                                                                                          \
        float part[(R) * (W) * VL];                                                                \
        LP_EACH(R, W) v_store(part + (i * (W) + j) * VL, sum[i][j]);                               \
        lp_finish(t, R, W, g->by.scale, part);                                                     \
    }

/* Copies the last elements of A's rows, fewer than a group of B, and zeros after them. */
__attribute__((noinline)) static void lp_rest(const lp_tile *t, size_t rows, size_t p,
    float *rest)
{
    const prt_low_precision_block *g = t->g;
    memset(rest, 0, rows * PRT_LOW_PRECISION_I4_ROWS * sizeof(float));
    for (size_t i = 0; i < rows; i++)
        memcpy(rest + i * PRT_LOW_PRECISION_I4_ROWS, g->a + (t->row + i) * g->lda + p,
            (g->k - p) * sizeof(float));
}

#define LP_GROUP_i8(R, W)                                                                          \
    {                                                                                              \
        vf w[W];                                                                                   \
        PRT_UNROLL(8)                                                                              \
        for (size_t j = 0; j < W; j++)                                                             \
            w[j] = widen_i8(b, j * VL);                                                            \
        LP_STEP(R, W, row, 0)                                                                      \
    }

#define LP_GROUP_i4(R, W)                                                                          \
    PRT_UNROLL(2)                                                                                  \
    for (size_t h = 0; h < W; h += 4) {                                                            \
        lp_eight eight[4];                                                                         \
        PRT_UNROLL(4)                                                                              \
        for (size_t j = 0; j < 4 && j < W; j++)                                                    \
            eight[j] = eight_load(b, (h + j) * VL);                                                \
        for (size_t q = 0; q < PRT_LOW_PRECISION_I4_ROWS; q++) {                                   \
            vf w[4];                                                                               \
            PRT_UNROLL(4)                                                                          \
            for (size_t j = 0; j < 4 && j < W; j++)                                                \
                w[j] = eight_next(&eight[j]);                                                      \
            PRT_UNROLL(8)                                                                          \
            for (size_t i = 0; i < R; i++) {                                                       \
                const vf x = v_set(row[i][eight_row(q)]);                                          \
                PRT_UNROLL(4)                                                                      \
                for (size_t j = 0; j < 4 && j < W; j++)                                            \
                    sum[i][h + j] = v_fma(x, w[j], sum[i][h + j]);                                 \
            }                                                                                      \
        }                                                                                          \
    }

/* Ends a block of K: adds its sum times the scale, and A's sum times the offset. */
#define LP_SCALE(R, W)                                                                             \
    {                                                                                              \
        const size_t from = n * width + t->column;                                                 \
        const float *by = g->by.scale + from;                                                      \
        LP_EACH(R, W) total[i][j] = v_fma(v_load(by + j * VL), sum[i][j], total[i][j]);            \
        if (g->by.offset != NULL) {                                                                \
            by = g->by.offset + from;                                                              \
            PRT_UNROLL(8)                                                                          \
            for (size_t i = 0; i < R; i++) {                                                       \
                const vf x = v_set(g->sums[(t->row + i) * g->ldsums + n]);                         \
                PRT_UNROLL(8)                                                                      \
                for (size_t j = 0; j < W; j++)                                                     \
                    total[i][j] = v_fma(v_load(by + j * VL), x, total[i][j]);                      \
            }                                                                                      \
        }                                                                                          \
    }

/* The same for integers, GROUP rows of B at a time, with blocks of K. */
#define LP_BLOCKS(KIND, R, W)                                                                      \
    static void lp_##KIND##_##R##x##W(const lp_tile *t)                                            \
    {                                                                                              \
        LP_BEGIN(R, W)                                                                             \
        const size_t block = g->by.block != 0 ? g->by.block : k;                                   \
        float part[(R) * (W) * VL], rest[R][PRT_LOW_PRECISION_I4_ROWS];                            \
        vf total[R][W];                                                                            \
        LP_EACH(R, W) total[i][j] = v_set(0.0f);                                                   \
        for (size_t n = 0, p = 0; p < k; n++) {                                                    \
            const size_t end = k - p < block ? k : p + block;                                      \
            LP_EACH(R, W) sum[i][j] = v_set(0.0f);                                                 \
            for (; p < end; p += GROUP) {                                                          \
                const float *row[R];                                                               \
                const bool whole = (GROUP) == 1 || k - p >= (GROUP);                               \
                LP_FETCH(W)                                                                        \
                if (!whole)                                                                        \
                    lp_rest(t, R, p, rest[0]);                                                     \
                PRT_UNROLL(8)                                                                      \
                for (size_t i = 0; i < R; i++)                                                     \
                    row[i] = whole ? a[i] + p : rest[i];                                           \
                LP_GROUP_##KIND(R, W)                                                              \
                b += width * sizeof(ELEMENT);                                                      \
            }                                                                                      \
            if (g->by.block == 0)                                                                  \
                LP_EACH(R, W) total[i][j] = sum[i][j];                                             \
            else                                                                                   \
                LP_SCALE(R, W)                                                                     \
        }                                                                                          \
        LP_EACH(R, W) v_store(part + (i * (W) + j) * VL, total[i][j]);                             \
        lp_finish(t, R, W, g->by.block == 0 ? g->by.scale : NULL, part);                           \
    }

#if defined(LP_QUADS)
/* Returns the factor for a row of A that replaces the factor of 8-bit floats: 2^112, or less if
 * that would overflow the largest element. */
__attribute__((noinline)) static float row_factor(size_t k, const float *a)
{
    vf most = v_set(0.0f);
    for (size_t i = 0; i < k; i += VL)
        most = v_max(v_abs(v_load_some(a, i, k)), most);
    const float largest = v_largest(most);
    int exponent = 15;
    if (!(largest <= FLT_MAX))
        return 1.0f;
    if (largest > 0x1p15f)
        (void)frexpf(largest, &exponent);
    return ldexpf(1.0f, 127 - exponent);
}

/* Reorders sums: each of four vectors has every fourth column. */
__attribute__((noinline)) static void reorder_columns(size_t rows, size_t vectors,
    const float *raised, float *sum)
{
    for (size_t row = 0; row < rows; row++)
        for (size_t j = 0; j < vectors; j += 4, sum += 4 * VL) {
            const vf factor = v_set(0x1p112f / raised[row]);
            vf a, b, c, d, ordered[4];
            v_zip(v_load(sum), v_load(sum + 2 * VL), &a, &b);
            v_zip(v_load(sum + VL), v_load(sum + 3 * VL), &c, &d);
            v_zip(a, c, &ordered[0], &ordered[1]);
            v_zip(b, d, &ordered[2], &ordered[3]);
            PRT_UNROLL(4)
            for (size_t i = 0; i < 4; i++)
                v_store(sum + i * VL, v_mul(ordered[i], factor));
        }
}

/* The same for 8-bit floats. */
#define LP_BYTES(KIND, R, W)                                                                       \
    static void lp_##KIND##_##R##x##W(const lp_tile *t)                                            \
    {                                                                                              \
        LP_BEGIN(R, W)                                                                             \
        float raised[R];                                                                           \
        PRT_UNROLL(8)                                                                              \
        for (size_t i = 0; i < R; i++)                                                             \
            raised[i] = row_factor(k, a[i]);                                                       \
        for (size_t p = 0; p < k; p++) {                                                           \
            vf x[R];                                                                               \
            LP_FETCH(W)                                                                            \
            PRT_UNROLL(8)                                                                          \
            for (size_t i = 0; i < R; i++)                                                         \
                x[i] = v_mul(v_set(a[i][p]), v_set(raised[i]));                                    \
            PRT_UNROLL(2)                                                                          \
            for (size_t n = 0; n < W; n += 4) {                                                    \
                vf w[4];                                                                           \
                widen_quads(b + n * VL, LP_##KIND, w);                                             \
                PRT_UNROLL(8)                                                                      \
                for (size_t i = 0; i < R; i++)                                                     \
                    PRT_UNROLL(4)                                                                  \
                    for (size_t j = 0; j < 4; j++)                                                 \
                        sum[i][n + j] = v_fma(x[i], w[j], sum[i][n + j]);                          \
            }                                                                                      \
            b += width * sizeof(ELEMENT);                                                          \
        }                                                                                          \
        float part[(R) * (W) * VL];                                                                \
        LP_EACH(R, W) v_store(part + (i * (W) + j) * VL, sum[i][j]);                               \
        reorder_columns(R, W, raised, part);                                                       \
        lp_finish(t, R, W, g->by.scale, part);                                                     \
    }
#endif

/* By number of rows: vectors of a tile, and the kernels for that width and for one slice. Integers
 * have kernels of one row for a slice (NULL: one row at a time). */
#if defined(__AVX512F__) && defined(__AVX512DQ__)
#define LP_WIDE(ONE, KIND) ONE(KIND, 1, 4) ONE(KIND, 2, 4) ONE(KIND, 3, 4) ONE(KIND, 4, 4)
#define LP_SLICE(ONE, KIND) ONE(KIND, 1, 1) ONE(KIND, 2, 1) ONE(KIND, 3, 1) ONE(KIND, 4, 1)
#define LP_ROW(WIDE, SLICE)                                                                        \
    { { lp_##WIDE##_1x4, lp_##WIDE##_2x4, lp_##WIDE##_3x4, lp_##WIDE##_4x4 },                      \
        { lp_##SLICE##_1x1, lp_##SLICE##_2x1, lp_##SLICE##_3x1,                                    \
            lp_##SLICE##_4x1 } }
#define LP_INTEGERS(ONE, KIND) ONE(KIND, 1, 1)
#define LP_INTEGERS_ROW(KIND)                                                                      \
    { { lp_##KIND##_1x4, lp_##KIND##_2x4, lp_##KIND##_3x4, lp_##KIND##_4x4 },                      \
        { lp_##KIND##_1x1 } }
static const size_t lp_wide[] = { 4, 4, 4, 4 };
#elif defined(__AVX2__) && defined(__FMA__)
#define LP_WIDE(ONE, KIND) ONE(KIND, 1, 8) ONE(KIND, 2, 4)
#define LP_SLICE(ONE, KIND) ONE(KIND, 1, 2) ONE(KIND, 2, 2) ONE(KIND, 3, 2) ONE(KIND, 4, 2)
#define LP_ROW(WIDE, SLICE)                                                                        \
    { { lp_##WIDE##_1x8, lp_##WIDE##_2x4, lp_##SLICE##_3x2, lp_##SLICE##_4x2 },                    \
        { lp_##SLICE##_1x2, lp_##SLICE##_2x2, lp_##SLICE##_3x2,                                    \
            lp_##SLICE##_4x2 } }
#define LP_INTEGERS(ONE, KIND) ONE(KIND, 1, 2) ONE(KIND, 3, 2) ONE(KIND, 4, 2)
#define LP_INTEGERS_ROW(KIND)                                                                      \
    { { lp_##KIND##_1x8, lp_##KIND##_2x4, lp_##KIND##_3x2, lp_##KIND##_4x2 },                      \
        { lp_##KIND##_1x2, NULL, lp_##KIND##_3x2, lp_##KIND##_4x2 } }
static const size_t lp_wide[] = { 8, 4, 2, 2 };
#else
#define LP_WIDE(ONE, KIND)
#define LP_SLICE(ONE, KIND) ONE(KIND, 1, 4) ONE(KIND, 2, 4)
#define LP_ROW(WIDE, SLICE)                                                                        \
    { { lp_##SLICE##_1x4, lp_##SLICE##_2x4 },                                                      \
        { lp_##SLICE##_1x4, lp_##SLICE##_2x4 } }
#define LP_INTEGERS LP_SLICE
#define LP_INTEGERS_ROW(KIND) LP_ROW(KIND, KIND)
static const size_t lp_wide[] = { 4, 4 };
#endif

/* ELEMENT: the data of a column in GROUP rows. SOON_TOO: prefetched into L1 as well. STREAMED: read
 * in streams; 4-bit integers take so long to widen that they need none. */
#define SOON_TOO true
#define STREAMED true
#define ELEMENT uint16_t
LP_WIDE(LP_KERNEL, f16)
LP_SLICE(LP_KERNEL, f16)
#undef ELEMENT
#define ELEMENT uint32_t
LP_WIDE(LP_PAIRS, bf16)
LP_SLICE(LP_PAIRS, bf16)
#undef SOON_TOO
#undef STREAMED
#define SOON_TOO false
#define STREAMED false
#define GROUP PRT_LOW_PRECISION_I4_ROWS
LP_WIDE(LP_BLOCKS, i4)
LP_INTEGERS(LP_BLOCKS, i4)
#undef GROUP
#undef ELEMENT
#undef STREAMED
#define STREAMED true
#define ELEMENT uint8_t
LP_WIDE(LP_BYTES, e4m3)
LP_WIDE(LP_BYTES, e5m2)
LP_SLICE(LP_KERNEL, f8)
#define GROUP 1
LP_WIDE(LP_BLOCKS, i8)
LP_INTEGERS(LP_BLOCKS, i8)
#undef GROUP
#undef ELEMENT
#undef STREAMED
#undef SOON_TOO

enum { LP_ROWS = sizeof(lp_wide) / sizeof(lp_wide[0]) };

typedef void (*lp_fn)(const lp_tile *t);

static void run_tile(const lp_tile *t, const lp_fn kernels[LP_ROWS], size_t rows)
{
    lp_tile one = *t;
    if (kernels[rows - 1] != NULL)
        kernels[rows - 1](t);
    else
        for (; one.row < t->row + rows; one.row++)
            kernels[0](&one);
}

static void run_small_m(const prt_low_precision_block *g)
{
    static const lp_fn kernels[PRT_LOW_PRECISION_COUNT][2][LP_ROWS] = {
        LP_ROW(f16, f16), LP_ROW(bf16, bf16), LP_ROW(e4m3, f8), LP_ROW(e5m2, f8),
        LP_INTEGERS_ROW(i8), LP_INTEGERS_ROW(i4) };
    const size_t groups = (g->rows + LP_ROWS - 1) / LP_ROWS;
    lp_tile t = { .g = g, .width = prt_gemm_width(g->columns) };
    for (size_t n = 0; n < groups; n++) {
        const size_t rows = g->rows / groups + (n < g->rows % groups);
        const size_t wide = lp_wide[rows - 1] * VL;
        for (t.column = 0; t.column < t.width;) {
            const bool whole = t.width - t.column >= wide;
            run_tile(&t, kernels[g->kind][whole ? 0 : 1], rows);
            t.column += whole ? wide : PRT_GEMM_SLICE;
        }
        t.row += rows;
    }
}

/* ---- widening ---- */

#define WIDEN_ROWS(ELEMENTS)                                                                       \
    for (size_t i = k; i < k + depth; i++, to += width)                                            \
        for (size_t j = 0; j < width; j += VL)                                                     \
            v_store(to + j, v_mul(ELEMENTS, v_load(factor + j)));                                  \
    break;

static inline vf widen_half_pair(const void *b, size_t width, size_t k, size_t j)
{
    vf even, odd;
    widen_pairs(b, k / 2 * width + j, &even, &odd);
    return k % 2 != 0 ? odd : even;
}

/* Integers have a scale and offset by block: of the block of row k. */
typedef struct lp_pairs {
    float scale[PRT_GEMM_PANEL], offset[PRT_GEMM_PANEL];
} lp_pairs;

static void find_pairs(const prt_low_precision_scales *by, size_t columns, size_t k,
    lp_pairs *to)
{
    const size_t width = prt_gemm_width(columns);
    const size_t from = by->block != 0 ? k / by->block * width : 0;
    for (size_t j = 0; j < width; j += VL) {
        v_store(to->scale + j,
            by->scale != NULL ? v_load_some(by->scale + from, j, columns) : v_set(1.0f));
        v_store(to->offset + j,
            by->offset != NULL ? v_load_some(by->offset + from, j, columns) : v_set(0.0f));
    }
}

static void widen_bytes(size_t columns, size_t k, size_t depth, const void *b,
    const prt_low_precision_scales *by, float *to)
{
    const size_t width = prt_gemm_width(columns);
    lp_pairs p;
    for (size_t i = k; i < k + depth; i++, to += width) {
        if (i == k || (by->block != 0 && i % by->block == 0))
            find_pairs(by, columns, i, &p);
        for (size_t j = 0; j < width; j += VL)
            v_store(to + j, v_fma(widen_i8(b, i * width + j), v_load(p.scale + j),
                v_load(p.offset + j)));
    }
}

static void widen_eights(size_t columns, size_t k, size_t depth, const void *b,
    const prt_low_precision_scales *by, float *to)
{
    const size_t width = prt_gemm_width(columns);
    const size_t first = k / PRT_LOW_PRECISION_I4_ROWS * PRT_LOW_PRECISION_I4_ROWS;
    lp_pairs p;
    for (size_t i = first; i < k + depth; i += PRT_LOW_PRECISION_I4_ROWS) {
        if (i == first || (by->block != 0 && i % by->block == 0))
            find_pairs(by, columns, i, &p);
        for (size_t j = 0; j < width; j += VL) {
            const vf scale = v_load(p.scale + j), offset = v_load(p.offset + j);
            lp_eight eight = eight_load(b, i / PRT_LOW_PRECISION_I4_ROWS * width + j);
            for (size_t q = 0; q < PRT_LOW_PRECISION_I4_ROWS; q++) {
                const vf x = v_fma(eight_next(&eight), scale, offset);
                const size_t row = i + eight_row(q);
                if (row >= k && row < k + depth)
                    v_store(to + (row - k) * width + j, x);
            }
        }
    }
}

static void run_widen(int kind, size_t columns, size_t k, size_t depth, const void *b,
    const prt_low_precision_scales *by, float *to)
{
    const size_t width = prt_gemm_width(columns);
    float factor[PRT_GEMM_PANEL];
    for (size_t j = 0; j < PRT_GEMM_PANEL; j++)
        factor[j] = lp_factor[kind] * (by->scale != NULL && j < columns ? by->scale[j] : 1.0f);
    switch (kind) {
    case PRT_LOW_PRECISION_f16:
        WIDEN_ROWS(widen_f16(b, i * width + j))
    case PRT_LOW_PRECISION_bf16:
        WIDEN_ROWS(widen_half_pair(b, width, i, j))
    case PRT_LOW_PRECISION_i8:
        widen_bytes(columns, k, depth, b, by, to);
        break;
    case PRT_LOW_PRECISION_i4:
        widen_eights(columns, k, depth, b, by, to);
        break;
    default:
        WIDEN_ROWS(widen_f8(b, i * width + j, lp_shift(kind)))
    }
}

/* ---- bfloat16 ---- */

/* Rounds to bfloat16, in the upper half; NaN is preserved. */
static inline uint32_t bf16_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof(bits));
    const uint32_t rounded = bits + 0x7fffu + (bits >> 16 & 1u);
    return (bits & 0x7fffffffu) > 0x7f800000u ? bits | 0x400000u : rounded;
}

static void run_round(size_t n, const float *x, float *y)
{
    for (size_t i = 0; i < n; i++) {
        const uint32_t bits = bf16_of(x[i]) & 0xffff0000u;
        memcpy(y + i, &bits, sizeof(bits));
    }
}

static void run_round_pairs(size_t n, const float *x, uint32_t *y)
{
    for (size_t i = 0; i < n / 2; i++)
        y[i] = bf16_of(x[2 * i]) >> 16 | (bf16_of(x[2 * i + 1]) & 0xffff0000u);
    if (n % 2 != 0)
        y[n / 2] = bf16_of(x[n - 1]) >> 16;
}

#endif
