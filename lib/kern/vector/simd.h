/* SPDX-License-Identifier: MIT */
/*
 * simd.h — a vector of floats as wide as the instruction set that a file is compiled for: 16 with
 * AVX-512, 8 with AVX2 and FMA, 4 otherwise (SSE2 or NEON through the compiler's vector extension).
 * Kernel families are written once in terms of it (NAME.inl), and compiled once for each level
 * (level_*.c): a level is a set of compiler flags, not a copy of the code.
 */
#ifndef PRT_KERN_VECTOR_SIMD_H
#define PRT_KERN_VECTOR_SIMD_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/loops.h"

/* Aligns a function to a cache line. Its short loops lose up to a tenth of their speed if they
 * cross lines of the instruction cache. */
#define PRT_AT_LINE __attribute__((aligned(64)))

#if defined(__AVX512F__) && defined(__AVX512DQ__)
#include <immintrin.h>
#define PRT_LEVEL(name) name##_avx512
#define PRT_LEVEL_NAME "avx512"

enum { VL = 16 };
typedef __m512 vf;
typedef __mmask16 vm;

static inline __mmask16 v_first(size_t n)
{
    return (__mmask16)((1u << n) - 1u);
}
static inline vf v_load(const float *p)
{
    return _mm512_loadu_ps(p);
}
static inline void v_store(float *p, vf v)
{
    _mm512_storeu_ps(p, v);
}
/* Non-temporal store to an aligned address; v_fence ends a sequence of them. */
static inline void v_stream(float *p, vf v)
{
    _mm512_stream_ps(p, v);
}
static inline void v_fence(void)
{
    _mm_sfence();
}
/* The first n (at most VL) elements; the others read as 0 and are not written. */
static inline vf v_load_n(const float *p, size_t n)
{
    return _mm512_maskz_loadu_ps(v_first(n), p);
}
static inline void v_store_n(float *p, vf v, size_t n)
{
    _mm512_mask_storeu_ps(p, v_first(n), v);
}
static inline vf v_set(float x)
{
    return _mm512_set1_ps(x);
}
static inline vf v_add(vf a, vf b)
{
    return _mm512_add_ps(a, b);
}
static inline vf v_sub(vf a, vf b)
{
    return _mm512_sub_ps(a, b);
}
static inline vf v_mul(vf a, vf b)
{
    return _mm512_mul_ps(a, b);
}
static inline vf v_div(vf a, vf b)
{
    return _mm512_div_ps(a, b);
}
static inline vf v_fma(vf a, vf b, vf c)
{
    return _mm512_fmadd_ps(a, b, c);
}
/* Return the second operand if either is NaN. */
static inline vf v_min(vf a, vf b)
{
    return _mm512_min_ps(a, b);
}
static inline vf v_max(vf a, vf b)
{
    return _mm512_max_ps(a, b);
}
static inline vf v_sqrt(vf a)
{
    return _mm512_sqrt_ps(a);
}
static inline vf v_abs(vf a)
{
    return _mm512_abs_ps(a);
}
/* Rounds to an integer, halves to even. */
static inline vf v_round(vf a)
{
    return _mm512_roundscale_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
static inline vm v_less(vf a, vf b)
{
    return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ);
}
static inline vm v_equal(vf a, vf b)
{
    return _mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ);
}
static inline vf v_neg(vf a)
{
    return _mm512_xor_ps(a, _mm512_set1_ps(-0.0f));
}
static inline vf v_select(vm m, vf a, vf b)
{
    return _mm512_mask_blend_ps(m, b, a);
}
/* Returns a with the sign of b. */
static inline vf v_copysign(vf a, vf b)
{
    const vf sign = _mm512_set1_ps(-0.0f);
    return _mm512_or_ps(_mm512_andnot_ps(sign, a), _mm512_and_ps(sign, b));
}
/* Returns 2^(n/16) for t = n + 3 * 2^22, n from -2032 to 2047. Table entries compensate the bits
 * that shifting n leaves below the exponent. */
#define V_ROOTS 16
static inline vf v_root(vf t)
{
    const __m512i table = _mm512_setr_epi32(0x3f800000, 0x3f7daac3, 0x3f7b95c2, 0x3f79c3d3,
        0x3f7837f0, 0x3f76f532, 0x3f75fed7, 0x3f75583f, 0x3f7504f3, 0x3f7508a4, 0x3f75672a,
        0x3f76248c, 0x3f7744fd, 0x3f78ccdf, 0x3f7ac0c7, 0x3f7d257d);
    const __m512i bits = _mm512_castps_si512(t), power = _mm512_permutexvar_epi32(bits, table);
    return _mm512_castsi512_ps(_mm512_add_epi32(power, _mm512_slli_epi32(bits, 19)));
}
/* Returns 2^(n/32), n from -4064 to 4095, in the same way. */
#define V_THIRTYSECONDS 1
static inline vf v_thirtyseconds(vf t)
{
    const __m512i low = _mm512_setr_epi32(0x3f800000, 0x3f7ecd87, 0x3f7daac3, 0x3f7c980f,
        0x3f7b95c2, 0x3f7aa43a, 0x3f79c3d3, 0x3f78f4f0, 0x3f7837f0, 0x3f778d3a, 0x3f76f532,
        0x3f767043, 0x3f75fed7, 0x3f75a15b, 0x3f75583f, 0x3f7523f6);
    const __m512i high = _mm512_setr_epi32(0x3f7504f3, 0x3f74fbaf, 0x3f7508a4, 0x3f752c4d,
        0x3f75672a, 0x3f75b9be, 0x3f76248c, 0x3f76a81e, 0x3f7744fd, 0x3f77fbb8, 0x3f78ccdf,
        0x3f79b907, 0x3f7ac0c7, 0x3f7be4ba, 0x3f7d257d, 0x3f7e83b3);
    const __m512i bits = _mm512_castps_si512(t);
    const __m512i power = _mm512_permutex2var_epi32(low, bits, high);
    return _mm512_castsi512_ps(_mm512_add_epi32(power, _mm512_slli_epi32(bits, 18)));
}
/* Returns a * 2^n, |n| up to 300. */
static inline vf v_scale2(vf a, vf n)
{
    return _mm512_scalef_ps(a, n);
}
/* Returns 1 / a with 14 bits, for a normal a; a division takes as long as a dozen other
 * operations. */
#define V_RECIPROCAL 1
static inline vf v_reciprocal(vf a)
{
    return _mm512_rcp14_ps(a);
}
/* c - a b */
static inline vf v_fnma(vf a, vf b, vf c)
{
    return _mm512_fnmadd_ps(a, b, c);
}
/* Splits a finite a > 0 into a result in [0.75, 1.5) and an exponent: a = result * 2^*n. */
static inline vf v_split(vf a, vf *n)
{
    const vf m = _mm512_getmant_ps(a, _MM_MANT_NORM_p75_1p5, _MM_MANT_SIGN_src);
    *n = _mm512_sub_ps(_mm512_getexp_ps(a), _mm512_getexp_ps(m));
    return m;
}
/* Interleaves a and b: the first VL elements, and the others. */
static inline void v_zip(vf a, vf b, vf *low, vf *high)
{
    const __m512i first = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    const __m512i other =
        _mm512_setr_epi32(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
    *low = _mm512_permutex2var_ps(a, first, b);
    *high = _mm512_permutex2var_ps(a, other, b);
}
static inline float v_sum(vf a)
{
    return _mm512_reduce_add_ps(a);
}
static inline float v_largest(vf a)
{
    return _mm512_reduce_max_ps(a);
}

#elif defined(__AVX2__) && defined(__FMA__)
#include <immintrin.h>
#define PRT_LEVEL(name) name##_avx2
#define PRT_LEVEL_NAME "avx2"

enum { VL = 8 };
typedef __m256 vf;
typedef __m256 vm;

static inline __m256i v_first(size_t n)
{
    const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    return _mm256_cmpgt_epi32(_mm256_set1_epi32((int)n), lane);
}
static inline vf v_load(const float *p)
{
    return _mm256_loadu_ps(p);
}
static inline void v_store(float *p, vf v)
{
    _mm256_storeu_ps(p, v);
}
static inline void v_stream(float *p, vf v)
{
    _mm256_stream_ps(p, v);
}
static inline void v_fence(void)
{
    _mm_sfence();
}
static inline vf v_load_n(const float *p, size_t n)
{
    return _mm256_maskload_ps(p, v_first(n));
}
static inline void v_store_n(float *p, vf v, size_t n)
{
    _mm256_maskstore_ps(p, v_first(n), v);
}
static inline vf v_set(float x)
{
    return _mm256_set1_ps(x);
}
static inline vf v_add(vf a, vf b)
{
    return _mm256_add_ps(a, b);
}
static inline vf v_sub(vf a, vf b)
{
    return _mm256_sub_ps(a, b);
}
static inline vf v_mul(vf a, vf b)
{
    return _mm256_mul_ps(a, b);
}
static inline vf v_div(vf a, vf b)
{
    return _mm256_div_ps(a, b);
}
static inline vf v_fma(vf a, vf b, vf c)
{
    return _mm256_fmadd_ps(a, b, c);
}
static inline vf v_min(vf a, vf b)
{
    return _mm256_min_ps(a, b);
}
static inline vf v_max(vf a, vf b)
{
    return _mm256_max_ps(a, b);
}
static inline vf v_sqrt(vf a)
{
    return _mm256_sqrt_ps(a);
}
static inline vf v_abs(vf a)
{
    return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), a);
}
static inline vf v_round(vf a)
{
    return _mm256_round_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
static inline vm v_less(vf a, vf b)
{
    return _mm256_cmp_ps(a, b, _CMP_LT_OQ);
}
static inline vm v_equal(vf a, vf b)
{
    return _mm256_cmp_ps(a, b, _CMP_EQ_OQ);
}
static inline vf v_neg(vf a)
{
    return _mm256_xor_ps(a, _mm256_set1_ps(-0.0f));
}
static inline vf v_select(vm m, vf a, vf b)
{
    return _mm256_blendv_ps(b, a, m);
}
static inline vf v_copysign(vf a, vf b)
{
    const vf sign = _mm256_set1_ps(-0.0f);
    return _mm256_or_ps(_mm256_andnot_ps(sign, a), _mm256_and_ps(sign, b));
}
/* Returns 2^(n/8) for t = n + 3 * 2^22, n from -1008 to 1023, in the same way as for sixteenths. */
#define V_ROOTS 8
static inline vf v_root(vf t)
{
    const __m256i table = _mm256_setr_epi32(0x3f800000, 0x3f7b95c2, 0x3f7837f0, 0x3f75fed7,
        0x3f7504f3, 0x3f75672a, 0x3f7744fd, 0x3f7ac0c7);
    const __m256i bits = _mm256_castps_si256(t), power = _mm256_permutevar8x32_epi32(table, bits);
    return _mm256_castsi256_ps(_mm256_add_epi32(power, _mm256_slli_epi32(bits, 20)));
}
/* Two factors, so that subnormal results are rounded correctly. */
static inline vf v_power2(__m256i n)
{
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(n, _mm256_set1_epi32(127)), 23));
}
static inline vf v_scale2(vf a, vf n)
{
    const __m256i whole = _mm256_cvtps_epi32(n), half = _mm256_srai_epi32(whole, 1);
    return _mm256_mul_ps(_mm256_mul_ps(a, v_power2(half)), v_power2(_mm256_sub_epi32(whole, half)));
}
/* Subnormal numbers are scaled up first. Subtracting 0.75 from the bits of a moves the border
 * between exponents to the lower end of the mantissa's range. */
static inline vf v_split(vf a, vf *n)
{
    const vm small = v_less(a, v_set(1.17549435e-38f));
    const __m256i bits = _mm256_castps_si256(v_select(small, v_mul(a, v_set(8388608.0f)), a));
    const __m256i low = _mm256_set1_epi32(0x3f400000);
    const __m256i e = _mm256_srai_epi32(_mm256_sub_epi32(bits, low), 23);
    *n = v_sub(_mm256_cvtepi32_ps(e), v_select(small, v_set(23.0f), v_set(0.0f)));
    return _mm256_castsi256_ps(_mm256_sub_epi32(bits, _mm256_slli_epi32(e, 23)));
}
static inline void v_zip(vf a, vf b, vf *low, vf *high)
{
    const vf even = _mm256_unpacklo_ps(a, b), odd = _mm256_unpackhi_ps(a, b);
    *low = _mm256_permute2f128_ps(even, odd, 0x20);
    *high = _mm256_permute2f128_ps(even, odd, 0x31);
}
static inline float v_sum(vf a)
{
    __m128 s = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    s = _mm_add_ps(s, _mm_movehl_ps(s, s));
    return _mm_cvtss_f32(_mm_add_ss(s, _mm_movehdup_ps(s)));
}
static inline float v_largest(vf a)
{
    __m128 s = _mm_max_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    s = _mm_max_ps(s, _mm_movehl_ps(s, s));
    return _mm_cvtss_f32(_mm_max_ss(s, _mm_movehdup_ps(s)));
}

#else
#define PRT_LEVEL(name) name##_portable
#define PRT_LEVEL_NAME "portable"

enum { VL = 4 };
typedef float vf __attribute__((vector_size(16)));
typedef int32_t vm __attribute__((vector_size(16)));

static inline vf v_load(const float *p)
{
    vf v;
    memcpy(&v, p, sizeof(v));
    return v;
}
static inline void v_store(float *p, vf v)
{
    memcpy(p, &v, sizeof(v));
}
static inline void v_stream(float *p, vf v)
{
    v_store(p, v);
}
static inline void v_fence(void)
{
}
static inline vf v_load_n(const float *p, size_t n)
{
    vf v = { 0 };
    memcpy(&v, p, n * sizeof(float));
    return v;
}
static inline void v_store_n(float *p, vf v, size_t n)
{
    memcpy(p, &v, n * sizeof(float));
}
static inline vf v_set(float x)
{
    return (vf){ x, x, x, x };
}
static inline vf v_add(vf a, vf b)
{
    return a + b;
}
static inline vf v_sub(vf a, vf b)
{
    return a - b;
}
static inline vf v_mul(vf a, vf b)
{
    return a * b;
}
static inline vf v_div(vf a, vf b)
{
    return a / b;
}
static inline vf v_fma(vf a, vf b, vf c)
{
    return a * b + c;
}
static inline vm v_less(vf a, vf b)
{
    return a < b;
}
static inline vm v_equal(vf a, vf b)
{
    return a == b;
}
static inline vf v_neg(vf a)
{
    return -a;
}
static inline vf v_select(vm m, vf a, vf b)
{
    return (vf)(((vm)a & m) | ((vm)b & ~m));
}
static inline vf v_min(vf a, vf b)
{
    return v_select(a < b, a, b);
}
static inline vf v_max(vf a, vf b)
{
    return v_select(a > b, a, b);
}
static inline vf v_sqrt(vf a)
{
    return (vf){ sqrtf(a[0]), sqrtf(a[1]), sqrtf(a[2]), sqrtf(a[3]) };
}
static inline vf v_abs(vf a)
{
    return (vf)((vm)a & INT32_MAX);
}
static inline vf v_copysign(vf a, vf b)
{
    return (vf)(((vm)a & INT32_MAX) | ((vm)b & INT32_MIN));
}
/* Adding 2^23 removes the fraction; larger numbers have none. */
static inline vf v_round(vf a)
{
    const vf magic = v_set(8388608.0f), size = v_abs(a), whole = size + magic - magic;
    return v_copysign(v_select(size < magic, whole, size), a);
}
static inline vf v_power2(vm n)
{
    return (vf)((n + 127) << 23);
}
static inline vf v_scale2(vf a, vf n)
{
    const vm whole = __builtin_convertvector(n, vm), half = whole >> 1;
    return a * v_power2(half) * v_power2(whole - half);
}
static inline vf v_split(vf a, vf *n)
{
    const vf size = v_abs(a);
    const vm small = v_less(size, v_set(1.17549435e-38f));
    const vm bits = (vm)v_select(small, size * v_set(8388608.0f), size);
    const vm e = (bits - 0x3f400000) >> 23;
    *n = __builtin_convertvector(e, vf) - v_select(small, v_set(23.0f), v_set(0.0f));
    return (vf)(bits - e * (1 << 23));
}
static inline void v_zip(vf a, vf b, vf *low, vf *high)
{
    *low = (vf){ a[0], b[0], a[1], b[1] };
    *high = (vf){ a[2], b[2], a[3], b[3] };
}
static inline float v_sum(vf a)
{
    return (a[0] + a[1]) + (a[2] + a[3]);
}
static inline float v_largest(vf a)
{
    const float x = a[0] > a[1] ? a[0] : a[1], y = a[2] > a[3] ? a[2] : a[3];
    return x > y ? x : y;
}
#endif

/* Elements [at, at + VL) of `columns`; elements beyond read as 0 and are not written. */
static inline vf v_load_some(const float *p, size_t at, size_t columns)
{
    return at + VL <= columns ? v_load(p + at)
        : at < columns        ? v_load_n(p + at, columns - at)
                              : v_set(0.0f);
}

static inline void v_store_some(float *p, size_t at, size_t columns, vf v)
{
    if (at + VL <= columns)
        v_store(p + at, v);
    else if (at < columns)
        v_store_n(p + at, v, columns - at);
}

#endif
