/* SPDX-License-Identifier: MIT */
/*
 * grad_attention.c — gradients of Attention, FlexAttention and RotaryEmbedding, which are rebuilt
 * from products, Softmax and element-wise operators.
 */
#include "train/attention.h"

#include <math.h>

#include "train/region.h"
#include "train/terms.h"

prt_value *prt_grad_split_heads(prt_grad *g, prt_value *v, int64_t heads)
{
    static const int64_t perm[4] = { 0, 2, 1, 3 };
    const int64_t dims[4] = { 0, 0, heads, -1 };
    return prt_grad_permute(g, prt_grad_reshape_to(g, v, 4, dims), 4, perm);
}

prt_value *prt_grad_join_heads(prt_grad *g, prt_value *v)
{
    static const int64_t perm[4] = { 0, 2, 1, 3 }, dims[3] = { 0, 0, -1 };
    return prt_grad_reshape_to(g, prt_grad_permute(g, v, 4, perm), 3, dims);
}

prt_value *prt_grad_key_places(prt_grad *g, prt_value *k)
{
    return prt_grad_count(g, prt_grad_dim(g, k, 2));
}

prt_value *prt_grad_query_places(prt_grad *g, prt_value *q, prt_value *k, prt_value *last)
{
    static const int64_t column[2] = { -1, 1 };
    prt_value *rows = prt_grad_dim(g, q, 2), *zero = prt_build_i64(g->b, 0);
    prt_value *first = BINARY(max, SUB(prt_grad_dim(g, k, 2), prt_grad_dim(g, last, 2)), zero);
    return prt_grad_reshape_to(g, ADD(prt_grad_count(g, rows), first), 2, column);
}

/* Repeats each head of K or V for the `groups` heads of Q that it belongs to. */
static prt_value *repeat_heads(prt_grad *g, prt_value *v, int64_t heads, int64_t groups)
{
    static const int64_t axis[1] = { 2 };
    const int64_t wide[5] = { 1, 1, groups, 1, 1 };
    if (groups == 1 || g->b->status != POPRT_OK)
        return v;
    prt_value *parts[3] = { NULL, prt_build_i64s(g->b, 1, (int64_t[1]){ heads * groups }), NULL };
    prt_shape_attrs first = PRT_ATTRS_OF(shape), last = PRT_ATTRS_OF(shape);
    PRT_ATTR_SET(first, shape, end, 1);
    PRT_ATTR_SET(last, shape, start, 2);
    parts[0] = prt_build_op(g->b, PRT_OP_shape, &first, 1, &v);
    parts[2] = prt_build_op(g->b, PRT_OP_shape, &last, 1, &v);
    prt_value *shape = prt_grad_concat_values(g, 0, 3, parts);
    v = BINARY(expand, prt_grad_unsqueeze(g, v, 1, axis), prt_build_i64s(g->b, 5, wide));
    return BINARY(reshape, v, shape);
}

poprt_status prt_grad_attend(prt_grad *g, prt_grad_attention *a)
{
    static const int64_t swap[4] = { 0, 1, 3, 2 };
    PRT_TRY(g->b->status);
    const int64_t heads = prt_grad_rank(a->q) == 4 ? a->q->type->dims[1] : PRT_DIM_UNKNOWN;
    const int64_t pairs = prt_grad_rank(a->k) == 4 ? a->k->type->dims[1] : PRT_DIM_UNKNOWN;
    const int64_t size = prt_grad_rank(a->q) == 4 ? a->q->type->dims[3] : PRT_DIM_UNKNOWN;
    if (!prt_dim_is_number(heads) || !prt_dim_is_number(pairs) || pairs < 1 || heads % pairs != 0)
        return prt_grad_refuse(g, "needs a known number of heads");
    if (a->scale == 0.0 && (!prt_dim_is_number(size) || size < 1))
        return prt_grad_refuse(g, "needs a known head size");
    const double scale = a->scale != 0.0 ? a->scale : 1.0 / sqrt((double)size);
    prt_value *k = repeat_heads(g, a->k, pairs, heads / pairs);
    prt_value *v = repeat_heads(g, a->v, pairs, heads / pairs);
    prt_value *q = MUL(a->q, NUM(a->q, scale));
    a->raw = BINARY(matmul, q, prt_grad_permute(g, k, 4, swap));
    a->capped = a->raw;
    if (a->cap != 0.0)
        a->capped = MUL(CALL(tanh, DIV(a->raw, NUM(a->raw, a->cap))), NUM(a->raw, a->cap));
    a->biased = a->bias != NULL ? ADD(a->capped, a->bias) : a->capped;
    prt_softmax_attrs softmax = PRT_ATTRS_OF(softmax);
    PRT_ATTR_SET(softmax, softmax, axis, -1);
    /* A bias of minus infinity closes a key too. A query without open keys has zeros as result. */
    const bool half = g->b->status == POPRT_OK && a->q->type->dtype == PRT_DTYPE_f16;
    prt_value *least = NUM(a->q, half ? -6e4 : -1e30), *closed = a->closed;
    if (a->bias != NULL) {
        prt_value *open = BINARY(less, a->bias, least);
        closed = closed != NULL ? BINARY(or, closed, open) : open;
    }
    prt_value *scores = closed != NULL ? WHERE(closed, least, a->biased) : a->biased;
    a->shares = prt_build_op(g->b, PRT_OP_softmax, &softmax, 1, &scores);
    if (closed != NULL)
        a->shares = WHERE(closed, NUM(a->q, 0.0), a->shares);
    if (a->closed != NULL)
        a->biased = WHERE(a->closed, NUM(a->q, -(double)INFINITY), a->biased);
    a->y = BINARY(matmul, a->shares, prt_grad_cast_as(g, v, a->shares));
    return g->b->status;
}

/* ---- Attention */

enum { IN_Q, IN_K, IN_V, IN_MASK, IN_PAST_KEY, IN_PAST_VALUE, IN_LENGTHS };

/* Adds a condition that closes keys. */
static void close_keys(prt_grad *g, prt_grad_attention *s, prt_value *closed)
{
    s->closed = s->closed != NULL ? BINARY(or, s->closed, closed) : closed;
}

/* Pads the last dim of the mask to the number of keys; added keys are closed. */
static prt_value *pad_mask(prt_grad *g, prt_value *mask, prt_value *k)
{
    const int32_t rank = prt_grad_rank(mask);
    int64_t zeros[2 * PRT_MAX_RANK] = { 0 };
    if (g->b->status != POPRT_OK || rank < 1 || mask->type->dims[rank - 1] == k->type->dims[2])
        return mask;
    prt_value *parts[2] = { prt_build_i64s(g->b, 2 * (uint32_t)rank - 1, zeros),
        SUB(prt_grad_dim(g, k, 2), prt_grad_dim(g, mask, rank - 1)) };
    const bool flags = mask->type->dtype == PRT_DTYPE_bool;
    prt_value *in[3] = { mask, prt_grad_concat_values(g, 0, 2, parts),
        flags ? NULL : NUM(mask, -(double)INFINITY) };
    return prt_build_op(g->b, PRT_OP_pad, NULL, flags ? 2 : 3, in);
}

/* Causality, windows and lengths of the keys. */
static void close_by_place(prt_grad *g, prt_grad_attention *s, prt_value *new_keys)
{
    static const int64_t batch[4] = { -1, 1, 1, 1 };
    const prt_attention_attrs *a = g->op->attrs;
    prt_value *lengths = prt_grad_x(g, IN_LENGTHS), *query, *key = prt_grad_key_places(g, s->k);
    query = prt_grad_query_places(g, s->q, s->k, new_keys);
    if (lengths != NULL) {
        static const int64_t column[2] = { -1, 1 };
        lengths = prt_grad_reshape_to(g, lengths, 4, batch);
        prt_value *rows = prt_grad_dim(g, s->q, 2);
        query = prt_grad_reshape_to(g, SUB(prt_grad_count(g, rows), rows), 2, column);
        query = ADD(query, lengths);
        close_keys(g, s, BINARY(greater_or_equal, key, lengths));
    }
    if (a->is_causal != 0)
        close_keys(g, s, BINARY(greater, key, query));
    if (a->left_window_size >= 0)
        close_keys(g, s,
            BINARY(greater, SUB(query, key), prt_build_i64(g->b, a->left_window_size)));
    if (a->right_window_size >= 0)
        close_keys(g, s,
            BINARY(greater, SUB(key, query), prt_build_i64(g->b, a->right_window_size)));
}

poprt_status prt_grad_attention_op(prt_grad *g)
{
    const prt_attention_attrs *a = g->op->attrs;
    prt_value *mask = prt_grad_x(g, IN_MASK), *past_k = prt_grad_x(g, IN_PAST_KEY), *new_keys;
    prt_grad_attention s = { .scale = prt_attr_given(a, 1) ? (double)a->scale : 0.0,
        .cap = (double)a->softcap };
    const bool flat = prt_grad_rank(prt_grad_x(g, IN_Q)) == 3;
    if (prt_attr_given(a, 1) && a->scale == 0.0f)
        return prt_grad_refuse(g, "not supported for a scale of 0");
    s.q = prt_grad_x(g, IN_Q);
    s.k = prt_grad_x(g, IN_K);
    s.v = prt_grad_x(g, IN_V);
    if (flat) {
        s.q = prt_grad_split_heads(g, s.q, a->q_num_heads);
        s.k = prt_grad_split_heads(g, s.k, a->kv_num_heads);
        s.v = prt_grad_split_heads(g, s.v, a->kv_num_heads);
    }
    new_keys = s.k;
    if (past_k != NULL) {
        s.k = prt_grad_concat_values(g, 2, 2, (prt_value *[2]){ past_k, s.k });
        s.v =
            prt_grad_concat_values(g, 2, 2, (prt_value *[2]){ prt_grad_x(g, IN_PAST_VALUE), s.v });
    }
    PRT_TRY(g->b->status);
    if (mask != NULL && mask->type->dtype == PRT_DTYPE_bool)
        close_keys(g, &s, CALL(not, pad_mask(g, mask, s.k)));
    else if (mask != NULL)
        s.bias = prt_grad_cast_as(g, pad_mask(g, mask, s.k), s.q);
    if (a->is_causal != 0 || a->left_window_size >= 0 || a->right_window_size >= 0 ||
        prt_grad_x(g, IN_LENGTHS) != NULL)
        close_by_place(g, &s, new_keys);
    PRT_TRY(prt_grad_attend(g, &s));
    prt_value *const scores[4] = { s.raw, s.capped, s.biased, s.shares };
    prt_value *const ys[4] = { flat ? prt_grad_join_heads(g, s.y) : s.y, s.k, s.v,
        scores[a->qk_matmul_output_mode & 3] };
    return prt_grad_by_outputs(g, ys);
}

/* ---- FlexAttention */

/* Copies the ops of a region that takes and returns the scores. UINT32_MAX: no region. */
static prt_value *modified(prt_grad *g, uint32_t region, prt_value *scores)
{
    prt_value *ret = scores;
    if (region == UINT32_MAX || g->b->status != POPRT_OK)
        return scores;
    const prt_region_copy copy = { .region = g->op->regions[region], .inputs = &scores };
    g->b->status = prt_region_copy_ops(g->b, &copy, &ret);
    return ret;
}

poprt_status prt_grad_flex_attention(prt_grad *g)
{
    static const int64_t swap[4] = { 0, 1, 3, 2 };
    enum { ATTR_SCORE, ATTR_PROB, ATTR_PRECISION, ATTR_SCALE };
    const prt_flex_attention_attrs *a = g->op->attrs;
    const bool given = prt_attr_given(a, ATTR_PRECISION);
    prt_value *x[3];
    for (uint32_t i = 0; i < 3; i++) {
        x[i] = prt_grad_x(g, i);
        const int32_t dtype = x[i]->type->dtype;
        const int32_t own = dtype == PRT_DTYPE_f64 ? dtype : PRT_DTYPE_f32;
        if (prt_grad_rank(x[i]) != 4 || !prt_dim_is_number(x[i]->type->dims[1]) ||
            x[i]->type->dims[1] < 1 || !prt_dim_is_number(x[i]->type->dims[3]))
            return prt_grad_refuse(g, "needs a known number of heads and a known head size");
        x[i] = prt_grad_cast_to(g, x[i], given ? (int32_t)a->softmax_precision : own);
    }
    const prt_type *q = prt_grad_x(g, IN_Q)->type, *k = prt_grad_x(g, IN_K)->type;
    const int64_t heads = k->dims[1], groups = q->dims[1] / heads;
    const double scale =
        prt_attr_given(a, ATTR_SCALE) ? (double)a->scale : 1.0 / sqrt((double)q->dims[3]);
    prt_softmax_attrs softmax = PRT_ATTRS_OF(softmax);
    PRT_ATTR_SET(softmax, softmax, axis, -1);
    prt_value *keys = prt_grad_permute(g, repeat_heads(g, x[IN_K], heads, groups), 4, swap);
    prt_value *scores = MUL(BINARY(matmul, x[IN_Q], keys), NUM(x[IN_Q], scale));
    scores = modified(g, prt_attr_given(a, ATTR_SCORE) ? a->score_mod : UINT32_MAX, scores);
    prt_value *shares = prt_build_op(g->b, PRT_OP_softmax, &softmax, 1, &scores);
    shares = modified(g, prt_attr_given(a, ATTR_PROB) ? a->prob_mod : UINT32_MAX, shares);
    prt_value *y = BINARY(matmul, shares, repeat_heads(g, x[IN_V], heads, groups));
    return prt_grad_by(g, prt_grad_cast_as(g, y, &g->op->out[0]));
}

/* ---- RotaryEmbedding */

prt_value *prt_grad_rotate(prt_grad *g, const prt_grad_rotation *r)
{
    static const int64_t end = INT64_MAX, last[1] = { -1 };
    const bool flat = prt_grad_rank(r->x) == 3;
    const int64_t dims[4] = { 0, 0, r->heads, -1 }, axis[1] = { flat ? 2 : 1 };
    prt_value *x = flat ? prt_grad_reshape_to(g, r->x, 4, dims) : r->x, *rest = NULL, *y[2];
    prt_value *c = prt_grad_unsqueeze(g, r->cosine, 1, axis);
    prt_value *s = prt_grad_unsqueeze(g, r->sine, 1, axis), *pair[2];
    if (r->rotated != 0) {
        rest = prt_grad_slice(g, x, 3, r->rotated, end, 1);
        x = prt_grad_slice(g, x, 3, 0, r->rotated, 1);
    }
    if (r->interleaved) {
        pair[0] = prt_grad_slice(g, x, 3, 0, end, 2);
        pair[1] = prt_grad_slice(g, x, 3, 1, end, 2);
    } else {
        prt_split_attrs split = PRT_ATTRS_OF(split);
        PRT_ATTR_SET(split, split, axis, 3);
        PRT_ATTR_SET(split, split, num_outputs, 2);
        const prt_op *parts = prt_build_op_n(g->b, PRT_OP_split, &split, 1, &x, 2);
        for (uint32_t i = 0; i < 2; i++)
            pair[i] = parts != NULL ? &parts->out[i] : NULL;
    }
    y[0] = SUB(MUL(c, pair[0]), MUL(s, pair[1]));
    y[1] = ADD(MUL(s, pair[0]), MUL(c, pair[1]));
    for (uint32_t i = 0; i < 2 && r->interleaved; i++)
        y[i] = prt_grad_unsqueeze(g, y[i], 1, last);
    x = prt_grad_concat_values(g, -1, 2, y);
    if (r->interleaved)
        x = prt_grad_reshape_to(g, x, 4, (int64_t[4]){ 0, 0, 0, -1 });
    if (rest != NULL)
        x = prt_grad_concat_values(g, 3, 2, (prt_value *[2]){ x, rest });
    return prt_grad_reshape(g, x, r->x);
}

poprt_status prt_grad_rotary_embedding(prt_grad *g)
{
    const prt_rotary_embedding_attrs *a = g->op->attrs;
    prt_value *positions = prt_grad_x(g, 3);
    prt_grad_rotation r = { .x = prt_grad_x(g, 0),
        .cosine = prt_grad_x(g, 1),
        .sine = prt_grad_x(g, 2),
        .heads = a->num_heads,
        .rotated = a->rotary_embedding_dim,
        .interleaved = a->interleaved != 0 };
    if (prt_grad_rank(r.x) < 0)
        return prt_grad_refuse(g, "needs an input of known rank");
    if (positions != NULL) {
        r.cosine = BINARY(gather, r.cosine, positions);
        r.sine = BINARY(gather, r.sine, positions);
    }
    return prt_grad_by(g, prt_grad_rotate(g, &r));
}
