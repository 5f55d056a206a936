/* SPDX-License-Identifier: MIT */
/*
 * winograd_strided.inl — F(4x4, 3x3) at stride 2, for one level. The even rows of a tile meet two
 * taps of a kernel column: F(4, 2) with the points 0, 1, -1, 2 and infinity. The odd rows meet one
 * tap, which multiplies them untransformed. The same holds for columns. This gives four kinds of
 * planes:
 *
 *     0 to 24    points of rows by points of columns
 *     25 to 44   points of rows, four columns each
 *     45 to 64   points of columns, four rows each
 *     65 to 80   pixels
 *
 * Four planes of the second and third kind share a matrix of weights; all planes of the last kind
 * share one.
 */
#ifndef PRT_KERN_CONV_WINOGRAD_STRIDED_INL
#define PRT_KERN_CONV_WINOGRAD_STRIDED_INL

#include "kern/conv/winograd.inl"

enum { SIDE_S = 9, POINTS_S = 5, OUT_S = 4, ROWS_S = 25, COLUMNS_S = 45, PIXELS_S = 65 };

static inline void transform_input5(const vf d[POINTS_S], vf to[POINTS_S])
{
    const vf two = v_set(2.0f), less2 = v_set(-2.0f);
    const vf odd = v_sub(d[3], d[1]), even = v_sub(d[3], d[2]);
    to[0] = v_fma(two, v_sub(d[0], d[2]), odd);
    to[1] = v_fma(less2, d[1], even);
    to[2] = v_fma(two, v_sub(d[1], d[2]), even);
    to[3] = odd;
    to[4] = v_fma(less2, odd, v_sub(d[4], d[2]));
}

static inline void transform_output5(const vf m[POINTS_S], vf to[OUT_S])
{
    const vf sum = v_add(m[1], m[2]), difference = v_sub(m[1], m[2]);
    to[0] = v_add(v_add(m[0], m[3]), sum);
    to[1] = v_fma(v_set(2.0f), m[3], difference);
    to[2] = v_fma(v_set(4.0f), m[3], sum);
    to[3] = v_add(m[4], v_fma(v_set(8.0f), m[3], difference));
}

/* Transforms two taps to the five points. */
static inline void transform_weights5(vf g0, vf g1, vf to[POINTS_S])
{
    const vf half = v_set(0.5f), sixth = v_set(1.0f / 6.0f);
    to[0] = v_mul(half, g0);
    to[1] = v_mul(v_set(-0.5f), v_add(g0, g1));
    to[2] = v_mul(sixth, v_sub(g1, g0));
    to[3] = v_mul(sixth, v_fma(v_set(2.0f), g1, g0));
    to[4] = g1;
}

static inline void store_five(float *to, size_t stride, size_t i, size_t n, const vf five[POINTS_S])
{
    PRT_UNROLL(5)
    for (size_t k = 0; k < POINTS_S; k++)
        v_store_some(to + k * stride, i, n, five[k]);
}

static void run_input_strided(size_t n, const float *const *from, float *to, size_t matrix)
{
    for (size_t i = 0; i < n; i += VL) {
        vf both[POINTS_S][POINTS_S], d[POINTS_S], transformed[POINTS_S];
        for (size_t x = 0; x < SIDE_S; x++) {
            PRT_UNROLL(5)
            for (size_t y = 0; y < POINTS_S; y++)
                d[y] = v_load_some(from[2 * y * SIDE_S + x], i, n);
            transform_input5(d, transformed);
            if (x % 2 != 0) {
                store_five(to + (ROWS_S + x / 2) * matrix, OUT_S * matrix, i, n, transformed);
                continue;
            }
            PRT_UNROLL(5)
            for (size_t k = 0; k < POINTS_S; k++)
                both[k][x / 2] = transformed[k];
        }
        for (size_t k = 0; k < POINTS_S; k++) {
            transform_input5(both[k], transformed);
            store_five(to + k * POINTS_S * matrix, matrix, i, n, transformed);
        }
        for (size_t y = 0; y < OUT_S; y++) {
            const float *const *row = from + (2 * y + 1) * SIDE_S;
            PRT_UNROLL(5)
            for (size_t x = 0; x < POINTS_S; x++)
                d[x] = v_load_some(row[2 * x], i, n);
            transform_input5(d, transformed);
            store_five(to + (COLUMNS_S + y) * matrix, OUT_S * matrix, i, n, transformed);
            PRT_UNROLL(4)
            for (size_t x = 0; x < OUT_S; x++)
                v_store_some(to + (PIXELS_S + y * OUT_S + x) * matrix, i, n,
                    v_load_some(row[2 * x + 1], i, n));
        }
    }
}

/* Transforms columns of point `first` and, with `count` = 2, of the next point. */
__attribute__((always_inline)) static inline void transform_corners(const float *from, size_t tap,
    size_t first, size_t count, float *to, size_t matrix)
{
    vf rows[2][POINTS_S], transformed[POINTS_S];
    PRT_UNROLL(2)
    for (size_t y = 0; y < 2; y++)
        transform_weights5(v_load(from + 6 * y * tap), v_load(from + (6 * y + 2) * tap), rows[y]);
    PRT_UNROLL(2)
    for (size_t x = 0; x < count; x++) {
        transform_weights5(rows[0][first + x], rows[1][first + x], transformed);
        PRT_UNROLL(5)
        for (size_t k = 0; k < POINTS_S; k++)
            v_store(to + (k * count + x) * matrix, transformed[k]);
    }
}

static void run_weights_strided(const prt_winograd_taps *w)
{
    const float *from = w->from;
    const size_t tap = w->tap, matrix = w->matrix;
    float *to = w->to;
    vf transformed[POINTS_S];
    for (size_t i = 0; i < w->n; i += VL, from += VL, to += VL)
        switch (w->part) {
        case 0: transform_corners(from, tap, 0, 2, to, matrix); break;
        case 1: transform_corners(from, tap, 2, 2, to, matrix); break;
        case 2:
            transform_corners(from, tap, 4, 1, to, matrix);
            transform_weights5(v_load(from + tap), v_load(from + 7 * tap), transformed);
            store_five(to + POINTS_S * matrix, matrix, 0, VL, transformed);
            break;
        default:
            transform_weights5(v_load(from + 3 * tap), v_load(from + 5 * tap), transformed);
            store_five(to, matrix, 0, VL, transformed);
            v_store(to + POINTS_S * matrix, v_load(from + 4 * tap));
        }
}

static inline vf load_unit(const prt_winograd_out *o, size_t unit, size_t i)
{
    const float *at = o->from + unit * o->matrix;
    __builtin_prefetch(at + o->after + i, 0, 3);
    return v_load_some(at, i, o->n);
}

static void run_output_strided(const prt_winograd_out *o)
{
    for (size_t i = 0; i < o->n; i += VL) {
        vf rows[POINTS_S][OUT_S], rest[OUT_S][OUT_S], m[POINTS_S], transformed[OUT_S][OUT_S];
        for (size_t y = 0; y < POINTS_S; y++) {
            PRT_UNROLL(5)
            for (size_t x = 0; x < POINTS_S; x++)
                m[x] = load_unit(o, y * POINTS_S + x, i);
            if (y == 1)
                m[1] = v_add(m[1], bias_of(o, i));
            transform_output5(m, rows[y]);
            PRT_UNROLL(4)
            for (size_t x = 0; x < OUT_S; x++)
                rows[y][x] = v_add(rows[y][x], load_unit(o, ROWS_S + y * OUT_S + x, i));
        }
        for (size_t y = 0; y < OUT_S; y++) {
            PRT_UNROLL(5)
            for (size_t x = 0; x < POINTS_S; x++)
                m[x] = load_unit(o, COLUMNS_S + x * OUT_S + y, i);
            transform_output5(m, rest[y]);
            PRT_UNROLL(4)
            for (size_t x = 0; x < OUT_S; x++)
                rest[y][x] = v_add(rest[y][x], load_unit(o, PIXELS_S + y * OUT_S + x, i));
        }
        for (size_t x = 0; x < o->wide; x++) {
            PRT_UNROLL(5)
            for (size_t y = 0; y < POINTS_S; y++)
                m[y] = rows[y][x];
            transform_output5(m, transformed[x]);
            PRT_UNROLL(4)
            for (size_t y = 0; y < OUT_S; y++)
                transformed[x][y] = v_add(transformed[x][y], rest[y][x]);
        }
        write_outputs(o, i, OUT_S, transformed[0]);
    }
}

#endif
