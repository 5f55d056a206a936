/* SPDX-License-Identifier: MIT */
/* bytes_impl.h — loops over bytes, which compilers turn into vectors. */
#ifndef PRT_KERN_BYTES_IMPL_H
#define PRT_KERN_BYTES_IMPL_H

#include "kern/bytes.h"
#include "kern/gemm.h"
#include "kern/requantize_impl.h"
#include "kern/simd.h"

static void run_fours(size_t columns, const uint8_t *const *rows, uint32_t flip,
    uint32_t *restrict to)
{
    const uint8_t *restrict a = rows[0], *restrict b = rows[1];
    const uint8_t *restrict c = rows[2], *restrict d = rows[3];
    const size_t width = prt_gemm_width(columns);
    if (columns == PRT_GEMM_PANEL) { /* a length that is known */
        for (size_t j = 0; j < PRT_GEMM_PANEL; j++)
            to[j] = ((uint32_t)a[j] | (uint32_t)b[j] << 8 | (uint32_t)c[j] << 16 |
                        (uint32_t)d[j] << 24) ^ flip;
        return;
    }
    for (size_t j = 0; j < columns; j++)
        to[j] = ((uint32_t)a[j] | (uint32_t)b[j] << 8 | (uint32_t)c[j] << 16 |
                    (uint32_t)d[j] << 24) ^ flip;
    for (size_t j = columns; j < width; j++)
        to[j] = 0;
}

static void run_row(size_t n, const uint8_t *restrict x, uint8_t flip, uint8_t *restrict to)
{
    for (size_t i = 0; i < n; i++)
        to[i] = x[i] ^ flip;
    for (size_t i = n; i % 4 != 0; i++)
        to[i] = 0;
}

static uint32_t sum_bytes(size_t n, const uint8_t *x)
{
    uint32_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += x[i];
    return sum;
}

/* Unsigned, so that sums wrap. */
static void run_settle(size_t n, int32_t *restrict sums, int32_t zero, int32_t row,
    const int32_t *restrict zeros, const int32_t *restrict columns)
{
    for (size_t j = 0; j < n; j++)
        sums[j] = (int32_t)((uint32_t)sums[j] - (uint32_t)zeros[j] * (uint32_t)row -
            (uint32_t)zero * (uint32_t)columns[j]);
}

static void run_scale_sums(size_t n, const int32_t *restrict sums, float by,
    const float *restrict scales, const float *restrict bias, float *restrict y)
{
    for (size_t j = 0; j < n; j++)
        y[j] = (float)sums[j] * (by * scales[j]);
    for (size_t j = 0; bias != NULL && j < n; j++)
        y[j] += bias[j];
}

enum { BYTES_AT_ONCE = 64 };

static void run_quantize(size_t n, const float *x, float scale, float zero, bool sign, uint8_t *y)
{
    const vf s = v_set(scale), z = v_set(zero);
    const vf low = v_set(sign ? -128.0f : 0.0f), high = v_set(sign ? 127.0f : 255.0f);
    float some[BYTES_AT_ONCE];
    for (size_t i = 0; i < n; i += BYTES_AT_ONCE) {
        const size_t left = n - i, count = left < BYTES_AT_ONCE ? left : BYTES_AT_ONCE;
        for (size_t j = 0; j < count; j += VL) {
            const vf v = v_add(v_round(v_div(v_load_some(x + i, j, count), s)), z);
            v_store(some + j, v_min(high, v_max(v, low)));
        }
        if (count == BYTES_AT_ONCE)
            for (size_t j = 0; j < BYTES_AT_ONCE; j++)
                y[i + j] = (uint8_t)(int32_t)some[j];
        for (size_t j = 0; count != BYTES_AT_ONCE && j < count; j++)
            y[i + j] = (uint8_t)(int32_t)some[j];
    }
}

static void run_dequantize(size_t n, const uint8_t *restrict x, bool sign, float zero, float scale,
    float *restrict y)
{
    if (sign)
        for (size_t i = 0; i < n; i++)
            y[i] = ((float)(int8_t)x[i] - zero) * scale;
    else
        for (size_t i = 0; i < n; i++)
            y[i] = ((float)x[i] - zero) * scale;
}

/* What is left, some at a time, which stay in the first cache level. */
static void run_add_bytes(const prt_add_bytes *g)
{
    float a[BYTES_AT_ONCE], b[BYTES_AT_ONCE];
    for (size_t i = add_whole(g); i < g->n; i += BYTES_AT_ONCE) {
        const size_t left = g->n - i, n = left < BYTES_AT_ONCE ? left : BYTES_AT_ONCE;
        run_dequantize(n, g->a.x + i, g->a.sign, g->a.zero, g->a.scale, a);
        run_dequantize(n, g->b.x + i, g->b.sign, g->b.zero, g->b.scale, b);
        for (size_t j = 0; j < n; j++)
            a[j] = g->multiply ? a[j] * b[j] : a[j] + b[j];
        run_quantize(n, a, g->scale, g->zero, g->sign, g->y + i);
    }
}

static void run_larger(size_t n, const uint8_t *restrict x, bool sign, uint8_t *restrict y)
{
    if (sign)
        for (size_t i = 0; i < n; i++)
            y[i] = (int8_t)x[i] > (int8_t)y[i] ? x[i] : y[i];
    else
        for (size_t i = 0; i < n; i++)
            y[i] = x[i] > y[i] ? x[i] : y[i];
}

#if defined(__AVX512F__) && defined(__AVX512DQ__)
/* Words of two bytes out of the halves of the table, by bits 1 to 7 of 32 bytes; `upper`: whose bit
 * 7 is set. */
static inline __m512i look_up_words(const __m512i table[4], __m512i bits, __mmask32 upper)
{
    return _mm512_mask_blend_epi16(upper, _mm512_permutex2var_epi16(table[0], bits, table[1]),
        _mm512_permutex2var_epi16(table[2], bits, table[3]));
}

/* 64 bytes as 32 words; bit 0 says which byte of a word is the one. */
static inline size_t look_up_whole(size_t n, const uint8_t *x, const uint8_t table[256], uint8_t *y)
{
    const __m512i all[4] = { _mm512_loadu_si512(table), _mm512_loadu_si512(table + 64),
        _mm512_loadu_si512(table + 128), _mm512_loadu_si512(table + 192) };
    const __m512i low = _mm512_set1_epi16(0xff), eight = _mm512_set1_epi16(8);
    size_t i = 0;
    for (; n - i >= 64; i += 64) {
        const __m512i v = _mm512_loadu_si512(x + i);
        const __m512i even = _mm512_and_si512(_mm512_slli_epi16(v, 3), eight);
        const __m512i odd = _mm512_and_si512(_mm512_srli_epi16(v, 5), eight);
        const __m512i a = look_up_words(all, _mm512_srli_epi16(_mm512_and_si512(v, low), 1),
            _mm512_test_epi16_mask(v, _mm512_set1_epi16(0x80)));
        const __m512i b = look_up_words(all, _mm512_srli_epi16(v, 9), _mm512_movepi16_mask(v));
        _mm512_storeu_si512(y + i,
            _mm512_or_si512(_mm512_and_si512(_mm512_srlv_epi16(a, even), low),
                _mm512_slli_epi16(_mm512_srlv_epi16(b, odd), 8)));
    }
    return i;
}
#else
static inline size_t look_up_whole(size_t n, const uint8_t *x, const uint8_t table[256], uint8_t *y)
{
    (void)n, (void)x, (void)table, (void)y;
    return 0;
}
#endif

static void run_look_up(size_t n, const uint8_t *x, const uint8_t table[256], uint8_t *y)
{
    for (size_t i = look_up_whole(n, x, table, y); i < n; i++)
        y[i] = table[x[i]];
}

static void run_dequantize_i32(size_t n, const int32_t *restrict x, double zero, double scale,
    float *restrict y)
{
    for (size_t i = 0; i < n; i++)
        y[i] = (float)(((double)x[i] - zero) * scale);
}

#endif
