/* SPDX-License-Identifier: MIT */
/*
 * interleave.inl — interleave.h for one level: loops of few planes that the compiler turns into
 * shuffles.
 */
#ifndef PRT_KERN_MOVE_INTERLEAVE_INL
#define PRT_KERN_MOVE_INTERLEAVE_INL

#include "kern/move/interleave.h"
#include "kern/vector/simd.h"

#define INTERLEAVE(P)                                                                              \
    static void interleave_##P(size_t n, const float *restrict from, size_t plane,                 \
        float *restrict to)                                                                        \
    {                                                                                              \
        for (size_t i = 0; i < n; i++)                                                             \
            PRT_UNROLL(4)                                                                          \
            for (size_t p = 0; p < P; p++)                                                         \
                to[i * P + p] = from[p * plane + i];                                               \
    }
INTERLEAVE(2) INTERLEAVE(3) INTERLEAVE(4)

static void run_interleave(size_t n, size_t planes, const float *from, size_t plane, float *to)
{
    if (planes == 2)
        interleave_2(n, from, plane, to);
    else if (planes == 3)
        interleave_3(n, from, plane, to);
    else if (planes == 4)
        interleave_4(n, from, plane, to);
    else
        for (size_t p = 0; p < planes; p++)
            for (size_t i = 0; i < n; i++)
                to[i * planes + p] = from[p * plane + i];
}

static void run_zip(size_t n, const float *a, const float *b, float *y)
{
    for (size_t i = 0; i < n; i += 2 * VL) {
        vf low, high;
        v_zip(v_load_some(a, i / 2, (n + 1) / 2), v_load_some(b, i / 2, n / 2), &low, &high);
        v_store_some(y, i, n, low);
        v_store_some(y, i + VL, n, high);
    }
}

#endif
