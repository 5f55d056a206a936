/* SPDX-License-Identifier: MIT */
/* narrow_impl.h — panels of narrow elements, widened as they are read. */
#ifndef PRT_KERN_NARROW_IMPL_H
#define PRT_KERN_NARROW_IMPL_H

#include <float.h>

#include "kern/act_impl.h"
#include "kern/narrow.h"
#include "num/half.h"

/* ---- VL elements from element `at` on; the 8-bit floats come out smaller, see narrow_factor */

/* How far an 8-bit float is moved to have exponent and mantissa where a float has them; the
 * difference of the exponents is a product's, which takes along what has no leading 1. */
enum { NARROW_e4m3 = 20, NARROW_e5m2 = 21 };

static inline int narrow_shift(int kind)
{
    return kind == PRT_NARROW_e4m3 ? NARROW_e4m3 : NARROW_e5m2;
}

/* The bits that it has there. */
static inline int narrow_bits(int shift)
{
    return INT32_MIN | 0x7f << shift;
}

#if defined(__AVX512F__) && defined(__AVX512DQ__)
static inline vf widen_f16(const void *b, size_t at)
{
    return _mm512_cvtph_ps(_mm256_loadu_si256((const void *)((const uint16_t *)b + at)));
}
static inline vf widen_f8(const void *b, size_t at, int shift)
{
    const __m512i x = _mm512_cvtepi8_epi32(_mm_loadu_si128((const void *)((const char *)b + at)));
    const __m512i bits = _mm512_and_si512(_mm512_slli_epi32(x, (unsigned)shift),
        _mm512_set1_epi32(narrow_bits(shift)));
    return _mm512_mul_ps(_mm512_castsi512_ps(bits), _mm512_set1_ps(0x1p112f));
}
#define NARROW_QUADS 1
static inline void widen_quads(const void *b, int shift, vf to[4])
{
    const __m512i x = _mm512_loadu_si512(b), half = _mm512_set1_epi32(narrow_bits(shift));
    const uint8_t back = (uint8_t)(24 - shift); /* compilers differ over the sign of counts */
    const __m512i odd = _mm512_srai_epi16(x, back);
    const __m512i even = _mm512_srai_epi16(_mm512_slli_epi16(x, 8), back);
    to[0] = _mm512_castsi512_ps(_mm512_and_si512(_mm512_slli_epi32(even, 16), half));
    to[1] = _mm512_castsi512_ps(_mm512_and_si512(_mm512_slli_epi32(odd, 16), half));
    to[2] = _mm512_castsi512_ps(_mm512_and_si512(even, half));
    to[3] = _mm512_castsi512_ps(_mm512_and_si512(odd, half));
}
static inline vf widen_i8(const void *b, size_t at)
{
    return _mm512_cvtepi32_ps(
        _mm512_cvtepi8_epi32(_mm_loadu_si128((const void *)((const char *)b + at))));
}
/* Two rows: VL pairs from pair `at` on. */
static inline void widen_pairs(const void *b, size_t at, vf *even, vf *odd)
{
    const __m512i x = _mm512_loadu_si512((const uint32_t *)b + at);
    *even = _mm512_castsi512_ps(_mm512_slli_epi32(x, 16));
    *odd = _mm512_castsi512_ps(_mm512_and_si512(x, _mm512_set1_epi32((int)0xffff0000)));
}
#elif defined(__AVX2__) && defined(__FMA__)
static inline vf widen_f16(const void *b, size_t at)
{
    return _mm256_cvtph_ps(_mm_loadu_si128((const void *)((const uint16_t *)b + at)));
}
static inline vf widen_f8(const void *b, size_t at, int shift)
{
    const __m256i x = _mm256_cvtepi8_epi32(_mm_loadl_epi64((const void *)((const char *)b + at)));
    const __m256i bits =
        _mm256_and_si256(_mm256_slli_epi32(x, shift), _mm256_set1_epi32(narrow_bits(shift)));
    return _mm256_mul_ps(_mm256_castsi256_ps(bits), _mm256_set1_ps(0x1p112f));
}
#define NARROW_QUADS 1
static inline void widen_quads(const void *b, int shift, vf to[4])
{
    const __m256i x = _mm256_loadu_si256(b), half = _mm256_set1_epi32(narrow_bits(shift));
    const __m256i odd = _mm256_srai_epi16(x, 24 - shift);
    const __m256i even = _mm256_srai_epi16(_mm256_slli_epi16(x, 8), 24 - shift);
    to[0] = _mm256_castsi256_ps(_mm256_and_si256(_mm256_slli_epi32(even, 16), half));
    to[1] = _mm256_castsi256_ps(_mm256_and_si256(_mm256_slli_epi32(odd, 16), half));
    to[2] = _mm256_castsi256_ps(_mm256_and_si256(even, half));
    to[3] = _mm256_castsi256_ps(_mm256_and_si256(odd, half));
}
static inline vf widen_i8(const void *b, size_t at)
{
    return _mm256_cvtepi32_ps(
        _mm256_cvtepi8_epi32(_mm_loadl_epi64((const void *)((const char *)b + at))));
}
static inline void widen_pairs(const void *b, size_t at, vf *even, vf *odd)
{
    const __m256i x = _mm256_loadu_si256((const void *)((const uint32_t *)b + at));
    *even = _mm256_castsi256_ps(_mm256_slli_epi32(x, 16));
    *odd = _mm256_castsi256_ps(_mm256_and_si256(x, _mm256_set1_epi32((int)0xffff0000)));
}
#else
static inline vf widen_four(const uint16_t *h)
{
    return (vf){ prt_half_to_f32(h[0]), prt_half_to_f32(h[1]), prt_half_to_f32(h[2]),
        prt_half_to_f32(h[3]) };
}
static inline vf widen_f16(const void *b, size_t at)
{
    return widen_four((const uint16_t *)b + at);
}
static inline vf widen_f8(const void *b, size_t at, int shift)
{
    const int8_t *p = (const int8_t *)b + at;
    const vm x = { p[0], p[1], p[2], p[3] };
    return (vf)(x << shift & narrow_bits(shift)) * 0x1p112f;
}
static inline vf widen_i8(const void *b, size_t at)
{
    const int8_t *p = (const int8_t *)b + at;
    return (vf){ (float)p[0], (float)p[1], (float)p[2], (float)p[3] };
}
static inline void widen_pairs(const void *b, size_t at, vf *even, vf *odd)
{
    vm x;
    memcpy(&x, (const uint32_t *)b + at, sizeof(x));
    *even = (vf)(x << 16);
    *odd = (vf)(x & (vm){ INT32_MIN >> 15, INT32_MIN >> 15, INT32_MIN >> 15, INT32_MIN >> 15 });
}
#endif

/* What widened elements have to be multiplied with. */
static const float narrow_factor[PRT_NARROW_COUNT] = { 1.0f, 1.0f, 128.0f, 0.5f, 1.0f };

/* ---- a few rows */

typedef struct narrow_tile {
    const prt_narrow_block *g;
    size_t width, row, column;
} narrow_tile;

/* What becomes of a tile's sums, [rows][vectors * VL]. */
static void narrow_finish(const narrow_tile *t, size_t rows, size_t vectors, const float *sum)
{
    const prt_narrow_block *g = t->g;
    const prt_gemm_end *e = g->end;
    const size_t n = g->columns;
    const vf factor = v_set(narrow_factor[g->kind]), low = v_set(e->act.a), high = v_set(e->act.b);
    for (size_t row = t->row; row < t->row + rows; row++)
        for (size_t at = t->column; at < t->column + vectors * VL; at += VL, sum += VL) {
            vf v = v_load(sum);
            v = v_mul(v, g->scale != NULL ? v_mul(v_load_some(g->scale, at, n), factor) : factor);
            if (e->bias != NULL)
                v = v_add(v, v_load_some(e->bias, at, n));
            if (e->residual != NULL)
                v = v_add(v, v_load_some(e->residual + row * e->ldr, at, n));
            v_store_some(g->c + row * g->ldc, at, n, v_act(v, e->act.kind, low, high));
        }
}

enum { NARROW_LINE = 64, NARROW_FAR = 12288 }; /* bytes of a cache line; ahead in the stream */

#define NARROW_EACH(R, W)                                                                          \
    PRT_UNROLL(8)                                                                                  \
    for (size_t i = 0; i < R; i++)                                                                 \
        PRT_UNROLL(8)                                                                              \
        for (size_t j = 0; j < W; j++)

#define NARROW_BEGIN(R, W)                                                                         \
    const prt_narrow_block *g = t->g;                                                              \
    const size_t k = g->k, width = t->width;                                                       \
    vf sum[R][W];                                                                                  \
    const float *a[R];                                                                             \
    NARROW_EACH(R, W) sum[i][j] = v_set(0.0f);                                                     \
    PRT_UNROLL(8)                                                                                  \
    for (size_t i = 0; i < R; i++)                                                                 \
        a[i] = g->a + (t->row + i) * g->lda;                                                       \
    const char *b = (const char *)g->b + t->column * sizeof(ELEMENT) * GROUP;

/* Bytes take longer to widen than to read: they come to the second cache level, as the first one
 * has no time for more. */
#define NARROW_FETCH(W)                                                                            \
    PRT_UNROLL(8)                                                                                  \
    for (size_t j = 0; j < (W) * VL * sizeof(ELEMENT) * GROUP; j += NARROW_LINE)                   \
        __builtin_prefetch(b + NARROW_FAR + j, 0, sizeof(ELEMENT) == 1 ? 2 : 3);

#define NARROW_STEP(R, W, P)                                                                       \
    PRT_UNROLL(8)                                                                                  \
    for (size_t i = 0; i < R; i++) {                                                               \
        const vf x = v_set(a[i][P]);                                                               \
        PRT_UNROLL(8)                                                                              \
        for (size_t j = 0; j < W; j++)                                                             \
            sum[i][j] = v_fma(x, w[j], sum[i][j]);                                                 \
    }

#define WIDEN_f16(b, at, kind) widen_f16(b, at)
#define WIDEN_f8(b, at, kind) widen_f8(b, at, narrow_shift(kind))
#define WIDEN_i8(b, at, kind) widen_i8(b, at)

/* R rows by W vectors. */
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
            NARROW_STEP(R, W, p)                                                                   \
            b += width * sizeof(ELEMENT);                                                          \
        }                                                                                          \
        float part[(R) * (W) * VL];                                                                \
        NARROW_EACH(R, W) v_store(part + (i * (W) + j) * VL, sum[i][j]);                           \
        narrow_finish(t, R, W, part);                                                              \
    }

/* The same by pairs of rows of B. */
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
            NARROW_STEP(R, W, p)                                                                   \
            if (p + 1 == k)                                                                        \
                break;                                                                             \
            PRT_UNROLL(8)                                                                          \
            for (size_t j = 0; j < W; j++)                                                         \
                w[j] = odd[j];                                                                     \
            NARROW_STEP(R, W, p + 1)                                                               \
            b += width * sizeof(ELEMENT) * GROUP;                                                  \
        }                                                                                          \
        float part[(R) * (W) * VL];                                                                \
        NARROW_EACH(R, W) v_store(part + (i * (W) + j) * VL, sum[i][j]);                           \
        narrow_finish(t, R, W, part);                                                              \
    }

#if defined(NARROW_QUADS)
/* What a row of A is multiplied with so that 8-bit floats need not be: 2^112, or less where that
 * would make its largest element infinite. */
__attribute__((noinline)) static float raise_row(size_t k, const float *a)
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

/* Sums of which each of four vectors has every fourth column. */
__attribute__((noinline)) static void put_in_order(size_t rows, size_t vectors,
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

/* The same of 8-bit floats. */
#define NARROW_FOURS(KIND, R, W)                                                                   \
    static void narrow_##KIND##_##R##x##W(const narrow_tile *t)                                    \
    {                                                                                              \
        NARROW_BEGIN(R, W)                                                                         \
        float raised[R];                                                                           \
        PRT_UNROLL(8)                                                                              \
        for (size_t i = 0; i < R; i++)                                                             \
            raised[i] = raise_row(k, a[i]);                                                        \
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
        put_in_order(R, W, raised, part);                                                          \
        narrow_finish(t, R, W, part);                                                              \
    }
#endif

/* By rows: how many vectors side by side, and the kernels for that many and for one slice. */
#if defined(__AVX512F__) && defined(__AVX512DQ__)
#define NARROW_WIDE(ONE, KIND) ONE(KIND, 1, 4) ONE(KIND, 2, 4) ONE(KIND, 3, 4) ONE(KIND, 4, 4)
#define NARROW_SLICE(ONE, KIND) ONE(KIND, 1, 1) ONE(KIND, 2, 1) ONE(KIND, 3, 1) ONE(KIND, 4, 1)
#define NARROW_ROW(WIDE, SLICE)                                                                    \
    { { narrow_##WIDE##_1x4, narrow_##WIDE##_2x4, narrow_##WIDE##_3x4, narrow_##WIDE##_4x4 },      \
        { narrow_##SLICE##_1x1, narrow_##SLICE##_2x1, narrow_##SLICE##_3x1,                        \
            narrow_##SLICE##_4x1 } }
static const size_t narrow_wide[] = { 4, 4, 4, 4 };
#elif defined(__AVX2__) && defined(__FMA__)
#define NARROW_WIDE(ONE, KIND) ONE(KIND, 1, 8) ONE(KIND, 2, 4)
#define NARROW_SLICE(ONE, KIND) ONE(KIND, 1, 2) ONE(KIND, 2, 2) ONE(KIND, 3, 2) ONE(KIND, 4, 2)
#define NARROW_ROW(WIDE, SLICE)                                                                    \
    { { narrow_##WIDE##_1x8, narrow_##WIDE##_2x4, narrow_##SLICE##_3x2, narrow_##SLICE##_4x2 },    \
        { narrow_##SLICE##_1x2, narrow_##SLICE##_2x2, narrow_##SLICE##_3x2,                        \
            narrow_##SLICE##_4x2 } }
static const size_t narrow_wide[] = { 8, 4, 2, 2 };
#else
#define NARROW_WIDE(ONE, KIND)
#define NARROW_SLICE(ONE, KIND) ONE(KIND, 1, 4) ONE(KIND, 2, 4)
#define NARROW_ROW(WIDE, SLICE)                                                                    \
    { { narrow_##SLICE##_1x4, narrow_##SLICE##_2x4 },                                              \
        { narrow_##SLICE##_1x4, narrow_##SLICE##_2x4 } }
static const size_t narrow_wide[] = { 4, 4 };
#endif

#define ELEMENT uint16_t
#define GROUP 1
NARROW_WIDE(NARROW, f16)
NARROW_SLICE(NARROW, f16)
#undef GROUP
#define GROUP 2
NARROW_WIDE(NARROW_PAIRS, bf16)
NARROW_SLICE(NARROW_PAIRS, bf16)
#undef GROUP
#undef ELEMENT
#define ELEMENT uint8_t
#define GROUP 1
NARROW_WIDE(NARROW_FOURS, e4m3)
NARROW_WIDE(NARROW_FOURS, e5m2)
NARROW_SLICE(NARROW, f8)
NARROW_WIDE(NARROW, i8)
NARROW_SLICE(NARROW, i8)
#undef GROUP
#undef ELEMENT

enum { NARROW_ROWS = sizeof(narrow_wide) / sizeof(narrow_wide[0]) };

static void run_few(const prt_narrow_block *g)
{
    static void (*const kernels[PRT_NARROW_COUNT][2][NARROW_ROWS])(const narrow_tile *t) = {
        NARROW_ROW(f16, f16), NARROW_ROW(bf16, bf16), NARROW_ROW(e4m3, f8), NARROW_ROW(e5m2, f8),
        NARROW_ROW(i8, i8) };
    const size_t groups = (g->rows + NARROW_ROWS - 1) / NARROW_ROWS;
    narrow_tile t = { .g = g, .width = prt_gemm_width(g->columns) };
    for (size_t n = 0; n < groups; n++) {
        const size_t rows = g->rows / groups + (n < g->rows % groups);
        const size_t wide = narrow_wide[rows - 1] * VL;
        for (t.column = 0; t.column < t.width;) {
            const bool whole = t.width - t.column >= wide;
            kernels[g->kind][whole ? 0 : 1][rows - 1](&t);
            t.column += whole ? wide : PRT_GEMM_SLICE;
        }
        t.row += rows;
    }
}

/* ---- widening */

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

static void run_widen(int kind, size_t columns, size_t k, size_t depth, const void *b,
    const float *scale, float *to)
{
    const size_t width = prt_gemm_width(columns);
    float factor[PRT_GEMM_PANEL];
    for (size_t j = 0; j < PRT_GEMM_PANEL; j++)
        factor[j] = narrow_factor[kind] * (scale != NULL && j < columns ? scale[j] : 1.0f);
    switch (kind) {
    case PRT_NARROW_f16:
        WIDEN_ROWS(widen_f16(b, i * width + j))
    case PRT_NARROW_bf16:
        WIDEN_ROWS(widen_half_pair(b, width, i, j))
    case PRT_NARROW_i8:
        WIDEN_ROWS(widen_i8(b, i * width + j))
    default:
        WIDEN_ROWS(widen_f8(b, i * width + j, narrow_shift(kind)))
    }
}

/* ---- bfloat16 */

/* The upper half is what bfloat16 keeps; NaN stays one. */
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
