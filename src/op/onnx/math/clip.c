/* SPDX-License-Identifier: MIT */
/* clip.c — Clip: min(max, max(input, min)) with optional bounds of one element each. */
#include <math.h>

#include "op/share/broadcast.h"
#include "op/content.h"

/* Bounds are scalars; shape [1] is accepted if it does not raise the rank of the result. */
static poprt_status infer(prt_infer *c)
{
    for (uint32_t i = 1; i < 3; i++) {
        if (!prt_infer_ranked(c, i))
            continue;
        const prt_shape *bound = &c->in[i];
        bool one = bound->rank == 0 || !prt_infer_ranked(c, 0) || bound->rank <= c->in[0].rank;
        for (int32_t k = 0; one && k < bound->rank; k++)
            one = bound->dims[k] == 1 || !prt_dim_is_number(bound->dims[k]);
        if (!one)
            return prt_infer_fail(c, POPRT_E_SHAPE, "%s is not a scalar", i == 1 ? "min" : "max");
    }
    PRT_TRY(prt_infer_unary(c));
    prt_known x, min = { .count = 0 }, max = { .count = 0 };
    if (!prt_known_of(c, 0, &x))
        return POPRT_OK;
    if ((prt_infer_has(c, 1) && !prt_known_of(c, 1, &min)) ||
        (prt_infer_has(c, 2) && !prt_known_of(c, 2, &max)))
        return POPRT_OK;
    for (uint32_t k = 0; k < x.count; k++) {
        if (min.count != 0)
            x.values[k] = prt_dim_max(c->dims, x.values[k], min.values[0]);
        if (max.count != 0)
            x.values[k] = prt_dim_min(c->dims, x.values[k], max.values[0]);
    }
    return prt_known_set(c, &x);
}

static void clip_floats(prt_eval *c, const prt_tensor *min, const prt_tensor *max)
{
    const prt_tensor *x = c->in[0];
    const double low = min != NULL ? prt_load_f64(min->dtype, min->data, 0) : -(double)INFINITY;
    const double high = max != NULL ? prt_load_f64(max->dtype, max->data, 0) : (double)INFINITY;
    double v[PRT_RUN];
    prt_rows r;
    prt_rows_init(&r, c->out[0], 1, c->in);
    while (prt_rows_next(&r)) {
        prt_read_f64(x->dtype, x->data, r.from[0], r.step[0], r.count, v);
        for (size_t i = 0; i < r.count; i++) { /* both comparisons are false for NaN */
            v[i] = v[i] < low ? low : v[i];
            v[i] = v[i] > high ? high : v[i];
        }
        prt_write_f64(x->dtype, c->out[0]->data, r.to, r.count, v);
    }
}

static void clip_signed(prt_eval *c, const prt_tensor *min, const prt_tensor *max)
{
    const prt_tensor *x = c->in[0];
    const int64_t low = min != NULL ? prt_load_i64(min->dtype, min->data, 0) : INT64_MIN;
    const int64_t high = max != NULL ? prt_load_i64(max->dtype, max->data, 0) : INT64_MAX;
    const size_t n = prt_tensor_count(x);
    for (size_t i = 0; i < n; i++) {
        int64_t v = prt_load_i64(x->dtype, x->data, i);
        v = v < low ? low : v;
        prt_store_i64(x->dtype, c->out[0]->data, i, v > high ? high : v);
    }
}

static void clip_unsigned(prt_eval *c, const prt_tensor *min, const prt_tensor *max)
{
    const prt_tensor *x = c->in[0];
    const uint64_t low = min != NULL ? prt_load_u64(min->dtype, min->data, 0) : 0;
    const uint64_t high = max != NULL ? prt_load_u64(max->dtype, max->data, 0) : UINT64_MAX;
    const size_t n = prt_tensor_count(x);
    for (size_t i = 0; i < n; i++) {
        uint64_t v = prt_load_u64(x->dtype, x->data, i);
        v = v < low ? low : v;
        prt_store_u64(x->dtype, c->out[0]->data, i, v > high ? high : v);
    }
}

static poprt_status eval(prt_eval *c)
{
    if (!prt_eval_wants(c, 0))
        return POPRT_OK;
    const prt_tensor *min = prt_eval_has(c, 1) ? c->in[1] : NULL;
    const prt_tensor *max = prt_eval_has(c, 2) ? c->in[2] : NULL;
    const int32_t dtype = c->in[0]->dtype;
    if (prt_dtype_is_float(dtype))
        clip_floats(c, min, max);
    else if (prt_dtype_is_unsigned(dtype))
        clip_unsigned(c, min, max);
    else
        clip_signed(c, min, max);
    return POPRT_OK;
}

const prt_op_hooks prt_op_clip = { .infer = infer, .eval = eval };
