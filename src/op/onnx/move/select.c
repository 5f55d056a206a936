/* SPDX-License-Identifier: MIT */
/*
 * select.c — Compress (keeps the elements where a condition is true) and NonZero (indices of
 * elements that are not zero).
 */
#include "op/share/broadcast.h"
#include "op/share/shape_values.h"

/* ---- Compress */

enum { ATTR_AXIS = 0 }; /* index in the operator's row */

static int64_t count_kept(const prt_tensor *condition, int64_t most)
{
    int64_t kept = 0;
    const size_t n = prt_tensor_count(condition);
    for (size_t i = 0; i < n && (int64_t)i < most; i++)
        kept += prt_load_u64(condition->dtype, condition->data, i) != 0;
    return kept;
}

static poprt_status infer_compress(prt_infer *c)
{
    const prt_compress_attrs *a = c->attrs;
    const prt_shape *x = &c->in[0];
    int64_t dims[PRT_MAX_RANK], whole = PRT_DIM_UNKNOWN, kept = PRT_DIM_UNKNOWN;
    uint32_t axis = 0;
    if (c->in[1].rank > 1)
        return prt_infer_fail(c, POPRT_E_SHAPE, "the condition has rank %d, not 1", c->in[1].rank);
    if (x->rank == 0)
        return prt_infer_fail(c, POPRT_E_SHAPE,
            "the input is a scalar; a rank of at least 1 is required");
    const bool flat = !prt_attr_given(a, ATTR_AXIS);
    if (x->rank > 0) {
        if (!flat)
            PRT_TRY(prt_infer_axis(c, a->axis, x->rank, false, &axis));
        whole = flat ? prt_infer_product(c, x->dims, 0, (uint32_t)x->rank) : x->dims[axis];
    }
    if (c->value[1] != NULL && prt_dim_is_number(whole))
        kept = count_kept(c->value[1], whole);
    if (flat)
        return prt_infer_set(c, 0, x->dtype, 1, &kept);
    memcpy(dims, x->dims, sizeof(dims));
    dims[axis] = kept;
    return prt_infer_set(c, 0, x->dtype, x->rank, dims);
}

static poprt_status eval_compress(prt_eval *c)
{
    const prt_compress_attrs *a = c->attrs;
    const prt_tensor *x = c->in[0], *condition = c->in[1];
    const bool flat = !prt_attr_given(a, ATTR_AXIS);
    int64_t dims[PRT_MAX_RANK];
    uint32_t axis = 0;
    size_t outer = 1, whole = prt_tensor_count(x), inner = 1;
    if (!flat) {
        PRT_TRY(prt_shape_axis(c, a->axis, x->rank, &axis));
        outer = prt_dims_product(x->dims, 0, axis);
        whole = (size_t)x->dims[axis];
        inner = prt_dims_product(x->dims, axis + 1, x->rank);
    }
    memcpy(dims, x->dims, sizeof(dims));
    dims[axis] = count_kept(condition, (int64_t)whole);
    PRT_TRY(prt_shape_output(c, 0, x->dtype, flat ? 1 : x->rank, dims));
    const size_t listed = prt_tensor_count(condition);
    size_t to = 0;
    for (size_t o = 0; o < outer; o++)
        for (size_t i = 0; i < whole && i < listed; i++) {
            if (prt_load_u64(condition->dtype, condition->data, i) == 0)
                continue;
            prt_element_copy(x->dtype, c->out[0]->data, to, x->data, (o * whole + i) * inner,
                inner);
            to += inner;
        }
    return POPRT_OK;
}

/* ---- NonZero */

static bool is_nonzero(const prt_tensor *x, size_t i)
{
    switch (x->dtype) {
    case PRT_DTYPE_string:
        return ((const poprt_string *)x->data)[i].size != 0;
    case PRT_DTYPE_c64:
        return ((const float *)x->data)[2 * i] != 0 || ((const float *)x->data)[2 * i + 1] != 0;
    default:
        return ((const double *)x->data)[2 * i] != 0 || ((const double *)x->data)[2 * i + 1] != 0;
    }
}

/* Marks which of `count` elements from `first` on are not zero. */
static void find_nonzero(const prt_tensor *x, size_t first, size_t count, bool found[PRT_RUN])
{
    int64_t whole[PRT_RUN];
    double reals[PRT_RUN];
    if (prt_dtype_is_float(x->dtype)) {
        prt_read_f64(x->dtype, x->data, first, 1, count, reals);
        for (size_t i = 0; i < count; i++)
            found[i] = reals[i] != 0;
    } else if (prt_dtype_is_integer(x->dtype) || x->dtype == PRT_DTYPE_bool) {
        prt_read_i64(x->dtype, x->data, first, 1, count, whole);
        for (size_t i = 0; i < count; i++)
            found[i] = whole[i] != 0;
    } else {
        for (size_t i = 0; i < count; i++)
            found[i] = is_nonzero(x, first + i);
    }
}

static poprt_status infer_nonzero(prt_infer *c)
{
    const int64_t rank = c->in[0].rank < 0 ? PRT_DIM_UNKNOWN : c->in[0].rank;
    const int64_t dims[2] = { rank, PRT_DIM_UNKNOWN };
    return prt_infer_set(c, 0, PRT_DTYPE_i64, 2, dims);
}

/* Writes the coordinates of the marked elements of a row along the last axis; `at` has the other
 * coordinates. Returns their number. */
static size_t write_coordinates(const bool *found, size_t count, size_t first, uint32_t rank,
    const int64_t *at, int64_t *y, size_t stride)
{
    size_t to = 0;
    int64_t *last = y + (rank - 1) * stride;
    for (size_t i = 0; i < count; i++)
        if (found[i])
            last[to++] = (int64_t)(first + i);
    for (uint32_t k = 0; k + 1 < rank; k++)
        for (size_t i = 0; i < to; i++)
            y[k * stride + i] = at[k];
    return to;
}

static poprt_status eval_nonzero(prt_eval *c)
{
    const prt_tensor *x = c->in[0];
    const size_t n = prt_tensor_count(x);
    int64_t dims[2] = { x->rank, 0 };
    bool found[PRT_RUN];
    for (size_t at = 0, some; at < n; at += some) {
        some = n - at < PRT_RUN ? n - at : PRT_RUN;
        find_nonzero(x, at, some, found);
        for (size_t i = 0; i < some; i++)
            dims[1] += found[i];
    }
    PRT_TRY(prt_shape_output(c, 0, PRT_DTYPE_i64, 2, dims));
    const uint32_t outer = x->rank != 0 ? x->rank - 1 : 0;
    const size_t row = x->rank != 0 ? (size_t)x->dims[outer] : 1;
    int64_t at[PRT_MAX_RANK] = { 0 }, *y = c->out[0]->data;
    for (size_t i = 0, to = 0; x->rank != 0 && i < n; i += row) {
        for (size_t j = 0, some; j < row; j += some) {
            some = row - j < PRT_RUN ? row - j : PRT_RUN;
            find_nonzero(x, i + j, some, found);
            to += write_coordinates(found, some, j, x->rank, at, y + to, (size_t)dims[1]);
        }
        (void)prt_at_next(outer, x->dims, at);
    }
    return POPRT_OK;
}

const prt_op_hooks prt_op_compress = { .infer = infer_compress, .eval = eval_compress };
const prt_op_hooks prt_op_nonzero = { .infer = infer_nonzero, .eval = eval_nonzero };
