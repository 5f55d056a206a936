/* SPDX-License-Identifier: MIT */
/*
 * windows_impl.h — tiles of some outputs of a row by some vectors of channels, in registers.
 */
#ifndef PRT_KERN_WINDOWS_IMPL_H
#define PRT_KERN_WINDOWS_IMPL_H

#include "kern/windows.h"
#include "kern/simd.h"

/* N outputs of each line, of a vector of channels or what is left of one. */
#define DEPTHWISE(N)                                                                               \
    static void depthwise_##N(const prt_windows *d, size_t at, size_t channel)                     \
    {                                                                                              \
        const size_t all = d->channels, left = all - channel, step = d->x_step;                    \
        const size_t columns = d->columns, x_column = d->x_column;                                 \
        const size_t w_row = d->w_row - columns * all;                                             \
        /* Back, where the taps of a row reach further than their rows are apart. */               \
        const ptrdiff_t x_row = (ptrdiff_t)d->x_row - (ptrdiff_t)(columns * x_column);             \
        const vf low = v_set(d->low), high = v_set(d->high);                                       \
        for (size_t line = 0; line < d->lines; line++) {                                           \
            const float *x = d->x + line * d->x_line + at * step + channel, *w = d->w + channel;   \
            vf sum[N];                                                                             \
            PRT_UNROLL(8)                                                                          \
            for (size_t i = 0; i < N; i++)                                                         \
                sum[i] = d->bias != NULL ? v_load_some(d->bias + channel, 0, left) : v_set(0.0f);  \
            for (size_t r = d->rows; r != 0; r--, x += x_row, w += w_row)                          \
                for (size_t k = columns; k != 0; k--, x += x_column, w += all) {                   \
                    const vf tap = v_load_some(w, 0, left);                                        \
                    PRT_UNROLL(8)                                                                  \
                    for (size_t i = 0; i < N; i++)                                                 \
                        sum[i] = v_fma(v_load_some(x + i * step, 0, left), tap, sum[i]);           \
                }                                                                                  \
            float *y = d->y + line * d->y_line + at * d->y_step + channel;                         \
            PRT_UNROLL(8)                                                                          \
            for (size_t i = 0; i < N; i++)                                                         \
                v_store_some(y + i * d->y_step, 0, left, v_min(high, v_max(low, sum[i])));         \
        }                                                                                          \
    }
DEPTHWISE(1) DEPTHWISE(2) DEPTHWISE(3) DEPTHWISE(4) DEPTHWISE(5) DEPTHWISE(6)

enum { DEPTHWISE_MOST = 6 };

typedef void (*depthwise_part)(const prt_windows *d, size_t at, size_t channel);

static void run_depthwise(const prt_windows *d)
{
    static const depthwise_part parts[DEPTHWISE_MOST] = { depthwise_1, depthwise_2,
        depthwise_3, depthwise_4, depthwise_5, depthwise_6 };
    const size_t groups = (d->n + DEPTHWISE_MOST - 1) / DEPTHWISE_MOST;
    for (size_t i = 0, at = 0; i < groups; i++) {
        const size_t some = d->n / groups + (i < d->n % groups);
        for (size_t c = 0; c < d->channels; c += VL)
            parts[some - 1](d, at, c);
        at += some;
    }
}

/* ---- pools: four vectors of one output at a time */

#define POOL(name, first, step, last)                                                              \
    static void name(const prt_windows *d)                                                         \
    {                                                                                              \
        const size_t all = d->channels, x_row = d->x_row, x_column = d->x_column;                  \
        const vf scale = v_set(d->scale);                                                          \
        (void)scale;                                                                               \
        for (size_t i = 0; i < d->lines * d->n; i++) {                                             \
            const float *x = d->x + i / d->n * d->x_line + i % d->n * d->x_step;                   \
            float *y = d->y + i / d->n * d->y_line + i % d->n * d->y_step;                         \
            size_t c = 0;                                                                          \
            for (; c + 4 * VL <= all; c += 4 * VL) {                                               \
                vf v[4] = { first, first, first, first };                                          \
                for (size_t r = 0; r < d->rows; r++)                                               \
                    for (size_t k = 0; k < d->columns; k++) {                                      \
                        const float *from = x + r * x_row + k * x_column + c;                      \
                        PRT_UNROLL(4)                                                              \
                        for (size_t j = 0; j < 4; j++)                                             \
                            v[j] = step(v[j], v_load(from + j * VL));                              \
                    }                                                                              \
                PRT_UNROLL(4)                                                                      \
                for (size_t j = 0; j < 4; j++)                                                     \
                    v_store(y + c + j * VL, last(v[j]));                                           \
            }                                                                                      \
            for (; c < all; c += VL) {                                                             \
                vf v = first;                                                                      \
                for (size_t r = 0; r < d->rows; r++)                                               \
                    for (size_t k = 0; k < d->columns; k++)                                        \
                        v = step(v, v_load_some(x + r * x_row + k * x_column, c, all));            \
                v_store_some(y, c, all, last(v));                                                  \
            }                                                                                      \
        }                                                                                          \
    }

/* NaN stays: max gives its second operand, and what was NaN is put back. */
static inline vf pool_larger(vf a, vf x)
{
    return v_select(v_equal(a, a), v_max(a, x), a);
}
#define POOL_SAME(v) (v)
#define POOL_SCALED(v) v_mul(v, scale)
POOL(run_pool_largest, v_set(-INFINITY), pool_larger, POOL_SAME)
POOL(run_pool_mean, v_set(0.0f), v_add, POOL_SCALED)

#endif
