/* SPDX-License-Identifier: MIT */
/* held.c — records which weights of the model a constant holds, and in which form. */
#include "ir/ir.h"

static poprt_status add(prt_value *to, const prt_weight_form *from, uint32_t count,
    const prt_weight_step *steps)
{
    prt_arena *arena = to->graph->module->arena;
    const uint32_t n = from->n_steps + count;
    if (n > PRT_WEIGHT_STEPS)
        return POPRT_OK;
    prt_held *held = PRT_NEW(arena, prt_held);
    prt_weight_step *all = PRT_NEW_N(arena, prt_weight_step, n);
    if (held == NULL || all == NULL)
        return POPRT_E_NOMEM;
    if (from->n_steps != 0)
        memcpy(all, from->steps, from->n_steps * sizeof(*all));
    if (count != 0)
        memcpy(all + from->n_steps, steps, count * sizeof(*all));
    held->form = (prt_weight_form){ from->name, from->type, n, all };
    held->next = to->held;
    if (prt_weight_form_check(&held->form, to->type))
        to->held = held;
    return POPRT_OK;
}

poprt_status prt_value_hold(prt_value *to, const prt_value *from, uint32_t count,
    const prt_weight_step *steps)
{
    const prt_weight_form whole = { .name = from->name, .type = from->type };
    if (from->initializer != PRT_INITIALIZER_none && from->name.size != 0 &&
        prt_value_is_constant(from))
        return add(to, &whole, count, steps);
    for (const prt_held *h = from->held; h != NULL; h = h->next)
        PRT_TRY(add(to, &h->form, count, steps));
    return POPRT_OK;
}

/* ---- operators that move elements */

static poprt_status hold_transposed(prt_value *to, const prt_transpose_attrs *a,
    const prt_value *from)
{
    prt_weight_step s = { .kind = PRT_WEIGHT_transpose, .rank = (uint32_t)from->type->rank };
    if (from->type->rank > PRT_MAX_RANK)
        return POPRT_OK;
    for (uint32_t i = 0; i < s.rank; i++) {
        s.dims[i] = from->type->dims[i];
        s.more[i] = a->perm.count == s.rank ? a->perm.data[i] : (int64_t)(s.rank - 1 - i);
    }
    return prt_value_hold(to, from, 1, &s);
}

static poprt_status hold_parts(prt_value *to, const prt_concat_attrs *a, uint32_t n_in,
    prt_value *const *in)
{
    prt_weight_step s = { .kind = PRT_WEIGHT_part, .rank = (uint32_t)to->type->rank };
    int64_t begin = 0;
    if (to->type->rank < 1 || to->type->rank > PRT_MAX_RANK)
        return POPRT_OK;
    const int64_t axis = a->axis < 0 ? a->axis + to->type->rank : a->axis;
    memcpy(s.dims, to->type->dims, s.rank * sizeof(*s.dims));
    for (uint32_t i = 0; i < n_in; i++) {
        if (in[i]->type->rank != to->type->rank)
            return POPRT_OK;
        s.more[0] = axis;
        s.more[1] = begin;
        s.more[2] = in[i]->type->dims[axis];
        PRT_TRY(prt_value_hold(to, in[i], 1, &s));
        begin += s.more[2];
    }
    return POPRT_OK;
}

static poprt_status hold_widened(prt_value *to, const prt_value *from)
{
    const prt_weight_step s = { .kind = PRT_WEIGHT_convert,
        .rank = 2,
        .dims = { from->type->dtype, to->type->dtype } };
    return from->type->dtype == to->type->dtype ? prt_value_hold(to, from, 0, NULL)
                                                : prt_value_hold(to, from, 1, &s);
}

poprt_status prt_value_hold_moved(prt_value *to, uint32_t op, const void *attrs, uint32_t n_in,
    prt_value *const *in)
{
    for (uint32_t i = 0; i < n_in; i++)
        if (in[i] == NULL || !prt_type_is_tensor(in[i]->type))
            return POPRT_OK;
    if (n_in == 0)
        return POPRT_OK;
    switch (op) {
    case PRT_OP_transpose:
        return hold_transposed(to, attrs, in[0]);
    case PRT_OP_concat:
        return hold_parts(to, attrs, n_in, in);
    case PRT_OP_cast:
        return hold_widened(to, in[0]);
    case PRT_OP_identity:
    case PRT_OP_reshape:
    case PRT_OP_flatten:
    case PRT_OP_squeeze:
    case PRT_OP_unsqueeze:
        return prt_value_hold(to, in[0], 0, NULL);
    default:
        return POPRT_OK;
    }
}
