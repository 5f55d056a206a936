/* SPDX-License-Identifier: MIT */
/*
 * input_cast.c — remove_input_cast: an input of floats that is cast to integers, which are indices
 * of Gather, becomes an input of those integers. All readers of the input must be such casts, to
 * one type. It changes what a caller has to feed, and says so by a note.
 */
#include "pass/engine/match.h"

static bool feeds_gathers(const prt_value *v)
{
    prt_for_each_use (use, v)
        if ((!prt_op_is(use->user, PRT_OP_gather) &&
                !prt_op_is(use->user, PRT_OP_gather_elements) &&
                !prt_op_is(use->user, PRT_OP_gather_nd)) ||
            prt_op_input(use->user, 1) != v || prt_op_input(use->user, 0) == v)
            return false;
    return prt_value_used(v);
}

/* The integer type that all readers want; undefined where they do not agree. */
static int32_t wanted(const prt_value *input)
{
    int32_t to = PRT_DTYPE_undefined;
    prt_for_each_use (use, input) {
        const prt_op *cast = use->user;
        if (!prt_op_is(cast, PRT_OP_cast) || !feeds_gathers(&cast->out[0]))
            return PRT_DTYPE_undefined;
        const int32_t dtype = prt_match_dtype(&cast->out[0]);
        if (!prt_dtype_is_integer(dtype) || (to != PRT_DTYPE_undefined && to != dtype))
            return PRT_DTYPE_undefined;
        to = dtype;
    }
    return to;
}

static poprt_status retype(prt_pass *p, prt_value *input, int32_t to)
{
    const prt_type *old = input->type;
    const prt_type *type = prt_type_tensor(p->module->types, to, old->rank, old->dims);
    if (type == NULL)
        return POPRT_E_NOMEM;
    prt_pass_note(p, input->name.data, "takes %s now, not %s", prt_dtype_of(to)->name,
        prt_dtype_of(old->dtype)->name);
    input->type = type;
    for (prt_use *use = input->uses, *next; use != NULL; use = next) {
        prt_op *cast = use->user;
        next = use->next;
        if (!prt_op_is(cast, PRT_OP_cast))
            continue; /* came in place of one */
        prt_value_replace(&cast->out[0], input);
        prt_op_erase(cast);
    }
    return POPRT_OK;
}

static poprt_status run(prt_pass *p, prt_graph *graph, bool *changed)
{
    for (size_t i = 0; i < graph->inputs.count; i++) {
        prt_value *input = graph->inputs.data[i];
        PRT_TRY(prt_pass_check(p));
        if (!prt_dtype_is_float(prt_match_dtype(input)) || input->constant != NULL)
            continue;
        const int32_t to = wanted(input);
        if (to == PRT_DTYPE_undefined)
            continue;
        PRT_TRY(retype(p, input, to));
        *changed = true;
    }
    return POPRT_OK;
}

const prt_pass_hooks prt_pass_remove_input_cast = { .run = run };
