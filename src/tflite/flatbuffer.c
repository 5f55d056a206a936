/* SPDX-License-Identifier: MIT */
/* flatbuffer.c — reads the tables, vectors and texts of a FlatBuffer. */
#include "tflite/flatbuffer.h"

#include <stdio.h>

#include "base/size.h"
#include "base/status.h"

enum {
    OFFSET = 4,       /* size of an offset, and of the length of a vector, in bytes */
    MIN_VTABLE = 4,   /* size of a vtable without slots */
    SHARED = 16,      /* how often each byte of a file may be read */
    FREE_WORK = 1024, /* work for the smallest files */
    TABLE_WORK = 8    /* work of opening a table; a table and its offset have at least 8 bytes */
};

/* Size of a scalar, or of an item of a vector, by kind. */
static const uint8_t widths[] = { [PRT_FLAT_bool] = 1,
    [PRT_FLAT_u8] = 1,
    [PRT_FLAT_i8] = 1,
    [PRT_FLAT_i32] = 4,
    [PRT_FLAT_u32] = 4,
    [PRT_FLAT_u64] = 8,
    [PRT_FLAT_f32] = 4,
    [PRT_FLAT_subgraph] = 4,
    [PRT_FLAT_dtype] = 1,
    [PRT_FLAT_text] = 1,
    [PRT_FLAT_table] = OFFSET,
    [PRT_FLAT_tables] = OFFSET,
    [PRT_FLAT_u8s] = 1,
    [PRT_FLAT_u16s] = 2,
    [PRT_FLAT_i32s] = 4,
    [PRT_FLAT_i64s] = 8,
    [PRT_FLAT_f32s] = 4,
    [PRT_FLAT_union] = 1 };

static uint32_t u16_at(const prt_flat *f, size_t at)
{
    return (uint32_t)(f->data[at] | f->data[at + 1] << 8);
}

static uint32_t u32_at(const prt_flat *f, size_t at)
{
    return u16_at(f, at) | u16_at(f, at + 2) << 16;
}

prt_flat prt_flat_open(const void *data, size_t size)
{
    return (prt_flat){ .data = data,
        .size = size,
        .work = prt_saturating_add(prt_saturating_mul(size, SHARED), FREE_WORK) };
}

poprt_status prt_flat_fail(const prt_flat_table *t, const prt_flat_field *field,
    poprt_status status, const char *what)
{
    prt_flat *f = t->file;
    if (f->status == POPRT_OK)
        f->status = prt_fail(status, NULL, "%s %zu at byte %zu%s%s: %s", t->message->name, t->index,
            t->at, field != NULL ? ", field " : "", field != NULL ? field->name : "", what);
    return f->status;
}

/* Takes `work` off the budget of the file. */
static bool spend(const prt_flat_table *t, const prt_flat_field *field, uint64_t work)
{
    prt_flat *f = t->file;
    if (work > f->work) {
        (void)prt_flat_fail(t, field, POPRT_E_LIMIT,
            "too many tables or vectors share the same bytes");
        return false;
    }
    f->work -= work;
    return true;
}

/* Checks the extents of the table at `t->at` and of its vtable. */
static bool open_table(prt_flat_table *t)
{
    const prt_flat *f = t->file;
    if (t->at % OFFSET != 0 || t->at == 0 || t->at > f->size || f->size - t->at < OFFSET)
        return prt_flat_fail(t, NULL, POPRT_E_PARSE, "lies outside of the file or misaligned"),
               false;
    const int64_t vtable = (int64_t)t->at - (int32_t)u32_at(f, t->at);
    if (vtable < 0 || vtable % 2 != 0 || (uint64_t)vtable > f->size ||
        f->size - (size_t)vtable < MIN_VTABLE)
        return prt_flat_fail(t, NULL, POPRT_E_PARSE, "its vtable lies outside of the file"), false;
    t->vtable = (size_t)vtable;
    t->vtable_size = u16_at(f, t->vtable);
    t->size = u16_at(f, t->vtable + 2);
    if (t->vtable_size < MIN_VTABLE || t->vtable_size % 2 != 0 ||
        t->vtable_size > f->size - t->vtable)
        return prt_flat_fail(t, NULL, POPRT_E_PARSE, "its vtable exceeds the file"), false;
    if (t->size < OFFSET || t->size > f->size - t->at)
        return prt_flat_fail(t, NULL, POPRT_E_PARSE, "exceeds the file"), false;
    return spend(t, NULL, TABLE_WORK);
}

/* Returns the table at `at`, or an absent one if it is damaged. */
static prt_flat_table table_at(prt_flat *f, size_t at, size_t index,
    const prt_flat_message *message)
{
    prt_flat_table t = { .file = f, .message = message, .index = index, .at = at };
    if (f->status != POPRT_OK || !open_table(&t))
        t.at = 0;
    return t;
}

/* Returns the position of the value in a slot, which has `width` bytes; 0 where it is absent. */
static size_t slot_at(const prt_flat_table *t, const prt_flat_field *field, uint32_t slot,
    uint32_t width)
{
    const uint32_t entry = MIN_VTABLE + 2 * slot;
    if (t->at == 0 || t->file->status != POPRT_OK || entry + 2 > t->vtable_size)
        return 0;
    const uint32_t offset = u16_at(t->file, t->vtable + entry);
    if (offset == 0)
        return 0;
    if (offset < OFFSET || offset > t->size || t->size - offset < width)
        return prt_flat_fail(t, field, POPRT_E_PARSE, "lies outside of its table"), 0;
    if ((t->at + offset) % width != 0)
        return prt_flat_fail(t, field, POPRT_E_PARSE, "is misaligned"), 0;
    return t->at + offset;
}

/* Returns the position that the offset at `at` points to; 0 after a failure. */
static size_t follow(const prt_flat_table *t, const prt_flat_field *field, size_t at)
{
    const uint32_t offset = u32_at(t->file, at);
    if (offset < OFFSET || offset > t->file->size - at)
        return prt_flat_fail(t, field, POPRT_E_PARSE, "points outside of the file"), 0;
    return at + offset;
}

prt_flat_table prt_flat_root(prt_flat *f, const prt_flat_message *message)
{
    const prt_flat_table none = { .file = f, .message = message };
    if (f->size < OFFSET) {
        (void)prt_flat_fail(&none, NULL, POPRT_E_PARSE, "the file is truncated");
        return none;
    }
    return table_at(f, u32_at(f, 0), 0, message);
}

/* Reads a number of `kind` at `p`. */
static int64_t load(uint32_t kind, const unsigned char *p)
{
    int64_t wide;
    int32_t word;
    uint16_t half;
    switch (widths[kind]) {
    case 1:
        return kind == PRT_FLAT_i8 || kind == PRT_FLAT_dtype ? (int8_t)*p : *p;
    case 2:
        memcpy(&half, p, sizeof(half));
        return half;
    case 4:
        memcpy(&word, p, sizeof(word));
        return kind == PRT_FLAT_u32 ? (int64_t)(uint32_t)word : word;
    default:
        memcpy(&wide, p, sizeof(wide));
        return wide;
    }
}

int64_t prt_flat_int(const prt_flat_table *t, const prt_flat_field *field)
{
    PRT_ASSERT(field->kind <= PRT_FLAT_dtype && field->kind != PRT_FLAT_f32);
    const size_t at = slot_at(t, field, field->slot, widths[field->kind]);
    const int64_t value = at != 0 ? load(field->kind, t->file->data + at) : field->fallback;
    if (field->kind == PRT_FLAT_u64 && value < 0)
        return prt_flat_fail(t, field, POPRT_E_PARSE, "is above the maximum"), 0;
    return value;
}

float prt_flat_f32(const prt_flat_table *t, const prt_flat_field *field)
{
    PRT_ASSERT(field->kind == PRT_FLAT_f32);
    const size_t at = slot_at(t, field, field->slot, sizeof(float));
    float value = field->fallback;
    if (at != 0)
        memcpy(&value, t->file->data + at, sizeof(value));
    return value;
}

prt_flat_vector prt_flat_items(const prt_flat_table *t, const prt_flat_field *field)
{
    prt_flat_vector v = { .owner = *t, .field = field };
    const size_t slot = slot_at(t, field, field->slot, OFFSET);
    const size_t at = slot != 0 ? follow(t, field, slot) : 0;
    if (at == 0)
        return v;
    const size_t size = t->file->size;
    if (at % OFFSET != 0 || size - at < OFFSET ||
        u32_at(t->file, at) > (size - at - OFFSET) / widths[field->kind]) {
        (void)prt_flat_fail(t, field, POPRT_E_PARSE, "its items exceed the file");
        return v;
    }
    v.data = t->file->data + at + OFFSET;
    v.count = u32_at(t->file, at);
    return v;
}

int64_t prt_flat_item_int(const prt_flat_vector *v, size_t index)
{
    PRT_ASSERT(index < v->count);
    if (!spend(&v->owner, v->field, 1))
        return 0;
    return load(v->field->kind, v->data + index * widths[v->field->kind]);
}

float prt_flat_item_f32(const prt_flat_vector *v, size_t index)
{
    PRT_ASSERT(v->field->kind == PRT_FLAT_f32s && index < v->count);
    float value = 0;
    if (spend(&v->owner, v->field, 1))
        memcpy(&value, v->data + index * sizeof(value), sizeof(value));
    return value;
}

prt_flat_table prt_flat_item(const prt_flat_vector *v, size_t index,
    const prt_flat_message *message)
{
    PRT_ASSERT(v->field->kind == PRT_FLAT_tables && index < v->count);
    prt_flat *f = v->owner.file;
    const size_t at = follow(&v->owner, v->field, (size_t)(v->data - f->data) + index * OFFSET);
    if (at == 0)
        return (prt_flat_table){ .file = f, .message = message, .index = index };
    return table_at(f, at, index, message);
}

prt_str prt_flat_text(const prt_flat_table *t, const prt_flat_field *field)
{
    PRT_ASSERT(field->kind == PRT_FLAT_text);
    const prt_flat_vector v = prt_flat_items(t, field);
    if (v.data == NULL || !spend(t, field, v.count))
        return (prt_str){ 0 };
    return (prt_str){ (const char *)v.data, (uint32_t)v.count };
}

/* Returns the table that the offset in a slot points to. */
static prt_flat_table child_at(const prt_flat_table *t, const prt_flat_field *field, uint32_t slot,
    const prt_flat_message *message)
{
    const size_t offset = slot_at(t, field, slot, OFFSET);
    const size_t at = offset != 0 ? follow(t, field, offset) : 0;
    if (at == 0)
        return (prt_flat_table){ .file = t->file, .message = message, .index = t->index };
    return table_at(t->file, at, t->index, message);
}

prt_flat_table prt_flat_child(const prt_flat_table *t, const prt_flat_field *field,
    const prt_flat_message *message)
{
    PRT_ASSERT(field->kind == PRT_FLAT_table);
    return child_at(t, field, field->slot, message);
}

uint32_t prt_flat_union_type(const prt_flat_table *t, const prt_flat_field *field)
{
    PRT_ASSERT(field->kind == PRT_FLAT_union);
    const size_t at = slot_at(t, field, field->slot, 1);
    return at != 0 ? t->file->data[at] : 0;
}

prt_flat_table prt_flat_union(const prt_flat_table *t, const prt_flat_field *field,
    const prt_flat_message *message)
{
    const uint32_t type = prt_flat_union_type(t, field);
    const prt_flat_table none = { .file = t->file, .message = message, .index = t->index };
    if (type == 0)
        return none;
    if (type != message->type) {
        char text[96];
        (void)snprintf(text, sizeof(text), "has type %u; must be %u, %s", type, message->type,
            message->name);
        (void)prt_flat_fail(t, field, POPRT_E_PARSE, text);
        return none;
    }
    return child_at(t, field, field->slot + 1u, message);
}
