/* SPDX-License-Identifier: MIT */
/*
 * topk.c — TopK: the greatest or least elements along an axis and their indices. The result is
 * always sorted; equal elements keep their order; NaN is above all numbers. If k is below a quarter
 * of the line, a heap keeps the k best elements; otherwise the whole line is sorted.
 */
#include "op/share/topk.h"

#include "op/share/shape_values.h"
#include "op/share/order.h"

enum { BLOCK = 8 }; /* elements that one test can skip */

static poprt_status infer(prt_infer *c)
{
    const prt_topk_attrs *a = c->attrs;
    const prt_shape *x = &c->in[0];
    int64_t dims[PRT_MAX_RANK], k = PRT_DIM_UNKNOWN;
    uint32_t axis, count;
    if (x->rank < 0) {
        PRT_TRY(prt_infer_unranked(c, 0, x->dtype, PRT_RANK_UNKNOWN));
        return prt_infer_unranked(c, 1, PRT_DTYPE_i64, PRT_RANK_UNKNOWN);
    }
    PRT_TRY(prt_infer_axis(c, a->axis, x->rank, false, &axis));
    if (!prt_infer_ints(c, 1, &k, 1, &count) || count != 1)
        k = PRT_DIM_UNKNOWN;
    if (prt_dim_is_number(k) && (k < 0 || (prt_dim_is_number(x->dims[axis]) && k > x->dims[axis])))
        return prt_infer_fail(c, POPRT_E_SHAPE, "K is %lld, but axis %u has %lld elements",
            (long long)k, axis, (long long)x->dims[axis]);
    memcpy(dims, x->dims, sizeof(dims));
    dims[axis] = k;
    PRT_TRY(prt_infer_set(c, 0, x->dtype, x->rank, dims));
    return prt_infer_set(c, 1, PRT_DTYPE_i64, x->rank, dims);
}

/* Compares by key. Of two equal keys, the one with the lower index comes first. */
static int compare(const void *user, int64_t a, int64_t b)
{
    const uint64_t *keys = user;
    return keys[a] != keys[b] ? (keys[a] > keys[b] ? 1 : -1) : (a > b) - (a < b);
}

/* Moves heap[at] down until none of its children comes after it. */
static void sift(const uint64_t *keys, int64_t *heap, size_t count, size_t at)
{
    for (size_t child = 2 * at + 1; child < count; at = child, child = 2 * at + 1) {
        const int64_t moved = heap[at];
        if (child + 1 < count && compare(keys, heap[child + 1], heap[child]) > 0)
            child++;
        if (compare(keys, heap[child], moved) <= 0)
            return;
        heap[at] = heap[child];
        heap[child] = moved;
    }
}

/* A line of the input. The element with the least key comes first. */
typedef struct line {
    const prt_tensor *x;
    size_t first, step, n;
    bool largest;
    uint64_t *keys;
} line;

static void read_keys(const line *l, size_t from, size_t count)
{
    prt_order_keys(l->x->dtype, l->x->data, l->first + from * l->step, l->step, count,
        l->keys + from);
    for (size_t j = from; l->largest && j < from + count; j++)
        l->keys[j] = ~l->keys[j];
}

/* Returns false if no element of a block of contiguous float32 comes before element `last` or is
 * NaN, so the block can be skipped. */
static bool may_hold(const line *l, size_t from, size_t count, size_t last)
{
    if (count != BLOCK || l->step != 1 || l->x->dtype != PRT_DTYPE_f32)
        return true;
    const float *x = (const float *)l->x->data + l->first, bound = x[last];
    int any = 0;
    x += from;
    if (l->largest)
        for (size_t i = 0; i < BLOCK; i++)
            any |= !(x[i] <= bound);
    else
        for (size_t i = 0; i < BLOCK; i++)
            any |= !(x[i] >= bound);
    return any != 0;
}

/* Returns the number of elements to keep: k in a heap with the last of them on top, or all n to
 * be sorted. */
static size_t kept_of(size_t n, size_t k)
{
    return k < n / 4 ? k : n;
}

/* Writes the indices of the first k elements of a line, sorted, to the front of `order`. Its
 * size is twice the number of elements kept. */
static void select_first(const line *l, size_t k, int64_t *order)
{
    const size_t count = kept_of(l->n, k);
    for (size_t j = 0; j < count; j++)
        order[j] = (int64_t)j;
    read_keys(l, 0, count);
    if (count < l->n && k != 0) {
        for (size_t j = k / 2; j-- > 0;)
            sift(l->keys, order, k, j);
        for (size_t at = k, some; at < l->n; at += some) {
            some = l->n - at < BLOCK ? l->n - at : BLOCK;
            if (!may_hold(l, at, some, (size_t)order[0]))
                continue;
            read_keys(l, at, some);
            for (size_t j = at; j < at + some; j++)
                if (l->keys[j] < l->keys[order[0]]) {
                    order[0] = (int64_t)j;
                    sift(l->keys, order, k, 0);
                }
        }
    }
    prt_order_sort(order, order + count, count, compare, l->keys);
}

/* Writes the first `k` elements of one line, whose elements are `step` apart. */
static void write_line(const prt_eval *c, const int64_t *order, size_t k, size_t from, size_t to,
    size_t step)
{
    const prt_tensor *x = c->in[0];
    for (size_t i = 0; i < k; i++) {
        const size_t picked = from + (size_t)order[i] * step;
        if (prt_eval_wants(c, 0))
            prt_element_copy(x->dtype, c->out[0]->data, to + i * step, x->data, picked, 1);
        if (prt_eval_wants(c, 1))
            prt_store_i64(c->out[1]->dtype, c->out[1]->data, to + i * step, order[i]);
    }
}

poprt_status prt_topk_run(prt_eval *c, uint32_t axis, int64_t k, bool largest)
{
    const prt_tensor *x = c->in[0];
    const size_t n = (size_t)x->dims[axis];
    const size_t outer = prt_dims_product(x->dims, 0, axis);
    const size_t inner = prt_dims_product(x->dims, axis + 1, x->rank);
    line l = { .x = x,
        .step = inner,
        .n = n,
        .largest = largest,
        .keys = prt_eval_scratch(c, n + 1, sizeof(uint64_t)) };
    int64_t *order = prt_eval_scratch(c, kept_of(n, (size_t)k) + 1, 2 * sizeof(int64_t));
    if (l.keys == NULL || order == NULL)
        return POPRT_E_NOMEM;
    for (size_t o = 0; o < outer; o++)
        for (size_t i = 0; i < inner; i++) {
            l.first = o * n * inner + i;
            select_first(&l, (size_t)k, order);
            write_line(c, order, (size_t)k, l.first, o * (size_t)k * inner + i, inner);
        }
    return POPRT_OK;
}

static poprt_status eval(prt_eval *c)
{
    const prt_topk_attrs *a = c->attrs;
    const prt_tensor *x = c->in[0];
    int64_t k, dims[PRT_MAX_RANK];
    uint32_t axis, count;
    PRT_TRY(prt_shape_axis(c, a->axis, x->rank, &axis));
    PRT_TRY(prt_eval_ints(c, 1, &k, 1, &count));
    if (count != 1 || k < 0 || k > x->dims[axis])
        return prt_eval_fail(c, POPRT_E_SHAPE, "K must be one number in [0, %lld]",
            (long long)x->dims[axis]);
    memcpy(dims, x->dims, sizeof(dims));
    dims[axis] = k;
    PRT_TRY(prt_shape_output(c, 0, x->dtype, x->rank, dims));
    PRT_TRY(prt_shape_output(c, 1, PRT_DTYPE_i64, x->rank, dims));
    return prt_topk_run(c, axis, k, a->largest != 0);
}

const prt_op_hooks prt_op_topk = { .infer = infer, .eval = eval };
