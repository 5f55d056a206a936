/* SPDX-License-Identifier: MIT */
/* attend.inl — attend.h for one instruction-set level. */
#ifndef PRT_KERN_ROWS_ATTEND_INL
#define PRT_KERN_ROWS_ATTEND_INL

#include "kern/rows/attend.h"
#include "kern/rows/stats.inl"

/* Sums of up to BLOCK elements are float32; blocks are added in double. */
static float run_unscaled_softmax(size_t n, float *x)
{
    const vf all = v_set(largest_of(n, x));
    double total = 0.0;
    for (size_t first = 0; first < n; first += BLOCK) {
        const size_t end = n - first < BLOCK ? n : first + BLOCK;
        vf s0 = v_set(0.0f), s1 = s0;
        size_t i = first;
        for (; i + 2 * VL <= end; i += 2 * VL) {
            const vf a = v_exp_weight(v_sub(v_load(x + i), all));
            const vf b = v_exp_weight(v_sub(v_load(x + i + VL), all));
            s0 = v_add(s0, a);
            s1 = v_add(s1, b);
            v_store(x + i, a);
            v_store(x + i + VL, b);
        }
        for (; i + VL <= end; i += VL) {
            const vf a = v_exp_weight(v_sub(v_load(x + i), all));
            s0 = v_add(s0, a);
            v_store(x + i, a);
        }
        float rest[VL] = { 0 };
        if (i < end) {
            v_store_n(rest, v_exp_weight(v_sub(v_load_n(x + i, end - i), all)), end - i);
            v_store_n(x + i, v_load(rest), end - i);
        }
        total += (double)v_sum(v_add(v_add(s0, s1), v_load(rest)));
    }
    return (float)(1.0 / total);
}

static void run_copy_nontemporal(size_t n, const float *x, float *y)
{
    const size_t off = (uintptr_t)y / sizeof(float) % VL, ahead = (VL - off) % VL;
    size_t i = n < ahead ? n : ahead;
    memcpy(y, x, i * sizeof(float));
    for (; i + 4 * VL <= n; i += 4 * VL)
        for (size_t k = 0; k < 4; k++)
            v_stream(y + i + k * VL, v_load(x + i + k * VL));
    memcpy(y + i, x + i, (n - i) * sizeof(float));
    v_fence();
}

#endif
