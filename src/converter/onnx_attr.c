/* SPDX-License-Identifier: MIT */
/* onnx_attr.c — decodes AttributeProto. */
#include "converter/onnx_build.h"
#include "converter/onnx_type.h"

static float float_of(uint64_t word)
{
    const uint32_t bits = (uint32_t)word;
    float value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

/* Decodes a tensor into aligned memory that the module keeps. */
static poprt_status read_tensor(prt_onnx_reader *r, const prt_resolved_attr *given, uint32_t depth,
    prt_node_attr *out)
{
    prt_raw_tensor raw;
    PRT_TRY(prt_raw_tensor_open(given->raw->payload, depth + 1, &raw));
    prt_blob *blob = NULL;
    const size_t before = r->source.copy_below;
    r->source.copy_below = SIZE_MAX;
    poprt_status status = prt_onnx_tensor_blob(&r->source, &raw, &blob);
    r->source.copy_below = before;
    if (status == POPRT_OK)
        status = prt_module_keep(r->m, blob);
    PRT_TRY(status);
    prt_tensor *t = PRT_NEW(r->m->arena, prt_tensor);
    if (t == NULL)
        return POPRT_E_NOMEM;
    if (!prt_tensor_init(t, raw.dtype, raw.rank, raw.dims, (void *)(uintptr_t)blob->data))
        return prt_onnx_fail(POPRT_E_LIMIT, given->name, "tensor attribute is too large");
    out->tensor = t;
    return POPRT_OK;
}

typedef struct lists {
    PRT_VEC(float) floats;
    PRT_VEC(int64_t) ints;
    PRT_VEC(prt_str) strings;
} lists;

static poprt_status push_items(prt_onnx_reader *r, prt_wire *w, prt_field *f, lists *l)
{
    uint64_t word;
    while (prt_wire_item(w, f, &word)) {
        const bool pushed = f->number == PRT_ONNX_Attribute_floats
            ? PRT_VEC_PUSH(r->scratch, &l->floats, float_of(word))
            : PRT_VEC_PUSH(r->scratch, &l->ints, (int64_t)word);
        if (!pushed)
            return POPRT_E_NOMEM;
    }
    return w->status;
}

static poprt_status keep_lists(prt_onnx_reader *r, const lists *l, prt_node_attr *out)
{
    prt_arena *arena = r->m->arena;
    if (l->floats.count > UINT32_MAX || l->ints.count > UINT32_MAX || l->strings.count > UINT32_MAX)
        return prt_onnx_fail(POPRT_E_LIMIT, out->name, "attribute has too many items");
    out->floats =
        (prt_f32s){ prt_arena_copy(arena, l->floats.data, l->floats.count * sizeof(float)),
            (uint32_t)l->floats.count };
    out->ints = (prt_i64s){ prt_arena_copy(arena, l->ints.data, l->ints.count * sizeof(int64_t)),
        (uint32_t)l->ints.count };
    out->strings =
        (prt_strs){ prt_arena_copy(arena, l->strings.data, l->strings.count * sizeof(prt_str)),
            (uint32_t)l->strings.count };
    return out->floats.data != NULL && out->ints.data != NULL && out->strings.data != NULL
        ? POPRT_OK
        : POPRT_E_NOMEM;
}

/* Decodes the fields whose values are in the message itself. */
static poprt_status read_values(prt_onnx_reader *r, const prt_resolved_attr *given, uint32_t depth,
    prt_node_attr *out)
{
    lists l = { { NULL, 0, 0 }, { NULL, 0, 0 }, { NULL, 0, 0 } };
    prt_wire w = prt_onnx_open(given->raw->bytes, PRT_ONNX_Attribute, depth);
    prt_field f;
    prt_str text;
    while (prt_wire_next(&w, &f)) {
        switch (f.number) {
        case PRT_ONNX_Attribute_f:
            out->f = float_of(f.word);
            break;
        case PRT_ONNX_Attribute_i:
            out->i = (int64_t)f.word;
            break;
        case PRT_ONNX_Attribute_floats:
        case PRT_ONNX_Attribute_ints:
            PRT_TRY(push_items(r, &w, &f, &l));
            break;
        case PRT_ONNX_Attribute_s:
        case PRT_ONNX_Attribute_strings:
            text = prt_module_str(r->m, prt_wire_text(&w, &f));
            if (text.data == NULL)
                return POPRT_E_NOMEM;
            if (f.number == PRT_ONNX_Attribute_s)
                out->s = text;
            else if (!PRT_VEC_PUSH(r->scratch, &l.strings, text))
                return POPRT_E_NOMEM;
            break;
        default:
            break;
        }
    }
    PRT_TRY(w.status);
    return keep_lists(r, &l, out);
}

/* Keeps an attribute that refers to a function's attribute under its own name, by appending the
 * name: protobuf readers use the last `name` of a message. */
static poprt_status rename_field(prt_onnx_reader *r, const prt_resolved_attr *given,
    prt_node_attr *out)
{
    if (prt_str_equal(given->name, given->raw->name)) {
        out->field = given->raw->whole.data;
        out->field_size = given->raw->whole.size;
        return POPRT_OK;
    }
    const size_t most = out->size + given->name.size + 32;
    unsigned char *to = PRT_NEW_N(r->m->arena, unsigned char, most);
    if (to == NULL)
        return POPRT_E_NOMEM;
    size_t at = 0;
    uint64_t name_size = given->name.size, size = 1 + out->size + name_size;
    for (uint64_t n = name_size; n != 0; n >>= 7)
        size++;
    to[at++] = PRT_ONNX_Node_attribute << 3 | PRT_WIRE_BYTES;
    for (; size >= 128; size >>= 7)
        to[at++] = (unsigned char)(size | 128);
    to[at++] = (unsigned char)size;
    memcpy(to + at, out->bytes, out->size);
    at += out->size;
    to[at++] = PRT_ONNX_Attribute_name << 3 | PRT_WIRE_BYTES;
    for (; name_size >= 128; name_size >>= 7)
        to[at++] = (unsigned char)(name_size | 128);
    to[at++] = (unsigned char)name_size;
    memcpy(to + at, given->name.data, given->name.size);
    out->field = to;
    out->field_size = at + given->name.size;
    return POPRT_OK;
}

poprt_status prt_onnx_attr(prt_onnx_reader *r, const prt_resolved_attr *given, uint32_t depth,
    uint32_t region, prt_node_attr *out)
{
    const prt_raw_attr *raw = given->raw;
    *out = (prt_node_attr){ .name = given->name,
        .kind = raw->kind,
        .s = PRT_STR(""),
        .graph = region,
        .bytes = raw->bytes.data,
        .size = raw->bytes.size };
    PRT_TRY(read_values(r, given, depth, out));
    PRT_TRY(rename_field(r, given, out));
    if (raw->kind == PRT_ONNX_TENSOR)
        return read_tensor(r, given, depth, out);
    if (raw->kind == PRT_ONNX_TYPE_PROTO)
        return prt_onnx_type(r->m, raw->payload, depth + 1, NULL, &out->type);
    return POPRT_OK;
}
