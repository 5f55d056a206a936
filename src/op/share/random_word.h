/* SPDX-License-Identifier: MIT */
/*
 * random_word.h — the generator of random operators. It is counter-based and has no state: word i
 * of a seed is SplitMix64's output function of seed + (i + 1) * GOLDEN. The word of an element
 * depends only on the seed and the element's index.
 */
#ifndef PRT_OP_SHARE_RANDOM_WORD_H
#define PRT_OP_SHARE_RANDOM_WORD_H

#include <stdint.h>

static inline uint64_t prt_random_mix(uint64_t z)
{
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static inline uint64_t prt_random_word(uint64_t seed, uint64_t i)
{
    return prt_random_mix(seed + (i + 1) * UINT64_C(0x9e3779b97f4a7c15));
}

/* Returns a number in [0, 1) of the 53 high bits of a word. */
static inline double prt_random_uniform(uint64_t word)
{
    return (double)(word >> 11) * 0x1p-53;
}

#endif
