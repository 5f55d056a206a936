/* SPDX-License-Identifier: MIT */
/* grad_product.c — gradients of MatMul and Gemm: products of the gradient and the other operand. */
#include "train/rule.h"

static prt_value *product(prt_grad *g, prt_value *a, prt_value *b)
{
    return prt_build_binary(g->b, PRT_OP_matmul, a, b);
}

/* Exchanges the last two dims. */
static prt_value *transposed(prt_grad *g, prt_value *v)
{
    int64_t perm[PRT_MAX_RANK];
    const int32_t rank = prt_grad_rank(v);
    if (v == NULL || rank < 2)
        return v;
    for (int32_t i = 0; i < rank; i++)
        perm[i] = i < rank - 2 ? i : 2 * rank - 3 - i;
    return prt_grad_permute(g, v, (uint32_t)rank, perm);
}

static prt_value *with_axis(prt_grad *g, prt_value *v, int64_t axis)
{
    return prt_build_binary(g->b, PRT_OP_unsqueeze, v, prt_build_i64s(g->b, 1, &axis));
}

/* A vector operand becomes a matrix of one row (a) or one column (b), and the gradient gets the
 * same axis. */
poprt_status prt_grad_matmul(prt_grad *g)
{
    prt_value *a = prt_grad_x(g, 0), *b = prt_grad_x(g, 1), *dy = g->out[0];
    const int32_t rank_a = prt_grad_rank(a), rank_b = prt_grad_rank(b);
    if (rank_a < 1 || rank_b < 1)
        return prt_grad_refuse(g, "needs inputs of known rank");
    if (rank_a == 1)
        a = with_axis(g, a, 0);
    if (rank_b == 1)
        b = with_axis(g, b, 1);
    if (rank_b == 1)
        dy = with_axis(g, dy, -1);
    if (rank_a == 1)
        dy = with_axis(g, dy, -2);
    if (g->wanted[0]) {
        prt_value *da = product(g, dy, transposed(g, b));
        const int64_t row = prt_grad_rank(da) - 2;
        PRT_TRY(prt_grad_set(g, 0, rank_a == 1 ? prt_grad_sum(g, da, 1, &row, false) : da));
    }
    if (g->wanted[1]) {
        prt_value *db = product(g, transposed(g, a), dy);
        const int64_t column = prt_grad_rank(db) - 1;
        PRT_TRY(prt_grad_set(g, 1, rank_b == 1 ? prt_grad_sum(g, db, 1, &column, false) : db));
    }
    return POPRT_OK;
}

poprt_status prt_grad_gemm(prt_grad *g)
{
    const prt_gemm_attrs *a = g->op->attrs;
    prt_value *dy = g->out[0];
    prt_value *scaled = prt_grad_mul(g, dy, prt_grad_number(g, dy, (double)a->alpha));
    prt_value *x = a->transA != 0 ? transposed(g, prt_grad_x(g, 0)) : prt_grad_x(g, 0);
    prt_value *w = a->transB != 0 ? transposed(g, prt_grad_x(g, 1)) : prt_grad_x(g, 1);
    if (g->wanted[0]) {
        prt_value *dx = product(g, scaled, transposed(g, w));
        PRT_TRY(prt_grad_set(g, 0, a->transA != 0 ? transposed(g, dx) : dx));
    }
    if (g->wanted[1]) {
        prt_value *dw = product(g, transposed(g, x), scaled);
        PRT_TRY(prt_grad_set(g, 1, a->transB != 0 ? transposed(g, dw) : dw));
    }
    if (g->op->n_in > 2 && g->wanted[2])
        return prt_grad_set(g, 2, prt_grad_mul(g, dy, prt_grad_number(g, dy, (double)a->beta)));
    return POPRT_OK;
}
