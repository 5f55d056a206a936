/* SPDX-License-Identifier: MIT */
/* widen.inl — widens elements of low-precision panels to vectors of floats. */
#ifndef PRT_KERN_GEMM_WIDEN_INL
#define PRT_KERN_GEMM_WIDEN_INL

#include "kern/gemm/low_precision.h"
#include "kern/vector/simd.h"
#include "num/half.h"

/* The functions widen VL elements from element `at` on. 8-bit floats come out smaller: see
 * lp_factor. */

/* Shifts that move exponent and mantissa of an 8-bit float to their position in a float. A
 * multiplication corrects the exponent; it also handles subnormal numbers. */
enum { LP_e4m3 = 20, LP_e5m2 = 21 };

static inline int lp_shift(int kind)
{
    return kind == PRT_LOW_PRECISION_e4m3 ? LP_e4m3 : LP_e5m2;
}

/* Returns the mask of these bits. */
static inline int lp_bits(int shift)
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
        _mm512_set1_epi32(lp_bits(shift)));
    return _mm512_mul_ps(_mm512_castsi512_ps(bits), _mm512_set1_ps(0x1p112f));
}
#define LP_QUADS 1
static inline void widen_quads(const void *b, int shift, vf to[4])
{
    const __m512i x = _mm512_loadu_si512(b), half = _mm512_set1_epi32(lp_bits(shift));
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
/* Eight rows of 4-bit integers, VL columns; eight_row returns the row that a step gives. */
typedef __m512i lp_eight;
static inline lp_eight eight_load(const void *b, size_t at)
{
    return _mm512_loadu_si512((const uint32_t *)b + at);
}
static inline vf eight_next(lp_eight *x)
{
    const vf numbers = _mm512_setr_ps(0.0f, 1.0f, 2.0f, 3.0f, 4.0f, 5.0f, 6.0f, 7.0f, -8.0f, -7.0f,
        -6.0f, -5.0f, -4.0f, -3.0f, -2.0f, -1.0f);
    const vf row = _mm512_permutexvar_ps(*x, numbers);
    *x = _mm512_srli_epi32(*x, 4);
    return row;
}
static inline size_t eight_row(size_t step)
{
    return step;
}
/* Widens two rows: VL pairs from pair `at` on. */
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
        _mm256_and_si256(_mm256_slli_epi32(x, shift), _mm256_set1_epi32(lp_bits(shift)));
    return _mm256_mul_ps(_mm256_castsi256_ps(bits), _mm256_set1_ps(0x1p112f));
}
#define LP_QUADS 1
static inline void widen_quads(const void *b, int shift, vf to[4])
{
    const __m256i x = _mm256_loadu_si256(b), half = _mm256_set1_epi32(lp_bits(shift));
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
typedef __m256i lp_eight;
static inline lp_eight eight_load(const void *b, size_t at)
{
    return _mm256_loadu_si256((const void *)((const uint32_t *)b + at));
}
static inline vf eight_next(lp_eight *x)
{
    const vf row = _mm256_cvtepi32_ps(_mm256_srai_epi32(*x, 28));
    *x = _mm256_slli_epi32(*x, 4);
    return row;
}
static inline size_t eight_row(size_t step)
{
    return PRT_LOW_PRECISION_I4_ROWS - 1 - step;
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
    return (vf)(x << shift & lp_bits(shift)) * 0x1p112f;
}
static inline vf widen_i8(const void *b, size_t at)
{
    const int8_t *p = (const int8_t *)b + at;
    return (vf){ (float)p[0], (float)p[1], (float)p[2], (float)p[3] };
}
typedef vm lp_eight;
static inline lp_eight eight_load(const void *b, size_t at)
{
    vm x;
    memcpy(&x, (const uint32_t *)b + at, sizeof(x));
    return x;
}
static inline vf eight_next(lp_eight *x)
{
    const vf row = __builtin_convertvector(*x >> 28, vf);
    *x <<= 4;
    return row;
}
static inline size_t eight_row(size_t step)
{
    return PRT_LOW_PRECISION_I4_ROWS - 1 - step;
}
static inline void widen_pairs(const void *b, size_t at, vf *even, vf *odd)
{
    vm x;
    memcpy(&x, (const uint32_t *)b + at, sizeof(x));
    *even = (vf)(x << 16);
    *odd = (vf)(x & (vm){ INT32_MIN >> 15, INT32_MIN >> 15, INT32_MIN >> 15, INT32_MIN >> 15 });
}
#endif

#endif
