/* SPDX-License-Identifier: MIT */
/* matmul.h — a product of whole matrices: rows of A times one matrix B. */
#ifndef PRT_FAST_GEMM_MATMUL_H
#define PRT_FAST_GEMM_MATMUL_H

#include "fast/fast.h"

typedef struct prt_linear {
    const prt_kern *kern;
    size_t m, n, k, pieces; /* `pieces` and `weights_in_cache` are set by prt_linear_run */
    const float *a, *b;
    bool transposed;       /* B is transposed: [n, k] */
    bool packed;           /* B is packed into panels, see kern/gemm/gemm.h */
    bool in_order;         /* the sums keep their order, so no Strassen */
    bool weights_in_cache; /* prt_eval's `weights_in_cache`: the weights stay in a cache */
    int low_precision; /* low-precision kind of the elements at `panels`; PRT_LOW_PRECISION_COUNT: B
                        * is float32 */
    const void *panels;
    prt_low_precision_scales by;
    const float *sums; /* sums of A's rows by block of K, if there are offsets */
    const float *bias, *residual;
    float *y;
    prt_act act;
} prt_linear;

enum {
    PRT_LINEAR_UNPACKED_ROWS = 4, /* rows, below which B is read once as it lies, without packing */
    PRT_LINEAR_LOW_PRECISION_ROWS =
        32 /* rows, up to which low-precision panels are not widened beforehand */
};

/* Runs the product by the algorithm for its number of rows. Sets `pieces`, `weights_in_cache` and
 * `sums`. */
poprt_status prt_linear_run(prt_eval *c, prt_linear *f);

/* Runs a product with the broadcasting of MatMul. With `transposed`, the last two dims of b are
 * transposed. */
poprt_status prt_matmul_run(prt_eval *c, const prt_kern *k, const prt_tensor *a,
    const prt_tensor *b, bool transposed, bool *done);

/* Runs the product with A rounded to bfloat16. */
poprt_status prt_linear_bf16(prt_eval *c, const prt_linear *f);

/* Runs the product with A quantised to 8 bits by blocks of K, B having 4-bit panels with blocks. */
poprt_status prt_linear_i4_blocks(prt_eval *c, const prt_linear *f);

#endif
