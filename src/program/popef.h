/* SPDX-License-Identifier: MIT */
/*
 * popef.h — our dialect of PopEF: a sequence of blobs {64-byte header, JSON descriptor, payload}.
 * Metadata and program are read and checked; tensor payloads are mapped in place.
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
    uint64_t offset, size; /* of the whole blob within the file */
    uint32_t type;         /* prt_popef_type, or an unknown number */
    uint32_t flags;
    char version[17];
    prt_str name; /* from the descriptor; "" if it has no name */
    const prt_json *descriptor;
    uint64_t payload; /* offset within the file */
    uint64_t payload_size;
    bool has_sum; /* the payload has a checksum; valid once the descriptor is read */
    uint32_t sum; /* CRC-32C of the payload, stated by the descriptor */
} prt_popef_blob;

typedef struct prt_popef_index {
    prt_popef_blob *blobs;
    uint32_t count;
} prt_popef_index;

/* How much of a file is read and checked before it is used. */
typedef enum prt_popef_depth {
    PRT_POPEF_RUN,  /* descriptors needed to run; of METADATA, which is for other readers, only the
                     * checksum */
    PRT_POPEF_LIST, /* every descriptor */
    PRT_POPEF_VERIFY, /* and the checksums of tensors and feeds that have one */
    PRT_POPEF_SEALED  /* and every blob must have a checksum */
} prt_popef_depth;

/* Walks the blobs of a file and checks headers, sizes, descriptor checksums, and the payload
 * checksums of all blobs except tensors and feeds. Descriptors are allocated in `arena`; a
 * descriptor that was not read is NULL. */
poprt_status prt_popef_index_read(const prt_blob *file, prt_popef_depth depth, prt_arena *arena,
    prt_popef_index *out);

/* Returns whether the bytes begin like a PopEF blob of our dialect. */
bool prt_popef_is(const void *bytes, size_t size);

/* Writes METADATA, POPLAR_EXECUTABLE and one DATA_TENSOR for each constant. Deterministic. Fails
 * with POPRT_E_PARSE where a constant comes from a file that states another checksum than its bytes
 * have, so that damaged bytes never get a matching checksum. A constant that its file marks as
 * having no checksum stays so, unless the number in its descriptor matches. */
poprt_status prt_popef_write(const prt_program *program, poprt_write_fn write, void *user);

struct prt_op_set;

/* Reads a program. The program retains `file`; the caller keeps its own reference. Operators
 * outside the table are looked up in `ops` (may be NULL). */
poprt_status prt_popef_read(const prt_allocator *allocator, size_t limit, prt_blob *file,
    prt_popef_depth depth, const struct prt_op_set *ops, prt_program **out);

#endif
