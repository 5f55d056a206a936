/* SPDX-License-Identifier: MIT */
/*
 * arena.h — memory that is released all at once. The name of an arena states its lifetime: model,
 * pass, build, session.
 */
#ifndef PRT_BASE_ARENA_H
#define PRT_BASE_ARENA_H

#include "base/mem.h"
#include "base/size.h"

typedef struct prt_arena prt_arena;

/* Creates an empty arena. `limit` is the maximum of bytes the arena may hold; 0 sets no limit. */
poprt_status prt_arena_create(const prt_allocator *allocator, size_t limit, prt_arena **out);
void prt_arena_release(prt_arena *arena);

/* Returns zeroed memory aligned to 16 bytes; NULL (failure recorded) when it is refused. */
void *prt_arena_alloc(prt_arena *arena, size_t size);

/* The same without zeroing. */
void *prt_arena_alloc_raw(prt_arena *arena, size_t size);

/* Returns zeroed memory for `count` items; a product that overflows is refused. */
void *prt_arena_alloc_n(prt_arena *arena, size_t count, size_t size);

/* Returns a copy of `size` bytes; prt_arena_text appends a zero byte. */
void *prt_arena_copy(prt_arena *arena, const void *bytes, size_t size);
char *prt_arena_text(prt_arena *arena, const char *bytes, size_t size);

/* Discards all allocations but keeps the largest block for reuse. */
void prt_arena_reset(prt_arena *arena);

/* Discards all allocations and keeps one block large enough for all bytes allocated since the last
 * reset, so that the same sequence of allocations needs nothing more from the allocator. */
poprt_status prt_arena_reset_merged(prt_arena *arena);

size_t prt_arena_size(const prt_arena *arena); /* bytes held from the allocator */
size_t prt_arena_limit(const prt_arena *arena);
const prt_allocator *prt_arena_allocator(const prt_arena *arena);

#define PRT_NEW(arena, type) ((type *)prt_arena_alloc(arena, sizeof(type)))
#define PRT_NEW_N(arena, type, count) ((type *)prt_arena_alloc_n(arena, count, sizeof(type)))

#endif
