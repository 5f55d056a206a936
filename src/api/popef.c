/* SPDX-License-Identifier: MIT */
/* popef.c — poprt/popef.h: reads and writes single blobs of PopEF files. */
#include "poprt/popef.h"

#include <inttypes.h>
#include <stdio.h>

#include "api/handles.h"
#include "base/crc.h"
#include "base/file.h"
#include "program/popef_emit.h"

struct poprt_popef {
    prt_arena *arena;
    prt_blob *bytes;
    prt_popef_index index;
};

/* Takes over the caller's reference to `bytes`. */
static poprt_status open(prt_blob *bytes, int32_t verify, poprt_popef **out)
{
    prt_arena *arena = NULL;
    poprt_popef *file = NULL;
    poprt_status status = prt_arena_create(NULL, 0, &arena);
    if (status == POPRT_OK) {
        file = PRT_NEW(arena, poprt_popef);
        status = file != NULL ? POPRT_OK : POPRT_E_NOMEM;
    }
    if (status == POPRT_OK)
        status = prt_popef_index_read(bytes, verify != 0 ? PRT_POPEF_VERIFY : PRT_POPEF_LIST, arena,
            &file->index);
    if (status != POPRT_OK) {
        prt_blob_release(bytes);
        prt_arena_release(arena);
        return status;
    }
    file->arena = arena;
    file->bytes = bytes;
    *out = file;
    return POPRT_OK;
}

poprt_status poprt_popef_open_file(const char *path, int32_t verify, poprt_popef **out)
{
    PRT_REQUIRE(path);
    PRT_REQUIRE(out);
    prt_blob *bytes = NULL;
    poprt_status status = prt_file_map(NULL, path, &bytes);
    if (status == POPRT_OK)
        status = open(bytes, verify, out);
    return prt_fail_in_file(prt_fail_at_stage(status, "open"), path);
}

poprt_status poprt_popef_open_bytes(const void *data, size_t size, int32_t verify,
    poprt_popef **out)
{
    PRT_REQUIRE(data);
    PRT_REQUIRE(out);
    prt_blob *bytes = NULL;
    poprt_status status = prt_blob_borrow(NULL, data, size, NULL, NULL, &bytes);
    if (status == POPRT_OK)
        status = open(bytes, verify, out);
    return prt_fail_at_stage(status, "open");
}

size_t poprt_popef_count(const poprt_popef *file)
{
    return file != NULL ? file->index.count : 0;
}

/* Reads a little-endian number that the index has checked. */
static uint32_t load(const unsigned char *from)
{
    return (uint32_t)from[0] | (uint32_t)from[1] << 8 | (uint32_t)from[2] << 16 |
        (uint32_t)from[3] << 24;
}

poprt_status poprt_popef_at(const poprt_popef *file, size_t index, poprt_popef_blob *out)
{
    enum { HEADER_SIZE_AT = 28 };
    PRT_REQUIRE(out);
    if (file == NULL || index >= file->index.count)
        return prt_fail(POPRT_E_NOT_FOUND, "index", "%zu is past the last blob", index);
    const prt_popef_blob *b = &file->index.blobs[index];
    const unsigned char *at = file->bytes->data + b->offset;
    const unsigned char *content = at + load(at + HEADER_SIZE_AT);
    const poprt_popef_blob blob = { .struct_size = sizeof(blob),
        .type = (int32_t)b->type,
        .version = b->version,
        .descriptor = (const char *)content + 4,
        .descriptor_size = load(content),
        .payload = file->bytes->data + b->payload,
        .payload_size = (size_t)b->payload_size,
        .offset = b->offset,
        .size = b->size,
        .payload_offset = b->payload };
    return prt_export(out, &blob, sizeof(blob), "out");
}

void poprt_popef_release(poprt_popef *file)
{
    if (file == NULL)
        return;
    prt_blob_release(file->bytes);
    prt_arena_release(file->arena);
}

/* Adds the members of the payload to a descriptor. */
static poprt_status complete(prt_arena *arena, const poprt_popef_blob *blob, prt_str *out)
{
    prt_json *json = NULL;
    PRT_TRY(prt_json_parse(arena, blob->descriptor, blob->descriptor_size, &json));
    if (json->kind != PRT_JSON_OBJECT || prt_json_get(json, "payloadSize") != NULL ||
        prt_json_get(json, "crc") != NULL)
        return prt_fail(POPRT_E_ARG, "descriptor",
            "must be a JSON object without payloadSize and crc");
    size_t end = blob->descriptor_size;
    while (blob->descriptor[end - 1] != '}')
        end--;
    const size_t most = end + 64;
    char *text = prt_arena_alloc(arena, most);
    if (text == NULL)
        return POPRT_E_NOMEM;
    memcpy(text, blob->descriptor, end - 1);
    const int n = snprintf(text + end - 1, 64, "%s\"payloadSize\":%zu,\"crc\":%" PRIu32 "}",
        json->count != 0 ? "," : "", blob->payload_size,
        prt_crc32c(0, blob->payload, blob->payload_size));
    *out = (prt_str){ text, (uint32_t)(end - 1 + (size_t)n) };
    return POPRT_OK;
}

static poprt_status write_blob(prt_arena *arena, const poprt_popef_blob *blob, poprt_write_fn write,
    void *user)
{
    const bool tensor = blob->type == POPRT_POPEF_TENSOR || blob->type == POPRT_POPEF_FEED;
    prt_popef_writer writer = { .write = write, .user = user, .arena = arena, .at = blob->offset };
    prt_str descriptor = { NULL, 0 };
    PRT_TRY(complete(arena, blob, &descriptor));
    return prt_popef_emit_blob(&writer, (uint32_t)blob->type, 0, descriptor, blob->payload,
        blob->payload_size, tensor ? prt_popef_payload_align(blob->payload_size) : 8);
}

poprt_status poprt_popef_write(const poprt_popef_blob *blob, poprt_write_fn write, void *user)
{
    enum { MAX_DESCRIPTOR = 64 << 20 };
    PRT_REQUIRE(blob);
    PRT_REQUIRE(write);
    PRT_REQUIRE(blob->descriptor);
    if (blob->payload_size != 0)
        PRT_REQUIRE(blob->payload);
    if (blob->type < POPRT_POPEF_EXECUTABLE || blob->type > POPRT_POPEF_OPAQUE)
        return prt_fail(POPRT_E_ARG, "type", "%d is not a type of blobs", blob->type);
    if (blob->descriptor_size == 0 || blob->descriptor_size > MAX_DESCRIPTOR - 64)
        return prt_fail(POPRT_E_ARG, "descriptor", "has %zu bytes", blob->descriptor_size);
    prt_arena *arena = NULL;
    PRT_TRY(prt_arena_create(NULL, 0, &arena));
    const poprt_status status = write_blob(arena, blob, write, user);
    prt_arena_release(arena);
    return prt_fail_at_stage(status, "write");
}
