/* SPDX-License-Identifier: MIT */
/*
 * bn.h — folds a BatchNormalization for inference with constant parameters into the product before
 * it. For each channel, with s = scale / sqrt(var + epsilon), W' = W · s and B' = (B - mean) · s +
 * bias, in double arithmetic.
 */
#ifndef PRT_PASS_FUSE_BN_H
#define PRT_PASS_FUSE_BN_H

#include "pass/engine/match.h"

typedef struct prt_bn {
    prt_tensor scale, bias, mean, var;
    double epsilon;
} prt_bn;

/* Returns whether the op is for inference, uses one output only, and has constant parameters. */
bool prt_bn_match(const prt_op *norm, prt_bn *bn);

/* Returns whether the tensor is a vector of `channels` numbers of type `dtype`. */
bool prt_bn_is_row(const prt_tensor *t, int32_t dtype, uint64_t channels);

/* Returns whether all parameters are such vectors and the type is f16, f32 or f64. */
bool prt_bn_is_supported(const prt_bn *bn, int32_t dtype, uint64_t channels);

/* Returns s for each channel, allocated in `arena`; NULL: no memory. */
double *prt_bn_factors(const prt_bn *bn, prt_arena *arena);

/* Writes B' to `data`. `b` (NULL: zeros) is multiplied by `beta`; a single element counts for all
 * channels. Returns false if a number is not finite. */
bool prt_bn_fold_bias(const prt_bn *bn, const double *s, const prt_tensor *b, double beta,
    void *data);

/* Stores a value; returns false if it is not finite in this type. */
bool prt_bn_store(int32_t dtype, void *data, size_t index, double value);

#endif
