/* SPDX-License-Identifier: MIT */
/*
 * grad_move.c — gradients of operators that move elements. Most share one rule: apply the operator
 * to the indices of the input's elements, which gives the source of each output element, and
 * scatter-add the gradient there. The rule holds for all attributes and shapes.
 */
#include "train/rule.h"

poprt_status prt_grad_reshaped(prt_grad *g)
{
    return prt_grad_set(g, 0, prt_grad_reshape(g, g->out[0], prt_grad_x(g, 0)));
}

/* Returns indices 0, 1, 2 ... in the shape of `like`. */
static prt_value *element_indices(prt_grad *g, prt_value *like)
{
    prt_value *in[3] = { prt_build_i64(g->b, 0), prt_grad_call(g, PRT_OP_size, like),
        prt_build_i64(g->b, 1) };
    return prt_grad_reshape(g, prt_build_op(g->b, PRT_OP_range, NULL, 3, in), like);
}

/* Scatter-adds `gradient` at the flat indices `at` into zeros of the shape of `like`. */
static prt_value *scatter_add(prt_grad *g, prt_value *at, prt_value *gradient, prt_value *like)
{
    static const int64_t column[2] = { -1, 1 }, row[1] = { -1 };
    prt_scatter_nd_attrs attrs = PRT_ATTRS_OF(scatter_nd);
    PRT_ATTR_SET(attrs, scatter_nd, reduction, PRT_STR("add"));
    prt_value *size = prt_build_binary(g->b, PRT_OP_reshape, prt_grad_call(g, PRT_OP_size, like),
        prt_build_i64s(g->b, 1, row));
    prt_value *in[3] = {
        prt_build_binary(g->b, PRT_OP_expand, prt_grad_number(g, gradient, 0.0), size),
        prt_build_binary(g->b, PRT_OP_reshape, at, prt_build_i64s(g->b, 2, column)),
        prt_build_binary(g->b, PRT_OP_reshape, gradient, prt_build_i64s(g->b, 1, row)),
    };
    return prt_grad_reshape(g, prt_build_op(g->b, PRT_OP_scatter_nd, &attrs, 3, in), like);
}

poprt_status prt_grad_moved(prt_grad *g)
{
    prt_value *x = prt_grad_x(g, 0);
    prt_value *in[PRT_MAX_RANK];
    const uint32_t n = g->op->n_in;
    if (n > PRT_COUNT_OF(in))
        return prt_grad_refuse(g, "has too many inputs");
    in[0] = element_indices(g, x);
    for (uint32_t i = 1; i < n; i++)
        in[i] = prt_grad_x(g, i);
    prt_value *at = prt_build_op(g->b, g->op->def->id, g->op->attrs, n, in);
    return prt_grad_set(g, 0, scatter_add(g, at, g->out[0], x));
}

poprt_status prt_grad_transpose(prt_grad *g)
{
    const prt_transpose_attrs *a = g->op->attrs;
    int64_t perm[PRT_MAX_RANK];
    const int32_t rank = prt_grad_rank(prt_grad_x(g, 0));
    if (rank < 0)
        return prt_grad_refuse(g, "needs an input of known rank");
    for (int64_t i = 0; i < rank; i++)
        perm[a->perm.count != 0 ? a->perm.data[i] : rank - 1 - i] = i;
    return prt_grad_set(g, 0, prt_grad_permute(g, g->out[0], (uint32_t)rank, perm));
}

poprt_status prt_grad_trilu(prt_grad *g)
{
    prt_value *in[2] = { g->out[0], prt_grad_x(g, 1) };
    return prt_grad_set(g, 0, prt_build_op(g->b, PRT_OP_trilu, g->op->attrs, g->op->n_in, in));
}

static prt_value *one_dim(prt_grad *g, prt_value *x, int64_t axis)
{
    prt_shape_attrs attrs = PRT_ATTRS_OF(shape);
    PRT_ATTR_SET(attrs, shape, start, axis);
    PRT_ATTR_SET(attrs, shape, end, axis + 1);
    return prt_build_op(g->b, PRT_OP_shape, &attrs, 1, &x);
}

poprt_status prt_grad_concat(prt_grad *g)
{
    const prt_concat_attrs *a = g->op->attrs;
    const uint32_t n = g->op->n_in;
    const int32_t rank = prt_grad_rank(g->out[0]);
    prt_arena *arena = g->b->graph->module->arena;
    prt_value **sizes = PRT_NEW_N(arena, prt_value *, n);
    if (sizes == NULL)
        return POPRT_E_NOMEM;
    if (rank < 0)
        return prt_grad_refuse(g, "needs inputs of known rank");
    const int64_t axis = a->axis < 0 ? a->axis + rank : a->axis;
    for (uint32_t i = 0; i < n; i++)
        sizes[i] = one_dim(g, prt_grad_x(g, i), axis);
    prt_concat_attrs flat = PRT_ATTRS_OF(concat);
    prt_split_attrs split = PRT_ATTRS_OF(split);
    PRT_ATTR_SET(flat, concat, axis, 0);
    PRT_ATTR_SET(split, split, axis, axis);
    prt_value *in[2] = { g->out[0], prt_build_op(g->b, PRT_OP_concat, &flat, n, sizes) };
    const prt_op *parts = prt_build_op_n(g->b, PRT_OP_split, &split, 2, in, n);
    for (uint32_t i = 0; i < n && parts != NULL; i++)
        PRT_TRY(prt_grad_set(g, i, &parts->out[i]));
    return g->b->status;
}

poprt_status prt_grad_split(prt_grad *g)
{
    const prt_split_attrs *a = g->op->attrs;
    const uint32_t n = g->op->n_out;
    prt_arena *arena = g->b->graph->module->arena;
    prt_value **parts = PRT_NEW_N(arena, prt_value *, n);
    if (parts == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < n; i++)
        parts[i] = g->out[i] != NULL
            ? g->out[i]
            : prt_grad_expand(g, prt_grad_number(g, prt_grad_x(g, 0), 0.0), &g->op->out[i]);
    prt_concat_attrs attrs = PRT_ATTRS_OF(concat);
    PRT_ATTR_SET(attrs, concat, axis, a->axis);
    return prt_grad_set(g, 0, prt_build_op(g->b, PRT_OP_concat, &attrs, n, parts));
}

/* Padded constants get no gradient; gradients of mirrored elements are added. */
poprt_status prt_grad_pad(prt_grad *g)
{
    const prt_pad_attrs *a = g->op->attrs;
    prt_value *x = prt_grad_x(g, 0);
    if (g->op->n_in > 2 && g->wanted[2])
        return prt_grad_refuse(g, "not supported with respect to the constant value");
    prt_value *in[4] = { element_indices(g, x), prt_grad_x(g, 1), NULL, prt_grad_x(g, 3) };
    prt_value *dy = g->out[0], *at;
    if (prt_str_is(a->mode, "constant"))
        in[2] = prt_build_i64(g->b, -1);
    at = prt_build_op(g->b, PRT_OP_pad, a, 4, in);
    prt_value *first = prt_build_i64(g->b, 0);
    prt_value *outside = prt_build_binary(g->b, PRT_OP_less, at, first);
    dy = prt_grad_where(g, outside, prt_grad_number(g, dy, 0.0), dy);
    at = prt_build_binary(g->b, PRT_OP_max, at, first);
    return prt_grad_set(g, 0, scatter_add(g, at, dy, x));
}

/* The output with the indices gives the positions of the values. */
poprt_status prt_grad_topk(prt_grad *g)
{
    const prt_topk_attrs *a = g->op->attrs;
    prt_value *x = prt_grad_x(g, 0);
    prt_gather_elements_attrs attrs = PRT_ATTRS_OF(gather_elements);
    PRT_ATTR_SET(attrs, gather_elements, axis, a->axis);
    if (g->out[0] == NULL || g->op->n_out < 2)
        return g->out[0] == NULL ? POPRT_OK : prt_grad_refuse(g, "needs the indices as an output");
    prt_value *in[2] = { element_indices(g, x), &g->op->out[1] };
    prt_value *at = prt_build_op(g->b, PRT_OP_gather_elements, &attrs, 2, in);
    return prt_grad_set(g, 0, scatter_add(g, at, g->out[0], x));
}
