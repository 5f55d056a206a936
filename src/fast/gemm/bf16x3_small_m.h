/* SPDX-License-Identifier: MIT */
/* bf16x3_small_m.h — split products of few rows by a matrix that is not large. */
#ifndef PRT_FAST_GEMM_BF16X3_SMALL_M_H
#define PRT_FAST_GEMM_BF16X3_SMALL_M_H

#include "fast/gemm/product.h"

/* One batch of it can be such a product, whose matrix has m rows. */
bool prt_bf16x3_small_m_fits(const prt_product_spec *p);

/* Floats of scratch of one item. */
size_t prt_bf16x3_small_m_size(size_t m, size_t k);

/* All columns on the calling thread; as prt_bf16x3_strip. */
bool prt_bf16x3_small_m_strip(const prt_kern *kern, const prt_product_spec *p, float *scratch);

/* As prt_bf16x3_product. */
poprt_status prt_bf16x3_small_m_product(prt_eval *c, const prt_kern *kern,
    const prt_product_spec *p, bool *done);

#endif
