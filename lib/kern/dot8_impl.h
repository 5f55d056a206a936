/* SPDX-License-Identifier: MIT */
/*
 * dot8_impl.h — fours of 8 bits: by one instruction where there is one for it; else each byte
 * becomes 16 bits, of which two are multiplied and added at a time, so that nothing saturates.
 */
#ifndef PRT_KERN_DOT8_IMPL_H
#define PRT_KERN_DOT8_IMPL_H

#include <stdbool.h>

#include "kern/dot.h"
#include "kern/simd.h"

#define DOT_PUT put_sums

#if defined(__AVX512F__) && defined(__AVX512DQ__)
static inline void put_sums(const prt_dot_block *g, size_t row, size_t column, __m512i v)
{
    int32_t *to = (int32_t *)g->c + row * g->ldc + column;
    if (column + 16 <= g->columns)
        _mm512_storeu_si512(to, v);
    else if (column < g->columns)
        _mm512_mask_storeu_epi32(to, v_first(g->columns - column), v);
}
#define DOT_SUM __m512i
#define DOT_ZERO _mm512_setzero_si512()
#define DOT_WORD __m512i
#define DOT_LOAD(p) _mm512_loadu_si512(p)
#define DOT_SET(x) _mm512_set1_epi32((int)(x))
#define DOT_LANES 16
#if defined(__AVX512VNNI__)
#define DOT_NAME prt_dot_fours_vnni
#define DOT_STEP(sum, a, b) _mm512_dpbusd_epi32(sum, a, b)
#else
static inline __m512i step_fours(__m512i sum, __m512i a, __m512i b)
{
    const __m512i a0 = _mm512_and_si512(a, _mm512_set1_epi16(255)), a1 = _mm512_srli_epi16(a, 8);
    const __m512i b0 = _mm512_srai_epi16(_mm512_slli_epi16(b, 8), 8), b1 = _mm512_srai_epi16(b, 8);
    return _mm512_add_epi32(sum,
        _mm512_add_epi32(_mm512_madd_epi16(a0, b0), _mm512_madd_epi16(a1, b1)));
}
#define DOT_NAME prt_dot_fours_avx512
#define DOT_STEP(sum, a, b) step_fours(sum, a, b)
#endif

#elif defined(__AVX2__) && defined(__FMA__)
static inline void put_sums(const prt_dot_block *g, size_t row, size_t column, __m256i v)
{
    int32_t *to = (int32_t *)g->c + row * g->ldc + column;
    if (column + 8 <= g->columns)
        _mm256_storeu_si256((void *)to, v);
    else if (column < g->columns)
        _mm256_maskstore_epi32(to, v_first(g->columns - column), v);
}
static inline __m256i step_fours(__m256i sum, __m256i a, __m256i b)
{
    const __m256i a0 = _mm256_and_si256(a, _mm256_set1_epi16(255)), a1 = _mm256_srli_epi16(a, 8);
    const __m256i b0 = _mm256_srai_epi16(_mm256_slli_epi16(b, 8), 8), b1 = _mm256_srai_epi16(b, 8);
    return _mm256_add_epi32(sum,
        _mm256_add_epi32(_mm256_madd_epi16(a0, b0), _mm256_madd_epi16(a1, b1)));
}
#define DOT_SUM __m256i
#define DOT_ZERO _mm256_setzero_si256()
#define DOT_WORD __m256i
#define DOT_LOAD(p) _mm256_loadu_si256((const void *)(p))
#define DOT_SET(x) _mm256_set1_epi32((int)(x))
#define DOT_LANES 8
#define DOT_NAME prt_dot_fours_avx2
#define DOT_STEP(sum, a, b) step_fours(sum, a, b)

#else
typedef uint32_t dot_words __attribute__((vector_size(16)));

static inline dot_words load_words(const uint32_t *p)
{
    dot_words v;
    memcpy(&v, p, sizeof(v));
    return v;
}
static inline void put_sums(const prt_dot_block *g, size_t row, size_t column, dot_words v)
{
    uint32_t *to = (uint32_t *)g->c + row * g->ldc + column;
    for (size_t i = 0; i < 4 && column + i < g->columns; i++)
        to[i] = v[i];
}
/* Sums wrap, so they are unsigned; bytes of B are moved up and down again to get their sign. */
static inline dot_words step_fours(dot_words sum, dot_words a, dot_words b)
{
    sum += (a & 255u) * (dot_words)((vm)(b << 24) >> 24);
    sum += (a >> 8 & 255u) * (dot_words)((vm)(b << 16) >> 24);
    sum += (a >> 16 & 255u) * (dot_words)((vm)(b << 8) >> 24);
    return sum + (a >> 24) * (dot_words)((vm)b >> 24);
}
#define DOT_SUM dot_words
#define DOT_ZERO (dot_words){ 0 }
#define DOT_WORD dot_words
#define DOT_LOAD(p) load_words(p)
#define DOT_SET(x) (dot_words){ x, x, x, x }
#define DOT_LANES 4
#define DOT_NAME prt_dot_fours_portable
#define DOT_STEP(sum, a, b) step_fours(sum, a, b)
#endif

#include "kern/dot_impl.h"

#endif
