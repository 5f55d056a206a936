/* SPDX-License-Identifier: MIT */
/*
 * onnx_hooks.h — operators of ai.graphcore that equal ONNX operators with other attributes or
 * inputs: they run the hooks of the ONNX operator on converted attributes and inputs. The operator
 * keeps its own row, so errors name it, and it is written back unchanged.
 */
#ifndef PRT_OP_GRAPHCORE_ONNX_HOOKS_H
#define PRT_OP_GRAPHCORE_ONNX_HOOKS_H

#include "op/op.h"

enum { PRT_GC_LISTS = 4 };

/* Run a hook of `as` with other attributes. */
poprt_status prt_gc_infer_as(prt_infer *c, const prt_op_hooks *as, const void *attrs);
poprt_status prt_gc_eval_as(prt_eval *c, const prt_op_hooks *as, const void *attrs);

/* The same for ONNX operators whose inputs 1 to `n` (at most PRT_GC_LISTS) are lists of integers
   that are attributes here. */
poprt_status prt_gc_infer_lists(prt_infer *c, const prt_op_hooks *as, const void *attrs, uint32_t n,
    const prt_i64s *lists);
poprt_status prt_gc_eval_lists(prt_eval *c, const prt_op_hooks *as, const void *attrs, uint32_t n,
    const prt_i64s *lists);

/* Defines the hooks of an operator that equals the ONNX operator `standard`. `attrs_of` converts
   its attributes. */
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

/* Hooks of ONNX operators that are reused. */
extern const prt_op_hooks prt_op_add, prt_op_bitwise_and, prt_op_bitwise_not, prt_op_bitwise_or,
    prt_op_bitwise_xor, prt_op_depth_to_space, prt_op_div, prt_op_erf, prt_op_gelu, prt_op_identity,
    prt_op_isinf, prt_op_layer_normalization, prt_op_leaky_relu, prt_op_mod, prt_op_mul, prt_op_pow,
    prt_op_reshape, prt_op_round, prt_op_slice, prt_op_softmax, prt_op_sub, prt_op_swish,
    prt_op_where;

/* Reduction of a loss. */
typedef enum prt_gc_reduction { PRT_GC_SUM, PRT_GC_MEAN, PRT_GC_NONE } prt_gc_reduction;

/* Parses "Sum", "Mean" or "None" (also "NoReduction"). Fails with POPRT_E_ARG for other texts. */
poprt_status prt_gc_reduction_of(const prt_infer *c, prt_str text, prt_gc_reduction *out);
/* Parses a text that inference has accepted. */
prt_gc_reduction prt_gc_reduction_again(prt_str text);

/* Infers output 0 as `dtype` with the dims of a shape attribute. */
poprt_status prt_gc_infer_shape(prt_infer *c, int32_t dtype, prt_i64s shape);

#endif
