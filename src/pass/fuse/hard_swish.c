/* SPDX-License-Identifier: MIT */
/*
 * hard_swish.c — matches the formulas of HardSigmoid and HardSwish (Howard et al., "Searching for
 * MobileNetV3", 2019). With s = Clip(x + 3, 0, 6), which may be written with Min and Max or Relu:
 *
 *     s / 6, s * (1 / 6)                                        HardSigmoid with 1/6 and 1/2
 *     x * s / 6 in any order, x * HardSigmoid(x) of that kind   HardSwish
 */
#include "pass/fuse/epilogue.h"
#include "pass/fuse/formulas.h"

static bool is_close_to(double x, double value)
{
    return fabs(x - value) <= 1e-5 * value;
}

/* Returns x if input `slot` is x + 3 clipped to 0 and 6; otherwise NULL. */
static prt_value *clipped_at(const prt_op *root, uint32_t slot)
{
    const prt_op *last = prt_match_interior(root, slot, PRT_OP_clip);
    prt_act act;
    if (last != NULL)
        return prt_epilogue_act(last, &act) && act.a == 0.0f && act.b == 6.0f
            ? prt_formula_interior_operand(last, 0, PRT_OP_add, 3.0)
            : NULL;
    if (prt_formula_interior_operand(root, slot, PRT_OP_min, 6.0) == NULL)
        return NULL;
    const prt_op *min = prt_op_input(root, slot)->def;
    const uint32_t at = prt_formula_other_operand(min, 6.0);
    const prt_op *relu = prt_match_interior(min, at, PRT_OP_relu);
    if (relu != NULL)
        return prt_formula_interior_operand(relu, 0, PRT_OP_add, 3.0);
    if (prt_formula_interior_operand(min, at, PRT_OP_max, 0.0) == NULL)
        return NULL;
    const prt_op *max = prt_op_input(min, at)->def;
    return prt_formula_interior_operand(max, prt_formula_other_operand(max, 0.0), PRT_OP_add, 3.0);
}

/* Returns the input that the op divides by 6; UINT32_MAX: it does something else. */
static uint32_t sixth_of(const prt_op *op)
{
    for (uint32_t slot = 0; slot < 2; slot++) {
        double number;
        const bool div = prt_op_is(op, PRT_OP_div);
        if ((!div || slot == 1) && prt_match_number(op, slot, &number) &&
            is_close_to(number, div ? 6.0 : 1.0 / 6.0))
            return 1 - slot;
    }
    return UINT32_MAX;
}

/* Returns x if `mul` (NULL is allowed) is x * Clip(x + 3, 0, 6); otherwise NULL. */
static prt_value *times_clipped(const prt_op *mul)
{
    for (uint32_t slot = 0; mul != NULL && slot < 2; slot++) {
        prt_value *x = clipped_at(mul, slot);
        if (x != NULL && prt_op_input(mul, 1 - slot) == x)
            return x;
    }
    return NULL;
}

/* Returns the interior Mul or Div at input `slot` that divides its input `*at` by 6; NULL: it is
 * something else. */
static const prt_op *sixth_at(const prt_op *root, uint32_t slot, uint32_t *at)
{
    const prt_op *op = prt_match_interior(root, slot, PRT_OP_mul);
    op = op != NULL ? op : prt_match_interior(root, slot, PRT_OP_div);
    *at = op != NULL ? sixth_of(op) : UINT32_MAX;
    return *at != UINT32_MAX ? op : NULL;
}

prt_value *prt_formula_hard(const prt_op *root, bool *swish)
{
    const uint32_t of = sixth_of(root);
    *swish = true;
    if (of != UINT32_MAX) {
        prt_value *x = times_clipped(prt_match_interior(root, of, PRT_OP_mul));
        *swish = x != NULL;
        return x != NULL ? x : clipped_at(root, of);
    }
    for (uint32_t slot = 0; prt_op_is(root, PRT_OP_mul) && slot < 2; slot++) {
        prt_value *other = prt_op_input(root, 1 - slot);
        const prt_op *gate = prt_match_interior(root, slot, PRT_OP_hard_sigmoid);
        const prt_hard_sigmoid_attrs *a = gate != NULL ? gate->attrs : NULL;
        uint32_t at;
        if (a != NULL && prt_op_input(gate, 0) == other &&
            is_close_to((double)a->alpha, 1.0 / 6.0) && is_close_to((double)a->beta, 0.5))
            return other;
        const prt_op *sixth = sixth_at(root, slot, &at);
        if (sixth != NULL && clipped_at(root, 1 - slot) == prt_op_input(sixth, at))
            return prt_op_input(sixth, at);
    }
    return NULL;
}
