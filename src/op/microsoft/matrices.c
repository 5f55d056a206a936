/* SPDX-License-Identifier: MIT */
/*
 * matrices.c — Inverse of square matrices, CDist (pairwise distances of two sets of points),
 * ComplexMul and ComplexMulConj, IsAllFinite, UnfoldTensor.
 */
#include <math.h>

#include "op/share/broadcast.h"
#include "op/share/shape_values.h"
#include "op/share/reals.h"

/* ---- Inverse ---- */

static poprt_status infer_inverse(prt_infer *c)
{
    const prt_shape *x = &c->in[0];
    int64_t side;
    if (prt_infer_ranked(c, 0)) {
        if (x->rank < 2)
            return prt_infer_fail(c, POPRT_E_SHAPE, "the input has rank %d; at least 2 is needed",
                x->rank);
        PRT_TRY(prt_infer_merge(c, x->dims[x->rank - 1], x->dims[x->rank - 2], "side of the matrix",
            &side));
    }
    return prt_infer_like(c, 0, 0, x->dtype);
}

/* Gauss-Jordan elimination with partial pivoting: reduces m to the identity and computes its
   inverse in `to`. A singular matrix gives the results of division by zero. */
static void invert(size_t n, double *m, double *to)
{
    for (size_t i = 0; i < n * n; i++)
        to[i] = i % (n + 1) == 0 ? 1 : 0;
    for (size_t k = 0; k < n; k++) {
        size_t pivot = k;
        for (size_t i = k + 1; i < n; i++)
            if (fabs(m[i * n + k]) > fabs(m[pivot * n + k]))
                pivot = i;
        for (size_t j = 0; j < n; j++) {
            const double a = m[k * n + j], b = to[k * n + j];
            m[k * n + j] = m[pivot * n + j];
            to[k * n + j] = to[pivot * n + j];
            m[pivot * n + j] = a;
            to[pivot * n + j] = b;
        }
        const double by = m[k * n + k];
        for (size_t j = 0; j < n; j++) {
            m[k * n + j] /= by;
            to[k * n + j] /= by;
        }
        for (size_t i = 0; i < n; i++) {
            const double factor = m[i * n + k];
            for (size_t j = 0; j < n && i != k; j++) {
                m[i * n + j] -= factor * m[k * n + j];
                to[i * n + j] -= factor * to[k * n + j];
            }
        }
    }
}

static poprt_status eval_inverse(prt_eval *c)
{
    const prt_tensor *x = c->in[0];
    const size_t n = (size_t)x->dims[x->rank - 1], count = prt_tensor_count(x);
    double *m = prt_eval_scratch(c, n, n * 2 * sizeof(double)), *to = m + n * n;
    if (m == NULL)
        return POPRT_E_NOMEM;
    for (size_t at = 0; at < count && prt_eval_wants(c, 0); at += n * n) {
        PRT_TRY(c->host->check(c));
        prt_reals_load(x->dtype, x->data, at, 1, n * n, m);
        invert(n, m, to);
        prt_reals_store(x->dtype, c->out[0]->data, at, 1, n * n, to);
    }
    return POPRT_OK;
}

const prt_op_hooks prt_op_ms_inverse = { .infer = infer_inverse, .eval = eval_inverse };

/* ---- CDist ---- */

static poprt_status infer_cdist(prt_infer *c)
{
    const prt_ms_cdist_attrs *a = c->attrs;
    int64_t dim;
    if (!prt_str_is(a->metric, "euclidean") && !prt_str_is(a->metric, "sqeuclidean"))
        return prt_infer_fail(c, POPRT_E_PARSE,
            "metric is \"%.*s\"; accepted: euclidean, "
            "sqeuclidean",
            PRT_STR_ARG(a->metric));
    PRT_TRY(prt_infer_rank(c, 0, 2));
    PRT_TRY(prt_infer_rank(c, 1, 2));
    PRT_TRY(prt_infer_merge(c, prt_infer_dim(c, 0, 1), prt_infer_dim(c, 1, 1),
        "the size of a point", &dim));
    const int64_t dims[2] = { prt_infer_dim(c, 0, 0), prt_infer_dim(c, 1, 0) };
    return prt_infer_exact(c, 0, c->in[0].dtype, 2, dims);
}

static poprt_status eval_cdist(prt_eval *c)
{
    const prt_ms_cdist_attrs *a = c->attrs;
    const prt_tensor *x = c->in[0], *y = c->in[1];
    const size_t m = (size_t)x->dims[0], k = (size_t)y->dims[0], n = (size_t)x->dims[1];
    const bool root = prt_str_is(a->metric, "euclidean");
    const double *p = prt_eval_reals(c, x), *q = prt_eval_reals(c, y);
    if (p == NULL || q == NULL)
        return POPRT_E_NOMEM;
    for (size_t i = 0; i < m * k && prt_eval_wants(c, 0); i++) {
        double sum = 0;
        for (size_t d = 0; d < n; d++) {
            const double by = p[i / k * n + d] - q[i % k * n + d];
            sum += by * by;
        }
        sum = root ? sqrt(sum) : sum;
        prt_reals_store(x->dtype, c->out[0]->data, i, 1, 1, &sum);
    }
    return POPRT_OK;
}

const prt_op_hooks prt_op_ms_cdist = { .infer = infer_cdist, .eval = eval_cdist };

/* ---- ComplexMul, ComplexMulConj: the last dim holds real and imaginary part ---- */

static poprt_status infer_complex(prt_infer *c)
{
    prt_shape out = { .rank = PRT_RANK_UNKNOWN };
    for (uint32_t i = 0; i < 2; i++)
        if (prt_infer_ranked(c, i)) {
            const prt_shape *x = &c->in[i];
            const int64_t last = x->rank > 0 ? x->dims[x->rank - 1] : 1;
            if (prt_dim_is_number(last) && last != 2)
                return prt_infer_fail(c, POPRT_E_SHAPE,
                    "the last dim of input %u is %lld; a real "
                    "and an imaginary part are needed",
                    i, (long long)last);
        }
    PRT_TRY(prt_infer_broadcast(c, 0, 2, &out));
    return prt_infer_set(c, 0, c->in[0].dtype, out.rank, out.dims);
}

static poprt_status eval_complex(prt_eval *c, double sign)
{
    const prt_tensor *const in[2] = { c->in[0], c->in[1] };
    prt_tensor x[2] = { *in[0], *in[1] }, out = *c->out[0]; /* without the last dim */
    const prt_tensor *const pairs[2] = { &x[0], &x[1] };
    const int32_t t = out.dtype;
    prt_rows r;
    x[0].rank--;
    x[1].rank--;
    out.rank--;
    prt_rows_init(&r, &out, 2, pairs);
    while (prt_rows_next(&r))
        for (size_t i = 0; i < r.count; i++) {
            double a[2], b[2], y[2];
            prt_reals_load(t, in[0]->data, 2 * (r.from[0] + i * r.step[0]), 1, 2, a);
            prt_reals_load(t, in[1]->data, 2 * (r.from[1] + i * r.step[1]), 1, 2, b);
            y[0] = a[0] * b[0] - sign * a[1] * b[1];
            y[1] = a[1] * b[0] + sign * a[0] * b[1];
            prt_reals_store(t, c->out[0]->data, 2 * (r.to + i), 1, 2, y);
        }
    return POPRT_OK;
}

static poprt_status eval_mul(prt_eval *c)
{
    return prt_eval_wants(c, 0) ? eval_complex(c, 1) : POPRT_OK;
}

static poprt_status eval_conj(prt_eval *c)
{
    return prt_eval_wants(c, 0) ? eval_complex(c, -1) : POPRT_OK;
}

const prt_op_hooks prt_op_ms_complex_mul = { .infer = infer_complex, .eval = eval_mul };
const prt_op_hooks prt_op_ms_complex_mul_conj = { .infer = infer_complex, .eval = eval_conj };

/* ---- IsAllFinite ---- */

static poprt_status infer_finite(prt_infer *c)
{
    const prt_ms_is_all_finite_attrs *a = c->attrs;
    if (a->isinf_only != 0 && a->isnan_only != 0)
        return prt_infer_fail(c, POPRT_E_ARG, "isinf_only and isnan_only exclude each other");
    return prt_infer_set(c, 0, PRT_DTYPE_bool, 0, NULL);
}

static poprt_status eval_finite(prt_eval *c)
{
    const prt_ms_is_all_finite_attrs *a = c->attrs;
    bool fine = true;
    for (uint32_t k = 0; k < c->n_in; k++)
        for (size_t i = 0; fine && c->in[k] != NULL && i < prt_tensor_count(c->in[k]); i++) {
            const double x = prt_real_at(c->in[k], i);
            fine = (a->isinf_only != 0 || !isnan(x)) && (a->isnan_only != 0 || !isinf(x));
        }
    if (prt_eval_wants(c, 0))
        *(uint8_t *)c->out[0]->data = fine;
    return POPRT_OK;
}

const prt_op_hooks prt_op_ms_is_all_finite = { .infer = infer_finite, .eval = eval_finite };

/* ---- UnfoldTensor: windows along one dim; their elements form a new last dim ---- */

static poprt_status infer_unfold(prt_infer *c)
{
    const prt_ms_unfold_tensor_attrs *a = c->attrs;
    const prt_shape *x = &c->in[0];
    int64_t dims[PRT_MAX_RANK];
    uint32_t axis;
    if (a->size < 1 || a->step < 1)
        return prt_infer_fail(c, POPRT_E_ARG,
            "size is %lld and step is %lld; both must be positive", (long long)a->size,
            (long long)a->step);
    if (!prt_infer_ranked(c, 0))
        return prt_infer_unranked(c, 0, x->dtype, PRT_RANK_UNKNOWN);
    if (x->rank == PRT_MAX_RANK)
        return prt_infer_fail(c, POPRT_E_LIMIT, "the result would have rank %d", x->rank + 1);
    PRT_TRY(prt_infer_axis(c, a->dim, x->rank, false, &axis));
    memcpy(dims, x->dims, sizeof(dims));
    if (prt_dim_is_number(dims[axis]) && dims[axis] < a->size)
        return prt_infer_fail(c, POPRT_E_SHAPE, "a dim of %lld is smaller than a window of %lld",
            (long long)dims[axis], (long long)a->size);
    dims[axis] = prt_dim_add(c->dims, 1,
        prt_dim_floordiv(c->dims, prt_dim_sub(c->dims, dims[axis], a->size), a->step));
    dims[x->rank] = a->size;
    return prt_infer_exact(c, 0, x->dtype, x->rank + 1, dims);
}

static poprt_status eval_unfold(prt_eval *c)
{
    const prt_ms_unfold_tensor_attrs *a = c->attrs;
    const prt_tensor *x = c->in[0];
    const uint32_t axis = (uint32_t)(a->dim < 0 ? a->dim + x->rank : a->dim);
    if (!prt_eval_wants(c, 0))
        return POPRT_OK;
    prt_view view = { .rank = x->rank + 1 };
    for (uint32_t k = 0; k <= x->rank; k++) {
        view.dims[k] = c->out[0]->dims[k];
        view.stride[k] = (int64_t)prt_dims_product(x->dims, (k < x->rank ? k : axis) + 1, x->rank);
    }
    view.stride[axis] *= a->step;
    prt_view_eval(c, &view);
    return POPRT_OK;
}

const prt_op_hooks prt_op_ms_unfold_tensor = { .infer = infer_unfold, .eval = eval_unfold };
