/* SPDX-License-Identifier: MIT */
/* arena.c — a chain of blocks that double in size. A request larger than a block gets a block of
 * its own. */
#include "base/arena.h"

#include <string.h>

enum { FIRST_BLOCK = 4096, LARGEST_BLOCK = 1 << 20 }; /* bytes */

typedef struct block {
    struct block *next;
    size_t size; /* usable bytes after this header */
    size_t used;
    size_t pad; /* keeps the payload 16-byte aligned */
} block;

struct prt_arena {
    const prt_allocator *allocator;
    block *head;
    size_t limit, total, next_size;
};

poprt_status prt_arena_create(const prt_allocator *allocator, size_t limit, prt_arena **out)
{
    prt_arena *arena = prt_mem_alloc(allocator, sizeof(*arena));
    if (arena == NULL)
        return POPRT_E_NOMEM;
    *arena = (prt_arena){ .allocator = allocator, .limit = limit, .next_size = FIRST_BLOCK };
    *out = arena;
    return POPRT_OK;
}

static void release_chain(prt_arena *arena, block *b)
{
    while (b != NULL) {
        block *next = b->next;
        prt_mem_free(arena->allocator, b);
        b = next;
    }
}

void prt_arena_release(prt_arena *arena)
{
    if (arena == NULL)
        return;
    release_chain(arena, arena->head);
    prt_mem_free(arena->allocator, arena);
}

static block *add_block(prt_arena *arena, size_t need)
{
    size_t size = arena->next_size > need ? arena->next_size : need;
    size_t whole;
    if (!prt_size_add(size, sizeof(block), &whole)) {
        (void)prt_fail_nomem(need);
        return NULL;
    }
    if (arena->limit != 0 && (whole > arena->limit || arena->total > arena->limit - whole)) {
        (void)prt_fail(POPRT_E_NOMEM, NULL, "memory limit of %zu bytes reached", arena->limit);
        return NULL;
    }
    block *b = prt_mem_alloc_raw(arena->allocator, whole);
    if (b == NULL)
        return NULL;
    *b = (block){ .next = arena->head, .size = size };
    arena->head = b;
    arena->total += whole;
    if (arena->next_size < LARGEST_BLOCK)
        arena->next_size *= 2;
    return b;
}

void *prt_arena_alloc_raw(prt_arena *arena, size_t size)
{
    if (size > PTRDIFF_MAX) {
        (void)prt_fail_nomem(size);
        return NULL;
    }
    const size_t need = prt_size_align(size != 0 ? size : 1, 16);
    block *b = arena->head;
    if (b == NULL || b->size - b->used < need) {
        b = add_block(arena, need);
        if (b == NULL)
            return NULL;
    }
    void *ptr = (char *)(b + 1) + b->used;
    b->used += need;
    return ptr;
}

void *prt_arena_alloc(prt_arena *arena, size_t size)
{
    void *ptr = prt_arena_alloc_raw(arena, size);
    if (ptr != NULL)
        memset(ptr, 0, prt_size_align(size != 0 ? size : 1, 16));
    return ptr;
}

void *prt_arena_alloc_n(prt_arena *arena, size_t count, size_t size)
{
    size_t bytes;
    if (!prt_size_mul(count, size, &bytes)) {
        (void)prt_fail_nomem(SIZE_MAX);
        return NULL;
    }
    return prt_arena_alloc(arena, bytes);
}

void *prt_arena_copy(prt_arena *arena, const void *bytes, size_t size)
{
    void *ptr = prt_arena_alloc(arena, size);
    if (ptr != NULL && size != 0)
        memcpy(ptr, bytes, size);
    return ptr;
}

char *prt_arena_text(prt_arena *arena, const char *bytes, size_t size)
{
    char *ptr = prt_arena_alloc(arena, size < SIZE_MAX ? size + 1 : size);
    if (ptr != NULL && size != 0)
        memcpy(ptr, bytes, size);
    return ptr;
}

void prt_arena_reset(prt_arena *arena)
{
    block *keep = NULL;
    for (block *b = arena->head; b != NULL; b = b->next)
        if (keep == NULL || b->size > keep->size)
            keep = b;
    block *b = arena->head;
    while (b != NULL) {
        block *next = b->next;
        if (b != keep)
            prt_mem_free(arena->allocator, b);
        b = next;
    }
    /* If several blocks were needed, the next block holds all of their bytes. */
    if (keep != NULL && keep->next != NULL && arena->next_size < arena->total)
        arena->next_size = arena->total;
    arena->head = keep;
    arena->total = 0;
    if (keep != NULL) {
        keep->next = NULL;
        keep->used = 0;
        arena->total = keep->size + sizeof(block);
    }
}

poprt_status prt_arena_reset_merged(prt_arena *arena)
{
    if (arena->head == NULL || arena->head->next == NULL) {
        prt_arena_reset(arena);
        return POPRT_OK;
    }
    const size_t need = arena->total;
    release_chain(arena, arena->head);
    arena->head = NULL;
    arena->total = 0;
    return add_block(arena, need) != NULL ? POPRT_OK : POPRT_E_NOMEM;
}

size_t prt_arena_size(const prt_arena *arena)
{
    return arena->total;
}

size_t prt_arena_limit(const prt_arena *arena)
{
    return arena->limit;
}

const prt_allocator *prt_arena_allocator(const prt_arena *arena)
{
    return arena->allocator;
}
