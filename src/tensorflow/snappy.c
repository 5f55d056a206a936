/* SPDX-License-Identifier: MIT */
/* snappy.c — decodes literals and copies; a copy may overlap its own result. */
#include "tensorflow/snappy.h"

#include <string.h>

/* The most bytes that one byte of input yields: an element of 3 bytes copies at most 64. */
enum { MAX_RATIO = 22 };

typedef struct decoder {
    const unsigned char *at, *end; /* input */
    unsigned char *to;             /* result */
    size_t size, done;
} decoder;

static poprt_status malformed(const char *what)
{
    return prt_fail(POPRT_E_PARSE, NULL, "compressed block is malformed: %s", what);
}

/* Reads a little-endian number of `count` bytes. Returns false at the end of the input. */
static bool read_number(decoder *d, size_t count, size_t *out)
{
    if (count > (size_t)(d->end - d->at))
        return false;
    *out = 0;
    for (size_t i = 0; i < count; i++)
        *out |= (size_t)*d->at++ << (8 * i);
    return true;
}

/* Copies a literal from the input. Lengths of more than 60 bytes follow the tag. */
static bool copy_literal(decoder *d, size_t tag)
{
    size_t length = tag >> 2;
    if (length >= 60 && !read_number(d, length - 59, &length))
        return false;
    length++;
    if (length > (size_t)(d->end - d->at) || length > d->size - d->done)
        return false;
    memcpy(d->to + d->done, d->at, length);
    d->at += length;
    d->done += length;
    return true;
}

/* Repeats bytes of the result. */
static bool copy_back(decoder *d, size_t tag)
{
    const size_t kind = tag & 3;
    size_t length = (tag >> 2) + 1, offset;
    if (!read_number(d, kind == 3 ? 4 : kind, &offset))
        return false;
    if (kind == 1) {
        length = (tag >> 2 & 7) + 4;
        offset |= tag >> 5 << 8;
    }
    if (offset == 0 || offset > d->done || length > d->size - d->done)
        return false;
    for (; length > 0; length--, d->done++)
        d->to[d->done] = d->to[d->done - offset];
    return true;
}

poprt_status prt_snappy_decode(prt_arena *arena, prt_bytes from, prt_bytes *out)
{
    uint64_t size = 0;
    pb_istream_t stream = pb_istream_from_buffer(from.data, from.size);
    if (!pb_decode_varint(&stream, &size) || size / MAX_RATIO > from.size)
        return malformed("its size is wrong");
    unsigned char *to = prt_arena_alloc_raw(arena, (size_t)size);
    if (to == NULL)
        return POPRT_E_NOMEM;
    decoder d = { stream.state, from.data + from.size, to, (size_t)size, 0 };
    while (d.at < d.end) {
        const size_t tag = *d.at++;
        if (!((tag & 3) == 0 ? copy_literal(&d, tag) : copy_back(&d, tag)))
            return malformed("an element exceeds the block");
    }
    if (d.done != d.size)
        return malformed("it ends early");
    *out = (prt_bytes){ to, d.size };
    return POPRT_OK;
}
