/* SPDX-License-Identifier: MIT */
/*
 * product.h — matrix products of any element type, by the double-precision tiles of reals.h or, for
 * integers of 32 bits and more, in wrapping 64-bit words; and the shapes of numpy's matmul.
 */
#ifndef PRT_OP_SHARE_PRODUCT_H
#define PRT_OP_SHARE_PRODUCT_H

#include "op/share/reals.h"

/* Element (i, j) of an operand is element first + i * row + j * col of its data. */
typedef struct prt_operand {
    int32_t dtype;
    const void *data;
    size_t first, row, col;
    /* zero points: per row of the left operand, per column of the right one; may be NULL */
    const double *zeros;
    /* Optional, for a right operand in a format of its own: writes the elements of a column,
     * `step` apart. It is called from any thread. NULL: the elements are found as above. */
    void (*column)(const void *user, size_t column, double *to, size_t step);
    const void *user;
} prt_operand;

typedef struct prt_product prt_product;
struct prt_product {
    size_t m, n, k;
    prt_operand a, b;
    /* Stores `count` sums of row i from column j on. */
    void (*store)(const prt_product *p, size_t i, size_t j, size_t count, double *sums);
    void *user;
    /* set by prt_product_init: the left operand, and panels for all threads */
    double *rows, *panel;
};

/* Allocates scratch for products of these sizes; the operands may then change from run to run. */
poprt_status prt_product_init(prt_eval *c, prt_product *p);
poprt_status prt_product_run(prt_eval *c, prt_product *p);

/* Computes the product of integers modulo 2^64; `out` is m × n. */
poprt_status prt_product_words(prt_eval *c, const prt_product *p, uint64_t *out);

/* Returns true for integers of 32 bits or more, which need prt_product_words. */
bool prt_product_is_wide(int32_t dtype);

/* Infers the shape of numpy's matmul of inputs `a` and `b`; its rank may be unknown. */
poprt_status prt_matmul_infer(prt_infer *c, uint32_t a, uint32_t b, prt_shape *out);

/* A batch of matrix products, paired by matmul's broadcasting. */
typedef struct prt_matmul {
    size_t m, n, k, batches;
    uint32_t rank; /* number of batch dims */
    int64_t dims[PRT_MAX_RANK];
    size_t a_step[PRT_MAX_RANK], b_step[PRT_MAX_RANK]; /* element strides of the batch dims */
} prt_matmul;

/* Initialises from operands that passed prt_matmul_infer. */
void prt_matmul_init(prt_matmul *mm, const prt_tensor *a, const prt_tensor *b);

/* Computes the first elements of both operands of batch `index`. */
void prt_matmul_at(const prt_matmul *mm, size_t index, size_t *a, size_t *b);

#endif
