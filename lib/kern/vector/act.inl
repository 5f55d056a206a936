/* SPDX-License-Identifier: MIT */
/* act.inl — activations of one vector, and of rows. */
#ifndef PRT_KERN_VECTOR_ACT_INL
#define PRT_KERN_VECTOR_ACT_INL

#include "kern/vector/act.h"
#include "kern/vector/vmath.h"

static inline vf v_act(vf x, int kind, vf a, vf b)
{
    const vf zero = v_set(0.0f), one = v_set(1.0f);
    switch (kind) {
    case PRT_ACT_relu:
        return v_max(zero, x);
    case PRT_ACT_clip:
        return v_min(b, v_max(a, x));
    case PRT_ACT_leaky_relu:
        return v_select(v_less(x, zero), v_mul(a, x), x);
    case PRT_ACT_sigmoid:
        return v_sigmoid(x);
    case PRT_ACT_tanh:
        return v_tanh(x);
    case PRT_ACT_silu:
        return v_sigmoid_of(v_max(v_set((float)V_LEAST), x), x);
    case PRT_ACT_hard_sigmoid:
        return v_min(one, v_max(zero, v_fma(a, x, b)));
    case PRT_ACT_hard_swish:
        return v_mul(x, v_min(one, v_max(zero, v_fma(v_set(1.0f / 6.0f), x, v_set(0.5f)))));
    case PRT_ACT_gelu:
        return v_gelu(x);
    case PRT_ACT_gelu_tanh: {
        const vf above = v_max(v_set(-20.0f), x), square = v_mul(above, above);
        const vf cubic = v_fma(v_mul(v_set(0.044715f), square), above, above);
        return v_sigmoid_of(above, v_mul(v_set(1.59576912f), cubic));
    }
    default:
        return x;
    }
}

/* Applies an activation to rows of n elements, in place if `x` is `y`. The kind is a compile-time
 * constant in each loop, and the loop over rows is inside, so that many short rows are as fast as a
 * long one. */
#define ACT_CASE(kind_)                                                                            \
    case kind_:                                                                                    \
        for (; rows != 0; rows--, x += ldx, y += ldy) {                                            \
            size_t i = 0;                                                                          \
            for (; i + 2 * VL <= n; i += 2 * VL) {                                                 \
                const vf first = v_act(v_load(x + i), kind_, a, b);                                \
                const vf second = v_act(v_load(x + i + VL), kind_, a, b);                          \
                v_store(y + i, first);                                                             \
                v_store(y + i + VL, second);                                                       \
            }                                                                                      \
            for (; i < n; i += VL)                                                                 \
                v_store_some(y, i, n, v_act(v_load_some(x, i, n), kind_, a, b));                   \
        }                                                                                          \
        break;

static void run_act_rows(const prt_act *act, size_t rows, size_t n, const float *x, size_t ldx,
    float *y, size_t ldy)
{
    const vf a = v_set(act->a), b = v_set(act->b);
    switch (act->kind) {
        ACT_CASE(PRT_ACT_relu)
        ACT_CASE(PRT_ACT_clip)
        ACT_CASE(PRT_ACT_leaky_relu)
        ACT_CASE(PRT_ACT_sigmoid)
        ACT_CASE(PRT_ACT_tanh)
        ACT_CASE(PRT_ACT_silu)
        ACT_CASE(PRT_ACT_hard_sigmoid)
        ACT_CASE(PRT_ACT_hard_swish)
        ACT_CASE(PRT_ACT_gelu)
        ACT_CASE(PRT_ACT_gelu_tanh)
    default:
        for (; x != y && rows != 0; rows--, x += ldx, y += ldy)
            memcpy(y, x, n * sizeof(float));
    }
}

static inline void run_act(const prt_act *act, size_t n, const float *x, float *y)
{
    run_act_rows(act, 1, n, x, n, y, n);
}

#endif
