/* SPDX-License-Identifier: MIT */
/*
 * bias.c — FastGelu, BiasGelu, BiasAdd and BiasSplitGelu add a bias along the last dim; BiasSoftmax
 * has a bias that repeats over leading dims.
 */
#include "op/share/gelu.h"
#include "op/share/reals.h"

/* Fails unless input `i` is absent or has one number for each element of the last dim of input
   0. */
static poprt_status check_bias(const prt_infer *c, uint32_t i)
{
    const prt_shape *x = &c->in[0];
    if (prt_infer_ranked(c, 0) && x->rank < 1)
        return prt_infer_fail(c, POPRT_E_SHAPE, "the input is a scalar; at least rank 1 is needed");
    return prt_infer_vector(c, i, prt_infer_ranked(c, 0) ? x->dims[x->rank - 1] : PRT_DIM_UNKNOWN);
}

static poprt_status infer_gelu(prt_infer *c)
{
    PRT_TRY(check_bias(c, 1));
    return prt_infer_like(c, 0, 0, c->in[0].dtype);
}

static poprt_status eval_gelu(prt_eval *c, double (*f)(double))
{
    const prt_tensor *x = c->in[0], *bias = prt_eval_has(c, 1) ? c->in[1] : NULL;
    const size_t n = prt_tensor_count(x), last = bias != NULL ? prt_tensor_count(bias) : 1;
    for (size_t i = 0; i < n && prt_eval_wants(c, 0); i++) {
        const double y = f(prt_real_at(x, i) + (bias != NULL ? prt_real_at(bias, i % last) : 0));
        prt_reals_store(x->dtype, c->out[0]->data, i, 1, 1, &y);
    }
    return POPRT_OK;
}

static poprt_status eval_fast(prt_eval *c)
{
    return eval_gelu(c, prt_gelu_tanh);
}

static poprt_status eval_exact(prt_eval *c)
{
    return eval_gelu(c, prt_gelu);
}

const prt_op_hooks prt_op_ms_fast_gelu = { .infer = infer_gelu, .eval = eval_fast };
const prt_op_hooks prt_op_ms_bias_gelu = { .infer = infer_gelu, .eval = eval_exact };

/* ---- BiasAdd ---- */

static poprt_status infer_add(prt_infer *c)
{
    int64_t dim;
    PRT_TRY(check_bias(c, 1));
    if (prt_infer_ranked(c, 0) && prt_infer_ranked(c, 2)) {
        PRT_TRY(prt_infer_rank(c, 2, c->in[0].rank));
        for (int32_t k = 0; k < c->in[0].rank; k++)
            PRT_TRY(prt_infer_merge(c, c->in[0].dims[k], c->in[2].dims[k], "a dim", &dim));
    }
    return prt_infer_like(c, 0, 0, c->in[0].dtype);
}

static poprt_status eval_add(prt_eval *c)
{
    const prt_tensor *x = c->in[0];
    const size_t last = prt_tensor_count(c->in[1]);
    for (size_t i = 0; i < prt_tensor_count(x) && prt_eval_wants(c, 0); i++) {
        const double y =
            prt_real_at(x, i) + prt_real_at(c->in[1], i % last) + prt_real_at(c->in[2], i);
        prt_reals_store(x->dtype, c->out[0]->data, i, 1, 1, &y);
    }
    return POPRT_OK;
}

const prt_op_hooks prt_op_ms_bias_add = { .infer = infer_add, .eval = eval_add };

/* ---- BiasSplitGelu: the first half of a row times Gelu of the second ---- */

static poprt_status infer_split(prt_infer *c)
{
    const prt_shape *x = &c->in[0];
    int64_t dims[PRT_MAX_RANK];
    PRT_TRY(check_bias(c, 1));
    if (!prt_infer_ranked(c, 0))
        return prt_infer_unranked(c, 0, x->dtype, PRT_RANK_UNKNOWN);
    memcpy(dims, x->dims, sizeof(dims));
    int64_t *last = &dims[x->rank - 1];
    if (prt_dim_is_number(*last) && *last % 2 != 0)
        return prt_infer_fail(c, POPRT_E_SHAPE, "rows have %lld elements; an even number is needed",
            (long long)*last);
    *last = prt_dim_floordiv(c->dims, *last, 2);
    return prt_infer_set(c, 0, x->dtype, x->rank, dims);
}

static poprt_status eval_split(prt_eval *c)
{
    const prt_tensor *x = c->in[0], *bias = c->in[1];
    const size_t half = prt_tensor_count(bias) / 2;
    for (size_t i = 0; i < prt_tensor_count(x) / 2 && prt_eval_wants(c, 0); i++) {
        const size_t at = i / half * 2 * half + i % half;
        const double y = (prt_real_at(x, at) + prt_real_at(bias, i % half)) *
            prt_gelu(prt_real_at(x, at + half) + prt_real_at(bias, half + i % half));
        prt_reals_store(x->dtype, c->out[0]->data, i, 1, 1, &y);
    }
    return POPRT_OK;
}

const prt_op_hooks prt_op_ms_bias_split_gelu = { .infer = infer_split, .eval = eval_split };

/* ---- BiasSoftmax: over all dims from `axis` on; the bias repeats for consecutive rows (inner), or
   for every n-th row ---- */

static poprt_status infer_softmax(prt_infer *c)
{
    const prt_ms_bias_softmax_attrs *a = c->attrs;
    const prt_shape *x = &c->in[0], *s = &c->in[1];
    uint32_t axis;
    if (prt_infer_ranked(c, 0))
        PRT_TRY(prt_infer_axis(c, a->axis, x->rank, false, &axis));
    if (prt_infer_ranked(c, 0) && prt_infer_ranked(c, 1)) {
        const int64_t row = prt_infer_product(c, x->dims, axis, (uint32_t)x->rank);
        const int64_t all = prt_infer_product(c, x->dims, 0, (uint32_t)x->rank);
        const int64_t own = prt_infer_product(c, s->dims, 0, (uint32_t)s->rank);
        if (prt_dim_is_number(row) && prt_dim_is_number(all) && prt_dim_is_number(own) &&
            (own == 0 ? all != 0 : row == 0 || own % row != 0 || all % own != 0))
            return prt_infer_fail(c, POPRT_E_SHAPE,
                "a bias of %lld elements does not repeat over "
                "rows of %lld of %lld elements",
                (long long)own, (long long)row, (long long)all);
    }
    return prt_infer_like(c, 0, 0, x->dtype);
}

static poprt_status eval_softmax(prt_eval *c)
{
    const prt_ms_bias_softmax_attrs *a = c->attrs;
    const prt_tensor *x = c->in[0], *bias = c->in[1];
    const uint32_t axis = (uint32_t)(a->axis < 0 ? a->axis + x->rank : a->axis);
    const size_t n = prt_dims_product(x->dims, axis, x->rank), count = prt_tensor_count(x);
    if (count == 0 || !prt_eval_wants(c, 0))
        return POPRT_OK;
    const size_t own = prt_tensor_count(bias) / n, share = count / n / own;
    double *row = prt_eval_scratch(c, n, 2 * sizeof(double)), *added = row + n;
    if (row == NULL)
        return POPRT_E_NOMEM;
    for (size_t r = 0; r < count / n; r++) {
        double most = -HUGE_VAL, sum = 0;
        prt_reals_load(x->dtype, x->data, r * n, 1, n, row);
        prt_reals_load(bias->dtype, bias->data,
            (a->is_inner_broadcast != 0 ? r / share : r % own) * n, 1, n, added);
        for (size_t i = 0; i < n; i++)
            most = fmax(most, row[i] += added[i]);
        for (size_t i = 0; i < n; i++)
            sum += row[i] = exp(row[i] - most);
        for (size_t i = 0; i < n; i++)
            row[i] /= sum;
        prt_reals_store(x->dtype, c->out[0]->data, r * n, 1, n, row);
    }
    return POPRT_OK;
}

const prt_op_hooks prt_op_ms_bias_softmax = { .infer = infer_softmax, .eval = eval_softmax };
