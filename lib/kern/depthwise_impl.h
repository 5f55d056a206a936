/* SPDX-License-Identifier: MIT */
/* depthwise_impl.h — tiles of some outputs by some vectors of channels, sums in registers. */
#ifndef PRT_KERN_DEPTHWISE_IMPL_H
#define PRT_KERN_DEPTHWISE_IMPL_H

#include "kern/depthwise.h"
#include "kern/simd.h"

/* N outputs by B vectors of channels; the last vector may be a part of one. */
#define DEPTHWISE(N, B)                                                                            \
    static void depthwise_##N##x##B(const prt_depthwise *d, size_t at, size_t channel)             \
    {                                                                                              \
        vf sum[N][B];                                                                              \
        const size_t all = d->channels;                                                            \
        PRT_UNROLL(8)                                                                              \
        for (size_t i = 0; i < N; i++)                                                             \
            PRT_UNROLL(8)                                                                          \
            for (size_t j = 0; j < B; j++)                                                         \
                sum[i][j] = d->bias == NULL ? v_set(0.0f)                                          \
                                            : v_load_some(d->bias, channel + j * VL, all);         \
        for (size_t r = 0; r < d->rows; r++) {                                                     \
            const float *w = d->w + r * d->w_row + channel;                                        \
            const float *x = d->x + r * d->x_row + at * d->x_step + channel;                       \
            for (size_t k = 0; k < d->columns; k++, w += all, x += d->x_column) {                  \
                vf tap[B];                                                                         \
                PRT_UNROLL(8)                                                                      \
                for (size_t j = 0; j < B; j++)                                                     \
                    tap[j] = B == 1 ? v_load_some(w, 0, all - channel) : v_load(w + j * VL);       \
                PRT_UNROLL(8)                                                                      \
                for (size_t i = 0; i < N; i++)                                                     \
                    PRT_UNROLL(8)                                                                  \
                    for (size_t j = 0; j < B; j++) {                                               \
                        const float *from = x + i * d->x_step + j * VL;                            \
                        const vf in = B == 1 ? v_load_some(from, 0, all - channel) : v_load(from); \
                        sum[i][j] = v_fma(in, tap[j], sum[i][j]);                                  \
                    }                                                                              \
            }                                                                                      \
        }                                                                                          \
        const vf low = v_set(d->low), high = v_set(d->high);                                       \
        PRT_UNROLL(8)                                                                              \
        for (size_t i = 0; i < N; i++)                                                             \
            PRT_UNROLL(8)                                                                          \
            for (size_t j = 0; j < B; j++)                                                         \
                v_store_some(d->y + (at + i) * all, channel + j * VL, all,                         \
                    v_min(high, v_max(low, sum[i][j])));                                           \
    }

DEPTHWISE(1, 1) DEPTHWISE(2, 1) DEPTHWISE(3, 1) DEPTHWISE(4, 1) DEPTHWISE(5, 1) DEPTHWISE(6, 1)
DEPTHWISE(1, 2) DEPTHWISE(2, 2) DEPTHWISE(3, 2) DEPTHWISE(4, 2) DEPTHWISE(5, 2) DEPTHWISE(6, 2)
DEPTHWISE(1, 4)

enum { DEPTHWISE_MOST = 6 };

static void run_depthwise(const prt_depthwise *d)
{
    typedef void (*part_fn)(const prt_depthwise *d, size_t at, size_t channel);
    static const part_fn one[DEPTHWISE_MOST] = { depthwise_1x1, depthwise_2x1, depthwise_3x1,
        depthwise_4x1, depthwise_5x1, depthwise_6x1 };
    static const part_fn two[DEPTHWISE_MOST] = { depthwise_1x2, depthwise_2x2, depthwise_3x2,
        depthwise_4x2, depthwise_5x2, depthwise_6x2 };
    const size_t groups = (d->n + DEPTHWISE_MOST - 1) / DEPTHWISE_MOST;
    for (size_t i = 0, at = 0; i < groups; i++) {
        const size_t n = d->n / groups + (i < d->n % groups);
        size_t channel = 0;
        for (; n == 1 && channel + 4 * VL <= d->channels; channel += 4 * VL)
            depthwise_1x4(d, at, channel);
        for (; channel + 2 * VL <= d->channels; channel += 2 * VL)
            two[n - 1](d, at, channel);
        for (; channel < d->channels; channel += VL)
            one[n - 1](d, at, channel);
        at += n;
    }
}

#endif
