/* SPDX-License-Identifier: MIT */
/*
 * gemm.c — expand_formulas for Gemm: alpha and beta become factors of inputs (preferably of
 * constants), a transposed A becomes a Transpose. C stays as a bias by column, or becomes an Add
 * after the product.
 */
#include "pass/expand/expand.h"

static prt_value *scaled(prt_build *b, prt_value *x, float by)
{
    return by != 1.0f
        ? prt_build_binary(b, PRT_OP_mul, x, prt_build_scalar(b, PRT_DTYPE_f32, (double)by))
        : x;
}

/* Returns whether C is one number for each column; `*known` is false if its shape does not tell. */
static bool is_by_column(const prt_value *c, const prt_type *y, bool *known)
{
    const prt_type *t = prt_match_ranked(c);
    *known = t != NULL && prt_dim_is_number(t->rank > 0 ? t->dims[t->rank - 1] : 1) &&
        prt_dim_is_number(y->dims[1]);
    return *known && t->rank > 0 && t->dims[t->rank - 1] == y->dims[1] &&
        (t->rank == 1 || t->dims[0] == 1);
}

bool prt_expand_plain_gemm(prt_pass *p, prt_build *b, prt_op *root)
{
    const prt_gemm_attrs *a = root->attrs;
    prt_value *in[3] = { prt_op_input(root, 0), prt_op_input(root, 1), prt_op_input(root, 2) };
    prt_value *c = in[2];
    const prt_type *y = prt_match_ranked(&root->out[0]);
    bool known = true;
    (void)p;
    if (y == NULL || !prt_match_is_f32(in[0]) || !prt_match_is_f32(in[1]) ||
        (c != NULL && !prt_match_is_f32(c)))
        return false;
    const bool bias = c != NULL && is_by_column(c, y, &known);
    if (!known || (a->alpha == 1.0f && a->transA == 0 && (c == NULL || (a->beta == 1.0f && bias))))
        return false;
    static const int64_t swapped[2] = { 1, 0 };
    if (a->transA != 0)
        in[0] = prt_match_add_transpose(b, in[0], 2, swapped);
    in[in[1]->constant != NULL] = scaled(b, in[in[1]->constant != NULL], a->alpha);
    if (c != NULL)
        c = scaled(b, c, a->beta);
    in[2] = bias ? c : NULL;
    prt_gemm_attrs attrs = PRT_ATTRS_OF(gemm);
    if (a->transB != 0)
        PRT_ATTR_SET(attrs, gemm, transB, a->transB);
    if (c == NULL || bias)
        return prt_match_replace_op(b, root, PRT_OP_gemm, &attrs, bias ? 3 : 2, in);
    prt_value *product = prt_build_op(b, PRT_OP_gemm, &attrs, 2, in);
    return prt_match_replace(b, root, prt_build_binary(b, PRT_OP_add, product, c));
}
