/* SPDX-License-Identifier: MIT */
/* dot4_i8.inl — int8 GEMM by groups of four (dot4_i8), at the level of the including file. */
#ifndef PRT_KERN_INT8_DOT4_I8_INL
#define PRT_KERN_INT8_DOT4_I8_INL

#include <stdbool.h>

#include "kern/int8/dot4_i8_requantize.inl"
#include "kern/int8/depthwise3x3_i8.inl"
#include "kern/int8/dot.h"
#include "kern/int8/dot4_i8_words.h"
#include "kern/int8/dot_i4.inl"
#include "kern/int8/depthwise_i8.inl"

static inline void store_sums(const prt_dot_block *g, size_t row, size_t column, dot_words v)
{
    store_words((int32_t *)g->c + row * g->ldc + column, v);
}

#define DOT_NAME DOT8_NAME(prt_dot4_i8)
#define DOT_STEP(sum, a, b) step_dot4(sum, a, b)
#define DOT_SUM dot_words
#define DOT_ZERO zero_words()
#define DOT_WORD dot_words
#define DOT_LOAD(p) load_words(p)
#define DOT_SET(x) set_words(x)
#define DOT_STORE store_sums
#define DOT_LANES DOT8_LANES
#define DOT_SKIP_MIDDLE
#if !defined(__AVX512VNNI__)
#define DOT_THREE
#endif
#include "kern/int8/dot_tiles.def"

#if defined(__AVX512VNNI__)
size_t DOT8_NAME(prt_dot_requantize)(const prt_dot_block *g, const prt_requantize *q, uint8_t *y,
    size_t ldy);

size_t DOT8_NAME(prt_dot_requantize)(const prt_dot_block *g, const prt_requantize *q, uint8_t *y,
    size_t ldy)
{
    return run_dot4_requantize(g, q, y, ldy);
}

void DOT8_NAME(prt_dot_depthwise3x3)(const prt_depthwise_i8_block *g);

void DOT8_NAME(prt_dot_depthwise3x3)(const prt_depthwise_i8_block *g)
{
    run_columns(g);
}
#endif

void DOT8_NAME(prt_dot_i4)(const prt_dot_i4 *g);

void DOT8_NAME(prt_dot_i4)(const prt_dot_i4 *g)
{
    run_dot_i4(g);
}

void DOT8_NAME(prt_dot_depthwise)(const prt_depthwise_i8_block *g);

void DOT8_NAME(prt_dot_depthwise)(const prt_depthwise_i8_block *g)
{
    run_depthwise_i8(g);
}

#endif
