/* SPDX-License-Identifier: MIT */
/* table.c — the operator table: every row of ops.def as a prt_op_def, and lookups. */
#include <stdio.h>

#include "op/words.h"

#define OP_BEGIN(id, domain, name, since, traits) extern const prt_op_hooks prt_op_##id;
#include "op/ops.def"

/* Attribute structs with their defaults. */
#define OP_BEGIN(id, domain, name, since, traits)                                                  \
    static const prt_##id##_attrs defaults_##id = { .present = 0,
#define ATTR(id, kind, name, def) .name = def,
#define OP_END(id)                                                                                 \
    }                                                                                              \
    ;
#include "op/ops.def"

/* Reflection rows: one array per kind holds the rows of all operators in order. Enumerators mark
 * the index of an operator's first row and of its end, and that of each row. Names follow the
 * array: each is a member of its own, because a literal may have 4,095 characters. */
#define ROW(kind, id, line) ROW_(kind, id, line)
#define ROW_(kind, id, line) kind##_##id##_##line
#define AT_BEGIN(kind, id) kind##_at_##id, kind##_before_##id = kind##_at_##id - 1,
#define AT_END(kind, id) kind##_end_##id, kind##_last_##id = kind##_end_##id - 1,
#define NAME_AT(kind, id, line)                                                                    \
    offsetof(struct kind##_rows, ROW(kind, id, line)) -                                            \
        offsetof(struct kind##_rows, rows[ROW(kind, id, line)])

#define OP_BEGIN(id, domain, name, since, traits) AT_BEGIN(attrs, id)
#define ATTR(id, kind, name, def) ROW(attrs, id, __LINE__),
#define OP_END(id) AT_END(attrs, id)
enum {
#include "op/ops.def"
    attrs_count
};
#define ATTR(id, kind, name, def) char ROW(attrs, id, __LINE__)[sizeof(#name)];
static const struct attrs_rows {
    prt_attr_def rows[attrs_count];
#include "op/ops.def"
} attrs = {
    {
#define ATTR(id, kind, name, def)                                                                  \
    { NAME_AT(attrs, id, __LINE__), offsetof(prt_##id##_attrs, name), PRT_ATTR_##kind },
#include "op/ops.def"
    },
#define ATTR(id, kind, name, def) #name,
#include "op/ops.def"
};

#define OP_BEGIN(id, domain, name, since, traits) AT_BEGIN(types, id)
#define TYPE(id, var, set) ROW(types, id, __LINE__),
#define OP_END(id) AT_END(types, id)
enum {
#include "op/ops.def"
};
#define TYPE(id, var, set) { var, set },
static const prt_type_def types[] = {
#include "op/ops.def"
};

#define OP_BEGIN(id, domain, name, since, traits) AT_BEGIN(in, id)
#define IN(id, name, var, flags) ROW(in, id, __LINE__),
#define OP_END(id) AT_END(in, id)
enum {
#include "op/ops.def"
    in_count
};
#define IN(id, name, var, flags) char ROW(in, id, __LINE__)[sizeof(name)];
static const struct in_rows {
    prt_slot_def rows[in_count];
#include "op/ops.def"
} inputs = {
    {
#define IN(id, name, var, flags) { NAME_AT(in, id, __LINE__), var, flags },
#include "op/ops.def"
    },
#define IN(id, name, var, flags) name,
#include "op/ops.def"
};

#define OP_BEGIN(id, domain, name, since, traits) AT_BEGIN(out, id)
#define OUT(id, name, var, flags) ROW(out, id, __LINE__),
#define OP_END(id) AT_END(out, id)
enum {
#include "op/ops.def"
    out_count
};
#define OUT(id, name, var, flags) char ROW(out, id, __LINE__)[sizeof(name)];
static const struct out_rows {
    prt_slot_def rows[out_count];
#include "op/ops.def"
} outputs = {
    {
#define OUT(id, name, var, flags) { NAME_AT(out, id, __LINE__), var, flags },
#include "op/ops.def"
    },
#define OUT(id, name, var, flags) name,
#include "op/ops.def"
};

/* Numbers of arguments as constant expressions. A variadic slot has no maximum. */
enum {
#define OP_BEGIN(id, domain, name, since, traits) min_in_##id = 0
#define IN(id, name, var, flags) +(((flags)&PRT_SLOT_OPTIONAL) == 0)
#define OP_END(id) ,
#include "op/ops.def"
#define OP_BEGIN(id, domain, name, since, traits) open_in_##id = 0
#define IN(id, name, var, flags) | (((flags)&PRT_SLOT_VARIADIC) != 0)
#define OP_END(id) ,
#include "op/ops.def"
#define OP_BEGIN(id, domain, name, since, traits) min_out_##id = 0
#define OUT(id, name, var, flags) +(((flags)&PRT_SLOT_OPTIONAL) == 0)
#define OP_END(id) ,
#include "op/ops.def"
#define OP_BEGIN(id, domain, name, since, traits) open_out_##id = 0
#define OUT(id, name, var, flags) | (((flags)&PRT_SLOT_VARIADIC) != 0)
#define OP_END(id) ,
#include "op/ops.def"
};

#define ROWS(kind, id) (uint16_t)((int)kind##_end_##id - (int)kind##_at_##id)
#define OP_BEGIN(id_, domain_, name_, since_, traits_)                                             \
    [PRT_OP_##id_] = { .key = #id_,                                                                \
        .domain = domain_,                                                                         \
        .name = name_,                                                                             \
        .id = PRT_OP_##id_,                                                                        \
        .since = since_,                                                                           \
        .traits = traits_,                                                                         \
        .n_types = ROWS(types, id_),                                                               \
        .n_in = ROWS(in, id_),                                                                     \
        .n_out = ROWS(out, id_),                                                                   \
        .n_attrs = ROWS(attrs, id_),                                                               \
        .min_in = min_in_##id_,                                                                    \
        .max_in = open_in_##id_ ? UINT32_MAX : ROWS(in, id_),                                      \
        .min_out = min_out_##id_,                                                                  \
        .max_out = open_out_##id_ ? UINT32_MAX : ROWS(out, id_),                                   \
        .attrs_size = sizeof(prt_##id_##_attrs),                                                   \
        .types = types + types_at_##id_,                                                           \
        .in = inputs.rows + in_at_##id_,                                                           \
        .out = outputs.rows + out_at_##id_,                                                        \
        .attrs = attrs.rows + attrs_at_##id_,                                                      \
        .defaults = &defaults_##id_,                                                               \
        .hooks = &prt_op_##id_ },

static const prt_op_def table[] = {
#include "op/ops.def"
};

const prt_op_def *prt_op_of(uint32_t id)
{
    return id < PRT_OP_COUNT ? &table[id] : NULL;
}

const prt_op_def *prt_op_by_key(prt_str key)
{
    for (size_t i = 0; i < PRT_OP_COUNT; i++)
        if (prt_str_is(key, table[i].key))
            return &table[i];
    return NULL;
}

const prt_op_def *prt_op_find(prt_str domain, prt_str name)
{
    if (prt_str_is(domain, "ai.onnx"))
        domain = PRT_STR("");
    const char first = name.size != 0 ? name.data[0] : '\0'; /* avoids most string comparisons */
    for (size_t i = 0; i < PRT_OP_COUNT; i++)
        if (table[i].name[0] == first && prt_str_is(name, table[i].name) &&
            prt_str_is(domain, table[i].domain))
            return &table[i];
    return NULL;
}

const prt_op_def *prt_op_find_in(const prt_op_set *set, prt_str domain, prt_str name)
{
    const prt_op_def *def = prt_op_find(domain, name);
    for (size_t i = 0; def == NULL && set != NULL && i < set->count; i++)
        if (prt_str_is(name, set->rows[i]->def.name) &&
            prt_str_is(domain, set->rows[i]->def.domain))
            return &set->rows[i]->def;
    return def;
}

const char *prt_op_plugin(const prt_op_def *def)
{
    return def->id == PRT_OP_NONE ? ((const prt_op_row *)(const void *)def)->plugin : NULL;
}

static const prt_slot_def *slot_at(const prt_slot_def *slots, uint32_t n, uint32_t i)
{
    if (i < n)
        return &slots[i];
    if (n > 0 && (slots[n - 1].flags & PRT_SLOT_VARIADIC) != 0)
        return &slots[n - 1];
    return NULL;
}

const prt_slot_def *prt_op_in_slot(const prt_op_def *def, uint32_t i)
{
    return slot_at(def->in, def->n_in, i);
}

const prt_slot_def *prt_op_out_slot(const prt_op_def *def, uint32_t i)
{
    return slot_at(def->out, def->n_out, i);
}

const char *prt_attr_name(const prt_attr_def *row)
{
    return (const char *)row + row->name_at;
}

const char *prt_slot_name(const prt_slot_def *row)
{
    return (const char *)row + row->name_at;
}

uint32_t prt_op_attr(const prt_op_def *def, prt_str name)
{
    for (uint32_t i = 0; i < def->n_attrs; i++)
        if (prt_str_is(name, prt_attr_name(&def->attrs[i])))
            return i;
    return UINT32_MAX;
}

bool prt_op_only_moves(const prt_op_def *def, const void *values)
{
    const uint32_t k = prt_op_attr(def, PRT_STR("reduction"));
    if ((def->traits & PRT_MOVES) == 0)
        return false;
    if (k == UINT32_MAX || def->attrs[k].kind != PRT_ATTR_str)
        return true;
    const void *how = (const char *)values + def->attrs[k].offset;
    return prt_str_is(*(const prt_str *)how, "none");
}

bool prt_op_changes_input(const prt_op_def *def, const void *values, uint32_t in)
{
    if ((def->traits & PRT_CALLS) == 0)
        return false;
    const prt_attr_def *row = &def->attrs[prt_op_attr(def, PRT_STR("modifiedInputs"))];
    const prt_i64s *list = (const prt_i64s *)(const void *)((const char *)values + row->offset);
    for (uint32_t i = 0; i < list->count; i++)
        if (list->data[i] == in)
            return true;
    return false;
}
