/* SPDX-License-Identifier: MIT */
/*
 * winograd_line_impl.h — F(6, 3), F(5, 4) and F(4, 5) at one level, for kernels along one axis: all
 * three have the points 0, 1, -1, 2, -2, 1/2, -1/2 and infinity, and so the same inputs.
 */
#ifndef PRT_KERN_WINOGRAD_LINE_IMPL_H
#define PRT_KERN_WINOGRAD_LINE_IMPL_H

#include "kern/winograd_impl.h"

enum { POINTS_L = 8, TAPS_L = 5, OUT_L = 6 };

/* The values at a point and its opposite, of what is even and what is odd. */
static inline void store_both(float *to, size_t matrix, size_t i, size_t n, vf even, vf odd)
{
    v_store_some(to, i, n, v_add(even, odd));
    v_store_some(to + matrix, i, n, v_sub(even, odd));
}

static void run_input_line(size_t n, const float *const *from, float *to, size_t matrix)
{
    const vf quarter = v_set(0.25f), half = v_set(0.5f), two = v_set(2.0f), four = v_set(4.0f);
    for (size_t i = 0; i < n; i += VL) {
        vf d[POINTS_L];
        PRT_UNROLL(8)
        for (size_t x = 0; x < POINTS_L; x++)
            d[x] = v_load_some(from[x], i, n);
        v_store_some(to, i, n, v_fma(v_set(5.25f), v_sub(d[4], d[2]), v_sub(d[0], d[6])));
        v_store_some(to + 7 * matrix, i, n,
            v_fma(v_set(5.25f), v_sub(d[3], d[5]), v_sub(d[7], d[1])));
        store_both(to + matrix, matrix, i, n, v_fma(v_set(-4.25f), d[4], v_add(d[2], d[6])),
            v_fma(v_set(-4.25f), d[3], v_add(d[1], d[5])));
        const vf middle = v_mul(v_set(-2.5f), d[3]);
        store_both(to + 3 * matrix, matrix, i, n,
            v_fma(quarter, d[2], v_fma(v_set(-1.25f), d[4], d[6])),
            v_fma(half, d[1], v_fma(two, d[5], middle)));
        store_both(to + 5 * matrix, matrix, i, n,
            v_fma(four, d[2], v_fma(v_set(-5.0f), d[4], d[6])),
            v_fma(two, d[1], v_fma(half, d[5], middle)));
    }
}

/* What taps are at the points a and -a, times a factor. */
static inline void turn_both(const vf g[TAPS_L], float a, float factor, float *to, size_t matrix)
{
    const vf square = v_set(a * a);
    const vf even = v_fma(square, v_fma(square, g[4], g[2]), g[0]);
    const vf odd = v_mul(v_set(a), v_fma(square, g[3], g[1]));
    store_both(to, matrix, 0, VL, v_mul(v_set(factor), even), v_mul(v_set(factor), odd));
}

static void run_weights_line(const prt_winograd_taps *w)
{
    float *to = w->to;
    for (size_t i = 0; i < w->n; i += VL, to += VL) {
        vf g[TAPS_L];
        for (size_t t = 0; t < TAPS_L; t++)
            g[t] = t < w->taps ? v_load(w->from + t * w->tap + i) : v_set(0.0f);
        v_store(to, g[0]);
        turn_both(g, 1.0f, -2.0f / 9.0f, to + w->matrix, w->matrix);
        turn_both(g, 2.0f, 1.0f / 90.0f, to + 3 * w->matrix, w->matrix);
        turn_both(g, 0.5f, 32.0f / 45.0f, to + 5 * w->matrix, w->matrix);
        v_store(to + 7 * w->matrix, g[POINTS_L - w->out]);
    }
}

static void run_output_line(const prt_winograd_out *o)
{
    for (size_t i = 0; i < o->n; i += VL) {
        vf m[POINTS_L], to[OUT_L];
        PRT_UNROLL(8)
        for (size_t x = 0; x < POINTS_L; x++) {
            const float *at = o->from + x * o->matrix;
            __builtin_prefetch(at + o->after + i, 0, 3);
            m[x] = v_load_some(at, i, o->n);
        }
        const vf sum = v_add(m[1], m[2]), less = v_sub(m[1], m[2]);
        const vf sum2 = v_add(m[3], m[4]), less2 = v_sub(m[3], m[4]);
        const vf half = v_add(m[5], m[6]), less_half = v_sub(m[5], m[6]);
        to[0] = v_add(m[0], v_add(half, v_add(sum, sum2)));
        to[1] = v_fma(v_set(0.5f), less_half, v_fma(v_set(2.0f), less2, less));
        to[2] = v_fma(v_set(0.25f), half, v_fma(v_set(4.0f), sum2, sum));
        to[3] = v_fma(v_set(0.125f), less_half, v_fma(v_set(8.0f), less2, less));
        to[4] = v_fma(v_set(0.0625f), half, v_fma(v_set(16.0f), sum2, sum));
        to[5] = v_fma(v_set(0.03125f), less_half, v_fma(v_set(32.0f), less2, less));
        to[o->out - 1] = v_add(to[o->out - 1], m[7]);
        for (size_t x = 0; x < o->wide; x++)
            put_output(o, 0, x, i, to[x]);
    }
}

#endif
