/* SPDX-License-Identifier: MIT */
/*
 * source.h — the stream from which an executable is decoded (codec.h). The first failure is kept;
 * later reads return zeros.
 */
#ifndef PRT_PROGRAM_SOURCE_H
#define PRT_PROGRAM_SOURCE_H

#include "program/codec.h"

typedef struct prt_source {
    prt_program *program;
    prt_arena *arena;
    const unsigned char *at, *end;
    uint32_t version;
    poprt_status status;
} prt_source;

void prt_source_fail(prt_source *s, poprt_status status);
/* Records that the stream is damaged. */
void prt_source_fail_damaged(prt_source *s, const char *what);

/* Returns the next bytes; NULL where fewer than `size` are left. */
const unsigned char *prt_source_read(prt_source *s, size_t size);
uint64_t prt_get_u64(prt_source *s);
uint32_t prt_get_u32(prt_source *s);
int64_t prt_get_i64(prt_source *s);
float prt_get_f32(prt_source *s);
/* Reads a count of items that take at least `least` bytes each in the stream. */
uint32_t prt_get_count(prt_source *s, size_t least);
prt_str prt_get_str(prt_source *s);
const prt_type *prt_get_type(prt_source *s);

/* Returns zeroed memory in the program's arena; NULL is also recorded as a failure of the
 * source. */
void *prt_get_array(prt_source *s, uint32_t count, size_t size);

#endif
