/* SPDX-License-Identifier: MIT */
/* act.h — activations that kernels apply to their results. */
#ifndef PRT_KERN_VECTOR_ACT_H
#define PRT_KERN_VECTOR_ACT_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

typedef enum prt_act_kind {
    PRT_ACT_none,
    PRT_ACT_relu,
    PRT_ACT_clip,       /* clips to [a, b] */
    PRT_ACT_leaky_relu, /* a: slope below 0 */
    PRT_ACT_sigmoid,
    PRT_ACT_tanh,
    PRT_ACT_silu,
    PRT_ACT_hard_sigmoid, /* clip(a x + b, 0, 1) */
    PRT_ACT_hard_swish,
    PRT_ACT_gelu,
    PRT_ACT_gelu_tanh,
    PRT_ACT_COUNT
} prt_act_kind;

typedef struct prt_act {
    int kind;
    float a, b;
} prt_act;

/* Returns whether the activation is a range (or does nothing), and the range; infinite bounds
 * otherwise. */
static inline bool prt_act_bounds(const prt_act *act, float *low, float *high)
{
    *low = act->kind == PRT_ACT_clip ? act->a : act->kind == PRT_ACT_relu ? 0.0f : -INFINITY;
    *high = act->kind == PRT_ACT_clip ? act->b : INFINITY;
    return act->kind == PRT_ACT_none || act->kind == PRT_ACT_relu || act->kind == PRT_ACT_clip;
}

#endif
