/* SPDX-License-Identifier: MIT */
/*
 * weights.h — rows of activations times a matrix of weights in a packed form: [..., K] by N columns
 * of K weights each, which a function unpacks one by one.
 */
#ifndef PRT_OP_MICROSOFT_WEIGHTS_H
#define PRT_OP_MICROSOFT_WEIGHTS_H

#include "op/share/product.h"

typedef struct prt_weights {
    size_t n, k;
    void (*column)(const void *user, size_t column, double *to, size_t step);
    const void *user;
} prt_weights;

/* Input 0 is [..., k]; output `out` becomes [..., n]. */
poprt_status prt_weights_infer(prt_infer *c, uint32_t out, int64_t n, int64_t k);

/* Input i, where present, has `count` elements in whatever shape. */
poprt_status prt_weights_count(const prt_infer *c, uint32_t i, int64_t count);

/* y = x · W' + bias (by column; NULL: none). The sizes of x are a multiple of k. */
poprt_status prt_weights_apply(prt_eval *c, const prt_weights *w, const prt_tensor *x,
    const double *bias, prt_tensor *y);

/* All of input i as doubles; true with NULL where it is absent, false without memory. */
bool prt_weights_reals(prt_eval *c, uint32_t i, const double **to);

#endif
