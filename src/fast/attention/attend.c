/* SPDX-License-Identifier: MIT */
/*
 * attend.c — operators that end in the loops of op/share/attention_core.h: the reference runs, but
 * attention.c replaces these loops if it supports the tensors and options.
 */
#include "fast/attention/attention.h"
#include "fast/parallel.h"

/* Converts inputs that the operator has computed in double to float32. */
static poprt_status as_floats(prt_eval *c, size_t batch, prt_heads *h, bool *done)
{
    if (h->data == NULL || h->dtype == PRT_DTYPE_f32)
        return POPRT_OK;
    if (h->dtype != PRT_DTYPE_f64)
        return prt_fast_use_reference(done);
    prt_heads to = { .dtype = PRT_DTYPE_f32,
        .heads = h->heads,
        .rows = h->rows,
        .size = h->size,
        .row = h->size,
        .head = h->rows * h->size,
        .batch = h->heads * h->rows * h->size };
    float *data = prt_parallel_zeroed_floats(c, batch, to.batch);
    if (data == NULL)
        return POPRT_E_NOMEM;
    to.data = data;
    for (size_t i = 0; i < batch * h->heads * h->rows; i++) {
        const size_t row = i % h->rows, head = i / h->rows % h->heads;
        const double *from =
            (const double *)h->data + prt_heads_at(h, i / h->rows / h->heads, head, row);
        for (size_t d = 0; d < h->size; d++)
            *data++ = (float)from[d];
    }
    *h = to;
    return POPRT_OK;
}

static bool is_plain(const prt_heads *h)
{
    return h->data == NULL || h->dtype == PRT_DTYPE_f32;
}

/* Returns whether the keys of every image fit into the cache of the next run. */
static bool fits(const prt_attention *s, const prt_heads *present, size_t size)
{
    for (size_t b = 0; present->data != NULL && b < s->batch; b++) {
        const size_t past = s->past_rows != NULL ? s->past_rows[b] : s->past_k.rows;
        const size_t rows = past + (s->new_rows != NULL ? s->new_rows[b] : s->k.rows);
        if (rows > present->rows || present->row != size)
            return false;
    }
    return true;
}

static poprt_status attend(prt_eval *c, const void *with, prt_attention *s, bool *done)
{
    const prt_heads *const plain[] = { &s->y, &s->past_k, &s->past_v, &s->present_k,
        &s->present_v };
    for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
        if (!is_plain(plain[i]))
            return prt_fast_use_reference(done);
    if (s->cap > 0 || s->sinks != NULL || s->leave != NULL || s->scores != NULL ||
        s->q.data == NULL || s->k.data == NULL || s->v.data == NULL || s->k.heads == 0 ||
        !fits(s, &s->present_k, s->k.size) || !fits(s, &s->present_v, s->v.size))
        return prt_fast_use_reference(done);
    prt_mha m = { .q = s->q,
        .k = s->k,
        .v = s->v,
        .y = s->y,
        .past_k = s->past_k,
        .past_v = s->past_v,
        .present_k = s->present_k,
        .present_v = s->present_v,
        .scale = (float)s->scale,
        .sizes = { [PRT_MHA_batch] = s->batch,
            [PRT_MHA_heads] = s->q.heads,
            [PRT_MHA_groups] = s->k.heads,
            [PRT_MHA_queries] = s->q.rows,
            [PRT_MHA_past] = s->past_k.rows,
            [PRT_MHA_keys] = s->k.rows,
            [PRT_MHA_size] = s->q.size,
            [PRT_MHA_wide] = s->v.size } };
    PRT_TRY(as_floats(c, s->batch, &m.q, done));
    PRT_TRY(as_floats(c, s->batch, &m.k, done));
    PRT_TRY(as_floats(c, s->batch, &m.v, done));
    return *done ? prt_fast_mha(c, with, &m, s, done) : POPRT_OK;
}

poprt_status prt_fast_attend(prt_eval *c, const prt_kern *k, bool *done)
{
    (void)done;
    c->attend = attend;
    c->attend_with = k;
    const poprt_status status = prt_op_eval(c);
    c->attend = NULL;
    return status;
}
