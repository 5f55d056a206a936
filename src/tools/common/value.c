/* SPDX-License-Identifier: MIT */
/* value.c — converts values between files, sessions and the terminal. */
#include "tools/common/value.h"

#include "base/file.h"
#include "base/vec.h"
#include "converter/onnx.h"
#include "data/npy.h"
#include "num/dtype.h"

enum { SHOWN = 6 };

void prt_files_release(prt_files *files)
{
    for (uint32_t i = 0; i < files->count; i++)
        prt_blob_release(files->data[i]);
    prt_mem_free(NULL, files->data);
    *files = (prt_files){ 0 };
}

static poprt_status retain_file(prt_files *files, prt_blob *blob)
{
    if (files->count == files->capacity) {
        const uint32_t capacity = files->capacity != 0 ? 2 * files->capacity : 16;
        prt_blob **data = prt_mem_alloc(NULL, capacity * sizeof(*data));
        if (data == NULL)
            return POPRT_E_NOMEM;
        if (files->count != 0)
            memcpy(data, files->data, files->count * sizeof(*data));
        prt_mem_free(NULL, files->data);
        files->data = data;
        files->capacity = capacity;
    }
    files->data[files->count++] = blob;
    return POPRT_OK;
}

static bool is_npy(const prt_blob *file)
{
    return file->size >= 6 && memcmp(file->data, "\x93NUMPY", 6) == 0;
}

/* POPRT_VALUE_* have the same values as PRT_VALUE_*. */
static poprt_status read_blob(prt_arena *arena, prt_blob *file, const poprt_io_info *info,
    prt_tensor *out)
{
    if (!is_npy(file))
        PRT_TRY(prt_onnx_read_value(arena, file, info->value_kind, out));
    else if (info->value_kind == POPRT_VALUE_TENSOR)
        PRT_TRY(prt_npy_read(arena, file, info->dtype, out));
    else
        return prt_fail(POPRT_E_TYPE, info->name, "is not a tensor: give it as .pb");
    /* A file of a map without entries does not have the type of the values. */
    if (out->kind == PRT_VALUE_MAP && out->count == 0)
        out->items->dtype = info->dtype;
    /* numpy has no bfloat16, so .npy files, also those of ONNX, store its bits as uint16. */
    if (out->kind == PRT_VALUE_TENSOR && out->dtype == PRT_DTYPE_u16 &&
        info->dtype == PRT_DTYPE_bf16)
        out->dtype = PRT_DTYPE_bf16;
    return POPRT_OK;
}

poprt_status prt_value_read(prt_tool *tool, prt_files *files, const char *path,
    const poprt_io_info *info, prt_tensor *out)
{
    prt_blob *file = NULL;
    PRT_TRY(prt_file_map(NULL, path, &file));
    poprt_status status = retain_file(files, file);
    if (status != POPRT_OK) {
        prt_blob_release(file);
        return status;
    }
    return prt_fail_in_file(prt_fail_at_stage(read_blob(tool->arena, file, info, out), "input"),
        path);
}

/* SplitMix64 (Steele, Lea, Flood 2014). */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static double next_unit(uint64_t *state)
{
    return (double)(next_random(state) >> 40) * 0x1p-23 - 1;
}

static void fill(prt_tensor *t, uint64_t state)
{
    const prt_dtype_info *info = prt_dtype_of(t->dtype);
    const size_t count = prt_tensor_count(t);
    const bool complex = info->kind == PRT_KIND_complex;
    const int32_t part = t->dtype == PRT_DTYPE_c64 ? PRT_DTYPE_f32 : PRT_DTYPE_f64;
    for (size_t i = 0; i < count; i++) {
        if (complex) {
            prt_store_f64(part, t->data, 2 * i, next_unit(&state));
            prt_store_f64(part, t->data, 2 * i + 1, next_unit(&state));
        } else if (info->kind == PRT_KIND_float) {
            prt_store_f64(t->dtype, t->data, i, next_unit(&state));
        } else if (info->kind == PRT_KIND_string) {
            poprt_string *strings = t->data;
            strings[i] = (poprt_string){ .data = next_random(&state) >> 63 ? "1" : "0", .size = 1 };
        } else {
            prt_store_i64(t->dtype, t->data, i, (int64_t)(next_random(&state) >> 63));
        }
    }
}

poprt_status prt_value_random(prt_arena *arena, int32_t dtype, uint32_t rank, const int64_t *dims,
    uint64_t seed, uint32_t index, prt_tensor *out)
{
    if (!prt_tensor_init(out, dtype, rank, dims, NULL))
        return prt_fail(POPRT_E_LIMIT, NULL, "a tensor of this shape does not fit in memory");
    out->data = prt_arena_alloc(arena, out->size);
    if (out->data == NULL)
        return POPRT_E_NOMEM;
    fill(out, seed + ((uint64_t)index << 32));
    return POPRT_OK;
}

static poprt_tensor descriptor(const prt_tensor *t)
{
    return (poprt_tensor){ .data = t->data,
        .size = t->size,
        .dims = t->dims,
        .rank = t->rank,
        .dtype = t->dtype };
}

/* Returns the keys of a map as a tensor, beside that of its values. */
static prt_tensor keys_of(const prt_tensor *map)
{
    prt_tensor keys = { .kind = PRT_VALUE_ABSENT };
    (void)prt_tensor_init(&keys, map->dtype, 1, map->items->dims, map->data);
    return keys;
}

poprt_status prt_value_bind(prt_arena *arena, poprt_stepio *io, size_t slot,
    const prt_tensor *value)
{
    if (value->kind == PRT_VALUE_TENSOR) {
        const poprt_tensor tensor = descriptor(value);
        return poprt_stepio_bind_at(io, slot, &tensor);
    }
    if (value->kind == PRT_VALUE_MAP) {
        const prt_tensor list = keys_of(value);
        const poprt_tensor keys = descriptor(&list), values = descriptor(value->items);
        return poprt_stepio_bind_map(io, slot, &keys, &values);
    }
    const prt_tensor *items = value->items;
    size_t count = value->kind != PRT_VALUE_ABSENT ? value->count : 0;
    const int32_t present =
        value->kind != PRT_VALUE_ABSENT && (value->kind != PRT_VALUE_OPTIONAL || count != 0);
    if (value->kind == PRT_VALUE_OPTIONAL && count != 0 && items[0].kind == PRT_VALUE_SEQUENCE) {
        count = items[0].count;
        items = items[0].items;
    }
    poprt_tensor *tensors = PRT_NEW_N(arena, poprt_tensor, count);
    if (tensors == NULL)
        return POPRT_E_NOMEM;
    for (size_t i = 0; i < count; i++)
        tensors[i] = descriptor(&items[i]);
    return poprt_stepio_bind_sequence(io, slot, tensors, count, present);
}

static poprt_status import(const poprt_tensor *from, prt_tensor *to)
{
    if (!prt_tensor_init(to, from->dtype, from->rank, from->dims, from->data))
        return prt_fail(POPRT_E_INTERNAL, NULL, "the shape of an output does not fit in memory");
    return POPRT_OK;
}

/* Imports an item of an output, a tensor or a map. */
static poprt_status import_item(prt_arena *arena, const poprt_stepio *io, size_t slot, size_t index,
    bool map, prt_tensor *to)
{
    poprt_tensor keys, values;
    if (!map) {
        PRT_TRY(poprt_stepio_output_item(io, slot, index, &values));
        return import(&values, to);
    }
    PRT_TRY(poprt_stepio_output_map(io, slot, index, &keys, &values));
    *to = (prt_tensor){ .kind = PRT_VALUE_MAP,
        .dtype = keys.dtype,
        .data = keys.data,
        .count = (size_t)keys.dims[0],
        .items = PRT_NEW(arena, prt_tensor) };
    return to->items != NULL ? import(&values, to->items) : POPRT_E_NOMEM;
}

poprt_status prt_value_output(prt_arena *arena, const poprt_stepio *io, size_t slot,
    const poprt_io_info *info, prt_tensor *out)
{
    poprt_tensor tensor;
    if (info->value_kind == POPRT_VALUE_TENSOR) {
        PRT_TRY(poprt_stepio_output(io, slot, &tensor));
        return import(&tensor, out);
    }
    if (info->value_kind == POPRT_VALUE_MAP)
        return import_item(arena, io, slot, 0, true, out);
    size_t count = 0;
    int32_t present = 0;
    PRT_TRY(poprt_stepio_output_count(io, slot, &count, &present));
    /* A present value without items is an empty sequence, possibly in an optional. */
    const int32_t kind = count != 0 ? info->value_kind : PRT_VALUE_SEQUENCE;
    *out = (prt_tensor){ .kind = present != 0 ? kind : PRT_VALUE_ABSENT,
        .dtype = info->dtype,
        .count = count };
    out->items = PRT_NEW_N(arena, prt_tensor, count);
    if (out->items == NULL)
        return POPRT_E_NOMEM;
    for (size_t i = 0; i < count; i++)
        PRT_TRY(
            import_item(arena, io, slot, i, info->item_kind == POPRT_VALUE_MAP, &out->items[i]));
    return POPRT_OK;
}

static void print_element(FILE *to, const prt_tensor *t, size_t i)
{
    const prt_dtype_info *info = prt_dtype_of(t->dtype);
    const int32_t part = t->dtype == PRT_DTYPE_c64 ? PRT_DTYPE_f32 : PRT_DTYPE_f64;
    switch (info->kind) {
    case PRT_KIND_float:
        (void)fprintf(to, " %.6g", prt_load_f64(t->dtype, t->data, i));
        break;
    case PRT_KIND_complex:
        (void)fprintf(to, " %.6g%+.6gj", prt_load_f64(part, t->data, 2 * i),
            prt_load_f64(part, t->data, 2 * i + 1));
        break;
    case PRT_KIND_string: {
        const poprt_string *s = &((const poprt_string *)t->data)[i];
        (void)fprintf(to, " '%.*s'", s->size < 40 ? (int)s->size : 40, s->data);
        break;
    }
    case PRT_KIND_bool:
        (void)fprintf(to, " %s", prt_load_i64(t->dtype, t->data, i) != 0 ? "true" : "false");
        break;
    case PRT_KIND_uint:
        (void)fprintf(to, " %llu", (unsigned long long)prt_load_u64(t->dtype, t->data, i));
        break;
    default:
        (void)fprintf(to, " %lld", (long long)prt_load_i64(t->dtype, t->data, i));
    }
}

static void print_tensor(FILE *to, const char *name, const prt_tensor *t)
{
    char shape[256] = "[";
    size_t used = 1;
    for (uint32_t i = 0; i < t->rank; i++)
        used += (size_t)snprintf(shape + used, sizeof(shape) - used, "%s%lld", i > 0 ? ", " : "",
            (long long)t->dims[i]);
    (void)snprintf(shape + used, sizeof(shape) - used, "]");
    (void)fprintf(to, "%-24s %-10s %-20s", name, prt_dtype_of(t->dtype)->name, shape);
    const size_t count = prt_tensor_count(t);
    for (size_t i = 0; i < count && i < SHOWN; i++)
        print_element(to, t, i);
    (void)fprintf(to, "%s\n", count > SHOWN ? " ..." : "");
}

/* Prints the first entries as "key:value". */
static void print_map(FILE *to, const char *name, const prt_tensor *map)
{
    char size[64];
    const prt_tensor keys = keys_of(map);
    (void)snprintf(size, sizeof(size), "map of %zu", map->count);
    (void)fprintf(to, "%-24s %-10s %-20s", name, prt_dtype_of(map->items->dtype)->name, size);
    for (size_t i = 0; i < map->count && i < SHOWN; i++) {
        print_element(to, &keys, i);
        (void)fputs(":", to);
        print_element(to, map->items, i);
    }
    (void)fprintf(to, "%s\n", map->count > SHOWN ? " ..." : "");
}

static void print_item(FILE *to, const char *name, const prt_tensor *item)
{
    if (item->kind == PRT_VALUE_MAP)
        print_map(to, name, item);
    else
        print_tensor(to, name, item);
}

void prt_value_print(FILE *to, const char *name, const prt_tensor *value)
{
    if (value->kind == PRT_VALUE_TENSOR || value->kind == PRT_VALUE_MAP) {
        print_item(to, name, value);
        return;
    }
    if (value->kind == PRT_VALUE_ABSENT) {
        (void)fprintf(to, "%-24s nothing\n", name);
        return;
    }
    (void)fprintf(to, "%-24s %s of %zu\n", name,
        value->kind == PRT_VALUE_SEQUENCE ? "sequence" : "optional", value->count);
    for (size_t i = 0; i < value->count; i++) {
        char item[256];
        (void)snprintf(item, sizeof(item), "  %.200s[%zu]", name, i);
        print_item(to, item, &value->items[i]);
    }
}

static poprt_status write_tensor(prt_arena *arena, prt_value_files *files, const char *path,
    const prt_tensor *t)
{
    prt_file_writer *writer = NULL;
    if (path == NULL)
        return POPRT_E_NOMEM;
    for (size_t i = 0; i < files->count; i++)
        if (strcmp(files->data[i], path) == 0)
            return prt_fail_in_file(
                prt_fail(POPRT_E_STATE, NULL,
                    "would overwrite the file of another output or item: rename the output in the "
                    "model"),
                path);
    if (!PRT_VEC_PUSH(arena, files, path))
        return POPRT_E_NOMEM;
    PRT_TRY(prt_fail_in_file(prt_file_writer_create(NULL, path, &writer), path));
    poprt_status status = prt_npy_write(arena, t, prt_file_writer_sink, writer);
    status = prt_file_writer_finish(writer, status);
    return prt_fail_in_file(prt_fail_at_stage(status, "output"), path);
}

/* Writes a tensor as PATH.npy, or a map as PATH_keys.npy and PATH_values.npy. */
static poprt_status write_item(prt_arena *arena, prt_value_files *files, const char *path,
    const prt_tensor *item)
{
    if (path == NULL)
        return POPRT_E_NOMEM;
    if (item->kind != PRT_VALUE_MAP)
        return write_tensor(arena, files, prt_tool_text(arena, "%s.npy", path), item);
    const prt_tensor keys = keys_of(item);
    PRT_TRY(write_tensor(arena, files, prt_tool_text(arena, "%s_keys.npy", path), &keys));
    return write_tensor(arena, files, prt_tool_text(arena, "%s_values.npy", path), item->items);
}

poprt_status prt_value_write(prt_arena *arena, prt_value_files *files, const char *dir,
    const char *name, const prt_tensor *value)
{
    if (value->kind == PRT_VALUE_TENSOR || value->kind == PRT_VALUE_MAP)
        return write_item(arena, files, prt_tool_text(arena, "%s/%s", dir, name), value);
    for (size_t i = 0; i < value->count && value->kind != PRT_VALUE_ABSENT; i++)
        PRT_TRY(write_item(arena, files, prt_tool_text(arena, "%s/%s_%zu", dir, name, i),
            &value->items[i]));
    return POPRT_OK;
}
