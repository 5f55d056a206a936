/* SPDX-License-Identifier: MIT */
/*
 * integer_logic.c — comparisons, logic, integer arithmetic, Where and Cast for the types that
 * lib/kern supports.
 */
#include "kern/rows/integer_logic.h"

#include "fast/fast.h"
#include "fast/parallel.h"
#include "op/share/broadcast.h"

enum { PIECE = 1 << 15 }; /* elements of an item, at least */

/* Returns the type as the kernels call it, or -1. */
static int type_of(const prt_tensor *t)
{
    switch (t->dtype) {
    case PRT_DTYPE_f32:
        return PRT_KERN_TYPE_f32;
    case PRT_DTYPE_f16:
        return PRT_KERN_TYPE_f16;
    case PRT_DTYPE_i32:
        return PRT_KERN_TYPE_i32;
    case PRT_DTYPE_i64:
        return PRT_KERN_TYPE_i64;
    default:
        return t->dtype == PRT_DTYPE_bool ? PRT_KERN_TYPE_bool : -1;
    }
}

/* ---- comparisons, logic, integers and Where: by runs of broadcast inputs ---- */

typedef struct runs {
    const prt_kern_integer_logic *kern;
    uint32_t n_in;
    const prt_tensor *in[3];
    prt_tensor *out;
    int kind, type;
    size_t size; /* bytes of an element */
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
    prt_rows_part(&r, prt_parallel_piece_begin(r.total, u->pieces, item),
        prt_parallel_piece_begin(r.total, u->pieces, item + 1));
    while (prt_rows_next(&r))
        u->run(u, &r);
}

static poprt_status run_runs(prt_eval *c, runs *u)
{
    u->out = c->out[0];
    u->pieces = prt_parallel_balanced_pieces(c, prt_tensor_count(u->out), PIECE);
    return prt_parallel_for(c, u->pieces, 0, run_piece, u);
}

/* Returns the elements of input k that the run reads. */
static const void *from(const runs *u, const prt_rows *r, uint32_t k, size_t size)
{
    return (const char *)u->in[k]->data + r->from[k] * size;
}

static void compare_run(const runs *u, const prt_rows *r)
{
    u->kern->compare(u->kind, u->type, r->count, from(u, r, 0, u->size), r->step[0],
        from(u, r, 1, u->size), r->step[1], (uint8_t *)u->out->data + r->to);
}

poprt_status prt_fast_compare(prt_eval *c, const prt_kern *k, bool *done)
{
    static const uint8_t kinds[PRT_OP_COUNT] = { [PRT_OP_equal] = PRT_COMPARE_equal,
        [PRT_OP_less] = PRT_COMPARE_less,
        [PRT_OP_greater] = PRT_COMPARE_less,
        [PRT_OP_less_or_equal] = PRT_COMPARE_less_or_equal,
        [PRT_OP_greater_or_equal] = PRT_COMPARE_less_or_equal };
    const uint32_t op = c->def->id;
    const bool swapped = op == PRT_OP_greater || op == PRT_OP_greater_or_equal;
    const int type = type_of(c->in[0]);
    if ((type != PRT_KERN_TYPE_f32 && type != PRT_KERN_TYPE_i32 && type != PRT_KERN_TYPE_i64) ||
        !prt_fast_has_output(c))
        return prt_fast_use_reference(done);
    runs u = { .kern = &k->integer_logic,
        .n_in = 2,
        .in = { c->in[swapped ? 1 : 0], c->in[swapped ? 0 : 1] },
        .kind = kinds[op],
        .type = type,
        .size = prt_dtype_bits(c->in[0]->dtype) / 8,
        .run = compare_run };
    return run_runs(c, &u);
}

static void integer_run(const runs *u, const prt_rows *r)
{
    u->kern->arithmetic(u->kind, u->type, r->count, from(u, r, 0, u->size), r->step[0],
        from(u, r, 1, u->size), r->step[1], (char *)u->out->data + r->to * u->size);
}

static poprt_status integer_binary(prt_eval *c, const prt_kern *k, int kind, const prt_tensor *a,
    const prt_tensor *b)
{
    runs u = { .kern = &k->integer_logic,
        .n_in = 2,
        .in = { a, b },
        .kind = kind,
        .type = type_of(a),
        .size = prt_dtype_bits(a->dtype) / 8,
        .run = integer_run };
    return run_runs(c, &u);
}

/* Runs a binary operator with a constant in place of one input. */
static poprt_status integer_constant(prt_eval *c, const prt_kern *k, int kind, bool left,
    int32_t number, const prt_tensor *x)
{
    const int64_t wide = number;
    prt_tensor one = { .kind = PRT_VALUE_TENSOR,
        .dtype = x->dtype,
        .data = &number,
        .size = prt_dtype_bits(x->dtype) / 8 };
    if (x->dtype == PRT_DTYPE_i64)
        one.data = (void *)&wide;
    return integer_binary(c, k, kind, left ? &one : x, left ? x : &one);
}

/* Runs unary operators. |x| is max(x, -x); the sign is x clamped to [-1, 1]. */
static poprt_status integer_unary(prt_eval *c, const prt_kern *k, bool *done)
{
    const prt_tensor *x = c->in[0], *y = c->out[0];
    switch (c->def->id) {
    case PRT_OP_neg:
        return integer_constant(c, k, PRT_INTEGER_sub, true, 0, x);
    case PRT_OP_relu:
        return integer_constant(c, k, PRT_INTEGER_max, false, 0, x);
    case PRT_OP_sign:
        PRT_TRY(integer_constant(c, k, PRT_INTEGER_max, false, -1, x));
        return integer_constant(c, k, PRT_INTEGER_min, false, 1, y);
    case PRT_OP_abs:
        if (x->data == y->data)
            return prt_fast_use_reference(done);
        PRT_TRY(integer_constant(c, k, PRT_INTEGER_sub, true, 0, x));
        return integer_binary(c, k, PRT_INTEGER_max, x, y);
    default:
        return prt_fast_use_reference(done);
    }
}

static poprt_status integer_clip(prt_eval *c, const prt_kern *k, bool *done)
{
    const bool low = prt_eval_has(c, 1), high = prt_eval_has(c, 2);
    if (!low && !high)
        return prt_fast_use_reference(done);
    if (low)
        PRT_TRY(integer_binary(c, k, PRT_INTEGER_max, c->in[0], c->in[1]));
    return high ? integer_binary(c, k, PRT_INTEGER_min, low ? c->out[0] : c->in[0], c->in[2])
                : POPRT_OK;
}

poprt_status prt_fast_integer(prt_eval *c, const prt_kern *k, bool *done)
{
    static const uint8_t kinds[PRT_OP_COUNT] = { [PRT_OP_add] = PRT_INTEGER_add + 1,
        [PRT_OP_sub] = PRT_INTEGER_sub + 1,
        [PRT_OP_mul] = PRT_INTEGER_mul + 1,
        [PRT_OP_max] = PRT_INTEGER_max + 1,
        [PRT_OP_min] = PRT_INTEGER_min + 1 };
    const int32_t dtype = c->in[0]->dtype;
    const int kind = kinds[c->def->id] - 1;
    if ((dtype != PRT_DTYPE_i32 && dtype != PRT_DTYPE_i64) || !prt_fast_has_output(c))
        return prt_fast_use_reference(done);
    if (c->def->id == PRT_OP_clip)
        return integer_clip(c, k, done);
    if (c->n_in == 1)
        return integer_unary(c, k, done);
    if (kind < 0)
        return prt_fast_use_reference(done);
    PRT_TRY(integer_binary(c, k, kind, c->in[0], c->in[1]));
    for (uint32_t i = 2; i < c->n_in; i++) /* the output so far, in place, and the next input */
        PRT_TRY(integer_binary(c, k, kind, c->out[0], c->in[i]));
    return POPRT_OK;
}

static void logic_run(const runs *u, const prt_rows *r)
{
    u->kern->logic(u->kind, r->count, from(u, r, 0, 1), r->step[0], from(u, r, 1, 1), r->step[1],
        (uint8_t *)u->out->data + r->to);
}

poprt_status prt_fast_logic(prt_eval *c, const prt_kern *k, bool *done)
{
    static const uint8_t kinds[PRT_OP_COUNT] = { [PRT_OP_and] = PRT_LOGIC_and,
        [PRT_OP_or] = PRT_LOGIC_or,
        [PRT_OP_xor] = PRT_LOGIC_xor };
    if (!prt_fast_has_output(c))
        return prt_fast_use_reference(done);
    runs u = { .kern = &k->integer_logic,
        .n_in = 2,
        .in = { c->in[0], c->in[1] },
        .kind = kinds[c->def->id],
        .run = logic_run };
    return run_runs(c, &u);
}

/* Computes not x as x xor true. */
poprt_status prt_fast_not(prt_eval *c, const prt_kern *k, bool *done)
{
    uint8_t yes = 1;
    const prt_tensor truth = { .kind = PRT_VALUE_TENSOR,
        .dtype = PRT_DTYPE_bool,
        .data = &yes,
        .size = 1 };
    if (!prt_fast_has_output(c))
        return prt_fast_use_reference(done);
    runs u = { .kern = &k->integer_logic,
        .n_in = 2,
        .in = { c->in[0], &truth },
        .kind = PRT_LOGIC_xor,
        .run = logic_run };
    return run_runs(c, &u);
}

static void choose_run(const runs *u, const prt_rows *r)
{
    u->kern->select(u->size, r->count, from(u, r, 0, 1), r->step[0], from(u, r, 1, u->size),
        r->step[1], from(u, r, 2, u->size), r->step[2], (char *)u->out->data + r->to * u->size);
}

poprt_status prt_fast_where(prt_eval *c, const prt_kern *k, bool *done)
{
    const uint32_t bits = prt_dtype_bits(c->in[1]->dtype);
    if (!prt_fast_has_output(c) || (bits != 8 && bits != 16 && bits != 32 && bits != 64))
        return prt_fast_use_reference(done);
    runs u = { .kern = &k->integer_logic,
        .n_in = 3,
        .in = { c->in[0], c->in[1], c->in[2] },
        .size = bits / 8,
        .run = choose_run };
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
    const size_t first = prt_parallel_piece_begin(s->count, s->pieces, item);
    (void)scratch;
    s->kern->integer_logic.cast(s->from, s->to,
        prt_parallel_piece_begin(s->count, s->pieces, item + 1) - first,
        (const char *)s->x->data + first * (prt_dtype_bits(s->x->dtype) / 8),
        (char *)s->y->data + first * (prt_dtype_bits(s->y->dtype) / 8));
}

poprt_status prt_fast_cast(prt_eval *c, const prt_kern *k, bool *done)
{
    if (!prt_fast_has_output(c))
        return prt_fast_use_reference(done);
    cast s = { .kern = k,
        .from = type_of(c->in[0]),
        .to = type_of(c->out[0]),
        .x = c->in[0],
        .y = c->out[0],
        .count = prt_tensor_count(c->in[0]) };
    if (s.from < 0 && s.to == PRT_KERN_TYPE_f32)
        return prt_fast_cast_from_fp8(c, done);
    if (s.from < 0 || s.to < 0 || s.from == s.to)
        return prt_fast_use_reference(done);
    s.pieces = prt_parallel_balanced_pieces(c, s.count, PIECE);
    return prt_parallel_for(c, s.pieces, 0, cast_piece, &s);
}
