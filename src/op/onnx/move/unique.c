/* SPDX-License-Identifier: MIT */
/* unique.c — Unique: the distinct elements, or the distinct slices along an axis. */
#include "op/share/shape_values.h"
#include "op/share/order.h"

enum { ATTR_AXIS = 0 }; /* index in the operator's row */

/* The values that are compared: slice k along an axis, or element k of the flattened input. */
typedef struct slices {
    int32_t dtype;
    const void *data;
    size_t outer, count, inner;
    const uint64_t *keys; /* sort keys if each slice is one number; else NULL */
} slices;

static poprt_status infer(prt_infer *c)
{
    const prt_unique_attrs *a = c->attrs;
    const prt_shape *x = &c->in[0];
    int64_t dims[PRT_MAX_RANK];
    const int64_t open = PRT_DIM_UNKNOWN;
    if (!prt_attr_given(a, ATTR_AXIS)) {
        PRT_TRY(prt_infer_set(c, 0, x->dtype, 1, &open));
    } else if (x->rank < 0) {
        PRT_TRY(prt_infer_unranked(c, 0, x->dtype, PRT_RANK_UNKNOWN));
    } else {
        uint32_t axis;
        PRT_TRY(prt_infer_axis(c, a->axis, x->rank, false, &axis));
        memcpy(dims, x->dims, sizeof(dims));
        dims[axis] = PRT_DIM_UNKNOWN;
        PRT_TRY(prt_infer_set(c, 0, x->dtype, x->rank, dims));
    }
    for (uint32_t i = 1; i < 4; i++)
        PRT_TRY(prt_infer_set(c, i, PRT_DTYPE_i64, 1, &open));
    return POPRT_OK;
}

static int compare(const void *user, int64_t a, int64_t b)
{
    const slices *s = user;
    if (s->keys != NULL)
        return (s->keys[a] > s->keys[b]) - (s->keys[a] < s->keys[b]);
    for (size_t o = 0; o < s->outer; o++)
        for (size_t i = 0; i < s->inner; i++) {
            const int order =
                prt_order_compare(s->dtype, s->data, (o * s->count + (size_t)a) * s->inner + i,
                    (o * s->count + (size_t)b) * s->inner + i);
            if (order != 0)
                return order;
        }
    return 0;
}

static int compare_places(const void *user, int64_t a, int64_t b)
{
    const int64_t *first = user;
    return (first[a] > first[b]) - (first[a] < first[b]);
}

/* Groups of equal slices: group g starts at slice first[g] and has counts[g] members; slice k
 * belongs to group[k]; `order` is the output order of the groups. */
typedef struct groups {
    int64_t *first, *counts, *group, *order;
    size_t count;
} groups;

static bool find_groups(prt_eval *c, const slices *s, bool sorted, groups *g)
{
    const size_t n = s->count;
    int64_t *memory = prt_eval_scratch(c, n + 1, 6 * sizeof(int64_t));
    if (memory == NULL)
        return false;
    int64_t *index = memory, *scratch = memory + n;
    *g = (groups){ .first = memory + 2 * n,
        .counts = memory + 3 * n,
        .group = memory + 4 * n,
        .order = memory + 5 * n };
    for (size_t k = 0; k < n; k++)
        index[k] = (int64_t)k;
    prt_order_sort(index, scratch, n, compare, s);
    for (size_t k = 0; k < n; k++) {
        if (k == 0 || compare(s, index[k - 1], index[k]) != 0)
            /* the sort is stable, so the first member comes first */
            g->first[g->count++] = index[k];
        g->counts[g->count - 1]++;
        g->group[index[k]] = (int64_t)g->count - 1;
    }
    for (size_t k = 0; k < g->count; k++)
        g->order[k] = (int64_t)k;
    if (!sorted)
        prt_order_sort(g->order, scratch, g->count, compare_places, g->first);
    return true;
}

static poprt_status write_values(prt_eval *c, const slices *s, const groups *g, uint32_t rank,
    const int64_t *dims)
{
    if (!prt_eval_wants(c, 0))
        return POPRT_OK;
    PRT_TRY(prt_shape_output(c, 0, s->dtype, rank, dims));
    for (size_t o = 0; o < s->outer; o++)
        for (size_t k = 0; k < g->count; k++)
            prt_element_copy(s->dtype, c->out[0]->data, (o * g->count + k) * s->inner, s->data,
                (o * s->count + (size_t)g->first[g->order[k]]) * s->inner, s->inner);
    return POPRT_OK;
}

static poprt_status write_places(prt_eval *c, const groups *g, size_t n)
{
    const int64_t dims[4] = { 0, (int64_t)g->count, (int64_t)n, (int64_t)g->count };
    /* index of each group in Y */
    int64_t *position = prt_eval_scratch(c, g->count + 1, sizeof(int64_t));
    if (position == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 1; i < 4; i++)
        PRT_TRY(prt_shape_output(c, i, PRT_DTYPE_i64, 1, &dims[i]));
    for (size_t k = 0; k < g->count; k++) {
        const int64_t group = g->order[k];
        position[group] = (int64_t)k;
        if (prt_eval_wants(c, 1))
            prt_store_i64(PRT_DTYPE_i64, c->out[1]->data, k, g->first[group]);
        if (prt_eval_wants(c, 3))
            prt_store_i64(PRT_DTYPE_i64, c->out[3]->data, k, g->counts[group]);
    }
    for (size_t k = 0; prt_eval_wants(c, 2) && k < n; k++)
        prt_store_i64(PRT_DTYPE_i64, c->out[2]->data, k, position[g->group[k]]);
    return POPRT_OK;
}

static poprt_status eval(prt_eval *c)
{
    const prt_unique_attrs *a = c->attrs;
    const prt_tensor *x = c->in[0];
    int64_t dims[PRT_MAX_RANK];
    uint32_t rank = 1, axis = 0;
    slices s = { .dtype = x->dtype,
        .data = x->data,
        .outer = 1,
        .count = prt_tensor_count(x),
        .inner = 1 };
    groups g;
    if (prt_attr_given(a, ATTR_AXIS)) {
        PRT_TRY(prt_shape_axis(c, a->axis, x->rank, &axis));
        rank = x->rank;
        s.outer = prt_dims_product(x->dims, 0, axis);
        s.count = (size_t)x->dims[axis];
        s.inner = prt_dims_product(x->dims, axis + 1, x->rank);
        memcpy(dims, x->dims, sizeof(dims));
    }
    const bool numbers = prt_dtype_is_float(x->dtype) || prt_dtype_is_integer(x->dtype);
    if (numbers && s.outer * s.inner == 1) {
        uint64_t *keys = prt_eval_scratch(c, s.count + 1, sizeof(uint64_t));
        if (keys == NULL)
            return POPRT_E_NOMEM;
        prt_order_keys(x->dtype, x->data, 0, 1, s.count, keys);
        s.keys = keys;
    }
    if (!find_groups(c, &s, a->sorted != 0, &g))
        return POPRT_E_NOMEM;
    dims[axis] = (int64_t)g.count;
    PRT_TRY(write_values(c, &s, &g, rank, dims));
    return write_places(c, &g, s.count);
}

const prt_op_hooks prt_op_unique = { .infer = infer, .eval = eval };
