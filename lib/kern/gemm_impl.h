/* SPDX-License-Identifier: MIT */
/*
 * gemm_impl.h — the product of a few rows of A with a slice of a packed panel, C's tile in
 * registers, and the loops around it.
 */
#ifndef PRT_KERN_GEMM_IMPL_H
#define PRT_KERN_GEMM_IMPL_H

#include "kern/act_impl.h"
#include "kern/gemm.h"

/* One call of a micro-kernel: `taps` times `k` steps; `width` is the panel's, between rows of B. */
typedef struct tile {
    const float *const *from; /* rows of A: those of a tap follow each other, taps `step` apart */
    size_t taps, step, skip;
    const float *b;
    size_t width, k;
    float *c;
    size_t ldc;
    size_t columns; /* of C; columns beyond are computed and dropped */
    bool add;       /* to what is in C */
    /* Done on the way to C: sums, then bounds. NULL: no sum. */
    const float *row_bias, *bias, *residual;
    size_t ldr;
    float low, high;
    const char *next; /* every step fetches a line of what comes later, `stride` bytes on */
    size_t stride;    /* 0: nothing comes */
} tile;

enum { LINE = 64, FAR = 2048 }; /* bytes of a cache line; elements ahead in a stream */

/* Tiles of which columns are missing, and that get more than bounds: `sum` is [rows][vectors * VL].
 * NaN comes through: min and max give their second operand. */
static void put_part(const tile *t, size_t rows, size_t vectors, const float *sum)
{
    for (size_t row = 0; row < rows; row++)
        for (size_t at = 0; at < vectors * VL; at += VL, sum += VL) {
            vf v = v_load(sum);
            if (t->row_bias != NULL)
                v = v_add(v, v_set(t->row_bias[row]));
            if (t->bias != NULL && t->add)
                v = v_add(v, v_load_some(t->bias, at, t->columns));
            if (t->residual != NULL)
                v = v_add(v, v_load_some(t->residual + row * t->ldr, at, t->columns));
            v = v_min(v_set(t->high), v_max(v_set(t->low), v));
            v_store_some(t->c + row * t->ldc, at, t->columns, v);
        }
}

/* Sums get nothing but their bounds. */
static inline bool is_plain(const tile *t)
{
    return t->row_bias == NULL && t->residual == NULL && (t->bias == NULL || !t->add);
}

#define EACH(R, W)                                                                                 \
    PRT_UNROLL(24)                                                                                 \
    for (size_t i = 0; i < R; i++)                                                                 \
        PRT_UNROLL(8)                                                                              \
        for (size_t j = 0; j < W; j++)

/* Vector j of W is there as a whole: with one vector a slice, all but the last are. */
#define IS_WHOLE(j, W) (whole || ((int)VL == (int)PRT_GEMM_SLICE && (j) + 1 < (W)))

/* R rows by W vectors; FETCH fetches what is wanted later, once a step. */
#define TILE(NAME, R, W, FETCH)                                                                    \
    static void NAME(const tile *t)                                                                \
    {                                                                                              \
        vf sum[R][W];                                                                              \
        const float *const *from = t->from, *b = t->b;                                             \
        const size_t k = t->k, width = t->width, stride = t->stride;                               \
        const bool whole = t->columns >= (W) * VL;                                                 \
        const char *next = stride != 0 ? t->next : (const char *)b;                                \
        (void)next; /* not every FETCH reads it */                                                 \
        if (t->add) {                                                                              \
            EACH(R, W)                                                                             \
            {                                                                                      \
                const float *c = t->c + i * t->ldc;                                                \
                sum[i][j] = IS_WHOLE(j, W) ? v_load(c + j * VL)                                    \
                                           : v_load_some(c, j * VL, t->columns);                   \
            }                                                                                      \
        } else if (t->bias != NULL) {                                                              \
            vf bias[W];                                                                            \
            PRT_UNROLL(8)                                                                          \
            for (size_t j = 0; j < W; j++)                                                         \
                bias[j] = v_load_some(t->bias, j * VL, t->columns);                                \
            EACH(R, W) sum[i][j] = bias[j];                                                        \
        } else {                                                                                   \
            EACH(R, W) sum[i][j] = v_set(0.0f);                                                    \
        }                                                                                          \
        for (size_t tap = t->taps; tap != 0; tap--, from += t->step) {                             \
            const float *a[R];                                                                     \
            PRT_UNROLL(24)                                                                         \
            for (size_t i = 0; i < R; i++)                                                         \
                a[i] = from[i] + t->skip;                                                          \
            for (size_t p = 0; p < k; p++) {                                                       \
                vf row[W];                                                                         \
                FETCH(W)                                                                           \
                PRT_UNROLL(8)                                                                      \
                for (size_t j = 0; j < W; j++)                                                     \
                    row[j] = v_load(b + j * VL);                                                   \
                PRT_UNROLL(24)                                                                     \
                for (size_t i = 0; i < R; i++) {                                                   \
                    const vf x = v_set(a[i][p]);                                                   \
                    PRT_UNROLL(8)                                                                  \
                    for (size_t j = 0; j < W; j++)                                                 \
                        sum[i][j] = v_fma(x, row[j], sum[i][j]);                                   \
                }                                                                                  \
                next += stride;                                                                    \
                b += width;                                                                        \
            }                                                                                      \
        }                                                                                          \
        if (whole && t->row_bias != NULL)                                                          \
            EACH(R, W) sum[i][j] = v_add(sum[i][j], v_set(t->row_bias[i]));                        \
        if (whole && t->bias != NULL && t->add)                                                    \
            EACH(R, W) sum[i][j] = v_add(sum[i][j], v_load(t->bias + j * VL));                     \
        if (whole && t->residual != NULL)                                                          \
            EACH(R, W) sum[i][j] = v_add(sum[i][j], v_load(t->residual + i * t->ldr + j * VL));    \
        if (whole || is_plain(t)) {                                                                \
            const vf low = v_set(t->low), high = v_set(t->high);                                   \
            const size_t ldc = t->ldc, columns = t->columns;                                       \
            float *c = t->c;                                                                       \
            EACH(R, W)                                                                             \
            {                                                                                      \
                const vf v = v_min(high, v_max(low, sum[i][j]));                                   \
                if (IS_WHOLE(j, W))                                                                \
                    v_store(c + i * ldc + j * VL, v);                                              \
                else                                                                               \
                    v_store_some(c + i * ldc, j * VL, columns, v);                                 \
            }                                                                                      \
        } else {                                                                                   \
            float part[R * W * VL];                                                                \
            EACH(R, W) v_store(part + (i * W + j) * VL, sum[i][j]);                                \
            put_part(t, R, W, part);                                                               \
        }                                                                                          \
    }

#define FETCH_NEXT(W) __builtin_prefetch(next, 0, 2);
/* B itself, where it is read once: as far ahead as memory is slow. */
#define FETCH_FAR(W)                                                                               \
    (void)next;                                                                                    \
    PRT_UNROLL(8)                                                                                  \
    for (size_t j = 0; j < (W) * VL; j += LINE / sizeof(float))                                    \
        __builtin_prefetch(b + FAR + j, 0, 3);

/* B comes from a near cache: fetches would take the place of loads. */
#define FETCH_NOTHING(W)

#define MICRO(R, W) TILE(micro_##R##x##W, R, W, FETCH_NEXT)
#define STREAM(R, W) TILE(stream_##R##x##W, R, W, FETCH_FAR)
#define LOCAL(W) TILE(local_1x##W, 1, W, FETCH_NOTHING)

typedef void (*micro_fn)(const tile *t);

/* Tiles by width: how many rows fit in the registers, and kernels for 1 to that many. Of the
 * widest there are streams for the rows that leave B without a second reader. */
#if defined(__AVX512F__) && defined(__AVX512DQ__)
MICRO(1, 4) MICRO(2, 4) MICRO(3, 4) MICRO(4, 4) MICRO(5, 4) MICRO(6, 4)
MICRO(1, 3) MICRO(2, 3) MICRO(3, 3) MICRO(4, 3) MICRO(5, 3) MICRO(6, 3) MICRO(7, 3) MICRO(8, 3)
MICRO(1, 2) MICRO(2, 2) MICRO(3, 2) MICRO(4, 2) MICRO(5, 2) MICRO(6, 2) MICRO(7, 2) MICRO(8, 2)
MICRO(9, 2) MICRO(10, 2) MICRO(11, 2) MICRO(12, 2)
MICRO(1, 1) MICRO(2, 1) MICRO(3, 1) MICRO(4, 1) MICRO(5, 1) MICRO(6, 1) MICRO(7, 1) MICRO(8, 1)
MICRO(9, 1) MICRO(10, 1) MICRO(11, 1) MICRO(12, 1)
STREAM(1, 4) STREAM(2, 4) STREAM(3, 4) STREAM(4, 4) STREAM(5, 4) STREAM(6, 4)
LOCAL(4)
enum { MAX_W = 4, MAX_R = 12 };
static const micro_fn micro[MAX_W][MAX_R] = {
    { micro_1x1, micro_2x1, micro_3x1, micro_4x1, micro_5x1, micro_6x1, micro_7x1, micro_8x1,
        micro_9x1, micro_10x1, micro_11x1, micro_12x1 },
    { micro_1x2, micro_2x2, micro_3x2, micro_4x2, micro_5x2, micro_6x2, micro_7x2, micro_8x2,
        micro_9x2, micro_10x2, micro_11x2, micro_12x2 },
    { micro_1x3, micro_2x3, micro_3x3, micro_4x3, micro_5x3, micro_6x3, micro_7x3, micro_8x3 },
    { micro_1x4, micro_2x4, micro_3x4, micro_4x4, micro_5x4, micro_6x4 },
};
static const micro_fn stream[MAX_W][MAX_R] = { [3] = { stream_1x4, stream_2x4, stream_3x4,
    stream_4x4, stream_5x4, stream_6x4 } };
static const size_t most_rows[MAX_W] = { 12, 12, 8, 6 };
static const micro_fn local[MAX_W] = { micro_1x1, micro_1x2, micro_1x3, local_1x4 };
#elif defined(__AVX2__) && defined(__FMA__)
MICRO(1, 2) MICRO(2, 2) MICRO(3, 2) MICRO(4, 2) MICRO(5, 2) MICRO(6, 2)
MICRO(1, 4) MICRO(2, 4) MICRO(1, 8)
STREAM(2, 4) STREAM(1, 8)
LOCAL(8)
enum { MAX_W = 8, MAX_R = 6 };
static const micro_fn micro[MAX_W][MAX_R] = {
    [1] = { micro_1x2, micro_2x2, micro_3x2, micro_4x2, micro_5x2, micro_6x2 },
    [3] = { micro_1x4, micro_2x4 },
    [7] = { micro_1x8 },
};
static const micro_fn stream[MAX_W][MAX_R] = { [3] = { NULL, stream_2x4 }, [7] = { stream_1x8 } };
static const size_t most_rows[MAX_W] = { [1] = 6, [3] = 2, [7] = 1 };
static const micro_fn local[MAX_W] = { [1] = micro_1x2, [3] = micro_1x4, [7] = local_1x8 };
#else
MICRO(1, 4) MICRO(2, 4)
enum { MAX_W = 4, MAX_R = 2 };
static const micro_fn micro[MAX_W][MAX_R] = { { NULL }, { NULL }, { NULL },
    { micro_1x4, micro_2x4 } };
static const micro_fn stream[MAX_W][MAX_R] = { { NULL } };
static const size_t most_rows[MAX_W] = { 0, 0, 0, 2 };
static const micro_fn local[MAX_W] = { [3] = micro_1x4 };
#endif

/* Vectors side by side for `rows` rows of a panel `width` wide. With AVX-512 few rows leave
 * registers free in the 6x64 tile: 12x32 and 8x48 have more products for each load. With AVX2 one
 * or two rows of two vectors would wait for their own sums. */
static size_t choose_width(size_t rows, size_t width)
{
    const size_t vectors = width / VL;
    if (VL == 8)
        return rows == 1 && vectors >= 8 ? 8 : rows <= 2 && vectors >= 4 ? 4 : 2;
    if (VL < 16)
        return MAX_W;
    if (vectors < 4)
        return vectors;
    return rows > 6 && rows <= 12 ? 2 : 4;
}

/* How many lines to fetch ahead, one a step; 0 where so few steps would not keep up. */
static size_t lines_ahead(const prt_gemm_block *g, size_t steps)
{
    const size_t lines = g->next != NULL ? g->next_count * sizeof(float) / LINE : 0;
    return lines <= steps ? lines : steps;
}

void PRT_LEVEL(prt_gemm_run)(const prt_gemm_block *g);

void PRT_LEVEL(prt_gemm_run)(const prt_gemm_block *g)
{
    const size_t width = prt_gemm_width(g->columns), w = choose_width(g->rows, width);
    const size_t most = most_rows[w - 1], groups = (g->rows + most - 1) / most;
    const prt_gemm_end *e = g->end;
    const float *own[MAX_R];
    float low = -INFINITY, high = INFINITY;
    const bool bounded = e == NULL || prt_act_bounds(&e->act, &low, &high);
    tile t = { .from = own, .taps = 1, .step = g->rows, .skip = g->skip, .width = g->stride,
        .k = g->k, .ldc = g->ldc, .add = g->add, .ldr = e != NULL ? e->ldr : 0,
        .low = low, .high = high };
    if (g->from != NULL)
        t.taps = g->taps;
    const size_t steps = g->k * t.taps;
    size_t lines = lines_ahead(g, groups * ((g->columns + w * VL - 1) / (w * VL)) * steps);
    t.next = (const char *)g->next;
    /* Groups as equal as they can be: 13 rows of at most 6 are 5, 4 and 4. */
    for (size_t i = 0, n = 0, r = 0; n < groups; n++, i += r) {
        r = g->rows / groups + (n < g->rows % groups);
        for (size_t row = 0; g->from == NULL && row < r; row++)
            own[row] = g->a + (i + row) * g->lda;
        if (g->from != NULL)
            t.from = g->from + i;
        if (e != NULL && e->row_bias != NULL)
            t.row_bias = e->row_bias + i;
        for (size_t j = 0; j < g->columns; j += w * VL) {
            const size_t vectors = (width - j) / VL < w ? (width - j) / VL : w;
            t.b = g->b + j;
            t.c = g->c + i * g->ldc + j;
            t.columns = g->columns - j;
            if (e != NULL && e->bias != NULL)
                t.bias = e->bias + j;
            if (e != NULL && e->residual != NULL)
                t.residual = e->residual + i * e->ldr + j;
            t.stride = lines != 0 ? LINE : 0;
            const micro_fn far = groups == 1 ? stream[vectors - 1][r - 1] : NULL;
            (far != NULL ? far : micro[vectors - 1][r - 1])(&t);
            if (lines != 0)
                t.next += LINE * steps;
            lines -= lines < steps ? lines : steps;
        }
        for (size_t row = i; row < i + r && !bounded; row++) /* while it is in the first cache */
            run_act(&e->act, g->columns, g->c + row * g->ldc, g->c + row * g->ldc);
    }
}

enum { NEAR_B = 1 << 19 }; /* elements of a B that does not leave the second cache level */

/* A panel's part of a vector, which may end early. */
static inline void fetch_panel(const float *v, size_t first, size_t count)
{
    for (size_t j = 0; v != NULL && j < PRT_GEMM_PANEL && first + j < count; j += PRT_GEMM_SLICE)
        __builtin_prefetch(v + first + j, 1, 3);
}

/* What sums begin with is fetched a panel ahead: a tile that waits for it multiplies nothing. */
static void run_gemm_row(const prt_gemm_row *r)
{
    const size_t panels = (r->columns + PRT_GEMM_PANEL - 1) / PRT_GEMM_PANEL;
    const bool is_near = r->columns <= NEAR_B / r->k;
    tile t = { .from = &r->x, .taps = 1, .step = 1, .k = r->k, .low = -INFINITY,
        .high = INFINITY };
    for (size_t i = 0; i < panels; i++) {
        const size_t first = (r->back ? panels - 1 - i : i) * PRT_GEMM_PANEL;
        const size_t left = r->columns - first;
        const size_t columns = left < PRT_GEMM_PANEL ? left : PRT_GEMM_PANEL;
        if (i + 1 == panels)
            fetch_panel(r->next, first, r->columns);
        else
            fetch_panel(r->add, r->back ? first - PRT_GEMM_PANEL : first + PRT_GEMM_PANEL,
                r->columns);
        t.width = prt_gemm_width(columns);
        const size_t w = choose_width(1, t.width);
        for (size_t j = 0; j < columns; j += w * VL) {
            const size_t vectors = (t.width - j) / VL < w ? (t.width - j) / VL : w;
            const micro_fn far = is_near ? NULL : stream[vectors - 1][0];
            t.b = r->b + first * r->k + j;
            t.c = r->y + first + j;
            t.bias = r->add != NULL ? r->add + first + j : NULL;
            t.columns = columns - j;
            (far != NULL ? far : local[vectors - 1])(&t);
        }
    }
}

#endif
