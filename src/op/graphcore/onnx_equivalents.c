/* SPDX-License-Identifier: MIT */
/*
 * onnx_equivalents.c — operators that passes of the converter substitute for ONNX operators,
 * because a backend has two implementations of them. The semantics are equal: ErfV2, SoftmaxV2,
 * RoundV2 (half to even), IsInfV2, WhereV2, LeakyRelu; FastNorm, which is LayerNormalization of
 * rows; NotZero, which is two casts.
 */
#include "op/check.h"
#include "op/graphcore/onnx_hooks.h"
#include "op/share/reals.h"

/* ---- operators equal to ONNX operators */

static prt_round_attrs no_attrs(const void *attrs)
{
    (void)attrs;
    return (prt_round_attrs){ 0 };
}

static prt_isinf_attrs isinf_of(const void *attrs)
{
    const prt_gc_is_inf_v2_attrs *a = attrs;
    return (prt_isinf_attrs){ .detect_negative = a->detect_negative,
        .detect_positive = a->detect_positive };
}

static prt_leaky_relu_attrs leaky_of(const void *attrs)
{
    return (prt_leaky_relu_attrs){ .alpha = ((const prt_gc_leaky_relu_attrs *)attrs)->alpha };
}

static prt_softmax_attrs softmax_of(const void *attrs)
{
    return (prt_softmax_attrs){ .axis = ((const prt_gc_softmax_v2_attrs *)attrs)->axis };
}

PRT_GC_SAME(gc_erf_v2, erf, prt_round_attrs, no_attrs);
PRT_GC_SAME(gc_is_inf_v2, isinf, prt_isinf_attrs, isinf_of);
PRT_GC_SAME(gc_leaky_relu, leaky_relu, prt_leaky_relu_attrs, leaky_of);
PRT_GC_SAME(gc_round_v2, round, prt_round_attrs, no_attrs);
PRT_GC_SAME(gc_softmax_v2, softmax, prt_softmax_attrs, softmax_of);
PRT_GC_SAME(gc_where_v2, where, prt_round_attrs, no_attrs);

/* ---- FastNorm */

static prt_layer_normalization_attrs layer_of(const void *attrs)
{
    return (prt_layer_normalization_attrs){ .axis = -1,
        .stash_type = PRT_DTYPE_f32,
        .epsilon = ((const prt_gc_fast_norm_attrs *)attrs)->epsilon };
}

static poprt_status infer_norm(prt_infer *c)
{
    const prt_gc_fast_norm_attrs *a = c->attrs;
    const prt_layer_normalization_attrs layer = layer_of(a);
    const prt_shape *x = &c->in[0];
    if (x->rank == 0)
        return prt_infer_fail(c, POPRT_E_SHAPE, "the input is a scalar; at least rank 1 is needed");
    if (a->num_groups < 0)
        return prt_infer_fail(c, POPRT_E_ARG, "num_groups is %lld; at least 0 is needed",
            (long long)a->num_groups);
    if (x->rank > 0) {
        const int64_t rows = prt_infer_product(c, x->dims, 0, (uint32_t)x->rank - 1);
        if (a->num_groups != 0 && prt_dim_is_number(rows) && rows != a->num_groups)
            return prt_infer_fail(c, POPRT_E_SHAPE, "num_groups is %lld, but there are %lld rows",
                (long long)a->num_groups, (long long)rows);
        PRT_TRY(prt_infer_vector(c, 1, x->dims[x->rank - 1]));
        PRT_TRY(prt_infer_vector(c, 2, x->dims[x->rank - 1]));
    }
    return prt_gc_infer_as(c, &prt_op_layer_normalization, &layer);
}

static poprt_status eval_norm(prt_eval *c)
{
    const prt_layer_normalization_attrs layer = layer_of(c->attrs);
    return prt_gc_eval_as(c, &prt_op_layer_normalization, &layer);
}

const prt_op_hooks prt_op_gc_fast_norm = { .infer = infer_norm, .eval = eval_norm };

/* ---- NotZero */

static poprt_status infer_not_zero(prt_infer *c)
{
    const prt_gc_not_zero_attrs *a = c->attrs;
    const int32_t dtype = c->in[0].dtype;
    if (a->to == 0)
        return prt_infer_like(c, 0, 0, dtype);
    PRT_TRY(prt_infer_dtype_attr(c, "to", c->def->types[1].set, a->to));
    return prt_infer_like(c, 0, 0, (int32_t)a->to);
}

static poprt_status eval_not_zero(prt_eval *c)
{
    const prt_tensor *x = c->in[0];
    if (!prt_eval_wants(c, 0))
        return POPRT_OK;
    prt_tensor *y = c->out[0];
    const size_t n = prt_tensor_count(x);
    for (size_t i = 0; i < n; i++) {
        const bool set = prt_dtype_is_float(x->dtype) ? prt_load_f64(x->dtype, x->data, i) != 0
                                                      : prt_load_i64(x->dtype, x->data, i) != 0;
        if (prt_dtype_is_float(y->dtype))
            prt_store_f64(y->dtype, y->data, i, set ? 1.0 : 0.0);
        else
            prt_store_i64(y->dtype, y->data, i, set);
    }
    return POPRT_OK;
}

const prt_op_hooks prt_op_gc_not_zero = { .infer = infer_not_zero, .eval = eval_not_zero };
