/* SPDX-License-Identifier: MIT */
/* attention_core.c — the reference loops of attention, one query at a time. */
#include <math.h>

#include "op/share/attention_core.h"

prt_heads prt_heads_of_rank4(const prt_tensor *t)
{
    prt_heads h = { 0 };
    if (t == NULL)
        return h;
    h = (prt_heads){ .dtype = t->dtype,
        .data = t->data,
        .heads = (size_t)t->dims[1],
        .rows = (size_t)t->dims[2],
        .size = (size_t)t->dims[3] };
    h.row = h.size;
    h.head = (t->capacity != 0 ? t->capacity : h.rows) * h.size;
    h.batch = h.heads * h.head;
    return h;
}

prt_heads prt_heads_of_rank3(const prt_tensor *t, size_t heads)
{
    prt_heads h = { 0 };
    if (t == NULL)
        return h;
    h = (prt_heads){ .dtype = t->dtype,
        .data = t->data,
        .heads = heads,
        .rows = (size_t)t->dims[1],
        .size = (size_t)t->dims[2] / heads };
    h.head = h.size;
    h.row = (size_t)t->dims[2];
    h.batch = h.rows * h.row;
    return h;
}

/* Concatenates the cached and the new rows of one image and head in `to`, and stores them in the
 * present cache. */
static void concat_rows(const prt_attention *s, const prt_heads *past, const prt_heads *now,
    const prt_heads *present, size_t batch, size_t head, double *to)
{
    const size_t size = now->data != NULL ? now->size : past->size;
    const size_t leave = s->leave != NULL ? s->leave[batch] : 0;
    for (size_t r = 0; r < s->total; r++) {
        const prt_heads *from = r < s->past ? past : now;
        double *row = to + r * size;
        prt_reals_load(from->dtype, from->data,
            prt_heads_at(from, batch, head, r < s->past ? r : r - s->past), 1, size, row);
        if (present->data != NULL && r >= leave && r - leave < present->rows &&
            !(r < s->past && leave == 0 && present->data == past->data))
            prt_reals_store(present->dtype, present->data,
                prt_heads_at(present, batch, head, r - leave), 1, size, row);
    }
}

/* Softmax in place. If a query sees no key, the result is all zeros. */
static void softmax(double *x, size_t n, const double *sink)
{
    double most = sink != NULL ? *sink : -HUGE_VAL;
    for (size_t j = 0; j < n; j++)
        most = fmax(most, x[j]);
    const bool some = most != -HUGE_VAL;
    double sum = sink != NULL && some ? exp(*sink - most) : 0;
    for (size_t j = 0; j < n; j++)
        sum += x[j] = some ? exp(x[j] - most) : 0;
    for (size_t j = 0; some && j < n; j++)
        x[j] /= sum;
}

static void show(const prt_attention *s, int stage, size_t batch, size_t head, size_t i)
{
    if (s->scores != NULL)
        s->scores(s, stage, batch, head, i, s->row);
}

/* Computes one query: scores, their softmax, and the weighted sum of the values. */
static void attend(const prt_attention *s, size_t batch, size_t head, size_t i)
{
    const size_t size = s->q.size, wide = s->v.data != NULL ? s->v.size : s->past_v.size;
    prt_reals_load(s->q.dtype, s->q.data, prt_heads_at(&s->q, batch, head, i), 1, size, s->query);
    for (size_t j = 0; j < s->total; j++) {
        double sum = 0;
        for (size_t d = 0; d < size; d++)
            sum += s->query[d] * s->keys[j * size + d];
        s->row[j] = sum * s->scale;
    }
    show(s, PRT_SCORES_RAW, batch, head, i);
    for (size_t j = 0; s->cap > 0 && j < s->total; j++)
        s->row[j] = s->cap * tanh(s->row[j] / s->cap);
    show(s, PRT_SCORES_CAPPED, batch, head, i);
    s->bias(s, batch, head, i, s->added);
    for (size_t j = 0; j < s->total; j++)
        s->row[j] = s->added[j] == -HUGE_VAL ? -HUGE_VAL : s->row[j] + s->added[j];
    show(s, PRT_SCORES_BIASED, batch, head, i);
    softmax(s->row, s->total, s->sinks != NULL ? &s->sinks[head] : NULL);
    show(s, PRT_SCORES_SOFTMAX, batch, head, i);
    if (s->y.data == NULL)
        return;
    memset(s->result, 0, wide * sizeof(double));
    for (size_t j = 0; j < s->total; j++)
        for (size_t d = 0; d < wide && s->row[j] != 0; d++)
            s->result[d] += s->row[j] * s->values[j * wide + d];
    prt_reals_store(s->y.dtype, s->y.data, prt_heads_at(&s->y, batch, head, i), 1, wide, s->result);
}

poprt_status prt_attention_run(prt_eval *c, prt_attention *s)
{
    bool done = c->attend != NULL;
    if (done)
        PRT_TRY(c->attend(c, c->attend_with, s, &done));
    if (done)
        return POPRT_OK;
    const prt_heads *k = s->k.data != NULL ? &s->k : &s->past_k;
    const prt_heads *v = s->v.data != NULL ? &s->v : &s->past_v;
    const size_t most = s->past_k.rows + s->k.rows, group = k->heads ? s->q.heads / k->heads : 0;
    s->keys = prt_eval_scratch(c, most, k->size * sizeof(double));
    s->values = prt_eval_scratch(c, most, v->size * sizeof(double));
    s->query = prt_eval_scratch(c, s->q.size + v->size + 1, sizeof(double));
    s->row = prt_eval_scratch(c, most + 1, 2 * sizeof(double));
    if (s->keys == NULL || s->values == NULL || s->query == NULL || s->row == NULL)
        return POPRT_E_NOMEM;
    if (c->is_measuring)
        return POPRT_OK;
    s->result = s->query + s->q.size;
    s->added = s->row + most;
    for (size_t b = 0; b < s->batch; b++) {
        s->past = s->past_rows != NULL ? s->past_rows[b] : s->past_k.rows;
        s->total = s->past + (s->new_rows != NULL ? s->new_rows[b] : s->k.rows);
        for (size_t h = 0; h < k->heads; h++) {
            PRT_TRY(c->host->check(c));
            concat_rows(s, &s->past_k, &s->k, &s->present_k, b, h, s->keys);
            concat_rows(s, &s->past_v, &s->v, &s->present_v, b, h, s->values);
            for (size_t g = 0; g < group; g++)
                for (size_t i = 0; i < s->q.rows; i++)
                    attend(s, b, h * group + g, i);
        }
    }
    return POPRT_OK;
}
