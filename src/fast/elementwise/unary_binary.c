/* SPDX-License-Identifier: MIT */
/* unary_binary.c — elementwise operators of one or two inputs, and variadic ones. */
#include <math.h>

#include "fast/elementwise/elementwise.h"
#include "fast/parallel.h"
#include "op/internal/fused.h"

enum { PIECE = 1 << 15 }; /* elements of an item, at least */

/* ---- one input ---- */

typedef struct map {
    const prt_kern *kern;
    const float *x;
    float *y;
    size_t count, pieces;
    int one; /* prt_unary_kind, or -1: run `act` */
    prt_act act;
} map;

static void map_piece(const void *user, size_t item, float *scratch)
{
    const map *m = user;
    const size_t from = prt_parallel_piece_begin(m->count, m->pieces, item);
    const size_t n = prt_parallel_piece_begin(m->count, m->pieces, item + 1) - from;
    (void)scratch;
    if (m->one >= 0)
        m->kern->rows.unary(m->one, n, m->x + from, m->y + from);
    else
        m->kern->rows.act(&m->act, n, m->x + from, m->y + from);
}

static poprt_status run_map(prt_eval *c, map *m, bool *done)
{
    if (!prt_fast_has(c, 0))
        return prt_fast_integer(c, m->kern, done);
    if (!prt_eval_wants(c, 0))
        return prt_fast_use_reference(done);
    m->x = c->in[0]->data;
    m->y = c->out[0]->data;
    m->count = prt_tensor_count(c->in[0]);
    m->pieces = prt_parallel_balanced_pieces(c, m->count, PIECE);
    return prt_parallel_for(c, m->pieces, 0, map_piece, m);
}

poprt_status prt_fast_unary(prt_eval *c, const prt_kern *k, bool *done)
{
    map m = { .kern = k, .one = prt_instruction_kind(prt_instruction_of(c->def->id)) };
    return run_map(c, &m, done);
}

poprt_status prt_fast_act(prt_eval *c, const prt_kern *k, bool *done)
{
    map m = { .kern = k, .one = -1 };
    return prt_fused_act_of(c->def->id, c->attrs, &m.act) ? run_map(c, &m, done)
                                                          : prt_fast_use_reference(done);
}

poprt_status prt_fast_clip(prt_eval *c, const prt_kern *k, bool *done)
{
    map m = { .kern = k, .one = -1, .act = { PRT_ACT_clip, -INFINITY, INFINITY } };
    if (prt_fast_has(c, 1))
        m.act.a = *(const float *)c->in[1]->data;
    if (prt_fast_has(c, 2))
        m.act.b = *(const float *)c->in[2]->data;
    return run_map(c, &m, done);
}

/* ---- two inputs, or several in sequence ---- */

typedef struct pair {
    void (*run)(int kind, size_t n, const float *a, size_t step_a, const float *b, size_t step_b,
        float *y);
    const prt_tensor *in[2];
    prt_tensor *out;
    int kind;
    size_t pieces;
} pair;

static void pair_piece(const void *user, size_t item, float *scratch)
{
    const pair *p = user;
    const float *a = p->in[0]->data, *b = p->in[1]->data;
    float *y = p->out->data;
    prt_rows r;
    (void)scratch;
    prt_rows_init(&r, p->out, 2, p->in);
    r.most = SIZE_MAX;
    prt_rows_part(&r, prt_parallel_piece_begin(r.total, p->pieces, item),
        prt_parallel_piece_begin(r.total, p->pieces, item + 1));
    while (prt_rows_next(&r))
        p->run(p->kind, r.count, a + r.from[0], r.step[0], b + r.from[1], r.step[1], y + r.to);
}

poprt_status prt_fast_binary(prt_eval *c, const prt_kern *k, bool *done)
{
    const prt_instruction step = { prt_instruction_of(c->def->id), { 0, 1, 0 } };
    if (c->n_in < 2 || !prt_eval_wants(c, 0))
        return prt_fast_use_reference(done);
    for (uint32_t i = 0; i < c->n_in; i++)
        if (!prt_fast_has(c, i))
            return prt_fast_integer(c, k, done);
    if (c->n_in == 2 && prt_elementwise_pays(c, 1)) {
        const prt_program_view v = { .n_in = 2, .n_steps = 1, .steps = &step };
        return prt_elementwise_run(c, k, &v);
    }
    pair p = { .run = k->rows.binary,
        .in = { c->in[0], c->in[1] },
        .out = c->out[0],
        .kind = prt_instruction_kind(step.code),
        .pieces = prt_parallel_balanced_pieces(c, prt_tensor_count(c->out[0]), PIECE) };
    PRT_TRY(prt_parallel_for(c, p.pieces, 0, pair_piece, &p));
    for (uint32_t i = 2; i < c->n_in; i++) { /* the output so far, in place, and the next input */
        p.in[0] = c->out[0];
        p.in[1] = c->in[i];
        PRT_TRY(prt_parallel_for(c, p.pieces, 0, pair_piece, &p));
    }
    return POPRT_OK;
}

/* ---- powers ---- */

static void powers(int kind, size_t n, const float *a, size_t step_a, const float *b, size_t step_b,
    float *y)
{
    (void)kind;
    for (size_t i = 0; i < n; i++)
        y[i] = powf(a[i * step_a], b[i * step_b]);
}

/* Pow. Constant exponents that make it a product, a root or a quotient run by a kernel; the output
 * then has the shape of the base. */
poprt_status prt_fast_pow(prt_eval *c, const prt_kern *k, bool *done)
{
    map m = { .kern = k };
    if (!prt_fast_has(c, 0) || !prt_eval_wants(c, 0))
        return prt_fast_use_reference(done);
    const int64_t code =
        prt_tensor_count(c->in[1]) == 1 && prt_tensor_count(c->in[0]) == prt_tensor_count(c->out[0])
        ? prt_instruction_of_power(prt_load_f64(c->in[1]->dtype, c->in[1]->data, 0))
        : -1;
    if (code >= 0) {
        m.one = prt_instruction_kind(code);
        return run_map(c, &m, done);
    }
    if (!prt_fast_has(c, 1))
        return prt_fast_use_reference(done);
    const pair p = { .run = powers,
        .in = { c->in[0], c->in[1] },
        .out = c->out[0],
        .pieces = prt_parallel_balanced_pieces(c, prt_tensor_count(c->out[0]), PIECE / 8) };
    return prt_parallel_for(c, p.pieces, 0, pair_piece, &p);
}
