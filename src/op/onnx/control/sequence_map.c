/* SPDX-License-Identifier: MIT */
/* sequence_map.c — SequenceMap: runs its region on every item of sequences of equal length. */
#include "op/share/loop_carry.h"
#include "op/share/type_wrap.h"

static poprt_status infer(prt_infer *c)
{
    const prt_sequence_map_attrs *a = c->attrs;
    if (!prt_attr_given(a, 0))
        return prt_infer_fail(c, POPRT_E_PARSE, "the attribute body is missing");
    for (uint32_t i = 0; i < c->n_in; i++)
        if (!prt_infer_has(c, i))
            return prt_infer_fail(c, POPRT_E_PARSE, "input %u is missing", i);
    const prt_shape open = prt_shape_open(PRT_DTYPE_undefined);
    prt_shape *in = prt_type_wrap_shapes(c, c->n_in), *out = prt_type_wrap_shapes(c, c->n_out);
    if (in == NULL || out == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < c->n_in; i++)
        in[i] = c->in[i].kind == PRT_VALUE_SEQUENCE ? prt_type_wrap_elem(&c->in[i]) : c->in[i];
    for (uint32_t i = 0; i < c->n_out; i++)
        out[i] = open;
    if (c->region != NULL)
        PRT_TRY(c->region(c, a->body,
            &(prt_region){ .n_in = c->n_in, .in = in, .n_out = c->n_out, .out = out }));
    for (uint32_t i = 0; i < c->n_out; i++)
        PRT_TRY(prt_type_wrap_set(c, i, PRT_VALUE_SEQUENCE, &out[i]));
    return POPRT_OK;
}

/* Checks that all sequences have the length of the first. */
static poprt_status check_lengths(prt_eval *c)
{
    for (uint32_t i = 1; i < c->n_in; i++)
        if (c->in[i]->kind == PRT_VALUE_SEQUENCE && c->in[i]->count != c->in[0]->count)
            return prt_eval_fail(c, POPRT_E_SHAPE, "input %u has %zu items, but input 0 has %zu", i,
                c->in[i]->count, c->in[0]->count);
    return POPRT_OK;
}

/* Copies item `k` of every output; item 0 determines the element type. */
static poprt_status copy_items(prt_eval *c, size_t k, const prt_tensor *out)
{
    for (uint32_t i = 0; i < c->n_out; i++) {
        if (!prt_eval_wants(c, i))
            continue;
        if (out[i].kind != PRT_VALUE_TENSOR)
            return prt_eval_fail(c, POPRT_E_TYPE, "output %u must collect tensors", i);
        if (k == 0)
            c->out[i]->dtype = out[i].dtype;
        else if (c->out[i]->dtype != out[i].dtype)
            return prt_eval_fail(c, POPRT_E_TYPE,
                "output %u collects tensors of different types; one type is required", i);
        PRT_TRY(prt_eval_copy_item(c, i, &out[i], &c->out[i]->items[k]));
    }
    return POPRT_OK;
}

static poprt_status eval(prt_eval *c)
{
    const prt_sequence_map_attrs *a = c->attrs;
    const size_t count = c->in[0]->count;
    if (c->host->call == NULL)
        return prt_eval_fail(c, POPRT_E_UNSUPPORTED,
            "this operator has a region, which cannot run in this context");
    PRT_TRY(check_lengths(c));
    const prt_tensor **in = prt_eval_scratch(c, c->n_in, sizeof(prt_tensor *));
    prt_tensor *out = prt_eval_scratch(c, (size_t)c->n_out + 1, sizeof(prt_tensor));
    if (in == NULL || out == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < c->n_out; i++)
        if (prt_eval_wants(c, i))
            PRT_TRY(prt_eval_sequence(c, i, c->out[i]->dtype, count));
    for (size_t k = 0; k < count; k++) {
        PRT_TRY(c->host->check(c));
        for (uint32_t i = 0; i < c->n_in; i++)
            in[i] = c->in[i]->kind == PRT_VALUE_SEQUENCE ? &c->in[i]->items[k] : c->in[i];
        PRT_TRY(c->host->call(c, a->body, c->n_in, in, c->n_out, out));
        PRT_TRY(copy_items(c, k, out));
    }
    return POPRT_OK;
}

const prt_op_hooks prt_op_sequence_map = { .infer = infer, .eval = eval };
