/* SPDX-License-Identifier: MIT */
/*
 * heap.h — the environment of decoders: memory that is released with the picture, and an escape
 * from any depth of calls. Foreign decoders are written for malloc, exit and stderr; these
 * functions replace them (names.txt). So a decoder takes no memory unknown to the caller, ends no
 * process and prints nothing.
 */
#ifndef PRT_IMAGE_HEAP_H
#define PRT_IMAGE_HEAP_H

#include <setjmp.h>

#include "image/image.h"

enum { PRT_IMAGE_BUCKETS = 128 };

typedef struct prt_image_context {
    const unsigned char *bytes;
    size_t size;
    prt_image *out;
    /* The members below are private to heap.c. */
    const prt_image_memory *memory;
    size_t used, limit;
    void *idle[PRT_IMAGE_BUCKETS]; /* freed blocks by size */
    poprt_status status;
    jmp_buf escape;
} prt_image_context;

typedef poprt_status (*prt_image_decoder)(prt_image_context *context);

/* Runs a decoder on this thread. Returns its status, or the status of prt_image_escape. */
poprt_status prt_image_guard(prt_image_context *context, prt_image_decoder decode);

/* Ends the decoder that runs on this thread. The failure has been recorded. */
_Noreturn void prt_image_escape(poprt_status status);

/* Escapes if the caller wants to stop. Called for every row, tile or scan. */
void prt_image_check(void);

/* Checks the size of the picture and allocates its pixels in context->out. */
poprt_status prt_image_begin(prt_image_context *context, size_t width, size_t height,
    size_t channels);

/* Replacements of the C library's functions, for all decoders. They never return NULL: a refusal
 * ends the decoding. */
void *prt_image_malloc(size_t size);
void *prt_image_calloc(size_t count, size_t size);
void *prt_image_realloc(void *ptr, size_t size);
int prt_image_posix_memalign(void **out, size_t align, size_t size);
void prt_image_free(void *ptr);

#endif
