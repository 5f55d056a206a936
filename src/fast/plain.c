/* SPDX-License-Identifier: MIT */
/* plain.c — comparisons, logic, Where and Cast, of the types that lib/kern has loops for. */
#include "kern/plain.h"

#include "fast/fast.h"
#include "fast/share.h"
#include "op/broadcast.h"

enum { PIECE = 1 << 15 }; /* elements worth handing to another thread */

/* The type as the kernels call it, or -1. */
static int type_of(const prt_tensor *t)
{
    switch (t->dtype) {
    case PRT_DTYPE_f32:
        return PRT_PLAIN_f32;
    case PRT_DTYPE_f16:
        return PRT_PLAIN_f16;
    case PRT_DTYPE_i32:
        return PRT_PLAIN_i32;
    case PRT_DTYPE_i64:
        return PRT_PLAIN_i64;
    default:
        return t->dtype == PRT_DTYPE_bool ? PRT_PLAIN_bool : -1;
    }
}

/* ---- comparisons, logic and Where: runs of broadcast inputs ---- */

typedef struct runs {
    const prt_kern_plain *kern;
    uint32_t n_in;
    const prt_tensor *in[3];
    prt_tensor *out;
    int kind, type;
    size_t size; /* of an element */
    size_t pieces;
    void (*run)(const struct runs *u, const prt_rows *r);
} runs;

static void run_piece(const void *user, size_t item, float *scratch)
{
    const runs *u = user;
    prt_rows r;
    (void)scratch;
    prt_rows_init(&r, u->out, u->n_in, u->in);
    r.most = SIZE_MAX;
    prt_rows_part(&r, prt_share_cut(r.total, u->pieces, item),
        prt_share_cut(r.total, u->pieces, item + 1));
    while (prt_rows_next(&r))
        u->run(u, &r);
}

static poprt_status run_runs(prt_eval *c, runs *u)
{
    u->out = c->out[0];
    u->pieces = prt_share_alike(c, prt_tensor_count(u->out), PIECE);
    return prt_share_run(c, u->pieces, 0, run_piece, u);
}

/* Elements of input k from where the run has them on. */
static const void *from(const runs *u, const prt_rows *r, uint32_t k, size_t size)
{
    return (const char *)u->in[k]->data + r->from[k] * size;
}

static void compare_run(const runs *u, const prt_rows *r)
{
    u->kern->compare(u->kind, u->type, r->count, from(u, r, 0, u->size), r->step[0],
        from(u, r, 1, u->size), r->step[1], (uint8_t *)u->out->data + r->to);
}

poprt_status prt_fast_compare(prt_eval *c, const prt_kern *k, bool *done);

poprt_status prt_fast_compare(prt_eval *c, const prt_kern *k, bool *done)
{
    static const int kinds[PRT_OP_COUNT] = { [PRT_OP_equal] = PRT_COMPARE_equal,
        [PRT_OP_less] = PRT_COMPARE_less, [PRT_OP_greater] = PRT_COMPARE_less,
        [PRT_OP_less_or_equal] = PRT_COMPARE_less_or_equal,
        [PRT_OP_greater_or_equal] = PRT_COMPARE_less_or_equal };
    const uint32_t op = c->def->id;
    const bool turned = op == PRT_OP_greater || op == PRT_OP_greater_or_equal;
    const int type = type_of(c->in[0]);
    if ((type != PRT_PLAIN_f32 && type != PRT_PLAIN_i32 && type != PRT_PLAIN_i64) ||
        !prt_fast_wants(c))
        return prt_fast_pass(done);
    runs u = { .kern = &k->plain, .n_in = 2, .in = { c->in[turned ? 1 : 0], c->in[turned ? 0 : 1] },
        .kind = kinds[op], .type = type, .size = prt_dtype_bits(c->in[0]->dtype) / 8,
        .run = compare_run };
    return run_runs(c, &u);
}

static void logic_run(const runs *u, const prt_rows *r)
{
    u->kern->logic(u->kind, r->count, from(u, r, 0, 1), r->step[0], from(u, r, 1, 1), r->step[1],
        (uint8_t *)u->out->data + r->to);
}

poprt_status prt_fast_logic(prt_eval *c, const prt_kern *k, bool *done);

poprt_status prt_fast_logic(prt_eval *c, const prt_kern *k, bool *done)
{
    static const int kinds[PRT_OP_COUNT] = { [PRT_OP_and] = PRT_LOGIC_and,
        [PRT_OP_or] = PRT_LOGIC_or, [PRT_OP_xor] = PRT_LOGIC_xor };
    if (!prt_fast_wants(c))
        return prt_fast_pass(done);
    runs u = { .kern = &k->plain, .n_in = 2, .in = { c->in[0], c->in[1] },
        .kind = kinds[c->def->id], .run = logic_run };
    return run_runs(c, &u);
}

/* Not x is x xor true. */
poprt_status prt_fast_not(prt_eval *c, const prt_kern *k, bool *done);

poprt_status prt_fast_not(prt_eval *c, const prt_kern *k, bool *done)
{
    uint8_t yes = 1;
    const prt_tensor truth = { .kind = PRT_VALUE_TENSOR, .dtype = PRT_DTYPE_bool, .data = &yes,
        .size = 1 };
    if (!prt_fast_wants(c))
        return prt_fast_pass(done);
    runs u = { .kern = &k->plain, .n_in = 2, .in = { c->in[0], &truth }, .kind = PRT_LOGIC_xor,
        .run = logic_run };
    return run_runs(c, &u);
}

static void choose_run(const runs *u, const prt_rows *r)
{
    u->kern->choose(u->size, r->count, from(u, r, 0, 1), r->step[0], from(u, r, 1, u->size),
        r->step[1], from(u, r, 2, u->size), r->step[2], (char *)u->out->data + r->to * u->size);
}

poprt_status prt_fast_where(prt_eval *c, const prt_kern *k, bool *done);

poprt_status prt_fast_where(prt_eval *c, const prt_kern *k, bool *done)
{
    const uint32_t bits = prt_dtype_bits(c->in[1]->dtype);
    if (!prt_fast_wants(c) || (bits != 8 && bits != 16 && bits != 32 && bits != 64))
        return prt_fast_pass(done);
    runs u = { .kern = &k->plain, .n_in = 3, .in = { c->in[0], c->in[1], c->in[2] },
        .size = bits / 8, .run = choose_run };
    return run_runs(c, &u);
}

/* ---- Cast ---- */

typedef struct cast {
    const prt_kern *kern;
    int from, to;
    const prt_tensor *x;
    prt_tensor *y;
    size_t count, pieces;
} cast;

static void cast_piece(const void *user, size_t item, float *scratch)
{
    const cast *s = user;
    const size_t first = prt_share_cut(s->count, s->pieces, item);
    (void)scratch;
    s->kern->plain.cast(s->from, s->to, prt_share_cut(s->count, s->pieces, item + 1) - first,
        (const char *)s->x->data + first * (prt_dtype_bits(s->x->dtype) / 8),
        (char *)s->y->data + first * (prt_dtype_bits(s->y->dtype) / 8));
}

poprt_status prt_fast_cast(prt_eval *c, const prt_kern *k, bool *done);
poprt_status prt_fast_decode(prt_eval *c, bool *done); /* of fp8.c */

poprt_status prt_fast_cast(prt_eval *c, const prt_kern *k, bool *done)
{
    if (!prt_fast_wants(c))
        return prt_fast_pass(done);
    cast s = { .kern = k, .from = type_of(c->in[0]), .to = type_of(c->out[0]), .x = c->in[0],
        .y = c->out[0], .count = prt_tensor_count(c->in[0]) };
    if (s.from < 0 && s.to == PRT_PLAIN_f32)
        return prt_fast_decode(c, done);
    if (s.from < 0 || s.to < 0 || s.from == s.to)
        return prt_fast_pass(done);
    s.pieces = prt_share_alike(c, s.count, PIECE);
    return prt_share_run(c, s.pieces, 0, cast_piece, &s);
}
