/* SPDX-License-Identifier: MIT */
/* mem_libc.c — the allocator of the C library (the only malloc of the library) and the allocation
 * functions of all other sources. */
#define _DEFAULT_SOURCE 1
#include "base/mem.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096, HUGE_PAGE = 2 << 20 };

/* Allocates weights and activations in huge pages: streaming over them and touching them first is
 * faster. Up to a quarter of the last huge page may stay unused. */
static void *large_alloc(size_t size)
{
    const size_t large = (size + HUGE_PAGE / 4) / HUGE_PAGE * HUGE_PAGE;
    void *ptr = NULL;
    if (posix_memalign(&ptr, HUGE_PAGE, size > large ? size : large) != 0)
        return NULL;
#ifdef MADV_HUGEPAGE
    (void)madvise(ptr, large, MADV_HUGEPAGE);
#endif
    return ptr;
}

static void *libc_alloc(void *user, size_t size, size_t align)
{
    (void)user;
    void *ptr = NULL;
    if (size >= HUGE_PAGE && align <= HUGE_PAGE)
        return large_alloc(size);
    return posix_memalign(&ptr, align, size) == 0 ? ptr : NULL;
}

static void libc_release(void *user, void *ptr)
{
    (void)user;
    free(ptr);
}

const prt_allocator prt_mem_libc = { .alloc = libc_alloc, .release = libc_release };

void *prt_mem_alloc_raw(const prt_allocator *allocator, size_t size)
{
    const prt_allocator *a = allocator != NULL ? allocator : &prt_mem_libc;
    void *ptr = size > PTRDIFF_MAX ? NULL : a->alloc(a->user, size != 0 ? size : 1, 64);
    if (ptr == NULL && (a->refuse == NULL || size > PTRDIFF_MAX))
        (void)prt_fail_nomem(size);
    else if (ptr == NULL)
        (void)a->refuse(a->user, size);
    return ptr;
}

void *prt_mem_alloc(const prt_allocator *allocator, size_t size)
{
    void *ptr = prt_mem_alloc_raw(allocator, size);
    if (ptr != NULL)
        memset(ptr, 0, size);
    return ptr;
}

void *prt_mem_reserve(size_t size)
{
    void *ptr = mmap(NULL, size != 0 ? size : 1, PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (ptr != MAP_FAILED)
        return ptr;
    (void)prt_fail_nomem(size);
    return NULL;
}

void prt_mem_unreserve(void *ptr, size_t size)
{
    if (ptr != NULL)
        (void)munmap(ptr, size != 0 ? size : 1);
}

void prt_mem_touch(void *ptr, size_t size)
{
#ifdef MADV_POPULATE_WRITE
    const size_t skip = (size_t)(-(uintptr_t)ptr % PAGE); /* whole pages; may be refused */
    if (size >= skip + PAGE)
        (void)madvise((char *)ptr + skip, (size - skip) / PAGE * PAGE, MADV_POPULATE_WRITE);
#else
    (void)ptr;
    (void)size;
#endif
}

poprt_status prt_mem_count(const prt_allocator *allocator, size_t size)
{
    const prt_allocator *a = allocator != NULL ? allocator : &prt_mem_libc;
    if (a->count == NULL || a->count(a->user, size))
        return POPRT_OK;
    return a->refuse != NULL ? a->refuse(a->user, size) : prt_fail_nomem(size);
}

void prt_mem_uncount(const prt_allocator *allocator, size_t size)
{
    const prt_allocator *a = allocator != NULL ? allocator : &prt_mem_libc;
    if (a->uncount != NULL)
        a->uncount(a->user, size);
}

void prt_mem_free(const prt_allocator *allocator, void *ptr)
{
    const prt_allocator *a = allocator != NULL ? allocator : &prt_mem_libc;
    if (ptr != NULL)
        a->release(a->user, ptr);
}
