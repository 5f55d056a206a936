/* SPDX-License-Identifier: MIT */
/* formulas.h — formulas that fill a file of their own, and what their matchers share. */
#ifndef PRT_PASS_FUSE_FORMULAS_H
#define PRT_PASS_FUSE_FORMULAS_H

#include <math.h>

#include "pass/engine/match.h"

static inline bool prt_formula_is_float(const prt_value *v)
{
    return v != NULL && prt_type_is_tensor(v->type) && prt_dtype_is_float(v->type->dtype);
}

/* Input `slot` is a constant with one element near `value`. */
static inline bool prt_formula_is_number(const prt_op *op, uint32_t slot, double value)
{
    prt_tensor t;
    return prt_match_constant(op, slot, &t) && prt_dtype_is_float(t.dtype) &&
        prt_tensor_count(&t) == 1 &&
        fabs(prt_load_f64(t.dtype, t.data, 0) - value) <= 1e-3 * fabs(value);
}

/* The other slot of a binary op whose slot holds that number; UINT32_MAX for none. */
static inline uint32_t prt_formula_other_operand(const prt_op *op, double value)
{
    return prt_formula_is_number(op, 1, value) ? 0
        : prt_formula_is_number(op, 0, value)  ? 1
                                               : UINT32_MAX;
}

/* The other operand of an interior Add, Mul, Max or Min of two at input `slot` that has that
 * number; NULL: there is none, or no op. */
static inline prt_value *prt_formula_past(const prt_op *op, uint32_t slot, uint32_t id,
    double value)
{
    const prt_op *def = op != NULL ? prt_match_interior(op, slot, id) : NULL;
    const uint32_t at =
        def != NULL && def->n_in == 2 ? prt_formula_other_operand(def, value) : UINT32_MAX;
    return at != UINT32_MAX ? prt_op_input(def, at) : NULL;
}

/* The x of which a Mul is Gelu, by Erf or (`*tanh`) by Tanh; NULL when it is something else. */
prt_value *prt_formula_gelu(const prt_op *mul, bool *tanh);

/* The x of which a Mul or Div is HardSigmoid, of 1/6 and 1/2, or (`*swish`) HardSwish; NULL when it
 * is something else. */
prt_value *prt_formula_hard(const prt_op *root, bool *swish);

/* (x - mean) / Sqrt(variance + epsilon) * scale + bias, or without mean and bias (NULL). Scale and
 * bias have an element for each of the last axis and dims of 1 before it; float32. */
typedef struct prt_formula_norm {
    prt_value *x, *scale, *bias;
    double epsilon;
} prt_formula_norm;

/* What an Add, or a Mul, is the end of. */
bool prt_formula_layer_norm(const prt_op *add, prt_formula_norm *out);
bool prt_formula_rms_norm(const prt_op *mul, prt_formula_norm *out);
/* Scale or bias with one dim, as the operators want it; NULL for NULL, or a failure stays in `b`.
 * */
prt_value *prt_formula_row(prt_build *b, prt_value *v);

#endif
