/* SPDX-License-Identifier: MIT */
/*
 * spline.c — SplineBasis and SplineWeighting: B-splines over the edges of a graph. Each of the
 * (degree + 1)^D entries selects one of degree + 1 basis functions in each of D dims. Its weight is
 * the product of their values, and its kernel element follows from the truncated coordinates.
 */
#include <math.h>

#include "op/share/reals.h"

enum { MAX_ENTRIES = 1 << 16 }; /* maximum of (degree + 1)^D */

/* Returns (degree + 1)^D; 0 above MAX_ENTRIES. */
static int64_t entries_of(int64_t degree, int64_t dims)
{
    int64_t s = 1;
    for (int64_t d = 0; d < dims && s != 0; d++)
        s = s * (degree + 1) > MAX_ENTRIES ? 0 : degree == 0 ? 1 : s * (degree + 1);
    return s;
}

static poprt_status infer_basis(prt_infer *c)
{
    const prt_gc_spline_basis_attrs *a = c->attrs;
    if (a->degree < 0 || a->degree > 3)
        return prt_infer_fail(c, POPRT_E_ARG, "degree is %lld; accepted: 0 to 3",
            (long long)a->degree);
    PRT_TRY(prt_infer_rank(c, 0, 2));
    int64_t dims[2] = { prt_infer_dim(c, 0, 0), PRT_DIM_UNKNOWN }, depth = prt_infer_dim(c, 0, 1);
    for (uint32_t i = 1; i < 3; i++) {
        PRT_TRY(prt_infer_vector(c, i, depth));
        PRT_TRY(prt_infer_merge(c, depth, prt_infer_dim(c, i, 0), "number of dims", &depth));
    }
    if (prt_dim_is_number(depth) &&
        (depth > MAX_ENTRIES || (dims[1] = entries_of(a->degree, depth)) == 0))
        return prt_infer_fail(c, POPRT_E_LIMIT,
            "%lld dims of degree %lld have more than %d basis functions", (long long)depth,
            (long long)a->degree, MAX_ENTRIES);
    PRT_TRY(prt_infer_exact(c, 0, c->in[0].dtype, 2, dims));
    return prt_infer_exact(c, 1, PRT_DTYPE_i32, 2, dims);
}

/* Returns the value of basis function k at v in [0, 1). */
static double basis_at(int64_t degree, int64_t k, double v)
{
    const double u = 1.0 - v;
    switch (degree * 4 + k) {
    case 4:
        return u;
    case 5:
        return v;
    case 8:
        return 0.5 * v * v - v + 0.5;
    case 9:
        return -v * v + v + 0.5;
    case 10:
        return 0.5 * v * v;
    case 12:
        return u * u * u / 6.0;
    case 13:
        return (3.0 * v * v * v - 6.0 * v * v + 4.0) / 6.0;
    case 14:
        return (-3.0 * v * v * v + 3.0 * v * v + 3.0 * v + 1.0) / 6.0;
    case 15:
        return v * v * v / 6.0;
    default:
        return 1.0;
    }
}

/* Scales coordinate d of an edge to the kernel size and splits it into an element index and a
   fraction. */
static poprt_status locate_element(const prt_eval *c, size_t edge, size_t d, int64_t *size,
    int64_t *cell, double *rest)
{
    const prt_gc_spline_basis_attrs *a = c->attrs;
    const size_t depth = (size_t)c->in[0]->dims[1];
    *size = prt_load_i64(c->in[1]->dtype, c->in[1]->data, d);
    if (*size < 1)
        return prt_eval_fail(c, POPRT_E_ARG, "kernel_size %zu is %lld; at least 1 is needed", d,
            (long long)*size);
    const bool open = prt_load_i64(c->in[2]->dtype, c->in[2]->data, d) != 0;
    const double v = prt_load_f64(c->in[0]->dtype, c->in[0]->data, edge * depth + d) *
        (double)(*size - (open ? a->degree : 0));
    if (!(fabs(v) < 0x1p52))
        return prt_eval_fail(c, POPRT_E_ARG, "coordinate %zu of edge %zu is %g", d, edge, v);
    *cell = (int64_t)v;
    *rest = v - floor(v);
    return POPRT_OK;
}

static poprt_status eval_basis(prt_eval *c)
{
    const prt_gc_spline_basis_attrs *a = c->attrs;
    const size_t edges = (size_t)c->in[0]->dims[0], depth = (size_t)c->in[0]->dims[1];
    const size_t entries = (size_t)entries_of(a->degree, (int64_t)depth);
    for (size_t e = 0; e < edges; e++)
        for (size_t s = 0; s < entries; s++) {
            int64_t k = (int64_t)s, index = 0, step = 1;
            double product = 1.0;
            for (size_t d = 0; d < depth; d++) {
                int64_t size = 1, cell = 0;
                double v = 0.0;
                PRT_TRY(locate_element(c, e, d, &size, &cell, &v));
                const int64_t at = (cell + k % (a->degree + 1)) % size;
                if (step > INT32_MAX / size)
                    return prt_eval_fail(c, POPRT_E_LIMIT,
                        "the kernel has more than 2^31 elements");
                index += (at < 0 ? at + size : at) * step;
                step *= size;
                product *= basis_at(a->degree, k % (a->degree + 1), v);
                k /= a->degree + 1;
            }
            if (prt_eval_wants(c, 0))
                prt_store_f64(c->out[0]->dtype, c->out[0]->data, e * entries + s, product);
            if (prt_eval_wants(c, 1))
                prt_store_i64(PRT_DTYPE_i32, c->out[1]->data, e * entries + s, index);
        }
    return POPRT_OK;
}

const prt_op_hooks prt_op_gc_spline_basis = { .infer = infer_basis, .eval = eval_basis };

static poprt_status infer_weighting(prt_infer *c)
{
    static const int32_t ranks[] = { 2, 3, 2, 2 };
    int64_t merged, edges = PRT_DIM_UNKNOWN;
    for (uint32_t i = 0; i < 4; i++) {
        PRT_TRY(prt_infer_rank(c, i, ranks[i]));
        if (i != 1)
            PRT_TRY(prt_infer_merge(c, edges, prt_infer_dim(c, i, 0), "number of edges", &edges));
    }
    PRT_TRY(prt_infer_merge(c, prt_infer_dim(c, 0, 1), prt_infer_dim(c, 1, 1),
        "number of input features", &merged));
    PRT_TRY(prt_infer_merge(c, prt_infer_dim(c, 2, 1), prt_infer_dim(c, 3, 1),
        "number of basis functions", &merged));
    const int64_t dims[2] = { edges, prt_infer_dim(c, 1, 2) };
    return prt_infer_exact(c, 0, c->in[0].dtype, 2, dims);
}

static poprt_status eval_weighting(prt_eval *c)
{
    const prt_tensor *w = c->in[1], *y = c->out[0];
    const size_t edges = (size_t)c->in[0]->dims[0], in = (size_t)c->in[0]->dims[1];
    const size_t out = (size_t)w->dims[2], entries = (size_t)c->in[2]->dims[1];
    if (!prt_eval_wants(c, 0))
        return POPRT_OK;
    const double *x = prt_eval_reals(c, c->in[0]), *weights = prt_eval_reals(c, w);
    const double *basis = prt_eval_reals(c, c->in[2]);
    double *sums = prt_eval_scratch(c, out, sizeof(double));
    if (x == NULL || weights == NULL || basis == NULL || sums == NULL)
        return POPRT_E_NOMEM;
    for (size_t e = 0; e < edges; e++) {
        for (size_t o = 0; o < out; o++)
            sums[o] = 0.0;
        for (size_t s = 0; s < entries; s++) {
            const int64_t k = prt_load_i64(c->in[3]->dtype, c->in[3]->data, e * entries + s);
            if (k < 0 || k >= w->dims[0])
                return prt_eval_fail(c, POPRT_E_ARG, "weight_index %lld is outside [0, %lld)",
                    (long long)k, (long long)w->dims[0]);
            for (size_t i = 0; i < in; i++)
                for (size_t o = 0; o < out; o++)
                    sums[o] += basis[e * entries + s] * x[e * in + i] *
                        weights[((size_t)k * in + i) * out + o];
        }
        prt_reals_store(y->dtype, y->data, e * out, 1, out, sums);
    }
    return POPRT_OK;
}

const prt_op_hooks prt_op_gc_spline_weighting = { .infer = infer_weighting,
    .eval = eval_weighting };
