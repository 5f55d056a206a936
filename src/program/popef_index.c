/* SPDX-License-Identifier: MIT */
/*
 * popef_index.c — walks the blobs of a PopEF file. Every offset and size is checked here against
 * the file, so that later code uses no unchecked number of a header.
 */
#include <inttypes.h>

#include "base/crc.h"
#include "base/vec.h"
#include "program/popef.h"

enum { HEADER_SIZE = 64, MAX_BLOBS = 1 << 20, MAX_DESCRIPTOR = 64 << 20 };
enum { FLAG_COMPRESSED = 1, FLAG_NO_CRC = 2 };

static const unsigned char magic[8] = "POPEF-C";

bool prt_popef_is(const void *bytes, size_t size)
{
    return size >= sizeof(magic) && memcmp(bytes, magic, sizeof(magic)) == 0;
}

static uint64_t load(const unsigned char *from, int bytes)
{
    uint64_t v = 0;
    for (int i = bytes - 1; i >= 0; i--)
        v = v << 8 | from[i];
    return v;
}

/* Versions are like "1.0.0": the major version must be equal; a later minor version is read as far
 * as it is known. */
static poprt_status check_version(const char *version, uint64_t at)
{
    if (version[0] == '1' && version[1] == '.')
        return POPRT_OK;
    return prt_fail(POPRT_E_VERSION, NULL,
        "blob at byte %" PRIu64 " is of PopEF version '%s', this library reads 1.x", at, version);
}

static poprt_status read_header(const prt_blob *file, uint64_t at, prt_popef_blob *b,
    uint64_t *content_at, uint64_t *content, uint32_t *crc)
{
    const uint64_t left = file->size - at;
    const unsigned char *h = file->data + at;
    if (left < HEADER_SIZE)
        return prt_fail(POPRT_E_PARSE, NULL,
            "PopEF file is cut off in a blob header at byte %" PRIu64, at);
    if (!prt_popef_is(h, (size_t)left))
        return prt_fail(POPRT_E_PARSE, NULL,
            at == 0 ? "not a PopEF file of libpoprt's dialect: it must begin with POPEF-C (byte "
                      "%" PRIu64 "); files of Graphcore's own tools cannot be read"
                    : "no PopEF blob at byte %" PRIu64 ": the file is damaged",
            at);
    for (int i = 0; i < 16; i++)
        b->version[i] = (char)(h[8 + i] >= 0x20 && h[8 + i] < 0x7f ? h[8 + i] : 0);
    PRT_TRY(check_version(b->version, at));
    b->offset = at;
    b->type = (uint32_t)load(h + 24, 4);
    const uint64_t header = load(h + 28, 4);
    b->size = load(h + 32, 8);
    *content = load(h + 40, 8);
    b->flags = (uint32_t)load(h + 48, 4);
    *crc = (uint32_t)load(h + 52, 4);
    if (header < HEADER_SIZE || b->size > left || b->size < header || *content > b->size - header ||
        *content < 4 || b->size % 8 != 0)
        return prt_fail(POPRT_E_PARSE, NULL,
            "blob at byte %" PRIu64 " has impossible sizes: the file is cut off or damaged", at);
    if (load(h + 56, 8) != 0 || (b->flags & ~(uint32_t)(FLAG_COMPRESSED | FLAG_NO_CRC)) != 0 ||
        b->size - header - *content >= 8)
        return prt_fail(POPRT_E_PARSE, NULL,
            "blob at byte %" PRIu64 " has fields that nothing here knows: the file is damaged", at);
    if ((b->flags & FLAG_COMPRESSED) != 0)
        return prt_fail(POPRT_E_UNSUPPORTED, NULL,
            "blob at byte %" PRIu64 " is compressed; write it without compression", at);
    *content_at = at + header;
    return POPRT_OK;
}

static poprt_status check_padding(const prt_blob *file, uint64_t at, uint64_t end)
{
    const unsigned char *p = file->data + at;
    if (at >= end || (p[0] == 0 && memcmp(p, p + 1, end - at - 1) == 0))
        return POPRT_OK;
    while (*p == 0)
        p++;
    return prt_fail(POPRT_E_PARSE, NULL, "padding at byte %" PRIu64 " is not zero",
        (uint64_t)(p - file->data));
}

static poprt_status read_descriptor(const prt_blob *file, uint64_t content_at, uint64_t content,
    uint32_t crc, prt_popef_depth depth, prt_arena *arena, prt_popef_blob *b)
{
    const uint64_t length = load(file->data + content_at, 4);
    if (length > content - 4 || length > MAX_DESCRIPTOR)
        return prt_fail(POPRT_E_PARSE, NULL,
            "descriptor of the blob at byte %" PRIu64 " is too long", b->offset);
    const char *text = (const char *)file->data + content_at + 4;
    if (prt_crc32c(0, text, length) != crc)
        return prt_fail(POPRT_E_PARSE, NULL,
            "descriptor of the blob at byte %" PRIu64 " fails its checksum: the file is damaged",
            b->offset);
    b->name = PRT_STR("");
    if (b->type == PRT_POPEF_METADATA && depth == PRT_POPEF_RUN)
        return POPRT_OK;
    prt_json *json = NULL;
    PRT_TRY(prt_json_parse(arena, text, length, &json));
    b->descriptor = json;
    int64_t payload = -1;
    if (json->kind != PRT_JSON_OBJECT ||
        !prt_json_i64(prt_json_get(json, "payloadSize"), &payload) || payload < 0 ||
        (uint64_t)payload > content - 4 - length)
        return prt_fail(POPRT_E_PARSE, NULL,
            "descriptor of the blob at byte %" PRIu64 " gives no possible payloadSize", b->offset);
    b->payload_size = (uint64_t)payload;
    b->payload = content_at + content - b->payload_size;
    (void)prt_json_text(prt_json_get(json, "name"), &b->name);
    int64_t sum = -1;
    const bool stated =
        prt_json_i64(prt_json_get(json, "crc"), &sum) && sum >= 0 && sum <= UINT32_MAX;
    b->has_sum = stated && (b->flags & FLAG_NO_CRC) == 0;
    b->sum = stated ? (uint32_t)sum : 0;
    /* The bytes in between must be zero, so that every byte of a file is checked. */
    PRT_TRY(check_padding(file, content_at + 4 + length, b->payload));
    return check_padding(file, content_at + content, b->offset + b->size);
}

static poprt_status check_payload(const prt_blob *file, const prt_popef_blob *b, bool sealed)
{
    if (b->descriptor == NULL || ((b->flags & FLAG_NO_CRC) != 0 && !sealed))
        return POPRT_OK;
    if (!b->has_sum)
        return prt_fail(POPRT_E_PARSE, b->name.data, "blob at byte %" PRIu64 " has no checksum",
            b->offset);
    if (prt_crc32c(0, file->data + b->payload, b->payload_size) != b->sum)
        return prt_fail(POPRT_E_PARSE, b->name.data,
            "payload of the blob at byte %" PRIu64 " fails its checksum: the file is damaged",
            b->offset);
    return POPRT_OK;
}

poprt_status prt_popef_index_read(const prt_blob *file, prt_popef_depth depth, prt_arena *arena,
    prt_popef_index *out)
{
    PRT_VEC(prt_popef_blob) blobs = { 0 };
    if (file->size == 0)
        return prt_fail(POPRT_E_PARSE, NULL, "the file is empty");
    for (uint64_t at = 0; at < file->size;) {
        prt_popef_blob b = { 0 };
        uint64_t content_at = 0, content = 0;
        uint32_t crc = 0;
        if (blobs.count == MAX_BLOBS)
            return prt_fail(POPRT_E_LIMIT, NULL, "more than %d blobs in one file", MAX_BLOBS);
        PRT_TRY(read_header(file, at, &b, &content_at, &content, &crc));
        at += b.size;
        if (b.type > PRT_POPEF_OPAQUE)
            continue; /* a type of a later version is skipped */
        PRT_TRY(read_descriptor(file, content_at, content, crc, depth, arena, &b));
        if (depth >= PRT_POPEF_VERIFY || (b.type != PRT_POPEF_TENSOR && b.type != PRT_POPEF_FEED))
            PRT_TRY(check_payload(file, &b, depth == PRT_POPEF_SEALED));
        if (!PRT_VEC_PUSH(arena, &blobs, b))
            return POPRT_E_NOMEM;
    }
    out->blobs = blobs.data;
    out->count = (uint32_t)blobs.count;
    return POPRT_OK;
}
