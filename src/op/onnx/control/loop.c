/* SPDX-License-Identifier: MIT */
/*
 * loop.c — Loop: runs its region until a trip count or a condition ends it.
 *
 * Region: (iteration i64[], condition bool[], carried …) → (condition, carried …, collected …).
 */
#include "op/share/loop_carry.h"
#include "op/content.h"
#include "op/share/type_wrap.h"

/* The state of inference: types of the region's inputs and outputs. */
typedef struct body {
    uint32_t n_carried;
    prt_shape *in, *out, *next; /* next: inputs of the second iteration */
    bool tried;                 /* `next` is known */
    prt_content *in_content, *out_content;
} body;

/* Drops the dims of a carried value, which may change from one iteration to the next. Its type
 * may not. */
static poprt_status drop_dims(prt_infer *c, prt_shape *s)
{
    if (s->kind == PRT_VALUE_TENSOR)
        s->rank = PRT_RANK_UNKNOWN;
    if (s->kind == PRT_VALUE_SEQUENCE && s->elem != NULL && s->elem->kind == PRT_VALUE_TENSOR) {
        s->elem = prt_type_tensor(c->types, s->elem->dtype, PRT_RANK_UNKNOWN, NULL);
        if (s->elem == NULL)
            return POPRT_E_NOMEM;
    }
    return POPRT_OK;
}

static poprt_status run_body(prt_infer *c, const body *b, bool trial)
{
    const prt_loop_attrs *a = c->attrs;
    return c->region(c, a->body,
        &(prt_region){ .n_in = b->n_carried + 2,
            .in = b->in,
            .in_content = b->in_content,
            .first = b->n_carried != 0 ? c->in : NULL,
            .second = b->tried ? b->next : NULL,
            .n_out = c->n_out + 1,
            .out = b->out,
            .out_content = b->out_content,
            .trial = trial });
}

/* Generalises `in` so that it also holds after an iteration. Returns true if it had to change. */
static bool merge_carried(prt_infer *c, body *b)
{
    bool changed = false;
    for (uint32_t i = 2; i < b->n_carried + 2; i++) {
        const prt_shape before = b->in[i];
        if (before.kind != PRT_VALUE_TENSOR)
            continue;
        prt_type_wrap_merge(c, &b->in[i], &b->out[i - 1]);
        const prt_shape *s = &b->in[i];
        changed = changed || s->kind != before.kind || s->dtype != before.dtype ||
            s->rank != before.rank ||
            (s->rank > 0 && memcmp(s->dims, before.dims, (size_t)s->rank * sizeof(int64_t)) != 0);
    }
    return changed;
}

/* Computes types of the carried values that hold before and after each iteration: the initial
 * types without the dims that iterations change. If ROUNDS rounds do not suffice, no dims are
 * known. */
static poprt_status infer_carried(prt_infer *c, body *b)
{
    enum { ROUNDS = 3 };
    bool stable = false;
    for (uint32_t i = 0; i < b->n_carried; i++) {
        b->in[i + 2] = c->in[i + 2];
        if (b->in[i + 2].kind != PRT_VALUE_TENSOR)
            PRT_TRY(drop_dims(c, &b->in[i + 2]));
    }
    for (uint32_t round = 0; !stable && !c->too_deep && round < ROUNDS; round++) {
        const poprt_status status = run_body(c, b, true);
        if (status == POPRT_E_NOMEM)
            return status;
        if (status != POPRT_OK)
            break;
        if (!b->tried) {
            memcpy(b->next, b->in, 2 * sizeof(prt_shape));
            memcpy(b->next + 2, b->out + 1, b->n_carried * sizeof(prt_shape));
        }
        b->tried = true;
        stable = !merge_carried(c, b);
    }
    for (uint32_t i = 0; !stable && i < b->n_carried; i++)
        PRT_TRY(drop_dims(c, &b->in[i + 2]));
    return POPRT_OK;
}

/* Returns the number of iterations: the trip count, if the condition cannot end the loop
 * earlier. */
static int64_t count_trips(prt_infer *c, const body *b)
{
    const prt_content *again = &b->out_content[0];
    prt_known trips, first = { .count = 1, .values = { 1 } };
    if ((prt_infer_has(c, 1) && !prt_known_of(c, 1, &first)) || first.values[0] != 1 ||
        again->count != 1 || again->values[0] != 1 || !prt_known_of(c, 0, &trips) ||
        (prt_dim_is_number(trips.values[0]) && trips.values[0] > INT32_MAX))
        return PRT_DIM_UNKNOWN;
    return prt_dim_max(c->dims, trips.values[0], 0);
}

static poprt_status infer_collected(prt_infer *c, uint32_t i, const prt_shape *s, int64_t trips)
{
    if (s->kind != PRT_VALUE_TENSOR || s->rank < 0 || s->rank >= PRT_MAX_RANK)
        return prt_infer_unranked(c, i, s->dtype, PRT_RANK_UNKNOWN);
    int64_t dims[PRT_MAX_RANK] = { trips };
    for (int32_t k = 0; k < s->rank; k++)
        dims[k + 1] = s->dims[k];
    return prt_infer_set(c, i, s->dtype, s->rank + 1, dims);
}

static poprt_status infer(prt_infer *c)
{
    static const int64_t one = 1;
    const prt_loop_attrs *a = c->attrs;
    body b = { .n_carried = c->n_in > 2 ? c->n_in - 2 : 0 };
    if (!prt_attr_given(a, 0))
        return prt_infer_fail(c, POPRT_E_PARSE, "the attribute body is missing");
    if (b.n_carried > c->n_out)
        return prt_infer_fail(c, POPRT_E_PARSE,
            "the loop carries %u values, but has only %u outputs", b.n_carried, c->n_out);
    if (c->region == NULL)
        return POPRT_OK;
    b.in = prt_type_wrap_shapes(c, (size_t)b.n_carried + 2);
    b.next = prt_type_wrap_shapes(c, (size_t)b.n_carried + 2);
    b.out = prt_type_wrap_shapes(c, (size_t)c->n_out + 1);
    b.in_content = PRT_NEW_N(c->scratch, prt_content, (size_t)b.n_carried + 2);
    b.out_content = PRT_NEW_N(c->scratch, prt_content, (size_t)c->n_out + 1);
    if (b.in == NULL || b.next == NULL || b.out == NULL || b.in_content == NULL ||
        b.out_content == NULL)
        return POPRT_E_NOMEM;
    b.in[0] = (prt_shape){ .kind = PRT_VALUE_TENSOR, .dtype = PRT_DTYPE_i64 };
    b.in[1] = (prt_shape){ .kind = PRT_VALUE_TENSOR, .dtype = PRT_DTYPE_bool };
    b.in_content[1] = (prt_content){ 1, &one }; /* the body runs only while the condition is true */
    PRT_TRY(infer_carried(c, &b));
    PRT_TRY(run_body(c, &b, false));
    const int64_t trips = count_trips(c, &b);
    for (uint32_t i = 0; i < c->n_out; i++) {
        prt_shape *s = &b.out[i + 1];
        if (i >= b.n_carried) {
            PRT_TRY(infer_collected(c, i, s, trips));
            continue;
        }
        prt_type_wrap_merge(c, s, &c->in[i + 2]);
        prt_type_wrap_copy(c, i, s);
    }
    return POPRT_OK;
}

typedef struct loop_run {
    uint32_t n_carried, n_stacked;
    prt_loop_carry *carried;
    prt_stack *stacked;
    const prt_tensor **in; /* inputs of the region */
    prt_tensor *out;
    int64_t iteration;
    unsigned char keep_on; /* the condition as a tensor element */
    prt_tensor iteration_tensor, condition_tensor;
} loop_run;

static poprt_status loop_begin(prt_eval *c, loop_run *r)
{
    r->n_carried = c->n_in > 2 ? c->n_in - 2 : 0;
    r->n_stacked = c->n_out - r->n_carried;
    r->carried = prt_eval_scratch(c, (size_t)r->n_carried + 1, sizeof(prt_loop_carry));
    r->stacked = prt_eval_scratch(c, (size_t)r->n_stacked + 1, sizeof(prt_stack));
    r->in = prt_eval_scratch(c, (size_t)r->n_carried + 2, sizeof(prt_tensor *));
    r->out = prt_eval_scratch(c, (size_t)c->n_out + 1, sizeof(prt_tensor));
    if (r->carried == NULL || r->stacked == NULL || r->in == NULL || r->out == NULL)
        return POPRT_E_NOMEM;
    r->iteration_tensor = (prt_tensor){ .kind = PRT_VALUE_TENSOR,
        .dtype = PRT_DTYPE_i64,
        .data = &r->iteration,
        .size = sizeof(int64_t) };
    r->condition_tensor = (prt_tensor){ .kind = PRT_VALUE_TENSOR,
        .dtype = PRT_DTYPE_bool,
        .data = &r->keep_on,
        .size = 1 };
    r->in[0] = &r->iteration_tensor;
    r->in[1] = &r->condition_tensor;
    for (uint32_t i = 0; i < r->n_carried; i++) {
        if (!prt_eval_has(c, i + 2))
            return prt_eval_fail(c, POPRT_E_ARG, "initial value %u is missing", i);
        r->carried[i].value = *c->in[i + 2];
        r->in[i + 2] = &r->carried[i].value;
    }
    return POPRT_OK;
}

static poprt_status loop_step(prt_eval *c, loop_run *r)
{
    const prt_loop_attrs *a = c->attrs;
    bool keep_on;
    PRT_TRY(c->host->check(c));
    PRT_TRY(c->host->call(c, a->body, r->n_carried + 2, r->in, c->n_out + 1, r->out));
    PRT_TRY(prt_loop_carry_flag(c, &r->out[0], "the body's condition", &keep_on));
    for (uint32_t i = 0; i < r->n_stacked; i++)
        PRT_TRY(prt_stack_push(c, r->n_carried + i, &r->stacked[i], &r->out[1 + r->n_carried + i]));
    for (uint32_t i = 0; i < r->n_carried; i++)
        PRT_TRY(prt_loop_carry_take(c, &r->carried[i], c->in[i + 2], &r->out[1 + i]));
    r->keep_on = keep_on;
    return POPRT_OK;
}

/* Reads trip count and condition. A missing one imposes no limit; a negative trip count means no
 * iteration. */
static poprt_status read_bounds(prt_eval *c, int64_t *trips, bool *keep_on)
{
    uint32_t count;
    *trips = INT64_MAX;
    *keep_on = true;
    if (prt_eval_has(c, 0)) {
        PRT_TRY(prt_eval_ints(c, 0, trips, 1, &count));
        if (count != 1)
            return prt_eval_fail(c, POPRT_E_SHAPE, "the trip count must have exactly one element");
    }
    if (prt_eval_has(c, 1))
        PRT_TRY(prt_loop_carry_flag(c, c->in[1], "the condition", keep_on));
    return POPRT_OK;
}

static poprt_status eval(prt_eval *c)
{
    loop_run r = { 0 };
    int64_t trips;
    bool keep_on;
    if (c->host->call == NULL)
        return prt_eval_fail(c, POPRT_E_UNSUPPORTED,
            "this operator has a region, which cannot run in this context");
    PRT_TRY(read_bounds(c, &trips, &keep_on));
    PRT_TRY(loop_begin(c, &r));
    r.keep_on = keep_on;
    if (c->is_measuring) { /* measuring runs do not know the bounds: run at least once */
        trips = trips > 1 ? trips : 1;
        r.keep_on = true;
    }
    for (; r.iteration < trips && r.keep_on; r.iteration++)
        PRT_TRY(loop_step(c, &r));
    for (uint32_t i = 0; i < r.n_carried; i++)
        PRT_TRY(prt_eval_copy(c, i, prt_loop_carry_result(&r.carried[i])));
    for (uint32_t i = 0; i < r.n_stacked; i++)
        PRT_TRY(prt_stack_to_output(c, r.n_carried + i, &r.stacked[i]));
    return POPRT_OK;
}

const prt_op_hooks prt_op_loop = { .infer = infer, .eval = eval };
