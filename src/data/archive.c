/* SPDX-License-Identifier: MIT */
/*
 * archive.c — .npz: a zip archive of .npy files, stored or deflated.
 *
 * Only the central directory is used, and nothing in it is trusted: every offset and size is
 * checked before use, and entries may not overlap the directory. Unpacked data must have the length
 * and the checksum that the directory states, and no more bytes than deflate can produce from the
 * packed ones. Large archives (zip64) are supported; encrypted and split ones are not.
 */
#include "data/npy.h"
#include "data/samples.h"

#ifdef PRT_DATA_HAS_ZLIB
#include <zlib.h>

enum {
    END_SIZE = 22,
    END64_SIZE = 56,
    LOCATOR_SIZE = 20,
    ENTRY_SIZE = 46,
    LOCAL_SIZE = 30,
    MAX_COMMENT = 65535,
    MAX_RATIO = 1032, /* maximum compression ratio of deflate */
    STORED = 0,
    DEFLATED = 8
};

/* A file of the archive. */
typedef struct entry {
    prt_str name;
    uint32_t flags, method, crc;
    uint64_t packed, size, local; /* bytes; bytes; offset of the local header */
} entry;

typedef struct archive {
    prt_samples *s;
    prt_blob *bytes;
    uint64_t count, start, end; /* number of entries, start and end of the central directory */
} archive;

static poprt_status fail(const char *what)
{
    return prt_fail(POPRT_E_PARSE, NULL, "not a usable .npz archive: %s", what);
}

static uint64_t number(const unsigned char *p, uint32_t size)
{
    uint64_t value = 0;
    for (uint32_t i = size; i-- > 0;)
        value = value << 8 | p[i];
    return value;
}

/* Returns whether [at, at + size) lies within the file. */
static bool within(const archive *a, uint64_t at, uint64_t size)
{
    return at <= a->bytes->size && size <= a->bytes->size - at;
}

/* ---- the directory */

/* Reads the record for sizes and offsets beyond 32 bits, which a locator before the end refers
 * to. */
static poprt_status open_large(archive *a, uint64_t end)
{
    const unsigned char *data = a->bytes->data;
    if (end < LOCATOR_SIZE || number(data + end - LOCATOR_SIZE, 4) != 0x07064b50)
        return fail("the zip64 record is missing");
    const uint64_t at = number(data + end - LOCATOR_SIZE + 8, 8);
    if (!within(a, at, END64_SIZE) || number(data + at, 4) != 0x06064b50)
        return fail("the zip64 record is not at its stated offset");
    a->count = number(data + at + 32, 8);
    a->end = number(data + at + 40, 8);
    a->start = number(data + at + 48, 8);
    return POPRT_OK;
}

static poprt_status open_directory(archive *a)
{
    const unsigned char *data = a->bytes->data;
    const uint64_t size = a->bytes->size;
    uint64_t end = size >= END_SIZE ? size - END_SIZE : 0;
    const uint64_t least = end > MAX_COMMENT ? end - MAX_COMMENT : 0;
    if (size < END_SIZE)
        return fail("the file is too short");
    while (number(data + end, 4) != 0x06054b50 ||
        number(data + end + 20, 2) != size - end - END_SIZE) {
        if (end == least)
            return fail("the central directory is missing");
        end--;
    }
    if (number(data + end + 4, 2) != 0 || number(data + end + 6, 2) != 0)
        return prt_fail(POPRT_E_UNSUPPORTED, NULL, "archives in several parts cannot be read");
    a->count = number(data + end + 10, 2);
    a->end = number(data + end + 12, 4);
    a->start = number(data + end + 16, 4);
    if (a->count == 0xffff || a->end == 0xffffffff || a->start == 0xffffffff)
        PRT_TRY(open_large(a, end));
    if (!within(a, a->start, a->end))
        return fail("the central directory exceeds the file");
    a->end += a->start;
    return POPRT_OK;
}

/* Reads the fields beyond 32 bits, in the order of the entry. */
static poprt_status read_large(entry *e, const unsigned char *extra, uint64_t size)
{
    uint64_t *const fields[3] = { &e->size, &e->packed, &e->local };
    while (size >= 4) {
        const uint64_t id = number(extra, 2), length = number(extra + 2, 2);
        if (length > size - 4)
            return fail("an extra field exceeds its entry");
        const unsigned char *at = extra + 4;
        uint64_t left = id == 1 ? length : 0;
        for (uint32_t i = 0; id == 1 && i < 3; i++) {
            if (*fields[i] != 0xffffffff)
                continue;
            if (left < 8)
                return fail("a zip64 size is missing");
            *fields[i] = number(at, 8);
            at += 8;
            left -= 8;
        }
        extra += 4 + length;
        size -= 4 + length;
    }
    return POPRT_OK;
}

static poprt_status read_entry(const archive *a, uint64_t *at, entry *e)
{
    const unsigned char *p = a->bytes->data + *at;
    if (a->end - *at < ENTRY_SIZE || number(p, 4) != 0x02014b50)
        return fail("an entry of the central directory is damaged");
    const uint64_t name = number(p + 28, 2), extra = number(p + 30, 2), note = number(p + 32, 2);
    if (name + extra + note > a->end - *at - ENTRY_SIZE)
        return fail("an entry exceeds the central directory");
    *e = (entry){ .name = { (const char *)p + ENTRY_SIZE, (uint32_t)name },
        .flags = (uint32_t)number(p + 8, 2),
        .method = (uint32_t)number(p + 10, 2),
        .crc = (uint32_t)number(p + 16, 4),
        .packed = number(p + 20, 4),
        .size = number(p + 24, 4),
        .local = number(p + 42, 4) };
    PRT_TRY(read_large(e, p + ENTRY_SIZE + name, extra));
    *at += ENTRY_SIZE + name + extra + note;
    return POPRT_OK;
}

/* ---- contents */

/* zlib allocates in the arena of the samples. */
static voidpf zlib_alloc(voidpf user, uInt count, uInt size)
{
    return prt_arena_alloc_n(user, count, size);
}

static void zlib_free(voidpf user, voidpf memory)
{
    (void)user;
    (void)memory;
}

/* Inflates in chunks that fit zlib's counters. */
static poprt_status unpack(prt_arena *arena, const unsigned char *from, uint64_t packed,
    unsigned char *to, uint64_t size)
{
    z_stream z = { .zalloc = zlib_alloc, .zfree = zlib_free, .opaque = arena };
    uint64_t read = 0, written = 0;
    int result = Z_OK;
    if (inflateInit2(&z, -MAX_WBITS) != Z_OK)
        return prt_fail(POPRT_E_NOMEM, NULL, "zlib cannot be initialised");
    while (result == Z_OK) {
        const uInt in = (uInt)(packed - read < 1u << 30 ? packed - read : 1u << 30);
        const uInt out = (uInt)(size - written < 1u << 30 ? size - written : 1u << 30);
        z.next_in = (z_const Bytef *)(uintptr_t)(from + read);
        z.avail_in = in;
        z.next_out = to + written;
        z.avail_out = out;
        result = inflate(&z, Z_NO_FLUSH);
        read += in - z.avail_in;
        written += out - z.avail_out;
        if (result == Z_OK && in == z.avail_in && out == z.avail_out)
            result = Z_BUF_ERROR;
    }
    (void)inflateEnd(&z);
    return result == Z_STREAM_END && written == size ? POPRT_OK : fail("packed data is damaged");
}

static uint32_t checksum(const unsigned char *data, uint64_t size)
{
    uLong crc = crc32(0, Z_NULL, 0);
    while (size != 0) {
        const uInt part = (uInt)(size < 1u << 30 ? size : 1u << 30);
        crc = crc32(crc, data, part);
        data += part;
        size -= part;
    }
    return (uint32_t)crc;
}

/* Finds the bytes of an entry, between its local header and the directory. */
static poprt_status find_bytes(const archive *a, const entry *e, uint64_t *at)
{
    if (e->local > a->start || a->start - e->local < LOCAL_SIZE)
        return fail("a member lies behind the central directory");
    const unsigned char *p = a->bytes->data + e->local;
    if (number(p, 4) != 0x04034b50)
        return fail("a member has no local header");
    *at = e->local + LOCAL_SIZE + number(p + 26, 2) + number(p + 28, 2);
    if (*at > a->start || e->packed > a->start - *at)
        return fail("a member overlaps the central directory");
    return POPRT_OK;
}

static poprt_status open_entry(const archive *a, const entry *e, prt_blob **out)
{
    uint64_t at = 0;
    PRT_TRY(find_bytes(a, e, &at));
    if ((e->flags & 1) != 0)
        return prt_fail(POPRT_E_UNSUPPORTED, NULL, "encrypted archives cannot be read");
    if (e->method == STORED && e->packed == e->size)
        return prt_blob_view(a->bytes, (size_t)at, (size_t)e->size, out);
    if (e->method != DEFLATED)
        return prt_fail(POPRT_E_UNSUPPORTED, NULL,
            "method %u of packing is not known: save it with numpy.savez or savez_compressed",
            e->method);
    if (e->size / MAX_RATIO > e->packed)
        return fail("a member states more bytes than its packed data can give");
    if (e->size > prt_samples_bytes_left(a->s))
        return prt_fail(POPRT_E_LIMIT, NULL, "the archive unpacks to more than the limit");
    PRT_TRY(prt_blob_create(a->s->allocator, (size_t)e->size, out));
    const poprt_status status =
        unpack(a->s->arena, a->bytes->data + at, e->packed, prt_blob_bytes(*out), e->size);
    if (status != POPRT_OK)
        prt_blob_release(*out);
    else
        a->s->used += (size_t)e->size;
    return status;
}

static poprt_status read_array(const archive *a, const entry *e)
{
    prt_str name = e->name;
    prt_blob *blob = NULL;
    prt_tensor t;
    if (name.size > 4 && memcmp(name.data + name.size - 4, ".npy", 4) == 0)
        name.size -= 4;
    PRT_TRY(open_entry(a, e, &blob));
    PRT_TRY(prt_samples_keep(a->s, blob));
    if (checksum(blob->data, blob->size) != e->crc)
        return fail("a member fails its checksum");
    PRT_TRY(prt_npy_read(a->s->arena, blob, PRT_DTYPE_undefined, &t));
    return prt_samples_add(a->s, name, &t);
}

poprt_status prt_samples_read_archive(prt_samples *s, prt_blob *bytes)
{
    archive a = { .s = s, .bytes = bytes };
    PRT_TRY(open_directory(&a));
    if (a.count == 0)
        return fail("the archive is empty");
    uint64_t at = a.start;
    for (uint64_t i = 0; i < a.count; i++) {
        entry e = { .flags = 0 };
        PRT_TRY(read_entry(&a, &at, &e));
        const poprt_status status = read_array(&a, &e);
        if (status != POPRT_OK) {
            const char *name = prt_arena_text(s->arena, e.name.data, e.name.size);
            return prt_fail_about(status, name);
        }
    }
    return POPRT_OK;
}

#else

poprt_status prt_samples_read_archive(prt_samples *s, prt_blob *bytes)
{
    (void)s;
    (void)bytes;
    return prt_fail(POPRT_E_UNSUPPORTED, NULL,
        "this library was built without zlib and cannot read .npz archives");
}

#endif
