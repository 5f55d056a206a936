/* SPDX-License-Identifier: MIT */
/*
 * attention.c — Attention: softmax(scale * Q K' + bias) V for grouped heads. The cache of keys and
 * values is either managed by the operator (past as input, present as output) or by the caller
 * (nonpad_kv_seqlen).
 *
 * Tensors are [batch, heads, sequence, size], or [batch, sequence, heads * size] with the numbers
 * of heads in attributes. If all keys are masked for a query, its result is all zeros.
 */
#include <math.h>

#include "op/share/attention_core.h"
#include "op/check.h"
#include "op/share/heads.h"

enum { IN_Q, IN_K, IN_V, IN_MASK, IN_PAST_KEY, IN_PAST_VALUE, IN_LENGTHS };
enum { OUT_Y, OUT_KEY, OUT_VALUE, OUT_SCORES };
enum { ATTR_SCALE = 1 };
enum { BATCH, HEADS, SEQUENCE, SIZE };

/* ---- shapes ---- */

/* Reads the dims of input `i` of either layout as four dims. */
static poprt_status four_dims(const prt_infer *c, uint32_t i, int64_t heads, int64_t *to)
{
    const prt_shape *s = &c->in[i];
    for (uint32_t k = 0; k < 4; k++)
        to[k] = PRT_DIM_UNKNOWN;
    if (!prt_infer_ranked(c, i))
        return POPRT_OK;
    if (s->rank != 3 && s->rank != 4)
        return prt_infer_fail(c, POPRT_E_SHAPE, "input %u has rank %d; accepted: 3, 4", i, s->rank);
    if (s->rank != c->in[IN_Q].rank && c->in[IN_Q].rank >= 0 && i < IN_MASK)
        return prt_infer_fail(c, POPRT_E_SHAPE,
            "Q, K and V have different ranks; equal ranks are required");
    if (s->rank == 4) {
        memcpy(to, s->dims, 4 * sizeof(int64_t));
        return POPRT_OK;
    }
    if (heads < 1)
        return prt_infer_fail(c, POPRT_E_ARG,
            "inputs of rank 3 require q_num_heads and kv_num_heads of at least 1");
    to[BATCH] = s->dims[0];
    to[HEADS] = heads;
    to[SEQUENCE] = s->dims[1];
    return prt_infer_head_size(c, s->dims[2], heads, &to[SIZE]);
}

/* Checks that the mask broadcasts over all dims but the last, which may be shorter than the
 * keys. */
static poprt_status check_mask(const prt_infer *c, const int64_t *q, int64_t total)
{
    const int64_t want[4] = { q[BATCH], q[HEADS], q[SEQUENCE], total };
    const prt_shape *m = &c->in[IN_MASK];
    if (!prt_infer_ranked(c, IN_MASK))
        return POPRT_OK;
    if (m->rank < 1 || m->rank > 4)
        return prt_infer_fail(c, POPRT_E_SHAPE, "the mask has rank %d; accepted: 1 to 4", m->rank);
    for (int32_t k = 1; k <= m->rank; k++) {
        const int64_t have = m->dims[m->rank - k], need = want[4 - k];
        if (!prt_dim_is_number(have) || !prt_dim_is_number(need))
            continue;
        if (k == 1 ? have > need : have != 1 && have != need)
            return prt_infer_fail(c, POPRT_E_SHAPE, "dim %d of the mask is %lld; %lld is required",
                m->rank - k, (long long)have, (long long)need);
    }
    return POPRT_OK;
}

/* Checks K and V against Q, against each other and against the cache. Computes the number of
 * keys including the cache. */
static poprt_status check_cache(prt_infer *c, const int64_t *q, int64_t *k, int64_t *v,
    int64_t *total)
{
    int64_t past_k[4], past_v[4];
    PRT_TRY(prt_infer_merge(c, q[BATCH], k[BATCH], "the batch", &k[BATCH]));
    PRT_TRY(prt_infer_merge(c, q[BATCH], v[BATCH], "the batch", &v[BATCH]));
    PRT_TRY(prt_infer_merge(c, k[HEADS], v[HEADS], "the number of heads", &k[HEADS]));
    PRT_TRY(prt_infer_merge(c, k[SEQUENCE], v[SEQUENCE], "the number of keys", &k[SEQUENCE]));
    PRT_TRY(prt_infer_merge(c, q[SIZE], k[SIZE], "the head size", &k[SIZE]));
    PRT_TRY(prt_infer_head_groups(c, q[HEADS], k[HEADS]));
    *total = k[SEQUENCE];
    if (prt_infer_has(c, IN_PAST_KEY) != prt_infer_has(c, IN_PAST_VALUE))
        return prt_infer_fail(c, POPRT_E_ARG, "past_key and past_value must be given together");
    if (!prt_infer_has(c, IN_PAST_KEY))
        return POPRT_OK;
    for (uint32_t i = IN_PAST_KEY; i <= IN_PAST_VALUE; i++)
        if (prt_infer_ranked(c, i) && c->in[i].rank != 4)
            return prt_infer_fail(c, POPRT_E_SHAPE, "input %u has rank %d; rank 4 is required", i,
                c->in[i].rank);
    PRT_TRY(four_dims(c, IN_PAST_KEY, 0, past_k));
    PRT_TRY(four_dims(c, IN_PAST_VALUE, 0, past_v));
    PRT_TRY(prt_infer_merge(c, past_k[SEQUENCE], past_v[SEQUENCE], "the cache", &past_k[SEQUENCE]));
    PRT_TRY(prt_infer_merge(c, k[BATCH], past_k[BATCH], "the batch", &k[BATCH]));
    PRT_TRY(prt_infer_merge(c, k[BATCH], past_v[BATCH], "the batch", &k[BATCH]));
    PRT_TRY(prt_infer_merge(c, k[HEADS], past_k[HEADS], "the number of heads", &k[HEADS]));
    PRT_TRY(prt_infer_merge(c, k[HEADS], past_v[HEADS], "the number of heads", &k[HEADS]));
    PRT_TRY(prt_infer_merge(c, k[SIZE], past_k[SIZE], "the head size", &k[SIZE]));
    PRT_TRY(prt_infer_merge(c, v[SIZE], past_v[SIZE], "the value size", &v[SIZE]));
    *total = prt_dim_add(c->dims, k[SEQUENCE], past_k[SEQUENCE]);
    return POPRT_OK;
}

static poprt_status check_attention(prt_infer *c, const int64_t *q)
{
    const prt_attention_attrs *a = c->attrs;
    int64_t dim;
    if (a->left_window_size < -1 || a->right_window_size < -1)
        return prt_infer_fail(c, POPRT_E_ARG, "a window size is below -1; it must be at least -1");
    if (a->qk_matmul_output_mode < 0 || a->qk_matmul_output_mode > 3)
        return prt_infer_fail(c, POPRT_E_ARG, "qk_matmul_output_mode is %lld; accepted: 0 to 3",
            (long long)a->qk_matmul_output_mode);
    if (a->softmax_precision != 0)
        PRT_TRY(prt_infer_dtype_attr(c, "softmax_precision", PRT_T_FB, a->softmax_precision));
    if (prt_infer_has(c, IN_LENGTHS) && prt_infer_has(c, IN_PAST_KEY))
        return prt_infer_fail(c, POPRT_E_ARG,
            "nonpad_kv_seqlen and past_key cannot be given together");
    if (!prt_infer_ranked(c, IN_LENGTHS))
        return POPRT_OK;
    if (c->in[IN_LENGTHS].rank != 1)
        return prt_infer_fail(c, POPRT_E_SHAPE, "nonpad_kv_seqlen has rank %d; rank 1 is required",
            c->in[IN_LENGTHS].rank);
    return prt_infer_merge(c, q[BATCH], c->in[IN_LENGTHS].dims[0], "the batch", &dim);
}

static poprt_status infer(prt_infer *c)
{
    const prt_attention_attrs *a = c->attrs;
    int64_t q[4], k[4], v[4], total = PRT_DIM_UNKNOWN;
    PRT_TRY(four_dims(c, IN_Q, a->q_num_heads, q));
    PRT_TRY(four_dims(c, IN_K, a->kv_num_heads, k));
    PRT_TRY(four_dims(c, IN_V, a->kv_num_heads, v));
    PRT_TRY(check_cache(c, q, k, v, &total));
    PRT_TRY(check_attention(c, q));
    PRT_TRY(check_mask(c, q, total));
    const int64_t key[4] = { k[BATCH], k[HEADS], total, k[SIZE] };
    const int64_t value[4] = { k[BATCH], k[HEADS], total, v[SIZE] };
    const int64_t scores[4] = { q[BATCH], q[HEADS], q[SEQUENCE], total };
    const int64_t y4[4] = { q[BATCH], q[HEADS], q[SEQUENCE], v[SIZE] };
    const int64_t y3[3] = { q[BATCH], q[SEQUENCE], prt_dim_mul(c->dims, q[HEADS], v[SIZE]) };
    const int32_t rank = c->in[IN_Q].rank, dtype = c->in[IN_Q].dtype;
    PRT_TRY(prt_infer_set(c, OUT_Y, dtype, rank, rank == 3 ? y3 : y4));
    PRT_TRY(prt_infer_set(c, OUT_KEY, dtype, 4, key));
    PRT_TRY(prt_infer_set(c, OUT_VALUE, c->in[IN_V].dtype, 4, value));
    return prt_infer_set(c, OUT_SCORES, dtype, 4, scores);
}

/* ---- values ---- */

typedef struct state {
    const prt_attention_attrs *a;
    const prt_tensor *mask, *lengths;
    prt_tensor *scores;
} state;

static prt_heads view_of(const prt_tensor *t, int64_t heads)
{
    return t->rank == 4 ? prt_heads_of_rank4(t) : prt_heads_of_rank3(t, (size_t)heads);
}

/* Returns the bias of the mask for key `j`. Keys beyond the last dim of the mask are masked. */
static double mask_at(const prt_tensor *m, size_t batch, size_t head, size_t i, size_t j)
{
    const size_t at[4] = { batch, head, i, j };
    size_t index = 0;
    if (j >= (size_t)m->dims[m->rank - 1])
        return -HUGE_VAL;
    for (uint32_t k = 0; k < m->rank; k++) {
        const size_t dim = (size_t)m->dims[k], place = at[4 - m->rank + k];
        index = index * dim + (dim == 1 ? 0 : place);
    }
    if (m->dtype == PRT_DTYPE_bool)
        return ((const unsigned char *)m->data)[index] != 0 ? 0 : -HUGE_VAL;
    return prt_load_f64(m->dtype, m->data, index);
}

/* Returns the position of query i among the keys; `*length` is the number of valid keys. */
static int64_t position_of(const prt_attention *s, size_t batch, size_t i, int64_t *length)
{
    const state *st = s->user;
    const int64_t queries = (int64_t)s->q.rows;
    int64_t offset = (int64_t)s->past;
    *length = INT64_MAX;
    if (st->lengths != NULL) {
        *length = prt_load_i64(st->lengths->dtype, st->lengths->data, batch);
        offset = *length < -queries ? -queries - queries : *length - queries;
    }
    return (int64_t)i + (offset > INT64_MAX / 2 ? INT64_MAX / 2 : offset);
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static bool range(const prt_attention *s, size_t batch, size_t i, size_t *first, size_t *end)
{
    const state *st = s->user;
    const prt_attention_attrs *a = st->a;
    int64_t length, low = 0;
    const int64_t place = position_of(s, batch, i, &length);
    int64_t high = least(length, (int64_t)s->total);
    if (a->is_causal != 0)
        high = least(high, place + 1);
    if (a->right_window_size >= 0 && a->right_window_size < (int64_t)s->total)
        high = least(high, place + a->right_window_size + 1);
    if (a->left_window_size >= 0 && a->left_window_size < place)
        low = place - a->left_window_size;
    *end = high > 0 ? (size_t)high : 0;
    *first = low < (int64_t)*end ? (size_t)low : *end;
    return st->mask == NULL;
}

static void fill_bias(const prt_attention *s, size_t batch, size_t head, size_t i, double *to)
{
    const state *st = s->user;
    const prt_attention_attrs *a = st->a;
    int64_t length;
    const int64_t place = position_of(s, batch, i, &length);
    for (size_t j = 0; j < s->total; j++) {
        /* distance of the key from the query; positive for later keys */
        const int64_t by = (int64_t)j - place;
        const bool open = (int64_t)j < length && (a->is_causal == 0 || by <= 0) &&
            (a->left_window_size < 0 || -by <= a->left_window_size) &&
            (a->right_window_size < 0 || by <= a->right_window_size);
        to[j] = !open ? -HUGE_VAL : st->mask != NULL ? mask_at(st->mask, batch, head, i, j) : 0;
    }
}

/* Stores the scores if `stage` is the requested stage. */
static void store_scores(const prt_attention *s, int stage, size_t batch, size_t head, size_t i,
    const double *scores)
{
    const state *st = s->user;
    if (st->a->qk_matmul_output_mode == stage && st->scores != NULL)
        prt_reals_store(st->scores->dtype, st->scores->data,
            ((batch * s->q.heads + head) * s->q.rows + i) * s->total, 1, s->total, scores);
}

static poprt_status eval(prt_eval *c)
{
    const prt_attention_attrs *a = c->attrs;
    const prt_tensor *y = prt_eval_wants(c, OUT_Y) ? c->out[OUT_Y] : NULL;
    const state st = { .a = a,
        .mask = prt_eval_has(c, IN_MASK) ? c->in[IN_MASK] : NULL,
        .lengths = prt_eval_has(c, IN_LENGTHS) ? c->in[IN_LENGTHS] : NULL,
        .scores = prt_eval_wants(c, OUT_SCORES) ? c->out[OUT_SCORES] : NULL };
    const bool past = prt_eval_has(c, IN_PAST_KEY);
    prt_attention s = { .q = view_of(c->in[IN_Q], a->q_num_heads),
        .k = view_of(c->in[IN_K], a->kv_num_heads),
        .v = view_of(c->in[IN_V], a->kv_num_heads),
        .past_k = prt_heads_of_rank4(past ? c->in[IN_PAST_KEY] : NULL),
        .past_v = prt_heads_of_rank4(past ? c->in[IN_PAST_VALUE] : NULL),
        .present_k = prt_heads_of_rank4(prt_eval_wants(c, OUT_KEY) ? c->out[OUT_KEY] : NULL),
        .present_v = prt_heads_of_rank4(prt_eval_wants(c, OUT_VALUE) ? c->out[OUT_VALUE] : NULL),
        .batch = (size_t)c->in[IN_Q]->dims[0],
        .cap = (double)a->softcap,
        .bias = fill_bias,
        .range = range,
        .scores = st.scores != NULL ? store_scores : NULL,
        .user = &st };
    s.y = y != NULL ? view_of(y, a->q_num_heads) : s.y;
    s.scale = prt_attr_given(a, ATTR_SCALE) ? (double)a->scale : 1 / sqrt((double)s.q.size);
    return prt_attention_run(c, &s);
}

const prt_op_hooks prt_op_attention = { .infer = infer, .eval = eval };
