/* SPDX-License-Identifier: MIT */
/*
 * grad_move.c — gradients of operators that move elements. Where no operator does the reverse, one
 * rule serves all: the operator is applied to the numbers of the elements of its inputs, which
 * gives the source of each output element, and the gradient is added there. The rule holds for all
 * attributes and shapes.
 */
#include "train/terms.h"

poprt_status prt_grad_reshaped(prt_grad *g)
{
    return prt_grad_set(g, 0, prt_grad_reshape(g, g->out[0], prt_grad_x(g, 0)));
}

static prt_value *flat(prt_grad *g, prt_value *v)
{
    static const int64_t all[1] = { -1 };
    return prt_grad_reshape_to(g, v, 1, all);
}

/* Number of elements as a vector of one int64. */
static prt_value *size_of(prt_grad *g, prt_value *v)
{
    uint64_t n;
    if (g->b->status == POPRT_OK && prt_type_is_static(v->type) && prt_type_count(v->type, &n) &&
        n <= INT64_MAX)
        return prt_build_i64s(g->b, 1, (const int64_t[1]){ (int64_t)n });
    return flat(g, CALL(size, v));
}

poprt_status prt_grad_route(prt_grad *g, uint32_t n, const uint32_t *which, int32_t dtype)
{
    enum { MOST = 8 };
    prt_value *ends[MOST + 1], *in[MOST], *x, *dy = g->out[0];
    if (g->op->n_in > MOST)
        return prt_grad_refuse(g, "has too many inputs");
    for (uint32_t i = 0; i < g->op->n_in; i++)
        in[i] = prt_grad_x(g, i);
    ends[0] = prt_build_i64s(g->b, 1, (const int64_t[1]){ 1 });
    for (uint32_t k = 0; k < n; k++) {
        x = in[which[k]];
        prt_value *size = size_of(g, x), *numbers = ADD(prt_grad_count(g, size), ends[k]);
        ends[k + 1] = ADD(ends[k], size);
        in[which[k]] = prt_grad_cast_to(g, prt_grad_reshape(g, numbers, x), dtype);
    }
    prt_value *from = prt_build_op(g->b, g->op->def->id, g->op->attrs, g->op->n_in, in);
    from = prt_grad_cast_to(g, flat(g, from), PRT_DTYPE_i64);
    prt_value *zeros = BINARY(expand, NUM(dy, 0.0), ends[n]);
    prt_value *sums = prt_grad_scatter_at(g, flat(g, dy), from, 0, zeros);
    for (uint32_t k = 0; k < n; k++) {
        prt_value *part[4] = { sums, ends[k], ends[k + 1],
            prt_build_i64s(g->b, 1, (const int64_t[1]){ 0 }) };
        if (!g->wanted[which[k]])
            continue;
        part[0] = prt_build_op(g->b, PRT_OP_slice, NULL, 4, part);
        PRT_TRY(prt_grad_set(g, which[k], prt_grad_reshape(g, part[0], prt_grad_x(g, which[k]))));
    }
    return g->b->status;
}

poprt_status prt_grad_moved(prt_grad *g)
{
    static const uint32_t first[1] = { 0 };
    return prt_grad_route(g, 1, first, PRT_DTYPE_i64);
}

/* The gradient of each copy is added. */
poprt_status prt_grad_of_expand(prt_grad *g)
{
    return prt_grad_set(g, 0, g->out[0]);
}

/* Sums over the copies, which are axes of their own if each dim is split. */
poprt_status prt_grad_tile(prt_grad *g)
{
    int64_t dims[PRT_MAX_RANK], axes[PRT_MAX_RANK];
    const prt_type *x = prt_grad_x(g, 0)->type, *y = prt_grad_y(g)->type;
    if (!prt_type_is_static(x) || !prt_type_is_static(y) || 2 * x->rank > PRT_MAX_RANK)
        return prt_grad_moved(g);
    for (int32_t i = 0; i < x->rank; i++) {
        axes[i] = 2 * (int64_t)i;
        dims[2 * i] = x->dims[i] != 0 ? y->dims[i] / x->dims[i] : 0;
        dims[2 * i + 1] = x->dims[i];
        if (x->dims[i] == 0)
            return prt_grad_moved(g);
    }
    prt_value *dy = prt_grad_reshape_to(g, g->out[0], 2 * (uint32_t)x->rank, dims);
    return prt_grad_set(g, 0, prt_grad_sum(g, dy, (uint32_t)x->rank, axes, false));
}

/* Adds whole rows of the gradient to the rows that the indices name. Another axis than the first
 * is moved to the front before, and back after. */
poprt_status prt_grad_gather(prt_grad *g)
{
    static const int64_t column[1] = { -1 };
    const prt_gather_attrs *a = g->op->attrs;
    prt_value *x = prt_grad_x(g, 0), *indices = prt_grad_x(g, 1), *dy = g->out[0];
    const int32_t rank = prt_grad_rank(x), index_rank = prt_grad_rank(indices);
    int64_t perm[PRT_MAX_RANK], back[PRT_MAX_RANK];
    if (rank < 1 || index_rank < 0 || rank + index_rank - 1 > PRT_MAX_RANK)
        return prt_grad_moved(g);
    const int32_t axis = (int32_t)(a->axis < 0 ? a->axis + rank : a->axis);
    const int32_t dy_rank = rank + index_rank - 1;
    for (int32_t i = 0; i < dy_rank; i++)
        perm[i] = i < index_rank ? axis + i : i < index_rank + axis ? i - index_rank : i;
    if (axis != 0)
        dy = prt_grad_permute(g, dy, (uint32_t)dy_rank, perm);
    for (int32_t i = 0; i < rank; i++) {
        perm[i] = i == 0 ? axis : i <= axis ? i - 1 : i;
        back[perm[i]] = i;
    }
    prt_scatter_nd_attrs attrs = PRT_ATTRS_OF(scatter_nd);
    PRT_ATTR_SET(attrs, scatter_nd, reduction, PRT_STR("add"));
    prt_value *zeros = prt_grad_filled(g, x, 0.0);
    if (axis != 0)
        zeros = prt_grad_permute(g, zeros, (uint32_t)rank, perm);
    prt_value *in[3] = { zeros,
        prt_grad_unsqueeze(g, prt_grad_cast_to(g, indices, PRT_DTYPE_i64), 1, column), dy };
    prt_value *dx = prt_build_op(g->b, PRT_OP_scatter_nd, &attrs, 3, in);
    return prt_grad_set(g, 0, axis != 0 ? prt_grad_permute(g, dx, (uint32_t)rank, back) : dx);
}

poprt_status prt_grad_gather_elements(prt_grad *g)
{
    const prt_gather_elements_attrs *a = g->op->attrs;
    return prt_grad_set(g, 0,
        prt_grad_scatter_at(g, g->out[0], prt_grad_x(g, 1), a->axis, prt_grad_x(g, 0)));
}

poprt_status prt_grad_gather_nd(prt_grad *g)
{
    const prt_gather_nd_attrs *a = g->op->attrs;
    prt_scatter_nd_attrs attrs = PRT_ATTRS_OF(scatter_nd);
    if (a->batch_dims != 0)
        return prt_grad_moved(g);
    PRT_ATTR_SET(attrs, scatter_nd, reduction, PRT_STR("add"));
    prt_value *in[3] = { prt_grad_filled(g, prt_grad_x(g, 0), 0.0), prt_grad_x(g, 1), g->out[0] };
    return prt_grad_set(g, 0, prt_build_op(g->b, PRT_OP_scatter_nd, &attrs, 3, in));
}

/* Pads the gradient of a Slice of constant places and steps of 1 with zeros. */
static prt_value *unsliced(prt_grad *g)
{
    const prt_type *x = prt_grad_x(g, 0)->type, *y = prt_grad_y(g)->type;
    int64_t pads[2 * PRT_MAX_RANK] = { 0 };
    prt_tensor starts, axes = { 0 }, steps;
    prt_value *given = prt_grad_x(g, 3), *step = prt_grad_x(g, 4);
    if (!prt_type_is_static(x) || !prt_type_is_static(y) || x->rank < 1 ||
        !prt_value_tensor(prt_grad_x(g, 1), &starts) ||
        (given != NULL && !prt_value_tensor(given, &axes)) ||
        (step != NULL && !prt_value_tensor(step, &steps)))
        return NULL;
    for (size_t i = 0; i < prt_tensor_count(&starts); i++) {
        int64_t axis = given != NULL ? prt_load_i64(axes.dtype, axes.data, i) : (int64_t)i;
        int64_t start = prt_load_i64(starts.dtype, starts.data, i);
        if (step != NULL && prt_load_i64(steps.dtype, steps.data, i) != 1)
            return NULL;
        axis += axis < 0 ? x->rank : 0;
        const int64_t dim = x->dims[axis];
        start = start < -dim ? 0 : start < 0 ? start + dim : start > dim ? dim : start;
        pads[axis] = start;
        pads[x->rank + axis] = dim - start - y->dims[axis];
    }
    return BINARY(pad, g->out[0], prt_build_i64s(g->b, 2 * (uint32_t)x->rank, pads));
}

poprt_status prt_grad_slice_op(prt_grad *g)
{
    prt_value *dx = unsliced(g);
    PRT_TRY(g->b->status);
    return dx != NULL ? prt_grad_set(g, 0, dx) : prt_grad_moved(g);
}

poprt_status prt_grad_depth_to_space(prt_grad *g)
{
    const prt_depth_to_space_attrs *a = g->op->attrs;
    prt_space_to_depth_attrs attrs = PRT_ATTRS_OF(space_to_depth);
    if (!prt_str_is(a->mode, "DCR"))
        return prt_grad_moved(g);
    PRT_ATTR_SET(attrs, space_to_depth, blocksize, a->blocksize);
    prt_value *dy = g->out[0];
    return prt_grad_set(g, 0, prt_build_op(g->b, PRT_OP_space_to_depth, &attrs, 1, &dy));
}

poprt_status prt_grad_space_to_depth(prt_grad *g)
{
    const prt_space_to_depth_attrs *a = g->op->attrs;
    prt_depth_to_space_attrs attrs = PRT_ATTRS_OF(depth_to_space);
    PRT_ATTR_SET(attrs, depth_to_space, blocksize, a->blocksize);
    prt_value *dy = g->out[0];
    return prt_grad_set(g, 0, prt_build_op(g->b, PRT_OP_depth_to_space, &attrs, 1, &dy));
}

/* ReverseSequence and Reverse are their own inverses. */
poprt_status prt_grad_involution(prt_grad *g)
{
    prt_value *in[2] = { g->out[0], prt_grad_x(g, 1) };
    return prt_grad_set(g, 0, prt_build_op(g->b, g->op->def->id, g->op->attrs, g->op->n_in, in));
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
        sizes[i] = prt_grad_dim(g, prt_grad_x(g, i), axis);
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

/* With constants, the gradient of the data is cropped by the pads, and the constant has the sum
 * over the padding. In the other modes gradients of mirrored elements are added. */
poprt_status prt_grad_pad(prt_grad *g)
{
    static const uint32_t first[1] = { 0 };
    const prt_pad_attrs *a = g->op->attrs;
    prt_value *x = prt_grad_x(g, 0), *dy = g->out[0];
    const uint32_t n = g->op->n_in;
    if (!prt_str_is(a->mode, "constant"))
        return prt_grad_route(g, 1, first, PRT_DTYPE_i64);
    prt_value *in[4] = { dy, CALL(neg, prt_grad_x(g, 1)), NULL, prt_grad_x(g, 3) };
    if (g->wanted[0])
        PRT_TRY(prt_grad_set(g, 0, prt_build_op(g->b, PRT_OP_pad, a, n == 3 ? 2 : n, in)));
    if (n < 3 || !g->wanted[2])
        return POPRT_OK;
    in[0] = prt_grad_filled(g, x, 0.0);
    in[1] = prt_grad_x(g, 1);
    in[2] = NUM(dy, 1.0);
    prt_value *outside = MUL(dy, prt_build_op(g->b, PRT_OP_pad, a, n, in));
    prt_reduce_sum_attrs sum = PRT_ATTRS_OF(reduce_sum);
    PRT_ATTR_SET(sum, reduce_sum, keepdims, 0);
    outside = prt_build_op(g->b, PRT_OP_reduce_sum, &sum, 1, &outside);
    return prt_grad_set(g, 2, prt_grad_reshape(g, outside, prt_grad_x(g, 2)));
}

poprt_status prt_grad_topk(prt_grad *g)
{
    const prt_topk_attrs *a = g->op->attrs;
    PRT_TRY(prt_grad_widen(g, 2));
    return prt_grad_set(g, 0,
        prt_grad_scatter_at(g, g->out[0], &g->op->out[1], a->axis, prt_grad_x(g, 0)));
}

/* Each element of the result is that of its first place. */
poprt_status prt_grad_unique(prt_grad *g)
{
    const prt_unique_attrs *a = g->op->attrs;
    prt_gather_attrs attrs = PRT_ATTRS_OF(gather);
    const bool whole = !prt_attr_given(a, prt_op_attr(g->op->def, PRT_STR("axis")));
    PRT_TRY(prt_grad_widen(g, 2));
    prt_value *x = prt_grad_x(g, 0);
    prt_value *in[2] = { whole ? flat(g, x) : x, &g->op->out[1] };
    PRT_ATTR_SET(attrs, gather, axis, whole ? 0 : a->axis);
    return prt_grad_by(g, prt_build_op(g->b, PRT_OP_gather, &attrs, 2, in));
}
