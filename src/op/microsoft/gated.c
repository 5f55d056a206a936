/* SPDX-License-Identifier: MIT */
/*
 * gated.c — GatedRMSNorm and BranchwiseRMSNorm; GatedAdd and ScaledSiLU, which round after each
 * step.
 */
#include <math.h>

#include "op/share/gelu.h"
#include "op/share/norm_core.h"

/* Returns `value` rounded to the type. */
static double round_to_type(int32_t dtype, double value)
{
    double bits;
    prt_reals_store(dtype, &bits, 0, 1, 1, &value);
    prt_reals_load(dtype, &bits, 0, 1, 1, &value);
    return value;
}

/* Fails unless inputs i and 0 have the same shape. */
static poprt_status check_same(const prt_infer *c, uint32_t i)
{
    int64_t dim;
    if (!prt_infer_ranked(c, 0) || !prt_infer_ranked(c, i))
        return POPRT_OK;
    PRT_TRY(prt_infer_rank(c, i, c->in[0].rank));
    for (int32_t k = 0; k < c->in[0].rank; k++)
        PRT_TRY(prt_infer_merge(c, c->in[0].dims[k], c->in[i].dims[k], "a dim", &dim));
    return POPRT_OK;
}

static poprt_status check_rank(const prt_infer *c)
{
    if (prt_infer_ranked(c, 0) && c->in[0].rank < 1)
        return prt_infer_fail(c, POPRT_E_SHAPE, "the input is a scalar; at least rank 1 is needed");
    return POPRT_OK;
}

/* ---- GatedRMSNorm ---- */

static poprt_status infer_gated_norm(prt_infer *c)
{
    const prt_ms_gated_rms_norm_attrs *a = c->attrs;
    if (!prt_str_is(a->activation, "silu") && !prt_str_is(a->activation, "swish") &&
        !prt_str_is(a->activation, "sigmoid"))
        return prt_infer_fail(c, POPRT_E_PARSE,
            "activation is \"%.*s\"; accepted: silu, swish, "
            "sigmoid",
            PRT_STR_ARG(a->activation));
    PRT_TRY(check_rank(c));
    PRT_TRY(prt_infer_rank(c, 1, 1));
    PRT_TRY(check_same(c, 2));
    const int64_t each = prt_infer_dim(c, 1, 0);
    const int64_t last =
        prt_infer_ranked(c, 0) ? c->in[0].dims[c->in[0].rank - 1] : PRT_DIM_UNKNOWN;
    if (prt_dim_is_number(each) && prt_dim_is_number(last) && (each < 1 || last % each != 0))
        return prt_infer_fail(c, POPRT_E_SHAPE, "%lld elements do not divide into groups of %lld",
            (long long)last, (long long)each);
    return prt_infer_like(c, 0, 0, c->in[0].dtype);
}

static poprt_status eval_gated_norm(prt_eval *c)
{
    const prt_ms_gated_rms_norm_attrs *a = c->attrs;
    const prt_tensor *x = c->in[0], *gate = c->in[2];
    const size_t n = (size_t)c->in[1]->dims[0], count = prt_tensor_count(x);
    const bool sigmoid = prt_str_is(a->activation, "sigmoid");
    double *row = prt_eval_scratch(c, n, sizeof(double));
    if (row == NULL)
        return POPRT_E_NOMEM;
    for (size_t at = 0; at < count && prt_eval_wants(c, 0); at += n) {
        prt_reals_load(x->dtype, x->data, at, 1, n, row);
        const double inverse = 1 / sqrt(prt_norm_square(row, n) + (double)a->epsilon);
        for (size_t i = 0; i < n; i++) {
            const double z = prt_real_at(gate, at + i);
            const double by = sigmoid ? 1 / (1 + exp(-z)) : prt_silu(z);
            row[i] *= inverse * prt_real_at(c->in[1], i) * by;
        }
        prt_reals_store(x->dtype, c->out[0]->data, at, 1, n, row);
    }
    return POPRT_OK;
}

const prt_op_hooks prt_op_ms_gated_rms_norm = { .infer = infer_gated_norm,
    .eval = eval_gated_norm };

/* ---- BranchwiseRMSNorm: X [..., branches, size] or [..., branches * size] ---- */

static poprt_status infer_branches(prt_infer *c)
{
    const prt_ms_branchwise_rms_norm_attrs *a = c->attrs;
    const prt_shape *x = &c->in[0], *s = &c->in[1];
    if (a->num_branches < 0 || a->num_branches > INT32_MAX)
        return prt_infer_fail(c, POPRT_E_ARG, "num_branches is %lld; at least 0 is needed",
            (long long)a->num_branches);
    PRT_TRY(prt_infer_like(c, 0, 0, x->dtype));
    if (!prt_infer_ranked(c, 0))
        return POPRT_OK;
    if (x->rank < (a->num_branches > 0 ? 1 : 2))
        return prt_infer_fail(c, POPRT_E_SHAPE,
            "the input has rank %d; [branches, size] or "
            "num_branches is needed",
            x->rank);
    int64_t size = x->dims[x->rank - 1], branches = a->num_branches;
    if (branches > 0 && prt_dim_is_number(size) && size % branches != 0)
        return prt_infer_fail(c, POPRT_E_SHAPE, "%lld elements do not divide into %lld branches",
            (long long)size, (long long)branches);
    if (branches > 0)
        size = prt_dim_floordiv(c->dims, size, branches);
    else
        branches = x->dims[x->rank - 2];
    if (!prt_infer_ranked(c, 1))
        return POPRT_OK;
    const int64_t all = prt_dim_mul(c->dims, size, branches);
    const bool open = !prt_dim_is_number(all) || !prt_dim_is_number(s->dims[0]);
    if (s->rank == 1 && (open || s->dims[0] == size || s->dims[0] == all))
        return POPRT_OK;
    if (s->rank == 2) {
        PRT_TRY(prt_infer_merge(c, branches, s->dims[0], "the branches", &branches));
        return prt_infer_merge(c, size, s->dims[1], "the branch's size", &size);
    }
    return prt_infer_fail(c, POPRT_E_SHAPE,
        "the scale is neither [branches, size] nor "
        "[branches * size] nor [size]");
}

static poprt_status eval_branches(prt_eval *c)
{
    const prt_ms_branchwise_rms_norm_attrs *a = c->attrs;
    const prt_tensor *x = c->in[0], *scale = prt_eval_has(c, 1) ? c->in[1] : NULL;
    const size_t last = (size_t)x->dims[x->rank - 1], count = prt_tensor_count(x);
    const size_t n = a->num_branches > 0 ? last / (size_t)a->num_branches : last;
    const size_t scales = scale != NULL ? prt_tensor_count(scale) : 0;
    double *row = prt_eval_scratch(c, n, sizeof(double));
    if (row == NULL)
        return POPRT_E_NOMEM;
    for (size_t at = 0; at < count && prt_eval_wants(c, 0); at += n) {
        prt_reals_load(x->dtype, x->data, at, 1, n, row);
        const double inverse = 1 / sqrt(prt_norm_square(row, n) + (double)a->epsilon);
        for (size_t i = 0; i < n; i++)
            row[i] *= inverse * (scale != NULL ? prt_real_at(scale, (at + i) % scales) : 1);
        prt_reals_store(x->dtype, c->out[0]->data, at, 1, n, row);
    }
    return POPRT_OK;
}

const prt_op_hooks prt_op_ms_branchwise_rms_norm = { .infer = infer_branches,
    .eval = eval_branches };

/* ---- GatedAdd: X + Y * gate, one gate for each row ---- */

static poprt_status infer_gated_add(prt_infer *c)
{
    int64_t dim;
    PRT_TRY(check_rank(c));
    PRT_TRY(check_same(c, 1));
    if (prt_infer_ranked(c, 0) && prt_infer_ranked(c, 2)) {
        PRT_TRY(prt_infer_rank(c, 2, c->in[0].rank));
        for (int32_t k = 0; k < c->in[0].rank; k++)
            PRT_TRY(prt_infer_merge(c, k + 1 < c->in[0].rank ? c->in[0].dims[k] : 1,
                c->in[2].dims[k], "a dim of the gate", &dim));
    }
    return prt_infer_like(c, 0, 0, c->in[0].dtype);
}

static poprt_status eval_gated_add(prt_eval *c)
{
    const prt_tensor *x = c->in[0];
    const size_t n = (size_t)x->dims[x->rank - 1], count = prt_tensor_count(x);
    for (size_t i = 0; i < count && prt_eval_wants(c, 0); i++) {
        const double y = prt_real_at(x, i) +
            round_to_type(x->dtype, prt_real_at(c->in[1], i) * prt_real_at(c->in[2], i / n));
        prt_reals_store(x->dtype, c->out[0]->data, i, 1, 1, &y);
    }
    return POPRT_OK;
}

const prt_op_hooks prt_op_ms_gated_add = { .infer = infer_gated_add, .eval = eval_gated_add };

/* ---- ScaledSiLU ---- */

static poprt_status infer_scaled(prt_infer *c)
{
    for (int32_t k = 0; prt_infer_ranked(c, 1) && k < c->in[1].rank; k++)
        if (prt_dim_is_number(c->in[1].dims[k]) && c->in[1].dims[k] != 1)
            return prt_infer_fail(c, POPRT_E_SHAPE, "the scale is not one number");
    return prt_infer_like(c, 0, 0, c->in[0].dtype);
}

static poprt_status eval_scaled(prt_eval *c)
{
    const prt_ms_scaled_silu_attrs *a = c->attrs;
    const prt_tensor *x = c->in[0];
    const double scale = prt_eval_has(c, 1) ? prt_real_at(c->in[1], 0) : (double)a->alpha;
    for (size_t i = 0; i < prt_tensor_count(x) && prt_eval_wants(c, 0); i++) {
        const double z = round_to_type(x->dtype, prt_real_at(x, i) * scale);
        const double y = z * round_to_type(x->dtype, 1 / (1 + exp(-z)));
        prt_reals_store(x->dtype, c->out[0]->data, i, 1, 1, &y);
    }
    return POPRT_OK;
}

const prt_op_hooks prt_op_ms_scaled_silu = { .infer = infer_scaled, .eval = eval_scaled };
