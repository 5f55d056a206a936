/* SPDX-License-Identifier: MIT */
/*
 * tiff.c — the first picture of a TIFF file: grey, palette, RGB or CMYK, of 1 to 16 bits, in strips
 * or tiles, with interleaved or separate planes; plain, PackBits, LZW or deflate.
 */
#include <string.h>

#include "base/size.h"
#include "image/bytes.h"
#include "image/formats.h"

enum {
    TAG_WIDTH = 256,
    TAG_HEIGHT = 257,
    TAG_BITS = 258,
    TAG_PACKING = 259,
    TAG_MEANING = 262,
    TAG_STRIPS = 273,
    TAG_SAMPLES = 277,
    TAG_STRIP_ROWS = 278,
    TAG_STRIP_SIZES = 279,
    TAG_APART = 284,
    TAG_PREDICTOR = 317,
    TAG_PALETTE = 320,
    TAG_TILE_WIDTH = 322,
    TAG_TILE_HEIGHT = 323,
    TAG_TILES = 324,
    TAG_TILE_SIZES = 325,
    TAG_NUMBER_KIND = 339
};
enum { WHITE_IS_ZERO, BLACK_IS_ZERO, RGB, PALETTE, INKS = 5 };
enum { PLAIN = 1, LZW = 5, DEFLATE = 8, PACKBITS = 32773, DEFLATE_OLD = 32946 };
enum { SAMPLES_MAX = 16, ENTRY = 12 };

typedef struct field {
    size_t at;
    uint32_t width, count; /* bytes of a value, number of values */
} field;

typedef struct tiff {
    const unsigned char *bytes;
    size_t size;
    bool big;
    size_t entries; /* offset of the first entry */
    uint32_t n_entries;
    uint32_t width, height, bits, packing, meaning, samples, predictor;
    bool planar;
    uint32_t tile_width, tile_height; /* a strip is a tile of the picture's width */
    bool strips;
    field tile_at, tile_size, palette;
    unsigned char *tile; /* one tile, unpacked */
    size_t step;         /* bytes of a row of the tile */
} tiff;

static poprt_status broken(const char *what)
{
    return prt_fail(POPRT_E_PARSE, "TIFF", "%s", what);
}

static bool number(const tiff *t, size_t at, uint32_t count, uint32_t *to)
{
    return prt_image_number(t->bytes, t->size, at, count, t->big, to);
}

/* Finds the values of a tag; count 0 if the file has no values of whole numbers for it. */
static field find(const tiff *t, uint32_t tag)
{
    field none = { 0, 0, 0 };
    for (uint32_t i = 0; i < t->n_entries; i++) {
        const size_t entry = t->entries + (size_t)ENTRY * i;
        uint32_t have, type, count, at;
        if (!number(t, entry, 2, &have) || have != tag)
            continue;
        if (!number(t, entry + 2, 2, &type) || !number(t, entry + 4, 4, &count) ||
            !number(t, entry + 8, 4, &at))
            return none;
        const uint32_t width = type == 1 ? 1 : type == 3 ? 2 : type == 4 ? 4 : 0;
        const bool inside = (uint64_t)count * width <= 4;
        return width == 0 ? none : (field){ inside ? entry + 8 : at, width, count };
    }
    return none;
}

static bool value(const tiff *t, const field *f, size_t index, uint32_t *to)
{
    return index < f->count && number(t, f->at + index * f->width, f->width, to);
}

static uint32_t value_or(const tiff *t, uint32_t tag, uint32_t other)
{
    const field f = find(t, tag);
    uint32_t v;
    return value(t, &f, 0, &v) ? v : other;
}

static poprt_status check_kind(const tiff *t)
{
    static const uint32_t colours[] = { 1, 1, 3, 1, 0, 4 }; /* samples of a pixel, by meaning */
    if (t->bits != 1 && t->bits != 2 && t->bits != 4 && t->bits != 8 && t->bits != 16)
        return prt_fail(POPRT_E_UNSUPPORTED, "TIFF",
            "samples of %u bits; 1, 2, 4, 8 and 16 are read", t->bits);
    const field f = find(t, TAG_BITS);
    uint32_t bits;
    for (uint32_t k = 1; k < t->samples && k < SAMPLES_MAX; k++)
        if (value(t, &f, k, &bits) && bits != t->bits)
            return prt_fail(POPRT_E_UNSUPPORTED, "TIFF",
                "samples of %u and %u bits in one picture are not supported", t->bits, bits);
    if (value_or(t, TAG_NUMBER_KIND, 1) != 1)
        return prt_fail(POPRT_E_UNSUPPORTED, "TIFF",
            "samples that are not unsigned integers are not supported");
    if (t->meaning >= PRT_COUNT_OF(colours) || colours[t->meaning] == 0)
        return prt_fail(POPRT_E_UNSUPPORTED, "TIFF",
            "photometric interpretation %u is not supported", t->meaning);
    if (t->samples > SAMPLES_MAX || t->samples < colours[t->meaning])
        return prt_fail(POPRT_E_PARSE, "TIFF", "%u samples a pixel", t->samples);
    if (t->packing != PLAIN && t->packing != LZW && t->packing != DEFLATE &&
        t->packing != DEFLATE_OLD && t->packing != PACKBITS)
        return prt_fail(POPRT_E_UNSUPPORTED, "TIFF", "compression %u is not supported", t->packing);
    if (t->predictor != 1 && (t->predictor != 2 || t->bits < 8))
        return prt_fail(POPRT_E_UNSUPPORTED, "TIFF", "predictor %u is not supported with %u bits",
            t->predictor, t->bits);
    if (t->meaning == PALETTE && t->bits > 8)
        return broken("a palette with samples of 16 bits is not supported");
    return POPRT_OK;
}

static poprt_status read_header(tiff *t)
{
    uint32_t at;
    if (!number(t, 4, 4, &at) || !number(t, at, 2, &t->n_entries))
        return broken("the directory is missing");
    t->entries = (size_t)at + 2;
    if ((t->size - t->entries) / ENTRY < t->n_entries)
        return broken("the directory is cut off");
    t->width = value_or(t, TAG_WIDTH, 0);
    t->height = value_or(t, TAG_HEIGHT, 0);
    t->bits = value_or(t, TAG_BITS, 1);
    t->packing = value_or(t, TAG_PACKING, PLAIN);
    t->meaning = value_or(t, TAG_MEANING, WHITE_IS_ZERO);
    t->samples = value_or(t, TAG_SAMPLES, 1);
    t->predictor = value_or(t, TAG_PREDICTOR, 1);
    t->planar = t->samples > 1 && value_or(t, TAG_APART, 1) == 2;
    t->tile_width = value_or(t, TAG_TILE_WIDTH, 0);
    t->strips = t->tile_width == 0;
    t->tile_height = value_or(t, t->strips ? TAG_STRIP_ROWS : TAG_TILE_HEIGHT, t->height);
    if (t->strips) {
        t->tile_width = t->width;
        t->tile_height = t->tile_height < t->height ? t->tile_height : t->height;
    }
    t->tile_at = find(t, t->strips ? TAG_STRIPS : TAG_TILES);
    t->tile_size = find(t, t->strips ? TAG_STRIP_SIZES : TAG_TILE_SIZES);
    t->palette = find(t, TAG_PALETTE);
    if (t->tile_width == 0 || t->tile_height == 0)
        return broken("width, height or a side of the tiles is zero");
    return check_kind(t);
}

/* Undoes horizontal differencing: each sample is the difference to its predecessor in the row. */
static void undo_predictor(const tiff *t, size_t rows)
{
    const size_t step = t->planar ? 1 : t->samples, n = t->tile_width * step;
    for (size_t y = 0; y < rows; y++) {
        unsigned char *row = t->tile + y * t->step;
        for (size_t i = step; i < n; i++) {
            if (t->bits == 8) {
                row[i] = (unsigned char)(row[i] + row[i - step]);
                continue;
            }
            uint32_t a = 0, b = 0;
            (void)prt_image_number(row, t->step, 2 * i, 2, t->big, &a);
            (void)prt_image_number(row, t->step, 2 * (i - step), 2, t->big, &b);
            row[2 * i + t->big] = (unsigned char)(a + b);
            row[2 * i + !t->big] = (unsigned char)((a + b) >> 8);
        }
    }
}

static poprt_status unpack(const tiff *t, size_t index, size_t rows)
{
    const size_t needed = rows * t->step;
    uint32_t at, size;
    if (!value(t, &t->tile_at, index, &at) || !value(t, &t->tile_size, index, &size) ||
        at > t->size || t->size - at < size)
        return broken("a strip or tile is outside the file");
    const unsigned char *from = t->bytes + at;
    if (t->packing == PLAIN) {
        if (size < needed)
            return broken("a strip or tile is cut off");
        memcpy(t->tile, from, needed);
    } else {
        PRT_TRY(t->packing == PACKBITS ? prt_image_packbits(from, size, t->tile, needed)
                : t->packing == LZW    ? prt_image_lzw(from, size, t->tile, needed)
                                       : prt_image_inflate(from, size, t->tile, needed));
    }
    if (t->predictor == 2)
        undo_predictor(t, rows);
    return POPRT_OK;
}

/* Returns a sample scaled to [0, 255]; the sample itself if it is an index of the palette. */
static uint32_t sample(const tiff *t, const unsigned char *row, size_t i)
{
    uint32_t v = 0;
    if (t->bits == 16)
        (void)prt_image_number(row, t->step, 2 * i, 2, t->big, &v);
    else
        v = prt_image_sample(row, i, t->bits);
    return t->meaning == PALETTE ? v : prt_image_scale(v, (1u << t->bits) - 1);
}

static void write_pixel(const tiff *t, const uint32_t *v, unsigned char *to)
{
    uint32_t colour = 0;
    switch (t->meaning) {
    case WHITE_IS_ZERO:
        to[0] = (unsigned char)(255 - v[0]);
        break;
    case BLACK_IS_ZERO:
        to[0] = (unsigned char)v[0];
        break;
    case PALETTE:
        for (uint32_t k = 0; k < 3; k++) {
            if (!value(t, &t->palette, ((size_t)k << t->bits) + v[0], &colour))
                colour = 0;
            to[k] = (unsigned char)(colour >> 8);
        }
        break;
    default:
        for (uint32_t k = 0; k < 3; k++)
            to[k] = t->meaning == RGB ? (unsigned char)v[k] : prt_image_ink(v[k], v[3]);
        break;
    }
}

/* Copies a tile into the picture. With separate planes a tile belongs to `plane`, and the colours
 * of other planes are left unchanged. */
static void write_tile(const tiff *t, const prt_image *out, size_t left, size_t top, size_t plane)
{
    const size_t right = left + t->tile_width < t->width ? left + t->tile_width : t->width;
    const size_t bottom = top + t->tile_height < t->height ? top + t->tile_height : t->height;
    for (size_t y = top; y < bottom; y++)
        for (size_t x = left; x < right; x++) {
            const unsigned char *row = t->tile + (y - top) * t->step;
            unsigned char *to = out->pixels + (y * t->width + x) * out->channels;
            uint32_t v[4] = { 0 };
            if (t->planar && t->meaning == RGB) {
                if (plane < 3)
                    to[plane] = (unsigned char)sample(t, row, x - left);
                continue;
            }
            if (t->planar && plane != 0)
                continue;
            const size_t each = t->planar ? 1 : t->samples;
            for (size_t k = 0; k < 4 && k < each; k++)
                v[k] = sample(t, row, (x - left) * each + k);
            write_pixel(t, v, to);
        }
}

/* Bounds the area of the picture rounded up to whole tiles. */
static poprt_status check_tiles(const tiff *t)
{
    const uint64_t across = ((uint64_t)t->width - 1) / t->tile_width + 1;
    const uint64_t down = ((uint64_t)t->height - 1) / t->tile_height + 1;
    size_t wide, high, area;
    if (!prt_size_mul(across, t->tile_width, &wide) || !prt_size_mul(down, t->tile_height, &high) ||
        !prt_size_mul(wide, high, &area) || area > PRT_IMAGE_PIXELS_MAX)
        return prt_fail(POPRT_E_LIMIT, "TIFF", "tiles of %u x %u pixels exceed the pixel limit",
            t->tile_width, t->tile_height);
    return POPRT_OK;
}

poprt_status prt_image_tiff(prt_image_context *context)
{
    tiff t = { .bytes = context->bytes, .size = context->size, .big = context->bytes[0] == 'M' };
    PRT_TRY(read_header(&t));
    if (t.planar && t.meaning == INKS)
        return prt_fail(POPRT_E_UNSUPPORTED, "TIFF", "inks in separate planes are not supported");
    const bool grey = t.meaning == WHITE_IS_ZERO || t.meaning == BLACK_IS_ZERO;
    PRT_TRY(prt_image_begin(context, t.width, t.height, grey ? 1 : 3));
    PRT_TRY(check_tiles(&t));
    const uint64_t bits = (uint64_t)t.tile_width * (t.planar ? 1 : t.samples) * t.bits;
    t.step = (size_t)((bits + 7) / 8);
    t.tile = prt_image_calloc(t.tile_height, t.step);
    size_t index = 0;
    for (size_t plane = 0; plane < (t.planar ? t.samples : 1); plane++)
        for (size_t top = 0; top < t.height; top += t.tile_height)
            for (size_t left = 0; left < t.width; left += t.tile_width) {
                const size_t rest = t.height - top; /* the last strip may be shorter */
                prt_image_check();
                const bool is_short = t.strips && rest < t.tile_height;
                PRT_TRY(unpack(&t, index++, is_short ? rest : t.tile_height));
                write_tile(&t, context->out, left, top, plane);
            }
    return POPRT_OK;
}
