/* SPDX-License-Identifier: MIT */
/*
 * unpacked_matmul.h — products of activations with packed weights: [..., K] times N columns of K
 * weights, which a function unpacks one by one.
 */
#ifndef PRT_OP_MICROSOFT_UNPACKED_MATMUL_H
#define PRT_OP_MICROSOFT_UNPACKED_MATMUL_H

#include "op/share/product.h"

typedef struct prt_unpacked_matmul {
    size_t n, k;
    void (*column)(const void *user, size_t column, double *to, size_t step);
    const void *user;
} prt_unpacked_matmul;

/* Checks that input 0 is [..., k] and infers output `out` as [..., n]. */
poprt_status prt_unpacked_matmul_infer(prt_infer *c, uint32_t out, int64_t n, int64_t k);

/* Fails unless input i, if it is given, has `count` elements; any shape is accepted. */
poprt_status prt_check_count(const prt_infer *c, uint32_t i, int64_t count);

/* Computes y = x · W' + bias (one number a column; NULL: absent). x has a multiple of k
   elements. */
poprt_status prt_unpacked_matmul_run(prt_eval *c, const prt_unpacked_matmul *w, const prt_tensor *x,
    const double *bias, prt_tensor *y);

/* Loads all of input i as doubles in scratch. Sets `to` to NULL if it is absent. Returns false on
   allocation failure. */
bool prt_load_reals(prt_eval *c, uint32_t i, const double **to);

#endif
