/* SPDX-License-Identifier: MIT */
/*
 * integer.h — products of 8-bit integers, exact: sum over k of (A[i, k] - za[i]) (B[k, j] - zb[j]).
 * A's rows become words once, B panels as they are needed (kern/int8/dot.h); zero points are taken
 * care of afterwards, by the sums of rows and columns.
 */
#ifndef PRT_FAST_GEMM_INTEGER_H
#define PRT_FAST_GEMM_INTEGER_H

#include "fast/fast.h"

typedef struct prt_integer prt_integer;
struct prt_integer {
    const prt_kern *kern;
    size_t batches, lefts; /* batch i has left side i % lefts; those follow each other */
    size_t m, n, k;
    bool a_signed, b_signed;
    const uint8_t *a;      /* [lefts, m, k] */
    const int32_t *a_zero; /* by row, of all left sides; or one, with no step */
    const int32_t *b_zero; /* by column; or one, with no step */
    size_t a_step, b_step;
    /* Row k of B in a batch, columns [first, first + columns); may use `spare`, so many bytes. */
    const uint8_t *(*right)(const prt_integer *p, size_t batch, size_t k, size_t first,
        size_t columns, uint8_t *spare);
    /* Takes finished sums of one row. Any thread. */
    void (*store)(const prt_integer *p, size_t batch, size_t row, size_t first, size_t columns,
        const int32_t *sums);
    const void *user;
};

poprt_status prt_integer_run(prt_eval *c, const prt_integer *p);

/* Input i is a tensor of 8-bit integers. */
static inline bool prt_integer_has(const prt_eval *c, uint32_t i)
{
    return prt_eval_has(c, i) && c->in[i]->kind == PRT_VALUE_TENSOR &&
        (c->in[i]->dtype == PRT_DTYPE_u8 || c->in[i]->dtype == PRT_DTYPE_i8);
}

/* Zero points in input i (0 where it is absent) as int32 in scratch; `*step` is 1 where there are
 * `count` of them. NULL when there are neither so many nor one, or memory is refused. */
const int32_t *prt_integer_zeros(prt_eval *c, uint32_t i, size_t count, size_t *step);

/* What becomes of sums, given for row 0 and column 0 of all, from `row` and column `first` on; the
 * sums and how many there are remain to be set. */
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

/* What float32 numbers become, all of them in one way, as DynamicQuantizeLinear has it; false where
 * they are not finite. */
bool prt_integer_scale(const prt_kern *k, size_t n, const float *x, float *scale, uint8_t *zero);

#endif
