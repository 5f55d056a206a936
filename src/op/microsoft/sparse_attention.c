/* SPDX-License-Identifier: MIT */
/*
 * sparse_attention.c — attention to a part of the keys: SparseAttention, by blocks that a table
 * lists, and LongformerAttention, by a window and by global tokens.
 */
#include <math.h>

#include "op/check.h"
#include "op/microsoft/attention_parts.h"
#include "op/share/rotary_core.h"

/* ---- SparseAttention ---- */

enum {
    IN_Q,
    IN_K,
    IN_V,
    IN_PAST_KEY,
    IN_PAST_VALUE,
    IN_ROWS,
    IN_COLS,
    IN_TOTAL,
    IN_LENGTHS,
    IN_COS,
    IN_SIN
};

static poprt_status check_sparse(const prt_infer *c, int64_t *size)
{
    const prt_ms_sparse_attention_attrs *a = c->attrs;
    const bool packed = !prt_infer_has(c, IN_K);
    const int64_t heads = a->num_heads + (packed ? 2 * a->kv_num_heads : 0);
    int64_t dim, layouts = PRT_DIM_UNKNOWN;
    if (a->num_heads < 1 || a->kv_num_heads < 1 || a->num_heads > INT32_MAX ||
        a->num_heads % a->kv_num_heads != 0)
        return prt_infer_fail(c, POPRT_E_ARG,
            "num_heads is %lld and kv_num_heads %lld; a positive multiple of the latter is needed",
            (long long)a->num_heads, (long long)a->kv_num_heads);
    if (a->sparse_block_size < 1)
        return prt_infer_fail(c, POPRT_E_ARG, "sparse_block_size is %lld; at least 1 is needed",
            (long long)a->sparse_block_size);
    if (prt_infer_has(c, IN_K) != prt_infer_has(c, IN_V))
        return prt_infer_fail(c, POPRT_E_ARG, "key and value must be given together");
    if (a->do_rotary != 0 && (!prt_infer_has(c, IN_COS) || !prt_infer_has(c, IN_SIN)))
        return prt_infer_fail(c, POPRT_E_ARG, "do_rotary needs cos_cache and sin_cache");
    PRT_TRY(prt_infer_rank(c, IN_Q, 3));
    PRT_TRY(prt_ms_check_heads(c, heads, prt_infer_dim(c, IN_Q, 2)));
    *size = prt_dim_floordiv(c->dims, prt_infer_dim(c, IN_Q, 2), heads);
    for (uint32_t i = IN_ROWS; i <= IN_COLS; i++) {
        PRT_TRY(prt_infer_rank(c, i, 2));
        PRT_TRY(prt_infer_merge(c, layouts, prt_infer_dim(c, i, 0), "the layouts", &layouts));
    }
    if (prt_dim_is_number(layouts) && (layouts < 1 || prt_infer_dim(c, IN_ROWS, 1) == 0))
        return prt_infer_fail(c, POPRT_E_SHAPE, "block_row_indices has no layout");
    PRT_TRY(prt_infer_scalar(c, IN_TOTAL, &dim));
    return prt_infer_vector(c, IN_LENGTHS, prt_infer_dim(c, IN_Q, 0));
}

static poprt_status infer_sparse(prt_infer *c)
{
    const prt_ms_sparse_attention_attrs *a = c->attrs;
    int64_t size = PRT_DIM_UNKNOWN, dim, pairs;
    PRT_TRY(check_sparse(c, &size));
    const int64_t batch = prt_infer_dim(c, IN_Q, 0), rows = prt_infer_dim(c, IN_Q, 1);
    const int64_t kv[3] = { batch, rows, prt_dim_mul(c->dims, size, a->kv_num_heads) };
    int64_t past[4] = { batch, a->kv_num_heads, PRT_DIM_UNKNOWN, size };
    for (uint32_t i = IN_K; i <= IN_PAST_VALUE; i++) {
        const uint32_t n = i <= IN_V ? 3 : 4;
        PRT_TRY(prt_infer_rank(c, i, (int32_t)n));
        for (uint32_t k = 0; k < n; k++)
            PRT_TRY(prt_infer_merge(c, n == 3 ? kv[k] : past[k], prt_infer_dim(c, i, k),
                "a dim of K or V", n == 4 && k == 2 ? &past[2] : &dim));
    }
    PRT_TRY(prt_infer_rank(c, IN_COS, 2));
    PRT_TRY(prt_infer_rank(c, IN_SIN, 2));
    PRT_TRY(prt_infer_merge(c, prt_infer_dim(c, IN_COS, 0), prt_infer_dim(c, IN_SIN, 0),
        "the positions", &dim));
    PRT_TRY(prt_infer_merge(c, prt_infer_dim(c, IN_COS, 1), prt_infer_dim(c, IN_SIN, 1),
        "the angles", &pairs));
    if (prt_dim_is_number(pairs) && prt_dim_is_number(size) && pairs > size / 2)
        return prt_infer_fail(c, POPRT_E_SHAPE, "%lld angles for heads of %lld elements",
            (long long)pairs, (long long)size);
    const int64_t y[3] = { batch, rows, prt_dim_mul(c->dims, size, a->num_heads) };
    PRT_TRY(prt_infer_exact(c, 0, c->in[IN_Q].dtype, 3, y));
    PRT_TRY(prt_infer_exact(c, 1, c->in[IN_Q].dtype, 4, past));
    return prt_infer_exact(c, 2, c->in[IN_Q].dtype, 4, past);
}

typedef struct blocks {
    const prt_tensor *rows, *cols;
    int64_t size;
    const size_t *past;
} blocks;

/* Returns whether the layout of a head lets queries of block `row` attend to keys of block
   `col`. */
static bool is_open(const blocks *b, size_t head, int64_t row, int64_t col)
{
    const size_t layout = head % (size_t)b->rows->dims[0];
    const int32_t *rows = (const int32_t *)b->rows->data + layout * (size_t)b->rows->dims[1];
    const int32_t *cols = (const int32_t *)b->cols->data + layout * (size_t)b->cols->dims[1];
    if (row + 1 >= b->rows->dims[1])
        return false;
    for (int64_t k = rows[row]; k >= 0 && k < rows[row + 1] && k < b->cols->dims[1]; k++)
        if (cols[k] == col)
            return true;
    return false;
}

static void fill_sparse(const prt_attention *s, size_t batch, size_t head, size_t i, double *to)
{
    const blocks *b = s->user;
    const int64_t at = (int64_t)(b->past[batch] + i);
    bool open = false;
    for (int64_t j = 0; j < (int64_t)s->total; j++) {
        if (j % b->size == 0)
            open = is_open(b, head, at / b->size, j / b->size);
        to[j] = open && j <= at ? 0 : -HUGE_VAL;
    }
}

/* Applies rotary embedding to heads, in scratch. */
static poprt_status rotate_heads(prt_eval *c, prt_heads *h, size_t batch, const size_t *past)
{
    const prt_ms_sparse_attention_attrs *a = c->attrs;
    const prt_tensor *cosine = c->in[IN_COS], *sine = c->in[IN_SIN];
    const size_t half = (size_t)cosine->dims[1], each = h->heads * h->rows * h->size;
    double *to = prt_eval_scratch(c, batch, each * sizeof(double));
    double *angles = prt_eval_scratch(c, half + 1, 2 * sizeof(double));
    if (to == NULL || angles == NULL)
        return POPRT_E_NOMEM;
    for (size_t b = 0; b < batch; b++)
        for (size_t r = 0; r < h->rows; r++) {
            const size_t at = past[b] + r;
            if (at >= (size_t)cosine->dims[0])
                return prt_eval_fail(c, POPRT_E_ARG, "position %zu is outside the %lld positions",
                    at, (long long)cosine->dims[0]);
            prt_reals_load(cosine->dtype, cosine->data, at * half, 1, half, angles);
            prt_reals_load(sine->dtype, sine->data, at * half, 1, half, angles + half);
            for (size_t k = 0; k < h->heads; k++) {
                double *row = to + b * each + (k * h->rows + r) * h->size;
                prt_reals_load(h->dtype, h->data, prt_heads_at(h, b, k, r), 1, h->size, row);
                prt_rotary_rotate(half, a->rotary_interleaved != 0, angles, angles + half, row);
            }
        }
    *h = (prt_heads){ .dtype = PRT_DTYPE_f64,
        .data = to,
        .batch = each,
        .head = h->rows * h->size,
        .row = h->size,
        .heads = h->heads,
        .rows = h->rows,
        .size = h->size };
    return POPRT_OK;
}

/* Counts the keys of each image before the new ones: 0 in a prompt, which may be padded. */
static poprt_status count_rows(prt_eval *c, prt_attention *s, const size_t **past)
{
    const int32_t *length = c->in[IN_LENGTHS]->data;
    const int64_t total = prt_load_i64(PRT_DTYPE_i32, c->in[IN_TOTAL]->data, 0);
    const size_t rows = s->q.rows, most = s->past_k.rows;
    size_t *to = prt_eval_scratch(c, s->batch + 1, 2 * sizeof(size_t)), *now = to + s->batch;
    if (to == NULL)
        return POPRT_E_NOMEM;
    for (size_t b = 0; b < s->batch; b++) {
        const bool first = (int64_t)rows >= total;
        if (length[b] < 0 || (size_t)length[b] > most || rows > most ||
            (first ? (size_t)length[b] > rows : (size_t)length[b] < rows))
            return prt_eval_fail(c, POPRT_E_ARG,
                "%d keys with %zu new ones do not fit a cache of %zu rows", (int)length[b], rows,
                most);
        to[b] = first ? 0 : (size_t)length[b] - rows;
        now[b] = rows;
    }
    *past = s->past_rows = to;
    s->new_rows = now;
    return POPRT_OK;
}

static poprt_status eval_sparse(prt_eval *c)
{
    const prt_ms_sparse_attention_attrs *a = c->attrs;
    const size_t heads = (size_t)a->num_heads, groups = (size_t)a->kv_num_heads;
    const prt_tensor *q = c->in[IN_Q];
    blocks b = { .rows = c->in[IN_ROWS], .cols = c->in[IN_COLS], .size = a->sparse_block_size };
    prt_attention s = { .batch = (size_t)q->dims[0],
        .bias = fill_sparse,
        .user = &b,
        .past_k = prt_heads_of_rank4(c->in[IN_PAST_KEY]),
        .past_v = prt_heads_of_rank4(c->in[IN_PAST_VALUE]),
        .present_k = prt_heads_of_rank4(prt_ms_out(c, 1)),
        .present_v = prt_heads_of_rank4(prt_ms_out(c, 2)) };
    if (prt_eval_has(c, IN_K)) {
        s.q = prt_heads_of_rank3(q, heads);
        s.k = prt_heads_of_rank3(c->in[IN_K], groups);
        s.v = prt_heads_of_rank3(c->in[IN_V], groups);
    } else {
        s.q = s.k = prt_heads_of_rank3(q, heads + 2 * groups);
        s.q.heads = heads;
        s.k.heads = groups;
        s.k.first = heads * s.q.size;
        s.v = s.k;
        s.v.first += groups * s.q.size;
    }
    if (prt_eval_wants(c, 0))
        s.y = prt_heads_of_rank3(c->out[0], heads);
    s.scale = prt_ms_scale(a->scale, s.q.size);
    PRT_TRY(count_rows(c, &s, &b.past));
    if (a->do_rotary != 0) {
        PRT_TRY(rotate_heads(c, &s.q, s.batch, b.past));
        PRT_TRY(rotate_heads(c, &s.k, s.batch, b.past));
    }
    for (uint32_t i = 0; i < 2; i++) { /* copies past to present: the core writes only new rows */
        const prt_tensor *past = c->in[IN_PAST_KEY + i];
        if (prt_eval_wants(c, 1 + i))
            prt_element_copy(past->dtype, c->out[1 + i]->data, 0, past->data, 0,
                prt_tensor_count(past));
    }
    return prt_attention_run(c, &s);
}

const prt_op_hooks prt_op_ms_sparse_attention = { .infer = infer_sparse, .eval = eval_sparse };

/* ---- LongformerAttention ---- */

enum { IN_X, IN_W, IN_B, IN_MASK, IN_GLOBAL_W, IN_GLOBAL_B, IN_GLOBAL };

static poprt_status infer_longformer(prt_infer *c)
{
    const prt_ms_longformer_attention_attrs *a = c->attrs;
    int64_t hidden = prt_infer_dim(c, IN_X, 2), dim;
    PRT_TRY(prt_infer_rank(c, IN_X, 3));
    PRT_TRY(prt_ms_check_heads(c, a->num_heads, hidden));
    if (a->window < 1)
        return prt_infer_fail(c, POPRT_E_ARG, "window is %lld; at least 1 is needed",
            (long long)a->window);
    for (uint32_t i = IN_W; i <= IN_GLOBAL_W; i += IN_GLOBAL_W - IN_W) {
        PRT_TRY(prt_infer_rank(c, i, 2));
        PRT_TRY(prt_infer_merge(c, hidden, prt_infer_dim(c, i, 0), "the hidden size", &hidden));
        PRT_TRY(prt_infer_merge(c, prt_dim_mul(c->dims, hidden, 3), prt_infer_dim(c, i, 1),
            "the columns of the weights", &dim));
        PRT_TRY(prt_infer_vector(c, i + 1, prt_dim_mul(c->dims, hidden, 3)));
    }
    for (uint32_t i = IN_MASK; i <= IN_GLOBAL; i += IN_GLOBAL - IN_MASK) {
        PRT_TRY(prt_infer_rank(c, i, 2));
        for (uint32_t k = 0; k < 2; k++)
            PRT_TRY(prt_infer_merge(c, prt_infer_dim(c, IN_X, k), prt_infer_dim(c, i, k),
                "the mask", &dim));
    }
    return prt_infer_like(c, 0, IN_X, c->in[IN_X].dtype);
}

typedef struct longformer {
    const prt_tensor *mask;
    const int32_t *global;
    int64_t window;
    bool all; /* this run is for the global tokens, which attend to all keys */
} longformer;

static void fill_longformer(const prt_attention *s, size_t batch, size_t head, size_t i, double *to)
{
    const longformer *l = s->user;
    const size_t first = batch * s->total;
    (void)head;
    for (size_t j = 0; j < s->total; j++) {
        const int64_t by = (int64_t)j - (int64_t)i;
        const bool in_window = by <= l->window && -by <= l->window;
        const double mask = prt_real_at(l->mask, first + j);
        to[j] = (!l->all && !in_window && l->global[first + j] == 0) || mask < 0 ? -HUGE_VAL : 0;
    }
}

static poprt_status run_longformer(prt_eval *c, longformer *l, prt_heads y)
{
    const prt_ms_longformer_attention_attrs *a = c->attrs;
    const prt_tensor *x = c->in[IN_X];
    const size_t hidden = (size_t)x->dims[2], heads = (size_t)a->num_heads, row = 3 * hidden;
    const size_t from = l->all ? IN_GLOBAL_W : IN_W;
    prt_heads in = { .dtype = PRT_DTYPE_f64,
        .heads = heads,
        .rows = (size_t)x->dims[1],
        .size = hidden / heads,
        .head = hidden / heads,
        .row = row,
        .batch = (size_t)x->dims[1] * row };
    in.data = prt_ms_project(c, x, c->in[from], c->in[from + 1]);
    if (in.data == NULL)
        return POPRT_E_NOMEM;
    prt_attention s = { .q = in,
        .k = in,
        .v = in,
        .y = y,
        .batch = (size_t)x->dims[0],
        .scale = prt_ms_scale(0, in.size),
        .bias = fill_longformer,
        .user = l };
    s.k.first = hidden;
    s.v.first = 2 * hidden;
    return prt_attention_run(c, &s);
}

static poprt_status eval_longformer(prt_eval *c)
{
    const prt_ms_longformer_attention_attrs *a = c->attrs;
    const prt_tensor *x = c->in[IN_X];
    const size_t size = (size_t)x->dims[2], tokens = (size_t)(x->dims[0] * x->dims[1]);
    longformer l = { c->in[IN_MASK], c->in[IN_GLOBAL]->data, a->window, false };
    bool some = false;
    if (!prt_eval_wants(c, 0))
        return POPRT_OK;
    prt_heads y = prt_heads_of_rank3(c->out[0], (size_t)a->num_heads);
    PRT_TRY(run_longformer(c, &l, y));
    for (size_t i = 0; i < tokens; i++)
        some = some || l.global[i] != 0;
    if (!some)
        return POPRT_OK;
    double *all = prt_eval_scratch(c, tokens, size * sizeof(double));
    if (all == NULL)
        return POPRT_E_NOMEM;
    l.all = true;
    y.dtype = PRT_DTYPE_f64;
    y.data = all;
    PRT_TRY(run_longformer(c, &l, y));
    for (size_t i = 0; i < tokens; i++)
        if (l.global[i] != 0)
            prt_reals_store(x->dtype, c->out[0]->data, i * size, 1, size, all + i * size);
    return POPRT_OK;
}

const prt_op_hooks prt_op_ms_longformer_attention = { .infer = infer_longformer,
    .eval = eval_longformer };
