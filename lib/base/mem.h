/* SPDX-License-Identifier: MIT */
/*
 * mem.h — the allocator of all memory of the library. The environment holds one; NULL stands for
 * the allocator of the C library.
 */
#ifndef PRT_BASE_MEM_H
#define PRT_BASE_MEM_H

#include "base/status.h"

typedef struct prt_allocator {
    void *user;
    void *(*alloc)(void *user, size_t size, size_t align); /* NULL when refused */
    void (*release)(void *user, void *ptr);                /* never called with NULL */
    /* Records why `alloc` returned NULL for `size` bytes and returns POPRT_E_NOMEM. NULL: the
     * record says that there is no memory. */
    poprt_status (*refuse)(void *user, size_t size);
    /* Counts memory from another source, such as the pages of mapped files. Returns false where a
     * limit would be exceeded. `uncount` reverts it. Both are NULL where such memory is not
     * counted. */
    bool (*count)(void *user, size_t size);
    void (*uncount)(void *user, size_t size);
} prt_allocator;

/* The allocator of the C library. */
extern const prt_allocator prt_mem_libc;

/* Returns zeroed memory, requested with an alignment of 64 bytes; NULL (failure recorded) when it
 * is refused. For size 0 the pointer may be released but not read. */
void *prt_mem_alloc(const prt_allocator *allocator, size_t size);

/* The same without zeroing, for large buffers that are overwritten completely. */
void *prt_mem_alloc_raw(const prt_allocator *allocator, size_t size);

/* Reserves addresses for memory that should not be touched, to compute a layout in it. Pages are
 * allocated only where it is touched after all. NULL (failure recorded) when the system refuses. */
void *prt_mem_reserve(size_t size);
void prt_mem_unreserve(void *ptr, size_t size);

/* Populates the pages of memory that is about to be overwritten, in one call where the system has
 * one: it is cheaper than a page fault for each. */
void prt_mem_touch(void *ptr, size_t size);

/* Counts `size` bytes of memory from another source against the allocator's limit, or fails with
 * the allocator's refusal. The allocator must live until prt_mem_uncount. */
poprt_status prt_mem_count(const prt_allocator *allocator, size_t size);
void prt_mem_uncount(const prt_allocator *allocator, size_t size);

/* NULL is allowed. */
void prt_mem_free(const prt_allocator *allocator, void *ptr);

#endif
