/* SPDX-License-Identifier: MIT */
/* popef_emit.h — writes blobs of PopEF files, for popef_write.c and for checkpoints. */
#ifndef PRT_PROGRAM_POPEF_EMIT_H
#define PRT_PROGRAM_POPEF_EMIT_H

#include "program/popef.h"

enum { PRT_POPEF_NO_CRC = 2 }; /* flag of a blob */

typedef struct prt_popef_writer {
    poprt_write_fn write;
    void *user;
    prt_arena *arena;
    uint64_t at; /* bytes written */
} prt_popef_writer;

/* Writes a blob, whose payload begins at a multiple of `align` in the file. */
poprt_status prt_popef_emit_blob(prt_popef_writer *w, uint32_t type, uint32_t flags,
    prt_str descriptor, const void *payload, size_t size, size_t align);
/* Returns the alignment of a tensor's payload. */
size_t prt_popef_payload_align(size_t size);

/* Adds the member `tensorInfo` to a descriptor. */
void prt_popef_put_tensor_info(prt_json_out *j, const prt_dims *dims, const prt_type *type);

/* Stores a number of `bytes` bytes, little-endian. */
void prt_popef_store(unsigned char *to, uint64_t value, int bytes);

#endif
