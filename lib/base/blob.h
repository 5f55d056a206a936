/* SPDX-License-Identifier: MIT */
/*
 * blob.h — reference-counted, immutable bytes: mapped, borrowed or owned. A view retains its
 * parent, so a tensor may point into the file it was read from.
 */
#ifndef PRT_BASE_BLOB_H
#define PRT_BASE_BLOB_H

#include "base/mem.h"

typedef struct prt_blob prt_blob;
struct prt_blob {
    const unsigned char *data;
    size_t size;
    /* private to blob.c */
    const prt_allocator *allocator;
    prt_blob *parent;
    void (*drop)(void *user, const void *data, size_t size);
    void *user;
    _Atomic uint32_t refs;
};

/* Returns the number of bytes that prt_blob_create allocates for `size` bytes. */
size_t prt_blob_bytes_of(size_t size);

/* Creates owned, zeroed bytes. The creator may write through `prt_blob_bytes` until it shares the
 * blob. */
poprt_status prt_blob_create(const prt_allocator *allocator, size_t size, prt_blob **out);

/* Creates a blob over bytes owned by the caller. `drop` (may be NULL) is called when the last
 * reference is released; it is not called when the creation fails. */
poprt_status prt_blob_borrow(const prt_allocator *allocator, const void *data, size_t size,
    void (*drop)(void *user, const void *data, size_t size), void *user, prt_blob **out);

/* Creates a view of [offset, offset + size) that retains its parent. Fails with POPRT_E_PARSE where
 * the range exceeds the parent. */
poprt_status prt_blob_view(prt_blob *parent, size_t offset, size_t size, prt_blob **out);

prt_blob *prt_blob_retain(prt_blob *blob);
void prt_blob_release(prt_blob *blob);

/* Returns the writable bytes of an owned blob that is not shared yet. */
unsigned char *prt_blob_bytes(prt_blob *blob);

#endif
