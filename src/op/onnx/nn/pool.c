/* SPDX-License-Identifier: MIT */
/*
 * pool.c — MaxPool, AveragePool, LpPool and their Global variants: one value for each window of
 * each channel. In the Global variants one window covers the whole input.
 */
#include <float.h>
#include <math.h>

#include "op/internal/gradient.h"
#include "op/share/sliding.h"

typedef struct pool pool;
struct pool {
    prt_window w;
    size_t planes, in_positions, positions;
    double p;          /* exponent of LpPool */
    bool count_pad;    /* count_include_pad of AveragePool */
    bool column_major; /* numbering of MaxPool's indices */
    double least;      /* result of MaxPool for an empty window */
    const double *plane;
    const prt_tensor *masks; /* of MaxpoolWithMask; the planes of the mask repeat */
    size_t mask_planes;
    const int32_t *mask; /* mask of the current plane */
    /* Returns the value of a window; offsets first[i] ≤ k < last[i] are inside the input. */
    double (*value)(const pool *p, const int64_t *out, const int64_t *first, const int64_t *last,
        size_t *index);
};

/* Computes the range of taps of a window that are inside the input. Returns false if it is
 * empty. */
static bool inside(const prt_window *w, const int64_t *out, int64_t *first, int64_t *last)
{
    bool some = true;
    for (uint32_t i = 0; i < w->rank; i++) {
        const int64_t start = out[i] * w->stride[i] - w->begin[i], d = w->dilation[i];
        first[i] = start < 0 ? (-start + d - 1) / d : 0;
        last[i] = start < w->in[i] ? (w->in[i] - start + d - 1) / d : 0;
        if (last[i] > w->kernel[i])
            last[i] = w->kernel[i];
        some = some && first[i] < last[i];
    }
    return some;
}

/* Advances to the next tap within [first, last). Returns false after the last. */
static bool next_tap(uint32_t rank, const int64_t *first, const int64_t *last, int64_t *tap)
{
    for (uint32_t i = rank; i-- > 0;) {
        if (++tap[i] < last[i])
            return true;
        tap[i] = first[i];
    }
    return false;
}

/* Converts a row-major index within one plane to MaxPool's column-major numbering. */
static size_t column_major(const prt_window *w, size_t at)
{
    int64_t x[PRT_MAX_SPATIAL];
    size_t index = 0;
    prt_unravel(at, w->rank, w->in, x);
    for (uint32_t i = w->rank; i-- > 0;)
        index = index * (size_t)w->in[i] + (size_t)x[i];
    return index;
}

static double max_value(const pool *p, const int64_t *out, const int64_t *first,
    const int64_t *last, size_t *index)
{
    int64_t tap[PRT_MAX_SPATIAL];
    size_t best = SIZE_MAX;
    memcpy(tap, first, sizeof(tap));
    do {
        const size_t at = prt_window_source(&p->w, out, tap);
        if (best == SIZE_MAX || p->plane[at] > p->plane[best] ||
            (isnan(p->plane[at]) && !isnan(p->plane[best])))
            best = at;
    } while (next_tap(p->w.rank, first, last, tap));
    *index = p->column_major ? column_major(&p->w, best) : best;
    return p->plane[best];
}

static double average_value(const pool *p, const int64_t *out, const int64_t *first,
    const int64_t *last, size_t *index)
{
    int64_t tap[PRT_MAX_SPATIAL];
    double sum = 0.0, count = 1.0;
    const prt_window *w = &p->w;
    (void)index;
    for (uint32_t i = 0; i < w->rank; i++) {
        /* Requested padding counts; positions that ceil_mode adds after the padding do not. */
        const int64_t start = out[i] * w->stride[i] - w->begin[i];
        const int64_t most = (w->in[i] + w->end[i] - start + w->dilation[i] - 1) / w->dilation[i];
        count *= (double)(!p->count_pad ? last[i] - first[i]
                : most < w->kernel[i]   ? most
                                        : w->kernel[i]);
    }
    memcpy(tap, first, sizeof(tap));
    do
        sum += p->plane[prt_window_source(w, out, tap)];
    while (next_tap(w->rank, first, last, tap));
    return sum / count;
}

static double lp_value(const pool *p, const int64_t *out, const int64_t *first, const int64_t *last,
    size_t *index)
{
    int64_t tap[PRT_MAX_SPATIAL];
    double sum = 0.0;
    (void)index;
    memcpy(tap, first, sizeof(tap));
    do
        sum += pow(fabs(p->plane[prt_window_source(&p->w, out, tap)]), p->p);
    while (next_tap(p->w.rank, first, last, tap));
    return pow(sum, 1.0 / p->p);
}

static poprt_status run(prt_eval *c, pool *p)
{
    const prt_tensor *x = c->in[0];
    prt_tensor *y = c->out[0];
    int64_t *indices = prt_eval_wants(c, 1) ? c->out[1]->data : NULL;
    p->planes = (size_t)x->dims[0] * (size_t)x->dims[1];
    p->in_positions = prt_dims_product(p->w.in, 0, p->w.rank);
    p->positions = prt_dims_product(p->w.out, 0, p->w.rank);
    if (p->planes == 0 || p->positions == 0)
        return POPRT_OK;
    double *plane = prt_eval_scratch(c, p->in_positions, sizeof(double));
    if (plane == NULL)
        return POPRT_E_NOMEM;
    p->plane = plane;
    for (size_t n = 0; n < p->planes; n++) {
        int64_t out[PRT_MAX_SPATIAL] = { 0 }, first[PRT_MAX_SPATIAL] = { 0 };
        int64_t last[PRT_MAX_SPATIAL] = { 0 };
        PRT_TRY(c->host->check(c));
        prt_reals_load(x->dtype, x->data, n * p->in_positions, 1, p->in_positions, plane);
        if (p->masks != NULL)
            p->mask = (const int32_t *)p->masks->data + n % p->mask_planes * p->in_positions;
        for (size_t i = 0; i < p->positions; i++) {
            size_t index = 0;
            const double value =
                inside(&p->w, out, first, last) ? p->value(p, out, first, last, &index) : p->least;
            if (y != NULL)
                prt_reals_store(y->dtype, y->data, n * p->positions + i, 1, 1, &value);
            if (indices != NULL)
                indices[n * p->positions + i] = (int64_t)(n * p->in_positions + index);
            (void)prt_at_next(p->w.rank, p->w.out, out);
        }
    }
    return POPRT_OK;
}

/* ---- windows ---- */

static poprt_status infer_pool(prt_infer *c, const prt_window_spec *spec)
{
    int64_t dims[PRT_MAX_RANK], in[PRT_MAX_SPATIAL];
    const prt_shape *x = &c->in[0];
    const uint32_t spatial = spec->kernel.count;
    if (spatial == 0)
        return prt_infer_fail(c, POPRT_E_ARG, "kernel_shape is missing");
    PRT_TRY(prt_window_check(c, spec, spatial));
    PRT_TRY(prt_infer_rank(c, 0, (int32_t)spatial + 2));
    for (uint32_t i = 0; i < spatial; i++)
        in[i] = prt_infer_dim(c, 0, i + 2);
    prt_window w;
    prt_window_fill(c->dims, spec, spatial, in, NULL, &w);
    dims[0] = prt_infer_dim(c, 0, 0);
    dims[1] = prt_infer_dim(c, 0, 1);
    memcpy(dims + 2, w.out, spatial * sizeof(int64_t));
    PRT_TRY(prt_infer_exact(c, 1, PRT_DTYPE_i64, (int32_t)spatial + 2, dims));
    return prt_infer_exact(c, 0, x->dtype, (int32_t)spatial + 2, dims);
}

static poprt_status run_pool(prt_eval *c, pool *p, const prt_window_spec *spec)
{
    prt_window_fill(NULL, spec, spec->kernel.count, c->in[0]->dims + 2, NULL, &p->w);
    return run(c, p);
}

static prt_window_spec max_spec(const prt_max_pool_attrs *a)
{
    prt_window_spec spec = PRT_WINDOW_SPEC(a);
    spec.ceil_mode = a->ceil_mode != 0;
    return spec;
}

static poprt_status infer_max(prt_infer *c)
{
    const prt_window_spec spec = max_spec(c->attrs);
    return infer_pool(c, &spec);
}

static double least_of(int32_t dtype)
{
    return dtype == PRT_DTYPE_u8 ? 0.0 : dtype == PRT_DTYPE_i8 ? -128.0 : (double)-INFINITY;
}

static poprt_status eval_max(prt_eval *c)
{
    const prt_max_pool_attrs *a = c->attrs;
    const prt_window_spec spec = max_spec(a);
    pool p = { .value = max_value,
        .column_major = a->storage_order != 0,
        .least = least_of(c->in[0]->dtype) };
    return run_pool(c, &p, &spec);
}

const prt_op_hooks prt_op_max_pool = { .infer = infer_max, .eval = eval_max };

/* ---- MaxPoolGrad: the first maximum of each window gets the gradient ---- */

static prt_max_pool_attrs forward_attrs(const prt_max_pool_grad_attrs *a)
{
    prt_max_pool_attrs forward = PRT_ATTRS_OF(max_pool);
    forward.kernel_shape = a->kernel_shape;
    forward.strides = a->strides;
    forward.dilations = a->dilations;
    forward.pads = a->pads;
    forward.auto_pad = a->auto_pad;
    forward.ceil_mode = a->ceil_mode;
    return forward;
}

static poprt_status infer_max_grad(prt_infer *c)
{
    static const uint32_t like[1] = { 0 };
    const prt_max_pool_attrs forward = forward_attrs(c->attrs);
    const prt_gradient g = { PRT_OP_max_pool, &forward, 1, 1, 1, like };
    return prt_gradient_infer(c, &g);
}

static void scatter_plane(const pool *p, const prt_tensor *dy, size_t n, double *dx)
{
    int64_t out[PRT_MAX_SPATIAL] = { 0 }, first[PRT_MAX_SPATIAL] = { 0 };
    int64_t last[PRT_MAX_SPATIAL] = { 0 };
    memset(dx, 0, p->in_positions * sizeof(double));
    for (size_t i = 0; i < p->positions; i++) {
        size_t at;
        if (inside(&p->w, out, first, last)) {
            (void)max_value(p, out, first, last, &at);
            dx[at] += prt_real_at(dy, n * p->positions + i);
        }
        (void)prt_at_next(p->w.rank, p->w.out, out);
    }
}

static poprt_status eval_max_grad(prt_eval *c)
{
    const prt_max_pool_attrs forward = forward_attrs(c->attrs);
    const prt_window_spec spec = max_spec(&forward);
    const prt_tensor *x = c->in[0];
    pool p = { 0 };
    prt_window_fill(NULL, &spec, spec.kernel.count, x->dims + 2, NULL, &p.w);
    p.planes = (size_t)x->dims[0] * (size_t)x->dims[1];
    p.in_positions = prt_dims_product(p.w.in, 0, p.w.rank);
    p.positions = prt_dims_product(p.w.out, 0, p.w.rank);
    double *plane = prt_eval_scratch(c, p.in_positions, sizeof(double));
    double *dx = prt_eval_scratch(c, p.in_positions, sizeof(double));
    if (plane == NULL || dx == NULL)
        return POPRT_E_NOMEM;
    p.plane = plane;
    for (size_t n = 0; n < p.planes; n++) {
        PRT_TRY(c->host->check(c));
        prt_reals_load(x->dtype, x->data, n * p.in_positions, 1, p.in_positions, plane);
        scatter_plane(&p, c->in[1], n, dx);
        prt_reals_store(x->dtype, c->out[0]->data, n * p.in_positions, 1, p.in_positions, dx);
    }
    return POPRT_OK;
}

const prt_op_hooks prt_op_max_pool_grad = { .infer = infer_max_grad, .eval = eval_max_grad };

#ifndef PRT_NO_MICROSOFT

/* ---- MaxpoolWithMask of com.microsoft ---- */

/* Reads each row of the window up to the first masked element. The first element of an image
 * (not of a row) counts as not masked, as in ONNX Runtime. */
static double masked_value(const pool *p, const int64_t *out, const int64_t *first,
    const int64_t *last, size_t *index)
{
    int64_t tap[PRT_MAX_SPATIAL];
    const uint32_t end = p->w.rank - 1;
    double most = p->least;
    (void)index;
    memcpy(tap, first, p->w.rank * sizeof(int64_t));
    do {
        const size_t at = prt_window_source(&p->w, out, tap);
        if ((at > 0 || p->w.rank == 1) && p->mask[at] == 0) {
            tap[end] = last[end] - 1;
            continue;
        }
        most = p->plane[at] > most ? p->plane[at] : most;
    } while (next_tap(p->w.rank, first, last, tap));
    return most;
}

static prt_window_spec masked_spec(const prt_ms_maxpool_with_mask_attrs *a)
{
    return (prt_window_spec){ .kernel = a->kernel_shape,
        .strides = a->strides,
        .pads = a->pads,
        .auto_pad = a->auto_pad };
}

static poprt_status infer_masked(prt_infer *c)
{
    const prt_window_spec spec = masked_spec(c->attrs);
    PRT_TRY(infer_pool(c, &spec));
    if (!prt_infer_ranked(c, 0) || !prt_infer_ranked(c, 1))
        return POPRT_OK;
    const prt_shape *x = &c->in[0], *m = &c->in[1];
    int64_t dim;
    PRT_TRY(prt_infer_rank(c, 1, x->rank));
    for (int32_t k = 2; k < x->rank; k++)
        PRT_TRY(prt_infer_merge(c, x->dims[k], m->dims[k], "a dim of the mask", &dim));
    for (int32_t k = 0; k < 2; k++)
        if (prt_dim_is_number(m->dims[k]) && m->dims[k] < 1)
            return prt_infer_fail(c, POPRT_E_SHAPE,
                "the mask is empty; dims 0 and 1 must be at least 1");
    return POPRT_OK;
}

static poprt_status eval_masked(prt_eval *c)
{
    const prt_ms_maxpool_with_mask_attrs *a = c->attrs;
    const prt_window_spec spec = masked_spec(a);
    pool p = { .value = masked_value, .least = (double)-FLT_MAX, .masks = c->in[1] };
    p.mask_planes = (size_t)c->in[1]->dims[0] * (size_t)c->in[1]->dims[1];
    return run_pool(c, &p, &spec);
}

const prt_op_hooks prt_op_ms_maxpool_with_mask = { .infer = infer_masked, .eval = eval_masked };

#endif

static prt_window_spec average_spec(const prt_average_pool_attrs *a)
{
    prt_window_spec spec = PRT_WINDOW_SPEC(a);
    spec.ceil_mode = a->ceil_mode != 0;
    return spec;
}

static poprt_status infer_average(prt_infer *c)
{
    const prt_window_spec spec = average_spec(c->attrs);
    return infer_pool(c, &spec);
}

static poprt_status eval_average(prt_eval *c)
{
    const prt_average_pool_attrs *a = c->attrs;
    const prt_window_spec spec = average_spec(a);
    pool p = { .value = average_value, .count_pad = a->count_include_pad != 0 };
    return run_pool(c, &p, &spec);
}

const prt_op_hooks prt_op_average_pool = { .infer = infer_average, .eval = eval_average };

static prt_window_spec lp_spec(const prt_lp_pool_attrs *a)
{
    prt_window_spec spec = PRT_WINDOW_SPEC(a);
    spec.ceil_mode = a->ceil_mode != 0;
    return spec;
}

static poprt_status check_p(const prt_infer *c, int64_t p)
{
    if (p < 1)
        return prt_infer_fail(c, POPRT_E_ARG, "p is %lld; it must be at least 1", (long long)p);
    return POPRT_OK;
}

static poprt_status infer_lp(prt_infer *c)
{
    const prt_lp_pool_attrs *a = c->attrs;
    const prt_window_spec spec = lp_spec(a);
    PRT_TRY(check_p(c, a->p));
    return infer_pool(c, &spec);
}

static poprt_status eval_lp(prt_eval *c)
{
    const prt_lp_pool_attrs *a = c->attrs;
    const prt_window_spec spec = lp_spec(a);
    pool p = { .value = lp_value, .p = (double)a->p };
    return run_pool(c, &p, &spec);
}

const prt_op_hooks prt_op_lp_pool = { .infer = infer_lp, .eval = eval_lp };

/* ---- global ---- */

static poprt_status infer_global(prt_infer *c)
{
    const prt_shape *x = &c->in[0];
    int64_t dims[PRT_MAX_RANK];
    if (x->rank < 0)
        return prt_infer_unranked(c, 0, x->dtype, x->rank);
    if (x->rank < 2)
        return prt_infer_fail(c, POPRT_E_SHAPE,
            "the input has rank %d; a rank of at least 2 is required", x->rank);
    for (int32_t i = 0; i < x->rank; i++)
        dims[i] = i < 2 ? x->dims[i] : 1;
    return prt_infer_set(c, 0, x->dtype, x->rank, dims);
}

static poprt_status run_global(prt_eval *c, pool *p)
{
    const prt_tensor *x = c->in[0];
    p->w.rank = x->rank - 2;
    for (uint32_t i = 0; i < p->w.rank; i++) {
        p->w.in[i] = p->w.kernel[i] = x->dims[i + 2];
        p->w.out[i] = p->w.stride[i] = p->w.dilation[i] = 1;
    }
    return run(c, p);
}

static poprt_status eval_global_average(prt_eval *c)
{
    pool p = { .value = average_value, .least = (double)NAN };
    return run_global(c, &p);
}

static poprt_status eval_global_max(prt_eval *c)
{
    pool p = { .value = max_value, .least = (double)-INFINITY };
    return run_global(c, &p);
}

static poprt_status infer_global_lp(prt_infer *c)
{
    const prt_global_lp_pool_attrs *a = c->attrs;
    PRT_TRY(check_p(c, a->p));
    return infer_global(c);
}

static poprt_status eval_global_lp(prt_eval *c)
{
    const prt_global_lp_pool_attrs *a = c->attrs;
    pool p = { .value = lp_value, .p = (double)a->p };
    return run_global(c, &p);
}

const prt_op_hooks prt_op_global_average_pool = { .infer = infer_global,
    .eval = eval_global_average };
const prt_op_hooks prt_op_global_max_pool = { .infer = infer_global, .eval = eval_global_max };
const prt_op_hooks prt_op_global_lp_pool = { .infer = infer_global_lp, .eval = eval_global_lp };
