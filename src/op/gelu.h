/* SPDX-License-Identifier: MIT */
/* gelu.h — Gelu of one number, exact and by tanh, for all operators that have it in them. */
#ifndef PRT_OP_GELU_H
#define PRT_OP_GELU_H

#include <math.h>

static inline double prt_gelu(double x)
{
    return 0.5 * x * (1.0 + erf(x * 0.70710678118654752440));
}

static inline double prt_gelu_tanh(double x)
{
    return 0.5 * x * (1.0 + tanh(0.79788456080286535588 * (x + 0.044715 * x * x * x)));
}

static inline double prt_silu(double x)
{
    return x / (1.0 + exp(-x));
}

#endif
