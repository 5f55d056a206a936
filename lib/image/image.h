/* SPDX-License-Identifier: MIT */
/*
 * image.h — encoded pictures to pixels: BMP, JPEG, JPEG 2000, PNG, PNM, TIFF and WebP.
 *
 * The bytes are untrusted. Sizes are checked before anything is allocated for them, all memory,
 * that of foreign decoders too, is asked of the caller, and nothing is freed one by one: the
 * caller drops it all after the call, however it ended.
 */
#ifndef PRT_IMAGE_IMAGE_H
#define PRT_IMAGE_IMAGE_H

#include <stddef.h>

#include "base/status.h"

/* Larger pictures are refused. */
enum { PRT_IMAGE_PIXELS_MAX = 1 << 27 };

/* Memory is zeroed, aligned to 16 bytes and valid until the caller drops it; NULL when refused. */
typedef struct prt_image_memory {
    void *user;
    void *(*alloc)(void *user, size_t size);
    poprt_status (*check)(void *user); /* asked now and then; ends it unless OK. May be NULL. */
} prt_image_memory;

/* Rows from the top, pixels from the left, without gaps; one channel is grey, three are red, green
 * and blue. What is transparent in the file is as if it were not. */
typedef struct prt_image {
    size_t width, height, channels;
    unsigned char *pixels;
} prt_image;

/*
 * POPRT_E_PARSE: these bytes are no picture, or a broken one. POPRT_E_UNSUPPORTED: a format or a
 * kind of it that this build does not read; the message says what would. POPRT_E_LIMIT: too many
 * pixels, or a file that asks for far more memory than its pixels need. POPRT_E_NOMEM. What the
 * caller's check gave.
 */
poprt_status prt_image_decode(const prt_image_memory *memory, const void *bytes, size_t size,
    prt_image *out);

#endif
