/* SPDX-License-Identifier: MIT */
/* pack.h — shared functions of pack_weights and narrow_weights. */
#ifndef PRT_PASS_PACK_PACK_H
#define PRT_PASS_PACK_PACK_H

#include "pass/engine/rewrite.h"

enum { PRT_PACK_MIN_ELEMENTS = 1 << 10 }; /* a smaller matrix is packed as fast as it is read */

/* How prt_pack_constant makes a constant. */
typedef struct prt_pack {
    size_t count; /* float32 elements */
    void (*write)(const void *user, const float *from, float *to);
    const void *user;
    uint32_t n_steps; /* of `steps`, which undo the packing; 0: nothing undoes it */
    prt_weight_step steps[4];
} prt_pack;

/* Adds a step that transposes, and one that packs matrices of `rows` rows into panels. */
void prt_pack_add_transpose(prt_pack *to, uint32_t rank, const int64_t *dims, const int64_t *perm);
void prt_pack_add_panels(prt_pack *to, size_t matrices, size_t rows, size_t columns, size_t more);

/* Makes a constant to replace input `slot`, whose tensor is `w`. NULL: no memory. */
prt_value *prt_pack_constant(prt_pass *p, prt_op *op, uint32_t slot, const prt_tensor *w,
    const prt_pack *how);

/* A float32 matrix at any alignment: element (k, j) is k * row + j * column elements behind
 * `data`. */
typedef struct prt_pack_matrix {
    const void *data;
    size_t k, n, row, column;
} prt_pack_matrix;

/* Returns whether two columns are equal or a column is zero. Then products must be summed in order
 * (attribute in_order). Also returns true without memory. */
bool prt_pack_columns_repeat(const prt_pass *p, const prt_pack_matrix *m);

/* Packs RNN, GRU and LSTM with constant weights. */
bool prt_pack_recurrent(prt_pass *p, prt_build *b, prt_op *root);

/* Quantises an NhwcConv, for compute=i8. */
bool prt_low_precision_conv(prt_pass *p, prt_build *b, prt_op *root);

/* Packs TreeEnsemble, TreeEnsembleClassifier and TreeEnsembleRegressor. */
bool prt_pack_trees(prt_pass *p, prt_build *b, prt_op *root);

#endif
