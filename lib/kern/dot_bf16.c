/* SPDX-License-Identifier: MIT */
/* dot_bf16.c — pairs of bfloat16 by AVX512-BF16; the build gives the flags. */
#include "kern/act_impl.h"
#include "kern/dot.h"

static __attribute__((noinline)) void put(const prt_dot_block *g, size_t row, size_t column, vf v)
{
    const prt_gemm_end *e = g->end;
    const size_t n = g->columns;
    if (e != NULL) {
        if (e->bias != NULL)
            v = v_add(v, v_load_some(e->bias, column, n));
        if (e->residual != NULL)
            v = v_add(v, v_load_some(e->residual + row * e->ldr, column, n));
        if (e->act.kind != PRT_ACT_none)
            v = v_act(v, e->act.kind, v_set(e->act.a), v_set(e->act.b));
    }
    v_store_some((float *)g->c + row * g->ldc, column, n, v);
}

#define DOT_NAME prt_dot_pairs_avx512
#define DOT_SUM vf
#define DOT_ZERO v_set(0.0f)
#define DOT_WORD __m512i
#define DOT_LOAD(p) _mm512_loadu_si512(p)
#define DOT_SET(x) _mm512_set1_epi32((int)(x))
#define DOT_STEP(sum, a, b) _mm512_dpbf16_ps(sum, (__m512bh)(a), (__m512bh)(b))
#define DOT_PUT put
#define DOT_LANES 16
#include "kern/dot_tiles.def"
