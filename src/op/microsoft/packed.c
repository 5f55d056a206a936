/* SPDX-License-Identifier: MIT */
/*
 * packed.c — batches without padding: RemovePadding, RestorePadding, PackedAttention and
 * PackedMultiHeadAttention.
 *
 * The tokens of all images are contiguous; cumulative_sequence_length gives the begin of each
 * image. token_offset lists the positions of real tokens in the padded batch, then the positions of
 * padding.
 */
#include "op/microsoft/attention_parts.h"

/* ---- RemovePadding ---- */

static poprt_status infer_remove(prt_infer *c)
{
    const int64_t batch = prt_infer_dim(c, 0, 0);
    PRT_TRY(prt_infer_rank(c, 0, 3));
    PRT_TRY(prt_infer_vector(c, 1, batch));
    const int64_t tokens[2] = { PRT_DIM_UNKNOWN, prt_infer_dim(c, 0, 2) };
    const int64_t offsets[2] = { batch, prt_infer_dim(c, 0, 1) };
    const int64_t sums = prt_dim_add(c->dims, batch, 1), one = 1;
    PRT_TRY(prt_infer_set(c, 0, c->in[0].dtype, 2, tokens));
    PRT_TRY(prt_infer_set(c, 1, PRT_DTYPE_i32, 2, offsets));
    PRT_TRY(prt_infer_set(c, 2, PRT_DTYPE_i32, 1, &sums));
    return prt_infer_set(c, 3, PRT_DTYPE_i32, 1, &one);
}

static void list_offsets(const int32_t *count, size_t batch, size_t rows, size_t tokens,
    int32_t *to)
{
    size_t real = 0, padded = tokens;
    for (size_t b = 0; b < batch; b++)
        for (size_t r = 0; r < rows; r++)
            to[r < (size_t)count[b] ? real++ : padded++] = (int32_t)(b * rows + r);
}

static poprt_status eval_remove(prt_eval *c)
{
    const prt_tensor *x = c->in[0];
    const int32_t *count = c->in[1]->data;
    const size_t batch = (size_t)x->dims[0], rows = (size_t)x->dims[1], size = (size_t)x->dims[2];
    int64_t tokens = 0;
    int32_t most = 0;
    if (batch != 0 && rows > INT32_MAX / batch)
        return prt_eval_fail(c, POPRT_E_LIMIT, "offsets of %zu × %zu tokens do not fit 32 bits",
            batch, rows);
    for (size_t b = 0; b < batch; b++) {
        if (count[b] < 0 || (size_t)count[b] > rows)
            return prt_eval_fail(c, POPRT_E_ARG, "image %zu has %d tokens, outside [0, %zu]", b,
                (int)count[b], rows);
        most = count[b] > most ? count[b] : most;
        if (prt_eval_wants(c, 2))
            ((int32_t *)c->out[2]->data)[b] = (int32_t)tokens;
        tokens += count[b];
    }
    const int64_t dims[2] = { tokens, (int64_t)size };
    PRT_TRY(prt_eval_shape(c, 0, x->dtype, 2, dims));
    size_t to = 0;
    for (size_t b = 0; prt_eval_wants(c, 0) && b < batch; b++, to += (size_t)count[b - 1] * size)
        prt_element_copy(x->dtype, c->out[0]->data, to, x->data, b * rows * size,
            (size_t)count[b] * size);
    if (prt_eval_wants(c, 1))
        list_offsets(count, batch, rows, (size_t)tokens, c->out[1]->data);
    if (prt_eval_wants(c, 2))
        ((int32_t *)c->out[2]->data)[batch] = (int32_t)tokens;
    if (prt_eval_wants(c, 3))
        *(int32_t *)c->out[3]->data = most;
    return POPRT_OK;
}

const prt_op_hooks prt_op_ms_remove_padding = { .infer = infer_remove, .eval = eval_remove };

/* ---- RestorePadding ---- */

static poprt_status infer_restore(prt_infer *c)
{
    PRT_TRY(prt_infer_rank(c, 0, 2));
    PRT_TRY(prt_infer_rank(c, 1, 2));
    const int64_t dims[3] = { prt_infer_dim(c, 1, 0), prt_infer_dim(c, 1, 1),
        prt_infer_dim(c, 0, 1) };
    return prt_infer_exact(c, 0, c->in[0].dtype, 3, dims);
}

static poprt_status eval_restore(prt_eval *c)
{
    const prt_tensor *x = c->in[0];
    const size_t size = (size_t)x->dims[1], tokens = (size_t)x->dims[0];
    const size_t places = prt_tensor_count(c->in[1]);
    const int32_t *offset = c->in[1]->data;
    if (!prt_eval_wants(c, 0))
        return POPRT_OK;
    if (tokens > places)
        return prt_eval_fail(c, POPRT_E_SHAPE, "there are %zu tokens for %zu places", tokens,
            places);
    if (c->out[0]->size != 0)
        memset(c->out[0]->data, 0, c->out[0]->size);
    for (size_t i = 0; i < tokens; i++) {
        if (offset[i] < 0 || (size_t)offset[i] >= places)
            return prt_eval_fail(c, POPRT_E_ARG, "token %zu has place %d; there are %zu places", i,
                (int)offset[i], places);
        prt_element_copy(x->dtype, c->out[0]->data, (size_t)offset[i] * size, x->data, i * size,
            size);
    }
    return POPRT_OK;
}

const prt_op_hooks prt_op_ms_restore_padding = { .infer = infer_restore, .eval = eval_restore };

/* ---- attention ---- */

/* Checks token_offset [batch, sequence] and the cumulative lengths in input `sums`, batch + 1
   numbers. */
static poprt_status check_packing(const prt_infer *c, uint32_t offsets, uint32_t sums,
    uint32_t bias, int64_t heads)
{
    PRT_TRY(prt_infer_rank(c, offsets, 2));
    const int64_t batch = prt_infer_dim(c, offsets, 0), rows = prt_infer_dim(c, offsets, 1);
    PRT_TRY(prt_infer_vector(c, sums, prt_dim_add(c->dims, batch, 1)));
    const int64_t want[4] = { batch, heads, rows, rows };
    return prt_ms_check_bias(c, bias, want);
}

/* Runs attention for one image at a time; each image is a range of the rows of Q, K, V and Y. */
static poprt_status run_packed(prt_eval *c, const prt_attention *all, uint32_t sums,
    const prt_tensor *bias, size_t tokens)
{
    const int32_t *sum = c->in[sums]->data;
    const size_t images = (size_t)c->in[sums]->dims[0];
    prt_ms_clear(c, 0); /* rows outside all images are zero */
    for (size_t b = 0; b + 1 < images; b++) {
        const prt_ms_mask mask = { .bias = bias, .first = b };
        prt_attention s = *all;
        prt_heads *const views[4] = { &s.q, &s.k, &s.v, &s.y };
        if (sum[b] < 0 || sum[b + 1] < sum[b] || (size_t)sum[b + 1] > tokens)
            return prt_eval_fail(c, POPRT_E_ARG, "image %zu has tokens %d to %d, but there are %zu",
                b, (int)sum[b], (int)sum[b + 1], tokens);
        for (size_t i = 0; i < 4; i++) {
            views[i]->first += (size_t)sum[b] * views[i]->row;
            views[i]->rows = (size_t)(sum[b + 1] - sum[b]);
        }
        s.batch = 1;
        s.bias = prt_ms_fill_bias;
        s.range = prt_ms_range;
        s.user = &mask;
        PRT_TRY(prt_attention_run(c, &s));
    }
    return POPRT_OK;
}

/* Returns a view of heads in rows of `row` elements, from element `first` on. */
static prt_heads heads_in(int32_t dtype, void *data, size_t first, size_t row, size_t heads,
    size_t size)
{
    return (prt_heads){ .dtype = dtype,
        .data = data,
        .first = first,
        .row = row,
        .head = size,
        .heads = heads,
        .size = size };
}

static prt_heads output_of(const prt_eval *c, size_t heads)
{
    prt_tensor *y = prt_ms_out(c, 0);
    if (y == NULL)
        return (prt_heads){ 0 };
    return heads_in(y->dtype, y->data, 0, (size_t)y->dims[1], heads, (size_t)y->dims[1] / heads);
}

static poprt_status infer_attention(prt_infer *c)
{
    const prt_ms_packed_attention_attrs *a = c->attrs;
    int64_t sizes[3], dim;
    PRT_TRY(prt_infer_rank(c, 0, 2));
    PRT_TRY(prt_infer_rank(c, 1, 2));
    PRT_TRY(prt_infer_merge(c, prt_infer_dim(c, 0, 1), prt_infer_dim(c, 1, 0), "the input's size",
        &dim));
    PRT_TRY(prt_infer_vector(c, 2, prt_infer_dim(c, 1, 1)));
    PRT_TRY(prt_ms_hidden_sizes(c, a->qkv_hidden_sizes, sizes));
    PRT_TRY(prt_ms_check_heads(c, a->num_heads, sizes[0]));
    PRT_TRY(prt_ms_check_heads(c, a->num_heads, sizes[2]));
    PRT_TRY(check_packing(c, 3, 4, 5, a->num_heads));
    const int64_t dims[2] = { prt_infer_dim(c, 0, 0), sizes[2] };
    return prt_infer_exact(c, 0, c->in[0].dtype, 2, dims);
}

static poprt_status eval_attention(prt_eval *c)
{
    const prt_ms_packed_attention_attrs *a = c->attrs;
    const prt_tensor *w = c->in[1];
    const size_t all = (size_t)w->dims[1], heads = (size_t)a->num_heads;
    const size_t q = a->qkv_hidden_sizes.count != 0 ? (size_t)a->qkv_hidden_sizes.data[0] : all / 3;
    double *in = prt_ms_project(c, c->in[0], w, prt_ms_in(c, 2));
    if (in == NULL)
        return POPRT_E_NOMEM;
    const prt_attention s = { .q = heads_in(PRT_DTYPE_f64, in, 0, all, heads, q / heads),
        .k = heads_in(PRT_DTYPE_f64, in, q, all, heads, q / heads),
        .v = heads_in(PRT_DTYPE_f64, in, 2 * q, all, heads, (all - 2 * q) / heads),
        .y = output_of(c, heads),
        .scale = prt_ms_scale(a->scale, q / heads) };
    return run_packed(c, &s, 4, prt_ms_in(c, 5), (size_t)c->in[0]->dims[0]);
}

const prt_op_hooks prt_op_ms_packed_attention = { .infer = infer_attention,
    .eval = eval_attention };

static poprt_status infer_heads(prt_infer *c)
{
    const prt_ms_packed_multi_head_attention_attrs *a = c->attrs;
    const bool packed = !prt_infer_has(c, 1);
    int64_t dim, tokens = prt_infer_dim(c, 0, 0);
    if (prt_infer_has(c, 1) != prt_infer_has(c, 2))
        return prt_infer_fail(c, POPRT_E_ARG, "key and value must be given together");
    PRT_TRY(prt_ms_check_heads(c, a->num_heads, PRT_DIM_UNKNOWN));
    PRT_TRY(check_packing(c, 4, 5, 6, a->num_heads));
    PRT_TRY(prt_infer_rank(c, 0, packed ? 4 : 2));
    int64_t hidden = prt_infer_dim(c, 0, 1), wide = prt_infer_dim(c, 2, 1);
    if (packed) {
        PRT_TRY(prt_infer_merge(c, a->num_heads, hidden, "the number of heads", &dim));
        PRT_TRY(prt_infer_merge(c, 3, prt_infer_dim(c, 0, 2), "Q, K and V", &dim));
        hidden = wide = prt_dim_mul(c->dims, a->num_heads, prt_infer_dim(c, 0, 3));
    }
    for (uint32_t i = 1; i < 3; i++) {
        PRT_TRY(prt_infer_rank(c, i, 2));
        PRT_TRY(prt_infer_merge(c, tokens, prt_infer_dim(c, i, 0), "the tokens", &tokens));
    }
    if (!packed)
        PRT_TRY(prt_infer_merge(c, hidden, prt_infer_dim(c, 1, 1), "the size of Q and K", &hidden));
    PRT_TRY(prt_ms_check_heads(c, a->num_heads, hidden));
    PRT_TRY(prt_ms_check_heads(c, a->num_heads, wide));
    PRT_TRY(prt_infer_vector(c, 3, prt_dim_add(c->dims, prt_dim_mul(c->dims, hidden, 2), wide)));
    const int64_t dims[2] = { tokens, wide };
    return prt_infer_exact(c, 0, c->in[0].dtype, 2, dims);
}

static poprt_status eval_heads(prt_eval *c)
{
    const prt_ms_packed_multi_head_attention_attrs *a = c->attrs;
    const size_t heads = (size_t)a->num_heads, tokens = (size_t)c->in[0]->dims[0];
    const bool packed = !prt_eval_has(c, 1);
    const prt_tensor *bias = prt_ms_in(c, 3);
    prt_attention s = { .y = output_of(c, heads) };
    prt_heads *const to[3] = { &s.q, &s.k, &s.v };
    size_t from = 0;
    for (uint32_t i = 0; i < 3; i++) {
        const prt_tensor *t = c->in[packed ? 0 : i];
        const size_t row = tokens != 0 ? prt_tensor_count(t) / tokens : 0;
        const size_t size = row / heads / (packed ? 3 : 1);
        *to[i] = heads_in(t->dtype, t->data, packed ? i * size : 0, row, heads, size);
        to[i]->head *= packed ? 3 : 1;
        to[i]->rows = tokens;
        if (bias != NULL) { /* as one image with all tokens, which keeps the order of rows */
            PRT_TRY(prt_ms_add_bias(c, to[i], 1, bias, from));
            from += heads * size;
        }
    }
    s.scale = prt_ms_scale(a->scale, s.q.size);
    return run_packed(c, &s, 5, prt_ms_in(c, 6), tokens);
}

const prt_op_hooks prt_op_ms_packed_multi_head_attention = { .infer = infer_heads,
    .eval = eval_heads };
