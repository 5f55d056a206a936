/* SPDX-License-Identifier: MIT */
/*
 * quantized_cache.h — quantised caches of keys and values: int8, float8e4m3fn, or pairs of 4-bit
 * numbers in bytes (low half first, zero point 8).
 *
 * New rows are rounded to the cache's type before they are used, so that a later step reads exactly
 * the values that this step used.
 */
#ifndef PRT_OP_MICROSOFT_QUANTIZED_CACHE_H
#define PRT_OP_MICROSOFT_QUANTIZED_CACHE_H

#include "op/share/attention_core.h"

/* One of the two caches of an operator, as its infer hook sees it. */
typedef struct prt_ms_cache_params {
    uint32_t past, scale; /* input indices */
    prt_str kind;         /* NONE, PER_TENSOR or PER_CHANNEL */
    int64_t bits;         /* attribute kv_cache_bit_width; 0: the width of the type */
    int64_t heads, size;
} prt_ms_cache_params;

/* Fails unless the kind is known and the input and its scale are given and fit. Sets `width` to the
   required last dim of the cache. */
poprt_status prt_ms_cache_check(const prt_infer *c, const prt_ms_cache_params *f, int64_t *width);

typedef struct prt_ms_cache_quant {
    int32_t code;     /* element type; u4 for pairs in bytes */
    prt_tensor scale; /* of rank 4 */
} prt_ms_cache_quant;

/* Returns the code of `past`, a cache that passed the check, and its `scale`. */
prt_ms_cache_quant prt_ms_cache_quant_of(const prt_tensor *past, const prt_tensor *scale);

/* Dequantises a cache tensor [batch, heads, rows, …] to doubles in scratch. */
poprt_status prt_ms_cache_dequantize(prt_eval *c, const prt_ms_cache_quant *code,
    const prt_tensor *t, size_t size, prt_heads *to);

/* Returns zeroed doubles in scratch to fill in place of output `t`; prt_ms_cache_quantize writes
   them. */
poprt_status prt_ms_cache_zeros(prt_eval *c, const prt_tensor *t, size_t size, prt_heads *to);

/* Replaces `h` by a copy in scratch that is rounded to the cache's type. */
poprt_status prt_ms_cache_round(prt_eval *c, const prt_ms_cache_quant *code, size_t batch,
    prt_heads *h);

/* Quantises the doubles `from` into t. */
void prt_ms_cache_quantize(const prt_ms_cache_quant *code, const prt_heads *from, prt_tensor *t);

#endif
