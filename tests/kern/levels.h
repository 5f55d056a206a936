/* SPDX-License-Identifier: MIT */
/* levels.h — the levels of kernels that this processor has, and random numbers for them. */
#ifndef PRT_TESTS_KERN_LEVELS_H
#define PRT_TESTS_KERN_LEVELS_H

#include <stdlib.h>
#include <string.h>

#include "cpu/cpu.h"
#include "kern/kern.h"

enum { LEVELS = 3 };

/* Returns NULL if the processor does not support the level. */
static inline const prt_kern *level_named(const char *name)
{
    const uint64_t want = prt_cpu_level(name);
    return (want & prt_cpu_features()) == want ? prt_kern_of(want) : NULL;
}

static inline const prt_kern *level(int i)
{
    static const char *const names[LEVELS] = { "portable", "avx2", "avx512" };
    return level_named(names[i]);
}

/* Returns exactly `n` numbers in [-1, 1), so that a sanitizer finds reads beyond them. */
static inline float *random_floats(size_t n, uint32_t seed)
{
    float *p = malloc(n != 0 ? n * sizeof(float) : 1);
    uint32_t state = seed * 2654435761u + 1;
    for (size_t i = 0; i < n; i++) {
        state = state * 1664525u + 1013904223u;
        p[i] = (float)(state >> 8) / 8388608.0f - 1.0f;
    }
    return p;
}

/* Returns NaN, aligned to a cache line. */
static inline float *nan_lines(size_t floats)
{
    float *p = aligned_alloc(64, (floats + 15) / 16 * 64 + 64);
    memset(p, 0xff, floats * sizeof(float));
    return p;
}

#endif
