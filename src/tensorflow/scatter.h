/* SPDX-License-Identifier: MIT */
/* scatter.h — ScatterND with a reduction, for rows that add to tensors or compare with them. */
#ifndef PRT_TENSORFLOW_SCATTER_H
#define PRT_TENSORFLOW_SCATTER_H

#include "tensorflow/rows.h"

/* Returns the lowest or highest number of a type; of floats, infinity unless `finite`. */
prt_value *prt_tf_extreme(prt_tf_call *n, int32_t dtype, bool low, bool finite);

/* Returns x with `updates` combined into it at `indices`, by Add, Mul, Max or Min. Repeated indices
 * are all combined. An opset without such reductions gets comparisons of all indices with all
 * rows. */
prt_value *prt_tf_scatter(prt_tf_call *n, uint32_t id, prt_value *x, prt_value *indices,
    prt_value *updates);

#endif
