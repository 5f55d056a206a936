/* SPDX-License-Identifier: MIT */
/*
 * requantize.inl — requantises int32 sums to bytes, bit-identical to the reference at every level.
 * Products with scales are rounded once. Single precision differs from double by less than 1e-4,
 * unless the result exceeds the range of bytes anyway. If a product is so close to the middle
 * between two integers, it is computed in double.
 */
#ifndef PRT_KERN_INT8_REQUANTIZE_INL
#define PRT_KERN_INT8_REQUANTIZE_INL

#include "kern/int8/bytes.h"
#include "kern/gemm/gemm.h"
#include "kern/vector/simd.h"

/* Adding and subtracting 3 * 2^51 removes the fraction. Large numbers, for which this fails, are
 * clamped first; they are out of range anyway. */
static inline double round_even(double x)
{
    const double magic = 6755399441055744.0, far = 0x1p40;
    x = x > -far ? x : -far; /* NaN as well */
    x = x < far ? x : far;
    return x + magic - magic;
}

static inline double requantized(double sum, double scale, const prt_requantize *q)
{
    double v = round_even((sum + q->bias) * scale) + q->zero;
    v = v > q->low ? v : q->low;
    return v < q->high ? v : q->high;
}

static void requantize_rest(size_t n, const int32_t *restrict sums, const prt_requantize *q,
    uint8_t *restrict y)
{
    enum { REST = 64 };
    const prt_requantize own = *q; /* a copy that cannot alias y */
    for (size_t at = 0; at < n; at += REST) { /* a constant number each time, so that one loop
                                               * suffices */
        const size_t count = n - at < REST ? n - at : REST;
        uint32_t sum[REST] = { 0 }, bias[REST] = { 0 };
        double scale[REST];
        int32_t whole[REST];
        memcpy(sum, sums + at, count * sizeof(*sum));
        if (own.biases != NULL)
            memcpy(bias, own.biases + at, count * sizeof(*bias));
        for (size_t j = 0; j < REST; j++)
            scale[j] = own.scale;
        if (own.scales != NULL)
            memcpy(scale, own.scales + at, count * sizeof(*scale));
        for (size_t j = 0; j < REST; j++)
            whole[j] =
                (int32_t)requantized((double)(int32_t)(sum[j] + bias[j]), scale[j], &own);
        for (size_t j = 0; j < count; j++)
            y[at + j] = (uint8_t)whole[j];
    }
}

#if defined(__AVX512F__) && defined(__AVX512DQ__)
typedef __m512i q_words; /* of 32 bits */
enum { Q_LANES = 16 };

static inline q_words q_load(const int32_t *p)
{
    return _mm512_loadu_si512(p);
}
static inline q_words q_add(q_words a, q_words b)
{
    return _mm512_add_epi32(a, b);
}
static inline q_words q_scale(q_words sums, const double *scale)
{
    const __m512d a = _mm512_cvtepi32_pd(_mm512_castsi512_si256(sums));
    const __m512d b = _mm512_cvtepi32_pd(_mm512_extracti64x4_epi64(sums, 1));
    const __m256i low = _mm512_cvtpd_epi32(_mm512_mul_pd(a, _mm512_loadu_pd(scale)));
    const __m256i high = _mm512_cvtpd_epi32(_mm512_mul_pd(b, _mm512_loadu_pd(scale + 8)));
    return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
}
/* The same in single precision. `error`: distance from the rounded number. */
static inline q_words q_scale_f32(q_words sums, vf scale, vf *error)
{
    const vf v = _mm512_mul_ps(_mm512_cvtepi32_ps(sums), scale);
    *error = _mm512_reduce_ps(v, 8);
    return _mm512_cvtps_epi32(v);
}
/* Returns the larger magnitude. */
static inline vf q_farther(vf a, vf b)
{
    return _mm512_range_ps(a, b, 11);
}
static inline bool q_is_sure(vf error)
{
    return v_less(v_set(0.4999f), error) == 0;
}
static inline vf q_open(const uint8_t *x, bool sign)
{
    const __m128i bytes = _mm_loadu_si128((const void *)x);
    return _mm512_cvtepi32_ps(sign ? _mm512_cvtepi8_epi32(bytes) : _mm512_cvtepu8_epi32(bytes));
}
static inline q_words q_round(vf v)
{
    return _mm512_cvtps_epi32(v);
}
/* Narrows four vectors of words + zero to bytes: each 128-bit lane has four bytes of each
 * vector. */
static inline q_words q_pack_bytes(const q_words r[4], const prt_requantize *q)
{
    const __m512i zero = _mm512_set1_epi16((short)q->zero);
    const __m512i low = _mm512_adds_epi16(_mm512_packs_epi32(r[0], r[1]), zero);
    const __m512i high = _mm512_adds_epi16(_mm512_packs_epi32(r[2], r[3]), zero);
    return q->low < 0 ? _mm512_packs_epi16(low, high) : _mm512_packus_epi16(low, high);
}
static inline q_words q_in_order(q_words bytes)
{
    return _mm512_permutexvar_epi32(_mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7,
        11, 15), bytes);
}
static inline void q_store(uint8_t *y, q_words bytes)
{
    _mm512_storeu_si512(y, bytes);
}

#elif defined(__AVX2__) && defined(__FMA__)
typedef __m256i q_words;
enum { Q_LANES = 8 };

static inline q_words q_load(const int32_t *p)
{
    return _mm256_loadu_si256((const void *)p);
}
static inline q_words q_add(q_words a, q_words b)
{
    return _mm256_add_epi32(a, b);
}
static inline q_words q_scale(q_words sums, const double *scale)
{
    const __m256d a = _mm256_cvtepi32_pd(_mm256_castsi256_si128(sums));
    const __m256d b = _mm256_cvtepi32_pd(_mm256_extracti128_si256(sums, 1));
    return _mm256_set_m128i(_mm256_cvtpd_epi32(_mm256_mul_pd(b, _mm256_loadu_pd(scale + 4))),
        _mm256_cvtpd_epi32(_mm256_mul_pd(a, _mm256_loadu_pd(scale))));
}
static inline q_words q_scale_f32(q_words sums, vf scale, vf *error)
{
    const vf v = _mm256_mul_ps(_mm256_cvtepi32_ps(sums), scale);
    *error = v_abs(v_sub(v, v_round(v)));
    return _mm256_cvtps_epi32(v);
}
static inline vf q_farther(vf a, vf b)
{
    return v_max(a, b);
}
static inline bool q_is_sure(vf error)
{
    return _mm256_movemask_ps(v_less(v_set(0.4999f), error)) == 0;
}
static inline vf q_open(const uint8_t *x, bool sign)
{
    const __m128i bytes = _mm_loadl_epi64((const void *)x);
    return _mm256_cvtepi32_ps(sign ? _mm256_cvtepi8_epi32(bytes) : _mm256_cvtepu8_epi32(bytes));
}
static inline q_words q_round(vf v)
{
    return _mm256_cvtps_epi32(v);
}
static inline q_words q_pack_bytes(const q_words r[4], const prt_requantize *q)
{
    const __m256i zero = _mm256_set1_epi16((short)q->zero);
    const __m256i low = _mm256_adds_epi16(_mm256_packs_epi32(r[0], r[1]), zero);
    const __m256i high = _mm256_adds_epi16(_mm256_packs_epi32(r[2], r[3]), zero);
    return q->low < 0 ? _mm256_packs_epi16(low, high) : _mm256_packus_epi16(low, high);
}
static inline q_words q_in_order(q_words bytes)
{
    return _mm256_permutevar8x32_epi32(bytes, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}
static inline void q_store(uint8_t *y, q_words bytes)
{
    _mm256_storeu_si256((void *)y, bytes);
}
#endif

static inline void run_requantize(size_t n, const int32_t *sums, const prt_requantize *q,
    uint8_t *y)
{
    requantize_rest(n, sums, q, y);
}

#if defined(__AVX2__) && defined(__FMA__)
enum { Q_ALL = 4 * Q_LANES };

/* Requantises four vectors of sums in double. */
static __attribute__((noinline)) void q_exact(q_words s[4], const double *const scales[4])
{
    for (size_t k = 0; k < 4; k++)
        s[k] = q_scale(s[k], scales[k]);
}

/* Requantises them in single precision. Returns false if that is not exact. */
static inline bool q_single(const q_words s[4], const vf scales[4], q_words r[4])
{
    vf error[4];
    PRT_UNROLL(4)
    for (size_t k = 0; k < 4; k++)
        r[k] = q_scale_f32(s[k], scales[k], &error[k]);
    return q_is_sure(q_farther(q_farther(error[0], error[1]), q_farther(error[2], error[3])));
}

static inline void q_numbers(const q_words s[4], const vf scales_f32[4],
    const double *const scales[4], q_words r[4])
{
    if (q_single(s, scales_f32, r))
        return;
    q_words again[4] = { s[0], s[1], s[2], s[3] };
    q_exact(again, scales);
    PRT_UNROLL(4)
    for (size_t k = 0; k < 4; k++)
        r[k] = again[k];
}

/* Requantises four vectors of sums; `column`: the first column of each. */
static inline q_words requantize_four(const int32_t *const sums[4], const size_t column[4],
    const prt_requantize *q)
{ /* q is a copy, so it cannot alias the output */
    q_words s[4], r[4];
    vf scales_f32[4];
    const double *scales[4];
    PRT_UNROLL(4)
    for (size_t k = 0; k < 4; k++) {
        s[k] = q_add(q_load(sums[k]), q_load(q->biases + column[k]));
        scales_f32[k] = v_load(q->scales_f32 + column[k]);
        scales[k] = q->scales + column[k];
    }
    q_numbers(s, scales_f32, scales, r);
    return q_in_order(q_pack_bytes(r, q));
}

/* Rows whose columns do not fill four vectors: takes any four vectors of them at a time. */
static void requantize_slices(size_t rows, size_t columns, const int32_t *sums,
    const prt_requantize *q, uint8_t *y, size_t ldy)
{
    const size_t slices = (columns + Q_LANES - 1) / Q_LANES, total = rows * slices;
    const prt_requantize own = *q;
    for (size_t v = 0, row = 0, slice = 0; v < total; v += 4) {
        const int32_t *from[4];
        size_t column[4];
        uint8_t *to[4], bytes[Q_ALL];
        const size_t here = total - v < 4 ? total - v : 4;
        for (size_t k = 0; k < 4; k++) {
            column[k] = slice * Q_LANES;
            from[k] = sums + row * PRT_GEMM_PANEL + column[k];
            to[k] = y + row * ldy + column[k];
            if (k + 1 < here && ++slice == slices) {
                slice = 0;
                row++;
            }
        }
        if (++slice == slices) {
            slice = 0;
            row++;
        }
        q_store(bytes, requantize_four(from, column, &own));
        for (size_t k = 0; k < here; k++) {
            const size_t left = columns - column[k];
            if (left >= Q_LANES)
                memcpy(to[k], bytes + k * Q_LANES, Q_LANES);
            else
                memcpy(to[k], bytes + k * Q_LANES, left);
        }
    }
}

static inline void run_requantize_sums(size_t rows, size_t columns, const int32_t *sums,
    const prt_requantize *q, uint8_t *y, size_t ldy)
{
    const prt_requantize own = *q;
    if (!q->fits_int32) {
        for (size_t i = 0; i < rows; i++)
            requantize_rest(columns, sums + i * PRT_GEMM_PANEL, q, y + i * ldy);
        return;
    }
    if (columns % Q_ALL != 0) {
        requantize_slices(rows, columns, sums, q, y, ldy);
        return;
    }
    for (size_t i = 0; i < rows; i++, sums += PRT_GEMM_PANEL, y += ldy)
        for (size_t j = 0; j < columns; j += Q_ALL) {
            const size_t column[4] = { j, j + Q_LANES, j + 2 * Q_LANES, j + 3 * Q_LANES };
            const int32_t *const from[4] = { sums + j, sums + column[1], sums + column[2],
                sums + column[3] };
            q_store(y + j, requantize_four(from, column, &own));
        }
}

static inline vf open_side(const prt_byte_side *s, size_t i)
{
    return v_mul(v_sub(q_open(s->x + i, s->sign), v_set(s->zero)), v_set(s->scale));
}

/* Adds or multiplies whole groups of four vectors; returns the number of elements. Values far out
 * of range, and NaN, are clamped first, so that they fit int32. */
static inline size_t add_vectors(const prt_add_bytes *g)
{
    const prt_requantize q = { .zero = (double)g->zero, .low = g->sign ? -128 : 0 };
    const prt_byte_side a = g->a, b = g->b;
    const vf scale = v_set(g->scale);
    size_t i = 0;
    for (; g->n - i >= Q_ALL; i += Q_ALL) {
        q_words r[4];
        PRT_UNROLL(4)
        for (size_t k = 0; k < 4; k++) {
            const size_t at = i + k * Q_LANES;
            const vf left = open_side(&a, at), right = open_side(&b, at);
            const vf v = v_div(g->multiply ? v_mul(left, right) : v_add(left, right), scale);
            r[k] = q_round(v_min(v_set(4096.0f), v_max(v, v_set(-4096.0f))));
        }
        q_store(g->y + i, q_in_order(q_pack_bytes(r, &q)));
    }
    return i;
}
#else
static inline size_t add_vectors(const prt_add_bytes *g)
{
    (void)g;
    return 0;
}

static inline void run_requantize_sums(size_t rows, size_t columns, const int32_t *sums,
    const prt_requantize *q, uint8_t *y, size_t ldy)
{
    for (size_t i = 0; i < rows; i++)
        requantize_rest(columns, sums + i * PRT_GEMM_PANEL, q, y + i * ldy);
}
#endif

#endif
