/* SPDX-License-Identifier: MIT */
/*
 * gemm.inl — float32 GEMM and GEMV micro-kernels, and the loops around them.
 *
 * A micro-kernel keeps an R x W tile of C (rows by vectors) in registers. For each step of K it
 * loads W vectors of a row of B, and broadcasts one element of each row of A. Loop order of a
 * block: row tiles of equal size, slices of W vectors, tiles, K. All tiles read the same slice of B
 * in turn. The caller chooses blocks of A and B that stay in L2.
 */
#ifndef PRT_KERN_GEMM_GEMM_INL
#define PRT_KERN_GEMM_GEMM_INL

#include "kern/vector/act.inl"
#include "kern/gemm/gemv_overlap.inl"
#include "kern/gemm/gemm.h"

/* One call of a micro-kernel: `groups` tiles of rows, each `taps` times `k` steps. `width` is the
 * distance between rows of B. */
typedef struct tile {
    size_t groups;
    const float *a; /* rows of A, `lda` apart; NULL: in `from` */
    size_t lda;
    const float *const *from; /* addresses of consecutive rows at a tap; taps are `step` apart */
    size_t taps, step, skip;
    const float *b;
    const float *less; /* `less` and `made` of prt_gemm_block, for DIFFERENCE kernels */
    float *made;
    size_t width, k;
    float *c;
    size_t ldc;
    size_t columns;     /* of C; columns beyond are computed and dropped */
    const float *start; /* by column: initial values of the sums */
    bool add;           /* the sums start with C instead */
    bool rare;          /* the epilogue is more than a residual and bounds, or columns are
                         * missing */
    /* Epilogue: additions, then bounds. NULL: nothing is added. */
    const float *row_bias, *bias, *residual;
    size_t ldr;
    float low, high;
    const char *next; /* prefetch: a step fetches the line at `next`, and advances by `stride` */
    size_t stride;    /* LINE, or a part of it: prefetches are spread over all steps */
    size_t ahead;     /* bytes left to prefetch */
    size_t group_ahead; /* bytes that a group prefetches */
} tile;

enum {
    LINE = 64,       /* bytes of a cache line */
    FAR = 6144,      /* bytes: prefetch distance into L2 for a B that is read once */
    SOON = 3072,     /* bytes: prefetch distance from L2 into L1 */
    ROWS_AHEAD = 12  /* rows of B to prefetch, with AVX2 */
};

/* The rare epilogues: missing columns, row biases, and biases of sums that began with C. `sum` is
 * [rows][vectors * VL] of a group. NaN is preserved: min and max return their second operand. */
static void store_rare(const tile *t, size_t group, size_t rows, size_t vectors, const float *sum)
{
    for (size_t i = 0, row = group * rows; i < rows; i++, row++)
        for (size_t at = 0; at < vectors * VL; at += VL, sum += VL) {
            vf v = v_load(sum);
            if (t->row_bias != NULL)
                v = v_add(v, v_set(t->row_bias[row]));
            if (t->bias != NULL)
                v = v_add(v, v_load_some(t->bias, at, t->columns));
            if (t->residual != NULL)
                v = v_add(v, v_load_some(t->residual + row * t->ldr, at, t->columns));
            v = v_min(v_set(t->high), v_max(v_set(t->low), v));
            v_store_some(t->c + row * t->ldc, at, t->columns, v);
        }
}

#define EACH(R, W)                                                                                 \
    PRT_UNROLL(24)                                                                                 \
    for (size_t i = 0; i < R; i++)                                                                 \
        PRT_UNROLL(8)                                                                              \
        for (size_t j = 0; j < W; j++)

/* One step of K: a row of B times an element of each row of A. */
#define STEP(R, W, FETCH, DIFFERENCE, A)                                                           \
    {                                                                                              \
        vf row[W];                                                                                 \
        FETCH(W)                                                                                   \
        PRT_UNROLL(8)                                                                              \
        for (size_t j = 0; j < W; j++) {                                                           \
            row[j] = v_load(b + j * VL);                                                           \
            if (DIFFERENCE) {                                                                      \
                row[j] = v_sub(row[j], v_load(less + j * VL));                                     \
                v_store(made + j * VL, row[j]);                                                    \
            }                                                                                      \
        }                                                                                          \
        PRT_UNROLL(24)                                                                             \
        for (size_t i = 0; i < R; i++) {                                                           \
            const vf x = v_set(A);                                                                 \
            PRT_UNROLL(8)                                                                          \
            for (size_t j = 0; j < W; j++)                                                         \
                sum[i][j] = v_fma(x, row[j], sum[i][j]);                                           \
        }                                                                                          \
        next += stride;                                                                            \
        b += width;                                                                                \
        less += DIFFERENCE ? width : 0;                                                            \
        made += DIFFERENCE ? width : 0;                                                            \
    }

/* Only the last vector of a tile can be partial: a vector is as wide as a slice. */
enum { CAN_END = (int)VL == (int)PRT_GEMM_SLICE };

/* Steps of K that are unrolled. With AVX2 the loop counter would take execution slots of the
 * FMAs. */
#define STEPS(R, W) (VL == 8 && (R) * (W) >= 10 ? 4 : 1)

/* Defines a micro-kernel of R rows by W vectors. FETCH prefetches, once a step. DIFFERENCE: B is b
 * - less. FROM: rows of A may be in `from`. */
#define TILE(NAME, R, W, FETCH, DIFFERENCE, FROM)                                                  \
    PRT_AT_LINE static void NAME(const tile *t)                                                    \
    {                                                                                              \
        enum { THREES = (R + 2) / 3 }; /* rows of A, addressed by pointers to every third row */   \
        const size_t k = t->k, width = t->width, lda = t->lda;                                     \
        const float *const *from = t->from, *a = t->a;                                             \
        const float *residual = t->residual;                                                       \
        const char *next = t->next;                                                                \
        const size_t last = t->columns < W * VL ? t->columns - (W - 1) * VL : VL;                  \
        size_t ahead = t->ahead;                                                                   \
        float *c = t->c;                                                                           \
        for (size_t group = 0; group < t->groups; group++) {                                       \
            vf sum[R][W];                                                                          \
            const float *b = t->b, *less = t->less;                                                \
            float *made = t->made;                                                                 \
            const size_t stride = ahead != 0 ? t->stride : 0;                                      \
            next = ahead != 0 ? next : (const char *)b;                                            \
            ahead -= ahead < t->group_ahead ? ahead : t->group_ahead;                              \
            if (t->add) {                                                                          \
                EACH(R, W)                                                                         \
                sum[i][j] = !CAN_END ? v_load_some(c + i * t->ldc, j * VL, t->columns)             \
                    : j + 1 == W     ? v_load_n(c + i * t->ldc + j * VL, last)                     \
                                     : v_load(c + i * t->ldc + j * VL);                            \
            } else {                                                                               \
                EACH(R, W) sum[i][j] = v_load(t->start + j * VL);                                  \
            }                                                                                      \
            if (!FROM || a != NULL) {                                                              \
                const float *at[THREES];                                                           \
                PRT_UNROLL(8)                                                                      \
                for (size_t i = 0; i < THREES; i++)                                                \
                    at[i] = a + 3 * i * lda;                                                       \
                PRT_UNROLL_BY(STEPS(R, W))                                                         \
                for (size_t p = k; p != 0; p--) {                                                  \
                    STEP(R, W, FETCH, DIFFERENCE, at[i / 3][i % 3 * lda])                          \
                    PRT_UNROLL(8)                                                                  \
                    for (size_t i = 0; i < THREES; i++)                                            \
                        at[i]++;                                                                   \
                }                                                                                  \
                a += R * lda;                                                                      \
            } else {                                                                               \
                const float *const *tap = from;                                                    \
                for (size_t left = t->taps; left != 0; left--, tap += t->step) {                   \
                    const float *at[R];                                                            \
                    PRT_UNROLL(24)                                                                 \
                    for (size_t i = 0; i < R; i++)                                                 \
                        at[i] = tap[i] + t->skip;                                                  \
                    for (size_t p = 0; p < k; p++)                                                 \
                        STEP(R, W, FETCH, DIFFERENCE, at[i][p])                                    \
                }                                                                                  \
                from += R;                                                                         \
            }                                                                                      \
            if (t->rare) {                                                                         \
                float part[R * W * VL];                                                            \
                EACH(R, W) v_store(part + (i * W + j) * VL, sum[i][j]);                            \
                store_rare(t, group, R, W, part);                                                  \
                c += R * t->ldc;                                                                   \
                continue;                                                                          \
            }                                                                                      \
            if (residual != NULL) {                                                                \
                EACH(R, W) sum[i][j] = v_add(sum[i][j], v_load(residual + i * t->ldr + j * VL));   \
                residual += R * t->ldr;                                                            \
            }                                                                                      \
            const vf low = v_set(t->low), high = v_set(t->high);                                   \
            PRT_UNROLL(24)                                                                         \
            for (size_t i = 0; i < R; i++, c += t->ldc)                                            \
                PRT_UNROLL(8)                                                                      \
                for (size_t j = 0; j < W; j++) {                                                   \
                    const vf v = v_min(high, v_max(low, sum[i][j]));                               \
                    if (CAN_END && j + 1 == W)                                                     \
                        v_store_n(c + j * VL, v, last);                                            \
                    else                                                                           \
                        v_store(c + j * VL, v);                                                    \
                }                                                                                  \
        }                                                                                          \
    }

/* Prefetches the next data. With AVX2 also rows of B: a tile reads one line of each row, and lines
 * so far apart would come from L2 only when they are read. */
#define FETCH_NEXT(W)                                                                              \
    __builtin_prefetch(next, 0, 2);                                                                \
    if (VL == 8)                                                                                   \
        __builtin_prefetch(b + ROWS_AHEAD * width, 0, 3);
/* Prefetches a B that is read once: into L2, as far ahead as memory is slow, and from L2 into L1,
 * so that loads do not wait for memory. */
#define FETCH_FAR(W)                                                                               \
    (void)next;                                                                                    \
    PRT_UNROLL(8)                                                                                  \
    for (size_t j = 0; j < (W) * VL; j += LINE / sizeof(float)) {                                  \
        __builtin_prefetch(b + FAR / sizeof(float) + j, 0, 2);                                     \
        __builtin_prefetch(b + SOON / sizeof(float) + j, 0, 3);                                    \
    }

/* B comes from a near cache: prefetches would take the place of loads. */
#define FETCH_NOTHING(W)

#define MICRO(R, W) TILE(micro_##R##x##W, R, W, FETCH_NEXT, false, true)
#define MICRO1(R) TILE(micro_##R##x1, R, 1, FETCH_NOTHING, false, true)
#define STREAM(R, W) TILE(stream_##R##x##W, R, W, FETCH_FAR, false, false)
#define LOCAL(W) TILE(local_1x##W, 1, W, FETCH_NOTHING, false, false)
#define DIFFERENCE(R, W) TILE(difference, R, W, FETCH_NEXT, true, false)

typedef void (*micro_fn)(const tile *t);

/* Tiles by width in vectors: the number of rows that fit into the registers, and the kernels for 1
 * to that many rows. `stream` kernels are for rows after which no other rows read B. A B that is a
 * difference is computed by the first FIRST_ROWS rows. */
#if defined(__AVX512F__) && defined(__AVX512DQ__)
MICRO(1, 4) MICRO(2, 4) MICRO(3, 4) MICRO(4, 4) MICRO(5, 4) MICRO(6, 4)
MICRO(1, 3) MICRO(2, 3) MICRO(3, 3) MICRO(4, 3) MICRO(5, 3) MICRO(6, 3) MICRO(7, 3) MICRO(8, 3)
MICRO(1, 2) MICRO(2, 2) MICRO(3, 2) MICRO(4, 2) MICRO(5, 2) MICRO(6, 2) MICRO(7, 2) MICRO(8, 2)
MICRO(9, 2) MICRO(10, 2) MICRO(11, 2) MICRO(12, 2)
MICRO1(1) MICRO1(2) MICRO1(3) MICRO1(4) MICRO1(5) MICRO1(6) MICRO1(7) MICRO1(8) MICRO1(9)
STREAM(1, 4) STREAM(2, 4) STREAM(3, 4) STREAM(4, 4) STREAM(5, 4) STREAM(6, 4)
LOCAL(4)
DIFFERENCE(12, 2)
enum { MAX_W = 4, MAX_R = 12, FIRST_ROWS = 12 };
static const micro_fn micro[MAX_W][MAX_R] = {
    { micro_1x1, micro_2x1, micro_3x1, micro_4x1, micro_5x1, micro_6x1, micro_7x1, micro_8x1,
        micro_9x1 },
    { micro_1x2, micro_2x2, micro_3x2, micro_4x2, micro_5x2, micro_6x2, micro_7x2, micro_8x2,
        micro_9x2, micro_10x2, micro_11x2, micro_12x2 },
    { micro_1x3, micro_2x3, micro_3x3, micro_4x3, micro_5x3, micro_6x3, micro_7x3, micro_8x3 },
    { micro_1x4, micro_2x4, micro_3x4, micro_4x4, micro_5x4, micro_6x4 },
};
static const micro_fn stream[MAX_W][MAX_R] = { [3] = { stream_1x4, stream_2x4, stream_3x4,
    stream_4x4, stream_5x4, stream_6x4 } };
/* One vector: limited by the registers for the addresses of rows. */
static const size_t most_rows[MAX_W] = { 9, 12, 8, 6 };
static const micro_fn local[MAX_W] = { micro_1x1, micro_1x2, micro_1x3, local_1x4 };
#elif defined(__AVX2__) && defined(__FMA__)
MICRO(1, 2) MICRO(2, 2) MICRO(3, 2) MICRO(4, 2) MICRO(5, 2) MICRO(6, 2)
MICRO(1, 3) MICRO(2, 3) MICRO(3, 3) MICRO(4, 3)
MICRO(1, 4) MICRO(2, 4) MICRO(1, 8)
STREAM(2, 4) STREAM(1, 8)
LOCAL(8)
DIFFERENCE(6, 2)
enum { MAX_W = 8, MAX_R = 6, FIRST_ROWS = 6 };
static const micro_fn micro[MAX_W][MAX_R] = {
    [1] = { micro_1x2, micro_2x2, micro_3x2, micro_4x2, micro_5x2, micro_6x2 },
    [2] = { micro_1x3, micro_2x3, micro_3x3, micro_4x3 },
    [3] = { micro_1x4, micro_2x4 },
    [7] = { micro_1x8 },
};
static const micro_fn stream[MAX_W][MAX_R] = { [3] = { NULL, stream_2x4 }, [7] = { stream_1x8 } };
static const size_t most_rows[MAX_W] = { [1] = 6, [2] = 4, [3] = 2, [7] = 1 };
static const micro_fn local[MAX_W] = { [1] = micro_1x2, [3] = micro_1x4, [7] = local_1x8 };
#else
MICRO(1, 4) MICRO(2, 4)
DIFFERENCE(2, 4)
enum { MAX_W = 4, MAX_R = 2, FIRST_ROWS = 2 };
static const micro_fn micro[MAX_W][MAX_R] = { { NULL }, { NULL }, { NULL },
    { micro_1x4, micro_2x4 } };
static const micro_fn stream[MAX_W][MAX_R] = { { NULL } };
static const size_t most_rows[MAX_W] = { 0, 0, 0, 2 };
static const micro_fn local[MAX_W] = { [3] = micro_1x4 };
#endif

/* With AVX2: returns whether the last slice has at most one vector of columns. It is then computed
 * together with the slice before it, three vectors at a time. */
static bool has_odd_vector(size_t rows, size_t columns)
{
    const size_t last = columns % PRT_GEMM_SLICE;
    return VL == 8 && rows > 2 && columns > PRT_GEMM_SLICE && last != 0 && last <= VL;
}

/* Chooses the vectors of a tile for `rows` rows and some columns of a panel. With AVX-512 few rows
 * leave registers free in the 6x64 tile: 12x32 and 8x48 have more FMAs per load. With AVX2 one or
 * two rows by two vectors would wait for the latency of their own sums. */
static size_t choose_width(size_t rows, size_t columns)
{
    const size_t vectors = prt_gemm_width(columns) / VL;
    if (has_odd_vector(rows, columns) && columns <= 3 * VL)
        return 3;
    if (VL == 8)
        return rows == 1 && vectors >= 8 ? 8 : rows <= 2 && vectors >= 4 ? 4 : 2;
    if (VL < 16)
        return MAX_W;
    if (vectors < 4)
        return vectors;
    return rows > 6 && rows <= 12 ? 2 : 4;
}

/* Sets the prefetches: at most a line per step, spread over all steps. */
static void fetch_ahead(const prt_gemm_block *g, tile *t)
{
    const size_t lines = g->next != NULL ? g->next_count * sizeof(float) / LINE : 0;
    if (lines == 0)
        return;
    const size_t w = choose_width(g->rows, g->columns), most = most_rows[w - 1];
    const size_t tiles = (g->rows + most - 1) / most * ((g->columns + w * VL - 1) / (w * VL));
    const size_t steps = tiles * g->k * t->taps;
    t->ahead = (lines <= steps ? lines : steps) * LINE;
    t->stride = steps != 0 ? (t->ahead + steps - 1) / steps : 0;
    t->group_ahead = g->k * t->taps * t->stride;
}

/* Returns the initial sums of a panel, up to whole vectors: `first`, or 0 if it is NULL. `buffer`
 * is used if they have to be copied. */
static const float *initial_sums(const float *first, size_t columns, float *buffer)
{
    const size_t width = prt_gemm_width(columns);
    if (first != NULL && columns == width)
        return first;
    for (size_t j = 0; j < width; j += VL)
        v_store(buffer + j, first != NULL ? v_load_some(first, j, columns) : v_set(0.0f));
    return buffer;
}

/* Computes `groups` tiles of `r` rows from row `i` on, `w` vectors at a time. `t` has the
 * parameters that all rows share. */
static void run_groups(const prt_gemm_block *g, tile *t, size_t w, size_t i, size_t r,
    size_t groups, const float *start)
{
    const prt_gemm_end *e = g->end;
    const size_t width = prt_gemm_width(g->columns);
    const bool makes = g->less != NULL && i == 0;
    t->groups = groups;
    if (g->from != NULL)
        t->from = g->from + i;
    else
        t->a = g->a + i * g->lda + g->skip;
    if (e != NULL && e->row_bias != NULL)
        t->row_bias = e->row_bias + i;
    for (size_t j = 0; j < g->columns; j += w * VL) {
        const size_t vectors = (width - j) / VL < w ? (width - j) / VL : w;
        const micro_fn once = g->rows != r || g->from != NULL ? NULL
            : !g->in_cache ? stream[vectors - 1][r - 1]
            : r == 1   ? local[vectors - 1]
                       : NULL; /* kernel for rows after which no other rows read B */
        t->b = (g->less == NULL || makes ? g->b : g->made) + j;
        t->less = makes ? g->less + j : NULL;
        t->made = makes ? g->made + j : NULL;
        t->c = g->c + i * g->ldc + j;
        t->columns = g->columns - j;
        t->start = start + j;
        t->bias = g->add && e != NULL && e->bias != NULL ? e->bias + j : NULL;
        if (e != NULL && e->residual != NULL)
            t->residual = e->residual + i * e->ldr + j;
        t->rare = t->bias != NULL || t->row_bias != NULL ||
            (t->columns < vectors * VL && (!CAN_END || t->residual != NULL));
        (makes ? difference : once != NULL ? once : micro[vectors - 1][r - 1])(t);
        const size_t done = t->group_ahead * groups;
        const size_t fetched = t->ahead < done ? t->ahead : done;
        t->next += fetched;
        t->ahead -= fetched;
    }
}

enum { CACHED_ROWS = 48 }; /* rows of a panel whose results stay in L1 */

/* Computes rows from `i` on in tiles that are as equal as possible: 13 rows with at most 6 in a
 * tile are 5, 4 and 4. */
static void run_rows(const prt_gemm_block *g, tile *t, size_t i, size_t rows, const float *start)
{
    const size_t w = choose_width(rows, g->columns), most = most_rows[w - 1];
    const size_t groups = (rows + most - 1) / most, larger = groups != 0 ? rows % groups : 0;
    const prt_gemm_end *e = g->end;
    const bool bounded = e == NULL || prt_act_bounds(&e->act, &t->low, &t->high);
    for (size_t n = 0, some; n < groups; n += some) {
        const size_t r = rows / groups + (n < larger);
        const size_t same = n < larger ? larger - n : groups - n;
        some = bounded || same <= CACHED_ROWS / r ? same : CACHED_ROWS / r;
        run_groups(g, t, w, i, r, some, start);
        float *c = g->c + i * g->ldc;
        i += some * r;
        if (!bounded)
            run_act_rows(&e->act, some * r, g->columns, c, g->ldc, c, g->ldc);
    }
}

static void run_gemm(const prt_gemm_block *g)
{
    const prt_gemm_end *e = g->end;
    float start[PRT_GEMM_PANEL];
    tile t = { .taps = 1, .step = g->rows, .skip = g->skip, .lda = g->lda, .width = g->stride,
        .k = g->k, .ldc = g->ldc, .add = g->add, .ldr = e != NULL ? e->ldr : 0,
        .low = -INFINITY, .high = INFINITY, .next = (const char *)g->next };
    const float *from = initial_sums(e != NULL ? e->bias : NULL, g->columns, start);
    if (g->from != NULL)
        t.taps = g->taps;
    fetch_ahead(g, &t);
    const size_t first = g->less != NULL ? FIRST_ROWS : 0;
    if (first != 0)
        run_rows(g, &t, 0, first, from);
    run_rows(g, &t, first, g->rows - first, from);
}

/* Computes columns [first, first + columns) of a block. */
static void run_gemm_columns(const prt_gemm_block *g, size_t first, size_t columns)
{
    prt_gemm_block part = *g;
    prt_gemm_end end;
    part.columns = columns;
    part.b = g->b + first;
    part.c = g->c + first;
    if (g->end != NULL) {
        end = *g->end;
        end.bias = end.bias != NULL ? end.bias + first : NULL;
        end.residual = end.residual != NULL ? end.residual + first : NULL;
        part.end = &end;
    }
    if (first != 0)
        part.next = NULL; /* the columns before have prefetched it */
    run_gemm(&part);
}

void PRT_LEVEL(prt_gemm_run)(const prt_gemm_block *g);

void PRT_LEVEL(prt_gemm_run)(const prt_gemm_block *g)
{
    if (has_odd_vector(g->rows, g->columns) && g->columns > 3 * VL) {
        const size_t first = (g->columns / PRT_GEMM_SLICE - 1) * PRT_GEMM_SLICE;
        run_gemm_columns(g, 0, first);
        run_gemm_columns(g, first, g->columns - first);
    } else {
        run_gemm(g);
    }
}

/* GEMV from memory: STREAMS panels are read side by side, TURN rows of each in turn, which keeps
 * more of the memory system busy than one panel after the other. Their sums wait in y. */
enum { STREAMS = 3, STREAM_ROWS = 4 };

static void run_streams(const prt_gemm_row *r, size_t first, size_t streams)
{
    float *y = r->y + first;
    for (size_t j = 0; j < streams * PRT_GEMM_PANEL; j += VL)
        v_store(y + j, r->add != NULL ? v_load(r->add + first + j) : v_set(0.0f));
    for (size_t k = 0; k < r->k; k += STREAM_ROWS)
        for (size_t s = 0; s < streams; s++) {
            enum { W = PRT_GEMM_PANEL / VL };
            const float *b = r->b + ((first + s * PRT_GEMM_PANEL) * r->k + k * PRT_GEMM_PANEL);
            float *c = y + s * PRT_GEMM_PANEL;
            vf sum[W];
            PRT_UNROLL(16)
            for (size_t j = 0; j < W; j++)
                sum[j] = v_load(c + j * VL);
            for (size_t p = k; p < k + STREAM_ROWS && p < r->k; p++, b += PRT_GEMM_PANEL) {
                const vf x = v_set(r->x[p]);
                PRT_UNROLL(16)
                for (size_t j = 0; j < W; j++)
                    sum[j] = v_fma(x, v_load(b + j * VL), sum[j]);
            }
            PRT_UNROLL(16)
            for (size_t j = 0; j < W; j++)
                v_store(c + j * VL, sum[j]);
        }
}

/* GEMV: a row times all panels, whole K of a slice at a time. */
static void run_gemm_row(const prt_gemm_row *r)
{
    const size_t panels = (r->columns + PRT_GEMM_PANEL - 1) / PRT_GEMM_PANEL;
    const bool is_cached = !r->from_memory && r->columns <= PRT_GEMM_CACHED / r->k;
    float start[PRT_GEMM_PANEL];
    tile t = { .groups = 1, .a = r->x, .taps = 1, .k = r->k, .low = -INFINITY,
        .high = INFINITY };
    const size_t whole = VL == 8 && r->from_memory ? r->columns / PRT_GEMM_PANEL : 0;
    const bool back = r->back && (whole == 0 || whole == panels);
    size_t i = 0;
    for (size_t some; i + 1 < whole; i += some) {
        const size_t left = whole - i, rounds = (left + STREAMS - 1) / STREAMS;
        some = (left + rounds - 1) / rounds;
        run_streams(r, (back ? whole - i - some : i) * PRT_GEMM_PANEL, some);
    }
    for (; i < panels; i++) {
        const size_t first = (back ? panels - 1 - i : i) * PRT_GEMM_PANEL;
        const size_t left = r->columns - first;
        const size_t columns = left < PRT_GEMM_PANEL ? left : PRT_GEMM_PANEL;
        t.width = prt_gemm_width(columns);
        const float *from = initial_sums(r->add != NULL ? r->add + first : NULL, columns, start);
        const size_t w = choose_width(1, columns);
        prt_gemv_overlap *overlap = r->overlap;
        if (overlap != NULL && columns == PRT_GEMM_PANEL &&
            overlap->done < overlap->rows * (overlap->columns / PRT_GEMM_PANEL)) {
            run_gemv_overlap(r->k, r->x, r->b + first * r->k, from, r->y + first, overlap,
                overlap->done++);
            continue;
        }
        for (size_t j = 0; j < columns; j += w * VL) {
            const size_t vectors = (t.width - j) / VL < w ? (t.width - j) / VL : w;
            const micro_fn streaming = is_cached ? NULL : stream[vectors - 1][0];
            t.b = r->b + first * r->k + j;
            t.c = r->y + first + j;
            t.start = from + j;
            t.columns = columns - j;
            t.rare = !CAN_END && t.columns < vectors * VL;
            (streaming != NULL ? streaming : local[vectors - 1])(&t);
        }
    }
}

#endif
