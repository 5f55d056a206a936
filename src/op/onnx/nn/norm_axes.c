/* SPDX-License-Identifier: MIT */
/*
 * norm_axes.c — normalisations along axes: MeanVarianceNormalization, LpNormalization, and LRN,
 * which normalises by neighbouring channels.
 */
#include <math.h>

#include "op/share/reals.h"

/* ---- MeanVarianceNormalization ---- */

/* Reads the set of axes as bits; without the attribute `axes` they are 0, 2, 3. */
static poprt_status read_axes(const prt_infer *c, int32_t rank, uint32_t *set)
{
    const prt_mean_variance_normalization_attrs *a = c->attrs;
    static const int64_t usual[] = { 0, 2, 3 };
    const prt_i64s axes = prt_attr_given(a, 0) ? a->axes : (prt_i64s){ usual, PRT_COUNT_OF(usual) };
    *set = 0;
    for (uint32_t i = 0; i < axes.count; i++) {
        uint32_t axis;
        PRT_TRY(prt_infer_axis(c, axes.data[i], rank, false, &axis));
        *set |= 1u << axis;
    }
    return POPRT_OK;
}

static poprt_status infer_mvn(prt_infer *c)
{
    uint32_t set;
    if (c->in[0].rank >= 0)
        PRT_TRY(read_axes(c, c->in[0].rank, &set));
    return prt_infer_same(c);
}

/* Adds every element, or its squared distance from the mean, to the cell of its kept axes. */
static void accumulate(const prt_tensor *x, const double *values, const size_t *step,
    const double *mean, double *cells)
{
    int64_t at[PRT_MAX_RANK] = { 0 };
    const size_t n = prt_tensor_count(x);
    for (size_t i = 0; i < n; i++) {
        size_t cell = 0;
        for (uint32_t k = 0; k < x->rank; k++)
            cell += (size_t)at[k] * step[k];
        const double d = mean != NULL ? values[i] - mean[cell] : values[i];
        cells[cell] += mean != NULL ? d * d : d;
        (void)prt_at_next(x->rank, x->dims, at);
    }
}

static poprt_status eval_mvn(prt_eval *c)
{
    const prt_mean_variance_normalization_attrs *a = c->attrs;
    const prt_tensor *x = c->in[0];
    size_t step[PRT_MAX_RANK] = { 0 }, cells = 1;
    double *values = prt_eval_reals(c, x);
    uint32_t set = prt_attr_given(a, 0) ? 0 : 1u << 0 | 1u << 2 | 1u << 3;
    for (uint32_t i = 0; prt_attr_given(a, 0) && i < a->axes.count; i++)
        set |= 1u << (a->axes.data[i] < 0 ? a->axes.data[i] + x->rank : a->axes.data[i]);
    for (uint32_t i = x->rank; i-- > 0;)
        if ((set >> i & 1) == 0) {
            step[i] = cells;
            cells *= (size_t)x->dims[i];
        }
    const size_t n = prt_tensor_count(x);
    if (n == 0)
        return POPRT_OK;
    double *mean = prt_eval_scratch(c, cells, sizeof(double));
    double *square = prt_eval_scratch(c, cells, sizeof(double));
    if (values == NULL || mean == NULL || square == NULL)
        return POPRT_E_NOMEM;
    const double each = (double)(n / cells);
    accumulate(x, values, step, NULL, mean);
    for (size_t i = 0; i < cells; i++)
        mean[i] /= each;
    accumulate(x, values, step, mean, square);
    int64_t at[PRT_MAX_RANK] = { 0 };
    for (size_t i = 0; i < n; i++) {
        size_t cell = 0;
        for (uint32_t k = 0; k < x->rank; k++)
            cell += (size_t)at[k] * step[k];
        values[i] = (values[i] - mean[cell]) / (sqrt(square[cell] / each) + 1e-9);
        (void)prt_at_next(x->rank, x->dims, at);
    }
    prt_reals_store(c->out[0]->dtype, c->out[0]->data, 0, 1, n, values);
    return POPRT_OK;
}

const prt_op_hooks prt_op_mean_variance_normalization = { .infer = infer_mvn, .eval = eval_mvn };

/* ---- LpNormalization ---- */

static poprt_status infer_lp(prt_infer *c)
{
    const prt_lp_normalization_attrs *a = c->attrs;
    uint32_t axis;
    if (a->p != 1 && a->p != 2)
        return prt_infer_fail(c, POPRT_E_ARG, "p is %lld; accepted: 1, 2", (long long)a->p);
    if (c->in[0].rank >= 0)
        PRT_TRY(prt_infer_axis(c, a->axis, c->in[0].rank, false, &axis));
    return prt_infer_same(c);
}

static poprt_status eval_lp(prt_eval *c)
{
    const prt_lp_normalization_attrs *a = c->attrs;
    const prt_tensor *x = c->in[0];
    const uint32_t axis = (uint32_t)(a->axis < 0 ? a->axis + x->rank : a->axis);
    const size_t inner = prt_dims_product(x->dims, axis + 1, x->rank), n = (size_t)x->dims[axis];
    double *row = prt_eval_scratch(c, n, sizeof(double));
    if (row == NULL)
        return POPRT_E_NOMEM;
    if (prt_tensor_count(x) == 0)
        return POPRT_OK;
    for (size_t r = 0; r < prt_tensor_count(x) / n; r++) {
        const size_t first = r / inner * n * inner + r % inner;
        double norm = 0.0;
        prt_reals_load(x->dtype, x->data, first, inner, n, row);
        for (size_t i = 0; i < n; i++)
            norm += a->p == 1 ? fabs(row[i]) : row[i] * row[i];
        norm = a->p == 1 ? norm : sqrt(norm);
        for (size_t i = 0; i < n; i++)
            row[i] = norm == 0.0 ? 0.0 : row[i] / norm;
        prt_reals_store(c->out[0]->dtype, c->out[0]->data, first, inner, n, row);
    }
    return POPRT_OK;
}

const prt_op_hooks prt_op_lp_normalization = { .infer = infer_lp, .eval = eval_lp };

/* ---- LRN ---- */

static poprt_status infer_lrn(prt_infer *c)
{
    const prt_lrn_attrs *a = c->attrs;
    if (a->size < 1)
        return prt_infer_fail(c, POPRT_E_ARG, "size is %lld; it must be at least 1",
            (long long)a->size);
    if (c->in[0].rank >= 0 && c->in[0].rank < 2)
        return prt_infer_fail(c, POPRT_E_SHAPE,
            "the input has rank %d; a rank of at least 2 is required", c->in[0].rank);
    return prt_infer_same(c);
}

static poprt_status eval_lrn(prt_eval *c)
{
    const prt_lrn_attrs *a = c->attrs;
    const prt_tensor *x = c->in[0];
    const size_t channels = (size_t)x->dims[1], inner = prt_dims_product(x->dims, 2, x->rank);
    const size_t before = (size_t)(a->size - 1) / 2, after = (size_t)a->size / 2;
    double *row = prt_eval_scratch(c, channels, sizeof(double));
    double *to = prt_eval_scratch(c, channels, sizeof(double));
    if (row == NULL || to == NULL)
        return POPRT_E_NOMEM;
    if (prt_tensor_count(x) == 0)
        return POPRT_OK;
    for (size_t r = 0; r < (size_t)x->dims[0] * inner; r++) {
        const size_t first = r / inner * channels * inner + r % inner;
        prt_reals_load(x->dtype, x->data, first, inner, channels, row);
        for (size_t k = 0; k < channels; k++) {
            const size_t least = k > before ? k - before : 0;
            const size_t most = channels - 1 - k > after ? k + after : channels - 1;
            double sum = 0.0;
            for (size_t i = least; i <= most; i++)
                sum += row[i] * row[i];
            to[k] = row[k] /
                pow((double)a->bias + (double)a->alpha / (double)a->size * sum, (double)a->beta);
        }
        prt_reals_store(c->out[0]->dtype, c->out[0]->data, first, inner, channels, to);
    }
    return POPRT_OK;
}

const prt_op_hooks prt_op_lrn = { .infer = infer_lrn, .eval = eval_lrn };
