/* SPDX-License-Identifier: MIT */
/*
 * winograd_line.inl — Winograd with eight points 0, 1, -1, 2, -2, 1/2, -1/2, infinity, for one
 * level: F(6, 3), F(5, 4) and F(4, 5) for one-dimensional kernels, which share the input transform;
 * and F(6x6, 3x3).
 */
#ifndef PRT_KERN_CONV_WINOGRAD_LINE_INL
#define PRT_KERN_CONV_WINOGRAD_LINE_INL

#include "kern/conv/winograd.inl"

enum { POINTS_L = 8, TAPS_L = 5, OUT_L = 6 };

/* Returns the values at a point and its negative, from the even and the odd terms. */
static inline void both_signs(vf even, vf odd, vf to[2])
{
    to[0] = v_add(even, odd);
    to[1] = v_sub(even, odd);
}

static inline void transform_input8(const vf d[POINTS_L], vf to[POINTS_L])
{
    const vf quarter = v_set(0.25f), half = v_set(0.5f), two = v_set(2.0f), four = v_set(4.0f);
    const vf middle = v_mul(v_set(-2.5f), d[3]);
    to[0] = v_fma(v_set(5.25f), v_sub(d[4], d[2]), v_sub(d[0], d[6]));
    both_signs(v_fma(v_set(-4.25f), d[4], v_add(d[2], d[6])),
        v_fma(v_set(-4.25f), d[3], v_add(d[1], d[5])), to + 1);
    both_signs(v_fma(quarter, d[2], v_fma(v_set(-1.25f), d[4], d[6])),
        v_fma(half, d[1], v_fma(two, d[5], middle)), to + 3);
    both_signs(v_fma(four, d[2], v_fma(v_set(-5.0f), d[4], d[6])),
        v_fma(two, d[1], v_fma(half, d[5], middle)), to + 5);
    to[7] = v_fma(v_set(5.25f), v_sub(d[3], d[5]), v_sub(d[7], d[1]));
}

/* Transforms three or five taps to the points a and -a, times a factor. */
static inline void transform_taps(const vf *g, size_t taps, float a, float factor, vf to[2])
{
    const vf square = v_set(a * a);
    const vf even = v_fma(square, taps > 4 ? v_fma(square, g[4], g[2]) : g[2], g[0]);
    const vf odd = v_mul(v_set(a), taps > 3 ? v_fma(square, g[3], g[1]) : g[1]);
    both_signs(v_mul(v_set(factor), even), v_mul(v_set(factor), odd), to);
}

/* `last` is the tap that alone counts at infinity. */
__attribute__((always_inline)) static inline void transform_taps8(const vf *g, size_t taps, vf last,
    vf to[POINTS_L])
{
    to[0] = g[0];
    transform_taps(g, taps, 1.0f, -2.0f / 9.0f, to + 1);
    transform_taps(g, taps, 2.0f, 1.0f / 90.0f, to + 3);
    transform_taps(g, taps, 0.5f, 32.0f / 45.0f, to + 5);
    to[7] = last;
}

/* Transforms eight points to six outputs; for fewer outputs, the caller adds the value at infinity
 * to the last one. */
static inline void transform_output8(const vf m[POINTS_L], size_t out, vf to[OUT_L])
{
    const vf sum = v_add(m[1], m[2]), less = v_sub(m[1], m[2]);
    const vf sum2 = v_add(m[3], m[4]), less2 = v_sub(m[3], m[4]);
    const vf half = v_add(m[5], m[6]), less_half = v_sub(m[5], m[6]);
    (void)out;
    to[0] = v_add(m[0], v_add(half, v_add(sum, sum2)));
    to[1] = v_fma(v_set(0.5f), less_half, v_fma(v_set(2.0f), less2, less));
    to[2] = v_fma(v_set(0.25f), half, v_fma(v_set(4.0f), sum2, sum));
    to[3] = v_fma(v_set(0.125f), less_half, v_fma(v_set(8.0f), less2, less));
    to[4] = v_fma(v_set(0.0625f), half, v_fma(v_set(16.0f), sum2, sum));
    to[5] = v_add(m[7], v_fma(v_set(0.03125f), less_half, v_fma(v_set(32.0f), less2, less)));
}

static void run_input_line(size_t n, const float *const *from, float *to, size_t matrix)
{
    for (size_t i = 0; i < n; i += VL) {
        vf d[POINTS_L], transformed[POINTS_L];
        PRT_UNROLL(8)
        for (size_t x = 0; x < POINTS_L; x++)
            d[x] = v_load_some(from[x], i, n);
        transform_input8(d, transformed);
        PRT_UNROLL(8)
        for (size_t x = 0; x < POINTS_L; x++)
            v_store_some(to + x * matrix, i, n, transformed[x]);
    }
}

static void run_weights_line(const prt_winograd_taps *w)
{
    for (size_t i = 0; i < w->n; i += VL) {
        vf g[TAPS_L], transformed[POINTS_L];
        for (size_t t = 0; t < TAPS_L; t++)
            g[t] = t < w->taps ? v_load(w->from + t * w->tap + i) : v_set(0.0f);
        transform_taps8(g, TAPS_L, g[POINTS_L - w->out], transformed);
        PRT_UNROLL(8)
        for (size_t x = 0; x < POINTS_L; x++)
            v_store(w->to + x * w->matrix + i, transformed[x]);
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
        m[1] = v_add(m[1], bias_of(o, i));
        transform_output8(m, OUT_L, to);
        if (o->out < OUT_L)
            to[o->out - 1] = v_add(to[o->out - 1], m[POINTS_L - 1]);
        write_outputs(o, i, 1, to);
    }
}

#if defined(__AVX2__) && !defined(__AVX512F__) /* only here has F(6x6, 3x3) been measured to be
                                                * faster */
static inline void transform_weights8(const vf g[3], vf to[POINTS_L])
{
    transform_taps8(g, 3, g[2], to);
}

WINOGRAD(8, 6, 8)
#define LARGE                                                                                      \
    [PRT_WINOGRAD_6x6_3x3] = { .out = 6, .in = 8, .columns = 8, .input = run_input8,               \
        .weights = run_weights8, .output = run_output8 },
#else
#define LARGE
#endif

#endif
