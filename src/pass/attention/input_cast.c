/* SPDX-License-Identifier: MIT */
/*
 * input_cast.c — remove_input_cast: if all readers of a float input are Casts to one integer type
 * that feed the indices of Gather, GatherElements or GatherND, the input itself gets that type and
 * the Casts are erased. The caller must then feed integers; a note says so.
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

/* Returns the integer type that all readers cast to; undefined if they differ or another op reads
 * the input. */
static int32_t common_index_type(const prt_value *input)
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
    prt_pass_note(p, input->name.data, "takes %s instead of %s", prt_dtype_of(to)->name,
        prt_dtype_of(old->dtype)->name);
    input->type = type;
    for (prt_use *use = input->uses, *next; use != NULL; use = next) {
        prt_op *cast = use->user;
        next = use->next;
        if (!prt_op_is(cast, PRT_OP_cast))
            continue; /* a reader that took over from an erased Cast */
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
        const int32_t to = common_index_type(input);
        if (to == PRT_DTYPE_undefined)
            continue;
        PRT_TRY(retype(p, input, to));
        *changed = true;
    }
    return POPRT_OK;
}

const prt_pass_hooks prt_pass_remove_input_cast = { .run = run };
