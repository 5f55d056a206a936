/* SPDX-License-Identifier: MIT */
/*
 * attention.c — Attention of com.microsoft: one matrix projects the input to Q, K and V; past keys
 * and values come before the new ones. DecoderMaskedSelfAttention is the same with one query.
 */
#include "op/microsoft/attention_parts.h"

enum { IN_X, IN_WEIGHTS, IN_BIAS, IN_MASK, IN_PAST, IN_ADDED, IN_PAST_LENGTH };
enum { OUT_Y, OUT_PRESENT };

/* Checks a past [2, batch, heads, rows, size] and returns its rows. */
static poprt_status check_past(const prt_infer *c, const int64_t *want, int64_t *rows)
{
    int64_t dim;
    *rows = prt_infer_has(c, IN_PAST) ? prt_infer_dim(c, IN_PAST, 3) : 0;
    if (!prt_infer_ranked(c, IN_PAST))
        return POPRT_OK;
    PRT_TRY(prt_infer_rank(c, IN_PAST, 5));
    for (uint32_t k = 0; k < 5; k++)
        if (k != 3)
            PRT_TRY(prt_infer_merge(c, want[k], c->in[IN_PAST].dims[k], "a dim of past", &dim));
    return POPRT_OK;
}

static poprt_status infer(prt_infer *c)
{
    const prt_ms_attention_attrs *a = c->attrs;
    int64_t sizes[3], rows, dim;
    if (a->do_rotary != 0)
        return prt_infer_fail(c, POPRT_E_UNSUPPORTED,
            "do_rotary is not supported, as there are no angles; "
            "RotaryEmbedding before MultiHeadAttention does");
    PRT_TRY(prt_infer_rank(c, IN_X, 3));
    PRT_TRY(prt_infer_rank(c, IN_WEIGHTS, 2));
    PRT_TRY(prt_infer_merge(c, prt_infer_dim(c, IN_X, 2), prt_infer_dim(c, IN_WEIGHTS, 0),
        "the input's size", &dim));
    PRT_TRY(prt_infer_vector(c, IN_BIAS, prt_infer_dim(c, IN_WEIGHTS, 1)));
    PRT_TRY(prt_ms_hidden_sizes(c, a->qkv_hidden_sizes, sizes));
    PRT_TRY(prt_ms_check_heads(c, a->num_heads, sizes[0]));
    PRT_TRY(prt_ms_check_heads(c, a->num_heads, sizes[2]));
    const int64_t batch = prt_infer_dim(c, IN_X, 0), queries = prt_infer_dim(c, IN_X, 1);
    const int64_t size = prt_dim_floordiv(c->dims, sizes[0], a->num_heads);
    const bool cached = prt_infer_has(c, IN_PAST) || prt_infer_wants(c, OUT_PRESENT);
    if (cached)
        PRT_TRY(prt_infer_merge(c, sizes[0], sizes[2], "the size of K and V", &dim));
    int64_t present[5] = { 2, batch, a->num_heads, 0, size };
    PRT_TRY(check_past(c, present, &rows));
    const bool shared = a->past_present_share_buffer != 0;
    const int64_t total = shared ? PRT_DIM_UNKNOWN : prt_dim_add(c->dims, rows, queries);
    present[3] = shared ? rows : total;
    if (shared && (!prt_infer_has(c, IN_PAST) || !prt_infer_has(c, IN_PAST_LENGTH)))
        return prt_infer_fail(c, POPRT_E_ARG,
            "a shared buffer needs past and "
            "past_sequence_length");
    const int64_t want[4] = { batch, a->num_heads, queries, total };
    PRT_TRY(prt_ms_check_mask(c, IN_MASK, want));
    PRT_TRY(prt_ms_check_bias(c, IN_ADDED, want));
    const int64_t y[3] = { batch, queries, sizes[2] };
    PRT_TRY(prt_infer_exact(c, OUT_Y, c->in[IN_X].dtype, 3, y));
    return prt_infer_exact(c, OUT_PRESENT, c->in[IN_X].dtype, 5, present);
}

/* Returns the number of valid rows of a shared buffer, the same for all images, in scratch; copies
   past to present. */
static poprt_status shared_rows(prt_eval *c, size_t batch, size_t queries, const prt_tensor *past,
    const prt_tensor *present, const size_t **rows)
{
    int64_t length;
    uint32_t count;
    PRT_TRY(prt_eval_ints(c, IN_PAST_LENGTH, &length, 1, &count));
    if (count != 1 || length < 0 || length > past->dims[3] - (int64_t)queries)
        return prt_eval_fail(c, POPRT_E_ARG,
            "past_sequence_length does not fit in a buffer of "
            "%lld rows",
            (long long)past->dims[3]);
    size_t *to = prt_eval_scratch(c, batch + 1, sizeof(size_t));
    if (to == NULL)
        return POPRT_E_NOMEM;
    for (size_t b = 0; b < batch; b++)
        to[b] = (size_t)length;
    *rows = to;
    if (present != NULL)
        prt_element_copy(past->dtype, present->data, 0, past->data, 0, prt_tensor_count(past));
    return POPRT_OK;
}

static poprt_status eval(prt_eval *c)
{
    const prt_ms_attention_attrs *a = c->attrs;
    const prt_tensor *x = c->in[IN_X], *w = c->in[IN_WEIGHTS];
    const size_t all = (size_t)w->dims[1], heads = (size_t)a->num_heads;
    const size_t q = a->qkv_hidden_sizes.count != 0 ? (size_t)a->qkv_hidden_sizes.data[0] : all / 3;
    const prt_ms_mask mask = { .mask = prt_ms_in(c, IN_MASK),
        .bias = prt_ms_in(c, IN_ADDED),
        .filter = (double)a->mask_filter_value,
        .causal = a->unidirectional != 0 };
    const prt_tensor *past = prt_ms_in(c, IN_PAST), *present = prt_ms_out(c, OUT_PRESENT);
    prt_heads in = { .dtype = PRT_DTYPE_f64,
        .heads = heads,
        .rows = (size_t)x->dims[1],
        .size = q / heads,
        .head = q / heads,
        .row = all,
        .batch = (size_t)x->dims[1] * all };
    in.data = prt_ms_project(c, x, w, prt_ms_in(c, IN_BIAS));
    if (in.data == NULL)
        return POPRT_E_NOMEM;
    prt_attention s = { .q = in,
        .k = in,
        .v = in,
        .past_k = prt_ms_half(past, 0),
        .past_v = prt_ms_half(past, 1),
        .present_k = prt_ms_half(present, 0),
        .present_v = prt_ms_half(present, 1),
        .batch = (size_t)x->dims[0],
        .scale = prt_ms_scale(a->scale, in.size),
        .bias = prt_ms_fill_bias,
        .range = prt_ms_range,
        .user = &mask };
    s.k.first = q;
    s.v.first = 2 * q;
    s.v.head = s.v.size = (all - 2 * q) / heads;
    if (prt_eval_wants(c, OUT_Y))
        s.y = prt_heads_of_rank3(c->out[OUT_Y], heads);
    if (a->past_present_share_buffer != 0)
        PRT_TRY(shared_rows(c, s.batch, in.rows, past, present, &s.past_rows));
    return prt_attention_run(c, &s);
}

const prt_op_hooks prt_op_ms_attention = { .infer = infer, .eval = eval };
