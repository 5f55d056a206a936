/* SPDX-License-Identifier: MIT */
/* op_ragged.c — ragged tensors with one ragged axis: values, and the places where rows begin. */
#include "tensorflow/formulas.h"
#include "tensorflow/scatter.h"

static const int64_t zeroth[] = { 0 }, column[] = { -1, 1 };

static prt_value *cumulate(prt_tf_call *n, prt_value *x)
{
    return BINARY(cumsum, x, I64(0));
}

/* Returns where rows of these lengths begin, and where the last ends. */
static prt_value *splits_of(prt_tf_call *n, prt_value *lengths)
{
    const int64_t none = 0;
    prt_value *parts[] = { prt_build_i64s(&n->b, 1, &none), cumulate(n, lengths) };
    return prt_build_concat(&n->b, 0, 2, parts);
}

static prt_value *lengths_of(prt_tf_call *n, prt_value *splits)
{
    return BINARY(sub, prt_build_slice(&n->b, splits, 0, 1, INT64_MAX, 1),
        prt_build_slice(&n->b, splits, 0, 0, -1, 1));
}

/* The row and column of each value. */
typedef struct cells {
    prt_value *row, *column;
} cells;

/* The row of a value is the number of rows that end before it or where it stands. */
static cells cells_of(prt_tf_call *n, prt_value *splits)
{
    prt_value *ends = prt_build_slice(&n->b, splits, 0, 1, INT64_MAX, 1), *zero = I64(0);
    prt_value *total = prt_build_slice(&n->b, splits, 0, -1, INT64_MAX, 1), *one = I64(1);
    prt_value *marks = prt_build_expand(&n->b, zero, BINARY(add, total, one));
    prt_value *ones = prt_build_expand(&n->b, one, prt_build_shape(&n->b, ends));
    marks =
        prt_build_scatter_nd(&n->b, marks, prt_build_reshape(&n->b, ends, 2, column), ones, "add");
    cells c = { .row = prt_build_slice(&n->b, cumulate(n, marks), 0, 0, -1, 1) };
    prt_value *range =
        prt_build_range(&n->b, zero, prt_build_squeeze(&n->b, total, 1, zeroth), one);
    c.column = BINARY(sub, range, prt_build_gather(&n->b, splits, c.row, 0));
    return c;
}

static prt_value *pairs(prt_tf_call *n, const cells *c)
{
    prt_value *parts[] = { prt_build_reshape(&n->b, c->row, 2, column),
        prt_build_reshape(&n->b, c->column, 2, column) };
    return prt_build_concat(&n->b, 1, 2, parts);
}

/* The length of the longest row, as a vector; 0 without rows. */
static prt_value *width_of(prt_tf_call *n, prt_value *splits)
{
    prt_value *longest =
        prt_build_reduce(&n->b, PRT_OP_reduce_max, lengths_of(n, splits), NULL, true);
    return BINARY(max, longest, I64(0));
}

static int32_t splits_type(prt_tf_call *n)
{
    return prt_tf_attr_dtype(n, "Tsplits", PRT_DTYPE_i64);
}

/* Row i counts from starts[i] to limits[i] by deltas[i]; a scalar is that of every row. */
poprt_status prt_tf_row_ragged_range(prt_tf_call *n)
{
    prt_value *in[3], *exact[3];
    for (uint32_t i = 0; i < 3; i++) {
        in[i] = prt_tf_in(n, i);
        if (prt_tf_rank(in[i]) != 1)
            in[i] = prt_build_reshape(&n->b, in[i], 1, (int64_t[]){ -1 });
        exact[i] = prt_build_cast(&n->b, in[i], PRT_DTYPE_f64);
    }
    prt_value *count = BINARY(div, BINARY(sub, exact[1], exact[0]), exact[2]);
    count = prt_build_cast(&n->b, prt_build_unary(&n->b, PRT_OP_ceil, count), PRT_DTYPE_i64);
    count = BINARY(max, count, I64(0));
    prt_value *splits = splits_of(n, count), *shape = prt_build_shape(&n->b, count);
    const cells c = cells_of(n, splits);
    prt_value *start = prt_build_gather(&n->b, prt_build_expand(&n->b, in[0], shape), c.row, 0);
    prt_value *delta = prt_build_gather(&n->b, prt_build_expand(&n->b, in[2], shape), c.row, 0);
    prt_value *steps = prt_build_cast_as(&n->b, c.column, delta);
    prt_tf_set(n, 0, prt_build_cast(&n->b, splits, splits_type(n)));
    prt_tf_set(n, 1, BINARY(add, start, BINARY(mul, steps, delta)));
    return prt_tf_end(n);
}

poprt_status prt_tf_row_ragged_gather(prt_tf_call *n)
{
    if (n->n_in != 3 || n->n_out != 2 || prt_tf_rank(prt_tf_in(n, 2)) != 1)
        return prt_tf_refuse(n, "only vectors of rows of one ragged axis can be gathered");
    prt_value *old = prt_tf_in_i64(n, 0, false), *indices = prt_tf_in_i64(n, 2, false);
    prt_value *starts = prt_build_gather(&n->b, old, indices, 0);
    prt_value *ends = prt_build_gather(&n->b, old, BINARY(add, indices, I64(1)), 0);
    prt_value *splits = splits_of(n, BINARY(sub, ends, starts));
    const cells c = cells_of(n, splits);
    prt_value *from = BINARY(add, prt_build_gather(&n->b, starts, c.row, 0), c.column);
    prt_tf_set(n, 0, prt_build_cast(&n->b, splits, splits_type(n)));
    prt_tf_set(n, 1, prt_build_gather(&n->b, prt_tf_in(n, 1), from, 0));
    return prt_tf_end(n);
}

poprt_status prt_tf_row_ragged_to_sparse(prt_tf_call *n)
{
    if (n->n_in != 2 || prt_tf_rank(prt_tf_in(n, 1)) != 1)
        return prt_tf_refuse(n, "only rows of numbers become a sparse tensor");
    prt_value *splits = prt_tf_in_i64(n, 0, false);
    const cells c = cells_of(n, splits);
    prt_value *rows = BINARY(sub, prt_build_size_of(&n->b, splits, 0), I64(1));
    prt_value *shape[] = { rows, width_of(n, splits) };
    prt_tf_set(n, 0, pairs(n, &c));
    prt_tf_set(n, 1, prt_tf_in(n, 1));
    prt_tf_set(n, 2, prt_build_concat(&n->b, 0, 2, shape));
    return prt_tf_end(n);
}

/* ---- to dense tensors */

/* Reads where rows begin, from ROW_SPLITS, or from FIRST_DIM_SIZE and VALUE_ROWIDS. */
static prt_value *read_splits(prt_tf_call *n)
{
    const prt_strs kinds = prt_tf_attr_texts(n, "row_partition_types");
    if (kinds.count == 1 && prt_str_is(kinds.data[0], "ROW_SPLITS"))
        return prt_tf_in_i64(n, 3, false);
    if (kinds.count != 2 || !prt_str_is(kinds.data[0], "FIRST_DIM_SIZE") ||
        !prt_str_is(kinds.data[1], "VALUE_ROWIDS")) {
        (void)prt_tf_refuse(n, "only tensors with one ragged axis become dense");
        return NULL;
    }
    prt_value *rows = prt_tf_in_i64(n, 3, true), *ids = prt_tf_in_i64(n, 4, false);
    prt_value *lengths = prt_build_expand(&n->b, I64(0), rows);
    prt_value *ones = prt_build_expand(&n->b, I64(1), prt_build_shape(&n->b, ids));
    ids = prt_build_reshape(&n->b, ids, 2, column);
    return splits_of(n, prt_tf_scatter(n, PRT_OP_add, lengths, ids, ones));
}

/* Returns size i of the wanted shape, or `natural` where that is negative. */
static prt_value *wanted_size(prt_tf_call *n, prt_value *shape, int64_t i, prt_value *natural)
{
    prt_value *size = prt_build_gather(&n->b, shape, prt_build_i64s(&n->b, 1, &i), 0);
    return prt_build_where(&n->b, BINARY(less, size, I64(0)), natural, size);
}

/* Values outside the wanted shape are dropped. A wanted shape of rank 0 says nothing. */
poprt_status prt_tf_row_ragged_to_tensor(prt_tf_call *n)
{
    prt_value *values = prt_tf_in(n, 1), *splits = read_splits(n);
    const cells c = cells_of(n, splits);
    const int32_t rank = prt_tf_need_rank(n, 0);
    prt_value *size[] = { BINARY(sub, prt_build_size_of(&n->b, splits, 0), I64(1)),
        width_of(n, splits) };
    prt_value *places = pairs(n, &c);
    int64_t wanted[PRT_MAX_RANK];
    uint32_t count = 0;
    const bool known = prt_tf_ints(n, 0, PRT_MAX_RANK, wanted, &count);
    if (rank == 1 && !(known && count >= 2 && wanted[0] == -1 && wanted[1] == -1)) {
        prt_value *shape = prt_tf_in_i64(n, 0, false);
        for (int64_t i = 0; i < 2; i++)
            size[i] = wanted_size(n, shape, i, size[i]);
        prt_value *inside =
            BINARY(and, BINARY(less, c.row, size[0]), BINARY(less, c.column, size[1]));
        places = prt_build_compress(&n->b, places, inside, 0);
        values = prt_build_compress(&n->b, values, inside, 0);
    }
    prt_value *inner =
        prt_build_slice(&n->b, prt_build_shape(&n->b, prt_tf_in(n, 1)), 0, 1, INT64_MAX, 1);
    prt_value *parts[] = { size[0], size[1], inner };
    prt_value *y = prt_build_expand(&n->b, prt_tf_in(n, 2), prt_build_concat(&n->b, 0, 3, parts));
    return prt_tf_end_with(n, prt_build_scatter_nd(&n->b, y, places, values, "none"));
}
