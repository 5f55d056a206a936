/* SPDX-License-Identifier: MIT */
/* peak.c — products and sums that nothing waits for, at the level the build compiles this for. */
#include "peak.h"

#include "kern/vector/simd.h"

/* Named one by one: an array would be kept in memory. */
#define EACH(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7) DO(8) DO(9) DO(10) DO(11)
enum { CHAINS = 12 };

static float turns(size_t n)
{
    const vf a = v_set(1.0f - 1e-7f), b = v_set(1e-7f);
#define BEGIN(i) vf sum##i = v_set(i);
    EACH(BEGIN)
    for (size_t t = 0; t < n; t++) {
#define STEP(i) sum##i = v_fma(sum##i, a, b);
        EACH(STEP)
    }
    vf all = v_set(0);
#define END(i) all = v_add(all, sum##i);
    EACH(END)
    return v_sum(all);
}

const peak_level PRT_LEVEL(peak) = { PRT_LEVEL_NAME, 2 * (size_t)CHAINS *VL, turns };
