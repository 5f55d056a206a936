/* SPDX-License-Identifier: MIT */
/* winograd_impl.h — winograd.h at one level: a vector holds the same element of VL tiles. */
#ifndef PRT_KERN_WINOGRAD_IMPL_H
#define PRT_KERN_WINOGRAD_IMPL_H

#include "kern/act_impl.h"
#include "kern/winograd.h"

static inline vf load_tiles(const float *p, size_t n)
{
    return n < VL ? v_load_n(p, n) : v_load(p);
}

static inline void store_tiles(float *p, vf v, size_t n)
{
    if (n < VL)
        v_store_n(p, v, n);
    else
        v_store(p, v);
}

/* Three taps at the six points. */
static inline void turn_weights(vf a, vf b, vf c, vf to[6])
{
    const vf sixth = v_set(1.0f / 6.0f);
    const vf even = v_mul(v_set(-1.0f / 6.0f), v_add(a, c)), odd = v_mul(sixth, b);
    const vf even2 = v_fma(v_set(1.0f / 24.0f), a, v_mul(sixth, c));
    const vf odd2 = v_mul(v_set(1.0f / 12.0f), b);
    to[0] = v_mul(v_set(0.25f), a);
    to[1] = v_sub(even, odd);
    to[2] = v_add(even, odd);
    to[3] = v_add(even2, odd2);
    to[4] = v_sub(even2, odd2);
    to[5] = c;
}

/* Six inputs to the six points. */
static inline void turn_input(const vf d[6], vf to[6])
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

/* Six points to four outputs. */
static inline void turn_output(const vf m[6], vf to[4])
{
    const vf sum = v_add(m[1], m[2]), difference = v_sub(m[1], m[2]);
    const vf sum2 = v_add(m[3], m[4]), difference2 = v_sub(m[3], m[4]);
    to[0] = v_add(m[0], v_add(sum, sum2));
    to[1] = v_fma(v_set(2.0f), difference2, difference);
    to[2] = v_fma(v_set(4.0f), sum2, sum);
    to[3] = v_add(m[5], v_fma(v_set(8.0f), difference2, difference));
}

static void run_weights(size_t n, const float *w, float *to, size_t matrix)
{
    for (size_t i = 0; i < n; i += VL) {
        const size_t some = n - i < VL ? n - i : VL;
        float taps[9][VL];
        vf rows[3][6], column[6];
        for (size_t k = 0; k < some; k++)
            for (size_t t = 0; t < 9; t++)
                taps[t][k] = w[(i + k) * 9 + t];
        for (size_t k = some; k < VL; k++)
            for (size_t t = 0; t < 9; t++)
                taps[t][k] = 0.0f;
        for (size_t y = 0; y < 3; y++)
            turn_weights(v_load(taps[3 * y]), v_load(taps[3 * y + 1]), v_load(taps[3 * y + 2]),
                rows[y]);
        for (size_t x = 0; x < 6; x++) {
            turn_weights(rows[0][x], rows[1][x], rows[2][x], column);
            for (size_t y = 0; y < 6; y++)
                store_tiles(to + (y * 6 + x) * matrix + i, column[y], some);
        }
    }
}

static void run_input(size_t n, const float *const *from, float *to, size_t matrix)
{
    for (size_t i = 0; i < n; i += VL) {
        const size_t some = n - i < VL ? n - i : VL;
        vf rows[6][6], column[6], turned[6];
        for (size_t y = 0; y < 6; y++) {
            PRT_UNROLL(6)
            for (size_t x = 0; x < 6; x++)
                column[x] = load_tiles(from[y * 6 + x] + i, some);
            turn_input(column, rows[y]);
        }
        for (size_t x = 0; x < 6; x++) {
            PRT_UNROLL(6)
            for (size_t y = 0; y < 6; y++)
                column[y] = rows[y][x];
            turn_input(column, turned);
            PRT_UNROLL(6)
            for (size_t y = 0; y < 6; y++)
                store_tiles(to + (y * 6 + x) * matrix + i, turned[y], some);
        }
    }
}

static void run_output(size_t n, const float *from, size_t matrix, float bias, const prt_act *act,
    float *to, size_t row)
{
    const vf a = v_set(act->a), b = v_set(act->b), all = v_set(bias);
    for (size_t i = 0; i < n; i += VL) {
        const size_t some = n - i < VL ? n - i : VL;
        vf rows[6][4], column[6], turned[4];
        for (size_t y = 0; y < 6; y++) {
            PRT_UNROLL(6)
            for (size_t x = 0; x < 6; x++)
                column[x] = load_tiles(from + (y * 6 + x) * matrix + i, some);
            turn_output(column, rows[y]);
        }
        for (size_t x = 0; x < 4; x++) {
            PRT_UNROLL(6)
            for (size_t y = 0; y < 6; y++)
                column[y] = rows[y][x];
            turn_output(column, turned);
            PRT_UNROLL(4)
            for (size_t y = 0; y < 4; y++)
                store_tiles(to + (y * 4 + x) * row + i,
                    v_act(v_add(turned[y], all), act->kind, a, b), some);
        }
    }
}

#endif
