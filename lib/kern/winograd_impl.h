/* SPDX-License-Identifier: MIT */
/* winograd_impl.h — winograd.h at one level: a vector holds the same element of VL channels. */
#ifndef PRT_KERN_WINOGRAD_IMPL_H
#define PRT_KERN_WINOGRAD_IMPL_H

#include "kern/simd.h"
#include "kern/winograd.h"

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

static void run_input(size_t n, const float *const *from, float *to, size_t matrix)
{
    for (size_t i = 0; i < n; i += VL) {
        vf rows[6][6], column[6], turned[6];
        for (size_t y = 0; y < 6; y++) {
            PRT_UNROLL(6)
            for (size_t x = 0; x < 6; x++)
                column[x] = v_load_some(from[y * 6 + x], i, n);
            turn_input(column, rows[y]);
        }
        for (size_t x = 0; x < 6; x++) {
            PRT_UNROLL(6)
            for (size_t y = 0; y < 6; y++)
                column[y] = rows[y][x];
            turn_input(column, turned);
            PRT_UNROLL(6)
            for (size_t y = 0; y < 6; y++)
                v_store_some(to + (y * 6 + x) * matrix, i, n, turned[y]);
        }
    }
}

/* What is there of four outputs of column x. */
static inline void put_column(const prt_winograd_out *o, size_t x, size_t i, const vf v[4])
{
    const vf low = v_set(o->least), high = v_set(o->most);
    const vf bias = o->bias != NULL ? v_load_some(o->bias, i, o->n) : v_set(0.0f);
    PRT_UNROLL(4)
    for (size_t y = 0; y < 4; y++) {
        const size_t at = y * o->y_row + x * o->y_column;
        if (y >= o->high)
            continue;
        vf sum = v_add(v[y], bias);
        if (o->residual != NULL)
            sum = v_add(sum, v_load_some(o->residual + at, i, o->n));
        v_store_some(o->y + at, i, o->n, v_min(high, v_max(low, sum)));
    }
}

static void run_output(const prt_winograd_out *o)
{
    for (size_t i = 0; i < o->n; i += VL) {
        vf rows[6][4], column[6], turned[4];
        for (size_t y = 0; y < 6; y++) {
            PRT_UNROLL(6)
            for (size_t x = 0; x < 6; x++)
                column[x] = v_load_some(o->from + (y * 6 + x) * o->matrix, i, o->n);
            turn_output(column, rows[y]);
        }
        for (size_t x = 0; x < o->wide; x++) {
            PRT_UNROLL(6)
            for (size_t y = 0; y < 6; y++)
                column[y] = rows[y][x];
            turn_output(column, turned);
            put_column(o, x, i, turned);
        }
    }
}

#endif
