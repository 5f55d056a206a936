/* SPDX-License-Identifier: MIT */
/* attr.c — converts attributes and types between the typed structs of operators and the structs of
 * plugin.h. */
#include "op/words.h"
#include "plugin/internal.h"

enum { MAX_ITEMS = 1 << 24 };

/* ---- checks */

static poprt_status check_strings(const poprt_attr *a)
{
    const poprt_string *s = poprt_attr_object(a);
    for (uint32_t i = 0; i < a->count; i++)
        if ((s[i].data == NULL && s[i].size != 0) || s[i].size >= UINT32_MAX)
            return prt_fail(POPRT_E_ARG, NULL, "attribute %s: string %u is NULL or too long",
                a->name, i);
    return POPRT_OK;
}

poprt_status prt_plugin_import_tensor(const char *name, const poprt_tensor *t, prt_tensor *out)
{
    if (t->dtype <= PRT_DTYPE_undefined || t->dtype >= PRT_DTYPE_COUNT || t->rank > PRT_MAX_RANK ||
        (t->rank != 0 && t->dims == NULL))
        return prt_fail(POPRT_E_ARG, NULL, "%s needs a tensor of rank 0 to %d", name, PRT_MAX_RANK);
    for (uint32_t i = 0; i < t->rank; i++)
        if (t->dims[i] < 0)
            return prt_fail(POPRT_E_ARG, NULL, "%s: dim %u is negative", name, i);
    if (!prt_tensor_init(out, t->dtype, t->rank, t->dims, t->data) || out->size != t->size ||
        (t->size != 0 && t->data == NULL))
        return prt_fail(POPRT_E_ARG, NULL,
            "%s has a tensor of %zu bytes, which does not match its dims", name, t->size);
    const poprt_string *s = t->data;
    for (size_t i = 0; t->dtype == PRT_DTYPE_string && i < prt_tensor_count(out); i++)
        if ((s[i].data == NULL && s[i].size != 0) || s[i].size >= UINT32_MAX)
            return prt_fail(POPRT_E_ARG, NULL, "%s: string %zu is NULL or too long", name, i);
    return POPRT_OK;
}

poprt_status prt_plugin_check_attr(const poprt_attr *a)
{
    prt_tensor t;
    if (a == NULL || a->name == NULL || a->name[0] == '\0' ||
        strlen(a->name) > PRT_PLUGIN_ATTR_NAME)
        return prt_fail(POPRT_E_ARG, NULL, "an attribute needs a name of at most %d bytes",
            PRT_PLUGIN_ATTR_NAME);
    if (a->kind < POPRT_ATTR_INT || a->kind > POPRT_ATTR_GRAPH)
        return prt_fail(POPRT_E_ARG, NULL, "attribute %s: kind %d is not a POPRT_ATTR_ value",
            a->name, a->kind);
    const void *data = a->kind == POPRT_ATTR_INTS ? (const void *)a->ints
        : a->kind == POPRT_ATTR_FLOATS            ? (const void *)a->floats
                                                  : (const void *)a->string;
    const bool is_list = a->kind >= POPRT_ATTR_STRING && a->kind <= POPRT_ATTR_STRINGS;
    if (is_list && a->count != 0 && (data == NULL || a->count > MAX_ITEMS))
        return prt_fail(POPRT_E_ARG, NULL, "attribute %s: a list is NULL or too long", a->name);
    if (a->kind == POPRT_ATTR_STRINGS)
        return check_strings(a);
    return a->kind == POPRT_ATTR_TENSOR && data != NULL
        ? prt_plugin_import_tensor(a->name, data, &t)
        : POPRT_OK;
}

/* ---- from typed structs */

poprt_status prt_plugin_export_strings(prt_strs from, prt_plugin_memory memory, poprt_attr *out)
{
    const size_t count = from.count;
    poprt_string *s = memory.alloc(memory.context, (count + 1) * sizeof(*s));
    if (s == NULL)
        return POPRT_E_NOMEM;
    for (size_t i = 0; i < count; i++)
        s[i] = (poprt_string){ from.data[i].data, from.data[i].size };
    *out = poprt_attr_strings(out->name, s, from.count);
    return POPRT_OK;
}

static poprt_status export_tensor(const prt_tensor *from, prt_plugin_memory memory, poprt_attr *out)
{
    poprt_tensor *t = NULL;
    if (from != NULL) {
        t = memory.alloc(memory.context, sizeof(*t));
        if (t == NULL)
            return POPRT_E_NOMEM;
        prt_plugin_export_tensor(from, t);
    }
    *out = poprt_attr_tensor(out->name, t);
    return POPRT_OK;
}

static poprt_status export_type(const prt_type *from, prt_plugin_memory memory, poprt_attr *out)
{
    poprt_type *t = NULL;
    if (from != NULL) {
        t = memory.alloc(memory.context, sizeof(*t));
        if (t == NULL)
            return POPRT_E_NOMEM;
        *t = prt_plugin_export_type(from);
    }
    *out = poprt_attr_type(out->name, t);
    return POPRT_OK;
}

bool prt_plugin_attr_needs_memory(uint32_t kind)
{
    return kind == PRT_ATTR_strs || kind == PRT_ATTR_tensor || kind == PRT_ATTR_type;
}

poprt_status prt_plugin_export_attr(const prt_attr_def *row, const void *attrs,
    prt_plugin_memory memory, poprt_attr *out)
{
    const void *field = (const char *)attrs + row->offset;
    poprt_attr a = { .name = prt_attr_name(row) };
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
    case PRT_ATTR_strs:
        PRT_TRY(prt_plugin_export_strings(*(const prt_strs *)field, memory, &a));
        break;
    case PRT_ATTR_tensor:
        PRT_TRY(export_tensor(*(const prt_tensor *const *)field, memory, &a));
        break;
    case PRT_ATTR_type:
        PRT_TRY(export_type(*(const prt_type *const *)field, memory, &a));
        break;
    default: /* the caller adds the graph, where one can be shown */
        a = poprt_attr_of(prt_attr_name(row), POPRT_ATTR_GRAPH, 1, NULL);
        break;
    }
    *out = a;
    return POPRT_OK;
}

/* ---- to typed structs */

static poprt_status copy_items(prt_arena *arena, const void *items, size_t size, const void **out)
{
    *out = prt_arena_copy(arena, size != 0 ? items : "", size != 0 ? size : 1);
    return *out != NULL ? POPRT_OK : POPRT_E_NOMEM;
}

static poprt_status copy_text(prt_arena *arena, const char *data, size_t size, prt_str *out)
{
    const char *text = prt_arena_text(arena, size != 0 ? data : "", size);
    *out = (prt_str){ text, (uint32_t)size };
    return text != NULL ? POPRT_OK : POPRT_E_NOMEM;
}

static poprt_status copy_string(prt_arena *arena, const prt_attr_def *row, const poprt_attr *a,
    void *field)
{
    uint32_t n_words;
    if (prt_attr_words(row->kind, &n_words) == NULL)
        return copy_text(arena, a->string, a->count, field);
    if (!prt_attr_set_word(row->kind, (prt_str){ a->string, a->count }, field))
        return prt_fail(POPRT_E_ARG, NULL, "attribute %s has no value '%.*s'", prt_attr_name(row),
            a->count < 100 ? (int)a->count : 100, a->string);
    return POPRT_OK;
}

poprt_status prt_plugin_copy_strings(prt_arena *arena, const poprt_attr *a, prt_strs *out)
{
    const poprt_string *from = poprt_attr_object(a);
    prt_str *to = PRT_NEW_N(arena, prt_str, (size_t)a->count + 1);
    if (to == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < a->count; i++)
        PRT_TRY(copy_text(arena, from[i].data, from[i].size, &to[i]));
    *out = (prt_strs){ to, a->count };
    return POPRT_OK;
}

static poprt_status copy_tensor(prt_arena *arena, const poprt_attr *a, const prt_tensor **out)
{
    prt_tensor *t = PRT_NEW(arena, prt_tensor);
    if (t == NULL)
        return POPRT_E_NOMEM;
    PRT_TRY(prt_plugin_import_tensor(a->name, poprt_attr_object(a), t));
    const poprt_string *from = t->data;
    t->data = prt_arena_copy(arena, t->size != 0 ? t->data : "", t->size != 0 ? t->size : 1);
    poprt_string *to = t->data;
    if (to == NULL)
        return POPRT_E_NOMEM;
    for (size_t i = 0; t->dtype == PRT_DTYPE_string && i < prt_tensor_count(t); i++) {
        prt_str text;
        PRT_TRY(copy_text(arena, from[i].data, from[i].size, &text));
        to[i] = (poprt_string){ text.data, text.size };
    }
    *out = t;
    return POPRT_OK;
}

/* Makes a type of the module. Its expressions must be those of the module. */
static poprt_status copy_type(prt_module *m, const poprt_attr *a, const prt_type **out)
{
    const poprt_type *t = poprt_attr_object(a);
    int64_t dims[PRT_MAX_RANK];
    if (t->dtype < 0 || t->dtype >= PRT_DTYPE_COUNT || t->rank < -1 || t->rank > PRT_MAX_RANK)
        return prt_fail(POPRT_E_ARG, NULL, "attribute %s needs a type of rank -1 to %d", a->name,
            PRT_MAX_RANK);
    for (int32_t i = 0; i < t->rank; i++)
        if (!prt_plugin_import_dim(m->dims, t->dims[i], &dims[i]))
            return prt_fail(POPRT_E_ARG, NULL, "attribute %s: dim %d is negative", a->name, i);
    *out = prt_type_tensor(m->types, t->dtype, t->rank < 0 ? PRT_RANK_UNKNOWN : t->rank, dims);
    return *out != NULL ? POPRT_OK : POPRT_E_NOMEM;
}

poprt_status prt_plugin_copy_attr(prt_arena *arena, prt_module *module, const prt_attr_def *row,
    uint32_t index, const poprt_attr *a, void *attrs)
{
    void *field = (char *)attrs + row->offset;
    const void *items = NULL;
    if (prt_plugin_attr_kind(row->kind) != a->kind)
        return prt_fail(POPRT_E_TYPE, NULL, "attribute %s has another kind", prt_attr_name(row));
    if (a->kind >= POPRT_ATTR_TENSOR && (a->kind == POPRT_ATTR_GRAPH || a->string == NULL))
        return prt_fail(POPRT_E_ARG, NULL,
            "attribute %s: a graph cannot be set, and a tensor or "
            "type must not be NULL",
            prt_attr_name(row));
    switch (a->kind) {
    case POPRT_ATTR_INT:
        *(int64_t *)field = a->integer;
        break;
    case POPRT_ATTR_FLOAT:
        *(float *)field = a->real;
        break;
    case POPRT_ATTR_STRING:
        PRT_TRY(copy_string(arena, row, a, field));
        break;
    case POPRT_ATTR_INTS:
        PRT_TRY(copy_items(arena, a->ints, a->count * sizeof(int64_t), &items));
        *(prt_i64s *)field = (prt_i64s){ items, a->count };
        break;
    case POPRT_ATTR_FLOATS:
        PRT_TRY(copy_items(arena, a->floats, a->count * sizeof(float), &items));
        *(prt_f32s *)field = (prt_f32s){ items, a->count };
        break;
    case POPRT_ATTR_STRINGS:
        PRT_TRY(prt_plugin_copy_strings(arena, a, field));
        break;
    case POPRT_ATTR_TENSOR:
        PRT_TRY(copy_tensor(arena, a, field));
        break;
    default:
        PRT_TRY(copy_type(module, a, field));
        break;
    }
    *(uint64_t *)attrs |= (uint64_t)1 << index;
    return POPRT_OK;
}

int32_t prt_plugin_attr_kind(uint32_t kind)
{
    static const int32_t kinds[] = { [PRT_ATTR_i64] = POPRT_ATTR_INT,
        [PRT_ATTR_f32] = POPRT_ATTR_FLOAT,
        [PRT_ATTR_str] = POPRT_ATTR_STRING,
        [PRT_ATTR_i64s] = POPRT_ATTR_INTS,
        [PRT_ATTR_f32s] = POPRT_ATTR_FLOATS,
        [PRT_ATTR_strs] = POPRT_ATTR_STRINGS,
        [PRT_ATTR_tensor] = POPRT_ATTR_TENSOR,
        [PRT_ATTR_type] = POPRT_ATTR_TYPE,
        [PRT_ATTR_graph] = POPRT_ATTR_GRAPH };
    return kinds[prt_attr_outer_kind(kind)];
}

bool prt_plugin_import_dim(const prt_dims *dims, int64_t dim, int64_t *out)
{
    *out = dim == -1 ? PRT_DIM_UNKNOWN : dim;
    if (*out == PRT_DIM_UNKNOWN || *out >= 0)
        return true;
    return prt_dim_is_expr(dim) && dims != NULL && prt_dim_index(dim) < prt_dims_count(dims);
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
