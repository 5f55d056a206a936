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

/* `asked` counts the callbacks that were answered, for the completions. */
static poprt_status begin_callbacks(poprt_stepio *io)
{
    for (size_t i = 0; i < io->n_in + io->n_out; i++)
        io->slots[i].bound = false;
    for (size_t i = 0; i < io->n_in; i++) {
        PRT_TRY(ask_input(io, i));
        io->slots[i].bound = true;
    }
    for (size_t i = 0; i < io->n_out; i++) {
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
    for (size_t i = 0; i < io->n_in; i++) {
        if (!io->slots[i].bound)
            return prt_fail(POPRT_E_STATE, name_of(&io->slots[i]), "this input is not bound");
        io->in[i] = view_of(&io->slots[i]);
    }
    for (size_t i = 0; i < io->n_out; i++)
        io->out[i] = io->slots[io->n_in + i].value;
    return POPRT_OK;
}

void prt_stepio_end(poprt_stepio *io, poprt_status status)
{
    io->ran = status == POPRT_OK;
    if (!io->with_callbacks)
        return;
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
