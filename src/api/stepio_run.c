/* SPDX-License-Identifier: MIT */
/*
 * stepio_run.c — a StepIO around a run: its inputs and room for outputs before, through callbacks
 * where there are any, and its results after. Nothing here allocates.
 */
#include "api/stepio.h"

static const char *name_of(const prt_slot *slot)
{
    return slot->name.data;
}

/* What a run reads of a slot. */
static prt_tensor view_of(const prt_slot *slot)
{
    prt_tensor value = slot->value;
    if (value.kind == PRT_VALUE_SEQUENCE)
        value.items++;
    return value;
}

static poprt_status ask_input(poprt_stepio *io, size_t i)
{
    const prt_slot *slot = &io->slots[i];
    if (slot->type->kind != PRT_VALUE_TENSOR)
        return prt_fail(POPRT_E_UNSUPPORTED, name_of(slot),
            "callbacks give tensors only: bind this input instead");
    poprt_tensor tensor = { .dtype = slot->type->dtype };
    const poprt_status status = io->callbacks.in(io->callbacks.user, name_of(slot), &tensor);
    if (status != POPRT_OK)
        return prt_fail(status, name_of(slot), "the callback for this input failed");
    return prt_slot_import(slot, slot->type, &tensor, &io->in[i]);
}

static poprt_status ask_output(poprt_stepio *io, size_t i)
{
    const prt_slot *slot = &io->slots[io->n_in + i];
    io->out[i] = (prt_tensor){ .kind = PRT_VALUE_ABSENT };
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
    const poprt_status status = io->callbacks.out(io->callbacks.user, name_of(slot), &tensor);
    if (status != POPRT_OK)
        return prt_fail(status, name_of(slot), "the callback for this output failed");
    if (tensor.data == NULL)
        return POPRT_OK;
    if (tensor.size < asked)
        return prt_fail(POPRT_E_ARG, name_of(slot), "needs %zu bytes, %zu are given", asked,
            tensor.size);
    return prt_slot_import_room(slot, &tensor, &io->out[i]);
}

/* ---- fused models: one graph runs, and what belongs to the others takes no part */

static uint32_t n_graphs(const poprt_stepio *io)
{
    return io->session->exec->program->n_graphs;
}

static bool takes_part(const poprt_stepio *io, const prt_slot *slot)
{
    return slot->graph == PRT_NO_GRAPH || slot->graph == io->graph;
}

/* What a run is given for an input that takes no part. */
static prt_tensor blank(const poprt_stepio *io, const prt_type *type)
{
    prt_tensor value = { .kind = type->kind, .dtype = type->dtype };
    if (type->kind == PRT_VALUE_TENSOR)
        (void)prt_tensor_init(&value, type->dtype, (uint32_t)type->rank, type->dims, io->zeros);
    return value;
}

/* The graph that a given index selects. */
static poprt_status read_index(poprt_stepio *io, const prt_tensor *index)
{
    memcpy(&io->graph, index->data, sizeof(io->graph));
    if (io->graph < n_graphs(io))
        return POPRT_OK;
    return prt_fail(POPRT_E_ARG, name_of(&io->slots[0]), "there is no graph %u: %u were fused",
        io->graph, n_graphs(io));
}

/* The graph of the inputs that are bound; the index has to agree where it is bound too. */
static poprt_status select_graph(poprt_stepio *io)
{
    const prt_slot *first = NULL;
    for (size_t i = 1; i < io->n_in; i++) {
        const prt_slot *slot = &io->slots[i];
        if (!slot->bound)
            continue;
        if (first != NULL && first->graph != slot->graph)
            return prt_fail(POPRT_E_ARG, name_of(slot),
                "'%.200s' of another graph is bound too: a run takes inputs of one",
                name_of(first));
        first = slot;
    }
    if (io->slots[0].bound)
        PRT_TRY(read_index(io, &io->slots[0].value));
    else if (first != NULL)
        io->graph = first->graph;
    else
        return prt_fail(POPRT_E_STATE, name_of(&io->slots[0]),
            "neither this input nor any other is bound: nothing says which graph to run");
    if (first != NULL && first->graph != io->graph)
        return prt_fail(POPRT_E_ARG, name_of(first), "is bound, but the index selects graph %u",
            io->graph);
    return POPRT_OK;
}

/* The index comes first, so what follows is known to take part or not. */
static poprt_status begin_callbacks(poprt_stepio *io)
{
    for (size_t i = 0; i < io->n_in + io->n_out; i++)
        io->slots[i].bound = false;
    for (size_t i = 0; i < io->n_in; i++) {
        if (!takes_part(io, &io->slots[i])) {
            io->in[i] = blank(io, io->slots[i].type);
            continue;
        }
        PRT_TRY(ask_input(io, i));
        io->slots[i].bound = true;
        if (i == 0 && n_graphs(io) != 0)
            PRT_TRY(read_index(io, &io->in[0]));
    }
    for (size_t i = 0; i < io->n_out; i++) {
        io->out[i] = (prt_tensor){ .kind = PRT_VALUE_ABSENT };
        if (!takes_part(io, &io->slots[io->n_in + i]))
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
        const bool part = takes_part(io, slot);
        if (part && !slot->bound && (i != 0 || n_graphs(io) == 0))
            return prt_fail(POPRT_E_STATE, name_of(slot), "this input is not bound");
        io->in[i] = part && slot->bound ? view_of(slot) : blank(io, slot->type);
    }
    if (n_graphs(io) != 0 && !io->slots[0].bound)
        io->in[0].data = &io->graph;
    for (size_t i = 0; i < io->n_out; i++) {
        const prt_slot *slot = &io->slots[io->n_in + i];
        io->out[i] = takes_part(io, slot) ? slot->value : (prt_tensor){ .kind = PRT_VALUE_ABSENT };
    }
    return POPRT_OK;
}

/* What a run gave is in the cache: the next one reads it. */
static void grow_caches(poprt_stepio *io)
{
    for (size_t i = 0; i < io->n_in; i++) {
        prt_slot *slot = &io->slots[i];
        if (slot->value.room != 0 && takes_part(io, slot)) {
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
            cb->in_complete(cb->user, name_of(&io->slots[i]));
    for (size_t i = 0; i < io->n_out; i++)
        if (io->slots[io->n_in + i].bound && cb->out_complete != NULL)
            cb->out_complete(cb->user, name_of(&io->slots[io->n_in + i]));
}

static void export_tensor(const prt_tensor *from, poprt_tensor *to)
{
    *to = (poprt_tensor){ .data = from->data, .size = from->size, .dims = from->dims,
        .rank = from->rank, .dtype = from->dtype };
}

/* The output in a slot after a run. */
static poprt_status result_at(const poprt_stepio *io, size_t slot, const prt_tensor **out)
{
    if (slot < io->n_in || slot >= io->n_in + io->n_out)
        return prt_fail(POPRT_E_NOT_FOUND, "slot", "%zu is not an output: those are %zu to %zu",
            slot, io->n_in, io->n_in + io->n_out);
    if (!io->ran)
        return prt_fail(POPRT_E_STATE, name_of(&io->slots[slot]), "no run has succeeded");
    if (!takes_part(io, &io->slots[slot]))
        return prt_fail(POPRT_E_STATE, name_of(&io->slots[slot]),
            "belongs to another graph than the last run's, which was graph %u", io->graph);
    if (io->slots[slot].value.room != 0)
        return prt_fail(POPRT_E_STATE, name_of(&io->slots[slot]),
            "is in the cache that was bound with input '%.200s'",
            name_of(&io->slots[io->slots[slot].partner]));
    *out = &io->out[slot - io->n_in];
    return POPRT_OK;
}

poprt_status poprt_stepio_output(const poprt_stepio *io, size_t slot, poprt_tensor *out)
{
    PRT_REQUIRE(io);
    PRT_REQUIRE(out);
    const prt_tensor *result = NULL;
    PRT_TRY(result_at(io, slot, &result));
    if (result->kind != PRT_VALUE_TENSOR)
        return prt_fail(POPRT_E_TYPE, name_of(&io->slots[slot]),
            "is not a tensor: use poprt_stepio_output_count and poprt_stepio_output_item");
    export_tensor(result, out);
    return POPRT_OK;
}

/* The tensors of a sequence, of an optional, or of a sequence in an optional; or maps. */
static poprt_status items_of(const poprt_stepio *io, size_t slot, const prt_tensor **items,
    size_t *count, int32_t *present)
{
    const prt_tensor *result = NULL;
    PRT_TRY(result_at(io, slot, &result));
    *present = result->kind != PRT_VALUE_ABSENT;
    if (result->kind == PRT_VALUE_OPTIONAL) {
        *present = result->count != 0;
        if (*present != 0 && result->items[0].kind == PRT_VALUE_SEQUENCE)
            result = &result->items[0];
    } else if (result->kind == PRT_VALUE_TENSOR || result->kind == PRT_VALUE_MAP) {
        *items = result;
        *count = 1;
        return POPRT_OK;
    }
    *items = result->items;
    *count = result->kind != PRT_VALUE_ABSENT ? result->count : 0;
    return POPRT_OK;
}

poprt_status poprt_stepio_output_count(const poprt_stepio *io, size_t slot, size_t *count,
    int32_t *present)
{
    PRT_REQUIRE(io);
    PRT_REQUIRE(count);
    const prt_tensor *items = NULL;
    int32_t there = 0;
    PRT_TRY(items_of(io, slot, &items, count, &there));
    if (present != NULL)
        *present = there;
    return POPRT_OK;
}

/* Item `index` of an output, which must be of `kind`; `hint` says what else to do. */
static poprt_status item_at(const poprt_stepio *io, size_t slot, size_t index, int32_t kind,
    const char *hint, const prt_tensor **out)
{
    const prt_tensor *items = NULL;
    size_t count = 0;
    int32_t present = 0;
    PRT_TRY(items_of(io, slot, &items, &count, &present));
    if (index >= count)
        return prt_fail(POPRT_E_NOT_FOUND, name_of(&io->slots[slot]),
            "item %zu is not below the %zu there are", index, count);
    if (items[index].kind != kind)
        return prt_fail(POPRT_E_TYPE, name_of(&io->slots[slot]), "item %zu %s", index, hint);
    *out = &items[index];
    return POPRT_OK;
}

poprt_status poprt_stepio_output_item(const poprt_stepio *io, size_t slot, size_t index,
    poprt_tensor *out)
{
    PRT_REQUIRE(io);
    PRT_REQUIRE(out);
    const prt_tensor *item = NULL;
    PRT_TRY(item_at(io, slot, index, PRT_VALUE_TENSOR,
        "is not a tensor: for maps use poprt_stepio_output_map", &item));
    export_tensor(item, out);
    return POPRT_OK;
}

poprt_status poprt_stepio_output_map(const poprt_stepio *io, size_t slot, size_t index,
    poprt_tensor *keys, poprt_tensor *values)
{
    PRT_REQUIRE(io);
    PRT_REQUIRE(keys);
    PRT_REQUIRE(values);
    const prt_tensor *map = NULL;
    PRT_TRY(item_at(io, slot, index, PRT_VALUE_MAP,
        "is not a map: use poprt_stepio_output_item", &map));
    export_tensor(map->items, values);
    *keys = (poprt_tensor){ .data = map->data, .dims = map->items->dims, .rank = 1,
        .dtype = map->dtype };
    if (!prt_dtype_size(map->dtype, map->count, &keys->size))
        return prt_fail(POPRT_E_INTERNAL, name_of(&io->slots[slot]), "has impossible keys");
    return POPRT_OK;
}
