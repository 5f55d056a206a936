/* SPDX-License-Identifier: MIT */
/*
 * put.h — a protobuf encoder on nanopb's output streams.
 *
 * A message is preceded by its size, so everything is encoded twice. The first pass counts and
 * records the size of each message in the order of opening; the second pass writes and uses the
 * records. Errors are sticky: after a failure every call is a no-op, and `prt_put_end` reports the
 * failure.
 */
#ifndef PRT_CONVERTER_PUT_H
#define PRT_CONVERTER_PUT_H

#include <pb_encode.h>

#include "base/vec.h"
#include "converter/wire.h"

typedef struct prt_put {
    pb_ostream_t stream;
    poprt_write_fn write;
    void *user;
    prt_arena *scratch;
    PRT_VEC(size_t) sizes;
    size_t next; /* index of the next message in the writing pass */
    bool counting;
    poprt_status status;
} prt_put;

/* An open message. */
typedef struct prt_put_mark {
    size_t index, start;
} prt_put_mark;

/* Begins the counting pass. */
void prt_put_count(prt_put *p, prt_arena *scratch);
/* Ends the counting pass and begins the writing pass, which must make the same calls. */
void prt_put_write(prt_put *p, poprt_write_fn write, void *user);
poprt_status prt_put_end(const prt_put *p);
/* Returns the bytes encoded in this pass so far. */
size_t prt_put_size(const prt_put *p);
void prt_put_fail(prt_put *p, poprt_status status);

prt_put_mark prt_put_open(prt_put *p, uint32_t field);
void prt_put_close(prt_put *p, prt_put_mark mark);

void prt_put_int(prt_put *p, uint32_t field, int64_t value);
void prt_put_float(prt_put *p, uint32_t field, float value);
void prt_put_bytes(prt_put *p, uint32_t field, const void *data, size_t size);
void prt_put_str(prt_put *p, uint32_t field, prt_str text);
/* Writes complete fields as raw bytes. */
void prt_put_raw(prt_put *p, const void *data, size_t size);

#endif
