/* SPDX-License-Identifier: MIT */
/*
 * mem.h — the allocator every byte of the library comes from. The environment carries one; NULL
 * means the C library's.
 */
#ifndef PRT_BASE_MEM_H
#define PRT_BASE_MEM_H

#include "base/status.h"

typedef struct prt_allocator {
    void *user;
    void *(*alloc)(void *user, size_t size, size_t align); /* NULL when refused */
    void (*release)(void *user, void *ptr);                /* never called with NULL */
    /* Records why `alloc` gave NULL for so many bytes, with POPRT_E_NOMEM; NULL: no memory. */
    poprt_status (*refuse)(void *user, size_t size);
    /* Counts memory that comes from elsewhere, as the pages of mapped files do; false when it is
     * above a limit. `uncount` takes it back. NULL, both: such memory is not counted. */
    bool (*count)(void *user, size_t size);
    void (*uncount)(void *user, size_t size);
} prt_allocator;

/* The allocator over the C library. */
extern const prt_allocator prt_mem_libc;

/* Zeroed memory, 64-byte alignment asked for; NULL (failure recorded) when refused. Size 0 gives
 * a pointer that may be released and not read. */
void *prt_mem_alloc(const prt_allocator *allocator, size_t size);

/* The same without zeroing, for large buffers that are written whole. */
void *prt_mem_alloc_raw(const prt_allocator *allocator, size_t size);

/* Addresses for memory that nobody means to touch, to see what would become of it: pages come only
 * where it is touched all the same. NULL (failure recorded) when the system refuses. */
void *prt_mem_reserve(size_t size);
void prt_mem_unreserve(void *ptr, size_t size);

/* Has the system put pages behind memory that is about to be written whole, in one call where it
 * knows one: that is cheaper than a fault for each. */
void prt_mem_touch(void *ptr, size_t size);

/* Counts `size` bytes of memory that is not the allocator's as held from it; the failure is its
 * refusal. The allocator has to live until they are given back. */
poprt_status prt_mem_count(const prt_allocator *allocator, size_t size);
void prt_mem_uncount(const prt_allocator *allocator, size_t size);

/* Takes NULL. */
void prt_mem_free(const prt_allocator *allocator, void *ptr);

#endif
