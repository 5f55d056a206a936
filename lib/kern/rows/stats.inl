/* SPDX-License-Identifier: MIT */
/* stats.inl — reductions of rows.h for one level: sums, extremes, softmax, normalisations. */
#ifndef PRT_KERN_ROWS_STATS_INL
#define PRT_KERN_ROWS_STATS_INL

#include "kern/rows/rows.inl"

enum { BLOCK = 1024 }; /* elements that are summed in float32; sums of blocks are double */

static double run_sum(size_t n, const float *x)
{
    double total = 0.0;
    for (size_t first = 0; first < n; first += BLOCK) {
        const size_t end = n - first < BLOCK ? n : first + BLOCK;
        vf s0 = v_set(0.0f), s1 = s0, s2 = s0, s3 = s0;
        size_t i = first;
        for (; i + 4 * VL <= end; i += 4 * VL) {
            s0 = v_add(s0, v_load(x + i));
            s1 = v_add(s1, v_load(x + i + VL));
            s2 = v_add(s2, v_load(x + i + 2 * VL));
            s3 = v_add(s3, v_load(x + i + 3 * VL));
        }
        for (; i + VL <= end; i += VL)
            s0 = v_add(s0, v_load(x + i));
        if (i < end)
            s1 = v_add(s1, v_load_n(x + i, end - i));
        total += (double)v_sum(v_add(v_add(s0, s1), v_add(s2, s3)));
    }
    return total;
}

/* Returns the sum of squares of x - from. */
static double squares_from(size_t n, const float *x, float from)
{
    const vf all = v_set(from);
    double total = 0.0;
    for (size_t first = 0; first < n; first += BLOCK) {
        const size_t end = n - first < BLOCK ? n : first + BLOCK;
        vf s0 = v_set(0.0f), s1 = s0;
        size_t i = first;
        for (; i + 2 * VL <= end; i += 2 * VL) {
            const vf a = v_sub(v_load(x + i), all), b = v_sub(v_load(x + i + VL), all);
            s0 = v_fma(a, a, s0);
            s1 = v_fma(b, b, s1);
        }
        double rest = 0.0;
        if (i + VL <= end) {
            const vf a = v_sub(LOAD(x), all);
            s0 = v_fma(a, a, s0);
            i += VL;
        }
        for (; i < end; i++)
            rest += (double)(x[i] - from) * (double)(x[i] - from);
        total += (double)v_sum(v_add(s0, s1)) + rest;
    }
    return total;
}

static double run_squares(size_t n, const float *x)
{
    return squares_from(n, x, 0.0f);
}

static void run_moments(size_t n, const float *x, float *mean, double *variance)
{
    *mean = (float)(run_sum(n, x) / (double)n);
    *variance = squares_from(n, x, *mean) / (double)n;
}

/* Returns the extreme, or NaN if an element is NaN. The last vector may overlap the one before
 * it. */
static inline float extreme_row(const int kind, size_t n, const float *x)
{
    float r = x[0];
    if (n < VL) {
        for (size_t i = 1; i < n; i++)
            r = (kind == PRT_BINARY_max ? x[i] > r : x[i] < r) || x[i] != x[i] ? x[i] : r;
        return r;
    }
    vf s = v_load(x);
    for (size_t i = VL; i + VL <= n; i += VL)
        s = binary(kind, s, LOAD(x));
    s = binary(kind, s, v_load(x + n - VL));
    if (v_largest(v_select(v_equal(s, s), v_set(0.0f), v_set(1.0f))) > 0.0f)
        return NAN;
    return kind == PRT_BINARY_max ? v_largest(s) : -v_largest(v_neg(s));
}

static float run_extreme(int kind, size_t n, const float *x)
{
    return kind == PRT_BINARY_max ? extreme_row(PRT_BINARY_max, n, x)
                                  : extreme_row(PRT_BINARY_min, n, x);
}

static void run_add_to(size_t n, const float *x, bool square, double *sums)
{
    if (square)
        for (size_t i = 0; i < n; i++)
            sums[i] += (double)x[i] * (double)x[i];
    else
        for (size_t i = 0; i < n; i++)
            sums[i] += (double)x[i];
}

static void run_centre(size_t n, const float *x, float mean, float scale, float shift, float *y)
{
    const vf m = v_set(mean), a = v_set(scale), b = v_set(shift);
    size_t i = 0;
    for (; i + VL <= n; i += VL)
        v_store(y + i, v_fma(v_sub(LOAD(x), m), a, b));
    if (i < n)
        v_store_n(y + i, v_fma(v_sub(LOAD_REST(x), m), a, b), n - i);
}

/* Four rows at a time have independent sums, which hides latency. */
static void run_deviations(size_t n, size_t m, const float *x, size_t stride, const float *middle,
    float *y)
{
    for (size_t j = 0; j < m; j += VL) {
        const vf mid = v_load_some(middle, j, m);
        vf s[4] = { v_set(0.0f), v_set(0.0f), v_set(0.0f), v_set(0.0f) };
        for (size_t i = 0; i < n; i += 4)
            PRT_UNROLL(4)
            for (size_t r = 0; r < 4; r++)
                if (i + r < n) {
                    const vf d = v_sub(v_load_some(x + (i + r) * stride, j, m), mid);
                    s[r] = v_fma(d, d, s[r]);
                }
        v_store_some(y, j, m, v_add(v_add(s[0], s[1]), v_add(s[2], s[3])));
    }
}

static void run_standardise(size_t n, size_t m, const float *x, const float *middle,
    const float *scale, const float *shift, float *y)
{
    for (size_t i = 0; i < n; i++, x += m, y += m)
        for (size_t j = 0; j < m; j += VL)
            v_store_some(y, j, m, v_fma(v_sub(v_load_some(x, j, m), v_load_some(middle, j, m)),
                v_load_some(scale, j, m), v_load_some(shift, j, m)));
}

/* Returns the largest element. NaN may be lost. */
static inline float largest_of(size_t n, const float *x)
{
    vf most = v_set(-INFINITY);
    size_t i = 0;
    for (; i + VL <= n; i += VL)
        most = v_max(most, LOAD(x));
    float largest = v_largest(most);
    for (; i < n; i++)
        largest = x[i] > largest ? x[i] : largest;
    return largest;
}

/* exp(x - max) / sum. NaN makes all results NaN: the search for the maximum may lose it, but the
 * sum does not. */
static void run_softmax(size_t n, const float *x, float *y)
{
    const vf all = v_set(largest_of(n, x));
    size_t i = 0;
    for (; i + VL <= n; i += VL)
        v_store(y + i, v_exp_weight(v_sub(LOAD(x), all)));
    if (i < n)
        v_store_n(y + i, v_exp_weight(v_sub(LOAD_REST(x), all)), n - i);
    run_scale(n, y, (float)(1.0 / run_sum(n, y)), 0.0f, y);
}

/* (x - max) - log(sum of exp(x - max)). */
static void run_log_softmax(size_t n, const float *x, float *y)
{
    const float largest = largest_of(n, x);
    const vf all = v_set(largest);
    double total = 0.0;
    for (size_t first = 0; first < n; first += BLOCK) {
        const size_t end = n - first < BLOCK ? n : first + BLOCK;
        vf s = v_set(0.0f);
        size_t i = first;
        for (; i + VL <= end; i += VL)
            s = v_add(s, v_exp_weight(v_sub(LOAD(x), all)));
        float rest[VL] = { 0 };
        if (i < end)
            v_store_n(rest, v_exp_weight(v_sub(v_load_n(x + i, end - i), all)), end - i);
        total += (double)v_sum(v_add(s, v_load(rest)));
    }
    run_centre(n, x, largest, 1.0f, (float)-log(total), y);
}

static void run_layer_norm(size_t n, const float *x, float epsilon, const float *gamma,
    const float *beta, float *y)
{
    float mean;
    double variance;
    run_moments(n, x, &mean, &variance);
    const vf all = v_set(mean);
    const vf inverse = v_set((float)(1.0 / sqrt(variance + (double)epsilon)));
    size_t i = 0;
    for (; i + VL <= n; i += VL) {
        const vf v = v_mul(v_mul(v_sub(LOAD(x), all), inverse), LOAD(gamma));
        v_store(y + i, beta != NULL ? v_add(v, LOAD(beta)) : v);
    }
    if (i < n) {
        const vf v = v_mul(v_mul(v_sub(LOAD_REST(x), all), inverse), LOAD_REST(gamma));
        v_store_n(y + i, beta != NULL ? v_add(v, LOAD_REST(beta)) : v, n - i);
    }
}

#endif
