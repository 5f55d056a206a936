/* SPDX-License-Identifier: MIT */
/* build_ops.c — short forms of common operators. */
#include "ir/build_ops.h"

static bool is_ready(const prt_build *b, const prt_value *x)
{
    return b->status == POPRT_OK && x != NULL;
}

prt_value *prt_build_cast(prt_build *b, prt_value *x, int32_t dtype)
{
    if (!is_ready(b, x) || (prt_type_is_tensor(x->type) && x->type->dtype == dtype))
        return is_ready(b, x) ? x : NULL;
    prt_cast_attrs attrs = PRT_ATTRS_OF(cast);
    PRT_ATTR_SET(attrs, cast, to, dtype);
    return prt_build_op(b, PRT_OP_cast, &attrs, 1, &x);
}

prt_value *prt_build_cast_as(prt_build *b, prt_value *x, prt_value *like)
{
    if (!is_ready(b, x) || like == NULL)
        return NULL;
    if (prt_type_is_tensor(like->type) && like->type->dtype != PRT_DTYPE_undefined)
        return prt_build_cast(b, x, like->type->dtype);
    return prt_build_binary(b, PRT_OP_cast_like, x, like);
}

prt_value *prt_build_number(prt_build *b, prt_value *like, double value)
{
    if (!is_ready(b, like))
        return NULL;
    if (!prt_type_is_tensor(like->type) || like->type->dtype == PRT_DTYPE_undefined) {
        b->status = prt_fail(POPRT_E_UNSUPPORTED, b->origin.data,
            "the element type of an input is not known");
        return NULL;
    }
    return prt_build_scalar(b, like->type->dtype, value);
}

prt_value *prt_build_transpose(prt_build *b, prt_value *x, uint32_t rank, const int64_t *perm)
{
    bool same = true;
    for (uint32_t i = 0; i < rank; i++)
        same = same && perm[i] == (int64_t)i;
    if (!is_ready(b, x) || same)
        return is_ready(b, x) ? x : NULL;
    prt_transpose_attrs attrs = PRT_ATTRS_OF(transpose);
    PRT_ATTR_SET(attrs, transpose, perm, ((prt_i64s){ perm, rank }));
    return prt_build_op(b, PRT_OP_transpose, &attrs, 1, &x);
}

prt_value *prt_build_swap_last(prt_build *b, prt_value *x)
{
    int64_t perm[PRT_MAX_RANK];
    if (!is_ready(b, x))
        return NULL;
    const int32_t rank = prt_type_is_tensor(x->type) ? x->type->rank : -1;
    if (rank < 2) {
        b->status = prt_fail(POPRT_E_UNSUPPORTED, b->origin.data,
            "the rank of a matrix is not known, or is less than 2");
        return NULL;
    }
    for (int32_t i = 0; i < rank; i++)
        perm[i] = i;
    perm[rank - 1] = rank - 2;
    perm[rank - 2] = rank - 1;
    return prt_build_transpose(b, x, (uint32_t)rank, perm);
}

/* Reshapes; attribute allowzero is set unless the shape is known to hold no zero. */
static prt_value *reshape(prt_build *b, prt_value *x, prt_value *shape, bool zero)
{
    if (!is_ready(b, x) || shape == NULL)
        return NULL;
    prt_reshape_attrs attrs = PRT_ATTRS_OF(reshape);
    if (zero)
        PRT_ATTR_SET(attrs, reshape, allowzero, 1);
    return prt_build_op(b, PRT_OP_reshape, &attrs, 2, (prt_value *[]){ x, shape });
}

prt_value *prt_build_reshape(prt_build *b, prt_value *x, uint32_t rank, const int64_t *dims)
{
    bool zero = false;
    for (uint32_t i = 0; i < rank; i++)
        zero = zero || dims[i] == 0;
    return is_ready(b, x) ? reshape(b, x, prt_build_i64s(b, rank, dims), zero) : NULL;
}

/* Reads a shape as one of ONNX for a Reshape of x: 0 copies a dimension, and one that is computed
 * is -1. Returns false if that cannot be said, or if a number is 0. */
static bool shape_for(const prt_value *x, const prt_value *shape, int64_t *dims, uint32_t *count)
{
    prt_tensor t;
    const int64_t *known = shape->content != NULL ? shape->content->values : NULL;
    const bool ranked = prt_type_is_tensor(x->type) && x->type->rank >= 0;
    uint32_t computed = 0;
    if (prt_value_aligned(shape, x->graph->module->arena, &t) && prt_dtype_is_integer(t.dtype) &&
        prt_tensor_count(&t) <= PRT_MAX_RANK) {
        *count = (uint32_t)prt_tensor_count(&t);
        for (uint32_t i = 0; i < *count; i++)
            dims[i] = prt_load_i64(t.dtype, t.data, i);
        known = dims;
    } else if (known == NULL || shape->content->count > PRT_MAX_RANK) {
        return false;
    } else {
        *count = shape->content->count;
    }
    for (uint32_t i = 0; i < *count; i++) {
        const int64_t dim = known[i];
        const bool copied =
            prt_dim_is_expr(dim) && ranked && (int32_t)i < x->type->rank && x->type->dims[i] == dim;
        if (prt_dim_is_number(dim) && (dim == 0 || dim < -1))
            return false;
        dims[i] = copied ? 0 : prt_dim_is_number(dim) ? dim : -1;
        computed += dims[i] == -1;
    }
    return computed <= 1;
}

prt_value *prt_build_reshape_to(prt_build *b, prt_value *x, prt_value *shape)
{
    int64_t dims[PRT_MAX_RANK];
    uint32_t count;
    bool minus = false;
    if (!is_ready(b, x) || shape == NULL)
        return NULL;
    if (shape_for(x, shape, dims, &count))
        return reshape(b, x, prt_build_i64s(b, count, dims), false);
    for (uint32_t i = 0; shape->content != NULL && i < shape->content->count; i++)
        minus = minus || shape->content->values[i] == -1;
    return reshape(b, x, prt_build_cast(b, shape, PRT_DTYPE_i64), !minus);
}

static prt_value *by_axes(prt_build *b, uint32_t id, prt_value *x, uint32_t count,
    const int64_t *axes)
{
    if (!is_ready(b, x) || count == 0)
        return is_ready(b, x) ? x : NULL;
    return prt_build_op(b, id, NULL, 2, (prt_value *[]){ x, prt_build_i64s(b, count, axes) });
}

prt_value *prt_build_unsqueeze(prt_build *b, prt_value *x, uint32_t count, const int64_t *axes)
{
    return by_axes(b, PRT_OP_unsqueeze, x, count, axes);
}

prt_value *prt_build_squeeze(prt_build *b, prt_value *x, uint32_t count, const int64_t *axes)
{
    return by_axes(b, PRT_OP_squeeze, x, count, axes);
}

prt_value *prt_build_shape(prt_build *b, prt_value *x)
{
    return is_ready(b, x) ? prt_build_op(b, PRT_OP_shape, NULL, 1, &x) : NULL;
}

prt_value *prt_build_size_of(prt_build *b, prt_value *x, int64_t axis)
{
    if (!is_ready(b, x))
        return NULL;
    return prt_build_gather(b, prt_build_shape(b, x), prt_build_i64s(b, 1, &axis), 0);
}

prt_value *prt_build_concat(prt_build *b, int64_t axis, uint32_t count, prt_value *const *values)
{
    for (uint32_t i = 0; i < count; i++)
        if (values[i] == NULL)
            return NULL;
    if (b->status != POPRT_OK || count == 1)
        return b->status == POPRT_OK ? values[0] : NULL;
    prt_concat_attrs attrs = PRT_ATTRS_OF(concat);
    PRT_ATTR_SET(attrs, concat, axis, axis);
    return prt_build_op(b, PRT_OP_concat, &attrs, count, values);
}

prt_value *prt_build_slice(prt_build *b, prt_value *x, int64_t axis, int64_t start, int64_t end,
    int64_t step)
{
    if (!is_ready(b, x))
        return NULL;
    return prt_build_slice_by(b, x, prt_build_i64s(b, 1, &start), prt_build_i64s(b, 1, &end),
        prt_build_i64s(b, 1, &axis), step != 1 ? prt_build_i64s(b, 1, &step) : NULL);
}

prt_value *prt_build_slice_by(prt_build *b, prt_value *x, prt_value *starts, prt_value *ends,
    prt_value *axes, prt_value *steps)
{
    if (!is_ready(b, x) || starts == NULL || ends == NULL || axes == NULL)
        return NULL;
    return prt_build_op(b, PRT_OP_slice, NULL, steps != NULL ? 5 : 4,
        (prt_value *[]){ x, starts, ends, axes, steps });
}

prt_value *prt_build_gather(prt_build *b, prt_value *x, prt_value *indices, int64_t axis)
{
    if (!is_ready(b, x) || indices == NULL)
        return NULL;
    prt_gather_attrs attrs = PRT_ATTRS_OF(gather);
    if (axis != 0)
        PRT_ATTR_SET(attrs, gather, axis, axis);
    return prt_build_op(b, PRT_OP_gather, &attrs, 2, (prt_value *[]){ x, indices });
}

prt_value *prt_build_gather_nd(prt_build *b, prt_value *x, prt_value *indices, int64_t batch_dims)
{
    if (!is_ready(b, x) || indices == NULL)
        return NULL;
    prt_gather_nd_attrs attrs = PRT_ATTRS_OF(gather_nd);
    if (batch_dims != 0)
        PRT_ATTR_SET(attrs, gather_nd, batch_dims, batch_dims);
    indices = prt_build_cast(b, indices, PRT_DTYPE_i64);
    return prt_build_op(b, PRT_OP_gather_nd, &attrs, 2, (prt_value *[]){ x, indices });
}

prt_value *prt_build_scatter_nd(prt_build *b, prt_value *x, prt_value *indices, prt_value *updates,
    const char *reduction)
{
    if (!is_ready(b, x) || indices == NULL || updates == NULL)
        return NULL;
    prt_scatter_nd_attrs attrs = PRT_ATTRS_OF(scatter_nd);
    if (strcmp(reduction, "none") != 0)
        PRT_ATTR_SET(attrs, scatter_nd, reduction, prt_str_of(reduction));
    indices = prt_build_cast(b, indices, PRT_DTYPE_i64);
    return prt_build_op(b, PRT_OP_scatter_nd, &attrs, 3, (prt_value *[]){ x, indices, updates });
}

prt_value *prt_build_compress(prt_build *b, prt_value *x, prt_value *condition, int64_t axis)
{
    if (!is_ready(b, x) || condition == NULL)
        return NULL;
    prt_compress_attrs attrs = PRT_ATTRS_OF(compress);
    PRT_ATTR_SET(attrs, compress, axis, axis);
    return prt_build_op(b, PRT_OP_compress, &attrs, 2, (prt_value *[]){ x, condition });
}

prt_value *prt_build_expand(prt_build *b, prt_value *x, prt_value *shape)
{
    if (!is_ready(b, x) || shape == NULL)
        return NULL;
    return prt_build_binary(b, PRT_OP_expand, x, prt_build_cast(b, shape, PRT_DTYPE_i64));
}

prt_value *prt_build_where(prt_build *b, prt_value *condition, prt_value *x, prt_value *y)
{
    if (!is_ready(b, condition) || x == NULL || y == NULL)
        return NULL;
    return prt_build_op(b, PRT_OP_where, NULL, 3, (prt_value *[]){ condition, x, y });
}

prt_value *prt_build_range(prt_build *b, prt_value *start, prt_value *limit, prt_value *delta)
{
    if (!is_ready(b, start) || limit == NULL || delta == NULL)
        return NULL;
    return prt_build_op(b, PRT_OP_range, NULL, 3, (prt_value *[]){ start, limit, delta });
}

prt_value *prt_build_reduce(prt_build *b, uint32_t id, prt_value *x, prt_value *axes,
    bool keep_dims)
{
    if (!is_ready(b, x))
        return NULL;
    prt_reduce_sum_attrs attrs = PRT_ATTRS_OF(reduce_sum); /* all reductions have the same */
    if (!keep_dims)
        PRT_ATTR_SET(attrs, reduce_sum, keepdims, 0);
    return prt_build_op(b, id, &attrs, axes != NULL ? 2 : 1, (prt_value *[]){ x, axes });
}

prt_value *prt_build_reduce_axis(prt_build *b, uint32_t id, prt_value *x, int64_t axis,
    bool keep_dims)
{
    return is_ready(b, x) ? prt_build_reduce(b, id, x, prt_build_i64s(b, 1, &axis), keep_dims)
                          : NULL;
}

prt_value *prt_build_clip(prt_build *b, prt_value *x, double low, double high)
{
    if (!is_ready(b, x))
        return NULL;
    prt_value *in[] = { x, prt_build_number(b, x, low), prt_build_number(b, x, high) };
    return b->status == POPRT_OK ? prt_build_op(b, PRT_OP_clip, NULL, 3, in) : NULL;
}

prt_op *prt_build_split(prt_build *b, prt_value *x, int64_t axis, uint32_t count,
    const int64_t *sizes)
{
    if (!is_ready(b, x))
        return NULL;
    prt_split_attrs attrs = PRT_ATTRS_OF(split);
    PRT_ATTR_SET(attrs, split, axis, axis);
    return prt_build_op_n(b, PRT_OP_split, &attrs, 2,
        (prt_value *[]){ x, prt_build_i64s(b, count, sizes) }, count);
}
