/* SPDX-License-Identifier: MIT */
/* topk.c — TopK: the greatest or least elements along an axis and where they were. Always sorted;
 * of equal ones the first comes first; NaN is above all numbers. */
#include "op/topk.h"

#include "op/move.h"
#include "op/order.h"

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
        return prt_infer_fail(c, POPRT_E_SHAPE, "K is %lld, axis %u has %lld elements",
            (long long)k, axis, (long long)x->dims[axis]);
    memcpy(dims, x->dims, sizeof(dims));
    dims[axis] = k;
    PRT_TRY(prt_infer_set(c, 0, x->dtype, x->rank, dims));
    return prt_infer_set(c, 1, PRT_DTYPE_i64, x->rank, dims);
}

/* Of equal keys the first one is before the other. */
static int compare(const void *user, int64_t a, int64_t b)
{
    const uint64_t *keys = user;
    return keys[a] != keys[b] ? (keys[a] > keys[b] ? 1 : -1) : (a > b) - (a < b);
}

/* Moves heap[at] down to where no child is behind it. */
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

/* The k least of n keys to the front of `order`, sorted; it has room for n, and as much behind. Few
 * are kept in a heap with the last of them on top. */
static void pick(const uint64_t *keys, size_t n, size_t k, int64_t *order)
{
    const bool few = k < n / 4;
    const size_t count = few ? k : n;
    for (size_t j = 0; j < count; j++)
        order[j] = (int64_t)j;
    if (few && k != 0) {
        for (size_t j = k / 2; j-- > 0;)
            sift(keys, order, k, j);
        for (size_t j = k; j < n; j++)
            if (keys[j] < keys[order[0]]) {
                order[0] = (int64_t)j;
                sift(keys, order, k, 0);
            }
    }
    prt_order_sort(order, order + n, count, compare, keys);
}

/* The first `k` of one line, whose elements are `step` apart from `first` on. */
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
    uint64_t *keys = prt_eval_scratch(c, n + 1, sizeof(uint64_t));
    int64_t *order = prt_eval_scratch(c, n + 1, 2 * sizeof(int64_t));
    if (keys == NULL || order == NULL)
        return POPRT_E_NOMEM;
    for (size_t o = 0; o < outer; o++)
        for (size_t i = 0; i < inner; i++) {
            const size_t from = o * n * inner + i;
            prt_order_keys(x->dtype, x->data, from, inner, n, keys);
            for (size_t j = 0; largest && j < n; j++)
                keys[j] = ~keys[j];
            pick(keys, n, (size_t)k, order);
            write_line(c, order, (size_t)k, from, o * (size_t)k * inner + i, inner);
        }
    return POPRT_OK;
}

static poprt_status eval(prt_eval *c)
{
    const prt_topk_attrs *a = c->attrs;
    const prt_tensor *x = c->in[0];
    int64_t k, dims[PRT_MAX_RANK];
    uint32_t axis, count;
    PRT_TRY(prt_move_axis(c, a->axis, x->rank, &axis));
    PRT_TRY(prt_eval_ints(c, 1, &k, 1, &count));
    if (count != 1 || k < 0 || k > x->dims[axis])
        return prt_eval_fail(c, POPRT_E_SHAPE, "K must be one number in [0, %lld]",
            (long long)x->dims[axis]);
    memcpy(dims, x->dims, sizeof(dims));
    dims[axis] = k;
    PRT_TRY(prt_move_shape(c, 0, x->dtype, x->rank, dims));
    PRT_TRY(prt_move_shape(c, 1, PRT_DTYPE_i64, x->rank, dims));
    return prt_topk_run(c, axis, k, a->largest != 0);
}

const prt_op_hooks prt_op_topk = { .infer = infer, .eval = eval };
