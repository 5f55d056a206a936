/* SPDX-License-Identifier: MIT */
/*
 * arena.h — memory that is given back all at once. Names of arenas say how long they live: model,
 * pass, build, session.
 */
#ifndef PRT_BASE_ARENA_H
#define PRT_BASE_ARENA_H

#include "base/mem.h"
#include "base/size.h"

typedef struct prt_arena prt_arena;

/* `limit` is the most bytes the arena may ever hold; 0 for no limit of its own. */
poprt_status prt_arena_create(const prt_allocator *allocator, size_t limit, prt_arena **out);
void prt_arena_release(prt_arena *arena);

/* Zeroed memory aligned to 16 bytes; NULL (failure recorded) when refused. */
void *prt_arena_alloc(prt_arena *arena, size_t size);

/* The same, with whatever was there before. */
void *prt_arena_alloc_raw(prt_arena *arena, size_t size);

/* Zeroed memory for `count` items; a product that overflows is a refusal. */
void *prt_arena_alloc_n(prt_arena *arena, size_t count, size_t size);

/* A copy of `size` bytes; with `text`, followed by a zero byte. */
void *prt_arena_copy(prt_arena *arena, const void *bytes, size_t size);
char *prt_arena_text(prt_arena *arena, const char *bytes, size_t size);

/* Forgets what was allocated but keeps the largest block for reuse. */
void prt_arena_reset(prt_arena *arena);

/* The same, and one block large enough for all that was allocated since the last reset, so that
 * repeating the same allocations needs nothing from the allocator. */
poprt_status prt_arena_settle(prt_arena *arena);

size_t prt_arena_size(const prt_arena *arena); /* bytes taken from the allocator */
size_t prt_arena_limit(const prt_arena *arena);
const prt_allocator *prt_arena_allocator(const prt_arena *arena);

#define PRT_NEW(arena, type) ((type *)prt_arena_alloc(arena, sizeof(type)))
#define PRT_NEW_N(arena, type, count) ((type *)prt_arena_alloc_n(arena, count, sizeof(type)))

#endif
