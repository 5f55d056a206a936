/* SPDX-License-Identifier: MIT */
/*
 * bn.h — a BatchNormalization for inference with constant parameters, folded into the product in
 * front of it: with s = scale / sqrt(var + epsilon), W' = W · s and B' = (B - mean) · s + bias, per
 * channel, in double arithmetic.
 */
#ifndef PRT_PASS_FUSE_BN_H
#define PRT_PASS_FUSE_BN_H

#include "pass/engine/match.h"

typedef struct prt_bn {
    prt_tensor scale, bias, mean, var;
    double epsilon;
} prt_bn;

/* For inference, one output, all parameters constants. */
bool prt_bn_match(const prt_op *norm, prt_bn *bn);

/* A vector of that many numbers of that type. */
bool prt_bn_is_row(const prt_tensor *t, int32_t dtype, uint64_t channels);

/* All parameters are, and the type is one that is folded: f16, f32, f64. */
bool prt_bn_suits(const prt_bn *bn, int32_t dtype, uint64_t channels);

/* s for each channel; NULL: no memory. */
double *prt_bn_factors(const prt_bn *bn, prt_arena *arena);

/* B' as elements at `data`; `b` (NULL: zeros) counts `beta` times, and one element is for all
 * channels. False: a number is not finite. */
bool prt_bn_fold_bias(const prt_bn *bn, const double *s, const prt_tensor *b, double beta,
    void *data);

/* Stores a value; false when it is finite no more. */
bool prt_bn_put(int32_t dtype, void *data, size_t index, double value);

#endif
