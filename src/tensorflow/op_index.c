/* SPDX-License-Identifier: MIT */
/* op_index.c — gathering, scattering, and other operators with index tensors. */
#include "num/dtype.h"
#include "tensorflow/formulas.h"
#include "tensorflow/scatter.h"

static const int64_t flat = -1, column[] = { -1, 1 };

/* ---- gathering */

/* Gathers along axis `batch`, behind the axes that params and indices share. Before opset 12
 * GatherND lacks batch axes: they are merged with the axis, and the indices count across them. */
static prt_value *gather_rows(prt_tf_call *n, prt_value *params, prt_value *indices, int64_t batch)
{
    static const int64_t last[] = { -1 };
    if (prt_module_opset(n->c->module, PRT_STR("")) >= 12)
        return prt_build_gather_nd(&n->b, params, prt_build_unsqueeze(&n->b, indices, 1, last),
            batch);
    int64_t axes[PRT_MAX_RANK];
    const uint32_t made = (uint32_t)(prt_tf_rank(indices) - batch);
    for (uint32_t i = 0; i < made; i++)
        axes[i] = batch + i;
    prt_value *shape = prt_build_shape(&n->b, params), *zero = I64(0);
    prt_value *outer = prt_build_slice(&n->b, shape, 0, 0, batch, 1);
    prt_value *count = prt_build_reduce(&n->b, PRT_OP_reduce_prod, outer, NULL, false);
    prt_value *size = prt_build_gather(&n->b, shape, I64(batch), 0);
    prt_value *first = BINARY(mul, prt_build_range(&n->b, zero, count, I64(1)), size);
    first = prt_build_unsqueeze(&n->b, prt_build_reshape_to(&n->b, first, outer), made, axes);
    indices = BINARY(add, prt_build_cast(&n->b, indices, PRT_DTYPE_i64), first);
    prt_value *parts[] = { prt_build_reshape(&n->b, BINARY(mul, count, size), 1, (int64_t[]){ 1 }),
        prt_build_slice(&n->b, shape, 0, batch + 1, INT64_MAX, 1) };
    params = prt_build_reshape_to(&n->b, params, prt_build_concat(&n->b, 0, 2, parts));
    return prt_build_gather(&n->b, params, indices, 0);
}

/* Gathers along an axis behind `batch` axes that params and indices share: the axis moves to the
 * front of the others, and the axes that the indices made move to its place. */
static prt_value *gather_batch(prt_tf_call *n, prt_value *params, prt_value *indices, int64_t axis,
    int64_t batch)
{
    int64_t to_front[PRT_MAX_RANK], back[PRT_MAX_RANK];
    const int64_t rank = prt_tf_rank(params);
    const int64_t made = prt_tf_rank(indices) - batch, out = rank - 1 + made;
    if (rank < 0 || made < 0 || axis < batch || axis >= rank || batch < 0 || out > PRT_MAX_RANK) {
        (void)prt_tf_refuse(n, "axis %lld and %lld batch axes do not fit, or a rank is not known",
            (long long)axis, (long long)batch);
        return NULL;
    }
    const int64_t between = axis - batch;
    for (int64_t i = 0; i < rank; i++)
        to_front[i] = i == batch ? axis : i > batch && i <= axis ? i - 1 : i;
    for (int64_t i = 0; i < out; i++)
        back[i] = i < batch || i >= axis + made ? i : i < axis ? i + made : i - between;
    params = prt_build_transpose(&n->b, params, (uint32_t)rank, to_front);
    prt_value *y = gather_rows(n, params, indices, batch);
    return prt_build_transpose(&n->b, y, (uint32_t)out, back);
}

/* Gather has neither an axis nor batch axes. */
poprt_status prt_tf_row_gather(prt_tf_call *n)
{
    prt_value *params = prt_tf_in(n, 0), *indices = prt_tf_in(n, 1);
    int64_t axis = 0, batch = prt_tf_attr_i64(n, "batch_dims", 0);
    if (n->n_in > 2 && !prt_tf_need_int(n, 2, "the axis", &axis))
        return prt_tf_end(n);
    if (prt_dtype_bits(prt_tf_dtype(indices)) < 32)
        indices = prt_build_cast(&n->b, indices, PRT_DTYPE_i32);
    batch += batch < 0 ? prt_tf_rank(indices) : 0;
    if (batch == 0)
        return prt_tf_end_with(n, prt_build_gather(&n->b, params, indices, axis));
    axis += axis < 0 ? prt_tf_rank(params) : 0;
    return prt_tf_end_with(n, gather_batch(n, params, indices, axis, batch));
}

poprt_status prt_tf_row_gather_nd(prt_tf_call *n)
{
    return prt_tf_end_with(n,
        prt_build_gather_nd(&n->b, prt_tf_in(n, 0), prt_tf_in_i64(n, 1, false), 0));
}

/* ---- scattering */

poprt_status prt_tf_row_scatter_nd(prt_tf_call *n)
{
    prt_value *indices = prt_tf_in_i64(n, 0, false), *updates = prt_tf_in(n, 1);
    const int32_t dtype = prt_tf_dtype(updates);
    if (dtype == PRT_DTYPE_string || dtype == PRT_DTYPE_bool)
        return prt_tf_refuse(n, "updates that are not numbers cannot be added");
    prt_value *zeros =
        prt_build_expand(&n->b, prt_build_number(&n->b, updates, 0), prt_tf_in_i64(n, 2, true));
    return prt_tf_end_with(n, prt_tf_scatter(n, PRT_OP_add, zeros, indices, updates));
}

poprt_status prt_tf_row_tensor_scatter(prt_tf_call *n)
{
    uint32_t id = n->node->row->id;
    prt_value *x = prt_tf_in(n, 0), *indices = prt_tf_in(n, 1), *updates = prt_tf_in(n, 2);
    if (id == PRT_OP_NONE)
        return prt_tf_end_with(n, prt_build_scatter_nd(&n->b, x, indices, updates, "none"));
    if (id == PRT_OP_sub) {
        updates = BINARY(sub, prt_build_number(&n->b, updates, 0), updates);
        id = PRT_OP_add;
    }
    return prt_tf_end_with(n, prt_tf_scatter(n, id, x, indices, updates));
}

/* Compares with a range: OneHot of ONNX counts negative indices from the end, TensorFlow ignores
 * them. */
poprt_status prt_tf_row_one_hot(prt_tf_call *n)
{
    prt_value *indices = prt_tf_in_i64(n, 0, false), *on = prt_tf_in(n, 2), *off = prt_tf_in(n, 3);
    const int64_t axis = prt_tf_attr_i64(n, "axis", -1), rank = prt_tf_rank(indices);
    int64_t dims[PRT_MAX_RANK + 1] = { -1 };
    prt_value *depth = prt_build_reshape(&n->b, prt_tf_in_i64(n, 1, false), 0, NULL);
    prt_value *range = prt_build_range(&n->b, I64(0), depth, I64(1));
    if (axis != -1) {
        if (rank < 0 || axis < 0 || axis > rank)
            return prt_tf_refuse(n, "axis %lld does not fit the indices, or their rank is unknown",
                (long long)axis);
        for (int64_t i = axis; i < rank; i++)
            dims[i - axis + 1] = 1;
        range = prt_build_reshape(&n->b, range, (uint32_t)(rank - axis + 1), dims);
    }
    indices = prt_build_unsqueeze(&n->b, indices, 1, &axis);
    return prt_tf_end_with(n, prt_build_where(&n->b, BINARY(equal, indices, range), on, off));
}

/* ---- searching */

poprt_status prt_tf_row_where(prt_tf_call *n)
{
    prt_value *places = UNARY(nonzero, prt_tf_in(n, 0));
    return prt_tf_end_with(n, prt_build_transpose(&n->b, places, 2, (int64_t[]){ 1, 0 }));
}

/* The V2 forms have a vector with one axis or none as input 1. Integers go through int64, the only
 * wide type of them that ONNX Runtime knows here. */
poprt_status prt_tf_row_unique(prt_tf_call *n)
{
    prt_value *x = prt_tf_in(n, 0);
    const int32_t dtype = prt_tf_attr_dtype(n, "out_idx", PRT_DTYPE_i32), type = prt_tf_dtype(x);
    prt_unique_attrs attrs = PRT_ATTRS_OF(unique);
    int64_t axis;
    uint32_t count = 0;
    if (n->n_in > 1 && !prt_tf_need_ints(n, 1, "the axis", 1, &axis, &count))
        return prt_tf_end(n);
    PRT_ATTR_SET(attrs, unique, sorted, 0);
    if (count != 0 && prt_tf_rank(x) != 1)
        PRT_ATTR_SET(attrs, unique, axis, axis);
    if (prt_dtype_is_integer(type))
        x = prt_build_cast(&n->b, x, PRT_DTYPE_i64);
    prt_op *op = x != NULL ? prt_build_op_n(&n->b, PRT_OP_unique, &attrs, 1, &x, 4) : NULL;
    if (op == NULL)
        return prt_tf_end(n);
    prt_tf_set(n, 0, prt_build_cast(&n->b, &op->out[0], type));
    prt_tf_set(n, 1, prt_build_cast(&n->b, &op->out[2], dtype));
    prt_tf_set(n, 2, prt_build_cast(&n->b, &op->out[3], dtype));
    return prt_tf_end(n);
}

/* The elements of x that y lacks, and their places. */
poprt_status prt_tf_row_list_diff(prt_tf_call *n)
{
    prt_value *x = prt_tf_in(n, 0), *y = prt_tf_in(n, 1), *zero = I64(0);
    prt_value *same = BINARY(equal, prt_build_reshape(&n->b, x, 2, column), y);
    prt_value *found = prt_build_reduce_axis(&n->b, PRT_OP_reduce_sum,
        prt_build_cast(&n->b, same, PRT_DTYPE_i64), 1, false);
    prt_value *missing = BINARY(equal, found, zero);
    prt_value *places = prt_build_range(&n->b, zero, UNARY(size, x), I64(1));
    places = prt_build_cast(&n->b, places, prt_tf_attr_dtype(n, "out_idx", PRT_DTYPE_i32));
    prt_tf_set(n, 0, prt_build_compress(&n->b, x, missing, 0));
    prt_tf_set(n, 1, prt_build_compress(&n->b, places, missing, 0));
    return prt_tf_end(n);
}

/* The number of sorted values in each row that are less, or not greater. */
poprt_status prt_tf_row_search_sorted(prt_tf_call *n)
{
    prt_value *sorted = prt_build_unsqueeze(&n->b, prt_tf_in(n, 0), 1, (int64_t[]){ -2 });
    prt_value *values = prt_build_unsqueeze(&n->b, prt_tf_in(n, 1), 1, (int64_t[]){ -1 });
    prt_value *below = prt_build_binary(&n->b, n->node->row->id, sorted, values);
    below = prt_build_cast(&n->b, below, prt_tf_attr_dtype(n, "out_type", PRT_DTYPE_i32));
    return prt_tf_end_with(n, prt_build_reduce_axis(&n->b, PRT_OP_reduce_sum, below, -1, false));
}

poprt_status prt_tf_row_bucketize(prt_tf_call *n)
{
    prt_value *x = prt_tf_in(n, 0);
    const prt_f32s bounds = prt_tf_attr_floats(n, "boundaries");
    const int64_t count = bounds.count;
    if (prt_dtype_is_integer(prt_tf_dtype(x)))
        x = prt_build_cast(&n->b, x, PRT_DTYPE_f32);
    prt_value *b = prt_build_tensor(&n->b, PRT_DTYPE_f32, 1, &count, bounds.data);
    prt_value *passed = BINARY(greater_or_equal, prt_build_unsqueeze(&n->b, x, 1, &flat),
        prt_build_cast_as(&n->b, b, x));
    passed = prt_build_cast(&n->b, passed, PRT_DTYPE_i32);
    return prt_tf_end_with(n, prt_build_reduce_axis(&n->b, PRT_OP_reduce_sum, passed, -1, false));
}

/* ---- partitions */

/* Flattens the first axes of `data`, as many as `indices` has. */
static prt_value *flatten_rows(prt_tf_call *n, prt_value *data, prt_value *indices)
{
    const int32_t rank = prt_tf_rank(indices);
    if (rank == 1)
        return data;
    if (rank < 0) {
        (void)prt_tf_refuse(n, "the rank of its indices is not known");
        return NULL;
    }
    prt_value *inner = prt_build_slice(&n->b, prt_build_shape(&n->b, data), 0, rank, INT64_MAX, 1);
    prt_value *rows = prt_build_unary(&n->b, PRT_OP_size, indices);
    prt_value *parts[] = { prt_build_reshape(&n->b, rows, 1, (int64_t[]){ 1 }), inner };
    return prt_build_reshape_to(&n->b, data, prt_build_concat(&n->b, 0, 2, parts));
}

poprt_status prt_tf_row_dynamic_partition(prt_tf_call *n)
{
    prt_value *parts = prt_tf_in_i64(n, 1, true);
    prt_value *data = flatten_rows(n, prt_tf_in(n, 0), prt_tf_in(n, 1));
    for (uint32_t k = 0; k < n->n_out; k++)
        prt_tf_set(n, k, prt_build_compress(&n->b, data, BINARY(equal, parts, I64(k)), 0));
    return prt_tf_end(n);
}

/* Later rows replace earlier ones of the same index. Rows that no index names are zero. */
poprt_status prt_tf_row_dynamic_stitch(prt_tf_call *n)
{
    const uint32_t count = n->n_in / 2;
    prt_value **indices = PRT_NEW_N(n->c->arena, prt_value *, count);
    prt_value **data = PRT_NEW_N(n->c->arena, prt_value *, count);
    if (indices == NULL || data == NULL)
        return POPRT_E_NOMEM;
    if (count == 0)
        return prt_tf_refuse(n, "there are no tensors to merge");
    for (uint32_t i = 0; i < count; i++) {
        indices[i] = prt_tf_in_i64(n, i, true);
        data[i] = flatten_rows(n, prt_tf_in(n, count + i), prt_tf_in(n, i));
    }
    prt_value *all = prt_build_concat(&n->b, 0, count, indices);
    prt_value *rows = prt_build_concat(&n->b, 0, count, data);
    prt_value *size = prt_build_reduce(&n->b, PRT_OP_reduce_max, all, NULL, true);
    size = BINARY(max, BINARY(add, size, I64(1)), I64(0));
    prt_value *shape[] = { size,
        prt_build_slice(&n->b, prt_build_shape(&n->b, rows), 0, 1, INT64_MAX, 1) };
    prt_value *zeros = prt_build_expand(&n->b, prt_build_number(&n->b, rows, 0),
        prt_build_concat(&n->b, 0, 2, shape));
    all = prt_build_reshape(&n->b, all, 2, column);
    return prt_tf_end_with(n, prt_build_scatter_nd(&n->b, zeros, all, rows, "none"));
}
