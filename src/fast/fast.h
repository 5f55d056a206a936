/* SPDX-License-Identifier: MIT */
/*
 * fast.h — fast forms of operators: what a session runs in place of the reference kernel, where
 * the types and shapes at hand are ones that lib/kern has kernels for.
 *
 * Rows are in fast.def, by operator. A fast form gets the same context as the operator's `eval`,
 * after the same checks, and gives the same values within the bounds of tests/fast. Work is cut
 * into items that do not depend on the number of threads, so neither do results.
 */
#ifndef PRT_FAST_FAST_H
#define PRT_FAST_FAST_H

#include "kern/kern.h"
#include "op/op.h"

/* Clears `*done` (set on entry) and returns POPRT_OK when the reference kernel has to run. */
typedef poprt_status (*prt_fast_fn)(prt_eval *c, const prt_kern *k, bool *done);

/* The fast form of an operator, or NULL. */
prt_fast_fn prt_fast_of(uint32_t op);

/* Input i is there and a tensor of float32. */
static inline bool prt_fast_has(const prt_eval *c, uint32_t i)
{
    return prt_eval_has(c, i) && c->in[i]->kind == PRT_VALUE_TENSOR &&
        c->in[i]->dtype == PRT_DTYPE_f32;
}

/* Output 0 is wanted and has its memory: its shape does not depend on contents. */
static inline bool prt_fast_wants(const prt_eval *c)
{
    return prt_eval_wants(c, 0) && c->out[0]->kind == PRT_VALUE_TENSOR && c->out[0]->data != NULL;
}

/* A product of which nothing is left to be read fetches the first of what a later step reads, as
 * much as stays in the second cache level beside its own. */
static inline void prt_fast_fetch_later(const prt_tensor *later, prt_gemm_block *g)
{
    const size_t most = 1 << 17, count = later != NULL ? later->size / sizeof(float) : 0;
    g->next = later != NULL ? later->data : NULL;
    g->next_count = count < most ? count : most;
}

/* Arithmetic on integers, which the forms for float32 leave to it (plain.c). */
poprt_status prt_fast_whole(prt_eval *c, const prt_kern *k, bool *done);

/* "Not mine." */
static inline poprt_status prt_fast_pass(bool *done)
{
    *done = false;
    return POPRT_OK;
}

#endif
