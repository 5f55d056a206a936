/* SPDX-License-Identifier: MIT */
/*
 * dot4_i8_requantize.inl — int8 GEMM tiles (VNNI) that requantise their accumulators in registers
 * instead of writing int32 sums to memory. A tile has 6 rows by 64 columns (24 vectors of
 * sums), 8 rows by 32, or 8 rows by 16.
 */
#ifndef PRT_KERN_INT8_DOT4_I8_REQUANTIZE_INL
#define PRT_KERN_INT8_DOT4_I8_REQUANTIZE_INL

#include "kern/int8/dot.h"
#include "kern/int8/dot4_i8_words.h"
#include "kern/int8/requantize.inl"

#if defined(__AVX512VNNI__)
/* Four vectors of sums are narrowed together: of as many rows as four vectors have. */
enum { RQ_VECTORS = 4, RQ_SUMS = 24 };
#define RQ_INLINE __attribute__((always_inline))

/* Parameters that all rows share. uint8 results are offset by -128 until the end. */
typedef struct requantize_with {
    const prt_dot_block *g;
    const prt_requantize *q;
    size_t column;
    vf scales_f32[RQ_VECTORS];
    __m512i zero, flip;
    __mmask64 mask; /* columns of a row */
    size_t ldy;
} requantize_with;

static inline RQ_INLINE void requantize_store(const q_words r[RQ_VECTORS],
    const requantize_with *c, size_t wide, uint8_t *y)
{
    const __m512i low = _mm512_adds_epi16(_mm512_packs_epi32(r[0], r[1]), c->zero);
    const __m512i high = _mm512_adds_epi16(_mm512_packs_epi32(r[2], r[3]), c->zero);
    const __m512i bytes =
        q_in_order(_mm512_xor_si512(_mm512_packs_epi16(low, high), c->flip));
    if (wide == 4) {
        _mm512_mask_storeu_epi8(y, c->mask, bytes);
    } else if (wide == 2) {
        _mm256_mask_storeu_epi8(y, (__mmask32)c->mask, _mm512_castsi512_si256(bytes));
        _mm256_mask_storeu_epi8(y + c->ldy, (__mmask32)c->mask,
            _mm512_extracti64x4_epi64(bytes, 1));
    } else {
        const __mmask16 m = (__mmask16)c->mask;
        _mm_mask_storeu_epi8(y, m, _mm512_castsi512_si128(bytes));
        _mm_mask_storeu_epi8(y + c->ldy, m, _mm512_extracti32x4_epi32(bytes, 1));
        _mm_mask_storeu_epi8(y + 2 * c->ldy, m, _mm512_extracti32x4_epi32(bytes, 2));
        _mm_mask_storeu_epi8(y + 3 * c->ldy, m, _mm512_extracti32x4_epi32(bytes, 3));
    }
}

/* Requantises sums for which single precision is not exact. */
static __attribute__((noinline)) void requantize_exact(const q_words s[RQ_VECTORS],
    const requantize_with *c, size_t wide, uint8_t *y)
{
    q_words r[RQ_VECTORS];
    for (size_t k = 0; k < RQ_VECTORS; k++)
        r[k] = q_scale(s[k], c->q->scales + c->column + k % wide * Q_LANES);
    requantize_store(r, c, wide, y);
}

/* Computes a tile of `high` rows by `wide` vectors. Whole panels prefetch the next data. */
static inline RQ_INLINE void requantize_tile(const requantize_with *c, size_t high, size_t wide,
    size_t row, prt_dot_prefetch next, uint8_t *y)
{
    const prt_dot_block *g = c->g;
    const size_t words = g->words, taps = g->from != NULL ? g->taps : 1;
    const size_t width = wide == 4 ? PRT_GEMM_PANEL : prt_gemm_width(g->columns);
    const uint32_t *a[8], *b = g->b + c->column;
    dot_words sum[RQ_SUMS];
    PRT_UNROLL(24)
    for (size_t i = 0; i < high * wide; i++)
        sum[i] = (dot_words)q_load(c->q->biases + c->column + i % wide * Q_LANES);
    for (size_t t = 0; t < taps; t++) {
        PRT_UNROLL(8)
        for (size_t i = 0; i < high; i++)
            a[i] = g->from != NULL ? g->from[t * g->step + row + i] : g->a + (row + i) * g->lda;
        for (size_t p = 0; p < words; p++, b += width) {
            dot_words w[RQ_VECTORS];
            if (wide == 4) {
                __builtin_prefetch(next.at, 0, 2);
                next.at += next.step;
            }
            PRT_UNROLL(4)
            for (size_t k = 0; k < wide; k++)
                w[k] = load_words(b + k * Q_LANES);
            PRT_UNROLL(8)
            for (size_t i = 0; i < high; i++) {
                const dot_words x = set_words(a[i][p]);
                PRT_UNROLL(4)
                for (size_t k = 0; k < wide; k++)
                    sum[i * wide + k] = step_dot4(sum[i * wide + k], x, w[k]);
            }
        }
    }
    PRT_UNROLL(6)
    for (size_t i = 0; i < high * wide; i += RQ_VECTORS, y += RQ_VECTORS / wide * c->ldy) {
        q_words s[RQ_VECTORS], r[RQ_VECTORS];
        PRT_UNROLL(4)
        for (size_t k = 0; k < RQ_VECTORS; k++)
            s[k] = (q_words)sum[i + k];
        if (q_single(s, c->scales_f32, r))
            requantize_store(r, c, wide, y);
        else
            requantize_exact((const q_words[4]){ s[0], s[1], s[2], s[3] }, c, wide, y);
    }
}

static __attribute__((noinline)) void requantize_64(const requantize_with *c, size_t rows,
    uint8_t *y)
{
    const prt_dot_block *g = c->g;
    const size_t depth = prt_dot_depth(g);
    prt_dot_prefetch next = prt_dot_prefetch_of(g, rows / 6 * depth);
    for (size_t row = 0; row < rows; row += 6, y += 6 * c->ldy) {
        requantize_tile(c, 6, 4, row, next, y);
        prt_dot_skip_prefetch(&next, depth);
    }
}

static __attribute__((noinline)) void requantize_32(const requantize_with *c, size_t rows,
    uint8_t *y)
{
    for (size_t row = 0; row < rows; row += 8, y += 8 * c->ldy)
        requantize_tile(c, 8, 2, row, (prt_dot_prefetch){ NULL, 0, 0 }, y);
}

static __attribute__((noinline)) void requantize_16(const requantize_with *c, size_t rows,
    uint8_t *y)
{
    for (size_t row = 0; row < rows; row += 8, y += 8 * c->ldy)
        requantize_tile(c, 8, 1, row, (prt_dot_prefetch){ NULL, 0, 0 }, y);
}

/* Computes all rows except a rest smaller than a tile. Returns the number of rows. Panels of 64
 * columns run as a whole; others in slices of 32 and 16 columns, by tiles of more rows. */
static size_t run_dot4_requantize(const prt_dot_block *g, const prt_requantize *q, uint8_t *y,
    size_t ldy)
{
    const size_t width = prt_gemm_width(g->columns);
    const bool sign = q->low < 0;
    requantize_with c = { .g = g, .q = q, .ldy = ldy,
        .flip = _mm512_set1_epi8(sign ? 0 : (char)0x80),
        .zero = _mm512_set1_epi16((short)(q->zero - (sign ? 0 : 128))) };
    size_t rows = q->fits_int32 ? g->rows : 0;
    while (c.column < width && rows != 0) {
        const size_t left = width - c.column, some = g->columns - c.column;
        const size_t slices = left >= 64 ? 4 : left >= 32 ? 2 : 1, columns = slices * Q_LANES;
        void (*const close)(const requantize_with *c, size_t rows, uint8_t *y) =
            slices == 4 ? requantize_64 : slices == 2 ? requantize_32 : requantize_16;
        for (size_t k = 0; k < RQ_VECTORS; k++)
            c.scales_f32[k] = v_load(q->scales_f32 + c.column + k % slices * Q_LANES);
        c.mask = ~(uint64_t)0 >> (64 - (some < columns ? some : columns));
        rows = slices == 4 ? g->rows / 6 * 6 : g->rows / 8 * 8;
        close(&c, rows, y + c.column);
        c.column += columns;
    }
    return rows;
}
#endif

#endif
