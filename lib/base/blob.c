/* SPDX-License-Identifier: MIT */
/* blob.c — reference-counted bytes. */
#include "base/blob.h"

#include <stdatomic.h>

#include "base/size.h"

static poprt_status create_header(const prt_allocator *allocator, size_t extra, prt_blob **out)
{
    size_t whole;
    if (!prt_size_add(prt_size_align(sizeof(prt_blob), 64), extra, &whole))
        return prt_fail_nomem(extra);
    prt_blob *blob = prt_mem_alloc(allocator, whole);
    if (blob == NULL)
        return POPRT_E_NOMEM;
    blob->allocator = allocator;
    atomic_init(&blob->refs, 1);
    *out = blob;
    return POPRT_OK;
}

size_t prt_blob_bytes_of(size_t size)
{
    return prt_size_align(sizeof(prt_blob), 64) + size;
}

poprt_status prt_blob_create(const prt_allocator *allocator, size_t size, prt_blob **out)
{
    prt_blob *blob = NULL;
    PRT_TRY(create_header(allocator, size, &blob));
    blob->data = (unsigned char *)blob + prt_size_align(sizeof(prt_blob), 64);
    blob->size = size;
    *out = blob;
    return POPRT_OK;
}

poprt_status prt_blob_borrow(const prt_allocator *allocator, const void *data, size_t size,
    void (*drop)(void *user, const void *data, size_t size), void *user, prt_blob **out)
{
    prt_blob *blob = NULL;
    PRT_TRY(create_header(allocator, 0, &blob));
    blob->data = data;
    blob->size = size;
    blob->drop = drop;
    blob->user = user;
    *out = blob;
    return POPRT_OK;
}

poprt_status prt_blob_view(prt_blob *parent, size_t offset, size_t size, prt_blob **out)
{
    if (offset > parent->size || size > parent->size - offset)
        return prt_fail(POPRT_E_PARSE, NULL,
            "bytes %zu to %zu+%zu lie outside the blob of %zu bytes", offset, offset, size,
            parent->size);
    prt_blob *blob = NULL;
    PRT_TRY(create_header(parent->allocator, 0, &blob));
    blob->data = parent->data + offset;
    blob->size = size;
    blob->parent = prt_blob_retain(parent);
    *out = blob;
    return POPRT_OK;
}

prt_blob *prt_blob_retain(prt_blob *blob)
{
    if (blob != NULL)
        atomic_fetch_add_explicit(&blob->refs, 1, memory_order_relaxed);
    return blob;
}

void prt_blob_release(prt_blob *blob)
{
    while (blob != NULL) {
        if (atomic_fetch_sub_explicit(&blob->refs, 1, memory_order_acq_rel) != 1)
            return;
        prt_blob *parent = blob->parent;
        if (blob->drop != NULL)
            blob->drop(blob->user, blob->data, blob->size);
        prt_mem_free(blob->allocator, blob);
        blob = parent;
    }
}

unsigned char *prt_blob_bytes(prt_blob *blob)
{
    PRT_ASSERT(blob->parent == NULL && blob->drop == NULL);
    return (unsigned char *)blob + prt_size_align(sizeof(prt_blob), 64);
}
