/* SPDX-License-Identifier: MIT */
/* formats.h — the decoders. A decoder of a foreign library exists if the build found the
 * library. */
#ifndef PRT_IMAGE_FORMATS_H
#define PRT_IMAGE_FORMATS_H

#include "image/heap.h"

poprt_status prt_image_bmp(prt_image_context *context);
poprt_status prt_image_jp2(prt_image_context *context);
poprt_status prt_image_jpeg(prt_image_context *context);
poprt_status prt_image_png(prt_image_context *context);
poprt_status prt_image_pnm(prt_image_context *context);
poprt_status prt_image_tiff(prt_image_context *context);
poprt_status prt_image_webp(prt_image_context *context);

/* Decompression of TIFF's strips. Fills `to`; bytes after an early but valid end of the strip are
 * zero. */
poprt_status prt_image_packbits(const unsigned char *from, size_t size, unsigned char *to,
    size_t capacity);
poprt_status prt_image_lzw(const unsigned char *from, size_t size, unsigned char *to,
    size_t capacity);
poprt_status prt_image_inflate(const unsigned char *from, size_t size, unsigned char *to,
    size_t capacity);

#endif
