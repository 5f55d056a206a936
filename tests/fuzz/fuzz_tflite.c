/* SPDX-License-Identifier: MIT */
/* fuzz_tflite.c — any bytes as a TFLite file: its subgraphs, constants and custom options are read,
 * and it is converted or refused. */
#include <string.h>

#include "fuzz/fuzz.h"
#include "tflite/constant.h"
#include "tflite/flexbuffer.h"
#include "tflite/tflite.h"

/* Reads the elements of all constants. */
static void read_constants(const prt_tflite_model *m, const prt_tflite_subgraph *g)
{
    size_t owned = FUZZ_MEMORY / 4;
    prt_blob *blob = NULL;
    for (size_t i = 0; i < g->n_tensors; i++)
        if (prt_tflite_constant(m, &g->tensors[i], fuzz_allocator(), &owned, &blob) == POPRT_OK)
            prt_blob_release(blob);
}

/* Reads the custom options of all operators. */
static void read_options(const prt_tflite_subgraph *g)
{
    prt_flex options;
    prt_flex_value value;
    for (size_t i = 0; i < g->n_operators; i++) {
        const prt_tflite_bytes *bytes = &g->operators[i].custom_options;
        if (bytes->data == NULL || prt_flex_open(bytes->data, bytes->size, &options) != POPRT_OK)
            continue;
        for (size_t k = 0; k < options.count; k++)
            (void)prt_flex_item(&options, k, &value);
        (void)prt_flex_find(&options, "max_detections", &value);
    }
}

static void convert(prt_blob *file)
{
    const prt_tf_options options = { .arena = FUZZ_MEMORY / 4 };
    prt_module *m = NULL;
    if (prt_tflite_read_bytes(fuzz_allocator(), file, "fuzz", &options, &m) != POPRT_OK)
        return;
    if (prt_ir_verify(m) != POPRT_OK)
        __builtin_trap();
    prt_module_release(m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    prt_blob *blob = NULL;
    prt_arena *arena = NULL;
    prt_tflite_model *m = NULL;
    if (prt_blob_create(fuzz_allocator(), size, &blob) != POPRT_OK)
        return 0;
    if (size != 0)
        memcpy(prt_blob_bytes(blob), data, size);
    if (prt_arena_create(fuzz_allocator(), FUZZ_MEMORY / 4, &arena) == POPRT_OK &&
        prt_tflite_parse(arena, blob, &m) == POPRT_OK)
        for (size_t i = 0; i < m->n_subgraphs; i++) {
            read_constants(m, &m->subgraphs[i]);
            read_options(&m->subgraphs[i]);
        }
    prt_arena_release(arena);
    convert(blob);
    prt_blob_release(blob);
    fuzz_expect_empty();
    return 0;
}
