/* SPDX-License-Identifier: MIT */
/* dot_bf16.c — dot2_bf16 GEMM by AVX512-BF16; the build gives the flags. */
#include "kern/int8/dot_epilogue.inl"

#define DOT_NAME prt_dot2_bf16_avx512
#define DOT_SUM vf
#define DOT_ZERO v_set(0.0f)
#define DOT_WORD __m512i
#define DOT_LOAD(p) _mm512_loadu_si512(p)
#define DOT_SET(x) _mm512_set1_epi32((int)(x))
#define DOT_STEP(sum, a, b) _mm512_dpbf16_ps(sum, (__m512bh)(a), (__m512bh)(b))
#define DOT_STORE store_finished
#define DOT_LANES 16
#include "kern/int8/dot_tiles.def"
