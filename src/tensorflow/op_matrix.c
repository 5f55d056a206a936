/* SPDX-License-Identifier: MIT */
/*
 * op_matrix.c — determinants, and Cholesky factors and inverses of matrices, which a Loop computes
 * column by column for a whole batch, so that sizes need not be known.
 */
#include "tensorflow/formulas.h"
#include "train/region.h"

poprt_status prt_tf_row_cross(prt_tf_call *n)
{
    static const int64_t next[] = { 1, 2, 0 }, after[] = { 2, 0, 1 };
    prt_value *part[2][2];
    for (uint32_t i = 0; i < 2; i++)
        for (uint32_t k = 0; k < 2; k++)
            part[i][k] = prt_build_gather(&n->b, prt_tf_in(n, i),
                prt_build_i64s(&n->b, 3, i == k ? next : after), -1);
    prt_tf_set(n, 0,
        BINARY(sub, BINARY(mul, part[0][0], part[1][0]), BINARY(mul, part[0][1], part[1][1])));
    return prt_tf_end(n);
}

poprt_status prt_tf_row_determinant(prt_tf_call *n)
{
    prt_tf_set(n, 0, UNARY(det, prt_tf_in(n, 0)));
    return prt_tf_end(n);
}

poprt_status prt_tf_row_log_determinant(prt_tf_call *n)
{
    prt_value *det = UNARY(det, prt_tf_in(n, 0));
    prt_tf_set(n, 0, UNARY(sign, det));
    prt_tf_set(n, 1, UNARY(log, UNARY(abs, det)));
    return prt_tf_end(n);
}

/* ---- the loop */

/* Returns the size of the last axis as a number of rank 0, and the numbers below it as a vector. */
static prt_value *order_of(prt_build *b, prt_value *x)
{
    return prt_build_gather(b, prt_build_shape(b, x), prt_build_i64(b, -1), 0);
}

static prt_value *indices_of(prt_build *b, prt_value *x)
{
    return prt_build_range(b, prt_build_i64(b, 0), order_of(b, x), prt_build_i64(b, 1));
}

/* Builds the operators of round `k` on the carried values, and replaces these by the next ones. */
typedef void step(prt_build *b, prt_value *k, prt_value *first, prt_value **carried);

/* Builds a loop over the columns of `x`, which `body` may read beside `count` carried values; sets
 * these to the results. */
static poprt_status by_columns(prt_tf_call *n, step *body, prt_value *x, uint32_t count,
    prt_value **carried)
{
    enum { MOST = 3 };
    prt_value *in[2 + MOST] = { order_of(&n->b, x), NULL }, *ret[1 + MOST];
    for (uint32_t i = 0; i < count; i++)
        in[2 + i] = carried[i];
    PRT_TRY(prt_tf_end(n));
    in[1] = prt_build_scalar(&n->b, PRT_DTYPE_bool, 1);
    prt_op *loop = prt_region_add_loop(&n->b, 2 + count, in, count);
    if (loop == NULL)
        return prt_tf_end(n);
    PRT_TRY(prt_region_add_loop_inputs(loop));
    prt_graph *region = loop->regions[0];
    prt_build inside = prt_build_at_end(region);
    inside.origin = n->b.origin;
    for (uint32_t i = 0; i < count; i++)
        carried[i] = region->inputs.data[2 + i];
    body(&inside, region->inputs.data[0], x, carried);
    ret[0] = region->inputs.data[1];
    for (uint32_t i = 0; i < count; i++)
        ret[1 + i] = carried[i];
    PRT_TRY(prt_build_status(&inside));
    PRT_TRY(prt_region_return(region, 1 + count, ret));
    PRT_TRY(prt_ir_infer_new_op(loop));
    for (uint32_t i = 0; i < count; i++)
        carried[i] = &loop->out[i];
    return POPRT_OK;
}

/* Returns column or row k of matrices, as a vector of axis -1. */
static prt_value *line_of(prt_build *b, prt_value *x, prt_value *k, int64_t axis)
{
    return prt_build_gather(b, x, k, axis);
}

/* Returns column · row for vectors of a batch. */
static prt_value *outer_product(prt_build *b, prt_value *column, prt_value *row)
{
    static const int64_t last = -1, before = -2;
    return prt_build_binary(b, PRT_OP_mul, prt_build_unsqueeze(b, column, 1, &last),
        prt_build_unsqueeze(b, row, 1, &before));
}

/* ---- Cholesky */

/* Column k of the factor: (A - L·Lᵀ)[:, k], divided by the root of its element k, with zeros above.
 * The columns of L from k on are still zero. */
static void cholesky_step(prt_build *b, prt_value *k, prt_value *a, prt_value **carried)
{
    static const int64_t last = -1;
    prt_value *l = carried[0], *index = indices_of(b, a);
    prt_value *row = prt_build_unsqueeze(b, line_of(b, l, k, -2), 1, &last);
    prt_value *known = prt_build_squeeze(b, prt_build_binary(b, PRT_OP_matmul, l, row), 1, &last);
    prt_value *column = prt_build_binary(b, PRT_OP_sub, line_of(b, a, k, -1), known);
    prt_value *one = prt_build_unsqueeze(b, k, 1, (const int64_t[]){ 0 });
    prt_value *root = prt_build_unary(b, PRT_OP_sqrt, prt_build_gather(b, column, one, -1));
    column = prt_build_binary(b, PRT_OP_div, column, root);
    prt_value *above = prt_build_binary(b, PRT_OP_less, index, k);
    column = prt_build_where(b, above, prt_build_number(b, a, 0), column);
    prt_value *at = prt_build_cast_as(b, prt_build_binary(b, PRT_OP_equal, index, k), a);
    carried[0] = prt_build_binary(b, PRT_OP_add, l, outer_product(b, column, at));
}

poprt_status prt_tf_row_cholesky(prt_tf_call *n)
{
    prt_value *x = prt_tf_in(n, 0);
    if (x == NULL)
        return prt_tf_end(n);
    prt_value *l =
        prt_build_expand(&n->b, prt_build_number(&n->b, x, 0), prt_build_shape(&n->b, x));
    PRT_TRY(by_columns(n, cholesky_step, x, 1, &l));
    prt_tf_set(n, 0, l);
    return prt_tf_end(n);
}

/* ---- inverse */

/* One step of Gauss-Jordan elimination on [A, B, free]: the pivot of column k is the largest number
 * of a row that is still free. Its row is divided by it, and taken from the other rows. */
static void eliminate(prt_build *b, prt_value *k, prt_value *first, prt_value **carried)
{
    static const int64_t last = -1, before = -2;
    prt_value *a = carried[0], *free = carried[2], *index = indices_of(b, first);
    prt_value *column = line_of(b, a, k, -1);
    prt_value *size = prt_build_binary(b, PRT_OP_add, prt_build_unary(b, PRT_OP_abs, column),
        prt_build_number(b, a, 1));
    prt_argmax_attrs attrs = PRT_ATTRS_OF(argmax);
    PRT_ATTR_SET(attrs, argmax, axis, -1);
    prt_value *of_free = prt_build_binary(b, PRT_OP_mul, size, free); /* 0 for the others */
    prt_value *pivot = prt_build_op(b, PRT_OP_argmax, &attrs, 1, &of_free);
    prt_value *at = prt_build_cast_as(b, prt_build_binary(b, PRT_OP_equal, index, pivot), a);
    prt_value *chosen = prt_build_binary(b, PRT_OP_mul, column, at);
    prt_value *divisor = prt_build_reduce_axis(b, PRT_OP_reduce_sum, chosen, -1, true);
    prt_value *change = prt_build_binary(b, PRT_OP_sub, at, column);
    for (uint32_t i = 0; i < 2; i++) {
        prt_value *row =
            prt_build_binary(b, PRT_OP_mul, carried[i], prt_build_unsqueeze(b, at, 1, &last));
        row = prt_build_reduce_axis(b, PRT_OP_reduce_sum, row, before, false);
        row = prt_build_binary(b, PRT_OP_div, row, divisor);
        carried[i] = prt_build_binary(b, PRT_OP_add, carried[i], outer_product(b, change, row));
    }
    carried[2] = prt_build_binary(b, PRT_OP_sub, free, at);
}

/* Returns the inverse of matrices. The elimination leaves in A the order of the rows. */
static prt_value *invert(prt_tf_call *n, prt_value *x)
{
    static const int64_t zero = 0, one = 1;
    if (x == NULL)
        return NULL;
    prt_value *index = indices_of(&n->b, x);
    prt_value *unit = BINARY(equal, prt_build_unsqueeze(&n->b, index, 1, &zero),
        prt_build_unsqueeze(&n->b, index, 1, &one));
    unit = prt_build_expand(&n->b, prt_build_cast_as(&n->b, unit, x), prt_build_shape(&n->b, x));
    prt_value *lines = prt_build_slice(&n->b, prt_build_shape(&n->b, x), 0, 0, -1, 1);
    prt_value *carried[] = { x, unit,
        prt_build_expand(&n->b, prt_build_number(&n->b, x, 1), lines) };
    const poprt_status status = by_columns(n, eliminate, x, 3, carried);
    if (status != POPRT_OK) {
        n->status = status;
        return NULL;
    }
    return BINARY(matmul, prt_build_swap_last(&n->b, carried[0]), carried[1]);
}

poprt_status prt_tf_row_matrix_inverse(prt_tf_call *n)
{
    prt_value *x = invert(n, prt_tf_in(n, 0));
    prt_tf_set(n, 0, prt_tf_attr_bool(n, "adjoint", false) ? prt_build_swap_last(&n->b, x) : x);
    return prt_tf_end(n);
}

static poprt_status solve(prt_tf_call *n, prt_value *x)
{
    prt_value *inverse = invert(n, x);
    if (prt_tf_attr_bool(n, "adjoint", false))
        inverse = prt_build_swap_last(&n->b, inverse);
    if (inverse != NULL)
        prt_tf_set(n, 0, BINARY(matmul, inverse, prt_tf_in(n, 1)));
    return prt_tf_end(n);
}

poprt_status prt_tf_row_matrix_solve(prt_tf_call *n)
{
    return solve(n, prt_tf_in(n, 0));
}

/* Only one triangle of the matrix is read. */
poprt_status prt_tf_row_triangular_solve(prt_tf_call *n)
{
    prt_value *x = prt_tf_in(n, 0);
    prt_trilu_attrs attrs = PRT_ATTRS_OF(trilu);
    PRT_ATTR_SET(attrs, trilu, upper, !prt_tf_attr_bool(n, "lower", true));
    return x != NULL ? solve(n, prt_build_op(&n->b, PRT_OP_trilu, &attrs, 1, &x)) : prt_tf_end(n);
}
