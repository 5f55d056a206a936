/* SPDX-License-Identifier: MIT */
/*
 * scatter.c — GroupedGather, ScatterReduce and SequenceSlice of ai.graphcore. An index outside the
 * data is an error.
 */
#include "op/share/shape_values.h"

/* ---- GroupedGather: with group_size above 1, dim 0 of both inputs is the group */

static bool is_grouped(const prt_gc_grouped_gather_attrs *a)
{
    return a->group_size > 1;
}

static poprt_status check_group(const prt_infer *c, uint32_t i, int64_t group_size)
{
    if (!prt_infer_ranked(c, i))
        return POPRT_OK;
    if (c->in[i].rank < 1 ||
        (prt_dim_is_number(c->in[i].dims[0]) && c->in[i].dims[0] != group_size))
        return prt_infer_fail(c, POPRT_E_SHAPE, "dim 0 of input %u is not group_size %lld", i,
            (long long)group_size);
    return POPRT_OK;
}

static poprt_status infer_gather(prt_infer *c)
{
    const prt_gc_grouped_gather_attrs *a = c->attrs;
    const prt_shape *x = &c->in[0], *index = &c->in[1];
    const int32_t grouped = is_grouped(a);
    uint32_t axis;
    if (a->group_size < 1)
        return prt_infer_fail(c, POPRT_E_ARG, "group_size is %lld; at least 1 is needed",
            (long long)a->group_size);
    for (uint32_t i = 0; grouped && i < 2; i++)
        PRT_TRY(check_group(c, i, a->group_size));
    if (x->rank < 0)
        return prt_infer_unranked(c, 0, x->dtype, PRT_RANK_UNKNOWN);
    PRT_TRY(prt_infer_axis(c, a->axis, x->rank, false, &axis));
    if (grouped && axis == 0)
        return prt_infer_fail(c, POPRT_E_ARG, "axis 0 is the group; accepted: other axes");
    if (index->rank < 0)
        return prt_infer_unranked(c, 0, x->dtype, PRT_RANK_UNKNOWN);
    int64_t dims[2 * PRT_MAX_RANK];
    int32_t rank = 0;
    for (uint32_t i = 0; i < axis; i++)
        dims[rank++] = x->dims[i];
    for (int32_t i = grouped; i < index->rank; i++)
        dims[rank++] = index->dims[i];
    for (int32_t i = (int32_t)axis + 1; i < x->rank; i++)
        dims[rank++] = x->dims[i];
    return prt_infer_set(c, 0, x->dtype, rank, dims);
}

static poprt_status eval_gather(prt_eval *c)
{
    const prt_gc_grouped_gather_attrs *a = c->attrs;
    const prt_tensor *x = c->in[0], *index = c->in[1];
    const uint32_t first = is_grouped(a);
    const size_t groups = first != 0 ? (size_t)x->dims[0] : 1;
    uint32_t axis;
    PRT_TRY(prt_shape_axis(c, a->axis, x->rank, &axis));
    const size_t outer = prt_dims_product(x->dims, first, axis);
    const size_t inner = prt_dims_product(x->dims, axis + 1, x->rank);
    const size_t n = prt_dims_product(index->dims, first, index->rank);
    const int64_t dim = x->dims[axis];
    for (size_t g = 0; g < groups; g++)
        for (size_t i = 0; i < n; i++) {
            const int64_t given = prt_load_i64(index->dtype, index->data, g * n + i);
            int64_t at;
            PRT_TRY(prt_shape_index(c, given, dim, &at));
            for (size_t o = g * outer; o < (g + 1) * outer; o++)
                prt_element_copy(x->dtype, c->out[0]->data, (o * n + i) * inner, x->data,
                    (o * (size_t)dim + (size_t)at) * inner, inner);
        }
    return POPRT_OK;
}

const prt_op_hooks prt_op_gc_grouped_gather = { .infer = infer_gather, .eval = eval_gather };

/* ---- ScatterReduce */

typedef enum reduction { SUM, MAX, MIN, MUL, NONE } reduction;

static bool find_reduction(prt_str text, reduction *out)
{
    static const char *const names[] = { "sum", "max", "min", "mul", "none" };
    for (uint32_t i = 0; i < PRT_COUNT_OF(names); i++)
        if (prt_str_is(text, names[i])) {
            *out = (reduction)i;
            return true;
        }
    return false;
}

/* Returns whether the indices are one list for the whole axis, after the group dim if there is
   one. */
static bool is_list(const prt_gc_scatter_reduce_attrs *a, int32_t index_rank, int32_t rank)
{
    const int32_t list = a->group_size > 1 ? 2 : 1;
    return index_rank == list && index_rank != rank;
}

/* Fails unless the indices have the shape of src, or are a list that all other dims share. */
static poprt_status check_indices(const prt_infer *c, uint32_t axis)
{
    const prt_gc_scatter_reduce_attrs *a = c->attrs;
    const prt_shape *x = &c->in[0], *index = &c->in[1];
    int64_t merged;
    if (a->group_size > 1)
        for (uint32_t i = 0; i < c->n_in; i++)
            PRT_TRY(check_group(c, i, a->group_size));
    if (a->group_size > 1 && axis == 0)
        return prt_infer_fail(c, POPRT_E_ARG, "axis 0 is the group; accepted: other axes");
    if (index->rank < 0)
        return POPRT_OK;
    if (is_list(a, index->rank, x->rank)) {
        if (a->enable_index_broadcast == 0)
            return prt_infer_fail(c, POPRT_E_SHAPE,
                "indices of rank %d need enable_index_broadcast for src of rank %d", index->rank,
                x->rank);
        return prt_infer_merge(c, index->dims[index->rank - 1], x->dims[axis],
            "the number of indices", &merged);
    }
    if (index->rank != x->rank)
        return prt_infer_fail(c, POPRT_E_SHAPE,
            "indices have rank %d; accepted: a list, or the shape of src", index->rank);
    for (int32_t i = 0; i < x->rank; i++)
        PRT_TRY(prt_infer_merge(c, index->dims[i], x->dims[i], "a dim of the indices", &merged));
    return POPRT_OK;
}

static poprt_status infer_scatter(prt_infer *c)
{
    const prt_gc_scatter_reduce_attrs *a = c->attrs;
    const prt_shape *x = &c->in[0];
    int64_t dims[PRT_MAX_RANK], merged;
    reduction r;
    uint32_t axis;
    if (!find_reduction(a->reduction, &r))
        return prt_infer_fail(c, POPRT_E_ARG,
            "reduction is \"%.*s\"; accepted: sum, max, min, mul, none", PRT_STR_ARG(a->reduction));
    if (a->axis_size < 1 || a->group_size < 1)
        return prt_infer_fail(c, POPRT_E_ARG, "axis_size is %lld, group_size %lld; at least 1",
            (long long)a->axis_size, (long long)a->group_size);
    if (x->rank < 0)
        return prt_infer_unranked(c, 0, x->dtype, PRT_RANK_UNKNOWN);
    PRT_TRY(prt_infer_axis(c, a->axis, x->rank, false, &axis));
    PRT_TRY(check_indices(c, axis));
    memcpy(dims, x->dims, sizeof(dims));
    dims[axis] = a->axis_size;
    if (prt_infer_ranked(c, 2) && c->in[2].rank != x->rank)
        return prt_infer_fail(c, POPRT_E_SHAPE, "initial_values have rank %d, src rank %d",
            c->in[2].rank, x->rank);
    for (int32_t i = 0; prt_infer_ranked(c, 2) && i < x->rank; i++) {
        PRT_TRY(prt_infer_merge(c, dims[i], c->in[2].dims[i], "a dim of initial_values", &merged));
        dims[i] = merged;
    }
    return prt_infer_set(c, 0, x->dtype, x->rank, dims);
}

/* The accumulators, doubles for floats and 64-bit words for integers, and marks of those with a
   contribution. */
typedef struct sums {
    reduction r;
    bool floats, no_sign, fresh; /* fresh: without initial values */
    double *f;
    int64_t *i;
    uint8_t *seen;
} sums;

static double reduce_f64(reduction r, double a, double b)
{
    switch (r) {
    case SUM:
        return a + b;
    case MUL:
        return a * b;
    case MAX:
        return b > a || b != b ? b : a;
    case MIN:
        return b < a || b != b ? b : a;
    default:
        return b;
    }
}

static int64_t reduce_i64(const sums *s, int64_t a, int64_t b)
{
    const uint64_t x = (uint64_t)a, y = (uint64_t)b;
    const bool greater = s->no_sign ? y > x : b > a;
    switch (s->r) {
    case SUM:
        return (int64_t)(x + y);
    case MUL:
        return (int64_t)(x * y);
    case MAX:
        return greater ? b : a;
    case MIN:
        return greater ? a : b;
    default:
        return b;
    }
}

/* Adds a contribution. Without initial values the first contribution to MAX or MIN replaces the
   accumulator. */
static void accumulate(const sums *s, const prt_tensor *x, size_t from, size_t to)
{
    const bool alone = s->fresh && !s->seen[to] && (s->r == MAX || s->r == MIN);
    s->seen[to] = true;
    if (s->floats) {
        const double v = prt_load_f64(x->dtype, x->data, from);
        s->f[to] = alone ? v : reduce_f64(s->r, s->f[to], v);
    } else {
        const int64_t v = prt_load_i64(x->dtype, x->data, from);
        s->i[to] = alone ? v : reduce_i64(s, s->i[to], v);
    }
}

static poprt_status sums_begin(prt_eval *c, sums *s, size_t n)
{
    const int32_t dtype = c->in[0]->dtype;
    s->floats = prt_dtype_is_float(dtype);
    s->no_sign = prt_dtype_of(dtype)->kind == PRT_KIND_uint;
    s->fresh = !prt_eval_has(c, 2);
    s->f = prt_eval_scratch(c, s->floats ? n : 0, sizeof(double));
    s->i = prt_eval_scratch(c, s->floats ? 0 : n, sizeof(int64_t));
    s->seen = prt_eval_scratch(c, n, 1);
    if (s->f == NULL || s->i == NULL || s->seen == NULL)
        return POPRT_E_NOMEM;
    for (size_t k = 0; k < n; k++) {
        if (s->floats)
            s->f[k] = !s->fresh ? prt_load_f64(dtype, c->in[2]->data, k) : s->r == MUL ? 1.0 : 0.0;
        else
            s->i[k] = !s->fresh ? prt_load_i64(dtype, c->in[2]->data, k) : s->r == MUL;
    }
    return POPRT_OK;
}

static void sums_end(prt_eval *c, const sums *s, size_t n)
{
    for (size_t k = 0; k < n; k++)
        if (s->floats)
            prt_store_f64(c->out[0]->dtype, c->out[0]->data, k, s->f[k]);
        else
            prt_store_i64(c->out[0]->dtype, c->out[0]->data, k, s->i[k]);
}

static poprt_status eval_scatter(prt_eval *c)
{
    const prt_gc_scatter_reduce_attrs *a = c->attrs;
    const prt_tensor *x = c->in[0], *index = c->in[1];
    sums s = { .r = SUM };
    uint32_t axis;
    if (!prt_eval_wants(c, 0))
        return POPRT_OK;
    (void)find_reduction(a->reduction, &s.r);
    PRT_TRY(prt_shape_axis(c, a->axis, x->rank, &axis));
    const bool list = is_list(a, (int32_t)index->rank, (int32_t)x->rank);
    const size_t n = (size_t)x->dims[axis], to_dim = (size_t)c->out[0]->dims[axis];
    const size_t outer = prt_dims_product(x->dims, 0, axis);
    const size_t inner = prt_dims_product(x->dims, axis + 1, x->rank);
    const size_t group = a->group_size > 1 ? outer / (size_t)a->group_size : outer;
    const size_t total = prt_tensor_count(c->out[0]);
    PRT_TRY(sums_begin(c, &s, total));
    for (size_t o = 0; o < outer; o++)
        for (size_t k = 0; k < n; k++)
            for (size_t i = 0; i < inner; i++) {
                const size_t from = (o * n + k) * inner + i;
                const size_t which = !list ? from : o / (group != 0 ? group : 1) * n + k;
                const int64_t at = prt_load_i64(index->dtype, index->data, which);
                if (at < 0 || (uint64_t)at >= to_dim)
                    return prt_eval_fail(c, POPRT_E_ARG, "index %lld is outside [0, %zu)",
                        (long long)at, to_dim);
                accumulate(&s, x, from, (o * to_dim + (size_t)at) * inner + i);
            }
    sums_end(c, &s, total);
    return POPRT_OK;
}

const prt_op_hooks prt_op_gc_scatter_reduce = { .infer = infer_scatter, .eval = eval_scatter };

/* ---- SequenceSlice: copies rows of source to rows of destination */

static poprt_status infer_sequence(prt_infer *c)
{
    const prt_shape *x = &c->in[0], *y = &c->in[1];
    int64_t count = PRT_DIM_UNKNOWN, merged;
    for (uint32_t i = 0; i < 2; i++)
        if (prt_infer_ranked(c, i) && c->in[i].rank < 2)
            return prt_infer_fail(c, POPRT_E_SHAPE, "input %u has rank %d; at least 2 is needed", i,
                c->in[i].rank);
    for (uint32_t i = 2; i < 5; i++) {
        if (!prt_infer_ranked(c, i))
            continue;
        if (c->in[i].rank != 1)
            return prt_infer_fail(c, POPRT_E_SHAPE, "input %u has rank %d, not 1", i,
                c->in[i].rank);
        PRT_TRY(prt_infer_merge(c, count, c->in[i].dims[0], "the number of sequences", &count));
    }
    if (x->rank >= 0 && y->rank >= 0 && x->rank != y->rank)
        return prt_infer_fail(c, POPRT_E_SHAPE, "source has rank %d, destination %d", x->rank,
            y->rank);
    for (int32_t i = 1; x->rank >= 0 && i < y->rank; i++)
        PRT_TRY(prt_infer_merge(c, x->dims[i], y->dims[i], "a dim beyond the first", &merged));
    return prt_infer_like(c, 0, 1, y->dtype);
}

static poprt_status eval_sequence(prt_eval *c)
{
    const prt_gc_sequence_slice_attrs *a = c->attrs;
    const prt_tensor *x = c->in[0], *y = c->in[1];
    if (!prt_eval_wants(c, 0))
        return POPRT_OK;
    const size_t row = prt_dims_product(x->dims, 1, x->rank), n = prt_tensor_count(c->in[2]);
    void *to = c->out[0]->data;
    if (a->zeroUnused != 0)
        prt_zero_elements(y->dtype, to, 0, prt_tensor_count(y));
    else
        prt_element_copy(y->dtype, to, 0, y->data, 0, prt_tensor_count(y));
    for (size_t i = 0; i < n; i++) {
        int64_t v[3]; /* rows, from, to */
        for (uint32_t k = 0; k < 3; k++)
            v[k] = prt_load_i64(c->in[k + 2]->dtype, c->in[k + 2]->data, i);
        if (v[0] < 0 || v[1] < 0 || v[2] < 0 || v[0] > x->dims[0] || v[0] > y->dims[0] ||
            v[1] > x->dims[0] - v[0] || v[2] > y->dims[0] - v[0])
            return prt_eval_fail(c, POPRT_E_ARG,
                "sequence %zu: %lld rows from row %lld to row %lld do not fit source and "
                "destination of %lld and %lld rows",
                i, (long long)v[0], (long long)v[1], (long long)v[2], (long long)x->dims[0],
                (long long)y->dims[0]);
        prt_element_copy(y->dtype, to, (size_t)v[2] * row, x->data, (size_t)v[1] * row,
            (size_t)v[0] * row);
    }
    return POPRT_OK;
}

const prt_op_hooks prt_op_gc_sequence_slice = { .infer = infer_sequence, .eval = eval_sequence };
