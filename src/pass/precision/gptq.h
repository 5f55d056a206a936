/* SPDX-License-Identifier: MIT */
/*
 * gptq.h — rounding of weights that minds what they are multiplied with: the error of one weight
 * is made up for by those not rounded yet, as far as the inputs go together (their Hessian).
 */
#ifndef PRT_PASS_PRECISION_GPTQ_H
#define PRT_PASS_PRECISION_GPTQ_H

#include "pass/precision/fp8.h"

/* The inputs of one layer. Matrices are depth × depth, depth being what one sum runs over. */
typedef struct prt_gptq {
    const prt_op *layer;
    prt_tensor weight;
    size_t depth, filters, each; /* most rows of one value */
    double *hessian, *factor, *row;
} prt_gptq;

/* Room for the inputs of a layer, of which `values` will be added; `*out` is NULL where it is too
 * large for this, or its weight is not a plain matrix. */
poprt_status prt_gptq_create(prt_arena *arena, const prt_op *layer, size_t values, prt_gptq **out);

/* Adds a value of the layer's input 0. Of all values together 16384 rows are taken at most, as many
 * of each, spread over it evenly. */
void prt_gptq_add(prt_gptq *g, const prt_tensor *x);

/* The weight rounded to numbers of `code`, in its own layout; false when the inputs do not tell.
 * `to` has room for every element. */
bool prt_gptq_round(prt_gptq *g, prt_fp8_code code, double *to);

/* Error of the sums with `q` in place of the weight, over all inputs seen: the sum of squares. */
double prt_gptq_error(const prt_gptq *g, const double *q);

#endif
