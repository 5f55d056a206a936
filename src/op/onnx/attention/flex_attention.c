/* SPDX-License-Identifier: MIT */
/*
 * flex_attention.c — FlexAttention: softmax(scale * Q K') V for grouped heads. One region may
 * rewrite the scores, another one the probabilities; each receives all of them at once, [batch,
 * heads, queries, keys], in the type of the softmax.
 */
#include <math.h>

#include "op/check.h"
#include "op/share/heads.h"
#include "op/share/reals.h"

enum { IN_Q, IN_K, IN_V };
enum { ATTR_SCORE, ATTR_PROB, ATTR_PRECISION, ATTR_SCALE };
enum { BATCH, HEADS, SEQUENCE, SIZE };

static int32_t precision_of(const prt_flex_attention_attrs *a, int32_t dtype)
{
    if (prt_attr_given(a, ATTR_PRECISION))
        return (int32_t)a->softmax_precision;
    return dtype == PRT_DTYPE_f64 ? PRT_DTYPE_f64 : PRT_DTYPE_f32;
}

/* Checks that a region takes the scores and returns a tensor of the same type and shape. */
static poprt_status check_region(prt_infer *c, uint32_t attr, uint32_t region,
    const prt_shape *scores)
{
    prt_shape out = { 0 };
    int64_t dim;
    if (!prt_attr_given(c->attrs, attr) || c->region == NULL)
        return POPRT_OK;
    PRT_TRY(
        c->region(c, region, &(prt_region){ .n_in = 1, .in = scores, .n_out = 1, .out = &out }));
    if (out.kind == PRT_VALUE_UNKNOWN)
        return POPRT_OK;
    const char *name = prt_attr_name(&c->def->attrs[attr]);
    if (out.kind != PRT_VALUE_TENSOR ||
        (out.dtype != PRT_DTYPE_undefined && scores->dtype != PRT_DTYPE_undefined &&
            out.dtype != scores->dtype))
        return prt_infer_fail(c, POPRT_E_TYPE, "%s returns %s; %s is required", name,
            prt_dtype_of(out.dtype)->name, prt_dtype_of(scores->dtype)->name);
    if (out.rank >= 0 && out.rank != 4)
        return prt_infer_fail(c, POPRT_E_SHAPE, "%s returns rank %d; rank 4 is required", name,
            out.rank);
    for (int32_t k = 0; k < out.rank; k++)
        PRT_TRY(prt_infer_merge(c, scores->dims[k], out.dims[k], name, &dim));
    return POPRT_OK;
}

static poprt_status infer(prt_infer *c)
{
    const prt_flex_attention_attrs *a = c->attrs;
    int64_t d[3][4], batch = PRT_DIM_UNKNOWN, keys, heads, unused;
    if (prt_attr_given(a, ATTR_PRECISION))
        PRT_TRY(prt_infer_dtype_attr(c, "softmax_precision", PRT_T_FB, a->softmax_precision));
    for (uint32_t i = IN_Q; i <= IN_V; i++) {
        PRT_TRY(prt_infer_rank(c, i, 4));
        for (uint32_t k = 0; k < 4; k++)
            d[i][k] = prt_infer_dim(c, i, k);
        PRT_TRY(prt_infer_merge(c, batch, d[i][BATCH], "the batch", &batch));
    }
    PRT_TRY(prt_infer_merge(c, d[IN_K][HEADS], d[IN_V][HEADS], "the number of heads", &heads));
    PRT_TRY(prt_infer_merge(c, d[IN_K][SEQUENCE], d[IN_V][SEQUENCE], "the number of keys", &keys));
    PRT_TRY(prt_infer_merge(c, d[IN_Q][SIZE], d[IN_K][SIZE], "the head size", &unused));
    PRT_TRY(prt_infer_head_groups(c, d[IN_Q][HEADS], heads));
    const int32_t dtype = c->in[IN_Q].dtype;
    const prt_shape scores = { .kind = PRT_VALUE_TENSOR,
        .rank = 4,
        .dtype = dtype != PRT_DTYPE_undefined ? precision_of(a, dtype) : PRT_DTYPE_undefined,
        .dims = { batch, d[IN_Q][HEADS], d[IN_Q][SEQUENCE], keys } };
    PRT_TRY(check_region(c, ATTR_SCORE, a->score_mod, &scores));
    PRT_TRY(check_region(c, ATTR_PROB, a->prob_mod, &scores));
    const int64_t y[4] = { batch, d[IN_Q][HEADS], d[IN_Q][SEQUENCE], d[IN_V][SIZE] };
    return prt_infer_set(c, 0, dtype, 4, y);
}

typedef struct attention {
    prt_tensor typed; /* the scores as input of a region */
    size_t heads, queries, keys, size, width, group;
    size_t kv_heads, count; /* number of all scores */
    double scale;
    double *scores, *query, *k, *v;
} attention;

/* Runs a region on all scores, if the attribute is given. */
static poprt_status modify(prt_eval *c, attention *s, uint32_t attr, uint32_t region)
{
    prt_tensor *in = &s->typed, out = { 0 };
    const char *name = prt_attr_name(&c->def->attrs[attr]);
    if (!prt_attr_given(c->attrs, attr))
        return POPRT_OK;
    if (c->host->call == NULL)
        return prt_eval_fail(c, POPRT_E_UNSUPPORTED,
            "this operator has a region, which cannot run in this context");
    if (in->data == NULL) {
        in->data = prt_eval_scratch(c, in->size + 1, 1);
        if (in->data == NULL)
            return POPRT_E_NOMEM;
    }
    prt_reals_store(in->dtype, in->data, 0, 1, s->count, s->scores);
    PRT_TRY(c->host->call(c, region, 1, &(const prt_tensor *){ in }, 1, &out));
    if (out.kind != PRT_VALUE_TENSOR || out.dtype != in->dtype)
        return prt_eval_fail(c, POPRT_E_TYPE, "%s must return a tensor of %s", name,
            prt_dtype_of(in->dtype)->name);
    if (out.rank != 4 || memcmp(out.dims, in->dims, 4 * sizeof(int64_t)) != 0)
        return prt_eval_fail(c, POPRT_E_SHAPE, "%s must return the shape of its input", name);
    prt_reals_load(out.dtype, out.data, 0, 1, s->count, s->scores);
    return POPRT_OK;
}

/* Loads the rows of keys or values of the group of query head `head`, which is counted over all
 * batches. */
static void load_group(const prt_tensor *t, const attention *s, size_t head, size_t size,
    double *to)
{
    const size_t kv = head / s->heads * s->kv_heads + head % s->heads / s->group;
    prt_reals_load(t->dtype, t->data, kv * s->keys * size, 1, s->keys * size, to);
}

static void score(prt_eval *c, attention *s, size_t head)
{
    load_group(c->in[IN_K], s, head, s->size, s->k);
    for (size_t i = 0; i < s->queries; i++) {
        const size_t row = head * s->queries + i;
        prt_reals_load(c->in[IN_Q]->dtype, c->in[IN_Q]->data, row * s->size, 1, s->size, s->query);
        for (size_t j = 0; j < s->keys; j++) {
            double sum = 0;
            for (size_t d = 0; d < s->size; d++)
                sum += s->query[d] * s->k[j * s->size + d];
            s->scores[row * s->keys + j] = sum * s->scale;
        }
    }
}

/* A row of scores that are all -inf gives NaN, as the definition says. */
static void softmax(const attention *s, double *x)
{
    double most = -HUGE_VAL, sum = 0;
    for (size_t j = 0; j < s->keys; j++)
        most = x[j] > most || isnan(x[j]) ? x[j] : most;
    for (size_t j = 0; j < s->keys; j++)
        sum += x[j] = exp(x[j] - most);
    for (size_t j = 0; j < s->keys; j++)
        x[j] /= sum;
}

static void sum_values(prt_eval *c, attention *s, size_t head)
{
    load_group(c->in[IN_V], s, head, s->width, s->v);
    for (size_t i = 0; i < s->queries; i++) {
        const size_t row = head * s->queries + i;
        for (size_t d = 0; d < s->width; d++) {
            double sum = 0;
            for (size_t j = 0; j < s->keys; j++)
                sum += s->scores[row * s->keys + j] * s->v[j * s->width + d];
            prt_store_f64(c->out[0]->dtype, c->out[0]->data, row * s->width + d, sum);
        }
    }
}

static poprt_status begin(prt_eval *c, attention *s)
{
    const prt_flex_attention_attrs *a = c->attrs;
    const prt_tensor *q = c->in[IN_Q], *k = c->in[IN_K];
    const int64_t dims[4] = { q->dims[0], q->dims[1], q->dims[2], k->dims[2] };
    if (!prt_tensor_init(&s->typed, precision_of(a, q->dtype), 4, dims, NULL))
        return prt_eval_fail(c, POPRT_E_LIMIT, "the tensor of scores is too large");
    s->heads = (size_t)q->dims[1];
    s->kv_heads = (size_t)k->dims[1];
    s->group = s->heads / s->kv_heads;
    s->queries = (size_t)q->dims[2];
    s->keys = (size_t)k->dims[2];
    s->size = (size_t)q->dims[3];
    s->width = (size_t)c->in[IN_V]->dims[3];
    s->count = prt_tensor_count(&s->typed);
    s->scale = prt_attr_given(a, ATTR_SCALE) ? (double)a->scale : 1 / sqrt((double)s->size);
    s->scores = prt_eval_scratch(c, s->count + 1, sizeof(double));
    s->query = prt_eval_scratch(c, s->size + 1, sizeof(double));
    s->k = prt_eval_scratch(c, s->keys + 1, (s->size + 1) * sizeof(double));
    s->v = prt_eval_scratch(c, s->keys + 1, (s->width + 1) * sizeof(double));
    return s->scores != NULL && s->query != NULL && s->k != NULL && s->v != NULL ? POPRT_OK
                                                                                 : POPRT_E_NOMEM;
}

static poprt_status eval(prt_eval *c)
{
    const prt_flex_attention_attrs *a = c->attrs;
    attention s = { 0 };
    if (!prt_eval_wants(c, 0) || prt_tensor_count(c->out[0]) == 0)
        return POPRT_OK;
    PRT_TRY(begin(c, &s));
    const size_t heads = (size_t)c->in[IN_Q]->dims[0] * s.heads;
    for (size_t h = 0; h < heads; h++) {
        PRT_TRY(c->host->check(c));
        score(c, &s, h);
    }
    PRT_TRY(modify(c, &s, ATTR_SCORE, a->score_mod));
    for (size_t row = 0; row < heads * s.queries; row++)
        softmax(&s, s.scores + row * s.keys);
    PRT_TRY(modify(c, &s, ATTR_PROB, a->prob_mod));
    for (size_t h = 0; h < heads; h++) {
        PRT_TRY(c->host->check(c));
        sum_values(c, &s, h);
    }
    return POPRT_OK;
}

const prt_op_hooks prt_op_flex_attention = { .infer = infer, .eval = eval };
