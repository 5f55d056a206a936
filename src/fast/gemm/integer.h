/* SPDX-License-Identifier: MIT */
/*
 * integer.h — exact products of 8-bit integers: sum over k of (A[i, k] - za[i]) (B[k, j] - zb[j]).
 * A's rows are converted to words of four elements once, B's panels when they are needed
 * (kern/int8/dot.h). Zero points are applied afterwards, by the sums of rows and columns.
 */
#ifndef PRT_FAST_GEMM_INTEGER_H
#define PRT_FAST_GEMM_INTEGER_H

#include "fast/fast.h"

typedef struct prt_integer prt_integer;
struct prt_integer {
    const prt_kern *kern;
    size_t batches, lefts; /* batch i multiplies left side i % lefts; left sides follow each
                            * other */
    size_t m, n, k;
    bool a_signed, b_signed;
    const uint8_t *a;      /* [lefts, m, k] */
    const int32_t *a_zero; /* by row, of all left sides; or a single one, with step 0 */
    const int32_t *b_zero; /* by column; or a single one, with step 0 */
    size_t a_step, b_step;
    /* Returns row k of B in a batch, columns [first, first + columns). It may use `scratch`,
     * `columns` bytes of scratch. */
    const uint8_t *(*right)(const prt_integer *p, size_t batch, size_t k, size_t first,
        size_t columns, uint8_t *scratch);
    /* Consumes the finished sums of one row. Called by any thread. */
    void (*store)(const prt_integer *p, size_t batch, size_t row, size_t first, size_t columns,
        const int32_t *sums);
    const void *user;
};

poprt_status prt_integer_run(prt_eval *c, const prt_integer *p);

/* Returns whether input i is a tensor of 8-bit integers. */
static inline bool prt_integer_has(const prt_eval *c, uint32_t i)
{
    return prt_eval_has(c, i) && c->in[i]->kind == PRT_VALUE_TENSOR &&
        (c->in[i]->dtype == PRT_DTYPE_u8 || c->in[i]->dtype == PRT_DTYPE_i8);
}

/* Returns the zero points of input i (0 if it is absent) as int32 in scratch. `*step` is 1 if there
 * are `count` of them, 0 if there is one. Returns NULL for any other number, or if memory is
 * refused. */
const int32_t *prt_integer_zeros(prt_eval *c, uint32_t i, size_t count, size_t *step);

/* Returns the conversion of sums to float32 from `row` and column `first` on, given the one for row
 * 0 and column 0. The caller sets the sums and their sizes. */
static inline prt_finish prt_integer_finish(const prt_finish *all, size_t row, size_t first)
{
    prt_finish f = *all;
    f.by += row * f.step;
    f.column_sums += first;
    f.scales += first;
    f.bias += f.bias != NULL ? first : 0;
    f.residual += f.residual != NULL ? row * f.ldr + first : 0;
    f.y += row * f.ldy + first;
    return f;
}

/* Finds the scale and zero point of n floats as DynamicQuantizeLinear does. Returns false if an
 * element is not finite. */
bool prt_integer_scale(const prt_kern *k, size_t n, const float *x, float *scale, uint8_t *zero);

#endif
