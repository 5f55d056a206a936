/* SPDX-License-Identifier: MIT */
/*
 * product.h — batches of C = end(A B), panel by panel: a panel's columns of B are packed into
 * scratch, a block of K at a time, and all rows of A pass by.
 */
#ifndef PRT_FAST_GEMM_PRODUCT_H
#define PRT_FAST_GEMM_PRODUCT_H

#include "fast/fast.h"

typedef struct prt_product_spec prt_product_spec;
struct prt_product_spec {
    size_t batches, m, n, k;
    const float *a; /* [m, k] of batch 0 */
    size_t lda;
    const float *scale; /* of each column of A, of split products alone; NULL: none */
    float *c;           /* [m, n] of batch 0 */
    size_t ldc;
    prt_gemm_end end; /* pointers to row 0, column 0 of batch 0 */
    /* Offsets of a batch in A, C, the residual and the row bias; NULL: one batch. */
    void (*at)(const prt_product_spec *p, size_t batch, size_t *a, size_t *c, size_t *row_bias);
    /* Packs rows [k, k + depth) of columns [first, first + columns) of B, and may use `spare`
     * floats behind them. Any thread. */
    void (*pack)(const prt_product_spec *p, size_t batch, size_t first, size_t columns, size_t k,
        size_t depth, float *to);
    /* Where `pack` reads that, and how many bytes, which come while others are multiplied; NULL:
     * not known. */
    const void *(*source)(const prt_product_spec *p, size_t first, size_t columns, size_t k,
        size_t depth, size_t *bytes);
    /* Where those columns lie in rows `*stride` apart, when nothing needs packing; else NULL. What
     * is in the rows as far as whole slices reach is read as well, and dropped. */
    const float *(
        *direct)(const prt_product_spec *p, size_t batch, size_t first, size_t k, size_t *stride);
    size_t spare;
    bool padded; /* `direct` is there, and B packed as prt_gemm_pack_all does */
    const void *user;
};

poprt_status prt_product_fast(prt_eval *c, const prt_kern *kern, const prt_product_spec *p);

#endif
