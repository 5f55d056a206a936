/* SPDX-License-Identifier: MIT */
/*
 * fast.h — optimised implementations of operators: a session runs them instead of the reference
 * kernel, for the types and shapes that lib/kern supports.
 *
 * fast.def lists them by operator. An implementation gets the same context as the operator's
 * `eval`, after the same checks, and gives the same values within the bounds of tests/fast. Work is
 * cut into items so that results do not depend on the number of threads.
 */
#ifndef PRT_FAST_FAST_H
#define PRT_FAST_FAST_H

#include "kern/kern.h"
#include "op/op.h"

/* Clears `*done` (set on entry) and returns POPRT_OK if the reference kernel has to run. */
typedef poprt_status (*prt_fast_fn)(prt_eval *c, const prt_kern *k, bool *done);

/* The implementations. One that has several rows in fast.def is declared several times. */
#define FAST(id, function) poprt_status function(prt_eval *c, const prt_kern *k, bool *done);
#include "fast/fast.def"

/* Returns the optimised implementation of an operator, or NULL. */
prt_fast_fn prt_fast_of(uint32_t op);

/* Returns whether input i is present and is a float32 tensor. */
static inline bool prt_fast_has(const prt_eval *c, uint32_t i)
{
    return prt_eval_has(c, i) && c->in[i]->kind == PRT_VALUE_TENSOR &&
        c->in[i]->dtype == PRT_DTYPE_f32;
}

/* Returns whether output 0 is wanted and has memory (its shape does not depend on
 * contents). */
static inline bool prt_fast_has_output(const prt_eval *c)
{
    return prt_eval_wants(c, 0) && c->out[0]->kind == PRT_VALUE_TENSOR && c->out[0]->data != NULL;
}

/* Makes a GEMM block without further reads of its own prefetch the beginning of `hint`, a constant
 * of a later step: up to 2^17 floats, so that it stays in L2. */
static inline void prt_fast_prefetch_hint(const prt_tensor *hint, prt_gemm_block *g)
{
    const size_t most = 1 << 17, count = hint != NULL ? hint->size / sizeof(float) : 0;
    g->next = hint != NULL ? hint->data : NULL;
    g->next_count = count < most ? count : most;
}

/* Integer arithmetic, to which the float32 implementations pass other types (integer_logic.c). */
poprt_status prt_fast_integer(prt_eval *c, const prt_kern *k, bool *done);

/* Cast from float8, to which prt_fast_cast passes such inputs (fp8.c). */
poprt_status prt_fast_cast_from_fp8(prt_eval *c, bool *done);

/* Passes the operator to the reference kernel. */
static inline poprt_status prt_fast_use_reference(bool *done)
{
    *done = false;
    return POPRT_OK;
}

#endif
