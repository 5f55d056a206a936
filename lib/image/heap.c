/* SPDX-License-Identifier: MIT */
/*
 * heap.c — memory of decoders, and the escape. Blocks have sizes 2^k and 3 * 2^k; a freed block
 * goes to a list of its size. The caller's memory is only released as a whole.
 */
#include "image/heap.h"

#include <string.h>

#include "base/size.h"

/* Limits in bytes: memory for the headers of a file, and in addition for each pixel, which covers
 * coefficients of three components and a copy of them. */
enum { BASE_LIMIT = 64 << 20, PIXEL_LIMIT = 64 };

/* The header just before the memory of a block. */
typedef struct header {
    void *block; /* start of the caller's memory */
    size_t size; /* as requested */
    uint32_t bucket;
} header;

/* The decoder that runs on this thread, since foreign decoders pass no context. */
static _Thread_local prt_image_context *current;

poprt_status prt_image_guard(prt_image_context *context, prt_image_decoder decode)
{
    prt_image_context *const outer = current;
    poprt_status status;
    current = context;
    context->limit = BASE_LIMIT;
    if (setjmp(context->escape) == 0)
        status = decode(context);
    else
        status = context->status;
    current = outer;
    return status;
}

void prt_image_escape(poprt_status status)
{
    if (current == NULL)
        __builtin_trap(); /* only guarded decoders may escape */
    current->status = status;
    longjmp(current->escape, 1);
}

void prt_image_check(void)
{
    const prt_image_memory *memory = current->memory;
    const poprt_status status = memory->check != NULL ? memory->check(memory->user) : POPRT_OK;
    if (status != POPRT_OK)
        prt_image_escape(status);
}

poprt_status prt_image_begin(prt_image_context *context, size_t width, size_t height,
    size_t channels)
{
    size_t count;
    if (width == 0 || height == 0)
        return prt_fail(POPRT_E_PARSE, NULL, "the picture has no pixels");
    if (!prt_size_mul(width, height, &count) || count > PRT_IMAGE_PIXELS_MAX)
        return prt_fail(POPRT_E_LIMIT, NULL,
            "the picture has %zu x %zu pixels; at most %d are read", width, height,
            (int)PRT_IMAGE_PIXELS_MAX);
    context->limit = BASE_LIMIT + count * PIXEL_LIMIT;
    *context->out = (prt_image){ width, height, channels,
        context->memory->alloc(context->memory->user, count * channels) };
    return context->out->pixels != NULL ? POPRT_OK : prt_fail_nomem(count * channels);
}

/* Returns the size class of `size`: 2^k has number 2 k, 3 * 2^(k-1) has the next one. */
static uint32_t bucket_of(size_t size, size_t *rounded)
{
    uint32_t k = 6;
    while (k < 62 && (size_t)1 << k < size)
        k++;
    const size_t less = (size_t)3 << (k - 2);
    const bool between = size <= less;
    *rounded = between ? less : (size_t)1 << k;
    return 2 * k - between;
}

static _Noreturn void refuse(size_t size)
{
    prt_image_escape(prt_fail(POPRT_E_LIMIT, NULL,
        "the file asks for %zu bytes more than a "
        "picture of its size may have",
        size));
}

/* Allocates a block; reused memory is not zeroed. A refusal ends the decoding, because some error
 * paths of the foreign decoders are not safe. */
static void *alloc_block(size_t align, size_t size)
{
    size_t whole, rounded;
    prt_image_context *context = current;
    if (context == NULL)
        __builtin_trap(); /* only guarded decoders may allocate */
    prt_image_check();
    if (!prt_size_add(size, align + sizeof(header), &whole) || whole > context->limit)
        refuse(size);
    const uint32_t bucket = bucket_of(whole, &rounded);
    void *block = context->idle[bucket];
    if (block != NULL) {
        memcpy(&context->idle[bucket], block, sizeof(void *));
    } else {
        if (rounded > context->limit - context->used)
            refuse(size);
        block = context->memory->alloc(context->memory->user, rounded);
        if (block == NULL)
            prt_image_escape(prt_fail_nomem(size));
        context->used += rounded;
    }
    const uintptr_t at = ((uintptr_t)block + sizeof(header) + align - 1) & ~(uintptr_t)(align - 1);
    unsigned char *p = (unsigned char *)block + (at - (uintptr_t)block);
    const header h = { block, size, bucket };
    memcpy(p - sizeof(header), &h, sizeof(h));
    return p;
}

static header header_of(const void *ptr)
{
    header h;
    memcpy(&h, (const unsigned char *)ptr - sizeof(h), sizeof(h));
    return h;
}

void *prt_image_malloc(size_t size)
{
    return alloc_block(16, size);
}

void *prt_image_calloc(size_t count, size_t size)
{
    size_t whole;
    if (!prt_size_mul(count, size, &whole))
        refuse(SIZE_MAX);
    return memset(alloc_block(16, whole), 0, whole);
}

void prt_image_free(void *ptr)
{
    if (ptr == NULL || current == NULL)
        return;
    const header h = header_of(ptr);
    memcpy(h.block, &current->idle[h.bucket], sizeof(void *));
    current->idle[h.bucket] = h.block;
}

void *prt_image_realloc(void *ptr, size_t size)
{
    if (ptr == NULL)
        return prt_image_malloc(size);
    const size_t have = header_of(ptr).size;
    void *p = alloc_block(16, size);
    memcpy(p, ptr, have < size ? have : size);
    prt_image_free(ptr);
    return p;
}

int prt_image_posix_memalign(void **out, size_t align, size_t size)
{
    *out = alloc_block(align < 16 ? 16 : align, size);
    return 0;
}
