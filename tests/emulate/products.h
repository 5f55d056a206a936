/* SPDX-License-Identifier: MIT */
/* products.h — sums of products of 8 bits and of bfloat16, in registers and in tiles; see
 * immintrin.h. */
#ifndef PRT_EMULATE_PRODUCTS_H
#define PRT_EMULATE_PRODUCTS_H

#include "registers.h"

EMU __m512i emu_dpbusd_epi32(__m512i sum, __m512i a, __m512i b)
{
    const emu x = { .i = a }, y = { .i = b };
    emu r = { .i = sum };
    EMU_EACH(h, 2)
    {
        const __m256i low = _mm256_set1_epi16(255);
        const __m256i even = _mm256_madd_epi16(_mm256_and_si256(x.hi[h], low),
            _mm256_srai_epi16(_mm256_slli_epi16(y.hi[h], 8), 8));
        const __m256i odd =
            _mm256_madd_epi16(_mm256_srli_epi16(x.hi[h], 8), _mm256_srai_epi16(y.hi[h], 8));
        r.hi[h] = _mm256_add_epi32(r.hi[h], _mm256_add_epi32(even, odd));
    }
    return r.i;
}

/* Keeps the upper 16 bits as a bfloat16; numbers below the normal range become 0. */
EMU __m256 emu_normal(__m256 v)
{
    const __m256 sign = _mm256_set1_ps(-0.0f), size = _mm256_andnot_ps(sign, v);
    const __m256 small = _mm256_cmp_ps(size, _mm256_set1_ps(0x1p-126f), _CMP_LT_OQ);
    return _mm256_andnot_ps(_mm256_andnot_ps(sign, small), v);
}
EMU __m256 emu_even(__m256i pairs)
{
    return emu_normal((__m256)_mm256_slli_epi32(pairs, 16));
}
EMU __m256 emu_odd(__m256i pairs)
{
    return emu_normal((__m256)_mm256_and_si256(pairs, _mm256_set1_epi32((int)0xffff0000)));
}
EMU __m512 emu_dpbf16_ps(__m512 sum, __m512bh a, __m512bh b)
{
    const emu x = { .i = (__m512i)a }, y = { .i = (__m512i)b };
    emu r = { .s = sum };
    EMU_EACH(h, 2)
    {
        __m256 v = emu_normal(r.hs[h]);
        v = emu_normal(_mm256_fmadd_ps(emu_odd(x.hi[h]), emu_odd(y.hi[h]), v));
        r.hs[h] = emu_normal(_mm256_fmadd_ps(emu_even(x.hi[h]), emu_even(y.hi[h]), v));
    }
    return r.s;
}
/* Rounds to nearest, ties to even; the elements of b come first. */
EMU __m512bh emu_cvtne2ps_pbh(__m512 a, __m512 b)
{
    const emu x[2] = { { .s = b }, { .s = a } };
    emu r;
    EMU_EACH(i, 32)
    {
        const float v = x[i / 16].f32[i % 16];
        const uint32_t bits = x[i / 16].u32[i % 16];
        r.u16[i] = (uint16_t)(isnan(v)     ? bits >> 16 | 0x40
                : (bits & 0x7f800000) == 0 ? bits >> 16 & 0x8000
                                           : (bits + 0x7fff + (bits >> 16 & 1)) >> 16);
    }
    return (__m512bh)r.i;
}

/* ---- tiles ---- */

typedef struct emu_tiles {
    uint8_t palette, start_row, reserved[14];
    uint16_t bytes[16];
    uint8_t rows[16];
    emu row[8][16];
} emu_tiles;

static __thread emu_tiles emu_t;

/* Traps, as the processor does, if a tile is not configured or two tiles do not match. */
EMU void emu_demand(int right)
{
    if (!right)
        __builtin_trap();
}
static inline void emu_tile_loadconfig(const void *p)
{
    memset(&emu_t, 0, sizeof(emu_t));
    memcpy(&emu_t, p, 64);
    emu_demand(emu_t.palette == 1 && emu_t.start_row == 0);
    EMU_EACH(t, 8)
    emu_demand(emu_t.rows[t] <= 16 && emu_t.bytes[t] <= 64 &&
        (emu_t.rows[t] == 0) == (emu_t.bytes[t] == 0));
}
static inline void emu_tile_release(void)
{
    memset(&emu_t, 0, sizeof(emu_t));
}
static inline void emu_tile_zero(int t)
{
    emu_demand(emu_t.rows[t] != 0);
    memset(emu_t.row[t], 0, sizeof(emu_t.row[t]));
}
static inline void emu_tile_loadd(int t, const void *p, size_t stride)
{
    emu_tile_zero(t);
    EMU_EACH(i, emu_t.rows[t])
    memcpy(&emu_t.row[t][i], (const char *)p + (size_t)i * stride, emu_t.bytes[t]);
}
static inline void emu_tile_stored(int t, void *p, size_t stride)
{
    emu_demand(emu_t.rows[t] != 0);
    EMU_EACH(i, emu_t.rows[t])
    memcpy((char *)p + (size_t)i * stride, &emu_t.row[t][i], emu_t.bytes[t]);
}
static inline void emu_tile_fit(int c, int a, int b)
{
    emu_demand(c != a && a != b && b != c && emu_t.rows[c] != 0 && emu_t.rows[c] == emu_t.rows[a] &&
        emu_t.bytes[c] == emu_t.bytes[b] && emu_t.bytes[a] == emu_t.rows[b] * 4);
}
static inline void emu_tile_dpbusd(int c, int a, int b)
{
    emu_tile_fit(c, a, b);
    EMU_EACH(i, emu_t.rows[c])
    EMU_EACH(k, emu_t.rows[b])
    emu_t.row[c][i].i = emu_dpbusd_epi32(emu_t.row[c][i].i, emu_set1_epi32(emu_t.row[a][i].i32[k]),
        emu_t.row[b][k].i);
}
/* Even and odd elements have separate sums, which are added at the end. */
static inline void emu_tile_dpbf16ps(int c, int a, int b)
{
    emu_tile_fit(c, a, b);
    EMU_EACH(i, emu_t.rows[c])
    EMU_EACH(h, 2)
    {
        __m256 even = _mm256_setzero_ps(), odd = even;
        EMU_EACH(k, emu_t.rows[b])
        {
            const __m256i x = _mm256_set1_epi32(emu_t.row[a][i].i32[k]);
            const __m256i y = emu_t.row[b][k].hi[h];
            even = emu_normal(_mm256_fmadd_ps(emu_even(x), emu_even(y), even));
            odd = emu_normal(_mm256_fmadd_ps(emu_odd(x), emu_odd(y), odd));
        }
        emu_t.row[c][i].hs[h] =
            emu_normal(_mm256_add_ps(emu_normal(emu_t.row[c][i].hs[h]), _mm256_add_ps(even, odd)));
    }
}

#endif
