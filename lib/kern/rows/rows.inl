/* SPDX-License-Identifier: MIT */
/*
 * rows.inl — rows.h for one instruction-set level. The order of sums is fixed and depends on the
 * level alone.
 */
#ifndef PRT_KERN_ROWS_ROWS_INL
#define PRT_KERN_ROWS_ROWS_INL

#include "kern/gemm/gemm.inl"
#include "kern/rows/rows.h"

/* Elements from i on: a whole vector, or the rest of n. */
#define LOAD(p) v_load((p) + i)
#define LOAD_REST(p) v_load_n((p) + i, n - i)

static inline vf binary(int kind, vf a, vf b)
{
    switch (kind) {
    case PRT_BINARY_add:
        return v_add(a, b);
    case PRT_BINARY_sub:
        return v_sub(a, b);
    case PRT_BINARY_mul:
        return v_mul(a, b);
    case PRT_BINARY_div:
        return v_div(a, b);
    case PRT_BINARY_max: /* max returns a NaN of b; the select keeps a NaN of a */
        return v_select(v_equal(a, a), v_max(a, b), a);
    case PRT_BINARY_min:
        return v_select(v_equal(a, a), v_min(a, b), a);
    default:
        return v_select(v_less(a, v_set(0.0f)), v_mul(a, b), a);
    }
}

static inline void binary_rows(const int kind, size_t n, const float *a, size_t step_a,
    const float *b, size_t step_b, float *y)
{
    const vf all_a = v_set(step_a == 0 && n != 0 ? *a : 0.0f);
    const vf all_b = v_set(step_b == 0 && n != 0 ? *b : 0.0f);
    size_t i = 0;
    for (; i + VL <= n; i += VL)
        v_store(y + i, binary(kind, step_a != 0 ? LOAD(a) : all_a, step_b != 0 ? LOAD(b) : all_b));
    if (i < n)
        v_store_n(y + i, binary(kind, step_a != 0 ? LOAD_REST(a) : all_a,
                             step_b != 0 ? LOAD_REST(b) : all_b), n - i);
}

static void run_binary(int kind, size_t n, const float *a, size_t step_a, const float *b,
    size_t step_b, float *y)
{
    switch (kind) {
    case PRT_BINARY_add:
        binary_rows(PRT_BINARY_add, n, a, step_a, b, step_b, y);
        break;
    case PRT_BINARY_sub:
        binary_rows(PRT_BINARY_sub, n, a, step_a, b, step_b, y);
        break;
    case PRT_BINARY_mul:
        binary_rows(PRT_BINARY_mul, n, a, step_a, b, step_b, y);
        break;
    case PRT_BINARY_div:
        binary_rows(PRT_BINARY_div, n, a, step_a, b, step_b, y);
        break;
    case PRT_BINARY_max:
        binary_rows(PRT_BINARY_max, n, a, step_a, b, step_b, y);
        break;
    case PRT_BINARY_min:
        binary_rows(PRT_BINARY_min, n, a, step_a, b, step_b, y);
        break;
    default:
        binary_rows(PRT_BINARY_prelu, n, a, step_a, b, step_b, y);
        break;
    }
}

/* Rounds up or down to an integer; a zero keeps the sign of x. */
static inline vf ceil_or_floor(vf x, bool up)
{
    const vf nearest = v_round(x), one = v_set(1.0f);
    const vf r = up ? v_select(v_less(nearest, x), v_add(nearest, one), nearest)
                    : v_select(v_less(x, nearest), v_sub(nearest, one), nearest);
    return v_copysign(r, x);
}

/* pow(x, 0.5). Adding 0 turns -0 into +0. */
static inline vf pow_half(vf x)
{
    const vf infinity = v_set(INFINITY);
    return v_select(v_equal(x, v_neg(infinity)), infinity, v_sqrt(v_add(x, v_set(0.0f))));
}

/* Returns -1, 0 or 1; NaN is preserved, and -0 becomes +0. */
static inline vf sign_of(vf x)
{
    const vf one = v_copysign(v_set(1.0f), x);
    return v_select(v_less(v_set(0.0f), v_abs(x)), one, v_add(x, v_set(0.0f)));
}

__attribute__((always_inline)) static inline vf unary(int kind, vf x)
{
    switch (kind) {
    case PRT_UNARY_abs:
        return v_abs(x);
    case PRT_UNARY_neg:
        return v_neg(x);
    case PRT_UNARY_sqrt:
        return v_sqrt(x);
    case PRT_UNARY_reciprocal:
        return v_div(v_set(1.0f), x);
    case PRT_UNARY_exp:
        return v_exp(x);
    case PRT_UNARY_log:
        return v_log(x);
    case PRT_UNARY_sin:
        return v_sine(x, 0.0f);
    case PRT_UNARY_cos:
        return v_sine(x, 1.0f);
    case PRT_UNARY_floor:
        return ceil_or_floor(x, false);
    case PRT_UNARY_ceil:
        return ceil_or_floor(x, true);
    case PRT_UNARY_round:
        return v_round(x);
    case PRT_UNARY_sign:
        return sign_of(x);
    case PRT_UNARY_square:
        return v_mul(x, x);
    case PRT_UNARY_cube:
        return v_mul(v_mul(x, x), x);
    case PRT_UNARY_root:
        return pow_half(x);
    case PRT_UNARY_inverse_root:
        return v_div(v_set(1.0f), pow_half(x));
    case PRT_UNARY_atan:
        return v_atan(x);
    case PRT_UNARY_tan:
        return v_tangent(x);
    default:
        return v_erf(x);
    }
}

/* One copy for all kinds without a loop of their own, and for partial vectors. */
__attribute__((noinline)) static vf one_of(int kind, vf x)
{
    return unary(kind, x);
}

/* Computes whole vectors of a compile-time kind. Returns the number of elements. */
__attribute__((always_inline)) static inline size_t one_kind(int kind, size_t n, const float *x,
    float *y)
{
    size_t i = 0;
    for (; i + VL <= n; i += VL)
        v_store(y + i, unary(kind, LOAD(x)));
    return i;
}

/* Kinds of a few instructions, and frequent ones, have loops of their own. */
static void run_unary(int kind, size_t n, const float *x, float *y)
{
    size_t i = 0;
    switch (kind) {
    case PRT_UNARY_abs:
        i = one_kind(PRT_UNARY_abs, n, x, y);
        break;
    case PRT_UNARY_neg:
        i = one_kind(PRT_UNARY_neg, n, x, y);
        break;
    case PRT_UNARY_sqrt:
        i = one_kind(PRT_UNARY_sqrt, n, x, y);
        break;
    case PRT_UNARY_square:
        i = one_kind(PRT_UNARY_square, n, x, y);
        break;
    case PRT_UNARY_exp:
        i = one_kind(PRT_UNARY_exp, n, x, y);
        break;
    default:
        break;
    }
    for (; i + VL <= n; i += VL)
        v_store(y + i, one_of(kind, LOAD(x)));
    if (i < n)
        v_store_n(y + i, one_of(kind, LOAD_REST(x)), n - i);
}

static void run_scale(size_t n, const float *x, float scale, float shift, float *y)
{
    const vf a = v_set(scale), b = v_set(shift);
    size_t i = 0;
    for (; i + VL <= n; i += VL)
        v_store(y + i, v_fma(LOAD(x), a, b));
    if (i < n)
        v_store_n(y + i, v_fma(LOAD_REST(x), a, b), n - i);
}

static void run_taps(const prt_taps *t)
{
    const size_t n = t->n;
    size_t i = 0;
    for (; i + 4 * VL <= n; i += 4 * VL) {
        vf s0 = v_set(t->bias), s1 = s0, s2 = s0, s3 = s0;
        for (size_t p = 0; p < t->taps; p++) {
            const vf w = v_set(t->w[p]);
            const float *x = t->from[p] + i;
            s0 = v_fma(w, v_load(x), s0);
            s1 = v_fma(w, v_load(x + VL), s1);
            s2 = v_fma(w, v_load(x + 2 * VL), s2);
            s3 = v_fma(w, v_load(x + 3 * VL), s3);
        }
        v_store(t->y + i, s0);
        v_store(t->y + i + VL, s1);
        v_store(t->y + i + 2 * VL, s2);
        v_store(t->y + i + 3 * VL, s3);
    }
    for (; i < n; i += VL) {
        const size_t some = n - i < VL ? n - i : VL;
        vf s = v_set(t->bias);
        for (size_t p = 0; p < t->taps; p++)
            s = v_fma(v_set(t->w[p]), some == VL ? v_load(t->from[p] + i)
                                                 : v_load_n(t->from[p] + i, some), s);
        if (some == VL)
            v_store(t->y + i, s);
        else
            v_store_n(t->y + i, s, some);
    }
    if (t->act.kind != PRT_ACT_none)
        run_act(&t->act, n, t->y, t->y);
}

static void run_max(size_t n, size_t taps, const float *const *from, float *y)
{
    for (size_t i = 0; i < n; i += VL) {
        const size_t some = n - i < VL ? n - i : VL;
        vf s = some == VL ? v_load(from[0] + i) : v_load_n(from[0] + i, some);
        for (size_t p = 1; p < taps; p++)
            s = binary(PRT_BINARY_max, s,
                some == VL ? v_load(from[p] + i) : v_load_n(from[p] + i, some));
        if (some == VL)
            v_store(y + i, s);
        else
            v_store_n(y + i, s, some);
    }
}

/* Bytes of prefetch distance in a matrix of at least this size. */
enum { ROWS_FAR = 4096 };

/* Prefetches `count` floats ROWS_FAR after `at`: more of the matrix, or, beyond its `end`, the data
 * at `next`, which the hardware prefetcher cannot know. Always inlined, since gcc drops calls of a
 * function that only prefetches. */
__attribute__((always_inline)) static inline void fetch_next(const float *at, size_t count,
    uintptr_t end, const void *next)
{
    const uintptr_t far = (uintptr_t)at + ROWS_FAR;
    const uintptr_t from = far < end ? far : (uintptr_t)next + (far - end);
    for (size_t i = 0; i < count * sizeof(float); i += LINE)
        __builtin_prefetch((const void *)(from + i), 0, 2);
}

static bool is_far(size_t columns, size_t rows, size_t stride, const void *next)
{
    return next != NULL && columns == stride && rows * columns * sizeof(float) >= ROWS_FAR;
}

/* Computes the dot product of a and each row of b; with `square`, the squared distance. Four rows
 * at a time. */
__attribute__((always_inline)) static inline void sum_rows(bool square, size_t n, size_t m,
    const float *a, const float *b, size_t stride, const void *next, float *y)
{
    const bool far = is_far(n, m, stride, next);
    const uintptr_t end = (uintptr_t)b + m * n * sizeof(float);
    for (size_t j = 0; j < m; j += 4) {
        const size_t rows = m - j < 4 ? m - j : 4;
        const float *row[4];
        if (far)
            fetch_next(b + j * n, 4 * n, end, next);
        for (size_t r = 0; r < 4; r++)
            row[r] = b + (j + (r < rows ? r : 0)) * stride;
        vf s[4] = { v_set(0.0f), v_set(0.0f), v_set(0.0f), v_set(0.0f) };
        size_t i = 0;
        for (; i + VL <= n; i += VL) {
            const vf x = LOAD(a);
            PRT_UNROLL(4)
            for (size_t r = 0; r < 4; r++) {
                const vf v = LOAD(row[r]), d = v_sub(x, v);
                s[r] = square ? v_fma(d, d, s[r]) : v_fma(x, v, s[r]);
            }
        }
        if (i < n) {
            PRT_UNROLL(4)
            for (size_t r = 0; r < 4; r++) {
                const vf x = LOAD_REST(a), v = LOAD_REST(row[r]), d = v_sub(x, v);
                s[r] = square ? v_fma(d, d, s[r]) : v_fma(x, v, s[r]);
            }
        }
        PRT_UNROLL(4)
        for (size_t r = 0; r < 4; r++)
            if (r < rows)
                y[j + r] = v_sum(s[r]);
    }
}

static void run_dots(size_t n, size_t m, const float *a, const float *b, size_t stride,
    const void *next, float *y)
{
    sum_rows(false, n, m, a, b, stride, next, y);
}

static void run_distances(size_t n, size_t m, const float *a, const float *b, float *y)
{
    sum_rows(true, n, m, a, b, n, NULL, y);
}

/* Columns whose sums stay in registers. */
enum { SUMS_W = VL < 8 ? 8 : 64 / VL, SUMS_COLUMNS = SUMS_W * VL };

/* Accumulates SUMS_COLUMNS columns, row by row of b. */
static void sum_columns(size_t n, const float *a, const float *b, size_t stride, const void *next,
    float *y)
{
    const uintptr_t end = (uintptr_t)b + n * stride * sizeof(float);
    vf s[SUMS_W];
    PRT_UNROLL(8)
    for (size_t j = 0; j < SUMS_W; j++)
        s[j] = v_set(0.0f);
    for (size_t k = 0; k < n; k++, b += stride) {
        const vf x = v_set(a[k]);
        if (next != NULL)
            fetch_next(b, SUMS_COLUMNS, end, next);
        PRT_UNROLL(8)
        for (size_t j = 0; j < SUMS_W; j++)
            s[j] = v_fma(x, v_load(b + j * VL), s[j]);
    }
    PRT_UNROLL(8)
    for (size_t j = 0; j < SUMS_W; j++)
        v_store(y + j * VL, s[j]);
}

/* Sums of few columns stay in registers. Otherwise four rows of b at a time are added to y, which
 * stays in L1. */
static void run_sums(size_t n, size_t m, const float *a, const float *b, size_t stride,
    const void *next, float *y)
{
    const bool far = is_far(m, n, stride, next);
    if (m <= 4 * SUMS_COLUMNS && m % SUMS_COLUMNS == 0) {
        for (size_t i = 0; i < m; i += SUMS_COLUMNS)
            sum_columns(n, a, b + i, stride, far && i == 0 ? next : NULL, y + i);
        return;
    }
    const uintptr_t end = (uintptr_t)b + n * m * sizeof(float);
    memset(y, 0, m * sizeof(float));
    for (size_t k = 0; k < n; k += 4) {
        const size_t rows = n - k < 4 ? n - k : 4;
        const float *row[4];
        vf x[4];
        if (far)
            fetch_next(b + k * m, 4 * m, end, next);
        for (size_t r = 0; r < 4; r++) {
            row[r] = b + (k + (r < rows ? r : 0)) * stride;
            x[r] = v_set(r < rows ? a[k + r] : 0.0f);
        }
        if (rows < 4) { /* repeated rows times 0 could give NaN */
            for (size_t r = 0; r < rows; r++)
                for (size_t i = 0; i < m; i += VL)
                    v_store_some(y, i, m,
                        v_fma(x[r], v_load_some(row[r], i, m), v_load_some(y, i, m)));
            return;
        }
        size_t i = 0;
        for (; i + VL <= m; i += VL) {
            vf v = v_fma(x[0], LOAD(row[0]), LOAD(y));
            v = v_fma(x[1], LOAD(row[1]), v);
            v = v_fma(x[2], LOAD(row[2]), v);
            v_store(y + i, v_fma(x[3], LOAD(row[3]), v));
        }
        if (i < m) {
            const size_t rest = m - i;
            vf v = v_fma(x[0], v_load_n(row[0] + i, rest), v_load_n(y + i, rest));
            v = v_fma(x[1], v_load_n(row[1] + i, rest), v);
            v = v_fma(x[2], v_load_n(row[2] + i, rest), v);
            v_store_n(y + i, v_fma(x[3], v_load_n(row[3] + i, rest), v), rest);
        }
    }
}

#endif
