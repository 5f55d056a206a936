/* SPDX-License-Identifier: MIT */
/* statistics.c — ClipFactor: clipping by the global norm. OverflowCount: the histogram of automatic
   loss scaling. */
#include <math.h>

#include "op/check.h"
#include "op/training/update.h"

static poprt_status clip_factor_infer(prt_infer *c)
{
    int64_t number;
    PRT_TRY(prt_infer_scalar(c, 0, &number));
    for (uint32_t i = 1; i < c->n_in; i++)
        if (prt_infer_ranked(c, i) && c->in[i].rank != 1)
            return prt_infer_fail(c, POPRT_E_SHAPE, "input %u has rank %d; a norm has rank 1", i,
                c->in[i].rank);
    PRT_TRY(prt_infer_like(c, 1, 0, c->in[0].dtype));
    return prt_infer_like(c, 0, 0, c->in[0].dtype);
}

static poprt_status clip_factor_eval(prt_eval *c)
{
    const double most = prt_update_scalar(c, 0, 0.0);
    double sum = 0.0;
    for (uint32_t i = 1; i < c->n_in; i++)
        sum += prt_eval_has(c, i) ? prt_norm_sum(c->in[i]) : 0.0;
    const double norm = sqrt(sum);
    const double results[2] = { norm != norm ? norm : most / (norm > most ? norm : most), norm };
    for (uint32_t i = 0; i < 2; i++)
        if (prt_eval_wants(c, i))
            prt_store_f64(c->out[i]->dtype, c->out[i]->data, 0, results[i]);
    return POPRT_OK;
}

static poprt_status overflow_count_infer(prt_infer *c)
{
    const prt_overflow_count_attrs *a = c->attrs;
    const prt_shape *counts = &c->in[0];
    if (!(a->edge >= 0.0f))
        return prt_infer_fail(c, POPRT_E_ARG, "edge is %g; it must be at least 0", (double)a->edge);
    if (counts->rank >= 0 &&
        (counts->rank != 1 || (prt_dim_is_number(counts->dims[0]) && counts->dims[0] != 2)))
        return prt_infer_fail(c, POPRT_E_SHAPE, "counts is not a vector of 2 elements");
    return prt_infer_like(c, 0, 0, PRT_DTYPE_i64);
}

static poprt_status overflow_count_eval(prt_eval *c)
{
    const double edge = (double)((const prt_overflow_count_attrs *)c->attrs)->edge;
    uint64_t counts[2] = { 0, 0 };
    for (uint32_t k = 1; k < c->n_in; k++) {
        const size_t n = prt_eval_has(c, k) ? prt_tensor_count(c->in[k]) : 0;
        for (size_t i = 0; i < n; i++)
            counts[!(fabs(prt_load_f64(c->in[k]->dtype, c->in[k]->data, i)) < edge)]++;
    }
    for (size_t i = 0; prt_eval_wants(c, 0) && i < 2; i++)
        prt_store_u64(PRT_DTYPE_i64, c->out[0]->data, i,
            prt_load_u64(PRT_DTYPE_i64, c->in[0]->data, i) + counts[i]);
    return POPRT_OK;
}

const prt_op_hooks prt_op_clip_factor = { .infer = clip_factor_infer, .eval = clip_factor_eval };
const prt_op_hooks prt_op_overflow_count = { .infer = overflow_count_infer,
    .eval = overflow_count_eval };
