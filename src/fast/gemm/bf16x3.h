/* SPDX-License-Identifier: MIT */
/* bf16x3.h — matrix products and convolutions by bf16x3 (kern/bf16x3/bf16x3.h). */
#ifndef PRT_FAST_GEMM_BF16X3_H
#define PRT_FAST_GEMM_BF16X3_H

#include "fast/nhwc.h"
#include "fast/gemm/product.h"

enum {
    PRT_BF16X3_BLOCK_ROWS = 1024, /* rows of A in one block, at most */
    PRT_BF16X3_BLOCK =
        PRT_BF16X3_BLOCK_ROWS * PRT_BF16X3_DEPTH /* floats of a block of A, at most */
};

/* Returns whether m rows of A fit one block, which passes by all panels. */
static inline bool prt_bf16x3_fits_block(size_t m, size_t k)
{
    return m <= PRT_BF16X3_BLOCK_ROWS && m * k <= PRT_BF16X3_BLOCK;
}

#ifdef PRT_NO_AMX
static inline bool prt_bf16x3_pays(const prt_eval *c, const prt_kern *kern, size_t m, size_t n,
    size_t k)
{
    (void)c, (void)kern, (void)m, (void)n, (void)k;
    return false;
}
static inline size_t prt_bf16x3_strip_size(const prt_nhwc_product *p, size_t m)
{
    (void)p, (void)m;
    return 0;
}
static inline bool prt_bf16x3_strip(const prt_kern *kern, const prt_nhwc_product *p, size_t m,
    const float *a, float *c, const float *residual, const prt_nhwc_sink *sink, float *scratch)
{
    (void)kern, (void)p, (void)m, (void)a, (void)c, (void)residual, (void)sink, (void)scratch;
    return true;
}
#else
/* Returns whether bf16x3 is faster than float32 for m rows and all panels. */
bool prt_bf16x3_pays(const prt_eval *c, const prt_kern *kern, size_t m, size_t n, size_t k);

/* Multiplies a strip of m rows on the calling thread. The scratch has prt_bf16x3_strip_size(p, m)
 * floats, which suffice for fewer rows as well. With a sink the rows have to fit one block
 * (prt_bf16x3_fits_block): each panel of C is written to the same place, then the sink consumes it.
 * Returns false if an element is not finite; C then holds arbitrary values. */
size_t prt_bf16x3_strip_size(const prt_nhwc_product *p, size_t m);
bool prt_bf16x3_strip(const prt_kern *kern, const prt_nhwc_product *p, size_t m, const float *a,
    float *c, const float *residual, const prt_nhwc_sink *sink, float *scratch);
#endif

/* Multiplies one batch. Clears `*done` if an element is not finite; C then holds arbitrary
 * values. */
poprt_status prt_bf16x3_product(prt_eval *c, const prt_kern *kern, const prt_product_spec *p,
    bool *done);

/* Returns whether a convolution with packed panels can run by bf16x3. prt_bf16x3_conv runs it, and
 * clears `*done` as prt_bf16x3_product does. */
bool prt_bf16x3_fits(const prt_nhwc *v);
poprt_status prt_bf16x3_conv(prt_eval *c, const prt_nhwc *v, bool *done);

#endif
