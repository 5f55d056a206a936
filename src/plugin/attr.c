/* SPDX-License-Identifier: MIT */
/* attr.c — converts attributes and types between the typed structs of operators and the structs of
 * plugin.h. */
#include "op/words.h"
#include "plugin/internal.h"

enum { MAX_ITEMS = 1 << 24 };

poprt_status prt_plugin_check_attr(const poprt_attr *a)
{
    if (a == NULL || a->name == NULL || a->name[0] == '\0' || strlen(a->name) > 128)
        return prt_fail(POPRT_E_ARG, NULL, "an attribute needs a name of at most 128 bytes");
    if (a->kind < POPRT_ATTR_INT || a->kind > POPRT_ATTR_FLOATS)
        return prt_fail(POPRT_E_ARG, NULL, "attribute %s: kind %d is not a POPRT_ATTR_ value",
            a->name, a->kind);
    const void *data = a->kind == POPRT_ATTR_STRING ? (const void *)a->string
        : a->kind == POPRT_ATTR_INTS                ? (const void *)a->ints
                                                    : (const void *)a->floats;
    if (a->kind >= POPRT_ATTR_STRING && a->count != 0 && (data == NULL || a->count > MAX_ITEMS))
        return prt_fail(POPRT_E_ARG, NULL, "attribute %s: a list is NULL or too long", a->name);
    return POPRT_OK;
}

poprt_status prt_plugin_export_attr(const prt_attr_def *row, const void *attrs, poprt_attr *out)
{
    const void *field = (const char *)attrs + row->offset;
    poprt_attr a = { .name = row->name };
    switch (prt_attr_outer_kind(row->kind)) {
    case PRT_ATTR_i64:
        a.kind = POPRT_ATTR_INT;
        a.integer = *(const int64_t *)field;
        break;
    case PRT_ATTR_f32:
        a.kind = POPRT_ATTR_FLOAT;
        a.real = *(const float *)field;
        break;
    case PRT_ATTR_str: {
        const prt_str text = prt_attr_text(row->kind, field);
        a.kind = POPRT_ATTR_STRING;
        a.string = text.data;
        a.count = text.size;
        break;
    }
    case PRT_ATTR_i64s:
        a.kind = POPRT_ATTR_INTS;
        a.ints = ((const prt_i64s *)field)->data;
        a.count = ((const prt_i64s *)field)->count;
        break;
    case PRT_ATTR_f32s:
        a.kind = POPRT_ATTR_FLOATS;
        a.floats = ((const prt_f32s *)field)->data;
        a.count = ((const prt_f32s *)field)->count;
        break;
    default:
        return prt_fail(POPRT_E_UNSUPPORTED, NULL,
            "attribute %s is a tensor, a graph, a type or a list of strings, which poprt_attr "
            "cannot hold",
            row->name);
    }
    *out = a;
    return POPRT_OK;
}

static poprt_status copy_items(prt_arena *arena, const void *items, size_t size, const void **out)
{
    *out = prt_arena_copy(arena, size != 0 ? items : "", size != 0 ? size : 1);
    return *out != NULL ? POPRT_OK : POPRT_E_NOMEM;
}

poprt_status prt_plugin_copy_attr(prt_arena *arena, const prt_attr_def *row, uint32_t index,
    const poprt_attr *a, void *attrs)
{
    static const int32_t kinds[] = { [PRT_ATTR_i64] = POPRT_ATTR_INT,
        [PRT_ATTR_f32] = POPRT_ATTR_FLOAT,
        [PRT_ATTR_str] = POPRT_ATTR_STRING,
        [PRT_ATTR_i64s] = POPRT_ATTR_INTS,
        [PRT_ATTR_f32s] = POPRT_ATTR_FLOATS,
        [PRT_ATTR_type] = 0 };
    void *field = (char *)attrs + row->offset;
    const void *items = NULL;
    uint32_t n_words;
    if (kinds[prt_attr_outer_kind(row->kind)] != a->kind)
        return prt_fail(POPRT_E_TYPE, NULL, "attribute %s has another kind", row->name);
    switch (a->kind) {
    case POPRT_ATTR_INT:
        *(int64_t *)field = a->integer;
        break;
    case POPRT_ATTR_FLOAT:
        *(float *)field = a->real;
        break;
    case POPRT_ATTR_STRING:
        if (prt_attr_words(row->kind, &n_words) != NULL) {
            if (!prt_attr_set_word(row->kind, (prt_str){ a->string, a->count }, field))
                return prt_fail(POPRT_E_ARG, NULL, "attribute %s has no value '%.*s'", row->name,
                    a->count < 100 ? (int)a->count : 100, a->string);
            break;
        }
        items = prt_arena_text(arena, a->count != 0 ? a->string : "", a->count);
        if (items == NULL)
            return POPRT_E_NOMEM;
        *(prt_str *)field = (prt_str){ items, a->count };
        break;
    case POPRT_ATTR_INTS:
        PRT_TRY(copy_items(arena, a->ints, a->count * sizeof(int64_t), &items));
        *(prt_i64s *)field = (prt_i64s){ items, a->count };
        break;
    default:
        PRT_TRY(copy_items(arena, a->floats, a->count * sizeof(float), &items));
        *(prt_f32s *)field = (prt_f32s){ items, a->count };
        break;
    }
    *(uint64_t *)attrs |= (uint64_t)1 << index;
    return POPRT_OK;
}

poprt_type prt_plugin_export_type(const prt_type *type)
{
    poprt_type t = { .dtype = POPRT_DTYPE_UNDEFINED, .rank = -1 };
    if (prt_type_is_tensor(type)) {
        t.dtype = type->dtype;
        t.rank = type->rank <= POPRT_PLUGIN_MAX_RANK ? type->rank : -1;
    }
    for (int32_t i = 0; i < t.rank; i++)
        t.dims[i] = type->dims[i] != PRT_DIM_UNKNOWN ? type->dims[i] : -1;
    return t;
}
