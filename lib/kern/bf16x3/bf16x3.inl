/* SPDX-License-Identifier: MIT */
/*
 * bf16x3.inl — converts floats to bf16x3 for AMX tiles: a pair of bfloat16 is elements k and k + 16
 * of a unit of K.
 */
#ifndef PRT_KERN_BF16X3_BF16X3_INL
#define PRT_KERN_BF16X3_BF16X3_INL

#include "kern/int8/amx.inl"
#include "kern/bf16x3/bf16x3.h"

enum {
    UNIT = PRT_BF16X3_UNIT,
    SLOTS = 4 /* slots of a step (one unit of K) for work between its products */
};

typedef struct halves {
    __m512i high, low; /* 32 bfloat16 each */
    __m512 check;      /* not finite once an element was not finite */
} halves;

/* Converts pairs of elements of a and b. */
static inline __attribute__((always_inline)) halves convert_pairs(__m512 a, __m512 b, __m512i order,
    __m512 check)
{
    const __m512i upper = _mm512_set1_epi32((int)0xffff0000);
    const __m512i high = _mm512_permutexvar_epi16(order, (__m512i)_mm512_cvtne2ps_pbh(b, a));
    a = _mm512_sub_ps(a, (__m512)_mm512_slli_epi32(high, 16));
    b = _mm512_sub_ps(b, (__m512)_mm512_and_si512(high, upper));
    const __m512i low = _mm512_permutexvar_epi16(order, (__m512i)_mm512_cvtne2ps_pbh(b, a));
    return (halves){ high, low, _mm512_add_ps(check, _mm512_add_ps(a, b)) };
}

/* Sets the permutation that forms pairs from the halves of two vectors. */
static inline void order_pairs(__m512i *order)
{
    uint16_t pairs[UNIT];
    for (size_t i = 0; i < TILE; i++) {
        pairs[2 * i] = (uint16_t)i;
        pairs[2 * i + 1] = (uint16_t)(TILE + i);
    }
    *order = _mm512_loadu_si512(pairs);
}

static inline __attribute__((always_inline)) bool is_finite(__m512 check)
{
    const __m512 none = _mm512_sub_ps(check, check);
    return _mm512_cmp_ps_mask(none, none, _CMP_UNORD_Q) == 0;
}

/* Applies an epilogue to finished sums by the AVX-512 GEMM kernel, with k = 0. `end` points to
 * these rows and columns. */
void prt_gemm_run_avx512(const prt_gemm_block *g);

static inline void end_sums(size_t rows, size_t columns, float *c, size_t ldc,
    const prt_gemm_end *end)
{
    const prt_gemm_block sums = { .rows = rows, .columns = columns, .a = c, .b = c, .c = c,
        .ldc = ldc, .add = true, .end = end };
    prt_gemm_run_avx512(&sums);
}

#endif
