/* SPDX-License-Identifier: MIT */
/* rule.c — builders of small graphs that most rules share. */
#include "train/rule.h"

#include "ir/extra.h"

poprt_status prt_grad_refuse(const prt_grad *g, const char *why)
{
    return prt_fail(POPRT_E_UNSUPPORTED, prt_op_label(g->op), "gradient of %s: %s",
        g->op->def->name, why);
}

int32_t prt_grad_rank(const prt_value *v)
{
    return v != NULL && prt_type_is_tensor(v->type) ? v->type->rank : PRT_RANK_UNKNOWN;
}

static bool is_one(const prt_value *v)
{
    prt_tensor t;
    return v != NULL && v->type->rank == 0 && prt_value_is_constant(v) && prt_value_tensor(v, &t) &&
        prt_load_f64(t.dtype, t.data, 0) == 1.0;
}

prt_value *prt_grad_mul(prt_grad *g, prt_value *a, prt_value *b)
{
    if (g->b->status == POPRT_OK && is_one(a))
        return b;
    if (g->b->status == POPRT_OK && is_one(b))
        return a;
    return prt_build_binary(g->b, PRT_OP_mul, a, b);
}

/* Whether both have one shape, and it is known. */
static bool same_shape(const prt_grad *g, const prt_value *a, const prt_value *b)
{
    return g->b->status == POPRT_OK && prt_type_is_static(a->type) && prt_type_is_static(b->type) &&
        a->type->rank == b->type->rank &&
        (a->type->rank == 0 ||
            memcmp(a->type->dims, b->type->dims, (size_t)a->type->rank * sizeof(int64_t)) == 0);
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
    if (same_shape(g, v, like))
        return v;
    PRT_ATTR_SET(attrs, reshape, allowzero, 1);
    prt_value *in[2] = { v, prt_grad_shape(g, like) };
    return prt_build_op(g->b, PRT_OP_reshape, &attrs, 2, in);
}

prt_value *prt_grad_expand(prt_grad *g, prt_value *v, prt_value *like)
{
    if (same_shape(g, v, like))
        return v;
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

prt_value *prt_grad_ratio(prt_grad *g, prt_value *x, prt_value *y, prt_value *like)
{
    uint64_t n[2];
    if (g->b->status == POPRT_OK && prt_type_is_static(x->type) && prt_type_is_static(y->type) &&
        prt_type_count(x->type, &n[0]) && prt_type_count(y->type, &n[1]))
        return prt_grad_number(g, like, (double)n[0] / (double)n[1]);
    prt_value *sizes[2] = { prt_grad_call(g, PRT_OP_size, x), prt_grad_call(g, PRT_OP_size, y) };
    for (uint32_t i = 0; i < 2; i++)
        sizes[i] = prt_grad_cast_as(g, sizes[i], like);
    return prt_grad_div(g, sizes[0], sizes[1]);
}

prt_value *prt_grad_cast_to(prt_grad *g, prt_value *v, int32_t dtype)
{
    prt_cast_attrs attrs = PRT_ATTRS_OF(cast);
    if (g->b->status != POPRT_OK || v->type->dtype == dtype)
        return v;
    PRT_ATTR_SET(attrs, cast, to, dtype);
    return prt_build_op(g->b, PRT_OP_cast, &attrs, 1, &v);
}

prt_value *prt_grad_cast_as(prt_grad *g, prt_value *v, prt_value *like)
{
    return g->b->status == POPRT_OK ? prt_grad_cast_to(g, v, like->type->dtype) : NULL;
}

prt_value *prt_grad_unsqueeze(prt_grad *g, prt_value *v, uint32_t count, const int64_t *axes)
{
    if (v == NULL || count == 0)
        return v;
    return prt_build_binary(g->b, PRT_OP_unsqueeze, v, prt_build_i64s(g->b, count, axes));
}

prt_value *prt_grad_squeeze(prt_grad *g, prt_value *v, uint32_t count, const int64_t *axes)
{
    if (v == NULL || count == 0)
        return v;
    return prt_build_binary(g->b, PRT_OP_squeeze, v, prt_build_i64s(g->b, count, axes));
}

prt_value *prt_grad_reshape_to(prt_grad *g, prt_value *v, uint32_t rank, const int64_t *dims)
{
    return prt_build_binary(g->b, PRT_OP_reshape, v, prt_build_i64s(g->b, rank, dims));
}

prt_value *prt_grad_dim(prt_grad *g, prt_value *v, int64_t axis)
{
    prt_shape_attrs attrs = PRT_ATTRS_OF(shape);
    const int32_t rank = prt_grad_rank(v);
    if (g->b->status != POPRT_OK)
        return NULL;
    axis = axis < 0 && rank > 0 ? axis + rank : axis;
    if (axis < rank && prt_dim_is_number(v->type->dims[axis]))
        return prt_build_i64s(g->b, 1, &v->type->dims[axis]);
    PRT_ATTR_SET(attrs, shape, start, axis);
    PRT_ATTR_SET(attrs, shape, end, axis + 1);
    return prt_build_op(g->b, PRT_OP_shape, &attrs, 1, &v);
}

prt_value *prt_grad_concat_values(prt_grad *g, int64_t axis, uint32_t count,
    prt_value *const *values)
{
    prt_concat_attrs attrs = PRT_ATTRS_OF(concat);
    PRT_ATTR_SET(attrs, concat, axis, axis);
    return count != 1 ? prt_build_op(g->b, PRT_OP_concat, &attrs, count, values) : values[0];
}

prt_value *prt_grad_slice(prt_grad *g, prt_value *v, int64_t axis, int64_t start, int64_t end,
    int64_t step)
{
    prt_value *in[5] = { v, prt_build_i64s(g->b, 1, &start), prt_build_i64s(g->b, 1, &end),
        prt_build_i64s(g->b, 1, &axis), prt_build_i64s(g->b, 1, &step) };
    return prt_build_op(g->b, PRT_OP_slice, NULL, 5, in);
}

prt_value *prt_grad_count(prt_grad *g, prt_value *limit)
{
    prt_value *in[3] = { prt_build_i64(g->b, 0), prt_grad_reshape_to(g, limit, 0, NULL),
        prt_build_i64(g->b, 1) };
    return prt_build_op(g->b, PRT_OP_range, NULL, 3, in);
}

prt_value *prt_grad_gather_at(prt_grad *g, prt_value *v, prt_value *indices, int64_t axis)
{
    prt_gather_elements_attrs attrs = PRT_ATTRS_OF(gather_elements);
    prt_value *in[2] = { v, indices };
    PRT_ATTR_SET(attrs, gather_elements, axis, axis);
    return prt_build_op(g->b, PRT_OP_gather_elements, &attrs, 2, in);
}

prt_value *prt_grad_scatter_at(prt_grad *g, prt_value *v, prt_value *indices, int64_t axis,
    prt_value *like)
{
    prt_scatter_elements_attrs attrs = PRT_ATTRS_OF(scatter_elements);
    prt_value *in[3] = { prt_grad_filled(g, like, 0.0), indices, v };
    PRT_ATTR_SET(attrs, scatter_elements, axis, axis);
    PRT_ATTR_SET(attrs, scatter_elements, reduction, PRT_STR("add"));
    return prt_build_op(g->b, PRT_OP_scatter_elements, &attrs, 3, in);
}

prt_value *prt_grad_integer(prt_grad *g, prt_value *like, int64_t value)
{
    return g->b->status == POPRT_OK ? prt_build_scalar(g->b, like->type->dtype, (double)value)
                                    : NULL;
}

poprt_status prt_grad_widen(prt_grad *g, uint32_t n_out)
{
    prt_op *old = g->op;
    prt_arena *arena = g->b->graph->module->arena;
    if (old->n_out >= n_out)
        return POPRT_OK;
    prt_value **in = PRT_NEW_N(arena, prt_value *, old->n_in);
    prt_value **out = PRT_NEW_N(arena, prt_value *, n_out);
    if (in == NULL || out == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < old->n_in; i++)
        in[i] = prt_op_input(old, i);
    prt_build b = prt_build_before(old);
    prt_op *op = prt_build_op_n(&b, old->def->id, old->attrs, old->n_in, in, n_out);
    PRT_TRY(prt_build_status(&b));
    PRT_TRY(prt_op_copy_notes(op, old));
    for (uint32_t i = 0; i < old->n_out; i++) {
        out[i] = g->out[i];
        prt_build_replace_uses(&b, &old->out[i], &op->out[i]);
    }
    PRT_TRY(prt_build_status(&b));
    prt_op_erase(old);
    g->op = op;
    g->out = out;
    return POPRT_OK;
}

/* Finds the axes along which an input was broadcast: `lead` axes in front, and `axes` whose dim is
 * 1 in the input only. Returns false if a dim that may be 1 is not known. */
static bool find_broadcast(const prt_type *from, const prt_type *to, uint32_t *lead,
    uint32_t *count, int64_t *axes)
{
    *count = 0;
    *lead = (uint32_t)(from->rank - to->rank);
    for (int32_t i = 0; i < to->rank; i++) {
        const int64_t wide = from->dims[(int32_t)*lead + i], own = to->dims[i];
        if (own == wide && own != PRT_DIM_UNKNOWN)
            continue;
        if (own == 1)
            axes[(*count)++] = i;
        else if (own < 0)
            return false;
    }
    return true;
}

/* Sums over the axes whose dims differ; a run finds them. */
static prt_value *sum_at_run_time(prt_grad *g, prt_value *v, prt_value *x)
{
    static const int64_t ones[PRT_MAX_RANK] = { 1, 1, 1, 1, 1, 1, 1, 1 }, row[1] = { -1 };
    const uint32_t lead = (uint32_t)(prt_grad_rank(v) - prt_grad_rank(x));
    prt_value *shape = prt_grad_call(g, PRT_OP_shape, x);
    prt_value *parts[2] = { prt_build_i64s(g->b, lead, ones), shape };
    prt_value *padded = lead != 0 ? prt_grad_concat_values(g, 0, 2, parts) : shape;
    prt_value *same =
        prt_build_binary(g->b, PRT_OP_equal, prt_grad_call(g, PRT_OP_shape, v), padded);
    prt_value *axes = prt_grad_call(g, PRT_OP_nonzero, prt_grad_call(g, PRT_OP_not, same));
    prt_reduce_sum_attrs attrs = PRT_ATTRS_OF(reduce_sum);
    PRT_ATTR_SET(attrs, reduce_sum, noop_with_empty_axes, 1);
    prt_value *in[2] = { v, prt_grad_reshape_to(g, axes, 1, row) };
    return prt_grad_reshape(g, prt_build_op(g->b, PRT_OP_reduce_sum, &attrs, 2, in), x);
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
    if (prt_grad_rank(v) < prt_grad_rank(x) || prt_grad_rank(x) < 0)
        return prt_grad_refuse(g, "needs inputs of known rank");
    if (!find_broadcast(v->type, x->type, &lead, &count, axes)) {
        g->in[i] = sum_at_run_time(g, v, prt_grad_x(g, i));
        return g->b->status;
    }
    for (uint32_t k = 0; k < lead; k++)
        front[k] = k;
    v = prt_grad_sum(g, v, lead, front, false);
    g->in[i] = prt_grad_sum(g, v, count, axes, true);
    return g->b->status;
}
