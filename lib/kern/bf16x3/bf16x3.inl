/* SPDX-License-Identifier: MIT */
/*
 * bf16x3.inl — floats become pairs of halves, for the tiles of AMX: elements k and k + 16 of a
 * unit of K.
 */
#ifndef PRT_KERN_BF16X3_BF16X3_INL
#define PRT_KERN_BF16X3_BF16X3_INL

#include "kern/int8/amx.inl"
#include "kern/bf16x3/bf16x3.h"

enum {
    UNIT = PRT_BF16X3_UNIT,
    SLOTS = 4 /* of products of a unit, for what goes on between them */
};

typedef struct halves {
    __m512i high, low; /* 32 each */
    __m512 check;      /* not finite once something was not */
} halves;

/* Pairs of elements of a and of b. */
static inline __attribute__((always_inline)) halves split(__m512 a, __m512 b, __m512i order,
    __m512 check)
{
    const __m512i upper = _mm512_set1_epi32((int)0xffff0000);
    const __m512i high = _mm512_permutexvar_epi16(order, (__m512i)_mm512_cvtne2ps_pbh(b, a));
    a = _mm512_sub_ps(a, (__m512)_mm512_slli_epi32(high, 16));
    b = _mm512_sub_ps(b, (__m512)_mm512_and_si512(high, upper));
    const __m512i low = _mm512_permutexvar_epi16(order, (__m512i)_mm512_cvtne2ps_pbh(b, a));
    return (halves){ high, low, _mm512_add_ps(check, _mm512_add_ps(a, b)) };
}

/* What makes pairs of halves of two vectors. */
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

/* What is done to finished sums by the kernel that has all of it: without any K. `end` is of these
 * rows and columns. */
void prt_gemm_run_avx512(const prt_gemm_block *g);

static inline void end_sums(size_t rows, size_t columns, float *c, size_t ldc,
    const prt_gemm_end *end)
{
    const prt_gemm_block sums = { .rows = rows, .columns = columns, .a = c, .b = c, .c = c,
        .ldc = ldc, .add = true, .end = end };
    prt_gemm_run_avx512(&sums);
}

#endif
