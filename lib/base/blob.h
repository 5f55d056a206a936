/* SPDX-License-Identifier: MIT */
/*
 * blob.h — counted, immutable bytes: mapped, borrowed or owned. A view keeps what it looks into
 * alive, so tensors point into the file they came from for as long as anybody needs them.
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

/* What prt_blob_create takes from the allocator for `size` bytes. */
size_t prt_blob_bytes_of(size_t size);

/* Owned, zeroed bytes; the creator may write through `prt_blob_bytes` until it shares the blob. */
poprt_status prt_blob_create(const prt_allocator *allocator, size_t size, prt_blob **out);

/* Bytes somebody else owns; `drop` (may be NULL) is called when the last reference goes. When
 * creation fails, `drop` is not called. */
poprt_status prt_blob_borrow(const prt_allocator *allocator, const void *data, size_t size,
    void (*drop)(void *user, const void *data, size_t size), void *user, prt_blob **out);

/* A view of [offset, offset + size), checked against the parent, which it retains. */
poprt_status prt_blob_view(prt_blob *parent, size_t offset, size_t size, prt_blob **out);

prt_blob *prt_blob_retain(prt_blob *blob);
void prt_blob_release(prt_blob *blob);

/* Writable bytes of an owned blob that is not shared yet. */
unsigned char *prt_blob_bytes(prt_blob *blob);

#endif
