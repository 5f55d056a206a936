/* SPDX-License-Identifier: MIT */
/* norm.c — softmax, normalisations and means of float32 over rows that lie side by side. */
#include <math.h>

#include "fast/fast.h"
#include "fast/share.h"

/* Rows of `n` elements; an item is some of them. */
typedef struct rows {
    const prt_kern *kern;
    size_t count, n, pieces;
    const float *x, *gamma, *beta;
    float *y;
    float epsilon;
    size_t channels; /* of batch normalisation: row i has scale and shift i % channels */
    const float *mean, *variance;
    void (*run)(const struct rows *r, size_t row);
} rows;

static void run_piece(const void *user, size_t item, float *scratch)
{
    const rows *r = user;
    (void)scratch;
    for (size_t i = prt_share_cut(r->count, r->pieces, item);
         i < prt_share_cut(r->count, r->pieces, item + 1); i++)
        r->run(r, i);
}

static poprt_status run_rows(prt_eval *c, rows *r)
{
    const size_t most = prt_share_pieces(r->count * r->n, 1 << 14);
    r->pieces = r->count < most ? r->count : most;
    return prt_share_run(c, r->pieces, 0, run_piece, r);
}

static bool wants_only_first(const prt_eval *c)
{
    for (uint32_t i = 1; i < c->n_out; i++)
        if (prt_eval_wants(c, i))
            return false;
    return prt_eval_wants(c, 0);
}

static rows rows_of(const prt_eval *c, const prt_kern *k, uint32_t first)
{
    const prt_tensor *x = c->in[0];
    return (rows){ .kern = k, .count = prt_dims_product(x->dims, 0, first),
        .n = prt_dims_product(x->dims, first, x->rank), .x = x->data, .y = c->out[0]->data };
}

static void softmax_row(const rows *r, size_t i)
{
    r->kern->rows.softmax(r->n, r->x + i * r->n, r->y + i * r->n);
}

poprt_status prt_fast_softmax(prt_eval *c, const prt_kern *k, bool *done);

poprt_status prt_fast_softmax(prt_eval *c, const prt_kern *k, bool *done)
{
    const prt_softmax_attrs *a = c->attrs;
    if (!prt_fast_has(c, 0) || !wants_only_first(c) || c->in[0]->rank == 0 ||
        (a->axis != -1 && a->axis != (int64_t)c->in[0]->rank - 1))
        return prt_fast_pass(done);
    rows r = rows_of(c, k, c->in[0]->rank - 1);
    r.run = softmax_row;
    return r.n != 0 ? run_rows(c, &r) : POPRT_OK;
}

static void layer_norm_row(const rows *r, size_t i)
{
    r->kern->rows.layer_norm(r->n, r->x + i * r->n, r->epsilon, r->gamma, r->beta, r->y + i * r->n);
}

poprt_status prt_fast_layer_norm(prt_eval *c, const prt_kern *k, bool *done);

poprt_status prt_fast_layer_norm(prt_eval *c, const prt_kern *k, bool *done)
{
    const prt_layer_normalization_attrs *a = c->attrs;
    if (!prt_fast_has(c, 0) || !prt_fast_has(c, 1) || !wants_only_first(c))
        return prt_fast_pass(done);
    const int64_t rank = c->in[0]->rank, axis = a->axis < 0 ? a->axis + rank : a->axis;
    rows r = rows_of(c, k, (uint32_t)axis);
    if (r.n == 0 || prt_tensor_count(c->in[1]) != r.n ||
        (prt_eval_has(c, 2) && prt_tensor_count(c->in[2]) != r.n))
        return prt_fast_pass(done);
    r.gamma = c->in[1]->data;
    r.beta = prt_eval_has(c, 2) ? c->in[2]->data : NULL;
    r.epsilon = a->epsilon;
    r.run = layer_norm_row;
    return run_rows(c, &r);
}

static void batch_norm_row(const rows *r, size_t i)
{
    const size_t at = i % r->channels;
    const double scale =
        (double)r->gamma[at] / sqrt((double)r->variance[at] + (double)r->epsilon);
    const double shift = (double)r->beta[at] - (double)r->mean[at] * scale;
    r->kern->rows.scale(r->n, r->x + i * r->n, (float)scale, (float)shift, r->y + i * r->n);
}

poprt_status prt_fast_batch_norm(prt_eval *c, const prt_kern *k, bool *done);

poprt_status prt_fast_batch_norm(prt_eval *c, const prt_kern *k, bool *done)
{
    const prt_batch_normalization_attrs *a = c->attrs;
    for (uint32_t i = 0; i < 5; i++)
        if (!prt_fast_has(c, i))
            return prt_fast_pass(done);
    if (a->training_mode != 0 || !wants_only_first(c) || c->in[0]->rank < 2)
        return prt_fast_pass(done);
    rows r = rows_of(c, k, 2);
    r.channels = (size_t)c->in[0]->dims[1];
    r.gamma = c->in[1]->data;
    r.beta = c->in[2]->data;
    r.mean = c->in[3]->data;
    r.variance = c->in[4]->data;
    r.epsilon = a->epsilon;
    r.run = batch_norm_row;
    return run_rows(c, &r);
}

static void mean_row(const rows *r, size_t i)
{
    r->y[i] = (float)(r->kern->rows.sum(r->n, r->x + i * r->n) / (double)r->n);
}

poprt_status prt_fast_global_average_pool(prt_eval *c, const prt_kern *k, bool *done);

poprt_status prt_fast_global_average_pool(prt_eval *c, const prt_kern *k, bool *done)
{
    if (!prt_fast_has(c, 0) || !prt_eval_wants(c, 0) || c->in[0]->rank < 3)
        return prt_fast_pass(done);
    rows r = rows_of(c, k, 2);
    r.run = mean_row;
    return r.n != 0 ? run_rows(c, &r) : prt_fast_pass(done);
}

/* Over the last axes, as long as they are given as a list. */
poprt_status prt_fast_reduce_mean(prt_eval *c, const prt_kern *k, bool *done);

poprt_status prt_fast_reduce_mean(prt_eval *c, const prt_kern *k, bool *done)
{
    int64_t axes[PRT_MAX_RANK];
    uint32_t count = 0, seen = 0;
    if (!prt_fast_has(c, 0) || !prt_eval_wants(c, 0) || !prt_eval_has(c, 1))
        return prt_fast_pass(done);
    const int64_t rank = c->in[0]->rank;
    PRT_TRY(prt_eval_ints(c, 1, axes, PRT_MAX_RANK, &count));
    for (uint32_t i = 0; i < count; i++)
        seen |= 1u << (axes[i] < 0 ? axes[i] + rank : axes[i]);
    const uint32_t first = (uint32_t)rank - count;
    if (count == 0 || seen != (((1u << rank) - 1u) & ~((1u << first) - 1u)))
        return prt_fast_pass(done);
    rows r = rows_of(c, k, first);
    r.run = mean_row;
    return r.n != 0 ? run_rows(c, &r) : prt_fast_pass(done);
}
