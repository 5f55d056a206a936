/* SPDX-License-Identifier: MIT */
/*
 * dot4_i8_words.h — words of four bytes, and sums of their products: by VNNI if available,
 * otherwise by 16-bit products, added in pairs, which cannot saturate.
 */
#ifndef PRT_KERN_INT8_DOT4_I8_WORDS_H
#define PRT_KERN_INT8_DOT4_I8_WORDS_H

#include "kern/vector/simd.h"

#if defined(__AVX512F__) && defined(__AVX512DQ__)
typedef int32_t dot_words __attribute__((vector_size(64)));
#define DOT8_LANES 16

static inline dot_words zero_words(void)
{
    return (dot_words)_mm512_setzero_si512();
}
static inline dot_words load_words(const uint32_t *p)
{
    return (dot_words)_mm512_loadu_si512(p);
}
static inline dot_words set_words(uint32_t x)
{
    return (dot_words)_mm512_set1_epi32((int)x);
}
static inline void store_words(int32_t *to, dot_words v)
{
    _mm512_storeu_si512(to, (__m512i)v);
}
static inline vf words_as_floats(dot_words v)
{
    return _mm512_cvtepi32_ps((__m512i)v);
}
/* a's bytes are unsigned, b's signed. */
#if defined(__AVX512VNNI__)
static inline dot_words step_dot4(dot_words sum, dot_words a, dot_words b)
{
    return (dot_words)_mm512_dpbusd_epi32((__m512i)sum, (__m512i)a, (__m512i)b);
}
#define DOT8_NAME(name) name##_vnni
#else
static inline dot_words step_dot4(dot_words sum, dot_words a, dot_words b)
{
    const __m512i a0 = _mm512_and_si512((__m512i)a, _mm512_set1_epi16(255));
    const __m512i a1 = _mm512_srli_epi16((__m512i)a, 8);
    const __m512i b0 = _mm512_srai_epi16(_mm512_slli_epi16((__m512i)b, 8), 8);
    const __m512i b1 = _mm512_srai_epi16((__m512i)b, 8);
    return (dot_words)_mm512_add_epi32((__m512i)sum,
        _mm512_add_epi32(_mm512_madd_epi16(a0, b0), _mm512_madd_epi16(a1, b1)));
}
#define DOT8_NAME(name) name##_avx512
#endif

#elif defined(__AVX2__) && defined(__FMA__)
typedef int32_t dot_words __attribute__((vector_size(32)));
#define DOT8_LANES 8
#define DOT8_NAME(name) name##_avx2

static inline dot_words zero_words(void)
{
    return (dot_words)_mm256_setzero_si256();
}
static inline dot_words load_words(const uint32_t *p)
{
    return (dot_words)_mm256_loadu_si256((const void *)p);
}
static inline dot_words set_words(uint32_t x)
{
    return (dot_words)_mm256_set1_epi32((int)x);
}
static inline void store_words(int32_t *to, dot_words v)
{
    _mm256_storeu_si256((void *)to, (__m256i)v);
}
static inline vf words_as_floats(dot_words v)
{
    return _mm256_cvtepi32_ps((__m256i)v);
}
static inline dot_words step_dot4(dot_words sum, dot_words a, dot_words b)
{
    const __m256i a0 = _mm256_and_si256((__m256i)a, _mm256_set1_epi16(255));
    const __m256i a1 = _mm256_srli_epi16((__m256i)a, 8);
    const __m256i b0 = _mm256_srai_epi16(_mm256_slli_epi16((__m256i)b, 8), 8);
    const __m256i b1 = _mm256_srai_epi16((__m256i)b, 8);
    return (dot_words)_mm256_add_epi32((__m256i)sum,
        _mm256_add_epi32(_mm256_madd_epi16(a0, b0), _mm256_madd_epi16(a1, b1)));
}

#else
typedef uint32_t dot_words __attribute__((vector_size(16)));
#define DOT8_LANES 4
#define DOT8_NAME(name) name##_portable

static inline dot_words zero_words(void)
{
    return (dot_words){ 0 };
}
static inline dot_words load_words(const uint32_t *p)
{
    dot_words v;
    memcpy(&v, p, sizeof(v));
    return v;
}
static inline dot_words set_words(uint32_t x)
{
    return (dot_words){ x, x, x, x };
}
static inline void store_words(int32_t *to, dot_words v)
{
    memcpy(to, &v, sizeof(v));
}
static inline vf words_as_floats(dot_words v)
{
    return __builtin_convertvector((vm)v, vf);
}
/* Unsigned, since sums wrap. Shifting up and down extends the sign of b's bytes. */
static inline dot_words step_dot4(dot_words sum, dot_words a, dot_words b)
{
    sum += (a & 255u) * (dot_words)((vm)(b << 24) >> 24);
    sum += (a >> 8 & 255u) * (dot_words)((vm)(b << 16) >> 24);
    sum += (a >> 16 & 255u) * (dot_words)((vm)(b << 8) >> 24);
    return sum + (a >> 24) * (dot_words)((vm)b >> 24);
}
#endif

/* a - b c, each of 32 bits, modulo 2^32 */
typedef uint32_t dot_unsigned __attribute__((vector_size(sizeof(dot_words))));

static inline dot_words words_less(dot_words a, dot_words b, dot_words c)
{
    return (dot_words)((dot_unsigned)a - (dot_unsigned)b * (dot_unsigned)c);
}

#endif
