/* SPDX-License-Identifier: MIT */
/*
 * encode.h — a protobuf encoder on nanopb's output streams.
 *
 * A message is preceded by its size, so everything is encoded twice. The first pass counts and
 * records the size of each message in the order of opening; the second pass writes and uses the
 * records. Errors are sticky: after a failure every call is a no-op, and `prt_encode_end` reports
 * the failure.
 */
#ifndef PRT_CONVERTER_ENCODE_H
#define PRT_CONVERTER_ENCODE_H

#include <pb_encode.h>

#include "base/vec.h"
#include "converter/onnx_wire.h"

typedef struct prt_encoder {
    pb_ostream_t stream;
    poprt_write_fn write;
    void *user;
    prt_arena *scratch;
    PRT_VEC(size_t) sizes;
    size_t next; /* index of the next message in the writing pass */
    bool counting;
    poprt_status status;
} prt_encoder;

/* An open message. */
typedef struct prt_encode_mark {
    size_t index, start;
} prt_encode_mark;

/* Begins the counting pass. */
void prt_encode_count(prt_encoder *p, prt_arena *scratch);
/* Ends the counting pass and begins the writing pass, which must make the same calls. */
void prt_encode_write(prt_encoder *p, poprt_write_fn write, void *user);
poprt_status prt_encode_end(const prt_encoder *p);
/* Returns the bytes encoded in this pass so far. */
size_t prt_encode_size(const prt_encoder *p);
void prt_encode_fail(prt_encoder *p, poprt_status status);

prt_encode_mark prt_encode_open(prt_encoder *p, uint32_t field);
void prt_encode_close(prt_encoder *p, prt_encode_mark mark);

void prt_encode_int(prt_encoder *p, uint32_t field, int64_t value);
void prt_encode_float(prt_encoder *p, uint32_t field, float value);
void prt_encode_bytes(prt_encoder *p, uint32_t field, const void *data, size_t size);
void prt_encode_str(prt_encoder *p, uint32_t field, prt_str text);
/* Writes complete fields as raw bytes. */
void prt_encode_raw(prt_encoder *p, const void *data, size_t size);

#endif
