/* SPDX-License-Identifier: MIT */
/*
 * rows.h — kernels over rows of float32: elementwise operators, sums of shifted rows, statistics,
 * GEMV. Lengths are arbitrary, including 0; pointers need only the alignment of a float. An output
 * may be the same as an input, but not overlap it otherwise.
 */
#ifndef PRT_KERN_ROWS_ROWS_H
#define PRT_KERN_ROWS_ROWS_H

#include <stdbool.h>

#include "kern/vector/act.h"

typedef enum prt_binary_kind {
    PRT_BINARY_add,
    PRT_BINARY_sub,
    PRT_BINARY_mul,
    PRT_BINARY_div,
    PRT_BINARY_max, /* NaN if either is NaN */
    PRT_BINARY_min,
    PRT_BINARY_prelu, /* a * b if a < 0, else a */
    PRT_BINARY_COUNT
} prt_binary_kind;

typedef enum prt_unary_kind {
    PRT_UNARY_abs,
    PRT_UNARY_neg,
    PRT_UNARY_sqrt,
    PRT_UNARY_reciprocal,
    PRT_UNARY_exp,
    PRT_UNARY_erf,
    PRT_UNARY_log,
    PRT_UNARY_sin,
    PRT_UNARY_cos,
    PRT_UNARY_floor,
    PRT_UNARY_ceil,
    PRT_UNARY_round, /* halves to even */
    PRT_UNARY_sign,  /* 0 for -0; NaN is preserved */
    PRT_UNARY_square,
    PRT_UNARY_cube,
    PRT_UNARY_root,         /* pow(x, 0.5), which differs from sqrt for -0 and -infinity */
    PRT_UNARY_inverse_root, /* pow(x, -0.5) */
    PRT_UNARY_atan,
    PRT_UNARY_tan,
    PRT_UNARY_COUNT
} prt_unary_kind;

/* Sum of shifted rows: y[i] = act(bias + sum over t of w[t] * from[t][i]). */
typedef struct prt_taps {
    size_t n, taps;
    const float *const *from;
    const float *w;
    float bias;
    float *y;
    prt_act act;
} prt_taps;

typedef struct prt_kern_rows {
    /* `step_a` and `step_b` are 1, or 0 for a scalar that is broadcast. */
    void (*binary)(int kind, size_t n, const float *a, size_t step_a, const float *b, size_t step_b,
        float *y);
    void (*unary)(int kind, size_t n, const float *x, float *y);
    void (*act)(const prt_act *act, size_t n, const float *x, float *y);
    /* y = x * scale + shift */
    void (*scale)(size_t n, const float *x, float scale, float shift, float *y);
    void (*taps)(const prt_taps *t);
    /* y[i] = the largest from[t][i]; NaN if one of them is NaN */
    void (*max)(size_t n, size_t taps, const float *const *from, float *y);
    void (*softmax)(size_t n, const float *x, float *y);
    void (*log_softmax)(size_t n, const float *x, float *y);
    double (*sum)(size_t n, const float *x);
    double (*squares)(size_t n, const float *x); /* their sum */
    /* PRT_BINARY_max or PRT_BINARY_min over a row; n is not 0 */
    float (*extreme)(int kind, size_t n, const float *x);
    /* sums[i] += x[i], or its square */
    void (*add_to)(size_t n, const float *x, bool square, double *sums);
    /* the mean, and the mean of squared deviations from it */
    void (*moments)(size_t n, const float *x, float *mean, double *variance);
    /* y = (x - mean) * scale + shift */
    void (*centre)(size_t n, const float *x, float mean, float scale, float shift, float *y);
    /* y[j] = sum over i < n of (x[i * stride + j] - middle[j])^2, for j < m */
    void (*deviations)(size_t n, size_t m, const float *x, size_t stride, const float *middle,
        float *y);
    /* n rows of m: y = (x - middle) * scale + shift; middle, scale and shift are rows */
    void (*standardise)(size_t n, size_t m, const float *x, const float *middle, const float *scale,
        const float *shift, float *y);
    /* GEMV by rows: y[j] = sum over i of a[i] * b[j * stride + i], for j < m. If `next` is not
     * NULL, b comes from memory: b is prefetched, then the data at `next`. NULL: b is in a
     * cache. */
    void (*dots)(size_t n, size_t m, const float *a, const float *b, size_t stride,
        const void *next, float *y);
    /* y[j] = sum over i < n of (a[i] - b[j * n + i])^2, for j < m */
    void (*distances)(size_t n, size_t m, const float *a, const float *b, float *y);
    /* GEMV by columns: y[j] = sum over i of a[i] * b[i * stride + j], for j < m */
    void (*sums)(size_t n, size_t m, const float *a, const float *b, size_t stride,
        const void *next, float *y);
    /* y = (x - mean) / sqrt(variance + epsilon) * gamma + beta; beta may be NULL */
    void (*layer_norm)(size_t n, const float *x, float epsilon, const float *gamma,
        const float *beta, float *y);
} prt_kern_rows;

#endif
