/* SPDX-License-Identifier: MIT */
/* bf16x3_small_m.h — bf16x3 products of few rows by a matrix that fits into L2. */
#ifndef PRT_FAST_GEMM_BF16X3_SMALL_M_H
#define PRT_FAST_GEMM_BF16X3_SMALL_M_H

#include "fast/gemm/product.h"

/* Returns whether one batch is such a product: few rows, and a packed matrix of moderate size. */
bool prt_bf16x3_small_m_fits(const prt_product_spec *p);

/* Returns the floats of scratch of one item. */
size_t prt_bf16x3_small_m_size(size_t m, size_t k);

/* Multiplies all columns on the calling thread; returns as prt_bf16x3_strip. */
bool prt_bf16x3_small_m_strip(const prt_kern *kern, const prt_product_spec *p, float *scratch);

/* Multiplies as prt_bf16x3_product. */
poprt_status prt_bf16x3_small_m_product(prt_eval *c, const prt_kern *kern,
    const prt_product_spec *p, bool *done);

#endif
