/* SPDX-License-Identifier: MIT */
/* io_table.c — converts types of inputs and outputs to the public struct poprt_io_info. */
#include "describe/io_table.h"

#include "base/record.h"

enum { MAX_DIM_TEXT = 256 };

/* Returns the POPRT_VALUE_* of a type. An unknown type is a tensor of unknown rank. */
static int32_t kind_of(const prt_type *type)
{
    switch (type->kind) {
    case PRT_VALUE_SEQUENCE:
        return POPRT_VALUE_SEQUENCE;
    case PRT_VALUE_OPTIONAL:
        return POPRT_VALUE_OPTIONAL;
    case PRT_VALUE_MAP:
        return POPRT_VALUE_MAP;
    default:
        return POPRT_VALUE_TENSOR;
    }
}

static poprt_status fill_dims(prt_arena *arena, const prt_dims *dims, const prt_type *type,
    poprt_io_info *info)
{
    const size_t rank = (size_t)type->rank;
    int64_t *numbers = PRT_NEW_N(arena, int64_t, rank);
    const char **names = PRT_NEW_N(arena, const char *, rank);
    if (numbers == NULL || names == NULL)
        return POPRT_E_NOMEM;
    for (size_t i = 0; i < rank; i++) {
        numbers[i] = prt_dim_is_number(type->dims[i]) ? type->dims[i] : -1;
        names[i] = "";
        if (numbers[i] >= 0)
            continue;
        char text[MAX_DIM_TEXT];
        prt_dim_print(dims, type->dims[i], text, sizeof(text));
        names[i] = prt_arena_text(arena, text, strlen(text));
        if (names[i] == NULL)
            return POPRT_E_NOMEM;
    }
    info->dims = numbers;
    info->dim_names = names;
    return POPRT_OK;
}

static poprt_status fill(prt_arena *arena, const prt_dims *dims, const prt_io_entry *entry,
    int32_t direction, poprt_io_info *info)
{
    const prt_type *type = entry->type;
    *info = (poprt_io_info){ .struct_size = sizeof(*info),
        .direction = direction,
        .value_kind = kind_of(type),
        .dtype = type->dtype,
        .rank = PRT_RANK_UNKNOWN,
        .graph = entry->graph };
    info->name = prt_arena_text(arena, entry->name.data, entry->name.size);
    if (info->name == NULL)
        return POPRT_E_NOMEM;
    if ((type->kind == PRT_VALUE_SEQUENCE || type->kind == PRT_VALUE_OPTIONAL) &&
        type->elem != NULL)
        info->item_kind = kind_of(type->elem);
    while (type->kind != PRT_VALUE_TENSOR && type->elem != NULL) {
        if (type->kind == PRT_VALUE_MAP)
            info->key_dtype = type->dtype;
        type = type->elem;
        info->dtype = type->dtype;
    }
    if (type->kind != PRT_VALUE_TENSOR || type->rank < 0 ||
        info->key_dtype != PRT_DTYPE_undefined) /* the values of a map have no shape */
        return POPRT_OK;
    info->rank = type->rank;
    return fill_dims(arena, dims, type, info);
}

static poprt_status fill_all(prt_io_table *table, const prt_dims *dims, const prt_io_entry *entries,
    size_t count, int32_t direction)
{
    poprt_io_info *info = PRT_NEW_N(table->arena, poprt_io_info, count);
    if (info == NULL)
        return POPRT_E_NOMEM;
    for (size_t i = 0; i < count; i++)
        PRT_TRY(fill(table->arena, dims, &entries[i], direction, &info[i]));
    table->info[direction] = info;
    table->count[direction] = count;
    return POPRT_OK;
}

poprt_status prt_io_table_create(const prt_allocator *allocator, const prt_dims *dims,
    const prt_io_entry *inputs, size_t n_inputs, const prt_io_entry *outputs, size_t n_outputs,
    const prt_facts *facts, prt_io_table *out)
{
    prt_io_table table = { 0 };
    PRT_TRY(prt_arena_create(allocator, 0, &table.arena));
    poprt_status status = fill_all(&table, dims, inputs, n_inputs, POPRT_INPUT);
    if (status == POPRT_OK)
        status = fill_all(&table, dims, outputs, n_outputs, POPRT_OUTPUT);
    if (status == POPRT_OK)
        status = prt_info_fill(table.arena, facts, &table.about);
    if (status != POPRT_OK) {
        prt_io_table_deinit(&table);
        return status;
    }
    *out = table;
    return POPRT_OK;
}

void prt_io_table_deinit(prt_io_table *table)
{
    prt_arena_release(table->arena);
    *table = (prt_io_table){ 0 };
}

size_t prt_io_table_count(const prt_io_table *table, int32_t direction)
{
    return direction == POPRT_INPUT || direction == POPRT_OUTPUT ? table->count[direction] : 0;
}

poprt_status prt_io_table_at(const prt_io_table *table, int32_t direction, size_t index,
    poprt_io_info *out)
{
    if (direction != POPRT_INPUT && direction != POPRT_OUTPUT)
        return prt_fail(POPRT_E_ARG, "direction", "%d is neither POPRT_INPUT nor POPRT_OUTPUT",
            direction);
    if (index >= table->count[direction])
        return prt_fail(POPRT_E_NOT_FOUND, "index", "there is no entry %zu: there are %zu", index,
            table->count[direction]);
    return prt_export(out, &table->info[direction][index], sizeof(poprt_io_info), "out");
}
