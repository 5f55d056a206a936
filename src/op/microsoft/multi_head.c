/* SPDX-License-Identifier: MIT */
/*
 * multi_head.c — MultiHeadAttention and, with one query at a time, DecoderMaskedMultiHeadAttention.
 *
 * Q is [batch, queries, hidden]; K and V are alike, or [batch, heads, keys, size] as in a cache. Q,
 * K and V may be packed in one tensor [batch, rows, heads, 3, size] (for the decoder in [batch, 1,
 * 3 * hidden]), K and V in one tensor [batch, rows, heads, 2, size].
 */
#include <float.h>
#include <math.h>

#include "op/microsoft/attention_parts.h"

/* Input indices of an operator; UINT32_MAX: it does not have the input. */
typedef struct slots {
    uint32_t bias, mask, added, past, past_length, beams, indirection;
} slots;

typedef struct options {
    slots in;
    int64_t heads;
    float scale, filter;
    bool causal, shared, decoder;
} options;

enum { IN_Q, IN_K, IN_V };
enum { OUT_Y, OUT_KEY, OUT_VALUE, OUT_SCORES };

static options multi_head_options(const void *attrs)
{
    const prt_ms_multi_head_attention_attrs *a = attrs;
    return (options){ .in = { 3, 4, 5, 6, 8, UINT32_MAX, 9 },
        .heads = a->num_heads,
        .scale = a->scale,
        .filter = a->mask_filter_value,
        .causal = a->unidirectional != 0 };
}

static options decoder_options(const void *attrs)
{
    const prt_ms_decoder_masked_multi_head_attention_attrs *a = attrs;
    return (options){ .in = { 10, 3, 4, 5, 7, 8, 9 },
        .heads = a->num_heads,
        .scale = a->scale,
        .filter = a->mask_filter_value,
        .shared = a->past_present_share_buffer != 0,
        .decoder = true };
}

/* ---- shapes ---- */

typedef struct sizes {
    int64_t batch, queries, keys, size, wide; /* head sizes: `size` of Q and K, `wide` of V */
    bool cross;                               /* K and V have the shape of a cache */
} sizes;

/* Finds the sizes of Q, K and V in one tensor. */
static poprt_status packed_sizes(const prt_infer *c, const options *o, sizes *s)
{
    const prt_shape *q = &c->in[IN_Q];
    s->keys = s->queries;
    if (q->rank == 3 && o->decoder) {
        if (prt_dim_is_number(q->dims[2]) && q->dims[2] % 3 != 0)
            return prt_infer_fail(c, POPRT_E_SHAPE,
                "the query has %lld columns; a multiple of 3 is needed", (long long)q->dims[2]);
        const int64_t hidden = prt_dim_floordiv(c->dims, q->dims[2], 3);
        PRT_TRY(prt_ms_check_heads(c, o->heads, hidden));
        s->size = s->wide = prt_dim_floordiv(c->dims, hidden, o->heads);
        return POPRT_OK;
    }
    if (q->rank != 5)
        return prt_infer_fail(c, POPRT_E_SHAPE, "without a key the query has rank %d; 5 is needed",
            q->rank);
    int64_t dim;
    PRT_TRY(prt_infer_merge(c, o->heads, q->dims[2], "the number of heads", &dim));
    PRT_TRY(prt_infer_merge(c, 3, q->dims[3], "Q, K and V", &dim));
    s->size = s->wide = q->dims[4];
    return POPRT_OK;
}

/* Finds the sizes of K and V in one tensor. */
static poprt_status pair_sizes(const prt_infer *c, const options *o, sizes *s)
{
    int64_t dim;
    PRT_TRY(prt_infer_rank(c, IN_K, 5));
    PRT_TRY(prt_infer_merge(c, o->heads, prt_infer_dim(c, IN_K, 2), "the number of heads", &dim));
    PRT_TRY(prt_infer_merge(c, 2, prt_infer_dim(c, IN_K, 3), "K and V", &dim));
    PRT_TRY(prt_infer_merge(c, s->size, prt_infer_dim(c, IN_K, 4), "the head size", &s->size));
    PRT_TRY(prt_infer_merge(c, s->batch, prt_infer_dim(c, IN_K, 0), "the batch", &s->batch));
    s->keys = prt_infer_dim(c, IN_K, 1);
    s->wide = s->size;
    return POPRT_OK;
}

/* Finds heads and size of K or V, in either shape. */
static poprt_status side_sizes(const prt_infer *c, uint32_t i, const options *o, sizes *s,
    int64_t *size)
{
    const prt_shape *t = &c->in[i];
    int64_t dim;
    if (!prt_infer_ranked(c, i))
        return POPRT_OK;
    if (t->rank != 3 && t->rank != 4)
        return prt_infer_fail(c, POPRT_E_SHAPE, "input %u has rank %d; 3 or 4 is needed", i,
            t->rank);
    PRT_TRY(prt_infer_merge(c, s->batch, t->dims[0], "the batch", &s->batch));
    PRT_TRY(prt_infer_merge(c, s->keys, t->dims[t->rank - 2], "the number of keys", &s->keys));
    if (t->rank == 4) {
        s->cross = true;
        PRT_TRY(prt_infer_merge(c, o->heads, t->dims[1], "the number of heads", &dim));
        return prt_infer_merge(c, *size, t->dims[3], "the head size", size);
    }
    PRT_TRY(prt_ms_check_heads(c, o->heads, t->dims[2]));
    return prt_infer_merge(c, *size, prt_dim_floordiv(c->dims, t->dims[2], o->heads),
        "the head size", size);
}

static poprt_status get_sizes(const prt_infer *c, const options *o, sizes *s)
{
    *s = (sizes){ prt_infer_dim(c, IN_Q, 0), prt_infer_dim(c, IN_Q, 1), PRT_DIM_UNKNOWN,
        PRT_DIM_UNKNOWN, PRT_DIM_UNKNOWN, false };
    PRT_TRY(prt_ms_check_heads(c, o->heads, PRT_DIM_UNKNOWN));
    if (!prt_infer_ranked(c, IN_Q))
        return POPRT_OK;
    if (!prt_infer_has(c, IN_K) && prt_infer_has(c, IN_V))
        return prt_infer_fail(c, POPRT_E_ARG, "value needs key");
    if (!prt_infer_has(c, IN_K))
        return packed_sizes(c, o, s);
    PRT_TRY(prt_infer_rank(c, IN_Q, 3));
    PRT_TRY(prt_ms_check_heads(c, o->heads, c->in[IN_Q].dims[2]));
    s->size = prt_dim_floordiv(c->dims, c->in[IN_Q].dims[2], o->heads);
    if (!prt_infer_has(c, IN_V))
        return pair_sizes(c, o, s);
    if (prt_infer_ranked(c, IN_K) && prt_infer_ranked(c, IN_V) &&
        c->in[IN_K].rank != c->in[IN_V].rank)
        return prt_infer_fail(c, POPRT_E_SHAPE,
            "key and value have ranks %d and %d; equal ranks are needed", c->in[IN_K].rank,
            c->in[IN_V].rank);
    PRT_TRY(side_sizes(c, IN_K, o, s, &s->size));
    return side_sizes(c, IN_V, o, s, &s->wide);
}

/* Checks past_key and past_value and returns their rows. */
static poprt_status check_past(const prt_infer *c, const options *o, sizes *s, int64_t *rows)
{
    const uint32_t key = o->in.past, value = key + 1;
    int64_t dim;
    *rows = 0;
    if (prt_infer_has(c, key) != prt_infer_has(c, value))
        return prt_infer_fail(c, POPRT_E_ARG, "past_key and past_value must be given together");
    if (!prt_infer_has(c, key))
        return POPRT_OK;
    if (s->cross && !o->decoder)
        return prt_infer_fail(c, POPRT_E_ARG,
            "past_key cannot be used with keys in the shape of a cache");
    *rows = PRT_DIM_UNKNOWN;
    for (uint32_t i = key; i <= value; i++) {
        PRT_TRY(prt_infer_rank(c, i, 4));
        PRT_TRY(prt_infer_merge(c, s->batch, prt_infer_dim(c, i, 0), "the batch", &s->batch));
        PRT_TRY(prt_infer_merge(c, o->heads, prt_infer_dim(c, i, 1), "the number of heads", &dim));
        PRT_TRY(prt_infer_merge(c, *rows, prt_infer_dim(c, i, 2), "the rows of the past", rows));
        PRT_TRY(prt_infer_merge(c, i == key ? s->size : s->wide, prt_infer_dim(c, i, 3),
            "the head size", i == key ? &s->size : &s->wide));
    }
    return POPRT_OK;
}

/* Checks cache_indirection [images, beams, most], which gives the beam that each row of the cache
   is read from. */
static poprt_status check_beams(const prt_infer *c, const options *o)
{
    if (prt_infer_has(c, o->in.indirection) && !prt_infer_has(c, o->in.past_length))
        return prt_infer_fail(c, POPRT_E_ARG, "cache_indirection needs past_sequence_length");
    return prt_infer_rank(c, o->in.indirection, 3);
}

static bool is_shared(const prt_infer *c, const options *o)
{
    return o->shared || (!o->decoder && prt_infer_has(c, o->in.past_length));
}

static poprt_status infer_with(prt_infer *c, const options *o)
{
    const int32_t dtype = c->in[IN_Q].dtype;
    int64_t rows;
    sizes s;
    PRT_TRY(get_sizes(c, o, &s));
    PRT_TRY(check_past(c, o, &s, &rows));
    PRT_TRY(check_beams(c, o));
    const bool shared = is_shared(c, o) && !s.cross;
    if (shared && (!prt_infer_has(c, o->in.past) || !prt_infer_has(c, o->in.past_length)))
        return prt_infer_fail(c, POPRT_E_ARG,
            "a shared buffer needs past_key, past_value and "
            "past_sequence_length");
    const int64_t total = shared ? PRT_DIM_UNKNOWN
        : s.cross                ? s.keys
                                 : prt_dim_add(c->dims, rows, s.keys);
    const int64_t want[4] = { s.batch, o->heads, s.queries, total };
    PRT_TRY(prt_ms_check_mask(c, o->in.mask, want));
    PRT_TRY(prt_ms_check_bias(c, o->in.added, want));
    const int64_t hidden = prt_dim_mul(c->dims, s.size, o->heads);
    const int64_t out = prt_dim_mul(c->dims, s.wide, o->heads);
    PRT_TRY(prt_infer_vector(c, o->in.bias,
        prt_dim_add(c->dims, prt_dim_mul(c->dims, hidden, 2), out)));
    const int64_t y[3] = { s.batch, s.queries, out };
    const int64_t key[4] = { s.batch, o->heads, shared ? rows : total, s.size };
    const int64_t value[4] = { s.batch, o->heads, shared ? rows : total, s.wide };
    PRT_TRY(prt_infer_exact(c, OUT_Y, dtype, 3, y));
    PRT_TRY(prt_infer_exact(c, OUT_KEY, dtype, 4, key));
    PRT_TRY(prt_infer_exact(c, OUT_VALUE, dtype, 4, value));
    if (shared) /* the number of columns, the keys, is known only at run time */
        return prt_infer_unranked(c, OUT_SCORES, c->out[OUT_SCORES].dtype, 4);
    return prt_infer_exact(c, OUT_SCORES, dtype, 4, want);
}

/* ---- evaluation ---- */

typedef struct state {
    prt_ms_mask mask; /* first member: prt_ms_fill_bias reads it */
    prt_tensor *scores;
} state;

/* Writes the scores before softmax; a masked score is -FLT_MAX, not -infinity. */
static void write_scores(const prt_attention *s, int stage, size_t batch, size_t head, size_t i,
    const double *scores)
{
    const state *st = s->user;
    const size_t row = ((batch * s->q.heads + head) * s->q.rows + i) * s->total;
    if (st->scores == NULL || stage != PRT_SCORES_BIASED)
        return;
    for (size_t j = 0; j < s->total; j++)
        prt_store_f64(st->scores->dtype, st->scores->data, row + j,
            fmax(scores[j], -(double)FLT_MAX));
}

/* Returns one of `count` interleaved tensors: [batch, rows, heads, count, size]. */
static prt_heads packed(const prt_tensor *t, size_t which)
{
    const size_t count = (size_t)t->dims[3], size = (size_t)t->dims[4];
    prt_heads h = { .dtype = t->dtype,
        .data = t->data,
        .heads = (size_t)t->dims[2],
        .rows = (size_t)t->dims[1],
        .size = size };
    h.first = which * size;
    h.head = count * size;
    h.row = h.heads * h.head;
    h.batch = h.rows * h.row;
    return h;
}

static prt_heads third(const prt_tensor *t, size_t heads, size_t which)
{
    prt_heads h = prt_heads_of_rank3(t, heads);
    h.size = h.head = (size_t)t->dims[2] / 3 / heads;
    h.first = which * heads * h.size;
    return h;
}

static void load_operands(const prt_eval *c, const options *o, prt_attention *s)
{
    const size_t heads = (size_t)o->heads;
    const prt_tensor *q = c->in[IN_Q], *k = prt_ms_in(c, IN_K), *v = prt_ms_in(c, IN_V);
    prt_heads *const to[3] = { &s->q, &s->k, &s->v };
    for (size_t i = 0; i < 3 && k == NULL; i++)
        *to[i] = q->rank == 5 ? packed(q, i) : third(q, heads, i);
    if (k == NULL)
        return;
    s->q = prt_heads_of_rank3(q, heads);
    for (size_t i = 1; i < 3; i++) {
        const prt_tensor *t = i == 1 ? k : v;
        *to[i] = v == NULL ? packed(k, i - 1)
            : t->rank == 4 ? prt_heads_of_rank4(t)
                           : prt_heads_of_rank3(t, heads);
    }
}

/* Gathers the cache in the order of the beams: row r of image b is read from a beam of the same
   group. */
static poprt_status gather_beams(prt_eval *c, prt_heads *past, const prt_tensor *from, size_t batch,
    size_t rows)
{
    const size_t beams = (size_t)from->dims[1], most = (size_t)from->dims[2];
    const int32_t *beam = from->data;
    if (beams == 0 || (size_t)from->dims[0] * beams != batch || most < rows)
        return prt_eval_fail(c, POPRT_E_SHAPE,
            "cache_indirection has %lld × %lld images and "
            "%lld rows",
            (long long)from->dims[0], (long long)beams, (long long)most);
    const size_t each = past->heads * rows * past->size;
    double *to = prt_eval_scratch(c, batch, each * sizeof(double));
    if (to == NULL)
        return POPRT_E_NOMEM;
    for (size_t b = 0; b < batch; b++)
        for (size_t r = 0; r < rows; r++) {
            const int64_t at = beam[b * most + r];
            if (at < 0 || at >= (int64_t)beams)
                return prt_eval_fail(c, POPRT_E_ARG, "cache_indirection names beam %lld of %zu",
                    (long long)at, beams);
            for (size_t h = 0; h < past->heads; h++)
                prt_reals_load(past->dtype, past->data,
                    prt_heads_at(past, b / beams * beams + (size_t)at, h, r), 1, past->size,
                    to + b * each + (h * rows + r) * past->size);
        }
    *past = (prt_heads){ .dtype = PRT_DTYPE_f64,
        .data = to,
        .batch = each,
        .head = rows * past->size,
        .row = past->size,
        .heads = past->heads,
        .rows = rows,
        .size = past->size };
    return POPRT_OK;
}

/* Uses the first past_sequence_length rows of a buffer that past and present share; copies the
   whole buffer to present. */
static poprt_status use_shared_buffer(prt_eval *c, const options *o, prt_attention *s)
{
    const prt_tensor *indirection = prt_ms_in(c, o->in.indirection);
    const size_t most = s->past_k.rows;
    int64_t length;
    uint32_t count;
    PRT_TRY(prt_eval_ints(c, o->in.past_length, &length, 1, &count));
    if (count != 1 || length < 0 || (size_t)length > most || most - (size_t)length < s->k.rows)
        return prt_eval_fail(c, POPRT_E_ARG,
            "past_sequence_length does not fit in a buffer of "
            "%zu rows",
            most);
    for (uint32_t i = 0; i < 2; i++)
        if (prt_eval_wants(c, OUT_KEY + i)) {
            const prt_tensor *past = c->in[o->in.past + i];
            prt_element_copy(past->dtype, c->out[OUT_KEY + i]->data, 0, past->data, 0,
                prt_tensor_count(past));
        }
    size_t *rows = prt_eval_scratch(c, s->batch + 1, sizeof(size_t));
    if (rows == NULL)
        return POPRT_E_NOMEM;
    for (size_t b = 0; b < s->batch; b++)
        rows[b] = (size_t)length;
    s->past_rows = rows;
    if (indirection != NULL) {
        s->present_k.data = s->present_v.data = NULL; /* rows of other beams stay in place */
        PRT_TRY(gather_beams(c, &s->past_k, indirection, s->batch, (size_t)length));
        PRT_TRY(gather_beams(c, &s->past_v, indirection, s->batch, (size_t)length));
    }
    const int64_t dims[4] = { (int64_t)s->batch, o->heads, (int64_t)s->q.rows,
        length + (int64_t)s->k.rows };
    return prt_eval_shape(c, OUT_SCORES, c->in[IN_Q]->dtype, 4, dims);
}

/* Appends new rows to the past, where the attention core does not write them. */
static void append_rows(const prt_heads *now, prt_tensor *present, size_t batch, size_t after)
{
    const prt_heads to = prt_heads_of_rank4(present);
    double value;
    for (size_t b = 0; present != NULL && b < batch; b++)
        for (size_t h = 0; h < to.heads; h++)
            for (size_t r = 0; r < now->rows; r++)
                for (size_t d = 0; d < to.size; d++) {
                    prt_reals_load(now->dtype, now->data, prt_heads_at(now, b, h, r) + d, 1, 1,
                        &value);
                    prt_reals_store(to.dtype, to.data, prt_heads_at(&to, b, h, after + r) + d, 1, 1,
                        &value);
                }
}

static poprt_status eval_with(prt_eval *c, const options *o)
{
    const prt_tensor *bias = prt_ms_in(c, o->in.bias), *q = c->in[IN_Q];
    prt_attention s = { .batch = (size_t)q->dims[0],
        .bias = prt_ms_fill_bias,
        .range = prt_ms_range };
    load_operands(c, o, &s);
    const size_t hidden = s.q.heads * s.q.size;
    const prt_tensor *k = prt_ms_in(c, IN_K);
    const bool cross = k != NULL && k->rank == 4 && prt_eval_has(c, IN_V);
    const bool past = prt_eval_has(c, o->in.past) && !cross;
    PRT_TRY(prt_ms_add_bias(c, &s.q, s.batch, bias, 0));
    if (!cross) {
        PRT_TRY(prt_ms_add_bias(c, &s.k, s.batch, bias, hidden));
        PRT_TRY(prt_ms_add_bias(c, &s.v, s.batch, bias, 2 * hidden));
    }
    s.scale = prt_ms_scale(o->scale, s.q.size);
    s.past_k = prt_heads_of_rank4(past ? c->in[o->in.past] : NULL);
    s.past_v = prt_heads_of_rank4(past ? c->in[o->in.past + 1] : NULL);
    s.present_k = prt_heads_of_rank4(prt_ms_out(c, OUT_KEY));
    s.present_v = prt_heads_of_rank4(prt_ms_out(c, OUT_VALUE));
    if (prt_eval_wants(c, OUT_Y))
        s.y = prt_heads_of_rank3(c->out[OUT_Y], s.q.heads);
    if (past && (o->shared || (!o->decoder && prt_eval_has(c, o->in.past_length))))
        PRT_TRY(use_shared_buffer(c, o, &s));
    const state st = { .mask = { .mask = prt_ms_in(c, o->in.mask),
                           .bias = prt_ms_in(c, o->in.added),
                           .filter = (double)o->filter,
                           .causal = o->causal },
        .scores = prt_ms_out(c, OUT_SCORES) };
    s.scores = st.scores != NULL ? write_scores : NULL;
    s.user = &st;
    PRT_TRY(prt_attention_run(c, &s));
    if (s.past_rows != NULL && s.batch != 0 && s.present_k.data == NULL) {
        append_rows(&s.k, prt_ms_out(c, OUT_KEY), s.batch, s.past_rows[0]);
        append_rows(&s.v, prt_ms_out(c, OUT_VALUE), s.batch, s.past_rows[0]);
    }
    return POPRT_OK;
}

#define VARIANT(id, options_of)                                                                    \
    static poprt_status infer_##id(prt_infer *c)                                                   \
    {                                                                                              \
        const options o = options_of(c->attrs);                                                    \
        return infer_with(c, &o);                                                                  \
    }                                                                                              \
    static poprt_status eval_##id(prt_eval *c)                                                     \
    {                                                                                              \
        const options o = options_of(c->attrs);                                                    \
        return eval_with(c, &o);                                                                   \
    }                                                                                              \
    const prt_op_hooks prt_op_ms_##id = { .infer = infer_##id, .eval = eval_##id };

VARIANT(multi_head_attention, multi_head_options)
VARIANT(decoder_masked_multi_head_attention, decoder_options)
