/* SPDX-License-Identifier: MIT */
/*
 * fuzz_checkpoint.c — any bytes as a checkpoint, and as variables, of a small program. Checksums
 * would reject nearly every mutation, so they are corrected first. A refused file changes nothing
 * in the session; from an accepted one the session runs, and its next checkpoint is accepted.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/crc.h"
#include "fuzz/checkpoint_program.h"
#include "fuzz/fuzz.h"
#include "runtime/stream.h"

enum { MOST_BYTES = 1 << 16 };

typedef struct bytes {
    unsigned char data[MOST_BYTES];
    size_t size;
} bytes;

static int32_t append(void *user, const void *data, size_t size)
{
    bytes *to = user;
    if (size > MOST_BYTES - to->size)
        return 1;
    memcpy(to->data + to->size, data, size);
    to->size += size;
    return 0;
}

static uint64_t load(const unsigned char *p, int n)
{
    uint64_t v = 0;
    for (int i = n - 1; i >= 0; i--)
        v = v << 8 | p[i];
    return v;
}

/* Returns the first digit of a member of a descriptor, and its number of digits; NULL without
 * such a member. */
static unsigned char *find_number(unsigned char *text, size_t n, const char *key, size_t *digits)
{
    unsigned char *at = memmem(text, n, key, strlen(key));
    *digits = 0;
    if (at == NULL)
        return NULL;
    at += strlen(key);
    while (at + *digits < text + n && at[*digits] >= '0' && at[*digits] <= '9')
        ++*digits;
    return at;
}

/* Writes the checksum of a payload into its descriptor, where it has enough digits. */
static void repair_payload(unsigned char *text, size_t n, const unsigned char *end, size_t most)
{
    size_t digits, crc_digits;
    char number[24] = "", crc[24];
    const unsigned char *size = find_number(text, n, "\"payloadSize\":", &digits);
    unsigned char *to = find_number(text, n, "\"crc\":", &crc_digits);
    if (size == NULL || to == NULL || digits == 0 || digits >= sizeof(number))
        return;
    memcpy(number, size, digits);
    const size_t payload = (size_t)strtoull(number, NULL, 10);
    if (payload > most)
        return;
    const size_t length =
        (size_t)snprintf(crc, sizeof(crc), "%u", prt_crc32c(0, end - payload, payload));
    if (length > crc_digits)
        return;
    memset(to, ' ', crc_digits);
    memcpy(to, crc, length);
}

static void repair(unsigned char *d, size_t n)
{
    for (size_t at = 0; at + 68 <= n;) {
        const uint64_t header = load(d + at + 28, 4), size = load(d + at + 32, 8);
        const uint64_t content = load(d + at + 40, 8);
        if (header < 64 || size < header + 4 || size > n - at || content > size - header ||
            content < 4)
            return;
        unsigned char *text = d + at + header + 4;
        const uint64_t length = load(d + at + header, 4);
        if (length > content - 4)
            return;
        repair_payload(text, length, d + at + header + content, content - 4 - length);
        const uint32_t crc = prt_crc32c(0, text, length);
        for (int i = 0; i < 4; i++)
            d[at + 52 + (size_t)i] = (unsigned char)(crc >> (8 * i));
        at += size;
    }
}

/* ---- a run */

static poprt_status ones(void *user, const prt_stream_block *block, bool prefetch, prt_tensor *out)
{
    static float x[2] = { 1, 1 };
    const int64_t two = 2;
    (void)user;
    (void)block;
    (void)prefetch;
    (void)prt_tensor_init(out, PRT_DTYPE_f32, 1, &two, x);
    return POPRT_OK;
}

static void end_block(void *user, const prt_stream_block *block)
{
    (void)user;
    (void)block;
}

static poprt_status no_buffer(void *user, const prt_stream_block *block, prt_tensor *out)
{
    (void)user;
    (void)block;
    (void)out;
    return POPRT_OK;
}

static poprt_status drop(void *user, const prt_stream_block *block, const prt_tensor *value)
{
    (void)user;
    (void)block;
    (void)value;
    return POPRT_OK;
}

static void save(prt_session *session, bytes *to)
{
    to->size = 0;
    if (prt_session_write_checkpoint(session, append, to) != POPRT_OK)
        __builtin_trap();
}

typedef poprt_status (*reader)(prt_session *session, const prt_blob *file);

static poprt_status read_bytes(prt_session *session, reader read, const void *data, size_t size,
    bool repairs)
{
    prt_blob *blob = NULL;
    if (prt_blob_create(fuzz_allocator(), size, &blob) != POPRT_OK)
        __builtin_trap();
    if (size != 0)
        memcpy(prt_blob_bytes(blob), data, size);
    if (repairs)
        repair(prt_blob_bytes(blob), size);
    const poprt_status status = read(session, blob);
    prt_blob_release(blob);
    return status;
}

static void read_and_run(reader read, const uint8_t *data, size_t size)
{
    static bytes before, after;
    const prt_stream stream = { NULL, ones, end_block, no_buffer, drop };
    prt_program *program = NULL;
    prt_session *session = fuzz_checkpoint_session(fuzz_allocator(), &program);
    save(session, &before);
    if (read_bytes(session, read, data, size, true) != POPRT_OK) {
        save(session, &after);
        if (after.size != before.size || memcmp(after.data, before.data, after.size) != 0)
            __builtin_trap();
    } else {
        if (prt_session_run_flow(session, &stream) != POPRT_OK)
            __builtin_trap();
        save(session, &after);
        if (read_bytes(session, prt_session_read_checkpoint, after.data, after.size, false) !=
            POPRT_OK)
            __builtin_trap();
    }
    prt_session_release(session);
    prt_program_release(program);
    fuzz_expect_empty();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_and_run(prt_session_read_checkpoint, data, size);
    read_and_run(prt_session_read_variables, data, size);
    return 0;
}
