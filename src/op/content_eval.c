/* SPDX-License-Identifier: MIT */
/*
 * content_eval.c — partial contents of operators without a rule of their own, computed by their
 * kernels.
 *
 * If every input is a small tensor of known numbers, the kernel computes the output. If an operator
 * only moves elements, the elements need not be numbers: dims are int64, so the kernel runs on an
 * int64 tensor of numbers, expressions and PRT_DIM_UNKNOWN. Inputs and outputs have at most
 * PRT_CONTENT_MAX elements; together with the required traits this bounds the time.
 */
#include "op/content.h"
#include "op/interp.h"

enum { MAX_SLOTS = 16 };

typedef struct plan {
    const prt_tensor *in[MAX_SLOTS];
    prt_tensor made[MAX_SLOTS], out[MAX_SLOTS];
    bool numbers; /* every input is a whole tensor of numbers */
} plan;

/* Few elements; for an empty tensor, the product of the other dims is small too. */
static bool is_small(const prt_shape *s)
{
    int64_t n = 1;
    if (s->kind != PRT_VALUE_TENSOR || s->rank < 0)
        return false;
    for (int32_t i = 0; i < s->rank; i++) {
        if (!prt_dim_is_number(s->dims[i]) || s->dims[i] > PRT_CONTENT_MAX)
            return false;
        n *= s->dims[i] > 0 ? s->dims[i] : 1;
        if (n > PRT_CONTENT_MAX)
            return false;
    }
    return true;
}

static bool is_empty(const prt_shape *s)
{
    for (int32_t i = 0; i < s->rank; i++)
        if (s->dims[i] == 0)
            return true;
    return false;
}

/* A cheap test that fails for almost every operator of a model. */
static bool is_candidate(const prt_infer *c)
{
    const uint32_t light = PRT_ELEMENTWISE | PRT_VIEW | PRT_MOVES | PRT_LIGHT;
    if (c->dims == NULL || (c->def->traits & light) == 0 || (c->def->traits & PRT_PURE) == 0 ||
        c->def->hooks->eval == NULL || c->n_in == 0 || c->n_in > MAX_SLOTS || c->n_out > MAX_SLOTS)
        return false;
    bool open = false;
    for (uint32_t i = 0; i < c->n_out; i++)
        open = open || (prt_infer_wants(c, i) && c->out_content[i].count == 0);
    for (uint32_t i = 0; open && i < c->n_in; i++)
        if (prt_infer_has(c, i) && !is_small(&c->in[i]))
            return false;
    return open;
}

/* Makes an aligned copy of an input that is known whole. */
static bool copy_input(const prt_infer *c, uint32_t i, plan *p)
{
    const prt_shape *s = &c->in[i];
    const prt_tensor *t = c->value[i];
    if (is_empty(s)) {
        p->made[i].data = c->scratch; /* any address: an empty tensor is never read */
        return prt_tensor_init(&p->made[i], s->dtype, (uint32_t)s->rank, s->dims, p->made[i].data);
    }
    if (t == NULL || t->kind != PRT_VALUE_TENSOR || t->dtype == PRT_DTYPE_string)
        return false;
    p->made[i] = *t;
    p->made[i].data = prt_arena_copy(c->scratch, t->data, t->size);
    return p->made[i].data != NULL;
}

/* Makes an int64 tensor of dims; every dim is unknown if nothing is known of the input. */
static bool make_dims(const prt_infer *c, uint32_t i, plan *p, bool *any)
{
    const prt_shape *s = &c->in[i];
    prt_known known;
    if (!prt_tensor_init(&p->made[i], PRT_DTYPE_i64, (uint32_t)s->rank, s->dims, NULL))
        return false;
    int64_t *to = PRT_NEW_N(c->scratch, int64_t, PRT_CONTENT_MAX);
    if (to == NULL)
        return false;
    const size_t n = prt_tensor_count(&p->made[i]);
    if (prt_known_of(c, i, &known) && known.count == n) {
        memcpy(to, known.values, n * sizeof(int64_t));
        *any = true;
    } else {
        for (size_t k = 0; k < n; k++)
            to[k] = PRT_DIM_UNKNOWN;
    }
    p->made[i].data = to;
    return true;
}

static bool fill_plan(const prt_infer *c, plan *p)
{
    bool any = false;
    const char *moved = c->def->n_out != 0 ? c->def->out[0].var : "";
    p->numbers = true;
    for (uint32_t i = 0; i < c->n_in; i++)
        p->numbers =
            p->numbers && (!prt_infer_has(c, i) || c->value[i] != NULL || is_empty(&c->in[i]));
    if (!p->numbers && !prt_op_only_moves(c->def, c->attrs))
        return false;
    for (uint32_t i = 0; i < c->n_in; i++) {
        if (!prt_infer_has(c, i))
            continue;
        const bool as_dims = !p->numbers && strcmp(prt_op_in_slot(c->def, i)->var, moved) == 0;
        if (!(as_dims ? make_dims(c, i, p, &any) : copy_input(c, i, p)))
            return false;
        p->in[i] = &p->made[i];
    }
    return p->numbers || any;
}

/* Sets the contents of output i from the result, and its shape if that depends on input
 * contents. */
static poprt_status set_output(prt_infer *c, const plan *p, uint32_t i)
{
    const prt_tensor *t = &p->out[i];
    prt_known known;
    if (!prt_infer_wants(c, i) || t->kind != PRT_VALUE_TENSOR || t->data == NULL ||
        c->out_content[i].count != 0)
        return POPRT_OK;
    if (c->out[i].kind != PRT_VALUE_TENSOR)
        return POPRT_OK;
    if (p->numbers && !prt_shape_is_known(&c->out[i]))
        PRT_TRY(prt_infer_set(c, i, c->out[i].dtype, (int32_t)t->rank, t->dims));
    if (p->numbers)
        return prt_known_read(c->dims, t, &known) ? prt_known_set_output(c, i, &known) : POPRT_OK;
    known.count = (uint32_t)prt_tensor_count(t);
    memcpy(known.values, t->data, known.count * sizeof(int64_t));
    return known.count != 0 ? prt_known_set_output(c, i, &known) : POPRT_OK;
}

poprt_status prt_known_evaluate(prt_infer *c)
{
    if (!is_candidate(c))
        return POPRT_OK;
    plan *p = PRT_NEW(c->scratch, plan);
    if (p == NULL)
        return POPRT_E_NOMEM;
    if (!fill_plan(c, p))
        return POPRT_OK;
    for (uint32_t i = 0; i < c->n_out; i++) {
        /* A light operator's output is at most a small multiple of its inputs if infer leaves
         * the shape open. */
        if (prt_infer_wants(c, i) && prt_shape_is_known(&c->out[i]) && !is_small(&c->out[i]))
            return POPRT_OK;
        p->out[i].kind = prt_infer_wants(c, i) ? PRT_VALUE_UNKNOWN : PRT_VALUE_ABSENT;
        if (p->out[i].kind == PRT_VALUE_UNKNOWN && !prt_shape_is_known(&c->out[i]) && !p->numbers)
            return POPRT_OK;
    }
    /* An error here is ignored: it occurs again, and is reported, when the model runs. */
    if (prt_interp_run(c->def, c->attrs, c->origin, c->n_in, p->in, c->n_out, p->out, c->scratch,
            NULL, NULL) != POPRT_OK)
        return POPRT_OK;
    for (uint32_t i = 0; i < c->n_out; i++)
        PRT_TRY(set_output(c, p, i));
    return POPRT_OK;
}
