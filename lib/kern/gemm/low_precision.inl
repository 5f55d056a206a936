/* SPDX-License-Identifier: MIT */
/*
 * low_precision.inl — GEMM of a few rows by low-precision panels, widened in registers as they are
 * read, and widening of panels to float32. A tile keeps R rows by W vectors of sums in registers
 * and runs over all of K. A panel is read once for each group of up to NARROW_ROWS rows.
 */
#ifndef PRT_KERN_GEMM_LOW_PRECISION_INL
#define PRT_KERN_GEMM_LOW_PRECISION_INL

#include <float.h>

#include "kern/gemm/gemm.inl"
#include "kern/gemm/widen.inl"

/* Factors that complete the widening of each kind. */
static const float narrow_factor[PRT_LOW_PRECISION_COUNT] = { 1.0f, 1.0f, 128.0f, 0.5f, 1.0f,
    1.0f };

/* ---- a few rows ---- */

typedef struct narrow_tile {
    const prt_low_precision_block *g;
    size_t width, row, column;
} narrow_tile;

/* Finishes the sums of a tile, [rows][vectors * VL]: scale, bias, residual, activation. `scale` is
 * NULL if they are scaled already. */
static void narrow_finish(const narrow_tile *t, size_t rows, size_t vectors, const float *scale,
    const float *sum)
{
    const prt_low_precision_block *g = t->g;
    const prt_gemm_end *e = g->end;
    const size_t n = g->columns, end = t->column + vectors * VL;
    const vf factor = v_set(narrow_factor[g->kind]);
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

#define NARROW_EACH(R, W)                                                                          \
    PRT_UNROLL(8)                                                                                  \
    for (size_t i = 0; i < R; i++)                                                                 \
        PRT_UNROLL(8)                                                                              \
        for (size_t j = 0; j < W; j++)

/* With AVX2 one row reads its panel from memory in NARROW_STREAMS streams side by side, one window
 * (bytes) ahead: a single stream gets two thirds of the memory bandwidth. */
enum { NARROW_STREAMS = 4, NARROW_WINDOW = 49152, NARROW_W = VL == 8 ? PRT_GEMM_PANEL / VL : 0 };

typedef struct narrow_ahead {
    const char *at;       /* in the first stream */
    size_t apart, stream; /* bytes between streams; bytes to the stream of the next line */
    size_t left;          /* lines of each stream left in the window */
} narrow_ahead;

/* Returns the second window of a panel. All windows are alike. */
__attribute__((noinline)) static narrow_ahead next_window(const prt_low_precision_block *g,
    size_t width)
{
    const size_t all = prt_low_precision_bytes(g->kind, prt_low_precision_rows(g->kind,
        g->k) * width);
    const size_t windows = (all + NARROW_WINDOW - 1) / NARROW_WINDOW;
    const size_t streams = (windows != 0 ? windows : 1) * NARROW_STREAMS;
    const size_t lines = (all / LINE + streams - 1) / streams;
    return (narrow_ahead){ .at = (const char *)g->b + NARROW_STREAMS * lines * LINE,
        .apart = lines * LINE, .left = lines };
}

/* gcc drops calls of a function that only prefetches, unless it is inlined. */
__attribute__((always_inline)) static inline void fetch_line(narrow_ahead *a)
{
    __builtin_prefetch(a->at + a->stream, 0, 2);
    a->stream += a->apart;
    if (a->stream < NARROW_STREAMS * a->apart)
        return;
    a->stream = 0;
    a->at += LINE;
    if (--a->left != 0)
        return;
    a->left = a->apart / LINE;
    a->at += (NARROW_STREAMS - 1) * a->apart;
}

#define BY_STREAMS(W) (STREAMED && (W) == NARROW_W)

#define NARROW_BEGIN(R, W)                                                                         \
    const prt_low_precision_block *g = t->g;                                                       \
    const size_t k = g->k, width = t->width;                                                       \
    vf sum[R][W];                                                                                  \
    const float *a[R];                                                                             \
    NARROW_EACH(R, W) sum[i][j] = v_set(0.0f);                                                     \
    PRT_UNROLL(8)                                                                                  \
    for (size_t i = 0; i < R; i++)                                                                 \
        a[i] = g->a + (t->row + i) * g->lda;                                                       \
    const char *b = (const char *)g->b + t->column * sizeof(ELEMENT);                              \
    narrow_ahead ahead = { .at = NULL };                                                           \
    if (BY_STREAMS(W))                                                                             \
        ahead = next_window(g, width);

/* Prefetch distances. Integers and bytes take longer to widen than to read: they are prefetched
 * into L2 only. With AVX2, 16-bit elements are prefetched into L1 only, unless streams bring them;
 * data of streams is prefetched into L1 as well. */
enum { NARROW_FAR = VL == 8 ? 12288 : FAR, NARROW_SOON = VL == 8 ? 1024 : SOON };

#define NARROW_FETCH(W)                                                                            \
    PRT_UNROLL(8)                                                                                  \
    for (size_t j = 0; j < (W) * VL * sizeof(ELEMENT); j += LINE) {                                \
        if (BY_STREAMS(W))                                                                         \
            fetch_line(&ahead);                                                                    \
        else if (VL != 8 || !SOON_TOO)                                                             \
            __builtin_prefetch(b + NARROW_FAR + j, 0, 2);                                          \
        if (SOON_TOO || BY_STREAMS(W))                                                             \
            __builtin_prefetch(b + NARROW_SOON + j, 0, 3);                                         \
    }

#define NARROW_STEP(R, W, A, P)                                                                    \
    PRT_UNROLL(8)                                                                                  \
    for (size_t i = 0; i < R; i++) {                                                               \
        const vf x = v_set((A)[i][P]);                                                             \
        PRT_UNROLL(8)                                                                              \
        for (size_t j = 0; j < W; j++)                                                             \
            sum[i][j] = v_fma(x, w[j], sum[i][j]);                                                 \
    }

#define WIDEN_f16(b, at, kind) widen_f16(b, at)
#define WIDEN_f8(b, at, kind) widen_f8(b, at, narrow_shift(kind))

/* Defines the kernel of R rows by W vectors. */
#define NARROW(KIND, R, W)                                                                         \
    static void narrow_##KIND##_##R##x##W(const narrow_tile *t)                                    \
    {                                                                                              \
        NARROW_BEGIN(R, W)                                                                         \
        for (size_t p = 0; p < k; p++) {                                                           \
            vf w[W];                                                                               \
            NARROW_FETCH(W)                                                                        \
            PRT_UNROLL(8)                                                                          \
            for (size_t j = 0; j < W; j++)                                                         \
                w[j] = WIDEN_##KIND(b, j * VL, g->kind);                                           \
            NARROW_STEP(R, W, a, p)                                                                \
            b += width * sizeof(ELEMENT);                                                          \
        }                                                                                          \
        float part[(R) * (W) * VL];                                                                \
        NARROW_EACH(R, W) v_store(part + (i * (W) + j) * VL, sum[i][j]);                           \
        narrow_finish(t, R, W, g->by.scale, part);                                                 \
    }

/* The same for pairs of rows of B (bf16). */
#define NARROW_PAIRS(KIND, R, W)                                                                   \
    static void narrow_##KIND##_##R##x##W(const narrow_tile *t)                                    \
    {                                                                                              \
        NARROW_BEGIN(R, W)                                                                         \
        for (size_t p = 0; p < k; p += 2) {                                                        \
            vf w[W], odd[W];                                                                       \
            NARROW_FETCH(W)                                                                        \
            PRT_UNROLL(8)                                                                          \
            for (size_t j = 0; j < W; j++)                                                         \
                widen_pairs(b, j * VL, &w[j], &odd[j]);                                            \
            NARROW_STEP(R, W, a, p)                                                                \
            if (p + 1 == k)                                                                        \
                break;                                                                             \
            PRT_UNROLL(8)                                                                          \
            for (size_t j = 0; j < W; j++)                                                         \
                w[j] = odd[j];                                                                     \
            NARROW_STEP(R, W, a, p + 1)                                                            \
            b += width * sizeof(ELEMENT);                                                          \
        }                                                                                          \
        float part[(R) * (W) * VL];                                                                \
        NARROW_EACH(R, W) v_store(part + (i * (W) + j) * VL, sum[i][j]);                           \
        narrow_finish(t, R, W, g->by.scale, part);                                                 \
    }

/* Copies the last elements of A's rows, fewer than a group of B, and zeros after them. */
__attribute__((noinline)) static void narrow_rest(const narrow_tile *t, size_t rows, size_t p,
    float *rest)
{
    const prt_low_precision_block *g = t->g;
    memset(rest, 0, rows * PRT_LOW_PRECISION_I4_ROWS * sizeof(float));
    for (size_t i = 0; i < rows; i++)
        memcpy(rest + i * PRT_LOW_PRECISION_I4_ROWS, g->a + (t->row + i) * g->lda + p,
            (g->k - p) * sizeof(float));
}

#define NARROW_GROUP_i8(R, W)                                                                      \
    {                                                                                              \
        vf w[W];                                                                                   \
        PRT_UNROLL(8)                                                                              \
        for (size_t j = 0; j < W; j++)                                                             \
            w[j] = widen_i8(b, j * VL);                                                            \
        NARROW_STEP(R, W, row, 0)                                                                  \
    }

#define NARROW_GROUP_i4(R, W)                                                                      \
    PRT_UNROLL(2)                                                                                  \
    for (size_t h = 0; h < W; h += 4) {                                                            \
        narrow_eight eight[4];                                                                     \
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
#define NARROW_SCALE(R, W)                                                                         \
    {                                                                                              \
        const size_t from = n * width + t->column;                                                 \
        const float *by = g->by.scale + from;                                                      \
        NARROW_EACH(R, W) total[i][j] = v_fma(v_load(by + j * VL), sum[i][j], total[i][j]);        \
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
#define NARROW_BLOCKS(KIND, R, W)                                                                  \
    static void narrow_##KIND##_##R##x##W(const narrow_tile *t)                                    \
    {                                                                                              \
        NARROW_BEGIN(R, W)                                                                         \
        const size_t block = g->by.block != 0 ? g->by.block : k;                                   \
        float part[(R) * (W) * VL], rest[R][PRT_LOW_PRECISION_I4_ROWS];                            \
        vf total[R][W];                                                                            \
        NARROW_EACH(R, W) total[i][j] = v_set(0.0f);                                               \
        for (size_t n = 0, p = 0; p < k; n++) {                                                    \
            const size_t end = k - p < block ? k : p + block;                                      \
            NARROW_EACH(R, W) sum[i][j] = v_set(0.0f);                                             \
            for (; p < end; p += GROUP) {                                                          \
                const float *row[R];                                                               \
                const bool whole = (GROUP) == 1 || k - p >= (GROUP);                               \
                NARROW_FETCH(W)                                                                    \
                if (!whole)                                                                        \
                    narrow_rest(t, R, p, rest[0]);                                                 \
                PRT_UNROLL(8)                                                                      \
                for (size_t i = 0; i < R; i++)                                                     \
                    row[i] = whole ? a[i] + p : rest[i];                                           \
                NARROW_GROUP_##KIND(R, W)                                                          \
                b += width * sizeof(ELEMENT);                                                      \
            }                                                                                      \
            if (g->by.block == 0)                                                                  \
                NARROW_EACH(R, W) total[i][j] = sum[i][j];                                         \
            else                                                                                   \
                NARROW_SCALE(R, W)                                                                 \
        }                                                                                          \
        NARROW_EACH(R, W) v_store(part + (i * (W) + j) * VL, total[i][j]);                         \
        narrow_finish(t, R, W, g->by.block == 0 ? g->by.scale : NULL, part);                       \
    }

#if defined(NARROW_QUADS)
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
#define NARROW_FOURS(KIND, R, W)                                                                   \
    static void narrow_##KIND##_##R##x##W(const narrow_tile *t)                                    \
    {                                                                                              \
        NARROW_BEGIN(R, W)                                                                         \
        float raised[R];                                                                           \
        PRT_UNROLL(8)                                                                              \
        for (size_t i = 0; i < R; i++)                                                             \
            raised[i] = row_factor(k, a[i]);                                                       \
        for (size_t p = 0; p < k; p++) {                                                           \
            vf x[R];                                                                               \
            NARROW_FETCH(W)                                                                        \
            PRT_UNROLL(8)                                                                          \
            for (size_t i = 0; i < R; i++)                                                         \
                x[i] = v_mul(v_set(a[i][p]), v_set(raised[i]));                                    \
            PRT_UNROLL(2)                                                                          \
            for (size_t n = 0; n < W; n += 4) {                                                    \
                vf w[4];                                                                           \
                widen_quads(b + n * VL, NARROW_##KIND, w);                                         \
                PRT_UNROLL(8)                                                                      \
                for (size_t i = 0; i < R; i++)                                                     \
                    PRT_UNROLL(4)                                                                  \
                    for (size_t j = 0; j < 4; j++)                                                 \
                        sum[i][n + j] = v_fma(x[i], w[j], sum[i][n + j]);                          \
            }                                                                                      \
            b += width * sizeof(ELEMENT);                                                          \
        }                                                                                          \
        float part[(R) * (W) * VL];                                                                \
        NARROW_EACH(R, W) v_store(part + (i * (W) + j) * VL, sum[i][j]);                           \
        reorder_columns(R, W, raised, part);                                                       \
        narrow_finish(t, R, W, g->by.scale, part);                                                 \
    }
#endif

/* By number of rows: vectors of a tile, and the kernels for that width and for one slice. Integers
 * have kernels of one row for a slice (NULL: one row at a time). */
#if defined(__AVX512F__) && defined(__AVX512DQ__)
#define NARROW_WIDE(ONE, KIND) ONE(KIND, 1, 4) ONE(KIND, 2, 4) ONE(KIND, 3, 4) ONE(KIND, 4, 4)
#define NARROW_SLICE(ONE, KIND) ONE(KIND, 1, 1) ONE(KIND, 2, 1) ONE(KIND, 3, 1) ONE(KIND, 4, 1)
#define NARROW_ROW(WIDE, SLICE)                                                                    \
    { { narrow_##WIDE##_1x4, narrow_##WIDE##_2x4, narrow_##WIDE##_3x4, narrow_##WIDE##_4x4 },      \
        { narrow_##SLICE##_1x1, narrow_##SLICE##_2x1, narrow_##SLICE##_3x1,                        \
            narrow_##SLICE##_4x1 } }
#define NARROW_LONE(ONE, KIND) ONE(KIND, 1, 1)
#define NARROW_LONE_ROW(KIND)                                                                      \
    { { narrow_##KIND##_1x4, narrow_##KIND##_2x4, narrow_##KIND##_3x4, narrow_##KIND##_4x4 },      \
        { narrow_##KIND##_1x1 } }
static const size_t narrow_wide[] = { 4, 4, 4, 4 };
#elif defined(__AVX2__) && defined(__FMA__)
#define NARROW_WIDE(ONE, KIND) ONE(KIND, 1, 8) ONE(KIND, 2, 4)
#define NARROW_SLICE(ONE, KIND) ONE(KIND, 1, 2) ONE(KIND, 2, 2) ONE(KIND, 3, 2) ONE(KIND, 4, 2)
#define NARROW_ROW(WIDE, SLICE)                                                                    \
    { { narrow_##WIDE##_1x8, narrow_##WIDE##_2x4, narrow_##SLICE##_3x2, narrow_##SLICE##_4x2 },    \
        { narrow_##SLICE##_1x2, narrow_##SLICE##_2x2, narrow_##SLICE##_3x2,                        \
            narrow_##SLICE##_4x2 } }
#define NARROW_LONE(ONE, KIND) ONE(KIND, 1, 2) ONE(KIND, 3, 2) ONE(KIND, 4, 2)
#define NARROW_LONE_ROW(KIND)                                                                      \
    { { narrow_##KIND##_1x8, narrow_##KIND##_2x4, narrow_##KIND##_3x2, narrow_##KIND##_4x2 },      \
        { narrow_##KIND##_1x2, NULL, narrow_##KIND##_3x2, narrow_##KIND##_4x2 } }
static const size_t narrow_wide[] = { 8, 4, 2, 2 };
#else
#define NARROW_WIDE(ONE, KIND)
#define NARROW_SLICE(ONE, KIND) ONE(KIND, 1, 4) ONE(KIND, 2, 4)
#define NARROW_ROW(WIDE, SLICE)                                                                    \
    { { narrow_##SLICE##_1x4, narrow_##SLICE##_2x4 },                                              \
        { narrow_##SLICE##_1x4, narrow_##SLICE##_2x4 } }
#define NARROW_LONE NARROW_SLICE
#define NARROW_LONE_ROW(KIND) NARROW_ROW(KIND, KIND)
static const size_t narrow_wide[] = { 4, 4 };
#endif

/* ELEMENT: the data of a column in GROUP rows. SOON_TOO: prefetched into L1 as well. STREAMED: read
 * in streams; 4-bit integers take so long to widen that they need none. */
#define SOON_TOO true
#define STREAMED true
#define ELEMENT uint16_t
NARROW_WIDE(NARROW, f16)
NARROW_SLICE(NARROW, f16)
#undef ELEMENT
#define ELEMENT uint32_t
NARROW_WIDE(NARROW_PAIRS, bf16)
NARROW_SLICE(NARROW_PAIRS, bf16)
#undef SOON_TOO
#undef STREAMED
#define SOON_TOO false
#define STREAMED false
#define GROUP PRT_LOW_PRECISION_I4_ROWS
NARROW_WIDE(NARROW_BLOCKS, i4)
NARROW_LONE(NARROW_BLOCKS, i4)
#undef GROUP
#undef ELEMENT
#undef STREAMED
#define STREAMED true
#define ELEMENT uint8_t
NARROW_WIDE(NARROW_FOURS, e4m3)
NARROW_WIDE(NARROW_FOURS, e5m2)
NARROW_SLICE(NARROW, f8)
#define GROUP 1
NARROW_WIDE(NARROW_BLOCKS, i8)
NARROW_LONE(NARROW_BLOCKS, i8)
#undef GROUP
#undef ELEMENT
#undef STREAMED
#undef SOON_TOO

enum { NARROW_ROWS = sizeof(narrow_wide) / sizeof(narrow_wide[0]) };

typedef void (*narrow_fn)(const narrow_tile *t);

static void run_tile(const narrow_tile *t, const narrow_fn kernels[NARROW_ROWS], size_t rows)
{
    narrow_tile one = *t;
    if (kernels[rows - 1] != NULL)
        kernels[rows - 1](t);
    else
        for (; one.row < t->row + rows; one.row++)
            kernels[0](&one);
}

static void run_few(const prt_low_precision_block *g)
{
    static const narrow_fn kernels[PRT_LOW_PRECISION_COUNT][2][NARROW_ROWS] = {
        NARROW_ROW(f16, f16), NARROW_ROW(bf16, bf16), NARROW_ROW(e4m3, f8), NARROW_ROW(e5m2, f8),
        NARROW_LONE_ROW(i8), NARROW_LONE_ROW(i4) };
    const size_t groups = (g->rows + NARROW_ROWS - 1) / NARROW_ROWS;
    narrow_tile t = { .g = g, .width = prt_gemm_width(g->columns) };
    for (size_t n = 0; n < groups; n++) {
        const size_t rows = g->rows / groups + (n < g->rows % groups);
        const size_t wide = narrow_wide[rows - 1] * VL;
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
typedef struct narrow_pairs {
    float scale[PRT_GEMM_PANEL], offset[PRT_GEMM_PANEL];
} narrow_pairs;

static void find_pairs(const prt_low_precision_scales *by, size_t columns, size_t k,
    narrow_pairs *to)
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
    narrow_pairs p;
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
    narrow_pairs p;
    for (size_t i = first; i < k + depth; i += PRT_LOW_PRECISION_I4_ROWS) {
        if (i == first || (by->block != 0 && i % by->block == 0))
            find_pairs(by, columns, i, &p);
        for (size_t j = 0; j < width; j += VL) {
            const vf scale = v_load(p.scale + j), offset = v_load(p.offset + j);
            narrow_eight eight = eight_load(b, i / PRT_LOW_PRECISION_I4_ROWS * width + j);
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
        factor[j] = narrow_factor[kind] * (by->scale != NULL && j < columns ? by->scale[j] : 1.0f);
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
        WIDEN_ROWS(widen_f8(b, i * width + j, narrow_shift(kind)))
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
