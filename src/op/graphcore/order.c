/* SPDX-License-Identifier: MIT */
/*
 * order.c — Sort, ReduceMedian, Bucketize and Histogram of ai.graphcore. NaN sorts above all
 * numbers; equal elements keep their order. Indices are int32.
 */
#include <math.h>

#include "op/share/shape_values.h"
#include "op/share/order.h"
#include "op/share/topk.h"

static poprt_status fits_i32(const prt_eval *c, size_t n)
{
    return n <= INT32_MAX
        ? POPRT_OK
        : prt_eval_fail(c, POPRT_E_LIMIT, "%zu elements are too many for int32 indices", n);
}

/* ---- Sort */

static poprt_status infer_sort(prt_infer *c)
{
    const prt_gc_sort_attrs *a = c->attrs;
    uint32_t axis;
    if (c->in[0].rank >= 0)
        PRT_TRY(prt_infer_axis(c, a->axis, c->in[0].rank, false, &axis));
    PRT_TRY(prt_infer_like(c, 0, 0, c->in[0].dtype));
    return prt_infer_like(c, 1, 0, PRT_DTYPE_i32);
}

static poprt_status eval_sort(prt_eval *c)
{
    const prt_gc_sort_attrs *a = c->attrs;
    uint32_t axis;
    PRT_TRY(prt_shape_axis(c, a->axis, c->in[0]->rank, &axis));
    PRT_TRY(fits_i32(c, (size_t)c->in[0]->dims[axis]));
    return prt_topk_run(c, axis, c->in[0]->dims[axis], a->descending != 0);
}

const prt_op_hooks prt_op_gc_sort = { .infer = infer_sort, .eval = eval_sort };

/* ---- ReduceMedian: the lower median, and its index among the reduced elements */

static poprt_status median_axes(const prt_infer *c, uint32_t rank, uint32_t *set)
{
    const prt_gc_reduce_median_attrs *a = c->attrs;
    *set = (1u << rank) - 1;
    if (a->axes.count == 0 && !prt_attr_given(a, 0))
        return POPRT_OK;
    if (!prt_shape_axes(a->axes.data, a->axes.count, rank, set) ||
        (uint32_t)__builtin_popcount(*set) != a->axes.count)
        return prt_infer_fail(c, POPRT_E_SHAPE, "an axis is repeated or outside [-%u, %u)", rank,
            rank);
    return POPRT_OK;
}

static poprt_status infer_median(prt_infer *c)
{
    const prt_gc_reduce_median_attrs *a = c->attrs;
    const prt_shape *x = &c->in[0];
    int64_t dims[PRT_MAX_RANK];
    int32_t rank = 0;
    uint32_t set;
    if (x->rank < 0) {
        PRT_TRY(prt_infer_unranked(c, 0, x->dtype, PRT_RANK_UNKNOWN));
        return prt_infer_unranked(c, 1, PRT_DTYPE_i32, PRT_RANK_UNKNOWN);
    }
    PRT_TRY(median_axes(c, (uint32_t)x->rank, &set));
    for (int32_t i = 0; i < x->rank; i++) {
        if ((set >> i & 1) == 0)
            dims[rank++] = x->dims[i];
        else if (a->keepdims != 0)
            dims[rank++] = 1;
    }
    PRT_TRY(prt_infer_set(c, 0, x->dtype, rank, dims));
    return prt_infer_set(c, 1, PRT_DTYPE_i32, rank, dims);
}

/* Computes the offsets of `count` positions along the axes in `set` (`inside`), or along all
   others. */
static void offsets(const prt_tensor *x, uint32_t set, bool inside, size_t count, size_t *to)
{
    int64_t at[PRT_MAX_RANK] = { 0 }, dims[PRT_MAX_RANK];
    for (uint32_t i = 0; i < x->rank; i++)
        dims[i] = ((set >> i & 1) != 0) == inside ? x->dims[i] : 1;
    for (size_t k = 0; k < count; k++) {
        to[k] = 0;
        for (uint32_t i = 0; i < x->rank; i++)
            to[k] = to[k] * (size_t)x->dims[i] + (size_t)at[i];
        (void)prt_at_next(x->rank, dims, at);
    }
}

static int compare(const void *user, int64_t a, int64_t b)
{
    const uint64_t *keys = user;
    return (keys[a] > keys[b]) - (keys[a] < keys[b]);
}

static uint32_t reduced_axes(const prt_gc_reduce_median_attrs *a, uint32_t rank)
{
    uint32_t set = (1u << rank) - 1;
    if (a->axes.count != 0 || prt_attr_given(a, 0))
        (void)prt_shape_axes(a->axes.data, a->axes.count, rank, &set);
    return set;
}

static poprt_status eval_median(prt_eval *c)
{
    const prt_tensor *x = c->in[0];
    const uint32_t set = reduced_axes(c->attrs, x->rank);
    size_t n = 1, outer = 1;
    for (uint32_t i = 0; i < x->rank; i++)
        *((set >> i & 1) != 0 ? &n : &outer) *= (size_t)x->dims[i];
    PRT_TRY(fits_i32(c, n));
    if (n == 0 && outer != 0)
        return prt_eval_fail(c, POPRT_E_SHAPE, "a median needs at least one element");
    size_t *inside = prt_eval_scratch(c, n + 1, sizeof(size_t));
    size_t *outside = prt_eval_scratch(c, outer + 1, sizeof(size_t));
    uint64_t *keys = prt_eval_scratch(c, n + 1, sizeof(uint64_t));
    int64_t *order = prt_eval_scratch(c, n + 1, 2 * sizeof(int64_t));
    if (inside == NULL || outside == NULL || keys == NULL || order == NULL)
        return POPRT_E_NOMEM;
    offsets(x, set, true, n, inside);
    offsets(x, set, false, outer, outside);
    for (size_t o = 0; o < outer; o++) {
        for (size_t k = 0; k < n; k++) {
            keys[k] = prt_order_key(x->dtype, x->data, outside[o] + inside[k]);
            order[k] = (int64_t)k;
        }
        prt_order_sort(order, order + n, n, compare, keys);
        const int64_t middle = order[(n - 1) / 2];
        if (prt_eval_wants(c, 0))
            prt_element_copy(x->dtype, c->out[0]->data, o, x->data, outside[o] + inside[middle], 1);
        if (prt_eval_wants(c, 1))
            prt_store_i64(PRT_DTYPE_i32, c->out[1]->data, o, middle);
    }
    return POPRT_OK;
}

const prt_op_hooks prt_op_gc_reduce_median = { .infer = infer_median, .eval = eval_median };

/* ---- Bucketize: the number of boundaries that are below (right=0) or not above (right=1) an
   element */

static poprt_status infer_bucketize(prt_infer *c)
{
    if (prt_infer_ranked(c, 1) && c->in[1].rank != 1)
        return prt_infer_fail(c, POPRT_E_SHAPE, "boundaries have rank %d, not 1", c->in[1].rank);
    return prt_infer_like(c, 0, 0, PRT_DTYPE_i32);
}

static poprt_status eval_bucketize(prt_eval *c)
{
    const prt_gc_bucketize_attrs *a = c->attrs;
    const prt_tensor *x = c->in[0], *edges = c->in[1];
    const size_t n = prt_tensor_count(x), count = prt_tensor_count(edges);
    const bool right = a->right != 0;
    PRT_TRY(fits_i32(c, count));
    for (size_t i = 0; prt_eval_wants(c, 0) && i < n; i++) {
        const uint64_t key = prt_order_key(x->dtype, x->data, i);
        size_t low = 0, high = count;
        while (low < high) {
            const size_t middle = low + (high - low) / 2;
            const uint64_t edge = prt_order_key(edges->dtype, edges->data, middle);
            if (edge < key || (right && edge == key))
                low = middle + 1;
            else
                high = middle;
        }
        prt_store_i64(PRT_DTYPE_i32, c->out[0]->data, i, (int64_t)low);
    }
    return POPRT_OK;
}

const prt_op_hooks prt_op_gc_bucketize = { .infer = infer_bucketize, .eval = eval_bucketize };

/* ---- Histogram: bin k counts levels[k - 1] <= x < levels[k]; NaN is counted in the last bin */

static poprt_status infer_histogram(prt_infer *c)
{
    const prt_gc_histogram_attrs *a = c->attrs;
    const int64_t bins = (int64_t)a->levels.count + 1;
    for (uint32_t i = 1; i < a->levels.count; i++)
        if (!(a->levels.data[i - 1] <= a->levels.data[i]))
            return prt_infer_fail(c, POPRT_E_ARG, "levels are not in ascending order at index %u",
                i);
    return prt_infer_set(c, 0, PRT_DTYPE_u32, 1, &bins);
}

static poprt_status eval_histogram(prt_eval *c)
{
    const prt_gc_histogram_attrs *a = c->attrs;
    const prt_tensor *x = c->in[0];
    const size_t n = prt_tensor_count(x);
    if (!prt_eval_wants(c, 0))
        return POPRT_OK;
    uint32_t *bins = c->out[0]->data;
    memset(bins, 0, c->out[0]->size);
    for (size_t i = 0; i < n; i++) {
        double v = prt_load_f64(x->dtype, x->data, i);
        v = a->absoluteOfInput != 0 ? fabs(v) : v;
        uint32_t low = 0, high = a->levels.count;
        while (low < high) {
            const uint32_t middle = low + (high - low) / 2;
            if (v < (double)a->levels.data[middle])
                high = middle;
            else
                low = middle + 1;
        }
        bins[isnan(v) ? a->levels.count : low]++;
    }
    return POPRT_OK;
}

const prt_op_hooks prt_op_gc_histogram = { .infer = infer_histogram, .eval = eval_histogram };
