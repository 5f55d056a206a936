/* SPDX-License-Identifier: MIT */
/* bn.c — shared parts of folding a BatchNormalization into Conv and into Gemm. */
#include "pass/fuse/bn.h"

#include <math.h>

bool prt_bn_match(const prt_op *norm, prt_bn *bn)
{
    const prt_batch_normalization_attrs *a = norm->attrs;
    for (uint32_t i = 1; i < norm->n_out; i++)
        if (prt_value_used(&norm->out[i]))
            return false;
    bn->epsilon = (double)a->epsilon;
    return a->training_mode == 0 && prt_value_used(&norm->out[0]) &&
        prt_match_constant(norm, 1, &bn->scale) && prt_match_constant(norm, 2, &bn->bias) &&
        prt_match_constant(norm, 3, &bn->mean) && prt_match_constant(norm, 4, &bn->var);
}

bool prt_bn_is_row(const prt_tensor *t, int32_t dtype, uint64_t channels)
{
    return t->dtype == dtype && t->rank == 1 && (uint64_t)t->dims[0] == channels;
}

bool prt_bn_is_supported(const prt_bn *bn, int32_t dtype, uint64_t channels)
{
    return (dtype == PRT_DTYPE_f16 || dtype == PRT_DTYPE_f32 || dtype == PRT_DTYPE_f64) &&
        prt_bn_is_row(&bn->scale, dtype, channels) && prt_bn_is_row(&bn->bias, dtype, channels) &&
        prt_bn_is_row(&bn->mean, dtype, channels) && prt_bn_is_row(&bn->var, dtype, channels);
}

double *prt_bn_factors(const prt_bn *bn, prt_arena *arena)
{
    const size_t n = prt_tensor_count(&bn->scale);
    double *s = PRT_NEW_N(arena, double, n);
    for (size_t i = 0; s != NULL && i < n; i++)
        s[i] = prt_load_f64(bn->scale.dtype, bn->scale.data, i) /
            sqrt(prt_load_f64(bn->var.dtype, bn->var.data, i) + bn->epsilon);
    return s;
}

bool prt_bn_store(int32_t dtype, void *data, size_t index, double value)
{
    prt_store_f64(dtype, data, index, value);
    return isfinite(prt_load_f64(dtype, data, index));
}

bool prt_bn_fold_bias(const prt_bn *bn, const double *s, const prt_tensor *b, double beta,
    void *data)
{
    const int32_t dtype = bn->scale.dtype;
    const size_t step = b != NULL && prt_tensor_count(b) == 1 ? 0 : 1;
    for (size_t i = 0; i < prt_tensor_count(&bn->scale); i++) {
        const double old = b != NULL ? prt_load_f64(dtype, b->data, i * step) * beta : 0;
        const double mean = prt_load_f64(dtype, bn->mean.data, i);
        if (!prt_bn_store(dtype, data, i,
                (old - mean) * s[i] + prt_load_f64(dtype, bn->bias.data, i)))
            return false;
    }
    return true;
}
