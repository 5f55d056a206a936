/* SPDX-License-Identifier: MIT */
/*
 * stepio_run.c — a StepIO around a run: its inputs and room for outputs before, through callbacks
 * where there are any, and who is told after. Nothing here allocates, and every run comes by:
 * structs are written where they belong.
 */
#include "api/stepio.h"

/* Not of the usual run: compiled for size. */
#define SELDOM __attribute__((cold, noinline))

SELDOM static poprt_status ask_input(poprt_stepio *io, size_t i)
{
    const prt_slot *slot = &io->slots[i];
    if (slot->type->kind != PRT_VALUE_TENSOR)
        return prt_fail(POPRT_E_UNSUPPORTED, prt_slot_name(slot),
            "callbacks give tensors only: bind this input instead");
    poprt_tensor tensor = { .dtype = slot->type->dtype };
    const poprt_status status = io->callbacks.in(io->callbacks.user, prt_slot_name(slot), &tensor);
    if (status != POPRT_OK)
        return prt_fail(status, prt_slot_name(slot), "the callback for this input failed");
    return prt_slot_import(slot, slot->type, &tensor, &io->in[i]);
}

/* io->out[i] is absent, and stays so where the callback leaves memory to the run. */
SELDOM static poprt_status ask_output(poprt_stepio *io, size_t i)
{
    const prt_slot *slot = &io->slots[io->n_in + i];
    if (slot->type->kind != PRT_VALUE_TENSOR)
        return POPRT_OK;
    poprt_tensor tensor = { .dtype = slot->type->dtype };
    if (prt_type_is_static(slot->type)) {
        tensor.rank = (uint32_t)slot->type->rank;
        tensor.dims = slot->type->dims;
        if (!prt_type_size(slot->type, &tensor.size))
            tensor.size = 0;
    }
    const size_t asked = tensor.size;
    const poprt_status status = io->callbacks.out(io->callbacks.user, prt_slot_name(slot), &tensor);
    if (status != POPRT_OK)
        return prt_fail(status, prt_slot_name(slot), "the callback for this output failed");
    if (tensor.data == NULL)
        return POPRT_OK;
    if (tensor.size < asked)
        return prt_fail(POPRT_E_ARG, prt_slot_name(slot), "needs %zu bytes, %zu are given", asked,
            tensor.size);
    return prt_slot_import_room(slot, &tensor, &io->out[i]);
}

/* ---- fused models: one graph runs, and what belongs to the others takes no part */

static uint32_t n_graphs(const poprt_stepio *io)
{
    return io->session->exec->program->n_graphs;
}

/* What a run reads of a slot. */
static void view_of(const prt_slot *slot, prt_tensor *value)
{
    *value = slot->value;
    if (value->kind == PRT_VALUE_SEQUENCE)
        value->items++;
}

/* What a run is given for an input that takes no part. */
SELDOM static void blank(const poprt_stepio *io, const prt_type *type, prt_tensor *value)
{
    *value = (prt_tensor){ .kind = type->kind, .dtype = type->dtype };
    if (type->kind == PRT_VALUE_TENSOR)
        (void)prt_tensor_init(value, type->dtype, (uint32_t)type->rank, type->dims, io->zeros);
}

/* The graph that a given index selects. */
static poprt_status read_index(poprt_stepio *io, const prt_tensor *index)
{
    memcpy(&io->graph, index->data, sizeof(io->graph));
    if (io->graph < n_graphs(io))
        return POPRT_OK;
    return prt_fail(POPRT_E_ARG, prt_slot_name(&io->slots[0]),
        "there is no graph %u: %u were fused", io->graph, n_graphs(io));
}

/* The graph of the inputs that are bound; the index has to agree where it is bound too. */
SELDOM static poprt_status select_graph(poprt_stepio *io)
{
    const prt_slot *first = NULL;
    for (size_t i = 1; i < io->n_in; i++) {
        const prt_slot *slot = &io->slots[i];
        if (!slot->bound)
            continue;
        if (first != NULL && first->graph != slot->graph)
            return prt_fail(POPRT_E_ARG, prt_slot_name(slot),
                "'%.200s' of another graph is bound too: a run takes inputs of one",
                prt_slot_name(first));
        first = slot;
    }
    if (io->slots[0].bound)
        PRT_TRY(read_index(io, &io->slots[0].value));
    else if (first != NULL)
        io->graph = first->graph;
    else
        return prt_fail(POPRT_E_STATE, prt_slot_name(&io->slots[0]),
            "neither this input nor any other is bound: nothing says which graph to run");
    if (first != NULL && first->graph != io->graph)
        return prt_fail(POPRT_E_ARG, prt_slot_name(first),
            "is bound, but the index selects graph %u", io->graph);
    return POPRT_OK;
}

/* The index comes first, so what follows is known to take part or not. */
SELDOM static poprt_status begin_callbacks(poprt_stepio *io)
{
    for (size_t i = 0; i < io->n_in + io->n_out; i++)
        io->slots[i].bound = false;
    for (size_t i = 0; i < io->n_in; i++) {
        if (!prt_slot_takes_part(io, &io->slots[i])) {
            blank(io, io->slots[i].type, &io->in[i]);
            continue;
        }
        PRT_TRY(ask_input(io, i));
        io->slots[i].bound = true;
        if (i == 0 && n_graphs(io) != 0)
            PRT_TRY(read_index(io, &io->in[0]));
    }
    for (size_t i = 0; i < io->n_out; i++) {
        io->out[i] = (prt_tensor){ .kind = PRT_VALUE_ABSENT };
        if (!prt_slot_takes_part(io, &io->slots[io->n_in + i]))
            continue;
        PRT_TRY(ask_output(io, i));
        io->slots[io->n_in + i].bound = true;
    }
    return POPRT_OK;
}

poprt_status prt_stepio_begin(poprt_stepio *io, const poprt_session *session)
{
    io->ran = false;
    if (io->session != session)
        return prt_fail(POPRT_E_ARG, "io", "was made for another session");
    if (io->with_callbacks)
        return begin_callbacks(io);
    if (n_graphs(io) != 0)
        PRT_TRY(select_graph(io));
    for (size_t i = 0; i < io->n_in; i++) {
        const prt_slot *slot = &io->slots[i];
        const bool part = prt_slot_takes_part(io, slot);
        if (part && !slot->bound && (i != 0 || n_graphs(io) == 0))
            return prt_fail(POPRT_E_STATE, prt_slot_name(slot), "this input is not bound");
        if (part && slot->bound)
            view_of(slot, &io->in[i]);
        else
            blank(io, slot->type, &io->in[i]);
    }
    if (n_graphs(io) != 0 && !io->slots[0].bound)
        io->in[0].data = &io->graph;
    for (size_t i = 0; i < io->n_out; i++) {
        const prt_slot *slot = &io->slots[io->n_in + i];
        if (prt_slot_takes_part(io, slot))
            io->out[i] = slot->value;
        else
            io->out[i] = (prt_tensor){ .kind = PRT_VALUE_ABSENT };
    }
    return POPRT_OK;
}

/* What a run gave is in the cache: the next one reads it. */
static void grow_caches(poprt_stepio *io)
{
    for (size_t i = 0; i < io->n_in; i++) {
        prt_slot *slot = &io->slots[i];
        if (slot->value.room != 0 && prt_slot_takes_part(io, slot)) {
            const prt_tensor *result = &io->out[slot->partner - io->n_in];
            memcpy(slot->value.dims, result->dims, slot->value.rank * sizeof(int64_t));
        }
    }
}

void prt_stepio_end(poprt_stepio *io, poprt_status status)
{
    io->ran = status == POPRT_OK;
    if (!io->with_callbacks) {
        if (io->ran)
            grow_caches(io);
        return;
    }
    const poprt_stepio_callbacks *cb = &io->callbacks;
    for (size_t i = 0; i < io->n_in; i++)
        if (io->slots[i].bound && cb->in_complete != NULL)
            cb->in_complete(cb->user, prt_slot_name(&io->slots[i]));
    for (size_t i = 0; i < io->n_out; i++)
        if (io->slots[io->n_in + i].bound && cb->out_complete != NULL)
            cb->out_complete(cb->user, prt_slot_name(&io->slots[io->n_in + i]));
}
