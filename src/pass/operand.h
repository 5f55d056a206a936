/* SPDX-License-Identifier: MIT */
/* operand.h — questions about operands that patterns of several families ask, and common edits. */
#ifndef PRT_PASS_OPERAND_H
#define PRT_PASS_OPERAND_H

#include "pass/rewrite.h"

/* Element type of a tensor; PRT_DTYPE_undefined where it is not known or something else. */
int32_t prt_operand_dtype(const prt_value *v);
/* Its type when it is a tensor of known rank; else NULL. */
const prt_type *prt_operand_ranked(const prt_value *v);
/* The same where all dims are numbers. */
const prt_type *prt_operand_static(const prt_value *v);
/* Dim `axis` (counted from the end when negative) when that is a number; else -1. */
int64_t prt_operand_dim(const prt_value *v, int64_t axis);

/* Does the operator's row allow this element type for input 0? */
bool prt_operand_takes(uint32_t id, int32_t dtype);

/* Input `slot` is a constant of one number, of any integer or float type and any rank. */
bool prt_operand_number(const prt_op *op, uint32_t slot, double *out);
/* The same for integers, exactly. */
bool prt_operand_integer(const prt_op *op, uint32_t slot, int64_t *out);

/* Axes of a Reduce operator, a set of bits; false when they are not constant or a rank is not
 * known. Without axes: all of them, or none where the operator says that this is meant. */
bool prt_operand_reduced(const prt_op *op, uint32_t *set);

/* Nobody reads outputs from `first` on. */
bool prt_operand_only(const prt_op *op, uint32_t first);

/* A constant like input `slot` of floats with `f` applied to every element; NULL when a result is
 * not finite or so small that it loses bits, when the pass cannot afford it, or when a failure
 * stays in `b`. */
prt_value *prt_operand_mapped(prt_pass *p, prt_build *b, const prt_op *op, uint32_t slot,
    double (*f)(double x, double with), double with);

/* A constant of the main graph that goes by what it is: the one of this name, when it has this type
 * and these bytes, or a new one. Takes over the blob. NULL: the pass cannot afford it, or a
 * failure stays in `b`. */
prt_value *prt_operand_shared(prt_pass *p, prt_build *b, const char *name, const prt_type *type,
    prt_blob *blob);

/* x as `dtype`; x itself when it is that. */
prt_value *prt_operand_cast(prt_build *b, prt_value *x, int32_t dtype);

/* Output 0 of `root` becomes `to`; ops that `b` has made before root get root's marks. True,
 * whatever stays in `b`: to be the last call of an `apply`. */
bool prt_operand_become(prt_build *b, prt_op *root, prt_value *to);
/* The same with an operator of these attributes and inputs. */
bool prt_operand_become_op(prt_build *b, prt_op *root, uint32_t id, const void *attrs,
    uint32_t n_in, prt_value *const *in);

/* Hooks of a pass that is one rewrite. */
#define PRT_PASS_OF_ONE(id, root, apply)                                                           \
    static const prt_rewrite id##_rewrites[] = { { root, apply } };                                \
    const prt_pass_hooks prt_pass_##id = { .rewrites = id##_rewrites, .n_rewrites = 1 }

#endif
