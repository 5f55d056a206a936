/* SPDX-License-Identifier: MIT */
/*
 * product.h — batches of C = end(A B) by the float32 GEMM: a panel's columns of B are packed into
 * scratch, a block of K at a time, and all rows of the block of A pass by.
 */
#ifndef PRT_FAST_GEMM_PRODUCT_H
#define PRT_FAST_GEMM_PRODUCT_H

#include "fast/fast.h"

typedef struct prt_product_spec prt_product_spec;
struct prt_product_spec {
    size_t batches, m, n, k;
    const float *a; /* [m, k] of batch 0 */
    size_t lda;
    const float *scale; /* by column of A, for bf16x3 only; NULL: no scale */
    float *c;           /* [m, n] of batch 0 */
    size_t ldc;
    prt_gemm_end end; /* pointers to row 0, column 0 of batch 0 */
    /* Returns the offsets of a batch in A, C (and the residual), and the row bias. NULL: one
     * batch. */
    void (*at)(const prt_product_spec *p, size_t batch, size_t *a, size_t *c, size_t *row_bias);
    /* Packs rows [k, k + depth) of columns [first, first + columns) of B. May use `pack_scratch`
     * floats behind the packed rows. Called by any thread. */
    void (*pack)(const prt_product_spec *p, size_t batch, size_t first, size_t columns, size_t k,
        size_t depth, float *to);
    /* Returns the address and the bytes that `pack` reads, for prefetching. NULL: unknown. */
    const void *(*source)(const prt_product_spec *p, size_t first, size_t columns, size_t k,
        size_t depth, size_t *bytes);
    /* Returns these columns in place, in rows `*stride` apart, or NULL if they need packing. Rows
     * are read up to the next whole slice; the excess columns are dropped. */
    const float *(
        *direct)(const prt_product_spec *p, size_t batch, size_t first, size_t k, size_t *stride);
    size_t pack_scratch;
    bool padded; /* `direct` exists, and B is packed by prt_gemm_pack_all */
    const void *user;
};

poprt_status prt_product_fast(prt_eval *c, const prt_kern *kern, const prt_product_spec *p);

#endif
