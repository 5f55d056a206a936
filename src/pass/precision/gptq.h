/* SPDX-License-Identifier: MIT */
/*
 * gptq.h — GPTQ rounding: the error of a rounded weight is compensated by the weights that are not
 * rounded yet, weighted by the correlation of the inputs (their Hessian).
 */
#ifndef PRT_PASS_PRECISION_GPTQ_H
#define PRT_PASS_PRECISION_GPTQ_H

#include "pass/precision/fp8.h"

/* Accumulated inputs of one layer. Matrices are depth x depth; depth is the length of one dot
 * product. */
typedef struct prt_gptq {
    const prt_op *layer;
    prt_tensor weight;
    size_t depth, filters, each; /* each: most rows sampled from one value */
    double *hessian, *factor, *row;
} prt_gptq;

/* Allocates the state for a layer to which `values` inputs will be added. Sets `*out` to NULL if
 * the layer is too large, or its weight is not a plain matrix. */
poprt_status prt_gptq_create(prt_arena *arena, const prt_op *layer, size_t values, prt_gptq **out);

/* Adds one value of the layer's input 0. At most 16384 rows of all values together are sampled,
 * evenly from each. */
void prt_gptq_add(prt_gptq *g, const prt_tensor *x);

/* Rounds the weight to numbers of `code`, in its own layout. Returns false if the inputs do not
 * determine the rounding. `to` must hold all elements. */
bool prt_gptq_round(prt_gptq *g, prt_fp8_code code, double *to);

/* Returns the sum of squared errors of the layer's sums if `q` replaces the weight, over all added
 * inputs. */
double prt_gptq_error(const prt_gptq *g, const double *q);

#endif
