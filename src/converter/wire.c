/* SPDX-License-Identifier: MIT */
/*
 * wire.c — reads protobuf fields in sequence.
 *
 * Only the stream functions of nanopb are used, because their behaviour does not depend on the
 * options that the library was built with. Lengths are decoded here, because nanopb's own string
 * functions are limited to 32 bits.
 */
#include "converter/wire.h"

#include <stdio.h>

static const unsigned char *position(const prt_wire *wire)
{
    return wire->stream.state;
}

/* Returns text `n` of texts that each end with a NUL. */
static const char *nth_text(const char *texts, uint32_t n)
{
    for (; n != 0; n--)
        texts += strlen(texts) + 1;
    return texts;
}

static const char *name_of_field(const prt_wire *wire, uint32_t number)
{
    const prt_wire_schema *s = wire->schema;
    for (uint32_t i = 0; i < s->n_fields; i++)
        if (s->places[i][0] == wire->message && s->places[i][1] == number)
            return nth_text(s->fields, i);
    return "";
}

poprt_status prt_wire_fail(prt_wire *wire, poprt_status status, const char *what)
{
    if (wire->status == POPRT_OK)
        wire->status = prt_fail(status, NULL, "%s at byte %zu of a %s message", what,
            wire->size - wire->stream.bytes_left, nth_text(wire->schema->messages, wire->message));
    return wire->status;
}

prt_wire prt_wire_open(prt_bytes bytes, const prt_wire_schema *schema, uint32_t message,
    uint32_t depth)
{
    prt_wire w = { .stream = pb_istream_from_buffer(bytes.data, bytes.size),
        .size = bytes.size,
        .schema = schema,
        .message = message,
        .depth = depth };
    if (depth > PRT_WIRE_DEPTH)
        (void)prt_wire_fail(&w, POPRT_E_LIMIT, "messages are nested too deeply");
    return w;
}

static bool fits(uint32_t kind, uint32_t wire)
{
    switch (kind) {
    case PRT_WIRE_KIND_int:
        return wire == PRT_WIRE_VARINT;
    case PRT_WIRE_KIND_ints:
        return wire == PRT_WIRE_VARINT || wire == PRT_WIRE_BYTES;
    case PRT_WIRE_KIND_f32:
        return wire == PRT_WIRE_FIXED32;
    case PRT_WIRE_KIND_f32s:
        return wire == PRT_WIRE_FIXED32 || wire == PRT_WIRE_BYTES;
    case PRT_WIRE_KIND_f64s:
        return wire == PRT_WIRE_FIXED64 || wire == PRT_WIRE_BYTES;
    case PRT_WIRE_KIND_text:
    case PRT_WIRE_KIND_msg:
        return wire == PRT_WIRE_BYTES;
    default:
        return true;
    }
}

static bool read_number(pb_istream_t *stream, uint32_t wire, uint64_t *word)
{
    uint32_t word32 = 0;
    switch (wire) {
    case PRT_WIRE_VARINT:
        return pb_decode_varint(stream, word);
    case PRT_WIRE_FIXED64:
        return pb_decode_fixed64(stream, word);
    default:
        if (!pb_decode_fixed32(stream, &word32))
            return false;
        *word = word32;
        return true;
    }
}

static bool read_bytes(prt_wire *wire, prt_field *field)
{
    uint64_t size = 0;
    if (!pb_decode_varint(&wire->stream, &size) || size > wire->stream.bytes_left)
        return false;
    field->bytes = (prt_bytes){ position(wire), (size_t)size };
    return pb_read(&wire->stream, NULL, (size_t)size);
}

bool prt_wire_next(prt_wire *wire, prt_field *field)
{
    if (wire->status != POPRT_OK || wire->stream.bytes_left == 0)
        return false;
    const unsigned char *start = position(wire);
    pb_wire_type_t type = PB_WT_VARINT;
    uint32_t number = 0;
    bool eof = false;
    if (!pb_decode_tag(&wire->stream, &type, &number, &eof) || number == 0)
        return prt_wire_fail(wire, POPRT_E_PARSE, "bad field tag"), false;
    *field = (prt_field){ .number = number, .wire = (uint32_t)type };
    const uint32_t kind =
        number < PRT_WIRE_FIELDS ? wire->schema->kinds[wire->message][number] : PRT_WIRE_KIND_none;
    field->known = kind != PRT_WIRE_KIND_none;
    if (field->wire == 3 || field->wire == 4 || field->wire > PRT_WIRE_FIXED32)
        return prt_wire_fail(wire, POPRT_E_PARSE,
                   "groups and unknown wire types are not supported"),
               false;
    if (!fits(kind, field->wire)) {
        char text[96];
        (void)snprintf(text, sizeof(text), "field %s has the wrong wire type",
            name_of_field(wire, number));
        return prt_wire_fail(wire, POPRT_E_PARSE, text), false;
    }
    const bool read = field->wire == PRT_WIRE_BYTES
        ? read_bytes(wire, field)
        : read_number(&wire->stream, field->wire, &field->word);
    if (!read)
        return prt_wire_fail(wire, POPRT_E_PARSE, "field is truncated"), false;
    field->whole = (prt_bytes){ start, (size_t)(position(wire) - start) };
    return true;
}

bool prt_wire_item(prt_wire *wire, prt_field *field, uint64_t *word)
{
    if (wire->status != POPRT_OK || field->wire == PRT_WIRE_DONE)
        return false;
    if (field->wire != PRT_WIRE_BYTES) {
        *word = field->word;
        field->wire = PRT_WIRE_DONE;
        return true;
    }
    if (field->bytes.size == 0)
        return false;
    const uint32_t kind = wire->schema->kinds[wire->message][field->number];
    pb_istream_t s = pb_istream_from_buffer(field->bytes.data, field->bytes.size);
    const uint32_t type = kind == PRT_WIRE_KIND_f32s ? PRT_WIRE_FIXED32
        : kind == PRT_WIRE_KIND_f64s                 ? PRT_WIRE_FIXED64
                                                     : PRT_WIRE_VARINT;
    if (!read_number(&s, type, word))
        return prt_wire_fail(wire, POPRT_E_PARSE, "packed numbers are truncated"), false;
    field->bytes = (prt_bytes){ s.state, s.bytes_left };
    return true;
}

prt_str prt_wire_text(prt_wire *wire, const prt_field *field)
{
    if (field->bytes.size > INT32_MAX) {
        (void)prt_wire_fail(wire, POPRT_E_LIMIT, "a string is too long");
        return PRT_STR("");
    }
    return (prt_str){ (const char *)field->bytes.data, (uint32_t)field->bytes.size };
}
