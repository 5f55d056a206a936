/* SPDX-License-Identifier: MIT */
/*
 * fuzz_onnx_read.c — any bytes as a model: an error, or a module that verifies and can be written.
 *
 * With -DPRT_LIBFUZZER a libFuzzer target. Otherwise a program that changes the models it is given:
 *
 *     fuzz_onnx_read ROUNDS SEED FILE...
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "converter/onnx.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static int32_t drop(void *user, const void *bytes, size_t size)
{
    (void)user;
    (void)bytes;
    (void)size;
    return 0;
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    prt_blob *blob = NULL;
    prt_module *m = NULL;
    if (prt_blob_borrow(&prt_mem_libc, data, size, NULL, NULL, &blob) != POPRT_OK)
        return 0;
    if (prt_onnx_read_bytes(&prt_mem_libc, blob, "fuzz", NULL, NULL, &m) == POPRT_OK) {
        if (prt_ir_verify(m) != POPRT_OK) {
            fprintf(stderr, "does not verify: %s\n", prt_error_last()->message);
            abort();
        }
        (void)prt_onnx_write(m, drop, NULL);
        prt_module_release(m);
    }
    prt_blob_release(blob);
    return 0;
}

#ifndef PRT_LIBFUZZER
static uint64_t state;

static size_t random_below(size_t n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (size_t)(state >> 33) % n;
}

/* One change: a flipped bit, a byte, a varint's end, a cut, a piece copied elsewhere. */
static size_t change(unsigned char *data, size_t size)
{
    if (size == 0)
        return 0;
    const size_t at = random_below(size);
    switch (random_below(6)) {
    case 0:
        data[at] ^= (unsigned char)(1 << random_below(8));
        return size;
    case 1:
        data[at] = (unsigned char)random_below(256);
        return size;
    case 2:
        data[at] = (unsigned char)(random_below(2) ? 0xff : 0x7f);
        return size;
    case 3:
        return random_below(4) ? size : at;
    case 4:
        memmove(data + at, data + at + 1, size - at - 1);
        return size - 1;
    default: {
        const size_t from = random_below(size), n = size - (at > from ? at : from);
        memmove(data + at, data + from, random_below(n < 64 ? n : 64));
        return size;
    }
    }
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    const unsigned long rounds = strtoul(argv[1], NULL, 10);
    state = strtoul(argv[2], NULL, 10);
    for (int i = 3; i < argc; i++) {
        prt_blob *file = NULL;
        if (prt_file_map(&prt_mem_libc, argv[i], &file) != POPRT_OK)
            continue;
        for (unsigned long k = 0; k < rounds; k++) {
            const uint64_t before = state;
            unsigned char *copy = malloc(file->size + 1);
            if (copy == NULL)
                return 1;
            memcpy(copy, file->data, file->size);
            size_t size = file->size;
            for (size_t n = 1 + random_below(4); n > 0; n--)
                size = change(copy, size);
            fprintf(stderr, "\r%s %llu          ", argv[i], (unsigned long long)before);
            (void)LLVMFuzzerTestOneInput(copy, size);
            free(copy);
        }
        prt_blob_release(file);
    }
    return 0;
}
#endif
