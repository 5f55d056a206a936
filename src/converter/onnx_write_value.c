/* SPDX-License-Identifier: MIT */
/* onnx_write_value.c — writes TensorProto, TypeProto and ValueInfoProto. */
#include <inttypes.h>
#include <stdio.h>

#include "converter/onnx_write.h"

/* ---- tensors ---- */

static void need_dtype(prt_onnx_writer *w, int32_t dtype)
{
    switch (dtype) {
    case PRT_DTYPE_f8e4m3fn:
    case PRT_DTYPE_f8e4m3fnuz:
    case PRT_DTYPE_f8e5m2:
    case PRT_DTYPE_f8e5m2fnuz:
        prt_onnx_need(w, 9);
        break;
    case PRT_DTYPE_u4:
    case PRT_DTYPE_i4:
        prt_onnx_need(w, 10);
        break;
    case PRT_DTYPE_f4e2m1:
        prt_onnx_need(w, 11);
        break;
    case PRT_DTYPE_f8e8m0:
        prt_onnx_need(w, 12);
        break;
    case PRT_DTYPE_u2:
    case PRT_DTYPE_i2:
        prt_onnx_need(w, 13);
        break;
    case PRT_DTYPE_f6e2m3:
    case PRT_DTYPE_f6e3m2:
        prt_onnx_need(w, 14);
        break;
    default:
        break;
    }
}

static void put_entry(prt_onnx_writer *w, const char *key, prt_str value)
{
    const prt_encode_mark entry = prt_encode_open(&w->encoder, PRT_ONNX_Tensor_external_data);
    prt_encode_str(&w->encoder, PRT_ONNX_StringStringEntry_key, prt_str_of(key));
    prt_encode_str(&w->encoder, PRT_ONNX_StringStringEntry_value, value);
    prt_encode_close(&w->encoder, entry);
}

static void put_number_entry(prt_onnx_writer *w, const char *key, uint64_t value)
{
    char text[24];
    const int n = snprintf(text, sizeof(text), "%" PRIu64, value);
    put_entry(w, key, (prt_str){ text, (uint32_t)n });
}

static void put_reference(prt_onnx_writer *w, prt_str location, uint64_t offset, size_t size)
{
    put_entry(w, "location", location);
    put_number_entry(w, "offset", offset);
    put_number_entry(w, "length", size);
    prt_encode_int(&w->encoder, PRT_ONNX_Tensor_data_location, 1);
}

/* Offsets are the same in both passes, because the tensors are written in the same order. */
static void put_external(prt_onnx_writer *w, const prt_tensor *t)
{
    static const unsigned char zeros[PRT_ONNX_EXTERNAL_ALIGN];
    const uint64_t pad = (0 - w->data_size) % PRT_ONNX_EXTERNAL_ALIGN;
    put_reference(w, w->data_name, w->data_size + pad, t->size);
    w->data_size += pad + t->size;
    if (w->encoder.counting || w->encoder.status != POPRT_OK)
        return;
    prt_encode_fail(&w->encoder, prt_file_writer_write(w->data, zeros, (size_t)pad));
    if (w->encoder.status == POPRT_OK)
        prt_encode_fail(&w->encoder, prt_file_writer_write(w->data, t->data, t->size));
}

/* Writes the fields of a tensor before its data. */
static void put_head(prt_onnx_writer *w, prt_str name, const prt_tensor *t)
{
    for (uint32_t i = 0; i < t->rank; i++)
        prt_encode_int(&w->encoder, PRT_ONNX_Tensor_dims, t->dims[i]);
    prt_encode_int(&w->encoder, PRT_ONNX_Tensor_data_type, t->dtype);
    if (name.size != 0)
        prt_encode_str(&w->encoder, PRT_ONNX_Tensor_name, name);
    need_dtype(w, t->dtype);
}

void prt_onnx_put_tensor(prt_onnx_writer *w, uint32_t field, prt_str name, const prt_tensor *t)
{
    const prt_encode_mark tensor = prt_encode_open(&w->encoder, field);
    put_head(w, name, t);
    if (t->dtype == PRT_DTYPE_string) {
        const poprt_string *s = t->data;
        for (size_t i = 0; i < prt_tensor_count(t); i++)
            prt_encode_bytes(&w->encoder, PRT_ONNX_Tensor_string_data, s[i].data, s[i].size);
    } else if (w->data_name.size != 0 && t->size >= PRT_ONNX_EXTERNAL_SIZE) {
        put_external(w, t);
    } else {
        prt_encode_bytes(&w->encoder, PRT_ONNX_Tensor_raw_data, t->data, t->size);
    }
    prt_encode_close(&w->encoder, tensor);
}

void prt_onnx_put_stored(prt_onnx_writer *w, uint32_t field, prt_str name, const prt_tensor *t,
    const prt_stored *stored)
{
    const prt_encode_mark tensor = prt_encode_open(&w->encoder, field);
    put_head(w, name, t);
    put_reference(w, stored->location, stored->offset, t->size);
    prt_encode_close(&w->encoder, tensor);
}

/* ---- types ---- */

static void put_dim(prt_onnx_writer *w, int64_t dim)
{
    char text[512];
    const prt_encode_mark mark = prt_encode_open(&w->encoder, PRT_ONNX_Shape_dim);
    if (prt_dim_is_number(dim)) {
        prt_encode_int(&w->encoder, PRT_ONNX_Dimension_dim_value, dim);
    } else if (prt_dim_is_expr(dim)) {
        const prt_dim_node *node = prt_dims_at(w->m->dims, prt_dim_index(dim));
        prt_str name = node->symbol;
        if (node->op != PRT_DIM_SYMBOL) {
            prt_dim_print(w->m->dims, dim, text, sizeof(text));
            name = prt_str_of(text);
        }
        prt_encode_str(&w->encoder, PRT_ONNX_Dimension_dim_param, name);
    }
    prt_encode_close(&w->encoder, mark);
}

static void put_tensor_type(prt_onnx_writer *w, const prt_type *type)
{
    const prt_encode_mark tensor = prt_encode_open(&w->encoder, PRT_ONNX_Type_tensor_type);
    prt_encode_int(&w->encoder, PRT_ONNX_TensorType_elem_type, type->dtype);
    if (type->rank >= 0) {
        const prt_encode_mark shape = prt_encode_open(&w->encoder, PRT_ONNX_TensorType_shape);
        for (int32_t i = 0; i < type->rank; i++)
            put_dim(w, type->dims[i]);
        prt_encode_close(&w->encoder, shape);
    }
    prt_encode_close(&w->encoder, tensor);
}

/* The nesting is bounded by the depth of types. */
void prt_onnx_put_type(prt_onnx_writer *w, uint32_t field, const prt_type *type)
{
    const prt_encode_mark mark = prt_encode_open(&w->encoder, field);
    prt_encode_mark wrap;
    switch (type->kind) {
    case PRT_VALUE_TENSOR:
        need_dtype(w, type->dtype);
        put_tensor_type(w, type);
        break;
    case PRT_VALUE_SEQUENCE:
    case PRT_VALUE_OPTIONAL:
        wrap = prt_encode_open(&w->encoder,
            type->kind == PRT_VALUE_SEQUENCE ? PRT_ONNX_Type_sequence_type
                                             : (uint32_t)PRT_ONNX_Type_optional_type);
        if (type->elem != NULL)
            prt_onnx_put_type(w, PRT_ONNX_WrapType_elem_type, type->elem);
        prt_encode_close(&w->encoder, wrap);
        break;
    case PRT_VALUE_MAP:
        wrap = prt_encode_open(&w->encoder, PRT_ONNX_Type_map_type);
        prt_encode_int(&w->encoder, PRT_ONNX_MapType_key_type, type->dtype);
        if (type->elem != NULL)
            prt_onnx_put_type(w, PRT_ONNX_MapType_value_type, type->elem);
        prt_encode_close(&w->encoder, wrap);
        break;
    default:
        break;
    }
    prt_encode_close(&w->encoder, mark);
}

void prt_onnx_put_value_info(prt_onnx_writer *w, uint32_t field, prt_str name, const prt_type *type,
    prt_str doc)
{
    const prt_encode_mark mark = prt_encode_open(&w->encoder, field);
    prt_encode_str(&w->encoder, PRT_ONNX_ValueInfo_name, name);
    if (type->kind != PRT_VALUE_UNKNOWN)
        prt_onnx_put_type(w, PRT_ONNX_ValueInfo_type, type);
    if (doc.size != 0)
        prt_encode_str(&w->encoder, PRT_ONNX_ValueInfo_doc_string, doc);
    prt_encode_close(&w->encoder, mark);
}
