/* SPDX-License-Identifier: MIT */
/*
 * product.h — products of matrices of any element type, by the tiles of nn.h or, for wide
 * integers, in 64-bit words that wrap; and the shapes of numpy's matmul.
 */
#ifndef PRT_OP_SHARE_PRODUCT_H
#define PRT_OP_SHARE_PRODUCT_H

#include "op/share/reals.h"

/* Element (i, j) of an operand is element first + i * row + j * col of its data. */
typedef struct prt_operand {
    int32_t dtype;
    const void *data;
    size_t first, row, col;
    const double *zeros; /* subtracted: by row of the left, by column of the right; NULL: nothing */
    /* A right side in a form of its own: writes the elements of a column, `step` apart. NULL: the
     * elements are found as above. Called from any thread. */
    void (*column)(const void *user, size_t column, double *to, size_t step);
    const void *user;
} prt_operand;

typedef struct prt_product prt_product;
struct prt_product {
    size_t m, n, k;
    prt_operand a, b;
    /* Takes `count` sums of row i from column j on. */
    void (*store)(const prt_product *p, size_t i, size_t j, size_t count, double *sums);
    void *user;
    double *rows, *panel; /* made by prt_product_init: the left side, and panels for all threads */
};

/* Scratch for products of these sizes; the operands may then change from run to run. */
poprt_status prt_product_init(prt_eval *c, prt_product *p);
poprt_status prt_product_run(prt_eval *c, prt_product *p);

/* The same for integers modulo 2^64; `out` is m × n. */
poprt_status prt_product_words(prt_eval *c, const prt_product *p, uint64_t *out);

/* Whether elements are integers that need words: 32 bits or more. */
bool prt_product_is_wide(int32_t dtype);

/* Shape of numpy's matmul of inputs `a` and `b`; its rank may be unknown. */
poprt_status prt_matmul_infer(prt_infer *c, uint32_t a, uint32_t b, prt_shape *out);

/* A batch of matrix products as matmul pairs them. */
typedef struct prt_matmul {
    size_t m, n, k, batches;
    uint32_t rank; /* of the batch dims */
    int64_t dims[PRT_MAX_RANK];
    size_t a_step[PRT_MAX_RANK], b_step[PRT_MAX_RANK]; /* elements per step of a batch dim */
} prt_matmul;

/* From operands that passed prt_matmul_infer. */
void prt_matmul_init(prt_matmul *mm, const prt_tensor *a, const prt_tensor *b);

/* First elements of the operands of batch `index`. */
void prt_matmul_at(const prt_matmul *mm, size_t index, size_t *a, size_t *b);

#endif
