/* SPDX-License-Identifier: MIT */
/*
 * requantize_tiles_amx.c — int8 GEMM by AMX with requantised results. The unit is a block of 32
 * rows by 32 columns. The part of B for MOST_STEPS of K stays in L1 while STRIPS blocks of rows
 * pass by. A finished block is requantised while the next one is multiplied. The build gives the
 * flags.
 */
#include "kern/int8/amx.inl"
#include "kern/int8/requantize.inl"
#include "kern/int8/requantize_tiles.h"

enum {
    MOST_STEPS = 18,      /* steps of a part of K: its B stays in 48 KB of L1 */
    MOST_LINES = 4,       /* cache lines prefetched in a step, limited by the memory bandwidth */
    STRIPS = 8,           /* blocks of rows that share a part of K, if there are several parts */
    SQUARE = HIGH * WIDE, /* sums of a block */
    SLOTS = 2             /* slots of a step in which pairs of rows are requantised */
};

/* A block that is being requantised. */
typedef struct epilogue {
    const int32_t *sums;
    const uint32_t *to; /* of its rows */
    uint8_t *y;         /* at the first column of the block */
    size_t ldy, column[2];
    size_t left, each; /* pairs of rows; pairs in a slot */
    __mmask32 mask;    /* of columns */
    const prt_requantize *q;
} epilogue;

/* Requantises two rows of 32 columns. */
static inline __m512i requantize_pair(const int32_t *sums, const q_words bias[2],
    const vf scales_f32[2], const size_t column[2], const prt_requantize *q)
{
    const q_words s[4] = { q_add(q_load(sums), bias[0]), q_add(q_load(sums + TILE), bias[1]),
        q_add(q_load(sums + WIDE), bias[0]), q_add(q_load(sums + WIDE + TILE), bias[1]) };
    const vf scales[4] = { scales_f32[0], scales_f32[1], scales_f32[0], scales_f32[1] };
    const double *first = q->scales + column[0], *second = q->scales + column[1];
    const double *const exact[4] = { first, second, first, second };
    q_words r[4];
    q_numbers(s, scales, exact, r);
    return q_in_order(q_pack_bytes(r, q));
}

static __attribute__((noinline)) void requantize_pairs(epilogue *t, size_t most)
{
    const size_t pairs = t->left < most ? t->left : most, ldy = t->ldy;
    const size_t column[2] = { t->column[0], t->column[1] };
    const prt_requantize *q = t->q;
    const q_words bias[2] = { q_load(q->biases + column[0]), q_load(q->biases + column[1]) };
    const vf scales_f32[2] = { v_load(q->scales_f32 + column[0]),
        v_load(q->scales_f32 + column[1]) };
    const int32_t *sums = t->sums;
    const uint32_t *to = t->to;
    uint8_t *y = t->y;
    const __mmask32 mask = t->mask;
    t->left -= pairs;
    t->sums += pairs * 2 * WIDE;
    t->to += pairs * 2;
    for (size_t i = pairs; i != 0; i--, sums += 2 * WIDE, to += 2) {
        const __m512i bytes = requantize_pair(sums, bias, scales_f32, column, q);
        if (to[0] != PRT_REQUANTIZE_TILES_NONE)
            _mm256_mask_storeu_epi8(y + to[0] * ldy, mask, _mm512_castsi512_si256(bytes));
        if (to[1] != PRT_REQUANTIZE_TILES_NONE)
            _mm256_mask_storeu_epi8(y + to[1] * ldy, mask, _mm512_extracti64x4_epi64(bytes, 1));
    }
}

typedef struct tiles_work {
    const prt_requantize_tiles_block *g;
    size_t ldb, tile_step,
        step;         /* bytes of B: from word to word, to the other tile, to the next step */
    const char *last; /* B of the last step; NULL: in place */
    epilogue epilogue;
    prt_dot_prefetch ahead;
} tiles_work;

/* Runs steps [first, first + n) of K for the tiles of sums. */
static void run_steps(tiles_work *j, const uint8_t *const *tile, const char *b, size_t first,
    size_t n, bool lower, bool right)
{
    const prt_requantize_tiles_block *g = j->g;
    const size_t lda = g->lda, ldb = j->ldb, tile_step = j->tile_step, on = j->step;
    size_t tap = first / g->steps, step = first % g->steps;
    const uint8_t *upper = tile[0], *under = tile[lower ? 1 : 0];
    for (size_t at = g->tap_at[tap] + step * LINE; n != 0; n--, b += on) {
        if (n == 1 && j->last != NULL)
            b = j->last;
        _tile_loadd(6, b, ldb);
        _tile_loadd(4, upper + at, lda);
        _tile_dpbusd(0, 4, 6);
        if (lower) {
            _tile_loadd(5, under + at, lda);
            _tile_dpbusd(2, 5, 6);
        }
        if (j->epilogue.left != 0)
            requantize_pairs(&j->epilogue, j->epilogue.each);
        if (right) {
            _tile_loadd(7, b + tile_step, ldb);
            _tile_dpbusd(1, 4, 7);
            if (lower)
                _tile_dpbusd(3, 5, 7);
        }
        if (j->epilogue.left != 0)
            requantize_pairs(&j->epilogue, j->epilogue.each);
        fetch(&j->ahead);
        at += LINE;
        if (++step == g->steps) {
            step = 0;
            if (n != 1)
                at = g->tap_at[++tap];
        }
    }
}

/* Computes a part of K of a block, whose rows are the tiles from `tile` on. */
static void run_square(tiles_work *j, size_t tile, const char *b, size_t first, size_t n,
    size_t column, int32_t *sums)
{
    const size_t ld = WIDE * sizeof(*sums);
    const bool lower = j->g->tiles - tile > 1, right = j->g->columns - column > TILE;
    const uint8_t *const *at = j->g->tile + tile;
    char *c = (char *)sums;
    BARRIER();
    if (first != 0) {
        EACH_SUM(_tile_loadd, c, TILE * ld, ld, lower, right)
    } else { /* adding biases later is faster than loading them here */
        zero_sums();
    }
    run_steps(j, at, b, first, n, lower, right);
    BARRIER();
    requantize_pairs(&j->epilogue, j->epilogue.left);
    EACH_SUM(_tile_stored, c, TILE * ld, ld, lower, right)
    BARRIER();
}

static void begin_epilogue(tiles_work *j, size_t tile, size_t column, size_t steps,
    const int32_t *sums)
{
    const prt_requantize_tiles_block *g = j->g;
    epilogue *t = &j->epilogue;
    const size_t left = g->columns - column;
    t->sums = sums;
    t->to = g->to + tile * TILE;
    t->y = g->y + column;
    t->column[0] = column;
    t->column[1] = left > TILE ? column + TILE : column;
    t->left = (g->tiles - tile > 1 ? HIGH : TILE) / 2;
    t->each = (t->left + steps * SLOTS - 1) / (steps * SLOTS);
    t->mask = left < WIDE ? ((__mmask32)1 << left) - 1 : ~(__mmask32)0;
}

/* Computes all K of some tiles and 32 columns. */
static void run_tiles(tiles_work *j, size_t tile, size_t end, size_t column, size_t parts,
    int32_t *sums)
{
    const prt_requantize_tiles_block *g = j->g;
    const size_t all = g->taps * g->steps;
    const char *b =
        (const char *)g->b + (g->packed ? column / WIDE * all * j->step : column * sizeof(*g->b));
    const size_t squares = parts > 1 ? STRIPS : 1;
    for (size_t p = 0; p < parts; p++) {
        const size_t first = all * p / parts, n = all * (p + 1) / parts - first;
        j->last = p + 1 == parts && g->last != NULL ? (const char *)(g->last + column) : NULL;
        for (size_t i = tile; i < end; i += 2) {
            int32_t *c = sums + (i - tile) / 2 % squares * SQUARE;
            run_square(j, i, b + first * j->step, first, n, column, c);
            if (p + 1 == parts)
                begin_epilogue(j, i, column, n, c);
        }
    }
}

void prt_requantize_tiles_multiply_amx(const prt_requantize_tiles_block *g);

void prt_requantize_tiles_multiply_amx(const prt_requantize_tiles_block *g)
{
    _Alignas(LINE) int32_t sums[STRIPS * SQUARE];
    tiles_work j = { .g = g, .epilogue = { .ldy = g->ldy, .q = g->q } };
    const size_t all = g->taps * g->steps, parts = (all + MOST_STEPS - 1) / MOST_STEPS;
    const size_t lines = g->next != NULL ? g->next_lines : 0;
    const size_t steps = (g->tiles + 1) / 2 * all * ((g->columns + WIDE - 1) / WIDE);
    const size_t each = (lines + steps - 1) / steps;
    j.ahead =
        (prt_dot_prefetch){ g->next, lines * LINE, (each < MOST_LINES ? each : MOST_LINES) * LINE };
    /* If the whole panel stays in L1, whole lines of y are written. */
    const bool whole = 2 * all <= MOST_STEPS;
    const size_t wide = whole ? PRT_GEMM_PANEL : WIDE, high = whole ? 2 : 2 * STRIPS;
    j.ldb = g->packed ? LINE : prt_gemm_width(g->columns) * sizeof(*g->b);
    j.tile_step = g->packed ? TILE * LINE : LINE;
    j.step = g->packed ? 2 * TILE * LINE : TILE * j.ldb;
    configure(TILE, TILE);
    for (size_t first = 0; first < g->columns; first += wide)
        for (size_t i = 0; i < g->tiles; i += high) {
            const size_t end = g->tiles - i < high ? g->tiles : i + high;
            const size_t last = g->columns - first < wide ? g->columns : first + wide;
            for (size_t column = first; column < last; column += WIDE)
                run_tiles(&j, i, end, column, parts, sums);
        }
    requantize_pairs(&j.epilogue, j.epilogue.left);
    _tile_release();
}
