/* SPDX-License-Identifier: MIT */
/* dot_epilogue.inl — the epilogue of dot2_bf16: finishes a vector of sums and stores it to C. */
#ifndef PRT_KERN_INT8_DOT_EPILOGUE_INL
#define PRT_KERN_INT8_DOT_EPILOGUE_INL

#include "kern/vector/act.inl"
#include "kern/int8/dot.h"

static __attribute__((noinline)) void store_finished(const prt_dot_block *g, size_t row,
    size_t column, vf v)
{
    const prt_gemm_end *e = g->end;
    const size_t n = g->columns;
    if (e != NULL) {
        if (e->bias != NULL)
            v = v_add(v, v_load_some(e->bias, column, n));
        if (e->residual != NULL)
            v = v_add(v, v_load_some(e->residual + row * e->ldr, column, n));
        if (e->act.kind != PRT_ACT_none)
            v = v_act(v, e->act.kind, v_set(e->act.a), v_set(e->act.b));
    }
    v_store_some((float *)g->c + row * g->ldc, column, n, v);
}

#endif
