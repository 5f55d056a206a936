/* SPDX-License-Identifier: MIT */
/* pack.h — what the parts of pack_weights and narrow_weights share. */
#ifndef PRT_PASS_PACK_PACK_H
#define PRT_PASS_PACK_PACK_H

#include "pass/engine/rewrite.h"

enum { PRT_PACK_LEAST = 1 << 10 }; /* elements; fewer are packed as fast as they are read */

/* A constant of `count` float32 elements in place of input `slot`, which is `w`: `lay` writes them.
 * NULL: no memory. */
prt_value *prt_pack_constant(prt_pass *p, prt_op *op, uint32_t slot, const prt_tensor *w,
    size_t count, void (*lay)(const void *user, const float *from, float *to), const void *user);

/* A matrix of float32 at any address: element (k, j) is k * row + j * column elements behind
 * `data`. */
typedef struct prt_pack_matrix {
    const void *data;
    size_t k, n, row, column;
} prt_pack_matrix;

/* Are two of its columns equal, or is one zero? Then products have to be summed in order (attribute
 * in_order). Also true where there is no memory to find out. */
bool prt_pack_columns_repeat(const prt_pass *p, const prt_pack_matrix *m);

/* RNN, GRU and LSTM with constant weights. */
bool prt_pack_recurrent(prt_pass *p, prt_build *b, prt_op *root);

/* NhwcConv, with compute=i8. */
bool prt_low_precision_conv(prt_pass *p, prt_build *b, prt_op *root);

/* TreeEnsemble, TreeEnsembleClassifier, TreeEnsembleRegressor. */
bool prt_pack_trees(prt_pass *p, prt_build *b, prt_op *root);

#endif
