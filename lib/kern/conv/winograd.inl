/* SPDX-License-Identifier: MIT */
/*
 * winograd.inl — winograd.h for one level: a vector holds the same element of VL channels.
 */
#ifndef PRT_KERN_CONV_WINOGRAD_INL
#define PRT_KERN_CONV_WINOGRAD_INL

#include "kern/vector/simd.h"
#include "kern/conv/winograd.h"

/* Transforms six inputs to the six points. */
static inline void transform_input6(const vf d[6], vf to[6])
{
    const vf two = v_set(2.0f), four = v_set(4.0f), five = v_set(5.0f);
    const vf even = v_sub(d[4], v_mul(four, d[2])), odd = v_sub(d[3], v_mul(four, d[1]));
    const vf even2 = v_sub(d[4], d[2]), odd2 = v_mul(two, v_sub(d[3], d[1]));
    to[0] = v_fma(four, d[0], v_sub(d[4], v_mul(five, d[2])));
    to[1] = v_add(even, odd);
    to[2] = v_sub(even, odd);
    to[3] = v_add(even2, odd2);
    to[4] = v_sub(even2, odd2);
    to[5] = v_fma(four, d[1], v_sub(d[5], v_mul(five, d[3])));
}

/* Transforms six points to four outputs; or to two outputs of a 5x5 kernel, where the second output
 * also gets the value at infinity. */
static inline void transform_output6(const vf m[6], size_t out, vf to[4])
{
    const vf sum = v_add(m[1], m[2]), difference = v_sub(m[1], m[2]);
    const vf sum2 = v_add(m[3], m[4]), difference2 = v_sub(m[3], m[4]);
    to[0] = v_add(m[0], v_add(sum, sum2));
    to[1] = v_fma(v_set(2.0f), difference2, difference);
    if (out == 2) {
        to[1] = to[2] = to[3] = v_add(m[5], to[1]);
        return;
    }
    to[2] = v_fma(v_set(4.0f), sum2, sum);
    to[3] = v_add(m[5], v_fma(v_set(8.0f), difference2, difference));
}

/* Transforms four inputs to the points 0, 1, -1 and infinity; and back to two outputs. */
static inline void transform_input4(const vf d[4], vf to[4])
{
    to[0] = v_sub(d[0], d[2]);
    to[1] = v_add(d[1], d[2]);
    to[2] = v_sub(d[2], d[1]);
    to[3] = v_sub(d[3], d[1]);
}

static inline void transform_output4(const vf m[4], size_t out, vf to[2])
{
    (void)out;
    to[0] = v_add(m[0], v_add(m[1], m[2]));
    to[1] = v_add(m[3], v_sub(m[1], m[2]));
}

/* Transforms three taps to six points; to four points. */
static inline void transform_weights6(const vf g[3], vf to[6])
{
    const vf sixth = v_set(1.0f / 6.0f), odd = v_mul(sixth, g[1]), ends = v_add(g[0], g[2]);
    const vf even2 = v_fma(v_set(1.0f / 24.0f), g[0], v_mul(sixth, g[2]));
    const vf odd2 = v_mul(v_set(1.0f / 12.0f), g[1]);
    to[0] = v_mul(v_set(0.25f), g[0]);
    to[1] = v_sub(v_mul(v_set(-1.0f / 6.0f), ends), odd);
    to[2] = v_fma(v_set(-1.0f / 6.0f), ends, odd);
    to[3] = v_add(even2, odd2);
    to[4] = v_sub(even2, odd2);
    to[5] = g[2];
}

static inline void transform_weights4(const vf g[3], vf to[4])
{
    const vf half = v_set(0.5f), odd = v_mul(half, g[1]), ends = v_add(g[0], g[2]);
    to[0] = g[0];
    to[1] = v_fma(half, ends, odd);
    to[2] = v_sub(v_mul(half, ends), odd);
    to[3] = g[2];
}

/* Writes the outputs of a tile that are inside the image, from columns of `out` outputs. Not
 * inlined: a call is cheap here, and each inlined copy would take half a kilobyte. */
__attribute__((noinline)) static void write_outputs(const prt_winograd_out *o, size_t i, size_t out,
    const vf *v)
{
    const vf least = v_set(o->least), most = v_set(o->most);
    const size_t n = o->n, high = o->high, wide = o->wide;
    for (size_t x = 0; x < wide; x++, v += out) {
        const float *residual = o->residual != NULL ? o->residual + x * o->residual_column : NULL;
        float *to = o->y + x * o->y_column;
        for (size_t y = 0; y < high; y++, to += o->y_row) {
            vf sum = v[y];
            if (residual != NULL) {
                sum = v_add(sum, v_load_some(residual, i, n));
                residual += o->residual_row;
            }
            v_store_some(to, i, n, v_min(most, v_max(least, sum)));
        }
    }
}

/* Returns the bias, which is added to the value at point 1: it counts once in every output. */
static inline vf bias_of(const prt_winograd_out *o, size_t i)
{
    return o->bias != NULL ? v_load_some(o->bias, i, o->n) : v_set(0.0f);
}

/* Tiles of N by N inputs and M by M outputs: transforms rows, then columns. C: columns of the
 * planes that one part of the weights has. */
#define WINOGRAD(N, M, C)                                                                          \
    static void run_input##N(size_t n, const float *const *from, float *to, size_t matrix)         \
    {                                                                                              \
        for (size_t i = 0; i < n; i += VL) {                                                       \
            vf rows[N][N], column[N], transformed[N];                                              \
            for (size_t y = 0; y < N; y++) {                                                       \
                PRT_UNROLL(8)                                                                      \
                for (size_t x = 0; x < N; x++)                                                     \
                    column[x] = v_load_some(from[y * N + x], i, n);                                \
                transform_input##N(column, rows[y]);                                               \
            }                                                                                      \
            for (size_t x = 0; x < N; x++) {                                                       \
                PRT_UNROLL(8)                                                                      \
                for (size_t y = 0; y < N; y++)                                                     \
                    column[y] = rows[y][x];                                                        \
                transform_input##N(column, transformed);                                           \
                PRT_UNROLL(8)                                                                      \
                for (size_t y = 0; y < N; y++)                                                     \
                    v_store_some(to + (y * N + x) * matrix, i, n, transformed[y]);                 \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    __attribute__((always_inline)) static inline void transform_part##N(size_t n, size_t first,    \
        const float *from, size_t tap, float *to, size_t matrix)                                   \
    {                                                                                              \
        for (size_t i = 0; i < n; i += VL) {                                                       \
            vf rows[3][N], column[3], transformed[N];                                              \
            PRT_UNROLL(3)                                                                          \
            for (size_t y = 0; y < 3; y++) {                                                       \
                PRT_UNROLL(3)                                                                      \
                for (size_t x = 0; x < 3; x++)                                                     \
                    column[x] = v_load(from + (3 * y + x) * tap + i);                              \
                transform_weights##N(column, rows[y]);                                             \
            }                                                                                      \
            PRT_UNROLL(2)                                                                          \
            for (size_t x = 0; x < C; x++) {                                                       \
                PRT_UNROLL(3)                                                                      \
                for (size_t y = 0; y < 3; y++)                                                     \
                    column[y] = rows[y][first + x];                                                \
                transform_weights##N(column, transformed);                                         \
                PRT_UNROLL(8)                                                                      \
                for (size_t y = 0; y < N; y++)                                                     \
                    v_store(to + (y * C + x) * matrix + i, transformed[y]);                        \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    /* The columns that are needed are known at compile time. */                                   \
    static void run_weights##N(const prt_winograd_taps *w)                                         \
    {                                                                                              \
        if (C == N || w->part == 0)                                                                \
            transform_part##N(w->n, 0, w->from, w->tap, w->to, w->matrix);                         \
        else if (w->part == 1)                                                                     \
            transform_part##N(w->n, C % N, w->from, w->tap, w->to, w->matrix);                     \
        else                                                                                       \
            transform_part##N(w->n, N - C, w->from, w->tap, w->to, w->matrix);                     \
    }                                                                                              \
                                                                                                   \
    static void run_output##N(const prt_winograd_out *o)                                           \
    {                                                                                              \
        for (size_t i = 0; i < o->n; i += VL) {                                                    \
            vf rows[N][M], column[N], transformed[M][M];                                           \
            const vf bias = bias_of(o, i);                                                         \
            for (size_t y = 0; y < N; y++) {                                                       \
                PRT_UNROLL(8)                                                                      \
                for (size_t x = 0; x < N; x++) {                                                   \
                    const float *at = o->from + (y * N + x) * o->matrix;                           \
                    __builtin_prefetch(at + o->after + i, 0, 3);                                   \
                    column[x] = v_load_some(at, i, o->n);                                          \
                }                                                                                  \
                if (y == 1)                                                                        \
                    column[1] = v_add(column[1], bias);                                            \
                transform_output##N(column, o->out, rows[y]);                                      \
            }                                                                                      \
            for (size_t x = 0; x < o->wide; x++) {                                                 \
                PRT_UNROLL(8)                                                                      \
                for (size_t y = 0; y < N; y++)                                                     \
                    column[y] = rows[y][x];                                                        \
                transform_output##N(column, o->out, transformed[x]);                               \
            }                                                                                      \
            write_outputs(o, i, M, transformed[0]);                                                \
        }                                                                                          \
    }

WINOGRAD(6, 4, 2)
WINOGRAD(4, 2, 4)

#endif
