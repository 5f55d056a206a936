/* SPDX-License-Identifier: MIT */
/* onnx_value.c — files of one value: TensorProto, SequenceProto, OptionalProto, MapProto. */
#include "converter/onnx.h"
#include "converter/onnx_tensor.h"

static poprt_status read_tensor(prt_arena *arena, prt_bytes bytes, uint32_t depth, prt_tensor *out)
{
    prt_raw_tensor t;
    PRT_TRY(prt_raw_tensor_open(bytes, depth, &t));
    if (t.external)
        return prt_fail(POPRT_E_UNSUPPORTED, NULL, "a value in a file has no external data");
    if (!prt_tensor_init(out, t.dtype, t.rank, t.dims, NULL))
        return prt_fail(POPRT_E_LIMIT, NULL, "tensor is too large");
    if (t.has_raw && t.raw.size == t.size && t.dtype != PRT_DTYPE_string &&
        (uintptr_t)t.raw.data % prt_onnx_align(t.dtype) == 0) {
        out->data = (void *)(uintptr_t)t.raw.data;
        return POPRT_OK;
    }
    if (t.size / 16 > bytes.size)
        return prt_fail(POPRT_E_PARSE, NULL, "tensor holds fewer bytes than its dims ask for");
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

/* Sequences and optionals have the same fields; an optional has one item at most. */
static poprt_status read_items(prt_arena *arena, int32_t kind, prt_bytes bytes, uint32_t depth,
    prt_tensor *out)
{
    size_t count = 0;
    *out = (prt_tensor){ .kind = kind };
    prt_wire w = prt_wire_open(bytes, PRT_ONNX_Sequence, depth);
    prt_field f;
    while (prt_wire_next(&w, &f))
        count += kind_of_field(f.number) != PRT_VALUE_ABSENT;
    PRT_TRY(w.status);
    if (kind == PRT_VALUE_OPTIONAL && count > 1)
        return prt_fail(POPRT_E_PARSE, NULL, "an optional holds %zu values", count);
    out->items = PRT_NEW_N(arena, prt_tensor, count);
    if (out->items == NULL)
        return POPRT_E_NOMEM;
    w = prt_wire_open(bytes, PRT_ONNX_Sequence, depth);
    while (prt_wire_next(&w, &f)) {
        const int32_t inner = kind_of_field(f.number);
        if (inner == PRT_VALUE_ABSENT)
            continue;
        PRT_TRY(read_kind(arena, inner, f.bytes, depth + 1, &out->items[out->count++]));
        out->dtype = out->items[0].dtype;
    }
    return w.status;
}

/* Keys become a tensor's worth of elements at `data`, values the items. */
static poprt_status read_map(prt_arena *arena, prt_bytes bytes, uint32_t depth, prt_tensor *out)
{
    prt_tensor values = { .kind = PRT_VALUE_SEQUENCE };
    size_t keys = 0, strings = 0, at = 0;
    uint64_t word;
    *out = (prt_tensor){ .kind = PRT_VALUE_MAP };
    prt_wire w = prt_wire_open(bytes, PRT_ONNX_Map, depth);
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
    if ((text ? strings : keys) != values.count || (!text && out->dtype != PRT_DTYPE_i64))
        return prt_fail(POPRT_E_UNSUPPORTED, NULL, "a map's keys are no strings or int64, or are "
            "not as many as its values");
    out->data =
        prt_arena_alloc_n(arena, values.count, text ? sizeof(poprt_string) : sizeof(int64_t));
    if (out->data == NULL)
        return POPRT_E_NOMEM;
    out->count = values.count;
    out->items = values.items;
    w = prt_wire_open(bytes, PRT_ONNX_Map, depth);
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
