/* SPDX-License-Identifier: MIT */
/* encode.c — the counting and writing passes of the encoder. */
#include "converter/encode.h"

void prt_encode_fail(prt_encoder *p, poprt_status status)
{
    if (p->status == POPRT_OK)
        p->status = status;
}

static bool sink(pb_ostream_t *stream, const pb_byte_t *bytes, size_t size)
{
    prt_encoder *p = stream->state;
    return size == 0 || p->write(p->user, bytes, size) == 0;
}

void prt_encode_count(prt_encoder *p, prt_arena *scratch)
{
    *p = (prt_encoder){ .stream = PB_OSTREAM_SIZING, .scratch = scratch, .counting = true };
}

void prt_encode_write(prt_encoder *p, poprt_write_fn write, void *user)
{
    p->stream = (pb_ostream_t){ .callback = sink, .state = p, .max_size = SIZE_MAX };
    p->write = write;
    p->user = user;
    p->counting = false;
    p->next = 0;
}

poprt_status prt_encode_end(const prt_encoder *p)
{
    return p->status;
}

size_t prt_encode_size(const prt_encoder *p)
{
    return p->stream.bytes_written;
}

/* A nanopb call can fail only if it reaches the sink. */
static void check(prt_encoder *p, bool done)
{
    if (!done && p->status == POPRT_OK)
        p->status = prt_fail(POPRT_E_IO, NULL, "the receiver of the bytes refused them");
}

static void put_tag(prt_encoder *p, uint32_t wire, uint32_t field)
{
    if (p->status == POPRT_OK)
        check(p, pb_encode_tag(&p->stream, (pb_wire_type_t)wire, field));
}

static void put_varint(prt_encoder *p, uint64_t value)
{
    if (p->status == POPRT_OK)
        check(p, pb_encode_varint(&p->stream, value));
}

prt_encode_mark prt_encode_open(prt_encoder *p, uint32_t field)
{
    prt_encode_mark mark = { 0, 0 };
    put_tag(p, PRT_WIRE_BYTES, field);
    if (p->status != POPRT_OK)
        return mark;
    if (p->counting) {
        mark.index = p->sizes.count;
        if (!PRT_VEC_PUSH(p->scratch, &p->sizes, 0))
            p->status = POPRT_E_NOMEM;
    } else {
        PRT_ASSERT(p->next < p->sizes.count);
        mark.index = p->next++;
        put_varint(p, p->sizes.data[mark.index]);
    }
    mark.start = p->stream.bytes_written;
    return mark;
}

void prt_encode_close(prt_encoder *p, prt_encode_mark mark)
{
    if (p->status != POPRT_OK)
        return;
    const size_t size = p->stream.bytes_written - mark.start;
    if (p->counting) {
        p->sizes.data[mark.index] = size;
        put_varint(p, size);
    } else if (size != p->sizes.data[mark.index]) {
        p->status = prt_fail(POPRT_E_INTERNAL, NULL,
            "a message has %zu bytes in the counting pass and %zu in the writing pass",
            p->sizes.data[mark.index], size);
    }
}

void prt_encode_int(prt_encoder *p, uint32_t field, int64_t value)
{
    put_tag(p, PRT_WIRE_VARINT, field);
    put_varint(p, (uint64_t)value);
}

void prt_encode_float(prt_encoder *p, uint32_t field, float value)
{
    put_tag(p, PRT_WIRE_FIXED32, field);
    if (p->status == POPRT_OK)
        check(p, pb_encode_fixed32(&p->stream, &value));
}

void prt_encode_raw(prt_encoder *p, const void *data, size_t size)
{
    if (p->status == POPRT_OK && size != 0)
        check(p, pb_write(&p->stream, data, size));
}

void prt_encode_bytes(prt_encoder *p, uint32_t field, const void *data, size_t size)
{
    put_tag(p, PRT_WIRE_BYTES, field);
    put_varint(p, size);
    prt_encode_raw(p, data, size);
}

void prt_encode_str(prt_encoder *p, uint32_t field, prt_str text)
{
    prt_encode_bytes(p, field, text.data, text.size);
}
