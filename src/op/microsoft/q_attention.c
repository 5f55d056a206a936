/* SPDX-License-Identifier: MIT */
/*
 * q_attention.c — QAttention: one product of the quantised input with quantised weights gives Q, K
 * and V; attention is computed on floats.
 */
#include "op/check.h"
#include "op/share/delegate.h"
#include "op/microsoft/attention_parts.h"

enum { IN_X, IN_W, IN_BIAS, IN_X_SCALE, IN_W_SCALE, IN_MASK, IN_X_ZERO, IN_W_ZERO, IN_PAST };

/* ---- shapes ---- */

static poprt_status check_attrs(const prt_infer *c)
{
    const prt_ms_qattention_attrs *a = c->attrs;
    PRT_TRY(prt_ms_check_heads(c, a->num_heads, PRT_DIM_UNKNOWN));
    if (a->do_rotary != 0 || a->past_present_share_buffer != 0)
        return prt_infer_fail(c, POPRT_E_UNSUPPORTED,
            "do_rotary and past_present_share_buffer must be 0");
    return POPRT_OK;
}

static poprt_status check_past(prt_infer *c, int64_t batch, int64_t size, int64_t *past)
{
    const prt_ms_qattention_attrs *a = c->attrs;
    const int64_t want[5] = { 2, batch, a->num_heads, PRT_DIM_UNKNOWN, size };
    int64_t merged;
    *past = prt_infer_has(c, IN_PAST) ? prt_infer_dim(c, IN_PAST, 3) : 0;
    if (!prt_infer_ranked(c, IN_PAST))
        return POPRT_OK;
    PRT_TRY(prt_infer_rank(c, IN_PAST, 5));
    for (uint32_t k = 0; k < 5; k++)
        PRT_TRY(prt_infer_merge(c, want[k], c->in[IN_PAST].dims[k], "a dim of past", &merged));
    return POPRT_OK;
}

static poprt_status infer(prt_infer *c)
{
    const prt_ms_qattention_attrs *a = c->attrs;
    int64_t inner, past;
    PRT_TRY(check_attrs(c));
    PRT_TRY(prt_infer_rank(c, IN_X, 3));
    PRT_TRY(prt_infer_rank(c, IN_W, 2));
    PRT_TRY(prt_infer_scalar(c, IN_X_SCALE, &inner));
    PRT_TRY(prt_infer_scalar(c, IN_X_ZERO, &inner));
    const int64_t batch = prt_infer_dim(c, IN_X, 0), queries = prt_infer_dim(c, IN_X, 1);
    const int64_t packed = prt_infer_dim(c, IN_W, 1);
    if (prt_dim_is_number(packed) && (packed == 0 || packed % (3 * a->num_heads) != 0))
        return prt_infer_fail(c, POPRT_E_SHAPE,
            "%lld columns of weights do not divide into Q, K and V of %lld heads",
            (long long)packed, (long long)a->num_heads);
    const int64_t hidden = prt_dim_floordiv(c->dims, packed, 3);
    const int64_t size = prt_dim_floordiv(c->dims, hidden, a->num_heads);
    PRT_TRY(prt_infer_merge(c, prt_infer_dim(c, IN_X, 2), prt_infer_dim(c, IN_W, 0),
        "the input's size", &inner));
    PRT_TRY(prt_infer_vector(c, IN_BIAS, packed));
    PRT_TRY(check_past(c, batch, size, &past));
    const int64_t total = prt_dim_add(c->dims, past, queries);
    const int64_t want[4] = { batch, a->num_heads, queries, total };
    PRT_TRY(prt_ms_check_mask(c, IN_MASK, want));
    const int64_t y[3] = { batch, queries, hidden };
    const int64_t present[5] = { 2, batch, a->num_heads, total, size };
    PRT_TRY(prt_infer_exact(c, 0, c->in[IN_BIAS].dtype, 3, y));
    return prt_infer_exact(c, 1, c->in[IN_BIAS].dtype, 5, present);
}

/* ---- evaluation ---- */

/* Returns part `part` (queries, keys or values) of [batch, rows, 3 * hidden]. */
static prt_heads third_of(const prt_tensor *t, size_t part, size_t heads)
{
    prt_heads h = prt_heads_of_rank3(t, heads);
    h.size /= 3;
    h.head /= 3;
    h.first += part * h.size * heads;
    return h;
}

static poprt_status project(prt_eval *c, prt_tensor *to)
{
    const prt_tensor *in[] = { c->in[IN_X], c->in[IN_W], c->in[IN_X_SCALE], c->in[IN_W_SCALE],
        prt_ms_in(c, IN_X_ZERO), prt_ms_in(c, IN_W_ZERO), c->in[IN_BIAS] };
    const int64_t dims[] = { c->in[IN_X]->dims[0], c->in[IN_X]->dims[1], c->in[IN_W]->dims[1] };
    prt_tensor *out[] = { to };
    PRT_TRY(prt_delegate_tensor(c, PRT_DTYPE_f64, 3, dims, to));
    return prt_delegate_eval(c, PRT_OP_ms_matmul_integer_to_float, NULL, 7, in, 1, out);
}

static poprt_status eval(prt_eval *c)
{
    const prt_ms_qattention_attrs *a = c->attrs;
    const size_t heads = (size_t)a->num_heads;
    prt_tensor packed;
    PRT_TRY(project(c, &packed));
    const prt_ms_mask mask = { .mask = prt_ms_in(c, IN_MASK),
        .filter = (double)a->mask_filter_value,
        .causal = a->unidirectional != 0 };
    const prt_tensor *past = prt_ms_in(c, IN_PAST), *present = prt_ms_out(c, 1);
    prt_attention s = { .q = third_of(&packed, 0, heads),
        .k = third_of(&packed, 1, heads),
        .v = third_of(&packed, 2, heads),
        .past_k = prt_ms_half(past, 0),
        .past_v = prt_ms_half(past, 1),
        .present_k = prt_ms_half(present, 0),
        .present_v = prt_ms_half(present, 1),
        .batch = (size_t)packed.dims[0],
        .bias = prt_ms_fill_bias,
        .range = prt_ms_range,
        .user = &mask };
    s.scale = prt_ms_scale(a->scale, s.q.size);
    if (prt_eval_wants(c, 0))
        s.y = prt_heads_of_rank3(c->out[0], heads);
    return prt_attention_run(c, &s);
}

const prt_op_hooks prt_op_ms_qattention = { .infer = infer, .eval = eval };
