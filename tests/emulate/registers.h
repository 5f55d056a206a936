/* SPDX-License-Identifier: MIT */
/* registers.h — registers of 512 bits, emulated with AVX2; see immintrin.h. */
#ifndef PRT_EMULATE_REGISTERS_H
#define PRT_EMULATE_REGISTERS_H

#include <math.h>
#include <stdint.h>
#include <string.h>

/* A register, viewed as each element type. */
typedef union emu {
    __m512 s;
    __m512d d;
    __m512i i;
    __m256 hs[2];
    __m256d hd[2];
    __m256i hi[2];
    __m128i q[4];
    float f32[16];
    double f64[8];
    int8_t i8[64];
    int16_t i16[32];
    uint16_t u16[32];
    int32_t i32[16];
    uint32_t u32[16];
} emu;

#define EMU static inline __attribute__((always_inline))
#define EMU_EACH(i, n) for (int i = 0; i < (n); i++)

/* ---- loads and stores ---- */

EMU void emu_aligned(const void *p)
{
    if (((uintptr_t)p & 63) != 0)
        __builtin_trap();
}

#define EMU_MEMORY(T, suffix, member)                                                              \
    EMU T emu_loadu_##suffix(const void *p)                                                        \
    {                                                                                              \
        emu r;                                                                                     \
        memcpy(&r, p, sizeof(r));                                                                  \
        return r.member;                                                                           \
    }                                                                                              \
    EMU T emu_load_##suffix(const void *p)                                                         \
    {                                                                                              \
        emu_aligned(p);                                                                            \
        return emu_loadu_##suffix(p);                                                              \
    }                                                                                              \
    EMU void emu_storeu_##suffix(void *p, T v)                                                     \
    {                                                                                              \
        memcpy(p, &v, sizeof(v));                                                                  \
    }                                                                                              \
    EMU void emu_store_##suffix(void *p, T v)                                                      \
    {                                                                                              \
        emu_aligned(p);                                                                            \
        memcpy(p, &v, sizeof(v));                                                                  \
    }
EMU_MEMORY(__m512, ps, s)
EMU_MEMORY(__m512d, pd, d)
EMU_MEMORY(__m512i, si512, i)

/* Elements whose mask bit is 0 are neither read nor written. */
EMU void emu_copy(void *to, const void *from, size_t size, int n, uint64_t mask)
{
    if (n < 64 && mask == ((uint64_t)1 << n) - 1) {
        memcpy(to, from, size * (size_t)n);
        return;
    }
    EMU_EACH(i, n)
    if ((mask >> i & 1) != 0)
        memcpy((char *)to + (size_t)i * size, (const char *)from + (size_t)i * size, size);
}

#define EMU_MASKED(T, prefix, suffix, M, size, n)                                                  \
    EMU T emu##prefix##_mask_loadu_##suffix(T v, M mask, const void *p)                            \
    {                                                                                              \
        emu_copy(&v, p, size, n, mask);                                                            \
        return v;                                                                                  \
    }                                                                                              \
    EMU T emu##prefix##_maskz_loadu_##suffix(M mask, const void *p)                                \
    {                                                                                              \
        T v = { 0 };                                                                               \
        emu_copy(&v, p, size, n, mask);                                                            \
        return v;                                                                                  \
    }                                                                                              \
    EMU void emu##prefix##_mask_storeu_##suffix(void *p, M mask, T v)                              \
    {                                                                                              \
        emu_copy(p, &v, size, n, mask);                                                            \
    }
EMU_MASKED(__m512, , ps, __mmask16, 4, 16)
EMU_MASKED(__m512i, , epi32, __mmask16, 4, 16)
EMU_MASKED(__m512i, , epi8, __mmask64, 1, 64)
EMU_MASKED(__m256i, 256, epi8, __mmask32, 1, 32)
EMU_MASKED(__m128i, 128, epi8, __mmask16, 1, 16)

/* ---- constants ---- */

EMU __m512 emu_set1_ps(float x)
{
    const __m256 h = _mm256_set1_ps(x);
    return (emu){ .hs = { h, h } }.s;
}
#define EMU_SET1(suffix, T)                                                                        \
    EMU __m512i emu_set1_##suffix(T x)                                                             \
    {                                                                                              \
        const __m256i h = _mm256_set1_##suffix(x);                                                 \
        return (emu){ .hi = { h, h } }.i;                                                          \
    }
EMU_SET1(epi8, char)
EMU_SET1(epi16, short)
EMU_SET1(epi32, int)
#define emu_setzero_ps() emu_set1_ps(0.0f)
#define emu_setzero_si512() emu_set1_epi32(0)
#define emu_setr_ps(...) ((emu){ .f32 = { __VA_ARGS__ } }.s)
#define emu_setr_epi32(...) ((emu){ .u32 = { __VA_ARGS__ } }.i)

/* ---- AVX2 operations on each half */

#define EMU_TWO(T, member, H, name)                                                                \
    EMU T emu_##name(T a, T b)                                                                     \
    {                                                                                              \
        const emu x = { .member = a }, y = { .member = b };                                        \
        return (emu){                                                                              \
            .H = { _mm256_##name(x.H[0], y.H[0]), _mm256_##name(x.H[1], y.H[1]) }                  \
        }.member;                                                                                  \
    }
EMU_TWO(__m512, s, hs, add_ps)
EMU_TWO(__m512, s, hs, sub_ps)
EMU_TWO(__m512, s, hs, mul_ps)
EMU_TWO(__m512, s, hs, div_ps)
EMU_TWO(__m512, s, hs, min_ps)
EMU_TWO(__m512, s, hs, max_ps)
EMU_TWO(__m512, s, hs, and_ps)
EMU_TWO(__m512, s, hs, andnot_ps)
EMU_TWO(__m512, s, hs, or_ps)
EMU_TWO(__m512, s, hs, xor_ps)
EMU_TWO(__m512d, d, hd, mul_pd)
EMU_TWO(__m512i, i, hi, add_epi32)
EMU_TWO(__m512i, i, hi, adds_epi16)
EMU_TWO(__m512i, i, hi, madd_epi16)
EMU_TWO(__m512i, i, hi, packs_epi16)
EMU_TWO(__m512i, i, hi, packs_epi32)
EMU_TWO(__m512i, i, hi, packus_epi16)
EMU_TWO(__m512i, i, hi, unpackhi_epi16)
EMU_TWO(__m512i, i, hi, unpackhi_epi8)
EMU_TWO(__m512i, i, hi, unpacklo_epi16)
EMU_TWO(__m512i, i, hi, unpacklo_epi8)

#define EMU_FUSED(name)                                                                            \
    EMU __m512 emu_##name(__m512 a, __m512 b, __m512 c)                                            \
    {                                                                                              \
        const emu x = { .s = a }, y = { .s = b }, z = { .s = c };                                  \
        return (emu){                                                                              \
            .hs = { _mm256_##name(x.hs[0], y.hs[0], z.hs[0]),                                      \
                _mm256_##name(x.hs[1], y.hs[1], z.hs[1]) }                                         \
        }.s;                                                                                       \
    }
EMU_FUSED(fmadd_ps)
EMU_FUSED(fnmadd_ps)

#define EMU_BITS(name, half)                                                                       \
    EMU __m512i emu_##name(__m512i a, __m512i b)                                                   \
    {                                                                                              \
        const emu x = { .i = a }, y = { .i = b };                                                  \
        return (emu){ .hi = { half(x.hi[0], y.hi[0]), half(x.hi[1], y.hi[1]) } }.i;                \
    }
EMU_BITS(and_si512, _mm256_and_si256)
EMU_BITS(or_si512, _mm256_or_si256)
EMU_BITS(xor_si512, _mm256_xor_si256)

#define EMU_SHIFT(name)                                                                            \
    EMU __m512i emu_##name(__m512i a, unsigned n)                                                  \
    {                                                                                              \
        const emu x = { .i = a };                                                                  \
        return (emu){                                                                              \
            .hi = { _mm256_##name(x.hi[0], (int)n), _mm256_##name(x.hi[1], (int)n) }               \
        }.i;                                                                                       \
    }
EMU_SHIFT(slli_epi16)
EMU_SHIFT(slli_epi32)
EMU_SHIFT(srli_epi16)
EMU_SHIFT(srli_epi32)
EMU_SHIFT(srai_epi16)

EMU __m512i emu_srlv_epi16(__m512i a, __m512i b)
{
    emu x = { .i = a };
    const emu n = { .i = b };
    EMU_EACH(i, 32)
    x.u16[i] = n.u16[i] < 16 ? (uint16_t)(x.u16[i] >> n.u16[i]) : 0;
    return x.i;
}
EMU __m512 emu_sqrt_ps(__m512 a)
{
    const emu x = { .s = a };
    return (emu){ .hs = { _mm256_sqrt_ps(x.hs[0]), _mm256_sqrt_ps(x.hs[1]) } }.s;
}
EMU __m512 emu_abs_ps(__m512 a)
{
    return emu_andnot_ps(emu_set1_ps(-0.0f), a);
}

/* ---- extraction and insertion */

EMU __m512 emu_castsi512_ps(__m512i a)
{
    return (__m512)a;
}
EMU __m512i emu_castps_si512(__m512 a)
{
    return (__m512i)a;
}
EMU __m512i emu_castsi256_si512(__m256i a)
{
    return (emu){ .hi = { a, a } }.i; /* the upper half is undefined */
}
EMU __m256i emu_castsi512_si256(__m512i a)
{
    return (emu){ .i = a }.hi[0];
}
EMU __m128i emu_castsi512_si128(__m512i a)
{
    return (emu){ .i = a }.q[0];
}
EMU __m256i emu_extracti64x4_epi64(__m512i a, int n)
{
    return (emu){ .i = a }.hi[n & 1];
}
EMU __m128i emu_extracti32x4_epi32(__m512i a, int n)
{
    return (emu){ .i = a }.q[n & 3];
}
EMU __m512i emu_inserti64x4(__m512i a, __m256i b, int n)
{
    emu x = { .i = a };
    x.hi[n & 1] = b;
    return x.i;
}

/* ---- permutations */

#define EMU_PERMUTE(T, member, suffix, element, index, n)                                          \
    EMU T emu_permutexvar_##suffix(__m512i order, T a)                                             \
    {                                                                                              \
        const emu o = { .i = order }, x = { .member = a };                                         \
        emu r;                                                                                     \
        EMU_EACH(i, n)                                                                             \
        r.element[i] = x.element[o.index[i] & ((n)-1)];                                            \
        return r.member;                                                                           \
    }                                                                                              \
    EMU T emu_permutex2var_##suffix(T a, __m512i order, T b)                                       \
    {                                                                                              \
        const emu o = { .i = order };                                                              \
        const emu x[2] = { { .member = a }, { .member = b } };                                     \
        emu r;                                                                                     \
        EMU_EACH(i, n)                                                                             \
        r.element[i] = x[o.index[i] / (n)&1].element[o.index[i] & ((n)-1)];                        \
        return r.member;                                                                           \
    }
EMU_PERMUTE(__m512, s, ps, f32, u32, 16)
EMU_PERMUTE(__m512i, i, epi32, u32, u32, 16)
EMU_PERMUTE(__m512i, i, epi16, u16, u16, 32)

EMU __m512 emu_mask_blend_ps(__mmask16 m, __m512 a, __m512 b)
{
    emu x = { .s = a };
    const emu y = { .s = b };
    EMU_EACH(i, 16)
    x.f32[i] = (m >> i & 1) != 0 ? y.f32[i] : x.f32[i];
    return x.s;
}
EMU __m512i emu_mask_blend_epi16(__mmask32 m, __m512i a, __m512i b)
{
    emu x = { .i = a };
    const emu y = { .i = b };
    EMU_EACH(i, 32)
    x.u16[i] = (m >> i & 1) != 0 ? y.u16[i] : x.u16[i];
    return x.i;
}

/* ---- masks ---- */

#define emu_cmp_ps_mask(a, b, op)                                                                  \
    __extension__({                                                                                \
        const emu emu_x = { .s = (a) }, emu_y = { .s = (b) };                                      \
        (__mmask16)(_mm256_movemask_ps(_mm256_cmp_ps(emu_x.hs[0], emu_y.hs[0], op)) |              \
            _mm256_movemask_ps(_mm256_cmp_ps(emu_x.hs[1], emu_y.hs[1], op)) << 8);                 \
    })
EMU __mmask32 emu_test_epi16_mask(__m512i a, __m512i b)
{
    const emu x = { .i = emu_and_si512(a, b) };
    uint32_t m = 0;
    EMU_EACH(i, 32)
    m |= (uint32_t)(x.u16[i] != 0) << i;
    return m;
}
EMU __mmask32 emu_movepi16_mask(__m512i a)
{
    return emu_test_epi16_mask(a, emu_set1_epi16((short)0x8000));
}

/* ---- conversions ---- */

EMU __m512 emu_cvtepi32_ps(__m512i a)
{
    const emu x = { .i = a };
    return (emu){ .hs = { _mm256_cvtepi32_ps(x.hi[0]), _mm256_cvtepi32_ps(x.hi[1]) } }.s;
}
EMU __m512i emu_cvtps_epi32(__m512 a)
{
    const emu x = { .s = a };
    return (emu){ .hi = { _mm256_cvtps_epi32(x.hs[0]), _mm256_cvtps_epi32(x.hs[1]) } }.i;
}
EMU __m512d emu_cvtepi32_pd(__m256i a)
{
    return (emu){
        .hd = { _mm256_cvtepi32_pd(_mm256_castsi256_si128(a)),
            _mm256_cvtepi32_pd(_mm256_extracti128_si256(a, 1)) }
    }.d;
}
EMU __m256i emu_cvtpd_epi32(__m512d a)
{
    const emu x = { .d = a };
    return _mm256_set_m128i(_mm256_cvtpd_epi32(x.hd[1]), _mm256_cvtpd_epi32(x.hd[0]));
}
EMU __m512i emu_cvtepi8_epi32(__m128i a)
{
    return (emu){ .hi = { _mm256_cvtepi8_epi32(a), _mm256_cvtepi8_epi32(_mm_srli_si128(a, 8)) } }.i;
}
EMU __m512i emu_cvtepu8_epi32(__m128i a)
{
    return (emu){ .hi = { _mm256_cvtepu8_epi32(a), _mm256_cvtepu8_epi32(_mm_srli_si128(a, 8)) } }.i;
}
EMU __m512 emu_cvtph_ps(__m256i a)
{
    return (emu){
        .hs = { _mm256_cvtph_ps(_mm256_castsi256_si128(a)),
            _mm256_cvtph_ps(_mm256_extracti128_si256(a, 1)) }
    }.s;
}
EMU __m256i emu_cvtps_ph(__m512 a, int to_nearest)
{
    const emu x = { .s = a };
    if (to_nearest != _MM_FROUND_TO_NEAREST_INT)
        __builtin_trap();
    return _mm256_set_m128i(_mm256_cvtps_ph(x.hs[1], _MM_FROUND_TO_NEAREST_INT),
        _mm256_cvtps_ph(x.hs[0], _MM_FROUND_TO_NEAREST_INT));
}

/* ---- mantissa, exponent and rounding */

EMU __m512 emu_roundscale_ps(__m512 a, int how)
{
    const emu x = { .s = a };
    if (how != (_MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC))
        __builtin_trap();
    return (emu){
        .hs = { _mm256_round_ps(x.hs[0], _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC),
            _mm256_round_ps(x.hs[1], _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC) }
    }.s;
}
/* Returns the part that rounding removes. */
EMU __m512 emu_reduce_ps(__m512 a, int how)
{
    const emu x = { .s = a };
    emu r = { .s = emu_sub_ps(a, emu_roundscale_ps(a, how)) };
    EMU_EACH(i, 16)
    r.f32[i] = isinf(x.f32[i]) ? 0.0f : r.f32[i];
    return r.s;
}
/* Returns the operand with the larger absolute value. */
EMU __m512 emu_range_ps(__m512 a, __m512 b, int how)
{
    emu x = { .s = emu_abs_ps(a) };
    const emu y = { .s = emu_abs_ps(b) };
    if (how != 11)
        __builtin_trap();
    EMU_EACH(i, 16)
    x.f32[i] = fmaxf(x.f32[i], y.f32[i]);
    return x.s;
}
EMU __m512 emu_scalef_ps(__m512 a, __m512 b)
{
    emu x = { .s = a };
    const emu n = { .s = b };
    EMU_EACH(i, 16)
    {
        const float power = floorf(n.f32[i]);
        x.f32[i] = isnan(power) ? power : ldexpf(x.f32[i], (int)fmaxf(-400, fminf(400, power)));
    }
    return x.s;
}
EMU __m512 emu_getexp_ps(__m512 a)
{
    emu x = { .s = a };
    EMU_EACH(i, 16)
    x.f32[i] = logbf(x.f32[i]);
    return x.s;
}
/* Returns the mantissa in [0.75, 1.5) of a finite a above 0. */
EMU __m512 emu_getmant_ps(__m512 a, int range, int sign)
{
    emu x = { .s = a };
    if (range != _MM_MANT_NORM_p75_1p5 || sign != _MM_MANT_SIGN_src)
        __builtin_trap();
    EMU_EACH(i, 16)
    {
        const float v = x.f32[i], m = isfinite(v) && v != 0 ? ldexpf(v, -(int)logbf(v)) : 1.0f;
        x.f32[i] = isnan(v) ? v : fabsf(m) < 1.5f ? m : 0.5f * m;
    }
    return x.s;
}
/* Accurate to 14 bits, as the processor's instruction. */
EMU __m512 emu_rcp14_ps(__m512 a)
{
    emu x = { .s = emu_div_ps(emu_set1_ps(1.0f), a) };
    EMU_EACH(i, 16)
    x.u32[i] &= isfinite(x.f32[i]) ? 0xfffffe00 : 0xffffffff;
    return x.s;
}
EMU float emu_reduce_add_ps(__m512 a)
{
    emu x = { .s = a };
    for (int n = 8; n != 0; n /= 2)
        EMU_EACH(i, n)
    x.f32[i] += x.f32[i + n];
    return x.f32[0];
}
EMU float emu_reduce_max_ps(__m512 a)
{
    emu x = { .s = a };
    for (int n = 8; n != 0; n /= 2)
        EMU_EACH(i, n)
    x.f32[i] = x.f32[i] > x.f32[i + n] ? x.f32[i] : x.f32[i + n];
    return x.f32[0];
}

#endif
