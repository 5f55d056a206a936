/* SPDX-License-Identifier: MIT */
/*
 * content.c — partial contents: reading them, computing them element by element, checking them
 * against element types.
 */
#include "op/content.h"

#include <math.h>

enum {
    MAX_INPUTS = 8,
    /* Limit of the denominator of a fraction such as 0.75; denominators are powers of two. */
    MOST_OVER = 256
};

/* Returns the largest n such that the type holds all integers in [-n, n]; 0 for types without
 * contents. */
static int64_t most_exact(int32_t dtype)
{
    switch (dtype) {
    case PRT_DTYPE_bool:
        return 1;
    case PRT_DTYPE_i32:
        return INT32_MAX;
    case PRT_DTYPE_i64:
        return -(PRT_DIM_EXPR + 1);
    case PRT_DTYPE_f32:
        return (int64_t)1 << 24;
    case PRT_DTYPE_f64:
        return (int64_t)1 << 53;
    default:
        return 0;
    }
}

/* Returns element `k` of a tensor as a dim. A number beyond `most` could be mistaken for an
 * expression. */
static int64_t element(prt_dims *dims, const prt_tensor *t, size_t k, int64_t most)
{
    if (!prt_dtype_is_float(t->dtype)) {
        const int64_t v = prt_load_i64(t->dtype, t->data, k);
        return v < -most || v > most ? PRT_DIM_UNKNOWN : v;
    }
    double v = prt_load_f64(t->dtype, t->data, k);
    int64_t by = 1;
    for (; dims != NULL && v != trunc(v) && by < MOST_OVER; by *= 2)
        v *= 2;
    if (!(v >= (double)-most && v <= (double)most) || v != (double)(int64_t)v)
        return PRT_DIM_UNKNOWN;
    return by == 1 ? (int64_t)v : prt_dim_make(dims, PRT_DIM_RATIO, (int64_t)v, by);
}

bool prt_known_of(const prt_infer *c, uint32_t i, prt_known *out)
{
    if (c->dims == NULL || !prt_infer_ranked(c, i) || most_exact(c->in[i].dtype) == 0)
        return false;
    const prt_tensor *t = c->value[i];
    if (t == NULL || t->kind != PRT_VALUE_TENSOR) {
        const prt_content *known = &c->content[i];
        out->count = known->count;
        if (known->count == 0 || known->count > PRT_CONTENT_MAX)
            return false;
        memcpy(out->values, known->values, known->count * sizeof(int64_t));
        return true;
    }
    return prt_known_read(c->dims, t, out);
}

bool prt_known_read(prt_dims *dims, const prt_tensor *t, prt_known *out)
{
    const int64_t most = most_exact(t->dtype);
    const size_t n = prt_tensor_count(t);
    if (most == 0 || n == 0 || n > PRT_CONTENT_MAX)
        return false;
    out->count = (uint32_t)n;
    for (size_t k = 0; k < n; k++)
        out->values[k] = element(dims, t, k, most);
    return true;
}

/* Returns true if the output is known to have `count` elements. */
static bool has_count(const prt_shape *out, uint32_t count)
{
    int64_t n = 1;
    for (int32_t i = 0; i < out->rank; i++)
        if (!prt_dim_is_number(out->dims[i]) || !prt_i64_mul(n, out->dims[i], &n))
            return false;
    return out->rank >= 0 && n == (int64_t)count;
}

poprt_status prt_known_set_output(prt_infer *c, uint32_t at, prt_known *k)
{
    if (!prt_infer_wants(c, at))
        return POPRT_OK;
    const prt_shape *out = &c->out[at];
    const int64_t most = most_exact(out->dtype);
    if (most == 0 || !has_count(out, k->count))
        return POPRT_OK;
    bool any = false;
    for (uint32_t i = 0; i < k->count; i++) {
        const int64_t v = k->values[i];
        const bool above = prt_dim_is_number(v) && (v < -most || v > most);
        if (above || (!prt_dtype_is_float(out->dtype) && prt_dim_has_ratio(c->dims, v)))
            k->values[i] = PRT_DIM_UNKNOWN;
        any |= k->values[i] != PRT_DIM_UNKNOWN;
    }
    return any ? prt_infer_set_content(c, at, k->count, k->values) : POPRT_OK;
}

/* Writes, for each element of `to`, the index of its element in `from`, which broadcasts to
 * `to`. */
static void broadcast_indices(const prt_shape *from, const prt_shape *to,
    uint16_t index[PRT_CONTENT_MAX])
{
    int64_t at[PRT_MAX_RANK] = { 0 }, stride[PRT_MAX_RANK] = { 0 };
    int64_t size = 1;
    for (int32_t k = 1; k <= from->rank; k++) {
        const int64_t dim = from->dims[from->rank - k];
        stride[to->rank - k] = dim != 1 ? size : 0;
        size *= dim;
    }
    uint32_t n = 0;
    do {
        int64_t i = 0;
        for (int32_t k = 0; k < to->rank; k++)
            i += at[k] * stride[k];
        index[n++] = (uint16_t)i;
    } while (prt_at_next((uint32_t)to->rank, to->dims, at));
}

int64_t prt_known_is_true(prt_dims *dims, int64_t dim)
{
    const int64_t size =
        prt_dim_never_negative(dims, dim) ? dim : prt_dim_max(dims, dim, prt_dim_sub(dims, 0, dim));
    return prt_dim_min(dims, size, 1);
}

/* Drops ratios that binary floats represent only approximately: the divisor is not a power of
 * two. */
static void drop_rounded(const prt_dims *dims, uint32_t n, int64_t *values)
{
    for (uint32_t i = 0; i < n; i++) {
        if (!prt_dim_is_expr(values[i]))
            continue;
        const prt_dim_node *node = prt_dims_at(dims, prt_dim_index(values[i]));
        if (node->op == PRT_DIM_RATIO && (node->b & (node->b - 1)) != 0)
            values[i] = PRT_DIM_UNKNOWN;
    }
}

poprt_status prt_known_map(prt_infer *c, prt_known_fn fn)
{
    prt_known *in = NULL;
    prt_known out = { .count = 1 };
    if (c->dims == NULL || c->n_in == 0 || c->n_in > MAX_INPUTS || !prt_infer_wants(c, 0))
        return POPRT_OK;
    for (uint32_t i = 0; i < c->n_in; i++) /* cheap check before memory is allocated */
        if (c->value[i] == NULL && c->content[i].count == 0)
            return POPRT_OK;
    for (int32_t k = 0; k < c->out[0].rank; k++) {
        const int64_t dim = c->out[0].dims[k];
        if (!prt_dim_is_number(dim) || dim <= 0 || dim > PRT_CONTENT_MAX / out.count)
            return POPRT_OK;
        out.count *= (uint32_t)dim;
    }
    in = PRT_NEW_N(c->scratch, prt_known, c->n_in);
    uint16_t(*index)[PRT_CONTENT_MAX] =
        prt_arena_alloc(c->scratch, c->n_in * sizeof(uint16_t[PRT_CONTENT_MAX]));
    if (in == NULL || index == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < c->n_in; i++) {
        if (!prt_known_of(c, i, &in[i]) || !has_count(&c->in[i], in[i].count))
            return POPRT_OK;
        broadcast_indices(&c->in[i], &c->out[0], index[i]);
    }
    for (uint32_t k = 0; k < out.count; k++) {
        int64_t element_of[MAX_INPUTS];
        for (uint32_t i = 0; i < c->n_in; i++)
            element_of[i] = in[i].values[index[i][k]];
        if (prt_dtype_is_float(c->in[c->n_in - 1].dtype))
            drop_rounded(c->dims, c->n_in, element_of);
        out.values[k] = fn(c, c->n_in, element_of);
    }
    return prt_known_set(c, &out);
}
