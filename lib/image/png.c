/* SPDX-License-Identifier: MIT */
/* png.c — PNG by libpng. */
#include <png.h>
#include <string.h>

#include "image/formats.h"

/* Maximum of bytes of an unpacked chunk without pixels, and of such chunks. */
enum { CHUNK_MAX = 8 << 20, CHUNKS_MAX = 128 };

static PNG_FUNCTION(void, on_error, (png_structp png, png_const_charp text), PNG_NORETURN)
{
    (void)png;
    prt_image_escape(prt_fail(POPRT_E_PARSE, "PNG", "%s", text));
}

static void on_warning(png_structp png, png_const_charp text)
{
    (void)png;
    (void)text;
}

/* The unread bytes of the file. */
typedef struct rest {
    const unsigned char *bytes;
    size_t size;
} rest;

static void read_bytes(png_structp png, png_bytep to, size_t count)
{
    rest *r = png_get_io_ptr(png);
    if (count > r->size)
        png_error(png, "the file ends early");
    memcpy(to, r->bytes, count);
    r->bytes += count;
    r->size -= count;
}

poprt_status prt_image_png(prt_image_context *context)
{
    rest r = { context->bytes, context->size };
    png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, NULL, on_error, on_warning);
    png_infop info = png != NULL ? png_create_info_struct(png) : NULL;
    if (info == NULL)
        return prt_fail(POPRT_E_PARSE, "PNG", "libpng cannot be initialised");
    png_set_read_fn(png, &r, read_bytes);
    png_set_user_limits(png, PRT_IMAGE_PIXELS_MAX, PRT_IMAGE_PIXELS_MAX);
    png_set_chunk_malloc_max(png, CHUNK_MAX);
    png_set_chunk_cache_max(png, CHUNKS_MAX);
    png_read_info(png, info);
    png_set_palette_to_rgb(png);
    png_set_expand_gray_1_2_4_to_8(png);
    png_set_scale_16(png);
    png_set_strip_alpha(png);
    const int passes = png_set_interlace_handling(png);
    const bool grey = (png_get_color_type(png, info) & PNG_COLOR_MASK_COLOR) == 0;
    PRT_TRY(prt_image_begin(context, png_get_image_width(png, info),
        png_get_image_height(png, info), grey ? 1 : 3));
    png_read_update_info(png, info);
    const size_t step = context->out->width * context->out->channels;
    if (png_get_rowbytes(png, info) != step)
        return prt_fail(POPRT_E_UNSUPPORTED, "PNG", "rows have %zu bytes, expected %zu",
            png_get_rowbytes(png, info), step);
    for (int pass = 0; pass < passes; pass++)
        for (size_t y = 0; y < context->out->height; y++) {
            prt_image_check();
            png_read_row(png, context->out->pixels + y * step, NULL);
        }
    png_destroy_read_struct(&png, &info, NULL);
    return POPRT_OK;
}
