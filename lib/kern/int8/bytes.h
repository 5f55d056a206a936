/* SPDX-License-Identifier: MIT */
/*
 * bytes.h — rows of 8-bit integers: into panels, and from and to float32. Integers are exact;
 * floats are rounded to even where they become integers, and NaN becomes the lowest one.
 */
#ifndef PRT_KERN_INT8_BYTES_H
#define PRT_KERN_INT8_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kern/vector/act.h"

/* What sums become: (sum + bias) * scale, rounded, + zero, within [low, high], which is the range
 * of a byte with a sign or without. */
typedef struct prt_requantize {
    double bias, scale;
    const double *scales;  /* by column, instead of `scale`; NULL: none */
    const float *near;     /* the same in single precision, where `tame` */
    const int32_t *biases; /* by column, and the sum wraps; NULL: none */
    double zero, low, high;
    bool tame; /* there are scales, none beyond 1/2, and no `bias`: products are within int32 */
} prt_requantize;

/* Bytes as floats: (x - zero) * scale. */
typedef struct prt_byte_side {
    const uint8_t *x;
    bool sign;
    float scale, zero;
} prt_byte_side;

/* y = (a + b) / scale, or a b / scale, rounded, + zero, within the range of a byte. */
typedef struct prt_add_bytes {
    size_t n;
    bool multiply;
    prt_byte_side a, b;
    float scale, zero;
    bool sign;
    uint8_t *y;
} prt_add_bytes;

/* What a row of numbers was quantised by. */
typedef struct prt_bytes_by {
    float scale;
    int32_t zero;
} prt_bytes_by;

/* Rows of sums as floats: (sum - zero * column_sum, modulo 2^32) * (by's scale * scale) + bias +
 * residual, each step rounded, then an activation. */
typedef struct prt_finish {
    size_t rows, columns;
    const int32_t *sums;
    size_t ldsums;
    const prt_bytes_by *by;
    size_t step;                /* from row to row: 1, or 0 where all have the same */
    const int32_t *column_sums; /* NULL: nothing is taken from sums */
    const float *scales, *bias; /* bias may be NULL */
    const float *residual;      /* may be NULL */
    size_t ldr;
    float *y;
    size_t ldy;
    prt_act act;
} prt_finish;

/* What a block of a row was divided by, and the sum of what became of it. */
typedef struct prt_dot_part {
    float scale;
    int32_t sum;
} prt_dot_part;

typedef struct prt_kern_bytes {
    /* Four rows of `columns` bytes, bits flipped, to words of a panel (dot.h); zeros behind. */
    void (*pack4)(size_t columns, const uint8_t *const *rows, uint32_t flip, uint32_t *to);
    /* n bytes, bits flipped, followed by zeros to a whole word. */
    void (*row)(size_t n, const uint8_t *x, uint8_t flip, uint8_t *to);
    /* Their sum, modulo 2^32. */
    uint32_t (*sum)(size_t n, const uint8_t *x);
    /* sums[j] -= zeros[j] * row + zero * columns[j] */
    void (*settle)(size_t n, int32_t *sums, int32_t zero, int32_t row, const int32_t *zeros,
        const int32_t *columns);
    void (*finish)(const prt_finish *f);
    void (*requantize)(size_t n, const int32_t *sums, const prt_requantize *q, uint8_t *y);
    /* The same of a block as kern/int8/dot.h gives it, rows a whole panel apart. There are biases;
     * they and scales may be read up to the next PRT_GEMM_SLICE. */
    void (*requantize_sums)(size_t rows, size_t columns, const int32_t *sums,
        const prt_requantize *q, uint8_t *y, size_t ldy);
    /* x / scale, rounded, + zero, within the range of a byte with a sign or without */
    void (*quantize)(size_t n, const float *x, float scale, float zero, bool sign, uint8_t *y);
    /* A row in blocks of a multiple of 8, each by a scale of its own that makes its largest element
     * 127, to bytes with a sign for kern/int8/dot.h's `i4`: of each eight those with even
     * places, then those with odd ones; zeros behind. A block that is not finite has the scale NaN.
     */
    void (*blocks)(size_t n, size_t block, const float *x, uint32_t *to, prt_dot_part *parts);
    /* (x - zero) * scale */
    void (*dequantize)(size_t n, const uint8_t *x, bool sign, float zero, float scale, float *y);
    void (*add)(const prt_add_bytes *g);
    /* y = the larger of x and y */
    void (*larger)(size_t n, const uint8_t *x, bool sign, uint8_t *y);
    /* y = table[x]; may be over x */
    void (*look_up)(size_t n, const uint8_t *x, const uint8_t table[256], uint8_t *y);
    void (*dequantize_i32)(size_t n, const int32_t *x, double zero, double scale, float *y);
} prt_kern_bytes;

#endif
