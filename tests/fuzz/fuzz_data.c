/* SPDX-License-Identifier: MIT */
/*
 * fuzz_data.c — any bytes as data: a .npy file, a serialised ONNX value of each kind, JSON. An
 * accepted .npy file is written and must read back unchanged.
 * Covers: npy_read.c, npy_write.c.
 */
#include <string.h>

#include "base/json.h"
#include "converter/onnx.h"
#include "data/npy.h"
#include "fuzz/fuzz.h"

typedef struct sink {
    prt_blob *blob;
    size_t at;
} sink;

static int32_t collect_bytes(void *user, const void *bytes, size_t size)
{
    sink *s = user;
    if (size > s->blob->size - s->at)
        return 1;
    if (size != 0)
        memcpy(prt_blob_bytes(s->blob) + s->at, bytes, size);
    s->at += size;
    return 0;
}

/* Checks numbers only, because strings may change their padding, and packed types their dtype. */
static void npy_again(prt_arena *arena, const prt_tensor *t)
{
    if (t->dtype == PRT_DTYPE_string || prt_dtype_bits(t->dtype) < 8)
        return;
    sink s = { 0 };
    prt_blob *view = NULL;
    prt_tensor back;
    if (prt_blob_create(fuzz_allocator(), t->size + 4096, &s.blob) != POPRT_OK)
        return;
    if (prt_npy_write(arena, t, collect_bytes, &s) == POPRT_OK &&
        prt_blob_view(s.blob, 0, s.at, &view) == POPRT_OK) {
        if (prt_npy_read(arena, view, t->dtype, &back) != POPRT_OK || back.size != t->size ||
            back.rank != t->rank || (t->size != 0 && memcmp(back.data, t->data, t->size) != 0))
            __builtin_trap();
        prt_blob_release(view);
    }
    prt_blob_release(s.blob);
}

static void read_all(prt_arena *arena, prt_blob *blob)
{
    prt_tensor t;
    prt_json *json = NULL;
    if (prt_npy_read(arena, blob, PRT_DTYPE_undefined, &t) == POPRT_OK)
        npy_again(arena, &t);
    for (int32_t kind = PRT_VALUE_TENSOR; kind <= PRT_VALUE_MAP; kind++)
        (void)prt_onnx_read_value(arena, blob, kind, &t);
    (void)prt_json_parse(arena, (const char *)blob->data, blob->size, &json);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    prt_blob *blob = NULL;
    prt_arena *arena = NULL;
    if (prt_blob_create(fuzz_allocator(), size, &blob) != POPRT_OK)
        return 0;
    if (size != 0)
        memcpy(prt_blob_bytes(blob), data, size);
    if (prt_arena_create(fuzz_allocator(), FUZZ_MEMORY / 4, &arena) == POPRT_OK)
        read_all(arena, blob);
    prt_arena_release(arena);
    prt_blob_release(blob);
    fuzz_expect_empty();
    return 0;
}
