/* SPDX-License-Identifier: MIT */
/*
 * popef.h — PopEF, our dialect: blobs {64-byte header, JSON descriptor, payload} one after the
 * other. Metadata and program are read and checked; tensor payloads are mapped in place.
 */
#ifndef PRT_PROGRAM_POPEF_H
#define PRT_PROGRAM_POPEF_H

#include "base/json.h"
#include "program/program.h"

typedef enum prt_popef_type {
    PRT_POPEF_EXECUTABLE = 0,
    PRT_POPEF_METADATA = 1,
    PRT_POPEF_TENSOR = 2,
    PRT_POPEF_FEED = 3,
    PRT_POPEF_OPAQUE = 4
} prt_popef_type;

/* One blob of a file. */
typedef struct prt_popef_blob {
    uint64_t offset, size; /* of the whole blob in the file */
    uint32_t type;         /* prt_popef_type, or a number nothing here knows */
    uint32_t flags;
    char version[17];
    prt_str name; /* from the descriptor; "" where it has none */
    const prt_json *descriptor;
    uint64_t payload; /* offset in the file */
    uint64_t payload_size;
    bool has_sum; /* the payload has a checksum; known when the descriptor was read */
    uint32_t sum; /* its CRC-32C as the descriptor states it */
} prt_popef_blob;

typedef struct prt_popef_index {
    prt_popef_blob *blobs;
    uint32_t count;
} prt_popef_index;

/* How far a file is read before anything is done with it. */
typedef enum prt_popef_depth {
    PRT_POPEF_RUN, /* what running needs: METADATA, which is for other readers, is only summed up */
    PRT_POPEF_LIST,   /* every descriptor */
    PRT_POPEF_VERIFY, /* and the checksums of tensors and feeds, where there are any */
    PRT_POPEF_SEALED  /* and every blob has to have one */
} prt_popef_depth;

/* Walks the blobs of a file: checks headers, sizes, descriptor checksums, and payload checksums of
 * all but tensors and feeds. Descriptors live in `arena`; one that was not read is NULL. */
poprt_status prt_popef_index_read(const prt_blob *file, prt_popef_depth depth, prt_arena *arena,
    prt_popef_index *out);

/* True when the bytes begin like a PopEF blob of ours. */
bool prt_popef_is(const void *bytes, size_t size);

/* Writes METADATA, POPLAR_EXECUTABLE and one DATA_TENSOR per constant. Deterministic. A constant
 * from a file that states another checksum than its bytes have is an error (POPRT_E_PARSE): damaged
 * bytes get no checksum that fits them. One that the file marks as having none
 * stays so, unless the number in its descriptor fits. */
poprt_status prt_popef_write(const prt_program *program, poprt_write_fn write, void *user);

struct prt_op_set;

/* The inverse. The program retains `file` (whose reference stays the caller's). Operators that are
 * not in the table are looked for in `ops` (which may be NULL). */
poprt_status prt_popef_read(const prt_allocator *allocator, size_t limit, prt_blob *file,
    prt_popef_depth depth, const struct prt_op_set *ops, prt_program **out);

#endif
