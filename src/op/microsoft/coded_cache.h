/* SPDX-License-Identifier: MIT */
/*
 * coded_cache.h — caches of keys and values kept as scaled small numbers: int8, float8e4m3fn, or
 * pairs of 4-bit numbers in bytes (low half first, zero is 8).
 *
 * What is new goes through the code before it is used, so that a later step finds just what this
 * one saw.
 */
#ifndef PRT_OP_MICROSOFT_CODED_CACHE_H
#define PRT_OP_MICROSOFT_CODED_CACHE_H

#include "op/share/attention_core.h"

/* One of the two caches of an operator, for its infer hook. */
typedef struct prt_ms_coded_form {
    uint32_t past, scale; /* inputs */
    prt_str kind;         /* NONE, PER_TENSOR or PER_CHANNEL */
    int64_t bits;         /* 0: as the type has it */
    int64_t heads, size;
} prt_ms_coded_form;

/* The kind is known, and the input and its scale are there and fit; `width` is what the last dim
 * of the cache must be. */
poprt_status prt_ms_coded_check(const prt_infer *c, const prt_ms_coded_form *f, int64_t *width);

typedef struct prt_ms_coded {
    int32_t code;     /* element type; u4 for pairs in bytes */
    prt_tensor scale; /* of rank 4 */
} prt_ms_coded;

/* `past` is a cache that passed the check, `scale` its scale. */
prt_ms_coded prt_ms_coded_of(const prt_tensor *past, const prt_tensor *scale);

/* Heads of a coded tensor [batch, heads, rows, …] as doubles in scratch. */
poprt_status prt_ms_coded_open(prt_eval *c, const prt_ms_coded *code, const prt_tensor *t,
    size_t size, prt_heads *to);

/* Doubles in scratch, all 0, that stand for output `t` until they are closed. */
poprt_status prt_ms_coded_blank(prt_eval *c, const prt_tensor *t, size_t size, prt_heads *to);

/* `h` becomes, in scratch, what the code keeps of it. */
poprt_status prt_ms_coded_round(prt_eval *c, const prt_ms_coded *code, size_t batch, prt_heads *h);

/* Writes the doubles `from` as codes. */
void prt_ms_coded_close(const prt_ms_coded *code, const prt_heads *from, prt_tensor *t);

#endif
