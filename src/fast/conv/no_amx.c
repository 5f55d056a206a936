/* SPDX-License-Identifier: MIT */
/*
 * no_amx.c — stubs of bf16x3.h and nhwc_i8_amx.h for a library without the AMX kernels (-Dkernels
 * without amx): they replace bf16x3.c, bf16x3_conv.c and nhwc_i8_amx.c. They are never called,
 * since prt_bf16x3_pays and prt_nhwc_i8_amx_pays return false there. An optimising compiler removes
 * the calls; a build without optimisation has to link them.
 */
#include "fast/gemm/bf16x3.h"
#include "fast/conv/nhwc_i8_amx.h"

poprt_status prt_bf16x3_product(prt_eval *c, const prt_kern *kern, const prt_product_spec *p,
    bool *done)
{
    (void)c, (void)kern, (void)p, (void)done;
    return POPRT_E_INTERNAL;
}

bool prt_bf16x3_fits(const prt_nhwc *v)
{
    (void)v;
    return false;
}

poprt_status prt_bf16x3_conv(prt_eval *c, const prt_nhwc *v, bool *done)
{
    (void)c, (void)v, (void)done;
    return POPRT_E_INTERNAL;
}

size_t prt_nhwc_i8_amx_joined(const prt_nhwc *v)
{
    (void)v;
    return 0;
}

void prt_nhwc_i8_amx_round_size(const prt_nhwc *v, size_t joined, size_t *high, size_t *wide)
{
    (void)v, (void)joined, (void)high, (void)wide;
}

bool prt_nhwc_i8_amx_pays(const prt_kern *kern, size_t pixels, size_t filters, size_t words)
{
    (void)kern, (void)pixels, (void)filters, (void)words;
    return false;
}

poprt_status prt_nhwc_i8_amx_conv_run(prt_eval *c, const prt_nhwc_i8_amx_conv *t)
{
    (void)c, (void)t;
    return POPRT_E_INTERNAL;
}
