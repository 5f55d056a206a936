/* SPDX-License-Identifier: MIT */
/*
 * grad_reduce.c — gradients of reductions: the gradient gets the reduced axes back as ones, then
 * broadcasts over the input. As in PopART, all elements equal to an extremum get the whole
 * gradient. The gradient of ReduceL2 is 0 where the norm is 0.
 */
#include "train/rule.h"

/* Returns the keepdims attribute. memcpy reads it, since each reduction has an attribute struct of
 * its own. */
static bool keeps_dims(const prt_op *op)
{
    const prt_attr_def *attr = &op->def->attrs[prt_op_attr(op->def, PRT_STR("keepdims"))];
    int64_t keep;
    memcpy(&keep, (const char *)op->attrs + attr->offset, sizeof(keep));
    return keep != 0;
}

/* Inserts a 1 for each reduced axis into `v`, which has the shape of the output. */
static prt_value *unreduced(prt_grad *g, prt_value *v)
{
    prt_value *axes = prt_grad_x(g, 1);
    const int32_t rank = prt_grad_rank(prt_grad_x(g, 0));
    if (keeps_dims(g->op) || rank == prt_grad_rank(v))
        return v;
    if (axes != NULL && prt_type_is_tensor(axes->type) && axes->type->rank == 1 &&
        axes->type->dims[0] != 0)
        return prt_build_binary(g->b, PRT_OP_unsqueeze, v, axes);
    return v; /* all axes: a scalar broadcasts */
}

static poprt_status expand_to_input(prt_grad *g, prt_value *v)
{
    return prt_grad_set(g, 0, prt_grad_expand(g, v, prt_grad_x(g, 0)));
}

poprt_status prt_grad_reduce_sum(prt_grad *g)
{
    return expand_to_input(g, unreduced(g, g->out[0]));
}

poprt_status prt_grad_reduce_mean(prt_grad *g)
{
    prt_value *count = prt_grad_ratio(g, prt_grad_x(g, 0), prt_grad_y(g), g->out[0]);
    return expand_to_input(g, prt_grad_div(g, unreduced(g, g->out[0]), count));
}

poprt_status prt_grad_reduce_extremum(prt_grad *g)
{
    prt_value *dy = unreduced(g, g->out[0]), *y = unreduced(g, prt_grad_y(g));
    return prt_grad_set(g, 0, prt_grad_masked(g, PRT_OP_equal, prt_grad_x(g, 0), y, dy));
}

poprt_status prt_grad_reduce_l1(prt_grad *g)
{
    prt_value *sign = prt_grad_call(g, PRT_OP_sign, prt_grad_x(g, 0));
    return prt_grad_set(g, 0, prt_grad_mul(g, unreduced(g, g->out[0]), sign));
}

poprt_status prt_grad_reduce_l2(prt_grad *g)
{
    prt_value *x = prt_grad_x(g, 0), *y = unreduced(g, prt_grad_y(g));
    prt_value *zero = prt_grad_number(g, x, 0.0), *one = prt_grad_number(g, x, 1.0);
    prt_value *is_zero = prt_build_binary(g->b, PRT_OP_equal, y, zero);
    prt_value *scaled =
        prt_grad_div(g, unreduced(g, g->out[0]), prt_grad_where(g, is_zero, one, y));
    return prt_grad_set(g, 0, prt_grad_mul(g, scaled, x));
}

poprt_status prt_grad_reduce_sum_square(prt_grad *g)
{
    prt_value *x = prt_grad_x(g, 0);
    prt_value *twice = prt_grad_mul(g, x, prt_grad_number(g, x, 2.0));
    return prt_grad_set(g, 0, prt_grad_mul(g, unreduced(g, g->out[0]), twice));
}

poprt_status prt_grad_reduce_log_sum(prt_grad *g)
{
    prt_value *sum = prt_grad_call(g, PRT_OP_exp, prt_grad_y(g));
    return expand_to_input(g, unreduced(g, prt_grad_div(g, g->out[0], sum)));
}

poprt_status prt_grad_reduce_log_sum_exp(prt_grad *g)
{
    prt_value *x = prt_grad_x(g, 0);
    prt_value *share =
        prt_grad_call(g, PRT_OP_exp, prt_grad_sub(g, x, unreduced(g, prt_grad_y(g))));
    return prt_grad_set(g, 0, prt_grad_mul(g, unreduced(g, g->out[0]), share));
}

/* The gradient is the cumulative sum in the opposite direction. */
poprt_status prt_grad_cumsum(prt_grad *g)
{
    prt_cumsum_attrs attrs = *(const prt_cumsum_attrs *)g->op->attrs;
    PRT_ATTR_SET(attrs, cumsum, reverse, attrs.reverse == 0);
    prt_value *in[2] = { g->out[0], prt_grad_x(g, 1) };
    return prt_grad_set(g, 0, prt_build_op(g->b, PRT_OP_cumsum, &attrs, 2, in));
}

/* Sets `perm` to the kept axes, then the reduced ones; returns the number of the latter, or -1 if
 * the axes are not known. */
static int32_t reduced_last(const prt_grad *g, int32_t rank, int64_t *perm)
{
    const prt_reduce_prod_attrs *a = g->op->attrs;
    prt_value *axes = prt_grad_x(g, 1);
    bool reduced[PRT_MAX_RANK] = { false };
    prt_tensor t;
    size_t n = 0;
    int32_t count = 0;
    if (axes != NULL && !prt_value_tensor(axes, &t))
        return -1;
    for (; axes != NULL && n < prt_tensor_count(&t); n++) {
        const int64_t axis = prt_load_i64(t.dtype, t.data, n);
        reduced[axis < 0 ? axis + rank : axis] = true;
    }
    for (int32_t i = 0; i < rank; i++)
        reduced[i] = reduced[i] || (n == 0 && a->noop_with_empty_axes == 0);
    for (int32_t pass = 0, at = 0; pass < 2; pass++)
        for (int32_t i = 0; i < rank; i++)
            if (reduced[i] == (pass != 0)) {
                perm[at++] = i;
                count += pass;
            }
    return count;
}

/* The gradient of a factor is the product of the factors before it and behind it, so that zeros do
 * no harm. */
poprt_status prt_grad_reduce_prod(prt_grad *g)
{
    prt_value *x = prt_grad_x(g, 0), *product[2];
    const int32_t rank = prt_grad_rank(x);
    int64_t perm[PRT_MAX_RANK], back[PRT_MAX_RANK], rows[PRT_MAX_RANK] = { 0 };
    const int32_t count = rank >= 0 ? reduced_last(g, rank, perm) : -1;
    if (count < 0)
        return prt_grad_refuse(g, "needs an input of known rank and constant axes");
    if (count == 0)
        return prt_grad_set(g, 0, g->out[0]);
    for (int32_t i = 0; i < rank; i++)
        back[perm[i]] = i;
    const int32_t kept = rank - count;
    rows[kept] = -1;
    prt_value *moved = prt_grad_permute(g, x, (uint32_t)rank, perm);
    prt_value *flat = prt_grad_reshape_to(g, moved, (uint32_t)kept + 1, rows);
    for (uint32_t i = 0; i < 2; i++) {
        prt_cum_prod_attrs attrs = PRT_ATTRS_OF(cum_prod);
        PRT_ATTR_SET(attrs, cum_prod, exclusive, 1);
        PRT_ATTR_SET(attrs, cum_prod, reverse, i);
        prt_value *in[2] = { flat, prt_build_i64(g->b, kept) };
        product[i] = prt_build_op(g->b, PRT_OP_cum_prod, &attrs, 2, in);
    }
    prt_value *others = prt_grad_reshape(g, prt_grad_mul(g, product[0], product[1]), moved);
    others = prt_grad_permute(g, others, (uint32_t)rank, back);
    return prt_grad_set(g, 0, prt_grad_mul(g, unreduced(g, g->out[0]), others));
}
