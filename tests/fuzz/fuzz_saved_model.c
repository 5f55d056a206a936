/* SPDX-License-Identifier: MIT */
/*
 * fuzz_saved_model.c — any bytes as the files of a SavedModel or of a checkpoint with its graph:
 * graph, index, shard. Checksums would reject nearly every mutation of an index, so they are
 * corrected first. The model is converted, or refused.
 */
#define _XOPEN_SOURCE 700
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/crc.h"
#include "fuzz/fuzz.h"
#include "fuzz/proto.h"
#include "tensorflow/sorted_table.h"
#include "tensorflow/tensorflow.h"

enum { HEAD = 1 + 14, SIZE_DIGITS = 7, FOOTER = 48, TRAILER = 5 };

/* ---- checksums of an index */

typedef struct cursor {
    const unsigned char *at, *end;
} cursor;

static uint64_t varint(cursor *c)
{
    uint64_t v = 0;
    for (unsigned shift = 0; c->at < c->end && shift < 64; shift += 7) {
        const unsigned char byte = *c->at++;
        v |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            break;
    }
    return v;
}

/* Corrects the checksum of the block that a handle names, and returns its content. */
static cursor repair_block(unsigned char *file, size_t size, cursor *handle)
{
    const uint64_t offset = varint(handle), length = varint(handle);
    const cursor none = { NULL, NULL };
    if (size < TRAILER || length > size - TRAILER || offset > size - TRAILER - length)
        return none;
    unsigned char *block = file + offset;
    const uint32_t crc = prt_masked_crc(prt_crc32c(0, block, (size_t)length + 1));
    memcpy(block + length + 1, &crc, sizeof(crc));
    return (cursor){ block, block + length };
}

static void repair(unsigned char *file, size_t size)
{
    if (size < FOOTER)
        return;
    cursor footer = { file + size - FOOTER, file + size };
    (void)repair_block(file, size, &footer); /* metadata */
    const cursor handles = footer;
    cursor index = repair_block(file, size, &footer);
    while (index.at < index.end) {
        (void)varint(&index);
        const uint64_t key = varint(&index), value = varint(&index);
        const size_t left = (size_t)(index.end - index.at);
        if (key > left || value > left - key)
            break;
        cursor handle = { index.at + key, index.at + key + value };
        (void)repair_block(file, size, &handle);
        index.at += key + value;
    }
    footer = handles;
    (void)repair_block(file, size, &footer); /* again: a block may lie in the index */
}

/* ---- files */

static void write_file(const char *folder, const char *name, const void *data, size_t size)
{
    char path[128];
    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    if (file == NULL || fwrite(data, 1, size, file) != size || fclose(file) != 0)
        __builtin_trap();
}

/* Names of the graph, the index and the shard. */
static const char *const saved_model[] = { "saved_model.pb", "variables/variables.index",
    "variables/variables.data-00000-of-00001" };
static const char *const checkpoint[] = { "p.meta", "p.index", "p.data-00000-of-00001" };

static void remove_files(const char *folder, const char *const names[3])
{
    char path[128];
    for (int i = 0; i < 3; i++) {
        (void)snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
        (void)remove(path);
    }
    (void)snprintf(path, sizeof(path), "%s/variables", folder);
    (void)rmdir(path);
    (void)rmdir(folder);
}

/* Reads a size in hexadecimal digits, at most `left`. */
static size_t read_size(const uint8_t *data, size_t left)
{
    char digits[SIZE_DIGITS + 1] = "";
    memcpy(digits, data, SIZE_DIGITS);
    const unsigned long size = strtoul(digits, NULL, 16);
    return size < left ? (size_t)size : left;
}

static void convert(const char *folder, bool is_saved_model, const uint8_t *data, size_t size)
{
    const char *const *names = is_saved_model ? saved_model : checkpoint;
    const size_t graph = read_size(data, size - HEAD);
    const size_t index = read_size(data + SIZE_DIGITS, size - HEAD - graph);
    const uint8_t *files = data + HEAD - 1;
    char path[128];
    unsigned char *copy = malloc(index + 1);
    if (copy == NULL)
        __builtin_trap();
    (void)snprintf(path, sizeof(path), "%s/variables", folder);
    if (is_saved_model && mkdir(path, 0700) != 0)
        __builtin_trap();
    memcpy(copy, files + graph, index);
    repair(copy, index);
    write_file(folder, names[0], files, graph);
    write_file(folder, names[1], copy, index);
    write_file(folder, names[2], files + graph + index, size - HEAD - graph - index);
    free(copy);
    static const prt_tf_options none;
    prt_module *m = NULL;
    if (prt_tf_read_file(fuzz_allocator(), folder, &none, &m) == POPRT_OK) {
        if (prt_ir_verify(m) != POPRT_OK)
            __builtin_trap();
        prt_module_release(m);
    }
    remove_files(folder, names);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char folder[] = "/tmp/poprt-fuzz-XXXXXX";
    if (size < HEAD)
        return 0;
    if (mkdtemp(folder) == NULL)
        __builtin_trap();
    convert(folder, data[0] == 's', data + 1, size);
    fuzz_expect_empty();
    return 0;
}

/* ---- mutations */

static size_t mutate(uint8_t *data, size_t size, size_t capacity, const uint8_t *other,
    size_t other_size, unsigned seed)
{
    static uint8_t rest[1 << 20], graph[1 << 20];
    if (size < HEAD || size > sizeof(rest))
        return size;
    const size_t old = read_size(data + 1, size - HEAD), n_rest = size - HEAD - old;
    prt_bytes like = { 0 };
    if (other_size >= HEAD && other[0] == data[0])
        like = (prt_bytes){ other + HEAD, read_size(other + 1, other_size - HEAD) };
    memcpy(graph, data + HEAD, old);
    memcpy(rest, data + HEAD + old, n_rest);
    const size_t n = fuzz_mutate_message(data[0] == 's' ? PRT_TF_SavedModel : PRT_TF_MetaGraph,
        graph, old, sizeof(graph), like, seed);
    if (n > 0xfffffff || HEAD + n + n_rest > capacity)
        return size;
    char digits[SIZE_DIGITS + 1];
    (void)snprintf(digits, sizeof(digits), "%07x", (unsigned)n);
    memcpy(data + 1, digits, SIZE_DIGITS);
    memcpy(data + HEAD, graph, n);
    memcpy(data + HEAD + n, rest, n_rest);
    return HEAD + n + n_rest;
}

/* Changes the index and the shard as often as the graph. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t capacity, unsigned seed)
{
    if (seed % 2 == 0 || size < HEAD)
        return mutate(data, size, capacity, NULL, 0, seed);
    const size_t graph = read_size(data + 1, size - HEAD);
    if (graph == size - HEAD)
        return size;
    for (unsigned k = 1 + seed / 2 % 3; k > 0; k--) {
        seed = seed * 1664525 + 1013904223;
        const size_t at = HEAD + graph + (seed >> 8) % (size - HEAD - graph);
        data[at] = (uint8_t)(seed % 2 == 0 ? data[at] ^ 1u << seed / 2 % 8 : seed >> 5);
    }
    return size;
}

size_t LLVMFuzzerCustomCrossOver(const uint8_t *data, size_t size, const uint8_t *other,
    size_t other_size, uint8_t *out, size_t capacity, unsigned seed)
{
    if (size > capacity)
        return 0;
    memcpy(out, data, size);
    return mutate(out, size, capacity, other, other_size, seed);
}
