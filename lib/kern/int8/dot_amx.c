/* SPDX-License-Identifier: MIT */
/*
 * dot_amx.c — dot4_i8 and dot2_bf16 GEMM by AMX: a block of 32 rows of A by 32 columns of a panel
 * in four tiles of sums, 16 words of K a step. The build gives the flags. Loop order: strips of 32
 * rows, parts of K (for rows in pieces), columns, K.
 *
 * A row of B's tile is 16 columns of a word of K, which is the layout of panels. Rows of A in
 * pieces are copied first. The rest of K after whole steps is filled up with zeros in A and in B,
 * since bfloat16 data there could be NaN.
 *
 * Tiles are configured and released as amx.inl describes.
 */
#include <immintrin.h>
#include <stdbool.h>
#include <string.h>

#include "kern/int8/amx.inl"
#include "kern/int8/dot_epilogue.inl"

enum {
    COPY_WORDS = 16 * TILE, /* words of K that are copied at a time, for rows in pieces */
    LEAST_ROWS = 8,         /* rows, below which other kernels, which give the same bits, are
                             * faster */
    LEAST_WORDS = 12,       /* the same for words of K */
    LEAST_PIECE = 4         /* the same for words of a piece */
};

/* Runs `n` steps: rows of `a` are `lda` bytes apart, words of B `ldb` bytes. */
#define STEPS(NAME, DP)                                                                            \
    static void NAME(const char *a, size_t lda, const char *b, size_t ldb, size_t n, bool lower,   \
        bool right, prt_dot_prefetch *f)                                                           \
    {                                                                                              \
        const char *under = a + TILE * lda;                                                        \
        BARRIER();                                                                                 \
        for (; n != 0; n--, a += LINE, under += LINE, b += TILE * ldb) {                           \
            _tile_loadd(6, b, ldb);                                                                \
            _tile_loadd(4, a, lda);                                                                \
            DP(0, 4, 6);                                                                           \
            if (lower) {                                                                           \
                _tile_loadd(5, under, lda);                                                        \
                DP(2, 5, 6);                                                                       \
            }                                                                                      \
            if (right) {                                                                           \
                _tile_loadd(7, b + LINE, ldb);                                                     \
                DP(1, 4, 7);                                                                       \
                if (lower)                                                                         \
                    DP(3, 5, 7);                                                                   \
            }                                                                                      \
            fetch(f);                                                                              \
        }                                                                                          \
    }

STEPS(steps_of_dot4, _tile_dpbusd)
STEPS(steps_of_dot2, _tile_dpbf16ps)

/* Copies words [first, first + n) of K of rows from `row` on, COPY_WORDS apart, and zeros up to a
 * whole step. */
static void copy_words(const prt_dot_block *g, size_t row, size_t rows, size_t first, size_t n,
    uint32_t *to)
{
    size_t tap = first / g->words, skip = first % g->words;
    for (size_t done = 0, some; done < n; done += some, tap++, skip = 0) {
        some = n - done < g->words - skip ? n - done : g->words - skip;
        for (size_t i = 0; i < rows; i++) {
            const uint32_t *x =
                g->from != NULL ? g->from[tap * g->step + row + i] : g->a + (row + i) * g->lda;
            uint32_t *y = to + i * COPY_WORDS + done;
            for (size_t k = 0; k < some; k += TILE)
                _mm512_mask_storeu_epi32(y + k, mask_of(some - k),
                    _mm512_maskz_loadu_epi32(mask_of(some - k), x + skip + k));
        }
    }
    for (size_t i = 0; n % TILE != 0 && i < rows; i++)
        _mm512_mask_storeu_epi32(to + i * COPY_WORDS + n, mask_of(TILE - n % TILE),
            _mm512_setzero_si512());
}

/* A strip of C, and its operands. */
typedef struct strip {
    const prt_dot_block *g;
    void (*steps)(const char *a, size_t lda, const char *b, size_t ldb, size_t n, bool lower,
        bool right, prt_dot_prefetch *f);
    size_t row, rows;       /* up to HIGH */
    char *c;                /* of `row` */
    size_t ldc;             /* bytes */
    uint32_t *sums;         /* HIGH rows of PRT_GEMM_PANEL, to which `c` points; NULL: sums are
                             * in C */
    const uint32_t *b_rest; /* the last step of B, filled up with zeros */
    uint32_t *copy;         /* HIGH rows of A */
    prt_dot_prefetch ahead;
} strip;

/* Multiplies WIDE columns from `j` on by `n` words of K from `first` on. A is in `copy`; or in
 * place, except the rest after whole steps. */
static void run_words(strip *s, size_t j, size_t first, size_t n)
{
    const prt_dot_block *g = s->g;
    const size_t width = prt_gemm_width(g->columns), ldb = width * sizeof(*g->b);
    const size_t whole = n / TILE, lda = COPY_WORDS * sizeof(*g->a);
    const bool copied = g->from != NULL, lower = s->rows > TILE, right = width - j > TILE;
    const char *b = (const char *)(g->b + first * width + j), *copy = (const char *)s->copy;
    char *c = s->c + j * sizeof(*g->b);
    BARRIER();
    if (first != 0) {
        EACH_SUM(_tile_loadd, c, TILE * s->ldc, s->ldc, lower, right)
    } else {
        zero_sums();
    }
    s->steps(copied ? copy : (const char *)(g->a + s->row * g->lda),
        copied ? lda : g->lda * sizeof(*g->a), b, ldb, whole, lower, right, &s->ahead);
    if (n % TILE != 0)
        s->steps(copied ? copy + whole * LINE : copy, lda, (const char *)(s->b_rest + j), ldb, 1,
            lower, right, &s->ahead);
    EACH_SUM(_tile_stored, c, TILE * s->ldc, s->ldc, lower, right)
    BARRIER();
}

/* Computes rows [row, row + HIGH) of the panel. */
static void run_strip(strip *s, size_t row)
{
    const prt_dot_block *g = s->g;
    const size_t depth = prt_dot_depth(g), rest = depth % TILE;
    const size_t rows = g->rows - row < HIGH ? g->rows - row : HIGH;
    const size_t most = g->from != NULL ? COPY_WORDS : depth;
    if (rows != s->rows)
        configure(rows < TILE ? rows : TILE, rows > TILE ? rows - TILE : TILE);
    s->row = row;
    s->rows = rows;
    if (s->sums == NULL)
        s->c = (char *)g->c + row * s->ldc;
    if (g->from == NULL && rest != 0)
        copy_words(g, row, rows, depth - rest, rest, s->copy);
    size_t k = 0;
    do { /* once even without any K: empty sums are 0 */
        const size_t n = depth - k < most ? depth - k : most;
        if (g->from != NULL && n != 0)
            copy_words(g, row, rows, k, n, s->copy);
        for (size_t j = 0; j < prt_gemm_width(g->columns); j += WIDE)
            run_words(s, j, k, n);
        k += n;
    } while (k < depth);
}

/* Computes all rows strip by strip; then `finish` converts `sums` if C is not the sums
 * themselves. */
static void run(const prt_dot_block *g, strip *s, void (*finish)(const strip *s))
{
    const size_t depth = prt_dot_depth(g), rest = depth % TILE;
    const size_t width = prt_gemm_width(g->columns);
    uint32_t copy[HIGH * COPY_WORDS], b_rest[TILE * PRT_GEMM_PANEL], sums[HIGH * PRT_GEMM_PANEL];
    const size_t steps =
        (g->rows + HIGH - 1) / HIGH * ((width + WIDE - 1) / WIDE) * ((depth + TILE - 1) / TILE);
    s->g = g;
    s->copy = copy;
    s->b_rest = b_rest;
    s->sums = finish != NULL ? sums : NULL;
    s->c = (char *)s->sums;
    s->ldc = (finish != NULL ? (size_t)PRT_GEMM_PANEL : g->ldc) * sizeof(*sums);
    if (g->next != NULL && steps != 0)
        s->ahead = (prt_dot_prefetch){ g->next, g->next_lines * LINE,
            (g->next_lines + steps - 1) / steps * LINE };
    if (rest != 0) {
        memcpy(b_rest, g->b + (depth - rest) * width, rest * width * sizeof(*g->b));
        memset(b_rest + rest * width, 0, (TILE - rest) * width * sizeof(*g->b));
    }
    for (size_t row = 0; row < g->rows; row += HIGH) {
        run_strip(s, row);
        if (finish != NULL)
            finish(s);
    }
    _tile_release();
}

/* Returns whether tiles are faster: other kernels are for few rows, short K, short pieces, few
 * columns. */
static bool has_tiles(const prt_dot_block *g)
{
    return g->rows >= LEAST_ROWS && prt_dot_depth(g) >= LEAST_WORDS && g->columns > TILE &&
        (g->from == NULL || g->words >= LEAST_PIECE);
}

void prt_dot4_i8_vnni(const prt_dot_block *g);
void prt_dot4_i8_amx(const prt_dot_block *g);

void prt_dot4_i8_amx(const prt_dot_block *g)
{
    strip s = { .steps = steps_of_dot4 };
    if (has_tiles(g))
        run(g, &s, NULL);
    else
        prt_dot4_i8_vnni(g);
}

static void finish_dot2(const strip *s)
{
    const float *sums = (const float *)(const void *)s->sums;
    for (size_t i = 0; i < s->rows; i++)
        for (size_t j = 0; j < prt_gemm_width(s->g->columns); j += VL)
            store_finished(s->g, s->row + i, j, v_load(sums + i * PRT_GEMM_PANEL + j));
}

void prt_dot2_bf16_amx(const prt_dot_block *g);

/* Any number of rows runs by tiles, so that results are bit-identical however rows are cut. */
void prt_dot2_bf16_amx(const prt_dot_block *g)
{
    strip s = { .steps = steps_of_dot2 };
    run(g, &s, finish_dot2);
}
