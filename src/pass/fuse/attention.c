/* SPDX-License-Identifier: MIT */
/*
 * attention.c — fuse_attention: replaces the formula of attention, as exporters write it, by one
 * operator that reads Q, K and V in place:
 *
 *     MatMul(Softmax(MatMul(Q, K') · s + masks), V)
 *
 * Each of Q, K and V may be a view (view.h) of another value. Heads of K and V that Expand and
 * Reshape repeat for groups of queries (grouped-query attention) are read without the repetition.
 *
 * Torch's exporters put Where(IsNaN(w), 0, w) behind a Softmax w whose mask may hide every key.
 *
 * Factors may stand on Q, on K or on the scores; masks may be added or applied by Where. K and V
 * may be Concat(past, new) along the rows; the operator then writes the concatenation as its
 * outputs. A Transpose or Reshape of the result determines where the operator writes. scores.c
 * matches the operators between the two products.
 *
 * Requires float32, shapes that are known except for the rows of the past, and scores that no other
 * operator reads.
 */
#include <math.h>

#include "op/internal/fused_attention.h"
#include "pass/fuse/scores.h"
#include "pass/engine/match.h"

enum { BATCH, HEADS, ROWS, SIZE }; /* axes of a view of rank 4 */
enum { MAX_STEPS = 8 };            /* operators between a cache and its product */

typedef struct match {
    prt_op *root; /* the product with V */
    prt_scores scores;
    prt_view q, k, v;               /* of rank 4: batch, heads, rows, elements */
    prt_value *past[2], *joined[2]; /* of K and V; NULL without a cache */
    prt_value *result;              /* the value that is replaced */
    int64_t order[3];
    bool merges_heads; /* the products have the heads in the batch dimension */
    bool guarded;      /* softmax weights that are NaN count as 0 */
} match;

static bool is_f32(const prt_value *v)
{
    return prt_view_is_static(v) && v->type->dtype == PRT_DTYPE_f32;
}

/* Extends a view to rank 4 [batch, heads, rows, elements]: rank 3 has one head, rank 2 also a batch
 * of 1. Returns false if the view is empty. */
static bool to_rank_4(prt_view *v)
{
    const prt_view from = *v;
    if (from.rank < 2 || from.rank > 4)
        return false;
    v->rank = 4;
    for (uint32_t i = 0; i < 4; i++) {
        v->dims[i] = 1;
        v->steps[i] = 0;
    }
    for (uint32_t i = 0; i < from.rank; i++) {
        const uint32_t to = i + 2 >= from.rank ? i + 4 - from.rank : i;
        v->dims[to] = from.dims[i];
        v->steps[to] = from.steps[i];
        if (from.dims[i] < 1)
            return false;
    }
    return true;
}

static void swap_last(prt_view *v)
{
    const int64_t dim = v->dims[SIZE], step = v->steps[SIZE];
    v->dims[SIZE] = v->dims[ROWS];
    v->steps[SIZE] = v->steps[ROWS];
    v->dims[ROWS] = dim;
    v->steps[ROWS] = step;
}

/* Finds input `slot` as a view of rank 4 with contiguous elements in its rows. `transposed`: rows
 * and elements are swapped; `scaled`: the view may have a factor. */
static bool rows_at(const prt_op *op, uint32_t slot, bool transposed, bool scaled, prt_view *v)
{
    prt_value *value = prt_op_input(op, slot);
    for (int whole = 0; whole < 2; whole++) {
        if (!is_f32(value) ||
            !(whole != 0 ? prt_view_identity(value, v) : prt_view_trace(value, v)) || !to_rank_4(v))
            return false;
        if (transposed)
            swap_last(v);
        if (v->value->type->dtype == PRT_DTYPE_f32 && (v->steps[SIZE] == 1 || v->dims[SIZE] == 1) &&
            (scaled || v->scale == 1.0))
            return true;
    }
    return false;
}

/* ---- the cache ---- */

/* Returns how many operators of the graph read a value. A Shape of a graph output does not count,
 * since it can read the value that replaces it. */
static uint32_t readers(const prt_value *value)
{
    const bool output = prt_value_is_output(value);
    uint32_t n = 0;
    prt_for_each_use (use, value)
        if (!output || !prt_op_is(use->user, PRT_OP_shape))
            n += use->user != value->graph->ret || use->user->graph != value->graph;
    return n;
}

/* Returns whether the value is float32 of rank 4 whose dims are numbers; the rows may be an
 * expression. */
static bool is_cache(const prt_value *v)
{
    const prt_type *type = v->type;
    return prt_type_is_tensor(type) && type->dtype == PRT_DTYPE_f32 && type->rank == 4 &&
        prt_dim_is_number(type->dims[BATCH]) && prt_dim_is_number(type->dims[HEADS]) &&
        prt_dim_is_number(type->dims[SIZE]) &&
        (prt_dim_is_expr(type->dims[ROWS]) || type->dims[ROWS] >= 1);
}

/* Matches Concat(past, new) along the rows. It may be read here and be a graph output, but have no
 * other reader. */
static bool split_cache(const prt_value *joined, prt_value **past, prt_view *now)
{
    const prt_op *op = joined->def;
    if (!prt_op_is(op, PRT_OP_concat) || op->n_in != 2 || readers(joined) != 1)
        return false;
    const int64_t axis = ((const prt_concat_attrs *)op->attrs)->axis;
    *past = prt_op_input(op, 0);
    return (axis == ROWS || axis == ROWS - 4) && is_cache(*past) &&
        rows_at(op, 1, false, false, now);
}

/* Returns whether a Reshape merges [1, heads, rows, elements] to [heads, rows, elements]. */
static bool merges_heads(const prt_type *from, const prt_type *to)
{
    return from->rank == 4 && to->rank == 3 && from->dims[BATCH] == 1 &&
        from->dims[HEADS] == to->dims[0] && from->dims[ROWS] == to->dims[1] &&
        from->dims[SIZE] == to->dims[2];
}

/* Returns whether a Transpose swaps the last two axes only. */
static bool swaps_rows(const prt_op *op)
{
    const prt_i64s perm = ((const prt_transpose_attrs *)op->attrs)->perm;
    for (uint32_t i = 0; i + 2 < perm.count; i++)
        if (perm.data[i] != i)
            return false;
    return perm.count >= 3 && perm.data[perm.count - 2] == (int64_t)perm.count - 1;
}

/* Matches a cache with new rows appended at input `slot`, which may be transposed and scaled. */
static bool find_cache(const prt_op *op, uint32_t slot, bool transposed, prt_value **past,
    prt_value **joined, prt_view *now)
{
    prt_value *v = prt_op_input(op, slot);
    double scale = 1.0, by;
    for (uint32_t i = 0; i < MAX_STEPS && v->def != NULL && v->graph == op->graph; i++) {
        const prt_op *from = v->def;
        uint32_t rest = 0;
        if (prt_op_is(from, PRT_OP_transpose)) {
            if (!swaps_rows(from))
                return false;
            transposed = !transposed;
        } else if (prt_op_is(from, PRT_OP_reshape)) {
            if (!merges_heads(prt_op_input(from, 0)->type, v->type))
                return false;
        } else if (prt_scores_factor(from, &by, &rest)) {
            scale *= by;
        } else {
            break;
        }
        v = prt_op_input(from, rest);
    }
    if (transposed || !split_cache(v, past, now))
        return false;
    now->scale *= scale;
    *joined = v;
    return true;
}

static bool match_caches(match *m)
{
    const prt_op *inner = m->scores.product;
    prt_value *past[2], *joined[2];
    prt_view k, v;
    if (!find_cache(inner, 1, true, &past[0], &joined[0], &k) ||
        !find_cache(m->root, 1, false, &past[1], &joined[1], &v) || v.scale != 1.0 ||
        past[0]->type->dims[ROWS] != past[1]->type->dims[ROWS] || k.dims[ROWS] != v.dims[ROWS])
        return false;
    m->k = k;
    m->v = v;
    for (uint32_t i = 0; i < 2; i++) {
        m->past[i] = past[i];
        m->joined[i] = joined[i];
    }
    return true;
}

static void swap(int64_t *x)
{
    const int64_t first = x[0];
    x[0] = x[1];
    x[1] = first;
}

/* Converts a batch of [heads, 1 head] to [1 image, heads], as the cache has them. */
static void batch_to_heads(match *m)
{
    m->merges_heads = true;
    swap(m->q.dims);
    swap(m->q.steps);
    for (uint32_t i = 0; i < PRT_SCORES_VIEWS; i++)
        swap(m->scores.views[i].steps);
}

/* ---- the result: the operators behind it move whole rows only ---- */

static bool follow_transpose(match *m, const prt_op *op, uint32_t rank)
{
    const prt_transpose_attrs *a = op->attrs;
    const uint32_t lead = 4 - rank; /* axes that the value does not have */
    if (a->perm.count != rank || a->perm.data[rank - 1] != (int64_t)rank - 1 || rank < 3)
        return false;
    int64_t order[3] = { m->order[0], m->order[1], m->order[2] };
    for (uint32_t i = 0; i + 1 < rank; i++) {
        const int64_t from = a->perm.data[i];
        /* Of rank 3, the first axis is the batch; the single head axis stays behind it. */
        order[lead + i] = m->order[rank == 4 ? from : from == 0 ? 1 : 2];
    }
    memcpy(m->order, order, sizeof(order));
    return true;
}

static void match_result(match *m)
{
    const prt_type *type = m->root->out[0].type;
    bool moves = true;
    m->result = &m->root->out[0];
    m->order[0] = type->rank == 3 ? 1 : 0;
    m->order[1] = type->rank == 3 ? 0 : 1;
    m->order[2] = 2;
    for (;;) {
        prt_use *use = m->result->uses;
        if (use == NULL || use->next != NULL || use->user == m->result->graph->ret ||
            use->user->graph != m->result->graph || use->user->n_out == 0)
            return;
        prt_op *op = use->user;
        const bool transpose = prt_op_is(op, PRT_OP_transpose) && moves;
        const bool view = (prt_op_is(op, PRT_OP_reshape) || prt_op_is(op, PRT_OP_squeeze) ||
                              prt_op_is(op, PRT_OP_unsqueeze) || prt_op_is(op, PRT_OP_flatten)) &&
            prt_op_input(op, 0) == m->result;
        if ((!transpose && !view) || !is_f32(&op->out[0]) || op->out[0].type->rank > PRT_MAX_RANK ||
            (transpose && !follow_transpose(m, op, (uint32_t)m->result->type->rank)))
            return;
        moves = moves && (!view || op->out[0].type == m->result->type);
        m->result = &op->out[0];
    }
}

/* ---- grouped keys and values ---- */

/* Matches a view of the whole Reshape(Expand(x [B, G, 1, rows, size])) to [B, G r, rows, size],
 * which repeats each head r times. Replaces it by a view of x with G heads. */
static bool ungroup(prt_view *v)
{
    const prt_op *made = v->value->def, *expand = NULL;
    if (prt_op_is(made, PRT_OP_expand))
        expand = made;
    else if (prt_op_is(made, PRT_OP_reshape))
        expand = prt_match_producer(made, 0, PRT_OP_expand);
    prt_value *x = expand != NULL ? prt_op_input(expand, 0) : NULL;
    const prt_type *in = prt_match_static(x);
    const prt_type *out = expand != NULL ? prt_match_static(&expand->out[0]) : NULL;
    prt_view to;
    if (in == NULL || out == NULL || in->rank != 5 || out->rank != 5 || v->first != 0 ||
        !prt_view_is_contiguous(v) || in->dims[2] != 1)
        return false;
    for (uint32_t i = 0; i < 5; i++)
        if (i != 2 && in->dims[i] != out->dims[i])
            return false;
    if (v->dims[BATCH] != in->dims[0] || v->dims[HEADS] != in->dims[1] * out->dims[2] ||
        v->dims[ROWS] != in->dims[3] || v->dims[SIZE] != in->dims[4] || !prt_view_trace(x, &to) ||
        to.rank != 5 || to.value->type->dtype != PRT_DTYPE_f32 ||
        (to.steps[4] != 1 && to.dims[4] != 1))
        return false;
    to.scale *= v->scale;
    to.rank = 4;
    for (uint32_t i = 2; i < 4; i++) {
        to.dims[i] = to.dims[i + 1];
        to.steps[i] = to.steps[i + 1];
    }
    *v = to;
    return true;
}

/* Reads repeated heads of K and V once for all of their queries. */
static void match_groups(match *m)
{
    prt_view k = m->k, v = m->v;
    if (m->past[0] != NULL || !ungroup(&k) || !ungroup(&v) || v.scale != 1.0 ||
        k.dims[HEADS] != v.dims[HEADS])
        return;
    m->k = k;
    m->v = v;
}

/* ---- the whole pattern ---- */

static bool match_operands(match *m)
{
    prt_op *inner = m->scores.product;
    const int32_t rank = m->root->out[0].type->rank;
    if (!rows_at(inner, 0, false, true, &m->q) ||
        (!match_caches(m) &&
            (!rows_at(inner, 1, true, true, &m->k) || !rows_at(m->root, 1, false, false, &m->v))))
        return false;
    if (prt_op_input(inner, 0)->type->rank != rank || prt_op_input(inner, 1)->type->rank != rank ||
        prt_op_input(m->root, 1)->type->rank != rank || inner->out[0].type->rank != rank)
        return false;
    if (m->past[0] != NULL && rank == 3)
        batch_to_heads(m);
    for (uint32_t i = BATCH; i <= HEADS; i++)
        if (m->q.dims[i] != m->k.dims[i] || m->q.dims[i] != m->v.dims[i])
            return false;
    match_groups(m);
    return m->q.dims[SIZE] == m->k.dims[SIZE] && m->k.dims[ROWS] == m->v.dims[ROWS];
}

/* Returns the Softmax w of Where(IsNaN(w), 0, w), or of the same with Not(Equal(w, w)), at input 0
 * of `op`, if only these operators read it; otherwise NULL. */
static const prt_op *under_guard(const prt_op *op)
{
    const prt_op *where = prt_match_interior(op, 0, PRT_OP_where);
    const prt_op *nan = where != NULL ? prt_match_interior(where, 0, PRT_OP_isnan) : NULL;
    const prt_op *not_ = where != NULL ? prt_match_interior(where, 0, PRT_OP_not) : NULL;
    const prt_op *same = not_ != NULL ? prt_match_interior(not_, 0, PRT_OP_equal) : NULL;
    const prt_op *asks = nan != NULL ? nan : same;
    const prt_op *softmax = asks != NULL ? prt_match_producer(asks, 0, PRT_OP_softmax) : NULL;
    double zero;
    if (softmax == NULL || prt_op_input(where, 2) != &softmax->out[0] ||
        prt_op_input(asks, asks->n_in - 1) != &softmax->out[0] ||
        !prt_match_number(where, 1, &zero) || zero != 0.0 ||
        where->out[0].type != softmax->out[0].type)
        return NULL;
    uint32_t n = 0;
    prt_for_each_use (use, &softmax->out[0])
        n++;
    return n == asks->n_in + 1 ? softmax : NULL;
}

static bool find(match *m)
{
    const prt_op *softmax = prt_match_interior(m->root, 0, PRT_OP_softmax);
    if (softmax == NULL)
        m->guarded = (softmax = under_guard(m->root)) != NULL;
    if (softmax == NULL || !is_f32(&m->root->out[0]) || m->root->out[0].type->rank < 2)
        return false;
    if (!prt_scores_match(softmax, &m->scores) || !match_operands(m))
        return false;
    match_result(m);
    for (uint32_t i = 0; m->merges_heads && i < 3; i++)
        m->order[i] = m->order[i] < 2 ? 1 - m->order[i] : 2;
    return prt_pass_may_replace(m->result, &m->root->out[0]) || m->result == &m->root->out[0];
}

typedef struct lists {
    int64_t sizes[8], rows[3][4], scores[3][4];
} lists;

static void set_lists(const match *m, prt_fused_attention_attrs *a, lists *l)
{
    const prt_view *const rows[3] = { &m->q, &m->k, &m->v };
    const int64_t dim = m->past[0] != NULL ? m->past[0]->type->dims[ROWS] : 0;
    const int64_t past = prt_dim_is_number(dim) ? dim : PRT_MHA_OPEN;
    const int64_t sizes[8] = { m->q.dims[BATCH], m->q.dims[HEADS], m->k.dims[HEADS],
        m->q.dims[ROWS], past, m->k.dims[ROWS], m->q.dims[SIZE], m->v.dims[SIZE] };
    prt_i64s given[3] = { { NULL, 0 }, { NULL, 0 }, { NULL, 0 } };
    memcpy(l->sizes, sizes, sizeof(sizes));
    for (uint32_t i = 0; i < 3; i++) {
        l->rows[i][0] = rows[i]->first;
        memcpy(l->rows[i] + 1, rows[i]->steps, 3 * sizeof(int64_t));
        if (m->scores.views[i].value == NULL)
            continue;
        memcpy(l->scores[i], m->scores.views[i].steps, 4 * sizeof(int64_t));
        given[i] = (prt_i64s){ l->scores[i], 4 };
    }
    PRT_ATTR_SET(*a, fused_attention, sizes, ((prt_i64s){ l->sizes, 8 }));
    PRT_ATTR_SET(*a, fused_attention, query, ((prt_i64s){ l->rows[0], 4 }));
    PRT_ATTR_SET(*a, fused_attention, key, ((prt_i64s){ l->rows[1], 4 }));
    PRT_ATTR_SET(*a, fused_attention, value, ((prt_i64s){ l->rows[2], 4 }));
    if (given[PRT_SCORES_BIAS].count != 0)
        PRT_ATTR_SET(*a, fused_attention, bias, given[PRT_SCORES_BIAS]);
    if (given[PRT_SCORES_MASK].count != 0)
        PRT_ATTR_SET(*a, fused_attention, mask, given[PRT_SCORES_MASK]);
    if (given[PRT_SCORES_KEEP].count != 0) {
        PRT_ATTR_SET(*a, fused_attention, keep, given[PRT_SCORES_KEEP]);
        PRT_ATTR_SET(*a, fused_attention, fill, (float)m->scores.fill);
        PRT_ATTR_SET(*a, fused_attention, inverted, m->scores.inverted);
    }
}

static bool apply(prt_pass *p, prt_build *b, prt_op *root)
{
    match m = { .root = root };
    lists l;
    (void)p;
    if (!find(&m))
        return false;
    prt_fused_attention_attrs a = PRT_ATTRS_OF(fused_attention);
    const prt_type *type = m.result->type;
    set_lists(&m, &a, &l);
    PRT_ATTR_SET(a, fused_attention, order, ((prt_i64s){ m.order, 3 }));
    PRT_ATTR_SET(a, fused_attention, shape, ((prt_i64s){ type->dims, (uint32_t)type->rank }));
    PRT_ATTR_SET(a, fused_attention, scale, (float)(m.scores.scale * m.q.scale * m.k.scale));
    if (m.scores.least != -HUGE_VAL)
        PRT_ATTR_SET(a, fused_attention, least, (float)m.scores.least);
    if (m.scores.causal)
        PRT_ATTR_SET(a, fused_attention, causal, 1);
    if (m.guarded)
        PRT_ATTR_SET(a, fused_attention, guarded, 1);
    prt_value *in[8] = { m.q.value, m.k.value, m.v.value, m.scores.views[PRT_SCORES_BIAS].value,
        m.scores.views[PRT_SCORES_MASK].value, m.scores.views[PRT_SCORES_KEEP].value, m.past[0],
        m.past[1] };
    uint32_t n = 8;
    while (in[n - 1] == NULL)
        n--;
    const bool present =
        m.past[0] != NULL && (prt_value_is_output(m.joined[0]) || prt_value_is_output(m.joined[1]));
    prt_op *op = prt_build_op_n(b, PRT_OP_fused_attention, &a, n, in, present ? 3 : 1);
    if (op == NULL)
        return true;
    for (uint32_t i = 0; present && i < 2; i++)
        if (prt_value_is_output(m.joined[i]))
            (void)prt_pass_replace(b, m.joined[i], &op->out[1 + i]);
    (void)prt_pass_replace(b, m.result, &op->out[0]);
    return true;
}

static const prt_rewrite rewrites[] = { { PRT_OP_reshape, prt_match_transpose_chain },
    { PRT_OP_matmul, apply } };

const prt_pass_hooks prt_pass_fuse_attention = {
    .rewrites = rewrites,
    .n_rewrites = PRT_COUNT_OF(rewrites),
};
