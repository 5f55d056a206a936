/* SPDX-License-Identifier: MIT */
/* act_run_impl.h — an activation over many elements. */
#include "kern/act_impl.h"

void PRT_LEVEL(prt_act_run)(const prt_act *act, size_t n, const float *x, float *y);

void PRT_LEVEL(prt_act_run)(const prt_act *act, size_t n, const float *x, float *y)
{
    const vf a = v_set(act->a), b = v_set(act->b);
    size_t i = 0;
    for (; i + VL <= n; i += VL)
        v_store(y + i, v_act(v_load(x + i), act->kind, a, b));
    if (i < n)
        v_store_n(y + i, v_act(v_load_n(x + i, n - i), act->kind, a, b), n - i);
}
