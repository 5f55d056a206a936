/* SPDX-License-Identifier: MIT */
/* test_image.c — pictures of tests/fixtures/images: the decoded pixels of each file, refusals,
 * truncated files and files with flipped bits. Lossless files decode exactly to one of five
 * plain PNM files, lossy files within a bound. Other programs wrote the files.
 * Covers: bmp.c, heap.c, jp2.c, jpeg.c, png.c, pnm.c, tiff.c, tiff_codec.c, webp.c. */
#include "image/image.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "support/check_main.h"

#ifdef PRT_IMAGE_HAS_JPEG
enum { HAS_JPEG = 1 };
#else
enum { HAS_JPEG = 0 };
#endif
#ifdef PRT_IMAGE_HAS_JP2
enum { HAS_JP2 = 1 };
#else
enum { HAS_JP2 = 0 };
#endif
#ifdef PRT_IMAGE_HAS_PNG
enum { HAS_PNG = 1 };
#else
enum { HAS_PNG = 0 };
#endif
#ifdef PRT_IMAGE_HAS_WEBP
enum { HAS_WEBP = 1 };
#else
enum { HAS_WEBP = 0 };
#endif
#ifdef PRT_IMAGE_HAS_ZLIB
enum { HAS_ZLIB = 1 };
#else
enum { HAS_ZLIB = 0 };
#endif

typedef struct file_row {
    const char *name, *shows;
    int bound; /* largest difference of a sample */
    int built; /* whether this build reads it */
} file_row;

static const file_row files[] = {
    { "text.pbm", "bits.pgm", 0, 1 },
    { "bytes.pbm", "bits.pgm", 0, 1 },
    { "text.pgm", "grey.pgm", 0, 1 },
    { "wide.pgm", "grey.pgm", 0, 1 },
    { "text.ppm", "colour.ppm", 0, 1 },
    { "rgb.bmp", "colour.ppm", 0, 1 },
    { "rgba.bmp", "colour.ppm", 0, 1 },
    { "masks.bmp", "colour.ppm", 0, 1 },
    { "palette.bmp", "colour.ppm", 0, 1 },
    { "four.bmp", "colour.ppm", 0, 1 },
    { "old.bmp", "colour.ppm", 0, 1 },
    { "runs8.bmp", "colour.ppm", 0, 1 },
    { "runs4.bmp", "colour.ppm", 0, 1 },
    { "bits.bmp", "bits.pgm", 0, 1 },
    { "grey.bmp", "grey.pgm", 0, 1 },
    { "plain.tif", "colour.ppm", 0, 1 },
    { "big.tif", "colour.ppm", 0, 1 },
    { "planes.tif", "colour.ppm", 0, 1 },
    { "packbits.tif", "colour.ppm", 0, 1 },
    { "lzw.tif", "colour.ppm", 0, 1 },
    { "predictor.tif", "colour.ppm", 0, 1 },
    { "deflate.tif", "colour.ppm", 0, HAS_ZLIB },
    { "tiles.tif", "colour.ppm", 0, HAS_ZLIB },
    { "palette.tif", "colour.ppm", 0, 1 },
    { "rgba.tif", "colour.ppm", 0, 1 },
    { "inks.tif", "colour.ppm", 0, 1 },
    { "bits.tif", "bits.pgm", 0, 1 },
    { "two.tif", "grey.pgm", 0, 1 },
    { "grey.tif", "grey.pgm", 0, 1 },
    { "wide.tif", "grey.pgm", 0, HAS_ZLIB },
    { "rgb.png", "colour.ppm", 0, HAS_PNG },
    { "rgba.png", "colour.ppm", 0, HAS_PNG },
    { "palette.png", "colour.ppm", 0, HAS_PNG },
    { "wide.png", "colour.ppm", 0, HAS_PNG },
    { "interlaced.png", "colour.ppm", 0, HAS_PNG },
    { "bits.png", "bits.pgm", 0, HAS_PNG },
    { "two.png", "grey.pgm", 0, HAS_PNG },
    { "grey.png", "grey.pgm", 0, HAS_PNG },
    { "rgb.jpg", "smooth.ppm", 8, HAS_JPEG },
    { "halved.jpg", "smooth.ppm", 24, HAS_JPEG },
    { "progressive.jpg", "smooth.ppm", 8, HAS_JPEG },
    { "inks.jpg", "smooth.ppm", 8, HAS_JPEG },
    { "grey.jpg", "smooth.pgm", 4, HAS_JPEG },
    { "lossless.webp", "colour.ppm", 0, HAS_WEBP },
    { "rgba.webp", "colour.ppm", 0, HAS_WEBP },
    { "lossy.webp", "smooth.ppm", 24, HAS_WEBP },
    { "rgb.jp2", "colour.ppm", 0, HAS_JP2 },
    { "rgba.jp2", "colour.ppm", 0, HAS_JP2 },
    { "rgb.j2k", "colour.ppm", 0, HAS_JP2 },
    { "grey.jp2", "grey.pgm", 0, HAS_JP2 },
    { "wide.jp2", "grey.pgm", 0, HAS_JP2 },
    { "lossy.jp2", "smooth.ppm", 24, HAS_JP2 },
};

/* The bytes of a file in memory of exactly that size, so that a sanitizer finds reads beyond it. */
typedef struct contents {
    unsigned char *bytes;
    size_t size;
} contents;

static contents read_contents(const char *name)
{
    static unsigned char buffer[1 << 16];
    char path[1024];
    (void)snprintf(path, sizeof(path), "%s/images/%s", PRT_TEST_DATA, name);
    FILE *f = fopen(path, "rb");
    ck_assert_msg(f != NULL, "%s", path);
    const size_t size = fread(buffer, 1, sizeof(buffer), f);
    (void)fclose(f);
    ck_assert(size > 0 && size < sizeof(buffer));
    contents c = { malloc(size), size };
    ck_assert_ptr_nonnull(c.bytes);
    memcpy(c.bytes, buffer, size);
    return c;
}

/* Memory from an arena: the first `left` requests and the first `checks` questions whether to
 * continue succeed, or all if negative. */
typedef struct grant {
    prt_arena *arena;
    long left, checks;
} grant;

static void *allocate_granted(void *user, size_t size)
{
    grant *g = user;
    if (g->left == 0)
        return NULL;
    g->left -= g->left > 0;
    return prt_arena_alloc(g->arena, size);
}

static poprt_status continue_granted(void *user)
{
    grant *g = user;
    if (g->checks == 0)
        return prt_fail(POPRT_E_CANCELLED, NULL, "enough");
    g->checks -= g->checks > 0;
    return POPRT_OK;
}

static grant make_grant(void)
{
    grant g = { NULL, -1, -1 };
    ck_assert_int_eq(prt_arena_create(&prt_mem_libc, (size_t)1 << 28, &g.arena), POPRT_OK);
    return g;
}

static poprt_status decode(grant *g, const void *bytes, size_t size, prt_image *out)
{
    return prt_image_decode(&(prt_image_memory){ g, allocate_granted, continue_granted }, bytes,
        size, out);
}

static int largest_difference(const prt_image *a, const prt_image *b)
{
    int most = 0;
    for (size_t i = 0; i < a->width * a->height * 3; i++) {
        const int x = a->pixels[a->channels == 3 ? i : i / 3];
        const int y = b->pixels[b->channels == 3 ? i : i / 3];
        most = abs(x - y) > most ? abs(x - y) : most;
    }
    return most;
}

START_TEST(files_decode_to_their_pictures)
{
    for (size_t i = 0; i < PRT_COUNT_OF(files); i++) {
        const file_row *row = &files[i];
        const contents file = read_contents(row->name), truth = read_contents(row->shows);
        grant g = make_grant();
        prt_image have = { 0 }, want = { 0 };
        ck_assert_int_eq(decode(&g, truth.bytes, truth.size, &want), POPRT_OK);
        const poprt_status status = decode(&g, file.bytes, file.size, &have);
        if (row->built) {
            ck_assert_msg(status == POPRT_OK, "%s: %s", row->name, prt_error_last()->message);
            ck_assert_msg(have.width == 13 && have.height == 9, "%s", row->name);
            ck_assert_msg(largest_difference(&have, &want) <= row->bound, "%s: off by %d",
                row->name, largest_difference(&have, &want));
        } else {
            ck_assert_int_eq(status, POPRT_E_UNSUPPORTED);
            ck_assert_ptr_nonnull(strstr(prt_error_last()->message, "-Dimages=enabled"));
        }
        prt_arena_release(g.arena);
        free(file.bytes);
        free(truth.bytes);
    }
}
END_TEST

/* Codes of all widths, and tables that fill up and start again. */
START_TEST(long_lzw_streams_decode)
{
    const contents file = read_contents("noise.tif");
    grant g = make_grant();
    prt_image have = { 0 };
    uint32_t state = 1;
    ck_assert_int_eq(decode(&g, file.bytes, file.size, &have), POPRT_OK);
    ck_assert_uint_eq(have.width * have.height, 4800);
    for (size_t i = 0; i < 4800; i++) {
        state = state * 1103515245u + 12345u;
        ck_assert_uint_eq(have.pixels[i], state >> 16 & 255);
    }
    prt_arena_release(g.arena);
    free(file.bytes);
}
END_TEST

static void check_status(const char *name, poprt_status status)
{
    ck_assert_msg(status == POPRT_OK || status == POPRT_E_PARSE || status == POPRT_E_LIMIT ||
            status == POPRT_E_UNSUPPORTED || status == POPRT_E_NOMEM,
        "%s: %s", name, prt_status_name(status));
}

START_TEST(truncated_files_are_errors)
{
    for (size_t i = 0; i < PRT_COUNT_OF(files); i++) {
        const contents file = read_contents(files[i].name);
        for (size_t size = 0; size < file.size; size++) {
            unsigned char *part = malloc(size + 1);
            ck_assert_ptr_nonnull(part);
            memcpy(part, file.bytes, size);
            unsigned char *tight = realloc(part, size != 0 ? size : 1);
            grant g = make_grant();
            prt_image have = { 0 };
            const poprt_status status = decode(&g, tight, size, &have);
            check_status(files[i].name, status);
            if (size < file.size / 2 && files[i].built)
                ck_assert_msg(status == POPRT_E_PARSE, "%s of %zu bytes: %s", files[i].name, size,
                    prt_status_name(status));
            ck_assert((status == POPRT_OK) == (have.pixels != NULL));
            prt_arena_release(g.arena);
            free(tight);
        }
        free(file.bytes);
    }
}
END_TEST

START_TEST(flipped_bits_do_no_harm)
{
    static const unsigned char flips[] = { 0x01, 0x80, 0x7f, 0xff };
    for (size_t i = 0; i < PRT_COUNT_OF(files); i++) {
        const contents file = read_contents(files[i].name);
        for (size_t k = 0; k < file.size * PRT_COUNT_OF(flips); k++) {
            unsigned char *byte = &file.bytes[k / PRT_COUNT_OF(flips)];
            const unsigned char was = *byte;
            grant g = make_grant();
            prt_image have = { 0 };
            *byte ^= flips[k % PRT_COUNT_OF(flips)];
            check_status(files[i].name, decode(&g, file.bytes, file.size, &have));
            *byte = was;
            prt_arena_release(g.arena);
        }
        free(file.bytes);
    }
}
END_TEST

/* Request k for memory fails, and every request after it, for each k. */
START_TEST(refused_memory_is_an_error)
{
    for (size_t i = 0; i < PRT_COUNT_OF(files); i++) {
        const contents file = read_contents(files[i].name);
        poprt_status status = POPRT_E_NOMEM;
        for (long k = 0; files[i].built && status != POPRT_OK; k++) {
            grant g = make_grant();
            prt_image have = { 0 };
            ck_assert_msg(k < 10000, "%s never ends", files[i].name);
            g.left = k;
            status = decode(&g, file.bytes, file.size, &have);
            ck_assert_msg(status == POPRT_OK || status == POPRT_E_NOMEM, "%s, request %ld: %s (%s)",
                files[i].name, k, prt_status_name(status), prt_error_last()->message);
            prt_arena_release(g.arena);
        }
        free(file.bytes);
    }
}
END_TEST

/* Slow decoders ask whether to continue, and stop when they are told to. */
START_TEST(cancelled_decoders_stop)
{
    static const char *const names[] = { "big.tif", "predictor.tif", "rgb.png", "interlaced.png",
        "progressive.jpg", "rgb.jp2", "lossless.webp" };
    const int built[] = { 1, 1, HAS_PNG, HAS_PNG, HAS_JPEG, HAS_JP2, HAS_WEBP };
    for (size_t i = 0; i < PRT_COUNT_OF(names); i++) {
        const contents file = read_contents(names[i]);
        poprt_status status = POPRT_E_CANCELLED;
        long k = 0;
        for (; built[i] && status != POPRT_OK; k++) {
            grant g = make_grant();
            prt_image have = { 0 };
            g.checks = k;
            status = decode(&g, file.bytes, file.size, &have);
            ck_assert(k < 10000 && (status == POPRT_OK || status == POPRT_E_CANCELLED));
            prt_arena_release(g.arena);
        }
        ck_assert_msg(!built[i] || k > 2, "%s asks %ld times", names[i], k - 1);
        free(file.bytes);
    }
}
END_TEST

static void ck_refused(const char *bytes, size_t size, poprt_status status, const char *part)
{
    grant g = make_grant();
    prt_image have = { 0 };
    ck_assert_int_eq(decode(&g, bytes, size, &have), status);
    ck_assert_msg(strstr(prt_error_last()->message, part) != NULL, "%s", prt_error_last()->message);
    ck_assert_uint_lt(prt_arena_size(g.arena), 1 << 20);
    prt_arena_release(g.arena);
}
#define REFUSED(bytes, status, part) ck_refused(bytes, sizeof(bytes) - 1, status, part)

START_TEST(other_data_and_huge_sizes_are_refused)
{
    REFUSED("", POPRT_E_PARSE, "not a picture");
    REFUSED("GIF89a", POPRT_E_PARSE, "not a picture");
    REFUSED("P5 0 3 255\n", POPRT_E_PARSE, "no pixels");
    REFUSED("P5 2 2 255\n123", POPRT_E_PARSE, "ends early");
    REFUSED("P2 1 1 255 256", POPRT_E_PARSE, "sample 256");
    REFUSED("P5 1 1 65536 ..", POPRT_E_PARSE, "the largest sample is 65536");
    REFUSED("P6 999999999 999999999 255\n", POPRT_E_PARSE, "ends early");
    REFUSED("BM\0\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0\xff\xff\xff\x7f\xff\xff\xff\x7f\1\0\x18\0\0\0"
            "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
        POPRT_E_PARSE, "ends early");
    /* Runs may leave out pixels, so only the limit on the size applies. */
    REFUSED("BM\0\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0\xff\xff\xff\x7f\xff\xff\xff\x7f\1\0\x08\0\1\0"
            "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\0\0\0\0",
        POPRT_E_LIMIT, "2147483647 x 2147483647");
    REFUSED("II*\0\x08\0\0\0\3\0\0\1\4\0\1\0\0\0\xff\xff\xff\x7f\1\1\4\0\1\0\0\0\xff\xff\xff\x7f"
            "\3\1\3\0\1\0\0\0\7\0\0\0\0\0\0\0",
        POPRT_E_UNSUPPORTED, "compression 7");
}
END_TEST

PRT_TEST_MAIN("image", files_decode_to_their_pictures, long_lzw_streams_decode,
    truncated_files_are_errors, flipped_bits_do_no_harm, refused_memory_is_an_error,
    cancelled_decoders_stop, other_data_and_huge_sizes_are_refused)
