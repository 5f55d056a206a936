/* SPDX-License-Identifier: MIT */
/* attr.c — decodes AttrValue, ListValue, NameAttrList and TensorShapeProto. */
#include "tensorflow/attr.h"

#include "base/vec.h"

const prt_tf_attr *prt_tf_attr_find(const prt_tf_attr *attrs, uint32_t count, prt_str name)
{
    for (uint32_t i = 0; i < count; i++)
        if (prt_str_equal(attrs[i].name, name))
            return &attrs[i];
    return NULL;
}

poprt_status prt_tf_attr_read(const prt_tf_attr *attr, prt_tf_attr_value *out)
{
    if (attr->value != NULL) {
        *out = *attr->value;
        return POPRT_OK;
    }
    *out = (prt_tf_attr_value){ .s = PRT_STR("") };
    prt_wire w = prt_tf_open(attr->bytes, PRT_TF_AttrValue, attr->depth);
    prt_field f;
    while (prt_wire_next(&w, &f)) {
        static const uint8_t kinds[] = { [PRT_TF_AttrValue_list] = PRT_TF_ATTR_list,
            [PRT_TF_AttrValue_s] = PRT_TF_ATTR_s,
            [PRT_TF_AttrValue_i] = PRT_TF_ATTR_i,
            [PRT_TF_AttrValue_f] = PRT_TF_ATTR_f,
            [PRT_TF_AttrValue_b] = PRT_TF_ATTR_b,
            [PRT_TF_AttrValue_type] = PRT_TF_ATTR_type,
            [PRT_TF_AttrValue_shape] = PRT_TF_ATTR_shape,
            [PRT_TF_AttrValue_tensor] = PRT_TF_ATTR_tensor,
            [PRT_TF_AttrValue_placeholder] = PRT_TF_ATTR_placeholder,
            [PRT_TF_AttrValue_func] = PRT_TF_ATTR_func };
        if (!f.known)
            continue;
        out->kind = kinds[f.number];
        out->i = (int64_t)f.word;
        out->bytes = f.bytes;
        if (out->kind == PRT_TF_ATTR_f)
            memcpy(&out->f, &(uint32_t){ (uint32_t)f.word }, sizeof(out->f));
        if (out->kind == PRT_TF_ATTR_s || out->kind == PRT_TF_ATTR_placeholder)
            out->s = prt_wire_text(&w, &f);
    }
    return w.status;
}

poprt_status prt_tf_attrs_read(prt_arena *arena, prt_bytes bytes, prt_tf_message message,
    uint32_t number, uint32_t depth, const prt_tf_attr **out, uint32_t *count)
{
    PRT_VEC(prt_tf_attr) list = { 0 };
    prt_wire w = prt_tf_open(bytes, message, depth);
    prt_field f;
    while (prt_wire_next(&w, &f)) {
        prt_tf_attr attr = { .depth = depth + 2 };
        if (f.number != number)
            continue;
        PRT_TRY(prt_tf_entry(f.bytes, depth + 1, &attr.name, &attr.bytes));
        if (!PRT_VEC_PUSH(arena, &list, attr))
            return POPRT_E_NOMEM;
    }
    *out = list.data;
    *count = (uint32_t)list.count;
    return w.status;
}

poprt_status prt_tf_list_ints(prt_arena *arena, const prt_tf_attr_value *v, uint32_t depth,
    prt_i64s *out)
{
    if (v->ints.data != NULL) {
        *out = v->ints;
        return POPRT_OK;
    }
    PRT_VEC(int64_t) list = { 0 };
    prt_wire w = prt_tf_open(v->bytes, PRT_TF_ListValue, depth);
    prt_field f;
    while (prt_wire_next(&w, &f)) {
        uint64_t word;
        if (f.number != PRT_TF_ListValue_i && f.number != PRT_TF_ListValue_b &&
            f.number != PRT_TF_ListValue_type)
            continue;
        while (prt_wire_item(&w, &f, &word))
            if (!PRT_VEC_PUSH(arena, &list, (int64_t)word))
                return POPRT_E_NOMEM;
    }
    *out = (prt_i64s){ list.data, (uint32_t)list.count };
    return w.status;
}

poprt_status prt_tf_list_floats(prt_arena *arena, const prt_tf_attr_value *v, uint32_t depth,
    prt_f32s *out)
{
    if (v->floats.data != NULL) {
        *out = v->floats;
        return POPRT_OK;
    }
    PRT_VEC(float) list = { 0 };
    prt_wire w = prt_tf_open(v->bytes, PRT_TF_ListValue, depth);
    prt_field f;
    while (prt_wire_next(&w, &f)) {
        uint64_t word;
        if (f.number != PRT_TF_ListValue_f)
            continue;
        while (prt_wire_item(&w, &f, &word)) {
            float value;
            memcpy(&value, &(uint32_t){ (uint32_t)word }, sizeof(value));
            if (!PRT_VEC_PUSH(arena, &list, value))
                return POPRT_E_NOMEM;
        }
    }
    *out = (prt_f32s){ list.data, (uint32_t)list.count };
    return w.status;
}

poprt_status prt_tf_list_texts(prt_arena *arena, const prt_tf_attr_value *v, uint32_t depth,
    prt_strs *out)
{
    PRT_VEC(prt_str) list = { 0 };
    prt_wire w = prt_tf_open(v->bytes, PRT_TF_ListValue, depth);
    prt_field f;
    while (prt_wire_next(&w, &f)) {
        if (f.number != PRT_TF_ListValue_s)
            continue;
        const prt_str text = prt_wire_text(&w, &f);
        if (!PRT_VEC_PUSH(arena, &list, text))
            return POPRT_E_NOMEM;
    }
    *out = (prt_strs){ list.data, (uint32_t)list.count };
    return w.status;
}

poprt_status prt_tf_func_read(prt_arena *arena, prt_bytes bytes, uint32_t depth, prt_tf_func *out)
{
    *out = (prt_tf_func){ .name = PRT_STR("") };
    prt_wire w = prt_tf_open(bytes, PRT_TF_NameAttrList, depth);
    prt_field f;
    while (prt_wire_next(&w, &f))
        if (f.number == PRT_TF_NameAttrList_name)
            out->name = prt_wire_text(&w, &f);
    PRT_TRY(w.status);
    return prt_tf_attrs_read(arena, bytes, PRT_TF_NameAttrList, PRT_TF_NameAttrList_attr, depth,
        &out->attrs, &out->n_attrs);
}

poprt_status prt_tf_list_funcs(prt_arena *arena, const prt_tf_attr_value *v, uint32_t depth,
    prt_tf_func **out, uint32_t *count)
{
    PRT_VEC(prt_tf_func) list = { 0 };
    prt_wire w = prt_tf_open(v->bytes, PRT_TF_ListValue, depth);
    prt_field f;
    while (prt_wire_next(&w, &f)) {
        prt_tf_func func;
        if (f.number != PRT_TF_ListValue_func)
            continue;
        PRT_TRY(prt_tf_func_read(arena, f.bytes, depth + 1, &func));
        if (!PRT_VEC_PUSH(arena, &list, func))
            return POPRT_E_NOMEM;
    }
    *out = list.data;
    *count = (uint32_t)list.count;
    return w.status;
}

static poprt_status read_dim(prt_bytes bytes, uint32_t depth, int64_t *dim)
{
    *dim = 0;
    prt_wire w = prt_tf_open(bytes, PRT_TF_Dim, depth);
    prt_field f;
    while (prt_wire_next(&w, &f))
        if (f.number == PRT_TF_Dim_size)
            *dim = (int64_t)f.word < 0 ? PRT_DIM_UNKNOWN : (int64_t)f.word;
    return w.status;
}

poprt_status prt_tf_shape_read(prt_bytes bytes, uint32_t depth, int32_t *rank,
    int64_t dims[PRT_MAX_RANK])
{
    bool unknown = false;
    *rank = 0;
    prt_wire w = prt_tf_open(bytes, PRT_TF_TensorShape, depth);
    prt_field f;
    while (prt_wire_next(&w, &f)) {
        if (f.number == PRT_TF_TensorShape_unknown_rank)
            unknown = f.word != 0;
        if (f.number != PRT_TF_TensorShape_dim)
            continue;
        if (*rank == PRT_MAX_RANK)
            return prt_wire_fail(&w, POPRT_E_LIMIT, "a tensor has more than 8 dimensions");
        PRT_TRY(read_dim(f.bytes, depth + 1, &dims[(*rank)++]));
    }
    if (unknown)
        *rank = PRT_RANK_UNKNOWN;
    return w.status;
}

int32_t prt_tf_dtype_of(int64_t type)
{
    static const uint8_t types[] = { [1] = PRT_DTYPE_f32,
        [2] = PRT_DTYPE_f64,
        [3] = PRT_DTYPE_i32,
        [4] = PRT_DTYPE_u8,
        [5] = PRT_DTYPE_i16,
        [6] = PRT_DTYPE_i8,
        [7] = PRT_DTYPE_string,
        [8] = PRT_DTYPE_c64,
        [9] = PRT_DTYPE_i64,
        [10] = PRT_DTYPE_bool,
        [11] = PRT_DTYPE_i8,
        [12] = PRT_DTYPE_u8,
        [13] = PRT_DTYPE_i32,
        [14] = PRT_DTYPE_bf16,
        [15] = PRT_DTYPE_i16,
        [16] = PRT_DTYPE_u16,
        [17] = PRT_DTYPE_u16,
        [18] = PRT_DTYPE_c128,
        [19] = PRT_DTYPE_f16,
        [22] = PRT_DTYPE_u32,
        [23] = PRT_DTYPE_u64,
        [24] = PRT_DTYPE_f8e5m2,
        [25] = PRT_DTYPE_f8e4m3fn,
        [29] = PRT_DTYPE_i4,
        [30] = PRT_DTYPE_u4 };
    if (type > PRT_TF_TYPE_ref)
        type -= PRT_TF_TYPE_ref;
    return type > 0 && type < (int64_t)PRT_COUNT_OF(types) ? types[type] : PRT_DTYPE_undefined;
}
