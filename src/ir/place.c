/* SPDX-License-Identifier: MIT */
/* place.c — places of ops, and their marks. */
#include "ir/place.h"

#include "ir/extra.h"

#define PRIORITY_MARK "__schedule_priority"

static const struct {
    const char *name, *mark;
    size_t offset;
} fields[] = {
#define PLACE(field, mark) { #field, mark, offsetof(prt_place, field) },
#include "ir/place.def"
};

static const prt_place unset = {
#define PLACE(field, mark) .field = -1,
#include "ir/place.def"
    .priority = 0
};

static int32_t *at(prt_place *place, size_t index)
{
    return (int32_t *)(void *)((char *)place + fields[index].offset);
}

static int32_t get(const prt_place *place, size_t index)
{
    return *(const int32_t *)(const void *)((const char *)place + fields[index].offset);
}

int32_t *prt_place_field(prt_place *place, prt_str name)
{
    for (size_t i = 0; i < PRT_COUNT_OF(fields); i++)
        if (prt_str_is(name, fields[i].name))
            return at(place, i);
    return NULL;
}

const char *prt_place_name(uint32_t index)
{
    return index < PRT_COUNT_OF(fields) ? fields[index].name : NULL;
}

const prt_place *prt_op_place(const prt_op *op)
{
    return op->place != NULL ? op->place : &unset;
}

/* ---- records */

static bool equal(const prt_place *a, const prt_place *b)
{
    for (size_t i = 0; i < PRT_COUNT_OF(fields); i++)
        if (get(a, i) != get(b, i))
            return false;
    return memcmp(&a->priority, &b->priority, sizeof(float)) == 0;
}

/* A copy in which all fields that are not set are -1. */
static prt_place normal(const prt_place *place)
{
    prt_place p = *place;
    for (size_t i = 0; i < PRT_COUNT_OF(fields); i++)
        if (*at(&p, i) < 0)
            *at(&p, i) = -1;
    if (p.direction == PRT_PLACE_FORWARD)
        p.direction = -1;
    if (p.priority == 0)
        p.priority = 0; /* -0 */
    return p;
}

static prt_str key_of(const prt_place *place)
{
    return (prt_str){ (const char *)place, sizeof(*place) };
}

poprt_status prt_place_intern(prt_module *module, const prt_place *place, const prt_place **out)
{
    const prt_place p = normal(place);
    *out = NULL;
    if (equal(&p, &unset))
        return POPRT_OK;
    const prt_place *known = prt_map_find(&module->places, key_of(&p));
    if (known == NULL) {
        prt_place *made = prt_arena_copy(module->arena, &p, sizeof(p));
        if (made == NULL)
            return POPRT_E_NOMEM;
        PRT_TRY(prt_map_set(&module->places, key_of(made), made));
        known = made;
    }
    *out = known;
    return POPRT_OK;
}

/* ---- marks */

/* Reads the marks of an op into `place`, which has the fields without a mark. */
static void read_marks(const prt_op *op, prt_place *place)
{
    for (size_t i = 0; i < PRT_COUNT_OF(fields); i++) {
        int64_t value = -1;
        if (fields[i].mark == NULL)
            continue;
        (void)prt_op_mark_i64(op, fields[i].mark, &value);
        *at(place, i) = value >= 0 && value <= INT32_MAX ? (int32_t)value : -1;
    }
    place->priority = 0;
    (void)prt_op_mark_f32(op, PRIORITY_MARK, &place->priority);
    if (place->priority != place->priority) /* NaN */
        place->priority = 0;
}

poprt_status prt_op_read_place(prt_op *op)
{
    prt_place place = *prt_op_place(op);
    read_marks(op, &place);
    return prt_place_intern(op->graph->module, &place, &op->place);
}

bool prt_op_place_agrees(const prt_op *op)
{
    prt_place place = *prt_op_place(op);
    read_marks(op, &place);
    place = normal(&place);
    return equal(&place, prt_op_place(op));
}

static poprt_status write_field(prt_op *op, const char *mark, int32_t value)
{
    if (mark == NULL)
        return POPRT_OK;
    return value >= 0 ? prt_op_set_mark_i64(op, mark, value) : prt_op_remove_mark(op, mark);
}

poprt_status prt_op_set_place(prt_op *op, const prt_place *place)
{
    const prt_place before = *prt_op_place(op), now = normal(place);
    const prt_place *record;
    PRT_TRY(prt_place_intern(op->graph->module, &now, &record));
    for (size_t i = 0; i < PRT_COUNT_OF(fields); i++)
        if (get(&before, i) != get(&now, i))
            PRT_TRY(write_field(op, fields[i].mark, get(&now, i)));
    if (memcmp(&before.priority, &now.priority, sizeof(float)) != 0)
        PRT_TRY(now.priority != 0 ? prt_op_set_mark_f32(op, PRIORITY_MARK, now.priority)
                                  : prt_op_remove_mark(op, PRIORITY_MARK));
    op->place = record;
    return POPRT_OK;
}

/* ---- ops in place of others */

poprt_status prt_op_inherit_place(prt_op *op, const prt_op *from)
{
    prt_place place = *prt_op_place(op);
    for (size_t i = 0; i < PRT_COUNT_OF(fields); i++)
        if (fields[i].mark == NULL && *at(&place, i) < 0)
            *at(&place, i) = get(prt_op_place(from), i);
    return prt_place_intern(op->graph->module, &place, &op->place);
}

static bool comes_after(const prt_place *a, const prt_place *b)
{
    if (a->direction != b->direction)
        return a->direction > b->direction;
    return a->phase != b->phase ? a->phase > b->phase : a->stage > b->stage;
}

poprt_status prt_op_join_place(prt_op *op, const prt_op *member)
{
    const prt_place *own = prt_op_place(op), *other = prt_op_place(member);
    if (own == other || !comes_after(other, own))
        return POPRT_OK;
    prt_place joined = *other;
    joined.recompute = own->recompute;
    joined.priority = own->priority;
    return prt_op_set_place(op, &joined);
}
