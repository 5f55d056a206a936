/* SPDX-License-Identifier: MIT */
/* fill.c — ConstantOfShape, EyeLike, Range: tensors generated from numbers. */
#include <math.h>

#include "op/share/broadcast.h"
#include "op/share/shape_values.h"

/* ---- ConstantOfShape */

static int32_t fill_type(const prt_constant_of_shape_attrs *a)
{
    return a->value != NULL ? a->value->dtype : PRT_DTYPE_f32;
}

static poprt_status fill_content(prt_infer *c)
{
    const prt_constant_of_shape_attrs *a = c->attrs;
    int64_t values[PRT_CONTENT_MAX];
    const prt_shape *y = &c->out[0];
    const int64_t n = y->rank == 1 ? y->dims[0] : 1;
    if (c->dims == NULL || !prt_infer_wants(c, 0) || y->rank < 0 || y->rank > 1 || n < 0 ||
        n > PRT_CONTENT_MAX || (y->dtype != PRT_DTYPE_i64 && y->dtype != PRT_DTYPE_i32))
        return POPRT_OK;
    const int64_t v = prt_load_i64(y->dtype, a->value->data, 0);
    for (int64_t i = 0; i < n; i++)
        values[i] = prt_dim_is_number(v) ? v : PRT_DIM_UNKNOWN;
    return prt_shape_values_set(c, 0, (uint32_t)n, values);
}

static poprt_status infer_constant_of_shape(prt_infer *c)
{
    const prt_constant_of_shape_attrs *a = c->attrs;
    const int32_t dtype = fill_type(a);
    int64_t dims[PRT_MAX_RANK], rank;
    uint32_t count;
    if (dtype <= 0 || dtype >= PRT_DTYPE_COUNT || (c->def->types[1].set >> dtype & 1) == 0)
        return prt_infer_fail(c, POPRT_E_TYPE, "the attribute value cannot have element type %s",
            prt_dtype_of(dtype)->name);
    if (a->value != NULL && prt_tensor_count(a->value) != 1)
        return prt_infer_fail(c, POPRT_E_SHAPE, "value has %zu elements, not 1",
            prt_tensor_count(a->value));
    if (c->in[0].rank > 1)
        return prt_infer_fail(c, POPRT_E_SHAPE, "the shape has rank %d, not 1", c->in[0].rank);
    if (!prt_infer_ints(c, 0, dims, PRT_MAX_RANK, &count)) {
        if (!prt_shape_values_count(c, 0, &rank))
            rank = PRT_RANK_UNKNOWN;
        if (rank > PRT_MAX_RANK)
            return prt_infer_fail(c, POPRT_E_LIMIT, "the shape has rank %lld; the limit is %d",
                (long long)rank, PRT_MAX_RANK);
        return prt_infer_unranked(c, 0, dtype, (int32_t)rank);
    }
    PRT_TRY(prt_infer_set(c, 0, dtype, (int32_t)count, dims));
    return fill_content(c);
}

static poprt_status eval_constant_of_shape(prt_eval *c)
{
    const prt_constant_of_shape_attrs *a = c->attrs;
    int64_t dims[PRT_MAX_RANK];
    uint32_t rank;
    PRT_TRY(prt_eval_ints(c, 0, dims, PRT_MAX_RANK, &rank));
    PRT_TRY(prt_shape_output(c, 0, fill_type(a), rank, dims));
    prt_tensor *y = c->out[0];
    if (a->value != NULL)
        prt_fill_elements(y->dtype, y->data, 0, a->value->data, 0, prt_tensor_count(y));
    else
        prt_zero_elements(y->dtype, y->data, 0, prt_tensor_count(y));
    return POPRT_OK;
}

/* ---- EyeLike */

enum { ATTR_DTYPE = 0 }; /* index in the operator's row */

static poprt_status infer_eye_like(prt_infer *c)
{
    const prt_eye_like_attrs *a = c->attrs;
    const bool given = prt_attr_given(a, ATTR_DTYPE) || a->dtype != 0;
    if (given &&
        (a->dtype <= 0 || a->dtype >= PRT_DTYPE_COUNT ||
            (c->def->types[1].set >> a->dtype & 1) == 0))
        return prt_infer_fail(c, POPRT_E_TYPE,
            "dtype %lld is not an element type that this operator can produce",
            (long long)a->dtype);
    if (c->in[0].rank >= 0 && c->in[0].rank != 2)
        return prt_infer_fail(c, POPRT_E_SHAPE, "the input has rank %d, not 2", c->in[0].rank);
    const int32_t dtype = given ? (int32_t)a->dtype : c->in[0].dtype;
    if (c->in[0].rank < 0)
        return prt_infer_unranked(c, 0, dtype, 2);
    return prt_infer_like(c, 0, 0, dtype);
}

static poprt_status eval_eye_like(prt_eval *c)
{
    const prt_eye_like_attrs *a = c->attrs;
    prt_tensor *y = c->out[0];
    const int64_t rows = y->dims[0], cols = y->dims[1];
    prt_zero_elements(y->dtype, y->data, 0, prt_tensor_count(y));
    if (a->k <= -rows || a->k >= cols)
        return POPRT_OK;
    for (int64_t i = a->k < 0 ? -a->k : 0; i < rows && i + a->k < cols; i++)
        prt_store_f64(y->dtype, y->data, (size_t)(i * cols + i + a->k), 1.0);
    return POPRT_OK;
}

/* ---- Range */

/* Computes the number of elements of an integer range. Returns false if delta is 0 or there are
 * too many elements. */
static bool count_ints(int64_t start, int64_t limit, int64_t delta, int64_t *out)
{
    const bool up = delta > 0;
    *out = 0;
    if (delta == 0)
        return false;
    if (up ? limit <= start : limit >= start)
        return true;
    const uint64_t span =
        up ? (uint64_t)limit - (uint64_t)start : (uint64_t)start - (uint64_t)limit;
    const uint64_t step = up ? (uint64_t)delta : 0 - (uint64_t)delta;
    const uint64_t n = (span - 1) / step + 1;
    *out = (int64_t)n;
    return n <= INT64_MAX / 16;
}

static bool count_floats(double start, double limit, double delta, int64_t *out)
{
    const double n = ceil((limit - start) / delta);
    *out = 0;
    if (delta == 0.0 || isnan(n) || n > 0x1p58)
        return false;
    *out = n > 0.0 ? (int64_t)n : 0;
    return true;
}

/* Computes the number of elements from real inputs. */
static bool count_of(const prt_tensor *start, const prt_tensor *limit, const prt_tensor *delta,
    int64_t *out)
{
    if (prt_tensor_count(start) != 1 || prt_tensor_count(limit) != 1 ||
        prt_tensor_count(delta) != 1)
        return false;
    const int32_t t = start->dtype;
    if (prt_dtype_is_integer(t))
        return count_ints(prt_load_i64(t, start->data, 0), prt_load_i64(t, limit->data, 0),
            prt_load_i64(t, delta->data, 0), out);
    return count_floats(prt_load_f64(t, start->data, 0), prt_load_f64(t, limit->data, 0),
        prt_load_f64(t, delta->data, 0), out);
}

/* Computes the number of elements as a dim from partially known inputs: integers, with a delta
 * that is a number. */
static int64_t count_dim(const prt_infer *c, int64_t v[3])
{
    for (uint32_t i = 0; i < 3; i++) {
        int64_t values[PRT_CONTENT_MAX];
        uint32_t n;
        if (!prt_shape_values(c, i, values, &n) || n != 1)
            return PRT_DIM_UNKNOWN;
        v[i] = values[0];
    }
    if (!prt_dim_is_number(v[2]) || v[2] == 0)
        return PRT_DIM_UNKNOWN;
    const bool up = v[2] > 0;
    const int64_t span = prt_dim_sub(c->dims, v[up ? 1 : 0], v[up ? 0 : 1]);
    return prt_dim_ceildiv(c->dims, prt_dim_max(c->dims, span, 0), up ? v[2] : -v[2]);
}

static poprt_status infer_range(prt_infer *c)
{
    const int32_t dtype = c->in[0].dtype;
    int64_t count = PRT_DIM_UNKNOWN, values[PRT_CONTENT_MAX] = { 0 };
    for (uint32_t i = 0; i < 3; i++)
        if (c->in[i].rank > 1 ||
            (c->in[i].rank == 1 && prt_dim_is_number(c->in[i].dims[0]) && c->in[i].dims[0] != 1))
            return prt_infer_fail(c, POPRT_E_SHAPE, "input %u is not a scalar", i);
    if (c->value[0] != NULL && c->value[1] != NULL && c->value[2] != NULL) {
        if (!count_of(c->value[0], c->value[1], c->value[2], &count))
            return prt_infer_fail(c, POPRT_E_ARG,
                "delta is 0, or the range is not finite or too large");
        return prt_infer_set(c, 0, dtype, 1, &count);
    }
    if (c->dims == NULL)
        return prt_infer_set(c, 0, dtype, 1, &count);
    int64_t v[3];
    count = count_dim(c, v);
    PRT_TRY(prt_infer_set(c, 0, dtype, 1, &count));
    if (!prt_dim_is_number(count) || count < 0 || count > PRT_CONTENT_MAX)
        return POPRT_OK;
    for (int64_t i = 0; i < count; i++)
        values[i] = prt_dim_add(c->dims, v[0], prt_dim_mul(c->dims, i, v[2]));
    return prt_shape_values_set(c, 0, (uint32_t)count, values);
}

static poprt_status eval_range(prt_eval *c)
{
    const int32_t t = c->in[0]->dtype;
    int64_t count;
    if (!count_of(c->in[0], c->in[1], c->in[2], &count))
        return prt_eval_fail(c, POPRT_E_ARG, "delta is 0, or the range is not finite or too large");
    PRT_TRY(prt_shape_output(c, 0, t, 1, &count));
    void *y = c->out[0]->data;
    const bool whole = prt_dtype_is_integer(t);
    const uint64_t first = whole ? prt_load_u64(t, c->in[0]->data, 0) : 0;
    const uint64_t step = whole ? prt_load_u64(t, c->in[2]->data, 0) : 0;
    const double start = whole ? 0.0 : prt_load_f64(t, c->in[0]->data, 0);
    const double delta = whole ? 0.0 : prt_load_f64(t, c->in[2]->data, 0);
    int64_t numbers[PRT_RUN];
    double reals[PRT_RUN];
    for (size_t at = 0, some; at < (size_t)count; at += some) {
        some = (size_t)count - at < PRT_RUN ? (size_t)count - at : PRT_RUN;
        for (size_t i = 0; whole && i < some; i++)
            numbers[i] = (int64_t)(first + (at + i) * step);
        for (size_t i = 0; !whole && i < some; i++)
            reals[i] = start + (double)(at + i) * delta;
        if (whole)
            prt_write_i64(t, y, at, some, numbers);
        else
            prt_write_f64(t, y, at, some, reals);
    }
    return POPRT_OK;
}

const prt_op_hooks prt_op_constant_of_shape = { .infer = infer_constant_of_shape,
    .eval = eval_constant_of_shape };
const prt_op_hooks prt_op_eye_like = { .infer = infer_eye_like, .eval = eval_eye_like };
const prt_op_hooks prt_op_range = { .infer = infer_range, .eval = eval_range };
