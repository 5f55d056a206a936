/* SPDX-License-Identifier: MIT */
/* image.c — detects the format, and runs its decoder guarded. */
#include "image/image.h"

#include <string.h>

#include "image/formats.h"

/* `by` names the library of a format that the build may lack. */
#ifdef PRT_IMAGE_HAS_JPEG
#define JPEG prt_image_jpeg
#else
#define JPEG NULL
#endif
#ifdef PRT_IMAGE_HAS_JP2
#define JP2 prt_image_jp2
#else
#define JP2 NULL
#endif
#ifdef PRT_IMAGE_HAS_PNG
#define PNG prt_image_png
#else
#define PNG NULL
#endif
#ifdef PRT_IMAGE_HAS_WEBP
#define WEBP prt_image_webp
#else
#define WEBP NULL
#endif

static const struct format {
    const char *name, *by;
    const char *magic;
    uint32_t count, at; /* bytes of the magic, and their offset */
    prt_image_decoder decode;
} formats[] = {
    { "BMP", NULL, "BM", 2, 0, prt_image_bmp },
    { "JPEG", "libjpeg", "\xff\xd8\xff", 3, 0, JPEG },
    { "JPEG 2000", "libopenjp2", "\0\0\0\x0cjP  \r\n\x87\n", 12, 0, JP2 },
    { "JPEG 2000", "libopenjp2", "\xff\x4f\xff\x51", 4, 0, JP2 },
    { "PNG", "libpng", "\x89PNG\r\n\x1a\n", 8, 0, PNG },
    { "TIFF", NULL, "II*\0", 4, 0, prt_image_tiff },
    { "TIFF", NULL, "MM\0*", 4, 0, prt_image_tiff },
    { "WebP", "libwebp", "WEBP", 4, 8, WEBP },
    { "PNM", NULL, "P1", 2, 0, prt_image_pnm },
    { "PNM", NULL, "P2", 2, 0, prt_image_pnm },
    { "PNM", NULL, "P3", 2, 0, prt_image_pnm },
    { "PNM", NULL, "P4", 2, 0, prt_image_pnm },
    { "PNM", NULL, "P5", 2, 0, prt_image_pnm },
    { "PNM", NULL, "P6", 2, 0, prt_image_pnm },
};

poprt_status prt_image_decode(const prt_image_memory *memory, const void *bytes, size_t size,
    prt_image *out)
{
    prt_image image = { 0 };
    prt_image_context context = { .bytes = bytes, .size = size, .out = &image, .memory = memory };
    for (size_t i = 0; i < PRT_COUNT_OF(formats); i++) {
        const struct format *f = &formats[i];
        if (size < f->at + f->count || memcmp(context.bytes + f->at, f->magic, f->count) != 0)
            continue;
        if (f->decode == NULL)
            return prt_fail(POPRT_E_UNSUPPORTED, f->name,
                "this build reads no %s pictures; -Dimages=enabled and the static archive of %s "
                "add them",
                f->name, f->by);
        const poprt_status status = prt_image_guard(&context, f->decode);
        if (status == POPRT_OK)
            *out = image;
        return prt_fail_about(status, f->name);
    }
    return prt_fail(POPRT_E_PARSE, NULL, "the bytes are not a picture of a known format");
}
