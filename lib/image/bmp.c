/* SPDX-License-Identifier: MIT */
/* bmp.c — Windows and OS/2 bitmaps: palettes of 1, 4 and 8 bits, plain or run-length encoded, and
 * 16, 24 and 32 bits with or without masks. */
#include <string.h>

#include "image/bytes.h"
#include "image/formats.h"

enum { PLAIN = 0, RUNS_8 = 1, RUNS_4 = 2, MASKS = 3 };
enum { FILE_HEADER = 14, OLD_HEADER = 12, HEADER = 40 };

typedef struct bitmap {
    const unsigned char *bytes;
    size_t size;
    uint32_t pixels_at, header, bits, packing;
    size_t width, height;
    bool from_top;
    const unsigned char *palette;
    uint32_t colours, entry; /* number of colours of the palette, and bytes of one */
    uint32_t masks[3];       /* red, green, blue */
} bitmap;

static poprt_status broken(const char *what)
{
    return prt_fail(POPRT_E_PARSE, "BMP", "%s", what);
}

/* Returns a field of the header at an offset in the file; 0 beyond its end, which read_header
 * excludes. */
static uint32_t field(const bitmap *b, size_t at, uint32_t count)
{
    uint32_t v;
    return prt_image_number(b->bytes, b->size, at, count, false, &v) ? v : 0;
}

static poprt_status read_header(bitmap *b)
{
    b->header = field(b, FILE_HEADER, 4);
    b->pixels_at = field(b, 10, 4);
    if ((b->header != OLD_HEADER && b->header < HEADER) || b->header > b->size ||
        b->size - b->header < FILE_HEADER || b->pixels_at > b->size)
        return broken("the header is cut off");
    if (b->header == OLD_HEADER) {
        b->width = field(b, 18, 2);
        b->height = field(b, 20, 2);
        b->bits = field(b, 24, 2);
        b->entry = 3;
        return POPRT_OK;
    }
    const uint32_t width = field(b, 18, 4), height = field(b, 22, 4);
    b->from_top = height >> 31 != 0;
    if (width >> 31 != 0 || height == (uint32_t)1 << 31)
        return broken("the size is negative");
    b->width = width;
    b->height = b->from_top ? 0 - height : height;
    b->bits = field(b, 28, 2);
    b->packing = field(b, 30, 4);
    b->colours = field(b, 46, 4);
    b->entry = 4;
    return POPRT_OK;
}

/* Reads the palette or the masks, which follow the header. */
static poprt_status read_colours(bitmap *b)
{
    const size_t after = FILE_HEADER + (size_t)b->header;
    if (b->bits <= 8) {
        if (b->colours == 0 || b->colours > 1u << b->bits)
            b->colours = 1u << b->bits;
        if ((b->size - after) / b->entry < b->colours)
            return broken("the palette is cut off");
        b->palette = b->bytes + after;
        return POPRT_OK;
    }
    const uint32_t plain_16[3] = { 0x7c00, 0x3e0, 0x1f }, plain_32[3] = { 0xff0000, 0xff00, 0xff };
    memcpy(b->masks, b->bits == 16 ? plain_16 : plain_32, sizeof(b->masks));
    for (uint32_t k = 0; b->packing == MASKS && k < 3; k++)
        if (!prt_image_number(b->bytes, b->size, FILE_HEADER + HEADER + 4 * k, 4, false,
                &b->masks[k]))
            return broken("the masks are cut off");
    return POPRT_OK;
}

static void write_colour(const bitmap *b, uint32_t index, unsigned char *to)
{
    const unsigned char *from = b->palette + (size_t)b->entry * index;
    for (uint32_t k = 0; k < 3; k++)
        to[k] = index < b->colours ? from[2 - k] : 0;
}

static unsigned char masked(uint32_t word, uint32_t mask)
{
    if (mask == 0)
        return 0;
    const uint32_t lowest = mask & (0 - mask);
    return prt_image_scale((word & mask) / lowest, mask / lowest);
}

static void write_row(const bitmap *b, const unsigned char *from, unsigned char *to)
{
    for (size_t x = 0; x < b->width; x++, to += 3) {
        if (b->bits <= 8) {
            write_colour(b, prt_image_sample(from, x, b->bits), to);
            continue;
        }
        const uint32_t count = b->bits / 8;
        uint32_t word = 0;
        (void)prt_image_number(from + x * count, count, 0, count, false, &word);
        for (uint32_t k = 0; k < 3; k++)
            to[k] = masked(word, b->masks[k]);
    }
}

static unsigned char *row_of(const bitmap *b, const prt_image *out, size_t row)
{
    return out->pixels + (b->from_top ? row : b->height - 1 - row) * b->width * 3;
}

/* Decodes runs: (count, colour) pairs. (0, n) ends a row, ends the picture, moves the position, or
 * precedes n plain pixels. */
static poprt_status write_runs(const bitmap *b, const prt_image *out)
{
    const unsigned char *p = b->bytes + b->pixels_at, *const end = b->bytes + b->size;
    const uint32_t bits = b->packing == RUNS_4 ? 4 : 8;
    size_t x = 0, y = 0;
    while (end - p >= 2) {
        const uint32_t count = p[0], what = p[1];
        p += 2;
        if (count == 0 && what == 1)
            return POPRT_OK;
        if (count == 0 && what == 0) {
            x = 0;
            y++;
            continue;
        }
        if (count == 0 && what == 2) {
            if (end - p < 2)
                break;
            x += p[0];
            y += p[1];
            p += 2;
            continue;
        }
        const uint32_t n = count != 0 ? count : what;
        const unsigned char *from = count != 0 ? p - 1 : p;
        const size_t used = count != 0 ? 0 : ((size_t)n * bits + 15) / 16 * 2;
        if ((size_t)(end - p) < used)
            break;
        if (y >= b->height || n > b->width - (x < b->width ? x : b->width))
            return broken("a run exceeds the picture");
        /* A run of 4-bit samples alternates two colours. */
        for (uint32_t k = 0; k < n; k++, x++)
            write_colour(b,
                prt_image_sample(from,
                    count == 0      ? k
                        : bits == 4 ? k % 2
                                    : 0,
                    bits),
                row_of(b, out, y) + x * 3);
        p += used;
    }
    return broken("the runs are cut off");
}

poprt_status prt_image_bmp(prt_image_context *context)
{
    bitmap b = { .bytes = context->bytes, .size = context->size };
    PRT_TRY(read_header(&b));
    const bool runs = (b.packing == RUNS_8 && b.bits == 8) || (b.packing == RUNS_4 && b.bits == 4);
    const bool masks = b.packing == MASKS && (b.bits == 16 || b.bits == 32);
    if (!runs && !masks && b.packing != PLAIN)
        return prt_fail(POPRT_E_UNSUPPORTED, "BMP",
            "compression %u with %u bits a pixel is not supported", b.packing, b.bits);
    if (b.bits != 1 && b.bits != 4 && b.bits != 8 && b.bits != 16 && b.bits != 24 && b.bits != 32)
        return prt_fail(POPRT_E_PARSE, "BMP", "%u bits a pixel; 1, 4, 8, 16, 24 and 32 are read",
            b.bits);
    PRT_TRY(read_colours(&b));
    const uint64_t step = ((uint64_t)b.width * b.bits + 31) / 32 * 4; /* padded to four bytes */
    if (!runs && b.height != 0 && step > (b.size - b.pixels_at) / b.height)
        return broken("the file ends early");
    PRT_TRY(prt_image_begin(context, b.width, b.height, 3));
    if (runs)
        return write_runs(&b, context->out);
    for (size_t y = 0; y < b.height; y++)
        write_row(&b, b.bytes + b.pixels_at + y * step, row_of(&b, context->out, y));
    return POPRT_OK;
}
