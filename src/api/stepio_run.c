/* SPDX-License-Identifier: MIT */
/*
 * stepio_run.c — the part of a StepIO in a run: collects inputs and output buffers before it, if
 * necessary through callbacks, and reports completions after it. Every run passes through here, so
 * nothing allocates and structs are written in place.
 */
#include "api/stepio.h"

/* Marks functions outside the usual run, which are compiled for size. */
#define SELDOM __attribute__((cold, noinline))

SELDOM static poprt_status request_input(poprt_stepio *io, size_t i)
{
    const prt_slot *slot = &io->slots[i];
    if (slot->type->kind != PRT_VALUE_TENSOR)
        return prt_fail(POPRT_E_UNSUPPORTED, prt_slot_name(slot),
            "callbacks can only supply tensors: bind this input instead");
    poprt_tensor tensor = { .dtype = slot->type->dtype };
    const poprt_status status = io->callbacks.in(io->callbacks.user, prt_slot_name(slot), &tensor);
    if (status != POPRT_OK)
        return prt_fail(status, prt_slot_name(slot), "the callback for this input failed");
    return prt_slot_import(slot, slot->type, &tensor, &io->in[i]);
}

SELDOM poprt_status prt_stepio_request_output(poprt_stepio *io, size_t i, prt_tensor *to)
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
        return prt_fail(POPRT_E_ARG, prt_slot_name(slot), "needs %zu bytes, but the buffer has %zu",
            asked, tensor.size);
    return prt_slot_import_buffer(slot, &tensor, to);
}

/* ---- fused models: one graph runs, and slots of the others take no part */

static uint32_t n_graphs(const poprt_stepio *io)
{
    return io->session->exec->program->n_graphs;
}

/* Stores the value of a slot as a run reads it. */
static void store_bound_value(const prt_slot *slot, prt_tensor *value)
{
    *value = slot->value;
    if (value->kind == PRT_VALUE_SEQUENCE)
        value->items++;
}

/* Stores the value of an input that takes no part. */
SELDOM static void store_zeros(const poprt_stepio *io, const prt_type *type, prt_tensor *value)
{
    *value = (prt_tensor){ .kind = type->kind, .dtype = type->dtype };
    if (type->kind == PRT_VALUE_TENSOR)
        (void)prt_tensor_init(value, type->dtype, (uint32_t)type->rank, type->dims, io->zeros);
}

/* Selects the graph by the value of input `index`. */
static poprt_status read_index(poprt_stepio *io, const prt_tensor *index)
{
    memcpy(&io->graph, index->data, sizeof(io->graph));
    if (io->graph < n_graphs(io))
        return POPRT_OK;
    return prt_fail(POPRT_E_ARG, prt_slot_name(&io->slots[0]),
        "there is no graph %u: the model has %u", io->graph, n_graphs(io));
}

/* Selects the graph by the bound inputs. If `index` is bound, it must agree with them. */
SELDOM static poprt_status select_graph(poprt_stepio *io)
{
    const prt_slot *first = NULL;
    for (size_t i = 1; i < io->n_in; i++) {
        const prt_slot *slot = &io->slots[i];
        if (!slot->bound && slot->connected == NULL)
            continue;
        if (first != NULL && first->graph != slot->graph)
            return prt_fail(POPRT_E_ARG, prt_slot_name(slot),
                "'%.200s' of another graph is bound too, but a run takes inputs of one graph",
                prt_slot_name(first));
        first = slot;
    }
    if (io->slots[0].bound)
        PRT_TRY(read_index(io, &io->slots[0].value));
    else if (first != NULL)
        io->graph = first->graph;
    else
        return prt_fail(POPRT_E_STATE, prt_slot_name(&io->slots[0]),
            "no input is bound: bind this one, or the inputs of one graph, to select a graph");
    if (first != NULL && first->graph != io->graph)
        return prt_fail(POPRT_E_ARG, prt_slot_name(first),
            "is bound, but the index selects graph %u", io->graph);
    return POPRT_OK;
}

/* Stores the index of the graph that runs, where no tensor has it. */
static void store_index(poprt_stepio *io)
{
    store_zeros(io, io->slots[0].type, &io->in[0]);
    io->in[0].data = &io->graph;
}

/* Asks for the index first, because it decides which slots take part. */
SELDOM static poprt_status begin_callbacks(poprt_stepio *io)
{
    io->graph = io->program;
    for (size_t i = 0; i < io->n_in + io->n_out; i++)
        io->slots[i].bound = false;
    for (size_t i = 0; i < io->n_in; i++) {
        if (!prt_slot_is_used(io, &io->slots[i])) {
            store_zeros(io, io->slots[i].type, &io->in[i]);
            continue;
        }
        if (i == 0 && io->program != PRT_NO_GRAPH) {
            store_index(io);
            continue;
        }
        if (io->slots[i].connected != NULL) {
            PRT_TRY(prt_slot_pull(&io->slots[i], 0, &io->in[i]));
            continue;
        }
        if (io->session->synthetic != NULL) {
            io->in[i] = io->session->synthetic[i];
            continue;
        }
        PRT_TRY(request_input(io, i));
        io->slots[i].bound = true;
        if (i == 0 && n_graphs(io) != 0)
            PRT_TRY(read_index(io, &io->in[0]));
    }
    for (size_t i = 0; i < io->n_out; i++) {
        io->out[i] = (prt_tensor){ .kind = PRT_VALUE_ABSENT };
        if (!prt_slot_is_used(io, &io->slots[io->n_in + i]) ||
            io->slots[io->n_in + i].connected != NULL)
            continue;
        PRT_TRY(prt_stepio_request_output(io, i, &io->out[i]));
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
    io->graph = io->program;
    if (n_graphs(io) != 0 && io->program == PRT_NO_GRAPH)
        PRT_TRY(select_graph(io));
    for (size_t i = 0; i < io->n_in; i++) {
        const prt_slot *slot = &io->slots[i];
        const bool part = prt_slot_is_used(io, slot);
        if (part && slot->connected != NULL) {
            PRT_TRY(prt_slot_pull(slot, 0, &io->in[i]));
            continue;
        }
        if (part && !slot->bound && session->synthetic != NULL) {
            io->in[i] = session->synthetic[i];
            continue;
        }
        if (part && !slot->bound && (i != 0 || n_graphs(io) == 0))
            return prt_fail(POPRT_E_STATE, prt_slot_name(slot), "this input is not bound");
        if (part && slot->bound)
            store_bound_value(slot, &io->in[i]);
        else
            store_zeros(io, slot->type, &io->in[i]);
    }
    if (n_graphs(io) != 0 && (!io->slots[0].bound || io->program != PRT_NO_GRAPH))
        store_index(io);
    for (size_t i = 0; i < io->n_out; i++) {
        const prt_slot *slot = &io->slots[io->n_in + i];
        if (prt_slot_is_used(io, slot) && slot->connected == NULL)
            io->out[i] = slot->value;
        else
            io->out[i] = (prt_tensor){ .kind = PRT_VALUE_ABSENT };
    }
    return POPRT_OK;
}

/* Makes the rows that a run has written the input of the next run. */
static void grow_caches(poprt_stepio *io)
{
    for (size_t i = 0; i < io->n_in; i++) {
        prt_slot *slot = &io->slots[i];
        if (slot->value.capacity != 0 && prt_slot_is_used(io, slot)) {
            const prt_tensor *result = &io->out[slot->partner - io->n_in];
            memcpy(slot->value.dims, result->dims, slot->value.rank * sizeof(int64_t));
        }
    }
}

/* Passes the outputs that are connected to their functions. */
SELDOM static poprt_status push_outputs(poprt_stepio *io)
{
    for (size_t i = 0; i < io->n_out; i++) {
        const prt_slot *slot = &io->slots[io->n_in + i];
        if (slot->connected == NULL || !prt_slot_is_used(io, slot))
            continue;
        PRT_TRY(prt_slot_push(slot, 0, &io->out[i]));
        io->out[i] = (prt_tensor){ .kind = PRT_VALUE_ABSENT };
    }
    return POPRT_OK;
}

static bool has_connected_outputs(const poprt_stepio *io)
{
    for (size_t i = 0; i < io->n_out; i++)
        if (io->slots[io->n_in + i].connected != NULL)
            return true;
    return false;
}

poprt_status prt_stepio_end(poprt_stepio *io, poprt_status status)
{
    if (status == POPRT_OK && has_connected_outputs(io))
        status = push_outputs(io);
    io->ran = status == POPRT_OK;
    if (!io->with_callbacks) {
        if (io->ran)
            grow_caches(io);
        return status;
    }
    const poprt_stepio_callbacks *cb = &io->callbacks;
    for (size_t i = 0; i < io->n_in; i++)
        if (io->slots[i].bound && cb->in_complete != NULL)
            cb->in_complete(cb->user, prt_slot_name(&io->slots[i]));
    for (size_t i = 0; i < io->n_out; i++)
        if (io->slots[io->n_in + i].bound && cb->out_complete != NULL)
            cb->out_complete(cb->user, prt_slot_name(&io->slots[io->n_in + i]));
    return status;
}
