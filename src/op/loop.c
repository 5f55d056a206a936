/* SPDX-License-Identifier: MIT */
/*
 * loop.c — Loop: runs its region until a trip count or a condition ends it.
 *
 * Region: (iteration i64[], condition bool[], carried …) → (condition, carried …, collected …).
 */
#include "op/carry.h"
#include "op/nested.h"

/* A carried value may change its dims from one iteration to the next, not its type, so that is
 * all the region is told. */
static poprt_status carried_shape(prt_infer *c, const prt_shape *in, prt_shape *out)
{
    *out = *in;
    if (in->kind == PRT_VALUE_TENSOR)
        out->rank = PRT_RANK_UNKNOWN;
    if (in->kind == PRT_VALUE_SEQUENCE && in->elem != NULL && in->elem->kind == PRT_VALUE_TENSOR) {
        out->elem = prt_type_tensor(c->types, in->elem->dtype, PRT_RANK_UNKNOWN, NULL);
        if (out->elem == NULL)
            return POPRT_E_NOMEM;
    }
    return POPRT_OK;
}

static poprt_status infer(prt_infer *c)
{
    const prt_loop_attrs *a = c->attrs;
    const uint32_t n_carried = c->n_in > 2 ? c->n_in - 2 : 0;
    if (!prt_attr_given(a, 0))
        return prt_infer_fail(c, POPRT_E_PARSE, "needs a body");
    if (n_carried > c->n_out)
        return prt_infer_fail(c, POPRT_E_PARSE, "carries %u values and has %u outputs", n_carried,
            c->n_out);
    if (c->region == NULL)
        return POPRT_OK;
    prt_shape *in = prt_nested_shapes(c, (size_t)n_carried + 2);
    prt_shape *out = prt_nested_shapes(c, (size_t)c->n_out + 1);
    if (in == NULL || out == NULL)
        return POPRT_E_NOMEM;
    in[0] = (prt_shape){ .kind = PRT_VALUE_TENSOR, .dtype = PRT_DTYPE_i64 };
    in[1] = (prt_shape){ .kind = PRT_VALUE_TENSOR, .dtype = PRT_DTYPE_bool };
    for (uint32_t i = 0; i < n_carried; i++)
        PRT_TRY(carried_shape(c, &c->in[i + 2], &in[i + 2]));
    PRT_TRY(c->region(c, a->body, n_carried + 2, in, c->n_out + 1, out));
    for (uint32_t i = 0; i < c->n_out; i++) {
        prt_shape *s = &out[i + 1];
        if (i < n_carried) {
            prt_nested_join(c, s, &c->in[i + 2]);
            prt_nested_give(c, i, s);
        } else if (s->kind == PRT_VALUE_TENSOR && s->rank >= 0 && s->rank < PRT_MAX_RANK) {
            int64_t dims[PRT_MAX_RANK] = { PRT_DIM_UNKNOWN };
            for (int32_t k = 0; k < s->rank; k++)
                dims[k + 1] = s->dims[k];
            PRT_TRY(prt_infer_set(c, i, s->dtype, s->rank + 1, dims));
        } else {
            PRT_TRY(prt_infer_unranked(c, i, s->dtype, PRT_RANK_UNKNOWN));
        }
    }
    return POPRT_OK;
}

typedef struct loop_run {
    uint32_t n_carried, n_stacked;
    prt_carry *carried;
    prt_stack *stacked;
    const prt_tensor **in; /* of the region */
    prt_tensor *out;
    int64_t iteration;
    unsigned char keep_on; /* the condition as a tensor element */
    prt_tensor iteration_tensor, condition_tensor;
} loop_run;

static poprt_status loop_begin(prt_eval *c, loop_run *r)
{
    r->n_carried = c->n_in > 2 ? c->n_in - 2 : 0;
    r->n_stacked = c->n_out - r->n_carried;
    r->carried = prt_eval_scratch(c, (size_t)r->n_carried + 1, sizeof(prt_carry));
    r->stacked = prt_eval_scratch(c, (size_t)r->n_stacked + 1, sizeof(prt_stack));
    r->in = prt_eval_scratch(c, (size_t)r->n_carried + 2, sizeof(prt_tensor *));
    r->out = prt_eval_scratch(c, (size_t)c->n_out + 1, sizeof(prt_tensor));
    if (r->carried == NULL || r->stacked == NULL || r->in == NULL || r->out == NULL)
        return POPRT_E_NOMEM;
    r->iteration_tensor = (prt_tensor){ .kind = PRT_VALUE_TENSOR, .dtype = PRT_DTYPE_i64,
        .data = &r->iteration, .size = sizeof(int64_t) };
    r->condition_tensor = (prt_tensor){ .kind = PRT_VALUE_TENSOR, .dtype = PRT_DTYPE_bool,
        .data = &r->keep_on, .size = 1 };
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
    PRT_TRY(prt_carry_flag(c, &r->out[0], "the body's condition", &keep_on));
    for (uint32_t i = 0; i < r->n_stacked; i++)
        PRT_TRY(prt_stack_push(c, r->n_carried + i, &r->stacked[i], &r->out[1 + r->n_carried + i]));
    for (uint32_t i = 0; i < r->n_carried; i++)
        PRT_TRY(prt_carry_take(c, &r->carried[i], c->in[i + 2], &r->out[1 + i]));
    r->keep_on = keep_on;
    return POPRT_OK;
}

/* A trip count or condition that is missing bounds nothing; a negative count means none. */
static poprt_status read_bounds(prt_eval *c, int64_t *trips, bool *keep_on)
{
    uint32_t count;
    *trips = INT64_MAX;
    *keep_on = true;
    if (prt_eval_has(c, 0)) {
        PRT_TRY(prt_eval_ints(c, 0, trips, 1, &count));
        if (count != 1)
            return prt_eval_fail(c, POPRT_E_SHAPE, "the trip count is not one number");
    }
    if (prt_eval_has(c, 1))
        PRT_TRY(prt_carry_flag(c, c->in[1], "the condition", keep_on));
    return POPRT_OK;
}

static poprt_status eval(prt_eval *c)
{
    loop_run r = { 0 };
    int64_t trips;
    bool keep_on;
    if (c->host->call == NULL)
        return prt_eval_fail(c, POPRT_E_UNSUPPORTED, "regions cannot run here");
    PRT_TRY(read_bounds(c, &trips, &keep_on));
    PRT_TRY(loop_begin(c, &r));
    r.keep_on = keep_on;
    for (; r.iteration < trips && r.keep_on; r.iteration++)
        PRT_TRY(loop_step(c, &r));
    for (uint32_t i = 0; i < r.n_carried; i++)
        PRT_TRY(prt_eval_copy(c, i, prt_carry_result(&r.carried[i])));
    for (uint32_t i = 0; i < r.n_stacked; i++)
        PRT_TRY(prt_stack_give(c, r.n_carried + i, &r.stacked[i]));
    return POPRT_OK;
}

const prt_op_hooks prt_op_loop = { .infer = infer, .eval = eval };
