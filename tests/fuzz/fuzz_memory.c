/* SPDX-License-Identifier: MIT */
/* fuzz_memory.c — the capped allocator of fuzz targets. Single-threaded. */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "fuzz/fuzz.h"

enum { HEADER = 64 };

static size_t total, pieces;

static void *capped_alloc(void *user, size_t size, size_t align)
{
    (void)user;
    void *p = NULL;
    if (size > FUZZ_MEMORY || total + size > FUZZ_MEMORY ||
        posix_memalign(&p, align > HEADER ? align : HEADER, size + HEADER) != 0)
        return NULL;
    memcpy(p, &size, sizeof(size));
    total += size;
    pieces++;
    return (char *)p + HEADER;
}

static void capped_release(void *user, void *ptr)
{
    (void)user;
    char *p = (char *)ptr - HEADER;
    size_t size;
    memcpy(&size, p, sizeof(size));
    total -= size;
    pieces--;
    free(p);
}

static const prt_allocator capped = { .alloc = capped_alloc, .release = capped_release };

const prt_allocator *fuzz_allocator(void)
{
    return &capped;
}

size_t fuzz_memory_used(void)
{
    return total;
}

void fuzz_expect_empty(void)
{
    if (pieces != 0)
        abort();
}
