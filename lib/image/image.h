/* SPDX-License-Identifier: MIT */
/*
 * image.h — decodes pictures: BMP, JPEG, JPEG 2000, PNG, PNM, TIFF and WebP.
 *
 * The bytes are untrusted. Sizes are checked before memory is allocated for them. All memory, also
 * of foreign decoders, comes from the caller and is not freed piece by piece: the caller releases
 * all of it after the call, whether it succeeds or fails.
 */
#ifndef PRT_IMAGE_IMAGE_H
#define PRT_IMAGE_IMAGE_H

#include <stddef.h>

#include "base/status.h"

/* Maximum of pixels; larger pictures are refused. */
enum { PRT_IMAGE_PIXELS_MAX = 1 << 27 };

/* The caller's memory: zeroed, aligned to 16 bytes and valid until the caller releases it; NULL
 * when refused. */
typedef struct prt_image_memory {
    void *user;
    void *(*alloc)(void *user, size_t size);
    poprt_status (*check)(void *user); /* called regularly; ends it unless OK. May be NULL. */
} prt_image_memory;

/* Rows from the top, pixels from the left, without gaps. One channel is grey, three are red, green
 * and blue. Transparency is ignored. */
typedef struct prt_image {
    size_t width, height, channels;
    unsigned char *pixels;
} prt_image;

/*
 * Decodes a picture into `out`. Fails with POPRT_E_PARSE where the bytes are not a picture, or are
 * damaged; with POPRT_E_UNSUPPORTED for a format, or a variant of it, that this build does not read
 * (the message says what it needs); with POPRT_E_LIMIT for too many pixels, or where the file needs
 * far more memory than its pixels; with POPRT_E_NOMEM; and with the status of the caller's check.
 */
poprt_status prt_image_decode(const prt_image_memory *memory, const void *bytes, size_t size,
    prt_image *out);

#endif
