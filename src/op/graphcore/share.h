/* SPDX-License-Identifier: MIT */
/*
 * share.h — operators of ai.graphcore that are standard ones in another spelling: the standard
 * hooks run on attributes and inputs made for them. The row stays, so errors name the operator of
 * the model and it is written back as it came.
 */
#ifndef PRT_OP_GRAPHCORE_SHARE_H
#define PRT_OP_GRAPHCORE_SHARE_H

#include "op/op.h"

enum { PRT_GC_LISTS = 4 };

poprt_status prt_gc_infer_as(prt_infer *c, const prt_op_hooks *as, const void *attrs);
poprt_status prt_gc_eval_as(prt_eval *c, const prt_op_hooks *as, const void *attrs);

/* The same where the standard operator has lists of integers as inputs 1 to `n` (at most
 * PRT_GC_LISTS) that are attributes here. */
poprt_status prt_gc_infer_lists(prt_infer *c, const prt_op_hooks *as, const void *attrs, uint32_t n,
    const prt_i64s *lists);
poprt_status prt_gc_eval_lists(prt_eval *c, const prt_op_hooks *as, const void *attrs, uint32_t n,
    const prt_i64s *lists);

/* An operator that is a standard one with given attributes: its hooks. `attrs_of` makes them from
 * the row's. */
#define PRT_GC_SAME(id, standard, attrs_type, attrs_of)                                            \
    static poprt_status infer_##id(prt_infer *c)                                                   \
    {                                                                                              \
        const attrs_type a = attrs_of(c->attrs);                                                   \
        return prt_gc_infer_as(c, &prt_op_##standard, &a);                                         \
    }                                                                                              \
    static poprt_status eval_##id(prt_eval *c)                                                     \
    {                                                                                              \
        const attrs_type a = attrs_of(c->attrs);                                                   \
        return prt_gc_eval_as(c, &prt_op_##standard, &a);                                          \
    }                                                                                              \
    const prt_op_hooks prt_op_##id = { .infer = infer_##id, .eval = eval_##id }

/* Hooks of the standard operators that are shared. */
extern const prt_op_hooks prt_op_add, prt_op_bitwise_and, prt_op_bitwise_not, prt_op_bitwise_or,
    prt_op_bitwise_xor, prt_op_depth_to_space, prt_op_div, prt_op_erf, prt_op_gelu, prt_op_identity,
    prt_op_isinf, prt_op_layer_normalization, prt_op_leaky_relu, prt_op_mod, prt_op_mul, prt_op_pow,
    prt_op_reshape, prt_op_round, prt_op_slice, prt_op_softmax, prt_op_sub, prt_op_swish,
    prt_op_where;

/* How losses are reduced. */
typedef enum prt_gc_reduction { PRT_GC_SUM, PRT_GC_MEAN, PRT_GC_NONE } prt_gc_reduction;

/* "Sum", "Mean" or "None" (also "NoReduction"); fails on anything else. */
poprt_status prt_gc_reduction_of(const prt_infer *c, prt_str text, prt_gc_reduction *out);
/* The same after inference has accepted it. */
prt_gc_reduction prt_gc_reduction_again(prt_str text);

/* Output 0 is `dtype` with the dims of a shape attribute. */
poprt_status prt_gc_infer_shape(prt_infer *c, int32_t dtype, prt_i64s shape);

#endif
