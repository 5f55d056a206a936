/* SPDX-License-Identifier: MIT */
/* onnx_value.c — reads files of one value: TensorProto, SequenceProto, OptionalProto, MapProto. */
#include "converter/onnx.h"
#include "converter/onnx_tensor.h"

static poprt_status read_tensor(prt_arena *arena, prt_bytes bytes, uint32_t depth, prt_tensor *out)
{
    prt_raw_tensor t;
    PRT_TRY(prt_raw_tensor_open(bytes, depth, &t));
    if (t.external)
        return prt_fail(POPRT_E_UNSUPPORTED, NULL,
            "a value that is read from a file cannot have external data");
    if (!prt_tensor_init(out, t.dtype, t.rank, t.dims, NULL))
        return prt_fail(POPRT_E_LIMIT, NULL, "tensor is too large");
    if (t.has_raw && t.raw.size == t.size && t.dtype != PRT_DTYPE_string &&
        (uintptr_t)t.raw.data % prt_onnx_align(t.dtype) == 0) {
        out->data = (void *)(uintptr_t)t.raw.data;
        return POPRT_OK;
    }
    if (t.size / 16 > bytes.size)
        return prt_fail(POPRT_E_PARSE, NULL,
            "tensor holds fewer bytes than its dims and type need");
    out->data = prt_arena_alloc(arena, t.size);
    return out->data != NULL ? prt_raw_tensor_decode(&t, out->data, NULL) : POPRT_E_NOMEM;
}

static poprt_status read_kind(prt_arena *arena, int32_t kind, prt_bytes bytes, uint32_t depth,
    prt_tensor *out);

static int32_t kind_of_field(uint32_t number)
{
    switch (number) {
    case PRT_ONNX_Sequence_tensor_values:
        return PRT_VALUE_TENSOR;
    case PRT_ONNX_Sequence_sequence_values:
        return PRT_VALUE_SEQUENCE;
    case PRT_ONNX_Sequence_map_values:
        return PRT_VALUE_MAP;
    case PRT_ONNX_Sequence_optional_values:
        return PRT_VALUE_OPTIONAL;
    default:
        return PRT_VALUE_ABSENT;
    }
}

/* Sequences and optionals have the same fields; an optional has at most one item. */
static poprt_status read_items(prt_arena *arena, int32_t kind, prt_bytes bytes, uint32_t depth,
    prt_tensor *out)
{
    size_t count = 0;
    *out = (prt_tensor){ .kind = kind };
    prt_wire w = prt_onnx_open(bytes, PRT_ONNX_Sequence, depth);
    prt_field f;
    while (prt_wire_next(&w, &f))
        count += kind_of_field(f.number) != PRT_VALUE_ABSENT;
    PRT_TRY(w.status);
    if (kind == PRT_VALUE_OPTIONAL && count > 1)
        return prt_fail(POPRT_E_PARSE, NULL, "an optional holds %zu values; must hold at most one",
            count);
    out->items = PRT_NEW_N(arena, prt_tensor, count);
    if (out->items == NULL)
        return POPRT_E_NOMEM;
    w = prt_onnx_open(bytes, PRT_ONNX_Sequence, depth);
    while (prt_wire_next(&w, &f)) {
        const int32_t inner = kind_of_field(f.number);
        if (inner == PRT_VALUE_ABSENT)
            continue;
        PRT_TRY(read_kind(arena, inner, f.bytes, depth + 1, &out->items[out->count++]));
        out->dtype = out->items[0].dtype;
    }
    return w.status;
}

/* Packs the values of `n` keys into one tensor. They are single elements, or one tensor already. */
static poprt_status pack_values(prt_arena *arena, const prt_tensor *values, size_t n,
    prt_tensor *out)
{
    const prt_tensor *item = values->items;
    const int64_t count = (int64_t)n;
    const int32_t dtype = values->count != 0 ? item[0].dtype : PRT_DTYPE_undefined;
    *out = (prt_tensor){ .kind = PRT_VALUE_TENSOR, .dtype = dtype, .rank = 1, .dims = { count } };
    const bool whole =
        values->count == 1 && item[0].kind == PRT_VALUE_TENSOR && prt_tensor_count(&item[0]) == n;
    if (!whole && values->count != n)
        return prt_fail(POPRT_E_PARSE, NULL, "a map has %zu keys and %zu values", n, values->count);
    if (n == 0)
        return POPRT_OK;
    if (prt_dtype_bits(dtype) < 8 ||
        !prt_tensor_init(out, dtype, 1, &count, whole ? item[0].data : NULL))
        return prt_fail(POPRT_E_UNSUPPORTED, NULL, "a map's values are %s",
            prt_dtype_of(dtype)->name);
    if (whole)
        return POPRT_OK;
    out->data = prt_arena_alloc(arena, out->size);
    if (out->data == NULL)
        return POPRT_E_NOMEM;
    const size_t size = out->size / n;
    for (size_t i = 0; i < n; i++) {
        if (item[i].kind != PRT_VALUE_TENSOR || item[i].dtype != dtype || item[i].size != size)
            return prt_fail(POPRT_E_UNSUPPORTED, NULL,
                "value %zu of a map is not one element of %s", i, prt_dtype_of(dtype)->name);
        memcpy((char *)out->data + i * size, item[i].data, size);
    }
    return POPRT_OK;
}

/* Stores the keys as elements at `data`, and the values as the only item. */
static poprt_status read_map(prt_arena *arena, prt_bytes bytes, uint32_t depth, prt_tensor *out)
{
    prt_tensor values = { .kind = PRT_VALUE_SEQUENCE };
    size_t keys = 0, strings = 0, at = 0;
    uint64_t word;
    *out = (prt_tensor){ .kind = PRT_VALUE_MAP };
    prt_wire w = prt_onnx_open(bytes, PRT_ONNX_Map, depth);
    prt_field f;
    while (prt_wire_next(&w, &f)) {
        if (f.number == PRT_ONNX_Map_key_type)
            out->dtype = (int32_t)f.word;
        else if (f.number == PRT_ONNX_Map_string_keys)
            strings++;
        else if (f.number == PRT_ONNX_Map_values)
            PRT_TRY(read_items(arena, PRT_VALUE_SEQUENCE, f.bytes, depth + 1, &values));
        while (f.number == PRT_ONNX_Map_keys && prt_wire_item(&w, &f, &word))
            keys++;
    }
    PRT_TRY(w.status);
    const bool text = out->dtype == PRT_DTYPE_string;
    if (!text && out->dtype != PRT_DTYPE_i64)
        return prt_fail(POPRT_E_UNSUPPORTED, NULL, "a map's keys must be strings or int64");
    out->count = text ? strings : keys;
    out->data = prt_arena_alloc_n(arena, out->count, text ? sizeof(poprt_string) : sizeof(int64_t));
    out->items = PRT_NEW(arena, prt_tensor);
    if (out->data == NULL || out->items == NULL)
        return POPRT_E_NOMEM;
    PRT_TRY(pack_values(arena, &values, out->count, out->items));
    w = prt_onnx_open(bytes, PRT_ONNX_Map, depth);
    while (prt_wire_next(&w, &f)) {
        if (text && f.number == PRT_ONNX_Map_string_keys)
            ((poprt_string *)out->data)[at++] =
                (poprt_string){ (const char *)f.bytes.data, f.bytes.size };
        while (!text && f.number == PRT_ONNX_Map_keys && prt_wire_item(&w, &f, &word))
            ((int64_t *)out->data)[at++] = (int64_t)word;
    }
    return w.status;
}

static poprt_status read_kind(prt_arena *arena, int32_t kind, prt_bytes bytes, uint32_t depth,
    prt_tensor *out)
{
    if (depth > PRT_MAX_TYPE_DEPTH)
        return prt_fail(POPRT_E_LIMIT, NULL, "values are nested more than %d deep",
            PRT_MAX_TYPE_DEPTH);
    switch (kind) {
    case PRT_VALUE_SEQUENCE:
    case PRT_VALUE_OPTIONAL:
        return read_items(arena, kind, bytes, depth, out);
    case PRT_VALUE_MAP:
        return read_map(arena, bytes, depth, out);
    default:
        return read_tensor(arena, bytes, depth, out);
    }
}

poprt_status prt_onnx_read_value(prt_arena *arena, prt_blob *bytes, int32_t kind, prt_tensor *out)
{
    prt_tensor value;
    const poprt_status status =
        read_kind(arena, kind, (prt_bytes){ bytes->data, bytes->size }, 1, &value);
    if (status == POPRT_OK)
        *out = value;
    return prt_fail_at_stage(status, "read");
}
