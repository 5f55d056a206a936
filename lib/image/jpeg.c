/* SPDX-License-Identifier: MIT */
/* jpeg.c — JPEG by libjpeg: baseline and progressive, grey, colour and CMYK. */
#include <stdio.h>

#include <jpeglib.h>

#include "image/bytes.h"
#include "image/formats.h"

/* Maximum of scans. A progressive file may repeat the whole picture; real files have about ten. */
enum { SCANS_MAX = 100 };

static void on_error(j_common_ptr c)
{
    char text[JMSG_LENGTH_MAX];
    c->err->format_message(c, text);
    prt_image_escape(prt_fail(POPRT_E_PARSE, "JPEG", "%s", text));
}

/* Ignores warnings: the pixels read after them are the picture. */
static void on_message(j_common_ptr c, int level)
{
    (void)c;
    (void)level;
}

static boolean at_end(j_decompress_ptr d)
{
    (void)d;
    prt_image_escape(prt_fail(POPRT_E_PARSE, "JPEG", "the file ends early"));
}

static void on_progress(j_common_ptr c)
{
    prt_image_check();
    if (c->is_decompressor && ((j_decompress_ptr)c)->input_scan_number > SCANS_MAX)
        prt_image_escape(
            prt_fail(POPRT_E_LIMIT, "JPEG", "the file has more than %d scans", SCANS_MAX));
}

/* Converts a row of four inks, which Adobe's programs store inverted, to RGB. */
static void inks_row(const struct jpeg_decompress_struct *d, const unsigned char *from,
    unsigned char *to)
{
    const unsigned char flip = d->saw_Adobe_marker ? 0xff : 0;
    for (size_t x = 0; x < d->output_width; x++)
        for (size_t k = 0; k < 3; k++)
            to[x * 3 + k] = prt_image_ink(from[x * 4 + k] ^ flip, from[x * 4 + 3] ^ flip);
}

poprt_status prt_image_jpeg(prt_image_context *context)
{
    struct jpeg_error_mgr errors;
    struct jpeg_progress_mgr progress = { .progress_monitor = on_progress };
    struct jpeg_decompress_struct d;
    d.err = jpeg_std_error(&errors);
    errors.error_exit = on_error;
    errors.emit_message = on_message;
    jpeg_create_decompress(&d);
    jpeg_mem_src(&d, context->bytes, (unsigned long)context->size);
    d.src->fill_input_buffer = at_end;
    d.progress = &progress;
    (void)jpeg_read_header(&d, TRUE);
    const bool grey = d.jpeg_color_space == JCS_GRAYSCALE;
    const bool inks = d.jpeg_color_space == JCS_CMYK || d.jpeg_color_space == JCS_YCCK;
    d.out_color_space = grey ? JCS_GRAYSCALE : inks ? JCS_CMYK : JCS_RGB;
    PRT_TRY(prt_image_begin(context, d.image_width, d.image_height, grey ? 1 : 3));
    (void)jpeg_start_decompress(&d);
    const size_t step = context->out->width * context->out->channels;
    unsigned char *inked = inks ? prt_image_calloc(d.output_width, 4) : NULL;
    while (d.output_scanline < d.output_height) {
        unsigned char *to = context->out->pixels + d.output_scanline * step;
        JSAMPROW row = inks ? inked : to;
        (void)jpeg_read_scanlines(&d, &row, 1);
        if (inks)
            inks_row(&d, inked, to);
    }
    jpeg_destroy_decompress(&d);
    return POPRT_OK;
}
