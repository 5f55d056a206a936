/* SPDX-License-Identifier: MIT */
/*
 * reduce.c — Reduce*: sums, products, means, norms, extremes and logarithms of sums along axes.
 *
 * Floats are accumulated in double. Integers are accumulated in 64 bits and wrap; a mean of
 * integers truncates toward zero. NaN propagates. The reduction of no elements is the neutral
 * element (for a mean of floats NaN, for a mean of integers an error).
 */
#include "op/share/reduce.h"

#include <math.h>

#include "op/share/elements.h"
#include "op/share/shape_values.h"

typedef enum kind { SUM, PROD, MEAN, MAX, MIN, L1, L2, SUM_SQUARE, LOG_SUM, LOG_SUM_EXP } kind;

/* All rows of this file have the same attributes in the same order. */
typedef prt_reduce_sum_attrs attrs;

/* ---- shape */

/* Reduces the known integers of a shape tensor; models compute numbers of elements this way. */
static poprt_status reduce_content(prt_infer *c, kind k)
{
    int64_t values[PRT_CONTENT_MAX], all;
    uint32_t count;
    if (k > MIN || k == MEAN || c->in[0].rank != 1 || !prt_shape_values(c, 0, values, &count) ||
        (count == 0 && (k == MAX || k == MIN)))
        return POPRT_OK;
    all = k == PROD ? 1 : k == SUM ? 0 : values[0];
    for (uint32_t i = 0; i < count; i++)
        switch (k) {
        case PROD:
            all = prt_dim_mul(c->dims, all, values[i]);
            break;
        case SUM:
            all = prt_dim_add(c->dims, all, values[i]);
            break;
        case MAX:
            all = prt_dim_max(c->dims, all, values[i]);
            break;
        default:
            all = prt_dim_min(c->dims, all, values[i]);
            break;
        }
    return prt_shape_values_set(c, 0, 1, &all);
}

/* Axes not known: the rank is known if the dims are kept, or if the number of axes is known. */
static poprt_status infer_open(prt_infer *c)
{
    const attrs *a = c->attrs;
    const prt_shape *x = &c->in[0];
    int64_t listed;
    if (a->keepdims != 0)
        return prt_infer_unranked(c, 0, x->dtype, x->rank);
    if (x->rank < 0 || !prt_shape_values_count(c, 1, &listed) || listed <= 0 || listed > x->rank)
        return prt_infer_unranked(c, 0, x->dtype, PRT_RANK_UNKNOWN);
    return prt_infer_unranked(c, 0, x->dtype, x->rank - (int32_t)listed);
}

static poprt_status infer(prt_infer *c, kind k)
{
    const attrs *a = c->attrs;
    const prt_shape *x = &c->in[0];
    int64_t axes[PRT_MAX_RANK], dims[PRT_MAX_RANK];
    uint32_t count = 0, set;
    if (prt_infer_has(c, 1) && !prt_infer_ints(c, 1, axes, PRT_MAX_RANK, &count))
        return infer_open(c);
    const bool all = count == 0 && a->noop_with_empty_axes == 0;
    if (x->rank < 0 && all && a->keepdims == 0)
        return prt_infer_set(c, 0, x->dtype, 0, NULL);
    if (x->rank < 0)
        return infer_open(c);
    if (!prt_shape_axes(axes, count, (uint32_t)x->rank, &set))
        return prt_infer_fail(c, POPRT_E_SHAPE, "an axis is outside [%d, %d]", -x->rank,
            x->rank - 1);
    if ((uint32_t)__builtin_popcount(set) != count)
        return prt_infer_fail(c, POPRT_E_SHAPE, "axes names an axis twice");
    int32_t rank = 0;
    for (int32_t i = 0; i < x->rank; i++) {
        if (!all && (set >> i & 1) == 0)
            dims[rank++] = x->dims[i];
        else if (a->keepdims != 0)
            dims[rank++] = 1;
    }
    PRT_TRY(prt_infer_set(c, 0, x->dtype, rank, dims));
    return all || set != 0 ? reduce_content(c, k) : POPRT_OK;
}

/* ---- accumulating */

enum { CHUNK = 128 };

typedef struct reducer {
    kind kind;
    int32_t dtype;
    bool floats, is_signed;
    /* shift subtracted before exp; float accumulator */
    double low, f;
    uint64_t i; /* integer accumulator; signed types are in two's complement */
} reducer;

/* Returns the least or greatest number of an integer type. */
static uint64_t extreme(const reducer *r, bool greatest)
{
    const uint32_t bits = prt_dtype_bits(r->dtype);
    if (r->dtype == PRT_DTYPE_bool)
        return greatest;
    if (r->is_signed) {
        const uint64_t least = ~(uint64_t)0 << (bits - 1);
        return greatest ? ~least : least;
    }
    return greatest ? ~(uint64_t)0 >> (64 - bits) : 0;
}

static void start(reducer *r)
{
    r->f = r->kind == PROD ? 1.0
        : r->kind == MAX   ? (double)-INFINITY
        : r->kind == MIN   ? (double)INFINITY
                           : 0.0;
    r->i = r->kind == PROD ? 1
        : r->kind == MAX   ? extreme(r, false)
        : r->kind == MIN   ? extreme(r, true)
                           : 0;
}

static void add_floats(reducer *r, const double *x, size_t n)
{
    double f = r->f;
    switch (r->kind) {
    case SUM:
    case MEAN:
    case LOG_SUM:
        for (size_t i = 0; i < n; i++)
            f += x[i];
        break;
    case PROD:
        for (size_t i = 0; i < n; i++)
            f *= x[i];
        break;
    case MAX:
        for (size_t i = 0; i < n; i++)
            f = x[i] > f || x[i] != x[i] ? x[i] : f;
        break;
    case MIN:
        for (size_t i = 0; i < n; i++)
            f = x[i] < f || x[i] != x[i] ? x[i] : f;
        break;
    case L1:
        for (size_t i = 0; i < n; i++)
            f += fabs(x[i]);
        break;
    case L2:
    case SUM_SQUARE:
        for (size_t i = 0; i < n; i++)
            f += x[i] * x[i];
        break;
    case LOG_SUM_EXP:
        for (size_t i = 0; i < n; i++)
            f += exp(x[i] - r->low);
        break;
    }
    r->f = f;
}

/* Returns the element of `u` and `x` that is least after XOR with `flip`. Four independent
 * minima avoid a dependency chain. */
static uint64_t least(uint64_t u, uint64_t flip, const uint64_t *x, size_t n)
{
    uint64_t best[4] = { u ^ flip, u ^ flip, u ^ flip, u ^ flip };
    for (size_t i = 0; i < n; i += 4)
        for (size_t k = 0; k < 4; k++) {
            const uint64_t v = x[i + k < n ? i + k : i] ^ flip;
            best[k] = v < best[k] ? v : best[k];
        }
    for (size_t k = 1; k < 4; k++)
        best[0] = best[k] < best[0] ? best[k] : best[0];
    return best[0] ^ flip;
}

static void add_integers(reducer *r, const uint64_t *x, size_t n)
{
    /* XOR with it gives signed numbers the order of unsigned numbers */
    const uint64_t sign = r->is_signed ? (uint64_t)1 << 63 : 0;
    uint64_t u = r->i;
    switch (r->kind) {
    case PROD:
        for (size_t i = 0; i < n; i++)
            u *= x[i];
        break;
    case MAX:
        u = least(u, ~sign, x, n);
        break;
    case MIN:
        u = least(u, sign, x, n);
        break;
    case L1:
        for (size_t i = 0; i < n; i++)
            u += (x[i] & sign) != 0 ? 0 - x[i] : x[i];
        break;
    case SUM_SQUARE:
        for (size_t i = 0; i < n; i++)
            u += x[i] * x[i];
        break;
    case L2:
        for (size_t i = 0; i < n; i++) {
            const double v = (double)((x[i] & sign) != 0 ? 0 - x[i] : x[i]);
            r->f += v * v;
        }
        break;
    default:
        for (size_t i = 0; i < n; i++)
            u += x[i];
        break;
    }
    r->i = u;
}

/* Accumulates `n` elements that are `step` apart. */
static void add_run(reducer *r, const void *data, size_t first, size_t step, size_t n)
{
    double reals[CHUNK];
    uint64_t whole[CHUNK];
    for (size_t done = 0, m; done < n; done += m) {
        const size_t at = first + done * step;
        m = n - done < CHUNK ? n - done : CHUNK;
        if (r->floats) {
            prt_read_f64(r->dtype, data, at, step, m, reals);
            add_floats(r, reals, m);
        } else {
            prt_read_i64(r->dtype, data, at, step, m, (int64_t *)whole);
            add_integers(r, whole, m);
        }
    }
}

static void finish(const reducer *r, size_t n, void *to, size_t index)
{
    double f = r->f;
    if (!r->floats) {
        uint64_t i = r->i;
        if (r->kind == L2)
            prt_store_f64(r->dtype, to, index, sqrt(f));
        if (r->kind == MEAN)
            i = r->is_signed ? (uint64_t)((int64_t)i / (int64_t)n) : i / n;
        if (r->kind != L2)
            prt_store_u64(r->dtype, to, index, i);
        return;
    }
    if (r->kind == MEAN)
        f /= (double)n;
    else if (r->kind == L2)
        f = sqrt(f);
    else if (r->kind == LOG_SUM)
        f = log(f);
    else if (r->kind == LOG_SUM_EXP)
        f = log(f) + r->low;
    prt_store_f64(r->dtype, to, index, f);
}

/* ---- iterating */

/* The kept or the reduced dims with their strides in the input; at least one dim. */
typedef struct walk {
    uint32_t rank;
    size_t count; /* product of dims */
    int64_t dims[PRT_MAX_RANK];
    size_t stride[PRT_MAX_RANK];
} walk;

static walk make_walk(const prt_tensor *x, uint32_t set)
{
    walk w = { .count = 1 };
    for (uint32_t i = 0; i < x->rank; i++) {
        if ((set >> i & 1) == 0 || x->dims[i] == 1)
            continue;
        const size_t stride = prt_dims_product(x->dims, i + 1, x->rank);
        w.count *= (size_t)x->dims[i];
        if (w.rank > 0 && w.stride[w.rank - 1] == stride * (size_t)x->dims[i]) {
            w.dims[w.rank - 1] *= x->dims[i];
            w.stride[w.rank - 1] = stride;
            continue;
        }
        w.dims[w.rank] = x->dims[i];
        w.stride[w.rank++] = stride;
    }
    if (w.rank == 0) {
        w.dims[0] = 1;
        w.stride[w.rank++] = 1;
    }
    return w;
}

/* Advances the coordinates of the dims below `rank`, and `offset` with them. */
static void step(const walk *w, uint32_t rank, int64_t *at, size_t *offset)
{
    for (uint32_t i = rank; i-- > 0;) {
        *offset += w->stride[i];
        if (++at[i] < w->dims[i])
            return;
        *offset -= w->stride[i] * (size_t)w->dims[i];
        at[i] = 0;
    }
}

/* Accumulates all elements that are reduced to one output element. */
static void add_all(reducer *r, const walk *w, const void *data, size_t base)
{
    const uint32_t last = w->rank - 1;
    const size_t run = (size_t)w->dims[last];
    int64_t at[PRT_MAX_RANK] = { 0 };
    size_t offset = base;
    for (size_t done = 0; done < w->count; done += run) {
        add_run(r, data, offset, w->stride[last], run);
        step(w, last, at, &offset);
    }
}

poprt_status prt_reduce_axes(const prt_eval *c, uint32_t *set)
{
    const attrs *a = c->attrs;
    int64_t axes[PRT_MAX_RANK];
    uint32_t count = 0;
    if (prt_eval_has(c, 1))
        PRT_TRY(prt_eval_ints(c, 1, axes, PRT_MAX_RANK, &count));
    if (!prt_shape_axes(axes, count, c->in[0]->rank, set) ||
        (uint32_t)__builtin_popcount(*set) != count)
        return prt_eval_fail(c, POPRT_E_SHAPE, "an axis is repeated or outside the rank %u",
            c->in[0]->rank);
    if (count == 0 && a->noop_with_empty_axes == 0)
        *set = (1u << c->in[0]->rank) - 1;
    return POPRT_OK;
}

static poprt_status eval(prt_eval *c, kind k)
{
    const attrs *a = c->attrs;
    const prt_tensor *x = c->in[0];
    int64_t dims[PRT_MAX_RANK];
    uint32_t set, rank = 0;
    PRT_TRY(prt_reduce_axes(c, &set));
    if (set == 0 && (k == SUM || k == PROD || k == MEAN || k == MAX || k == MIN))
        return prt_eval_copy(c, 0, x); /* only single elements: the copy keeps -0 */
    for (uint32_t i = 0; i < x->rank; i++) {
        if ((set >> i & 1) == 0)
            dims[rank++] = x->dims[i];
        else if (a->keepdims != 0)
            dims[rank++] = 1;
    }
    PRT_TRY(prt_shape_output(c, 0, x->dtype, rank, dims));
    const walk kept = make_walk(x, ~set), reduced = make_walk(x, set);
    reducer r = { .kind = k,
        .dtype = x->dtype,
        .floats = prt_dtype_is_float(x->dtype),
        .is_signed = prt_dtype_of(x->dtype)->kind == PRT_KIND_int };
    if (k == MEAN && !r.floats && reduced.count == 0 && kept.count != 0)
        return prt_eval_fail(c, POPRT_E_ARG,
            "the mean of no integers is undefined; at least one element is required");
    int64_t at[PRT_MAX_RANK] = { 0 };
    size_t base = 0;
    for (size_t to = 0; to < kept.count; to++) {
        if (k == LOG_SUM_EXP) {
            r.kind = MAX;
            start(&r);
            add_all(&r, &reduced, x->data, base);
            r.low = isfinite(r.f) ? r.f : 0.0;
            r.kind = k;
        }
        start(&r);
        add_all(&r, &reduced, x->data, base);
        finish(&r, reduced.count, c->out[0]->data, to);
        step(&kept, kept.rank, at, &base);
    }
    return POPRT_OK;
}

#define REDUCE(id, kind)                                                                           \
    static poprt_status infer_##id(prt_infer *c)                                                   \
    {                                                                                              \
        return infer(c, kind);                                                                     \
    }                                                                                              \
    static poprt_status eval_##id(prt_eval *c)                                                     \
    {                                                                                              \
        return eval(c, kind);                                                                      \
    }                                                                                              \
    const prt_op_hooks prt_op_reduce_##id = { .infer = infer_##id, .eval = eval_##id };

REDUCE(sum, SUM)
REDUCE(prod, PROD)
REDUCE(mean, MEAN)
REDUCE(max, MAX)
REDUCE(min, MIN)
REDUCE(l1, L1)
REDUCE(l2, L2)
REDUCE(sum_square, SUM_SQUARE)
REDUCE(log_sum, LOG_SUM)
REDUCE(log_sum_exp, LOG_SUM_EXP)
