/* SPDX-License-Identifier: MIT */
/*
 * bytes.h — kernels over 8-bit integers: packing into panels, conversion from and to float32,
 * requantisation. Integer results are exact. Floats are rounded to even when they become integers;
 * NaN becomes the lowest integer.
 */
#ifndef PRT_KERN_INT8_BYTES_H
#define PRT_KERN_INT8_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kern/vector/act.h"

/* Requantisation: (sum + bias) * scale, rounded, + zero, clamped to [low, high], the range of int8
 * or uint8. */
typedef struct prt_requantize {
    double bias, scale;
    const double *scales;    /* by column, instead of `scale`; NULL: `scale` */
    const float *scales_f32; /* `scales` in single precision, valid if `fits_int32` */
    const int32_t *biases;   /* by column; the sum wraps; NULL: no biases */
    double zero, low, high;
    bool fits_int32; /* all scales are at most 1/2, and there is no `bias`: products fit int32 */
} prt_requantize;

/* Bytes that represent floats: (x - zero) * scale. */
typedef struct prt_byte_side {
    const uint8_t *x;
    bool sign;
    float scale, zero;
} prt_byte_side;

/* y = (a + b) / scale, or a b / scale, rounded, + zero, clamped to the range of the type. */
typedef struct prt_add_bytes {
    size_t n;
    bool multiply;
    prt_byte_side a, b;
    float scale, zero;
    bool sign;
    uint8_t *y;
} prt_add_bytes;

/* The quantisation parameters of a row. */
typedef struct prt_bytes_by {
    float scale;
    int32_t zero;
} prt_bytes_by;

/* Converts rows of sums to float32: (sum - zero * column_sum, modulo 2^32) * (by's scale * scale) +
 * bias + residual, each step rounded, then the activation. */
typedef struct prt_finish {
    size_t rows, columns;
    const int32_t *sums;
    size_t ldsums;
    const prt_bytes_by *by;
    size_t step;                /* of `by` from row to row: 1, or 0 if all rows share it */
    const int32_t *column_sums; /* NULL: zero points are not subtracted */
    const float *scales, *bias; /* bias may be NULL */
    const float *residual;      /* may be NULL */
    size_t ldr;
    float *y;
    size_t ldy;
    prt_act act;
} prt_finish;

/* The scale of a block of a row, and the sum of its bytes. */
typedef struct prt_dot_part {
    float scale;
    int32_t sum;
} prt_dot_part;

typedef struct prt_kern_bytes {
    /* Interleaves four rows of `columns` bytes, XORed with `flip`, to words of a panel (dot.h),
     * followed by zeros. */
    void (*pack4)(size_t columns, const uint8_t *const *rows, uint32_t flip, uint32_t *to);
    /* Copies n bytes, XORed with `flip`, and fills up the last word with zeros. */
    void (*row)(size_t n, const uint8_t *x, uint8_t flip, uint8_t *to);
    /* Returns the sum of n bytes, modulo 2^32. */
    uint32_t (*sum)(size_t n, const uint8_t *x);
    /* Removes zero points: sums[j] -= zeros[j] * row + zero * columns[j] */
    void (*subtract_zeros)(size_t n, int32_t *sums, int32_t zero, int32_t row, const int32_t *zeros,
        const int32_t *columns);
    void (*finish)(const prt_finish *f);
    /* Requantises n sums. */
    void (*requantize)(size_t n, const int32_t *sums, const prt_requantize *q, uint8_t *y);
    /* Requantises a block as kern/int8/dot.h computes it; rows are a whole panel apart. It requires
     * biases; biases and scales are read up to the next PRT_GEMM_SLICE. */
    void (*requantize_sums)(size_t rows, size_t columns, const int32_t *sums,
        const prt_requantize *q, uint8_t *y, size_t ldy);
    /* x / scale, rounded, + zero, clamped to the range of int8 or uint8 */
    void (*quantize)(size_t n, const float *x, float scale, float zero, bool sign, uint8_t *y);
    /* Quantises a row in blocks of a multiple of 8 elements to signed bytes for `i4` of
     * kern/int8/dot.h. Each block has its own scale, which makes its largest element 127. Of each
     * eight bytes, the even ones come first, then the odd ones; the end is filled with zeros. A
     * block that is not finite gets the scale NaN. */
    void (*blocks)(size_t n, size_t block, const float *x, uint32_t *to, prt_dot_part *parts);
    /* (x - zero) * scale */
    void (*dequantize)(size_t n, const uint8_t *x, bool sign, float zero, float scale, float *y);
    void (*add)(const prt_add_bytes *g);
    /* y = the larger of x and y */
    void (*max)(size_t n, const uint8_t *x, bool sign, uint8_t *y);
    /* y = table[x]; y may be x */
    void (*look_up)(size_t n, const uint8_t *x, const uint8_t table[256], uint8_t *y);
    void (*dequantize_i32)(size_t n, const int32_t *x, double zero, double scale, float *y);
} prt_kern_bytes;

#endif
