/* SPDX-License-Identifier: MIT */
/*
 * wire.h — a bounds-checked reader of protobuf messages on nanopb's stream functions.
 *
 * It does not copy: strings, bytes and messages are views. That works because the state of a nanopb
 * buffer stream is its position. Wire types are checked against the table of the message, which
 * onnx_wire.h makes from onnx.def.
 */
#ifndef PRT_CONVERTER_WIRE_H
#define PRT_CONVERTER_WIRE_H

#include <pb_decode.h>

#include "base/str.h"

enum {
    PRT_WIRE_DEPTH = 100, /* maximum nesting depth of messages */
    PRT_WIRE_FIELDS = 32, /* numbers of known fields are below this */
    PRT_WIRE_VARINT = 0,
    PRT_WIRE_FIXED64 = 1,
    PRT_WIRE_BYTES = 2,
    PRT_WIRE_FIXED32 = 5,
    PRT_WIRE_DONE = 8 /* a repeated number whose only item was consumed */
};

/* The kinds of fields: see onnx.def. A field without a row has kind none. */
enum {
    PRT_WIRE_KIND_none,
    PRT_WIRE_KIND_int,
    PRT_WIRE_KIND_ints,
    PRT_WIRE_KIND_f32,
    PRT_WIRE_KIND_f32s,
    PRT_WIRE_KIND_f64s,
    PRT_WIRE_KIND_text,
    PRT_WIRE_KIND_msg
};

/* The messages of a format and their fields. The names, which errors need, are joined: each ends
 * with a NUL. */
typedef struct prt_wire_schema {
    const unsigned char (*kinds)[PRT_WIRE_FIELDS]; /* of each message, by numbers of fields */
    const char *messages;                          /* names of messages, in order */
    const char *fields;                            /* names of fields, in the order of `places` */
    const unsigned char (*places)[2];              /* message and number of each field */
    uint32_t n_fields;
} prt_wire_schema;

typedef struct prt_bytes {
    const unsigned char *data;
    size_t size;
} prt_bytes;

/* A message being read. */
typedef struct prt_wire {
    pb_istream_t stream;
    size_t size; /* size of the message in bytes */
    const prt_wire_schema *schema;
    uint32_t message, depth;
    poprt_status status;
} prt_wire;

typedef struct prt_field {
    uint32_t number, wire;
    bool known;      /* the table has a row for it */
    uint64_t word;   /* value of a number */
    prt_bytes bytes; /* content of a length-delimited field */
    prt_bytes whole; /* the field with its tag */
} prt_field;

/* Opens a message; `depth` is 1 for the outermost one. If the depth exceeds the limit, the first
 * call of prt_wire_next fails. */
prt_wire prt_wire_open(prt_bytes bytes, const prt_wire_schema *schema, uint32_t message,
    uint32_t depth);

/* Reads the next field; false at the end and on failure, which `status` distinguishes. */
bool prt_wire_next(prt_wire *wire, prt_field *field);

/* Reads the next number of a repeated field, packed or single, and removes it from `field`. Floats
 * are returned as their bits. False at the end and on failure. */
bool prt_wire_item(prt_wire *wire, prt_field *field, uint64_t *word);

/* Returns a length-delimited field as a string. */
prt_str prt_wire_text(prt_wire *wire, const prt_field *field);

/* Fails with an error that names this message and the position; sets and returns its status. */
poprt_status prt_wire_fail(prt_wire *wire, poprt_status status, const char *what);

#endif
