/* SPDX-License-Identifier: MIT */
/* bf16x3.h — products and convolutions by what kern/bf16x3/bf16x3.h has, as a whole. */
#ifndef PRT_FAST_GEMM_BF16X3_H
#define PRT_FAST_GEMM_BF16X3_H

#include "fast/nhwc.h"
#include "fast/gemm/product.h"

enum { PRT_BF16X3_WHOLE = 1024, PRT_BF16X3_BLOCK = PRT_BF16X3_WHOLE * PRT_BF16X3_DEPTH };

/* So many rows of A can be multiplied panel by panel. */
static inline bool prt_bf16x3_is_whole(size_t m, size_t k)
{
    return m <= PRT_BF16X3_WHOLE && m * k <= PRT_BF16X3_BLOCK;
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
/* They take less time than plain ones: m rows, all panels. */
bool prt_bf16x3_pays(const prt_eval *c, const prt_kern *kern, size_t m, size_t n, size_t k);

/* A step's strip of m rows, on the calling thread, in so many floats of scratch for m and for
 * fewer; with a sink, of rows that are whole, panel by panel, each put to the same place and then
 * taken. False: C holds anything, not all numbers are finite. */
size_t prt_bf16x3_strip_size(const prt_nhwc_product *p, size_t m);
bool prt_bf16x3_strip(const prt_kern *kern, const prt_nhwc_product *p, size_t m, const float *a,
    float *c, const float *residual, const prt_nhwc_sink *sink, float *scratch);
#endif

/* One batch of it. False in `*done`, and C holds anything: not all numbers are finite. */
poprt_status prt_bf16x3_product(prt_eval *c, const prt_kern *kern, const prt_product_spec *p,
    bool *done);

/* One of form panels: whether it can be such a product; and that, as prt_bf16x3_product. */
bool prt_bf16x3_fits(const prt_nhwc *v);
poprt_status prt_bf16x3_conv(prt_eval *c, const prt_nhwc *v, bool *done);

#endif
