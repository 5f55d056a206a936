/* SPDX-License-Identifier: MIT */
/* combine.c — Accumulate, Assign and AdamNorm: sums of two scaled rows. OverflowCount. */
#include <math.h>
#include <stdatomic.h>

#include "fast/train/train.h"

/* to = a * x + b * y, or its norm. */
typedef struct combine_work {
    const prt_kern *kern;
    float a, b;
    const prt_tensor *x, *y; /* y may be NULL */
    const prt_tensor *to;    /* NULL: norm */
    double *norm;
    size_t n;
} combine_work;

static void run_combine(const void *user, size_t item, float *scratch)
{
    const combine_work *j = user;
    const size_t end = (item + 1) * PRT_NORM_BLOCK < j->n ? (item + 1) * PRT_NORM_BLOCK : j->n;
    prt_train_buffer x, y, to;
    double sum = 0.0;
    (void)scratch;
    for (size_t at = item * PRT_NORM_BLOCK; at < end; at += PRT_TRAIN_PIECE) {
        const size_t n = end - at < PRT_TRAIN_PIECE ? end - at : PRT_TRAIN_PIECE;
        float *place = j->to != NULL ? prt_train_place(j->to, at, &to) : to.at;
        j->kern->train.combine(n, j->a, prt_train_load(j->x, at, n, &x), j->b,
            prt_train_load(j->y, at, n, &y), place);
        if (j->to != NULL)
            prt_train_store(j->to, at, n, &to);
        else
            sum += j->kern->train.squares(n, place);
    }
    if (j->norm != NULL)
        j->norm[item] = sum;
}

poprt_status prt_fast_accumulate(prt_eval *c, const prt_kern *k, bool *done)
{
    enum { ACC, G };
    if (!prt_train_supports(c, 1u << ACC | 1u << G, 1u << ACC))
        return prt_fast_use_reference(done);
    const prt_accumulate_factors f = prt_accumulate_factors_of(c);
    combine_work j = { .kern = k,
        .a = (float)f.add,
        .b = (float)f.keep,
        .x = c->in[G],
        .y = f.keep != 0.0 ? c->in[ACC] : NULL,
        .to = c->out[ACC],
        .n = prt_tensor_count(c->in[ACC]) };
    return prt_parallel_for(c, prt_norm_blocks(j.n), 0, run_combine, &j);
}

typedef struct assign_work {
    const char *from;
    char *to;
    size_t size;
} assign_work;

enum { ASSIGN_ITEM = 1 << 16 /* bytes */ };

static void run_assign(const void *user, size_t item, float *scratch)
{
    const assign_work *j = user;
    const size_t at = item * ASSIGN_ITEM, rest = j->size - at;
    (void)scratch;
    memcpy(j->to + at, j->from + at, rest < ASSIGN_ITEM ? rest : ASSIGN_ITEM);
}

poprt_status prt_fast_assign(prt_eval *c, const prt_kern *k, bool *done)
{
    const prt_tensor *value = c->in[1];
    (void)k;
    if (!prt_fast_has_output(c) || value->kind != PRT_VALUE_TENSOR ||
        value->dtype != c->out[0]->dtype ||
        prt_tensor_count(value) != prt_tensor_count(c->out[0]) || value->data == c->out[0]->data)
        return prt_fast_use_reference(done);
    const assign_work j = { .from = value->data, .to = c->out[0]->data, .size = value->size };
    return prt_parallel_for(c, (j.size + ASSIGN_ITEM - 1) / ASSIGN_ITEM, 0, run_assign, &j);
}

poprt_status prt_fast_adam_norm(prt_eval *c, const prt_kern *k, bool *done)
{
    if (!prt_train_supports(c, 1u << PRT_ADAM_NORM_G | 1u << PRT_ADAM_NORM_W, 0) ||
        !prt_fast_has_output(c))
        return prt_fast_use_reference(done);
    combine_work j = { .kern = k,
        .a = (float)prt_update_scalar(c, PRT_ADAM_NORM_GRADIENT_SCALING, 1.0),
        .b = (float)prt_update_scalar(c, PRT_ADAM_NORM_WEIGHT_DECAY, 0.0),
        .x = c->in[PRT_ADAM_NORM_G],
        .y = prt_eval_has(c, PRT_ADAM_NORM_W) ? c->in[PRT_ADAM_NORM_W] : NULL,
        .norm = c->out[0]->data,
        .n = prt_tensor_count(c->in[PRT_ADAM_NORM_G]) };
    return prt_parallel_for(c, prt_norm_blocks(j.n), 0, run_combine, &j);
}

typedef struct count_work {
    const prt_tensor *x;
    size_t n;
    float edge;
    _Atomic uint64_t *below;
} count_work;

static void run_count(const void *user, size_t item, float *scratch)
{
    const count_work *j = user;
    const size_t end = (item + 1) * PRT_NORM_BLOCK < j->n ? (item + 1) * PRT_NORM_BLOCK : j->n;
    prt_train_buffer buffer;
    uint32_t below = 0;
    (void)scratch;
    for (size_t at = item * PRT_NORM_BLOCK; at < end; at += PRT_TRAIN_PIECE) {
        const size_t n = end - at < PRT_TRAIN_PIECE ? end - at : PRT_TRAIN_PIECE;
        const float *x = prt_train_load(j->x, at, n, &buffer);
        for (size_t i = 0; i < n; i++)
            below += fabsf(x[i]) < j->edge;
    }
    atomic_fetch_add_explicit(j->below, below, memory_order_relaxed);
}

poprt_status prt_fast_overflow_count(prt_eval *c, const prt_kern *k, bool *done)
{
    const prt_overflow_count_attrs *a = c->attrs;
    _Atomic uint64_t below = 0;
    uint64_t all = 0;
    (void)k;
    bool supported = prt_fast_has_output(c);
    for (uint32_t i = 1; i < c->n_in; i++)
        supported = supported && prt_eval_has(c, i) && c->in[i]->dtype != PRT_DTYPE_f64;
    if (!supported)
        return prt_fast_use_reference(done);
    for (uint32_t i = 1; i < c->n_in; i++) {
        const count_work j = { .x = c->in[i],
            .n = prt_tensor_count(c->in[i]),
            .edge = a->edge,
            .below = &below };
        all += j.n;
        PRT_TRY(prt_parallel_for(c, prt_norm_blocks(j.n), 0, run_count, &j));
    }
    const uint64_t less = atomic_load_explicit(&below, memory_order_relaxed);
    const uint64_t counts[2] = { less, all - less };
    for (size_t i = 0; !c->is_measuring && i < 2; i++)
        prt_store_u64(PRT_DTYPE_i64, c->out[0]->data, i,
            prt_load_u64(PRT_DTYPE_i64, c->in[0]->data, i) + counts[i]);
    return POPRT_OK;
}
