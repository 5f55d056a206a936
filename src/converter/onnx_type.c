/* SPDX-License-Identifier: MIT */
/* onnx_type.c — decodes TypeProto and ValueInfoProto. */
#include "converter/onnx_type.h"

#include <stdio.h>

#include "converter/onnx_raw.h"

enum {
    MAX_DIMS = 64
}; /* limit of the rank of a declared type; operators are limited to
    * PRT_MAX_RANK */

typedef struct context {
    prt_module *m;
    const prt_str *input;
    uint32_t level; /* nesting depth of the type */
} context;

static poprt_status fresh_dim(const context *c, int32_t axis, int64_t *out)
{
    *out = PRT_DIM_UNKNOWN;
    if (c->input == NULL)
        return POPRT_OK;
    char name[256];
    const int n = snprintf(name, sizeof(name), "%.*s.%d", PRT_SHOW(*c->input), axis);
    *out = prt_dim_symbol(c->m->dims, (prt_str){ name, (uint32_t)n });
    return *out == PRT_DIM_UNKNOWN ? POPRT_E_NOMEM : POPRT_OK;
}

/* Some exporters write these names for unknown dims; such dims are unrelated to each other. */
static bool is_unknown_dim(prt_str name)
{
    return name.size == 0 || prt_str_is(name, "?") || prt_str_is(name, "-1") ||
        prt_str_is(name, "None");
}

/* A negative number also denotes an unknown dim. */
static poprt_status read_dim(const context *c, prt_bytes bytes, uint32_t depth, int32_t axis,
    int64_t *out)
{
    prt_wire w = prt_onnx_open(bytes, PRT_ONNX_Dimension, depth);
    prt_field f;
    int64_t value = -1;
    prt_str name = PRT_STR("");
    while (prt_wire_next(&w, &f)) {
        if (f.number == PRT_ONNX_Dimension_dim_value)
            value = (int64_t)f.word;
        else if (f.number == PRT_ONNX_Dimension_dim_param)
            name = prt_wire_text(&w, &f);
    }
    PRT_TRY(w.status);
    if (!is_unknown_dim(name)) {
        *out = prt_dim_symbol(c->m->dims, name);
        return *out == PRT_DIM_UNKNOWN ? POPRT_E_NOMEM : POPRT_OK;
    }
    if (value < 0)
        return fresh_dim(c, axis, out);
    *out = value;
    return POPRT_OK;
}

static poprt_status read_shape(const context *c, prt_bytes bytes, uint32_t depth, int32_t *rank,
    int64_t *dims)
{
    prt_wire w = prt_onnx_open(bytes, PRT_ONNX_Shape, depth);
    prt_field f;
    *rank = 0;
    while (prt_wire_next(&w, &f)) {
        if (f.number != PRT_ONNX_Shape_dim)
            continue;
        if (*rank == MAX_DIMS)
            return prt_wire_fail(&w, POPRT_E_LIMIT, "a type has more than 64 dimensions");
        PRT_TRY(read_dim(c, f.bytes, depth + 1, *rank, &dims[*rank]));
        ++*rank;
    }
    return w.status;
}

static poprt_status read_tensor(const context *c, prt_bytes bytes, uint32_t depth,
    const prt_type **out)
{
    prt_wire w = prt_onnx_open(bytes, PRT_ONNX_TensorType, depth);
    prt_field f;
    int32_t dtype = PRT_DTYPE_undefined, rank = PRT_RANK_UNKNOWN;
    int64_t dims[MAX_DIMS];
    while (prt_wire_next(&w, &f)) {
        if (f.number == PRT_ONNX_TensorType_elem_type)
            dtype = (int32_t)f.word;
        else if (f.number == PRT_ONNX_TensorType_shape)
            PRT_TRY(read_shape(c, f.bytes, depth + 1, &rank, dims));
    }
    PRT_TRY(w.status);
    if (prt_dtype_bits(dtype) == 0)
        dtype = PRT_DTYPE_undefined;
    *out = prt_type_tensor(c->m->types, dtype, rank, dims);
    return *out != NULL ? POPRT_OK : POPRT_E_NOMEM;
}

static poprt_status read_type(context *c, prt_bytes bytes, uint32_t depth, const prt_type **out);

/* Reads a sequence, optional or map type. */
static poprt_status read_wrap(context *c, int32_t kind, prt_bytes bytes, uint32_t depth,
    const prt_type **out)
{
    const bool map = kind == PRT_VALUE_MAP;
    const uint32_t inner =
        map ? PRT_ONNX_MapType_value_type : (uint32_t)PRT_ONNX_WrapType_elem_type;
    const prt_type *elem = prt_type_unknown(c->m->types);
    int32_t key = PRT_DTYPE_undefined;
    prt_wire w = prt_onnx_open(bytes, map ? PRT_ONNX_MapType : PRT_ONNX_WrapType, depth);
    prt_field f;
    while (prt_wire_next(&w, &f)) {
        if (f.number == inner)
            PRT_TRY(read_type(c, f.bytes, depth + 1, &elem));
        else if (map && f.number == PRT_ONNX_MapType_key_type)
            key = (int32_t)f.word;
    }
    PRT_TRY(w.status);
    *out = elem != NULL ? prt_type_wrap(c->m->types, kind, key, elem) : NULL;
    return *out != NULL ? POPRT_OK : POPRT_E_NOMEM;
}

static poprt_status read_type(context *c, prt_bytes bytes, uint32_t depth, const prt_type **out)
{
    if (++c->level > PRT_MAX_TYPE_DEPTH)
        return prt_fail(POPRT_E_LIMIT, NULL, "types are nested more than %d deep",
            PRT_MAX_TYPE_DEPTH);
    *out = prt_type_unknown(c->m->types);
    prt_wire w = prt_onnx_open(bytes, PRT_ONNX_Type, depth);
    prt_field f;
    while (prt_wire_next(&w, &f)) {
        switch (f.number) {
        case PRT_ONNX_Type_tensor_type:
        case PRT_ONNX_Type_sparse_tensor_type:
            PRT_TRY(read_tensor(c, f.bytes, depth + 1, out));
            break;
        case PRT_ONNX_Type_sequence_type:
            PRT_TRY(read_wrap(c, PRT_VALUE_SEQUENCE, f.bytes, depth + 1, out));
            break;
        case PRT_ONNX_Type_optional_type:
            PRT_TRY(read_wrap(c, PRT_VALUE_OPTIONAL, f.bytes, depth + 1, out));
            break;
        case PRT_ONNX_Type_map_type:
            PRT_TRY(read_wrap(c, PRT_VALUE_MAP, f.bytes, depth + 1, out));
            break;
        default:
            break;
        }
    }
    c->level--;
    PRT_TRY(w.status);
    return *out != NULL ? POPRT_OK : POPRT_E_NOMEM;
}

poprt_status prt_onnx_type(prt_module *m, prt_bytes bytes, uint32_t depth, const prt_str *input,
    const prt_type **out)
{
    context c = { .m = m, .input = input };
    return read_type(&c, bytes, depth, out);
}

poprt_status prt_onnx_value_info(prt_module *m, prt_bytes bytes, uint32_t depth, bool is_input,
    const prt_type **out, prt_str *doc)
{
    prt_str name = PRT_STR("");
    prt_bytes type = { NULL, 0 };
    bool has_type = false;
    *doc = PRT_STR("");
    prt_wire w = prt_onnx_open(bytes, PRT_ONNX_ValueInfo, depth);
    prt_field f;
    while (prt_wire_next(&w, &f)) {
        if (f.number == PRT_ONNX_ValueInfo_name) {
            name = prt_wire_text(&w, &f);
        } else if (f.number == PRT_ONNX_ValueInfo_doc_string) {
            *doc = prt_wire_text(&w, &f);
        } else if (f.number == PRT_ONNX_ValueInfo_type) {
            type = f.bytes;
            has_type = true;
        }
    }
    PRT_TRY(w.status);
    *out = prt_type_unknown(m->types);
    if (*out == NULL)
        return POPRT_E_NOMEM;
    if (!has_type)
        return POPRT_OK;
    const poprt_status status = prt_onnx_type(m, type, depth + 1, is_input ? &name : NULL, out);
    return status == POPRT_OK
        ? status
        : prt_onnx_fail(status, name, "type of the value: %s", prt_error_last()->message);
}
