/* SPDX-License-Identifier: MIT */
/*
 * heap.h — the ground decoders stand on: memory that ends with the picture and a way out of any
 * depth. Foreign decoders, written for malloc, exit and stderr, get these instead (names.txt), so
 * that they take no memory the caller does not know of, end no process and print nothing.
 */
#ifndef PRT_IMAGE_HEAP_H
#define PRT_IMAGE_HEAP_H

#include <setjmp.h>

#include "image/image.h"

enum { PRT_IMAGE_BUCKETS = 128 };

typedef struct prt_image_job {
    const unsigned char *bytes;
    size_t size;
    prt_image *out;
    /* The rest is heap.c's. */
    const prt_image_memory *memory;
    size_t used, limit;
    void *idle[PRT_IMAGE_BUCKETS]; /* freed blocks by size */
    poprt_status status;
    jmp_buf way_out;
} prt_image_job;

typedef poprt_status (*prt_image_decoder)(prt_image_job *job);

/* Runs a decoder on this thread; its result, or the status it escaped with. */
poprt_status prt_image_guard(prt_image_job *job, prt_image_decoder decode);

/* Leaves the decoder that runs on this thread. The failure has been recorded. */
_Noreturn void prt_image_escape(poprt_status status);

/* Leaves it when the caller wants to stop. For every row, tile or scan. */
void prt_image_check(void);

/* Says the size of the picture, which is checked, and makes room for its pixels in job->out. */
poprt_status prt_image_begin(prt_image_job *job, size_t width, size_t height, size_t channels);

/* The C library's functions, as foreign decoders see them and ours use them. None gives NULL: what
 * is refused ends the decoding. */
void *prt_image_malloc(size_t size);
void *prt_image_calloc(size_t count, size_t size);
void *prt_image_realloc(void *ptr, size_t size);
int prt_image_posix_memalign(void **out, size_t align, size_t size);
void prt_image_free(void *ptr);

#endif
