/* SPDX-License-Identifier: MIT */
/* gelu.h — Gelu of one number, exact and by the tanh approximation, and SiLU. */
#ifndef PRT_OP_SHARE_GELU_H
#define PRT_OP_SHARE_GELU_H

#include <math.h>

/* Uses erfc, because 1 + erf loses precision where x is far below zero. */
static inline double prt_gelu(double x)
{
    return 0.5 * x * erfc(x * -0.70710678118654752440);
}

/* Computes (1 + tanh u) / 2 as 1 / (1 + exp(-2u)), for the same reason. */
static inline double prt_gelu_tanh(double x)
{
    return x / (1.0 + exp(-2.0 * 0.79788456080286535588 * (x + 0.044715 * x * x * x)));
}

static inline double prt_silu(double x)
{
    return x / (1.0 + exp(-x));
}

#endif
