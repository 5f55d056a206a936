/* SPDX-License-Identifier: MIT */
/* bytes.inl — bytes.h for one level: loops over bytes that the compiler vectorises. */
#ifndef PRT_KERN_INT8_BYTES_INL
#define PRT_KERN_INT8_BYTES_INL

#include <math.h>

#include "kern/int8/bytes.h"
#include "kern/vector/act.inl"
#include "kern/int8/dot4_i8_words.h"
#include "kern/gemm/gemm.h"
#include "kern/int8/requantize.inl"
#include "kern/vector/simd.h"

static void run_pack4(size_t columns, const uint8_t *const *rows, uint32_t flip,
    uint32_t *restrict to)
{
    const uint8_t *restrict a = rows[0], *restrict b = rows[1];
    const uint8_t *restrict c = rows[2], *restrict d = rows[3];
    const size_t width = prt_gemm_width(columns);
    if (columns == PRT_GEMM_PANEL) { /* a compile-time length */
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
static void run_subtract_zeros(size_t n, int32_t *restrict sums, int32_t zero, int32_t row,
    const int32_t *restrict zeros, const int32_t *restrict columns)
{
    for (size_t j = 0; j < n; j++)
        sums[j] = (int32_t)((uint32_t)sums[j] - (uint32_t)zeros[j] * (uint32_t)row -
            (uint32_t)zero * (uint32_t)columns[j]);
}

/* Loads words like floats; the address may be unaligned. */
static inline dot_words some_words(const int32_t *p, size_t at, size_t columns)
{
    return (dot_words)v_load_some((const float *)(const void *)p, at, columns);
}

static void run_finish(const prt_finish *f)
{
    const size_t n = f->columns;
    float low, high;
    const bool bounds = prt_act_bounds(&f->act, &low, &high);
    for (size_t i = 0; i < f->rows; i++) {
        const prt_bytes_by *by = &f->by[i * f->step];
        const int32_t *sums = f->sums + i * f->ldsums;
        const float *residual = f->residual != NULL ? f->residual + i * f->ldr : NULL;
        const dot_words zero = set_words((uint32_t)by->zero);
        const vf scale = v_set(by->scale);
        for (size_t j = 0; j < n; j += VL) {
            dot_words sum = some_words(sums, j, n);
            if (f->column_sums != NULL)
                sum = words_less(sum, zero, some_words(f->column_sums, j, n));
            vf v = v_mul(words_as_floats(sum), v_mul(scale, v_load_some(f->scales, j, n)));
            if (f->bias != NULL)
                v = v_add(v, v_load_some(f->bias, j, n));
            if (residual != NULL)
                v = v_add(v, v_load_some(residual, j, n));
            if (bounds)
                v = v_min(v_set(high), v_max(v_set(low), v));
            v_store_some(f->y + i * f->ldy, j, n, v);
        }
    }
    if (!bounds)
        run_act_rows(&f->act, f->rows, n, f->y, f->ldy, f->y, f->ldy);
}

enum { BYTES_AT_ONCE = 64 };

/* Quantises up to BYTES_AT_ONCE numbers; `y` is written up to a whole half of BYTES_AT_ONCE. Adds
 * the rounded numbers to `sum`, before they are clamped. */
static __attribute__((noinline)) void quantize_some(size_t n, const float *x, vf scale, vf zero,
    bool sign, uint8_t *y, vf *sum)
{
    const vf low = v_set(sign ? -128.0f : 0.0f), high = v_set(sign ? 127.0f : 255.0f);
    float some[BYTES_AT_ONCE];
    for (size_t j = 0; j < n; j += VL) {
        const vf v = v_add(v_round(v_div(v_load_some(x, j, n), scale)), zero);
        *sum = v_add(*sum, v);
        v_store(some + j, v_min(high, v_max(v, low)));
    }
    for (size_t i = 0; i < n; i += BYTES_AT_ONCE / 2)
        for (size_t j = 0; j < BYTES_AT_ONCE / 2; j++) /* a compile-time length */
            y[i + j] = (uint8_t)(int32_t)some[i + j];
}

static void run_quantize(size_t n, const float *x, float scale, float zero, bool sign, uint8_t *y)
{
    const vf s = v_set(scale), z = v_set(zero);
    vf sum = z;
    for (size_t i = 0; i < n; i += BYTES_AT_ONCE) {
        const size_t left = n - i;
        uint8_t bytes[BYTES_AT_ONCE];
        const bool whole = left >= BYTES_AT_ONCE;
        quantize_some(whole ? BYTES_AT_ONCE : left, x + i, s, z, sign, whole ? y + i : bytes, &sum);
        if (!whole)
            memcpy(y + i, bytes, left);
    }
}

/* Returns the even bytes of eight. */
static inline uint32_t blocks_even(uint64_t x)
{
    x &= 0x00ff00ff00ff00ffu;
    x = (x | x >> 8) & 0x0000ffff0000ffffu;
    return (uint32_t)(x | x >> 16);
}

/* Quantises one block and fills up its last eight bytes with zeros. */
static inline void one_block(size_t n, const float *x, uint32_t *to, prt_dot_part *part)
{
    vf most = v_set(0.0f), sum = most;
    for (size_t i = 0; i < n; i += VL)
        most = v_max(v_abs(v_load_some(x, i, n)), most);
    const float largest = v_largest(most), scale = largest == 0.0f ? 1.0f : largest / 127.0f;
    for (size_t i = 0; i < n; i += BYTES_AT_ONCE) {
        const size_t left = n - i, count = left < BYTES_AT_ONCE ? left : BYTES_AT_ONCE;
        uint8_t bytes[BYTES_AT_ONCE];
        quantize_some(count, x + i, v_set(scale), v_set(0.0f), true, bytes, &sum);
        if (count % 8 != 0)
            memset(bytes + count, 0, 8 - count % 8);
        for (size_t j = 0; j < count; j += 8, to += 2) {
            uint64_t eight;
            memcpy(&eight, bytes + j, sizeof(eight));
            to[0] = blocks_even(eight);
            to[1] = blocks_even(eight >> 8);
        }
    }
    const float all = v_sum(sum); /* NaN if an element is not finite */
    *part = (prt_dot_part){ all == all ? scale : NAN, all == all ? (int32_t)all : 0 };
}

static void run_blocks(size_t n, size_t block, const float *x, uint32_t *to, prt_dot_part *parts)
{
    for (; n >= block; n -= block, x += block, to += block / 4, parts++)
        one_block(block, x, to, parts);
    if (n != 0)
        one_block(n, x, to, parts);
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

/* Computes the elements after add_whole, BYTES_AT_ONCE at a time, which stay in L1. */
static void run_add_bytes(const prt_add_bytes *g)
{
    float a[BYTES_AT_ONCE], b[BYTES_AT_ONCE];
    for (size_t i = add_vectors(g); i < g->n; i += BYTES_AT_ONCE) {
        const size_t left = g->n - i, n = left < BYTES_AT_ONCE ? left : BYTES_AT_ONCE;
        run_dequantize(n, g->a.x + i, g->a.sign, g->a.zero, g->a.scale, a);
        run_dequantize(n, g->b.x + i, g->b.sign, g->b.zero, g->b.scale, b);
        for (size_t j = 0; j < n; j++)
            a[j] = g->multiply ? a[j] * b[j] : a[j] + b[j];
        run_quantize(n, a, g->scale, g->zero, g->sign, g->y + i);
    }
}

static void run_max_bytes(size_t n, const uint8_t *restrict x, bool sign, uint8_t *restrict y)
{
    if (sign)
        for (size_t i = 0; i < n; i++)
            y[i] = (int8_t)x[i] > (int8_t)y[i] ? x[i] : y[i];
    else
        for (size_t i = 0; i < n; i++)
            y[i] = x[i] > y[i] ? x[i] : y[i];
}

#if defined(__AVX512F__) && defined(__AVX512DQ__)
/* Looks up words of two bytes by bits 1 to 7 of 32 bytes; `upper`: bytes whose bit 7 is set. */
static inline __m512i look_up_words(const __m512i table[4], __m512i bits, __mmask32 upper)
{
    return _mm512_mask_blend_epi16(upper, _mm512_permutex2var_epi16(table[0], bits, table[1]),
        _mm512_permutex2var_epi16(table[2], bits, table[3]));
}

/* Looks up 64 bytes as 32 words; bit 0 selects a byte of the word. */
static inline size_t look_up_vectors(size_t n, const uint8_t *x, const uint8_t table[256],
    uint8_t *y)
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
static inline size_t look_up_vectors(size_t n, const uint8_t *x, const uint8_t table[256],
    uint8_t *y)
{
    (void)n, (void)x, (void)table, (void)y;
    return 0;
}
#endif

static void run_look_up(size_t n, const uint8_t *x, const uint8_t table[256], uint8_t *y)
{
    for (size_t i = look_up_vectors(n, x, table, y); i < n; i++)
        y[i] = table[x[i]];
}

static void run_dequantize_i32(size_t n, const int32_t *restrict x, double zero, double scale,
    float *restrict y)
{
    for (size_t i = 0; i < n; i++)
        y[i] = (float)(((double)x[i] - zero) * scale);
}

#endif
