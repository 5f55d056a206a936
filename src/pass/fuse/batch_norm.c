/* SPDX-License-Identifier: MIT */
/*
 * batch_norm.c — batch_norm_to_conv: a BatchNormalization with constant parameters that no
 * convolution absorbs becomes a depthwise 1x1 Conv, so that an activation behind it can be fused
 * and channels last applies. Requires float32 of rank 4; at rank 2 it becomes Mul and Add.
 */
#include <math.h>

#include "pass/engine/match.h"

typedef struct params {
    prt_tensor scale, bias, mean, var;
} params;

static bool match(const prt_op *norm, params *p)
{
    const prt_batch_normalization_attrs *a = norm->attrs;
    const prt_value *x = prt_op_input(norm, 0);
    if (a->training_mode != 0 || !prt_type_is_tensor(x->type) ||
        (x->type->rank != 4 && x->type->rank != 2) || x->type->dtype != PRT_DTYPE_f32 ||
        !prt_dim_is_number(x->type->dims[1]) || x->type->dims[1] < 2)
        return false;
    for (uint32_t i = 1; i < norm->n_out; i++)
        if (prt_value_used(&norm->out[i]))
            return false;
    prt_tensor *all[4] = { &p->scale, &p->bias, &p->mean, &p->var };
    for (uint32_t i = 0; i < 4; i++)
        if (!prt_match_constant(norm, i + 1, all[i]) || all[i]->dtype != PRT_DTYPE_f32 ||
            all[i]->rank != 1 || all[i]->dims[0] != x->type->dims[1])
            return false;
    return true;
}

static double number(const prt_tensor *t, size_t i)
{
    return prt_load_f64(t->dtype, t->data, i);
}

static bool apply(prt_pass *p, prt_build *b, prt_op *root)
{
    params m;
    if (!match(root, &m))
        return false;
    const size_t n = prt_tensor_count(&m.scale);
    const int64_t dims[4] = { (int64_t)n, 1, 1, 1 };
    float *w = PRT_NEW_N(p->arena, float, n), *shift = PRT_NEW_N(p->arena, float, n);
    if (w == NULL || shift == NULL)
        return false;
    const double epsilon = (double)((const prt_batch_normalization_attrs *)root->attrs)->epsilon;
    for (size_t i = 0; i < n; i++) {
        const double s = number(&m.scale, i) / sqrt(number(&m.var, i) + epsilon);
        w[i] = (float)s;
        shift[i] = (float)(number(&m.bias, i) - number(&m.mean, i) * s);
        if (!isfinite(w[i]) || !isfinite(shift[i]))
            return false;
    }
    const bool is_matrix = prt_op_input(root, 0)->type->rank == 2;
    prt_conv_attrs attrs = PRT_ATTRS_OF(conv);
    PRT_ATTR_SET(attrs, conv, group, (int64_t)n);
    prt_value *in[3] = { prt_op_input(root, 0),
        prt_build_tensor(b, PRT_DTYPE_f32, is_matrix ? 1 : 4, dims, w),
        prt_build_tensor(b, PRT_DTYPE_f32, 1, dims, shift) };
    prt_value *y = is_matrix
        ? prt_build_binary(b, PRT_OP_add, prt_build_binary(b, PRT_OP_mul, in[0], in[1]), in[2])
        : prt_build_op(b, PRT_OP_conv, &attrs, 3, in);
    return prt_match_replace(b, root, y);
}

static const prt_rewrite rewrites[] = { { PRT_OP_batch_normalization, apply } };

const prt_pass_hooks prt_pass_batch_norm_to_conv = {
    .rewrites = rewrites,
    .n_rewrites = PRT_COUNT_OF(rewrites),
};
