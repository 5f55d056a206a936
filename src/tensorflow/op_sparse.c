/* SPDX-License-Identifier: MIT */
/* op_sparse.c — sparse tensors: the places and values of their elements, and their shape. */
#include "tensorflow/formulas.h"
#include "tensorflow/scatter.h"

static const int64_t first[] = { 0 }, second[] = { 1 }, column[] = { -1, 1 };

/* Returns the dense tensor of inputs `i` (indices), i + 1 (values), i + 2 (shape). */
static prt_value *dense(prt_tf_call *n, uint32_t i)
{
    prt_value *values = prt_tf_in(n, i + 1);
    prt_value *x =
        prt_build_expand(&n->b, prt_build_number(&n->b, values, 0), prt_tf_in_i64(n, i + 2, true));
    return prt_tf_scatter(n, PRT_OP_add, x, prt_tf_in(n, i), values);
}

/* The indices are a scalar, a vector or the rows of a matrix. */
poprt_status prt_tf_row_sparse_to_dense(prt_tf_call *n)
{
    prt_value *indices = prt_tf_in_i64(n, 0, false), *values = prt_tf_in(n, 2);
    const int32_t rank = prt_tf_need_rank(n, 0);
    if (rank >= 0 && rank < 2)
        indices = prt_build_reshape(&n->b, indices, 2, column);
    prt_value *rows = prt_build_size_of(&n->b, indices, 0);
    values = prt_build_expand(&n->b, values, rows);
    prt_value *y = prt_build_expand(&n->b, prt_tf_in(n, 3), prt_tf_in_i64(n, 1, true));
    return prt_tf_end_with(n, prt_build_scatter_nd(&n->b, y, indices, values, "none"));
}

/* The sparse matrix is made dense. */
poprt_status prt_tf_row_sparse_matmul(prt_tf_call *n)
{
    static const int64_t swap[] = { 1, 0 };
    prt_value *x = dense(n, 0), *y = prt_tf_in(n, 3);
    if (prt_tf_attr_bool(n, "adjoint_a", false))
        x = prt_build_transpose(&n->b, x, 2, swap);
    if (prt_tf_attr_bool(n, "adjoint_b", false))
        y = prt_build_transpose(&n->b, y, 2, swap);
    return prt_tf_end_with(n, BINARY(matmul, x, y));
}

/* The elements of a dense tensor at the places. */
poprt_status prt_tf_row_sparse_dense(prt_tf_call *n)
{
    prt_value *all = prt_build_expand(&n->b, prt_tf_in(n, 3), prt_tf_in_i64(n, 2, true));
    prt_value *other = prt_build_gather_nd(&n->b, all, prt_tf_in(n, 0), 0);
    return prt_tf_end_with(n, prt_build_binary(&n->b, n->node->row->id, prt_tf_in(n, 1), other));
}

poprt_status prt_tf_row_sparse_reduce_sum(prt_tf_call *n)
{
    int64_t axes[PRT_MAX_RANK];
    uint32_t count;
    prt_value *x = dense(n, 0);
    if (!prt_tf_need_ints(n, 3, "the axes", PRT_MAX_RANK, axes, &count))
        return prt_tf_end(n);
    prt_value *over = count != 0 ? prt_build_i64s(&n->b, count, axes) : NULL;
    return prt_tf_end_with(n,
        prt_build_reduce(&n->b, PRT_OP_reduce_sum, x, over,
            prt_tf_attr_bool(n, "keep_dims", false)));
}

/* ---- places as single numbers */

/* The sizes of a shape of known rank, and the distance of neighbours along each axis: int64,
 * rank 1. */
typedef struct strides {
    uint32_t rank;
    prt_value *size[PRT_MAX_RANK], *stride[PRT_MAX_RANK];
} strides;

static bool strides_of(prt_tf_call *n, prt_value *shape, strides *s)
{
    const int64_t rank = prt_tf_dim(shape, 0), one = 1;
    if (!prt_dim_is_number(rank) || rank < 1 || rank > PRT_MAX_RANK) {
        (void)prt_tf_refuse(n, "the rank of a sparse tensor is not known, or is not in [1, %d]",
            PRT_MAX_RANK);
        return false;
    }
    s->rank = (uint32_t)rank;
    prt_value *next = prt_build_i64s(&n->b, 1, &one);
    for (int64_t i = rank - 1; i >= 0; i--) {
        s->size[i] = prt_build_gather(&n->b, shape, prt_build_i64s(&n->b, 1, &i), 0);
        s->stride[i] = next;
        next = BINARY(mul, next, s->size[i]);
    }
    return true;
}

/* Returns the place of each row of indices in the order of the elements. */
static prt_value *places_of(prt_tf_call *n, prt_value *indices, strides *s)
{
    prt_value *weights = prt_build_concat(&n->b, 0, s->rank, s->stride);
    return prt_build_reduce_axis(&n->b, PRT_OP_reduce_sum, BINARY(mul, indices, weights), 1, false);
}

/* Returns the order that sorts numbers, of which no two are equal. */
static prt_value *order_of(prt_tf_call *n, prt_value *x)
{
    prt_topk_attrs attrs = PRT_ATTRS_OF(topk);
    PRT_ATTR_SET(attrs, topk, largest, 0);
    prt_value *in[] = { x, prt_build_size_of(&n->b, x, 0) };
    prt_op *op = in[1] != NULL ? prt_build_op_n(&n->b, PRT_OP_topk, &attrs, 2, in, 2) : NULL;
    return op != NULL ? &op->out[1] : NULL;
}

/* One size of the new shape may be -1. */
poprt_status prt_tf_row_sparse_reshape(prt_tf_call *n)
{
    strides from, to;
    prt_value *old = prt_tf_in_i64(n, 1, true), *shape = prt_tf_in_i64(n, 2, true);
    prt_value *zero = I64(0), *one = I64(1), *parts[PRT_MAX_RANK];
    prt_value *all = prt_build_reduce(&n->b, PRT_OP_reduce_prod, old, NULL, true);
    prt_value *free = BINARY(less, shape, zero);
    prt_value *given = prt_build_reduce(&n->b, PRT_OP_reduce_prod,
        prt_build_where(&n->b, free, one, shape), NULL, true);
    shape = prt_build_where(&n->b, free, BINARY(div, all, BINARY(max, given, one)), shape);
    if (!strides_of(n, old, &from) || !strides_of(n, shape, &to))
        return prt_tf_end(n);
    prt_value *place = places_of(n, prt_tf_in(n, 0), &from);
    place = prt_build_unsqueeze(&n->b, place, 1, second);
    for (uint32_t i = 0; i < to.rank; i++) {
        parts[i] = BINARY(div, place, to.stride[i]);
        if (i != 0)
            parts[i] = BINARY(mod, parts[i], to.size[i]);
    }
    prt_tf_set(n, 0, prt_build_concat(&n->b, 1, to.rank, parts));
    prt_tf_set(n, 1, shape);
    return prt_tf_end(n);
}

poprt_status prt_tf_row_sparse_reorder(prt_tf_call *n)
{
    strides s;
    prt_value *indices = prt_tf_in(n, 0);
    if (!strides_of(n, prt_tf_in_i64(n, 2, true), &s))
        return prt_tf_end(n);
    prt_value *order = order_of(n, places_of(n, indices, &s));
    prt_tf_set(n, 0, prt_build_gather(&n->b, indices, order, 0));
    prt_tf_set(n, 1, prt_build_gather(&n->b, prt_tf_in(n, 1), order, 0));
    return prt_tf_end(n);
}

/* ---- rows */

/* The elements from `start` on, at most `size` along each axis. */
poprt_status prt_tf_row_sparse_slice(prt_tf_call *n)
{
    prt_value *indices = prt_tf_in(n, 0), *shape = prt_tf_in(n, 2), *start = prt_tf_in(n, 3);
    prt_value *zero = I64(0);
    prt_value *left = BINARY(max, BINARY(sub, shape, start), zero);
    prt_value *size = BINARY(min, left, prt_tf_in(n, 4));
    prt_value *moved = BINARY(sub, indices, start);
    prt_value *outside = BINARY(or, BINARY(less, moved, zero),
        prt_build_unary(&n->b, PRT_OP_not, BINARY(less, moved, size)));
    outside = prt_build_cast(&n->b, outside, PRT_DTYPE_i64);
    outside = prt_build_reduce_axis(&n->b, PRT_OP_reduce_sum, outside, 1, false);
    prt_value *inside = BINARY(equal, outside, zero);
    prt_tf_set(n, 0, prt_build_compress(&n->b, moved, inside, 0));
    prt_tf_set(n, 1, prt_build_compress(&n->b, prt_tf_in(n, 1), inside, 0));
    prt_tf_set(n, 2, size);
    return prt_tf_end(n);
}

/* Each row without elements gets one with the default value, in its first column. The elements are
 * sorted by row; those of one row keep their order. */
poprt_status prt_tf_row_sparse_fill_empty_rows(prt_tf_call *n)
{
    prt_value *indices = prt_tf_in(n, 0), *values = prt_tf_in(n, 1), *zero = I64(0), *one = I64(1);
    prt_value *row = prt_build_slice(&n->b, indices, 1, 0, 1, 1);
    prt_value *rows = prt_build_slice(&n->b, prt_tf_in(n, 2), 0, 0, 1, 1);
    prt_value *count = prt_build_size_of(&n->b, row, 0);
    prt_value *counts = prt_tf_scatter(n, PRT_OP_add, prt_build_expand(&n->b, zero, rows), row,
        prt_build_expand(&n->b, one, count));
    prt_value *empty = BINARY(equal, counts, zero);
    prt_value *added =
        prt_build_reshape(&n->b, prt_build_unary(&n->b, PRT_OP_nonzero, empty), 2, column);
    prt_value *more = prt_build_size_of(&n->b, added, 0);
    prt_value *pads[] = { zero, zero, zero, NULL };
    pads[3] = BINARY(sub, prt_build_size_of(&n->b, indices, 1), one);
    for (uint32_t i = 0; i < 4; i++)
        pads[i] = prt_build_reshape(&n->b, pads[i], 1, (int64_t[]){ 1 });
    prt_value *filled = BINARY(pad, added, prt_build_concat(&n->b, 0, 4, pads));
    prt_value *defaults = prt_build_expand(&n->b, prt_tf_in(n, 3), more);
    prt_value *all = prt_build_concat(&n->b, 0, 2, (prt_value *[]){ indices, filled });
    values = prt_build_concat(&n->b, 0, 2, (prt_value *[]){ values, defaults });
    prt_value *total = prt_build_squeeze(&n->b, BINARY(add, count, more), 1, first);
    prt_value *range = prt_build_range(&n->b, zero, total, one);
    prt_value *key = prt_build_concat(&n->b, 0, 2, (prt_value *[]){ row, added });
    key = BINARY(add, BINARY(mul, prt_build_squeeze(&n->b, key, 1, second), total), range);
    prt_value *order = order_of(n, key);
    prt_value *inverse = order == NULL ? NULL
                                       : prt_build_op(&n->b, PRT_OP_scatter_elements, NULL, 3,
                                             (prt_value *[]){ range, order, range });
    prt_value *axis = prt_build_i64s(&n->b, 1, first);
    prt_tf_set(n, 0, prt_build_gather(&n->b, all, order, 0));
    prt_tf_set(n, 1, prt_build_gather(&n->b, values, order, 0));
    prt_tf_set(n, 2, empty);
    prt_tf_set(n, 3, prt_build_slice_by(&n->b, inverse, axis, count, axis, NULL));
    return prt_tf_end(n);
}
