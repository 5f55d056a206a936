/* SPDX-License-Identifier: MIT */
/* tiff_codec.c — decompression of TIFF's strips: PackBits, LZW and, if zlib is available,
 * deflate. */
#include <string.h>

#ifdef PRT_IMAGE_HAS_ZLIB
#define ZLIB_CONST
#include <zlib.h>
#endif

#include "image/formats.h"

static poprt_status broken(const char *what)
{
    return prt_fail(POPRT_E_PARSE, "TIFF", "%s", what);
}

poprt_status prt_image_packbits(const unsigned char *from, size_t size, unsigned char *to,
    size_t capacity)
{
    size_t at = 0, done = 0;
    while (done < capacity && at < size) {
        const unsigned code = from[at++];
        if (code == 128)
            continue;
        const size_t n = code < 128 ? code + 1 : 257 - code, used = code < 128 ? n : 1;
        if (used > size - at || n > capacity - done)
            return broken("PackBits data exceeds the strip");
        if (code < 128)
            memcpy(to + done, from + at, n);
        else
            memset(to + done, from[at], n);
        at += used;
        done += n;
    }
    return done == capacity ? POPRT_OK : broken("a strip is cut off");
}

/*
 * LZW with codes of 9 to 12 bits, highest bit first, whose width grows one code early. A code
 * stands for a part of the output: its first byte and its length.
 */
typedef struct lzw {
    const unsigned char *from;
    size_t size, at;      /* at: position in bits */
    uint32_t width, next; /* width of codes in bits; the next code to define */
    size_t start[4096], length[4096];
} lzw;

enum { LZW_CLEAR = 256, LZW_END = 257, LZW_FIRST = 258, LZW_CODES = 4096 };

static uint32_t next_code(lzw *z)
{
    uint32_t code = 0;
    if (z->at + z->width > z->size * 8)
        return LZW_END;
    for (uint32_t i = 0; i < z->width; i++, z->at++)
        code = code << 1 | ((uint32_t)z->from[z->at / 8] >> (7 - z->at % 8) & 1);
    return code;
}

static void clear(lzw *z)
{
    z->width = 9;
    z->next = LZW_FIRST;
}

poprt_status prt_image_lzw(const unsigned char *from, size_t size, unsigned char *to,
    size_t capacity)
{
    lzw *z = prt_image_malloc(sizeof(lzw));
    size_t done = 0, last = 0, last_length = 0; /* the output of the previous code */
    z->from = from;
    z->at = 0;
    z->size = size < SIZE_MAX / 8 - 2 ? size : SIZE_MAX / 8 - 2;
    clear(z);
    while (done < capacity) {
        const uint32_t code = next_code(z);
        if (code == LZW_END)
            break;
        if (code == LZW_CLEAR) {
            clear(z);
            last_length = 0;
            continue;
        }
        /* The code that is about to be defined is the previous output and its first byte again. */
        const bool fresh = code == z->next && last_length != 0;
        if (code > LZW_CLEAR && code >= z->next && !fresh)
            return broken("the LZW data has an unknown code");
        size_t n = code < LZW_CLEAR ? 1 : fresh ? last_length + 1 : z->length[code];
        const size_t piece = fresh ? last : code < LZW_CLEAR ? 0 : z->start[code];
        n = n < capacity - done ? n : capacity - done;
        const size_t start = done;
        if (code < LZW_CLEAR)
            to[done++] = (unsigned char)code;
        else
            for (size_t i = 0; i < n; i++) /* the output of a new code overlaps itself */
                to[done++] = to[piece + i];
        if (last_length != 0 && z->next < LZW_CODES) {
            z->start[z->next] = last;
            z->length[z->next++] = last_length + 1;
        }
        if (z->next >= (1u << z->width) - 1 && z->width < 12)
            z->width++;
        last = start;
        last_length = n;
    }
    prt_image_free(z);
    return done == capacity ? POPRT_OK : broken("a strip is cut off");
}

#ifdef PRT_IMAGE_HAS_ZLIB
static void *on_alloc(void *user, unsigned count, unsigned size)
{
    (void)user;
    return prt_image_malloc((size_t)count * size);
}

static void on_free(void *user, void *ptr)
{
    (void)user;
    prt_image_free(ptr);
}

poprt_status prt_image_inflate(const unsigned char *from, size_t size, unsigned char *to,
    size_t capacity)
{
    const size_t most = (unsigned)-1;
    z_stream z = { .next_in = from,
        .avail_in = (unsigned)(size < most ? size : most),
        .next_out = to,
        .avail_out = (unsigned)(capacity < most ? capacity : most),
        .zalloc = on_alloc,
        .zfree = on_free };
    if (inflateInit(&z) != Z_OK)
        return broken("zlib cannot be initialised");
    const int result = inflate(&z, Z_FINISH);
    const bool full = z.total_out == capacity;
    (void)inflateEnd(&z);
    if (result == Z_DATA_ERROR || result == Z_NEED_DICT || !full)
        return broken("a deflated strip is damaged");
    return POPRT_OK;
}
#else
poprt_status prt_image_inflate(const unsigned char *from, size_t size, unsigned char *to,
    size_t capacity)
{
    (void)from;
    (void)size;
    (void)to;
    (void)capacity;
    return prt_fail(POPRT_E_UNSUPPORTED, "TIFF",
        "this build reads no deflated TIFF pictures; "
        "-Dimages=enabled and zlib add them");
}
#endif
