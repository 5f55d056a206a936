/* SPDX-License-Identifier: MIT */
/* fuzz_graph.c — any bytes as a GraphDef of TensorFlow. It is converted and written, or refused. */
#include <string.h>

#include "converter/onnx.h"
#include "fuzz/fuzz.h"
#include "fuzz/proto.h"
#include "tensorflow/tensorflow.h"

static int32_t discard_bytes(void *user, const void *bytes, size_t size)
{
    (void)user;
    (void)bytes;
    (void)size;
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const prt_tf_options options = { .arena = FUZZ_MEMORY / 4, .opset = size % 2 == 0 ? 11 : 18 };
    prt_blob *blob = NULL;
    prt_module *m = NULL;
    if (prt_blob_create(fuzz_allocator(), size, &blob) != POPRT_OK)
        return 0;
    if (size != 0)
        memcpy(prt_blob_bytes(blob), data, size);
    if (prt_tf_read_bytes(fuzz_allocator(), blob, "fuzz", &options, &m) == POPRT_OK) {
        if (prt_ir_verify(m) != POPRT_OK)
            __builtin_trap();
        if (prt_onnx_downgrade(m, options.opset) == POPRT_OK)
            (void)prt_onnx_write(m, discard_bytes, NULL);
        prt_module_release(m);
    }
    prt_blob_release(blob);
    fuzz_expect_empty();
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t capacity, unsigned seed)
{
    return fuzz_mutate_message(PRT_TF_GraphDef, data, size, capacity, (prt_bytes){ 0 }, seed);
}

size_t LLVMFuzzerCustomCrossOver(const uint8_t *data, size_t size, const uint8_t *other,
    size_t other_size, uint8_t *out, size_t capacity, unsigned seed)
{
    if (size > capacity)
        return 0;
    memcpy(out, data, size);
    return fuzz_mutate_message(PRT_TF_GraphDef, out, size, capacity,
        (prt_bytes){ other, other_size }, seed);
}
