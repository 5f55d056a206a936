/* SPDX-License-Identifier: MIT */
/*
 * q_attention.c — QAttention: queries, keys and values are one product of the quantised input with
 * packed weights; attention itself works on real numbers.
 */
#include <math.h>

#include "op/attention_core.h"
#include "op/check.h"
#include "op/inner.h"

enum {
    IN_X,
    IN_W,
    IN_BIAS,
    IN_X_SCALE,
    IN_W_SCALE,
    IN_MASK,
    IN_X_ZERO,
    IN_W_ZERO,
    IN_PAST
};

/* ---- shapes ---- */

static poprt_status check_attrs(const prt_infer *c)
{
    const prt_ms_qattention_attrs *a = c->attrs;
    if (a->num_heads < 1 || a->num_heads > INT32_MAX)
        return prt_infer_fail(c, POPRT_E_ARG, "num_heads is %lld", (long long)a->num_heads);
    if (a->do_rotary != 0 || a->past_present_share_buffer != 0)
        return prt_infer_fail(c, POPRT_E_UNSUPPORTED,
            "do_rotary and past_present_share_buffer must be 0");
    return POPRT_OK;
}

/* One number per batch entry (an end), two (then also the starts), or 0 and 1 for each key. */
static poprt_status check_mask(const prt_infer *c, int64_t batch, int64_t queries, int64_t total)
{
    const prt_shape *m = &c->in[IN_MASK];
    int64_t merged;
    if (!prt_infer_ranked(c, IN_MASK))
        return POPRT_OK;
    if (m->rank < 1 || m->rank > 3)
        return prt_infer_fail(c, POPRT_E_SHAPE, "mask_index has rank %d; 1 to 3 are possible",
            m->rank);
    if (m->rank == 1) {
        if (prt_dim_is_number(m->dims[0]) && prt_dim_is_number(batch) && m->dims[0] != batch &&
            m->dims[0] != 2 * batch)
            return prt_infer_fail(c, POPRT_E_SHAPE, "mask_index has %lld numbers for %lld images",
                (long long)m->dims[0], (long long)batch);
        return POPRT_OK;
    }
    PRT_TRY(prt_infer_merge(c, batch, m->dims[0], "the batch", &merged));
    if (m->rank == 3)
        PRT_TRY(prt_infer_merge(c, queries, m->dims[1], "the number of queries", &merged));
    return prt_infer_merge(c, total, m->dims[m->rank - 1], "the number of keys", &merged);
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
    PRT_TRY(check_mask(c, batch, queries, total));
    const int64_t y[3] = { batch, queries, hidden };
    const int64_t present[5] = { 2, batch, a->num_heads, total, size };
    PRT_TRY(prt_infer_exact(c, 0, c->in[IN_BIAS].dtype, 3, y));
    return prt_infer_exact(c, 1, c->in[IN_BIAS].dtype, 5, present);
}

/* ---- values ---- */

typedef struct masking {
    const prt_tensor *mask; /* NULL: none */
    double filter;
    bool causal;
    size_t batch;
} masking;

static bool is_masked(const masking *m, size_t batch, size_t i, size_t key, size_t queries,
    size_t total)
{
    const prt_tensor *t = m->mask;
    if (t->rank == 1) {
        const int64_t end = prt_load_i64(t->dtype, t->data, batch);
        const int64_t start = (size_t)t->dims[0] == m->batch
            ? 0
            : prt_load_i64(t->dtype, t->data, m->batch + batch);
        return (int64_t)key >= end || (int64_t)key < start;
    }
    const size_t row = t->rank == 2 ? batch : batch * queries + i;
    return prt_load_i64(t->dtype, t->data, row * total + key) == 0;
}

static void fill_bias(const prt_attention *s, size_t batch, size_t head, size_t i, double *to)
{
    const masking *m = s->user;
    (void)head;
    for (size_t key = 0; key < s->total; key++) {
        to[key] = 0;
        if (m->mask != NULL && is_masked(m, batch, i, key, s->q.rows, s->total))
            to[key] = m->filter;
        if (m->causal && key > i + s->past)
            to[key] = -HUGE_VAL;
    }
}

/* Part `part` of [2, batch, heads, rows, size]: keys, or values. */
static prt_heads half_of(const prt_tensor *t, size_t part)
{
    prt_tensor one = *t;
    one.rank = 4;
    memmove(one.dims, t->dims + 1, 4 * sizeof(int64_t));
    prt_heads h = prt_heads_split(&one);
    h.first += part * prt_dims_product(t->dims, 1, 5);
    return h;
}

/* Part `part` of [batch, rows, 3 * hidden]: queries, keys or values. */
static prt_heads third_of(const prt_tensor *t, size_t part, size_t heads)
{
    prt_heads h = prt_heads_joined(t, heads);
    h.size /= 3;
    h.head /= 3;
    h.first += part * h.size * heads;
    return h;
}

static poprt_status project(prt_eval *c, prt_tensor *to)
{
    const prt_tensor *in[] = { c->in[IN_X], c->in[IN_W], c->in[IN_X_SCALE], c->in[IN_W_SCALE],
        prt_eval_has(c, IN_X_ZERO) ? c->in[IN_X_ZERO] : NULL,
        prt_eval_has(c, IN_W_ZERO) ? c->in[IN_W_ZERO] : NULL, c->in[IN_BIAS] };
    const int64_t dims[] = { c->in[IN_X]->dims[0], c->in[IN_X]->dims[1], c->in[IN_W]->dims[1] };
    prt_tensor *out[] = { to };
    PRT_TRY(prt_inner_tensor(c, PRT_DTYPE_f64, 3, dims, to));
    return prt_inner_eval(c, PRT_OP_ms_matmul_integer_to_float, NULL, 7, in, 1, out);
}

static poprt_status eval(prt_eval *c)
{
    const prt_ms_qattention_attrs *a = c->attrs;
    const prt_op_def *def = c->def;
    const size_t heads = (size_t)a->num_heads;
    const bool filter = prt_attr_given(a, prt_op_attr(def, PRT_STR("mask_filter_value")));
    prt_tensor packed;
    PRT_TRY(project(c, &packed));
    const masking m = { .mask = prt_eval_has(c, IN_MASK) ? c->in[IN_MASK] : NULL,
        .filter = filter ? (double)a->mask_filter_value : -10000,
        .causal = a->unidirectional != 0, .batch = (size_t)packed.dims[0] };
    prt_attention s = { .q = third_of(&packed, 0, heads), .k = third_of(&packed, 1, heads),
        .v = third_of(&packed, 2, heads), .batch = m.batch, .bias = fill_bias, .user = &m };
    s.scale = prt_attr_given(a, prt_op_attr(def, PRT_STR("scale"))) && a->scale != 0.0f
        ? (double)a->scale
        : 1 / sqrt((double)s.q.size);
    if (prt_eval_has(c, IN_PAST)) {
        s.past_k = half_of(c->in[IN_PAST], 0);
        s.past_v = half_of(c->in[IN_PAST], 1);
    }
    if (prt_eval_wants(c, 0))
        s.y = prt_heads_joined(c->out[0], heads);
    if (prt_eval_wants(c, 1)) {
        s.present_k = half_of(c->out[1], 0);
        s.present_v = half_of(c->out[1], 1);
    }
    return prt_attention_run(c, &s);
}

const prt_op_hooks prt_op_ms_qattention = { .infer = infer, .eval = eval };
