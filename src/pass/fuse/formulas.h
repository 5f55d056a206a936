/* SPDX-License-Identifier: MIT */
/* formulas.h — matchers of formulas that have their own files, and helpers that they share. */
#ifndef PRT_PASS_FUSE_FORMULAS_H
#define PRT_PASS_FUSE_FORMULAS_H

#include <math.h>

#include "pass/engine/match.h"

static inline bool prt_formula_is_float(const prt_value *v)
{
    return v != NULL && prt_type_is_tensor(v->type) && prt_dtype_is_float(v->type->dtype);
}

/* Returns whether input `slot` is a float constant with one element that is within 0.1 % of
 * `value`. */
static inline bool prt_formula_is_number(const prt_op *op, uint32_t slot, double value)
{
    prt_tensor t;
    return prt_match_constant(op, slot, &t) && prt_dtype_is_float(t.dtype) &&
        prt_tensor_count(&t) == 1 &&
        fabs(prt_load_f64(t.dtype, t.data, 0) - value) <= 1e-3 * fabs(value);
}

/* Returns the other slot of a binary op that has this number in one slot; UINT32_MAX: neither slot
 * has it. */
static inline uint32_t prt_formula_other_operand(const prt_op *op, double value)
{
    return prt_formula_is_number(op, 1, value) ? 0
        : prt_formula_is_number(op, 0, value)  ? 1
                                               : UINT32_MAX;
}

/* Returns the other operand of an interior binary `id` (Add, Mul, Max or Min) at input `slot` that
 * has this number; NULL if there is no such op. `op` may be NULL. */
static inline prt_value *prt_formula_interior_operand(const prt_op *op, uint32_t slot, uint32_t id,
    double value)
{
    const prt_op *def = op != NULL ? prt_match_interior(op, slot, id) : NULL;
    const uint32_t at =
        def != NULL && def->n_in == 2 ? prt_formula_other_operand(def, value) : UINT32_MAX;
    return at != UINT32_MAX ? prt_op_input(def, at) : NULL;
}

/* Returns the x whose Gelu, with Erf or (`*tanh`) with Tanh, the Mul computes; NULL if it is
 * something else. */
prt_value *prt_formula_gelu(const prt_op *mul, bool *tanh);

/* Returns the x whose HardSigmoid with 1/6 and 1/2, or (`*swish`) HardSwish, the Mul or Div
 * computes; NULL if it is something else. */
prt_value *prt_formula_hard(const prt_op *root, bool *swish);

/* (x - mean) / Sqrt(variance + epsilon) * scale + bias, or the same without mean and bias (NULL).
 * Scale and bias are float32 vectors along the last axis, with dims of 1 before it. */
typedef struct prt_formula_norm {
    prt_value *x, *scale, *bias;
    double epsilon;
} prt_formula_norm;

/* Match a layer norm that ends with `add`, or an RMS norm that ends with `mul`. */
bool prt_formula_layer_norm(const prt_op *add, prt_formula_norm *out);
bool prt_formula_rms_norm(const prt_op *mul, prt_formula_norm *out);
/* Returns scale or bias with rank 1, as the operators need it; NULL for NULL, or after a failure,
 * which is in `b`. */
prt_value *prt_formula_row(prt_build *b, prt_value *v);

#endif
