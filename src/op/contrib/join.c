/* SPDX-License-Identifier: MIT */
/*
 * join.c — StringJoin joins the strings along one axis with a separator, ReduceJoin along several,
 * and UnsortedSegmentJoin those of each segment.
 */
#include "base/size.h"
#include "op/share/strings.h"

static poprt_status too_long(const prt_eval *c)
{
    return prt_eval_fail(c, POPRT_E_LIMIT, "a result is too long");
}

/* ---- along axes ---- */

/* The axes that are joined. The strings of a result are in the order in which the first of these
 * axes varies fastest. */
typedef struct joined {
    uint32_t n;
    size_t size[PRT_MAX_RANK], step[PRT_MAX_RANK];
    size_t count; /* number of strings of a result */
} joined;

/* Returns the index of string `k` of the result whose first string has the index `at`. */
static size_t index_of(const joined *j, size_t at, size_t k)
{
    for (uint32_t i = 0; i < j->n; i++) {
        at += k % j->size[i] * j->step[i];
        k /= j->size[i];
    }
    return at;
}

static poprt_status join_one(prt_eval *c, const joined *j, size_t at, prt_str separator, size_t to)
{
    const poprt_string *x = c->in[0]->data;
    size_t size;
    if (!prt_size_mul(j->count != 0 ? j->count - 1 : 0, separator.size, &size))
        return too_long(c);
    for (size_t k = 0; k < j->count; k++)
        if (!prt_size_add(size, x[index_of(j, at, k)].size, &size))
            return too_long(c);
    char *text = prt_string_reserve(c, 0, to, size);
    if (text == NULL)
        return POPRT_E_NOMEM;
    for (size_t k = 0; k < j->count; k++) {
        const poprt_string piece = x[index_of(j, at, k)];
        if (k != 0)
            prt_string_append(&text, separator.data, separator.size);
        prt_string_append(&text, piece.data, piece.size);
    }
    return POPRT_OK;
}

/* Joins along `n` axes, which may count from the end. */
static poprt_status join_axes(prt_eval *c, const int64_t *axes, uint32_t n, prt_str separator)
{
    joined j = { .n = n, .count = 1 };
    const prt_tensor *x = c->in[0];
    size_t step[PRT_MAX_RANK], inner = 1, to = 0;
    int64_t dims[PRT_MAX_RANK] = { 0 }, place[PRT_MAX_RANK] = { 0 };
    for (uint32_t i = x->rank; i-- > 0; inner *= (size_t)x->dims[i])
        step[i] = inner;
    memcpy(dims, x->dims, x->rank * sizeof(int64_t));
    for (uint32_t i = 0; i < n; i++) {
        const int64_t axis = axes[i] < 0 ? axes[i] + x->rank : axes[i];
        if (axis < 0 || axis >= x->rank)
            return prt_eval_fail(c, POPRT_E_SHAPE, "axis %lld is outside of rank %u",
                (long long)axes[i], x->rank);
        j.size[i] = (size_t)x->dims[axis];
        j.step[i] = step[axis];
        j.count *= j.size[i];
        dims[axis] = 1;
    }
    if (!prt_eval_wants(c, 0) || prt_tensor_count(c->out[0]) == 0)
        return POPRT_OK;
    do {
        PRT_TRY(c->host->check(c));
        size_t at = 0;
        for (uint32_t i = 0; i < x->rank; i++)
            at += (size_t)place[i] * step[i];
        PRT_TRY(join_one(c, &j, at, separator, to++));
    } while (prt_at_next(x->rank, dims, place));
    return POPRT_OK;
}

/* ---- StringJoin: the result has at least rank 1 ---- */

static poprt_status join_infer(prt_infer *c)
{
    const prt_shape *x = &c->in[0];
    int64_t axis, dims[PRT_MAX_RANK] = { 1 };
    uint32_t at = 0;
    PRT_TRY(prt_infer_single(c, 1));
    PRT_TRY(prt_infer_single(c, 2));
    if (!prt_infer_ranked(c, 0))
        return prt_infer_unranked(c, 0, PRT_DTYPE_string, PRT_RANK_UNKNOWN);
    const bool known = prt_infer_number(c, 2, &axis);
    if (known && x->rank > 0)
        PRT_TRY(prt_infer_axis(c, axis, x->rank, false, &at));
    for (uint32_t i = 0, to = 0; x->rank > 1 && i < (uint32_t)x->rank; i++)
        if (!known || i != at)
            dims[to++] = known ? x->dims[i] : PRT_DIM_UNKNOWN;
    return prt_infer_set(c, 0, PRT_DTYPE_string, x->rank > 1 ? x->rank - 1 : 1, dims);
}

static poprt_status join_eval(prt_eval *c)
{
    prt_str separator;
    int64_t axis;
    PRT_TRY(prt_eval_string(c, 1, &separator));
    PRT_TRY(prt_eval_integer(c, 2, &axis));
    return join_axes(c, &axis, c->in[0]->rank != 0, separator);
}

/* ---- ReduceJoin ---- */

/* Converts the axes of input 1 to non-negative ones and marks them. */
static poprt_status mark_axes(const prt_infer *c, const int64_t *axes, uint32_t n, bool *marked)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t at;
        PRT_TRY(prt_infer_axis(c, axes[i], c->in[0].rank, false, &at));
        if (marked[at])
            return prt_infer_fail(c, POPRT_E_ARG, "reduction_indices has axis %u twice", at);
        marked[at] = true;
    }
    return POPRT_OK;
}

static poprt_status reduce_infer(prt_infer *c)
{
    const prt_text_reduce_join_attrs *a = c->attrs;
    const prt_shape *x = &c->in[0];
    bool marked[PRT_MAX_RANK] = { false };
    int64_t axes[PRT_MAX_RANK], dims[PRT_MAX_RANK];
    uint32_t n;
    int32_t rank = 0;
    bool known = prt_infer_ranked(c, 0) && prt_infer_ints(c, 1, axes, PRT_MAX_RANK, &n);
    for (uint32_t i = 0; known && i < n; i++)
        known = prt_dim_is_number(axes[i]);
    if (!known)
        return prt_infer_unranked(c, 0, PRT_DTYPE_string,
            a->keep_dims != 0 && x->rank >= 0 ? x->rank : PRT_RANK_UNKNOWN);
    PRT_TRY(mark_axes(c, axes, n, marked));
    for (int32_t i = 0; i < x->rank; i++)
        if (!marked[i] || a->keep_dims != 0)
            dims[rank++] = marked[i] ? 1 : x->dims[i];
    return prt_infer_set(c, 0, PRT_DTYPE_string, rank, dims);
}

static poprt_status reduce_eval(prt_eval *c)
{
    const prt_text_reduce_join_attrs *a = c->attrs;
    int64_t axes[PRT_MAX_RANK];
    uint32_t n;
    PRT_TRY(prt_eval_ints(c, 1, axes, PRT_MAX_RANK, &n));
    return join_axes(c, axes, n, a->separator);
}

/* ---- UnsortedSegmentJoin ---- */

static poprt_status segments_infer(prt_infer *c)
{
    const prt_shape *x = &c->in[0], *ids = &c->in[1];
    int64_t dims[PRT_MAX_RANK] = { PRT_DIM_UNKNOWN }, segments;
    PRT_TRY(prt_infer_single(c, 2));
    if (prt_infer_number(c, 2, &segments)) {
        if (segments < 0)
            return prt_infer_fail(c, POPRT_E_ARG, "num_segments is %lld; at least 0 is needed",
                (long long)segments);
        dims[0] = segments;
    }
    if (!prt_infer_ranked(c, 0) || !prt_infer_ranked(c, 1))
        return prt_infer_unranked(c, 0, PRT_DTYPE_string, PRT_RANK_UNKNOWN);
    if (ids->rank == 0 || ids->rank > x->rank)
        return prt_infer_fail(c, POPRT_E_SHAPE,
            "segment_ids has rank %d; accepted: 1 to %d, the rank of inputs", ids->rank, x->rank);
    for (int32_t i = 0; i < x->rank; i++) {
        int64_t same;
        if (i < ids->rank)
            PRT_TRY(prt_infer_merge(c, ids->dims[i], x->dims[i], "a dim of segment_ids", &same));
        else
            dims[1 + i - ids->rank] = x->dims[i];
    }
    return prt_infer_set(c, 0, PRT_DTYPE_string, 1 + x->rank - ids->rank, dims);
}

/* One result: its size, then, while it is filled, the end of its bytes. */
typedef struct segment {
    size_t size;
    char *end;
} segment;

/* Adds a string. As in TensorFlow, no separator is written after results that are still empty. */
static poprt_status add_string(prt_eval *c, segment *to, poprt_string x, prt_str separator,
    bool write)
{
    if (to->size == 0)
        separator.size = 0;
    if (write) {
        prt_string_append(&to->end, separator.data, separator.size);
        prt_string_append(&to->end, x.data, x.size);
    }
    if (!prt_size_add(to->size, separator.size, &to->size) ||
        !prt_size_add(to->size, x.size, &to->size))
        return too_long(c);
    return POPRT_OK;
}

static poprt_status segments_eval(prt_eval *c)
{
    const prt_text_unsorted_segment_join_attrs *a = c->attrs;
    const poprt_string *x = c->in[0]->data;
    const prt_tensor *ids = c->in[1];
    const size_t n_ids = prt_tensor_count(ids), n_x = prt_tensor_count(c->in[0]);
    const size_t inner = n_ids != 0 ? n_x / n_ids : 0;
    int64_t segments;
    PRT_TRY(prt_eval_integer(c, 2, &segments));
    if (!prt_eval_wants(c, 0))
        return POPRT_OK;
    const size_t n = prt_tensor_count(c->out[0]);
    if (segments != c->out[0]->dims[0])
        return prt_eval_fail(c, POPRT_E_SHAPE, "num_segments is %lld, but the output has %lld rows",
            (long long)segments, (long long)c->out[0]->dims[0]);
    segment *s = prt_eval_scratch(c, n + 1, sizeof(segment));
    if (s == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < n_x; i++) {
            const int64_t id = prt_load_i64(ids->dtype, ids->data, i / inner);
            if (id < 0 || id >= segments)
                return prt_eval_fail(c, POPRT_E_ARG, "segment id %lld is not in [0, %lld)",
                    (long long)id, (long long)segments);
            PRT_TRY(
                add_string(c, &s[(size_t)id * inner + i % inner], x[i], a->separator, pass != 0));
        }
        for (size_t i = 0; i < n && pass == 0; i++) {
            PRT_TRY(c->host->check(c));
            s[i].end = prt_string_reserve(c, 0, i, s[i].size);
            if (s[i].end == NULL)
                return POPRT_E_NOMEM;
            s[i].size = 0;
        }
    }
    return POPRT_OK;
}

const prt_op_hooks prt_op_contrib_string_join = { .infer = join_infer, .eval = join_eval };
const prt_op_hooks prt_op_text_reduce_join = { .infer = reduce_infer, .eval = reduce_eval };
const prt_op_hooks prt_op_text_unsorted_segment_join = { .infer = segments_infer,
    .eval = segments_eval };
