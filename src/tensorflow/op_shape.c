/* SPDX-License-Identifier: MIT */
/* op_shape.c — shapes, and operators that move elements without index tensors. */
#include "num/dtype.h"
#include "tensorflow/formulas.h"

/* ---- shapes */

/* Returns the product of a tensor and a matrix if `x` is that product of the tensor's rows, which
 * this shape restores: a dense layer flattens its input. Otherwise returns NULL. */
static prt_value *product_of_rows(prt_tf_call *n, const prt_value *x, const int64_t *dims,
    uint32_t count)
{
    const prt_op *matmul = x->def;
    if (matmul == NULL || !prt_op_is(matmul, PRT_OP_matmul))
        return NULL;
    prt_value *rows = prt_op_input(matmul, 0), *matrix = prt_op_input(matmul, 1);
    if (!prt_op_is(rows->def, PRT_OP_reshape) || prt_tf_rank(rows) != 2 || prt_tf_rank(matrix) != 2)
        return NULL;
    prt_value *y = prt_op_input(rows->def, 0);
    bool same = count > 2 && prt_tf_rank(y) == (int32_t)count &&
        prt_tf_dim(matrix, 1) == dims[count - 1] &&
        prt_tf_dim(rows, 1) == prt_tf_dim(y, count - 1) && prt_tf_dim(rows, 1) != PRT_DIM_UNKNOWN;
    for (uint32_t i = 0; same && i + 1 < count; i++)
        same = dims[i] == prt_tf_dim(y, i) && dims[i] != PRT_DIM_UNKNOWN;
    return same ? BINARY(matmul, y, matrix) : NULL;
}

/* Before opset 14 a 0 in a shape copies a dimension: an empty tensor is made anew then. */
poprt_status prt_tf_row_reshape(prt_tf_call *n)
{
    prt_value *x = prt_tf_in(n, 0), *shape = prt_tf_in_i64(n, 1, true);
    int64_t dims[PRT_MAX_RANK];
    uint32_t count = 0;
    const bool known = x != NULL && prt_tf_ints(n, 1, PRT_MAX_RANK, dims, &count);
    prt_value *product = known ? product_of_rows(n, x, dims, count) : NULL;
    if (product != NULL)
        return prt_tf_end_with(n, product);
    bool empty = known && prt_module_opset(n->c->module, PRT_STR("")) < 14 &&
        prt_tf_dtype(x) != PRT_DTYPE_string;
    uint32_t zeros = 0;
    for (uint32_t i = 0; empty && i < count; i++) {
        empty = prt_dim_is_number(dims[i]) && dims[i] >= 0;
        zeros += dims[i] == 0;
    }
    if (empty && zeros != 0)
        return prt_tf_end_with(n, prt_build_expand(&n->b, prt_build_number(&n->b, x, 0), shape));
    return prt_tf_end_with(n, prt_build_reshape_to(&n->b, x, shape));
}

/* Shape and ShapeN. */
poprt_status prt_tf_row_shape(prt_tf_call *n)
{
    const int32_t dtype = prt_tf_attr_dtype(n, "out_type", PRT_DTYPE_i32);
    for (uint32_t i = 0; i < n->n_in; i++)
        prt_tf_set(n, i, prt_build_cast(&n->b, prt_build_shape(&n->b, prt_tf_in(n, i)), dtype));
    return prt_tf_end(n);
}

poprt_status prt_tf_row_size(prt_tf_call *n)
{
    const int32_t dtype = prt_tf_attr_dtype(n, "out_type", PRT_DTYPE_i32);
    return prt_tf_end_with(n, prt_build_cast(&n->b, UNARY(size, prt_tf_in(n, 0)), dtype));
}

poprt_status prt_tf_row_rank(prt_tf_call *n)
{
    prt_value *x = prt_tf_in(n, 0);
    if (prt_tf_rank(x) >= 0)
        return prt_tf_end_with(n, prt_build_scalar(&n->b, PRT_DTYPE_i32, prt_tf_rank(x)));
    prt_value *rank = UNARY(size, prt_build_shape(&n->b, x));
    return prt_tf_end_with(n, prt_build_cast(&n->b, rank, PRT_DTYPE_i32));
}

poprt_status prt_tf_row_transpose(prt_tf_call *n)
{
    int64_t perm[PRT_MAX_RANK];
    uint32_t rank;
    if (!prt_tf_need_ints(n, 1, "the permutation", PRT_MAX_RANK, perm, &rank))
        return prt_tf_end(n);
    for (uint32_t i = 0; i < rank; i++)
        perm[i] += perm[i] < 0 ? rank : 0;
    return prt_tf_end_with(n, prt_build_transpose(&n->b, prt_tf_in(n, 0), rank, perm));
}

poprt_status prt_tf_row_expand_dims(prt_tf_call *n)
{
    int64_t axis;
    if (!prt_tf_need_int(n, 1, "the axis", &axis))
        return prt_tf_end(n);
    return prt_tf_end_with(n, prt_build_unsqueeze(&n->b, prt_tf_in(n, 0), 1, &axis));
}

/* Without axes every dimension of 1 goes, also one that only a run knows. */
poprt_status prt_tf_row_squeeze(prt_tf_call *n)
{
    const prt_i64s axes = prt_tf_attr_ints(n, "squeeze_dims");
    prt_value *x = prt_tf_in(n, 0);
    int64_t ones[PRT_MAX_RANK];
    uint32_t count = 0;
    if (axes.count != 0)
        return prt_tf_end_with(n, prt_build_squeeze(&n->b, x, axes.count, axes.data));
    for (int32_t i = 0; i < prt_tf_rank(x); i++) {
        if (!prt_dim_is_number(prt_tf_dim(x, (uint32_t)i)))
            return prt_tf_end_with(n, UNARY(squeeze, x));
        if (prt_tf_dim(x, (uint32_t)i) == 1)
            ones[count++] = i;
    }
    if (prt_tf_rank(x) < 0)
        return prt_tf_end_with(n, UNARY(squeeze, x));
    return prt_tf_end_with(n, prt_build_squeeze(&n->b, x, count, ones));
}

/* ---- joining and splitting */

/* Reads inputs [from, from + count). Returns NULL after a failure. */
static prt_value **values_of(prt_tf_call *n, uint32_t from, uint32_t count)
{
    prt_value **values = PRT_NEW_N(n->c->arena, prt_value *, count);
    if (values == NULL)
        n->status = POPRT_E_NOMEM;
    for (uint32_t i = 0; values != NULL && i < count; i++)
        if ((values[i] = prt_tf_in(n, from + i)) == NULL)
            return NULL;
    return values;
}

/* The axis of Concat is its first input, that of ConcatV2 the last. */
poprt_status prt_tf_row_concat(prt_tf_call *n)
{
    const uint32_t first = strcmp(n->node->row->name, "Concat") == 0, count = n->n_in - 1;
    int64_t axis;
    if (n->n_in < 2)
        return prt_tf_refuse(n, "there are no tensors to concatenate");
    prt_value **values = values_of(n, first, count);
    if (values == NULL || !prt_tf_need_int(n, first != 0 ? 0 : count, "the axis", &axis))
        return prt_tf_end(n);
    return prt_tf_end_with(n, prt_build_concat(&n->b, axis, count, values));
}

poprt_status prt_tf_row_pack(prt_tf_call *n)
{
    const int64_t axis = prt_tf_attr_i64(n, "axis", 0);
    prt_value **values = values_of(n, 0, n->n_in);
    if (n->n_in == 0)
        return prt_tf_refuse(n, "there are no tensors to stack");
    for (uint32_t i = 0; values != NULL && i < n->n_in; i++)
        values[i] = prt_build_unsqueeze(&n->b, values[i], 1, &axis);
    return values == NULL ? prt_tf_end(n)
                          : prt_tf_end_with(n, prt_build_concat(&n->b, axis, n->n_in, values));
}

/* Splits an axis into equal parts, one for each output, or by `sizes`. */
static prt_op *split(prt_tf_call *n, prt_value *x, int64_t axis, prt_value *sizes)
{
    prt_split_attrs attrs = PRT_ATTRS_OF(split);
    if (x == NULL || n->b.status != POPRT_OK)
        return NULL;
    PRT_ATTR_SET(attrs, split, axis, axis);
    if (sizes == NULL)
        PRT_ATTR_SET(attrs, split, num_outputs, n->n_out);
    return prt_build_op_n(&n->b, PRT_OP_split, &attrs, sizes != NULL ? 2 : 1,
        (prt_value *[]){ x, sizes }, n->n_out);
}

/* The elements of a vector are gathered, since they may be sizes. */
poprt_status prt_tf_row_unpack(prt_tf_call *n)
{
    prt_value *x = prt_tf_in(n, 0);
    const int64_t axis = prt_tf_attr_i64(n, "axis", 0);
    if (prt_tf_rank(x) == 1 || n->n_out == 1) {
        for (uint32_t k = 0; k < n->n_out; k++)
            prt_tf_set(n, k, prt_build_gather(&n->b, x, I64(k), axis));
        return prt_tf_end(n);
    }
    prt_op *op = n->n_out != 0 ? split(n, x, axis, NULL) : NULL;
    for (uint32_t k = 0; op != NULL && k < n->n_out; k++)
        prt_tf_set(n, k, prt_build_squeeze(&n->b, &op->out[k], 1, &axis));
    return prt_tf_end(n);
}

static poprt_status set_parts(prt_tf_call *n, prt_value *x, int64_t axis, prt_value *sizes)
{
    if (n->n_out == 1)
        return prt_tf_end_with(n, x);
    prt_op *op = n->n_out != 0 ? split(n, x, axis, sizes) : NULL;
    for (uint32_t k = 0; op != NULL && k < n->n_out; k++)
        prt_tf_set(n, k, &op->out[k]);
    return prt_tf_end(n);
}

poprt_status prt_tf_row_split(prt_tf_call *n)
{
    int64_t axis;
    if (!prt_tf_need_int(n, 0, "the axis", &axis))
        return prt_tf_end(n);
    return set_parts(n, prt_tf_in(n, 1), axis, NULL);
}

/* One size may be -1: it is what the others leave of the axis. */
poprt_status prt_tf_row_split_v(prt_tf_call *n)
{
    prt_value *x = prt_tf_in(n, 0), *sizes = prt_tf_in_i64(n, 1, true), *zero = I64(0);
    int64_t axis;
    if (!prt_tf_need_int(n, 2, "the axis", &axis))
        return prt_tf_end(n);
    prt_value *given = prt_build_where(&n->b, BINARY(less, sizes, zero), zero, sizes);
    prt_value *total = prt_build_reduce(&n->b, PRT_OP_reduce_sum, given, NULL, true);
    prt_value *rest = BINARY(sub, prt_build_size_of(&n->b, x, axis), total);
    sizes = prt_build_where(&n->b, BINARY(less, sizes, zero), rest, sizes);
    return set_parts(n, x, axis, sizes);
}

/* ---- padding */

/* The pads of ONNX: those before each axis, then those behind each axis. */
static prt_value *pads_of(prt_tf_call *n, uint32_t input)
{
    static const int64_t perm[] = { 1, 0 };
    prt_value *pads = prt_tf_in_i64(n, input, false);
    pads = prt_build_transpose(&n->b, pads, 2, perm);
    return prt_build_reshape(&n->b, pads, 1, (int64_t[]){ -1 });
}

poprt_status prt_tf_row_pad(prt_tf_call *n)
{
    prt_value *in[] = { prt_tf_in(n, 0), pads_of(n, 1), NULL };
    if (n->n_in > 2)
        in[2] = prt_build_reshape(&n->b, prt_tf_in(n, 2), 0, NULL);
    return prt_tf_end_with(n, prt_build_op(&n->b, PRT_OP_pad, NULL, n->n_in > 2 ? 3 : 2, in));
}

/* ONNX has no mode that repeats the edge, so the parts are sliced off and reversed. */
static prt_value *pad_symmetric(prt_tf_call *n, prt_value *x, uint32_t rank, const int64_t *pads)
{
    for (uint32_t i = 0; i < rank; i++) {
        const int64_t before = pads[2 * i], after = pads[2 * i + 1];
        prt_value *parts[3];
        uint32_t count = 0;
        if (before > 0)
            parts[count++] = prt_build_slice(&n->b, x, i, before - 1, -INT64_MAX, -1);
        parts[count++] = x;
        if (after > 0)
            parts[count++] = prt_build_slice(&n->b, x, i, -1, -after - 1, -1);
        x = prt_build_concat(&n->b, 0 + i, count, parts);
    }
    return x;
}

poprt_status prt_tf_row_mirror_pad(prt_tf_call *n)
{
    prt_value *x = prt_tf_in(n, 0);
    if (prt_tf_attr_is(n, "mode", "", "SYMMETRIC")) {
        int64_t pads[2 * PRT_MAX_RANK];
        uint32_t count;
        if (!prt_tf_need_ints(n, 1, "the padding", 2 * PRT_MAX_RANK, pads, &count))
            return prt_tf_end(n);
        return prt_tf_end_with(n, pad_symmetric(n, x, count / 2, pads));
    }
    prt_pad_attrs attrs = PRT_ATTRS_OF(pad);
    PRT_ATTR_SET(attrs, pad, mode, PRT_STR("reflect"));
    prt_value *in[] = { x, pads_of(n, 1) };
    return prt_tf_end_with(n, prt_build_op(&n->b, PRT_OP_pad, &attrs, 2, in));
}

/* ---- repeating and filling */

poprt_status prt_tf_row_tile(prt_tf_call *n)
{
    return prt_tf_end_with(n, BINARY(tile, prt_tf_in(n, 0), prt_tf_in_i64(n, 1, true)));
}

poprt_status prt_tf_row_expand(prt_tf_call *n)
{
    return prt_tf_end_with(n, prt_build_expand(&n->b, prt_tf_in(n, 0), prt_tf_in_i64(n, 1, true)));
}

poprt_status prt_tf_row_fill(prt_tf_call *n)
{
    return prt_tf_end_with(n, prt_build_expand(&n->b, prt_tf_in(n, 1), prt_tf_in_i64(n, 0, true)));
}

/* ZerosLike, and OnesLike, whose row names an operator. The zero of strings is empty. */
poprt_status prt_tf_row_fill_like(prt_tf_call *n)
{
    prt_value *x = prt_tf_in(n, 0);
    prt_value *value = prt_build_number(&n->b, x, n->node->row->id != PRT_OP_NONE);
    return prt_tf_end_with(n, prt_build_expand(&n->b, value, prt_build_shape(&n->b, x)));
}

/* Puts ones before a shape, up to `count` dimensions. */
static prt_value *lengthen(prt_tf_call *n, prt_value *shape, int64_t count)
{
    int64_t ones[PRT_MAX_RANK];
    const int64_t missing = count - prt_tf_dim(shape, 0);
    for (int64_t i = 0; i < missing; i++)
        ones[i] = 1;
    prt_value *parts[] = { missing > 0 ? prt_build_i64s(&n->b, (uint32_t)missing, ones) : shape,
        shape };
    return prt_build_concat(&n->b, 0, missing > 0 ? 2 : 1, parts);
}

poprt_status prt_tf_row_broadcast_args(prt_tf_call *n)
{
    const int32_t dtype = prt_tf_dtype(prt_tf_in(n, 0));
    prt_value *a = prt_tf_in_i64(n, 0, true), *b = prt_tf_in_i64(n, 1, true);
    const int64_t na = prt_tf_dim(a, 0), nb = prt_tf_dim(b, 0), count = na > nb ? na : nb;
    if (!prt_dim_is_number(na) || !prt_dim_is_number(nb) || count > PRT_MAX_RANK)
        return prt_tf_refuse(n, "the lengths of the shapes are not known");
    a = lengthen(n, a, count);
    b = lengthen(n, b, count);
    prt_value *both = prt_build_where(&n->b, BINARY(equal, a, I64(1)), b, a);
    return prt_tf_end_with(n, prt_build_cast(&n->b, both, dtype));
}

/* The axes of the broadcast shape along which each input has a single cell. */
poprt_status prt_tf_row_broadcast_gradient_args(prt_tf_call *n)
{
    int64_t dims[2][PRT_MAX_RANK];
    uint32_t rank[2];
    const int32_t dtype = prt_tf_attr_dtype(n, "T", PRT_DTYPE_i32);
    for (uint32_t i = 0; i < 2; i++)
        if (!prt_tf_need_ints(n, i, "the shape", PRT_MAX_RANK, dims[i], &rank[i]))
            return prt_tf_end(n);
    const uint32_t most = rank[0] > rank[1] ? rank[0] : rank[1];
    const bool same = rank[0] == rank[1] && memcmp(dims[0], dims[1], most * sizeof(int64_t)) == 0;
    for (uint32_t i = 0; i < 2; i++) {
        int64_t axes[PRT_MAX_RANK];
        uint32_t count = 0;
        for (uint32_t k = 0; !same && k < most; k++)
            if (k + rank[i] < most || dims[i][k + rank[i] - most] == 1)
                axes[count++] = k;
        prt_tf_set(n, i, prt_build_cast(&n->b, prt_build_i64s(&n->b, count, axes), dtype));
    }
    return prt_tf_end(n);
}

/* Where each input of a Concat begins: the sizes of the earlier ones along input 0, the axis. */
poprt_status prt_tf_row_concat_offset(prt_tf_call *n)
{
    prt_value *axis = prt_build_reshape(&n->b, prt_tf_in_i64(n, 0, false), 0, NULL), *zero = I64(0);
    prt_value *shape = prt_tf_in_i64(n, 1, true);
    prt_value *range = prt_build_range(&n->b, zero, UNARY(size, shape), I64(1));
    prt_value *here = BINARY(equal, range, axis), *offset = BINARY(mul, range, zero);
    for (uint32_t i = 1; i < n->n_in; i++) {
        prt_tf_set(n, i - 1, prt_build_cast_as(&n->b, offset, prt_tf_in(n, i)));
        shape = prt_build_where(&n->b, here, prt_tf_in_i64(n, i, true), zero);
        offset = BINARY(add, offset, shape);
    }
    return prt_tf_end(n);
}

poprt_status prt_tf_row_range(prt_tf_call *n)
{
    return prt_tf_end_with(n,
        prt_build_range(&n->b, prt_tf_in(n, 0), prt_tf_in(n, 1), prt_tf_in(n, 2)));
}

/* The last of several values is `stop` itself. */
poprt_status prt_tf_row_lin_space(prt_tf_call *n)
{
    prt_value *start = prt_tf_in(n, 0), *stop = prt_tf_in(n, 1), *one = I64(1);
    prt_value *num = prt_build_reshape(&n->b, prt_tf_in_i64(n, 2, false), 0, NULL);
    prt_value *last = BINARY(sub, num, one), *k = prt_build_range(&n->b, I64(0), num, one);
    prt_value *many = prt_build_cast_as(&n->b, BINARY(max, last, one), start);
    prt_value *step = BINARY(div, BINARY(sub, stop, start), many);
    prt_value *y = BINARY(add, start, BINARY(mul, prt_build_cast_as(&n->b, k, start), step));
    prt_value *ends = BINARY(and, BINARY(equal, k, last), BINARY(greater, last, I64(0)));
    return prt_tf_end_with(n, prt_build_where(&n->b, ends, stop, y));
}

/* ---- reversing and rolling */

poprt_status prt_tf_row_reverse(prt_tf_call *n)
{
    int64_t axes[PRT_MAX_RANK], starts[PRT_MAX_RANK], ends[PRT_MAX_RANK];
    uint32_t count;
    prt_value *x = prt_tf_in(n, 0);
    if (!prt_tf_need_ints(n, 1, "the axes", PRT_MAX_RANK, axes, &count))
        return prt_tf_end(n);
    if (count == 0)
        return prt_tf_end_with(n, x);
    for (uint32_t i = 0; i < count; i++) {
        starts[i] = -1;
        ends[i] = -INT64_MAX;
    }
    prt_value *steps = prt_build_i64s(&n->b, count, starts);
    return prt_tf_end_with(n,
        prt_build_slice_by(&n->b, x, steps, prt_build_i64s(&n->b, count, ends),
            prt_build_i64s(&n->b, count, axes), steps));
}

/* ONNX knows the axes 0 and 1 only. */
poprt_status prt_tf_row_reverse_sequence(prt_tf_call *n)
{
    const int64_t time = prt_tf_attr_i64(n, "seq_dim", 0),
                  batch = prt_tf_attr_i64(n, "batch_dim", 0);
    prt_value *x = prt_tf_in(n, 0);
    int64_t perm[PRT_MAX_RANK] = { batch, time }, back[PRT_MAX_RANK];
    prt_reverse_sequence_attrs attrs = PRT_ATTRS_OF(reverse_sequence);
    const bool moves = time + batch != 1 || time < 0 || batch < 0;
    uint32_t rank = 0;
    if (moves) {
        if (prt_tf_need_rank(n, 0) < 0)
            return prt_tf_end(n);
        rank = (uint32_t)prt_tf_rank(x);
        if (time < 0 || batch < 0 || time >= rank || batch >= rank || time == batch)
            return prt_tf_refuse(n, "the axes %lld and %lld do not fit rank %u", (long long)time,
                (long long)batch, rank);
        uint32_t at = 2;
        for (uint32_t i = 0; i < rank; i++)
            if (i != time && i != batch)
                perm[at++] = i;
        for (uint32_t i = 0; i < rank; i++)
            back[perm[i]] = i;
        x = prt_build_transpose(&n->b, x, rank, perm);
    }
    PRT_ATTR_SET(attrs, reverse_sequence, batch_axis, moves ? 0 : batch);
    PRT_ATTR_SET(attrs, reverse_sequence, time_axis, moves ? 1 : time);
    prt_value *in[] = { x, prt_tf_in_i64(n, 1, false) };
    prt_value *y = prt_build_op(&n->b, PRT_OP_reverse_sequence, &attrs, 2, in);
    return prt_tf_end_with(n, moves ? prt_build_transpose(&n->b, y, rank, back) : y);
}

/* Rolls one axis: by two slices where its size and the shift are known, else by indices. */
static prt_value *roll(prt_tf_call *n, prt_value *x, int64_t axis, prt_value *shift)
{
    const int32_t rank = prt_tf_rank(x);
    const int64_t dim =
        rank >= 0 ? prt_tf_dim(x, (uint32_t)(axis < 0 ? axis + rank : axis)) : PRT_DIM_UNKNOWN;
    int64_t by;
    uint32_t count;
    if (prt_dim_is_number(dim) && prt_tf_value_ints(n, shift, 1, &by, &count) && count == 1 &&
        prt_dim_is_number(by)) {
        by = dim != 0 ? (by % dim + dim) % dim : 0;
        if (by == 0)
            return x;
        prt_value *parts[] = { prt_build_slice(&n->b, x, axis, dim - by, INT64_MAX, 1),
            prt_build_slice(&n->b, x, axis, 0, dim - by, 1) };
        return prt_build_concat(&n->b, axis, 2, parts);
    }
    prt_value *size = prt_build_gather(&n->b, prt_build_shape(&n->b, x), I64(axis), 0);
    prt_value *from = prt_build_range(&n->b, I64(0), size, I64(1));
    from = BINARY(mod, BINARY(sub, from, shift), size);
    return prt_build_gather(&n->b, x, from, axis);
}

poprt_status prt_tf_row_roll(prt_tf_call *n)
{
    prt_value *x = prt_tf_in(n, 0), *shifts = prt_tf_in_i64(n, 1, true);
    int64_t axes[PRT_MAX_RANK], by[PRT_MAX_RANK];
    uint32_t count, n_by;
    if (!prt_tf_need_ints(n, 2, "the axes", PRT_MAX_RANK, axes, &count))
        return prt_tf_end(n);
    const bool known = prt_tf_ints(n, 1, PRT_MAX_RANK, by, &n_by) && n_by == count;
    for (uint32_t i = 0; i < count; i++)
        x = roll(n, x, axes[i],
            known && prt_dim_is_number(by[i]) ? I64(by[i])
                                              : prt_build_gather(&n->b, shifts, I64(i), 0));
    return prt_tf_end_with(n, x);
}
