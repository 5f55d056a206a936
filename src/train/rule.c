/* SPDX-License-Identifier: MIT */
/* rule.c — builders of small graphs that most rules share. */
#include "train/rule.h"

poprt_status prt_grad_refuse(const prt_grad *g, const char *why)
{
    return prt_fail(POPRT_E_UNSUPPORTED, prt_op_label(g->op), "gradient of %s: %s",
        g->op->def->name, why);
}

int32_t prt_grad_rank(const prt_value *v)
{
    return v != NULL && prt_type_is_tensor(v->type) ? v->type->rank : PRT_RANK_UNKNOWN;
}

prt_value *prt_grad_number(prt_grad *g, prt_value *like, double value)
{
    if (g->b->status != POPRT_OK)
        return NULL;
    if (!prt_type_is_tensor(like->type) || !prt_dtype_is_float(like->type->dtype)) {
        g->b->status = prt_grad_refuse(g, "the element type is not known");
        return NULL;
    }
    return prt_build_scalar(g->b, like->type->dtype, value);
}

prt_value *prt_grad_where(prt_grad *g, prt_value *condition, prt_value *a, prt_value *b)
{
    prt_value *in[3] = { condition, a, b };
    return prt_build_op(g->b, PRT_OP_where, NULL, 3, in);
}

prt_value *prt_grad_masked(prt_grad *g, uint32_t compare, prt_value *a, prt_value *b,
    prt_value *value)
{
    return prt_grad_where(g, prt_build_binary(g->b, compare, a, b), value,
        prt_grad_number(g, value, 0.0));
}

prt_value *prt_grad_shape(prt_grad *g, prt_value *x)
{
    if (g->b->status == POPRT_OK && prt_type_is_static(x->type))
        return prt_build_i64s(g->b, (uint32_t)x->type->rank, x->type->dims);
    return prt_build_unary(g->b, PRT_OP_shape, x);
}

prt_value *prt_grad_reshape(prt_grad *g, prt_value *v, prt_value *like)
{
    prt_reshape_attrs attrs = PRT_ATTRS_OF(reshape);
    PRT_ATTR_SET(attrs, reshape, allowzero, 1);
    prt_value *in[2] = { v, prt_grad_shape(g, like) };
    return prt_build_op(g->b, PRT_OP_reshape, &attrs, 2, in);
}

prt_value *prt_grad_expand(prt_grad *g, prt_value *v, prt_value *like)
{
    return prt_build_binary(g->b, PRT_OP_expand, v, prt_grad_shape(g, like));
}

prt_value *prt_grad_sum(prt_grad *g, prt_value *v, uint32_t count, const int64_t *axes, bool keep)
{
    prt_reduce_sum_attrs attrs = PRT_ATTRS_OF(reduce_sum);
    PRT_ATTR_SET(attrs, reduce_sum, keepdims, keep);
    prt_value *in[2] = { v, prt_build_i64s(g->b, count, axes) };
    return count != 0 ? prt_build_op(g->b, PRT_OP_reduce_sum, &attrs, 2, in) : v;
}

prt_value *prt_grad_mean(prt_grad *g, prt_value *v, uint32_t count, const int64_t *axes)
{
    return count != 0
        ? prt_build_binary(g->b, PRT_OP_reduce_mean, v, prt_build_i64s(g->b, count, axes))
        : v;
}

prt_value *prt_grad_permute(prt_grad *g, prt_value *v, uint32_t rank, const int64_t *perm)
{
    prt_transpose_attrs attrs = PRT_ATTRS_OF(transpose);
    const prt_i64s list = { perm, rank };
    PRT_ATTR_SET(attrs, transpose, perm, list);
    return prt_build_op(g->b, PRT_OP_transpose, &attrs, 1, &v);
}

prt_value *prt_grad_ratio(prt_grad *g, prt_value *x, prt_value *y)
{
    prt_value *sizes[2] = { prt_grad_call(g, PRT_OP_size, x), prt_grad_call(g, PRT_OP_size, y) };
    for (uint32_t i = 0; i < 2; i++)
        sizes[i] = prt_build_binary(g->b, PRT_OP_cast_like, sizes[i], x);
    return prt_grad_div(g, sizes[0], sizes[1]);
}

/* Finds the axes along which an input was broadcast: `lead` axes in front, and `axes` whose dim is
 * 1 in the input only. */
static poprt_status find_broadcast(const prt_grad *g, const prt_type *from, const prt_type *to,
    uint32_t *lead, uint32_t *count, int64_t *axes)
{
    *count = 0;
    if (from->rank < 0 || to->rank < 0 || from->rank < to->rank)
        return prt_grad_refuse(g, "needs inputs of known rank");
    *lead = (uint32_t)(from->rank - to->rank);
    for (int32_t i = 0; i < to->rank; i++) {
        const int64_t wide = from->dims[(int32_t)*lead + i], own = to->dims[i];
        if (own == wide && own != PRT_DIM_UNKNOWN)
            continue;
        if (own == 1)
            axes[(*count)++] = i;
        else if (own < 0)
            return prt_grad_refuse(g, "a dimension of an input that may broadcast is not known");
    }
    return POPRT_OK;
}

poprt_status prt_grad_set(prt_grad *g, uint32_t i, prt_value *v)
{
    const prt_value *x = prt_grad_x(g, i);
    int64_t axes[PRT_MAX_RANK], front[PRT_MAX_RANK];
    uint32_t lead = 0, count = 0;
    PRT_TRY(g->b->status);
    if (!g->wanted[i] || v == NULL || v->type == x->type) {
        g->in[i] = g->wanted[i] ? v : NULL;
        return POPRT_OK;
    }
    if (!prt_type_is_tensor(x->type) || !prt_type_is_tensor(v->type))
        return prt_grad_refuse(g, "needs tensors of known type");
    PRT_TRY(find_broadcast(g, v->type, x->type, &lead, &count, axes));
    for (uint32_t k = 0; k < lead; k++)
        front[k] = k;
    v = prt_grad_sum(g, v, lead, front, false);
    g->in[i] = prt_grad_sum(g, v, count, axes, true);
    return g->b->status;
}
