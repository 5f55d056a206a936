/* SPDX-License-Identifier: MIT */
/* grad_microsoft.c — gradients of operators of com.microsoft, which are rebuilt from simpler ones.
 */
#include "train/attention.h"
#include "train/norm.h"
#include "train/terms.h"

/* ---- activations and products */

static prt_value *gelu(prt_grad *g, prt_value *x, bool tanh)
{
    prt_gelu_attrs attrs = PRT_ATTRS_OF(gelu);
    if (tanh)
        PRT_ATTR_SET(attrs, gelu, approximate, PRT_STR("tanh"));
    return prt_build_op(g->b, PRT_OP_gelu, &attrs, 1, &x);
}

static prt_value *sum_of(prt_grad *g, prt_value *x, prt_value *bias)
{
    return bias != NULL ? ADD(x, bias) : x;
}

poprt_status prt_grad_ms_fast_gelu(prt_grad *g)
{
    return prt_grad_by(g, gelu(g, sum_of(g, prt_grad_x(g, 0), prt_grad_x(g, 1)), true));
}

poprt_status prt_grad_ms_bias_gelu(prt_grad *g)
{
    return prt_grad_by(g, gelu(g, ADD(prt_grad_x(g, 0), prt_grad_x(g, 1)), false));
}

poprt_status prt_grad_ms_bias_add(prt_grad *g)
{
    return prt_grad_by(g, ADD(ADD(prt_grad_x(g, 0), prt_grad_x(g, 1)), prt_grad_x(g, 2)));
}

poprt_status prt_grad_ms_gemm_fast_gelu(prt_grad *g)
{
    prt_value *product = BINARY(matmul, prt_grad_x(g, 0), prt_grad_x(g, 1));
    return prt_grad_by(g, gelu(g, sum_of(g, product, prt_grad_x(g, 2)), true));
}

/* Exchanges the last two dims. */
static prt_value *transposed(prt_grad *g, prt_value *v)
{
    int64_t perm[PRT_MAX_RANK];
    const int32_t rank = prt_grad_rank(v);
    for (int32_t i = 0; i < rank; i++)
        perm[i] = i < rank - 2 ? i : 2 * rank - 3 - i;
    return rank < 2 ? v : prt_grad_permute(g, v, (uint32_t)rank, perm);
}

poprt_status prt_grad_ms_fused_matmul(prt_grad *g)
{
    const prt_ms_fused_matmul_attrs *a = g->op->attrs;
    prt_value *x = prt_grad_x(g, 0), *w = prt_grad_x(g, 1);
    if (a->transBatchA != 0 || a->transBatchB != 0)
        return prt_grad_refuse(g, "not supported with a transposed batch");
    if (prt_grad_rank(x) < 0 || prt_grad_rank(w) < 0)
        return prt_grad_refuse(g, "needs inputs of known rank");
    prt_value *product = BINARY(matmul, a->transA != 0 ? transposed(g, x) : x,
        a->transB != 0 ? transposed(g, w) : w);
    return prt_grad_by(g, MUL(product, NUM(x, (double)a->alpha)));
}

/* d(inverse) = -Y' dY Y' */
poprt_status prt_grad_ms_inverse(prt_grad *g)
{
    prt_value *y = transposed(g, prt_grad_y(g));
    prt_value *d = BINARY(matmul, BINARY(matmul, y, g->out[0]), y);
    return prt_grad_set(g, 0, CALL(neg, d));
}

/* ---- normalisations of a sum */

static poprt_status skip_norm(prt_grad *g, bool centred, double epsilon, prt_value *beta,
    prt_value *bias)
{
    static const int64_t last[1] = { -1 };
    prt_value *sum = sum_of(g, ADD(prt_grad_x(g, 0), prt_grad_x(g, 1)), bias);
    const prt_standardized s = prt_grad_standardize(g, sum, 1, last, epsilon, centred);
    prt_value *ys[4] = { prt_grad_scaled(g, s.y, prt_grad_x(g, 2), beta), s.mean, s.inverse, sum };
    for (uint32_t i = 1; i < 3 && i < g->op->n_out; i++)
        if (g->out[i] != NULL && ys[i] != NULL)
            ys[i] = prt_grad_cast_as(g, ys[i], &g->op->out[i]);
    if (g->op->n_out > 1 && g->out[1] != NULL && !centred)
        return prt_grad_refuse(g, "its mean is used");
    return prt_grad_by_outputs(g, ys);
}

poprt_status prt_grad_ms_skip_layer_norm(prt_grad *g)
{
    const prt_ms_skip_layer_normalization_attrs *a = g->op->attrs;
    return skip_norm(g, true, (double)a->epsilon, prt_grad_x(g, 3), prt_grad_x(g, 4));
}

poprt_status prt_grad_ms_skip_simplified_layer_norm(prt_grad *g)
{
    const prt_ms_skip_simplified_layer_normalization_attrs *a = g->op->attrs;
    return skip_norm(g, false, (double)a->epsilon, NULL, prt_grad_x(g, 3));
}

/* ---- RotaryEmbedding */

poprt_status prt_grad_ms_rotary_embedding(prt_grad *g)
{
    const prt_ms_rotary_embedding_attrs *a = g->op->attrs;
    static const int64_t row[2] = { 1, -1 };
    prt_value *x = prt_grad_x(g, 0), *positions = prt_grad_x(g, 1), *cosine = prt_grad_x(g, 2);
    prt_grad_rotation r = { .x = x,
        .heads = a->num_heads,
        .rotated = a->rotary_embedding_dim,
        .interleaved = a->interleaved != 0 };
    const int32_t rank = prt_grad_rank(x);
    if ((rank != 3 && rank != 4) || prt_grad_rank(positions) < 1)
        return prt_grad_refuse(g, "needs inputs of known rank");
    if (rank == 3 && r.heads == 0) {
        const int64_t size = x->type->dims[2], pairs = cosine->type->dims[1];
        if (!prt_dim_is_number(size) || !prt_dim_is_number(pairs) || pairs < 1)
            return prt_grad_refuse(g, "needs a known head size");
        r.heads = size / (2 * pairs);
    }
    if (prt_grad_rank(positions) == 1) { /* the position of the first token */
        prt_value *rows = prt_grad_count(g, prt_grad_dim(g, x, rank - 2));
        positions = prt_grad_reshape_to(g, ADD(rows, positions), 2, row);
    }
    r.cosine = BINARY(gather, cosine, positions);
    r.sine = BINARY(gather, prt_grad_x(g, 3), positions);
    return prt_grad_by(g, prt_grad_rotate(g, &r));
}

/* ---- Attention and MultiHeadAttention */

/* Whether the mask closes keys, for masks of lengths [batch], [batch, keys] and [batch, queries,
 * keys]; NULL if it has another shape. */
static prt_value *masked_keys(prt_grad *g, prt_value *mask, prt_value *q, prt_value *k)
{
    static const int64_t lengths[4] = { -1, 1, 1, 1 }, two[2] = { 1, 2 }, one[1] = { 1 };
    const int32_t rank = prt_grad_rank(mask);
    prt_value *zero = prt_grad_integer(g, mask, 0);
    if (g->b->status != POPRT_OK)
        return NULL;
    if (rank == 1) {
        if (mask->type->dims[0] != q->type->dims[0] || mask->type->dims[0] == PRT_DIM_UNKNOWN)
            return NULL;
        prt_value *length = prt_grad_cast_to(g, mask, PRT_DTYPE_i64);
        return BINARY(greater_or_equal, prt_grad_key_places(g, k),
            prt_grad_reshape_to(g, length, 4, lengths));
    }
    if (rank != 2 && rank != 3)
        return NULL;
    mask = prt_grad_unsqueeze(g, mask, rank == 2 ? 2 : 1, rank == 2 ? two : one);
    return BINARY(less_or_equal, mask, zero);
}

typedef struct heads {
    prt_grad_attention s;
    prt_value *mask, *added;
    float filter;
    bool causal;
} heads;

/* Computes the attention of split heads. The filter is added to the scores of masked keys. */
static poprt_status attend(prt_grad *g, heads *h)
{
    prt_grad_attention *s = &h->s;
    PRT_TRY(g->b->status);
    if (h->mask != NULL) {
        prt_value *closed = masked_keys(g, h->mask, s->q, s->k);
        if (closed == NULL)
            return g->b->status != POPRT_OK
                ? g->b->status
                : prt_grad_refuse(g, "not supported with a mask of this shape");
        s->bias = WHERE(closed, NUM(s->q, (double)h->filter), NUM(s->q, 0.0));
    }
    if (h->added != NULL)
        s->bias = s->bias != NULL ? ADD(s->bias, h->added) : h->added;
    if (h->causal)
        s->closed = BINARY(greater, prt_grad_key_places(g, s->k),
            prt_grad_query_places(g, s->q, s->k, s->q));
    return prt_grad_attend(g, s);
}

poprt_status prt_grad_ms_multi_head_attention(prt_grad *g)
{
    const prt_ms_multi_head_attention_attrs *a = g->op->attrs;
    prt_value *q = prt_grad_x(g, 0), *k = prt_grad_x(g, 1), *v = prt_grad_x(g, 2);
    prt_value *bias = prt_grad_x(g, 3), *past = prt_grad_x(g, 6), *parts[3] = { NULL };
    heads h = { .mask = prt_grad_x(g, 4),
        .added = prt_grad_x(g, 5),
        .filter = a->mask_filter_value,
        .causal = a->unidirectional != 0,
        .s = { .scale = (double)a->scale } };
    if (k == NULL || v == NULL || prt_grad_rank(q) != 3 || prt_grad_rank(k) < 0)
        return prt_grad_refuse(g, "not supported with packed operands");
    if (prt_grad_x(g, 8) != NULL || (g->op->n_out > 3 && g->out[3] != NULL))
        return prt_grad_refuse(g, "not supported with a shared buffer or with scores as output");
    const bool cross = prt_grad_rank(k) == 4;
    const int64_t hidden = q->type->dims[2];
    if (bias != NULL && !prt_dim_is_number(hidden))
        return prt_grad_refuse(g, "needs a known hidden size");
    for (int64_t i = 0; i < 3 && bias != NULL; i++)
        parts[i] = prt_grad_slice(g, bias, 0, i * hidden, i < 2 ? (i + 1) * hidden : INT64_MAX, 1);
    h.s.q = prt_grad_split_heads(g, sum_of(g, q, parts[0]), a->num_heads);
    h.s.k = cross ? k : prt_grad_split_heads(g, sum_of(g, k, parts[1]), a->num_heads);
    h.s.v = cross ? v : prt_grad_split_heads(g, sum_of(g, v, parts[2]), a->num_heads);
    if (past != NULL && !cross) {
        h.s.k = prt_grad_concat_values(g, 2, 2, (prt_value *[2]){ past, h.s.k });
        h.s.v = prt_grad_concat_values(g, 2, 2, (prt_value *[2]){ prt_grad_x(g, 7), h.s.v });
    }
    PRT_TRY(attend(g, &h));
    prt_value *const ys[4] = { prt_grad_join_heads(g, h.s.y), h.s.k, h.s.v, NULL };
    return prt_grad_by_outputs(g, ys);
}

/* The columns of the product with the weights are Q, K and V; past and present hold K and V. */
poprt_status prt_grad_ms_attention(prt_grad *g)
{
    static const int64_t pair[1] = { 0 };
    const prt_ms_attention_attrs *a = g->op->attrs;
    prt_value *w = prt_grad_x(g, 1), *past = prt_grad_x(g, 4), *parts[3], *present[2];
    heads h = { .mask = prt_grad_x(g, 3),
        .added = prt_grad_x(g, 5),
        .filter = a->mask_filter_value,
        .causal = a->unidirectional != 0,
        .s = { .scale = (double)a->scale } };
    if (a->past_present_share_buffer != 0)
        return prt_grad_refuse(g, "not supported with a shared buffer");
    if (prt_grad_rank(w) != 2 || !prt_dim_is_number(w->type->dims[1]))
        return prt_grad_refuse(g, "needs weights of known width");
    const prt_i64s sizes = a->qkv_hidden_sizes;
    prt_value *all = sum_of(g, BINARY(matmul, prt_grad_x(g, 0), w), prt_grad_x(g, 2));
    for (int64_t i = 0, at = 0; i < 3; i++) {
        const int64_t size = sizes.count == 3 ? sizes.data[i] : w->type->dims[1] / 3;
        parts[i] =
            prt_grad_split_heads(g, prt_grad_slice(g, all, 2, at, at + size, 1), a->num_heads);
        at += size;
    }
    for (uint32_t i = 0; i < 2 && past != NULL; i++) {
        prt_value *half = BINARY(gather, past, prt_build_i64(g->b, i));
        parts[1 + i] = prt_grad_concat_values(g, 2, 2, (prt_value *[2]){ half, parts[1 + i] });
    }
    h.s.q = parts[0];
    h.s.k = parts[1];
    h.s.v = parts[2];
    PRT_TRY(attend(g, &h));
    for (uint32_t i = 0; i < 2; i++)
        present[i] = prt_grad_unsqueeze(g, parts[1 + i], 1, pair);
    prt_value *const ys[2] = { prt_grad_join_heads(g, h.s.y),
        g->op->n_out > 1 && g->out[1] != NULL ? prt_grad_concat_values(g, 0, 2, present) : NULL };
    return prt_grad_by_outputs(g, ys);
}
