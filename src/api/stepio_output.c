/* SPDX-License-Identifier: MIT */
/* stepio_output.c — reads the results of a run. */
#include "api/stepio.h"

static void export_tensor(const prt_tensor *from, poprt_tensor *to)
{
    *to = (poprt_tensor){ .data = from->data,
        .size = from->size,
        .dims = from->dims,
        .rank = from->rank,
        .dtype = from->dtype };
}

/* Returns the result in a slot. Fails if the last run failed or gave the slot no value. */
static poprt_status result_at(const poprt_stepio *io, size_t slot, const prt_tensor **out)
{
    if (slot < io->n_in || slot >= io->n_in + io->n_out)
        return prt_fail(POPRT_E_NOT_FOUND, "slot",
            "slot %zu is not an output: outputs are slots %zu to %zu", slot, io->n_in,
            io->n_in + io->n_out);
    if (!io->ran)
        return prt_fail(POPRT_E_STATE, prt_slot_name(&io->slots[slot]), "no run has succeeded");
    if (!prt_slot_is_used(io, &io->slots[slot]))
        return prt_fail(POPRT_E_STATE, prt_slot_name(&io->slots[slot]),
            "belongs to another graph than the last run, which ran graph %u", io->graph);
    if (io->slots[slot].value.capacity != 0)
        return prt_fail(POPRT_E_STATE, prt_slot_name(&io->slots[slot]),
            "is in the cache that was bound with input '%.200s'",
            prt_slot_name(&io->slots[io->slots[slot].partner]));
    if (io->slots[slot].connected != NULL && io->out[slot - io->n_in].kind == PRT_VALUE_ABSENT)
        return prt_fail(POPRT_E_STATE, prt_slot_name(&io->slots[slot]),
            "was passed to the function that it is connected to");
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
        return prt_fail(POPRT_E_TYPE, prt_slot_name(&io->slots[slot]),
            "is not a tensor: use poprt_stepio_output_count and poprt_stepio_output_item");
    export_tensor(result, out);
    return POPRT_OK;
}

/* Returns the tensors of a sequence, an optional or a sequence in an optional, or the maps. */
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

/* Returns item `index` of an output. Fails unless it is of `kind`; `hint` names the function to use
 * instead. */
static poprt_status item_at(const poprt_stepio *io, size_t slot, size_t index, int32_t kind,
    const char *hint, const prt_tensor **out)
{
    const prt_tensor *items = NULL;
    size_t count = 0;
    int32_t present = 0;
    PRT_TRY(items_of(io, slot, &items, &count, &present));
    if (index >= count)
        return prt_fail(POPRT_E_NOT_FOUND, prt_slot_name(&io->slots[slot]),
            "there is no item %zu: the output has %zu", index, count);
    if (items[index].kind != kind)
        return prt_fail(POPRT_E_TYPE, prt_slot_name(&io->slots[slot]), "item %zu %s", index, hint);
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
    PRT_TRY(item_at(io, slot, index, PRT_VALUE_MAP, "is not a map: use poprt_stepio_output_item",
        &map));
    size_t size;
    if (!prt_dtype_size(map->dtype, map->count, &size))
        return prt_fail(POPRT_E_INTERNAL, prt_slot_name(&io->slots[slot]),
            "the size of its keys does not fit in memory");
    export_tensor(map->items, values);
    *keys = (poprt_tensor){ .data = map->data,
        .size = size,
        .dims = map->items->dims,
        .rank = 1,
        .dtype = map->dtype };
    return POPRT_OK;
}
