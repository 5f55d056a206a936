/* SPDX-License-Identifier: MIT */
/*
 * windows_impl.h — tiles of some outputs of a row by some vectors of channels, in registers.
 */
#ifndef PRT_KERN_WINDOWS_IMPL_H
#define PRT_KERN_WINDOWS_IMPL_H

#include "kern/windows.h"
#include "kern/simd.h"

/* ---- outputs whose taps are the inputs' neighbours: each input is loaded once a row of taps */

/* N outputs of each line, of the vectors of channels before `end`, K taps a row. Lines go
 * innermost: what the next one needs as well is still in the first cache level. */
#define NEIGHBOURS(N, K)                                                                           \
    static void neighbours_##N##x##K(const prt_windows *d, size_t at, size_t end)                \
    {                                                                                              \
        const size_t all = d->channels, rows = d->rows, x_row = d->x_row, w_row = d->w_row;        \
        const size_t lines = d->lines, x_line = d->x_line, y_line = d->y_line;                     \
        const float *bias = d->bias;                                                               \
        const vf low = v_set(d->low), high = v_set(d->high);                                       \
        for (size_t c = 0; c < end; c += VL) {                                                     \
            const float *x = d->x + at * all + c;                                                  \
            const vf first = bias != NULL ? v_load(bias + c) : v_set(0.0f);                        \
            float *y = d->y + at * all + c;                                                        \
            for (size_t line = 0; line < lines; line++, x += x_line, y += y_line) {                \
                const float *in_row = x, *w = d->w + c;                                            \
                vf sum[N];                                                                         \
                PRT_UNROLL(16)                                                                     \
                for (size_t i = 0; i < N; i++)                                                     \
                    sum[i] = first;                                                                \
                for (size_t r = rows; r != 0; r--, in_row += x_row, w += w_row) {                  \
                    vf tap[K];                                                                     \
                    PRT_UNROLL(8)                                                                  \
                    for (size_t k = 0; k < K; k++)                                                 \
                        tap[k] = v_load(w + k * all);                                              \
                    PRT_UNROLL(16)                                                                 \
                    for (size_t i = 0; i < N + K - 1; i++) {                                       \
                        const vf in = v_load(in_row + i * all);                                    \
                        PRT_UNROLL(8)                                                              \
                        for (size_t k = 0; k < K; k++)                                             \
                            if (i >= k && i - k < N)                                               \
                                sum[i - k] = v_fma(in, tap[k], sum[i - k]);                        \
                    }                                                                              \
                }                                                                                  \
                PRT_UNROLL(16)                                                                     \
                for (size_t i = 0; i < N; i++)                                                     \
                    v_store(y + i * all, v_min(high, v_max(low, sum[i])));                         \
            }                                                                                      \
        }                                                                                          \
    }

/* ---- any step between outputs and between taps */

/* N outputs of each line, of B vectors of channels; a single vector may be a part of one. */
#define DEPTHWISE(N, B)                                                                            \
    static void depthwise_##N##x##B(const prt_windows *d, size_t at, size_t channel)             \
    {                                                                                              \
        const size_t all = d->channels, left = all - channel, step = d->x_step;                    \
        const size_t columns = d->columns, x_column = d->x_column;                                 \
        const size_t w_row = d->w_row - columns * all;                                             \
        /* Back, where the taps of a row reach further than their rows are apart. */               \
        const ptrdiff_t x_row = (ptrdiff_t)d->x_row - (ptrdiff_t)(columns * x_column);             \
        const vf low = v_set(d->low), high = v_set(d->high);                                       \
        for (size_t line = 0; line < d->lines; line++) {                                           \
            const float *x = d->x + line * d->x_line + at * step + channel, *w = d->w + channel;   \
            vf sum[N][B];                                                                          \
            EACH_OUTPUT(N, B) sum[i][j] = d->bias == NULL                                          \
                ? v_set(0.0f)                                                                      \
                : TAKE(B, d->bias + channel, j * VL);                                              \
            for (size_t r = d->rows; r != 0; r--, x += x_row, w += w_row)                          \
                for (size_t k = columns; k != 0; k--, x += x_column, w += all) {                   \
                    vf tap[B];                                                                     \
                    PRT_UNROLL(8)                                                                  \
                    for (size_t j = 0; j < B; j++)                                                 \
                        tap[j] = TAKE(B, w, j * VL);                                               \
                    EACH_OUTPUT(N, B)                                                              \
                    sum[i][j] = v_fma(TAKE(B, x + i * step, j * VL), tap[j], sum[i][j]);           \
                }                                                                                  \
            float *y = d->y + line * d->y_line + at * all + channel;                               \
            EACH_OUTPUT(N, B)                                                                      \
            GIVE(B, y + i * all, j * VL, v_min(high, v_max(low, sum[i][j])));                     \
        }                                                                                          \
    }
#define EACH_OUTPUT(N, B)                                                                          \
    PRT_UNROLL(8)                                                                                  \
    for (size_t i = 0; i < N; i++)                                                                 \
        PRT_UNROLL(8)                                                                              \
        for (size_t j = 0; j < B; j++)
#define GIVE(B, p, at, v) ((B) == 1 ? v_store_some(p, 0, left, v) : v_store((p) + (at), v))
#define TAKE(B, p, at) ((B) == 1 ? v_load_some(p, 0, left) : v_load((p) + (at)))

#define ONE_TO_SIX(macro, second)                                                                  \
    macro(1, second) macro(2, second) macro(3, second) macro(4, second) macro(5, second)           \
    macro(6, second)
#define SEVEN_TO_TWELVE(macro, second)                                                             \
    macro(7, second) macro(8, second) macro(9, second) macro(10, second) macro(11, second)         \
    macro(12, second)

ONE_TO_SIX(NEIGHBOURS, 3) SEVEN_TO_TWELVE(NEIGHBOURS, 3)
ONE_TO_SIX(NEIGHBOURS, 5) SEVEN_TO_TWELVE(NEIGHBOURS, 5)
ONE_TO_SIX(DEPTHWISE, 1) ONE_TO_SIX(DEPTHWISE, 2)
DEPTHWISE(1, 4)
#undef TAKE
#undef GIVE

enum { DEPTHWISE_MOST = 6, NEIGHBOURS_MOST = 12 };

typedef void (*depthwise_part)(const prt_windows *d, size_t at, size_t channel);

#define NEIGHBOURS_OF(K)                                                                           \
    {                                                                                              \
        neighbours_1x##K, neighbours_2x##K, neighbours_3x##K, neighbours_4x##K, neighbours_5x##K,  \
            neighbours_6x##K, neighbours_7x##K, neighbours_8x##K, neighbours_9x##K,                \
            neighbours_10x##K, neighbours_11x##K, neighbours_12x##K                                \
    }

/* Outputs [at, at + n) of the channels from `channel` on. */
static void depthwise_any(const prt_windows *d, size_t at, size_t n, size_t channel)
{
    static const depthwise_part one[DEPTHWISE_MOST] = { depthwise_1x1, depthwise_2x1,
        depthwise_3x1, depthwise_4x1, depthwise_5x1, depthwise_6x1 };
    static const depthwise_part two[DEPTHWISE_MOST] = { depthwise_1x2, depthwise_2x2,
        depthwise_3x2, depthwise_4x2, depthwise_5x2, depthwise_6x2 };
    const size_t groups = (n + DEPTHWISE_MOST - 1) / DEPTHWISE_MOST;
    for (size_t i = 0; i < groups; i++) {
        const size_t some = n / groups + (i < n % groups);
        size_t c = channel;
        for (; some == 1 && c + 4 * VL <= d->channels; c += 4 * VL)
            depthwise_1x4(d, at, c);
        for (; c + 2 * VL <= d->channels; c += 2 * VL)
            two[some - 1](d, at, c);
        for (; c < d->channels; c += VL)
            one[some - 1](d, at, c);
        at += some;
    }
}

static void run_depthwise(const prt_windows *d)
{
    static const depthwise_part parts[2][NEIGHBOURS_MOST] = { NEIGHBOURS_OF(3), NEIGHBOURS_OF(5) };
    const bool near = d->x_step == d->channels && d->x_column == d->channels && d->n > 1 &&
        (d->columns == 3 || d->columns == 5);
    const size_t whole = near ? d->channels / VL * VL : 0;
    const size_t groups = (d->n + NEIGHBOURS_MOST - 1) / NEIGHBOURS_MOST;
    for (size_t i = 0, at = 0; i < groups; i++) {
        const size_t n = d->n / groups + (i < d->n % groups);
        if (whole != 0)
            parts[d->columns == 5][n - 1](d, at, whole);
        if (whole < d->channels)
            depthwise_any(d, at, n, whole);
        at += n;
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
            float *y = d->y + i / d->n * d->y_line + i % d->n * all;                               \
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
