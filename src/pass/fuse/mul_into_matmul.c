/* SPDX-License-Identifier: MIT */
/*
 * mul_into_matmul.c — fuse_mul_into_matmul: folds a constant factor or divisor into the weight of a
 * product:
 *
 *     MatMul(x, W) * c       c one number, or one for each column
 *     MatMul(x * c, W)       c one number, or one for each row of W
 *
 * W is a constant of rank 2 or more that only the product reads; broadcasting the factor does not
 * enlarge the result. Factors of the formulas of Gelu and RMS norm stay in them. If the type cannot
 * hold a new value, the pattern stays as it is.
 *
 * Results differ by the rounding of the scaled weight: units in the last place of the sum's largest
 * term. For powers of two they are equal, unless a value is subnormal.
 */
#include "pass/fuse/formulas.h"
#include "pass/engine/match.h"

/* Reads the constant and the other operand of a Mul or Div. */
static bool read_factor(const prt_op *op, prt_value **x, prt_value **c)
{
    prt_tensor t;
    for (uint32_t slot = 2; slot-- > 0;) {
        if (!prt_match_constant(op, slot, &t) || (prt_op_is(op, PRT_OP_div) && slot == 0))
            continue;
        *c = prt_op_input(op, slot);
        *x = prt_op_input(op, 1 - slot);
        return prt_dtype_is_float(t.dtype) && prt_match_broadcasts((*c)->type, (*x)->type);
    }
    return false;
}

/* Returns whether `c` has one or `n` elements along its last dim, and other dims of 1. */
static bool is_row(const prt_value *c, int64_t n)
{
    const prt_type *t = c->type;
    for (int32_t i = 0; i + 1 < t->rank; i++)
        if (t->dims[i] != 1)
            return false;
    return t->rank == 0 || t->dims[t->rank - 1] == 1 || t->dims[t->rank - 1] == n;
}

/* Multiplies (or divides) W by a constant for its columns, or for its rows. NULL: not done. */
static prt_value *scale(prt_pass *p, prt_build *b, const prt_op *by, prt_value *w, prt_value *c,
    bool rows)
{
    const prt_type *t = w->type;
    const int64_t n = t->dims[t->rank - (rows ? 2 : 1)];
    if (!is_row(c, n))
        return NULL;
    const int64_t count = c->type->rank == 0 ? 1 : c->type->dims[c->type->rank - 1];
    const int64_t dims[2] = { count, 1 };
    prt_value *in[2] = { w, prt_match_reshape_constant(b, c, rows ? 2 : 1, dims) };
    return in[1] != NULL ? prt_match_compute(p, b, w, by->def->id, NULL, 2, in) : NULL;
}

static prt_value *weight_of(const prt_op *matmul)
{
    prt_tensor w;
    return matmul != NULL && prt_match_own_constant(matmul, 1, &w) && w.rank >= 2
        ? prt_op_input(matmul, 1)
        : NULL;
}

static bool replace(prt_build *b, prt_op *root, const prt_op *matmul, prt_value *x, prt_value *w)
{
    prt_value *in[2] = { x, w };
    prt_op *op = prt_match_new(b, matmul, PRT_OP_matmul, NULL, 2, in, 1);
    if (op != NULL)
        (void)prt_pass_replace(b, &root->out[0], &op->out[0]);
    return true;
}

static bool apply_behind(prt_pass *p, prt_build *b, prt_op *root)
{
    prt_value *x, *c;
    if (!read_factor(root, &x, &c))
        return false;
    const prt_op *matmul =
        prt_match_interior(root, x == prt_op_input(root, 0) ? 0 : 1, PRT_OP_matmul);
    prt_value *w = weight_of(matmul);
    if (w == NULL || (w = scale(p, b, root, w, c, false)) == NULL)
        return b->status != POPRT_OK;
    return replace(b, root, matmul, prt_op_input(matmul, 0), w);
}

/* Returns whether the Mul ends the formula of Gelu or an RMS norm, which is faster as one
 * operator. */
static bool ends_formula(const prt_op *mul)
{
    prt_formula_norm norm;
    bool tanh;
    return mul != NULL &&
        (prt_formula_gelu(mul, &tanh) != NULL || prt_formula_rms_norm(mul, &norm));
}

static bool apply_before(prt_pass *p, prt_build *b, prt_op *root)
{
    const prt_op *mul = prt_match_interior(root, 0, PRT_OP_mul);
    const prt_op *by = mul != NULL ? mul : prt_match_interior(root, 0, PRT_OP_div);
    prt_value *x, *c, *w = weight_of(root);
    if (by == NULL || w == NULL || ends_formula(mul) || !read_factor(by, &x, &c) ||
        (w = scale(p, b, by, w, c, true)) == NULL)
        return b->status != POPRT_OK;
    return replace(b, root, root, x, w);
}

static const prt_rewrite rewrites[] = { { PRT_OP_mul, apply_behind }, { PRT_OP_div, apply_behind },
    { PRT_OP_matmul, apply_before } };

const prt_pass_hooks prt_pass_fuse_mul_into_matmul = {
    .rewrites = rewrites,
    .n_rewrites = PRT_COUNT_OF(rewrites),
};
