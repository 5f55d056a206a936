/* SPDX-License-Identifier: MIT */
/*
 * slice.c — Slice: a range with a step along some axes.
 *
 * Bounds may be any 64-bit number, and exporters use the lowest one for "to the front" with
 * negative steps. Bounds are therefore read as numbers first, and as dims only if they are
 * expressions.
 */
#include "op/alias.h"
#include "op/share/shape_values.h"

/* The range of one axis: numbers, expressions or PRT_DIM_UNKNOWN. */
typedef struct range {
    int64_t start, end, step;
} range;

static int64_t clamp(int64_t v, int64_t low, int64_t high)
{
    return v < low ? low : v > high ? high : v;
}

/* Computes the first index and the number of elements of a range whose step is not 0. */
static void range_of(const range *r, int64_t dim, int64_t *first, int64_t *count)
{
    *first = *count = 0;
    if (dim == 0)
        return;
    const bool back = r->step < 0;
    const int64_t start = r->start < 0 ? r->start + dim : r->start;
    const int64_t end = r->end < 0 ? r->end + dim : r->end;
    const int64_t from = clamp(start, 0, back ? dim - 1 : dim);
    const int64_t to = clamp(end, back ? -1 : 0, back ? dim - 1 : dim);
    const int64_t span = back ? from - to : to - from;
    const uint64_t size = back ? 0 - (uint64_t)r->step : (uint64_t)r->step;
    *first = from;
    *count = span <= 0 ? 0 : (int64_t)(((uint64_t)span - 1) / size + 1);
}

/* ---- for the infer hook */

/* Reads up to PRT_MAX_RANK integers of input i. A number too low for a dim becomes the lowest
 * dim. */
static bool read_bounds(const prt_infer *c, uint32_t i, int64_t *to, uint32_t *count)
{
    if (!prt_infer_ints(c, i, to, PRT_MAX_RANK, count))
        return false;
    const prt_tensor *t = c->value[i];
    for (uint32_t k = 0; t != NULL && k < *count; k++)
        if (to[k] == PRT_DIM_UNKNOWN)
            to[k] = PRT_DIM_EXPR + 1;
    return true;
}

/* Clamps a bound to [0, dim], counted from the front, for positive steps. */
static int64_t bound_of(prt_dims *dims, int64_t bound, int64_t dim)
{
    /* beyond any dim of a model; exporters write such bounds for "all" */
    const int64_t far = (int64_t)1 << 31;
    if (bound == dim || (prt_dim_is_number(bound) && bound >= far - 1))
        return dim;
    if (prt_dim_is_number(bound) && bound < -far)
        return 0;
    return prt_dim_bound(dims, bound, dim);
}

/* Returns the number of elements as a dim. */
static int64_t count_of(prt_dims *dims, const range *r, int64_t dim)
{
    if (!prt_dim_is_number(r->step))
        return PRT_DIM_UNKNOWN;
    if (prt_dim_is_number(r->start) && prt_dim_is_number(r->end) && prt_dim_is_number(dim)) {
        int64_t first, count;
        range_of(r, dim, &first, &count);
        return count;
    }
    if (dims == NULL)
        return PRT_DIM_UNKNOWN;
    if (r->step < 0) {
        const bool whole = (r->start == -1 || r->start >= INT32_MAX) && prt_dim_is_number(r->end) &&
            r->end <= -INT32_MAX;
        return whole ? prt_dim_ceildiv(dims, dim, -r->step) : PRT_DIM_UNKNOWN;
    }
    const int64_t start = bound_of(dims, r->start, dim), end = bound_of(dims, r->end, dim);
    if (start == 0)
        return prt_dim_ceildiv(dims, end, r->step);
    if (end == dim && prt_dim_is_number(r->start) && r->start < 0) /* the last -start elements */
        return prt_dim_ceildiv(dims, prt_dim_min(dims, dim, -r->start), r->step);
    const int64_t span = prt_dim_max(dims, prt_dim_sub(dims, end, start), 0);
    return prt_dim_ceildiv(dims, span, r->step);
}

/* Reads the ranges by axis of the data; axes that are not sliced are not changed. */
static poprt_status read_ranges(const prt_infer *c, range *ranges, uint32_t *set, bool *known)
{
    int64_t v[4][PRT_MAX_RANK];
    uint32_t n[4] = { 0 }, count = PRT_MAX_RANK + 1;
    bool have[4];
    *set = 0;
    *known = true;
    for (uint32_t i = 0; i < 4; i++) {
        have[i] = read_bounds(c, i + 1, v[i], &n[i]);
        if (have[i] && count <= PRT_MAX_RANK && n[i] != count)
            return prt_infer_fail(c, POPRT_E_SHAPE,
                "starts, ends, axes and steps differ in size: %u and %u elements", count, n[i]);
        count = have[i] ? n[i] : count;
    }
    if (count > PRT_MAX_RANK || (prt_infer_has(c, 3) && !have[2])) {
        *known = false;
        return POPRT_OK;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t axis;
        const int64_t given = have[2] ? v[2][i] : (int64_t)i;
        PRT_TRY(prt_infer_axis(c, given, c->in[0].rank, false, &axis));
        if ((*set >> axis & 1) != 0)
            return prt_infer_fail(c, POPRT_E_SHAPE, "axes names axis %u twice", axis);
        *set |= 1u << axis;
        const int64_t step = prt_infer_has(c, 4) ? PRT_DIM_UNKNOWN : 1;
        ranges[axis] = (range){ .start = have[0] ? v[0][i] : PRT_DIM_UNKNOWN,
            .end = have[1] ? v[1][i] : PRT_DIM_UNKNOWN,
            .step = have[3] ? v[3][i] : step };
        if (ranges[axis].step == 0)
            return prt_infer_fail(c, POPRT_E_ARG, "the step of axis %u is 0, which is not allowed",
                axis);
    }
    return POPRT_OK;
}

static poprt_status slice_content(prt_infer *c, const range *r)
{
    int64_t from[PRT_CONTENT_MAX], to[PRT_CONTENT_MAX], first, count;
    uint32_t n;
    if (!prt_dim_is_number(r->start) || !prt_dim_is_number(r->end) || !prt_dim_is_number(r->step) ||
        !prt_shape_values(c, 0, from, &n))
        return POPRT_OK;
    range_of(r, n, &first, &count);
    for (int64_t i = 0; i < count; i++)
        to[i] = from[first + i * r->step];
    return prt_shape_values_set(c, 0, (uint32_t)count, to);
}

static poprt_status infer(prt_infer *c)
{
    const prt_shape *x = &c->in[0];
    range ranges[PRT_MAX_RANK];
    uint32_t set;
    bool known;
    if (x->rank < 0)
        return prt_infer_unranked(c, 0, x->dtype, PRT_RANK_UNKNOWN);
    PRT_TRY(read_ranges(c, ranges, &set, &known));
    if (!known)
        return prt_infer_unranked(c, 0, x->dtype, x->rank);
    int64_t dims[PRT_MAX_RANK];
    for (int32_t i = 0; i < x->rank; i++)
        dims[i] = (set >> i & 1) != 0 ? count_of(c->dims, &ranges[i], x->dims[i]) : x->dims[i];
    PRT_TRY(prt_infer_set(c, 0, x->dtype, x->rank, dims));
    return x->rank == 1 && set != 0 ? slice_content(c, &ranges[0]) : prt_shape_values_pass(c);
}

/* ---- for the eval hook */

/* Returns integer `k` of input i, or `absent` if the input is absent. */
static int64_t read_one(const prt_eval *c, uint32_t i, uint32_t k, int64_t absent)
{
    return prt_eval_has(c, i) ? prt_load_i64(c->in[i]->dtype, c->in[i]->data, k) : absent;
}

static poprt_status eval(prt_eval *c)
{
    const prt_tensor *x = c->in[0];
    const size_t n = prt_tensor_count(c->in[1]);
    for (uint32_t i = 2; i < 5; i++)
        if (prt_eval_has(c, i) && prt_tensor_count(c->in[i]) != n)
            return prt_eval_fail(c, POPRT_E_SHAPE, "starts has %zu elements, but input %u has %zu",
                n, i, prt_tensor_count(c->in[i]));
    prt_view v = { .rank = x->rank };
    for (uint32_t i = 0; i < x->rank; i++) {
        v.dims[i] = x->dims[i];
        v.stride[i] = (int64_t)prt_dims_product(x->dims, i + 1, x->rank);
    }
    for (uint32_t i = 0, seen = 0; i < n; i++) {
        uint32_t axis;
        int64_t first;
        PRT_TRY(prt_shape_axis(c, read_one(c, 3, i, i), x->rank, &axis));
        if ((seen >> axis & 1) != 0)
            return prt_eval_fail(c, POPRT_E_SHAPE, "axes names axis %u twice", axis);
        seen |= 1u << axis;
        const range r = { .start = read_one(c, 1, i, 0),
            .end = read_one(c, 2, i, 0),
            .step = read_one(c, 4, i, 1) };
        if (r.step == 0)
            return prt_eval_fail(c, POPRT_E_ARG, "the step of axis %u is 0, which is not allowed",
                axis);
        range_of(&r, x->dims[axis], &first, &v.dims[axis]);
        const int64_t stride = (int64_t)prt_dims_product(x->dims, axis + 1, x->rank);
        v.first += first * stride;
        v.stride[axis] = v.dims[axis] > 1 ? stride * r.step : stride;
    }
    PRT_TRY(prt_shape_output(c, 0, x->dtype, x->rank, v.dims));
    prt_view_eval(c, &v);
    return POPRT_OK;
}

/* The hook `view`: the slice is contiguous, its inputs are known and its steps are 1. */
static bool is_view(const prt_view_query *q, size_t *element)
{
    const prt_tensor *x = q->in[0];
    int64_t first[PRT_MAX_RANK] = { 0 };
    if (!prt_view_has(q, 1) || !prt_view_has(q, 2))
        return false;
    const size_t n = prt_tensor_count(q->in[1]);
    for (uint32_t i = 1; i < 5; i++)
        if (prt_view_is_unknown(q, i) || (prt_view_has(q, i) && prt_tensor_count(q->in[i]) != n))
            return false;
    for (size_t k = 0; k < n; k++) {
        int64_t axis = prt_view_integer(q, 3, k, (int64_t)k);
        axis += axis < 0 ? x->rank : 0;
        if (axis < 0 || axis >= (int64_t)x->rank || prt_view_integer(q, 4, k, 1) != 1)
            return false;
        const int64_t dim = x->dims[axis], start = prt_view_integer(q, 1, k, 0);
        first[axis] = start < -dim ? 0 : clamp(start < 0 ? start + dim : start, 0, dim);
    }
    return prt_view_box(q, first, element);
}

const prt_op_hooks prt_op_slice = { .infer = infer, .eval = eval, .view = is_view };
