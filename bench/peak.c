/* SPDX-License-Identifier: MIT */
/* peak.c — products and sums that nothing waits for, at the level the build compiles this for. */
#include "peak.h"

#include "kern/simd.h"

enum { CHAINS = 12 };

static float turns(size_t n)
{
    vf sum[CHAINS], a = v_set(1.0f - 1e-7f), b = v_set(1e-7f);
    PRT_UNROLL(16)
    for (size_t i = 0; i < CHAINS; i++)
        sum[i] = v_set((float)i);
    for (size_t t = 0; t < n; t++) {
        PRT_UNROLL(16)
        for (size_t i = 0; i < CHAINS; i++)
            sum[i] = v_fma(sum[i], a, b);
        __asm__ volatile("" : : : "memory");
    }
    float all = 0;
    for (size_t i = 0; i < CHAINS; i++)
        all += v_sum(sum[i]);
    return all;
}

const peak_level PRT_LEVEL(peak) = { PRT_LEVEL_NAME, 2 * (size_t)CHAINS * VL, turns };
