/* SPDX-License-Identifier: MIT */
/*
 * decoder_attention.c — DecoderAttention: self or cross attention with a cache; boolean inputs
 * select the mode at run time. Tensors are [sequence, batch, hidden], caches [batch, heads, rows,
 * size].
 *
 * With a cache in use, cross attention takes keys and values from the cache only, and self
 * attention appends new ones to it. Otherwise they are projected from `key` (cross) or `query`
 * (self).
 */
#include "op/check.h"
#include "op/microsoft/attention_parts.h"

enum {
    IN_Q,
    IN_K,
    IN_Q_WEIGHT,
    IN_KV_WEIGHT,
    IN_BIAS,
    IN_MASK,
    IN_KEYS,
    IN_VALUES,
    IN_STATIC,
    IN_USE_PAST,
    IN_HAS_STATE,
    IN_HAS_MASK
};
enum { OUT_Y, OUT_KEYS, OUT_VALUES };

static poprt_status infer(prt_infer *c)
{
    const prt_ms_decoder_attention_attrs *a = c->attrs;
    const int64_t batch = prt_infer_dim(c, IN_Q, 1);
    int64_t hidden = prt_infer_dim(c, IN_Q, 2), dim;
    for (uint32_t i = IN_Q; i <= IN_K; i++) {
        PRT_TRY(prt_infer_rank(c, i, 3));
        PRT_TRY(prt_infer_merge(c, batch, prt_infer_dim(c, i, 1), "the batch", &dim));
        PRT_TRY(prt_infer_merge(c, hidden, prt_infer_dim(c, i, 2), "the hidden size", &hidden));
    }
    PRT_TRY(prt_ms_check_heads(c, a->num_heads, hidden));
    for (uint32_t i = IN_Q_WEIGHT; i <= IN_KV_WEIGHT; i++) {
        PRT_TRY(prt_infer_rank(c, i, 2));
        PRT_TRY(prt_infer_merge(c, hidden, prt_infer_dim(c, i, 0), "the hidden size", &dim));
        PRT_TRY(prt_infer_merge(c, prt_dim_mul(c->dims, hidden, i == IN_Q_WEIGHT ? 1 : 2),
            prt_infer_dim(c, i, 1), "the columns of the weights", &dim));
    }
    PRT_TRY(prt_infer_vector(c, IN_BIAS, prt_dim_mul(c->dims, hidden, 3)));
    PRT_TRY(prt_infer_rank(c, IN_MASK, 2));
    const int64_t want[4] = { batch, a->num_heads, PRT_DIM_UNKNOWN,
        prt_dim_floordiv(c->dims, hidden, a->num_heads) };
    for (uint32_t i = IN_KEYS; i <= IN_VALUES; i++) {
        PRT_TRY(prt_infer_rank(c, i, 4));
        for (uint32_t k = 0; k < 4; k++)
            if (k != 2)
                PRT_TRY(prt_infer_merge(c, want[k], prt_infer_dim(c, i, k), "the cache", &dim));
    }
    PRT_TRY(prt_infer_merge(c, prt_infer_dim(c, IN_KEYS, 2), prt_infer_dim(c, IN_VALUES, 2),
        "the rows of the cache", &dim));
    for (uint32_t i = IN_STATIC; i <= IN_HAS_MASK; i++)
        PRT_TRY(prt_infer_scalar(c, i, &dim));
    PRT_TRY(prt_infer_like(c, OUT_Y, IN_Q, c->in[IN_Q].dtype));
    PRT_TRY(prt_infer_set(c, OUT_KEYS, c->in[IN_Q].dtype, 4, want));
    return prt_infer_set(c, OUT_VALUES, c->in[IN_Q].dtype, 4, want);
}

typedef struct state {
    const uint8_t *mask; /* [batch, columns]: 1 for a masked key */
    size_t columns;
    double filter;
} state;

static void fill_bias(const prt_attention *s, size_t batch, size_t head, size_t i, double *to)
{
    const state *st = s->user;
    (void)head;
    (void)i;
    for (size_t j = 0; j < s->total; j++)
        to[j] = st->mask != NULL && st->mask[batch * st->columns + j] != 0 ? st->filter : 0;
}

static bool flag(const prt_eval *c, uint32_t i)
{
    return *(const uint8_t *)c->in[i]->data != 0;
}

/* Returns a view of columns from `first` on of [rows, batch, parts * hidden]. */
static prt_heads part(double *data, size_t rows, size_t batch, size_t row, size_t first,
    size_t heads, size_t size)
{
    return (prt_heads){ .dtype = PRT_DTYPE_f64,
        .data = data,
        .first = first,
        .batch = row,
        .head = size,
        .row = batch * row,
        .heads = heads,
        .rows = rows,
        .size = size };
}

/* Projects x and adds the part of the bias that begins at `first`. */
static double *project(prt_eval *c, const prt_tensor *x, const prt_tensor *w, size_t first)
{
    prt_tensor bias = *c->in[IN_BIAS];
    const size_t cols = (size_t)w->dims[1];
    double *add = prt_eval_scratch(c, cols, sizeof(double));
    if (add == NULL)
        return NULL;
    prt_reals_load(bias.dtype, bias.data, first, 1, cols, add);
    bias = (prt_tensor){ .kind = PRT_VALUE_TENSOR,
        .dtype = PRT_DTYPE_f64,
        .rank = 1,
        .dims = { (int64_t)cols },
        .data = add };
    return prt_ms_project(c, x, w, &bias);
}

static poprt_status open_keys(prt_eval *c, prt_attention *s, size_t hidden)
{
    const bool cross = flag(c, IN_STATIC), cached = flag(c, IN_USE_PAST) && flag(c, IN_HAS_STATE);
    const size_t heads = s->q.heads, size = s->q.size;
    if (cached && (!prt_eval_has(c, IN_KEYS) || !prt_eval_has(c, IN_VALUES)))
        return prt_eval_fail(c, POPRT_E_ARG, "use_past is set without key_cache and value_cache");
    if (cached) {
        s->past_k = prt_heads_of_rank4(c->in[IN_KEYS]);
        s->past_v = prt_heads_of_rank4(c->in[IN_VALUES]);
    }
    if (cached && cross)
        return POPRT_OK;
    const prt_tensor *x = c->in[cross ? IN_K : IN_Q];
    double *in = project(c, x, c->in[IN_KV_WEIGHT], hidden);
    if (in == NULL)
        return POPRT_E_NOMEM;
    s->k = part(in, (size_t)x->dims[0], s->batch, 2 * hidden, 0, heads, size);
    s->v = part(in, (size_t)x->dims[0], s->batch, 2 * hidden, hidden, heads, size);
    return POPRT_OK;
}

static poprt_status eval(prt_eval *c)
{
    const prt_ms_decoder_attention_attrs *a = c->attrs;
    const prt_tensor *q = c->in[IN_Q], *mask = prt_ms_in(c, IN_MASK);
    const size_t hidden = (size_t)q->dims[2], heads = (size_t)a->num_heads;
    state st = { .filter = (double)a->mask_filter_value };
    prt_attention s = { .batch = (size_t)q->dims[1], .bias = fill_bias, .user = &st };
    double *in = project(c, q, c->in[IN_Q_WEIGHT], 0);
    if (in == NULL)
        return POPRT_E_NOMEM;
    s.q = part(in, (size_t)q->dims[0], s.batch, hidden, 0, heads, hidden / heads);
    s.scale = prt_ms_scale(0, s.q.size);
    PRT_TRY(open_keys(c, &s, hidden));
    const int64_t rows = (int64_t)(s.past_k.rows + s.k.rows);
    const int64_t dims[4] = { q->dims[1], a->num_heads, rows, (int64_t)s.q.size };
    if (flag(c, IN_HAS_MASK) && mask != NULL) {
        st = (state){ mask->data, (size_t)mask->dims[1], st.filter };
        if (mask->dims[0] != q->dims[1] || mask->dims[1] < rows)
            return prt_eval_fail(c, POPRT_E_SHAPE,
                "the mask is %lld × %lld, but the keys are %lld × %lld", (long long)mask->dims[0],
                (long long)mask->dims[1], (long long)q->dims[1], (long long)rows);
    }
    PRT_TRY(prt_eval_shape(c, OUT_KEYS, q->dtype, 4, dims));
    PRT_TRY(prt_eval_shape(c, OUT_VALUES, q->dtype, 4, dims));
    s.present_k = prt_heads_of_rank4(prt_ms_out(c, OUT_KEYS));
    s.present_v = prt_heads_of_rank4(prt_ms_out(c, OUT_VALUES));
    prt_tensor *y = prt_ms_out(c, OUT_Y);
    if (y != NULL) {
        s.y = part(y->data, s.q.rows, s.batch, hidden, 0, heads, s.q.size);
        s.y.dtype = y->dtype;
    }
    return prt_attention_run(c, &s);
}

const prt_op_hooks prt_op_ms_decoder_attention = { .infer = infer, .eval = eval };
