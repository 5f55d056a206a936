/* SPDX-License-Identifier: MIT */
/* wire.h — fields of protobuf messages: a writer into a buffer, and a reader, for extra.c. */
#ifndef PRT_IR_WIRE_H
#define PRT_IR_WIRE_H

#include "base/arena.h"
#include "base/str.h"

enum { WIRE_VARINT = 0, WIRE_64 = 1, WIRE_BYTES = 2, WIRE_32 = 5, MAX_VARINT = 10 };

/* ---- writer into a buffer that is large enough */

typedef struct bytes {
    unsigned char *data;
    size_t size;
} bytes;

static inline void put_varint(bytes *b, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        b->data[b->size++] = (unsigned char)(value | 0x80);
    b->data[b->size++] = (unsigned char)value;
}

static inline void put_tag(bytes *b, uint32_t field, uint32_t wire)
{
    put_varint(b, field << 3 | wire);
}

static inline void put_bytes(bytes *b, uint32_t field, const void *data, size_t size)
{
    put_tag(b, field, WIRE_BYTES);
    put_varint(b, size);
    if (size != 0)
        memcpy(b->data + b->size, data, size);
    b->size += size;
}

static inline void put_int(bytes *b, uint32_t field, int64_t value)
{
    put_tag(b, field, WIRE_VARINT);
    put_varint(b, (uint64_t)value);
}

static inline void put_float(bytes *b, uint32_t field, float value)
{
    uint32_t word;
    memcpy(&word, &value, sizeof(word));
    put_tag(b, field, WIRE_32);
    for (uint32_t i = 0; i < sizeof(word); i++)
        b->data[b->size++] = (unsigned char)(word >> (8 * i));
}

/* Allocates a buffer for a message with `size` bytes of text, three small fields and its own
 * tag. */
static inline bool alloc_message(prt_arena *arena, size_t size, bytes *b)
{
    *b = (bytes){ prt_arena_alloc(arena, size + 8 * (MAX_VARINT + 1)), 0 };
    return b->data != NULL;
}

/* ---- reader */

typedef struct field {
    uint32_t number, wire;
    uint64_t value; /* value of a varint or fixed field */
    prt_str text;   /* contents of a bytes field */
} field;

static inline bool get_varint(prt_str *s, uint64_t *out)
{
    *out = 0;
    for (uint32_t shift = 0; s->size != 0 && shift < 64; shift += 7) {
        const unsigned char byte = (unsigned char)*s->data;
        s->data++;
        s->size--;
        *out |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return true;
    }
    return false;
}

static inline bool get_fixed(prt_str *s, uint32_t n, uint64_t *out)
{
    if (s->size < n)
        return false;
    *out = 0;
    for (uint32_t i = 0; i < n; i++)
        *out |= (uint64_t)(unsigned char)s->data[i] << (8 * i);
    s->data += n;
    s->size -= n;
    return true;
}

static inline bool get_field(prt_str *s, field *f)
{
    uint64_t tag;
    if (s->size == 0 || !get_varint(s, &tag) || tag > UINT32_MAX)
        return false;
    *f = (field){ .number = (uint32_t)tag >> 3, .wire = (uint32_t)tag & 7 };
    switch (f->wire) {
    case WIRE_VARINT:
        return get_varint(s, &f->value);
    case WIRE_64:
        return get_fixed(s, 8, &f->value);
    case WIRE_32:
        return get_fixed(s, 4, &f->value);
    case WIRE_BYTES:
        if (!get_varint(s, &f->value) || f->value > s->size)
            return false;
        f->text = (prt_str){ s->data, (uint32_t)f->value };
        s->data += f->text.size;
        s->size -= f->text.size;
        return true;
    default:
        return false;
    }
}

#endif
