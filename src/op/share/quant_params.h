/* SPDX-License-Identifier: MIT */
/*
 * quant_params.h — scales or zero points of matrices: one number for all, one per row or column, or
 * one per row or column of each matrix of a batch.
 */
#ifndef PRT_OP_SHARE_QUANT_PARAMS_H
#define PRT_OP_SHARE_QUANT_PARAMS_H

#include "op/op.h"

typedef struct prt_quant_params {
    const prt_tensor *t; /* NULL: every value is `absent` */
    double absent;
    double *values; /* the `count` values of the current matrix */
    size_t count;
} prt_quant_params;

/* Initialises from input i. */
poprt_status prt_quant_params_init(prt_eval *c, prt_quant_params *f, uint32_t i, size_t count,
    double absent);

/* Loads the values of matrix `index` of `batches`. Fails with POPRT_E_SHAPE unless the tensor
 * has 1, `count`, or `count` * `batches` elements. */
poprt_status prt_quant_params_load(const prt_eval *c, prt_quant_params *f, size_t index,
    size_t batches);

#endif
