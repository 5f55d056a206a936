/* SPDX-License-Identifier: MIT */
/*
 * op_segment.c — reductions of rows by the numbers of their segments: rows are scattered into a
 * tensor that holds the result of an empty segment.
 */
#include "tensorflow/formulas.h"
#include "tensorflow/scatter.h"

static const int64_t flat = -1, column[] = { -1, 1 };

/* Scatters the rows of `data` into `count` rows (int64, rank 1) that hold `start`; all operators
 * but Mul, Max and Min add. */
static prt_value *scatter(prt_tf_call *n, uint32_t id, prt_value *data, prt_value *ids,
    prt_value *count, prt_value *start)
{
    prt_value *inner = prt_build_slice(&n->b, prt_build_shape(&n->b, data), 0, 1, INT64_MAX, 1);
    prt_value *shape = prt_build_concat(&n->b, 0, 2, (prt_value *[]){ count, inner });
    start = prt_build_expand(&n->b, start, shape);
    ids = prt_build_reshape(&n->b, ids, 2, column);
    if (id != PRT_OP_mul && id != PRT_OP_max && id != PRT_OP_min)
        id = PRT_OP_add;
    return prt_tf_scatter(n, id, start, ids, data);
}

/* Returns the number of rows of each segment, as a tensor of the type of `y` that broadcasts to its
 * rows. */
static prt_value *segment_sizes(prt_tf_call *n, prt_value *ids, prt_value *count, prt_value *y)
{
    prt_value *ones = prt_build_expand(&n->b, I64(1), prt_build_shape(&n->b, ids));
    prt_value *sizes = scatter(n, PRT_OP_add, ones, ids, count, I64(0));
    prt_value *shape = prt_build_shape(&n->b, y);
    prt_value *inner = prt_build_slice(&n->b, shape, 0, 1, INT64_MAX, 1);
    inner = prt_build_expand(&n->b, I64(1), prt_build_shape(&n->b, inner));
    shape = prt_build_concat(&n->b, 0, 2, (prt_value *[]){ count, inner });
    return prt_build_cast_as(&n->b, prt_build_reshape_to(&n->b, sizes, shape), y);
}

/* Reduces the rows of sorted segments. Empty segments are 0, and 1 for products. */
static prt_value *segment(prt_tf_call *n, uint32_t id, prt_value *data, prt_value *ids,
    prt_value *count)
{
    const bool ordered = id == PRT_OP_max || id == PRT_OP_min;
    prt_value *start = ordered ? prt_tf_extreme(n, prt_tf_dtype(data), id == PRT_OP_max, false)
                               : prt_build_number(&n->b, data, id == PRT_OP_mul);
    prt_value *y = scatter(n, id, data, ids, count, start);
    if (id == PRT_OP_add || id == PRT_OP_mul)
        return y;
    prt_value *sizes = segment_sizes(n, ids, count, y);
    prt_value *zero = prt_build_number(&n->b, sizes, 0);
    if (ordered)
        return prt_build_where(&n->b, BINARY(equal, sizes, zero), zero, y);
    sizes = BINARY(max, sizes, prt_build_number(&n->b, sizes, 1));
    return BINARY(div, y, id == PRT_OP_sqrt ? prt_build_unary(&n->b, PRT_OP_sqrt, sizes) : sizes);
}

/* The number of sorted segments: one more than the last, as a vector. */
static prt_value *count_of(prt_tf_call *n, prt_value *ids)
{
    prt_value *last = prt_build_reduce(&n->b, PRT_OP_reduce_max, ids, NULL, true);
    return BINARY(add, BINARY(max, last, I64(-1)), I64(1));
}

poprt_status prt_tf_row_segment(prt_tf_call *n)
{
    prt_value *ids = prt_tf_in_i64(n, 1, true);
    return prt_tf_end_with(n, segment(n, n->node->row->id, prt_tf_in(n, 0), ids, count_of(n, ids)));
}

/* The rows are those of the data at given indices. */
poprt_status prt_tf_row_sparse_segment(prt_tf_call *n)
{
    prt_value *ids = prt_tf_in_i64(n, 2, true);
    prt_value *rows = prt_build_gather(&n->b, prt_tf_in(n, 0), prt_tf_in(n, 1), 0);
    prt_value *count = n->n_in > 3 ? prt_tf_in_i64(n, 3, true) : count_of(n, ids);
    return prt_tf_end_with(n, segment(n, n->node->row->id, rows, ids, count));
}

/* Scatters rows; those with an id that is negative or not below `count` go to one more row, which
 * is cut off. */
static prt_value *scatter_inside(prt_tf_call *n, uint32_t id, prt_value *data, prt_value *ids,
    prt_value *count, prt_value *start)
{
    prt_value *zero = I64(0);
    prt_value *outside = BINARY(or, BINARY(less, ids, zero),
        prt_build_unary(&n->b, PRT_OP_not, BINARY(less, ids, count)));
    ids = prt_build_where(&n->b, outside, count, ids);
    prt_value *y = scatter(n, id, data, ids, BINARY(add, count, I64(1)), start);
    return prt_build_slice_by(&n->b, y, prt_build_i64s(&n->b, 1, (int64_t[]){ 0 }), count,
        prt_build_i64s(&n->b, 1, (int64_t[]){ 0 }), NULL);
}

/* The ids may have several axes, which are the first of the data. */
poprt_status prt_tf_row_unsorted_segment(prt_tf_call *n)
{
    const uint32_t id = n->node->row->id;
    prt_value *data = prt_tf_in(n, 0), *ids = prt_tf_in_i64(n, 1, true);
    const int32_t rank = prt_tf_need_rank(n, 1);
    prt_value *start = id == PRT_OP_max || id == PRT_OP_min
        ? prt_tf_extreme(n, prt_tf_dtype(data), id == PRT_OP_max, true)
        : prt_build_number(&n->b, data, id == PRT_OP_mul);
    if (rank >= 0 && rank != 1) {
        prt_value *inner =
            prt_build_slice(&n->b, prt_build_shape(&n->b, data), 0, rank, INT64_MAX, 1);
        prt_value *parts[] = { prt_build_shape(&n->b, ids), inner };
        data = prt_build_reshape_to(&n->b, data, prt_build_concat(&n->b, 0, 2, parts));
    }
    return prt_tf_end_with(n, scatter_inside(n, id, data, ids, prt_tf_in_i64(n, 2, true), start));
}

/* Returns the weights of numbers, rank 1: ones where there are no weights. */
static prt_value *weights_of(prt_tf_call *n, prt_value *weights, prt_value *numbers, bool none)
{
    bool known = prt_tf_rank(weights) >= 0;
    for (int32_t i = 0; i < prt_tf_rank(weights); i++) {
        none = none || weights->type->dims[i] == 0;
        known = known && prt_dim_is_number(weights->type->dims[i]);
    }
    prt_value *one = prt_build_number(&n->b, weights, 1);
    prt_value *ones = prt_build_expand(&n->b, one, prt_build_shape(&n->b, numbers));
    if (none)
        return ones;
    weights = prt_build_reshape(&n->b, weights, 1, &flat);
    if (known)
        return weights;
    const int64_t first = 0;
    prt_value *axis = prt_build_i64s(&n->b, 1, &first), *all[] = { weights, ones };
    return prt_build_slice_by(&n->b, prt_build_concat(&n->b, 0, 2, all), axis,
        prt_build_shape(&n->b, numbers), axis, NULL);
}

/* Bincount, and DenseBincount, which counts each row of a matrix. Without weights each number
 * counts 1; with `binary_output` the result is 1 where a number occurs. */
poprt_status prt_tf_row_bincount(prt_tf_call *n)
{
    prt_value *numbers = prt_tf_in_i64(n, 0, false), *weights = prt_tf_in(n, 2);
    prt_value *size = prt_tf_in_i64(n, 1, true), *count = size, *shape = size;
    const bool binary = prt_tf_attr_bool(n, "binary_output", false);
    int32_t rank = prt_tf_need_rank(n, 0);
    const bool by_row = strcmp(n->node->row->name, "DenseBincount") == 0 && rank == 2;
    if (weights == NULL || rank < 0)
        return prt_tf_end(n);
    if (by_row) { /* the numbers of row i begin at i times the size */
        prt_value *outside = BINARY(less, numbers, size);
        prt_value *rows = prt_build_size_of(&n->b, numbers, 0);
        prt_value *first = prt_build_range(&n->b, I64(0),
            prt_build_squeeze(&n->b, rows, 1, (int64_t[]){ 0 }), I64(1));
        first = BINARY(mul, prt_build_reshape(&n->b, first, 2, column), size);
        numbers = prt_build_where(&n->b, outside, BINARY(add, numbers, first), I64(-1));
        count = BINARY(mul, rows, size);
        shape = prt_build_concat(&n->b, 0, 2, (prt_value *[]){ rows, size });
    }
    numbers = prt_build_reshape(&n->b, numbers, 1, &flat);
    weights = weights_of(n, weights, numbers, binary);
    prt_value *bins =
        scatter_inside(n, PRT_OP_add, weights, numbers, count, prt_build_number(&n->b, weights, 0));
    bins = binary ? BINARY(min, bins, prt_build_number(&n->b, weights, 1)) : bins;
    return prt_tf_end_with(n, by_row ? prt_build_reshape_to(&n->b, bins, shape) : bins);
}
