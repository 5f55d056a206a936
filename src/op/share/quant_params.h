/* SPDX-License-Identifier: MIT */
/*
 * quant_params.h — scales and zero points of matrices: one number, one per row or column, or one of
 * these per matrix of a batch.
 */
#ifndef PRT_OP_SHARE_QUANT_PARAMS_H
#define PRT_OP_SHARE_QUANT_PARAMS_H

#include "op/op.h"

typedef struct prt_quant_params {
    const prt_tensor *t; /* NULL: `absent` everywhere */
    double absent;
    double *values; /* `count` of them, for the matrix at hand */
    size_t count;
} prt_quant_params;

/* Those in input i. */
poprt_status prt_quant_params_init(prt_eval *c, prt_quant_params *f, uint32_t i, size_t count,
    double absent);

/* The values for matrix `index` of `batches`; fails when there are neither one, nor `count`, nor
 * `count` for each matrix. */
poprt_status prt_quant_params_load(const prt_eval *c, prt_quant_params *f, size_t index,
    size_t batches);

#endif
